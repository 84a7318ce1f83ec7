/*
 * The place for one request, computed offline: which window of a block has to be emptied, so that
 * the fewest bytes move. Independent of the library.
 */
#ifndef MAAR_BENCH_DEFRAGMENTATION_WINDOW_H
#define MAAR_BENCH_DEFRAGMENTATION_WINDOW_H

#include "bench/defragmentation_state.h"

/* A window of a block. */
struct defragmentation_window {
    uint32_t block;
    uint32_t moves;
    uint64_t offset;
    uint64_t bytes; /* live ones of the allocations that lie in it, partly or wholly */
};

struct defragmentation_windows {
    bool is_possible;
    struct defragmentation_window least; /* of all windows: nobody can move fewer bytes */
    bool is_feasible;
    struct defragmentation_window best; /* of those whose allocations fit elsewhere by best fit, the
                                           largest one first */
};

/* Finds the windows for a request. The alignment is a power of two. Takes O(n log n) for n ranges,
 * and for each window that is not feasible as much again. */
struct defragmentation_windows
defragmentation_find_windows(const struct defragmentation_layout* layout, uint64_t size,
                             uint64_t alignment);

/* Returns the largest free range of a layout. */
uint64_t defragmentation_largest_hole(const struct defragmentation_layout* layout);

/* Compares the search with one that tries every offset, on small random layouts. Ends the program
 * if they differ. */
void defragmentation_check_windows(void);

#endif
