/*
 * What the allocator is made of: heaps' accounts, pools, arenas, blocks and the handle table.
 * Shared by the rooms that carry out public functions; nothing here names a buffer or an image but
 * to pass one on in VkMemoryDedicatedAllocateInfo.
 *
 * Locking: a pool is divided into arenas, one as long as threads do not meet in it. An arena's lock
 * guards its blocks, their placements and its free slots. A block's map lock guards its mapping.
 * Counters are atomic. No lock but a map lock is held across a call of the driver, of a host
 * allocation or of the caller's code.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATOR_STATE_H
#define MAAR_CORE_MEMORY_ALLOCATOR_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/check.h"
#include "core/device.h"
#include "core/host_memory.h"
#include "core/memory/room.h"
#include "core/memory/slot_table.h"
#include "core/placement/placement.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"
#include "core/report.h"
#include "core/time/retire.h"
#include "maar/allocator.h"

/* Default pools a memory type may have: one for everything, or one a kind when the placement
 * cannot keep kinds apart cheaply. */
enum { MAAR_DEFAULT_POOLS = 3 };

/* Arenas a pool may have. Threads beyond so many share them. */
enum { MAAR_ARENAS = 16 };

/* A change of an arena's live bytes for which the peak of them all is looked at. Half of what one
 * arena can hide of it, and little beside the gigabytes of those who watch it. */
#define MAAR_PEAK_STEP ((VkDeviceSize)1 << 24)

/* Threads that an allocator remembers; others get the arena that their hash says. */
enum { MAAR_KNOWN_THREADS = 64 };

struct maar_arena;
struct maar_page_table;
struct maar_attachment;

/* A VkDeviceMemory; or, in the lists of what is stitched, an allocation made of pages, which has no
 * VkDeviceMemory of its own, no number, and a page table instead. */
struct maar_block {
    /* What placing and freeing touch comes first. */
    struct maar_placement* placement; /* NULL: dedicated */
    struct maar_arena* arena;         /* for life */
    uint32_t at;                      /* in the list of its arena */
    uint32_t range_count;             /* allocations in it, live or pending */
    uint32_t pending_count;
    uint32_t pin_count; /* somebody left the lock and will come back to it */
    VkDeviceSize pending_bytes;
    struct maar_pool* pool;
    VkDeviceMemory memory;
    VkDeviceSize size;
    uint64_t id;
    struct maar_block* next; /* dedicated ones: doubly linked list of the arena */
    struct maar_block* previous;
    uint32_t dedicated_slot;
    bool named;                  /* made with VkMemoryDedicatedAllocateInfo: for one object alone */
    maar_atomic32 paged;         /* cut into pages; then: */
    maar_atomic64 paged_live;    /* bytes of pages in use, */
    maar_atomic64 paged_pending; /* and of those given back that the device still has */

    VkExternalMemoryHandleTypeFlags shared_types; /* it may be exported as, or was imported from */
    bool imported;
    struct maar_attachment* attachments; /* under the allocator's share lock; see attachment.h */

    struct maar_page_table* table;   /* stitched ones: what they are made of, */
    struct maar_retire_item* ending; /* and what will end them, so that this cannot fail */

    struct maar_mutex map_lock; /* guards what follows, and map_count of its slots */
    maar_atomic32 map_count;    /* written under the lock, read by dumps without it */
    uint32_t map_calls;         /* how often the driver was asked to map it */
    void* mapped;
};

