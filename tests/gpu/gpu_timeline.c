/*
 * What a handoff costs. A round is a little work of Vulkan's, a little work of CUDA's on the same
 * bytes, and Vulkan's turn again: with the host waiting for the queue and then for the stream, as
 * programs without shared semaphores do; by the two calls that do all of a handoff; with the
 * barriers and the points in submissions of the program's own; and so with rounds queued ahead.
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
    uint64_t value;            /* of the timeline */
    VkCommandBuffer fills[2];  /* recorded once, used again and again */
    VkCommandBuffer passes[2]; /* the same, the first giving the buffer away at its end, the second
                                  taking it back at its beginning */
    uint32_t count;
    double times[MOST_ROUNDS]; /* seconds */
};

static bool record_pass(struct rounds* rounds, VkCommandBuffer commands, bool release)
{
    const MaarHandoffResource resource = {.buffer = rounds->buffer.buffer};
    const uint32_t family = rounds->gpu->queues[0].familyIndex;
    return gpu_vk(rounds->gpu,
                  release ? maarCmdRelease(rounds->gpu->allocator, commands, family,
                                           MAAR_HANDOFF_PEER_EXTERNAL, 1, &resource)
                          : maarCmdAcquire(rounds->gpu->allocator, commands, family,
                                           MAAR_HANDOFF_PEER_EXTERNAL, 1, &resource),
                  "a handoff's barriers");
}

static bool record_fill(struct rounds* rounds, uint32_t index, bool passes, VkCommandBuffer* out)
{
    struct gpu_case* gpu = rounds->gpu;
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = gpu->pool,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    if (!gpu_vk(gpu, vkAllocateCommandBuffers(gpu->device, &info, out),
                "vkAllocateCommandBuffers") ||
        !gpu_vk(gpu, vkBeginCommandBuffer(*out, &begin), "vkBeginCommandBuffer")) {
        return false;
    }
    bool done = !passes || index == 0 || record_pass(rounds, *out, false);
    gpu_barrier(*out);
    vkCmdFillBuffer(*out, rounds->buffer.buffer, 0, 4, index);
    gpu_barrier(*out);
    done = done && (!passes || index == 1 || record_pass(rounds, *out, true));
    return done && gpu_vk(gpu, vkEndCommandBuffer(*out), "vkEndCommandBuffer");
}

static bool record_all(struct rounds* rounds)
{
    return record_fill(rounds, 0, false, &rounds->fills[0]) &&
           record_fill(rounds, 1, false, &rounds->fills[1]) &&
           record_fill(rounds, 0, true, &rounds->passes[0]) &&
           record_fill(rounds, 1, true, &rounds->passes[1]);
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

/* The same submissions as by the host, with a point each. */
static bool submit_pass(struct rounds* rounds, uint32_t index, const MaarPoint* point)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const bool waits = index == 1;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits ? 1 : 0,
        .pWaitSemaphoreValues = &point->value,
        .signalSemaphoreValueCount = waits ? 0 : 1,
        .pSignalSemaphoreValues = &point->value};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &values,
                                 .waitSemaphoreCount = values.waitSemaphoreValueCount,
                                 .pWaitSemaphores = &point->semaphore,
                                 .pWaitDstStageMask = &stage,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &rounds->passes[index],
                                 .signalSemaphoreCount = values.signalSemaphoreValueCount,
                                 .pSignalSemaphores = &point->semaphore};
    return gpu_vk(rounds->gpu,
                  vkQueueSubmit(rounds->gpu->queues[0].queue, 1, &submit, VK_NULL_HANDLE),
                  "vkQueueSubmit");
}

static bool round_by_points(struct rounds* rounds)
{
    struct gpu_case* gpu = rounds->gpu;
    const uint64_t given = ++rounds->value;
    const uint64_t returned = ++rounds->value;
    MaarPoint point;
    return gpu_vk(gpu, maarGetCudaTimelineSignal(gpu->cuda, rounds->timeline, given, &point),
                  "maarGetCudaTimelineSignal") &&
           submit_pass(rounds, 0, &point) &&
           gpu_vk(gpu, maarCudaWait(gpu->cuda, rounds->timeline, given, gpu->stream),
                  "maarCudaWait") &&
           work_in_cuda(rounds) &&
           gpu_vk(gpu, maarCudaSignal(gpu->cuda, rounds->timeline, returned, gpu->stream),
                  "maarCudaSignal") &&
           gpu_vk(gpu, maarGetCudaTimelineWait(gpu->cuda, rounds->timeline, returned, &point),
                  "maarGetCudaTimelineWait") &&
           submit_pass(rounds, 1, &point);
}

/* Each round ends with the host's wait for the queue, in all ways. */
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
            if (!round_by_points(rounds)) {
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

enum { WAYS = 3 };

static const struct {
    const char* name;
    bool (*round)(struct rounds*);
} ways[WAYS] = {
    {"vkQueueWaitIdle, then cuStreamSynchronize", round_by_host},
    {"maarReleaseToCuda and maarAcquireFromCuda; the host waits at the end", round_by_handoff},
    {"maarCmdRelease, maarCudaWait, maarCudaSignal, maarCmdAcquire; the host waits at the end",
     round_by_points},
};

static void report(struct rounds* rounds)
{
    static const char* const modes[] = {"auto", "timeline", "binary", "host"};
    MaarCudaTimelineInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    double first = 0.0;
    (void)maarGetCudaTimelineInfo(rounds->gpu->cuda, rounds->timeline, &info);
    printf("%u rounds of Vulkan, CUDA (%s), Vulkan; handoff by %s\n\n", rounds->count,
           rounds->touch != NULL ? "a kernel" : "a memset", modes[info.mode]);
    printf("| way | p50, us a round | p99 | times as fast as the first |\n"
           "| --- | --- | --- | --- |\n");
    for (uint32_t i = 0; i < WAYS; ++i) {
        if (!time_rounds(rounds, ways[i].round)) {
            return;
        }
        const double p99 = gpu_percentile(rounds->times, rounds->count, 0.99);
        const double p50 = gpu_percentile(rounds->times, rounds->count, 0.5);
        first = i == 0 ? p50 : first;
        printf("| %s | %.1f | %.1f | %.2f |\n", ways[i].name, 1e6 * p50, 1e6 * p99, first / p50);
    }
    if (info.mode != MAAR_HANDOFF_MODE_TIMELINE) {
        return;
    }
    const double ahead = time_ahead(rounds);
    printf("| the last, %d rounds queued ahead | %.1f (mean) | | %.2f |\n", AHEAD, 1e6 * ahead,
           ahead > 0.0 ? first / ahead : 0.0);
    if (!rounds->gpu->fake && ahead >= first) {
        gpu_fail(rounds->gpu, "a handoff by a timeline is no faster than the host");
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
            record_all(&rounds)) {
            report(&rounds);
        }
        (void)vkDeviceWaitIdle(gpu.device);
        (void)gpu_synchronize(&gpu);
        maarDestroyCudaTimeline(gpu.cuda, rounds.timeline);
        gpu_free(&gpu, &rounds.buffer);
    }
    const int closed = gpu_close(&gpu);
    return code == GPU_EXIT_OK ? closed : code;
}
