/*
 * The order of a capture's submissions, for bench_ordered_reuse: what each waits for and what the
 * device has executed. And models of how other allocators reuse memory in that order, without a
 * placement: a range serves a request that it is large enough for, and its rest stays. And a bound
 * below which no allocator stays.
 */
#ifndef MAAR_BENCH_ORDERED_MODEL_H
#define MAAR_BENCH_ORDERED_MODEL_H

#include "support/trace.h"

#include <stdbool.h>
#include <stdint.h>

enum { MODEL_QUEUES = 4, MODEL_HISTORY = 8 };

/* For each queue a value of its timeline. */
struct model_clock {
    uint64_t values[MODEL_QUEUES];
};

struct model_order {
    uint64_t submitted[MODEL_QUEUES];
    uint64_t executed[MODEL_QUEUES];
    /* what the next submission of each queue waits for; 0: nothing */
    uint64_t next[MODEL_QUEUES][MODEL_QUEUES];
    /* what each submission comes after, itself included, by queue and value - 1 */
    struct model_clock* clocks[MODEL_QUEUES];
    uint64_t frames[MODEL_HISTORY][MODEL_QUEUES]; /* what was submitted at the latest frames */
    uint64_t frame_count;
    uint32_t* queues;         /* of each resource */
    uint64_t* begins;         /* what queue 0 had submitted when the resource began */
    struct model_clock* sent; /* by semaphore: its last signal; value 0: none */
};

bool model_order_open(struct model_order* order, const struct support_trace* trace);
void model_order_close(struct model_order* order);

/* An allocation begins. */
void model_order_begin_resource(struct model_order* order, uint32_t resource, uint32_t queue);
/* The latest submissions that use a resource, by queue; 0: none. */
void model_order_last_use(const struct model_order* order, uint32_t resource, uint64_t* last);
/* The next submission of a queue waits for a value of another one. */
void model_order_add_wait(struct model_order* order, uint32_t queue, uint32_t other,
                          uint64_t value);
/* Makes the next submission of a queue, and returns its value. submit: its index in the trace. */
uint64_t model_order_submit(struct model_order* order, const struct support_trace* trace,
                            uint32_t queue, uint32_t submit);
/* Says whether the next submission waits for the one before it. */
void model_order_plan_next(struct model_order* order, uint32_t queue, bool waits);
/* Draws whether a submission does not wait for the one before. 0 %: none, without a draw. */
bool model_drops(uint64_t* random, uint32_t percent);
/* A frame ends. Returns what the device has executed now: all of `ahead` frames ago. */
const uint64_t* model_order_frame(struct model_order* order, bool by_threads, uint32_t ahead);
/* Fills in what the next submission of a queue comes after. */
void model_order_reach(const struct model_order* order, uint32_t queue, struct model_clock* reach);

enum model_rule {
    MODEL_CUDA_EVENTS, /* a stream's own order, event dependencies, completed frees */
    MODEL_CUDA_ALL,    /* and internal dependencies: waits that the allocator adds */
    MODEL_PYTORCH,     /* a block serves its own stream; other users by events that completed */
    MODEL_RULES
};
extern const char* const model_rule_names[MODEL_RULES];

/* Plays a trace by a rule and returns the high water of bytes that are in use, pending or cached.
 */
uint64_t model_play(const struct support_trace* trace, bool by_threads, uint32_t ahead,
                    enum model_rule rule, uint64_t* submissions, uint64_t* waits);

/* Returns the least high water of live and pending bytes that any allocator could have on one
 * queue: ordered_bound.c. */
uint64_t model_bound(const struct support_trace* trace, uint32_t ahead, uint32_t dropped_percent);

#endif
