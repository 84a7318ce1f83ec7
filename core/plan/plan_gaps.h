/*
 * The free gaps of an endless space, sorted by address. The lowest gap with room for an item is
 * found by the largest gap of each chunk of the list. With n gaps an operation costs about n / 32
 * comparisons at most; a frame of 65,536 resources has a few thousand gaps.
 */
#ifndef MAAR_CORE_PLAN_PLAN_GAPS_H
#define MAAR_CORE_PLAN_PLAN_GAPS_H

#include "core/host_stack.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAAR_PLAN_CHUNK_GAPS = 64 };

/* Bytes or units from begin to before end. */
struct maar_plan_gap {
    int64_t begin;
    int64_t end;
};

struct maar_plan_gap_chunk {
    uint32_t count; /* at least 1 while the chunk is in the list */
    struct maar_plan_gap gaps[MAAR_PLAN_CHUNK_GAPS];
};

struct maar_plan_gaps {
    struct maar_plan_gap_chunk** chunks; /* sorted; those from `count` on are unused */
    int64_t* most;                       /* per chunk: its largest gap */
    uint32_t count;
    uint32_t room;
    uint32_t items;
    uint64_t looks_left; /* at gaps of chunks that may have room; see maar_plan_gaps_take */
};

/* Makes a space that is free from 0 on, for up to `items` items at a time. Returns false when host
 * memory is short. */
bool maar_plan_gaps_init(struct maar_plan_gaps* gaps, uint32_t items,
                         struct maar_host_stack* stack);
/* Makes the whole space free again. */
void maar_plan_gaps_reset(struct maar_plan_gaps* gaps);
/* Takes the lowest place for an item and returns its offset. Returns -1 when the list is full.
 * Gaps that are large enough, and have no aligned place, would make the search quadratic. So after
 * looks at 64 gaps for each item it takes the lowest gap that has an aligned place wherever it
 * begins. */
int64_t maar_plan_gaps_take(struct maar_plan_gaps* gaps, int64_t size, int64_t align);
/* Gives back what was taken. Returns false when the list is full. */
bool maar_plan_gaps_give(struct maar_plan_gaps* gaps, int64_t begin, int64_t end);

#endif
