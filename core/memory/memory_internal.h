/*
 * What the files of core/memory and the rooms above ask of one another.
 */
#ifndef MAAR_CORE_MEMORY_MEMORY_INTERNAL_H
#define MAAR_CORE_MEMORY_MEMORY_INTERNAL_H

#include "core/memory/allocator_state.h"

/* How long destruction waits for what is pending, ns. */
#define MAAR_DESTROY_TIMEOUT_NS ((uint64_t)5000000000)

/* ---- choose_type.c ---- */

/* Ranks the types; false when none serves. Pure. */
bool maar_choose_types(MaarAllocator allocator, uint32_t type_bits,
                       const MaarAllocationCreateInfo* info, MaarMemoryTypeChoice* choice);
/* False for types whose feature is not enabled. */
bool maar_type_is_usable(MaarAllocator allocator, uint32_t type);
/* Types that are never chosen unless named. */
uint32_t maar_avoided_types(const VkPhysicalDeviceMemoryProperties* memory);

/* ---- heap_budget.c ---- */

struct maar_budget {
    VkDeviceSize budget;
    VkDeviceSize usage;
    VkDeviceSize cap; /* what this allocator itself may hold within the budget */
    bool from_driver;
};

/* Reads one heap's budget, from the driver where it can. No lock may be held. */
struct maar_budget maar_budget_read(MaarAllocator allocator, uint32_t heap);
void maar_budget_read_all(MaarAllocator allocator, struct maar_budget* budgets);
/* Whether so many bytes more stay within it. */
bool maar_budget_holds(const struct maar_budget* budget, VkDeviceSize size);
/* Counts and tells that a budget was exceeded. */
void maar_tell_over_budget(MaarAllocator allocator, uint32_t heap, VkDeviceSize size);
/* What was last read, less what was given back since. */
void maar_budget_note_release(MaarAllocator allocator, uint32_t heap, VkDeviceSize size);
/* By what is known already; for decisions under a lock. */
bool maar_budget_is_exceeded(MaarAllocator allocator, uint32_t heap);

/* ---- device_memory.c ---- */

struct maar_device_memory_info {
    uint32_t type_index;
    VkDeviceSize size;
    VkDeviceSize cap; /* the heap's blocks together may not exceed this; UINT64_MAX: no cap */
    float priority;
    VkBuffer dedicated_buffer;
    VkImage dedicated_image;
    const void* next; /* the pool's chain */
};

/* What stands for "the cap is in the way" until the engine has seen it; no public function returns
 * it. */
#define MAAR_OVER_CAP VK_ERROR_FRAGMENTED_POOL

/* One vkAllocateMemory, counted and limited; nothing is counted on failure but the call. */
VkResult maar_device_memory_allocate(MaarAllocator allocator,
                                     const struct maar_device_memory_info* info,
                                     VkDeviceMemory* memory);
void maar_device_memory_free(MaarAllocator allocator, uint32_t type_index, VkDeviceSize size,
                             VkDeviceMemory memory);
/* More than three quarters of the device's VkDeviceMemory objects are in use. */
bool maar_device_count_is_high(MaarAllocator allocator);

/* ---- block.c ---- */

/* Makes a block (with a placement unless dedicated); it belongs to no list yet. */
VkResult maar_block_create(struct maar_pool* pool, const struct maar_device_memory_info* info,
                           bool dedicated, struct maar_block** block);
/* The block must be in no list any more. No lock may be held. */
void maar_block_destroy(struct maar_block* block);
/* Counted mapping of a block; the slot's own count goes along when slot is not NULL. */
VkResult maar_block_map(struct maar_block* block, struct maar_slot* slot, void** data);
/* False when the slot is mapped no more than `keep` times. */
bool maar_block_unmap(struct maar_block* block, struct maar_slot* slot, uint32_t keep);
/* The address of a slot's first byte, or NULL while the slot is not mapped. */
void* maar_slot_address(struct maar_slot* slot);

/* ---- pool.c ---- */

VkResult maar_pool_create(MaarAllocator allocator, const MaarPoolCreateInfo* info, bool custom,
                          struct maar_pool** pool);
void maar_pool_destroy(struct maar_pool* pool);
/* The default pool for a type and kind, made when it is first needed. */
VkResult maar_pool_default(MaarAllocator allocator, uint32_t type, MaarResourceKind kind,
                           struct maar_pool** pool);

struct maar_place_request {
    VkDeviceSize size;
    VkDeviceSize alignment;
    MaarResourceKind kind;       /* for the placement */
    MaarResourceKind shown_kind; /* what the caller said */
    bool upper;
};

/* A free slot, taken before anything else so that nothing has to be undone for want of one. */
VkResult maar_pool_take_slot(struct maar_pool* pool, uint32_t* slot);
void maar_pool_return_slot(struct maar_pool* pool, uint32_t slot);
/* Brings storage to a placement that answered VK_INCOMPLETE. Under its owner's lock, which it
 * leaves and takes again: the owner keeps the placement alive meanwhile, and looks again
 * afterwards. */
