/*
 * The allocator: its device, its settings, the accounts of heaps, the handle table and the list of
 * pools. core/memory uses a buffer or an image only to pass it on in VkMemoryDedicatedAllocateInfo.
 *
 * Locking: a pool is divided into arenas. It has a single arena until two threads use it at the
 * same time. An arena's lock guards its blocks, their placements and its free slots. A block's map
 * lock guards its mapping. Counters are atomic. Only a map lock is held during a call of the
 * driver, a host allocation or a call of the program's code.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATOR_STATE_H
#define MAAR_CORE_MEMORY_ALLOCATOR_STATE_H

#include <stddef.h>

#include "core/bits.h"
#include "core/check.h"
#include "core/device.h"
#include "core/host_memory.h"
#include "core/memory/arena_set.h"
#include "core/memory/block_ids.h"
#include "core/memory/block_numbers.h"
#include "core/memory/budget.h"
#include "core/memory/empty_blocks.h"
#include "core/memory/fast_choice.h"
#include "core/memory/leaving.h"
#include "core/memory/location_epoch.h"
#include "core/memory/object_count.h"
#include "core/memory/slot_record.h"
#include "core/memory/slot_table.h"
#include "core/memory/type_choice.h"
#include "core/report.h"
#include "core/time/retire.h"

/* The largest number of default pools of a memory type. There is one pool for all kinds, or one for
 * each kind if the placement cannot keep kinds apart cheaply. */
enum { MAAR_DEFAULT_POOLS = 3 };

/* The longest time that maarDestroyAllocator waits for pending frees, ns. */
#define MAAR_DESTROY_TIMEOUT_NS ((uint64_t)5000000000)

struct maar_arena;
struct maar_block;
struct maar_lent_handle;
struct maar_pool;

/* The steps of the end of a pool in core/paging. The first one forgets what is recorded for objects
 * that have ended, because the program will not submit it any more. What waits for that submission
 * waits no longer. The second one ends the pages. */
enum maar_end_step { MAAR_END_RECORDED, MAAR_END_PAGES };

/* The state that another room keeps with the allocator, and its functions. Destroying the allocator
 * destroys the state. */
struct maar_extension {
    void (*destroy)(MaarAllocator allocator, void* state);
    /* Releases the empty memory that the room keeps in one pool, or in all pools of some heaps
     * (bits) if pool is NULL. emptied_by: see empty_blocks.h. Returns the released bytes. */
    VkDeviceSize (*trim)(MaarAllocator allocator, void* state, const struct maar_pool* pool,
                         uint32_t heaps, uint64_t emptied_by);
    void (*count)(void* state, MaarStatistics* statistics); /* may be NULL */
    /* Does a step of the end of a pool, or the first step of the end of the allocator if pool is
     * NULL. May be NULL. */
    void (*end_pool)(MaarAllocator allocator, struct maar_pool* pool, enum maar_end_step step);
    /* Prevents new submissions from using the pages of a stitched allocation. Returns whether the
     * last submission has been executed. If not, sets *point to the point that passes when the
     * submission has been executed. */
    bool (*seal)(MaarAllocator allocator, const struct maar_slot* slot, uint32_t index,
                 MaarPoint* point);
    /* Returns the pages of a stitched allocation to core/paging. */
    void (*release_pages)(MaarAllocator allocator, struct maar_block* block);
    maar_atomic_pointer state; /* NULL until the room is first used */
};

struct MaarAllocator_T {
    struct maar_reporter reporter; /* the first member: see maar_reporter_of */
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
    /* Whether each kind of resource has default pools of its own. A buddy placement can keep kinds
     * apart only if each of its nodes is at least a granule. The other strategies need only a gap
     * between two ranges of different kinds. */
    bool kinds_apart;
    VkDeviceSize preferred_block_size;
    VkDeviceSize retained_size;
    uint32_t avoided_types;
    /* What the program's own memory of each type can be exported as, outside of pools. */
    VkExternalMemoryHandleTypeFlags default_exports[VK_MAX_MEMORY_TYPES];
    bool has_default_exports;
    VkDeviceSize margin; /* see margin.h */
    bool compares_margins;
    uint32_t queue_count;
    MaarQueue* queues;

    struct maar_heap_account heaps[VK_MAX_MEMORY_HEAPS];
    struct maar_object_count object_count; /* of VkDeviceMemory objects */
    maar_atomic64 next_block_id;
    struct maar_trim_clock trim_clock;

