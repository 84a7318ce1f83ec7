/*
 * Runs that empty page blocks: see page_run.h.
 */
#include "core/move/page_run.h"

#include "core/memory/pool.h"
#include "core/move/drain_seen.h"
#include "core/move/drain_work.h"
#include "core/paging/page_drain.h"
#include "core/paging/page_pool.h"
#include "core/paging/paging_state.h"
#include "core/port_time.h"

enum {
    /* Blocks that one part of the work lists or chooses. */
    PAGE_BLOCKS_AT_A_TIME = 16,
    /* Walks over all page tables in a run, at most: so many groups of blocks are emptied one after
     * another. */
    MOST_WALKS = 16,
    /* Most pages of a batch. Its moves have 80 KiB then. */
    MOST_BATCH_PAGES = 1024,
    /* The same in a step whose host time is limited. */
    TIMED_BATCH_PAGES = 128
};

enum page_run_phase {
    PAGE_RUN_SURVEY,
    PAGE_RUN_LOOK,
    PAGE_RUN_CHOOSE,
    PAGE_RUN_ENTER,
    PAGE_RUN_COLLECT,
    PAGE_RUN_DONE
};

/* The part of a run that empties page blocks. Its blocks stand in the lists of the run: their
 * number among page blocks is pool_number, their age is the id, and `room` is the size of a page.
 */
struct maar_page_run {
    enum page_run_phase phase;
    struct maar_page_drain drain;
    uint32_t from;                 /* the next block to look at */
    uint32_t group_end;            /* run->blocks from run->at to here are emptied now */
    struct maar_page_moves* moves; /* of the next batch, or NULL */
};

