/*
 * Searches windows; see defragmentation_window.h.
 *
 * A window that starts at x contains the allocations that end behind x and start before x + size.
 * Slide the best window to the left as long as no allocation enters there: it then starts at 0, or
 * at the first aligned offset behind an allocation, and contains no more than before. So only these
 * offsets are tried.
 */
#include "bench/defragmentation_window.h"

#include "bench/bench_common.h"

#include <stdlib.h>
#include <string.h>

/* The most windows whose allocations are fitted elsewhere. */
enum { MOST_FITTINGS = 2000 };

static uint64_t align_up(uint64_t offset, uint64_t alignment)
{
    return (offset + alignment - 1) & ~(alignment - 1);
}

/* The ranges of a block, and sums of the sizes of all ranges before each. */
struct extent {
    const struct defragmentation_range* ranges;
    const uint64_t* sums;
    uint32_t count;
};

/* Returns the first range that ends behind an offset. */
static uint32_t first_behind(const struct extent* extent, uint64_t offset)
{
    uint32_t low = 0;
    uint32_t high = extent->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct defragmentation_range* const range = &extent->ranges[middle];
        if (range->offset + range->size > offset) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Returns the first range that starts at an offset or behind it. */
static uint32_t first_from(const struct extent* extent, uint64_t offset)
{
    uint32_t low = 0;
    uint32_t high = extent->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (extent->ranges[middle].offset >= offset) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static struct defragmentation_window window_at(const struct extent* extent, uint64_t offset,
                                               uint64_t size)
{
    const uint32_t first = first_behind(extent, offset);
    const uint32_t end = first_from(extent, offset + size);
    return (struct defragmentation_window){
        .block = extent->ranges[0].block,
        .moves = end > first ? end - first : 0,
        .offset = offset,
        .bytes = end > first ? extent->sums[end] - extent->sums[first] : 0,
    };
}

static int compare_windows(const void* one, const void* other)
{
    const struct defragmentation_window* const a = one;
    const struct defragmentation_window* const b = other;
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? 1 : -1;
    }
    if (a->block != b->block) {
        return a->block > b->block ? 1 : -1;
    }
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Lists the windows of all blocks, the cheapest first. The caller frees the list. */
static struct defragmentation_window* list_windows(const struct defragmentation_layout* layout,
                                                   uint64_t size, uint64_t alignment,
                                                   uint32_t* window_count)
{
    struct defragmentation_window* const windows =
        bench_allocate((size_t)layout->count + layout->block_count + 1, sizeof(*windows));
    uint64_t* const sums = bench_allocate(layout->count + 1, sizeof(*sums));
    uint32_t count = 0;
    for (uint32_t i = 0; i < layout->count; ++i) {
        sums[i + 1] = sums[i] + layout->ranges[i].size;
    }
    for (uint32_t first = 0, end = 0; first < layout->count; first = end) {
        while (end < layout->count && layout->ranges[end].block == layout->ranges[first].block) {
            ++end;
        }
        const struct extent extent = {layout->ranges + first, sums + first, end - first};
        for (uint32_t i = 0; i <= extent.count; ++i) {
            const uint64_t behind =
                i == 0 ? 0 : extent.ranges[i - 1].offset + extent.ranges[i - 1].size;
            const uint64_t offset = align_up(behind, alignment);
            if (size <= layout->block_size && offset <= layout->block_size - size) {
                windows[count++] = window_at(&extent, offset, size);
            }
        }
    }
    free(sums);
    qsort(windows, count, sizeof(*windows), compare_windows);
    *window_count = count;
    return windows;
}

/* A free range outside a window, or an allocation inside. */
struct piece {
    uint64_t from;
    uint64_t to;
    uint64_t alignment;
};

static int compare_pieces(const void* one, const void* other)
{
    const struct piece* const a = one;
    const struct piece* const b = other;
    const uint64_t a_size = a->to - a->from;
    const uint64_t b_size = b->to - b->from;
    return (a_size < b_size) - (a_size > b_size);
}

/* Adds a free range, without what lies in the window. */
static uint32_t add_hole(struct piece* holes, uint32_t count, uint64_t from, uint64_t to,
                         const struct defragmentation_window* window, uint64_t size, bool same)
{
    const uint64_t end = window->offset + size;
    if (!same || to <= window->offset || from >= end) {
        holes[count] = (struct piece){.from = from, .to = to};
        return count + (from < to);
    }
    if (from < window->offset) {
        holes[count++] = (struct piece){.from = from, .to = window->offset};
    }
    if (to > end) {
        holes[count++] = (struct piece){.from = end, .to = to};
    }
    return count;
}

/* Lists what is free outside a window, and what lies in it. Ranges at the window's edge leave free
 * bytes outside; these are not used, which makes a window at most less feasible. */
static void list_pieces(const struct defragmentation_layout* layout,
                        const struct defragmentation_window* window, uint64_t size,
                        struct piece* holes, uint32_t* hole_count, struct piece* inside)
{
    uint64_t end = 0;
    uint32_t found = 0;
    *hole_count = 0;
    for (uint32_t i = 0; i < layout->count; ++i) {
        const struct defragmentation_range* const range = &layout->ranges[i];
        const bool last = i + 1 == layout->count || range[1].block != range->block;
        const bool same = range->block == window->block;
        *hole_count = add_hole(holes, *hole_count, end, range->offset, window, size, same);
        end = range->offset + range->size;
        if (same && end > window->offset && range->offset < window->offset + size) {
            inside[found++] =
                (struct piece){.from = 0, .to = range->size, .alignment = range->alignment};
        }
        if (last) {
            *hole_count = add_hole(holes, *hole_count, end, layout->block_size, window, size, same);
            end = 0;
        }
    }
}

/* Whether what lies in a window fits elsewhere, by best fit, the largest first. */
static bool fits_elsewhere(const struct defragmentation_layout* layout,
                           const struct defragmentation_window* window, uint64_t size)
{
    struct piece* const holes =
        bench_allocate((size_t)layout->count + layout->block_count + 2, sizeof(*holes));
    struct piece* const inside = bench_allocate(window->moves + 1, sizeof(*inside));
    uint32_t hole_count = 0;
    list_pieces(layout, window, size, holes, &hole_count, inside);
    qsort(inside, window->moves, sizeof(*inside), compare_pieces);
    bool fits = true;
    for (uint32_t i = 0; i < window->moves && fits; ++i) {
        uint32_t tightest = hole_count;
        for (uint32_t h = 0; h < hole_count; ++h) {
            const uint64_t from = align_up(holes[h].from, inside[i].alignment);
            const bool has_room = from <= holes[h].to && holes[h].to - from >= inside[i].to;
            if (has_room &&
                (tightest == hole_count ||
                 holes[h].to - holes[h].from < holes[tightest].to - holes[tightest].from)) {
                tightest = h;
            }
        }
        fits = tightest < hole_count;
        if (fits) {
            holes[tightest].from =
                align_up(holes[tightest].from, inside[i].alignment) + inside[i].to;
        }
    }
    free(inside);
    free(holes);
    return fits;
}

struct defragmentation_windows
defragmentation_find_windows(const struct defragmentation_layout* layout, uint64_t size,
                             uint64_t alignment)
{
    struct defragmentation_windows found = {0};
    uint32_t count = 0;
    struct defragmentation_window* const windows = list_windows(layout, size, alignment, &count);
    found.is_possible = count > 0;
    if (count > 0) {
        found.least = windows[0];
    }
    for (uint32_t i = 0; i < count && i < MOST_FITTINGS && !found.is_feasible; ++i) {
        if (fits_elsewhere(layout, &windows[i], size)) {
            found.is_feasible = true;
            found.best = windows[i];
        }
    }
    free(windows);
    return found;
}

uint64_t defragmentation_largest_hole(const struct defragmentation_layout* layout)
{
    uint64_t largest = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; i < layout->count; ++i) {
        const struct defragmentation_range* const range = &layout->ranges[i];
        const bool last = i + 1 == layout->count || range[1].block != range->block;
        const uint64_t before = range->offset - end;
        end = range->offset + range->size;
        const uint64_t behind = last ? layout->block_size - end : 0;
        largest = before > largest ? before : largest;
        largest = behind > largest ? behind : largest;
        end = last ? 0 : end;
    }
    return largest;
}

/* ---- the check ---- */

enum { CHECKED_SIZE = 64, MOST_CHECKED = 24, CHECKED_LAYOUTS = 2000 };

/* Fills two small blocks at random. Returns the number of ranges. */
static uint32_t draw_layout(uint64_t* random, struct defragmentation_range* ranges)
{
    uint32_t count = 0;
    for (uint32_t block = 0; block < 2; ++block) {
        uint64_t offset = bench_random(random) % 8;
        while (count < MOST_CHECKED) {
            const uint64_t size = 1 + bench_random(random) % 9;
            if (offset + size > CHECKED_SIZE) {
                break;
            }
            ranges[count++] = (struct defragmentation_range){
                .block = block, .offset = offset, .size = size, .alignment = 1};
            offset += size + bench_random(random) % 7;
        }
    }
    return count;
}

/* Tries every aligned offset of both blocks. */
static uint64_t try_all(const struct defragmentation_layout* layout, uint64_t size,
                        uint64_t alignment)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t block = 0; block < 2; ++block) {
        for (uint64_t at = 0; at + size <= CHECKED_SIZE; at += alignment) {
            uint64_t bytes = 0;
            bool is_used = false;
            for (uint32_t i = 0; i < layout->count; ++i) {
                const struct defragmentation_range* const range = &layout->ranges[i];
                is_used = is_used || range->block == block;
                if (range->block == block && range->offset < at + size &&
                    range->offset + range->size > at) {
                    bytes += range->size;
                }
            }
            least = is_used && bytes < least ? bytes : least;
        }
    }
    return least;
}

void defragmentation_check_windows(void)
{
    uint64_t random = BENCH_SEED;
    struct defragmentation_range ranges[MOST_CHECKED];
    for (uint32_t i = 0; i < CHECKED_LAYOUTS; ++i) {
        const struct defragmentation_layout layout = {
            .block_size = CHECKED_SIZE,
            .block_count = 2,
            .count = draw_layout(&random, ranges),
            .ranges = ranges,
        };
        const uint64_t size = 1 + bench_random(&random) % CHECKED_SIZE;
        const uint64_t alignment = UINT64_C(1) << bench_random(&random) % 5;
        const uint64_t expected = try_all(&layout, size, alignment);
        const struct defragmentation_windows found =
            defragmentation_find_windows(&layout, size, alignment);
        if (found.is_possible != (expected != UINT64_MAX) ||
            (found.is_possible && found.least.bytes != expected) ||
            (found.is_feasible && found.best.bytes < expected)) {
            bench_die(BENCH_EXIT_FAILED, "the search for windows is wrong in layout %u", i);
        }
    }
}
