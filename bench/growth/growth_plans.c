/*
 * Plans and plan caches.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

/* Each resource lives for at most so many passes; a pass begins so many. */
enum { LIFETIME = 8, BEGIN = 4 };

struct plans {
    MaarPlanCreateInfo info;
    MaarPlan plan;
    MaarPlanCache cache;
    MaarPlanResource* resources;
};

/* ---- input ---- */

static void describe(struct growth* growth)
{
    struct plans* plans = bench_allocate(1, sizeof *plans);
    growth->state = plans;
    growth->spare = plans->resources = bench_allocate(growth->n, sizeof *plans->resources);
    for (uint32_t i = 0; i < growth->n; ++i) {
        const uint32_t first = i / BEGIN;
        plans->resources[i] = (MaarPlanResource){
            .size = bench_size(&growth->random, false),
            .alignment = 256,
            .kind = MAAR_RESOURCE_KIND_LINEAR,
            .firstPass = first,
            .lastPass = first + (uint32_t)(bench_random(&growth->random) % LIFETIME),
        };
    }
    plans->info = (MaarPlanCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
        .resourceCount = growth->n,
        .pResources = plans->resources,
        .nodeLimit = 1000,
    };
}

static void open_greedy(struct growth* growth)
{
    describe(growth);
    ((struct plans*)growth->state)->info.flags =
        MAAR_PLAN_CREATE_GREEDY_BIT | MAAR_PLAN_CREATE_KEEP_EDGES_BIT;
}

static void open_search(struct growth* growth)
{
    describe(growth);
    ((struct plans*)growth->state)->info.flags = MAAR_PLAN_CREATE_KEEP_EDGES_BIT;
}

static void open_edge_stage(struct growth* growth)
{
    describe(growth);
    ((struct plans*)growth->state)->info.flags = MAAR_PLAN_CREATE_GREEDY_BIT;
}

static void open_plan(struct growth* growth)
{
    open_greedy(growth);
    struct plans* plans = growth->state;
    GROWTH_EXPECT(maarCreatePlan(&plans->info, &plans->plan));
}

/* The plan again, of the same resources. */
static void open_previous(struct growth* growth)
{
    open_plan(growth);
    struct plans* plans = growth->state;
    plans->info.previous = plans->plan;
}

static void open_cached(struct growth* growth)
{
    const MaarPlanCacheCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO};
    open_greedy(growth);
    struct plans* plans = growth->state;
    GROWTH_EXPECT(maarCreatePlanCache(&info, &plans->cache));
    plans->info.cache = plans->cache;
    GROWTH_EXPECT(maarCreatePlan(&plans->info, &plans->plan));
}

/* Passes on two queues by turns, ordered by n / 4 dependencies. */
static void open_queues(struct growth* growth)
{
    open_greedy(growth);
    struct plans* plans = growth->state;
    const uint32_t passes = growth->n / BEGIN + LIFETIME + 1;
    MaarPlanDependency* orders = bench_allocate(passes, sizeof *orders + sizeof(uint32_t));
    uint32_t* queues = (uint32_t*)(void*)(orders + passes);
    for (uint32_t i = 0; i < passes; ++i) {
        queues[i] = i % 2;
        orders[i] = (MaarPlanDependency){i, i + 1};
    }
    for (uint32_t i = 0; i < growth->n; ++i) {
        plans->resources[i].useCount = 1;
        plans->resources[i].pUses = &plans->resources[i].firstPass;
    }
    plans->info.passCount = passes;
    plans->info.pPassQueues = queues;
    plans->info.dependencyCount = passes - 1;
    plans->info.pDependencies = orders;
    growth->memory = (MaarAllocation*)(void*)orders;
}

static void close_plan(struct growth* growth)
{
    const struct plans* plans = growth->state;
    maarDestroyPlan(plans->plan);
    maarDestroyPlanCache(plans->cache);
}

/* ---- of n resources ---- */

