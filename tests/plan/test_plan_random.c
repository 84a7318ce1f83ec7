/*
 * The planner on made-up inputs, small enough that trying everything finds the least peak: the plan
 * reaches and proves it, says that so many bytes are enough and that one less is not, and all else
 * that it says is right. Larger inputs are only checked.
 *
 * MAAR_TEST_SEED chooses other inputs, MAAR_TEST_ROUNDS how many.
 */
#include "tests/plan/plan_brute.h"
#include "tests/plan/plan_checker.h"
#include "tests/plan/plan_made.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    ROUNDS = 2000,
    SMALL = 9,            /* resources of an input that is solved by trying everything */
    LARGER = 12,          /* of every fourth one */
    BRUTE_STEPS = 500000, /* inputs that take more are only checked */
};

static uint64_t read_number(const char* variable, uint64_t fallback)
{
    const char* const text = getenv(variable);
    return text != NULL ? strtoull(text, NULL, 0) : fallback;
}

static void VKAPI_PTR report_test(void* user_data, const MaarMessage* report)
{
    (void)user_data;
    print_message("%s\n", report->pText);
}

/* Plans and checks; the caller releases the answer. */
static void plan_and_check(struct plan_made* made, struct plan_answer* answer, uint64_t round)
{
    char reason[256] = "";
    MaarPlan plan = VK_NULL_HANDLE;
    made->info.pfnMessage = report_test;
    const VkResult result = maarCreatePlan(&made->info, &plan);
    if (result != VK_SUCCESS) {
        fail_msg("round %" PRIu64 ": maarCreatePlan says %d", round, (int)result);
    }
    if (!plan_answer_read(plan, answer)) {
        fail_msg("round %" PRIu64 ": the plan cannot be read", round);
    }
    maarDestroyPlan(plan);
    if (!plan_check(&made->info, answer, reason, sizeof(reason))) {
        fail_msg("round %" PRIu64 ": %s", round, reason);
    }
}

/* The least peak, for the classes as they are; UINT64_MAX when that takes too long. */
static uint64_t find_least(const struct plan_made* made, const struct plan_answer* answer)
{
    struct plan_world world;
    uint64_t sum = 0;
    plan_world_open(&world, &made->info);
    for (uint32_t i = 0; i < answer->class_count && sum != UINT64_MAX; ++i) {
        uint32_t members[PLAN_BRUTE_MAX];
        uint32_t count = 0;
        for (uint32_t j = 0; j < answer->placement_count; ++j) {
            if (answer->placements[j].classIndex == i) {
                members[count++] = j;
            }
        }
        const uint64_t size = plan_brute_size(&world, members, count, BRUTE_STEPS);
        sum = size == UINT64_MAX ? size : sum + size;
    }
    plan_world_close(&world);
    return sum;
}

/* Asks about a capacity; the answer must be this one. */
static void ask(struct plan_made* made, uint64_t capacity, MaarPlanFit fit, uint64_t round)
{
    struct plan_answer answer;
    made->info.capacity = capacity;
    plan_and_check(made, &answer, round);
    if (answer.info.fit != fit) {
        fail_msg("round %" PRIu64 ": asked for %" PRIu64 ", the answer is %d and should be %d",
                 round, capacity, (int)answer.info.fit, (int)fit);
    }
    plan_answer_release(&answer);
}

static void solve(struct plan_made* made, uint64_t round, uint64_t* solved)
{
    struct plan_answer answer;
    made->info.nodeLimit = UINT64_MAX;
    plan_and_check(made, &answer, round);
    const uint64_t least = find_least(made, &answer);
    const MaarPlanInfo info = answer.info;
    plan_answer_release(&answer);
    if (info.provedOptimal != VK_TRUE) {
        fail_msg("round %" PRIu64 ": not proved; peak %" PRIu64 ", least %" PRIu64, round,
                 (uint64_t)info.peakSize, least);
    }
    if (least == UINT64_MAX) {
        return;
    }
    ++*solved;
    if (info.peakSize != least) {
        fail_msg("round %" PRIu64 ": peak %" PRIu64 ", and %" PRIu64 " is enough", round,
                 (uint64_t)info.peakSize, least);
    }
    if (least > 1) {
        ask(made, least, MAAR_PLAN_FIT_YES, round);
        ask(made, least - 1, MAAR_PLAN_FIT_NO, round);
    }
}

/* Every round has a seed of its own, so that one can be run alone. */
static void fill_round(struct plan_made* made, uint64_t seed, uint64_t round, uint32_t most)
{
    uint64_t state = (seed + round + 1) * 0x9E3779B97F4A7C15u;
    state = state != 0 ? state : 1;
    const struct plan_source source = plan_source_seeded(&state);
    for (int i = 0; i < 4; ++i) {
        (void)source.draw(source.context, 2);
    }
    plan_made_fill(made, &source, most);
}

static void plan_of_few_is_optimal(void** state)
{
    (void)state;
    static struct plan_made made;
    const uint64_t seed = read_number("MAAR_TEST_SEED", 1);
    const uint64_t rounds = read_number("MAAR_TEST_ROUNDS", ROUNDS);
    uint64_t solved = 0;
    print_message("seed %" PRIu64 ", rounds %" PRIu64 "\n", seed, rounds);
    for (uint64_t round = 0; round < rounds; ++round) {
        fill_round(&made, seed, round, round % 4 == 3 ? LARGER : SMALL);
        solve(&made, round, &solved);
    }
    print_message("%" PRIu64 " solved by trying everything\n", solved);
    assert_true(solved > rounds * 9 / 10);
}

