/*
 * Plans with many queues, or with resources of very many uses: they end soon and are right. Work
 * that grew with the product of uses, or of queues and resources, would take minutes here.
 */
#include "tests/plan/plan_checker.h"
#include "tests/rig/rig.h"

#include "maar/plan.h"

#include <time.h>

enum {
    USES = 20000,
    MANY = 4097, /* resources, too many to compare all pairs */
    HOLDERS = 20,
    QUEUES = 1024,
    PATIENCE_MS = 5000, /* sanitizers take ten times as long as other builds */
};

static const MaarPlanCreateInfo common = {
    .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
    .flags = MAAR_PLAN_CREATE_GREEDY_BIT,
};

/* Makes a plan, and reads all of it. */
static void plan_it(const MaarPlanCreateInfo* info, struct plan_answer* answer)
{
    MaarPlan plan = VK_NULL_HANDLE;
    *answer = (struct plan_answer){.class_count = 0};
    assert_int_equal(maarCreatePlan(info, &plan), VK_SUCCESS);
    assert_true(plan_answer_read(plan, answer));
    maarDestroyPlan(plan);
}

/* Passes on two queues in turn, each after the one before. */
struct strand {
    uint32_t queues[MAAR_PLAN_MAX_PASSES];
    MaarPlanDependency dependencies[MAAR_PLAN_MAX_PASSES];
    MaarPlanCreateInfo info;
};

static struct strand* make_strand(uint32_t passes, uint32_t queue_count)
{
    struct strand* strand = calloc(1, sizeof *strand);
    assert_non_null(strand);
    for (uint32_t p = 0; p < passes; ++p) {
        strand->queues[p] = p % queue_count;
        strand->dependencies[p] = (MaarPlanDependency){p, p + 1};
    }
    strand->info = common;
    strand->info.passCount = passes;
    strand->info.pPassQueues = strand->queues;
    strand->info.dependencyCount = passes - 1;
    strand->info.pDependencies = strand->dependencies;
    return strand;
}

static void uses_listed_again_cost_nothing(void** state)
{
    (void)state;
    static uint32_t uses[2][USES];
    static struct plan_answer answer;
    struct strand* strand = make_strand(2 * USES, 2);
    const MaarPlanResource resources[2] = {
        {.size = 100, .useCount = USES, .pUses = uses[0]},
        {.size = 100, .useCount = USES, .pUses = uses[1]},
    };
    strand->info.resourceCount = 2;
    strand->info.pResources = resources;
    /* The last uses of the one are on queue 1; the first use of the other is on either. */
    for (uint32_t first = 2; first < 4; ++first) {
        for (uint32_t k = 0; k < USES; ++k) {
            uses[0][k] = 1;
            uses[1][k] = first + (USES - 1 - k);
        }
        plan_it(&strand->info, &answer);
        assert_int_equal(answer.edge_count, 1);
        assert_int_equal(answer.edges[0].before, 0);
        assert_int_equal(answer.edges[0].crossQueue, first % 2 == 1 ? VK_FALSE : VK_TRUE);
        assert_int_equal(answer.wrap_edge_count, 1);
        plan_answer_release(&answer);
    }
    free(strand);
}

static void fixed_resources_with_many_uses_are_compared_soon(void** state)
{
    (void)state;
    static uint32_t uses[HOLDERS][USES];
    static MaarPlanResource resources[MANY];
    static struct plan_answer answer;
    static const uint32_t once = 0;
    const uint32_t step = 3000;
    struct strand* strand = make_strand(HOLDERS * step, 2);
    for (uint32_t i = 0; i < MANY; ++i) {
        resources[i] = (MaarPlanResource){.size = 1, .useCount = 1, .pUses = &once};
    }
    for (uint32_t i = 0; i < HOLDERS; ++i) {
        for (uint32_t k = 0; k < USES; ++k) {
            uses[i][k] = i * step + (USES - 1 - k) % step;
        }
        resources[i] = (MaarPlanResource){.size = 100,
                                          .flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT,
                                          .useCount = USES,
                                          .pUses = uses[i]};
    }
    strand->info.resourceCount = MANY;
    strand->info.pResources = resources;
    plan_it(&strand->info, &answer);
    assert_int_equal(answer.edge_count, HOLDERS - 1);
    for (uint32_t i = 0; i + 1 < HOLDERS; ++i) {
        assert_int_equal(answer.edges[i].before, i);
        assert_int_equal(answer.edges[i].after, i + 1);
        assert_int_equal(answer.edges[i].crossQueue, VK_TRUE);
    }
    plan_answer_release(&answer);
    free(strand);
}

