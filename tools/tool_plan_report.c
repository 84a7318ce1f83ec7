/*
 * Prints the results of plans; see tool_plan.h.
 */
#include "support/json_text.h"
#include "tool_plan.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static const char* const stop_names[] = {
    [MAAR_PLAN_STOP_DONE] = "done",
    [MAAR_PLAN_STOP_NODE_LIMIT] = "node limit",
    [MAAR_PLAN_STOP_TIME_LIMIT] = "time limit",
    [MAAR_PLAN_STOP_CANCELLED] = "cancelled",
    [MAAR_PLAN_STOP_HOST_MEMORY] = "host memory",
    [MAAR_PLAN_STOP_GREEDY] = "greedy",
};

static void add(json_t* object, const char* key, json_t* value)
{
    json_object_set_new(object, key, value);
}

static json_t* count_of(uint64_t value)
{
    return tool_json_number(value);
}

static json_t* answer_of(MaarPlanFit fit)
{
    return fit == MAAR_PLAN_FIT_YES || fit == MAAR_PLAN_FIT_NO
               ? json_boolean(fit == MAAR_PLAN_FIT_YES)
               : json_null();
}

bool tool_plan_print_json(const struct tool_plan_result* result)
{
    const MaarPlanInfo* const info = &result->info;
    json_t* const object = json_object();
    if (object == NULL) {
        return false;
    }
    add(object, "instance", support_json_text(result->graph.name));
    add(object, "resources", count_of(info->resourceCount));
    add(object, "peak_bytes", count_of(info->peakSize));
    add(object, "lower_bound_bytes", count_of(info->lowerBound));
    add(object, "proved_optimal", json_boolean(info->provedOptimal));
    add(object, "fits", answer_of(info->fit));
    add(object, "cpu_ms", json_real(result->cpu_ms));
    add(object, "nodes", count_of(info->nodeCount));
    add(object, "aliasing_edges", count_of(info->edgeCount));
    add(object, "proved_bound_bytes", count_of(info->provedBound));
    add(object, "greedy_bytes", count_of(info->greedySize));
    add(object, "total_bytes", count_of(info->totalSize));
    add(object, "cross_queue_edges", count_of(info->crossQueueEdgeCount));
    add(object, "first_stage_edges", count_of(info->firstStageEdgeCount));
    add(object, "wrap_edges", count_of(info->wrapEdgeCount));
    add(object, "place_ms", json_real((double)info->placeTime_ns / 1e6));
    add(object, "edge_ms", json_real((double)info->edgeTime_ns / 1e6));
    add(object, "stop", json_string(stop_names[info->stop]));
    add(object, "capacity_bytes", result->capacity != 0 ? count_of(result->capacity) : json_null());
    add(object, "classes", count_of(info->classCount));
    return tool_print_json(object);
}

/* The columns: name, resources, sum, peak, proof, excess, edges, CPU time. A longer name has a line
 * of its own. */
#define NAME_WIDTH 22
#define ROW_FORMAT "%-22s %9s %8s %8s %11s %6s %9s"

void tool_plan_print_head(void)
{
    printf(ROW_FORMAT "\n", "", "", "without", "", "", "above", "aliasing");
    printf(ROW_FORMAT "\n", "frame graph", "resources", "sharing", "peak", "proof", "bound",
           "edges");
}

/* Returns the proof about the peak. */
static const char* verdict_of(const MaarPlanInfo* info)
{
    switch (info->fit) {
    case MAAR_PLAN_FIT_YES:
        return "fits";
    case MAAR_PLAN_FIT_NO:
        return "cannot fit";
    case MAAR_PLAN_FIT_UNDECIDED:
        return "undecided";
    case MAAR_PLAN_FIT_NOT_ASKED:
    default:
        return info->provedOptimal ? "optimal" : stop_names[info->stop];
    }
}

/* Prints what the search did, if there was one: this explains the time and a missing proof. */
static void print_search(const struct tool_plan_result* result)
{
    const MaarPlanInfo* const info = &result->info;
    char bound[32];
    if (info->nodeCount == 0 && info->provedOptimal == VK_TRUE) {
        return;
    }
    printf("  search: %" PRIu64 " nodes, %.1f ms of CPU time", info->nodeCount, result->cpu_ms);
    if (info->provedOptimal == VK_TRUE) {
        printf("%s\n", info->lowerBound < info->peakSize
                           ? "; more than the most bytes alive, and yet optimal"
                           : "");
    } else {
        printf("; at least %s are needed\n",
               tool_format_size(info->provedBound, bound, sizeof(bound)));
    }
}

void tool_plan_print_row(const struct tool_plan_result* result)
{
    const MaarPlanInfo* const info = &result->info;
    char texts[5][32];
    char name[4 * TOOL_NAME_SIZE + 1];
    const double over =
        info->provedBound == 0
            ? 0.0
            : 100.0 * (double)(info->peakSize - info->provedBound) / (double)info->provedBound;
    tool_printable(result->graph.name, name, sizeof(name));
    if (strlen(name) > NAME_WIDTH) {
        printf("%s\n", name);
        name[0] = '\0';
    }
    snprintf(texts[0], sizeof(texts[0]), "%" PRIu32, info->resourceCount);
    tool_format_size(info->totalSize, texts[1], sizeof(texts[1]));
    tool_format_size(info->peakSize, texts[2], sizeof(texts[2]));
    snprintf(texts[3], sizeof(texts[3]), "%.1f %%", over);
    snprintf(texts[4], sizeof(texts[4]), "%" PRIu32, info->edgeCount);
    printf(ROW_FORMAT "\n", name, texts[0], texts[1], texts[2], verdict_of(info), texts[3],
           texts[4]);
    if (result->graph.queue_count > 1) {
        printf("  aliasing edges between queues: %" PRIu32 "\n", info->crossQueueEdgeCount);
    }
    print_search(result);
    fflush(stdout);
}
