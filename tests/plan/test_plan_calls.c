/*
 * The planner's functions: what they refuse and how they say so, lists in two calls, the cache,
 * plans that follow earlier ones.
 */
#include "tests/plan/plan_checker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 6 };

struct messages {
    uint32_t count;
    char last[512];
};

static void VKAPI_PTR keep_plan_message(void* user_data, const MaarMessage* report)
{
    struct messages* const messages = user_data;
    assert_int_equal(report->severity, MAAR_MESSAGE_SEVERITY_ERROR);
    assert_int_equal(report->id, MAAR_MESSAGE_ID_INVALID_PLAN_INPUT);
    messages->count += 1;
    snprintf(messages->last, sizeof(messages->last), "%s", report->pText);
}

/* A frame of six resources, of which some may share. */
struct frame {
    MaarPlanResource resources[COUNT];
    uint32_t uses[2];
    uint32_t queues[8];
    MaarPlanDependency dependencies[2];
    MaarPlanCreateInfo info;
    struct messages messages;
};

static void fill_frame(struct frame* frame)
{
    static const uint32_t lives[COUNT][2] = {{0, 2}, {1, 4}, {3, 6}, {5, 7}, {7, 7}, {0, 7}};
    *frame = (struct frame){.uses = {1, 3}};
    for (uint32_t i = 0; i < COUNT; ++i) {
        frame->resources[i] = (MaarPlanResource){.size = 100 + 32 * i,
                                                 .alignment = 16,
                                                 .firstPass = lives[i][0],
                                                 .lastPass = lives[i][1]};
    }
    frame->info = (MaarPlanCreateInfo){.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                       .resourceCount = COUNT,
                                       .pResources = frame->resources,
                                       .pDependencies = frame->dependencies,
                                       .pfnMessage = keep_plan_message,
                                       .pMessageUserData = &frame->messages};
}

static MaarPlan make(const MaarPlanCreateInfo* info)
{
    MaarPlan plan = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePlan(info, &plan), VK_SUCCESS);
    assert_non_null(plan);
    return plan;
}

static MaarPlanInfo info_of(MaarPlan plan)
{
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    assert_int_equal(maarGetPlanInfo(plan, &info), VK_SUCCESS);
    return info;
}

static void check_right(const MaarPlanCreateInfo* info, MaarPlan plan)
{
    struct plan_answer answer;
    char reason[256] = "";
    assert_true(plan_answer_read(plan, &answer));
    const bool good = plan_check(info, &answer, reason, sizeof(reason));
    assert_string_equal(reason, "");
    assert_true(good);
    plan_answer_release(&answer);
}

/* Fails with a message that names the argument. */
static void refuse_plan(const struct frame* frame, const char* word)
{
    MaarPlan plan = (MaarPlan)(uintptr_t)1;
    const uint32_t before = frame->messages.count;
    const VkResult result = maarCreatePlan(&frame->info, &plan);
    if (result != VK_ERROR_VALIDATION_FAILED_EXT) {
        fail_msg("%s: the result is %d", word, (int)result);
    }
    assert_null(plan);
    assert_int_equal(frame->messages.count, before + 1);
    if (strstr(frame->messages.last, word) == NULL) {
        fail_msg("no %s in: %s", word, frame->messages.last);
    }
}

#define REFUSED(change, word)                                                                      \
    do {                                                                                           \
        fill_frame(&frame);                                                                        \
        change;                                                                                    \
        refuse_plan(&frame, word);                                                                 \
    } while (0)

