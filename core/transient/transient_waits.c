/*
 * Waits for semaphores: what semaphores have ordered when a pass begins, the resources whose bytes
 * a resource takes over, and the other passes that a pass must wait for.
 */
#include <string.h>

#include "core/transient/transient_walk.h"

#define EVERYTHING VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT

/* The passes that a pass must wait for: the last one on each queue. Positions are counted over
 * frames, plus one. */
struct wants {
    uint64_t position[MAAR_TRANSIENT_MAX_QUEUES];
    uint32_t pass[MAAR_TRANSIENT_MAX_QUEUES];
    bool aliasing[MAAR_TRANSIENT_MAX_QUEUES];
};

/* ---- positions and clocks ---- */

uint64_t maar_walk_position(const struct maar_walk* w, uint32_t pass, uint64_t frame)
{
    const struct maar_transient_pass* p = &w->graph->passes[pass];
    return frame * w->graph->queue_passes[p->queue] + p->position;
}

uint64_t* maar_walk_clock(const struct maar_walk* w, uint32_t pass, uint64_t frame)
{
    const uint64_t row = frame % 2 * w->graph->pass_count + pass;
    return &w->clocks[row * w->graph->queue_count];
}

/* Notes that the pass comes after another one by a semaphore. */
static void follow_pass(const struct maar_walk* w, uint32_t before, uint64_t frame)
{
    const uint64_t* other = maar_walk_clock(w, before, frame);
    const uint32_t queue = w->graph->passes[before].queue;
    const uint64_t position = maar_walk_position(w, before, frame) + 1;
    for (uint32_t i = 0; i < w->graph->queue_count; ++i) {
        w->clock[i] = other[i] > w->clock[i] ? other[i] : w->clock[i];
    }
    w->clock[queue] = position > w->clock[queue] ? position : w->clock[queue];
}

static void add_record_wait(struct maar_walk* w, uint32_t pass, uint32_t frames_back, bool aliasing)
{
    struct maar_transient_records* records = &w->state->records;
    if (records->wait_count == records->wait_capacity) {
        MaarTransientWait* waits = maar_stack_grow(&w->state->stack, records->waits,
                                                   &records->wait_capacity, 16, sizeof *waits);
        if (waits == NULL) {
            return;
        }
        records->waits = waits;
    }
    records->waits[records->wait_count++] = (MaarTransientWait){
        .pass = pass,
        .framesBack = frames_back,
        .stages = EVERYTHING,
        .signalStages = EVERYTHING,
        .aliasing = aliasing ? VK_TRUE : VK_FALSE,
    };
    ++w->record->wait_count;
}

/* ---- groups that come before ---- */

const struct maar_transient_group*
maar_walk_last_group(const struct maar_transient_resource* resource)
{
    return &resource->groups[resource->group_count - 1];
}

bool maar_walk_begins(const struct maar_transient_group* group,
                      const struct maar_transient_use* use, uint32_t index)
{
    return group->led ? index == group->first : use->first_on_queue;
}

bool maar_walk_never_changes(const struct maar_transient_resource* resource)
{
    return resource->keep && resource->group_count == 1 && !resource->groups[0].write;
}

bool maar_walk_predecessor(const struct maar_walk* w, uint32_t resource, uint32_t at,
                           struct maar_walk_predecessor_group* found)
{
    const struct maar_transient_edges* edges = &w->state->edges;
    const struct maar_transient_edges* wraps = &w->state->wrap_edges;
    const uint32_t within = edges->first[resource + 1] - edges->first[resource];
    const uint32_t around = wraps->first[resource + 1] - wraps->first[resource];
    const bool keep = w->graph->resources[resource].keep;
    uint32_t before = MAAR_TRANSIENT_NONE;
    found->frame = w->frame;
    if (at < within) {
        before = edges->before[edges->first[resource] + at];
    } else if (w->frame == 0 || maar_walk_never_changes(&w->graph->resources[resource])) {
        return false;
    } else if (at - within < around) {
        before = wraps->before[wraps->first[resource] + at - within];
        found->frame = w->frame - 1;
    } else if (keep && at == within + around) {
        before = resource;
        found->frame = w->frame - 1;
    } else {
        return false;
    }
    found->resource = &w->graph->resources[before];
    found->foreign = before != resource;
    return true;
}

