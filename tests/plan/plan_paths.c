/*
 * The paths along edges; see plan_paths.h.
 */
#include "tests/plan/plan_paths.h"

#include <stdlib.h>

struct paths {
    const struct plan_world* world;
    const struct plan_answer* answer;
    const uint32_t* members;
    uint32_t count;
    bool* within; /* count squared: there is a path within a frame, or it is the same member */
    bool* across; /* count squared: there is a path to the next frame */
    struct plan_paths_fault* fault;
};

static bool paths_fail(struct paths* paths, const char* text, uint32_t before, uint32_t after)
{
    *paths->fault = (struct plan_paths_fault){text, before, after};
    return false;
}

static const MaarPlanResource* paths_resource(const struct paths* paths, uint32_t index)
{
    return &paths->world->info->pResources[index];
}

/* Whether two resources share a byte, or a granule. */
static bool paths_share(const struct paths* paths, uint32_t a, uint32_t b, bool granules)
{
    const uint32_t both[2] = {a, b};
    struct plan_range ranges[2];
    for (uint32_t i = 0; i < 2; ++i) {
        const uint64_t offset = paths->answer->placements[both[i]].offset;
        ranges[i] = (struct plan_range){offset, offset + paths_resource(paths, both[i])->size};
        ranges[i] = granules ? plan_world_granules(paths->world, ranges[i]) : ranges[i];
    }
    return ranges[0].begin < ranges[1].end && ranges[1].begin < ranges[0].end;
}

static bool paths_need(const struct paths* paths, uint32_t a, uint32_t b)
{
    const MaarPlanResourceFlags flags =
        paths_resource(paths, a)->flags | paths_resource(paths, b)->flags;
    const bool differ = paths_resource(paths, a)->kind != paths_resource(paths, b)->kind;
    return (flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) == 0 && paths_share(paths, a, b, differ);
}

/* Copies the edges between members, and checks that each may be there. */
static bool paths_copy(struct paths* paths, const MaarPlanEdge* edges, uint32_t edge_count,
                       bool wrap, bool* matrix)
{
    for (uint32_t e = 0; e < edge_count; ++e) {
        const uint32_t before = edges[e].before;
        const uint32_t after = edges[e].after;
        if (paths->answer->placements[before].classIndex !=
            paths->answer->placements[paths->members[0]].classIndex) {
            continue;
        }
        const MaarPlanResourceFlags flags =
            paths_resource(paths, before)->flags | paths_resource(paths, after)->flags;
        if (!wrap && !plan_world_before(paths->world, before, after)) {
            return paths_fail(paths, "is against the order", before, after);
        }
        if (!paths_share(paths, before, after, true) ||
            (wrap && (flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0)) {
            return paths_fail(paths, "joins what shares nothing", before, after);
        }
        matrix[(size_t)before * paths->world->resource_count + after] = true;
    }
    return true;
}

/* Closes the edges under transitivity. */
static void paths_close(struct paths* paths, const bool* edges, const bool* wrap_edges)
{
    const uint32_t count = paths->count;
    for (uint32_t a = 0; a < count; ++a) {
        for (uint32_t b = 0; b < count; ++b) {
            const size_t at =
                (size_t)paths->members[a] * paths->world->resource_count + paths->members[b];
            paths->within[a * count + b] = a == b || edges[at];
            paths->across[a * count + b] = wrap_edges[at];
        }
    }
    for (uint32_t k = 0; k < count; ++k) {
        for (uint32_t a = 0; a < count; ++a) {
            for (uint32_t b = 0; b < count && paths->within[a * count + k]; ++b) {
                paths->within[a * count + b] |= paths->within[k * count + b];
            }
        }
    }
    /* First what goes on behind an edge across, then what goes before. */
    for (uint32_t k = 0; k < count; ++k) {
        for (uint32_t a = 0; a < count; ++a) {
            for (uint32_t b = 0;
                 b < count && wrap_edges[(size_t)paths->members[a] * paths->world->resource_count +
                                         paths->members[k]];
                 ++b) {
                paths->across[a * count + b] |= paths->within[k * count + b];
            }
        }
    }
    for (uint32_t k = 0; k < count; ++k) {
        for (uint32_t a = 0; a < count; ++a) {
            for (uint32_t b = 0; b < count && paths->within[a * count + k]; ++b) {
                paths->across[a * count + b] |= paths->across[k * count + b];
            }
        }
    }
}

static bool paths_complete(struct paths* paths)
{
    const uint32_t count = paths->count;
    for (uint32_t a = 0; a < count; ++a) {
        for (uint32_t b = 0; b < count; ++b) {
            const uint32_t before = paths->members[a];
            const uint32_t after = paths->members[b];
            if (!paths_need(paths, before, after)) {
                continue;
            }
            if (plan_world_before(paths->world, before, after) && !paths->within[a * count + b]) {
                return paths_fail(paths, "has no path within the frame", before, after);
            }
            if (!paths->across[a * count + b]) {
                return paths_fail(paths, "has no path to the next frame", before, after);
            }
        }
    }
    return true;
}

bool plan_paths_suffice(const struct plan_world* world, const struct plan_answer* answer,
                        const uint32_t* members, uint32_t count, bool* edges, bool* wrap_edges,
                        struct plan_paths_fault* fault)
{
    struct paths paths = {.world = world,
                          .answer = answer,
                          .members = members,
                          .count = count,
                          .within = calloc((size_t)count * count, sizeof(bool)),
                          .across = calloc((size_t)count * count, sizeof(bool)),
                          .fault = fault};
    bool good = false;
    if (paths.within == NULL || paths.across == NULL) {
        paths_fail(&paths, "is not checked: host memory is short", 0, 0);
    } else {
        good = paths_copy(&paths, answer->edges, answer->edge_count, false, edges) &&
               paths_copy(&paths, answer->wrap_edges, answer->wrap_edge_count, true, wrap_edges);
        if (good) {
            paths_close(&paths, edges, wrap_edges);
            good = paths_complete(&paths);
        }
    }
    free(paths.within);
    free(paths.across);
    return good;
}
