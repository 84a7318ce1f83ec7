/*
 * The least high water that any allocator could have: see ordered_model.h.
 *
 * Bytes have no places here, so nothing is lost to fragments, alignment or sizes. A request takes
 * pending bytes that its submission comes after, those first that stay pending longest. On one
 * queue that is best at every moment: all requests that wait at all come after the same bytes.
 */
#include "ordered_model.h"

#include "bench_common.h"

#include <stdlib.h>

/* Bytes that wait for a value of the queue's timeline. */
struct bound_bytes {
    uint64_t value;
    uint64_t size;
};

struct bound {
    const struct support_trace* trace;
    struct model_order order;
    struct bound_bytes* pending; /* one for each resource at most; by value */
    size_t count;
    uint64_t live;
    uint64_t pending_size;
    uint64_t high;
};

static void bound_allocate(struct bound* bound, uint32_t resource)
{
    const uint64_t size = bound->trace->resources[resource].size;
    uint64_t missing = size;
    struct model_clock reach;
    model_order_reach(&bound->order, 0, &reach);
    for (size_t i = bound->count; i > 0 && missing > 0; --i) {
        struct bound_bytes* const bytes = &bound->pending[i - 1];
        if (bytes->value <= reach.values[0]) {
            const uint64_t taken = bytes->size < missing ? bytes->size : missing;
            bytes->size -= taken;
            bound->pending_size -= taken;
            missing -= taken;
        }
    }
    bound->live += size;
    model_order_begin_resource(&bound->order, resource, 0);
    const uint64_t placed = bound->live + bound->pending_size;
    bound->high = placed > bound->high ? placed : bound->high;
}

static void bound_free(struct bound* bound, uint32_t resource)
{
    const uint64_t size = bound->trace->resources[resource].size;
    uint64_t last[MODEL_QUEUES];
    model_order_last_use(&bound->order, resource, last);
    bound->live -= size;
    if (last[0] > bound->order.executed[0]) {
        bound->pending[bound->count++] = (struct bound_bytes){last[0], size};
        bound->pending_size += size;
    }
}

/* Ends what the device has passed. */
static void bound_pass(struct bound* bound, uint64_t executed)
{
    size_t kept = 0;
    for (size_t i = 0; i < bound->count; ++i) {
        if (bound->pending[i].value > executed && bound->pending[i].size > 0) {
            bound->pending[kept++] = bound->pending[i];
        } else {
            bound->pending_size -= bound->pending[i].size;
        }
    }
    bound->count = kept;
}

uint64_t model_bound(const struct support_trace* trace, uint32_t ahead, uint32_t dropped_percent)
{
    struct bound bound = {.trace = trace};
    uint64_t random = BENCH_SEED;
    bound.pending = calloc(trace->resource_count + 1, sizeof *bound.pending);
    if (!model_order_open(&bound.order, trace) || bound.pending == NULL) {
        bench_die(BENCH_EXIT_FAILED, "no host memory");
    }
    for (size_t i = 0; i < trace->step_count; ++i) {
        const struct support_trace_step* const step = &trace->steps[i];
        if (step->op == SUPPORT_TRACE_ALLOC) {
            bound_allocate(&bound, step->index);
        } else if (step->op == SUPPORT_TRACE_FREE) {
            bound_free(&bound, step->index);
        } else if (step->op == SUPPORT_TRACE_FRAME) {
            bound_pass(&bound, model_order_frame(&bound.order, false, ahead)[0]);
        } else if (step->op == SUPPORT_TRACE_SUBMIT &&
                   trace->submits[step->index].kind == SUPPORT_TRACE_SUBMIT_COMMANDS) {
            (void)model_order_submit(&bound.order, trace, 0, step->index);
            model_order_plan_next(&bound.order, 0, !model_drops(&random, dropped_percent));
        }
    }
    model_order_close(&bound.order);
    free(bound.pending);
    return bound.high;
}
