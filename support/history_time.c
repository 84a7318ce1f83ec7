/*
 * Time in the history: frames, submissions, what they wait for, signal and use, and budgets.
 */
#include "support/history_internal.h"

#include <string.h>

const char* history_take_frame(struct history_work* work)
{
    MaarCaptureFrame facts;
    history_take(work, &facts, sizeof facts);
    work->index = work->device;
    work->history->devices.items[work->index].frame_count += 1;
    return NULL;
}

/* Finds the number of a fence, or gives it one. Returns false without memory. */
static bool find_fence(struct history_work* work, uint32_t device, uint64_t handle,
                       uint32_t* number)
{
    *number = SUPPORT_HISTORY_NONE;
    if (handle == 0) {
        return true;
    }
    *number = history_find_live(work, device, MAAR_CAPTURE_OBJECT_FENCE, handle);
    if (*number != SUPPORT_HISTORY_NONE) {
        return true;
    }
    *number = work->history->fence_count;
    work->history->fence_count += 1;
    return history_map_set(work->history->live, device, MAAR_CAPTURE_OBJECT_FENCE, handle, *number);
}

const char* history_take_submit(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureSubmit facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    uint32_t fence = SUPPORT_HISTORY_NONE;
    HISTORY_PUSH(history->submits, work->index);
    if (work->index == SUPPORT_HISTORY_NONE ||
        !find_fence(work, facts.device, facts.fence, &fence) ||
        !history_map_set(history->live, facts.device, HISTORY_SUBMISSION, facts.submission,
                         work->index)) {
        return history_no_memory;
    }
    history->submits.items[work->index] = (struct support_history_submit){
        .facts = facts,
        .time_ns = work->time_ns,
        .device = device,
        .queue = history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_QUEUE, facts.queue),
        .fence = fence,
        .last_point = SUPPORT_HISTORY_NONE,
    };
    history->devices.items[device].submit_count += 1;
    return NULL;
}

const char* history_take_point(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCapturePoint facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t submit =
        history_find_live(work, facts.device, HISTORY_SUBMISSION, facts.submission);
    if (submit == SUPPORT_HISTORY_NONE) {
        history_stray(work);
        return NULL;
    }
    HISTORY_PUSH(history->points, work->index);
    if (work->index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    history->points.items[work->index] = (struct support_history_point){
        .semaphore_handle = facts.semaphore,
        .value = facts.value,
        .semaphore =
            history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_SEMAPHORE, facts.semaphore),
        .submit = submit,
        .next = history->submits.items[submit].last_point,
        .is_signal = work->entry->kind == MAAR_CAPTURE_KIND_SUBMIT_SIGNAL,
    };
    history->submits.items[submit].last_point = work->index;
    return NULL;
}

const char* history_take_semaphore(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureSemaphore facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    HISTORY_PUSH(history->semaphores, work->index);
    if (work->index == SUPPORT_HISTORY_NONE ||
        !history_map_set(history->live, facts.device, MAAR_CAPTURE_OBJECT_SEMAPHORE,
                         facts.semaphore, work->index)) {
        return history_no_memory;
    }
    history->semaphores.items[work->index] = (struct support_history_semaphore){
        .handle = facts.semaphore,
        .value = facts.value,
        .begin_ns = work->time_ns,
        .end_ns = SUPPORT_HISTORY_FOREVER,
        .device = device,
        .is_timeline = facts.isTimeline != 0,
    };
    return NULL;
}

const char* history_take_semaphore_end(struct history_work* work)
{
    MaarCaptureEnd facts;
    history_take(work, &facts, sizeof facts);
    work->index =
        history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_SEMAPHORE, facts.handle);
    if (work->index == SUPPORT_HISTORY_NONE) {
        history_stray(work);
        return NULL;
    }
    history_map_remove(work->history->live, facts.device, MAAR_CAPTURE_OBJECT_SEMAPHORE,
                       facts.handle);
    work->history->semaphores.items[work->index].end_ns = work->time_ns;
    return NULL;
}

const char* history_take_reached(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureReached facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    uint32_t object = SUPPORT_HISTORY_NONE;
    if (facts.objectKind == MAAR_CAPTURE_OBJECT_SEMAPHORE ||
        facts.objectKind == MAAR_CAPTURE_OBJECT_QUEUE) {
        object = history_find_live(work, facts.device, facts.objectKind, facts.object);
    } else if (facts.objectKind == MAAR_CAPTURE_OBJECT_FENCE) {
        if (!find_fence(work, facts.device, facts.object, &object)) {
            return history_no_memory;
        }
    } else if (facts.objectKind != MAAR_CAPTURE_OBJECT_DEVICE) {
        return "only semaphores, fences, queues and devices are waited for";
    }
    if (object == SUPPORT_HISTORY_NONE && facts.objectKind != MAAR_CAPTURE_OBJECT_DEVICE) {
        history_stray(work);
        return NULL;
    }
    HISTORY_PUSH(history->reached, work->index);
    if (work->index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    history->reached.items[work->index] = (struct support_history_reached){
        .facts = facts, .time_ns = work->time_ns, .device = device, .object = object};
    return NULL;
}

const char* history_take_use(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureUse facts;
    history_take(work, &facts, sizeof facts);
    if (facts.objectKind != MAAR_CAPTURE_OBJECT_BUFFER &&
        facts.objectKind != MAAR_CAPTURE_OBJECT_IMAGE &&
        facts.objectKind != MAAR_CAPTURE_OBJECT_RANGE &&
        facts.objectKind != MAAR_CAPTURE_OBJECT_OTHER) {
        return "only buffers, images, ranges and other resources are used";
    }
    const uint32_t submit =
        history_find_live(work, facts.device, HISTORY_SUBMISSION, facts.submission);
    const uint32_t resource = history_find_live(work, facts.device, facts.objectKind, facts.object);
    if (submit == SUPPORT_HISTORY_NONE || resource == SUPPORT_HISTORY_NONE) {
        history_stray(work);
        return NULL;
    }
    HISTORY_PUSH(history->uses, work->index);
    if (work->index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    history->uses.items[work->index] =
        (struct support_history_use){.facts = facts, .submit = submit, .resource = resource};
    return NULL;
}

const char* history_take_uses(struct history_work* work)
{
    MaarCaptureUses facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    work->history->devices.items[device].has_uses = true;
    work->history->devices.items[device].uses_flags = facts.flags;
    work->no_event = true;
    return NULL;
}

const char* history_take_budget(struct history_work* work)
{
    MaarCaptureBudget facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    if (facts.heapCount > MAAR_CAPTURE_MOST_HEAPS) {
        return "the budget has more heaps than Vulkan allows";
    }
    HISTORY_PUSH(work->history->budgets, work->index);
    if (work->index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    struct support_history_budget* const budget = &work->history->budgets.items[work->index];
    budget->time_ns = work->time_ns;
    budget->device = device;
    budget->heap_count = facts.heapCount;
    memcpy(budget->budget, facts.budget, sizeof facts.budget);
    memcpy(budget->usage, facts.usage, sizeof facts.usage);
    return NULL;
}
