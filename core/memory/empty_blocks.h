/*
 * The empty blocks of an arena, in the order in which they became empty. So the block that has been
 * empty for the longest time is found in O(1). The arena's lock guards the list. Pinned blocks are
 * in it too.
 *
 * The program's time is that of maarTrimAged. A block notes the time of the last call before it
 * became empty.
 */
#ifndef MAAR_CORE_MEMORY_EMPTY_BLOCKS_H
#define MAAR_CORE_MEMORY_EMPTY_BLOCKS_H

#include <stdbool.h>

#include "core/port_atomic.h"

struct maar_block;

struct maar_empty_blocks {
    struct maar_block* oldest;
    struct maar_block* youngest;
};

/* Every age. */
#define MAAR_ANY_AGE UINT64_MAX

/* The times of the calls of maarTrimAged. */
struct maar_trim_clock {
    maar_atomic64 begin; /* the time of the first call plus one; 0: there was none */
    maar_atomic64 last;  /* the latest time */
};

/* Adds a block that has just become empty, with the time of the last call. */
void maar_empty_blocks_add(struct maar_empty_blocks* list, struct maar_block* block,
                           const struct maar_trim_clock* clock);
/* Removes a block that is in the list. */
void maar_empty_blocks_remove(struct maar_empty_blocks* list, struct maar_block* block);
/* Returns a sentence about the first broken invariant, or NULL. *count: the blocks of the list. */
const char* maar_empty_blocks_check(const struct maar_empty_blocks* list, uint32_t* count);

/* Notes a call at a time of the program. Returns false if nothing can have an age yet; else
 * *emptied_by is the latest note of a block that is `age` old. */
bool maar_trim_clock_advance(struct maar_trim_clock* clock, uint64_t time, uint64_t age,
                             uint64_t* emptied_by);

#endif
