/*
 * The lists of blocks and ranges, for the public functions and for dumps.
 */
#ifndef MAAR_CORE_WATCH_ENUMERATE_H
#define MAAR_CORE_WATCH_ENUMERATE_H

#include <stdbool.h>

#include "maar/allocator.h"

/* The largest element that maar_sort_blocks can sort, bytes. */
enum { MAAR_SORT_MOST = 512 };

/* Sorts elements by a 64-bit number at an offset in each. Arenas are walked one after another, but
 * readers expect blocks in order of their numbers. */
void maar_sort_blocks(void* elements, size_t count, size_t size, size_t id_offset);

/* Lists the ranges of a block. On input *count is the room in ranges, and no more are written. On
 * output it is the number of ranges. Returns false when no block has that id. */
bool maar_list_ranges(MaarAllocator allocator, uint64_t block_id, uint32_t* count,
                      MaarBlockRange* ranges);

#endif