/* Resources that can only lie above fixed ones, which granules make taller than they are. */
static void plan_above_fixed_is_optimal(void** state)
{
    (void)state;
    static const MaarPlanResource few[] = {
        {.size = 1,
         .kind = MAAR_RESOURCE_KIND_OPTIMAL,
         .flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT,
         .fixedOffset = 10},
        {.size = 7},
        {.size = 8, .alignment = 3},
    };
    static const MaarPlanResource more[] = {
        {.size = 1, .flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT, .fixedOffset = 18},
        {.size = 1,
         .kind = MAAR_RESOURCE_KIND_OPTIMAL,
         .flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT,
         .fixedOffset = 7},
        {.size = 9},
        {.size = 5},
    };
    static struct plan_made made;
    uint64_t solved = 0;
    made.info = (MaarPlanCreateInfo){.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                     .resourceCount = 3,
                                     .pResources = few,
                                     .granularity = 16};
    solve(&made, 0, &solved);
    made.info.resourceCount = 4;
    made.info.pResources = more;
    made.info.granularity = 4;
    made.info.capacity = 0;
    solve(&made, 1, &solved);
    assert_int_equal(solved, 2);
}

static void plan_of_many_is_right(void** state)
{
    (void)state;
    static struct plan_made made;
    const uint64_t seed = read_number("MAAR_TEST_SEED", 1);
    const uint64_t rounds = read_number("MAAR_TEST_ROUNDS", ROUNDS) / 10;
    for (uint64_t round = 0; round < rounds; ++round) {
        struct plan_answer answer;
        fill_round(&made, ~seed, round, PLAN_MADE_MAX_RESOURCES);
        made.info.nodeLimit = 20000;
        made.info.flags = (MaarPlanCreateFlags)(round % 4);
        plan_and_check(&made, &answer, round);
        plan_answer_release(&answer);
    }
}

/* How many edges the second stage leaves, in percent of what the first one made: these inputs come
 * to 75, and to 69 of those across queues. */
static void plan_leaves_few_edges(void** state)
{
    (void)state;
    enum { INPUTS = 150, MOST = 40, EDGES = 76, CROSSING = 73 };
    static struct plan_made made;
    uint64_t edges[2] = {0, 0};
    uint64_t crossing[2] = {0, 0};
    for (uint64_t round = 0; round < INPUTS; ++round) {
        fill_round(&made, 0, round, MOST);
        made.info.nodeLimit = 500;
        for (int stage = 0; stage < 2; ++stage) {
            MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
            MaarPlan plan = VK_NULL_HANDLE;
            made.info.flags = stage == 0 ? (VkFlags)MAAR_PLAN_CREATE_KEEP_EDGES_BIT : 0;
            assert_int_equal(maarCreatePlan(&made.info, &plan), VK_SUCCESS);
            assert_int_equal(maarGetPlanInfo(plan, &info), VK_SUCCESS);
            maarDestroyPlan(plan);
            edges[stage] += info.edgeCount;
            crossing[stage] += info.crossQueueEdgeCount;
        }
    }
    print_message("edges %" PRIu64 " of %" PRIu64 ", across queues %" PRIu64 " of %" PRIu64 "\n",
                  edges[1], edges[0], crossing[1], crossing[0]);
    assert_true(edges[1] * 100 <= edges[0] * EDGES);
    assert_true(crossing[1] * 100 <= crossing[0] * CROSSING);
}

/* Some are larger now, some need another alignment or other memory; fixed ones stay as they are. */
static void change_some(struct plan_made* made, uint64_t round)
{
    for (uint32_t i = (uint32_t)(round % 3); i < made->info.resourceCount; i += 3) {
        MaarPlanResource* const resource = &made->resources[i];
        if ((resource->flags & MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT) != 0) {
            continue;
        }
        switch ((round + i) % 4) {
        case 0:
            resource->alignment = 32;
            break;
        case 1:
            resource->memoryTypeBits = 4;
            break;
        default:
            resource->size += 3;
            break;
        }
    }
}

/* What the plan says to have kept is where it was, in memory that it may have been in. */
static void plan_that_follows_keeps_what_it_says(void** state)
{
    (void)state;
    static struct plan_made made;
    const uint64_t seed = read_number("MAAR_TEST_SEED", 1);
    const uint64_t rounds = read_number("MAAR_TEST_ROUNDS", ROUNDS) / 4;
    uint64_t kept = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
        struct plan_answer old;
        struct plan_answer new;
        MaarPlan first = VK_NULL_HANDLE;
        fill_round(&made, ~seed, round, PLAN_MADE_MAX_RESOURCES / 2);
        made.info.nodeLimit = 1000;
        assert_int_equal(maarCreatePlan(&made.info, &first), VK_SUCCESS);
        assert_true(plan_answer_read(first, &old));
        change_some(&made, round);
        made.info.previous = first;
        plan_and_check(&made, &new, round);
        for (uint32_t i = 0; i < made.info.resourceCount; ++i) {
            const MaarPlanPlacement* const was = &old.placements[i];
            const MaarPlanPlacement* const is = &new.placements[i];
            if (is->kept == VK_TRUE &&
                (is->offset != was->offset || (old.classes[was->classIndex].memoryTypeBits &
                                               new.classes[is->classIndex].memoryTypeBits) == 0)) {
                fail_msg("round %" PRIu64 ": resource %u is not where it was", round, i);
            }
        }
        kept += new.info.keptCount;
        plan_answer_release(&old);
        plan_answer_release(&new);
        maarDestroyPlan(first);
    }
    assert_true(kept > rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_of_few_is_optimal),
        cmocka_unit_test(plan_above_fixed_is_optimal),
        cmocka_unit_test(plan_of_many_is_right),
        cmocka_unit_test(plan_that_follows_keeps_what_it_says),
        cmocka_unit_test(plan_leaves_few_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
