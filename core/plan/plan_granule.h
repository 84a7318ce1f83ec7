/*
 * The edges of a class of mixed kinds. Items of different kinds that share a granule are in order,
 * and a path of edges leads from each of them to each later one. Items of one kind may share a
 * granule at any times, and need a path only where they share a byte.
 *
 * The users of a granule, sorted by their begin in time, form runs of one kind. All items of a run
 * come before all items of the next run. So the last items of a run have an edge to each of the
 * first items of the next run, and within a run each item that is not among the last has an edge to
 * one later item, and each that is not among the first has one from an earlier item.
 *
 * Users of the granule below that reach into the present one share the byte at its border. They are
 * in order, and edges connect them already. Only items that begin in a granule make edges there.
 */
#ifndef MAAR_CORE_PLAN_PLAN_GRANULE_H
#define MAAR_CORE_PLAN_PLAN_GRANULE_H

#include "core/plan/plan_pairs.h"
#include "core/plan/problem/plan_problem.h"
#include "core/plan/problem/plan_rank.h"
#include "core/plan/problem/plan_rank_set.h"

enum { MAAR_PLAN_GRANULE_KINDS = 3 };

/* Some items of one run, as ranks in rising order: those that begin in the granule, and the first
 * and the last one of the others. */
struct maar_plan_run {
    uint32_t low; /* ranks of all items of the run: from low, below high */
    uint32_t high;
    uint32_t next; /* the number of fresh items below `high` */
    uint32_t* ranks;
    uint32_t count;
};

/* The users of the present granule. */
struct maar_plan_granules {
    const struct maar_plan_problem* problem;
    const uint32_t* by_begin; /* items in the order of their begin in time */
    struct maar_plan_key* events;
    uint32_t event_count;
    uint32_t at;                                              /* the next event */
    struct maar_plan_rank_set users[MAAR_PLAN_GRANULE_KINDS]; /* per kind: ranks */
    uint32_t user_count[MAAR_PLAN_GRANULE_KINDS];             /* per kind */
    struct maar_plan_rank_set old; /* ranks of those that use the granule below too */
    uint32_t* fresh;               /* ranks of those that begin in the granule, rising */
    uint32_t fresh_count;
    struct maar_plan_run run;
    uint32_t* before; /* per item of the run: the nearest earlier item of the run, or UINT32_MAX */
    uint32_t* after;
    struct maar_plan_key* keys;
    struct maar_plan_key* other;
    uint32_t* tops; /* the last items of a run, as ranks */
    uint32_t top_count;
    uint32_t* bottoms; /* the first items of a run, as ranks */
    uint32_t bottom_count;
    bool wrap; /* the edges to the next frame are collected */
};

/* Makes the events of a placement. `begin_rank` is the inverse of `by_begin`. Returns false when
 * host memory is short. */
bool maar_plan_open_granules(const struct maar_plan_problem* problem, const int64_t* offsets,
                             const uint32_t* by_begin, const uint32_t* begin_rank,
                             struct maar_host_stack* stack, struct maar_plan_granules* granules);
/* Goes back below the first granule. */
void maar_plan_restart_granules(struct maar_plan_granules* granules, bool wrap);
/* Goes up to a granule, and adds the pairs of all granules on the way. */
void maar_plan_enter_granule(struct maar_plan_granules* granules, uint64_t granule,
                             struct maar_plan_pairs* pairs);
/* Returns whether two users of the present granule are of one run. Within a run, each byte has
 * edges of its own. */
bool maar_plan_in_one_run(const struct maar_plan_granules* granules, uint32_t before,
                          uint32_t after);
/* Returns whether one user is of the last run, and the other one of the first run, and both are of
 * one kind. Then each byte has edges of its own from the one to the other. */
bool maar_plan_wraps_alone(const struct maar_plan_granules* granules, uint32_t last,
                           uint32_t first);

#endif
