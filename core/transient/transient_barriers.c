/*
 * The barriers and waits of one pass.
 *
 * Frames of other copies may run in between. No rule relies on what they do. A use that begins a
 * group (transient_graph.h) must come after certain accesses. These are the accesses of the group
 * before it. For the first group of a frame they are the accesses of the last groups of all
 * resources that had its bytes before, in this frame or in the last one.
 *
 * - Semaphores order the accesses of other queues, and carry all writes. A clock shows what
 *   semaphores have ordered already. What is missing becomes a wait.
 *
 * - Accesses on the same queue that no semaphore orders need a barrier: a global one or, where a
 *   layout changes, the source stages of the image barrier. What earlier barriers have ordered
 *   (transient_barrier_log.h) needs no further barrier.
 *
 * - A barrier makes writes available by naming their stages and accesses. An image barrier cannot
 *   do so for the writes of another resource. The global barrier `aliasing` does it before the
 *   change of layout, and its destination is the stages of those same writes.
 *
 * - A group of reads on one queue has one barrier before the first read, for the stages of all
 *   reads.
 *
 * - An owner changes by a release after the last use of a group and an acquisition before the next
 *   group. Contents that are discarded change owners without these.
 */
#include <string.h>

#include "core/transient/transient_barriers.h"

static void add_barrier(struct maar_walk* w, const struct maar_transient_barrier* barrier)
{
    struct maar_transient_records* records = &w->state->records;
    if (records->barrier_count == records->barrier_capacity) {
        struct maar_transient_barrier* barriers = maar_stack_grow(
            &w->state->stack, records->barriers, &records->barrier_capacity, 64, sizeof *barriers);
        if (barriers == NULL) {
            return;
        }
        records->barriers = barriers;
    }
    records->barriers[records->barrier_count++] = *barrier;
}

/* ---- first uses ---- */

/* Gathers all stages that the first layout of an image in a frame must come after. The image's own
 * writes are returned apart, since the image's barrier can make them available itself. */
static void gather_first_layout(const struct maar_walk* w, uint32_t index,
                                struct maar_walk_source* all, VkAccessFlags2* own_writes)
{
    static const struct maar_walk_target any = {0, 0};
    struct maar_walk_predecessor_group before;
    for (uint32_t i = 0; maar_walk_predecessor(w, index, i, &before); ++i) {
        struct maar_walk_source source = {0};
        maar_walk_gather(w, before.resource, maar_walk_last_group(before.resource), before.frame,
                         &any, &source);
        all->stages |= source.stages;
        *own_writes |= before.foreign ? 0 : source.writes;
    }
}

/* Gathers the writes of other resources that must be available before the first layout of an image.
 * Only a global barrier can make them available. */
static void alias_image(struct maar_walk* w, uint32_t index)
{
    struct maar_walk_source all = {0};
    struct maar_walk_source landing = {0};
    VkAccessFlags2 own_writes = 0;
    struct maar_walk_predecessor_group before;
    gather_first_layout(w, index, &all, &own_writes);
    for (uint32_t i = 0; maar_walk_predecessor(w, index, i, &before); ++i) {
        if (before.foreign) {
            maar_walk_gather_landing(w, &before, all.stages, &landing);
        }
    }
    maar_walk_order_after(&w->record->aliasing, &landing, landing.write_stages, 0);
}

/* Orders the earlier uses of bytes that pass from other resources to a buffer, or to an image whose
 * layouts the program changes itself. */
static void alias_bytes(struct maar_walk* w, uint32_t index, const struct maar_transient_use* use)
{
    const struct maar_walk_target target = {use->queue_stages, use->queue_access};
    struct maar_walk_predecessor_group before;
    struct maar_walk_source source = {0};
    for (uint32_t i = 0; maar_walk_predecessor(w, index, i, &before); ++i) {
        if (before.foreign) {
            maar_walk_gather(w, before.resource, maar_walk_last_group(before.resource),
                             before.frame, &target, &source);
        }
    }
    maar_walk_order_after(&w->record->aliasing, &source, use->queue_stages, use->queue_access);
}

static void land_first(struct maar_walk* w, const struct maar_transient_pass_use* entry)
{
    const struct maar_transient_resource* resource = &w->graph->resources[entry->resource];
    const struct maar_transient_use* use = &resource->uses[entry->use];
    if (use->group == 0 && !resource->keep &&
        maar_walk_begins(&resource->groups[0], use, entry->use)) {
        alias_image(w, entry->resource);
    }
}

