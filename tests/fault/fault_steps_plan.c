/*
 * Steps: the planner, which takes host memory alone.
 */
#include "tests/fault/fault_steps.h"

enum { PLANNED = 12 };

static MaarPlanCreateInfo plan_info(struct fault_context* c, MaarPlanResource* resources)
{
    for (uint32_t i = 0; i < PLANNED; ++i) {
        resources[i] = (MaarPlanResource){
            .size = 1000 + i * 700,
            .kind = MAAR_RESOURCE_KIND_OPTIMAL,
            .firstPass = i / 2,
            .lastPass = i / 2 + i % 4,
        };
    }
    return (MaarPlanCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
        .resourceCount = PLANNED,
        .pResources = resources,
        .cache = c->plan_cache,
        .pAllocationCallbacks = &c->host.callbacks,
    };
}

static VkResult run_plan(struct fault_context* c)
{
    MaarPlanResource resources[PLANNED];
    const MaarPlanCreateInfo info = plan_info(c, resources);
    c->plan = (MaarPlan)(uintptr_t)1;
    VkResult result = maarCreatePlan(&info, &c->plan);
    assert_true((result == VK_SUCCESS) == (c->plan != VK_NULL_HANDLE));
    return result;
}

static void undo_plan(struct fault_context* c)
{
    maarDestroyPlan(c->plan);
    c->plan = VK_NULL_HANDLE;
}

static void prepare_plan(struct fault_context* c)
{
    assert_int_equal(run_plan(c), VK_SUCCESS);
}

static VkResult run_destroy_plan(struct fault_context* c)
{
    undo_plan(c);
    return VK_SUCCESS;
}

static VkResult run_cache(struct fault_context* c)
{
    const MaarPlanCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO,
        .pAllocationCallbacks = &c->host.callbacks,
    };
    c->plan_cache = (MaarPlanCache)(uintptr_t)1;
    VkResult result = maarCreatePlanCache(&info, &c->plan_cache);
    assert_true((result == VK_SUCCESS) == (c->plan_cache != VK_NULL_HANDLE));
    return result;
}

static void undo_cache(struct fault_context* c)
{
    maarDestroyPlanCache(c->plan_cache);
    c->plan_cache = VK_NULL_HANDLE;
}

static void prepare_cache(struct fault_context* c)
{
    assert_int_equal(run_cache(c), VK_SUCCESS);
}

static VkResult run_destroy_cache(struct fault_context* c)
{
    undo_cache(c);
    return VK_SUCCESS;
}

static VkResult run_plan_info(struct fault_context* c)
{
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    return maarGetPlanInfo(c->plan, &info);
}

static VkResult run_classes(struct fault_context* c)
{
    uint32_t count = 0;
    return maarGetPlanClasses(c->plan, &count, NULL);
}

static VkResult run_placements(struct fault_context* c)
{
    MaarPlanPlacement placements[PLANNED];
    uint32_t count = PLANNED;
    return maarGetPlanPlacements(c->plan, &count, placements);
}

static VkResult run_edges(struct fault_context* c)
{
    uint32_t count = 0;
    return maarGetPlanEdges(c->plan, &count, NULL);
}

static VkResult run_wrap_edges(struct fault_context* c)
{
    uint32_t count = 0;
    return maarGetPlanWrapEdges(c->plan, &count, NULL);
}

static const char gives_back[] = "gives back host memory";
static const char reads_plans[] = "reads what is kept";

static const struct fault_step steps[] = {
    {.function = "maarCreatePlan", .run = run_plan, .undo = undo_plan},
    {.function = "maarCreatePlan",
     .variant = "with a cache",
     .prepare = prepare_cache,
     .run = run_plan,
     .undo = undo_plan,
     .finish = undo_cache},
    {.function = "maarDestroyPlan",
     .never = gives_back,
     .prepare = prepare_plan,
     .run = run_destroy_plan},
    {.function = "maarCreatePlanCache", .run = run_cache, .undo = undo_cache},
    {.function = "maarDestroyPlanCache",
     .never = gives_back,
     .prepare = prepare_cache,
     .run = run_destroy_cache},
    {.function = "maarGetPlanInfo",
     .never = reads_plans,
     .prepare = prepare_plan,
     .run = run_plan_info,
     .finish = undo_plan},
    {.function = "maarGetPlanClasses",
     .never = reads_plans,
     .prepare = prepare_plan,
     .run = run_classes,
     .finish = undo_plan},
    {.function = "maarGetPlanPlacements",
     .never = reads_plans,
     .prepare = prepare_plan,
     .run = run_placements,
     .finish = undo_plan},
    {.function = "maarGetPlanEdges",
     .never = reads_plans,
     .prepare = prepare_plan,
     .run = run_edges,
     .finish = undo_plan},
    {.function = "maarGetPlanWrapEdges",
     .never = reads_plans,
     .prepare = prepare_plan,
     .run = run_wrap_edges,
     .finish = undo_plan},
};

const struct fault_table fault_plan_steps = {steps, sizeof steps / sizeof steps[0]};
