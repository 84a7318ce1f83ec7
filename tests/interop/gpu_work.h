/*
 * One command buffer at a time: begun, recorded by the caller, submitted and waited for.
 */
#ifndef MAAR_TESTS_INTEROP_GPU_WORK_H
#define MAAR_TESTS_INTEROP_GPU_WORK_H

#include "tests/rig/rig.h"

struct gpu_work {
    VkCommandPool pool;
    VkCommandBuffer commands;
};

/* On the main queue. */
void gpu_begin(struct rig* rig, struct gpu_work* work);
/* What was written so far is there for what follows, and for the host. */
void gpu_barrier(struct gpu_work* work);
void gpu_finish(struct rig* rig, struct gpu_work* work);

/* A buffer of the host's that the device copies a part of another one to. */
struct gpu_readback {
    VkBuffer buffer;
    MaarAllocation memory;
    VkDeviceSize size;
};
void gpu_readback_make(struct rig* rig, VkDeviceSize size, struct gpu_readback* readback);
void gpu_readback_record(struct gpu_work* work, VkBuffer from, VkDeviceSize offset,
                         const struct gpu_readback* readback);
/* After gpu_finish. */
void gpu_readback_copy(struct rig* rig, const struct gpu_readback* readback, void* bytes);
void gpu_readback_destroy(struct rig* rig, struct gpu_readback* readback);

#endif
