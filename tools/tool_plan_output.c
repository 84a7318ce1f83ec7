/*
 * Writes plans to files, as CSV and as pictures; see tool_plan.h.
 */
#include "tool_plan.h"

#include "support/memory_file.h"
#include "support/plan_picture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Writes the input's columns and the offsets, and the class if there are several classes. */
static bool print_placement(const struct tool_plan_result* result, FILE* file)
{
    const uint32_t count = result->graph.resource_count;
    uint64_t* const offsets = calloc(2 * (size_t)count + 1, sizeof(*offsets));
    if (offsets == NULL) {
        errno = ENOMEM;
        return false;
    }
    uint64_t* const classes = offsets + count;
    for (uint32_t i = 0; i < count; ++i) {
        offsets[i] = result->placements[i].offset;
        classes[i] = result->placements[i].classIndex;
    }
    const struct support_frame_column columns[] = {{"class", classes}, {"offset", offsets}};
    const size_t skipped = result->info.classCount > 1 ? 0 : 1;
    support_frame_graph_write(&result->graph, columns + skipped, 2 - skipped, file);
    free(offsets);
    return fflush(file) == 0 && ferror(file) == 0;
}

static bool save_placement(const struct tool_plan_result* result, const char* path)
{
    struct support_error error = {{0}};
    struct support_memory_file out;
    bool good = support_memory_file_open(&out) && print_placement(result, out.file);
    if (out.file != NULL) {
        good = support_memory_file_close(&out) && good;
    }
    if (!good) {
        tool_complain("%s: cannot be written: out of memory", path);
    } else if (!support_write_file(path, out.text, out.size, &error)) {
        tool_complain("%s", error.text);
        good = false;
    }
    free(out.text);
    return good;
}

bool tool_plan_write_placement(const struct tool_plan_result* result, const char* path)
{
    if (strcmp(path, "-") != 0) {
        return save_placement(result, path);
    }
    if (!print_placement(result, stdout)) {
        tool_complain("%s: cannot be written: %s", path, strerror(errno));
        return false;
    }
    return true;
}

/* The parts of a picture. */
struct drawing {
    struct support_plan_picture picture;
    struct support_plan_item* items;
    struct support_plan_part* parts;
    struct support_plan_pass* passes;
    struct support_plan_edge* edges;
    const char** queues;
};

/* Describes the proof about the peak, and the answer for the capacity if one was given. */
static void describe_proof(const struct tool_plan_result* result, char* out, size_t size)
{
    static const char* const answers[] = {
        [MAAR_PLAN_FIT_NOT_ASKED] = "",
        [MAAR_PLAN_FIT_YES] = "fits into",
        [MAAR_PLAN_FIT_NO] = "does not fit into",
        [MAAR_PLAN_FIT_UNDECIDED] = "it is undecided whether it fits into",
    };
    const MaarPlanInfo* const info = &result->info;
    const char* const optimal = info->provedOptimal ? "proved optimal" : "not proved optimal";
    char capacity[32];
    if (info->fit == MAAR_PLAN_FIT_NOT_ASKED) {
        snprintf(out, size, "%s", optimal);
    } else {
        snprintf(out, size, "%s %s; %s", answers[info->fit],
                 tool_format_size(result->capacity, capacity, sizeof(capacity)), optimal);
    }
}

static void title_plan(const struct tool_plan_result* result, struct support_plan_picture* picture)
{
    const MaarPlanInfo* const info = &result->info;
    char peak[32];
    char total[32];
    char bound[32];
    char proof[96];
    char edges[64] = "";
    tool_format_size(info->peakSize, peak, sizeof(peak));
    tool_format_size(info->totalSize, total, sizeof(total));
    tool_format_size(info->provedBound, bound, sizeof(bound));
    describe_proof(result, proof, sizeof(proof));
    if (result->graph.queue_count > 1) {
        snprintf(edges, sizeof(edges), ", %" PRIu32 " of them between queues",
                 info->crossQueueEdgeCount);
    }
    snprintf(picture->title, sizeof(picture->title), "%.100s: %" PRIu32 " resources of %s in %s",
             result->graph.name, info->resourceCount, total, peak);
    snprintf(picture->subtitle, sizeof(picture->subtitle),
             "%s; %.2f times as much without sharing; %" PRIu32 " aliasing edges%s", proof,
             info->peakSize == 0 ? 1.0 : (double)info->totalSize / (double)info->peakSize,
             info->edgeCount, edges);
    if (!info->provedOptimal) {
        const size_t used = strlen(picture->subtitle);
        snprintf(picture->subtitle + used, sizeof(picture->subtitle) - used,
                 "; at least %s are needed", bound);
    }
}

