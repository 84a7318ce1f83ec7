/*
 * Room for one request, in the benchmark of defragmentation.
 */
#ifndef MAAR_BENCH_DEFRAGMENTATION_ROOM_H
#define MAAR_BENCH_DEFRAGMENTATION_ROOM_H

#include "bench/bench_row.h"
#include "bench/defragmentation_peer.h"

/* What the benchmark of room works with. */
struct defragmentation_room {
    const struct bench_device* device;
    struct bench_table* table;
    uint64_t block_size;
    uint64_t pass_bytes;
    uint32_t live;
};

/* Fills blocks with twice as many allocations of the churn's sizes as shall live, or a few more,
 * frees the others at random, and reports for requests of several sizes what must move to make
 * room. */
void defragmentation_report_room(const struct defragmentation_room* room);

#endif
