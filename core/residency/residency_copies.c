/*
 * Submissions of a manager: see residency_copies.h.
 */
#include "core/residency/residency_copies.h"

#include "core/memory/allocator_state.h"
#include "core/memory_order.h"
#include "maar/ordered.h"

/* Reads a timeline of the program, unless it has reached the last value already. */
static VkResult poll_timeline(const struct maar_device* device,
                              struct maar_residency_timeline* timeline)
{
    uint64_t value = 0;
    if (timeline->passed >= timeline->latest) {
        return VK_SUCCESS;
    }
    const VkResult result =
        device->vkGetSemaphoreCounterValue(device->handle, timeline->semaphore, &value);
    if (result == VK_SUCCESS) {
        timeline->passed = value;
    }
    return result;
}

VkResult maar_copies_poll(struct maar_residency* it)
{
    VkResult result = maar_copy_stream_poll(&it->copies);
    maar_lock_rank_expect_none();
    for (uint32_t i = 0; i < it->timeline_count && result == VK_SUCCESS; ++i) {
        result = poll_timeline(&it->allocator->device, &it->timelines[i]);
    }
    maar_note_loss(it->allocator, result);
    return result;
}

bool maar_copies_are_lost(struct maar_residency* it)
{
    const struct maar_device* device = &it->allocator->device;
    uint64_t value = 0;
    maar_lock_rank_expect_none();
    const VkResult result =
        device->vkGetSemaphoreCounterValue(device->handle, it->copies.timeline, &value);
    maar_note_loss(it->allocator, result);
    return result == VK_ERROR_DEVICE_LOST;
}

VkResult maar_copies_wait(struct maar_residency* it)
{
    return maar_copy_stream_wait(&it->copies, it->copies.submitted);
}

VkResult maar_copies_begin(struct maar_residency* it, struct maar_stream_commands** commands)
{
    VkResult result = maar_copies_poll(it);
    if (result == VK_SUCCESS) {
        result = maar_copy_stream_begin(&it->copies, commands);
    }
    if (result == VK_SUCCESS) {
        maar_order_commands(&it->allocator->device, (*commands)->buffer,
                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    }
    return result;
}

/* Declares the last submission: memory that waits for it may serve other objects at once. */
static void declare(struct maar_residency* it, const struct maar_copy_waits* waits)
{
    const MaarPoint end = {it->copies.timeline, it->copies.submitted};
    const MaarSubmissionInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO,
        .waitCount = waits->count < MAAR_MAX_POINTS ? waits->count : MAAR_MAX_POINTS,
        .pWaits = waits->points,
        .signalCount = 1,
        .pSignals = &end,
    };
    /* What is not declared is reused later. */
    (void)maarDeclareSubmission(it->allocator, &info);
}

VkResult maar_copies_submit(struct maar_residency* it, struct maar_stream_commands* commands,
                            const struct maar_copy_waits* waits)
{
    /* The host may read memory that it sees after the end. */
    maar_order_commands(&it->allocator->device, commands->buffer,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT);
    const VkResult result =
        maar_copy_stream_submit(&it->copies, commands, waits->count, waits->points);
    if (result == VK_SUCCESS) {
        ++it->info.submissionCount;
        declare(it, waits);
    }
    return result;
}

void maar_copies_note_use(struct maar_residency* it, uint32_t count, const MaarPoint* points)
{
    const MaarSubmissionInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO,
        .signalCount = count,
        .pSignals = points,
    };
    (void)maarDeclareSubmission(it->allocator, &info);
}

void maar_copies_add_wait(struct maar_copy_waits* waits, MaarPoint point)
{
    for (uint32_t i = 0; i < waits->count; ++i) {
        if (waits->points[i].semaphore == point.semaphore) {
            waits->points[i].value =
                point.value > waits->points[i].value ? point.value : waits->points[i].value;
            return;
        }
    }
    MAAR_DEBUG_ASSERT(waits->count < MAAR_MAX_POINTS + 1);
    waits->points[waits->count++] = point;
}
