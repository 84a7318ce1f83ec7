/*
 * The first thing to know of a card: whether the two sides can take turns at all. Ten rounds for
 * each way of handing over, with limits of seconds; and, since frees after points rely on it,
 * whether the host sees what a CUDA stream signalled.
 */
#include "gpu_rows.h"

#include <stdio.h>
#include <time.h>

enum { ROUNDS = 10, LIMIT_S = 5, ROW_LIMIT_S = 25 };

static const MaarHandoffMode modes[] = {MAAR_HANDOFF_MODE_TIMELINE, MAAR_HANDOFF_MODE_BINARY,
                                        MAAR_HANDOFF_MODE_HOST};
static const char* const mode_names[] = {"timeline", "binary", "host"};

struct handshake {
    struct gpu_case* gpu;
    MaarCudaTimeline timeline;
    VkSemaphore semaphore; /* null: binary */
    struct gpu_buffer buffer;
    struct gpu_buffer readback;
    MaarCudaMemory memory;
    uint64_t value;
    uint32_t rounds;       /* both sides saw the other's word */
    uint32_t counter_seen; /* vkGetSemaphoreCounterValue gave the stream's value */
    uint32_t wait_seen;    /* vkWaitSemaphores returned for it */
    double counter_us;     /* the longest time from the stream's end to that */
};

/* False where the stream is not done within the limit. */
static bool wait_for_stream(struct gpu_case* gpu)
{
    const struct timespec pause = {.tv_nsec = 100000};
    const double deadline = gpu_now() + LIMIT_S;
    int result = (int)gpu->driver.cuStreamQuery(gpu->stream);
    while (result == MAAR_CUDA_NOT_READY && gpu_now() < deadline) {
        (void)nanosleep(&pause, NULL);
        result = (int)gpu->driver.cuStreamQuery(gpu->stream);
    }
    if (result == MAAR_CUDA_NOT_READY) {
        gpu_fail(gpu, "the stream still waits after %d s", LIMIT_S);
        return false;
    }
    return gpu_cu(gpu, result, "cuStreamQuery");
}

/* What the host sees of the value that the stream has signalled. */
static void look_from_host(struct handshake* at, uint64_t value)
{
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &at->semaphore,
                                      .pValues = &value};
    const VkDevice device = at->gpu->device;
    const double before = gpu_now();
    uint64_t seen = 0;
    if (at->semaphore == VK_NULL_HANDLE) {
        return;
    }
    while (vkGetSemaphoreCounterValue(device, at->semaphore, &seen) == VK_SUCCESS && seen < value &&
           gpu_now() < before + LIMIT_S / 5.0) {
    }
    const double us = 1e6 * (gpu_now() - before);
    at->counter_us = us > at->counter_us ? us : at->counter_us;
    at->counter_seen += seen >= value ? 1 : 0;
    at->wait_seen +=
        vkWaitSemaphores(device, &wait, (uint64_t)LIMIT_S * 1000000000u) == VK_SUCCESS ? 1 : 0;
}

/* Vulkan writes a word, CUDA reads it and writes another, Vulkan reads that. */
static bool shake_hands(struct handshake* at, uint32_t round)
{
    struct gpu_case* gpu = at->gpu;
    const uint32_t words[2] = {0xA0000000u + round, 0xB0000000u + round};
    uint32_t seen = 0;
    vkCmdFillBuffer(gpu_begin(gpu), at->buffer.buffer, 0, VK_WHOLE_SIZE, words[0]);
    gpu_barrier(gpu->commands);
    if (!gpu_run(gpu) || !gpu_pass(gpu, at->timeline, ++at->value, true, &at->buffer) ||
        !gpu_cu(gpu,
                (int)gpu->driver.cuMemcpyDtoHAsync(&seen, at->memory.devicePointer, 4, gpu->stream),
                "cuMemcpyDtoHAsync") ||
        !gpu_cu(gpu,
                (int)gpu->driver.cuMemsetD32Async(at->memory.devicePointer, words[1],
                                                  at->buffer.size / 4, gpu->stream),
                "cuMemsetD32Async") ||
        !gpu_pass(gpu, at->timeline, ++at->value, false, &at->buffer) || !wait_for_stream(gpu)) {
        return false;
    }
    look_from_host(at, at->value);
    const uint32_t* const back = gpu_read(gpu, &at->buffer, 0, at->buffer.size, &at->readback);
    if (back == NULL) {
        return false;
    }
    at->rounds += seen == words[0] && *back == words[1] ? 1 : 0;
    return true;
}

