/*
 * What the tests of maar/cuda.h share: a simulated device that shares everything, an allocator with
 * a queue on it, and the FAKE CUDA driver, whose device has the same UUID.
 */
#ifndef MAAR_TESTS_INTEROP_CUDA_FIXTURE_H
#define MAAR_TESTS_INTEROP_CUDA_FIXTURE_H

#include "tests/fakes/fake_fixture.h"

struct cuda_desk {
    struct rig rig;
    MaarQueue queue;
    struct maar_cuda_driver driver; /* the FAKE one */
    const struct fake_control* fake;
    MaarCuda cuda;
};

static inline MaarCudaCreateInfo cuda_desk_info(void)
{
    return (MaarCudaCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .pLibraryPath = MAAR_FAKE_CUDA,
    };
}

/* The simulated driver looks at what waits for a binary semaphore when it is called. */
static inline void cuda_desk_progress(void* device)
{
    (void)vkDeviceWaitIdle(device);
}

/* All but the MaarCuda. setup may be NULL. */
static inline void cuda_desk_open(struct cuda_desk* desk, const struct rig_setup* setup)
{
    struct rig_setup own = setup != NULL ? *setup : (struct rig_setup){0};
    memset(desk, 0, sizeof *desk);
    desk->fake = fake_load_cuda(MAAR_FAKE_CUDA, &desk->driver);
    own.sharing = own.sharing != NULL ? own.sharing : rig_sharing_everything();
    rig_open(&desk->rig, &own);
    desk->queue = (MaarQueue){
        .familyIndex = desk->rig.recommendation.mainQueueFamily,
        .queue = desk->rig.queue,
    };
    desk->rig.create_info.queueCount = 1;
    desk->rig.create_info.pQueues = &desk->queue;
    rig_make_allocator(&desk->rig);
    MaarSharingInfo sharing = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    assert_int_equal(maarGetSharingInfo(desk->rig.allocator, &sharing), VK_SUCCESS);
    desk->fake->set_uuid(0, sharing.deviceUUID);
    const struct fake_vulkan vulkan = {
        .signal = vkSignalSemaphore,
        .progress = cuda_desk_progress,
        .data = desk->rig.device,
    };
    desk->fake->set_vulkan(&vulkan);
}

static inline void cuda_desk_start(struct cuda_desk* desk, const struct rig_setup* setup)
{
    const MaarCudaCreateInfo info = cuda_desk_info();
    cuda_desk_open(desk, setup);
    assert_int_equal(maarCreateCuda(desk->rig.allocator, &info, &desk->cuda), VK_SUCCESS);
}

/* Nothing may be left in the FAKE driver, and no rule of CUDA's have been broken. */
static inline void cuda_desk_close(struct cuda_desk* desk)
{
    maarDestroyCuda(desk->cuda);
    assert_int_equal(desk->fake->context_depth(), 0);
    fake_expect_clean_end(desk->fake);
    rig_close(&desk->rig);
    fake_expect_clean_end(desk->fake);
    desk->fake->reset();
}

static inline MaarCudaMemory cuda_desk_memory(struct cuda_desk* desk, MaarAllocation allocation)
{
    MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    assert_int_equal(maarGetCudaMemory(desk->cuda, allocation, &memory), VK_SUCCESS);
    return memory;
}

static inline MaarCudaInfo cuda_desk_cuda_info(struct cuda_desk* desk)
{
    MaarCudaInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_INFO};
    assert_int_equal(maarGetCudaInfo(desk->cuda, &info), VK_SUCCESS);
    return info;
}

#endif
