/*
 * The edges of classes that mix kinds: they suffice, and there are few of them, however small the
 * resources are.
 */
#include "tests/plan/plan_checker.h"
#include "tests/rig/rig.h"

#include "maar/plan.h"

enum {
    FEW = 24, /* resources that are looked at */
    OTHERS =
        600, /* resources of a class of their own, which make the plan too large for all pairs */
    PASSES = 12,
    GRANULE = 64,
    MANY = 32768, /* small resources */
};

static VkBool32 VKAPI_PTR cancel_at_once(void* user_data)
{
    (void)user_data;
    return VK_TRUE;
}

/* ---- small resources of several kinds, on one queue and on several ---- */

struct scene {
    MaarPlanResource resources[FEW + OTHERS];
    uint32_t uses[FEW + OTHERS][3];
    uint32_t queues[PASSES];
    MaarPlanDependency dependencies[PASSES];
    MaarPlanCreateInfo info;
};

static void fill_scene(struct scene* scene, struct rig_random* random, uint32_t queue_count)
{
    *scene = (struct scene){.info = {
                                .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                .flags = MAAR_PLAN_CREATE_GREEDY_BIT,
                                .resourceCount = FEW,
                                .passCount = PASSES,
                                .granularity = GRANULE,
                            }};
    scene->info.pResources = scene->resources;
    const uint32_t kinds = 2 + rig_below(random, 2);
    const uint32_t largest = rig_below(random, 2) == 0 ? 20 : 3 * GRANULE;
    for (uint32_t p = 0; p < PASSES; ++p) {
        scene->queues[p] = rig_below(random, queue_count);
        if (p + 2 < PASSES && rig_below(random, 3) > 0) {
            scene->dependencies[scene->info.dependencyCount++] =
                (MaarPlanDependency){.before = p, .after = p + 1 + rig_below(random, 2)};
        }
    }
    scene->info.pPassQueues = queue_count > 1 ? scene->queues : NULL;
    scene->info.pDependencies = scene->dependencies;
    for (uint32_t i = 0; i < FEW + OTHERS; ++i) {
        MaarPlanResource* resource = &scene->resources[i];
        const uint32_t first = rig_below(random, PASSES);
        for (uint32_t k = 0; k < 3; ++k) {
            const uint32_t pass = first + rig_below(random, 3);
            scene->uses[i][k] = i < FEW && pass < PASSES ? pass : first;
        }
        *resource = (MaarPlanResource){
            .size = i < FEW ? 1 + rig_below(random, largest) : 1,
            .memoryTypeBits = i < FEW ? 1 : 2,
            .kind =
                i < FEW ? (MaarResourceKind)rig_below(random, kinds) : MAAR_RESOURCE_KIND_LINEAR,
            .useCount = 1 + rig_below(random, 3),
            .pUses = scene->uses[i],
        };
    }
}

/* Plans, checks, and returns where each resource lies. */
static void plan_and_check(const struct scene* scene, uint64_t* offsets)
{
    static char reason[256];
    struct plan_answer answer = {.class_count = 0};
    MaarPlan plan = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePlan(&scene->info, &plan), VK_SUCCESS);
    assert_true(plan_answer_read(plan, &answer));
    if (!plan_check(&scene->info, &answer, reason, sizeof reason)) {
        fail_msg("%s", reason);
    }
    for (uint32_t i = 0; i < scene->info.resourceCount; ++i) {
        offsets[i] = answer.placements[i].offset;
    }
    plan_answer_release(&answer);
    maarDestroyPlan(plan);
}

static void fix_some(struct scene* scene, const uint64_t* offsets, struct rig_random* random)
{
    for (uint32_t i = 0; i < FEW; ++i) {
        if (rig_below(random, 4) != 0) {
            scene->resources[i].flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT;
            scene->resources[i].fixedOffset = offsets[i];
        }
    }
}

static void mixed_edges_suffice(void** state)
{
    (void)state;
    static struct scene scene;
    static uint64_t offsets[FEW + OTHERS];
    struct rig_random random = {rig_seed(71)};
    for (uint32_t round = 0; round < 300; ++round) {
        fill_scene(&scene, &random, 1 + round % 3);
        plan_and_check(&scene, offsets);
        fix_some(&scene, offsets, &random);
        plan_and_check(&scene, offsets);
    }
}

/* With many resources and no time, intervals take the place of the order of several queues. The
 * order of fixed offsets is more than intervals know. */
