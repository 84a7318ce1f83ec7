/*
 * Slices: many small buffers inside few large ones. Thousands of uniform buffers then need only a
 * few VkBuffers, and no call of the driver for each.
 *
 * Buffers are on shelves, one shelf for each set of usages, memory usage, allocation flags and
 * queue families. A TLSF placement divides each buffer. Shelves are in arenas, like the blocks of a
 * pool. As long as threads do not meet, there is one arena. A thread that finds this arena locked
 * gets an arena of its own. A buffer belongs to one arena as long as it exists.
 *
 * The lock of an arena is left around each call of the driver, of host memory or of the allocator.
 * A thread never holds the locks of two arenas. Arenas and shelves stay where they are until the
 * allocator is destroyed. Buffers stay where they are as long as they have slices or are pinned.
 */
#ifndef MAAR_CORE_OBJECTS_SLICE_ARENA_H
#define MAAR_CORE_OBJECTS_SLICE_ARENA_H

#include "core/memory/arena_set.h"
#include "core/memory/patience.h"
#include "core/objects/object.h"
#include "core/objects/slice_shelf.h"
#include "maar/objects.h"

/* The shelves under one lock. */
struct maar_slice_arena {
    struct maar_mutex
        lock; /* the first member; guards the members below and the contents of the buffers */
    struct maar_condition made; /* a buffer was put on a shelf, or cannot be made */
    uint32_t number;
    struct maar_slot_list free_slots;
    struct maar_slice_shelf* shelves;
    uint32_t live_count;
    uint32_t pending_count;
    VkDeviceSize live_bytes;
    VkDeviceSize pending_bytes;
    /* unused, so that data that other threads write lies on other cache lines */
    uint64_t apart[16];
};

/* The slices of an allocator. */
struct maar_slice_state {
    struct maar_slot_table slots; /* a slice's slot names its buffer in `home` */
    struct maar_arena_set arenas; /* the first is first_arena */
    struct maar_slice_arena first_arena;
};

/* Returns the first arena at or after a number, or NULL at the end. Start with 0, then pass the
 * number of the last arena plus one. */
static inline struct maar_slice_arena* maar_slice_next_arena(const struct maar_slice_state* state,
                                                             uint32_t number)
{
    return maar_arena_set_next(&state->arenas, number);
}

/* A slice that is being placed: the request, and the place that was found. */
struct maar_slice_job {
    const MaarSliceCreateInfo* info;
    VkDeviceSize size;
    VkDeviceSize alignment;
    struct maar_slice_buffer* home;
    struct maar_placement_range range;
};

/* ---- slice_buffer.c ---- */

/* Returns the arena's shelf for slices with this create info, or NULL. The arena is locked. */
struct maar_slice_shelf* maar_slice_find_shelf(const struct maar_slice_arena* arena,
                                               const MaarSliceCreateInfo* info);
/* Finds or makes the shelf for slices with this create info. The arena is locked. Its lock may be
 * left and taken again. */
VkResult maar_slice_open_shelf(MaarAllocator allocator, struct maar_slice_arena* arena,
                               const MaarSliceCreateInfo* info, struct maar_slice_shelf** shelf);
/* Whether another buffer, or another attempt, may succeed after this result. */
bool maar_slice_is_shortage(VkResult result);
/* Adds a buffer of at least `least` bytes to a shelf. The last attempt makes one of exactly these
 * bytes. It alone calls the observer and reports a failure. The arena is locked. Its lock is left
 * and taken again. */
VkResult maar_slice_add_buffer(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                               VkDeviceSize least, bool is_last, struct maar_patience* patience);
/* Waits until one of the buffers is made, or cannot be made, that other threads are making for a
 * shelf and whose numbers are at most `last`. Returns false when there is none any more, when the
 * patience is at its end, or when this thread is making a buffer for the shelf: then it is in a
 * callback, and the others may wait for it. The arena is locked. Its lock is left meanwhile. */
bool maar_slice_wait_for_buffer(struct maar_slice_shelf* shelf, uint64_t last,
                                struct maar_patience* patience);
/* If a shelf has more than `kept` empty buffers in some heaps (bits) that became empty by a time
 * (see empty_blocks.h), unlinks and returns one of them; otherwise NULL. The arena is locked. */
struct maar_slice_buffer* maar_slice_pick_empty(MaarAllocator allocator,
                                                struct maar_slice_shelf* shelf, uint32_t heaps,
                                                uint64_t emptied_by, uint32_t kept);
/* Destroys a buffer that was unlinked. call: the public function, for messages. No lock may be
 * held. */
void maar_slice_buffer_destroy(MaarAllocator allocator, const char* call,
                               struct maar_slice_buffer* home);

/* ---- slice_arena.c ---- */

/* Initializes an arena whose members are zero. Returns false when no mutex can be made. */
bool maar_slice_arena_init(struct maar_slice_arena* arena, uint32_t number, bool synchronized);
/* Slices that were not released. */
struct maar_leaked_slices {
    uint32_t count;
    VkDeviceSize size; /* of the slices */
};
/* Destroys the contents of an arena. Counts the slices that were not released. */
void maar_slice_arena_end(MaarAllocator allocator, struct maar_slice_arena* arena,
                          struct maar_leaked_slices* leaked);
/* Locks and returns the arena that this thread takes slices from. */
struct maar_slice_arena* maar_slice_arena_enter(MaarAllocator allocator,
                                                struct maar_slice_state* state);
/* Places a slice. Adds a buffer if no other one has room. The arena is locked. Its lock may be left
 * and taken again. On success *arena is the arena of job->home, and no other arena is locked. */
VkResult maar_slice_take(MaarAllocator allocator, struct maar_slice_state* state,
                         struct maar_slice_arena** arena, struct maar_slice_job* job);

#endif
