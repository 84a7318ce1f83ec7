/*
 * Workloads of logs of allocations: see residency_trace.h.
 */
#include "residency_trace.h"

#include "bench_common.h"
#include "support/trace.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    CHUNK_PAGES = 16,
    WEIGHTS_A_SUBMISSION = 8,
    SERVING_STEPS = 400,
    TRAINING_STEPS = 4,
    MOST_USES = 32, /* of a training's submission; what more there is at one time is another one */
};

/* What lives shorter is not kept: activations. */
#define LEAST_LIFE_NS UINT64_C(1000000)
#define STEP_NS UINT64_C(1000000000)

/* ---- serving ---- */

/* A part of a request's key-value cache, or a weight. */
struct chunk {
    uint64_t size;
    uint64_t begin_ns, end_ns;
    uint64_t last_ns; /* its request uses it up to here */
    uint32_t request;
    uint32_t page_count;
    bool was_used;
};

struct chunks {
    struct chunk* all;
    uint32_t count;
    uint32_t weight_count; /* the first ones */
    uint32_t request_count;
};

/* Adds what is there from the beginning to the end of a log. Returns the end. */
static uint64_t find_weights(const struct support_trace* trace, struct chunks* chunks)
{
    const uint64_t end_ns = trace->events[trace->event_count - 1].time_ns;
    for (size_t i = 0; i < trace->resource_count; ++i) {
        const struct support_trace_resource* row = &trace->resources[i];
        if (row->alloc_time_ns == 0 && row->free_time_ns >= end_ns) {
            chunks->all[chunks->count++] = (struct chunk){.size = row->size,
                                                          .end_ns = UINT64_MAX,
                                                          .last_ns = UINT64_MAX,
                                                          .request = UINT32_MAX};
        }
    }
    chunks->weight_count = chunks->count;
    return end_ns;
}

/* Adds a page to the last chunk of its request, or a new one. */
static void add_page(struct chunks* chunks, const struct support_trace_resource* row)
{
    struct chunk* last = chunks->count != 0 ? &chunks->all[chunks->count - 1] : NULL;
    if (last != NULL && last->request == chunks->request_count && last->page_count < CHUNK_PAGES) {
        last->size += row->size;
        last->begin_ns = row->alloc_time_ns < last->begin_ns ? row->alloc_time_ns : last->begin_ns;
        ++last->page_count;
        return;
    }
    chunks->all[chunks->count++] = (struct chunk){.size = row->size,
                                                  .begin_ns = row->alloc_time_ns,
                                                  .end_ns = row->free_time_ns,
                                                  .last_ns = row->free_time_ns,
                                                  .request = chunks->request_count,
                                                  .page_count = 1};
}

/* Goes through the frees: what is freed without a break at one time is a request. */
static void find_requests(const struct support_trace* trace, struct chunks* chunks, uint64_t end_ns)
{
    uint64_t freed_ns = UINT64_MAX;
    for (size_t i = 0; i < trace->event_count; ++i) {
        const struct support_trace_event* event = &trace->events[i];
        if (event->op != SUPPORT_TRACE_FREE) {
            freed_ns = UINT64_MAX;
            continue;
        }
        const struct support_trace_resource* row = &trace->resources[event->resource];
        if (row->free_time_ns >= end_ns || row->free_time_ns - row->alloc_time_ns < LEAST_LIFE_NS) {
            continue;
        }
        chunks->request_count += row->free_time_ns != freed_ns ? 1 : 0;
        freed_ns = row->free_time_ns;
        add_page(chunks, row);
    }
}

/* Goes through the allocations: what is allocated at one time belongs to one request. Blocks, which
 * have the size of most rows, stay behind when the request has ended, until the cache of the log
 * dropped them; everything else ends with the request. */
static void find_blocks(const struct support_trace* trace, struct chunks* chunks, uint64_t end_ns)
{
    uint64_t block = 0;
    for (size_t i = 0; i < trace->resource_count; ++i) {
        block = trace->resources[i].size > block ? trace->resources[i].size : block;
    }
    for (size_t i = 0; i < trace->resource_count;) {
        const uint64_t begin_ns = trace->resources[i].alloc_time_ns;
        const uint32_t first = chunks->count;
        uint64_t last_ns = begin_ns;
        for (; i < trace->resource_count && trace->resources[i].alloc_time_ns == begin_ns; ++i) {
            const struct support_trace_resource* row = &trace->resources[i];
            if (begin_ns == 0 || row->free_time_ns >= end_ns) {
                continue;
            }
            last_ns =
                row->size != block && row->free_time_ns > last_ns ? row->free_time_ns : last_ns;
            chunks->all[chunks->count++] = (struct chunk){.size = row->size,
                                                          .begin_ns = begin_ns,
                                                          .end_ns = row->free_time_ns,
                                                          .request = chunks->request_count};
        }
        for (uint32_t k = first; k < chunks->count; ++k) {
            chunks->all[k].last_ns = last_ns;
        }
        ++chunks->request_count;
    }
}

static void use_chunk(struct residency_workload* workload, const struct chunks* chunks,
                      uint32_t chunk, bool writes)
{
    residency_object_at(workload, chunk)->size = chunks->all[chunk].size;
    residency_add_use(workload, chunk, writes ? RESIDENCY_WRITES : 0);
}

