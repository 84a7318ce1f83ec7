/*
 * The source of a barrier: the accesses on its queue that it must come after, and that neither
 * semaphores nor earlier barriers order.
 */
#include "core/transient/transient_walk.h"

static uint64_t trusted_from(const struct maar_walk* w, uint64_t frame)
{
    const uint64_t start = w->frame * w->graph->queue_passes[w->queue];
    return w->cautious && frame != w->frame ? start : 0;
}

/* Whether the target sees what a group of reads has read. Returns false if it is unknown which
 * access wrote the contents. */
static bool sees_written(const struct maar_walk* w, const struct maar_transient_resource* resource,
                         const struct maar_transient_group* group, uint64_t frame,
                         const struct maar_walk_target* target)
{
    if (!group->led && (group == resource->groups || !group[-1].write)) {
        return false;
    }
    const struct maar_transient_use* use =
        &resource->uses[group->led ? group->first : group[-1].first];
    struct maar_transient_access access = {.position = maar_walk_position(w, use->pass, frame)};
    const uint32_t queue = w->graph->passes[use->pass].queue;
    bool seen = queue == w->queue;
    if (access.position < w->clock[queue]) {
        return true;
    }
    if (group->led) {
        access.reached = use->queue_stages;
        return seen && maar_transient_log_orders(&w->logs[w->queue], trusted_from(w, frame),
                                                 &access, target->stages, target->access);
    }
    access.writes = use->writes;
    for (VkPipelineStageFlags2 left = use->stages; left != 0 && seen; left &= left - 1) {
        access.stages = left & ~(left - 1);
        seen = maar_transient_log_orders(&w->logs[w->queue], trusted_from(w, frame), &access,
                                         target->stages, target->access);
    }
    return seen;
}

/* Whether earlier barriers have ordered everything that the target needs after one stage of an
 * access. */
static bool is_ordered(const struct maar_walk* w, const struct maar_transient_access* access,
                       uint64_t frame, const struct maar_walk_target* target, bool seen)
{
    const struct maar_transient_log* log = &w->logs[w->queue];
    const uint64_t from = trusted_from(w, frame);
    return target->stages != 0 &&
           (maar_transient_log_orders(log, from, access, target->stages, target->access) ||
            (seen && maar_transient_log_precedes(log, from, access, target->stages)));
}

/* Adds the writes of a use with all of its stages, since perhaps not every stage can make all of
 * its accesses. */
static void gather_writes(const struct maar_transient_use* use, struct maar_walk_source* source)
{
    source->stages |= use->stages;
    source->write_stages |= use->stages;
    source->writes |= use->writes;
}

void maar_walk_gather(const struct maar_walk* w, const struct maar_transient_resource* resource,
                      const struct maar_transient_group* group, uint64_t frame,
                      const struct maar_walk_target* target, struct maar_walk_source* source)
{
    const bool seen =
        !group->write && target->stages != 0 && sees_written(w, resource, group, frame, target);
    for (uint32_t i = group->first; i < group->first + group->count; ++i) {
        const struct maar_transient_use* use = &resource->uses[i];
        struct maar_transient_access access = {.position = maar_walk_position(w, use->pass, frame)};
        if (w->graph->passes[use->pass].queue != w->queue || access.position < w->clock[w->queue]) {
            continue;
        }
        access.writes = group->write ? use->writes : 0;
        VkPipelineStageFlags2 open = 0;
        for (VkPipelineStageFlags2 left = use->stages; left != 0; left &= left - 1) {
            access.stages = left & ~(left - 1);
            open |= is_ordered(w, &access, frame, target, seen) ? 0 : access.stages;
        }
        if (open != 0 && access.writes != 0) {
            gather_writes(use, source);
        }
        source->stages |= open;
    }
}

void maar_walk_gather_landing(const struct maar_walk* w,
                              const struct maar_walk_predecessor_group* before,
                              VkPipelineStageFlags2 src_stages, struct maar_walk_source* source)
{
    const struct maar_transient_group* group = maar_walk_last_group(before->resource);
    const struct maar_transient_use* use = &before->resource->uses[group->first];
    struct maar_transient_access access = {
        .position = maar_walk_position(w, use->pass, before->frame),
        .writes = use->writes,
    };
    if (!group->write || w->graph->passes[use->pass].queue != w->queue ||
        access.position < w->clock[w->queue]) {
        return;
    }
    bool landed = true;
    for (VkPipelineStageFlags2 left = use->stages; left != 0 && landed; left &= left - 1) {
        access.stages = left & ~(left - 1);
        landed = maar_transient_log_lands(&w->logs[w->queue], trusted_from(w, before->frame),
                                          &access, src_stages);
    }
    if (!landed) {
        gather_writes(use, source);
    }
}

void maar_walk_order_after(struct maar_transient_global* global,
                           const struct maar_walk_source* source, VkPipelineStageFlags2 dst_stages,
                           VkAccessFlags2 dst_access)
{
    if (source->stages != 0) {
        global->src_stages |= source->stages;
        global->src_access |= source->writes;
        global->dst_stages |= dst_stages;
        global->dst_access |= dst_access;
    }
}