static void plan_wrong_resources_are_refused(void** state)
{
    (void)state;
    struct frame frame;
    MaarPlanResource* const it = &frame.resources[2];
    REFUSED(frame.info.resourceCount = MAAR_PLAN_MAX_RESOURCES + 1, "resourceCount");
    REFUSED(frame.info.pAllocationCallbacks = &(const VkAllocationCallbacks){0},
            "pAllocationCallbacks lacks pfnAllocation or pfnFree");
    REFUSED(frame.info.pResources = NULL, "pResources");
    REFUSED(it->size = 0, "size");
    REFUSED(it->size = MAAR_PLAN_MAX_SIZE + 1, "size");
    REFUSED((it->size = MAAR_PLAN_MAX_SIZE / 2, it[1].size = MAAR_PLAN_MAX_SIZE / 2), "size");
    REFUSED((it->size = MAAR_PLAN_MAX_SIZE / 4 * 3, it->kind = MAAR_RESOURCE_KIND_OPTIMAL,
             it[1].kind = MAAR_RESOURCE_KIND_LINEAR, it[1].size = MAAR_PLAN_MAX_SIZE / 4 - 4096,
             frame.info.granularity = (VkDeviceSize)1 << 48),
            "size");
    REFUSED(it->alignment = ((VkDeviceSize)1 << 48) + 1, "alignment");
    REFUSED(it->kind = (MaarResourceKind)3, "kind");
    REFUSED(it->flags = 0x80, "flags");
    REFUSED(it->lastPass = 2, "lastPass");
    REFUSED(it->lastPass = UINT32_MAX, "lastPass");
    REFUSED((frame.info.passCount = 7, it->lastPass = 6), "lastPass");
    REFUSED(it->useCount = 2, "pUses");
    REFUSED((it->useCount = 2, it->pUses = frame.uses, frame.uses[1] = UINT32_MAX), "pUses");
    REFUSED((it->flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT, it->fixedOffset = 8), "fixedOffset");
    REFUSED((it->flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT,
             it->fixedOffset = MAAR_PLAN_MAX_SIZE + 16),
            "fixedOffset");
    REFUSED((it[0].flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT,
             it[1].flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT, it[1].fixedOffset = 16),
            "fixed offsets");
}

static void plan_wrong_frames_are_refused(void** state)
{
    (void)state;
    struct frame frame;
    MaarPlanCreateInfo* const info = &frame.info;
    MaarPlanDependency* const edges = frame.dependencies;
    REFUSED(info->flags = 0x100, "flags");
    REFUSED(info->passCount = MAAR_PLAN_MAX_PASSES + 1, "passCount");
    REFUSED(info->granularity = 48, "granularity");
    REFUSED((info->passCount = 8, info->dependencyCount = 1, info->pDependencies = NULL),
            "pDependencies");
    REFUSED((info->passCount = 8, info->dependencyCount = 1, edges[0] = (MaarPlanDependency){0, 8}),
            "pDependencies");
    REFUSED((info->passCount = 8, info->dependencyCount = 1, edges[0] = (MaarPlanDependency){3, 3}),
            "pDependencies");
    REFUSED((info->passCount = 8, info->dependencyCount = 1, edges[0] = (MaarPlanDependency){4, 3}),
            "other order");
    REFUSED((info->passCount = 8, info->pPassQueues = frame.queues, frame.queues[3] = 1),
            "useCount");
    REFUSED(info->previousIndexCount = 3, "pPreviousIndices");
    REFUSED(info->granularity = (VkDeviceSize)1 << 49, "granularity");
    REFUSED(info->pPassQueues = frame.queues, "passCount");
    REFUSED((info->passCount = 8, info->dependencyCount = 2, edges[0] = (MaarPlanDependency){1, 2},
             edges[1] = (MaarPlanDependency){2, 1}),
            "other order");
}

/* A message about a number has the number, and the limit. */
static void plan_refusals_have_their_figures(void** state)
{
    (void)state;
    struct frame frame;
    MaarPlanCreateInfo* const info = &frame.info;
    MaarPlanResource* const it = &frame.resources[2];
    REFUSED(info->resourceCount = 65537, "it is 65537, the limit 65536");
    REFUSED(it->size = MAAR_PLAN_MAX_SIZE + 1,
            "it is 1152921504606846977, the limit 1152921504606846976");
    REFUSED((it->size = MAAR_PLAN_MAX_SIZE / 2, it[1].size = MAAR_PLAN_MAX_SIZE / 2),
            "it is 1152921504606847232, the limit 1152921504606846976");
    REFUSED(it->alignment = ((VkDeviceSize)1 << 48) + 1,
            "it is 281474976710657, the limit 281474976710656");
    REFUSED(it->kind = (MaarResourceKind)3, "it is 3");
    REFUSED(it->flags = 0x80 | MAAR_PLAN_RESOURCE_NO_ALIASING_BIT, ": 0x80");
    REFUSED((info->passCount = 7, it->lastPass = 7), "(7) is not a pass, and passCount is 7");
    REFUSED((info->passCount = 7, it->useCount = 2, it->pUses = frame.uses, frame.uses[1] = 8),
            "(8) is not a pass, and passCount is 7");
    REFUSED((info->passCount = 8, info->dependencyCount = 1,
             frame.dependencies[0] = (MaarPlanDependency){0, 8}),
            "passCount is 8");
    REFUSED((it->flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT, it->fixedOffset = 8),
            "it is 8, and not a multiple of 16");
    REFUSED((it->flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT,
             it->fixedOffset = MAAR_PLAN_MAX_SIZE + 16),
            "it is 1152921504606846992, the limit 1152921504606846976");
    REFUSED(info->flags = 0x100 | MAAR_PLAN_CREATE_GREEDY_BIT, ": 0x100");
    REFUSED(info->passCount = 65537, "it is 65537, the limit 65536");
    REFUSED(info->granularity = 48, "it is 48");
    REFUSED(info->granularity = (VkDeviceSize)1 << 49,
            "it is 562949953421312, the limit 281474976710656");
    REFUSED(info->previousIndexCount = 3, "it is 3, and resourceCount 6");
}

