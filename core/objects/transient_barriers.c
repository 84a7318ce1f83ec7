/*
 * Barriers and waits of a frame.
 *
 * The frames of one copy are gone through in order, as many as it takes for them to repeat: the
 * first, which has no predecessor, and later ones. What frames of other copies do in between is not
 * counted on. For each use that begins a group (transient_internal.h) the accesses are gathered
 * that it must come after: the group before it; for the first group of a frame the last groups of
 * all resources that had its bytes before, in this frame or in the last one.
 *
 * - Another queue's accesses are ordered by semaphores, which carry everything: a clock says what
 *   they have ordered already, and what it lacks becomes a wait.
 * - Accesses on the same queue that no semaphore orders need a barrier: a global one, or the source
 *   stages of the image barrier where a layout changes. What earlier barriers have ordered
 *   (transient_log.h) needs none.
 * - Writes are made available by a barrier that names their stages and accesses; where another
 *   resource made them, an image barrier cannot, so the global barrier of `aliasing` does it ahead
 *   of the change of layout, and waits in the very stages of those writes.
 * - A group of reads on one queue has one barrier, ahead of the first, for the stages of all.
 * - Owners change by a release behind the last use of a group and an acquisition ahead of the next;
 *   contents that are discarded change owners without.
 */
#include <string.h>

#include "core/objects/transient_log.h"

#define EVERYTHING VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT

/* The way through the frames. */
struct walk {
    const struct maar_transient_graph* graph;
    struct maar_transient_state* state;
    struct maar_arena scratch;
    struct maar_transient_log* logs; /* by queue */
    uint64_t* clocks;                /* by frame modulo 2, pass and queue */
    uint32_t copies;                 /* how many frames of the program lie between two of these */
    bool aliasing_only;
    bool cautious; /* barriers of earlier frames are not counted on */
    uint64_t frame;
    uint32_t pass;
    uint32_t queue;  /* of the pass */
    uint64_t* clock; /* of the pass */
    struct maar_transient_record* record;
};

/* What a barrier must come after, on its own queue. */
struct debt {
    VkPipelineStageFlags2 stages;
    VkPipelineStageFlags2 write_stages;
    VkAccessFlags2 writes;
};

/* Passes that a pass must wait for: on each queue the last one, counted over frames, plus one. */
struct wants {
    uint64_t position[MAAR_TRANSIENT_MAX_QUEUES];
    uint32_t pass[MAAR_TRANSIENT_MAX_QUEUES];
    bool aliasing[MAAR_TRANSIENT_MAX_QUEUES];
};

/* ---- positions and clocks ---- */

static uint64_t position_of(const struct walk* w, uint32_t pass, uint64_t frame)
{
    const struct maar_transient_pass* p = &w->graph->passes[pass];
    return frame * w->graph->queue_passes[p->queue] + p->position;
}

static uint64_t* clock_at(const struct walk* w, uint32_t pass, uint64_t frame)
{
    const uint64_t row = frame % 2 * w->graph->pass_count + pass;
    return &w->clocks[row * w->graph->queue_count];
}

/* The pass comes after another one by a semaphore. */
static void follow_pass(const struct walk* w, uint32_t before, uint64_t frame)
{
    const uint64_t* other = clock_at(w, before, frame);
    const uint32_t queue = w->graph->passes[before].queue;
    const uint64_t position = position_of(w, before, frame) + 1;
    for (uint32_t i = 0; i < w->graph->queue_count; ++i) {
        w->clock[i] = other[i] > w->clock[i] ? other[i] : w->clock[i];
    }
    w->clock[queue] = position > w->clock[queue] ? position : w->clock[queue];
}

