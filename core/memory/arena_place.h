/*
 * Placing into the blocks that a pool has. The allocating paths call these functions. They lock the
 * arenas they look at.
 */
#ifndef MAAR_CORE_MEMORY_ARENA_PLACE_H
#define MAAR_CORE_MEMORY_ARENA_PLACE_H

#include "core/memory/pool.h"

/* A request in the form that a placement needs. */
struct maar_place_request {
    VkDeviceSize size;
    VkDeviceSize alignment;
    MaarResourceKind kind;       /* the kind for the placement */
    MaarResourceKind shown_kind; /* the kind that the caller gave */
    bool upper;
    bool can_alias; /* the last four members are for the slot */
    bool internal;
    void* user_data;
    char* name;
};

/* The outcome of one step of placing. */
enum maar_pool_outcome {
    MAAR_POOL_PLACED,
    MAAR_POOL_NO_ROOM, /* no room in the blocks that were looked at, and no block may be added */
    MAAR_POOL_CHANGED, /* the lock was released for a time; the caller looks again */
    MAAR_POOL_WAIT,    /* another thread is making a block that may serve */
    MAAR_POOL_NO_HOST_MEMORY,
    MAAR_POOL_FAILED /* the driver or a limit has no memory; see maar_made::error */
};

/* The result of placing: a slot that is not live yet, or the details of another outcome. */
struct maar_made {
    struct maar_slot* slot;
    uint32_t index;
    uint32_t turn;  /* MAAR_POOL_WAIT: for maar_pool_wait */
    VkResult error; /* MAAR_POOL_FAILED: why */
};

/* Returns the VkResult of an outcome. MAAR_POOL_CHANGED and MAAR_POOL_WAIT never leave the
 * allocating paths. */
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

/* Keeps the driver's error for maar_pool_result. Returns the outcome for it. */
static inline enum maar_pool_outcome maar_made_fail(struct maar_made* made, VkResult error)
{
    made->error = error;
    return error == VK_ERROR_OUT_OF_HOST_MEMORY ? MAAR_POOL_NO_HOST_MEMORY : MAAR_POOL_FAILED;
}

/* Makes a slot live and returns its handle. */
static inline MaarAllocation maar_made_publish(const struct maar_made* made)
{
    const uint32_t key = maar_atomic32_load(&made->slot->key) + 1u;
    maar_atomic32_store_release(&made->slot->key, key);
    return MAAR_FROM_BITS(MaarAllocation, maar_handle_make(made->index, key));
}

/* Places into existing blocks. Returns MAAR_POOL_PLACED, _NO_ROOM or _NO_HOST_MEMORY. patient:
 * waits for locked arenas of other threads instead of passing over them. No lock may be held. */
enum maar_pool_outcome maar_pool_place(struct maar_pool* pool,
                                       const struct maar_place_request* request, bool patient,
                                       struct maar_made* made);

/* The functions below are called under the arena's lock. Those with a result may leave it and take
 * it again. */

/* Places into the arena's blocks. Returns the outcomes of maar_pool_place. */
enum maar_pool_outcome maar_arena_place(struct maar_arena* arena,
                                        const struct maar_place_request* request,
                                        struct maar_made* made);
/* Places into one block. Returns these outcomes or MAAR_POOL_CHANGED. */
enum maar_pool_outcome maar_arena_place_in(struct maar_arena* arena, struct maar_block* block,
                                           const struct maar_place_request* request,
                                           struct maar_made* made);
/* Takes the arena's first free slot and fills it for a range of a block. */
void maar_arena_fill_slot(struct maar_arena* arena, struct maar_block* block,
                          const struct maar_place_request* request,
                          const struct maar_placement_range* range, struct maar_made* made);

#endif
