/*
 * The order of the blocks in lists and dumps.
 */
#ifndef MAAR_CORE_WATCH_ENUMERATE_H
#define MAAR_CORE_WATCH_ENUMERATE_H

#include <stddef.h>

/* The largest element that maar_sort_blocks can sort, bytes. */
enum { MAAR_SORT_MOST = 512 };

/* Sorts elements by a 64-bit number at an offset in each. Arenas are walked one after another, but
 * readers expect blocks in order of their numbers. */
void maar_sort_blocks(void* elements, size_t count, size_t size, size_t id_offset);

#endif
