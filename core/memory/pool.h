/*
 * Pools: blocks of one memory type, made and placed into by one rule, divided into arenas. The list
 * lock of the allocator guards a pool's place in the list. The lock of its set of arenas guards the
 * counts of announced blocks.
 */
#ifndef MAAR_CORE_MEMORY_POOL_H
#define MAAR_CORE_MEMORY_POOL_H

#include "core/memory/arena.h"
#include "core/memory/arena_set.h"
#include "core/memory/pool_walk.h"
#include "core/time/retire.h"

/* A pool of one memory type. */
struct maar_pool {
    MaarAllocator allocator;
    MaarPool handle; /* VK_NULL_HANDLE for a default pool */
    bool custom;
    bool single_kind;
    uint32_t number; /* of a default pool: its place among those of its type */
    bool device_local;
    bool heavy_checks; /* the allocator was created with them */
    maar_atomic32 met; /* whether threads have met in the pool */
    bool plain; /* min_alignment and atom are 1: a request of a known kind is placed unchanged */
    uint32_t type_index;
    uint32_t heap_index;
    MaarPlacementStrategy strategy;
    VkDeviceSize granularity; /* for its placements */
    VkDeviceSize atom;        /* nonCoherentAtomSize where that matters, else 1 */
    VkDeviceSize fixed_size;  /* of every block; 0: blocks grow */
    /* The size that blocks grow to, and the measure of what is large in this pool: what is
     * dedicated, what takes the fast path, how much stays empty, and how large a first or modest
     * block is. */
    VkDeviceSize preferred_size;
    bool frugal;             /* nobody has named a block size: see block_size.c */
    VkDeviceSize tight_size; /* takes the tightest block from this size on */
    VkDeviceSize fast_size;  /* arena_fast.h serves requests of at most this size */
    VkDeviceSize min_alignment;
    VkDeviceSize margin;        /* at the end of each range of its blocks: see margin.h */
    bool compares_margins;      /* which are filled, and compared */
    VkDeviceSize retained_size; /* see MaarPoolCreateInfo::retainedEmptySize */
    uint32_t min_block_count;
    uint32_t max_block_count; /* UINT32_MAX: no limit */
    const void* allocate_next;
    VkExternalMemoryHandleTypeFlags export_types; /* its blocks can be exported as these */
    char* name;
    bool stitches; /* objects of at least stitch_threshold bytes are made of pages */
    VkDeviceSize stitch_threshold; /* 0: the size of eight pages */
    VkDeviceSize page_block_size;  /* 0: core/paging chooses */
    maar_atomic64 least_page;      /* the smallest page of the pool's objects; 0 before the first */
    struct maar_arena* first_arena;
    struct maar_arena_set arenas;

    /* What follows is written often, by any thread, and what comes before is read by each
     * allocation. So they never share a cache line. */
    uint64_t apart[8];
    struct maar_retire_pool pending;
    struct maar_pool* next; /* under the list lock, like the next four */
    struct maar_pool* previous;
    struct maar_pool* next_default; /* of a default pool: the next one */
    uint32_t walker_count;          /* threads that walk the list and have reached this pool */
    bool retired;                   /* emptied already; freed by the last walker */
    maar_atomic64 kind;             /* of a pool of one kind: see pool_kind.h; 0 at first */
    maar_atomic32 block_count;      /* without dedicated blocks, with those being made */
    maar_atomic32 listed_count;     /* without those being made */
    maar_atomic32 creating_count;   /* blocks being made, in all arenas */
    maar_atomic32 ended_count; /* announced blocks that were listed or not made; wraps; under the
                                  set's lock */
    struct maar_condition block_ended; /* of the set's lock: signalled when ended_count has risen */
    maar_atomic32 empty_count;         /* empty blocks, and their bytes */
    maar_atomic64 empty_bytes;
    maar_atomic32 draining_count; /* blocks that drain: see draining.h */
    maar_atomic32 drained_count;  /* blocks that were released after they had drained; wraps */
    maar_atomic64 drained_bytes;
    maar_atomic32 walk_count; /* threads for which no block may change its arena */
    float priority;           /* under the lock of the set of arenas */
};

/* Returns the pending ranges of a pool, or NULL for no pool. */
static inline struct maar_retire_pool* maar_pool_pending(struct maar_pool* pool)
{
    return pool != NULL ? &pool->pending : NULL;
}

/* Returns the next arena of a pool from a number on; see maar_arena_set_next. */
static inline struct maar_arena* maar_pool_next_arena(const struct maar_pool* pool, uint32_t number)
{
    return maar_arena_set_next(&pool->arenas, number);
}

/* Whether threads have met in the pool. Until then it has one arena, and no far frees are listed.
 */
static inline bool maar_pool_is_shared(const struct maar_pool* pool)
{
    return maar_atomic32_load(&pool->met) != 0;
}

/* Locks and returns the arena that this thread allocates from. */
static inline struct maar_arena* maar_arena_enter(struct maar_pool* pool)
{
    struct maar_arena* first = pool->first_arena;
    return !maar_pool_is_shared(pool) && maar_mutex_try_lock(&first->lock)
               ? first
               : maar_arena_enter_shared(pool);
}

#endif
