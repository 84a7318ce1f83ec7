/*
 * What a handoff costs. A round is a little work of Vulkan's, a little work of CUDA's on the same
 * bytes, and Vulkan's turn again: once with the host waiting for the queue and then for the stream,
 * as programs without shared semaphores do; once with the mode that Maar found, the host waiting at
 * the end of each round; and once with all rounds queued ahead.
 */
#include "gpu_case.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ROUNDS = 2000, WARM_UP = 20, AHEAD = 32 };

struct rounds {
    struct gpu_case* gpu;
    struct gpu_buffer buffer;
    MaarCudaMemory memory;
    void* touch; /* a kernel; NULL: a memset */
    MaarCudaTimeline timeline;
    uint64_t value;           /* of the timeline */
    VkCommandBuffer fills[2]; /* recorded once, used again and again */
    uint32_t count;
    double times[MOST_ROUNDS]; /* seconds */
};

static bool record_fill(struct rounds* rounds, uint32_t index)
{
    struct gpu_case* gpu = rounds->gpu;
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = gpu->pool,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    if (!gpu_vk(gpu, vkAllocateCommandBuffers(gpu->device, &info, &rounds->fills[index]),
                "vkAllocateCommandBuffers") ||
        !gpu_vk(gpu, vkBeginCommandBuffer(rounds->fills[index], &begin), "vkBeginCommandBuffer")) {
        return false;
    }
    gpu_barrier(rounds->fills[index]);
    vkCmdFillBuffer(rounds->fills[index], rounds->buffer.buffer, 0, 4, index);
    gpu_barrier(rounds->fills[index]);
    return gpu_vk(gpu, vkEndCommandBuffer(rounds->fills[index]), "vkEndCommandBuffer");
}

static bool submit_fill(struct rounds* rounds, uint32_t index)
{
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &rounds->fills[index]};
    return gpu_vk(rounds->gpu,
                  vkQueueSubmit(rounds->gpu->queues[0].queue, 1, &submit, VK_NULL_HANDLE),
                  "vkQueueSubmit");
}

static bool work_in_cuda(struct rounds* rounds)
{
    struct gpu_case* gpu = rounds->gpu;
    void* arguments[1] = {&rounds->memory.devicePointer};
    if (rounds->touch != NULL) {
        return gpu_launch(gpu, rounds->touch, 1, 1, arguments);
    }
    return gpu_cu(
        gpu, (int)gpu->driver.cuMemsetD32Async(rounds->memory.devicePointer, 7, 1, gpu->stream),
        "cuMemsetD32Async");
}

static bool wait_for_queue(struct rounds* rounds)
{
    return gpu_vk(rounds->gpu, vkQueueWaitIdle(rounds->gpu->queues[0].queue), "vkQueueWaitIdle");
}

/* ---- the ways ---- */

static bool round_by_host(struct rounds* rounds)
{
    return submit_fill(rounds, 0) && wait_for_queue(rounds) && work_in_cuda(rounds) &&
           gpu_synchronize(rounds->gpu) && submit_fill(rounds, 1);
}

static bool round_by_handoff(struct rounds* rounds)
{
    return submit_fill(rounds, 0) &&
           gpu_pass(rounds->gpu, rounds->timeline, ++rounds->value, true, &rounds->buffer) &&
           work_in_cuda(rounds) &&
           gpu_pass(rounds->gpu, rounds->timeline, ++rounds->value, false, &rounds->buffer) &&
           submit_fill(rounds, 1);
}

/* Each round ends with the host's wait for the queue, in both ways. */
static bool time_rounds(struct rounds* rounds, bool (*round)(struct rounds*))
{
    bool done = true;
    for (uint32_t i = 0; done && i < rounds->count + WARM_UP; ++i) {
        const double before = gpu_now();
        done = round(rounds) && wait_for_queue(rounds);
        if (i >= WARM_UP) {
            rounds->times[i - WARM_UP] = gpu_now() - before;
        }
    }
    return done;
}