/* Blocks that one thread, or a few, allocate from. */
struct maar_arena {
    struct maar_mutex lock; /* guards what follows and the insides of the blocks */
    struct maar_pool* pool;
    uint32_t number;
    struct maar_slot_list slots; /* free ones */
    struct maar_block** blocks;  /* in order of their ids */
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t creating_count; /* blocks on their way */
    uint32_t dedicated_count;
    uint32_t pending_count;
    struct maar_block* dedicated;
    struct maar_block* stitched;
    uint32_t stitched_count; /* live or pending */
    uint32_t stitched_pending_count;
    VkDeviceSize stitched_pending_bytes; /* in whole pages */
    VkDeviceSize block_bytes;            /* without dedicated ones */
    VkDeviceSize dedicated_bytes;
    uint64_t made_count;      /* allocations ever made in it */
    maar_atomic64 live_bytes; /* written under the lock, read without it */
    VkDeviceSize live_high;   /* most since the peaks were reset */
    VkDeviceSize looked_at;   /* when the sum of all arenas was last looked at */
    struct maar_room room;
    uint64_t apart[16]; /* from whatever another thread writes behind it */
};

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
    VkDeviceSize page_block_size;  /* 0: as the paging room likes */
    maar_atomic64 least_page;      /* the smallest page of its objects, 0 before the first */

    maar_atomic64 kind; /* of a single_kind pool: see maar_pool_claim_kind; 0 at first */
    maar_atomic32 arena_count;
    maar_atomic32 block_count;    /* without dedicated ones; those on their way count */
    maar_atomic32 listed_count;   /* those on their way do not */
    maar_atomic32 creating_count; /* on their way, in all arenas */
    maar_atomic32 ended_count;    /* that were on their way, ever; wraps */
    maar_atomic32 empty_count;    /* blocks without an allocation, and their bytes */
    maar_atomic64 empty_bytes;
    struct maar_mutex lock; /* guards the priority, and which arenas there are */
    float priority;
    maar_atomic_pointer arenas[MAAR_ARENAS]; /* the first is first_arena, others come when needed */
    struct maar_arena first_arena;
};

/* A thread that has met another one, and the number of its arenas plus one. */
struct maar_known_thread {
    maar_atomic64 tag;
    maar_atomic32 arena;
};

enum maar_ranking_state {
    MAAR_RANKING_UNUSED = 0,
    MAAR_RANKING_TAKEN = 1,   /* being written */
    MAAR_RANKING_COMPLETE = 2 /* never changed again */
};

/* Memory types in order of liking for one kind of wish; see choose_type.c. */
struct maar_ranking {
    maar_atomic32 state;
    uint32_t rest;
    uint64_t flags; /* this and `rest` are the wish */
    uint32_t count;
    uint8_t types[VK_MAX_MEMORY_TYPES];
};

/* Rankings kept. Programs have few: one for each usage and set of flags. */
enum { MAAR_RANKINGS = 32 };

/* Why there was no memory. */
enum maar_failure_reason {
    MAAR_FAILURE_BY_DRIVER,
    MAAR_FAILURE_OVER_BUDGET,   /* which may not be exceeded for it */
    MAAR_FAILURE_ABOVE_LIMIT,   /* the caller's, of the heap */
    MAAR_FAILURE_ABOVE_HEAP,    /* larger than the whole of it */
    MAAR_FAILURE_ABOVE_LARGEST, /* maxMemoryAllocationSize */
    MAAR_FAILURE_TOO_MANY,      /* maxMemoryAllocationCount */
    MAAR_FAILURE_POOL_IS_FULL,
    MAAR_FAILURE_ABOVE_BLOCK, /* larger than the pool's blocks */
    MAAR_FAILURE_REASONS
};

struct maar_heap_account {
    VkDeviceSize limit; /* the caller's, 0 for none */
    maar_atomic64 block_bytes;
    maar_atomic64 block_count;
    maar_atomic64 known_budget; /* as last read */
    maar_atomic64 known_usage;
    maar_atomic32 refused;                        /* some of these are not 0: */
    maar_atomic32 failures[MAAR_FAILURE_REASONS]; /* since a block was last made in it */
};

/* What a room keeps with the allocator, and takes down with it. */
struct maar_extension {
    void (*destroy)(MaarAllocator allocator, void* state);
    /* Gives back what is empty: in one pool, or everywhere for NULL. Bytes that no pool counts. */
    VkDeviceSize (*trim)(MaarAllocator allocator, void* state, const struct maar_pool* pool);
    void (*count)(void* state, MaarStatistics* statistics);            /* may be NULL */
    void (*end_pool)(MaarAllocator allocator, struct maar_pool* pool); /* may be NULL */
    maar_atomic_pointer state; /* NULL until the room is first used */
};

struct MaarAllocator_T {
    struct maar_reporter reporter; /* first: see maar_reporter_of */
    struct maar_device device;
    VkAllocationCallbacks callback_storage;
    const VkAllocationCallbacks* callbacks; /* &callback_storage or NULL */
    MaarAllocatorCreateFlags flags;
    PFN_maarDeviceMemory device_allocate;
    PFN_maarDeviceMemory device_free;
    void* device_memory_user_data;
    PFN_maarOutOfMemory out_of_memory;
    void* out_of_memory_user_data;
    MaarPlacementStrategy strategy;
    /* Each kind has default pools of its own: buddy nodes would have to be a granule large to keep
     * kinds apart; the other strategies do it at the cost of a gap where they meet. */
    bool kinds_apart;
    VkDeviceSize preferred_block_size;
    VkDeviceSize retained_size;
    uint32_t avoided_types;
    uint32_t queue_count;
    MaarQueue* queues;

