/*
 * Plans that are cut short: by nodes, time, cancellation and host memory. What is returned is right
 * all the same, and nothing leaks.
 */
#include "core/port_time.h"
#include "tests/fault/fault_host.h"
#include "tests/plan/plan_checker.h"
#include "tests/plan/plan_made.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HARD_COUNT = 160, HARD_PASSES = 40, MANY_COUNT = 600, FOLLOWING_COUNT = 30 };

/* Random intervals, too many for their least peak to be found quickly; alignments
 * ensure that the lower bound is not reached. */
static void fill_drawn(MaarPlanResource* resources, uint32_t count, uint64_t seed,
                       MaarPlanCreateInfo* info)
{
    uint64_t state = seed;
    const struct plan_source source = plan_source_seeded(&state);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t first = (uint32_t)source.draw(source.context, HARD_PASSES);
        const uint32_t last = first + (uint32_t)source.draw(source.context, 16);
        resources[i] =
            (MaarPlanResource){.size = 100 + source.draw(source.context, 900),
                               .alignment = (uint64_t)1 << source.draw(source.context, 5),
                               .firstPass = first,
                               .lastPass = last < HARD_PASSES ? last : HARD_PASSES - 1};
    }
    *info = (MaarPlanCreateInfo){.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                 .resourceCount = count,
                                 .pResources = resources,
                                 .nodeLimit = UINT64_MAX};
}

static void fill_hard_many(MaarPlanResource* resources, uint32_t count, MaarPlanCreateInfo* info)
{
    fill_drawn(resources, count, 88172645463325252u, info);
}

static void fill_hard(MaarPlanResource* resources, MaarPlanCreateInfo* info)
{
    fill_hard_many(resources, HARD_COUNT, info);
}

/* Plans and checks; the caller releases the answer. */
static void plan_limited(const MaarPlanCreateInfo* info, struct plan_answer* answer)
{
    char reason[256] = "";
    MaarPlan plan = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePlan(info, &plan), VK_SUCCESS);
    assert_true(plan_answer_read(plan, answer));
    maarDestroyPlan(plan);
    const bool good = plan_check(info, answer, reason, sizeof(reason));
    assert_string_equal(reason, "");
    assert_true(good);
}

static void plan_node_limit_gives_the_same_again(void** state)
{
    (void)state;
    static const uint64_t limits[] = {1, 10, 1000, 30000};
    MaarPlanResource resources[HARD_COUNT];
    MaarPlanCreateInfo info;
    fill_hard(resources, &info);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); ++i) {
        struct plan_answer one;
        struct plan_answer two;
        info.nodeLimit = limits[i];
        plan_limited(&info, &one);
        plan_limited(&info, &two);
        assert_true(one.info.nodeCount <= limits[i]);
        assert_int_equal(one.info.nodeCount, two.info.nodeCount);
        assert_int_equal(one.info.peakSize, two.info.peakSize);
        assert_int_equal(one.info.stop, MAAR_PLAN_STOP_NODE_LIMIT);
        assert_true(one.info.nodeCount >= limits[i] / 2);
        for (uint32_t j = 0; j < HARD_COUNT; ++j) {
            assert_int_equal(one.placements[j].offset, two.placements[j].offset);
        }
        plan_answer_release(&one);
        plan_answer_release(&two);
    }
}

static double now_ms(void)
{
    return (double)maar_now_ns() / 1e6;
}

static void plan_time_limit_is_kept(void** state)
{
    (void)state;
    MaarPlanResource resources[HARD_COUNT];
    MaarPlanCreateInfo info;
    struct plan_answer answer;
    fill_hard(resources, &info);
    info.timeLimit_ns = 30000000;
    info.flags = MAAR_PLAN_CREATE_KEEP_EDGES_BIT;
    const double start = now_ms();
    MaarPlan plan = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePlan(&info, &plan), VK_SUCCESS);
    const double took = now_ms() - start;
    maarDestroyPlan(plan);
    plan_limited(&info, &answer);
    assert_int_equal(answer.info.stop, MAAR_PLAN_STOP_TIME_LIMIT);
    plan_answer_release(&answer);
    assert_true(took < 2000.0); /* machines are busy, and sanitizers slow */
}