static void fill_parts(const struct tool_plan_result* result, struct drawing* drawing)
{
    const struct support_frame_graph* const graph = &result->graph;
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        drawing->items[i] = (struct support_plan_item){
            .id = graph->rows[i].id,
            .name = graph->rows[i].name,
            .begin = graph->rows[i].begin,
            .end = graph->rows[i].end,
            .offset = result->placements[i].offset,
            .size = graph->resources[i].size,
            .part = result->placements[i].classIndex,
        };
    }
    for (uint32_t i = 0; i < result->info.classCount; ++i) {
        struct support_plan_part* const part = &drawing->parts[i];
        const MaarPlanClass* const class = &result->classes[i];
        char size[32];
        snprintf(part->label, sizeof(part->label),
                 "class %" PRIu32 ": memory types 0x%" PRIx32 ", %" PRIu32 " resources, %s", i,
                 class->memoryTypeBits, class->resourceCount,
                 tool_format_size(class->size, size, sizeof(size)));
        part->size = class->size;
        part->lower_bound = class->lowerBound;
        part->optimal = class->provedOptimal == VK_TRUE;
    }
    for (uint32_t i = 0; i < result->info.edgeCount; ++i) {
        const MaarPlanEdge* const edge = &result->edges[i];
        drawing->edges[i] =
            (struct support_plan_edge){edge->before, edge->after, edge->crossQueue == VK_TRUE};
    }
}

/* Orders the passes as they are drawn. */
static void fill_passes(const struct support_frame_graph* graph, struct drawing* drawing)
{
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        drawing->passes[graph->passes[i].place] =
            (struct support_plan_pass){graph->passes[i].name, graph->pass_queues[i]};
        drawing->queues[graph->pass_queues[i]] = graph->passes[i].queue;
    }
}

static bool fill_drawing(const struct tool_plan_result* result, struct drawing* drawing)
{
    const struct support_frame_graph* const graph = &result->graph;
    drawing->items = calloc((size_t)graph->resource_count + 1, sizeof(*drawing->items));
    drawing->parts = calloc((size_t)result->info.classCount + 1, sizeof(*drawing->parts));
    drawing->passes = calloc((size_t)graph->pass_count + 1, sizeof(*drawing->passes));
    drawing->queues = calloc((size_t)graph->queue_count + 1, sizeof(*drawing->queues));
    drawing->edges = calloc((size_t)result->info.edgeCount + 1, sizeof(*drawing->edges));
    if (drawing->items == NULL || drawing->parts == NULL || drawing->passes == NULL ||
        drawing->queues == NULL || drawing->edges == NULL) {
        tool_complain("out of memory");
        return false;
    }
    fill_parts(result, drawing);
    fill_passes(graph, drawing);
    drawing->picture = (struct support_plan_picture){
        .items = drawing->items,
        .item_count = graph->resource_count,
        .parts = drawing->parts,
        .part_count = result->info.classCount,
        .passes = graph->passes != NULL ? drawing->passes : NULL,
        .pass_count = graph->pass_count,
        .queues = drawing->queues,
        .queue_count = graph->queue_count,
        .edges = drawing->edges,
        .edge_count = result->info.edgeCount,
        .capacity = result->capacity,
    };
    title_plan(result, &drawing->picture);
    return true;
}

bool tool_plan_draw(const struct tool_plan_result* result, const char* path,
                    enum support_svg_theme theme)
{
    struct drawing drawing = {.items = NULL};
    struct support_error error = {{0}};
    bool good = fill_drawing(result, &drawing);
    drawing.picture.theme = theme;
    if (good && !support_plan_picture_write(&drawing.picture, path, &error)) {
        tool_complain("%s", error.text);
        good = false;
    }
    free(drawing.items);
    free(drawing.parts);
    free(drawing.passes);
    free(drawing.edges);
    free((void*)drawing.queues);
    return good;
}
