/*
 * The bins of a shelf: see slice_shelf.h.
 */
#include "core/objects/slice_shelf.h"

#include "core/bits.h"
#include "core/check.h"
#include "core/memory/block_index.h"

static uint32_t class_of(VkDeviceSize size)
{
    const uint32_t value = maar_size_class(size);
    return value < MAAR_SLICE_TOP_BIN ? value : (uint32_t)MAAR_SLICE_TOP_BIN;
}

/* Returns the bin for what a buffer has now. */
static uint32_t bin_of(const struct maar_slice_buffer* home)
{
    return home->slice_count == 0 ? (uint32_t)MAAR_SLICE_EMPTY_BIN
                                  : class_of(maar_placement_largest_free_bound(home->placement));
}

static void link_buffer(struct maar_slice_buffer* home, uint32_t bin)
{
    struct maar_slice_shelf* shelf = home->shelf;
    home->bin = bin;
    home->previous = NULL;
    home->next = shelf->bins[bin];
    if (home->next != NULL) {
        home->next->previous = home;
    }
    shelf->bins[bin] = home;
    shelf->used_bins[bin / 64] |= (uint64_t)1 << bin % 64;
}

/* Takes a buffer from its bin. */
static void unlink_buffer(struct maar_slice_buffer* home)
{
    struct maar_slice_shelf* shelf = home->shelf;
    if (home->next != NULL) {
        home->next->previous = home->previous;
    }
    if (home->previous != NULL) {
        home->previous->next = home->next;
        return;
    }
    shelf->bins[home->bin] = home->next;
    if (home->next == NULL) {
        shelf->used_bins[home->bin / 64] &= ~((uint64_t)1 << home->bin % 64);
    }
}

void maar_slice_shelve(struct maar_slice_buffer* home)
{
    link_buffer(home, bin_of(home));
    ++home->shelf->buffer_count;
    home->shelf->buffer_bytes += home->size;
}

void maar_slice_unshelve(struct maar_slice_buffer* home)
{
    unlink_buffer(home);
    --home->shelf->buffer_count;
    home->shelf->buffer_bytes -= home->size;
}

static void move_buffer(struct maar_slice_buffer* home, uint32_t bin)
{
    if (home->bin != bin) {
        unlink_buffer(home);
        link_buffer(home, bin);
    }
}

void maar_slice_note_placed(struct maar_slice_buffer* home)
{
    const uint32_t bin = bin_of(home);
    move_buffer(home, bin < home->bin ? bin : home->bin);
}

void maar_slice_note_freed(struct maar_slice_buffer* home)
{
    move_buffer(home, bin_of(home));
}

void maar_slice_note_full(struct maar_slice_buffer* home, VkDeviceSize room)
{
    const uint32_t bin = class_of(room);
    MAAR_DEBUG_ASSERT(bin > 0 && home->bin >= bin);
    move_buffer(home, bin - 1);
}

/* Returns the first bin at or after `bin` that is not empty, or MAAR_SLICE_BINS. */
static uint32_t next_bin(const struct maar_slice_shelf* shelf, uint32_t bin)
{
    for (uint32_t word = bin / 64; word < MAAR_SLICE_BIN_WORDS; ++word) {
        const uint64_t below = word == bin / 64 ? ((uint64_t)1 << bin % 64) - 1 : 0;
        const uint64_t bits = shelf->used_bins[word] & ~below;
        if (bits != 0) {
            return 64 * word + maar_low_bit(bits);
        }
    }
    return MAAR_SLICE_BINS;
}

struct maar_slice_buffer* maar_slice_find_room(const struct maar_slice_shelf* shelf,
                                               VkDeviceSize room, VkDeviceSize size)
{
    const uint32_t bin = next_bin(shelf, class_of(room));
    if (bin < MAAR_SLICE_EMPTY_BIN) {
        return shelf->bins[bin];
    }
    /* Few buffers are empty, since a shelf keeps one. */
    struct maar_slice_buffer* home = shelf->bins[MAAR_SLICE_EMPTY_BIN];
    while (home != NULL && maar_placement_largest_free_bound(home->placement) < size) {
        home = home->next;
    }
    return home;
}

struct maar_slice_buffer* maar_slice_next_tight(const struct maar_slice_shelf* shelf,
                                                const struct maar_slice_buffer* before,
                                                VkDeviceSize room, VkDeviceSize size)
{
    if (before != NULL && before->next != NULL) {
        return before->next;
    }
    /* A slice that finds no room puts the buffer into the bin below the slice's own. A range that
     * was too short for its size, its alignment and what placements round up has less than four
     * times its size. So a buffer is never in a bin below a quarter of its largest range. */
    const uint32_t bin = next_bin(shelf, before != NULL ? before->bin + 1 : class_of(size / 4));
    return bin < class_of(room) ? shelf->bins[bin] : NULL;
}

struct maar_slice_buffer* maar_slice_first_buffer(const struct maar_slice_shelf* shelf)
{
    const uint32_t bin = next_bin(shelf, 0);
    return bin < MAAR_SLICE_BINS ? shelf->bins[bin] : NULL;
}

const char* maar_slice_shelf_check(const struct maar_slice_shelf* shelf)
{
    uint32_t count = 0;
    VkDeviceSize bytes = 0;
    for (uint32_t bin = 0; bin < MAAR_SLICE_BINS; ++bin) {
        const struct maar_slice_buffer* before = NULL;
        if ((shelf->used_bins[bin / 64] >> bin % 64 & 1) != (shelf->bins[bin] != NULL)) {
            return "a bin of a shelf of slices is marked wrong";
        }
        for (const struct maar_slice_buffer* home = shelf->bins[bin]; home != NULL;
             before = home, home = home->next) {
            if (home->shelf != shelf || home->previous != before || home->bin != bin) {
                return "a bin of a shelf of slices is torn";
            }
            ++count;
            bytes += home->size;
            if ((home->slice_count == 0) != (bin == MAAR_SLICE_EMPTY_BIN)) {
                return "an empty buffer of slices is in a wrong bin";
            }
            if (home->slice_count > 0 && bin > bin_of(home)) {
                return "a buffer of slices is in too high a bin";
            }
        }
    }
    return count == shelf->buffer_count && bytes == shelf->buffer_bytes
               ? NULL
               : "the buffers of a shelf of slices are counted wrong";
}
