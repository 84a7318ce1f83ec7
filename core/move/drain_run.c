/*
 * The public calls on runs of defragmentation: see drain_run.h.
 */
#include "core/move/drain_run.h"

#include "core/bits.h"
#include "core/bound_check.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "core/memory/pool_list.h"
#include "core/move/drain_end.h"
#include "core/move/drain_target.h"
#include "core/move/move_batch.h"
#include "core/move/page_run.h"
#include "core/move/room.h"
#include "core/port_time.h"
#include "core/time/retire_collect.h"

enum {
    /* Twins, or blocks, that one part of the work gives back. */
    TAKEN_BACK_AT_A_TIME = 16,
    /* Most moves of a batch of a step whose host time is limited: a few microseconds. */
    TIMED_MOVES = 128
};

/* ---- life ---- */

static void unlist_run(struct maar_drain_run* run)
{
    MaarAllocator allocator = run->allocator;
    struct maar_moves* moves = maar_atomic_pointer_load(&allocator->moving.state);
    maar_mutex_lock(&allocator->list_lock);
    if (run->previous != NULL) {
        run->previous->next = run->next;
    } else {
        moves->first_run = run->next;
    }
    if (run->next != NULL) {
        run->next->previous = run->previous;
    }
    maar_mutex_unlock(&allocator->list_lock);
    maar_visit_end(&allocator->threads);
}

static void free_drain_run(struct maar_drain_run* run)
{
    const VkAllocationCallbacks* callbacks = run->allocator->callbacks;
    maar_room_destroy(run);
    maar_page_run_destroy(run);
    maar_drain_plan_destroy(run->allocator, run->plan);
    maar_drain_list_free(callbacks, &run->closed);
    maar_drain_list_free(callbacks, &run->pools);
    maar_drain_list_free(callbacks, &run->seen);
    maar_drain_list_free(callbacks, &run->blocks);
    maar_drain_list_free(callbacks, &run->entries);
    maar_drain_list_free(callbacks, &run->moves);
    maar_host_free(callbacks, run);
}

/* ---- giving up ---- */

/* Begins to give up a run. What it has not handed out stays where it is. */
static void give_up_run(struct maar_drain_run* run)
{
    if (run->gives_up) {
        return;
    }
    run->gives_up = true;
    maar_drain_leave_collector(run);
    if (run->room != NULL) {
        maar_room_give_up(run);
    } else if (run->pages != NULL) {
        maar_page_run_give_up(run);
    } else {
        maar_drain_give_up(run);
    }
}

/* Ends a run whose handle is closed. */
static void end_run(struct maar_drain_run* run)
{
    unlist_run(run);
    give_up_run(run);
    if (run->room != NULL) {
        maar_room_end(run);
    } else if (run->pages != NULL) {
        maar_page_run_end(run);
    } else {
        maar_drain_give_all_back(run);
    }
    free_drain_run(run);
}

void maar_drain_end_runs(MaarAllocator allocator, const struct maar_pool* pool)
{
    struct maar_moves* moves = maar_atomic_pointer_load(&allocator->moving.state);
    for (;;) {
        maar_mutex_lock(&allocator->list_lock);
        struct maar_drain_run* run = moves->first_run;
        while (run != NULL && ((pool != NULL && run->pool != pool) ||
                               !maar_object_close_held(allocator, run->handle))) {
            run = run->next;
        }
        maar_mutex_unlock(&allocator->list_lock);
        if (run == NULL) {
            return;
        }
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                    "leak: a run of defragmentation was not ended before its %s was destroyed",
                    pool != NULL ? "pool" : "allocator");
        end_run(run);
    }
}

static void list_run(struct maar_moves* moves, struct maar_drain_run* run)
{
    maar_mutex_lock(&run->allocator->list_lock);
    run->next = moves->first_run;
    if (run->next != NULL) {
        run->next->previous = run;
    }
    moves->first_run = run;
    maar_mutex_unlock(&run->allocator->list_lock);
    maar_visit_begin(&run->allocator->threads);
}

