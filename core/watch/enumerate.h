/*
 * Sorts the blocks in lists and dumps.
 */
#ifndef MAAR_CORE_WATCH_ENUMERATE_H
#define MAAR_CORE_WATCH_ENUMERATE_H

#include <stddef.h>

/* The size in bytes of the largest element that maar_sort_blocks can sort. */
enum { MAAR_SORT_MOST = 512 };

/* Sorts elements by the 64-bit id that each element has at id_offset. Readers expect blocks in the
 * order of their ids, but arenas are walked one after another. */
void maar_sort_blocks(void* elements, size_t count, size_t size, size_t id_offset);

#endif
