/*
 * Places requests into the existing blocks of a pool. The fast path and the slow path of an
 * allocation call these functions.
 */
#ifndef MAAR_CORE_MEMORY_ARENA_PLACE_H
#define MAAR_CORE_MEMORY_ARENA_PLACE_H

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"

/* A request in the form that a placement needs. */
struct maar_place_request {
    VkDeviceSize size;
    VkDeviceSize alignment;
    MaarResourceKind kind;       /* the kind for the placement */
    MaarResourceKind shown_kind; /* the kind that the caller gave */
    bool upper;
    bool tightly;   /* takes the block that it fits most tightly, whatever its size */
    bool lowest;    /* takes the lowest place in its block; `tightly` is set too */
    bool apart;     /* keeps apart from ranges of other sizes and kinds: see arena_place.c */
    bool can_alias; /* this member and the next three are copied into the slot */
    bool internal;
    void* user_data;
    char* name;
};

struct maar_spot;

/* The outcome of one step of placing. */
enum maar_pool_outcome {
    MAAR_POOL_PLACED,
    MAAR_POOL_NO_ROOM, /* the blocks that were tried have no room; no block was added */
    MAAR_POOL_CHANGED, /* the arena was unlocked for a time; the caller tries again */
    MAAR_POOL_WAIT,    /* another thread is making a block that may have room for the request */
    MAAR_POOL_NO_HOST_MEMORY,
    MAAR_POOL_FAILED /* the driver failed, or a limit was reached; see maar_made::error */
};

/* The result of placing: a slot that is not live yet, or the details of another outcome. */
struct maar_made {
    struct maar_slot* slot;
    uint32_t index;
    uint32_t turn;  /* after MAAR_POOL_WAIT: the argument for maar_pool_wait */
    VkResult error; /* after MAAR_POOL_FAILED: the reason */
};

/* Returns the VkResult of an outcome. Callers try again after MAAR_POOL_CHANGED and MAAR_POOL_WAIT,
 * so these outcomes have no result of their own. */