static VkBool32 VKAPI_PTR cancel_later(void* user_data)
{
    uint32_t* const left = user_data;
    *left -= *left != 0 ? 1 : 0;
    return *left == 0 ? VK_TRUE : VK_FALSE;
}

static void plan_cancelled_keeps_the_best(void** state)
{
    (void)state;
    MaarPlanResource resources[HARD_COUNT];
    MaarPlanCreateInfo info;
    fill_hard(resources, &info);
    info.pfnCancel = cancel_later;
    for (uint32_t calls = 1; calls < 40; calls += 13) {
        struct plan_answer answer;
        uint32_t left = calls;
        info.pCancelUserData = &left;
        plan_limited(&info, &answer);
        assert_int_equal(answer.info.stop, MAAR_PLAN_STOP_CANCELLED);
        plan_answer_release(&answer);
    }
}

static VkBool32 VKAPI_PTR cancel_at_once(void* user_data)
{
    *(uint32_t*)user_data += 1;
    return VK_TRUE;
}

/* One quick order has to do, and nothing is asked again: on one queue and on several. */
static void plan_cancelled_at_once_takes_one_order(void** state)
{
    (void)state;
    MaarPlanResource resources[HARD_COUNT];
    uint32_t uses[HARD_COUNT][2];
    uint32_t queues[HARD_PASSES];
    MaarPlanCreateInfo info;
    fill_hard(resources, &info);
    info.flags = MAAR_PLAN_CREATE_GREEDY_BIT;
    for (uint32_t queue_count = 1; queue_count <= 3; queue_count += 2) {
        struct plan_answer patient;
        struct plan_answer cancelled;
        uint32_t asked = 0;
        info.pfnCancel = NULL;
        plan_limited(&info, &patient);
        info.pfnCancel = cancel_at_once;
        info.pCancelUserData = &asked;
        plan_limited(&info, &cancelled);
        assert_int_equal(cancelled.info.stop, MAAR_PLAN_STOP_CANCELLED);
        assert_true(cancelled.info.greedySize > patient.info.greedySize);
        assert_int_equal(asked, 1);
        if (queue_count > 1) { /* nor are cliques made for a bound */
            assert_true(cancelled.info.lowerBound < patient.info.lowerBound);
        }
        plan_answer_release(&patient);
        plan_answer_release(&cancelled);
        for (uint32_t i = 0; i < HARD_COUNT; ++i) {
            uses[i][0] = resources[i].firstPass;
            uses[i][1] = resources[i].lastPass;
            resources[i].useCount = 2;
            resources[i].pUses = uses[i];
        }
        for (uint32_t i = 0; i < HARD_PASSES; ++i) {
            queues[i] = i / 5 % 3;
        }
        info.passCount = HARD_PASSES;
        info.pPassQueues = queues;
    }
}

struct single_answer {
    uint32_t asked;
    uint32_t yes_at; /* this question alone is answered with VK_TRUE */
};

static VkBool32 VKAPI_PTR cancel_once(void* user_data)
{
    struct single_answer* answer = user_data;
    return ++answer->asked == answer->yes_at ? VK_TRUE : VK_FALSE;
}

/* Whichever step the caller stops: nobody asks again, no later step begins, and another call does
 * not get the plan out of a cache. */
