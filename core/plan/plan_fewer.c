/*
 * The second stage: fewer aliasing edges at the same peak. Each round takes out a few items, mainly
 * items that share bytes. It puts them back in another order, each where it causes the fewest
 * edges. A round that makes the placement worse is undone (ruin and recreate, after Schrimpf et
 * al., "Record Breaking Optimization Results Using the Ruin and Recreate Principle", 2000). An edge
 * across queues weighs more than all other edges together.
 *
 * `shared` has, for each pair, the number of bytes that go from one item directly to the other. So
 * a step that takes an item out or puts it in changes only the pairs on the item's own bytes. The
 * work is counted in steps, not in time, so that the outcome is the same on every machine.
 */
#include "core/plan/plan_fewer.h"

#include "core/plan/plan_edge.h"
#include "core/plan/plan_spans.h"
#include "core/plan/problem/plan_rank.h"

#include <string.h>

enum {
    /* The most elementary steps in all. They take 3 to 6 ms on one core of an EPYC of 2021. */
    MAX_STEPS = 3000000,
    MAX_TAKEN = 6,
    /* The search ends after this number of rounds for each item without an improvement. A later
     * improvement is improbable. */
    PATIENCE = 8,
    ROUNDS_PER_LOOK = 32
};

static const int64_t cross_weight = (int64_t)1 << 32;

/* Bytes for which no user is found yet. */
struct gap {
    uint64_t begin;
    uint64_t end;
};

/* Bytes that an item shares with the last user before it, or the first user after it. */
struct neighbour {
    uint64_t begin;
    uint64_t end;
    uint32_t item;
};

struct mover {
    const struct maar_plan_problem* problem;
    const uint64_t* held;
    uint64_t peak;
    uint32_t count;
    int64_t* offsets; /* units */
    bool* placed;
    uint32_t* by_begin; /* items in the order in which they begin */
    uint32_t* position; /* per item: where it is in that order */
    int64_t* shared;    /* [a * count + b]: bytes that b takes over from a */
    /* likewise: whether the edge crosses queues; 0: not known yet, 1: no, 2: yes */
    uint8_t* crosses;
    int64_t cost;
    uint64_t steps;
    uint64_t random;
    /* Scratch. */
    struct gap* gaps;
    struct neighbour* before;
    struct neighbour* after;
    uint32_t* blockers; /* placed items that conflict with an item, by offset */
    int64_t* candidates;
};

static uint64_t draw_below(struct mover* mover, uint64_t bound)
{
    return maar_plan_draw(&mover->random) % bound;
}

static uint64_t begin_of(const struct mover* mover, int64_t offset)
{
    return (uint64_t)offset * mover->problem->unit;
}

static int64_t weight_of(struct mover* mover, size_t pair, uint32_t a, uint32_t b)
{
    const struct maar_plan_problem* problem = mover->problem;
    if (problem->conflict == NULL) {
        return 1;
    }
    if (mover->crosses[pair] == 0) {
        const bool crosses =
            maar_plan_crosses_queues(problem->graph, problem->resource[a], problem->resource[b]);
        mover->crosses[pair] = crosses ? 2 : 1;
    }
    return mover->crosses[pair] == 2 ? cross_weight : 1;
}

/* Adds a number, which may be negative, to the bytes that go from a to b. Updates the cost. */
static void share(struct mover* mover, uint32_t a, uint32_t b, int64_t bytes)
{
    const size_t pair = (size_t)a * mover->count + b;
    const int64_t before = mover->shared[pair];
    const int64_t after = before + bytes;
    mover->shared[pair] = after;
    if ((before == 0) != (after == 0)) {
        const int64_t weight = weight_of(mover, pair, a, b);
        mover->cost += after != 0 ? weight : -weight;
    }
}

/*
 * Finds the items from which an item takes over its bytes (step -1), or which take over its bytes
 * (step 1). Tries the items in the order in which they begin, away from the item. Each of them gets
 * the bytes that no nearer item has. Returns the number of neighbours.
 */
