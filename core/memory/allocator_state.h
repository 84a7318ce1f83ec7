/*
 * What the allocator is made of: heaps' accounts, pools, blocks and the handle table. Shared by the
 * rooms that carry out public functions; nothing here names a buffer or an image but to pass one on
 * in VkMemoryDedicatedAllocateInfo.
 *
 * Locking: a pool's lock guards its blocks, their placements, its totals and its free slots. A
 * block's map lock guards its mapping. Counters are atomic. No lock but a map lock is held across a
 * call of the driver, of a host allocation or of the caller's code.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATOR_STATE_H
#define MAAR_CORE_MEMORY_ALLOCATOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/check.h"
#include "core/device.h"
#include "core/host_memory.h"
#include "core/memory/slot_table.h"
#include "core/placement/placement.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"
#include "core/time/retire.h"
#include "maar/allocator.h"

/* Default pools a memory type may have: one for everything, or one a kind when the placement
 * cannot keep kinds apart cheaply. */
enum { MAAR_DEFAULT_POOLS = 3 };

struct maar_block {
    struct maar_pool* pool;
    VkDeviceMemory memory;
    VkDeviceSize size;
    uint64_t id;
    struct maar_placement* placement; /* NULL: dedicated */
    struct maar_block* next;          /* dedicated ones: doubly linked list of the pool */
    struct maar_block* previous;
    uint32_t dedicated_slot;
    bool named;         /* made with VkMemoryDedicatedAllocateInfo: for one object alone */
    uint32_t pin_count; /* somebody left the lock and will come back to it */
    uint32_t live_count;
    uint32_t pending_count;
    VkDeviceSize live_bytes;
    VkDeviceSize pending_bytes;

    struct maar_mutex map_lock; /* guards what follows, and map_count of its slots */
    maar_atomic32 map_count;    /* written under the lock, read by dumps without it */
    uint32_t map_calls;         /* how often the driver was asked to map it */
    void* mapped;
};

struct maar_pool {
    MaarAllocator allocator;
    struct maar_pool* next; /* these three under the allocator's list lock */
    uint32_t walker_count;  /* threads that walk the list and stand at this pool */
    bool doomed;            /* emptied already; the last walker frees it */
    bool custom;
    bool single_kind;
    uint32_t type_index;
    uint32_t heap_index;
    MaarPlacementStrategy strategy;
    VkDeviceSize granularity;    /* for its placements */
    VkDeviceSize fixed_size;     /* 0: blocks grow */
    VkDeviceSize preferred_size; /* what they grow to */
    VkDeviceSize min_alignment;
    VkDeviceSize retained_size; /* see MaarPoolCreateInfo::retainedEmptySize */
    uint32_t min_block_count;
    uint32_t max_block_count; /* UINT32_MAX: no limit */
    const void* allocate_next;
    char* name;

    struct maar_mutex lock; /* guards what follows */
    float priority;
    struct maar_block** blocks; /* in order of their ids */
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t creating_count; /* blocks on their way; they count towards max_block_count */
    struct maar_block* dedicated;
    uint32_t dedicated_count;
    uint32_t free_slot; /* head of a list through the slots */
    uint32_t live_count;
    uint32_t pending_count;
    VkDeviceSize live_bytes;
    VkDeviceSize pending_bytes;
    VkDeviceSize block_bytes; /* without dedicated ones */
    VkDeviceSize dedicated_bytes;
};

struct maar_heap_account {
    VkDeviceSize limit; /* the caller's, 0 for none */
    maar_atomic64 block_bytes;
    maar_atomic64 block_count;
    maar_atomic64 known_budget; /* as last read */
    maar_atomic64 known_usage;
};

/* What a room keeps with the allocator, and takes down with it. */
struct maar_attachment {
    void (*destroy)(MaarAllocator allocator, void* state);
    void (*trim)(MaarAllocator allocator, void* state);
    void (*count)(void* state, MaarStatistics* statistics);
    maar_atomic_pointer state; /* NULL until the room is first used */
};

struct MaarAllocator_T {
    struct maar_device device;
    VkAllocationCallbacks callback_storage;
    const VkAllocationCallbacks* callbacks; /* &callback_storage or NULL */
    MaarAllocatorCreateFlags flags;
    PFN_maarMessage message;
    void* message_user_data;
    PFN_maarDeviceMemory device_allocate;
    PFN_maarDeviceMemory device_free;
    void* device_memory_user_data;
    PFN_maarOutOfMemory out_of_memory;
    void* out_of_memory_user_data;
    MaarPlacementStrategy strategy;
    VkDeviceSize preferred_block_size;
    VkDeviceSize retained_size;
    uint32_t avoided_types;
    uint32_t queue_count;
    MaarQueue* queues;
    maar_atomic32 poisoned;

    struct maar_heap_account heaps[VK_MAX_MEMORY_HEAPS];
    maar_atomic64 device_count; /* VkDeviceMemory objects, reserved before the call */
    maar_atomic64 next_block_id;

    struct maar_slot_table slots;
    struct maar_retire retire;
    struct maar_mutex list_lock; /* guards the list of pools */
    struct maar_pool* pools;
    maar_atomic_pointer default_pools[VK_MAX_MEMORY_TYPES][MAAR_DEFAULT_POOLS];
    struct maar_attachment slices;

    maar_atomic64 block_bytes;
    maar_atomic64 block_count;
    maar_atomic64 live_bytes;
    maar_atomic64 peak_block_bytes;
    maar_atomic64 peak_block_count;
    maar_atomic64 peak_live_bytes;
    maar_atomic64 allocate_calls;
    maar_atomic64 free_calls;
    maar_atomic64 allocations_made;
    maar_atomic64 failures;
    maar_atomic64 fallbacks;
    maar_atomic64 over_budget;
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

/* Formats a sentence for the message callback, if there is one. No lock may be held. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void maar_tell(MaarAllocator allocator, MaarMessageSeverity severity, const char* format, ...);

/* Tells of misuse; always VK_ERROR_VALIDATION_FAILED_EXT. call: the public function. */
VkResult maar_misuse(MaarAllocator allocator, const char* call, const char* sentence);

/* VK_SUCCESS, or tells that an argument is NULL or has another sType than it should. */
VkResult maar_check_structure(MaarAllocator allocator, const char* call, const char* name,
                              const void* structure, int wanted);

/* Reports a broken invariant and poisons the allocator; debug builds stop here. */
void maar_broken(MaarAllocator allocator, const char* sentence);

/* VK_SUCCESS, or the error that a call on this allocator must return at once. */
VkResult maar_enter(MaarAllocator allocator);

#endif
