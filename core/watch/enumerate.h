/*
 * The walk behind lists and dumps.
 */
#ifndef MAAR_CORE_WATCH_ENUMERATE_H
#define MAAR_CORE_WATCH_ENUMERATE_H

#include "core/memory/memory_internal.h"

/* In *count: room in ranges; out: how many there are, though no more than the room are written.
 * False when no block has that id. */
bool maar_list_ranges(MaarAllocator allocator, uint64_t block_id, uint32_t* count,
                      MaarBlockRange* ranges);

#endif
