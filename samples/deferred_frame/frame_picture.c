/*
 * Draws the plan; see frame_picture.h.
 */
#include "frame_picture.h"

#include "support/plan_picture.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_CLASSES 16u
#define MAX_EDGES (3u * FRAME_RESOURCE_COUNT)

static const char* const queue_names[SAMPLE_MAX_QUEUES] = {"main", "compute"};

static uint32_t list_parts(const struct frame_target* target, struct support_plan_part* parts)
{
    MaarPlanClass classes[MAX_CLASSES];
    uint32_t count = MAX_CLASSES;
    if (maarGetPlanClasses(target->info.plan, &count, classes) < 0) {
        count = 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        parts[i] = (struct support_plan_part){.size = classes[i].size,
                                              .lower_bound = classes[i].lowerBound,
                                              .optimal = classes[i].provedOptimal == VK_TRUE};
        snprintf(parts[i].label, sizeof(parts[i].label), "class %u, memory types 0x%" PRIx32, i,
                 classes[i].memoryTypeBits);
    }
    return count;
}

/* Returns 0 for a plan of more edges than the picture has room for, and where the plan numbers the
 * resources differently: it omits those with dedicated allocations. */
static uint32_t list_edges(const struct frame_target* target, struct support_plan_edge* edges)
{
    MaarPlanEdge planned[MAX_EDGES];
    uint32_t count = MAX_EDGES;
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    if (maarGetPlanInfo(target->info.plan, &info) != VK_SUCCESS ||
        info.resourceCount != FRAME_RESOURCE_COUNT ||
        maarGetPlanEdges(target->info.plan, &count, planned) != VK_SUCCESS) {
        return 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        edges[i] = (struct support_plan_edge){planned[i].before, planned[i].after,
                                              planned[i].crossQueue == VK_TRUE};
    }
    return count;
}

/* A resource that keeps its contents exists all the time, any other from its first use to its
 * last. */
static void describe_item(const struct frame_target* target, uint32_t resource, char* id,
                          size_t id_size, struct support_plan_item* item)
{
    const MaarTransientResource* const uses = &target->graph.resources[resource];
    const bool keeps = (uses->flags & MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT) != 0;
    snprintf(id, id_size, "%u", resource);
    *item = (struct support_plan_item){.id = id,
                                       .name = uses->pName,
                                       .begin = keeps ? 0 : uses->pUses[0].pass,
                                       .end = keeps ? target->graph.step_count
                                                    : uses->pUses[uses->useCount - 1].pass + 1,
                                       .offset = target->resources[resource].offset,
                                       .size = target->resources[resource].size,
                                       .part = target->resources[resource].classIndex};
}

bool frame_picture_write(const struct frame_target* target, const struct frame_options* options,
                         const char* device_name)
{
    struct support_plan_part parts[MAX_CLASSES];
    struct support_plan_item items[FRAME_RESOURCE_COUNT];
    struct support_plan_pass passes[FRAME_MAX_STEPS];
    struct support_plan_edge edges[MAX_EDGES];
    char ids[FRAME_RESOURCE_COUNT][12];
    for (uint32_t i = 0; i < FRAME_RESOURCE_COUNT; ++i) {
        describe_item(target, i, ids[i], sizeof(ids[i]), &items[i]);
    }
    for (uint32_t i = 0; i < target->graph.step_count; ++i) {
        passes[i] =
            (struct support_plan_pass){target->graph.passes[i].pName, target->graph.steps[i].queue};
    }
    struct support_plan_picture picture = {.items = items,
                                           .item_count = FRAME_RESOURCE_COUNT,
                                           .parts = parts,
                                           .part_count = list_parts(target, parts),
                                           .passes = passes,
                                           .pass_count = target->graph.step_count,
                                           .queues = queue_names,
                                           .queue_count = target->graph.graph.queueCount,
                                           .edges = edges,
                                           .edge_count = list_edges(target, edges)};
    snprintf(picture.title, sizeof(picture.title), "A deferred frame, %ux%u, on %s", options->width,
             options->height, device_name);
    snprintf(
        picture.subtitle, sizeof(picture.subtitle),
        "%u resources: %.1f MiB without aliasing, %.1f MiB with whole objects reused, %.1f MiB "
        "as planned",
        (unsigned)FRAME_RESOURCE_COUNT, (double)target->info.totalSize / 1048576.0,
        (double)target->info.objectReuseSize / 1048576.0,
        (double)target->info.peakSize / 1048576.0);
    struct support_error error = {{0}};
    const bool written = support_plan_picture_write(&picture, options->picture, &error);
    if (!written) {
        sample_complain("%s", error.text);
    }
    return written;
}