    struct maar_heap_account heaps[VK_MAX_MEMORY_HEAPS];
    maar_atomic64 device_count; /* VkDeviceMemory objects, reserved before the call */
    maar_atomic64 next_block_id;

    struct maar_slot_table slots;
    struct maar_retire retire;
    struct maar_mutex list_lock; /* guards the list of pools */
    struct maar_pool* pools;
    maar_atomic_pointer default_pools[VK_MAX_MEMORY_TYPES][MAAR_DEFAULT_POOLS];
    struct maar_extension slices;
    struct maar_extension paging;
    struct maar_extension sharing;       /* interop's */
    struct maar_mutex share_lock;        /* guards the lists of attachments */
    maar_atomic32 external_handle_count; /* made and not destroyed */
    struct maar_ranking rankings[MAAR_RANKINGS];
    maar_atomic32 thread_count;
    struct maar_known_thread threads[MAAR_KNOWN_THREADS];

    maar_atomic64 block_bytes;
    maar_atomic64 block_count;
    maar_atomic64 peak_block_bytes;
    maar_atomic64 peak_block_count;
    maar_atomic64 peak_live_bytes;
    maar_atomic64 paged_bytes;    /* of pages in use, */
    maar_atomic64 stitched_bytes; /* and of these, of allocations that are stitched */
    maar_atomic64 allocate_calls;
    maar_atomic64 free_calls;
    maar_atomic64 allocations_made; /* in pools that are gone; arenas count theirs */
    maar_atomic64 failures;
    maar_atomic64 fallbacks;
    maar_atomic64 over_budget;
};

_Static_assert(offsetof(struct MaarAllocator_T, reporter) == 0, "see maar_reporter_of");

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

/* NULL while the pool has no arena of that number. */
static inline struct maar_arena* maar_pool_arena(const struct maar_pool* pool, uint32_t number)
{
    return maar_atomic_pointer_load(&pool->arenas[number]);
}

/* The next arena of a pool; start with number 0 and pass the last one's number plus one. NULL at
 * the end. */
static inline struct maar_arena* maar_pool_next_arena(const struct maar_pool* pool, uint32_t number)
{
    struct maar_arena* arena = NULL;
    for (; number < MAAR_ARENAS && arena == NULL; ++number) {
        arena = maar_pool_arena(pool, number);
    }
    return arena;
}

/* Whether a block is cut into pages: its live bytes are then those of pages in use. */
static inline bool maar_block_is_paged(const struct maar_block* block)
{
    return block->placement == NULL && maar_atomic32_load(&block->paged) != 0;
}

/* Bytes of live allocations in a block; its arena's lock is held. */
static inline VkDeviceSize maar_block_live_bytes(const struct maar_block* block)
{
    if (block->table != NULL) {
        return 0; /* its bytes are those of page blocks */
    }
    if (maar_block_is_paged(block)) {
        return maar_atomic64_load(&block->paged_live);
    }
    if (block->placement == NULL) {
        return block->range_count > block->pending_count ? block->size : 0;
    }
    struct maar_placement_totals totals;
    maar_placement_totals(block->placement, &totals);
    return totals.used_size - block->pending_bytes;
}

static inline bool maar_is_synchronized(MaarAllocator allocator)
{
    return (allocator->flags & MAAR_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT) == 0;
}

static inline VkMemoryPropertyFlags maar_type_flags(MaarAllocator allocator, uint32_t type)
{
    return allocator->device.facts.memory.memoryTypes[type].propertyFlags;
}

static inline uint32_t maar_type_heap(MaarAllocator allocator, uint32_t type)
{
    return allocator->device.facts.memory.memoryTypes[type].heapIndex;
}

/* HOST_VISIBLE without HOST_COHERENT: flushes are needed and atoms must not be shared. */
static inline bool maar_type_is_noncoherent(MaarAllocator allocator, uint32_t type)
{
    const VkMemoryPropertyFlags both = (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                       (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    return (maar_type_flags(allocator, type) & both) == VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
}

/* After a call of the driver: once a device is lost, nothing waits for it any more. */
static inline void maar_note_loss(MaarAllocator allocator, VkResult result)
{
    if (result == VK_ERROR_DEVICE_LOST) {
        maar_atomic32_store(&allocator->retire.lost, 1);
    }
}

#endif
