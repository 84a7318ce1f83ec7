/*
 * Plans on several queues whose exact order was too much work: more resources than it is made for,
 * too many passes for its clocks, or too little host memory. They keep apart what may share bytes,
 * so they prove less; what they do prove is true.
 */
#include "tests/fault/fault_host.h"
#include "tests/rig/rig.h"

#include "maar/plan.h"

enum { SIZE = 100, IDLE_PASSES = 12, PASSES = 20, MOST = 4097 };

/* Each resource has one use, on a pass of queue 1. No two passes of the queues are ordered. */
struct scattered {
    MaarPlanCreateInfo info;
    MaarPlanResource resources[MOST];
    uint32_t uses[MOST];
    uint32_t queues[PASSES];
};

static void scatter(struct scattered* it, uint32_t count)
{
    memset(it, 0, sizeof *it);
    it->info = (MaarPlanCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
        .resourceCount = count,
        .pResources = it->resources,
        .passCount = PASSES,
        .pPassQueues = it->queues,
        .granularity = 1,
    };
    for (uint32_t p = 0; p < PASSES; ++p) {
        it->queues[p] = p < IDLE_PASSES ? 0 : 1;
    }
    for (uint32_t i = 0; i < count; ++i) {
        it->uses[i] = IDLE_PASSES + i % (PASSES - IDLE_PASSES);
        it->resources[i] =
            (MaarPlanResource){.size = SIZE, .alignment = 1, .useCount = 1, .pUses = &it->uses[i]};
    }
}

/* As many bytes as the busiest pass uses. */
static uint64_t least_peak(uint32_t count)
{
    const uint32_t passes = PASSES - IDLE_PASSES;
    return (uint64_t)SIZE * ((count + passes - 1) / passes);
}

static MaarPlanInfo plan_of(const MaarPlanCreateInfo* info)
{
    MaarPlanInfo figures = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    MaarPlan plan = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePlan(info, &plan), VK_SUCCESS);
    assert_int_equal(maarGetPlanInfo(plan, &figures), VK_SUCCESS);
    maarDestroyPlan(plan);
    return figures;
}

static void more_resources_than_are_ordered_prove_nothing_false(void** state)
{
    static struct scattered it;
    (void)state;
    scatter(&it, MOST);
    MaarPlanInfo figures = plan_of(&it.info);
    assert_int_equal(figures.lowerBound, least_peak(MOST));
    assert_int_equal(figures.provedBound, least_peak(MOST));
    assert_int_equal(figures.provedOptimal, figures.peakSize == figures.provedBound);
    assert_int_equal(figures.stop, figures.provedOptimal == VK_TRUE ? MAAR_PLAN_STOP_DONE
                                                                    : MAAR_PLAN_STOP_GREEDY);
    it.info.capacity = least_peak(MOST) + SIZE;
    figures = plan_of(&it.info);
    assert_true(figures.fit != MAAR_PLAN_FIT_NO);
    it.info.capacity = least_peak(MOST) - 1;
    assert_int_equal(plan_of(&it.info).fit, MAAR_PLAN_FIT_NO);
}

/* Whichever host allocation fails, no bound lies above a peak that there is. */
static void plans_short_of_memory_prove_nothing_false(void** state)
{
    static struct scattered it;
    struct fault_host host;
    (void)state;
    scatter(&it, 600);
    it.info.nodeLimit = 2000;
    const uint64_t peak = plan_of(&it.info).peakSize;
    assert_int_equal(peak, least_peak(600));
    struct rig* const rig = rig_begin(NULL);
    fault_host_init(&host, &rig->host_callbacks);
    it.info.pAllocationCallbacks = &host.callbacks;
    for (uint64_t call = 1, struck = 1; struck != 0; ++call) {
        MaarPlanInfo figures = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
        MaarPlan plan = VK_NULL_HANDLE;
        fault_host_arm(&host, call, 1);
        const VkResult result = maarCreatePlan(&it.info, &plan);
        struck = fault_host_disarm(&host);
        if (result == VK_SUCCESS) {
            assert_int_equal(maarGetPlanInfo(plan, &figures), VK_SUCCESS);
            assert_in_range(figures.provedBound, figures.lowerBound, peak);
            assert_true(figures.provedOptimal == VK_FALSE || figures.peakSize == peak);
        } else {
            assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
        }
        maarDestroyPlan(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_resources_than_are_ordered_prove_nothing_false),
        rig_unit_test(plans_short_of_memory_prove_nothing_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
