/*
 * Shared memory for the cases of sharing, processes, CUDA and HIP.
 */
#ifndef MAAR_BENCH_GROWTH_SHARED_H
#define MAAR_BENCH_GROWTH_SHARED_H

#include "growth.h"

#define GROWTH_SHARED_TYPE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define GROWTH_SHARED_SEMAPHORE VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT

/* How to create a buffer that can be shared. */
VkBufferCreateInfo growth_shared_buffer(VkDeviceSize size);
/* Creates one, in a block of its own if `dedicated`. */
MaarAllocation growth_create_shared(struct growth* growth, VkDeviceSize size, bool dedicated,
                                    VkBuffer* buffer);
MaarExportedMemory growth_export(struct growth* growth, MaarAllocation memory);

/* n shared buffers: growth->memory, and growth->spare, an array of VkBuffer with room for
 * growth->count more. Each has 64 KiB. */
void growth_open_shared(struct growth* growth, bool dedicated);
void growth_close_shared(struct growth* growth);
/* growth->count more of them, in blocks of their own. */
void growth_create_more_shared(struct growth* growth);
void growth_destroy_more_shared(struct growth* growth);

#endif