static void alias_first(struct maar_walk* w, const struct maar_transient_pass_use* entry)
{
    const struct maar_transient_resource* resource = &w->graph->resources[entry->resource];
    const struct maar_transient_use* use = &resource->uses[entry->use];
    if (use->group == 0 && !resource->keep &&
        maar_walk_begins(&resource->groups[0], use, entry->use)) {
        alias_bytes(w, entry->resource, use);
    }
}

/* Calls a function for each use of the pass: those of images, or those of buffers. */
static void for_uses(struct maar_walk* w, bool images,
                     void (*function)(struct maar_walk*, const struct maar_transient_pass_use*))
{
    const struct maar_transient_pass* pass = &w->graph->passes[w->pass];
    for (uint32_t k = pass->first_use; k < pass->first_use + pass->use_count; ++k) {
        const struct maar_transient_pass_use* entry = &w->graph->pass_uses[k];
        if (w->graph->resources[entry->resource].is_image == images) {
            function(w, entry);
        }
    }
}

static void log_global(struct maar_walk* w, const struct maar_transient_global* global)
{
    if (global->src_stages != 0) {
        maar_transient_log_add(&w->logs[w->queue], maar_walk_position(w, w->pass, w->frame), global,
                               true);
    }
}

/* ---- changes of layout and owner ---- */

/* Returns the barrier of the leader of a group, without the parts that depend on earlier uses. */
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

/* Adds a change of layout or owner. If it comes after a semaphore, or after nothing, its source is
 * the stages that begin then. */
static void add_change(struct maar_walk* w, struct maar_transient_barrier* barrier,
                       const struct maar_walk_source* source)
{
    barrier->src_stages = source->stages != 0 ? source->stages : barrier->dst_stages;
    barrier->src_access = source->writes;
    add_barrier(w, barrier);
}

static void change_first(struct maar_walk* w, uint32_t index, const struct maar_transient_use* use)
{
    struct maar_transient_barrier barrier = leading(index, use);
    struct maar_walk_source source = {0};
    VkAccessFlags2 own_writes = 0;
    gather_first_layout(w, index, &source, &own_writes);
    source.writes = own_writes;
    barrier.carries = w->graph->resources[index].keep;
    add_change(w, &barrier, &source);
}

/* Orders the first use of a buffer in a frame after its last use in the frame before. */
static void order_first(struct maar_walk* w, uint32_t index, const struct maar_transient_use* use)
{
    const struct maar_transient_resource* resource = &w->graph->resources[index];
    struct maar_walk_source source = {0};
    const struct maar_walk_target target = {use->queue_stages, use->queue_access};
    struct maar_walk_predecessor_group before;
    for (uint32_t i = 0; maar_walk_predecessor(w, index, i, &before); ++i) {
        if (!before.foreign) {
            maar_walk_gather(w, resource, maar_walk_last_group(resource), before.frame, &target,
                             &source);
        }
    }
    maar_walk_order_after(&w->record->before, &source, use->queue_stages, use->queue_access);
}

/* Changes the layout or owner between a group and the group before it, which belongs to the given
 * frame. */
static void change_next(struct maar_walk* w, uint32_t index, const struct maar_transient_use* use,
                        const struct maar_transient_group* previous, uint64_t frame)
{
    static const struct maar_walk_target any = {0, 0};
    const struct maar_transient_resource* resource = &w->graph->resources[index];
    const struct maar_transient_group* group = &resource->groups[use->group];
    struct maar_transient_barrier barrier = leading(index, use);
    struct maar_walk_source source = {0};
    barrier.old_layout = previous->layout;
    if (group->acquired) {
        barrier.src_family = previous->family;
        barrier.dst_family = group->family;
    } else {
        maar_walk_gather(w, resource, previous, frame, &any, &source);
    }
    add_change(w, &barrier, &source);
}

static void order_next(struct maar_walk* w, uint32_t index, const struct maar_transient_use* use,
                       const struct maar_transient_group* previous, uint64_t frame)
{
    const struct maar_walk_target target = {use->queue_stages, use->queue_access};
    struct maar_walk_source source = {0};
    maar_walk_gather(w, &w->graph->resources[index], previous, frame, &target, &source);
    maar_walk_order_after(&w->record->before, &source, use->queue_stages, use->queue_access);
}

