/*
 * Whether the edges of a class that mixes kinds suffice: a path leads from each resource to each
 * later one that shares a byte with it or, if their kinds differ, a granule. Slow and simple.
 */
#ifndef MAAR_TESTS_PLAN_PLAN_PATHS_H
#define MAAR_TESTS_PLAN_PLAN_PATHS_H

#include "tests/plan/plan_checker.h"
#include "tests/plan/plan_world.h"

/* What is wrong with the edges of a class. */
struct plan_paths_fault {
    const char* text;
    uint32_t before, after;
};

/*
 * Looks at the edges within a frame and to the next one. Copies those of the class into two
 * matrices, a row a resource of the plan. Returns false and fills *fault if an edge joins resources
 * that are out of order or share no granule, or a path is missing.
 */
bool plan_paths_suffice(const struct plan_world* world, const struct plan_answer* answer,
                        const uint32_t* members, uint32_t count, bool* edges, bool* wrap_edges,
                        struct plan_paths_fault* fault);

#endif