static VkResult check_run_info(MaarAllocator allocator, const char* call,
                               const MaarDefragmentationBeginInfo* info)
{
    const VkResult result = maar_check_structure(allocator, call, "pBeginInfo", info,
                                                 MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const MaarDefragmentationFlags known = MAAR_DEFRAGMENTATION_DRY_RUN_BIT;
    const MaarDefragmentationFlags unknown = info->flags & ~known;
    const bool wants_room = info->goal == MAAR_DEFRAGMENTATION_GOAL_ROOM;
    const struct maar_rule rules[] = {
        {wants_room && info->roomSize == 0, MAAR_MESSAGE_ID_ZERO_SIZE, "pBeginInfo->roomSize is 0"},
        {0},
    };
    const struct maar_bound bounds[] = {
        {(uint32_t)info->goal > MAAR_DEFRAGMENTATION_GOAL_PAGES, MAAR_MESSAGE_ID_INVALID_ENUM,
         "pBeginInfo->goal is not a MaarDefragmentationGoal",
         MAAR_SHOW_NUMBER((uint32_t)info->goal)},
        {wants_room && !maar_is_power_of_two_or_zero(info->roomAlignment),
         MAAR_MESSAGE_ID_INVALID_ALIGNMENT, "pBeginInfo->roomAlignment is not a power of two",
         MAAR_SHOW_NUMBER(info->roomAlignment)},
        {wants_room && (uint32_t)info->roomKind > MAAR_RESOURCE_KIND_OPTIMAL,
         MAAR_MESSAGE_ID_INVALID_ENUM, "pBeginInfo->roomKind is not a MaarResourceKind",
         MAAR_SHOW_NUMBER((uint32_t)info->roomKind)},
        {unknown != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "pBeginInfo->flags has bits that are no MaarDefragmentationFlagBits",
         MAAR_SHOW_BITS(unknown)},
        {0},
    };
    return maar_check_rules_and_bounds(allocator, call, rules, bounds);
}

/* Refuses pools that do not serve a run. */
static VkResult check_strategy(MaarAllocator allocator, const char* call,
                               const struct maar_pool* pool, MaarDefragmentationGoal goal)
{
    if (goal == MAAR_DEFRAGMENTATION_GOAL_PAGES) {
        return pool == NULL || pool->stitches
                   ? VK_SUCCESS
                   : maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE,
                               call, "pBeginInfo->pool does not stitch: it has no page blocks");
    }
    if (pool != NULL && pool->strategy == MAAR_PLACEMENT_STRATEGY_LINEAR) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE, call,
                         "pBeginInfo->pool has linear placement: only what is freed in order gives "
                         "room there");
    }
    if (pool != NULL && pool->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY &&
        goal == MAAR_DEFRAGMENTATION_GOAL_ROOM) {
        return maar_fail(
            allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE, call,
            "pBeginInfo->pool has buddy placement: a run makes room in pools with TLSF "
            "placement alone");
    }
    return VK_SUCCESS;
}

/* Sums up what the pools of a run have released. */
static void count_released(const struct maar_drain_run* run, uint32_t* count, uint64_t* bytes)
{
    if (run->pages != NULL) {
        maar_page_run_count_released(run, count, bytes);
    } else {
        maar_drain_count_released(run, count, bytes);
    }
}

