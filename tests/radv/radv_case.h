/*
 * What the cases share. Each runs in a child process of its own with a time limit: the no-op kernel
 * can assert, crash or hang. In the child it is the only case, starts with no fault set, opens a
 * device and closes it.
 */
#ifndef MAAR_TESTS_RADV_RADV_CASE_H
#define MAAR_TESTS_RADV_RADV_CASE_H

#include "tests/radv/ioctl_faults.h"
#include "tests/rig/rig.h"

struct radv_case {
    const char* name;
    void (*run)(void** state);
};

/* The cases of each file, ended by one without a name. */
extern const struct radv_case radv_call_cases[];
extern const struct radv_case radv_heap_cases[];
extern const struct radv_case radv_budget_cases[];
extern const struct radv_case radv_lost_cases[];
extern const struct radv_case radv_mixed_cases[];
extern const struct radv_case radv_odd_cases[];

/* The preload's table; NULL where it is not preloaded. */
extern struct ioctl_faults* radv_faults;
bool radv_find_faults(void);

/* The nth call from now on, and count - 1 more, fail. */
void radv_refuse(enum fault_call call, uint64_t nth, uint64_t count);
/* No call fails any more; returns how many did since the last look. */
uint64_t radv_allow_all(void);
/* What the device has; before it is opened. */
void radv_set_sizes(VkDeviceSize vram, VkDeviceSize visible_vram, VkDeviceSize gtt);
/* What other processes use of it, at any time. */
void radv_set_others(VkDeviceSize vram, VkDeviceSize visible_vram, VkDeviceSize gtt);

/* Whether devices are opened under the validation layer: where MAAR_RADV_VALIDATION is set. */
bool radv_is_validated(void);
/* Opens the device, with the allocator's host memory counted. */
void radv_open(struct rig* rig);
/* ... and an allocator, which must not call the kernel for memory. */
void radv_start(struct rig* rig);
/* ... on a device that states what to do when a heap is full; 0: that was not. */
void radv_start_with(struct rig* rig, VkMemoryOverallocationBehaviorAMD behavior);
/* Nothing may be held any more, by the allocator's account and by the kernel's. */
void radv_expect_empty(struct rig* rig);
/* radv_expect_empty, closes everything, and finds the kernel without any buffer object. */
void radv_close(struct rig* rig);
/* Around calls that are the driver's own affair: what it makes or frees there is not the
 * allocator's. */
struct radv_driver_share {
    uint64_t count;
    uint64_t bytes;
};
void radv_driver_begins(struct radv_driver_share* share);
void radv_driver_ends(const struct radv_driver_share* share);
/* Says why, and does not return. */
void radv_skip(const char* reason);

/* Totals, blocks, and what the kernel holds. */
struct radv_snapshot {
    MaarStatistics totals;
    uint64_t live_count;
    uint64_t own[FAULT_MEMORY_COUNT];
    uint32_t block_count;
    MaarBlockInfo blocks[64];
};
void radv_take_snapshot(struct rig* rig, struct radv_snapshot* snapshot);
/* All but counters of calls, failures and peaks; and the books agree. */
void radv_expect_unchanged(struct rig* rig, const struct radv_snapshot* before);
/* Blocks by the allocator's account, of all and of each heap, are the buffer objects by the
 * kernel's; and the heavy check. */
void radv_expect_books_agree(struct rig* rig);

/* The driver's device is one with memory of its own, not a part of the host's. */
bool radv_is_discrete(struct rig* rig);
uint32_t radv_heap_of(struct rig* rig, MaarAllocation allocation);
/* A dedicated allocation of plain memory, which may fail: null then. */
VkResult radv_allocate_dedicated(struct rig* rig, VkDeviceSize size, MaarMemoryUsage usage,
                                 MaarAllocationCreateFlags flags, MaarAllocation* allocation);

#endif
