/*
 * Pools: blocks of one memory type, made and placed into by one rule, in arenas.
 */
#ifndef MAAR_CORE_MEMORY_POOL_H
#define MAAR_CORE_MEMORY_POOL_H

#include "core/memory/arena.h"
#include "core/memory/arena_set.h"
#include "core/time/retire.h"

struct maar_pool {
    MaarAllocator allocator;
    MaarPool handle;        /* VK_NULL_HANDLE: a default pool, which has none */
    struct maar_pool* next; /* these three under the allocator's list lock */
    uint32_t walker_count;  /* threads that walk the list and stand at this pool */
    bool retired;           /* emptied already; the last walker frees it */
    bool custom;
    bool single_kind;
    uint32_t number; /* of a default pool that exports: which of a type's */
    bool device_local;
    bool plain; /* min_alignment and atom are 1: requests of a known kind are placed as they come */
    uint32_t type_index;
    uint32_t heap_index;
    MaarPlacementStrategy strategy;
    VkDeviceSize granularity;    /* for its placements */
    VkDeviceSize atom;           /* nonCoherentAtomSize where that matters, else 1 */
    VkDeviceSize fixed_size;     /* 0: blocks grow */
    VkDeviceSize preferred_size; /* what they grow to */
    VkDeviceSize tight_size;     /* requests from here on take the block that they fit tightest */
    VkDeviceSize min_alignment;
    VkDeviceSize retained_size; /* see MaarPoolCreateInfo::retainedEmptySize */
    uint32_t min_block_count;
    uint32_t max_block_count; /* UINT32_MAX: no limit */
    const void* allocate_next;
    VkExternalMemoryHandleTypeFlags export_types; /* its blocks can be exported as these */
    char* name;
    bool stitches;                 /* objects of at least this size are made of pages, */
    VkDeviceSize stitch_threshold; /* 0: of eight pages */
    VkDeviceSize page_block_size;  /* 0: the paging room chooses */
    maar_atomic64 least_page;      /* the smallest page of its objects, 0 before the first */
    struct maar_retire_pool pending;

    maar_atomic64 kind;           /* of a single_kind pool: see pool_kind.h; 0 at first */
    maar_atomic32 block_count;    /* without dedicated ones; those on their way count */
    maar_atomic32 listed_count;   /* those on their way do not */
    maar_atomic32 creating_count; /* on their way, in all arenas */
    maar_atomic32 ended_count;    /* that were on their way, ever; wraps; under the set's lock */
    struct maar_condition block_ended; /* of the set's lock: ended_count has risen */
    maar_atomic32 empty_count;         /* blocks without an allocation, and their bytes */
    maar_atomic64 empty_bytes;
    float priority; /* under the lock of its arenas' set */
    struct maar_arena_set arenas;
    struct maar_arena* first_arena;
};

/* Returns what is pending in a pool; NULL for none. */
static inline struct maar_retire_pool* maar_pool_pending(struct maar_pool* pool)
{
    return pool != NULL ? &pool->pending : NULL;
}

/* The next arena of a pool from a number on; see maar_arena_set_next. */
static inline struct maar_arena* maar_pool_next_arena(const struct maar_pool* pool, uint32_t number)
{
    return maar_arena_set_next(&pool->arenas, number);
}

/* The arena that this thread allocates from, locked. */
static inline struct maar_arena* maar_arena_enter(struct maar_pool* pool)
{
    return maar_arena_set_try_first(&pool->arenas, &pool->first_arena->lock)
               ? pool->first_arena
               : maar_arena_enter_own(pool);
}

#endif