/* Makes a run that is not listed yet. */
static VkResult make_run(MaarAllocator allocator, const MaarDefragmentationBeginInfo* info,
                         struct maar_pool* pool, struct maar_drain_run** out)
{
    struct maar_drain_run* run = maar_host_calloc(allocator->callbacks, 1, sizeof *run);
    if (run == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    run->allocator = allocator;
    run->pool = pool;
    run->is_dry = (info->flags & MAAR_DEFRAGMENTATION_DRY_RUN_BIT) != 0;
    run->may_move = info->pfnMayMove;
    run->user_data = info->pUserData;
    run->type_bits = info->memoryTypeBits != 0 ? info->memoryTypeBits : UINT32_MAX;
    run->most_blocks = info->maxBlockCount != 0 ? info->maxBlockCount : UINT32_MAX;
    VkResult result = VK_SUCCESS;
    if (info->goal == MAAR_DEFRAGMENTATION_GOAL_ROOM) {
        result = maar_room_create(run, info);
    } else if (info->goal == MAAR_DEFRAGMENTATION_GOAL_PAGES) {
        result = maar_page_run_create(run, info);
    } else {
        run->plan = maar_drain_plan_create(allocator);
        result = run->plan != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    count_released(run, &run->released_before, &run->released_bytes_before);
    if (result == VK_SUCCESS) {
        result = maar_object_open(allocator, MAAR_OBJECT_DEFRAGMENTATION, run, &run->handle);
    }
    if (result != VK_SUCCESS) {
        free_drain_run(run);
        return result;
    }
    *out = run;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
maarBeginDefragmentation(MaarAllocator allocator, const MaarDefragmentationBeginInfo* pBeginInfo,
                         MaarDefragmentation* pDefragmentation)
{
    const struct maar_output outputs[] = {
        {"pDefragmentation", pDefragmentation, sizeof *pDefragmentation}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = check_run_info(allocator, __func__, pBeginInfo);
    }
    if (result == VK_SUCCESS) {
        result = maar_pool_require_own(allocator, __func__, "pBeginInfo->pool", pBeginInfo->pool);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_pool* pool = maar_pool_of(allocator, pBeginInfo->pool);
    result = check_strategy(allocator, __func__, pool, pBeginInfo->goal);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_drain_run* run = NULL;
    struct maar_moves* moves = maar_moves_open(allocator);
    result =
        moves != NULL ? make_run(allocator, pBeginInfo, pool, &run) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS) {
        list_run(moves, run);
        *pDefragmentation = MAAR_FROM_BITS(MaarDefragmentation, run->handle);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarEndDefragmentation(MaarAllocator allocator,
                                                  MaarDefragmentation defragmentation)
{
    void* object = NULL;
    if (defragmentation == VK_NULL_HANDLE ||
        maar_object_enter(allocator, __func__, "defragmentation", MAAR_OBJECT_DEFRAGMENTATION,
                          MAAR_TO_BITS(defragmentation), &object) != VK_SUCCESS ||
        maar_object_claim(allocator, __func__, "defragmentation", MAAR_TO_BITS(defragmentation)) !=
            VK_SUCCESS) {
        return;
    }
    end_run(object);
}

/* ---- steps ---- */

/* Gives up the present block. Its twins end first. */
static void abandon_block(struct maar_drain_run* run)
{
    maar_drain_revive(run->allocator, maar_drain_block_at(&run->blocks, run->at)->id);
    ++run->sums.abandonedCount;
    maar_target_open_all(run);
    run->phase = MAAR_DRAIN_TAKE_BACK;
}

/* Lets a block that was chosen take allocations again, so that the present block's allocation may
 * find room there: the last one that is large enough, which has the most live bytes. Returns false
 * if there is none. */
static bool give_up_last(struct maar_drain_run* run)
{
    const struct maar_pool* pool = maar_drain_block_at(&run->blocks, run->at)->pool;
    uint32_t last = run->blocks.count - 1;
    while (last > run->at) {
        const struct maar_drain_block* block = maar_drain_block_at(&run->blocks, last);
        if (block->pool == pool && block->drains && block->room >= run->unplaced_size) {
            break;
        }
        --last;
    }
    if (last == run->at) {
        return false;
    }
    maar_drain_revive(run->allocator, maar_drain_block_at(&run->blocks, last)->id);
    --run->blocks.count;
    for (uint32_t i = last; i < run->blocks.count; ++i) {
        *maar_drain_block_at(&run->blocks, i) = *maar_drain_block_at(&run->blocks, i + 1);
    }
    ++run->sums.abandonedCount;
    return true;
}

/* Counts moves that have twins, or that a dry run has planned. */
static void count_moves(struct maar_drain_run* run)
{
    run->sums.moveCount += run->moves.count - run->first_move + run->agreed_count;
    run->sums.moveBytes += run->block_bytes;
}

/* All allocations of the present block have twins. */
static void plan_block(struct maar_drain_run* run)
{
    run->sums.blockCount += 1;
    run->sums.blockBytes += maar_drain_block_at(&run->blocks, run->at)->size;
    count_moves(run);
    maar_target_open_all(run);
    run->phase = MAAR_DRAIN_HAND_OUT;
}

/* All that make way for the present block have twins. */
static void plan_way(struct maar_drain_run* run)
{
    count_moves(run);
    run->opens = true;
    run->phase = MAAR_DRAIN_HAND_OUT;
}

/* The moves of those that make way are handed out. Those of the block itself follow. */
static void follow_way(struct maar_drain_run* run)
{
    run->moves.count = 0;
    run->handed_count = 0;
    run->first_move = 0;
    run->block_bytes = 0;
    run->opens = false;
    run->phase = MAAR_DRAIN_RESERVE;
}

/* All may move. */
static void follow_answers(struct maar_drain_run* run)
{
    if (run->is_dry) {
        plan_block(run);
    } else {
        run->phase = MAAR_DRAIN_MAKE_WAY;
    }
}

/* Goes on to the next block, or ends. */
static void enter_next(struct maar_drain_run* run)
{
    const bool has_next = run->at < run->blocks.count && run->sums.blockCount < run->most_blocks;
    run->phase = has_next ? MAAR_DRAIN_NEXT : MAAR_DRAIN_SHRINK;
}

/* Begins with a block, if it drains. */
static void begin_next(struct maar_drain_run* run)
{
    struct maar_drain_block* block = maar_drain_block_at(&run->blocks, run->at);
    block->drains = block->drains || maar_drain_close(run->allocator, block->id);
    if (block->drains) {
        maar_drain_begin_block(run);
    } else {
        ++run->at;
        enter_next(run);
    }
}

/* Does a part of the work, in a phase before there are blocks to empty, or between two. */
static enum maar_drain_result work_on_choice(struct maar_drain_run* run)
{
    enum maar_drain_result result = MAAR_DRAIN_FINISHED;
    if (run->phase == MAAR_DRAIN_COLLECT) {
        result = maar_drain_collect(run);
        run->phase = result == MAAR_DRAIN_FINISHED ? MAAR_DRAIN_CHOOSE : MAAR_DRAIN_COLLECT;
    } else if (run->phase == MAAR_DRAIN_CHOOSE) {
        result = maar_drain_choose(run);
        run->phase = result == MAAR_DRAIN_FINISHED ? MAAR_DRAIN_PLAN : MAAR_DRAIN_CHOOSE;
    } else {
        result = maar_drain_plan_work(run);
        if (result == MAAR_DRAIN_FINISHED) {
            enter_next(run);
        }
    }
    return result;
}

/* Does a part of the work on the present block. */
static enum maar_drain_result work_on_block(struct maar_drain_run* run)
{
    enum maar_drain_result result = MAAR_DRAIN_FINISHED;
    switch (run->phase) {
    case MAAR_DRAIN_NEXT:
        begin_next(run);
        break;
    case MAAR_DRAIN_SCAN:
        result = maar_drain_scan(run);
        if (result == MAAR_DRAIN_FINISHED) {
            run->phase = maar_target_level(run) > 0 ? MAAR_DRAIN_ASK : MAAR_DRAIN_RESERVE;
        }
        break;
    case MAAR_DRAIN_ASK:
        result = maar_drain_ask(run);
        if (result == MAAR_DRAIN_FINISHED) {
            follow_answers(run);
        }
        break;
    case MAAR_DRAIN_MAKE_WAY:
        result = maar_drain_make_way(run);
        if (result == MAAR_DRAIN_FINISHED) {
            plan_way(run);
        }
        break;
    case MAAR_DRAIN_RESERVE:
        result = maar_drain_reserve(run);
        if (result == MAAR_DRAIN_FINISHED) {
            plan_block(run);
        } else if (result == MAAR_DRAIN_NO_ROOM && give_up_last(run)) {
            result = MAAR_DRAIN_MORE; /* the entry is tried again */
        }
        break;
    case MAAR_DRAIN_TAKE_BACK:
        if (!maar_drain_take_back(run, run->first_move, TAKEN_BACK_AT_A_TIME)) {
            break;
        }
        ++run->at;
        enter_next(run);
        break;
    case MAAR_DRAIN_HAND_OUT:
        if (run->opens) {
            follow_way(run);
            break;
        }
        ++run->at;
        enter_next(run);
        break;
    default:
        maar_drain_work_on_end(run);
        break;
    }
    return result;
}

/* Does a part of the work of a run that empties blocks. Sets *waits if there is nothing to do
 * before batches end or points pass. */
static VkResult work(struct maar_drain_run* run, bool* waits)
{
    const enum maar_drain_result result =
        run->phase <= MAAR_DRAIN_PLAN ? work_on_choice(run) : work_on_block(run);
    *waits = result == MAAR_DRAIN_WAITS;
    if (result == MAAR_DRAIN_NO_HOST_MEMORY) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == MAAR_DRAIN_ABANDON || result == MAAR_DRAIN_NO_ROOM) {
        abandon_block(run);
    }
    return VK_SUCCESS;
}

/* How many of the moves that are left a batch takes. */
static uint32_t count_for_batch(const struct maar_drain_run* run,
                                const MaarDefragmentationStepInfo* limits)
{
    const uint32_t left = run->moves.count - run->handed_count;
    uint32_t most = limits->maxMoves != 0 && limits->maxMoves < left ? limits->maxMoves : left;
    if (limits->maxHostTime_ns != 0 && most > TIMED_MOVES) {
        most = TIMED_MOVES;
    }
    VkDeviceSize bytes = 0;
    for (uint32_t i = 0; i < most && limits->maxBytes != 0; ++i) {
        const struct maar_move* move = maar_drain_move_at(run, run->handed_count + i);
        bytes += maar_slot_span(run->allocator, maar_move_twin(run->allocator, move)).size;
        if (bytes > limits->maxBytes && i > 0) {
            return i;
        }
    }
    return most;
}

/* Hands out some of the moves as a batch. */
static VkResult hand_out(struct maar_drain_run* run, const MaarDefragmentationStepInfo* limits,
                         MaarMoveBatch* out)
{
    const uint32_t count = count_for_batch(run, limits);
    struct maar_move_batch* batch = maar_move_batch_make(run->allocator, count);
    if (batch == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        batch->moves[i] = *maar_drain_move_at(run, run->handed_count + i);
    }
    const VkResult result = maar_move_batch_open(batch);
    if (result != VK_SUCCESS) {
        maar_host_free(run->allocator->callbacks, batch);
        return result;
    }
    for (uint32_t i = 0; i < count; ++i) {
        run->sums.batchedBytes +=
            maar_slot_span(run->allocator, maar_move_twin(run->allocator, &batch->moves[i])).size;
    }
    run->sums.batchedCount += count;
    run->handed_count += count;
    *out = MAAR_FROM_BITS(MaarMoveBatch, batch->handle);
    return VK_SUCCESS;
}

/* Whether there are moves to hand out. */
static bool has_moves(const struct maar_drain_run* run)
{
    const bool hands_out = run->room != NULL ? maar_room_hands_out(run)
                                             : run->phase == MAAR_DRAIN_HAND_OUT && !run->is_dry;
    return hands_out && run->handed_count < run->moves.count;
}

/* A step of a run that empties page blocks and is given up. */
static VkResult give_pages_back(struct maar_drain_run* run, uint64_t host_time_ns)
{
    const uint64_t deadline = host_time_ns != 0 ? maar_deadline_ns(host_time_ns) : UINT64_MAX;
    while (!maar_page_run_give_back(run, TAKEN_BACK_AT_A_TIME)) {
        if (maar_time_left_ns(deadline) == 0) {
            return VK_NOT_READY;
        }
    }
    return VK_SUCCESS;
}

/* A step of a run that empties page blocks. */
static VkResult step_pages(struct maar_drain_run* run, const MaarDefragmentationStepInfo* limits,
                           MaarMoveBatch* out)
{
    struct maar_page_moves* moves = NULL;
    if (limits->givesUp == VK_TRUE) {
        give_up_run(run);
    }
    if (run->gives_up) {
        return give_pages_back(run, limits->maxHostTime_ns);
    }
    VkResult result = maar_page_run_step(run, limits, &moves);
    if (result != VK_SUCCESS || moves == NULL) {
        return result;
    }
    struct maar_move_batch* batch = maar_move_batch_make(run->allocator, 0);
    if (batch == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    batch->pages = moves;
    result = maar_move_batch_open(batch);
    if (result != VK_SUCCESS) {
        maar_host_free(run->allocator->callbacks, batch);
        return result;
    }
    maar_page_run_hand_out(run);
    *out = MAAR_FROM_BITS(MaarMoveBatch, batch->handle);
    return VK_SUCCESS;
}

static VkResult step_run(struct maar_drain_run* run, const MaarDefragmentationStepInfo* limits,
                         MaarMoveBatch* batch)
{
    if (run->pages != NULL) {
        return step_pages(run, limits, batch);
    }
    const bool is_timed = limits->maxHostTime_ns != 0;
    const uint64_t deadline = is_timed ? maar_deadline_ns(limits->maxHostTime_ns) : 0;
    if (limits->givesUp == VK_TRUE) {
        give_up_run(run);
    }
    if (run->room == NULL && has_moves(run) && !maar_drain_still_drains(run)) {
        maar_drain_abandon_rest(run);
    }
    bool rests = false;
    bool waits = false;
    while (!rests) {
        if (has_moves(run)) {
            return hand_out(run, limits, batch);
        }
        const VkResult result = run->room != NULL ? maar_room_work(run, &rests) : work(run, &waits);
        if (result != VK_SUCCESS) {
            return result;
        }
        if (waits) {
            return VK_NOT_READY;
        }
        rests = rests || run->phase == MAAR_DRAIN_DONE;
        if (!rests && is_timed && maar_time_left_ns(deadline) == 0) {
            return VK_NOT_READY;
        }
    }
    return VK_SUCCESS;
}

static VkResult enter_run(MaarAllocator allocator, const char* call,
                          MaarDefragmentation defragmentation, struct maar_drain_run** run)
{
    void* object = NULL;
    const VkResult result =
        maar_object_enter(allocator, call, "defragmentation", MAAR_OBJECT_DEFRAGMENTATION,
                          MAAR_TO_BITS(defragmentation), &object);
    *run = object;
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarStepDefragmentation(MaarAllocator allocator,
                                                       MaarDefragmentation defragmentation,
                                                       const MaarDefragmentationStepInfo* pStepInfo,
                                                       MaarMoveBatch* pBatch)
{
    static const MaarDefragmentationStepInfo no_limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO};
    const struct maar_output outputs[] = {{"pBatch", pBatch, sizeof *pBatch}, {0}};
    struct maar_drain_run* run = NULL;
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = enter_run(allocator, __func__, defragmentation, &run);
    }
    if (result == VK_SUCCESS && pStepInfo != NULL) {
        result = maar_check_structure(allocator, __func__, "pStepInfo", pStepInfo,
                                      MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO);
    }
    return result == VK_SUCCESS ? step_run(run, pStepInfo != NULL ? pStepInfo : &no_limits, pBatch)
                                : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetDefragmentationInfo(MaarAllocator allocator,
                                                          MaarDefragmentation defragmentation,
                                                          MaarDefragmentationInfo* pInfo)
{
    struct maar_drain_run* run = NULL;
    VkResult result = enter_run(allocator, __func__, defragmentation, &run);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    uint32_t released = 0;
    uint64_t released_bytes = 0;
    void* next = pInfo->pNext;
    count_released(run, &released, &released_bytes);
    *pInfo = run->sums;
    if (run->room != NULL) {
        maar_room_describe(run, pInfo);
    }
    pInfo->sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO;
    pInfo->pNext = next;
    pInfo->releasedCount = released - run->released_before;
    pInfo->releasedBytes = released_bytes - run->released_bytes_before;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarTakeDefragmentationRoom(MaarAllocator allocator,
                                                           MaarDefragmentation defragmentation,
                                                           void* pUserData,
                                                           MaarAllocation* pAllocation)
{
    const struct maar_output outputs[] = {{"pAllocation", pAllocation, sizeof *pAllocation}, {0}};
    struct maar_drain_run* run = NULL;
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = enter_run(allocator, __func__, defragmentation, &run);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if (run->room == NULL || run->is_dry) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, __func__,
                           run->room == NULL ? "defragmentation has another goal than to make room"
                                             : "defragmentation is a dry run, which makes no room");
    }
    /* Points of a lost device have passed. */
    (void)maar_retire_collect(&allocator->retire, NULL);
    return maar_room_take(run, pUserData, pAllocation);
}
