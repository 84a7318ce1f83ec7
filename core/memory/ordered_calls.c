/*
 * The public calls of ordered reuse: declared submissions, forgotten timelines and statistics.
 */
#include "core/memory/ordered_reuse.h"

#include <string.h>

/* The numbers of the timelines that a submission signals, and histories for those that have none.
 */
struct signals {
    uint32_t numbers[MAAR_MAX_POINTS];
    struct maar_clock_history* made[MAAR_MAX_POINTS];
    struct maar_clock_history* freed[MAAR_MAX_POINTS];
};

static void free_histories(MaarAllocator allocator, struct maar_clock_history** histories,
                           uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        maar_host_free(allocator->callbacks, histories[i]);
    }
}

/* Allocates a history for each signal whose timeline may need one. Returns false if there is no
 * host memory. */
static bool make_histories(MaarAllocator allocator, struct maar_ordered* state,
                           const MaarSubmissionInfo* info, struct signals* signals)
{
    bool wanted[MAAR_MAX_POINTS];
    maar_mutex_lock(&state->lock);
    for (uint32_t i = 0; i < info->signalCount; ++i) {
        const uint32_t number = maar_clock_find(&state->clock, info->pSignals[i].semaphore);
        wanted[i] = info->pSignals[i].value != 0 &&
                    (number == MAAR_CLOCK_NONE || state->clock.timelines[number].history == NULL);
    }
    maar_mutex_unlock(&state->lock);
    for (uint32_t i = 0; i < info->signalCount; ++i) {
        if (wanted[i]) {
            signals->made[i] = maar_host_calloc(allocator->callbacks, 1, sizeof *signals->made[i]);
            if (signals->made[i] == NULL) {
                return false;
            }
        }
    }
    return true;
}

/* Declares the signals under the lock. A timeline without a number, or whose history another thread
 * has freed meanwhile, is not declared. */
static void declare_signals(struct maar_clock* clock, const MaarSubmissionInfo* info,
                            struct signals* signals)
{
    struct maar_clock_reach reach = {{0}};
    for (uint32_t i = 0; i < info->waitCount; ++i) {
        if (info->pWaits[i].value != 0) {
            maar_clock_cover(clock, info->pWaits[i], &reach);
        }
    }
    for (uint32_t i = 0; i < info->signalCount; ++i) {
        const MaarPoint point = info->pSignals[i];
        const uint32_t number = point.value != 0
                                    ? maar_clock_number(clock, point.semaphore, &signals->freed[i])
                                    : (uint32_t)MAAR_CLOCK_NONE;
        if (number == MAAR_CLOCK_NONE) {
            continue;
        }
        struct maar_clock_timeline* timeline = &clock->timelines[number];
        if (timeline->history == NULL) {
            timeline->history = signals->made[i];
            signals->made[i] = NULL;
        }
        if (timeline->history != NULL) {
            maar_clock_declare(clock, number, point.value, &reach);
        }
    }
}

static VkResult check_submission(MaarAllocator allocator, const char* call,
                                 const MaarSubmissionInfo* info)
{
    VkResult result =
        maar_check_structure(allocator, call, "pInfo", info, MAAR_STRUCTURE_TYPE_SUBMISSION_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (info->waitCount > MAAR_MAX_POINTS || info->signalCount > MAAR_MAX_POINTS) {
        const bool waits = info->waitCount > MAAR_MAX_POINTS;
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         call, "pInfo->%s is %u, above MAAR_MAX_POINTS (%u)",
                         waits ? "waitCount" : "signalCount",
                         waits ? info->waitCount : info->signalCount, (unsigned)MAAR_MAX_POINTS);
    }
    const struct maar_rule rules[] = {
        {info->waitCount > 0 && info->pWaits == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "pInfo->pWaits is NULL"},
        {info->signalCount > 0 && info->pSignals == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "pInfo->pSignals is NULL"},
        {0},
    };
    result = maar_check_rules(allocator, call, rules);
    if (result == VK_SUCCESS) {
        result = maar_retire_check_points(&allocator->retire, call, info->waitCount, info->pWaits);
    }
    return result != VK_SUCCESS ? result
                                : maar_retire_check_points(&allocator->retire, call,
                                                           info->signalCount, info->pSignals);
}

VKAPI_ATTR VkResult VKAPI_CALL maarDeclareSubmission(MaarAllocator allocator,
                                                     const MaarSubmissionInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = check_submission(allocator, __func__, pInfo);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct signals signals = {.made = {NULL}, .freed = {NULL}};
    struct maar_ordered* state = maar_ordered_open(allocator);
    if (state == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (make_histories(allocator, state, pInfo, &signals)) {
        maar_mutex_lock(&state->lock);
        declare_signals(&state->clock, pInfo, &signals);
        maar_mutex_unlock(&state->lock);
    } else {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    free_histories(allocator, signals.made, MAAR_MAX_POINTS);
    free_histories(allocator, signals.freed, MAAR_MAX_POINTS);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarForgetTimeline(MaarAllocator allocator, VkSemaphore semaphore)
{
    const VkResult result = maar_enter(allocator);
    struct maar_ordered* state = result == VK_SUCCESS ? maar_ordered_of(allocator) : NULL;
    if (state != NULL) {
        maar_mutex_lock(&state->lock);
        struct maar_clock_history* freed = maar_clock_forget(&state->clock, semaphore);
        maar_mutex_unlock(&state->lock);
        maar_host_free(allocator->callbacks, freed);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetOrderedStatistics(MaarAllocator allocator,
                                                        MaarOrderedStatistics* pStatistics)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pStatistics", pStatistics,
                                      MAAR_STRUCTURE_TYPE_ORDERED_STATISTICS);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_ordered* state = maar_ordered_of(allocator);
    *pStatistics =
        (MaarOrderedStatistics){.sType = pStatistics->sType, .pNext = pStatistics->pNext};
    if (state != NULL) {
        maar_mutex_lock(&state->lock);
        pStatistics->coveredCount = state->covered_count;
        pStatistics->waitedCount = state->waited_count;
        pStatistics->joinedCount = state->joined_count;
        pStatistics->reusedBytes = state->reused_bytes;
        pStatistics->inheritingCount = state->live_count;
        pStatistics->pendingCount = state->offered_count;
        pStatistics->pendingBytes = state->offered_bytes;
        pStatistics->timelineCount = maar_clock_count(&state->clock);
        maar_mutex_unlock(&state->lock);
    }
    return VK_SUCCESS;
}