VkResult maar_bring_storage(const VkAllocationCallbacks* callbacks, struct maar_mutex* lock,
                            struct maar_placement* placement);
/* Places into blocks that exist; VK_ERROR_OUT_OF_POOL_MEMORY when none has room. */
VkResult maar_pool_place(struct maar_pool* pool, const struct maar_place_request* request,
                         uint32_t slot);
/* Makes a block of the given size, within a cap on the heap's blocks, and places into it.
 * VK_NOT_READY: another thread is making one, whose room may serve; look again. */
VkResult maar_pool_grow(struct maar_pool* pool, const struct maar_place_request* request,
                        VkDeviceSize size, VkDeviceSize cap, uint32_t slot);
/* Makes a dedicated block for the slot. */
VkResult maar_pool_place_dedicated(struct maar_pool* pool, const struct maar_place_request* request,
                                   const struct maar_device_memory_info* info, uint32_t slot);
/* How large the next block should be, and the least that the request can live in. */
VkDeviceSize maar_pool_next_size(struct maar_pool* pool, const struct maar_place_request* request,
                                 VkDeviceSize* least);
/* What its first block would have. */
VkDeviceSize maar_pool_first_size(const struct maar_pool* pool);
enum maar_slot_end {
    MAAR_SLOT_END_LIVE,    /* freed by its owner */
    MAAR_SLOT_END_PENDING, /* its points have passed */
    MAAR_SLOT_END_UNDONE   /* a later step failed: a block made for it alone goes with it */
};
/* Ends a slot: its bytes become free. The slot must have been claimed. Returns its name, which the
 * caller is to free. */
char* maar_pool_free_slot(struct maar_pool* pool, uint32_t slot, enum maar_slot_end end);
/* Live bytes become pending ones. */
void maar_pool_make_pending(struct maar_pool* pool, uint32_t slot);
/* Releases empty blocks; returns their bytes. */
VkDeviceSize maar_pool_trim(struct maar_pool* pool);
/* First broken invariant or NULL. Takes the lock. */
const char* maar_pool_check(struct maar_pool* pool);
/* Same, under the lock. */
const char* maar_pool_check_locked(struct maar_pool* pool);

/* The pools of an allocator, one after another; start with NULL. The pool that is returned stays in
 * the list until the next step, or until maar_pool_leave ends the walk early. No lock may be held.
 */
struct maar_pool* maar_pool_next(MaarAllocator allocator, struct maar_pool* pool);
void maar_pool_leave(MaarAllocator allocator, struct maar_pool* pool);
/* Keeps a pool in place, until maar_pool_leave, that may go as soon as nothing is pending in it. */
void maar_pool_hold(MaarAllocator allocator, struct maar_pool* pool);

/* ---- allocate.c ---- */

/* The engine behind every public way to allocate. internal: the allocation is Maar's own. */
VkResult maar_allocate(MaarAllocator allocator, const char* call, const MaarMemoryRequest* request,
                       const MaarAllocationCreateInfo* info, bool internal,
                       MaarAllocation* allocation);
/* How to allocate when the caller does not say: what a NULL create info stands for. */
extern const MaarAllocationCreateInfo maar_default_create_info;
/* Frees a claimed slot with everything that hangs on it. */
void maar_release_slot(MaarAllocator allocator, uint32_t index, bool was_pending);

/* Takes back an allocation of a call that fails, and the block that it made. */
void maar_undo_allocation(MaarAllocator allocator, MaarAllocation allocation);

/* Live bytes of a claimed slot become pending ones, in all totals. */
void maar_slot_make_pending(MaarAllocator allocator, uint32_t index);

/* Makes an allocation (or none) pending and queues the action that ends it, and with it the object
 * that a room above binds there: 0, or a handle that only the action understands. */
VkResult maar_free_after(MaarAllocator allocator, const char* call, uint64_t object,
                         MaarAllocation allocation, uint32_t point_count, const MaarPoint* points,
                         maar_retire_action action);

/* Resolves, or tells the message callback. */
struct maar_slot* maar_resolve(MaarAllocator allocator, const char* call, MaarAllocation allocation,
                               uint32_t* index);

/* ---- statistics helpers used by several rooms ---- */

char* maar_copy_string(const VkAllocationCallbacks* callbacks, const char* text);

/* The least common multiple, where 0 counts as 1; 0 when it would be above MAAR_RANGE_MAX_SIZE. */
static inline VkDeviceSize maar_common_multiple(VkDeviceSize a, VkDeviceSize b)
{
    a = a == 0 ? 1 : a;
    b = b == 0 ? 1 : b;
    VkDeviceSize x = a;
    VkDeviceSize y = b;
    while (y != 0) {
        VkDeviceSize rest = x % y;
        x = y;
        y = rest;
    }
    VkDeviceSize factor = a / x;
    return factor > MAAR_RANGE_MAX_SIZE / b ? 0 : factor * b;
}

static inline VkDeviceSize maar_align_up(VkDeviceSize value, VkDeviceSize alignment)
{
    VkDeviceSize rest = value % alignment;
    return rest == 0 ? value : value + (alignment - rest);
}

#endif