/* Each pass of the cycle waits for a pass of the other queue. */
static void plan_cycles_across_queues_are_refused(void** state)
{
    (void)state;
    struct frame frame;
    fill_frame(&frame);
    for (uint32_t i = 0; i < COUNT; ++i) {
        frame.resources[i].useCount = 2;
        frame.resources[i].pUses = frame.uses;
    }
    for (uint32_t p = 0; p < 8; ++p) {
        frame.queues[p] = p % 2;
    }
    frame.info.passCount = 8;
    frame.info.pPassQueues = frame.queues;
    frame.info.dependencyCount = 2;
    frame.dependencies[0] = (MaarPlanDependency){2, 5};
    frame.dependencies[1] = (MaarPlanDependency){5, 0};
    refuse_plan(&frame, "form a cycle; pass 0 is in it");
    frame.dependencies[1] = (MaarPlanDependency){5, 6};
    MaarPlan plan = make(&frame.info);
    check_right(&frame.info, plan);
    maarDestroyPlan(plan);
}

/* Without passCount the passes are those that resources and dependencies name. */
static void plan_counts_the_passes_of_dependencies(void** state)
{
    (void)state;
    struct frame frame;
    fill_frame(&frame);
    frame.resources[0].flags = MAAR_PLAN_RESOURCE_NO_ALIASING_BIT;
    frame.info.dependencyCount = 2;
    frame.dependencies[0] = (MaarPlanDependency){3, 20};
    frame.dependencies[1] = (MaarPlanDependency){1, 2};
    MaarPlan plan = make(&frame.info);
    check_right(&frame.info, plan);
    maarDestroyPlan(plan);
    frame.dependencies[1] = (MaarPlanDependency){20, 2};
    refuse_plan(&frame, "pass 20 before pass 2");
}

