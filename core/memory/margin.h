/*
 * Margins: bytes behind each allocation that shares a block, so that a program that writes beyond
 * the end of one meets no other. A range of a block contains its margin, which lies at its end. The
 * placement, the counts of live and pending bytes, and moves know the whole range; what a caller
 * learns is the range without the margin (maar_slot_bytes).
 *
 * Where the host sees memory without flushes, margins may be filled with a pattern, and are then
 * compared when an allocation ends, and by maarCheckMargins. A margin is written before its handle
 * is published.
 */
#ifndef MAAR_CORE_MEMORY_MARGIN_H
#define MAAR_CORE_MEMORY_MARGIN_H

#include "core/memory/arena_place.h"

/* Fills the margin of a range that is not published yet, if its pool's are checked. May call the
 * driver. Returns what mapping returned. No lock may be held. */
VkResult maar_margin_fill(MaarAllocator allocator, const struct maar_made* made);
/* Compares the margin of a claimed slot, and reports one that was overwritten. May call the driver.
 * No lock may be held. */
void maar_margin_compare(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                         uint32_t index);

#endif
