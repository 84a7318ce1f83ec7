/*
 * The command buffers of the checker of barriers: recorded events take effect on submission.
 */
#include "support/hazards_internal.h"

#include <stdlib.h>
#include <string.h>

static struct hazard_recording* recording_of(struct hazards* h, VkCommandBuffer commands)
{
    for (uint32_t i = 0; i < h->recording_count; ++i) {
        if (h->recordings[i].commands == commands) {
            return &h->recordings[i];
        }
    }
    h->recordings =
        hazard_resize(h->recordings, (size_t)h->recording_count + 1, sizeof *h->recordings);
    struct hazard_recording* recording = &h->recordings[h->recording_count++];
    *recording = (struct hazard_recording){.commands = commands};
    return recording;
}

static void clear(struct hazard_recording* recording)
{
    for (uint32_t i = 0; i < recording->count; ++i) {
        const VkDependencyInfo* dependency = &recording->list[i].dependency;
        if (recording->list[i].is_barrier) {
            free((void*)(uintptr_t)dependency->pMemoryBarriers);
            free((void*)(uintptr_t)dependency->pBufferMemoryBarriers);
            free((void*)(uintptr_t)dependency->pImageMemoryBarriers);
        }
    }
    recording->count = 0;
}

static struct hazard_command* append(struct hazards* h, VkCommandBuffer commands)
{
    struct hazard_recording* recording = recording_of(h, commands);
    if (recording->count == recording->capacity) {
        recording->capacity = recording->capacity * 2 + 16;
        recording->list =
            hazard_resize(recording->list, recording->capacity, sizeof *recording->list);
    }
    struct hazard_command* command = &recording->list[recording->count++];
    memset(command, 0, sizeof *command);
    hazard_copy_text(command->place, sizeof command->place, h->place);
    return command;
}

static void* copy(const void* array, uint32_t count, size_t size)
{
    void* made = hazard_resize(NULL, count, size);
    if (count > 0) {
        memcpy(made, array, count * size);
    }
    return made;
}

void hazards_begin_commands(struct hazards* hazards, VkCommandBuffer commands)
{
    clear(recording_of(hazards, commands));
}

void hazards_record_barrier(struct hazards* hazards, VkCommandBuffer commands,
                            const VkDependencyInfo* dependency)
{
    struct hazard_command* command = append(hazards, commands);
    VkDependencyInfo* kept = &command->dependency;
    command->is_barrier = true;
    *kept = *dependency;
    kept->pMemoryBarriers = copy(dependency->pMemoryBarriers, dependency->memoryBarrierCount,
                                 sizeof *dependency->pMemoryBarriers);
    kept->pBufferMemoryBarriers =
        copy(dependency->pBufferMemoryBarriers, dependency->bufferMemoryBarrierCount,
             sizeof *dependency->pBufferMemoryBarriers);
    kept->pImageMemoryBarriers =
        copy(dependency->pImageMemoryBarriers, dependency->imageMemoryBarrierCount,
             sizeof *dependency->pImageMemoryBarriers);
}

void hazards_record_access(struct hazards* hazards, VkCommandBuffer commands,
                           const struct hazard_access* access)
{
    append(hazards, commands)->access = *access;
}

static void play(struct hazards* h, uint32_t queue, VkCommandBuffer commands)
{
    const struct hazard_recording* recording = recording_of(h, commands);
    for (uint32_t i = 0; i < recording->count; ++i) {
        const struct hazard_command* command = &recording->list[i];
        hazards_set_place(h, command->place);
        if (command->is_barrier) {
            hazards_barrier(h, queue, &command->dependency);
        } else {
            hazards_access(h, queue, &command->access);
        }
    }
}

/* Numbers the signals and waits of binary semaphores: the nth wait is for the nth signal. */
static struct hazard_count* count_of(struct hazards* h, uint64_t semaphore)
{
    for (uint32_t i = 0; i < h->binary_count; ++i) {
        if (h->binaries[i].semaphore == semaphore) {
            return &h->binaries[i];
        }
    }
    h->binaries = hazard_resize(h->binaries, (size_t)h->binary_count + 1, sizeof *h->binaries);
    h->binaries[h->binary_count] = (struct hazard_count){.semaphore = semaphore};
    return &h->binaries[h->binary_count++];
}

static uint64_t number_of(VkSemaphore semaphore)
{
    uint64_t number = 0;
    memcpy(&number, &semaphore,
           sizeof semaphore < sizeof number ? sizeof semaphore : sizeof number);
    return number;
}

void hazards_submit(struct hazards* hazards, uint32_t queue, uint32_t submit_count,
                    const VkSubmitInfo2* submits)
{
    for (uint32_t i = 0; i < submit_count; ++i) {
        const VkSubmitInfo2* submit = &submits[i];
        for (uint32_t k = 0; k < submit->waitSemaphoreInfoCount; ++k) {
            const VkSemaphoreSubmitInfo* wait = &submit->pWaitSemaphoreInfos[k];
            const uint64_t number = number_of(wait->semaphore);
            const uint64_t value =
                wait->value != 0 ? wait->value : ++count_of(hazards, number)->waits;
            hazards_wait(hazards, queue, number, value, wait->stageMask);
        }
        for (uint32_t k = 0; k < submit->commandBufferInfoCount; ++k) {
            play(hazards, queue, submit->pCommandBufferInfos[k].commandBuffer);
        }
        for (uint32_t k = 0; k < submit->signalSemaphoreInfoCount; ++k) {
            const VkSemaphoreSubmitInfo* signal = &submit->pSignalSemaphoreInfos[k];
            const uint64_t number = number_of(signal->semaphore);
            const uint64_t value =
                signal->value != 0 ? signal->value : ++count_of(hazards, number)->signals;
            hazards_signal(hazards, queue, number, value, signal->stageMask);
        }
    }
}

void hazards_destroy(struct hazards* hazards)
{
    if (hazards == NULL) {
        return;
    }
    for (uint32_t i = 0; i < hazards->recording_count; ++i) {
        clear(&hazards->recordings[i]);
        free(hazards->recordings[i].list);
    }
    for (uint32_t i = 0; i < hazards->segment_count; ++i) {
        free(hazards->segments[i].events);
    }
    for (uint32_t i = 0; i < hazards->event_count; ++i) {
        free(hazards->events[i].reach);
    }
    for (uint32_t i = 0; i < hazards->signal_count; ++i) {
        free(hazards->signals[i].marks);
    }
    for (uint32_t i = 0; i < hazards->finding_count && i < HAZARD_MOST_FINDINGS; ++i) {
        free(hazards->findings[i]);
    }
    free(hazards->recordings);
    free(hazards->segments);
    free(hazards->events);
    free(hazards->signals);
    free(hazards->binaries);
    free(hazards->resources);
    free(hazards->families);
    free(hazards);
}
