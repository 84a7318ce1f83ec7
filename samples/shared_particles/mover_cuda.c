/*
 * The mover that is a CUDA kernel. Maar finds the card in CUDA, returns the buffer's address there,
 * and passes turns (maar/cuda.h): maarReleaseToCuda, the kernel, maarAcquireFromCuda.
 */
#include "particle_mover.h"

#include <stdio.h>

#if MAAR_HAS_KERNELS

#include "kernels/move_particles_cu.h"
#include "maar/cuda.h"
#include "sample_cuda.h"

#include <stdlib.h>

#define GROUP_SIZE 256u

struct cuda_mover {
    struct particle_mover base;
    const struct sample_device* device;
    MaarHandoffResource resource;
    MaarCuda cuda;
    MaarCudaInfo info;
    MaarCudaMemory memory;
    MaarCudaTimeline timeline;
    MaarHandoffMode mode;
    struct sample_cuda driver;
    void* kernel;
    struct particle_rules rules;
    uint32_t steps;
    uint32_t left_out;    /* the step that the planted mistake omits; UINT32_MAX: none */
    uint64_t free_before; /* the card's free memory before the import of the buffer */
    uint64_t free_after;
};

static bool move_in_cuda(struct particle_mover* base)
{
    struct cuda_mover* const mover = (struct cuda_mover*)base;
    MaarCudaHandoffInfo handoff = {.sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
                                   .value = 2 * (uint64_t)mover->steps + 1,
                                   .stream = mover->driver.stream,
                                   .resourceCount = 1,
                                   .pResources = &mover->resource};
    if (!sample_succeeded(maarReleaseToCuda(mover->cuda, mover->timeline, &handoff),
                          "maarReleaseToCuda")) {
        return false;
    }
    void* arguments[2] = {&mover->memory.devicePointer, &mover->rules};
    if (mover->steps != mover->left_out &&
        !sample_cuda_launch(&mover->driver, mover->kernel, mover->rules.count, GROUP_SIZE,
                            arguments)) {
        return false;
    }
    ++mover->steps;
    ++handoff.value;
    return sample_succeeded(maarAcquireFromCuda(mover->cuda, mover->timeline, &handoff),
                            "maarAcquireFromCuda");
}

static bool finish_cuda(struct particle_mover* base, struct particle_account* account)
{
    static const char* const turns[] = {
        [MAAR_HANDOFF_MODE_AUTO] = "none",
        [MAAR_HANDOFF_MODE_TIMELINE] = "a timeline that both sides share",
        [MAAR_HANDOFF_MODE_BINARY] = "two binary semaphores",
        [MAAR_HANDOFF_MODE_HOST] = "the host, which waits for one side and signals the other",
    };
    struct cuda_mover* const mover = (struct cuda_mover*)base;
    if (!sample_cuda_wait(&mover->driver)) {
        return false;
    }
    snprintf(account->side, sizeof(account->side), "a CUDA kernel on %.100s (CUDA %d.%d)",
             mover->info.deviceName, mover->info.driverVersion / 1000,
             mover->info.driverVersion % 1000 / 10);
    account->turns = turns[mover->mode];
    account->steps = mover->steps;
    account->shared_memory = mover->memory.blockSize;
    account->own_memory =
        mover->free_before > mover->free_after ? mover->free_before - mover->free_after : 0;
    return true;
}

static void destroy_cuda(struct particle_mover* base)
{
    struct cuda_mover* const mover = (struct cuda_mover*)base;
    sample_cuda_close(&mover->driver);
    vkDeviceWaitIdle(mover->device->device);
    maarDestroyCudaTimeline(mover->cuda, mover->timeline);
    maarDestroyCuda(mover->cuda);
    free(mover);
}

static bool open_cuda(struct cuda_mover* mover, const struct particle_share* share,
                      const char* library, struct particle_reason* reason)
{
    const MaarCudaCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
                                     .pLibraryPath = library};
    struct sample_device* const device = (struct sample_device*)share->device;
    sample_device_divert(device, reason->text, sizeof(reason->text));
    const VkResult result = maarCreateCuda(device->allocator, &info, &mover->cuda);
    sample_device_divert(device, NULL, 0);
    if (result != VK_SUCCESS) {
        return false;
    }
    mover->info.sType = MAAR_STRUCTURE_TYPE_CUDA_INFO;
    if (maarGetCudaInfo(mover->cuda, &mover->info) != VK_SUCCESS ||
        mover->info.memoryHandleType != PARTICLE_HANDLE_TYPE) {
        snprintf(reason->text, sizeof(reason->text), "CUDA uses a different way to import memory");
        return false;
    }
    return sample_cuda_open(&mover->driver, library, mover->info.pContext,
                            maar_kernels_move_particles_cu, sizeof(maar_kernels_move_particles_cu),
                            reason->text, sizeof(reason->text));
}

static bool share_with_cuda(struct cuda_mover* mover, const struct particle_share* share)
{
    MaarCudaTimelineInfo timeline = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    mover->kernel = sample_cuda_kernel(&mover->driver, "move_particles");
    mover->memory.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY;
    mover->free_before = sample_cuda_free_memory(&mover->driver);
    if (mover->kernel == NULL ||
        !sample_succeeded(maarGetCudaMemory(mover->cuda, share->allocation, &mover->memory),
                          "maarGetCudaMemory")) {
        return false;
    }
    mover->free_after = sample_cuda_free_memory(&mover->driver);
    if (!sample_succeeded(maarCreateCudaTimeline(mover->cuda, NULL, &mover->timeline),
                          "maarCreateCudaTimeline") ||
        !sample_succeeded(maarGetCudaTimelineInfo(mover->cuda, mover->timeline, &timeline),
                          "maarGetCudaTimelineInfo")) {
        return false;
    }
    mover->mode = timeline.mode;
    return true;
}

struct particle_mover* particle_mover_cuda(const struct particle_share* share,
                                           const struct particle_options* options,
                                           const struct particle_rules* rules,
                                           struct particle_reason* reason)
{
    struct cuda_mover* const mover = calloc(1, sizeof(*mover));
    if (mover == NULL) {
        return NULL;
    }
    mover->base = (struct particle_mover){move_in_cuda, finish_cuda, destroy_cuda};
    mover->device = share->device;
    mover->resource = particle_share_resource(share);
    mover->rules = *rules;
    mover->left_out = options->mistake == PARTICLE_MISTAKE_SKIP ? options->frames / 2 : UINT32_MAX;
    bool done = open_cuda(mover, share, options->cuda_library, reason);
    if (done && !share_with_cuda(mover, share)) {
        snprintf(reason->text, sizeof(reason->text),
                 "CUDA and this device do not share the buffer");
        done = false;
    }
    if (!done) {
        destroy_cuda(&mover->base);
        return NULL;
    }
    return &mover->base;
}

#else

struct particle_mover* particle_mover_cuda(const struct particle_share* share,
                                           const struct particle_options* options,
                                           const struct particle_rules* rules,
                                           struct particle_reason* reason)
{
    (void)share;
    (void)options;
    (void)rules;
    snprintf(reason->text, sizeof(reason->text),
             "the program was built without nvcc and so without the kernel");
    return NULL;
}

#endif
