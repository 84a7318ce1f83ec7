/*
 * The end of runs that empty blocks: see drain_end.h.
 */
#include "core/move/drain_end.h"

#include "core/move/drain_target.h"
#include "core/move/move_batch.h"

enum {
    /* Twins, or blocks, that one part of the work gives back: some ten microseconds. */
    GIVEN_BACK_AT_A_TIME = 16,
    /* Pieces of lists that one part of the work frees. */
    PIECES_AT_A_TIME = 8
};

void maar_drain_abandon_rest(struct maar_drain_run* run)
{
    run->takes_planned = true;
    run->phase = MAAR_DRAIN_TAKE_REST;
    if (run->opens) {
        return; /* the block itself follows, and is given up then */
    }
    run->sums.abandonedCount += 1;
    run->sums.blockCount -= 1;
    run->sums.blockBytes -= maar_drain_block_at(&run->blocks, run->at)->size;
}

/* Takes back at most so many of the moves that are not handed out, the last ones first. Returns
 * whether none is left. */
static bool take_back_rest(struct maar_drain_run* run, uint32_t most)
{
    const uint32_t first = run->is_dry ? 0 : run->handed_count;
    const uint32_t left = run->moves.count - first;
    const uint32_t count = left < most ? left : most;
    for (uint32_t i = 0; run->takes_planned && i < count; ++i) {
        const struct maar_move* move = maar_drain_move_at(run, run->moves.count - 1 - i);
        run->sums.moveCount -= 1;
        run->sums.moveBytes -=
            maar_slot_span(run->allocator, maar_move_twin(run->allocator, move)).size;
    }
    return maar_drain_take_back(run, first, most);
}

/* Lets blocks of a list, from the first one on, take allocations again: the last ones first, and at
 * most *most, which it counts down. Returns whether none is left. */
static bool give_back_some(struct maar_drain_run* run, struct maar_drain_list* list, uint32_t first,
                           uint32_t* most)
{
    while (list->count > first && *most > 0) {
        const struct maar_drain_block* block = maar_drain_block_at(list, --list->count);
        if (block->drains) {
            maar_drain_revive(run->allocator, block->id);
        }
        --*most;
    }
    return list->count <= first;
}

void maar_drain_give_up(struct maar_drain_run* run)
{
    const bool hands_out = run->phase == MAAR_DRAIN_HAND_OUT && !run->is_dry;
    const bool is_handed = hands_out && run->handed_count == run->moves.count;
    /* The blocks before are empty, or become empty when their batches end. */
    run->first_given = run->is_dry ? 0 : run->at;
    if (is_handed && !run->opens && run->at < run->blocks.count) {
        run->first_given += 1;
    } else if (hands_out && !is_handed) {
        maar_drain_abandon_rest(run);
    }
    if (run->phase > MAAR_DRAIN_PLAN) {
        run->plan->candidates.count = 0; /* those that drain are in the list of blocks */
    }
    run->phase = MAAR_DRAIN_GIVE_UP;
}

/* Gives back a part of what a run that empties blocks has not handed out: at most so many moves,
 * or else blocks. Returns whether nothing is left. */
static bool give_blocks_back(struct maar_drain_run* run, uint32_t most)
{
    if (run->moves.count > (run->is_dry ? 0 : run->handed_count)) {
        (void)take_back_rest(run, most);
        return false;
    }
    return maar_target_open_some(run, &most) &&
           give_back_some(run, &run->plan->candidates, 0, &most) &&
           give_back_some(run, &run->seen, 0, &most) &&
           give_back_some(run, &run->blocks, run->first_given, &most);
}

void maar_drain_give_all_back(struct maar_drain_run* run)
{
    while (!give_blocks_back(run, UINT32_MAX)) {
        /* the moves first, and then the blocks */
    }
}

/* Frees some of what a run that empties blocks needs no longer. A dry run takes its twins back when
 * it ends. Returns whether nothing is left. */
static bool shrink_run(struct maar_drain_run* run)
{
    const VkAllocationCallbacks* callbacks = run->allocator->callbacks;
    uint32_t most = PIECES_AT_A_TIME;
    const bool has_twins = run->is_dry && !run->gives_up;
    /* There may be more blocks than the run may empty. */
    const uint32_t first = run->gives_up ? run->first_given : run->at;
    if (!has_twins && !give_back_some(run, &run->blocks, first, &most)) {
        return false;
    }
    if (!maar_drain_plan_shrink(run->allocator, run->plan, &most) ||
        !maar_drain_list_shrink(callbacks, &run->seen, &most) ||
        !maar_drain_list_shrink(callbacks, &run->entries, &most)) {
        return false;
    }
    if (!has_twins) {
        run->handed_count = 0;
        return maar_drain_list_shrink(callbacks, &run->moves, &most);
    }
    return true;
}

void maar_drain_work_on_end(struct maar_drain_run* run)
{
    if (run->phase == MAAR_DRAIN_TAKE_REST) {
        if (take_back_rest(run, GIVEN_BACK_AT_A_TIME)) {
            run->takes_planned = false;
            run->phase = MAAR_DRAIN_HAND_OUT;
        }
    } else if (run->phase == MAAR_DRAIN_GIVE_UP) {
        if (give_blocks_back(run, GIVEN_BACK_AT_A_TIME)) {
            run->phase = MAAR_DRAIN_SHRINK;
        }
    } else if (run->phase == MAAR_DRAIN_SHRINK && shrink_run(run)) {
        run->phase = MAAR_DRAIN_DONE;
    }
}