static void print_handshake(const struct handshake* at)
{
    printf("%u of %d | ", at->rounds, ROUNDS);
    if (at->semaphore == VK_NULL_HANDLE) {
        printf("no timeline | no timeline |");
    } else {
        printf("%u of %d, within %.0f us | %u of %d |", at->counter_seen, ROUNDS, at->counter_us,
               at->wait_seen, ROUNDS);
    }
}

static void run_rounds(struct handshake* at)
{
    struct gpu_case* gpu = at->gpu;
    const double before = gpu_now();
    bool done = true;
    for (uint32_t round = 1; done && round <= ROUNDS; ++round) {
        done = shake_hands(at, round);
    }
    print_handshake(at);
    printf(" %.2f |", 1e3 * (gpu_now() - before) / ROUNDS);
    if (at->rounds != ROUNDS) {
        gpu_fail(gpu, "a handoff that both sides offer does not work");
    } else if (at->semaphore != VK_NULL_HANDLE &&
               (at->counter_seen != ROUNDS || at->wait_seen != ROUNDS)) {
        gpu_fail(gpu, "the host does not see CUDA's signals: frees after such points never come");
    }
    printf("\n");
}

static int try_mode(struct gpu_case* gpu, uint32_t index)
{
    const MaarCudaTimelineCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
                                             .mode = modes[index]};
    MaarCudaTimelineInfo made = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    struct handshake at = {.gpu = gpu, .memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY}};
    printf("| %s%s | ", mode_names[index],
           gpu->info.handoffMode == modes[index] ? ", Maar's choice" : "");
    gpu->message[0] = '\0';
    const VkResult result = maarCreateCudaTimeline(gpu->cuda, &info, &at.timeline);
    printf("%s %s | ", maarGetResultName(result), gpu->message);
    if (result != VK_SUCCESS) {
        printf("| | | |\n");
        return GPU_EXIT_OK;
    }
    (void)maarGetCudaTimelineInfo(gpu->cuda, at.timeline, &made);
    at.semaphore = made.semaphore;
    if (gpu_make_shared(gpu, 65536, MAAR_DEDICATED_AUTO, &at.buffer) &&
        gpu_make_readback(gpu, 65536, &at.readback) &&
        gpu_vk(gpu, maarGetCudaMemory(gpu->cuda, at.buffer.allocation, &at.memory),
               "maarGetCudaMemory")) {
        run_rounds(&at);
    }
    (void)vkDeviceWaitIdle(gpu->device);
    (void)gpu_synchronize(gpu);
    maarDestroyCudaTimeline(gpu->cuda, at.timeline);
    gpu_free(gpu, &at.buffer);
    gpu_free(gpu, &at.readback);
    return GPU_EXIT_OK;
}

int main(int argc, char** argv)
{
    static const struct gpu_row_group groups[] = {
        {.head =
             "Ten rounds of Vulkan, CUDA, Vulkan; after each of CUDA's signals the host looks.\n"
             "\n| handoff by | maarCreateCudaTimeline | rounds right | "
             "vkGetSemaphoreCounterValue | vkWaitSemaphores | ms a round |\n"
             "| --- | --- | --- | --- | --- | --- |\n",
         .row_count = 3,
         .limit_s = ROW_LIMIT_S,
         .run = try_mode},
    };
    return gpu_run_groups(argc, argv, GPU_NEEDS_CUDA, "Handshakes", groups, 1);
}