static uint32_t find_neighbours(struct mover* mover, uint32_t item, int step,
                                struct neighbour* neighbours)
{
    struct gap* gaps = mover->gaps;
    const uint64_t begin = begin_of(mover, mover->offsets[item]);
    uint32_t gap_count = 1;
    uint32_t count = 0;
    uint32_t at = mover->position[item];
    gaps[0] = (struct gap){begin, begin + mover->problem->bytes[item]};
    while (gap_count > 0 && (step > 0 ? at + 1 < mover->count : at > 0)) {
        at = step > 0 ? at + 1 : at - 1;
        const uint32_t other = mover->by_begin[at];
        if (!mover->placed[other]) {
            continue;
        }
        const uint64_t low = begin_of(mover, mover->offsets[other]);
        const uint64_t high = low + mover->problem->bytes[other];
        for (uint32_t g = 0; g < gap_count; ++g) {
            const struct gap gap = gaps[g];
            if (gap.begin >= high || gap.end <= low) {
                continue;
            }
            const uint64_t from = gap.begin > low ? gap.begin : low;
            const uint64_t to = gap.end < high ? gap.end : high;
            neighbours[count++] = (struct neighbour){from, to, other};
            /* What is left of the gap: nothing, one piece in its place, or two pieces. */
            gaps[g] = gap.begin < from ? (struct gap){gap.begin, from} : (struct gap){to, gap.end};
            if (gap.begin < from && to < gap.end) {
                gaps[gap_count++] = (struct gap){to, gap.end};
            } else if (gap.begin == from && to == gap.end) {
                gaps[g--] = gaps[--gap_count];
            }
        }
        mover->steps += 1 + gap_count;
    }
    return count;
}

/* Puts an item on its bytes (sign 1) or takes it off its bytes (sign -1). */
static void lay(struct mover* mover, uint32_t item, int64_t sign)
{
    const uint32_t before_count = find_neighbours(mover, item, -1, mover->before);
    const uint32_t after_count = find_neighbours(mover, item, 1, mover->after);
    for (uint32_t b = 0; b < before_count; ++b) {
        const struct neighbour* before = &mover->before[b];
        share(mover, before->item, item, sign * (int64_t)(before->end - before->begin));
        for (uint32_t a = 0; a < after_count; ++a) {
            const struct neighbour* after = &mover->after[a];
            const uint64_t from = before->begin > after->begin ? before->begin : after->begin;
            const uint64_t to = before->end < after->end ? before->end : after->end;
            if (from < to) {
                share(mover, before->item, after->item, -sign * (int64_t)(to - from));
            }
        }
    }
    for (uint32_t a = 0; a < after_count; ++a) {
        const struct neighbour* after = &mover->after[a];
        share(mover, item, after->item, sign * (int64_t)(after->end - after->begin));
    }
    mover->steps += before_count * after_count + 4;
    mover->placed[item] = sign > 0;
}

/* Collects the placed items that conflict with an item, by offset. */
static uint32_t collect_blockers(struct mover* mover, uint32_t item)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < mover->count; ++k) {
        if (!mover->placed[k] || k == item || !maar_plan_conflicts(mover->problem, item, k)) {
            continue;
        }
        uint32_t at = count++;
        for (; at > 0 && mover->offsets[mover->blockers[at - 1]] > mover->offsets[k]; --at) {
            mover->blockers[at] = mover->blockers[at - 1];
        }
        mover->blockers[at] = k;
    }
    mover->steps += mover->count + count;
    return count;
}

/* Returns the highest offset at which an item ends at or below byte `end`, or -1 if there is
 * none. */
