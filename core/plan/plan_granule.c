/*
 * The edges of a class of mixed kinds: see plan_granule.h.
 */
#include "core/plan/plan_granule.h"

static uint32_t kind_at(const struct maar_plan_granules* granules, uint32_t rank)
{
    return granules->problem->kind_index[granules->by_begin[rank]];
}

static bool is_kept_apart(const struct maar_plan_problem* problem, uint32_t item)
{
    const MaarPlanResource* resource = &problem->graph->info->pResources[problem->resource[item]];
    return (resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0;
}

/* Whether an item comes before another one of its kind, as far as the problem knows. */
static bool precedes(const struct maar_plan_problem* problem, uint32_t a, uint32_t b)
{
    if (problem->conflict == NULL) {
        return problem->last[a] < problem->first[b];
    }
    const struct maar_plan_graph* graph = problem->graph;
    return maar_plan_has(graph->before + problem->resource[a] * graph->before_words,
                         problem->resource[b]);
}

/* ---- runs ---- */

/* Returns the least rank above `rank` of a user of another kind, or UINT32_MAX. */
static uint32_t next_other(const struct maar_plan_granules* granules, uint32_t rank)
{
    const uint32_t kind = kind_at(granules, rank);
    uint32_t next = UINT32_MAX;
    for (uint32_t k = 0; k < MAAR_PLAN_GRANULE_KINDS; ++k) {
        if (k != kind && granules->user_count[k] > 0) {
            const uint32_t found = maar_plan_rank_set_next(&granules->users[k], rank + 1);
            next = found < next ? found : next;
        }
    }
    return next;
}

/* Returns one more than the largest rank below `rank` of a user of another kind, or 0. */
static uint32_t end_of_other(const struct maar_plan_granules* granules, uint32_t rank)
{
    const uint32_t kind = kind_at(granules, rank);
    uint32_t end = 0;
    for (uint32_t k = 0; k < MAAR_PLAN_GRANULE_KINDS; ++k) {
        if (k != kind && granules->user_count[k] > 0) {
            const uint32_t found = maar_plan_rank_set_before(&granules->users[k], rank);
            end = found != UINT32_MAX && found + 1 > end ? found + 1 : end;
        }
    }
    return end;
}

/* Returns the number of fresh items below a rank. */
static uint32_t count_fresh(const struct maar_plan_granules* granules, uint32_t rank)
{
    uint32_t low = 0;
    uint32_t count = granules->fresh_count;
    while (count > 0) {
        const uint32_t half = count / 2;
        if (granules->fresh[low + half] < rank) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* Gathers the items of the run that has a user of some rank. */
static void gather_run(struct maar_plan_granules* granules, uint32_t rank)
{
    struct maar_plan_run* run = &granules->run;
    run->low = end_of_other(granules, rank);
    run->high = next_other(granules, rank);
    run->next = count_fresh(granules, run->high);
    run->count = 0;
    uint32_t old = maar_plan_rank_set_next(&granules->old, run->low);
    const uint32_t last = maar_plan_rank_set_before(&granules->old, run->high);
    for (uint32_t k = count_fresh(granules, run->low); k < run->next; ++k) {
        for (; old < granules->fresh[k]; old = old < last ? last : UINT32_MAX) {
            run->ranks[run->count++] = old;
        }
        run->ranks[run->count++] = granules->fresh[k];
    }
    for (; old < run->high; old = old < last ? last : UINT32_MAX) {
        run->ranks[run->count++] = old;
    }
}

/* Intervals: finds the nearest items of the run for each of its items. */
static void relate_intervals(struct maar_plan_granules* granules)
{
    const struct maar_plan_problem* problem = granules->problem;
    const struct maar_plan_run* run = &granules->run;
    for (uint32_t k = 0; k < run->count; ++k) {
        granules->keys[k] = (struct maar_plan_key){
            .first = UINT32_MAX - problem->last[granules->by_begin[run->ranks[k]]], .item = k};
    }
    maar_plan_sort_keys(granules->keys, granules->other, run->count);
    uint32_t ended = 0;
    for (uint32_t k = 0; k < run->count; ++k) {
        const uint32_t item = granules->by_begin[run->ranks[k]];
        while (UINT32_MAX - granules->keys[ended].first < problem->first[item]) {
            ++ended;
        }
        granules->before[k] = ended > 0 ? run->ranks[granules->keys[ended - 1].item] : UINT32_MAX;
    }
    uint32_t begun = run->count;
    for (uint32_t e = run->count; e-- > 0;) {
        const uint32_t k = granules->keys[e].item;
        const uint32_t end = problem->last[granules->by_begin[run->ranks[k]]];
        while (begun > 0 && problem->first[granules->by_begin[run->ranks[begun - 1]]] > end) {
            --begun;
        }
        granules->after[k] = begun < run->count ? run->ranks[begun] : UINT32_MAX;
    }
}

/* Partial order: finds the nearest items of the run for each of its items. */
static void relate_by_order(struct maar_plan_granules* granules)
{
    const struct maar_plan_problem* problem = granules->problem;
    const uint32_t* ranks = granules->run.ranks;
    const uint32_t count = granules->run.count;
    for (uint32_t k = 0; k < count; ++k) {
        const uint32_t item = granules->by_begin[ranks[k]];
        uint32_t earlier = k;
        while (earlier > 0 && !precedes(problem, granules->by_begin[ranks[earlier - 1]], item)) {
            --earlier;
        }
        uint32_t later = k + 1;
        while (later < count && !precedes(problem, item, granules->by_begin[ranks[later]])) {
            ++later;
        }
        granules->before[k] = earlier > 0 ? ranks[earlier - 1] : UINT32_MAX;
        granules->after[k] = later < count ? ranks[later] : UINT32_MAX;
    }
}

static void add_by_rank(const struct maar_plan_granules* granules, uint32_t before, uint32_t after,
                        struct maar_plan_pairs* pairs)
{
    maar_plan_add_pair(pairs, granules->by_begin[before], granules->by_begin[after]);
}

static void relate_run(struct maar_plan_granules* granules)
{
    if (granules->problem->conflict == NULL) {
        relate_intervals(granules);
    } else {
        relate_by_order(granules);
    }
}

/* Lists the last items of a run that was related. */
static void list_tops(struct maar_plan_granules* granules)
{
    granules->top_count = 0;
    for (uint32_t k = 0; k < granules->run.count; ++k) {
        if (granules->after[k] == UINT32_MAX) {
            granules->tops[granules->top_count++] = granules->run.ranks[k];
        }
    }
}

/* Lists the first items of a run that was related. */
static void list_bottoms(struct maar_plan_granules* granules)
{
    granules->bottom_count = 0;
    for (uint32_t k = 0; k < granules->run.count; ++k) {
        if (granules->before[k] == UINT32_MAX) {
            granules->bottoms[granules->bottom_count++] = granules->run.ranks[k];
        }
    }
}

/* Adds a pair for each last item of one run and each first item of another. */
static void link_runs(const struct maar_plan_granules* granules, struct maar_plan_pairs* pairs)
{
    for (uint32_t t = 0; t < granules->top_count && !pairs->failed; ++t) {
        for (uint32_t b = 0; b < granules->bottom_count; ++b) {
            add_by_rank(granules, granules->tops[t], granules->bottoms[b], pairs);
        }
    }
}

/* Adds the pairs that connect the items of a run with each other. */
static void link_within_run(const struct maar_plan_granules* granules,
                            struct maar_plan_pairs* pairs)
{
    for (uint32_t k = 0; k < granules->run.count; ++k) {
        if (granules->before[k] != UINT32_MAX) {
            add_by_rank(granules, granules->before[k], granules->run.ranks[k], pairs);
        }
        if (granules->after[k] != UINT32_MAX) {
            add_by_rank(granules, granules->run.ranks[k], granules->after[k], pairs);
        }
    }
}

/* ---- one granule ---- */

static bool has_several_kinds(const struct maar_plan_granules* granules)
{
    uint32_t kinds = 0;
    for (uint32_t k = 0; k < MAAR_PLAN_GRANULE_KINDS; ++k) {
        kinds += granules->user_count[k] > 0;
    }
    return kinds > 1;
}

/* Whether the run after the gathered one has only items that use the granule below too. */
static bool is_next_run_old(const struct maar_plan_granules* granules)
{
    const struct maar_plan_run* run = &granules->run;
    return run->high != UINT32_MAX &&
           (run->next == granules->fresh_count ||
            granules->fresh[run->next] >= next_other(granules, run->high));
}

/* Adds the pairs within a frame: of each run in which an item begins, and of that run with the runs
 * beside it. */
static void link_granule(struct maar_plan_granules* granules, struct maar_plan_pairs* pairs)
{
    const struct maar_plan_run* run = &granules->run;
    uint32_t low = 0; /* the ranks of the run that was gathered last */
    uint32_t high = 0;
    for (uint32_t k = 0; k < granules->fresh_count && !pairs->failed; k = run->next) {
        gather_run(granules, granules->fresh[k]);
        relate_run(granules);
        list_bottoms(granules);
        if (run->low == 0) {
            granules->top_count = 0;
        } else if (run->low <= low || run->low > high) {
            /* The run before this one has only old items: edges lead from each to the last. */
            granules->tops[0] = run->low - 1;
            granules->top_count = 1;
        }
        link_runs(granules, pairs);
        link_within_run(granules, pairs);
        list_tops(granules);
        if (is_next_run_old(granules)) {
            granules->bottoms[0] = run->high;
            granules->bottom_count = 1;
            link_runs(granules, pairs);
        }
        low = run->low;
        high = run->high;
    }
}

/* Adds the pairs from one frame to the next: of the last run with the first run. */
static void wrap_granule(struct maar_plan_granules* granules, struct maar_plan_pairs* pairs)
{
    uint32_t first = UINT32_MAX;
    uint32_t last = 0;
    for (uint32_t k = 0; k < MAAR_PLAN_GRANULE_KINDS; ++k) {
        if (granules->user_count[k] > 0) {
            const uint32_t low = maar_plan_rank_set_next(&granules->users[k], 0);
            const uint32_t high = maar_plan_rank_set_before(&granules->users[k], UINT32_MAX);
            first = low < first ? low : first;
            last = high > last ? high : last;
        }
    }
    gather_run(granules, first);
    relate_run(granules);
    list_bottoms(granules);
    gather_run(granules, last);
    relate_run(granules);
    list_tops(granules);
    if (kind_at(granules, first) != kind_at(granules, last)) {
        link_runs(granules, pairs);
        return;
    }
    /* Items of one kind: a path from each of the last run and to each of the first run. */
    const uint32_t tops = granules->top_count;
    const uint32_t bottoms = granules->bottom_count;
    for (uint32_t k = 0; k < tops || k < bottoms; ++k) {
        add_by_rank(granules, granules->tops[k < tops ? k : tops - 1],
                    granules->bottoms[k < bottoms ? k : bottoms - 1], pairs);
    }
}

/* Sorts where items begin and end, in granules. At one granule, ends come before begins, and begins
 * in the order of time. */
static void list_granule_events(struct maar_plan_granules* granules, const int64_t* offsets,
                                const uint32_t* begin_rank, struct maar_plan_key* other)
{
    const struct maar_plan_problem* problem = granules->problem;
    const uint64_t granule = problem->granularity;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t begin = (uint64_t)offsets[i] * problem->unit;
        const uint64_t end = begin + problem->bytes[i];
        const uint32_t rank = begin_rank[i];
        granules->events[granules->event_count++] = (struct maar_plan_key){
            .first = UINT64_MAX - begin / granule, .second = UINT32_MAX - rank, .item = rank};
        granules->events[granules->event_count++] = (struct maar_plan_key){
            .first = UINT64_MAX - ((end - 1) / granule + 1), .second = UINT64_MAX, .item = rank};
    }
    maar_plan_sort_keys(granules->events, other, granules->event_count);
}

bool maar_plan_open_granules(const struct maar_plan_problem* problem, const int64_t* offsets,
                             const uint32_t* by_begin, const uint32_t* begin_rank,
                             struct maar_host_stack* stack, struct maar_plan_granules* granules)
{
    const uint32_t count = problem->count;
    struct maar_plan_key* other = maar_stack_grab(stack, count, 2 * sizeof *other);
    *granules = (struct maar_plan_granules){
        .problem = problem,
        .by_begin = by_begin,
        .events = maar_stack_grab(stack, count, 2 * sizeof *granules->events),
        .fresh = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .run.ranks = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .before = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .after = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .keys = maar_stack_grab(stack, count, sizeof *granules->keys),
        .other = other,
        .tops = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .bottoms = maar_stack_grab(stack, count, sizeof(uint32_t)),
    };
    bool complete = other != NULL && granules->events != NULL && granules->fresh != NULL &&
                    granules->run.ranks != NULL && granules->before != NULL &&
                    granules->after != NULL && granules->keys != NULL && granules->tops != NULL &&
                    granules->bottoms != NULL &&
                    maar_plan_rank_set_init(&granules->old, count, stack);
    for (uint32_t k = 0; k < MAAR_PLAN_GRANULE_KINDS && complete; ++k) {
        complete = maar_plan_rank_set_init(&granules->users[k], count, stack);
    }
    if (complete) {
        list_granule_events(granules, offsets, begin_rank, other);
    }
    return complete;
}

/* Adds or removes a user of the present granule. */
static void change_granule(struct maar_plan_granules* granules, uint32_t rank, bool begins)
{
    const uint32_t kind = kind_at(granules, rank);
    if (begins) {
        granules->fresh[granules->fresh_count++] = rank;
        maar_plan_rank_set_add(&granules->users[kind], rank);
        ++granules->user_count[kind];
    } else {
        maar_plan_rank_set_remove(&granules->old, rank);
        maar_plan_rank_set_remove(&granules->users[kind], rank);
        --granules->user_count[kind];
    }
}

static void age_fresh(struct maar_plan_granules* granules)
{
    for (uint32_t k = 0; k < granules->fresh_count; ++k) {
        maar_plan_rank_set_add(&granules->old, granules->fresh[k]);
    }
    granules->fresh_count = 0;
}

void maar_plan_restart_granules(struct maar_plan_granules* granules, bool wrap)
{
    /* All items end below the last event, so the sets become empty. */
    while (granules->at > 0 && granules->at < granules->event_count) {
        const struct maar_plan_key* event = &granules->events[granules->at++];
        age_fresh(granules);
        change_granule(granules, event->item, event->second != UINT64_MAX);
    }
    granules->at = 0;
    granules->fresh_count = 0;
    granules->wrap = wrap;
}

void maar_plan_enter_granule(struct maar_plan_granules* granules, uint64_t granule,
                             struct maar_plan_pairs* pairs)
{
    while (granules->at < granules->event_count &&
           granules->events[granules->at].first >= UINT64_MAX - granule && !pairs->failed) {
        const uint64_t first = granules->events[granules->at].first;
        age_fresh(granules);
        for (;
             granules->at < granules->event_count && granules->events[granules->at].first == first;
             ++granules->at) {
            const struct maar_plan_key* event = &granules->events[granules->at];
            const bool out =
                granules->wrap && is_kept_apart(granules->problem, granules->by_begin[event->item]);
            if (!out) {
                change_granule(granules, event->item, event->second != UINT64_MAX);
            }
        }
        if (has_several_kinds(granules)) {
            if (granules->wrap) {
                wrap_granule(granules, pairs);
            } else {
                link_granule(granules, pairs);
            }
        }
    }
}

bool maar_plan_in_one_run(const struct maar_plan_granules* granules, uint32_t before,
                          uint32_t after)
{
    return kind_at(granules, before) == kind_at(granules, after) &&
           next_other(granules, before) > after;
}

bool maar_plan_wraps_alone(const struct maar_plan_granules* granules, uint32_t last, uint32_t first)
{
    return kind_at(granules, last) == kind_at(granules, first) &&
           next_other(granules, last) == UINT32_MAX && end_of_other(granules, first) == 0;
}
