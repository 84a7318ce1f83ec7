/*
 * The barriers and waits of all frames. The frames of one copy are walked in order until they
 * repeat: the first frame, which has no predecessor, and later ones.
 */
#include <string.h>

#include "core/memory/allocator_state.h"
#include "core/transient/transient_barriers.h"

static void make_frame(struct maar_walk* w, struct maar_transient_record* records)
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
        w->clock = maar_walk_clock(w, w->pass, w->frame);
        w->record = &records[w->pass];
        const size_t row = graph->queue_count * sizeof *w->clock;
        if (last[w->queue] == MAAR_TRANSIENT_NONE) {
            memset(w->clock, 0, row);
        } else {
            memcpy(w->clock, maar_walk_clock(w, last[w->queue], last_frame[w->queue]), row);
        }
        maar_walk_pass(w);
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

static bool same_frames(const struct maar_walk* w, const struct maar_transient_record* a,
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

/* Walks the frames until they repeat. The records of a frame follow from its own passes and from
 * the records of the frame before. Returns false if the frames do not repeat. */
static bool make_frames(struct maar_walk* w, struct maar_transient_record* spare)
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
        if (w->state->stack.failed || w->scratch.failed) {
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

/* Takes storage for the largest answer of maarGetTransientPassBarriers. */
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
    records->images = maar_stack_take(&state->stack, images, sizeof *records->images);
    records->image_resources =
        maar_stack_take(&state->stack, images, sizeof *records->image_resources);
    records->buffers = maar_stack_take(&state->stack, buffers, sizeof *records->buffers);
    records->buffer_resources =
        maar_stack_take(&state->stack, buffers, sizeof *records->buffer_resources);
}

VkResult maar_transient_record(const struct maar_transient_heap* heap,
                               struct maar_transient_state* state)
{
    const size_t passes = state->graph.pass_count;
    struct maar_walk w = {
        .graph = &state->graph,
        .state = state,
        .scratch = {.callbacks = heap->allocator->callbacks},
        .copies = heap->copy_count,
        .aliasing_only = (heap->flags & MAAR_TRANSIENT_HEAP_CREATE_ALIASING_BARRIERS_ONLY_BIT) != 0,
    };
    struct maar_transient_record* spare = maar_stack_take(&w.scratch, passes, sizeof *spare);
    w.logs = maar_stack_take(&w.scratch, state->graph.queue_count, sizeof *w.logs);
    w.clocks = maar_stack_take(&w.scratch, 2 * passes * state->graph.queue_count, sizeof *w.clocks);
    for (uint32_t i = 0; i < MAAR_TRANSIENT_VARIANTS; ++i) {
        state->records.records[i] =
            maar_stack_take(&state->stack, passes, sizeof **state->records.records);
    }
    state->asked = maar_stack_take(&state->stack, passes, sizeof *state->asked);
    if (!w.scratch.failed && !state->stack.failed) {
        for (uint32_t i = 0; i < state->graph.queue_count; ++i) {
            w.logs[i].stack = &w.scratch;
        }
        if (!make_frames(&w, spare)) {
            w.cautious = true;
            (void)make_frames(&w, spare);
        }
        make_room(state);
    }
    const bool failed = w.scratch.failed || state->stack.failed;
    maar_stack_reset(&w.scratch);
    return failed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}
