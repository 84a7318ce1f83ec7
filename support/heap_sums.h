/*
 * Running sums of a capture: what a program holds in each heap, and what is bound there, after each
 * event of its history. A watcher applies the events that are new; an export applies them one by
 * one and writes what has changed.
 *
 * Imported memory is no new memory: it is counted apart, and so is what is bound there. Resources
 * that share bytes are counted each. A resource is bound until it ends or its memory is freed.
 * Pages of sparse resources are an estimate: an unbind takes bytes from the heap of the last bind.
 *
 * No globals; sums are used by one thread at a time.
 */
#ifndef MAAR_SUPPORT_HEAP_SUMS_H
#define MAAR_SUPPORT_HEAP_SUMS_H

#include "history.h"

enum { SUPPORT_SUMS_KINDS = SUPPORT_HISTORY_OTHER + 1 };

struct support_heap_sum {
    uint64_t held; /* bytes of memory that the program allocated and did not free */
    uint64_t held_peak;
    uint64_t imported;                  /* bytes of imported memory */
    uint64_t bound[SUPPORT_SUMS_KINDS]; /* bytes of resources, by enum support_history_kind */
    uint64_t memory_count;              /* that live, without imported ones */
    uint64_t allocation_count;          /* since the start, without imported ones */
};

struct support_device_sums {
    struct support_heap_sum heaps[MAAR_CAPTURE_MOST_HEAPS];
    uint64_t failure_count;                      /* allocations that the driver refused */
    uint64_t allocation_ns;                      /* time in the driver's allocations */
    uint64_t resource_count[SUPPORT_SUMS_KINDS]; /* that live */
    uint64_t resource_total;                     /* since the start */
    uint64_t swapchain_bytes;                    /* an estimate */
    uint64_t frame_count, submit_count;          /* since the start */
    uint64_t budget[MAAR_CAPTURE_MOST_HEAPS];    /* the last that the driver reported */
    uint64_t usage[MAAR_CAPTURE_MOST_HEAPS];
    uint32_t budget_heap_count; /* 0: the driver has reported none */
};

/* What is bound in one memory, and the pages of one sparse resource. */
struct support_memory_sum {
    uint64_t bound[SUPPORT_SUMS_KINDS];
    bool alive;
};
struct support_sparse_sum {
    uint64_t bytes;
    uint32_t heap;
};

struct support_sums {
    SUPPORT_HISTORY_ARRAY(struct support_device_sums) devices; /* as in the history */
    SUPPORT_HISTORY_ARRAY(struct support_memory_sum) memories;
    SUPPORT_HISTORY_ARRAY(struct support_sparse_sum) sparse; /* by resource */
};

/* Applies an event. Sets *heaps to a bit for each heap of the event's device whose sum may have
 * changed, and *device to the device, or none. Returns false without memory. */
bool support_sums_apply(struct support_sums* sums, const struct support_history* history,
                        const struct support_history_event* event, uint32_t* device,
                        uint32_t* heaps);

/* The bytes of all resources that are bound in a heap. */
uint64_t support_sums_bound(const struct support_heap_sum* sum);

/* Frees what the sums hold and empties them. */
void support_sums_release(struct support_sums* sums);

/* The word for a kind of resources: "buffer", "image", "allocation", "swapchain", "other". */
const char* support_sums_kind(enum support_history_kind kind);

#endif
