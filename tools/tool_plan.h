/*
 * What the files of maar plan share: one planned file, and what becomes of it. Single-threaded.
 */
#ifndef MAAR_TOOL_PLAN_H
#define MAAR_TOOL_PLAN_H

#include "tool_text.h"

#include "maar/plan.h"
#include "support/frame_graph.h"

/* A frame graph and its plan, read whole. */
struct tool_plan_result {
    struct support_frame_graph graph;
    VkDeviceSize capacity; /* 0 for none */
    MaarPlanInfo info;
    MaarPlanClass* classes;
    MaarPlanPlacement* placements;
    double cpu_ms; /* of maarCreatePlan, of the whole process */
};

/* One line of JSON; false when out of memory or when it cannot be written. */
bool tool_plan_print_json(const struct tool_plan_result* result);

/* A row of the table, and before the first one its head. */
void tool_plan_print_head(void);
void tool_plan_print_row(const struct tool_plan_result* result);

/* Writes the placement as CSV, whole or not at all; to standard output for "-". Complains. */
bool tool_plan_write_placement(const struct tool_plan_result* result, const char* path);

/* Draws the plan. Complains. */
bool tool_plan_draw(const struct tool_plan_result* result, const char* path);

#endif