static int64_t highest_below(const struct mover* mover, uint32_t item, uint64_t end)
{
    const struct maar_plan_problem* problem = mover->problem;
    if (end < problem->bytes[item]) {
        return -1;
    }
    const int64_t offset = (int64_t)((end - problem->bytes[item]) / problem->unit);
    return offset - offset % problem->align[item];
}

/* Returns the highest offset at which an item lies below a placed one, or -1. */
static int64_t highest_under(const struct mover* mover, uint32_t item, uint32_t other)
{
    const struct maar_plan_problem* problem = mover->problem;
    uint64_t end = begin_of(mover, mover->offsets[other]);
    if (problem->mixed && problem->kind_index[item] != problem->kind_index[other]) {
        end = end / problem->granularity * problem->granularity;
    }
    return highest_below(mover, item, end);
}

/* Adds low, high, and the offsets between them at which the item begins or ends where another item
 * begins or ends. */
static uint32_t add_candidates(struct mover* mover, uint32_t item, int64_t low, int64_t high,
                               uint32_t count)
{
    const struct maar_plan_problem* problem = mover->problem;
    const uint32_t first = count;
    mover->candidates[count++] = low;
    if (high != low) {
        mover->candidates[count++] = high;
    }
    for (uint32_t k = 0; k < mover->count && high > low; ++k) {
        if (!mover->placed[k] || k == item) {
            continue;
        }
        const int64_t offset = mover->offsets[k];
        const int64_t top = offset + problem->size[k];
        const int64_t align = problem->align[item];
        const int64_t wanted[4] = {offset, top - problem->size[item], top,
                                   offset - problem->size[item]};
        for (size_t w = 0; w < 4; ++w) {
            bool known = wanted[w] <= low || wanted[w] >= high || wanted[w] % align != 0;
            for (uint32_t c = first; c < count && !known; ++c) {
                known = mover->candidates[c] == wanted[w];
            }
            if (!known) {
                mover->candidates[count++] = wanted[w];
            }
        }
        mover->steps += 4;
    }
    return count;
}

/* Lists all offsets to try for an item that is not placed. */
static uint32_t find_candidates(struct mover* mover, uint32_t item)
{
    const struct maar_plan_problem* problem = mover->problem;
    const uint32_t blocker_count = collect_blockers(mover, item);
    uint32_t count = 0;
    int64_t low = 0;
    for (uint32_t k = 0; k <= blocker_count; ++k) {
        const int64_t high = k < blocker_count ? highest_under(mover, item, mover->blockers[k])
                                               : highest_below(mover, item, mover->peak);
        if (high >= low) {
            /* Where kinds are mixed, a blocker further up may restrict this gap, because it needs
             * its whole granule. */
            int64_t lowest_high = high;
            for (uint32_t next = k + 1; problem->mixed && next < blocker_count; ++next) {
                const int64_t under = highest_under(mover, item, mover->blockers[next]);
                lowest_high = under < lowest_high ? under : lowest_high;
            }
            if (lowest_high >= low) {
                count = add_candidates(mover, item, low, lowest_high, count);
            }
        }
        if (k < blocker_count) {
            const uint32_t blocker = mover->blockers[k];
            const int64_t top =
                maar_plan_align_up(maar_plan_top(problem, blocker, mover->offsets[blocker], item),
                                   problem->align[item]);
            low = top > low ? top : low;
        }
    }
    return count;
}

/* Puts an item at the offset with the least cost, chosen at random if there are several. Returns
 * false when the item fits nowhere. */
static bool put_where_cheapest(struct mover* mover, uint32_t item)
{
    const uint32_t count = find_candidates(mover, item);
    int64_t best = -1;
    int64_t best_cost = INT64_MAX;
    uint64_t equals = 0;
    for (uint32_t c = 0; c < count; ++c) {
        mover->offsets[item] = mover->candidates[c];
        lay(mover, item, 1);
        const int64_t cost = mover->cost;
        lay(mover, item, -1);
        equals = cost == best_cost ? equals + 1 : 1;
        if (cost < best_cost || (cost == best_cost && draw_below(mover, equals) == 0)) {
            best = mover->candidates[c];
            best_cost = cost;
        }
    }
    if (best < 0) {
        return false;
    }
    mover->offsets[item] = best;
    lay(mover, item, 1);
    return true;
}

