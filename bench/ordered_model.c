/*
 * The order of submissions, and models of reuse: see ordered_model.h.
 */
#include "ordered_model.h"

#include "bench_common.h"

#include <stdlib.h>
#include <string.h>

const char* const model_rule_names[MODEL_RULES] = {"model: CUDA, events and completed",
                                                   "model: CUDA, and internal waits",
                                                   "model: PyTorch, reserved"};

bool model_order_open(struct model_order* order, const struct support_trace* trace)
{
    bool is_open = true;
    memset(order, 0, sizeof *order);
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        order->clocks[i] = calloc(trace->submit_count + 1, sizeof *order->clocks[i]);
        is_open = is_open && order->clocks[i] != NULL;
    }
    order->queues = calloc(trace->resource_count + 1, sizeof *order->queues);
    order->begins = calloc(trace->resource_count + 1, sizeof *order->begins);
    order->sent = calloc(trace->semaphore_count + 1, sizeof *order->sent);
    return is_open && order->queues != NULL && order->begins != NULL && order->sent != NULL;
}

void model_order_close(struct model_order* order)
{
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        free(order->clocks[i]);
    }
    free(order->queues);
    free(order->begins);
    free(order->sent);
}

void model_order_begin_resource(struct model_order* order, uint32_t resource, uint32_t queue)
{
    order->queues[resource] = queue;
    order->begins[resource] = order->submitted[0];
}

/* What lives longer than a submission of the first queue is used there, too. */
void model_order_last_use(const struct model_order* order, uint32_t resource, uint64_t* last)
{
    const uint32_t queue = order->queues[resource];
    memset(last, 0, MODEL_QUEUES * sizeof *last);
    last[queue] = order->submitted[queue];
    if (order->submitted[0] > order->begins[resource]) {
        last[0] = order->submitted[0];
    }
}

void model_order_add_wait(struct model_order* order, uint32_t queue, uint32_t other, uint64_t value)
{
    uint64_t* const next = &order->next[queue][other];
    *next = *next > value ? *next : value;
}

static void raise_clock(struct model_clock* clock, const struct model_clock* other)
{
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        clock->values[i] =
            clock->values[i] > other->values[i] ? clock->values[i] : other->values[i];
    }
}

void model_order_reach(const struct model_order* order, uint32_t queue, struct model_clock* reach)
{
    memset(reach, 0, sizeof *reach);
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        if (order->next[queue][i] != 0) {
            raise_clock(reach, &order->clocks[i][order->next[queue][i] - 1]);
        }
    }
}

uint64_t model_order_submit(struct model_order* order, const struct support_trace* trace,
                            uint32_t queue, uint32_t submit)
{
    const uint64_t value = ++order->submitted[queue];
    struct model_clock* const clock = &order->clocks[queue][value - 1];
    model_order_reach(order, queue, clock);
    if (value > 1) { /* the timeline's own order */
        raise_clock(clock, &order->clocks[queue][value - 2]);
    }
    for (uint32_t at = trace->submits[submit].last_point; at != UINT32_MAX;
         at = trace->points[at].next) {
        const struct support_trace_point* const point = &trace->points[at];
        if (!point->is_signal && point->semaphore < trace->semaphore_count) {
            raise_clock(clock, &order->sent[point->semaphore]);
        }
    }
    clock->values[queue] = value;
    for (uint32_t at = trace->submits[submit].last_point; at != UINT32_MAX;
         at = trace->points[at].next) {
        const struct support_trace_point* const point = &trace->points[at];
        if (point->is_signal && point->semaphore < trace->semaphore_count) {
            order->sent[point->semaphore] = *clock;
        }
    }
    memset(order->next[queue], 0, sizeof order->next[queue]);
    return value;
}

void model_order_plan_next(struct model_order* order, uint32_t queue, bool waits)
{
    if (waits) {
        model_order_add_wait(order, queue, queue, order->submitted[queue]);
    }
}

bool model_drops(uint64_t* random, uint32_t percent)
{
    return percent != 0 && bench_random(random) % 100 < percent;
}

const uint64_t* model_order_frame(struct model_order* order, bool by_threads, uint32_t ahead)
{
    for (uint32_t i = 1; by_threads && i < MODEL_QUEUES; ++i) {
        model_order_add_wait(order, 0, i, order->submitted[i]);
        model_order_add_wait(order, i, 0, order->submitted[0]);
    }
    const uint64_t frame = order->frame_count++;
    memcpy(order->frames[frame % MODEL_HISTORY], order->submitted, sizeof order->submitted);
    if (frame >= ahead) {
        memcpy(order->executed, order->frames[(frame - ahead) % MODEL_HISTORY],
               sizeof order->executed);
    }
    return order->executed;
}

/* ---- models ---- */

/* Bytes that are free in the order of the device. */
struct free_bytes {
    uint64_t size;
    uint32_t queue; /* of their allocations */
    uint64_t last[MODEL_QUEUES];
};

struct model {
    struct model_order order;
    enum model_rule rule;
    struct free_bytes* list;
    size_t count;
    size_t capacity;
    uint64_t* sizes; /* of each resource, as placed */
    uint64_t live;
    uint64_t listed;
    uint64_t high;
    uint64_t waits;
};