static void mixed_edges_of_fixed_offsets_suffice_without_time(void** state)
{
    (void)state;
    static struct scene scene;
    static uint64_t offsets[FEW + OTHERS];
    struct rig_random random = {rig_seed(72)};
    for (uint32_t round = 0; round < 40; ++round) {
        fill_scene(&scene, &random, 2 + round % 2);
        plan_and_check(&scene, offsets);
        fix_some(&scene, offsets, &random);
        scene.info.resourceCount = FEW + OTHERS;
        scene.info.pfnCancel = cancel_at_once;
        plan_and_check(&scene, offsets);
    }
}

/* ---- very many resources that share granules ---- */

struct figures {
    VkResult result;
    MaarPlanInfo info;
};

static struct figures plan_many(const MaarPlanResource* resources, uint32_t count,
                                uint64_t granularity, uint64_t time_limit_ns)
{
    struct figures figures = {.info.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    const MaarPlanCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
        .flags = MAAR_PLAN_CREATE_GREEDY_BIT,
        .resourceCount = count,
        .pResources = resources,
        .granularity = granularity,
        .timeLimit_ns = time_limit_ns,
    };
    MaarPlan plan = VK_NULL_HANDLE;
    figures.result = maarCreatePlan(&info, &plan);
    if (figures.result == VK_SUCCESS) {
        assert_int_equal(maarGetPlanInfo(plan, &figures.info), VK_SUCCESS);
        maarDestroyPlan(plan);
    }
    return figures;
}

static void buffers_of_one_granule_have_few_edges(void** state)
{
    (void)state;
    static MaarPlanResource resources[MANY];
    for (uint32_t passes = 1; passes <= 2; ++passes) {
        resources[0] = (MaarPlanResource){
            .size = 1 << 20, .alignment = 4096, .kind = MAAR_RESOURCE_KIND_OPTIMAL};
        for (uint32_t i = 1; i < MANY; ++i) {
            resources[i] = (MaarPlanResource){.size = 256,
                                              .alignment = 256,
                                              .kind = MAAR_RESOURCE_KIND_LINEAR,
                                              .firstPass = i % passes,
                                              .lastPass = i % passes};
        }
        const struct figures figures = plan_many(resources, MANY, 65536, 0);
        assert_int_equal(figures.result, VK_SUCCESS);
        assert_in_range(figures.info.edgeCount, (passes - 1) * 10000, 3 * MANY);
        assert_in_range(figures.info.wrapEdgeCount, 10000, 3 * MANY);
    }
}

static void granules_as_large_as_the_class_have_few_edges(void** state)
{
    (void)state;
    static MaarPlanResource resources[30000];
    for (uint32_t i = 0; i < 30000; ++i) {
        resources[i] = (MaarPlanResource){
            .size = 1, .kind = i % 2 == 0 ? MAAR_RESOURCE_KIND_LINEAR : MAAR_RESOURCE_KIND_OPTIMAL};
    }
    const struct figures figures = plan_many(resources, 30000, (uint64_t)1 << 40, 0);
    assert_int_equal(figures.result, VK_SUCCESS);
    assert_int_equal(figures.info.edgeCount, 0);
    assert_int_equal(figures.info.wrapEdgeCount, 30000);
}

/* Three groups, one after another, of which the middle one lies on the granule below: where it
 * ends, the first group meets the last one. */
static void fixed_groups_have_few_edges(void** state)
{
    (void)state;
    enum { GROUP = 250 };
    static MaarPlanResource resources[3 * GROUP + 1];
    for (uint32_t i = 0; i < 3 * GROUP; ++i) {
        const uint32_t group = i / GROUP;
        resources[i] = (MaarPlanResource){
            .size = 4,
            .alignment = 4,
            .kind = MAAR_RESOURCE_KIND_LINEAR,
            .flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT,
            .firstPass = group,
            .lastPass = group,
            .fixedOffset = (group == 1 ? 0 : 65536) + (uint64_t)(i % GROUP) * 4,
        };
    }
    resources[3 * GROUP] =
        (MaarPlanResource){.size = 65536, .alignment = 65536, .kind = MAAR_RESOURCE_KIND_OPTIMAL};
    const struct figures figures = plan_many(resources, 3 * GROUP + 1, 65536, 1);
    assert_int_equal(figures.result, VK_SUCCESS);
    assert_in_range(figures.info.edgeCount, GROUP, 9 * GROUP);
    assert_in_range(figures.info.wrapEdgeCount, GROUP, 9 * GROUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_edges_suffice),
        cmocka_unit_test(mixed_edges_of_fixed_offsets_suffice_without_time),
        cmocka_unit_test(buffers_of_one_granule_have_few_edges),
        cmocka_unit_test(granules_as_large_as_the_class_have_few_edges),
        cmocka_unit_test(fixed_groups_have_few_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
