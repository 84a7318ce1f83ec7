/*
 * Orders and conflicts of a plan's input; see plan_world.h.
 */
#include "tests/plan/plan_world.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORLD_MAX_PASSES = 4096, WORLD_MAX_SUBSETS = 16 };

static void* world_allocate(size_t count, size_t size)
{
    void* const memory = calloc(count != 0 ? count : 1, size);
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        abort();
    }
    return memory;
}

uint32_t plan_world_use_count(const struct plan_world* world, uint32_t resource)
{
    const MaarPlanResource* const it = &world->info->pResources[resource];
    return it->useCount != 0 ? it->useCount : it->lastPass - it->firstPass + 1;
}

uint32_t plan_world_use(const struct plan_world* world, uint32_t resource, uint32_t index)
{
    const MaarPlanResource* const it = &world->info->pResources[resource];
    return it->useCount != 0 ? it->pUses[index] : it->firstPass + index;
}

uint32_t plan_world_queue(const struct plan_world* world, uint32_t pass)
{
    return world->info->pPassQueues != NULL ? world->info->pPassQueues[pass] : 0;
}

static bool world_shares(const struct plan_world* world, uint32_t resource)
{
    return (world->info->pResources[resource].flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) == 0;
}

static void world_count_passes(struct plan_world* world)
{
    world->pass_count = world->info->passCount;
    for (uint32_t i = 0; i < world->resource_count && world->info->passCount == 0; ++i) {
        for (uint32_t j = 0; world_shares(world, i) && j < plan_world_use_count(world, i); ++j) {
            const uint32_t pass = plan_world_use(world, i, j);
            world->pass_count = pass >= world->pass_count ? pass + 1 : world->pass_count;
        }
    }
    for (uint32_t i = 1; i < world->pass_count; ++i) {
        world->several_queues =
            world->several_queues || plan_world_queue(world, i) != plan_world_queue(world, 0);
    }
}

/* Floyd and Warshall's closure of program order and dependencies. */
static void world_order_passes(struct plan_world* world)
{
    const uint32_t count = world->pass_count;
    if (count > WORLD_MAX_PASSES) {
        fprintf(stderr, "too many passes to check\n");
        abort();
    }
    bool* const before = world_allocate((size_t)count * count, sizeof(*before));
    world->pass_before = before;
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t j = i + 1; j < count; ++j) {
            before[(size_t)i * count + j] =
                plan_world_queue(world, i) == plan_world_queue(world, j);
        }
    }
    for (uint32_t i = 0; i < world->info->dependencyCount; ++i) {
        const MaarPlanDependency* const pair = &world->info->pDependencies[i];
        before[(size_t)pair->before * count + pair->after] = true;
    }
    for (size_t k = 0; k < count; ++k) {
        for (size_t i = 0; i < count; ++i) {
            for (size_t j = 0; before[i * count + k] && j < count; ++j) {
                before[i * count + j] = before[i * count + j] || before[k * count + j];
            }
        }
    }
}

bool plan_world_pass_before(const struct plan_world* world, uint32_t pass, uint32_t other)
{
    return world->pass_before != NULL ? world->pass_before[(size_t)pass * world->pass_count + other]
                                      : pass < other;
}

/* From the definition, pair of uses by pair of uses. */
static bool world_is_before(const struct plan_world* world, uint32_t resource, uint32_t other)
{
    if (resource == other || !world_shares(world, resource) || !world_shares(world, other)) {
        return false;
    }
    const MaarPlanResource* const one = &world->info->pResources[resource];
    const MaarPlanResource* const two = &world->info->pResources[other];
    if (!world->several_queues && one->useCount == 0 && two->useCount == 0) {
        return one->lastPass < two->firstPass;
    }
    for (uint32_t i = 0; i < plan_world_use_count(world, resource); ++i) {
        for (uint32_t j = 0; j < plan_world_use_count(world, other); ++j) {
            if (!plan_world_pass_before(world, plan_world_use(world, resource, i),
                                        plan_world_use(world, other, j))) {
                return false;
            }
        }
    }
    return true;
}

