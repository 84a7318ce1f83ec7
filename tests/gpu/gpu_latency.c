/*
 * What a timeline costs by itself: a look at its value, a wait that has passed, an empty submission
 * until the host sees its signal, a hop from queue to queue, and the same with CUDA's streams.
 */
#include "gpu_case.h"

#include <stdio.h>

enum { MOST_ROUNDS = 1000, WARM_UP = 20 };
static const uint64_t limit_ns = UINT64_C(5000000000);

struct latency {
    struct gpu_case* gpu;
    VkCommandBuffer nothing; /* drivers have hung on submissions without a command buffer */
    VkFence fence;
    MaarCudaTimeline shared;
    VkSemaphore shared_semaphore;
    uint64_t shared_value;
    uint32_t count;
    double times[MOST_ROUNDS];
};

/* value 0: no such semaphore. */
static bool submit_nothing(struct latency* at, VkQueue queue, VkSemaphore semaphore, uint64_t wait,
                           uint64_t signal, VkFence fence)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait != 0 ? 1 : 0,
        .pWaitSemaphoreValues = &wait,
        .signalSemaphoreValueCount = signal != 0 ? 1 : 0,
        .pSignalSemaphoreValues = &signal};
    const bool is_main = queue == at->gpu->queues[0].queue;
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &values,
                                 .waitSemaphoreCount = values.waitSemaphoreValueCount,
                                 .pWaitSemaphores = &semaphore,
                                 .pWaitDstStageMask = &stage,
                                 .commandBufferCount = is_main ? 1 : 0,
                                 .pCommandBuffers = &at->nothing,
                                 .signalSemaphoreCount = values.signalSemaphoreValueCount,
                                 .pSignalSemaphores = &semaphore};
    return gpu_vk(at->gpu, vkQueueSubmit(queue, 1, &submit, fence), "vkQueueSubmit");
}

static bool wait_value(struct latency* at, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    return gpu_vk(at->gpu, vkWaitSemaphores(at->gpu->device, &wait, limit_ns), "vkWaitSemaphores");
}

/* ---- the ways; each is timed as a whole ---- */

static bool look_at_value(struct latency* at)
{
    uint64_t value = 0;
    return vkGetSemaphoreCounterValue(at->gpu->device, at->gpu->timeline, &value) == VK_SUCCESS;
}

static bool wait_for_past(struct latency* at)
{
    return wait_value(at, at->gpu->timeline, at->gpu->value);
}

static bool signal_by_host(struct latency* at)
{
    const VkSemaphoreSignalInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                          .semaphore = at->gpu->timeline,
                                          .value = ++at->gpu->value};
    return gpu_vk(at->gpu, vkSignalSemaphore(at->gpu->device, &signal), "vkSignalSemaphore") &&
           wait_for_past(at);
}

static bool submit_and_wait(struct latency* at)
{
    return submit_nothing(at, at->gpu->queues[0].queue, at->gpu->timeline, 0, ++at->gpu->value,
                          VK_NULL_HANDLE) &&
           wait_for_past(at);
}

static bool submit_and_poll(struct latency* at)
{
    uint64_t value = 0;
    const double deadline = gpu_now() + 5.0;
    if (!submit_nothing(at, at->gpu->queues[0].queue, at->gpu->timeline, 0, ++at->gpu->value,
                        VK_NULL_HANDLE)) {
        return false;
    }
    while (value < at->gpu->value) {
        if (vkGetSemaphoreCounterValue(at->gpu->device, at->gpu->timeline, &value) != VK_SUCCESS ||
            gpu_now() > deadline) {
            gpu_fail(at->gpu, "the signal is not seen within 5 s");
            return false;
        }
    }
    return true;
}

static bool submit_and_fence(struct latency* at)
{
    struct gpu_case* gpu = at->gpu;
    return submit_nothing(at, gpu->queues[0].queue, VK_NULL_HANDLE, 0, 0, at->fence) &&
           gpu_vk(gpu, vkWaitForFences(gpu->device, 1, &at->fence, VK_TRUE, limit_ns),
                  "vkWaitForFences") &&
           gpu_vk(gpu, vkResetFences(gpu->device, 1, &at->fence), "vkResetFences");
}

static bool hop_to_side(struct latency* at)
{
    struct gpu_case* gpu = at->gpu;
    const uint64_t first = ++gpu->value;
    return submit_nothing(at, gpu->queues[0].queue, gpu->timeline, 0, first, VK_NULL_HANDLE) &&
           submit_nothing(at, gpu->side_queue, gpu->timeline, first, ++gpu->value,
                          VK_NULL_HANDLE) &&
           wait_for_past(at);
}