static void do_create(struct growth* growth, uint32_t index)
{
    struct plans* plans = growth->state;
    (void)index;
    GROWTH_EXPECT(maarCreatePlan(&plans->info, &plans->plan));
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    struct plans* plans = growth->state;
    (void)index;
    maarDestroyPlan(plans->plan);
    plans->plan = NULL;
}

static void create(struct growth* growth)
{
    do_create(growth, 0);
}

static void destroy(struct growth* growth)
{
    do_destroy(growth, 0);
}

/* A second plan beside the one that stays. */
static void do_create_again(struct growth* growth, uint32_t index)
{
    struct plans* plans = growth->state;
    MaarPlan plan = NULL;
    (void)index;
    GROWTH_EXPECT(maarCreatePlan(&plans->info, &plan));
    maarDestroyPlan(plan);
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    const struct plans* plans = growth->state;
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetPlanInfo(plans->plan, &info));
}

static void do_get_classes(struct growth* growth, uint32_t index)
{
    const struct plans* plans = growth->state;
    MaarPlanClass classes[4];
    uint32_t count = 4;
    (void)index;
    GROWTH_EXPECT(maarGetPlanClasses(plans->plan, &count, classes));
}

static void do_get_placements(struct growth* growth, uint32_t index)
{
    const struct plans* plans = growth->state;
    uint32_t count = growth->n;
    (void)index;
    GROWTH_EXPECT(maarGetPlanPlacements(plans->plan, &count, growth->spare));
}

/* Room for all edges takes the place of the resources, which are not needed any more. */
static void open_edges(struct growth* growth)
{
    open_plan(growth);
    const struct plans* plans = growth->state;
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    GROWTH_EXPECT(maarGetPlanInfo(plans->plan, &info));
    free(growth->spare);
    growth->spare =
        bench_allocate((size_t)info.edgeCount + info.wrapEdgeCount, sizeof(MaarPlanEdge));
}

static void do_get_edges(struct growth* growth, uint32_t index)
{
    const struct plans* plans = growth->state;
    uint32_t count = UINT32_MAX;
    (void)index;
    GROWTH_EXPECT(maarGetPlanEdges(plans->plan, &count, growth->spare));
}

static void do_get_wrap_edges(struct growth* growth, uint32_t index)
{
    const struct plans* plans = growth->state;
    uint32_t count = UINT32_MAX;
    (void)index;
    GROWTH_EXPECT(maarGetPlanWrapEdges(plans->plan, &count, growth->spare));
}

/* ---- a cache of n plans ---- */

enum { FEW = 16 };

/* Inputs with other numbers are other inputs, but planning takes the same steps. */
static MaarPlan create_small(struct growth* growth, uint32_t number)
{
    struct plans* plans = growth->state;
    MaarPlan plan = NULL;
    plans->info.nodeLimit = UINT32_MAX + (uint64_t)number;
    GROWTH_EXPECT(maarCreatePlan(&plans->info, &plan));
    return plan;
}

static void open_cache(struct growth* growth)
{
    const MaarPlanCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO,
        .maxPlanCount = growth->n,
    };
    const uint32_t n = growth->n;
    growth->n = FEW;
    open_greedy(growth);
    growth->n = n;
    struct plans* plans = growth->state;
    GROWTH_EXPECT(maarCreatePlanCache(&info, &plans->cache));
    plans->info.cache = plans->cache;
    for (uint32_t i = 0; i < n; ++i) {
        maarDestroyPlan(create_small(growth, i));
    }
}

static void do_find_plan(struct growth* growth, uint32_t index)
{
    (void)index;
    maarDestroyPlan(create_small(growth, growth_pick(growth)));
}

static void do_add_plan(struct growth* growth, uint32_t index)
{
    (void)index;
    maarDestroyPlan(create_small(growth, growth->n + (uint32_t)growth->serial++));
}