void plan_world_open(struct plan_world* world, const MaarPlanCreateInfo* info)
{
    *world = (struct plan_world){.info = info, .resource_count = info->resourceCount};
    world_count_passes(world);
    if (world->several_queues) {
        world_order_passes(world);
    }
    const uint32_t count = world->resource_count;
    world->before = world_allocate((size_t)count * count, sizeof(*world->before));
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t j = 0; j < count; ++j) {
            world->before[(size_t)i * count + j] = world_is_before(world, i, j);
        }
    }
}

void plan_world_close(struct plan_world* world)
{
    free(world->pass_before);
    free(world->before);
    *world = (struct plan_world){.info = NULL};
}

bool plan_world_before(const struct plan_world* world, uint32_t resource, uint32_t other)
{
    return world->before[(size_t)resource * world->resource_count + other];
}

bool plan_world_meet(const struct plan_world* world, uint32_t resource, uint32_t other)
{
    return !plan_world_before(world, resource, other) && !plan_world_before(world, other, resource);
}

struct plan_range plan_world_granules(const struct plan_world* world, struct plan_range range)
{
    const uint64_t granule = world->info->granularity > 1 ? world->info->granularity : 1;
    range.begin = range.begin / granule * granule;
    range.end = (range.end + granule - 1) / granule * granule;
    return range;
}

struct plan_range plan_world_reach(const struct plan_world* world, uint32_t resource,
                                   uint32_t other, uint64_t offset)
{
    const MaarPlanResource* const it = &world->info->pResources[resource];
    const struct plan_range range = {offset, offset + it->size};
    return it->kind != world->info->pResources[other].kind ? plan_world_granules(world, range)
                                                           : range;
}

/* The largest sum over all sets of which no two may share. */
static uint64_t world_try_sets(const struct plan_world* world, const uint32_t* members,
                               uint32_t count)
{
    uint64_t most = 0;
    for (uint32_t set = 0; set < 1u << count; ++set) {
        uint64_t bytes = 0;
        bool valid = true;
        for (uint32_t i = 0; i < count && valid; ++i) {
            bytes += (set >> i & 1u) != 0 ? world->info->pResources[members[i]].size : 0;
            for (uint32_t j = 0; j < i && valid && (set >> i & 1u) != 0; ++j) {
                valid = (set >> j & 1u) == 0 || plan_world_meet(world, members[i], members[j]);
            }
        }
        most = valid && bytes > most ? bytes : most;
    }
    return most;
}

/* Whether a resource is alive in a pass of the only queue. */
static bool world_lives(const struct plan_world* world, uint32_t resource, uint32_t pass)
{
    uint32_t first = UINT32_MAX;
    uint32_t last = 0;
    const uint32_t count =
        world_shares(world, resource) ? plan_world_use_count(world, resource) : 0;
    if (world->info->pResources[resource].useCount == 0 && count != 0) {
        first = plan_world_use(world, resource, 0);
        last = plan_world_use(world, resource, count - 1);
    } else {
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t use = plan_world_use(world, resource, i);
            first = use < first ? use : first;
            last = use > last ? use : last;
        }
    }
    return count == 0 || (first <= pass && pass <= last);
}

bool plan_world_heaviest(const struct plan_world* world, const uint32_t* members, uint32_t count,
                         uint64_t* bytes)
{
    *bytes = 0;
    if (world->several_queues) {
        if (count > WORLD_MAX_SUBSETS) {
            return false;
        }
        *bytes = world_try_sets(world, members, count);
        return true;
    }
    for (uint32_t pass = 0; pass < world->pass_count || pass == 0; ++pass) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < count; ++i) {
            sum +=
                world_lives(world, members[i], pass) ? world->info->pResources[members[i]].size : 0;
        }
        *bytes = sum > *bytes ? sum : *bytes;
    }
    return true;
}
