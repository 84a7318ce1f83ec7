/*
 * Draws a plan of transient memory as SVG: time to the right, offsets upwards, a rectangle for each
 * resource, an arrow for each aliasing edge, and the live bytes below. Depends neither on Vulkan
 * nor on the planner.
 */
#ifndef MAAR_SUPPORT_PLAN_PICTURE_H
#define MAAR_SUPPORT_PLAN_PICTURE_H

#include "readfile.h"
#include "svg.h"

#include <stdint.h>

/* A placed resource. */
struct support_plan_item {
    const char* id;
    const char* name;    /* empty if unknown; decides the colour */
    uint64_t begin, end; /* end excluded */
    uint64_t offset, size;
    uint32_t part; /* index of its part */
};

/* A part of memory that resources share. */
struct support_plan_part {
    char label[96]; /* shown if the picture has several parts */
    uint64_t size;
    uint64_t lower_bound; /* no plan is smaller */
    bool optimal;         /* no plan is smaller than `size`, as the search has proved */
};

/* An aliasing edge: an item takes over bytes of another one. */
struct support_plan_edge {
    uint32_t before, after; /* indices of items */
    bool cross_queue;
};

/* A pass, at the time of its place in the array. */
struct support_plan_pass {
    const char* name;
    uint32_t queue; /* index of its queue */
};

struct support_plan_picture {
    char title[200];
    char subtitle[320];
    const struct support_plan_item* items;
    size_t item_count;
    const struct support_plan_part* parts;
    size_t part_count;
    const struct support_plan_pass* passes; /* NULL if unknown */
    size_t pass_count;
    const char* const* queues; /* their names */
    size_t queue_count;
    const struct support_plan_edge* edges;
    size_t edge_count;
    uint64_t capacity; /* drawn as a line if all parts together are larger; 0 for none */
    enum support_svg_theme theme;
};

/* Draws a picture into a file. */
bool support_plan_picture_write(const struct support_plan_picture* picture, const char* path,
                                struct support_error* error);

#endif