static VkBool32 VKAPI_PTR cancel_at_once(void* user_data)
{
    ++*(uint32_t*)user_data;
    return VK_TRUE;
}

/* As many queues as have clocks, and more. */
static void many_queues_keep_the_limits(void** state)
{
    (void)state;
    static uint32_t uses[MAAR_PLAN_MAX_RESOURCES];
    static MaarPlanResource resources[MAAR_PLAN_MAX_RESOURCES];
    static struct plan_answer answer;
    struct rig_random random = {rig_seed(73)};
    for (uint32_t queues = QUEUES; queues <= 4 * QUEUES; queues *= 2) {
        struct strand* strand = make_strand(4 * QUEUES, queues);
        uint32_t asked = 0;
        strand->info.dependencyCount /= 2;
        strand->info.resourceCount = MAAR_PLAN_MAX_RESOURCES;
        strand->info.pResources = resources;
        strand->info.pfnCancel = cancel_at_once;
        strand->info.pCancelUserData = &asked;
        for (uint32_t i = 0; i < MAAR_PLAN_MAX_RESOURCES; ++i) {
            uses[i] = rig_below(&random, 4 * QUEUES);
            resources[i] = (MaarPlanResource){
                .size = 1 + rig_below(&random, 100), .useCount = 1, .pUses = &uses[i]};
        }
        const clock_t began = clock();
        plan_it(&strand->info, &answer);
        const uint64_t ms = (uint64_t)(clock() - began) * 1000 / CLOCKS_PER_SEC;
        assert_in_range(ms, 0, PATIENCE_MS);
        assert_int_equal(asked, 1);
        plan_answer_release(&answer);
        free(strand);
    }
}

static void one_queue_for_each_pass_ends(void** state)
{
    (void)state;
    static uint32_t uses[4 * QUEUES];
    static MaarPlanResource resources[4 * QUEUES];
    static struct plan_answer answer;
    struct strand* strand = make_strand(4 * QUEUES, 4 * QUEUES);
    strand->info.resourceCount = 4 * QUEUES;
    strand->info.pResources = resources;
    for (uint32_t i = 0; i < 4 * QUEUES; ++i) {
        uses[i] = i;
        resources[i] = (MaarPlanResource){.size = 4, .useCount = 1, .pUses = &uses[i]};
    }
    plan_it(&strand->info, &answer);
    assert_int_equal(answer.info.peakSize, 4);
    assert_int_equal(answer.info.crossQueueEdgeCount, 4 * QUEUES - 1);
    plan_answer_release(&answer);
    free(strand);
}

/* The order of one queue holds however many queues there are. */
static void order_of_a_queue_is_known_among_many(void** state)
{
    (void)state;
    static const uint32_t uses[2] = {1, 300};
    static struct plan_answer answer;
    struct strand* strand = make_strand(MAAR_PLAN_MAX_PASSES, 1);
    for (uint32_t p = 0; p < MAAR_PLAN_MAX_PASSES; ++p) {
        strand->queues[p] = p < 257 ? p : 0;
    }
    strand->queues[300] = 1;
    const MaarPlanResource resources[2] = {
        {.size = 100,
         .flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT,
         .useCount = 1,
         .pUses = &uses[0]},
        {.size = 100,
         .flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT,
         .useCount = 1,
         .pUses = &uses[1]},
    };
    strand->info.dependencyCount = 0;
    strand->info.resourceCount = 2;
    strand->info.pResources = resources;
    plan_it(&strand->info, &answer);
    assert_int_equal(answer.info.peakSize, 100);
    assert_int_equal(answer.edge_count, 1);
    assert_int_equal(answer.edges[0].before, 0);
    assert_int_equal(answer.edges[0].crossQueue, VK_FALSE);
    plan_answer_release(&answer);
    free(strand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uses_listed_again_cost_nothing),
        cmocka_unit_test(fixed_resources_with_many_uses_are_compared_soon),
        cmocka_unit_test(many_queues_keep_the_limits),
        cmocka_unit_test(one_queue_for_each_pass_ends),
        cmocka_unit_test(order_of_a_queue_is_known_among_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
