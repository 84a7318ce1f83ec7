/*
 * The walk behind lists and dumps.
 */
#ifndef MAAR_CORE_WATCH_ENUMERATE_H
#define MAAR_CORE_WATCH_ENUMERATE_H

#include "core/memory/memory_internal.h"

/* Bytes of the largest element that maar_sort_blocks takes. */
enum { MAAR_SORT_MOST = 512 };

/* Sorts elements that have a 64-bit number at an offset: arenas are walked one after another, and
 * readers want blocks in order of their numbers. */
void maar_sort_blocks(void* elements, size_t count, size_t size, size_t id_offset);

/* In *count: room in ranges; out: how many there are, though no more than the room are written.
 * False when no block has that id. */
bool maar_list_ranges(MaarAllocator allocator, uint64_t block_id, uint32_t* count,
                      MaarBlockRange* ranges);

#endif