VkResult maar_page_run_create(struct maar_drain_run* run, const MaarDefragmentationBeginInfo* info)
{
    struct maar_paging* paging = maar_paging_of(run->allocator);
    run->pages = maar_host_calloc(run->allocator->callbacks, 1, sizeof *run->pages);
    if (run->pages == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    run->pages->phase = paging != NULL ? PAGE_RUN_SURVEY : PAGE_RUN_DONE;
    run->pages->drain = (struct maar_page_drain){
        .owner = run->pool,
        .type_bits = run->type_bits,
        .may_move = info->pfnMayMove,
        .user_data = info->pUserData,
    };
    if (paging != NULL) {
        maar_page_drain_begin(&run->pages->drain, paging);
    }
    return VK_SUCCESS;
}

void maar_page_run_destroy(struct maar_drain_run* run)
{
    maar_host_free(run->allocator->callbacks, run->pages);
    run->pages = NULL;
}

void maar_page_run_count_released(const struct maar_drain_run* run, uint32_t* count,
                                  uint64_t* bytes)
{
    *count = 0;
    *bytes = 0;
    if (run->pages->drain.paging != NULL) {
        maar_page_drain_count(&run->pages->drain, count, bytes);
    }
}

/* ---- which blocks ---- */

/* Lists some blocks whose pages can all move. Without host memory it begins anew. */
static VkResult look_at_page_blocks(struct maar_drain_run* run)
{
    struct maar_page_run* pages = run->pages;
    struct maar_page_candidate candidates[PAGE_BLOCKS_AT_A_TIME];
    uint32_t count = 0;
    pages->from =
        maar_page_drain_look(&pages->drain, pages->from, PAGE_BLOCKS_AT_A_TIME, candidates, &count);
    for (uint32_t i = 0; i < count; ++i) {
        const struct maar_drain_block block = {
            .id = candidates[i].age,
            .rank = candidates[i].live * candidates[i].page_size,
            .size = candidates[i].size,
            .live = candidates[i].live,
            .room = candidates[i].page_size,
            .pool_number = candidates[i].number,
        };
        if (!maar_drain_push_seen(run, &block)) {
            run->seen.count = 0;
            pages->from = 0;
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    pages->phase = pages->from == UINT32_MAX ? PAGE_RUN_CHOOSE : PAGE_RUN_LOOK;
    return VK_SUCCESS;
}

/* Chooses some of the blocks and makes them drain. */
static VkResult choose_page_blocks(struct maar_drain_run* run)
{
    struct maar_page_run* pages = run->pages;
    if (!maar_drain_list_reserve(run->allocator->callbacks, &run->blocks, PAGE_BLOCKS_AT_A_TIME,
                                 sizeof(struct maar_drain_block))) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < PAGE_BLOCKS_AT_A_TIME; ++i) {
        struct maar_drain_block block;
        if (run->blocks.count >= run->most_blocks || !maar_drain_pop_seen(run, &block)) {
            pages->phase = run->is_dry ? PAGE_RUN_DONE : PAGE_RUN_ENTER;
            return VK_SUCCESS;
        }
        if (maar_page_drain_choose(&pages->drain, block.pool_number, block.id,
                                   (uint32_t)block.live)) {
            *maar_drain_block_at(&run->blocks, run->blocks.count++) = block;
            ++run->sums.blockCount;
            run->sums.blockBytes += block.size;
            run->sums.moveCount += (uint32_t)block.live;
            run->sums.moveBytes += block.rank;
        }
    }
    return VK_SUCCESS;
}

/* ---- their pages ---- */

/* Gives up a block that is not emptied. */
static void give_up_page_block(struct maar_drain_run* run, const struct maar_drain_block* block)
{
    ++run->sums.abandonedCount;
    --run->sums.blockCount;
    run->sums.blockBytes -= block->size;
}

/* Begins to empty the next blocks. */
static void enter_group(struct maar_drain_run* run)
{
    struct maar_page_run* pages = run->pages;
    const uint32_t count = (run->blocks.count + MOST_WALKS - 1) / MOST_WALKS;
    const uint32_t left = run->blocks.count - run->at;
    if (left == 0) {
        /* What was given up does not move, or not all of it. */
        const struct maar_page_moves* last = pages->moves;
        run->sums.moveCount =
            run->sums.batchedCount + (last != NULL ? (uint32_t)last->page_count : 0);
        run->sums.moveBytes = run->sums.batchedBytes + (last != NULL ? last->bytes : 0);
        pages->phase = PAGE_RUN_DONE;
        return;
    }
    pages->group_end = run->at + (count < left ? count : left);
    for (uint32_t i = run->at; i < pages->group_end; ++i) {
        const struct maar_drain_block* block = maar_drain_block_at(&run->blocks, i);
        maar_page_drain_enter(&pages->drain, block->pool_number, block->id);
    }
    pages->phase = PAGE_RUN_COLLECT;
}

/* Ends the search for the pages of the present blocks. */
static void leave_group(struct maar_drain_run* run)
{
    struct maar_page_run* pages = run->pages;
    for (; run->at < pages->group_end; ++run->at) {
        const struct maar_drain_block* block = maar_drain_block_at(&run->blocks, run->at);
        if (!maar_page_drain_leave(&pages->drain, block->pool_number, block->id)) {
            give_up_page_block(run, block);
        }
    }
    pages->phase = PAGE_RUN_ENTER;
}

/* Adds some pages to the next batch, which has at most so many. Sets *is_full when it can be handed
 * out. */
static VkResult collect_some(struct maar_drain_run* run, uint32_t most, bool* is_full)
{
    struct maar_page_run* pages = run->pages;
    if (pages->moves == NULL) {
        pages->moves = maar_page_moves_make(pages->drain.paging, run->pool, most);
        if (pages->moves == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    if (maar_page_drain_collect(&pages->drain, pages->moves, most)) {
        leave_group(run);
    }
    *is_full = pages->moves->page_count >= most || pages->moves->count == pages->moves->capacity;
    return VK_SUCCESS;
}

/* Returns how many pages a batch may have. Blocks of several page sizes count by the largest. */
static uint32_t most_pages(const struct maar_drain_run* run,
                           const MaarDefragmentationStepInfo* limits)
{
    uint64_t most = limits->maxHostTime_ns != 0 ? TIMED_BATCH_PAGES : MOST_BATCH_PAGES;
    most = limits->maxMoves != 0 && limits->maxMoves < most ? limits->maxMoves : most;
    VkDeviceSize page_size = 1;
    for (uint32_t i = run->at; i < run->pages->group_end; ++i) {
        const VkDeviceSize size = maar_drain_block_at(&run->blocks, i)->room;
        page_size = size > page_size ? size : page_size;
    }
    const uint64_t fit = limits->maxBytes / page_size;
    if (limits->maxBytes != 0 && fit < most) {
        most = fit > 0 ? fit : 1;
    }
    return (uint32_t)most;
}

VkResult maar_page_run_step(struct maar_drain_run* run, const MaarDefragmentationStepInfo* limits,
                            struct maar_page_moves** moves)
{
    struct maar_page_run* pages = run->pages;
    const bool is_timed = limits->maxHostTime_ns != 0;
    const uint64_t deadline = is_timed ? maar_deadline_ns(limits->maxHostTime_ns) : 0;
    bool is_full = false;
    VkResult result = VK_SUCCESS;
    while (result == VK_SUCCESS && !is_full && pages->phase != PAGE_RUN_DONE) {
        switch (pages->phase) {
        case PAGE_RUN_SURVEY:
            pages->phase = maar_page_drain_survey(&pages->drain) ? PAGE_RUN_LOOK : PAGE_RUN_SURVEY;
            break;
        case PAGE_RUN_LOOK:
            result = look_at_page_blocks(run);
            break;
        case PAGE_RUN_CHOOSE:
            result = choose_page_blocks(run);
            break;
        case PAGE_RUN_ENTER:
            enter_group(run);
            break;
        default:
            result = collect_some(run, most_pages(run, limits), &is_full);
            break;
        }
        if (result == VK_SUCCESS && !is_full && is_timed && maar_time_left_ns(deadline) == 0) {
            result = pages->phase != PAGE_RUN_DONE ? VK_NOT_READY : VK_SUCCESS;
        }
    }
    const bool is_last =
        pages->phase == PAGE_RUN_DONE && pages->moves != NULL && pages->moves->count > 0;
    *moves = is_full || is_last ? pages->moves : NULL;
    return result;
}

void maar_page_run_hand_out(struct maar_drain_run* run)
{
    struct maar_page_run* pages = run->pages;
    run->sums.batchedCount += (uint32_t)pages->moves->page_count;
    run->sums.batchedBytes += pages->moves->bytes;
    pages->moves = NULL;
}

void maar_page_run_give_up(struct maar_drain_run* run)
{
    struct maar_page_run* pages = run->pages;
    struct maar_page_drain* drain = &pages->drain;
    if (drain->paging == NULL) {
        return;
    }
    maar_page_drain_stop(drain);
    if (pages->moves != NULL) {
        maar_page_moves_discard(pages->moves);
        pages->moves = NULL;
    }
    if (pages->phase != PAGE_RUN_COLLECT) {
        pages->group_end = run->at;
    }
    if (!run->is_dry) {
        /* What was not handed out does not move. */
        run->sums.moveCount = run->sums.batchedCount;
        run->sums.moveBytes = run->sums.batchedBytes;
    }
    pages->phase = PAGE_RUN_DONE;
}

bool maar_page_run_give_back(struct maar_drain_run* run, uint32_t most)
{
    struct maar_page_run* pages = run->pages;
    for (; run->at < run->blocks.count && most > 0; --most, ++run->at) {
        const struct maar_drain_block* block = maar_drain_block_at(&run->blocks, run->at);
        const bool is_begun = run->at < pages->group_end;
        const bool is_emptied =
            is_begun && maar_page_drain_leave(&pages->drain, block->pool_number, block->id);
        if (!is_begun) {
            maar_page_drain_revive(&pages->drain, block->pool_number, block->id);
        }
        if (!is_emptied && !run->is_dry) {
            give_up_page_block(run, block);
        }
    }
    return run->at == run->blocks.count;
}

void maar_page_run_end(struct maar_drain_run* run)
{
    if (run->pages->drain.paging != NULL) {
        (void)maar_page_run_give_back(run, UINT32_MAX);
        (void)maar_page_pools_release(run->pages->drain.paging, NULL, UINT32_MAX, true);
    }
}
