/*
 * Made-up instances with a known optimum: a rectangle of time and memory, cut into pieces without
 * waste. Each piece is a resource, so all of them fit into the height of the rectangle, and into
 * nothing less.
 */
#ifndef MAAR_BENCH_PLAN_DISSECTION_H
#define MAAR_BENCH_PLAN_DISSECTION_H

#include "support/frame_graph.h"

enum {
    PLAN_DISSECTION_BYTES = 1048576, /* the height of the rectangle */
    PLAN_DISSECTION_COUNT = 40,      /* number of instances */
};

/* Makes an instance, 0 to PLAN_DISSECTION_COUNT - 1: of 120, 200, 300 or 450 pieces, by cuts from
 * edge to edge or also by pinwheels of five pieces. The rows are shuffled. */
void plan_dissection_make(uint32_t instance, struct support_frame_graph* graph);

#endif