static inline VkResult maar_pool_result(enum maar_pool_outcome outcome,
                                        const struct maar_made* made)
{
    switch (outcome) {
    case MAAR_POOL_PLACED:
        return VK_SUCCESS;
    case MAAR_POOL_NO_HOST_MEMORY:
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    case MAAR_POOL_FAILED:
        return made->error;
    default:
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
}

/* Stores an error for maar_pool_result, and returns the outcome that stands for the error. */
static inline enum maar_pool_outcome maar_made_fail(struct maar_made* made, VkResult error)
{
    made->error = error;
    return error == VK_ERROR_OUT_OF_HOST_MEMORY ? MAAR_POOL_NO_HOST_MEMORY : MAAR_POOL_FAILED;
}

/* The kinds in a pool whose granularity matters are 1 to this one. */
enum { MAAR_PLACEMENT_KINDS = 3 };

/* Returns the kind that the placements of a pool use: a resource of unknown kind is kept apart from
 * both known kinds. 0: kinds do not matter. */
static inline uint32_t maar_placement_kind(const struct maar_pool* pool, MaarResourceKind kind)
{
    if (pool->granularity <= 1) {
        return 0;
    }
    return kind == MAAR_RESOURCE_KIND_UNKNOWN ? (uint32_t)MAAR_PLACEMENT_KINDS : (uint32_t)kind;
}

/* Returns the tag of a range in its block's placement: its slot, and the alignment that it needs,
 * which a move keeps. An alignment of 4 GiB or more is not kept. */
static inline uint64_t maar_range_tag(uint32_t index, VkDeviceSize alignment)
{
    return alignment << 32 | index;
}
/* Return the slot and the alignment of a tag; the latter is 0 if it is not known. */
static inline uint32_t maar_tag_slot(uint64_t tag)
{
    return (uint32_t)tag;
}
static inline VkDeviceSize maar_tag_alignment(uint64_t tag)
{
    return tag >> 32;
}

/* Makes a slot live and returns its handle. */
static inline MaarAllocation maar_made_publish(const struct maar_made* made)
{
    const uint32_t key = maar_atomic32_load(&made->slot->key) + 1u;
    maar_atomic32_store_release(&made->slot->key, key);
    return MAAR_FROM_BITS(MaarAllocation, maar_handle_make(made->index, key));
}

/* Places a request into existing blocks. Returns MAAR_POOL_PLACED, _NO_ROOM or _NO_HOST_MEMORY. If
 * patient, waits for locked arenas of other threads, else passes over them. No lock may be held. */
enum maar_pool_outcome maar_pool_place(struct maar_pool* pool,
                                       const struct maar_place_request* request, bool patient,
                                       struct maar_made* made);

/* The functions below are called under the arena's lock. Functions that return an outcome may
 * unlock the arena for a time. */

/* Places a request into the arena's blocks. Returns the same outcomes as maar_pool_place. */
enum maar_pool_outcome maar_arena_place(struct maar_arena* arena,
                                        const struct maar_place_request* request,
                                        struct maar_made* made);
/* Places a request into one block. Returns the same outcomes, or MAAR_POOL_CHANGED. */
enum maar_pool_outcome maar_arena_place_in(struct maar_arena* arena, struct maar_block* block,
                                           const struct maar_place_request* request,
                                           struct maar_made* made);
/* Places a request at an offset in the free range directly behind a live node of a block, or at its
 * beginning: see maar_placement_allocate_at. kind: for the placement. Returns the same outcomes. */
enum maar_pool_outcome maar_arena_place_at(struct maar_arena* arena, struct maar_block* block,
                                           const struct maar_place_request* request, uint32_t kind,
                                           VkDeviceSize offset, uint32_t before,
                                           struct maar_made* made);
/* Ensures that a range can be cut out of a free one in a block without host memory. Returns
 * MAAR_POOL_PLACED if so, else leaves the lock for a time: MAAR_POOL_CHANGED. */
enum maar_pool_outcome maar_arena_bring(struct maar_arena* arena, struct maar_block* block);
/* Does what is left for a block that a range was placed in: see maar_arena_count_range. */
void maar_arena_note_range(struct maar_arena* arena, struct maar_block* block);
/* Fills a slot, but not its home, for a plain allocation: one without name, flags or mapping. */
MAAR_INLINE void maar_slot_dress(struct maar_slot* slot, uint32_t index, MaarResourceKind kind,
                                 void* user_data)
{
    slot->map_count = 0;
    maar_atomic8_store(&slot->marks, (uint8_t)((uint32_t)kind & MAAR_SLOT_KIND));
    slot->can_alias = false;
    slot->fallback = false;
    slot->mapped_for_life = false;
    slot->made_block = false;
    slot->exceeded = false;
    slot->stitched = false;
    slot->owned = false;
    slot->ordered = false;
    if (user_data != NULL) {
        maar_slot_set_user_data(slot, index, user_data);
    }
}
/* Takes the first free slot of an arena, and fills it so. Returns the slot. */
MAAR_INLINE struct maar_slot* maar_arena_take_slot(struct maar_arena* arena, MaarResourceKind kind,
                                                   void* user_data)
{
    const uint32_t index = arena->slots.head;
    struct maar_slot* slot = maar_slots_first(&arena->pool->allocator->slots, &arena->slots);
    arena->slots.head = slot->next_free;
    arena->slots.first = NULL;
    --arena->slots.count;
    maar_slot_dress(slot, index, kind, user_data);
    return slot;
}
/* Takes the arena's first free slot and fills it for a range of a block. */
void maar_arena_fill_slot(struct maar_arena* arena, struct maar_block* block,
                          const struct maar_place_request* request,
                          const struct maar_placement_range* range, struct maar_made* made);

/* Places a request with the default values of maar_place_request, unlocks the arena, and returns
 * the allocation, and where it lies unless spot is NULL. Returns false if the arena has no room. */
bool maar_arena_place_plain(struct maar_arena* arena, const MaarMemoryRequest* request,
                            void* user_data, MaarAllocation* allocation, struct maar_spot* spot);

enum {
    /* When a placement makes the number of ranges in a block a multiple of 16, the size of the
     * block's largest free range is looked up again. */
    MAAR_ROOM_LOOK_MASK = 15,
    /* It is also looked up if the largest free range was less than twice as large as the request: a
     * request then mostly takes it. Else a later request of such a size would try in vain. */
    MAAR_ROOM_LOOK_CLASSES = 1 << MAAR_BLOCK_INDEX_CLASS_BITS
};

/* Counts a range that was placed in a block. wanted: the class of its size. */
static inline void maar_arena_count_range(struct maar_arena* arena, struct maar_block* block,
                                          uint32_t wanted)
{
    const uint32_t count = ++block->range_count;
    if ((count & MAAR_ROOM_LOOK_MASK) <= 1 ||
        arena->block_index.levels[block->at] - wanted < MAAR_ROOM_LOOK_CLASSES) {
        maar_arena_note_range(arena, block);
    }
}

#endif
