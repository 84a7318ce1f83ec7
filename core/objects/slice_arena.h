/*
 * Slices: many small buffers out of few big ones, so that thousands of uniform buffers cost a
 * handful of VkBuffers and no call of the driver each.
 *
 * Buffers stand on shelves, one shelf for each set of usages, memory usage, allocation flags and
 * queue families. A TLSF placement cuts each buffer. Shelves stand in arenas, as the blocks of a
 * pool do: there is one arena as long as threads do not meet, and a thread that finds it locked
 * gets one of its own. A buffer belongs to its arena for life.
 *
 * An arena's lock is released whenever the driver, host memory or the allocator is called, and it
 * is never held together with another arena's. Arenas and shelves stay where they are until the
 * allocator is destroyed, and buffers as long as they have slices or are pinned.
 */
#ifndef MAAR_CORE_OBJECTS_SLICE_ARENA_H
#define MAAR_CORE_OBJECTS_SLICE_ARENA_H

#include "core/memory/arena_set.h"
#include "core/objects/object.h"
#include "maar/objects.h"

struct maar_slice_buffer {
    struct maar_slice_buffer* next;
    struct maar_slice_buffer* previous;
    struct maar_slice_shelf* shelf;
    VkBuffer buffer;
    MaarAllocation allocation;
    VkDeviceAddress address;
    char* mapped;
    struct maar_placement* placement;
    VkDeviceSize size;
    uint32_t slice_count; /* pending ones included */
    uint32_t pin_count;
};

struct maar_slice_shelf {
    struct maar_slice_shelf* next;
    struct maar_slice_arena* arena;
    VkBufferUsageFlags usage;
    MaarMemoryUsage memory_usage;
    MaarAllocationCreateFlags allocation_flags;
    uint32_t family_bits;
    struct maar_slice_buffer* buffers; /* newest first */
    VkDeviceSize next_size;
};

struct maar_slice_arena {
    struct maar_mutex lock; /* comes first; guards what follows and the insides of the buffers */
    uint32_t number;
    struct maar_slot_list free_slots;
    struct maar_slice_shelf* shelves;
    uint32_t live_count;
    uint32_t pending_count;
    VkDeviceSize live_bytes;
    VkDeviceSize pending_bytes;
    uint64_t apart[16]; /* keeps what another thread writes behind it out of its cache lines */
};

struct maar_slice_state {
    struct maar_slot_table slots; /* a slice's slot names its buffer in `home` */
    struct maar_arena_set arenas; /* the first is first_arena */
    struct maar_slice_arena first_arena;
};

/* Returns the next arena, or NULL at the end. Start with number 0 and go on with the number of the
 * last one plus one. */
static inline struct maar_slice_arena* maar_slice_next_arena(const struct maar_slice_state* state,
                                                             uint32_t number)
{
    return maar_arena_set_next(&state->arenas, number);
}

/* A slice on its way: what is asked for, and where it was placed. */
struct maar_slice_job {
    const MaarSliceCreateInfo* info;
    VkDeviceSize size;
    VkDeviceSize alignment;
    struct maar_slice_buffer* home;
    struct maar_placement_range range;
};

/* ---- slice_buffer.c ---- */

/* Returns the arena's shelf for such slices, or NULL. The arena is locked. */
struct maar_slice_shelf* maar_slice_find_shelf(const struct maar_slice_arena* arena,
                                               const MaarSliceCreateInfo* info);
/* Finds the shelf, or makes it. The arena is locked; its lock may be released and taken again. */
VkResult maar_slice_open_shelf(MaarAllocator allocator, struct maar_slice_arena* arena,
                               const MaarSliceCreateInfo* info, struct maar_slice_shelf** shelf);
/* Adds a buffer of at least this size to a shelf. The arena is locked; its lock is released and
 * taken again. */
VkResult maar_slice_add_buffer(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                               VkDeviceSize least);
/* Unlinks and returns the first empty buffer that its shelf can do without; NULL if there is none.
 * The arena is locked. */
struct maar_slice_buffer* maar_slice_pick_empty(struct maar_slice_arena* arena,
                                                uint32_t kept_per_shelf);
/* Destroys a buffer that was unlinked. No lock may be held. */
void maar_slice_buffer_destroy(MaarAllocator allocator, struct maar_slice_buffer* home);

/* ---- slice_arena.c ---- */

/* The arena is otherwise zero. False when the system has no room for a mutex. */
bool maar_slice_arena_init(struct maar_slice_arena* arena, uint32_t number, bool synchronized);
/* Destroys the contents of an arena. Returns how many slices were alive. */
uint32_t maar_slice_arena_end(MaarAllocator allocator, struct maar_slice_arena* arena);
/* Locks and returns the arena that this thread takes slices from. */
struct maar_slice_arena* maar_slice_arena_enter(MaarAllocator allocator,
                                                struct maar_slice_state* state);
/* Places a slice, into a new buffer where no other has room. The arena is locked; its lock may be
 * released and taken again. On success *arena is the one of job->home, and it alone is locked. */
VkResult maar_slice_take(MaarAllocator allocator, struct maar_slice_state* state,
                         struct maar_slice_arena** arena, struct maar_slice_job* job);

#endif
