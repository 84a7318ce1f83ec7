/*
 * What must go wrong: CUDA reads what Vulkan writes, with the handoff and without it. With it every
 * read must see the round's word; without it some must see an older one, or else the tests of
 * handoffs prove nothing on this machine.
 */
#include "gpu_case.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 40, FILLS = 24 };

struct race {
    struct gpu_case* gpu;
    struct gpu_buffer buffer;
    MaarCudaMemory memory;
    MaarCudaTimeline timeline;
    uint64_t value;
};

/* Long work, whose last part writes the word that is read. */
static bool write_slowly(struct race* race, uint32_t word)
{
    struct gpu_case* gpu = race->gpu;
    const VkCommandBuffer commands = gpu_begin(gpu);
    gpu_barrier(commands);
    for (uint32_t i = 0; i < FILLS; ++i) {
        vkCmdFillBuffer(commands, race->buffer.buffer, 0, VK_WHOLE_SIZE,
                        i + 1 < FILLS ? ~word : word);
        gpu_barrier(commands);
    }
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    return gpu_vk(gpu, vkEndCommandBuffer(commands), "vkEndCommandBuffer") &&
           gpu_vk(gpu, vkQueueSubmit(gpu->queues[0].queue, 1, &submit, VK_NULL_HANDLE),
                  "vkQueueSubmit");
}

static bool read_in_cuda(struct race* race, uint32_t* word)
{
    struct gpu_case* gpu = race->gpu;
    return gpu_cu(gpu,
                  (int)gpu->driver.cuMemcpyDtoHAsync(
                      word, race->memory.devicePointer + race->buffer.size - 4, 4, gpu->stream),
                  "cuMemcpyDtoHAsync") &&
           gpu_synchronize(gpu);
}

/* How many reads saw another word than the round's. */
static uint32_t count_stale(struct race* race, bool ordered, uint32_t rounds)
{
    uint32_t stale = 0;
    for (uint32_t round = 1; round <= rounds; ++round) {
        uint32_t word = 0;
        bool done = write_slowly(race, round);
        if (done && ordered) {
            done = gpu_pass(race->gpu, race->timeline, ++race->value, true, &race->buffer);
        }
        done = done && read_in_cuda(race, &word);
        stale += done && word != round ? 1 : 0;
        if (done && ordered) {
            done = gpu_pass(race->gpu, race->timeline, ++race->value, false, &race->buffer);
        }
        if (!done || vkQueueWaitIdle(race->gpu->queues[0].queue) != VK_SUCCESS) {
            break;
        }
    }
    return stale;
}

int main(int argc, char** argv)
{
    static struct gpu_case gpu;
    static struct race race;
    const int code = gpu_open(&gpu, argc, argv, GPU_NEEDS_CUDA, "Without the handoff it must fail");
    if (code == GPU_EXIT_OK) {
        const uint32_t rounds = gpu.quick ? 10 : ROUNDS;
        race.gpu = &gpu;
        race.memory.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY;
        if (gpu_make_shared(&gpu, (gpu.quick ? 16 : 512) * MIB, MAAR_DEDICATED_AUTO,
                            &race.buffer) &&
            gpu_vk(&gpu, maarGetCudaMemory(gpu.cuda, race.buffer.allocation, &race.memory),
                   "maarGetCudaMemory") &&
            gpu_vk(&gpu, maarCreateCudaTimeline(gpu.cuda, NULL, &race.timeline),
                   "maarCreateCudaTimeline")) {
            const uint32_t with = count_stale(&race, true, rounds);
            const uint32_t without = count_stale(&race, false, rounds);
            printf("| | reads | that saw another word |\n| --- | --- | --- |\n");
            printf("| with the handoff | %u | %u |\n", rounds, with);
            printf("| without it | %u | %u |\n", rounds, without);
            if (with != 0) {
                gpu_fail(&gpu, "a read saw an old word in spite of the handoff");
            }
            if (without == 0 && !gpu.fake) { /* the FAKE's memory is one, and time decides */
                gpu_fail(&gpu, "nothing goes wrong without the handoff: it is not tested here");
            }
        }
        (void)vkDeviceWaitIdle(gpu.device);
        (void)gpu_synchronize(&gpu);
        maarDestroyCudaTimeline(gpu.cuda, race.timeline);
        gpu_free(&gpu, &race.buffer);
    }
    const int closed = gpu_close(&gpu);
    return code == GPU_EXIT_OK ? closed : code;
}
