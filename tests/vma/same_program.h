/*
 * One program for VulkanMemoryAllocator's interface, compiled against that library's header and
 * against Maar's. It prints what the interface answers, as lines of a key and a value, on a
 * simulated device. A script compares the lines. Nothing here knows which header it has.
 */
#ifndef MAAR_TESTS_VMA_SAME_PROGRAM_H
#define MAAR_TESTS_VMA_SAME_PROGRAM_H

#include "tests/rig/rig.h"

#include <vk_mem_alloc.h>

struct same_world {
    struct rig rig;
    VmaAllocator allocator;
};

/* Prints a line: the section and the key, then the value. */
void same_section(const char* name);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void same_say(const char* key, const char* format, ...);
void same_say_bytes(const char* key, uint64_t bytes);
void same_say_result(const char* key, VkResult result);
void same_say_statistics(const char* key, const VmaDetailedStatistics* statistics);

/* Opens a device and an allocator on it. */
void same_open(struct same_world* world, const MaarSimulatedProfile* profile,
               const VmaAllocatorCreateInfo* extra);
void same_open_as(struct same_world* world, const struct rig_setup* setup,
                  const VmaAllocatorCreateInfo* extra);
void same_close(struct same_world* world);
VkBufferCreateInfo same_buffer(VkDeviceSize size, VkBufferUsageFlags usage);
VkImageCreateInfo same_image(uint32_t side, VkImageUsageFlags usage);

void same_layouts(void);
void same_allocators(void);
void same_types(void);
void same_memory(void);
void same_pools(void);
void same_objects(void);
void same_statistics(void);
void same_virtual_blocks(void);
void same_defragmentation(void);
void same_strategies(void);
void same_exports(void);
void same_flags(void);
void same_places(void);

/* Says which types are chosen on every device profile. */
void same_profiles(void);
/* Says what the checks of margins answer. VMA_DEBUG_MARGIN and VMA_DEBUG_DETECT_CORRUPTION are
 * set in the unit with the implementation. */
void same_margins(void);

#endif
