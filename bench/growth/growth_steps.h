/*
 * The steps that cases share.
 */
#ifndef MAAR_BENCH_GROWTH_STEPS_H
#define MAAR_BENCH_GROWTH_STEPS_H

#include "growth.h"

/* Creates the allocator from allocator_info. */
void growth_create_allocator(struct growth* growth);
/* Does the same, and makes growth->state, an array of `count` elements. */
void* growth_create_state(struct growth* growth, uint32_t count, size_t size);

/* Returns a random number below n. */
uint32_t growth_pick(struct growth* growth);
/* Shuffles elements of eight bytes: handles and pointers. */
void growth_shuffle(struct growth* growth, void* elements, uint32_t count);

/* Returns a request for `size` bytes of device-local memory. */
MaarMemoryRequest growth_request(VkDeviceSize size, VkDeviceSize alignment);
/* Returns a request for `size` bytes of memory that the host sees and that is not coherent. */
MaarMemoryRequest growth_visible_request(VkDeviceSize size);
/* Returns how to allocate from growth->pool. */
MaarAllocationCreateInfo growth_how(const struct growth* growth);
/* Allocates `count` times the same from growth->pool into growth->memory, which it makes with
 * room for growth->count more. */
void growth_fill(struct growth* growth, uint32_t count, const MaarMemoryRequest* request,
                 MaarAllocationCreateFlags flags, MaarDedicated dedicated);
/* Frees the first `count` of growth->memory. */
void growth_empty(struct growth* growth, uint32_t count);

/* Returns a command buffer that is being recorded, in a pool of its own. */
VkCommandBuffer growth_open_commands(struct growth* growth, VkCommandPool* pool);

/* n allocations of 4 KiB, and as free them. */
void growth_open_live(struct growth* growth);
void growth_close_live(struct growth* growth);

/* Creates a pool of device-local memory. */
MaarPool growth_create_pool(struct growth* growth, VkDeviceSize block_size, uint32_t max_blocks);

/* Creates a timeline semaphore, and signals its greatest value. */
VkSemaphore growth_create_timeline(struct growth* growth);
void growth_signal(struct growth* growth, VkSemaphore timeline);
/* Does an operation `count` times. */
void growth_repeat(struct growth* growth, uint32_t count,
                   void (*operation)(struct growth* growth, uint32_t index));
/* Makes n dedicated allocations. */
void growth_open_dedicated(struct growth* growth);
/* Destroys the n pools of growth->state. */
void growth_destroy_pools(struct growth* growth);
/* Reads the detailed statistics of the allocator. */
void growth_read_details(struct growth* growth, uint32_t index);

/* Return how to create a buffer for storage and copies, and a texture of RGBA8 texels. */
VkBufferCreateInfo growth_buffer(VkDeviceSize size);
VkImageCreateInfo growth_image(uint32_t size, uint32_t levels, uint32_t layers);

#endif