static bool may_move(const struct mover* mover, uint32_t item)
{
    return mover->problem->fixed[item] < 0 && !maar_plan_has(mover->held, item);
}

/* Chooses a few items that may move: one at random, and others that share bytes with a chosen item.
 * An item that shares no bytes is chosen with a chance of one in eight. */
static uint32_t choose_taken(struct mover* mover, uint32_t* taken)
{
    const uint32_t wanted = 1 + (uint32_t)draw_below(mover, MAX_TAKEN);
    uint32_t count = 0;
    const uint32_t seed = (uint32_t)draw_below(mover, mover->count);
    if (!may_move(mover, seed)) {
        return 0;
    }
    taken[count++] = seed;
    const uint32_t start = (uint32_t)draw_below(mover, mover->count);
    for (uint32_t k = 0; k < mover->count && count < wanted; ++k) {
        const uint32_t item = (start + k) % mover->count;
        const uint32_t beside = taken[draw_below(mover, count)];
        bool known = item == beside || !may_move(mover, item);
        for (uint32_t t = 0; t < count && !known; ++t) {
            known = taken[t] == item;
        }
        const bool shares = mover->shared[(size_t)item * mover->count + beside] != 0 ||
                            mover->shared[(size_t)beside * mover->count + item] != 0;
        if (!known && (shares || draw_below(mover, 8) == 0)) {
            taken[count++] = item;
        }
    }
    mover->steps += mover->count;
    return count;
}

/* Makes one round of ruin and recreate, and undoes it if the cost rises or an item fits nowhere. */
static void try_round(struct mover* mover)
{
    uint32_t taken[MAX_TAKEN];
    int64_t old[MAX_TAKEN];
    const int64_t old_cost = mover->cost;
    const uint32_t count = choose_taken(mover, taken);
    for (uint32_t t = 0; t < count; ++t) {
        old[t] = mover->offsets[taken[t]];
        lay(mover, taken[t], -1);
    }
    bool fits = true;
    for (uint32_t t = 0; t < count && fits; ++t) {
        fits = put_where_cheapest(mover, taken[t]);
    }
    if (fits && mover->cost <= old_cost) {
        return;
    }
    for (uint32_t t = 0; t < count; ++t) {
        if (mover->placed[taken[t]]) {
            lay(mover, taken[t], -1);
        }
    }
    for (uint32_t t = 0; t < count; ++t) {
        mover->offsets[taken[t]] = old[t];
        lay(mover, taken[t], 1);
    }
}