static void plan_cancelled_once_asks_no_more(void** state)
{
    (void)state;
    MaarPlanResource resources[HARD_COUNT];
    MaarPlanCreateInfo info;
    MaarPlan first = VK_NULL_HANDLE;
    uint32_t all = 0;
    const MaarPlanCacheCreateInfo cache_info = {.sType =
                                                    MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO};
    fill_hard(resources, &info);
    resources[0].memoryTypeBits = 1;
    resources[1].memoryTypeBits = 2;
    info.nodeLimit = 50000;
    assert_int_equal(maarCreatePlan(&info, &first), VK_SUCCESS);
    info.previous = first;
    info.pfnCancel = cancel_once;
    for (uint32_t i = 0; i < HARD_COUNT; i += 3) {
        resources[i].size += 256; /* some can stay, and others cannot */
    }
    for (uint32_t yes_at = 0; yes_at <= all; yes_at += 1 + all / 12) {
        struct single_answer answer = {.yes_at = yes_at};
        MaarPlanInfo figures = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
        MaarPlan plan = VK_NULL_HANDLE;
        info.pCancelUserData = &answer;
        assert_int_equal(maarCreatePlanCache(&cache_info, &info.cache), VK_SUCCESS);
        assert_int_equal(maarCreatePlan(&info, &plan), VK_SUCCESS);
        if (yes_at == 0) {
            all = answer.asked;
            assert_true(all > 10);
        } else {
            assert_int_equal(answer.asked, yes_at);
            maarDestroyPlan(plan);
            assert_int_equal(maarCreatePlan(&info, &plan), VK_SUCCESS);
            assert_int_equal(maarGetPlanInfo(plan, &figures), VK_SUCCESS);
            assert_true(figures.cached == VK_FALSE);
        }
        maarDestroyPlan(plan);
        maarDestroyPlanCache(info.cache);
        info.cache = VK_NULL_HANDLE;
    }
    maarDestroyPlan(first);
}

static VkBool32 VKAPI_PTR count_questions(void* user_data)
{
    *(uint32_t*)user_data += 1;
    return VK_FALSE;
}

/* Many resources that may stay where they were all stay, and the caller is asked meanwhile. */
static void plan_that_follows_keeps_many(void** state)
{
    (void)state;
    static MaarPlanResource resources[MANY_COUNT];
    MaarPlanCreateInfo info;
    MaarPlan plans[2];
    uint32_t asked[2] = {0, 0};
    MaarPlanInfo figures = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    fill_hard_many(resources, MANY_COUNT, &info);
    info.flags = MAAR_PLAN_CREATE_GREEDY_BIT | MAAR_PLAN_CREATE_KEEP_EDGES_BIT;
    info.pfnCancel = count_questions;
    for (uint32_t i = 0; i < 2; ++i) {
        info.pCancelUserData = &asked[i];
        info.previous = i == 0 ? VK_NULL_HANDLE : plans[0];
        assert_int_equal(maarCreatePlan(&info, &plans[i]), VK_SUCCESS);
    }
    assert_int_equal(maarGetPlanInfo(plans[1], &figures), VK_SUCCESS);
    assert_int_equal(figures.keptCount, MANY_COUNT);
    assert_true(asked[1] > asked[0]);
    maarDestroyPlan(plans[0]);
    maarDestroyPlan(plans[1]);
}

static void plan_greedy_searches_for_nothing(void** state)
{
    (void)state;
    MaarPlanResource resources[HARD_COUNT];
    MaarPlanCreateInfo info;
    struct plan_answer answer;
    fill_hard(resources, &info);
    info.flags = MAAR_PLAN_CREATE_GREEDY_BIT;
    plan_limited(&info, &answer);
    assert_int_equal(answer.info.nodeCount, 0);
    assert_int_equal(answer.info.peakSize, answer.info.greedySize);
    assert_int_equal(answer.info.stop, MAAR_PLAN_STOP_GREEDY);
    plan_answer_release(&answer);
}

/* What is neither found nor ruled out is neither promised nor refused. */
static void plan_between_bound_and_peak_is_undecided(void** state)
{
    (void)state;
    MaarPlanResource resources[HARD_COUNT];
    MaarPlanCreateInfo info;
    struct plan_answer answer;
    fill_hard(resources, &info);
    info.flags = MAAR_PLAN_CREATE_GREEDY_BIT;
    plan_limited(&info, &answer);
    const uint64_t bound = answer.info.provedBound;
    const uint64_t peak = answer.info.peakSize;
    plan_answer_release(&answer);
    assert_true(bound < peak);
    const uint64_t capacities[] = {bound - 1, bound, peak - 1, peak, UINT64_MAX - 1, UINT64_MAX};
    const MaarPlanFit fits[] = {MAAR_PLAN_FIT_NO,  MAAR_PLAN_FIT_UNDECIDED, MAAR_PLAN_FIT_UNDECIDED,
                                MAAR_PLAN_FIT_YES, MAAR_PLAN_FIT_YES,       MAAR_PLAN_FIT_YES};
    for (uint32_t i = 0; i < 6; ++i) {
        info.capacity = capacities[i];
        plan_limited(&info, &answer);
        assert_int_equal(answer.info.fit, fits[i]);
        plan_answer_release(&answer);
    }
}