static bool has_executed(const struct model_order* order, const struct free_bytes* bytes)
{
    bool has = true;
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        has = has && bytes->last[i] <= order->executed[i];
    }
    return has;
}

/* Whether a queue's next submission may have these bytes without a wait. */
static bool may_have(const struct model* model, const struct free_bytes* bytes, uint32_t queue,
                     const struct model_clock* reach)
{
    bool ordered = true;
    bool others = true; /* all users but the own queue have executed */
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        const bool executed = bytes->last[i] <= model->order.executed[i];
        ordered = ordered && (i == queue || executed || bytes->last[i] <= reach->values[i]);
        others = others && (i == bytes->queue || executed);
    }
    return model->rule == MODEL_PYTORCH ? bytes->queue == queue && others : ordered;
}

/* Takes bytes out of the list. Returns false if none serve. */
static bool take_bytes(struct model* model, uint64_t size, uint32_t queue)
{
    struct model_clock reach;
    size_t best = SIZE_MAX;
    bool waits = false;
    model_order_reach(&model->order, queue, &reach);
    for (uint32_t round = 0; round < (model->rule == MODEL_CUDA_ALL ? 2u : 1u); ++round) {
        for (size_t i = 0; i < model->count && (round == 0 || best == SIZE_MAX || waits); ++i) {
            const struct free_bytes* const bytes = &model->list[i];
            if (bytes->size >= size && (best == SIZE_MAX || bytes->size < model->list[best].size) &&
                (round == 1 || may_have(model, bytes, queue, &reach))) {
                best = i;
                waits = round == 1;
            }
        }
    }
    if (best == SIZE_MAX) {
        return false;
    }
    model->waits += waits ? 1 : 0;
    model->list[best].size -= size;
    model->listed -= size;
    if (model->list[best].size == 0) {
        model->list[best] = model->list[--model->count];
    }
    return true;
}

static void model_allocate(struct model* model, uint32_t resource, uint64_t size, uint32_t queue)
{
    const uint64_t unit = model->rule == MODEL_PYTORCH ? 512 : 256;
    size = (size + unit - 1) / unit * unit;
    (void)take_bytes(model, size, queue);
    model->sizes[resource] = size;
    model->live += size;
    model_order_begin_resource(&model->order, resource, queue);
    const uint64_t placed = model->live + model->listed;
    model->high = placed > model->high ? placed : model->high;
}

static bool model_free(struct model* model, uint32_t resource)
{
    if (model->count == model->capacity) {
        const size_t capacity = model->capacity * 2 + 64;
        struct free_bytes* const list = realloc(model->list, capacity * sizeof *list);
        if (list == NULL) {
            return false;
        }
        model->list = list;
        model->capacity = capacity;
    }
    struct free_bytes* const bytes = &model->list[model->count++];
    bytes->size = model->sizes[resource];
    bytes->queue = model->order.queues[resource];
    model_order_last_use(&model->order, resource, bytes->last);
    model->live -= bytes->size;
    model->listed += bytes->size;
    return true;
}

/* What has executed is free for everybody, but stays with its stream in PyTorch's cache. */
static void model_collect(struct model* model)
{
    for (size_t i = 0; i < model->count && model->rule != MODEL_PYTORCH;) {
        if (has_executed(&model->order, &model->list[i])) {
            model->listed -= model->list[i].size;
            model->list[i] = model->list[--model->count];
        } else {
            ++i;
        }
    }
}

uint64_t model_play(const struct support_trace* trace, bool by_threads, uint32_t ahead,
                    enum model_rule rule, uint64_t* submissions, uint64_t* waits)
{
    struct model model = {.rule = rule};
    model.sizes = calloc(trace->resource_count + 1, sizeof *model.sizes);
    bool works = model_order_open(&model.order, trace) && model.sizes != NULL;
    *submissions = 0;
    for (size_t i = 0; i < trace->step_count && works; ++i) {
        const struct support_trace_step* const step = &trace->steps[i];
        const uint32_t queue = by_threads ? step->stream % MODEL_QUEUES : 0;
        if (step->op == SUPPORT_TRACE_ALLOC) {
            model_allocate(&model, step->index, trace->resources[step->index].size, queue);
        } else if (step->op == SUPPORT_TRACE_FREE) {
            works = model_free(&model, step->index);
        } else if (step->op == SUPPORT_TRACE_FRAME) {
            (void)model_order_frame(&model.order, by_threads, ahead);
            model_collect(&model);
        } else if (step->op == SUPPORT_TRACE_SUBMIT &&
                   trace->submits[step->index].kind == SUPPORT_TRACE_SUBMIT_COMMANDS) {
            (void)model_order_submit(&model.order, trace, queue, step->index);
            model_order_plan_next(&model.order, queue, true);
            ++*submissions;
        }
    }
    if (!works) {
        bench_die(BENCH_EXIT_FAILED, "no host memory");
    }
    *waits = model.waits;
    model_order_close(&model.order);
    free(model.sizes);
    free(model.list);
    return model.high;
}