static void do_create_cache(struct growth* growth, uint32_t index)
{
    const MaarPlanCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO,
        .maxPlanCount = growth->n,
    };
    MaarPlanCache cache = NULL;
    (void)index;
    GROWTH_EXPECT(maarCreatePlanCache(&info, &cache));
    maarDestroyPlanCache(cache);
}

static void reopen_cache(struct growth* growth)
{
    free(growth->state);
    free(growth->spare);
    open_cache(growth);
}

static void open_nothing(struct growth* growth)
{
    growth->state = bench_allocate(1, sizeof(struct plans));
}

static void do_destroy_cache(struct growth* growth, uint32_t index)
{
    struct plans* plans = growth->state;
    (void)index;
    maarDestroyPlanCache(plans->cache);
    plans->cache = NULL;
}

#define PLANS(case_name, function, how, least, text, world, before, does, after)                   \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = least,      \
        .count = 64, .open = open_##world, .prepare = before, .operation = does, .tidy = after,    \
        .close = close_plan                                                                        \
    }

const struct growth_case growth_plan_cases[] = {
    PLANS("create-plan-greedy", "maarCreatePlan", GROWTH_OVER, 250, "resources, greedy orders",
          greedy, NULL, do_create, destroy),
    PLANS("create-plan-search", "maarCreatePlan", GROWTH_OVER, 250,
          "resources, search of 1000 nodes", search, NULL, do_create, destroy),
    PLANS("create-plan-edges", "maarCreatePlan", GROWTH_OVER, 64,
          "resources, with the second stage", edge_stage, NULL, do_create, destroy),
    PLANS("create-plan-queues", "maarCreatePlan", GROWTH_OVER, 64,
          "resources, passes of two queues and dependencies", queues, NULL, do_create, destroy),
    PLANS("create-plan-previous", "maarCreatePlan", GROWTH_OVER, 250,
          "resources of an earlier plan too", previous, NULL, do_create_again, NULL),
    PLANS("create-plan-cached", "maarCreatePlan", GROWTH_OVER, 250, "resources; the plan is cached",
          cached, NULL, do_create_again, NULL),
    PLANS("destroy-plan", "maarDestroyPlan", GROWTH_OVER, 250, "resources", greedy, create,
          do_destroy, NULL),
    PLANS("plan-info", "maarGetPlanInfo", GROWTH_BESIDE, 250, "resources", plan, NULL, do_get_info,
          NULL),
    PLANS("plan-classes", "maarGetPlanClasses", GROWTH_BESIDE, 250, "resources of one class", plan,
          NULL, do_get_classes, NULL),
    PLANS("plan-placements", "maarGetPlanPlacements", GROWTH_OVER, 250, "resources", plan, NULL,
          do_get_placements, NULL),
    PLANS("plan-edges", "maarGetPlanEdges", GROWTH_OVER, 250, "resources", edges, NULL,
          do_get_edges, NULL),
    PLANS("plan-wrap-edges", "maarGetPlanWrapEdges", GROWTH_OVER, 250, "resources", edges, NULL,
          do_get_wrap_edges, NULL),
    PLANS("find-plan", "maarCreatePlan maarDestroyPlan", GROWTH_BESIDE, 256, "plans in the cache",
          cache, NULL, do_find_plan, NULL),
    PLANS("add-plan", "maarCreatePlan maarDestroyPlan", GROWTH_BESIDE, 256,
          "plans in the cache; the oldest gives way", cache, NULL, do_add_plan, NULL),
    PLANS("create-plan-cache", "maarCreatePlanCache maarDestroyPlanCache", GROWTH_OVER, 256,
          "plans that the cache may keep", nothing, NULL, do_create_cache, NULL),
    PLANS("destroy-plan-cache", "maarDestroyPlanCache", GROWTH_OVER, 256, "plans in the cache",
          nothing, reopen_cache, do_destroy_cache, NULL),
    {.name = NULL},
};