/* Several classes share the nodes. */
static void plan_node_limit_is_for_all_classes(void** state)
{
    (void)state;
    static const uint64_t limits[] = {3, 100, 3000};
    MaarPlanResource resources[HARD_COUNT];
    MaarPlanCreateInfo info;
    struct plan_answer answer;
    fill_hard(resources, &info);
    for (uint32_t i = 0; i < HARD_COUNT; ++i) {
        resources[i].memoryTypeBits = 1u << i % 3;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        info.nodeLimit = limits[i];
        plan_limited(&info, &answer);
        assert_int_equal(answer.info.classCount, 3);
        assert_int_equal(answer.info.stop, MAAR_PLAN_STOP_NODE_LIMIT);
        assert_true(answer.info.nodeCount <= limits[i]);
        assert_true(answer.info.nodeCount > limits[i] / 2);
        plan_answer_release(&answer);
    }
}

static void plan_host_memory_limit_is_kept(void** state)
{
    (void)state;
    MaarPlanResource resources[HARD_COUNT];
    MaarPlanCreateInfo info;
    fill_hard(resources, &info);
    info.nodeLimit = 1000;
    bool failed = false;
    bool planned = false;
    for (size_t limit = 256; limit <= (size_t)1 << 24; limit *= 2) {
        MaarPlan plan = VK_NULL_HANDLE;
        info.hostMemoryLimit = limit;
        const VkResult result = maarCreatePlan(&info, &plan);
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_true(result == VK_SUCCESS || !planned);
        failed = failed || result != VK_SUCCESS;
        planned = result == VK_SUCCESS;
        maarDestroyPlan(plan);
        if (planned) {
            struct plan_answer answer;
            plan_limited(&info, &answer);
            plan_answer_release(&answer);
        }
    }
    assert_true(failed && planned);
}

/* Bytes alive and at most alive. */
struct meter {
    size_t alive, most;
};

static void* VKAPI_PTR meter_allocate(void* user_data, size_t size, size_t alignment,
                                      VkSystemAllocationScope scope)
{
    struct meter* const meter = user_data;
    (void)scope;
    assert_true(alignment <= 64);
    size_t* const memory = malloc(size + 64);
    assert_non_null(memory);
    memory[0] = size;
    meter->alive += size;
    meter->most = meter->alive > meter->most ? meter->alive : meter->most;
    return (char*)memory + 64;
}

static void VKAPI_PTR meter_free(void* user_data, void* memory)
{
    struct meter* const meter = user_data;
    if (memory != NULL) {
        size_t* const start = (size_t*)(void*)((char*)memory - 64);
        meter->alive -= start[0];
        free(start);
    }
}

static void* VKAPI_PTR meter_reallocate(void* user_data, void* original, size_t size,
                                        size_t alignment, VkSystemAllocationScope scope)
{
    void* const memory = size != 0 ? meter_allocate(user_data, size, alignment, scope) : NULL;
    if (memory != NULL && original != NULL) {
        const size_t old = *(size_t*)(void*)((char*)original - 64);
        memcpy(memory, original, old < size ? old : size);
    }
    meter_free(user_data, original);
    return memory;
}

static VkAllocationCallbacks callbacks_of(struct meter* meter)
{
    return (VkAllocationCallbacks){.pUserData = meter,
                                   .pfnAllocation = meter_allocate,
                                   .pfnReallocation = meter_reallocate,
                                   .pfnFree = meter_free};
}

/* Whether there was memory enough; the meter has not seen more in use than the limit. */
static bool plan_metered(MaarPlanCreateInfo* info, struct meter* meter, size_t limit)
{
    MaarPlan plan = VK_NULL_HANDLE;
    info->hostMemoryLimit = limit;
    meter->most = 0;
    const VkResult result = maarCreatePlan(info, &plan);
    assert_true(meter->most <= limit);
    maarDestroyPlan(plan);
    assert_int_equal(meter->alive, 0);
    return result == VK_SUCCESS;
}