bool maar_walk_stays(const struct maar_walk* w, uint32_t index)
{
    const struct maar_transient_resource* resource = &w->graph->resources[index];
    const struct maar_transient_group* last = maar_walk_last_group(resource);
    struct maar_walk_predecessor_group before;
    for (uint32_t i = 0; maar_walk_predecessor(w, index, i, &before); ++i) {
        if (before.foreign) {
            return false;
        }
    }
    return last->layout == resource->groups[0].layout &&
           (!resource->exclusive || last->family == resource->groups[0].family);
}

/* ---- waits ---- */

static void want_group(const struct maar_walk* w, const struct maar_walk_predecessor_group* before,
                       struct wants* wants)
{
    const struct maar_transient_group* group = maar_walk_last_group(before->resource);
    for (uint32_t i = group->first; i < group->first + group->count; ++i) {
        const uint32_t pass = before->resource->uses[i].pass;
        const uint32_t queue = w->graph->passes[pass].queue;
        const uint64_t position = maar_walk_position(w, pass, before->frame) + 1;
        if (queue == w->queue || position <= w->clock[queue]) {
            continue;
        }
        wants->aliasing[queue] |= before->foreign;
        if (position > wants->position[queue]) {
            wants->position[queue] = position;
            wants->pass[queue] = pass;
        }
    }
}

static void gather_wants(const struct maar_walk* w, struct wants* wants)
{
    const struct maar_transient_pass* pass = &w->graph->passes[w->pass];
    for (uint32_t k = pass->first_use; k < pass->first_use + pass->use_count; ++k) {
        const struct maar_transient_pass_use* entry = &w->graph->pass_uses[k];
        const struct maar_transient_resource* resource = &w->graph->resources[entry->resource];
        const struct maar_transient_use* use = &resource->uses[entry->use];
        struct maar_walk_predecessor_group before;
        if (use->group != 0 || !maar_walk_begins(&resource->groups[0], use, entry->use)) {
            continue;
        }
        for (uint32_t i = 0; maar_walk_predecessor(w, entry->resource, i, &before); ++i) {
            if (before.foreign || !w->aliasing_only) {
                want_group(w, &before, wants);
            }
        }
    }
}

/* Adds waits for passes of the frame before, except those that follow from other waits. Passes of
 * this frame are in order already. */
static void wait_for_wants(struct maar_walk* w, const struct wants* wants)
{
    const uint64_t frame = w->frame - 1;
    for (uint32_t queue = 0; queue < w->graph->queue_count; ++queue) {
        bool implied = wants->position[queue] == 0;
        for (uint32_t i = 0; i < w->graph->queue_count && !implied; ++i) {
            implied = i != queue && wants->position[i] != 0 &&
                      maar_walk_clock(w, wants->pass[i], frame)[queue] >= wants->position[queue];
        }
        if (!implied) {
            add_record_wait(w, wants->pass[queue], w->copies, wants->aliasing[queue]);
        }
    }
    for (uint32_t queue = 0; queue < w->graph->queue_count; ++queue) {
        if (wants->position[queue] != 0) {
            follow_pass(w, wants->pass[queue], frame);
        }
    }
}

void maar_walk_waits(struct maar_walk* w)
{
    const struct maar_transient_pass* pass = &w->graph->passes[w->pass];
    struct wants wants = {.position = {0}};
    w->record->first_wait = w->state->records.wait_count;
    for (uint32_t k = pass->first_wait; k < pass->first_wait + pass->wait_count; ++k) {
        const struct maar_transient_order* wait = &w->graph->waits[k];
        follow_pass(w, wait->pass, w->frame);
        if (wait->derived) {
            add_record_wait(w, wait->pass, 0, false);
        }
    }
    gather_wants(w, &wants);
    wait_for_wants(w, &wants);
}
