/*
 * What the blocks of docs/findings.md call: a device, and memory and objects by short names.
 * Whatever is left is destroyed at the end, unless the program forgets it on purpose.
 */
#ifndef MAAR_TESTS_FINDINGS_PLANTED_H
#define MAAR_TESTS_FINDINGS_PLANTED_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

enum { PLANTED_MOST = 2048, PLANTED_SKIPPED = 77 };

struct planted {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkPhysicalDeviceMemoryProperties memory;
    struct VolkDeviceTable call;
    bool forgets;         /* memory and buffers at the end */
    bool forgets_buffers; /* buffers at the end */
    uint32_t buffer_count, image_count, memory_count;
    VkBuffer buffers[PLANTED_MOST];
    VkImage images[PLANTED_MOST];
    VkDeviceMemory memories[PLANTED_MOST];
};

/* They end the process with a message on failure; find_type ends it with 77 where the device has no
 * such type. */
VkBuffer make_buffer(struct planted* p, VkDeviceSize size, VkBufferUsageFlags usage,
                     VkMemoryRequirements* needs);
VkImage make_image(struct planted* p, uint32_t width, VkImageUsageFlags usage,
                   VkMemoryRequirements* needs);
uint32_t find_type(const struct planted* p, uint32_t bits, VkMemoryPropertyFlags wanted,
                   VkMemoryPropertyFlags unwanted);
VkDeviceMemory take(struct planted* p, VkDeviceSize size, uint32_t type);
/* Ends the process with 77 where the driver promises the memory. */
void expect_no_memory(struct planted* p, VkDeviceSize size, uint32_t type);
void give(struct planted* p, VkDeviceMemory memory);
void bind_buffer(struct planted* p, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset);
void bind_image(struct planted* p, VkImage image, VkDeviceMemory memory, VkDeviceSize offset);
void end_buffer(struct planted* p, VkBuffer buffer);
void map(struct planted* p, VkDeviceMemory memory);
void wait_a_moment(void);

void planted_open(struct planted* p);
void planted_close(struct planted* p);

#endif