    struct maar_slot_table slots;
    struct maar_epochs epochs;         /* of the allocations that have moved */
    struct maar_slot_records movables; /* struct maar_movable; the list lock guards them */
    struct maar_retire retire;
    struct maar_block_ids block_ids;
    struct maar_block_numbers block_numbers;
    struct maar_leaving leaving;
    struct maar_slot_table object_slots; /* see object_handle.h */
    uint32_t first_slice_key;            /* the first key of the handles of slices */
    struct maar_mutex list_lock;         /* guards the next five members, and block_numbers */
    struct maar_slot_list free_object_slots;
    struct maar_pool* pools;
    struct maar_pool* default_list;  /* the default pools; they stay until the allocator ends */
    struct maar_block* spare_blocks; /* see recycled.h */
    struct maar_arena* spare_arenas;
    maar_atomic_pointer default_pools[VK_MAX_MEMORY_TYPES][MAAR_DEFAULT_POOLS];
    struct maar_extension slices;
    struct maar_extension paging;
    struct maar_extension moving;        /* the batches of core/move */
    struct maar_extension sharing;       /* the state of interop */
    maar_atomic_pointer ordered;         /* a struct maar_ordered*; NULL before it is first used */
    struct maar_mutex share_lock;        /* guards the lists of attachments, and the next member */
    struct maar_lent_handle* lent;       /* handles with importers; see external_handle.h */
    maar_atomic32 external_handle_count; /* handles made and not destroyed */
    maar_atomic32 capture_users;         /* 0: no capture goes on; see capture_log.h */
    maar_atomic_pointer capture;         /* a struct maar_capture_log*; NULL before the first one */
    struct maar_rankings rankings;
    struct maar_fast_choice fast_choices[MAAR_FAST_CHOICES];
    struct maar_known_threads threads;

    maar_atomic64 block_bytes;
    maar_atomic64 block_count;
    maar_atomic64 peak_block_bytes;
    maar_atomic64 peak_block_count;
    maar_atomic32 stray_count; /* lists of far frees found at an arena of the past; wraps */
    maar_atomic64 peak_live_bytes;
    maar_atomic64 live_floors;    /* of all arenas; see peak.h */
    maar_atomic64 paged_bytes;    /* bytes of pages in use */
    maar_atomic64 stitched_bytes; /* bytes of pages in stitched allocations */
    maar_atomic64 allocate_calls;
    maar_atomic64 free_calls;
    maar_atomic64 allocations_made; /* in destroyed pools; each arena counts its own */
    maar_atomic64 failures;
    maar_atomic64 fallbacks;
    maar_atomic64 over_budget;
    maar_atomic64 touches; /* calls of maarTouchPages that succeeded */
};

_Static_assert(offsetof(struct MaarAllocator_T, reporter) == 0, "see maar_reporter_of");

/* Whether threads may call the allocator at the same time. */
static inline bool maar_is_synchronized(MaarAllocator allocator)
{
    return (allocator->flags & MAAR_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT) == 0;
}

/* Returns the property flags of a memory type. */
static inline VkMemoryPropertyFlags maar_type_flags(MaarAllocator allocator, uint32_t type)
{
    return allocator->device.facts.memory.memoryTypes[type].propertyFlags;
}

/* Returns the heap of a memory type. */
static inline uint32_t maar_type_heap(MaarAllocator allocator, uint32_t type)
{
    return allocator->device.facts.memory.memoryTypes[type].heapIndex;
}

/* Whether a type is HOST_VISIBLE without HOST_COHERENT: the host must flush, and two allocations
 * must not share an atom. */
static inline bool maar_type_is_noncoherent(MaarAllocator allocator, uint32_t type)
{
    const VkMemoryPropertyFlags both = (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                       (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    return (maar_type_flags(allocator, type) & both) == VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
}

/* Notes the result of a call of the driver. Once the device is lost, no call waits for it. */
static inline void maar_note_loss(MaarAllocator allocator, VkResult result)
{
    if (result == VK_ERROR_DEVICE_LOST) {
        maar_atomic32_store(&allocator->retire.lost, 1);
    }
}

/* Releases the empty buffers of slices in some heaps (bits). Their bytes go back to the blocks of
 * default pools. emptied_by: see empty_blocks.h. Returns these bytes. */
static inline VkDeviceSize maar_trim_slices(MaarAllocator allocator, uint32_t heaps,
                                            uint64_t emptied_by)
{
    void* slices = maar_atomic_pointer_load(&allocator->slices.state);
    return slices != NULL ? allocator->slices.trim(allocator, slices, NULL, heaps, emptied_by) : 0;
}

/* Releases the empty page blocks of one pool, or of all pools in some heaps (bits) if pool is NULL.
 * emptied_by: see empty_blocks.h. Returns the released bytes. */
static inline VkDeviceSize maar_trim_paging(MaarAllocator allocator, const struct maar_pool* pool,
                                            uint32_t heaps, uint64_t emptied_by)
{
    void* paging = maar_atomic_pointer_load(&allocator->paging.state);
    return paging != NULL ? allocator->paging.trim(allocator, paging, pool, heaps, emptied_by) : 0;
}

#endif
