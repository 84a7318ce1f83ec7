/*
 * The states of the benchmark of defragmentation. The last peer replays a trace until a number of
 * resources lives and frees a part of them. Where the rest then lies, block by block, is the
 * *layout*, in which every run of every peer begins: another allocator rebuilds it exactly.
 */
#ifndef MAAR_BENCH_DEFRAGMENTATION_STATE_H
#define MAAR_BENCH_DEFRAGMENTATION_STATE_H

#include "bench/defragmentation_peer.h"
#include "bench/trace_script.h"

/* Which resources a state frees. */
enum defragmentation_freed {
    FREED_RANDOM,  /* any, as at the end of a level that shares its memory with the next one */
    FREED_OLDEST,  /* those that were made first, as in streaming */
    FREED_CLUSTERS /* runs of neighbours in time, as requests that end together */
};

struct defragmentation_state {
    const char* name;
    enum defragmentation_freed freed;
    uint32_t percent; /* of the live resources that are freed */
};

/* A range of a layout. */
struct defragmentation_range {
    uint32_t block;
    uint64_t offset;
    uint64_t size;
    uint64_t alignment;
};

struct defragmentation_layout {
    uint64_t block_size;
    uint64_t live_bytes;
    uint32_t block_count; /* blocks that are not empty, with the numbers 0, 1, ... */
    uint32_t count;
    struct defragmentation_range* ranges; /* by block and offset */
};

/* A live allocation. */
struct defragmentation_live {
    struct allocator_item item;
    uint64_t size;
    uint64_t alignment;
};

struct defragmentation_lives {
    struct defragmentation_live* all;
    uint32_t count;
};

/* Brings the pool of a peer into a state by replaying a trace. Resources larger than a block are
 * left out. */
struct defragmentation_lives defragmentation_replay(const struct defragmentation_peer* peer,
                                                    void* allocator, uint64_t block_size,
                                                    const struct support_trace* trace,
                                                    const struct trace_script* script,
                                                    const struct defragmentation_state* state);

/* Brings the empty pool of a peer into a layout: fills one block after another with the ranges and
 * with fillers of the sizes of the holes, and then frees the fillers. */
struct defragmentation_lives defragmentation_rebuild(const struct defragmentation_peer* peer,
                                                     void* allocator,
                                                     const struct defragmentation_layout* layout);

/* Finds out where the allocations lie. Checks that none overlap. Blocks are numbered in the order
 * of their first allocations in the list. */
struct defragmentation_layout defragmentation_read(const struct defragmentation_peer* peer,
                                                   void* allocator, uint64_t block_size,
                                                   const struct defragmentation_lives* lives);

/* Ends the program if the layouts differ in any range. */
void defragmentation_compare(const char* who, const struct defragmentation_layout* expected,
                             const struct defragmentation_layout* found);

/* Returns for each number of blocks the fewest bytes that any way of giving them back has to move:
 * what lives in the emptiest blocks. The caller frees the array. */
uint64_t* defragmentation_bounds(const struct defragmentation_layout* layout);

/* Frees the allocations and the list. */
void defragmentation_free_lives(const struct defragmentation_peer* peer, void* allocator,
                                struct defragmentation_lives* lives);
void defragmentation_layout_release(struct defragmentation_layout* layout);

#endif
