/*
 * Placing into the blocks that a pool has.
 */
#ifndef MAAR_CORE_MEMORY_ARENA_PLACE_H
#define MAAR_CORE_MEMORY_ARENA_PLACE_H

#include "core/memory/pool.h"

struct maar_place_request {
    VkDeviceSize size;
    VkDeviceSize alignment;
    MaarResourceKind kind;       /* for the placement */
    MaarResourceKind shown_kind; /* what the caller said */
    bool upper;
    bool can_alias; /* these four are for the slot */
    bool internal;
    void* user_data;
    char* name;
};

/* What placing made: a slot that is not live yet. */
struct maar_made {
    struct maar_slot* slot;
    uint32_t index;
};

/* Makes a slot live; its handle. */
static inline MaarAllocation maar_made_publish(const struct maar_made* made)
{
    const uint32_t key = maar_atomic32_load(&made->slot->key) + 1u;
    maar_atomic32_store_release(&made->slot->key, key);
    return maar_handle_make(made->index, key);
}

/* Places into blocks that exist; VK_ERROR_OUT_OF_POOL_MEMORY when none has room. Patient: waits for
 * the arenas of other threads too, rather than passing over those in use. */
VkResult maar_pool_place(struct maar_pool* pool, const struct maar_place_request* request,
                         bool patient, struct maar_made* made);

/* The functions that follow are called under the arena's lock; those with a result may leave it and
 * take it again. */

/* Places into the arena's blocks; VK_ERROR_OUT_OF_POOL_MEMORY when none has room. */
VkResult maar_arena_place(struct maar_arena* arena, const struct maar_place_request* request,
                          struct maar_made* made);
/* Places into one block; VK_INCOMPLETE when the lock was left and the caller must look again. */
VkResult maar_arena_place_in(struct maar_arena* arena, struct maar_block* block,
                             const struct maar_place_request* request, struct maar_made* made);
/* Fills the arena's first free slot for a range of a block. */
void maar_arena_fill_slot(struct maar_arena* arena, struct maar_block* block,
                          const struct maar_place_request* request,
                          const struct maar_placement_range* range, struct maar_made* made);

#endif
