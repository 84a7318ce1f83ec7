/*
 * Slices: many small buffers out of few big ones, so that thousands of uniform buffers cost a
 * handful of VkBuffers and no driver call each.
 *
 * Buffers are grouped in shelves, one for each set of usages, memory usage, allocation flags and
 * queue families; each buffer is cut by a TLSF placement. Shelves stand in arenas, as the blocks of
 * a pool do: there is one as long as threads do not meet, and a thread that finds it locked gets
 * one of its own. A buffer belongs to its arena for life.
 *
 * An arena's lock is left whenever the driver, host memory or the allocator is called, and never
 * held together with another arena's. Arenas and shelves stay where they are until the allocator
 * goes, and buffers as long as they have slices or are pinned.
 */
#ifndef MAAR_CORE_OBJECTS_SLICE_ARENA_H
#define MAAR_CORE_OBJECTS_SLICE_ARENA_H

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
    struct maar_mutex lock; /* guards what follows and the insides of the buffers */
    uint32_t number;
    struct maar_slot_list free_slots;
    struct maar_slice_shelf* shelves;
    uint32_t live_count;
    uint32_t pending_count;
    VkDeviceSize live_bytes;
    VkDeviceSize pending_bytes;
    uint64_t apart[16]; /* from whatever another thread writes behind it */
};

struct maar_slice_state {
    struct maar_slot_table slots; /* a slice's slot names its buffer in `home` */
    maar_atomic32 arena_count;
    maar_atomic_pointer arenas[MAAR_ARENAS]; /* the first is first_arena, others come when needed */
    struct maar_slice_arena first_arena;
};

/* NULL while there is no arena of that number. */
static inline struct maar_slice_arena* maar_slice_arena_at(const struct maar_slice_state* state,
                                                           uint32_t number)
{
    return maar_atomic_pointer_load(&state->arenas[number]);
}

/* The next arena; start with number 0 and pass the last one's number plus one. NULL at the end. */
static inline struct maar_slice_arena* maar_slice_next_arena(const struct maar_slice_state* state,
                                                             uint32_t number)
{
    struct maar_slice_arena* arena = NULL;
    for (; number < MAAR_ARENAS && arena == NULL; ++number) {
        arena = maar_slice_arena_at(state, number);
    }
    return arena;
}

/* What is asked for, and where it was placed. */
struct maar_slice_job {
    const MaarSliceCreateInfo* info;
    VkDeviceSize size;
    VkDeviceSize alignment;
    struct maar_slice_buffer* home;
    struct maar_placement_range range;
};

/* The arena is otherwise zero. */
bool maar_slice_arena_init(struct maar_slice_arena* arena, uint32_t number, bool synchronized);
/* Destroys what is in an arena; returns how many slices were. */
uint32_t maar_slice_arena_end(MaarAllocator allocator, struct maar_slice_arena* arena);
/* The arena that this thread takes slices from, locked. */
struct maar_slice_arena* maar_slice_arena_enter(MaarAllocator allocator,
                                                struct maar_slice_state* state);
/* Places a slice, into a new buffer if it must. The arena is locked; its lock may be left and taken
 * again. On success *arena is the one of job->home, and is locked alone. */
VkResult maar_slice_take(MaarAllocator allocator, struct maar_slice_state* state,
                         struct maar_slice_arena** arena, struct maar_slice_job* job);
/* Under the arena's lock: the first empty buffer that a shelf could do without, unlinked. */
struct maar_slice_buffer* maar_slice_pick_empty(struct maar_slice_arena* arena,
                                                uint32_t kept_per_shelf);
/* No lock may be held. */
void maar_slice_buffer_destroy(MaarAllocator allocator, struct maar_slice_buffer* home);

#endif
