/*
 * Pools: blocks of one memory type, made and placed into by one rule, in arenas.
 */
#ifndef MAAR_CORE_MEMORY_POOL_H
#define MAAR_CORE_MEMORY_POOL_H

#include "core/memory/arena.h"
#include "core/memory/arena_set.h"
#include "maar/paging.h"

struct maar_pool {
    MaarAllocator allocator;
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

    maar_atomic64 kind;           /* of a single_kind pool: see maar_pool_claim_kind; 0 at first */
    maar_atomic32 block_count;    /* without dedicated ones; those on their way count */
    maar_atomic32 listed_count;   /* those on their way do not */
    maar_atomic32 creating_count; /* on their way, in all arenas */
    maar_atomic32 ended_count;    /* that were on their way, ever; wraps */
    maar_atomic32 empty_count;    /* blocks without an allocation, and their bytes */
    maar_atomic64 empty_bytes;
    float priority; /* under the lock of its arenas' set */
    struct maar_arena_set arenas;
    struct maar_arena first_arena;
};

/* MaarPool is a struct maar_pool by another name. */
static inline struct maar_pool* maar_pool_of(MaarPool pool)
{
    return (struct maar_pool*)(void*)pool;
}

/* Default pools have no handle. */
static inline MaarPool maar_pool_handle(struct maar_pool* pool)
{
    return pool->custom ? (MaarPool)(void*)pool : VK_NULL_HANDLE;
}

/* The next arena of a pool from a number on; see maar_arena_set_next. */
static inline struct maar_arena* maar_pool_next_arena(const struct maar_pool* pool, uint32_t number)
{
    return maar_arena_set_next(&pool->arenas, number);
}

/* The arena that this thread allocates from, locked. */
static inline struct maar_arena* maar_arena_enter(struct maar_pool* pool)
{
    return maar_arena_set_try_first(&pool->arenas, &pool->first_arena.lock)
               ? &pool->first_arena
               : maar_arena_enter_own(pool);
}

/* Makes a pool that is in no list yet, with the blocks that it always has. */
VkResult maar_pool_create(MaarAllocator allocator, const MaarPoolCreateInfo* info, bool custom,
                          struct maar_pool** pool);
/* Releases what is in a pool, and reports leaks. */
void maar_pool_destroy(struct maar_pool* pool);
/* Frees the header of a pool that has been emptied and is in no list any more. */
void maar_pool_free(struct maar_pool* pool);
/* VK_SUCCESS for a pool of this allocator and for VK_NULL_HANDLE; reports a pool of another one. */
VkResult maar_pool_require_own(MaarAllocator allocator, const char* call, MaarPool pool);
/* The MaarPoolPagingInfo in a chain, or NULL. */
const MaarPoolPagingInfo* maar_pool_find_paging(const MaarPoolCreateInfo* info);
/* What is wrong with a create info, as a sentence, or NULL. */
const char* maar_pool_find_fault(MaarAllocator allocator, const MaarPoolCreateInfo* info);

/* For a resource that is to live in a pool of one kind: false when others decided for the other
 * kind. Every pool may be asked; those of any kind, and unknown kinds, are always right. */
bool maar_pool_claim_kind(struct maar_pool* pool, MaarResourceKind kind);
/* That resource was not made. When none is left that ever claimed the kind, it is open again. */
void maar_pool_disclaim_kind(struct maar_pool* pool, MaarResourceKind kind);

#endif