static void add_record_wait(struct walk* w, uint32_t pass, uint32_t frames_back, bool aliasing)
{
    struct maar_transient_records* records = &w->state->records;
    if (records->wait_count == records->wait_capacity) {
        const uint32_t capacity = records->wait_capacity * 2 + 16;
        MaarTransientWait* waits = maar_arena_take(&w->state->arena, capacity, sizeof *waits);
        if (waits == NULL) {
            return;
        }
        if (records->wait_count > 0) {
            memcpy(waits, records->waits, records->wait_count * sizeof *waits);
        }
        records->waits = waits;
        records->wait_capacity = capacity;
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

static void add_barrier(struct walk* w, const struct maar_transient_barrier* barrier)
{
    struct maar_transient_records* records = &w->state->records;
    if (records->barrier_count == records->barrier_capacity) {
        const uint32_t capacity = records->barrier_capacity * 2 + 64;
        struct maar_transient_barrier* barriers =
            maar_arena_take(&w->state->arena, capacity, sizeof *barriers);
        if (barriers == NULL) {
            return;
        }
        if (records->barrier_count > 0) {
            memcpy(barriers, records->barriers, records->barrier_count * sizeof *barriers);
        }
        records->barriers = barriers;
        records->barrier_capacity = capacity;
    }
    records->barriers[records->barrier_count++] = *barrier;
}

/* ---- groups that come before ---- */

static const struct maar_transient_group* last_group(const struct maar_transient_resource* resource)
{
    return &resource->groups[resource->group_count - 1];
}

/* Whether a use makes or waits for what orders its group on its queue. */
static bool begins(const struct maar_transient_group* group, const struct maar_transient_use* use,
                   uint32_t index)
{
    return group->led ? index == group->first : use->first_on_queue;
}

/* A resource whose contents are kept, used in one way only: what wrote it was its first layout. */
static bool never_changes(const struct maar_transient_resource* resource)
{
    return resource->keep && resource->group_count == 1 && !resource->groups[0].write;
}

/* The group before a resource's first one, of an earlier resource of its bytes; NULL for none. The
 * frame is that of the group. */
struct predecessor {
    const struct maar_transient_resource* resource;
    uint64_t frame;
    bool foreign; /* another resource */
};

/* Goes through the predecessors of a resource's first group: number `at` of them. */
static bool find_predecessor(const struct walk* w, uint32_t resource, uint32_t at,
                             struct predecessor* found)
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
    } else if (w->frame == 0 || never_changes(&w->graph->resources[resource])) {
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

/* Nobody else has its bytes, and a frame leaves it as the next one wants it: what was there need
 * not be thrown away. */
static bool stays_as_it_is(const struct walk* w, uint32_t index)
{
    const struct maar_transient_resource* resource = &w->graph->resources[index];
    const struct maar_transient_group* last = last_group(resource);
    struct predecessor before;
    for (uint32_t i = 0; find_predecessor(w, index, i, &before); ++i) {
        if (before.foreign) {
            return false;
        }
    }
    return last->layout == resource->groups[0].layout &&
           (!resource->exclusive || last->family == resource->groups[0].family);
}

/* ---- waits ---- */

static void want_group(const struct walk* w, const struct predecessor* before, struct wants* wants)
{
    const struct maar_transient_group* group = last_group(before->resource);
    for (uint32_t i = group->first; i < group->first + group->count; ++i) {
        const uint32_t pass = before->resource->uses[i].pass;
        const uint32_t queue = w->graph->passes[pass].queue;
        const uint64_t position = position_of(w, pass, before->frame) + 1;
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

static void gather_wants(const struct walk* w, struct wants* wants)
{
    const struct maar_transient_pass* pass = &w->graph->passes[w->pass];
    for (uint32_t k = pass->first_use; k < pass->first_use + pass->use_count; ++k) {
        const struct maar_transient_pass_use* entry = &w->graph->pass_uses[k];
        const struct maar_transient_resource* resource = &w->graph->resources[entry->resource];
        const struct maar_transient_use* use = &resource->uses[entry->use];
        struct predecessor before;
        if (use->group != 0 || !begins(&resource->groups[0], use, entry->use)) {
            continue;
        }
        for (uint32_t i = 0; find_predecessor(w, entry->resource, i, &before); ++i) {
            if (before.foreign || !w->aliasing_only) {
                want_group(w, &before, wants);
            }
        }
    }
}

/* Waits for passes of the frame before, those left out that follow from others. Those of this frame
 * were ordered before. */
static void wait_for_wants(struct walk* w, const struct wants* wants)
{
    const uint64_t frame = w->frame - 1;
    for (uint32_t queue = 0; queue < w->graph->queue_count; ++queue) {
        bool implied = wants->position[queue] == 0;
        for (uint32_t i = 0; i < w->graph->queue_count && !implied; ++i) {
            implied = i != queue && wants->position[i] != 0 &&
                      clock_at(w, wants->pass[i], frame)[queue] >= wants->position[queue];
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

static void make_waits(struct walk* w)
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

/* ---- what is owed to earlier accesses ---- */

/* How what comes after will be recorded. */
struct target {
    VkPipelineStageFlags2 stages; /* 0: a barrier is recorded in any case */
    VkAccessFlags2 access;
};

static uint64_t trusted_from(const struct walk* w, uint64_t frame)
{
    const uint64_t start = w->frame * w->graph->queue_passes[w->queue];
    return w->cautious && frame != w->frame ? start : 0;
}

/* Whether what a group of reads has read is seen by the target, if it is known what wrote it. */
static bool sees_written(const struct walk* w, const struct maar_transient_resource* resource,
                         const struct maar_transient_group* group, uint64_t frame,
                         const struct target* target)
{
    if (!group->led && (group == resource->groups || !group[-1].write)) {
        return false;
    }
    const struct maar_transient_use* use =
        &resource->uses[group->led ? group->first : group[-1].first];
    struct maar_transient_access access = {.position = position_of(w, use->pass, frame)};
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

/* Whether earlier barriers have ordered all that is needed behind one stage of an access. */
static bool is_ordered(const struct walk* w, const struct maar_transient_access* access,
                       uint64_t frame, const struct target* target, bool seen)
{
    const struct maar_transient_log* log = &w->logs[w->queue];
    const uint64_t from = trusted_from(w, frame);
    return target->stages != 0 &&
           (maar_transient_log_orders(log, from, access, target->stages, target->access) ||
            (seen && maar_transient_log_precedes(log, from, access, target->stages)));
}

/* All stages of a use, since not every one of them may be able to do all of its accesses. */
static void owe_writes(const struct maar_transient_use* use, struct debt* debt)
{
    debt->stages |= use->stages;
    debt->write_stages |= use->stages;
    debt->writes |= use->writes;
}

/* Adds the accesses of a group on the pass's queue that neither semaphores nor earlier barriers
 * order. */
static void owe_group(const struct walk* w, const struct maar_transient_resource* resource,
                      const struct maar_transient_group* group, uint64_t frame,
                      const struct target* target, struct debt* debt)
{
    const bool seen =
        !group->write && target->stages != 0 && sees_written(w, resource, group, frame, target);
    for (uint32_t i = group->first; i < group->first + group->count; ++i) {
        const struct maar_transient_use* use = &resource->uses[i];
        struct maar_transient_access access = {.position = position_of(w, use->pass, frame)};
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
            owe_writes(use, debt);
        }
        debt->stages |= open;
    }
}

/* Of writes that were gathered, those that have not landed for a barrier with these source stages.
 */
static void owe_landing(const struct walk* w, const struct predecessor* before,
                        VkPipelineStageFlags2 src_stages, struct debt* debt)
{
    const struct maar_transient_group* group = last_group(before->resource);
    const struct maar_transient_use* use = &before->resource->uses[group->first];
    struct maar_transient_access access = {
        .position = position_of(w, use->pass, before->frame),
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
        owe_writes(use, debt);
    }
}

static void pay(struct maar_transient_global* global, const struct debt* debt,
                VkPipelineStageFlags2 dst_stages, VkAccessFlags2 dst_access)
{
    if (debt->stages != 0) {
        global->src_stages |= debt->stages;
        global->src_access |= debt->writes;
        global->dst_stages |= dst_stages;
        global->dst_access |= dst_access;
    }
}

/* ---- first uses ---- */

/* All stages that an image's first layout of a frame must come after; the image's own writes apart,
 * which its barrier can make available itself. */
static void owe_first_layout(const struct walk* w, uint32_t index, struct debt* all,
                             VkAccessFlags2* own_writes)
{
    static const struct target any = {0, 0};
    struct predecessor before;
    for (uint32_t i = 0; find_predecessor(w, index, i, &before); ++i) {
        struct debt debt = {0};
        owe_group(w, before.resource, last_group(before.resource), before.frame, &any, &debt);
        all->stages |= debt.stages;
        *own_writes |= before.foreign ? 0 : debt.writes;
    }
}

/* What must land before an image's first layout and only a global barrier can make land. */
static void alias_image(struct walk* w, uint32_t index)
{
    struct debt all = {0};
    struct debt landing = {0};
    VkAccessFlags2 own_writes = 0;
    struct predecessor before;
    owe_first_layout(w, index, &all, &own_writes);
    for (uint32_t i = 0; find_predecessor(w, index, i, &before); ++i) {
        if (before.foreign) {
            owe_landing(w, &before, all.stages, &landing);
        }
    }
    pay(&w->record->aliasing, &landing, landing.write_stages, 0);
}

/* Bytes of other resources go to a buffer, or to an image whose layouts are the program's. */
static void alias_bytes(struct walk* w, uint32_t index, const struct maar_transient_use* use)
{
    const struct target target = {use->queue_stages, use->queue_access};
    struct predecessor before;
    struct debt debt = {0};
    for (uint32_t i = 0; find_predecessor(w, index, i, &before); ++i) {
        if (before.foreign) {
            owe_group(w, before.resource, last_group(before.resource), before.frame, &target,
                      &debt);
        }
    }
    pay(&w->record->aliasing, &debt, use->queue_stages, use->queue_access);
}

static void land_first(struct walk* w, const struct maar_transient_pass_use* entry)
{
    const struct maar_transient_resource* resource = &w->graph->resources[entry->resource];
    const struct maar_transient_use* use = &resource->uses[entry->use];
    if (use->group == 0 && !resource->keep && begins(&resource->groups[0], use, entry->use)) {
        alias_image(w, entry->resource);
    }
}

static void alias_first(struct walk* w, const struct maar_transient_pass_use* entry)
{
    const struct maar_transient_resource* resource = &w->graph->resources[entry->resource];
    const struct maar_transient_use* use = &resource->uses[entry->use];
    if (use->group == 0 && !resource->keep && begins(&resource->groups[0], use, entry->use)) {
        alias_bytes(w, entry->resource, use);
    }
}

/* Runs over the pass's uses of images, then of buffers. */
static void for_uses(struct walk* w, bool images,
                     void (*function)(struct walk*, const struct maar_transient_pass_use*))
{
    const struct maar_transient_pass* pass = &w->graph->passes[w->pass];
    for (uint32_t k = pass->first_use; k < pass->first_use + pass->use_count; ++k) {
        const struct maar_transient_pass_use* entry = &w->graph->pass_uses[k];
        if (w->graph->resources[entry->resource].is_image == images) {
            function(w, entry);
        }
    }
}

static void log_global(struct walk* w, const struct maar_transient_global* global)
{
    if (global->src_stages != 0) {
        maar_transient_log_add(&w->logs[w->queue], position_of(w, w->pass, w->frame), global, true);
    }
}

/* ---- changes of layout and owner ---- */

/* A barrier of the leader of a group, as far as it does not depend on what came before. */
static struct maar_transient_barrier leading(uint32_t index, const struct maar_transient_use* use)
{
    return (struct maar_transient_barrier){
        .resource = index,
        .src_family = VK_QUEUE_FAMILY_IGNORED,
        .dst_family = VK_QUEUE_FAMILY_IGNORED,
        .old_layout = VK_IMAGE_LAYOUT_UNDEFINED,
        .new_layout = use->layout,
        .dst_stages = use->queue_stages,
        .dst_access = use->queue_access,
    };
}

/* Behind a semaphore, or behind nothing: the stages that begin then. */
static void add_change(struct walk* w, struct maar_transient_barrier* barrier,
                       const struct debt* debt)
{
    barrier->src_stages = debt->stages != 0 ? debt->stages : barrier->dst_stages;
    barrier->src_access = debt->writes;
    add_barrier(w, barrier);
}

static void change_first(struct walk* w, uint32_t index, const struct maar_transient_use* use)
{
    struct maar_transient_barrier barrier = leading(index, use);
    struct debt debt = {0};
    VkAccessFlags2 own_writes = 0;
    owe_first_layout(w, index, &debt, &own_writes);
    debt.writes = own_writes;
    barrier.carries = w->graph->resources[index].keep;
    add_change(w, &barrier, &debt);
}

/* A buffer's first use of a frame behind its last one of the frame before. */
static void order_first(struct walk* w, uint32_t index, const struct maar_transient_use* use)
{
    const struct maar_transient_resource* resource = &w->graph->resources[index];
    struct debt debt = {0};
    const struct target target = {use->queue_stages, use->queue_access};
    struct predecessor before;
    for (uint32_t i = 0; find_predecessor(w, index, i, &before); ++i) {
        if (!before.foreign) {
            owe_group(w, resource, last_group(resource), before.frame, &target, &debt);
        }
    }
    pay(&w->record->before, &debt, use->queue_stages, use->queue_access);
}

/* The group behind another one of the same resource, of a frame. */
static void change_next(struct walk* w, uint32_t index, const struct maar_transient_use* use,
                        const struct maar_transient_group* previous, uint64_t frame)
{
    static const struct target any = {0, 0};
    const struct maar_transient_resource* resource = &w->graph->resources[index];
    const struct maar_transient_group* group = &resource->groups[use->group];
    struct maar_transient_barrier barrier = leading(index, use);
    struct debt debt = {0};
    barrier.old_layout = previous->layout;
    if (group->acquired) {
        barrier.src_family = previous->family;
        barrier.dst_family = group->family;
    } else {
        owe_group(w, resource, previous, frame, &any, &debt);
    }
    add_change(w, &barrier, &debt);
}

static void order_next(struct walk* w, uint32_t index, const struct maar_transient_use* use,
                       const struct maar_transient_group* previous, uint64_t frame)
{
    const struct target target = {use->queue_stages, use->queue_access};
    struct debt debt = {0};
    owe_group(w, &w->graph->resources[index], previous, frame, &target, &debt);
    pay(&w->record->before, &debt, use->queue_stages, use->queue_access);
}

/* Begins a group, if that takes a change of layout or owner, or if it does not. */
static void begin_group(struct walk* w, const struct maar_transient_pass_use* entry, bool changes)
{
    const struct maar_transient_resource* resource = &w->graph->resources[entry->resource];
    const struct maar_transient_use* use = &resource->uses[entry->use];
    const struct maar_transient_group* group = &resource->groups[use->group];
    const struct maar_transient_group* previous = use->group > 0 ? group - 1 : last_group(resource);
    const uint64_t frame = use->group > 0 ? w->frame : w->frame - 1;
    if (!begins(group, use, entry->use)) {
        return;
    }
    if (use->group == 0 &&
        (w->frame == 0 || (!resource->keep && !stays_as_it_is(w, entry->resource)))) {
        if (changes && resource->is_image) {
            change_first(w, entry->resource, use);
        } else if (!changes && !resource->is_image) {
            order_first(w, entry->resource, use);
        }
    } else if (use->group > 0 || !never_changes(resource)) {
        const bool change = group->acquired || previous->layout != use->layout;
        if (changes && change) {
            change_next(w, entry->resource, use, previous, frame);
        } else if (!changes && !change) {
            order_next(w, entry->resource, use, previous, frame);
        }
    }
}

static void change_group(struct walk* w, const struct maar_transient_pass_use* entry)
{
    begin_group(w, entry, true);
}

static void order_group(struct walk* w, const struct maar_transient_pass_use* entry)
{
    begin_group(w, entry, false);
}

static void release_group(struct walk* w, const struct maar_transient_pass_use* entry)
{
    const struct maar_transient_resource* resource = &w->graph->resources[entry->resource];
    const struct maar_transient_use* use = &resource->uses[entry->use];
    const struct maar_transient_group* group = &resource->groups[use->group];
    static const struct target any = {0, 0};
    if (!group->released || entry->use != group->first + group->count - 1) {
        return;
    }
    const struct maar_transient_group* next =
        group == last_group(resource) ? &resource->groups[0] : group + 1;
    struct debt debt = {0};
    owe_group(w, resource, group, w->frame, &any, &debt);
    const struct maar_transient_barrier barrier = {
        .resource = entry->resource,
        .src_family = group->family,
        .dst_family = next->family,
        .old_layout = group->layout,
        .new_layout = next->layout,
        .src_stages = debt.stages,
        .src_access = debt.writes,
    };
    add_barrier(w, &barrier);
}

/* The changes of a pass order the commands behind them, too. */
static void log_changes(struct walk* w)
{
    const struct maar_transient_record* record = w->record;
    struct maar_transient_log* log = &w->logs[w->queue];
    ++log->call;
    for (uint32_t i = 0; i < record->before_images + record->before_buffers; ++i) {
        const struct maar_transient_barrier* barrier =
            &w->state->records.barriers[record->first_before + i];
        const struct maar_transient_global global = {
            .src_stages = barrier->src_stages,
            .dst_stages = barrier->dst_stages,
        };
        maar_transient_log_add(log, position_of(w, w->pass, w->frame), &global, false);
    }
}

/* Whether one global barrier does all that another one does. */
static bool covers(const struct maar_transient_global* a, const struct maar_transient_global* b)
{
    return (b->src_stages & ~a->src_stages) == 0 && (b->src_access & ~a->src_access) == 0 &&
           (b->dst_stages & ~a->dst_stages) == 0 && (b->dst_access & ~a->dst_access) == 0;
}

/* The global barriers. What the one for earlier uses of the same resources orders by the way needs
 * no other; else the one for bytes that change hands is made first. */
static void make_globals(struct walk* w)
{
    struct maar_transient_record* record = w->record;
    struct maar_transient_log* log = &w->logs[w->queue];
    const struct maar_transient_global landing = record->aliasing;
    const uint32_t logged = log->count;
    for_uses(w, true, order_group);
    for_uses(w, false, order_group);
    log_global(w, &record->before);
    record->aliasing = (struct maar_transient_global){0};
    for_uses(w, false, alias_first);
    if (record->aliasing.src_stages == 0) {
        record->aliasing = landing;
        return;
    }
    log->count = logged;
    record->before = (struct maar_transient_global){0};
    record->aliasing = landing;
    for_uses(w, false, alias_first);
    log_global(w, &record->aliasing);
    for_uses(w, true, order_group);
    for_uses(w, false, order_group);
    log_global(w, &record->before);
    if (landing.src_stages == 0 && covers(&record->before, &record->aliasing)) {
        record->aliasing = (struct maar_transient_global){0};
    }
}

/* Changes first: their barriers order whatever comes behind the call, so that less is left for the
 * global ones. */
static void make_before(struct walk* w)
{
    struct maar_transient_records* records = &w->state->records;
    struct maar_transient_record* record = w->record;
    ++w->logs[w->queue].call;
    for_uses(w, true, land_first);
    log_global(w, &record->aliasing);
    record->first_before = records->barrier_count;
    for_uses(w, true, change_group);
    record->before_images = records->barrier_count - record->first_before;
    for_uses(w, false, change_group);
    record->before_buffers = records->barrier_count - record->first_before - record->before_images;
    log_changes(w);
    make_globals(w);
}

static void make_after(struct walk* w)
{
    struct maar_transient_records* records = &w->state->records;
    struct maar_transient_record* record = w->record;
    record->first_after = records->barrier_count;
    for_uses(w, true, release_group);
    record->after_images = records->barrier_count - record->first_after;
    for_uses(w, false, release_group);
    record->after_buffers = records->barrier_count - record->first_after - record->after_images;
}

static void make_pass(struct walk* w)
{
    *w->record = (struct maar_transient_record){.first_before = 0};
    make_waits(w);
    if (w->aliasing_only) {
        ++w->logs[w->queue].call;
        for_uses(w, true, alias_first);
        for_uses(w, false, alias_first);
        log_global(w, &w->record->aliasing);
    } else {
        make_before(w);
        make_after(w);
    }
}

/* ---- frames ---- */

static void make_frame(struct walk* w, struct maar_transient_record* records)
{
    const struct maar_transient_graph* graph = w->graph;
    uint32_t last[MAAR_TRANSIENT_MAX_QUEUES];
    uint64_t last_frame[MAAR_TRANSIENT_MAX_QUEUES];
    for (uint32_t i = 0; i < graph->queue_count; ++i) {
        last[i] = MAAR_TRANSIENT_NONE;
        if (w->frame > 1) {
            maar_transient_log_trim(&w->logs[i], (w->frame - 1) * graph->queue_passes[i]);
        }
    }
    for (uint32_t i = 0; i < graph->pass_count && w->frame > 0; ++i) {
        const uint32_t queue = graph->passes[i].queue;
        last[queue] = i;
        last_frame[queue] = w->frame - 1;
    }
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        w->pass = graph->order[i];
        w->queue = graph->passes[w->pass].queue;
        w->clock = clock_at(w, w->pass, w->frame);
        w->record = &records[w->pass];
        const size_t row = graph->queue_count * sizeof *w->clock;
        if (last[w->queue] == MAAR_TRANSIENT_NONE) {
            memset(w->clock, 0, row);
        } else {
            memcpy(w->clock, clock_at(w, last[w->queue], last_frame[w->queue]), row);
        }
        make_pass(w);
        last[w->queue] = w->pass;
        last_frame[w->queue] = w->frame;
    }
}

static bool same_slices(const struct maar_transient_records* records,
                        const struct maar_transient_record* a,
                        const struct maar_transient_record* b)
{
    const struct maar_transient_barrier* barriers = records->barriers;
    const uint32_t before = a->before_images + a->before_buffers;
    const uint32_t after = a->after_images + a->after_buffers;
    for (uint32_t i = 0; i < before + after; ++i) {
        const struct maar_transient_barrier* x =
            &barriers[i < before ? a->first_before + i : a->first_after + i - before];
        const struct maar_transient_barrier* y =
            &barriers[i < before ? b->first_before + i : b->first_after + i - before];
        if (x->resource != y->resource || x->src_stages != y->src_stages ||
            x->src_access != y->src_access || x->old_layout != y->old_layout) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->wait_count; ++i) {
        if (records->waits[a->first_wait + i].pass != records->waits[b->first_wait + i].pass) {
            return false;
        }
    }
    return true;
}

static bool same_global(const struct maar_transient_global* a,
                        const struct maar_transient_global* b)
{
    return a->src_stages == b->src_stages && a->src_access == b->src_access &&
           a->dst_stages == b->dst_stages && a->dst_access == b->dst_access;
}

static bool same_frames(const struct walk* w, const struct maar_transient_record* a,
                        const struct maar_transient_record* b)
{
    for (uint32_t i = 0; i < w->graph->pass_count; ++i) {
        if (a[i].before_images != b[i].before_images || a[i].after_images != b[i].after_images ||
            a[i].before_buffers != b[i].before_buffers ||
            a[i].after_buffers != b[i].after_buffers || a[i].wait_count != b[i].wait_count ||
            !same_global(&a[i].aliasing, &b[i].aliasing) ||
            !same_global(&a[i].before, &b[i].before) ||
            !same_slices(&w->state->records, &a[i], &b[i])) {
            return false;
        }
    }
    return true;
}

/* Goes through the frames until they must repeat: a frame's records follow from its own and from
 * those of the one before. False when they do not. */
static bool make_frames(struct walk* w, struct maar_transient_record* spare)
{
    struct maar_transient_records* records = &w->state->records;
    bool repeats = true;
    records->barrier_count = 0;
    records->wait_count = 0;
    for (uint32_t i = 0; i < w->graph->queue_count; ++i) {
        w->logs[i].count = 0;
    }
    for (w->frame = 0; w->frame <= 2 && repeats; ++w->frame) {
        const uint32_t barriers = records->barrier_count;
        const uint32_t waits = records->wait_count;
        const bool kept = w->frame < 2;
        const enum maar_transient_variant variant =
            w->frame == 0 ? MAAR_TRANSIENT_FIRST : MAAR_TRANSIENT_LATER;
        make_frame(w, kept ? records->records[variant] : spare);
        if (w->state->arena.failed || w->scratch.failed) {
            return true;
        }
        if (!kept) {
            repeats = same_frames(w, records->records[variant], spare);
            records->barrier_count = barriers;
            records->wait_count = waits;
        }
    }
    return repeats;
}

/* Room for the largest answer. */
static void make_room(struct maar_transient_state* state)
{
    struct maar_transient_records* records = &state->records;
    uint32_t images = 0;
    uint32_t buffers = 0;
    for (uint32_t variant = 0; variant < MAAR_TRANSIENT_VARIANTS; ++variant) {
        for (uint32_t i = 0; i < state->graph.pass_count; ++i) {
            const struct maar_transient_record* r = &records->records[variant][i];
            const uint32_t image_count = r->before_images + r->after_images;
            const uint32_t buffer_count = r->before_buffers + r->after_buffers;
            images = image_count > images ? image_count : images;
            buffers = buffer_count > buffers ? buffer_count : buffers;
        }
    }
    records->images = maar_arena_take(&state->arena, images, sizeof *records->images);
    records->image_resources =
        maar_arena_take(&state->arena, images, sizeof *records->image_resources);
    records->buffers = maar_arena_take(&state->arena, buffers, sizeof *records->buffers);
    records->buffer_resources =
        maar_arena_take(&state->arena, buffers, sizeof *records->buffer_resources);
}

VkResult maar_transient_record(const struct maar_transient_heap* heap,
                               struct maar_transient_state* state)
{
    const size_t passes = state->graph.pass_count;
    struct walk w = {
        .graph = &state->graph,
        .state = state,
        .scratch = {.callbacks = heap->allocator->callbacks},
        .copies = heap->copy_count,
        .aliasing_only = (heap->flags & MAAR_TRANSIENT_HEAP_CREATE_ALIASING_BARRIERS_ONLY_BIT) != 0,
    };
    struct maar_transient_record* spare = maar_arena_take(&w.scratch, passes, sizeof *spare);
    w.logs = maar_arena_take(&w.scratch, state->graph.queue_count, sizeof *w.logs);
    w.clocks = maar_arena_take(&w.scratch, 2 * passes * state->graph.queue_count, sizeof *w.clocks);
    for (uint32_t i = 0; i < MAAR_TRANSIENT_VARIANTS; ++i) {
        state->records.records[i] =
            maar_arena_take(&state->arena, passes, sizeof **state->records.records);
    }
    if (!w.scratch.failed && !state->arena.failed) {
        for (uint32_t i = 0; i < state->graph.queue_count; ++i) {
            w.logs[i].arena = &w.scratch;
        }
        if (!make_frames(&w, spare)) {
            w.cautious = true;
            (void)make_frames(&w, spare);
        }
        make_room(state);
    }
    const bool failed = w.scratch.failed || state->arena.failed;
    maar_arena_reset(&w.scratch);
    return failed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}