/* So many rounds are queued before the host waits; seconds a round. */
static double time_ahead(struct rounds* rounds)
{
    uint32_t made = 0;
    const double before = gpu_now();
    while (made < rounds->count) {
        for (uint32_t i = 0; i < AHEAD; ++i, ++made) {
            if (!round_by_handoff(rounds)) {
                return 0.0;
            }
        }
        if (!wait_for_queue(rounds)) {
            return 0.0;
        }
    }
    return (gpu_now() - before) / made;
}

/* ---- the report ---- */

static void report(struct rounds* rounds)
{
    static const char* const modes[] = {"auto", "timeline", "binary", "host"};
    double p50[2] = {0.0, 0.0};
    double p99[2] = {0.0, 0.0};
    if (!time_rounds(rounds, round_by_host)) {
        return;
    }
    p50[0] = gpu_percentile(rounds->times, rounds->count, 0.5);
    p99[0] = gpu_percentile(rounds->times, rounds->count, 0.99);
    if (!time_rounds(rounds, round_by_handoff)) {
        return;
    }
    p50[1] = gpu_percentile(rounds->times, rounds->count, 0.5);
    p99[1] = gpu_percentile(rounds->times, rounds->count, 0.99);
    MaarCudaTimelineInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    (void)maarGetCudaTimelineInfo(rounds->timeline, &info);
    printf("%u rounds of Vulkan, CUDA (%s), Vulkan; handoff by %s\n\n", rounds->count,
           rounds->touch != NULL ? "a kernel" : "a memset", modes[info.mode]);
    printf("| way | p50, us a round | p99 | factor of the first |\n| --- | --- | --- | --- |\n");
    printf("| vkQueueWaitIdle, then cuStreamSynchronize | %.1f | %.1f | 1 |\n", 1e6 * p50[0],
           1e6 * p99[0]);
    printf("| handoff, the host waits at the end of each round | %.1f | %.1f | %.2f |\n",
           1e6 * p50[1], 1e6 * p99[1], p50[0] / p50[1]);
    if (info.mode == MAAR_HANDOFF_MODE_TIMELINE) {
        const double ahead = time_ahead(rounds);
        printf("| handoff, %d rounds queued ahead | %.1f (mean) | | %.2f |\n", AHEAD, 1e6 * ahead,
               ahead > 0.0 ? p50[0] / ahead : 0.0);
        if (!rounds->gpu->fake && ahead >= p50[0]) {
            gpu_fail(rounds->gpu, "a handoff by a timeline is no faster than the host");
        }
    }
}

int main(int argc, char** argv)
{
    static struct gpu_case gpu;
    static struct rounds rounds;
    const int code = gpu_open(&gpu, argc, argv, GPU_NEEDS_CUDA, "A handoff's time");
    if (code == GPU_EXIT_OK) {
        rounds.gpu = &gpu;
        rounds.count = gpu.quick ? 64 : MOST_ROUNDS;
        rounds.memory.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY;
        rounds.touch = gpu_kernel(&gpu, "gpu_touch");
        if (gpu_make_shared(&gpu, 65536, MAAR_DEDICATED_AUTO, &rounds.buffer) &&
            gpu_vk(&gpu, maarGetCudaMemory(gpu.cuda, rounds.buffer.allocation, &rounds.memory),
                   "maarGetCudaMemory") &&
            gpu_vk(&gpu, maarCreateCudaTimeline(gpu.cuda, NULL, &rounds.timeline),
                   "maarCreateCudaTimeline") &&
            record_fill(&rounds, 0) && record_fill(&rounds, 1)) {
            report(&rounds);
        }
        (void)vkDeviceWaitIdle(gpu.device);
        (void)gpu_synchronize(&gpu);
        maarDestroyCudaTimeline(rounds.timeline);
        gpu_free(&gpu, &rounds.buffer);
    }
    const int closed = gpu_close(&gpu);
    return code == GPU_EXIT_OK ? closed : code;
}