static void plan_nulls_are_refused(void** state)
{
    (void)state;
    struct frame frame;
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    MaarPlan plan = VK_NULL_HANDLE;
    uint32_t count = 0;
    fill_frame(&frame);
    assert_int_equal(maarCreatePlan(&frame.info, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarCreatePlan(NULL, &plan), VK_ERROR_VALIDATION_FAILED_EXT);
    frame.info.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO;
    assert_int_equal(maarCreatePlan(&frame.info, &plan), VK_ERROR_VALIDATION_FAILED_EXT);
    frame.info.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO;
    assert_int_equal(maarGetPlanInfo(VK_NULL_HANDLE, &info), VK_ERROR_VALIDATION_FAILED_EXT);
    plan = make(&frame.info);
    assert_int_equal(maarGetPlanInfo(plan, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    info.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO;
    assert_int_equal(maarGetPlanInfo(plan, &info), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarGetPlanEdges(plan, NULL, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarGetPlanWrapEdges(VK_NULL_HANDLE, &count, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarGetPlanClasses(plan, NULL, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarGetPlanPlacements(plan, NULL, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    maarDestroyPlan(plan);
    maarDestroyPlan(VK_NULL_HANDLE);
    maarDestroyPlanCache(VK_NULL_HANDLE);
}

static void plan_of_nothing_is_empty(void** state)
{
    (void)state;
    const MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO};
    MaarPlan plan = make(&info);
    check_right(&info, plan);
    const MaarPlanInfo made = info_of(plan);
    assert_int_equal(made.peakSize, 0);
    assert_int_equal(made.classCount, 0);
    assert_int_equal(made.provedOptimal, VK_TRUE);
    assert_int_equal(made.stop, MAAR_PLAN_STOP_DONE);
    maarDestroyPlan(plan);
}

static void plan_lists_come_in_two_calls(void** state)
{
    (void)state;
    struct frame frame;
    fill_frame(&frame);
    MaarPlan plan = make(&frame.info);
    MaarPlanPlacement placements[COUNT + 1];
    uint32_t count = 0;
    assert_int_equal(maarGetPlanPlacements(plan, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, COUNT);
    memset(placements, 0xAA, sizeof(placements));
    count = 2;
    assert_int_equal(maarGetPlanPlacements(plan, &count, placements), VK_INCOMPLETE);
    assert_int_equal(count, 2);
    assert_int_equal(placements[2].classIndex, 0xAAAAAAAA);
    count = COUNT + 1;
    assert_int_equal(maarGetPlanPlacements(plan, &count, placements), VK_SUCCESS);
    assert_int_equal(count, COUNT);
    assert_int_equal(placements[COUNT].classIndex, 0xAAAAAAAA);
    MaarPlanClass class;
    count = 0;
    assert_int_equal(maarGetPlanClasses(plan, &count, &class), VK_INCOMPLETE);
    assert_int_equal(count, 0);
    maarDestroyPlan(plan);
}

static MaarPlanCache make_cache(uint32_t max)
{
    const MaarPlanCacheCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO,
                                          .maxPlanCount = max};
    MaarPlanCache cache = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePlanCache(&info, &cache), VK_SUCCESS);
    return cache;
}

/* Plans and says whether the plan came out of the cache. */
static bool is_cached(const MaarPlanCreateInfo* info)
{
    MaarPlan plan = make(info);
    check_right(info, plan);
    const bool cached = info_of(plan).cached == VK_TRUE;
    maarDestroyPlan(plan);
    return cached;
}

static void plan_cache_knows_what_decides(void** state)
{
    (void)state;
    struct frame frame;
    fill_frame(&frame);
    MaarPlanCreateInfo* const info = &frame.info;
    info->cache = make_cache(0);
    assert_false(is_cached(info));
    assert_true(is_cached(info));
    frame.resources[1].size += 1;
    assert_false(is_cached(info));
    assert_true(is_cached(info));
    frame.resources[1].size -= 1;
    assert_true(is_cached(info));
    frame.resources[0].kind = MAAR_RESOURCE_KIND_OPTIMAL;
    assert_false(is_cached(info));
    info->granularity = 64;
    assert_false(is_cached(info));
    info->flags = MAAR_PLAN_CREATE_GREEDY_BIT;
    assert_false(is_cached(info));
    info->capacity = 1000;
    assert_false(is_cached(info));
    frame.resources[3].flags = MAAR_PLAN_RESOURCE_NO_ALIASING_BIT;
    assert_false(is_cached(info));
    frame.resources[2].alignment = 256;
    assert_false(is_cached(info));
    frame.resources[2].memoryTypeBits = 2;
    assert_false(is_cached(info));
    frame.resources[2].lastPass = 7;
    assert_false(is_cached(info));
    assert_true(is_cached(info));
    maarDestroyPlanCache(info->cache);
}

static void plan_cache_forgets_the_oldest(void** state)
{
    (void)state;
    struct frame frame;
    fill_frame(&frame);
    frame.info.cache = make_cache(2);
    for (uint32_t i = 0; i < 2; ++i) {
        frame.resources[0].size = 100 + i;
        assert_false(is_cached(&frame.info));
    }
    frame.resources[0].size = 100;
    assert_true(is_cached(&frame.info));
    frame.resources[0].size = 102; /* in the place of 101 */
    assert_false(is_cached(&frame.info));
    frame.resources[0].size = 100;
    assert_true(is_cached(&frame.info));
    frame.resources[0].size = 101;
    assert_false(is_cached(&frame.info));
    MaarPlan plan = make(&frame.info);
    maarDestroyPlanCache(frame.info.cache);
    frame.info.cache = VK_NULL_HANDLE;
    check_right(&frame.info, plan);
    maarDestroyPlan(plan);
}

/* Compares a cache with a list of its inputs in the order of use. */
static void plan_cache_keeps_what_was_used_last(void** state)
{
    enum { KEPT = 7, INPUTS = 12, STEPS = 600 };
    (void)state;
    struct frame frame;
    fill_frame(&frame);
    frame.info.cache = make_cache(KEPT);
    uint32_t used[KEPT]; /* the newest first */
    uint32_t count = 0;
    uint32_t random = 1;
    for (uint32_t step = 0; step < STEPS; ++step) {
        random = random * 1664525u + 1013904223u;
        const uint32_t input = (random >> 16) % INPUTS;
        uint32_t at = 0;
        while (at < count && used[at] != input) {
            ++at;
        }
        frame.resources[0].size = 100 + input;
        assert_true(is_cached(&frame.info) == (at < count));
        if (at == count) {
            count += count < KEPT;
            at = count - 1;
        }
        memmove(&used[1], &used[0], at * sizeof used[0]);
        used[0] = input;
    }
    maarDestroyPlanCache(frame.info.cache);
}

static void plan_cache_wrong_infos_are_refused(void** state)
{
    (void)state;
    MaarPlanCacheCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    MaarPlanCache cache = (MaarPlanCache)(uintptr_t)1;
    assert_int_equal(maarCreatePlanCache(&info, &cache), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_null(cache);
    info.sType = MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO;
    info.maxPlanCount = 4097;
    assert_int_equal(maarCreatePlanCache(&info, &cache), VK_ERROR_VALIDATION_FAILED_EXT);
    info.maxPlanCount = 0;
    info.pAllocationCallbacks = &(const VkAllocationCallbacks){0};
    assert_int_equal(maarCreatePlanCache(&info, &cache), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarCreatePlanCache(NULL, &cache), VK_ERROR_VALIDATION_FAILED_EXT);
}

static void plan_previous_offsets_are_kept(void** state)
{
    (void)state;
    static const uint32_t indices[COUNT] = {5, 4, 3, 2, 1, UINT32_MAX};
    struct frame frame;
    fill_frame(&frame);
    MaarPlan first = make(&frame.info);
    const MaarPlanInfo before = info_of(first);
    frame.info.previous = first;
    MaarPlan second = make(&frame.info);
    check_right(&frame.info, second);
    assert_int_equal(info_of(second).keptCount, COUNT);
    /* The same resources in reverse, the last one new. */
    struct frame turned;
    fill_frame(&turned);
    for (uint32_t i = 0; i < COUNT; ++i) {
        turned.resources[i] = frame.resources[COUNT - 1 - i];
    }
    turned.info.previous = first;
    turned.info.previousIndexCount = COUNT;
    turned.info.pPreviousIndices = indices;
    MaarPlan third = make(&turned.info);
    const MaarPlanInfo after = info_of(third);
    MaarPlanPlacement old[COUNT];
    MaarPlanPlacement new[COUNT];
    uint32_t count = COUNT;
    assert_int_equal(maarGetPlanPlacements(first, &count, old), VK_SUCCESS);
    assert_int_equal(maarGetPlanPlacements(third, &count, new), VK_SUCCESS);
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_true(new[i].kept == VK_FALSE ||
                    (indices[i] != UINT32_MAX && new[i].offset == old[indices[i]].offset));
    }
    assert_int_equal(after.peakSize, before.peakSize);
    assert_int_equal(after.keptCount, COUNT - 1);
    frame.info.previousIndexCount = COUNT;
    frame.info.pPreviousIndices = (const uint32_t[]){0, 1, 2, 3, 4, 6};
    refuse_plan(&frame, "pPreviousIndices");
    maarDestroyPlan(first);
    maarDestroyPlan(second);
    maarDestroyPlan(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_wrong_resources_are_refused),
        cmocka_unit_test(plan_wrong_frames_are_refused),
        cmocka_unit_test(plan_refusals_have_their_figures),
        cmocka_unit_test(plan_cycles_across_queues_are_refused),
        cmocka_unit_test(plan_counts_the_passes_of_dependencies),
        cmocka_unit_test(plan_nulls_are_refused),
        cmocka_unit_test(plan_of_nothing_is_empty),
        cmocka_unit_test(plan_lists_come_in_two_calls),
        cmocka_unit_test(plan_cache_knows_what_decides),
        cmocka_unit_test(plan_cache_forgets_the_oldest),
        cmocka_unit_test(plan_cache_keeps_what_was_used_last),
        cmocka_unit_test(plan_cache_wrong_infos_are_refused),
        cmocka_unit_test(plan_previous_offsets_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