static VkResult create_mover(const struct maar_plan_problem* problem, const uint64_t* held,
                             uint64_t peak, struct maar_host_stack* stack, struct mover* mover)
{
    const size_t count = problem->count;
    /* Each item cuts gaps at two places at most. */
    const size_t gap_count = 2 * count + 2;
    /* Two candidates for each gap, and four for each item. */
    const size_t candidate_count = 6 * count + 2;
    *mover = (struct mover){
        .problem = problem,
        .held = held,
        .peak = peak,
        .count = problem->count,
        .random = 0x9E3779B97F4A7C15u,
        .placed = maar_stack_grab_zeroed(stack, count, sizeof *mover->placed),
        .shared = maar_stack_grab_zeroed(stack, count, count * sizeof *mover->shared),
        .crosses = maar_stack_grab_zeroed(stack, count, count * sizeof *mover->crosses),
        .offsets = maar_stack_grab(stack, count, sizeof *mover->offsets),
        .by_begin = maar_stack_grab(stack, count, sizeof *mover->by_begin),
        .position = maar_stack_grab(stack, count, sizeof *mover->position),
        .gaps = maar_stack_grab(stack, gap_count, sizeof *mover->gaps),
        .before = maar_stack_grab(stack, gap_count, sizeof *mover->before),
        .after = maar_stack_grab(stack, gap_count, sizeof *mover->after),
        .blockers = maar_stack_grab(stack, count, sizeof *mover->blockers),
        .candidates = maar_stack_grab(stack, candidate_count, sizeof *mover->candidates),
    };
    const bool complete = mover->placed != NULL && mover->shared != NULL &&
                          mover->crosses != NULL && mover->offsets != NULL &&
                          mover->by_begin != NULL && mover->position != NULL &&
                          mover->gaps != NULL && mover->before != NULL && mover->after != NULL &&
                          mover->blockers != NULL && mover->candidates != NULL;
    struct maar_plan_key* keys = NULL;
    if (!complete || maar_plan_order_by_begin(mover->problem, stack, &keys) != VK_SUCCESS) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t k = 0; k < mover->count; ++k) {
        mover->by_begin[k] = keys[k].item;
        mover->position[keys[k].item] = k;
    }
    return VK_SUCCESS;
}

static void lay_all(struct mover* mover, const int64_t* offsets)
{
    for (uint32_t i = 0; i < mover->count; ++i) {
        if (mover->placed[i]) {
            lay(mover, i, -1);
        }
    }
    memcpy(mover->offsets, offsets, mover->count * sizeof *offsets);
    for (uint32_t i = 0; i < mover->count; ++i) {
        lay(mover, i, 1);
    }
}

/* Counts the edges of a placement, weighted, as the plan will report them. */
static VkResult count_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                            struct maar_host_stack* stack, int64_t* cost)
{
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct maar_plan_edges edges = {0};
    const VkResult result = maar_plan_find_edges(problem, offsets, stack, &edges, NULL);
    *cost = (int64_t)edges.cross_count * cross_weight + edges.count;
    maar_stack_return(stack, mark);
    return result;
}

/* Makes rounds until no edge is left, many rounds bring no improvement, or the steps are used up.
 * Returns false when time ran out before that. */
static bool move_items(struct mover* mover, struct maar_plan_budget* budget)
{
    struct maar_plan_budget clock = *budget;
    const uint32_t patience = PATIENCE * mover->count;
    uint32_t idle = 0;
    for (uint32_t round = 1; mover->steps < MAX_STEPS && mover->cost > 0 && idle < patience;
         ++round) {
        const int64_t before = mover->cost;
        try_round(mover);
        mover->steps += 16;
        idle = mover->cost < before ? 0 : idle + 1;
        if (round % ROUNDS_PER_LOOK == 0 && maar_plan_interrupted(&clock)) {
            maar_plan_budget_rejoin(budget, &clock);
            return false;
        }
    }
    return true;
}

bool maar_plan_fewer_edges(const struct maar_plan_problem* problem, const uint64_t* held,
                           uint64_t peak, struct maar_host_stack* stack, int64_t* offsets,
                           bool* moved)
{
    if (!maar_plan_may_move(problem)) {
        return true;
    }
    if (maar_plan_interrupted(problem->graph->budget)) {
        return false;
    }
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct mover mover;
    bool complete = create_mover(problem, held, peak, stack, &mover) == VK_SUCCESS;
    if (complete) {
        lay_all(&mover, offsets);
        complete = move_items(&mover, problem->graph->budget);
        int64_t before = 0;
        int64_t after = 0;
        const bool counted = count_edges(problem, offsets, stack, &before) == VK_SUCCESS &&
                             count_edges(problem, mover.offsets, stack, &after) == VK_SUCCESS;
        complete = complete && counted;
        if (counted && after < before) {
            memcpy(offsets, mover.offsets, problem->count * sizeof *offsets);
            *moved = true;
        }
    }
    maar_stack_return(stack, mark);
    return complete;
}