static bool stream_to_host(struct latency* at)
{
    return gpu_vk(at->gpu,
                  maarCudaSignal(at->gpu->cuda, at->shared, ++at->shared_value, at->gpu->stream),
                  "maarCudaSignal") &&
           wait_value(at, at->shared_semaphore, at->shared_value);
}

static bool queue_to_stream(struct latency* at)
{
    struct gpu_case* gpu = at->gpu;
    MaarPoint point;
    return gpu_vk(gpu, maarGetCudaTimelineSignal(gpu->cuda, at->shared, ++at->shared_value, &point),
                  "maarGetCudaTimelineSignal") &&
           submit_nothing(at, gpu->queues[0].queue, point.semaphore, 0, point.value,
                          VK_NULL_HANDLE) &&
           gpu_vk(gpu, maarCudaWait(gpu->cuda, at->shared, at->shared_value, gpu->stream),
                  "maarCudaWait") &&
           gpu_synchronize(gpu);
}

/* ---- the report ---- */

static void time_way(struct latency* at, const char* name, bool (*way)(struct latency*))
{
    bool done = true;
    for (uint32_t i = 0; done && i < at->count + WARM_UP; ++i) {
        const double before = gpu_now();
        done = way(at);
        if (i >= WARM_UP) {
            at->times[i - WARM_UP] = gpu_now() - before;
        }
    }
    if (done) {
        const double p99 = gpu_percentile(at->times, at->count, 0.99);
        printf("| %s | %.2f | %.2f |\n", name, 1e6 * gpu_percentile(at->times, at->count, 0.5),
               1e6 * p99);
    }
}

static bool open_latency(struct latency* at)
{
    struct gpu_case* gpu = at->gpu;
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = gpu->pool,
        .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    return gpu_vk(gpu, vkCreateFence(gpu->device, &fence, NULL, &at->fence), "vkCreateFence") &&
           gpu_vk(gpu, vkAllocateCommandBuffers(gpu->device, &commands, &at->nothing),
                  "vkAllocateCommandBuffers") &&
           gpu_vk(gpu, vkBeginCommandBuffer(at->nothing, &begin), "vkBeginCommandBuffer") &&
           gpu_vk(gpu, vkEndCommandBuffer(at->nothing), "vkEndCommandBuffer");
}

static void time_cuda_ways(struct latency* at)
{
    struct gpu_case* gpu = at->gpu;
    const MaarCudaTimelineCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
                                             .mode = MAAR_HANDOFF_MODE_TIMELINE};
    MaarCudaTimelineInfo made = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    if (!gpu->has_cuda || maarCreateCudaTimeline(gpu->cuda, &info, &at->shared) != VK_SUCCESS ||
        maarGetCudaTimelineInfo(gpu->cuda, at->shared, &made) != VK_SUCCESS) {
        printf("| with CUDA: no timelines that both sides share | | |\n");
        return;
    }
    at->shared_semaphore = made.semaphore;
    time_way(at, "a stream signals, the host sees it in vkWaitSemaphores", stream_to_host);
    time_way(at, "a submission signals, a stream waits, cuStreamSynchronize", queue_to_stream);
}

static void time_all(struct latency* at)
{
    printf("%u rounds each, us\n\n| | p50 | p99 |\n| --- | --- | --- |\n", at->count);
    time_way(at, "vkGetSemaphoreCounterValue", look_at_value);
    time_way(at, "vkWaitSemaphores for a value that has passed", wait_for_past);
    time_way(at, "vkSignalSemaphore, then vkWaitSemaphores", signal_by_host);
    time_way(at, "an empty submission, vkWaitSemaphores", submit_and_wait);
    time_way(at, "an empty submission, vkGetSemaphoreCounterValue in a loop", submit_and_poll);
    time_way(at, "an empty submission, vkWaitForFences", submit_and_fence);
    if (at->gpu->side_queue != NULL) {
        time_way(at, "a submission, one on another queue that waits for it, vkWaitSemaphores",
                 hop_to_side);
    } else {
        printf("| from queue to queue: the device has one queue | | |\n");
    }
    time_cuda_ways(at);
}

int main(int argc, char** argv)
{
    static struct gpu_case gpu;
    static struct latency at;
    const int code = gpu_open(&gpu, argc, argv, GPU_NEEDS_NOTHING, "A timeline's latency");
    if (code == GPU_EXIT_OK) {
        at.gpu = &gpu;
        at.count = gpu.quick ? 50 : MOST_ROUNDS;
        if (open_latency(&at)) {
            time_all(&at);
        }
        (void)vkDeviceWaitIdle(gpu.device);
        if (gpu.has_cuda) {
            (void)gpu_synchronize(&gpu);
            maarDestroyCudaTimeline(gpu.cuda, at.shared);
        }
        vkDestroyFence(gpu.device, at.fence, NULL);
    }
    const int closed = gpu_close(&gpu);
    return code == GPU_EXIT_OK ? closed : code;
}
