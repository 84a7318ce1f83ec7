/*
 * Shelves: the buffers for slices with equal usages, memory usage, flags and queue families.
 *
 * A shelf keeps its buffers in bins. The bin of a buffer is the class of an upper bound of its
 * largest free range (maar_size_class), and empty buffers have a bin of their own, the last. So a
 * slice finds a buffer in a time that does not depend on their number. A free raises the bin of a
 * buffer. A slice that finds no room in the buffer lowers the bin, since the bound was too high.
 *
 * The lock of the shelf's arena guards everything here.
 */
#ifndef MAAR_CORE_OBJECTS_SLICE_SHELF_H
#define MAAR_CORE_OBJECTS_SLICE_SHELF_H

#include "core/memory/leaving.h"
#include "core/placement/placement.h"
#include "maar/objects.h"

enum {
    MAAR_SLICE_TOP_BIN = 448, /* the class of MAAR_MAX_SLICE_SIZE; holds larger classes too */
    MAAR_SLICE_EMPTY_BIN,
    MAAR_SLICE_BINS,
    MAAR_SLICE_BIN_WORDS = (MAAR_SLICE_BINS + 63) / 64
};

struct maar_slice_arena;
struct maar_slice_shelf;

struct maar_slice_buffer {
    struct maar_slice_buffer* next; /* in its bin */
    struct maar_slice_buffer* previous;
    struct maar_slice_shelf* shelf;
    VkBuffer buffer;
    MaarAllocation allocation;
    VkDeviceAddress address;
    char* mapped;
    struct maar_placement* placement;
    VkDeviceSize size;
    uint64_t emptied_at;  /* of an empty buffer: see empty_blocks.h */
    uint32_t slice_count; /* number of slices, including pending ones */
    uint32_t pin_count;
    uint32_t bin;
    uint32_t heap;                      /* of its memory */
    struct maar_leaving_memory leaving; /* entered when the buffer leaves its shelf */
};

/* A buffer that a thread is making for a shelf, on that thread's stack. */
struct maar_slice_making {
    struct maar_slice_making* next;
    uint64_t number;
    uint64_t thread; /* its tag */
};

/* The buffers for slices with equal usages, memory usage, flags and queue families. */
struct maar_slice_shelf {
    struct maar_slice_shelf* next;
    struct maar_slice_arena* arena;
    VkBufferUsageFlags usage;
    MaarMemoryUsage memory_usage;
    MaarAllocationCreateFlags allocation_flags;
    VkMemoryPropertyFlags required_flags;
    VkMemoryPropertyFlags preferred_flags;
    uint32_t family_bits;
    uint32_t buffer_count;
    VkDeviceSize buffer_bytes; /* of all buffers on the shelf */
    VkDeviceSize next_size;
    struct maar_slice_making* making;                /* the newest first */
    uint64_t making_number;                          /* of the newest that ever was */
    uint64_t used_bins[MAAR_SLICE_BIN_WORDS];        /* a bit for each bin that is not empty */
    struct maar_slice_buffer* bins[MAAR_SLICE_BINS]; /* the buffer that was put there last */
};

/* Puts a new buffer onto its shelf. */
void maar_slice_shelve(struct maar_slice_buffer* home);
/* Takes a buffer from its shelf. */
void maar_slice_unshelve(struct maar_slice_buffer* home);
/* Returns a buffer that may have a free range of `room` bytes, the fullest first, or an empty
 * buffer of at least `size` bytes, or NULL. */
struct maar_slice_buffer* maar_slice_find_room(const struct maar_slice_shelf* shelf,
                                               VkDeviceSize room, VkDeviceSize size);
/* Walk the buffers in which maar_slice_find_room sees no range of `room` bytes, but which may have
 * one of `size` bytes, from the fullest on. Their bins may be lower than the class of that range.
 * before: NULL at first, then the last one. Returns NULL at the end. */
struct maar_slice_buffer* maar_slice_next_tight(const struct maar_slice_shelf* shelf,
                                                const struct maar_slice_buffer* before,
                                                VkDeviceSize room, VkDeviceSize size);
/* Corrects the bin of a buffer in which a slice was placed, from which one was freed, or which had
 * no range of `room` bytes. */
void maar_slice_note_placed(struct maar_slice_buffer* home);
void maar_slice_note_freed(struct maar_slice_buffer* home);
void maar_slice_note_full(struct maar_slice_buffer* home, VkDeviceSize room);
/* Returns any buffer of a shelf, or NULL. */
struct maar_slice_buffer* maar_slice_first_buffer(const struct maar_slice_shelf* shelf);
/* Returns a sentence about the first broken invariant of a shelf, or NULL. */
const char* maar_slice_shelf_check(const struct maar_slice_shelf* shelf);

#endif
