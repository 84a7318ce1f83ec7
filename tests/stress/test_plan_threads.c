/*
 * Four threads that plan from one cache with room for two plans, of five different inputs, so that
 * plans are found, kept and thrown out all the time. Each plan must be that of its input, also
 * after it has left the cache. ThreadSanitizer sees the rest.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "maar/plan.h"
#include "tests/rig/rig.h"

#include <pthread.h>

enum { WORKERS = 4, ROUNDS = 4000, INPUTS = 5, RESOURCES = 4 };

struct worker {
    pthread_t thread;
    MaarPlanCache cache;
    struct rig_random random;
    uint32_t errors;
    uint32_t hits;
};

/* Resources of 256 bytes and more that follow one another: the peak is that of the two largest. */
static VkDeviceSize describe(uint32_t input, MaarPlanResource* resources)
{
    for (uint32_t i = 0; i < RESOURCES; ++i) {
        resources[i] = (MaarPlanResource){
            .size = 256u * (input + 1 + i), .alignment = 256, .firstPass = i, .lastPass = i + 1};
    }
    return 256u * ((input + RESOURCES) + (input + RESOURCES - 1));
}

static void* run_worker(void* user_data)
{
    struct worker* worker = user_data;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        MaarPlanResource resources[RESOURCES];
        const VkDeviceSize peak = describe(rig_below(&worker->random, INPUTS), resources);
        const MaarPlanCreateInfo create_info = {
            .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
            .resourceCount = RESOURCES,
            .pResources = resources,
            .cache = worker->cache,
        };
        MaarPlan plan = VK_NULL_HANDLE;
        MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
        if (maarCreatePlan(&create_info, &plan) != VK_SUCCESS ||
            maarGetPlanInfo(plan, &info) != VK_SUCCESS || info.peakSize != peak ||
            info.provedOptimal != VK_TRUE) {
            ++worker->errors;
        }
        worker->hits += info.cached == VK_TRUE;
        maarDestroyPlan(plan);
    }
    return NULL;
}

static void plans_of_a_shared_cache_are_those_of_their_inputs(void** state)
{
    (void)state;
    const MaarPlanCacheCreateInfo cache_info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO,
        .maxPlanCount = 2,
    };
    MaarPlanCache cache = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePlanCache(&cache_info, &cache), VK_SUCCESS);
    struct worker workers[WORKERS];
    for (uint32_t w = 0; w < WORKERS; ++w) {
        workers[w] = (struct worker){.cache = cache, .random = {.state = w + 1}};
        assert_int_equal(pthread_create(&workers[w].thread, NULL, run_worker, &workers[w]), 0);
    }
    uint32_t hits = 0;
    for (uint32_t w = 0; w < WORKERS; ++w) {
        assert_int_equal(pthread_join(workers[w].thread, NULL), 0);
        assert_int_equal(workers[w].errors, 0);
        hits += workers[w].hits;
    }
    maarDestroyPlanCache(cache);
    assert_true(hits > 0);
    assert_true(hits < WORKERS * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_of_a_shared_cache_are_those_of_their_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