/* Begins a group. changes: begins only a group that needs a change of layout or owner; otherwise
 * only a group that does not. */
static void begin_group(struct maar_walk* w, const struct maar_transient_pass_use* entry,
                        bool changes)
{
    const struct maar_transient_resource* resource = &w->graph->resources[entry->resource];
    const struct maar_transient_use* use = &resource->uses[entry->use];
    const struct maar_transient_group* group = &resource->groups[use->group];
    const struct maar_transient_group* previous =
        use->group > 0 ? group - 1 : maar_walk_last_group(resource);
    const uint64_t frame = use->group > 0 ? w->frame : w->frame - 1;
    if (!maar_walk_begins(group, use, entry->use)) {
        return;
    }
    if (use->group == 0 &&
        (w->frame == 0 || (!resource->keep && !maar_walk_stays(w, entry->resource)))) {
        if (changes && resource->is_image) {
            change_first(w, entry->resource, use);
        } else if (!changes && !resource->is_image) {
            order_first(w, entry->resource, use);
        }
    } else if (use->group > 0 || !maar_walk_never_changes(resource)) {
        const bool change = group->acquired || previous->layout != use->layout;
        if (changes && change) {
            change_next(w, entry->resource, use, previous, frame);
        } else if (!changes && !change) {
            order_next(w, entry->resource, use, previous, frame);
        }
    }
}

static void change_group(struct maar_walk* w, const struct maar_transient_pass_use* entry)
{
    begin_group(w, entry, true);
}

static void order_group(struct maar_walk* w, const struct maar_transient_pass_use* entry)
{
    begin_group(w, entry, false);
}

static void release_group(struct maar_walk* w, const struct maar_transient_pass_use* entry)
{
    const struct maar_transient_resource* resource = &w->graph->resources[entry->resource];
    const struct maar_transient_use* use = &resource->uses[entry->use];
    const struct maar_transient_group* group = &resource->groups[use->group];
    static const struct maar_walk_target any = {0, 0};
    if (!group->released || entry->use != group->first + group->count - 1) {
        return;
    }
    const struct maar_transient_group* next =
        group == maar_walk_last_group(resource) ? &resource->groups[0] : group + 1;
    struct maar_walk_source source = {0};
    maar_walk_gather(w, resource, group, w->frame, &any, &source);
    const struct maar_transient_barrier barrier = {
        .resource = entry->resource,
        .src_family = group->family,
        .dst_family = next->family,
        .old_layout = group->layout,
        .new_layout = next->layout,
        .src_stages = source.stages,
        .src_access = source.writes,
    };
    add_barrier(w, &barrier);
}

/* Logs the changes of a pass: they order the commands behind them, too. */
static void log_changes(struct maar_walk* w)
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
        maar_transient_log_add(log, maar_walk_position(w, w->pass, w->frame), &global, false);
    }
}

/* Whether one global barrier does all that another one does. */
static bool covers(const struct maar_transient_global* a, const struct maar_transient_global* b)
{
    return (b->src_stages & ~a->src_stages) == 0 && (b->src_access & ~a->src_access) == 0 &&
           (b->dst_stages & ~a->dst_stages) == 0 && (b->dst_access & ~a->dst_access) == 0;
}

/* Makes the global barriers of a pass. The barrier for earlier uses of the same resources is made
 * first, since it may order the aliased bytes too. If some aliased bytes remain, the barrier for
 * them is made first instead. */
static void make_globals(struct maar_walk* w)
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

/* Makes the barriers before a pass. The changes come first: they order all commands after their
 * call, so that less is left for the global barriers. */
static void make_before(struct maar_walk* w)
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

static void make_after(struct maar_walk* w)
{
    struct maar_transient_records* records = &w->state->records;
    struct maar_transient_record* record = w->record;
    record->first_after = records->barrier_count;
    for_uses(w, true, release_group);
    record->after_images = records->barrier_count - record->first_after;
    for_uses(w, false, release_group);
    record->after_buffers = records->barrier_count - record->first_after - record->after_images;
}

void maar_walk_pass(struct maar_walk* w)
{
    *w->record = (struct maar_transient_record){.first_before = 0};
    maar_walk_waits(w);
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
