/*
 * Declarations that the files of maar plan share: one planned file and its outputs.
 * Single-threaded.
 */
#ifndef MAAR_TOOL_PLAN_H
#define MAAR_TOOL_PLAN_H

#include "tool_text.h"

#include "maar/plan.h"
#include "support/frame_graph.h"
#include "support/svg.h"

/* A frame graph and its plan. */
struct tool_plan_result {
    struct support_frame_graph graph;
    VkDeviceSize capacity; /* 0 for none */
    MaarPlanInfo info;
    MaarPlanClass* classes;
    MaarPlanPlacement* placements;
    MaarPlanEdge* edges;
    double cpu_ms; /* of maarCreatePlan(), summed over the whole process */
};

/* Prints one line of JSON. Returns false when out of memory or when the line cannot be written. */
bool tool_plan_print_json(const struct tool_plan_result* result);

/* Prints a row of the table, and before the first row the head. */
void tool_plan_print_head(void);
void tool_plan_print_row(const struct tool_plan_result* result);

/* Writes the placement as CSV, completely or not at all; "-" stands for standard output. Prints an
 * error on failure. */
bool tool_plan_write_placement(const struct tool_plan_result* result, const char* path);

/* Draws the plan. Prints an error on failure. */
bool tool_plan_draw(const struct tool_plan_result* result, const char* path,
                    enum support_svg_theme theme);

#endif
