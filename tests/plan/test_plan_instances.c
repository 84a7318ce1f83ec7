/*
 * The planner on the instances that have known optima: frames and inference graphs, two of them
 * with several queues, and rectangles that tools/make_data.py cuts into pieces without waste. Where
 * MAAR_SHARED_DATA names a folder, the eleven hard instances of google/minimalloc in it, too.
 */
#include "support/frame_graph.h"
#include "tests/plan/plan_checker.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Frames count in tiles of 64 KiB. */
#define TILE UINT64_C(65536)

enum { HARD_CAPACITY = 1048576 };

struct instance {
    const char* name;
    uint64_t optimum; /* the least peak, which is the lower bound for all of them */
    bool queues;
};

static const struct instance frames[] = {
    {"deferred_1080p", 2118 * TILE, false},
    {"deferred_4k", 6424 * TILE, false},
    {"forwardplus_msaa4_1440p", 10501 * TILE, false},
    {"frostbite_like_4k", 8962 * TILE, false},
    {"taau_1440p_to_4k", 3702 * TILE, false},
    {"pathtracer_1080p_to_4k", 3778 * TILE, false},
    {"llm_8b_prefill512", 912 * TILE, false},
    {"unet_sd15_512", 16785 * TILE, false},
    {"dag/deferred_4k_async", 8472 * TILE, true},
    {"dag/taau_1440p_to_4k_async", 3702 * TILE, true},
};

static void load(const char* folder, const struct instance* instance,
                 struct support_frame_graph* graph)
{
    static const char* const suffixes[] = {".resources.csv", ".passes.csv", ".edges.csv"};
    char paths[3][512];
    struct support_error error = {"no message"};
    for (size_t i = 0; i < 3; ++i) {
        snprintf(paths[i], sizeof(paths[i]), "%s/%s%s", folder, instance->name,
                 instance->queues ? suffixes[i] : ".csv");
    }
    if (!support_frame_graph_load(paths[0], instance->queues ? paths[1] : NULL,
                                  instance->queues ? paths[2] : NULL, graph, &error)) {
        fail_msg("%s", error.text);
    }
}

static void VKAPI_PTR report_instance(void* user_data, const MaarMessage* report)
{
    print_message("%s: %s\n", (const char*)user_data, report->pText);
}

/* Plans and checks; the caller releases the answer. */
static void plan_graph(const struct support_frame_graph* graph, MaarPlanCreateInfo* info,
                       struct plan_answer* answer)
{
    char reason[256] = "";
    MaarPlan plan = VK_NULL_HANDLE;
    support_frame_graph_describe(graph, info);
    info->pfnMessage = report_instance;
    info->pMessageUserData = (void*)(uintptr_t)graph->name;
    if (maarCreatePlan(info, &plan) != VK_SUCCESS || !plan_answer_read(plan, answer)) {
        fail_msg("%s: cannot be planned", graph->name);
    }
    maarDestroyPlan(plan);
    if (!plan_check(info, answer, reason, sizeof(reason))) {
        fail_msg("%s: %s", graph->name, reason);
    }
    print_message("%s: peak %" PRIu64 ", %" PRIu64 " nodes, %.3f ms, %" PRIu32 " edges (%" PRIu32
                  " after the first stage)\n",
                  graph->name, (uint64_t)answer->info.peakSize, answer->info.nodeCount,
                  (double)answer->info.placeTime_ns / 1e6, answer->info.edgeCount,
                  answer->info.firstStageEdgeCount);
}

static void plan_of_frames_is_optimal(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); ++i) {
        struct support_frame_graph graph;
        struct plan_answer answer;
        MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO};
        load(MAAR_SOURCE_DIR "/data/frames", &frames[i], &graph);
        plan_graph(&graph, &info, &answer);
        assert_int_equal(answer.info.lowerBound, frames[i].optimum);
        assert_int_equal(answer.info.peakSize, frames[i].optimum);
        assert_int_equal(answer.info.provedOptimal, VK_TRUE);
        plan_answer_release(&answer);
        support_frame_graph_release(&graph);
    }
}

static void plan_of_frames_answers_for_capacity(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); ++i) {
        struct support_frame_graph graph;
        load(MAAR_SOURCE_DIR "/data/frames", &frames[i], &graph);
        for (uint64_t less = 0; less < 2; ++less) {
            struct plan_answer answer;
            MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                       .capacity = frames[i].optimum - less};
            plan_graph(&graph, &info, &answer);
            assert_int_equal(answer.info.fit, less == 0 ? MAAR_PLAN_FIT_YES : MAAR_PLAN_FIT_NO);
            plan_answer_release(&answer);
        }
        support_frame_graph_release(&graph);
    }
}

static void fit_hard_instances(const char* folder, const char* const* names, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        char name[64];
        snprintf(name, sizeof(name), "%s.1048576", names[i]);
        const struct instance instance = {.name = name};
        struct support_frame_graph graph;
        struct plan_answer answer;
        MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                   .capacity = HARD_CAPACITY,
                                   .nodeLimit = UINT64_MAX,
                                   .timeLimit_ns = 60000000000u};
        load(folder, &instance, &graph);
        plan_graph(&graph, &info, &answer);
        assert_int_equal(answer.info.fit, MAAR_PLAN_FIT_YES);
        plan_answer_release(&answer);
        support_frame_graph_release(&graph);
    }
}

static void plan_of_hard_instances_fits(void** state)
{
    (void)state;
    static const char* const made[] = {"cuts_60",      "cuts_200",      "cuts_450",
                                       "pinwheels_60", "pinwheels_200", "pinwheels_450"};
    static const char* const names[] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"};
    fit_hard_instances(MAAR_MADE_DATA "/minimalloc", made, sizeof(made) / sizeof(made[0]));
    const char* const shared = getenv("MAAR_SHARED_DATA");
    if (shared != NULL && shared[0] != '\0') {
        char folder[512];
        snprintf(folder, sizeof(folder), "%s/minimalloc", shared);
        fit_hard_instances(folder, names, sizeof(names) / sizeof(names[0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_of_frames_is_optimal),
        cmocka_unit_test(plan_of_frames_answers_for_capacity),
        cmocka_unit_test(plan_of_hard_instances_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