/* Adds the submissions of a step. */
static void add_step(struct residency_workload* workload, const struct chunks* chunks,
                     uint64_t now_ns)
{
    uint32_t request = UINT32_MAX;
    for (uint32_t i = chunks->weight_count; i < chunks->count; ++i) {
        const struct chunk* chunk = &chunks->all[i];
        if (chunk->was_used && chunk->end_ns <= now_ns && chunk->end_ns + STEP_NS > now_ns) {
            residency_object_at(workload, i)->end = workload->submission_count;
        }
    }
    for (uint32_t i = 0; i < chunks->weight_count; ++i) {
        if (i % WEIGHTS_A_SUBMISSION == 0) {
            residency_begin_submission(workload);
        }
        use_chunk(workload, chunks, i, false);
    }
    for (uint32_t i = chunks->weight_count; i < chunks->count; ++i) {
        struct chunk* chunk = &chunks->all[i];
        if (chunk->begin_ns > now_ns || chunk->end_ns <= now_ns ||
            (chunk->last_ns <= now_ns && chunk->was_used)) {
            continue;
        }
        if (chunk->request != request) {
            residency_begin_submission(workload);
            request = chunk->request;
        }
        /* A request writes its cache once, but for the chunk that it adds to. */
        use_chunk(workload, chunks, i, !chunk->was_used);
        chunk->was_used = true;
    }
}

static void make_serving(struct residency_workload* workload, const struct support_trace* trace,
                         enum residency_log kind)
{
    struct chunks chunks = {.all = bench_allocate(trace->resource_count, sizeof(struct chunk))};
    const uint64_t end_ns = find_weights(trace, &chunks);
    if (kind == RESIDENCY_LOG_SERVING) {
        find_requests(trace, &chunks, end_ns);
    } else {
        find_blocks(trace, &chunks, end_ns);
    }
    for (uint64_t step = 1; step <= SERVING_STEPS && step * STEP_NS < end_ns; ++step) {
        add_step(workload, &chunks, step * STEP_NS);
    }
    free(chunks.all);
}

/* ---- training ---- */

/* When a resource is used, in the order of these uses. */
struct log_use {
    uint64_t time_ns;
    uint32_t resource;
    uint8_t access;
};

static int compare_uses(const void* one, const void* other)
{
    const struct log_use* a = one;
    const struct log_use* b = other;
    if (a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns ? -1 : 1;
    }
    return a->resource < b->resource ? -1 : a->resource > b->resource;
}

/* Adds uses in the order of their times, with a submission for each time. Object numbers begin at
 * `base`. A resource ends behind the last submission that is not later than its
 * free. */
static void add_sorted(struct residency_workload* workload, const struct support_trace* trace,
                       struct log_use* uses, size_t count, uint32_t base)
{
    uint64_t* times = bench_allocate(count + 1, sizeof *times);
    const uint32_t first = workload->submission_count;
    uint32_t in_submission = MOST_USES;
    qsort(uses, count, sizeof *uses, compare_uses);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t submission = workload->submission_count - first;
        if (in_submission == MOST_USES || uses[i].time_ns != times[submission - 1]) {
            times[submission] = uses[i].time_ns;
            residency_begin_submission(workload);
            in_submission = 0;
        }
        const uint32_t object = base + uses[i].resource;
        residency_object_at(workload, object)->size = trace->resources[uses[i].resource].size;
        residency_add_use(workload, object, uses[i].access);
        ++in_submission;
    }
    for (uint32_t i = base; i < workload->object_count; ++i) {
        const uint64_t free_ns = trace->resources[i - base].free_time_ns;
        uint32_t low = 0;
        for (uint32_t high = workload->submission_count - first; low < high;) {
            const uint32_t middle = (low + high) / 2;
            const bool is_before = times[middle] <= free_ns;
            low = is_before ? middle + 1 : low;
            high = is_before ? high : middle;
        }
        workload->objects[i].end = first + low;
    }
    free(times);
}

static void make_training(struct residency_workload* workload, const struct support_trace* trace)
{
    struct log_use* uses = bench_allocate(2 * trace->resource_count, sizeof *uses);
    for (uint32_t step = 0; step < TRAINING_STEPS; ++step) {
        size_t count = 0;
        for (uint32_t i = 0; i < trace->resource_count; ++i) {
            const struct support_trace_resource* row = &trace->resources[i];
            uses[count++] = (struct log_use){row->alloc_time_ns, i, RESIDENCY_WRITES};
            if (row->free_time_ns != UINT64_MAX && row->free_time_ns > row->alloc_time_ns) {
                uses[count++] = (struct log_use){row->free_time_ns, i, 0};
            }
        }
        add_sorted(workload, trace, uses, count, step * (uint32_t)trace->resource_count);
    }
    free(uses);
}

void residency_load_log(struct residency_workload* workload, const char* path,
                        enum residency_log kind, uint32_t perturbed)
{
    struct support_trace trace;
    struct support_error error = {{0}};
    uint64_t random = BENCH_SEED;
    if (!support_trace_load(path, &trace, &error)) {
        bench_die(BENCH_EXIT_USAGE, "%s", error.text);
    }
    *workload = (struct residency_workload){.has_contents = false};
    (void)snprintf(workload->name, sizeof workload->name, "%.63s", trace.name);
    if (kind == RESIDENCY_LOG_TRAINING) {
        make_training(workload, &trace);
    } else {
        make_serving(workload, &trace, kind);
    }
    support_trace_release(&trace);
    residency_workload_finish(workload, perturbed, &random);
}
