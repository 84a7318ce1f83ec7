/*
 * A block that can be shared, made by Vulkan's own calls, without Maar: for checks that want each
 * step's raw result.
 */
#ifndef MAAR_TESTS_GPU_GPU_BLOCK_H
#define MAAR_TESTS_GPU_GPU_BLOCK_H

#include "gpu_case.h"

struct gpu_raw_block {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size; /* of the memory */
    int fd;            /* exported; the block closes it, unless it is -1 */
};

/* Device-local, by Maar's choice of a type. dedicated: memory of the buffer's own. */
bool gpu_make_raw_block(struct gpu_case* gpu, VkDeviceSize size, bool dedicated,
                        struct gpu_raw_block* block);
void gpu_free_raw_block(struct gpu_case* gpu, struct gpu_raw_block* block);

/* The memory type that Maar chooses for device-local memory. */
uint32_t gpu_device_local_type(struct gpu_case* gpu, uint32_t type_bits);

#endif