static void plan_holds_no_more_than_the_limit(void** state)
{
    (void)state;
    struct meter meter = {0, 0};
    const VkAllocationCallbacks callbacks = callbacks_of(&meter);
    MaarPlanResource resources[HARD_COUNT];
    MaarPlanCreateInfo info;
    fill_hard(resources, &info);
    info.nodeLimit = 1000;
    info.pAllocationCallbacks = &callbacks;
    for (size_t limit = 4096; limit <= (size_t)1 << 20; limit += limit / 2) {
        (void)plan_metered(&info, &meter, limit);
    }
    /* Just where it begins to succeed, what is left is least. */
    size_t too_little = 0;
    size_t enough = (size_t)1 << 20;
    while (enough - too_little > 8) {
        const size_t limit = too_little + (enough - too_little) / 2;
        const bool planned = plan_metered(&info, &meter, limit);
        enough = planned ? limit : enough;
        too_little = planned ? too_little : limit;
    }
}

/* Every host allocation fails once, the first, the second, ... until none does. */
static void plan_failing_allocations_leak_nothing(void** state)
{
    (void)state;
    struct meter meter = {0, 0};
    const VkAllocationCallbacks callbacks = callbacks_of(&meter);
    struct fault_host host;
    MaarPlanResource resources[HARD_COUNT];
    MaarPlanCreateInfo info;
    MaarPlanCacheCreateInfo cache_info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO};
    fault_host_init(&host, &callbacks);
    fill_hard(resources, &info);
    resources[0].memoryTypeBits = 1;
    resources[1].memoryTypeBits = 2;
    info.nodeLimit = 500;
    info.pAllocationCallbacks = &host.callbacks;
    cache_info.pAllocationCallbacks = &host.callbacks;
    uint64_t failures = 0;
    for (uint64_t call = 1, struck = 1; struck != 0; ++call) {
        MaarPlan plan = VK_NULL_HANDLE;
        fault_host_arm(&host, call, 1);
        const VkResult made = maarCreatePlanCache(&cache_info, &info.cache);
        assert_true(made == VK_SUCCESS || made == VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_true((info.cache != VK_NULL_HANDLE) == (made == VK_SUCCESS));
        const VkResult result = maarCreatePlan(&info, &plan);
        struck = fault_host_disarm(&host);
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_true((plan != VK_NULL_HANDLE) == (result == VK_SUCCESS));
        if (plan != VK_NULL_HANDLE) {
            struct plan_answer answer;
            char reason[256];
            assert_true(plan_answer_read(plan, &answer));
            assert_true(plan_check(&info, &answer, reason, sizeof(reason)));
            plan_answer_release(&answer);
        }
        failures += struck;
        maarDestroyPlan(plan);
        maarDestroyPlanCache(info.cache);
        assert_int_equal(meter.alive, 0);
    }
    assert_true(failures > 2);
}

/* Plans twice with one cache, the first time with a host allocation that fails: what that has cost
 * must not come out of the cache. False when no allocation failed. */
static bool is_forgotten(MaarPlanCreateInfo* info, struct fault_host* host, uint64_t call)
{
    const MaarPlanCacheCreateInfo cache_info = {.sType =
                                                    MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO};
    MaarPlanInfo again = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    MaarPlan plan = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePlanCache(&cache_info, &info->cache), VK_SUCCESS);
    fault_host_arm(host, call, 1);
    (void)maarCreatePlan(info, &plan);
    const bool struck = fault_host_disarm(host) != 0;
    maarDestroyPlan(plan);
    assert_int_equal(maarCreatePlan(info, &plan), VK_SUCCESS);
    assert_int_equal(maarGetPlanInfo(plan, &again), VK_SUCCESS);
    if (again.cached != (struck ? VK_FALSE : VK_TRUE)) {
        fail_msg("call %u: %s", (unsigned)call, struck ? "cached" : "not cached");
    }
    maarDestroyPlan(plan);
    maarDestroyPlanCache(info->cache);
    info->cache = VK_NULL_HANDLE;
    return struck;
}

/* Two classes, of which one may be searched without the other; on one queue and on two. */
static void plan_cut_short_by_memory_is_not_cached(void** state)
{
    (void)state;
    static MaarPlanResource resources[MANY_COUNT];
    static uint32_t uses[MANY_COUNT][2];
    uint32_t queues[HARD_PASSES];
    struct meter meter = {0, 0};
    const VkAllocationCallbacks callbacks = callbacks_of(&meter);
    struct fault_host host;
    MaarPlanCreateInfo info;
    fault_host_init(&host, &callbacks);
    fill_hard_many(resources, MANY_COUNT, &info);
    for (uint32_t i = 0; i < MANY_COUNT; ++i) {
        uses[i][0] = resources[i].firstPass;
        uses[i][1] = resources[i].lastPass;
        resources[i].memoryTypeBits = 1u << i % 2;
        resources[i].useCount = 2;
        resources[i].pUses = uses[i];
    }
    info.nodeLimit = 100;
    info.flags = MAAR_PLAN_CREATE_KEEP_EDGES_BIT;
    info.passCount = HARD_PASSES;
    info.pPassQueues = queues;
    info.pAllocationCallbacks = &host.callbacks;
    for (uint32_t queue_count = 1; queue_count <= 2; ++queue_count) {
        uint64_t call = 1;
        for (uint32_t i = 0; i < HARD_PASSES; ++i) {
            queues[i] = i / 10 % queue_count;
        }
        while (is_forgotten(&info, &host, call)) {
            ++call;
        }
        assert_true(call > 4);
        assert_int_equal(meter.alive, 0);
    }
}

/* The trials that keep offsets of a previous plan search too, though the placement was found
 * without a search. */
static void plan_that_follows_without_memory_is_not_cached(void** state)
{
    (void)state;
    MaarPlanResource resources[FOLLOWING_COUNT];
    struct meter meter = {0, 0};
    const VkAllocationCallbacks callbacks = callbacks_of(&meter);
    struct fault_host host;
    fault_host_init(&host, &callbacks);
    for (uint64_t seed = 1; seed <= 24; ++seed) {
        MaarPlanCreateInfo info;
        MaarPlan previous = VK_NULL_HANDLE;
        uint64_t call = 1;
        fill_drawn(resources, FOLLOWING_COUNT, seed, &info);
        info.nodeLimit = 20000;
        info.flags = MAAR_PLAN_CREATE_KEEP_EDGES_BIT;
        info.pAllocationCallbacks = &host.callbacks;
        assert_int_equal(maarCreatePlan(&info, &previous), VK_SUCCESS);
        for (uint32_t i = 0; i < FOLLOWING_COUNT; i += 3) {
            resources[i].size += resources[i].size / 4;
        }
        info.previous = previous;
        while (is_forgotten(&info, &host, call)) {
            ++call;
        }
        assert_true(call > 2);
        maarDestroyPlan(previous);
        assert_int_equal(meter.alive, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_node_limit_gives_the_same_again),
        cmocka_unit_test(plan_time_limit_is_kept),
        cmocka_unit_test(plan_cancelled_keeps_the_best),
        cmocka_unit_test(plan_cancelled_at_once_takes_one_order),
        cmocka_unit_test(plan_cancelled_once_asks_no_more),
        cmocka_unit_test(plan_that_follows_keeps_many),
        cmocka_unit_test(plan_greedy_searches_for_nothing),
        cmocka_unit_test(plan_between_bound_and_peak_is_undecided),
        cmocka_unit_test(plan_node_limit_is_for_all_classes),
        cmocka_unit_test(plan_host_memory_limit_is_kept),
        cmocka_unit_test(plan_holds_no_more_than_the_limit),
        cmocka_unit_test(plan_failing_allocations_leak_nothing),
        cmocka_unit_test(plan_cut_short_by_memory_is_not_cached),
        cmocka_unit_test(plan_that_follows_without_memory_is_not_cached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
