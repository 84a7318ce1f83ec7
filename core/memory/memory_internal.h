/*
 * What the files of core/memory and the rooms above ask of one another.
 */
#ifndef MAAR_CORE_MEMORY_MEMORY_INTERNAL_H
#define MAAR_CORE_MEMORY_MEMORY_INTERNAL_H

#include "core/bits.h"
#include "core/memory/allocator_state.h"
#include "maar/share.h"

/* How long destruction waits for what is pending, ns. */
#define MAAR_DESTROY_TIMEOUT_NS ((uint64_t)5000000000)

/* ---- choose_type.c ---- */

/* Types in order of liking; those that a request may use are the ones among `bits`. */
struct maar_type_choice {
    uint32_t bits;
    uint32_t count;
    const uint8_t* types; /* in `own`, or in a ranking that lives as long as the allocator */
    uint8_t own[VK_MAX_MEMORY_TYPES];
};

/* What of a create info the order of types depends on. */
struct maar_type_request {
    uint64_t flags;
    uint32_t rest;
    uint32_t home; /* where its ranking is looked for first */
};

static inline struct maar_type_request maar_type_request_of(const MaarAllocationCreateInfo* info)
{
    struct maar_type_request key;
    const uint32_t mapped = info->flags & MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    key.flags = (uint64_t)info->preferredFlags << 32 | info->requiredFlags;
    key.rest = (uint32_t)info->usage << 2 | (mapped != 0 ? 2u : 0u) |
               (info->memoryTypeBits != 0 ? 1u : 0u);
    key.home = (key.rest * 5 + info->requiredFlags + info->preferredFlags * 3) % MAAR_RANKINGS;
    return key;
}

static inline bool maar_ranking_is_of(const struct maar_ranking* ranking,
                                      const struct maar_type_request* key)
{
    return maar_atomic32_load_acquire(&ranking->state) == MAAR_RANKING_COMPLETE &&
           ranking->flags == key->flags && ranking->rest == key->rest;
}

/* The ranking that is kept for a wish, made now if there is room for one more; NULL if there is
 * none. It depends on nothing that changes, so it is written once and then only read. */
const struct maar_ranking* maar_ranking_search(MaarAllocator allocator,
                                               const MaarAllocationCreateInfo* info,
                                               const struct maar_type_request* key);
static inline const struct maar_ranking* maar_ranking_find(MaarAllocator allocator,
                                                           const MaarAllocationCreateInfo* info)
{
    const struct maar_type_request key = maar_type_request_of(info);
    const struct maar_ranking* ranking = &allocator->rankings[key.home];
    return maar_ranking_is_of(ranking, &key) ? ranking : maar_ranking_search(allocator, info, &key);
}

/* Ranks the types; false when none serves. The choice must stay where it is. */
bool maar_choose_types(MaarAllocator allocator, uint32_t type_bits,
                       const MaarAllocationCreateInfo* info, struct maar_type_choice* choice);
/* What maarChooseMemoryType does, for a call that is named in messages. */
VkResult maar_choose_memory_type(MaarAllocator allocator, const char* call, uint32_t type_bits,
                                 const MaarAllocationCreateInfo* info, MaarMemoryTypeChoice* out);
/* Tells that none does. */
void maar_report_no_type(MaarAllocator allocator, const char* call, uint32_t type_bits,
                         const MaarAllocationCreateInfo* info);
/* The type liked best of a choice that serves. */
static inline uint32_t maar_best_type(const struct maar_type_choice* choice)
{
    const uint8_t* type = choice->types;
    while ((choice->bits & (1u << *type)) == 0) {
        ++type;
    }
    return *type;
}
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
/* The same of all heaps; how many there are. */
uint32_t maar_budget_read_all(MaarAllocator allocator, struct maar_budget* budgets);
/* Whether so many bytes more stay within it. */
bool maar_budget_holds(const struct maar_budget* budget, VkDeviceSize size);
/* Counts and tells that a budget was exceeded. */
void maar_report_over_budget(MaarAllocator allocator, uint32_t heap, VkDeviceSize size);
/* What was last read, less what was given back since. */
void maar_budget_note_release(MaarAllocator allocator, uint32_t heap, VkDeviceSize size);
/* By what is known already; for decisions under a lock. */
bool maar_budget_is_exceeded(MaarAllocator allocator, uint32_t heap);

/* ---- failure.c ---- */

/* A request for which there was no memory. */
struct maar_allocation_failure {
    const char* call; /* the public function */
    const char* name; /* of what was to have it, or NULL */
    VkDeviceSize size;
    VkResult result;
    uint32_t type_index;          /* the memory type liked best; the others that were tried: */
    uint32_t type_bits;           /* may be 0 */
    const struct maar_pool* pool; /* a custom one, or NULL */
    bool only_budget;             /* a budget stood in the way, and must not be exceeded */
    bool in_pieces;               /* pages: no single block need be so large */
};

/* Tells of it, unless the like was told often enough. No lock may be held. */
void maar_report_allocation_failure(MaarAllocator allocator,
                                    const struct maar_allocation_failure* failure);
/* A block was made in the heap: what is refused from now on is news. */
void maar_forget_allocation_failures(struct maar_heap_account* account);

/* ---- device_memory.c ---- */

struct maar_device_memory_info {
    uint32_t type_index;
    VkDeviceSize size;
    VkDeviceSize cap; /* the heap's blocks together may not exceed this; UINT64_MAX: no cap */
    float priority;
    VkBuffer dedicated_buffer;
    VkImage dedicated_image;
    const void* next; /* the pool's chain */
    VkExternalMemoryHandleTypeFlags export_types;
    VkExternalMemoryHandleTypeFlags import_types; /* not 0: the bytes are there already, and `next`
                                                     says where; no heap limit holds for them */
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
VkResult maar_block_create(struct maar_arena* arena, const struct maar_device_memory_info* info,
                           bool dedicated, struct maar_block** block);
/* The block must be in no list any more. No lock may be held. */
void maar_block_destroy(struct maar_block* block);
/* Counted mapping of a block; the slot's own count goes along when slot is not NULL. */
VkResult maar_block_map(struct maar_block* block, struct maar_slot* slot, void** data);
/* False when the slot is mapped no more than `keep` times. */
bool maar_block_unmap(struct maar_block* block, struct maar_slot* slot, uint32_t keep);
/* The address of a slot's first byte, or NULL while the slot is not mapped. */
void* maar_slot_address(struct maar_slot* slot);

/* ---- pool.c and pool_end.c ---- */

VkResult maar_pool_create(MaarAllocator allocator, const MaarPoolCreateInfo* info, bool custom,
                          struct maar_pool** pool);
void maar_pool_destroy(struct maar_pool* pool);
/* VK_SUCCESS for NULL, too; tells of a pool of another allocator. */
VkResult maar_pool_require_own(MaarAllocator allocator, const char* call, MaarPool pool);
/* Ends what is made of pages and was never freed, and tells of it. */
void maar_pool_release_stitched(struct maar_pool* pool);
/* What a default pool for a type and kind is made from. */
MaarPoolCreateInfo maar_pool_default_info(MaarAllocator allocator, uint32_t type,
                                          MaarResourceKind kind);
/* Makes the default pool of a number for a type and kind, unless another thread was faster. */
VkResult maar_pool_default(MaarAllocator allocator, uint32_t type, MaarResourceKind kind,
                           uint32_t number, struct maar_pool** pool);

/* For a resource that is to live in a pool of one kind: false when others decided for the other
 * kind. Every pool may be asked; those of any kind, and unknown kinds, are always right. */
bool maar_pool_claim_kind(struct maar_pool* pool, MaarResourceKind kind);
/* That resource came to nothing. When all did that ever claimed the kind, it is open again. */
void maar_pool_disclaim_kind(struct maar_pool* pool, MaarResourceKind kind);

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

/* What placing made. */
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

/* The default pool for a type and kind, made when it is first needed. */
static inline VkResult maar_pool_of_type(MaarAllocator allocator, uint32_t type,
                                         MaarResourceKind kind, struct maar_pool** pool)
{
    const uint32_t number = allocator->kinds_apart ? (uint32_t)kind : 0;
    *pool = maar_atomic_pointer_load(&allocator->default_pools[type][number]);
    return *pool != NULL ? VK_SUCCESS : maar_pool_default(allocator, type, kind, number, pool);
}

/* ---- pool_check.c ---- */

/* First broken invariant or NULL. Takes the arenas' locks, one after another. */
const char* maar_pool_check(struct maar_pool* pool);
/* Checks a pool and poisons the allocator if it is broken. No lock may be held. */
void maar_pool_check_now(struct maar_pool* pool);
/* The same if the allocator was asked to check heavily. */
static inline void maar_check_if_asked(struct maar_pool* pool)
{
    if ((pool->allocator->flags & MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT) != 0) {
        maar_pool_check_now(pool);
    }
}

/* ---- arena.c ---- */

/* The number of this thread's arenas, below MAAR_ARENAS. For threads that have met another one. */
uint32_t maar_thread_arena(MaarAllocator allocator);
bool maar_arena_init(struct maar_arena* arena, struct maar_pool* pool, uint32_t number);
/* The arena that this thread allocates from, locked. */
struct maar_arena* maar_arena_enter(struct maar_pool* pool);
/* Brings storage to a placement that wants it. Under its owner's lock, which it
 * leaves and takes again: the owner keeps the placement alive meanwhile, and looks again
 * afterwards. */
VkResult maar_bring_storage(const VkAllocationCallbacks* callbacks, struct maar_mutex* lock,
                            struct maar_placement* placement);

/* What follows is called under the arena's lock; those with a result may leave it and take it
 * again.
 */

/* Places into the arena's blocks; VK_ERROR_OUT_OF_POOL_MEMORY when none has room. */
VkResult maar_arena_place(struct maar_arena* arena, const struct maar_place_request* request,
                          struct maar_made* made);
/* Places into one block. VK_INCOMPLETE: the lock was left meanwhile, so look again. */
VkResult maar_arena_place_in(struct maar_arena* arena, struct maar_block* block,
                             const struct maar_place_request* request, struct maar_made* made);
/* Takes a free slot, which there must be, and writes it for a range that was just placed. */
void maar_arena_fill_slot(struct maar_arena* arena, struct maar_block* block,
                          const struct maar_place_request* request,
                          const struct maar_placement_range* range, struct maar_made* made);
/* An empty block is there, or is not any more. */
void maar_arena_count_empty(struct maar_block* block, bool empty);

/* Ends a range of a block; false if there is none. */
static inline bool maar_arena_release(struct maar_arena* arena, struct maar_block* block,
                                      uint32_t node)
{
    VkDeviceSize room = 0;
    const bool known = maar_placement_free_into(block->placement, node, &room);
    if (--block->range_count == 0) {
        maar_arena_count_empty(block, true);
    }
    const uint32_t value = maar_room_class(room);
    if (arena->room.levels[block->at] < value) {
        maar_room_set(&arena->room, block, value);
    }
    return known;
}

/* Free slots that an arena keeps before it gives a run back. */
enum { MAAR_ARENA_SPARE_SLOTS = 1024 };

static inline void maar_arena_put_slot(struct maar_arena* arena, struct maar_slot* slot,
                                       uint32_t index)
{
    maar_slots_push(&arena->slots, slot, index);
    if (arena->slots.count > MAAR_ARENA_SPARE_SLOTS) {
        maar_slots_spill(&arena->pool->allocator->slots, &arena->slots);
    }
}
/* Room for one more block in the list. */
VkResult maar_arena_reserve_list(struct maar_arena* arena);
/* Keeps the list in order of ids, whichever thread was faster. */
void maar_arena_list(struct maar_arena* arena, struct maar_block* block);
/* The block must be empty. counted: the pool's number of empty blocks is less by it already. */
void maar_arena_unlist(struct maar_arena* arena, struct maar_block* block, bool counted);
/* After a change of its placement. */
void maar_arena_note_room(struct maar_arena* arena, struct maar_block* block);

/* Under the arena's lock: live bytes that go. Live bytes have a peak only when some are about to
 * go, so this is where it is noticed; true when the arena never had so many, or its number has
 * changed by MAAR_PEAK_STEP since the last look: then maar_raise_live_peak is to be called after
 * the lock.
 */
static inline bool maar_arena_lose_live(struct maar_arena* arena, VkDeviceSize size)
{
    const VkDeviceSize before = maar_atomic64_load(&arena->live_bytes);
    maar_atomic64_store(&arena->live_bytes, before - size);
    const VkDeviceSize change =
        before > arena->looked_at ? before - arena->looked_at : arena->looked_at - before;
    if (before <= arena->live_high && change < MAAR_PEAK_STEP) {
        return false;
    }
    arena->live_high = before > arena->live_high ? before : arena->live_high;
    arena->looked_at = before;
    return true;
}

/* Live bytes of everything, and so many that were there just now, may be a peak. No lock may be
 * held. */
void maar_raise_live_peak(MaarAllocator allocator, VkDeviceSize gone);
void maar_reset_live_peak(MaarAllocator allocator);

/* Places into blocks that exist; VK_ERROR_OUT_OF_POOL_MEMORY when none has room. Patient: waits for
 * the arenas of other threads too, rather than passing over those in use. */
VkResult maar_pool_place(struct maar_pool* pool, const struct maar_place_request* request,
                         bool patient, struct maar_made* made);

/* ---- pool_place.c ---- */

/* A new block is rounded up to this, bytes: what drivers hand out in anyway. */
#define MAAR_BLOCK_ROUNDING ((VkDeviceSize)65536)

/* Makes a block of the given size, within a cap on the heap's blocks, and places into it.
 * VK_NOT_READY: another thread is making one, whose room may serve; look again. */
VkResult maar_pool_grow(struct maar_pool* pool, const struct maar_place_request* request,
                        VkDeviceSize size, VkDeviceSize cap, struct maar_made* made);
/* Makes a dedicated block. */
VkResult maar_pool_place_dedicated(struct maar_pool* pool, const struct maar_place_request* request,
                                   const struct maar_device_memory_info* info,
                                   struct maar_made* made);
/* How large the next block should be, and the least that the request can live in. */
VkDeviceSize maar_pool_next_size(struct maar_pool* pool, const struct maar_place_request* request,
                                 VkDeviceSize* least);
/* What a pool takes at once where it should take little. */
VkDeviceSize maar_pool_modest_size(const struct maar_pool* pool);
enum maar_slot_end {
    MAAR_SLOT_END_LIVE,    /* freed by its owner */
    MAAR_SLOT_END_PENDING, /* its points have passed */
    MAAR_SLOT_END_UNDONE   /* a later step failed: a block made for it alone goes with it */
};
/* Ends a slot: its bytes become free. The slot must have been claimed. Returns its name, which the
 * caller is to free. */
char* maar_pool_free_slot(struct maar_slot* slot, uint32_t index, enum maar_slot_end end);
/* The same with MAAR_SLOT_END_LIVE, as it mostly is. */
char* maar_pool_free_live(struct maar_slot* slot, uint32_t index);
/* Live bytes become pending ones. */
void maar_pool_make_pending(struct maar_slot* slot);
/* Releases empty blocks; returns their bytes. */
VkDeviceSize maar_pool_trim(struct maar_pool* pool);

/* ---- pool_end.c: the list of pools ---- */

/* The pools of an allocator, one after another; start with NULL. The pool that is returned stays in
 * the list until the next step, or until maar_pool_leave ends the walk early. No lock may be held.
 */
struct maar_pool* maar_pool_next(MaarAllocator allocator, struct maar_pool* pool);
void maar_pool_leave(MaarAllocator allocator, struct maar_pool* pool);
/* Keeps a pool in place, until maar_pool_leave, that may go as soon as nothing is pending in it. */
void maar_pool_hold(MaarAllocator allocator, struct maar_pool* pool);

/* ---- stitched_block.c: allocations made of pages, and the blocks that pages are of ---- */

/* One on its way. */
struct maar_stitched {
    struct maar_arena* arena;
    struct maar_block* block;
    struct maar_place_request place;
    struct maar_made made; /* a slot that nobody else has */
};

/* Brings all that one needs of host memory: nothing fails after it. VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult maar_stitched_prepare(struct maar_pool* pool, const MaarMemoryRequest* request,
                               const MaarAllocationCreateInfo* info, struct maar_stitched* out);
void maar_stitched_discard(struct maar_stitched* stitched);
/* Makes it live: so many bytes of pages of a table, which goes with it. */
MaarAllocation maar_stitched_publish(struct maar_stitched* stitched, struct maar_page_table* table,
                                     VkDeviceSize page_bytes);
/* The stand-in for a block, when its pages are gone. No lock may be held. */
void maar_stitched_free(struct maar_block* block);
/* Lists and unlists, under the arena's lock. */
void maar_stitched_unlink(struct maar_arena* arena, struct maar_block* block);

/* A dedicated block of Maar's own is cut into pages from now on. No lock may be held. */
void maar_block_make_paged(struct maar_block* block);
/* How many bytes of its pages are in use, and held. Any lock may be held. */
void maar_block_note_pages(struct maar_block* block, VkDeviceSize live, VkDeviceSize pending);

/* ---- implemented by core/paging (page_allocation.c), which knows what pages are ---- */

/* Whether a pool may stitch on this device; tells if not. */
VkResult maar_stitching_require(MaarAllocator allocator, const char* call);
/* Ends a claimed one, now or once the points and its last submission have passed, by the action of
 * a retire item with this object. Cannot fail. */
void maar_stitched_end(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                       uint64_t object, uint32_t point_count, const MaarPoint* points,
                       maar_retire_action action);
/* What is left of it when its slot is gone. No lock may be held. */
void maar_stitched_destroy(struct maar_block* block);

/* ---- foreign_memory.c: memory that others have too ---- */

/* What an import gives to vkAllocateMemory. */
struct maar_foreign_memory {
    const void* next; /* VkImportMemory...Info */
    VkExternalMemoryHandleTypeFlags types;
    VkDeviceSize size;
    uint32_t type_index;
    MaarResourceKind kind;
    VkBuffer dedicated_buffer; /* at most one of these two */
    VkImage dedicated_image;
    void* user_data;
    const char* name; /* may be NULL */
};

/* One vkAllocateMemory, whose result it returns, as a dedicated allocation in a default pool of its
 * type. Counted and listed like any other; counted as a failure if it fails. */
VkResult maar_allocate_foreign(MaarAllocator allocator, const struct maar_foreign_memory* memory,
                               MaarAllocation* allocation);

/* The MaarExportInfo in a chain, or NULL. */
const MaarExportInfo* maar_export_find(const void* chain);
/* The handle types that an allocation made so can be exported as, by its chain or its pool: 0 for
 * none. info may be NULL. */
VkExternalMemoryHandleTypeFlags maar_export_types(const MaarAllocationCreateInfo* info);
/* VK_SUCCESS when the extensions for all of these are enabled; tells if not. */
VkResult maar_shared_types_require(MaarAllocator allocator, const char* call,
                                   VkExternalMemoryHandleTypeFlags types);
/* The default pool of a type, kind and set of handle types, made when it is first needed. */
VkResult maar_pool_exporting(MaarAllocator allocator, uint32_t type, MaarResourceKind kind,
                             VkExternalMemoryHandleTypeFlags types, struct maar_pool** pool);

/* ---- allocate_rounds.c ---- */

/* What the caller may not have expected of an allocation that succeeded. */
struct maar_deviation {
    bool fallback; /* another type than the one liked best */
    bool exceeded; /* a budget */
    uint32_t best_type;
};

/* Chooses a type and places, whatever it takes. general: the request, not yet shaped for any memory
 * type. made and deviation: of a success. */
VkResult maar_allocate_in_rounds(MaarAllocator allocator, const char* call,
                                 const MaarMemoryRequest* request,
                                 const MaarAllocationCreateInfo* info,
                                 const struct maar_place_request* general, struct maar_made* made,
                                 struct maar_deviation* deviation);

/* ---- allocate.c ---- */

/* For Maar's own allocations alone: a failure is neither counted nor told to the observer, since
 * something else will be tried. */
#define MAAR_ALLOCATE_AS_TRIAL ((MaarAllocationCreateFlags)0x40000000)
/* Likewise: no message tells of a failure, since the caller does, or tries something else. */
#define MAAR_ALLOCATE_WITHOUT_REPORT ((MaarAllocationCreateFlags)0x20000000)
static inline bool maar_is_trial(const MaarAllocationCreateInfo* info)
{
    return (info->flags & MAAR_ALLOCATE_AS_TRIAL) != 0;
}
/* No message tells that there was no memory: who asks what is there already, or tries something
 * else, expects it. */
static inline bool maar_is_without_report(const MaarAllocationCreateInfo* info)
{
    return (info->flags & (MAAR_ALLOCATE_AS_TRIAL | MAAR_ALLOCATE_WITHOUT_REPORT |
                           (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT)) !=
           0;
}

/* The engine behind every public way to allocate. internal: the allocation is Maar's own. */
VkResult maar_allocate(MaarAllocator allocator, const char* call, const MaarMemoryRequest* request,
                       const MaarAllocationCreateInfo* info, bool internal,
                       MaarAllocation* allocation);
/* Looks at what a create info says whatever it is for; tells of what is wrong with it. argument:
 * what the caller calls it. */
VkResult maar_check_create_info(MaarAllocator allocator, const char* call, const char* argument,
                                const MaarAllocationCreateInfo* info);
/* How to allocate when the caller does not say: what a NULL create info stands for. */
extern const MaarAllocationCreateInfo maar_default_create_info;
/* Frees a claimed slot with everything that hangs on it. */
void maar_release_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);
/* The same for one that was pending. */
void maar_release_pending(MaarAllocator allocator, uint32_t index);

/* Gives page blocks back that are empty, of one pool or (NULL) of all; their bytes. */
static inline VkDeviceSize maar_trim_paging(MaarAllocator allocator, const struct maar_pool* pool)
{
    void* paging = maar_atomic_pointer_load(&allocator->paging.state);
    return paging != NULL ? allocator->paging.trim(allocator, paging, pool) : 0;
}

/* Takes back an allocation of a call that fails, and the block that it made. */
void maar_undo_allocation(MaarAllocator allocator, MaarAllocation allocation);
/* Counts a live allocation as one that is not as it was to be. */
void maar_note_fallback(MaarAllocator allocator, MaarAllocation allocation);

/* Live bytes of a claimed slot become pending ones, in all totals. */
void maar_slot_make_pending(MaarAllocator allocator, uint32_t index);

/* Makes an allocation (or none) pending and queues the action that ends it, and with it the object
 * that a room above binds there: 0, or a handle that only the action understands. */
VkResult maar_free_after(MaarAllocator allocator, const char* call, uint64_t object,
                         MaarAllocation allocation, uint32_t point_count, const MaarPoint* points,
                         maar_retire_action action);

/* Tells why a handle names no allocation. */
void maar_report_unresolved(MaarAllocator allocator, const char* call, MaarAllocation allocation);
/* Tells that another thread has freed what was to be freed, since it was resolved. */
VkResult maar_refuse_late_free(MaarAllocator allocator, const char* call);
/* Resolves, or tells the message callback. index may be NULL. */
static inline struct maar_slot* maar_resolve(MaarAllocator allocator, const char* call,
                                             MaarAllocation allocation, uint32_t* index)
{
    uint32_t number = 0;
    struct maar_slot* slot = maar_slot_resolve(&allocator->slots, allocation, &number);
    if (index != NULL) {
        *index = number;
    }
    if (slot == NULL) {
        maar_report_unresolved(allocator, call, allocation);
    }
    return slot;
}

/* ---- helpers ---- */

char* maar_copy_string(const VkAllocationCallbacks* callbacks, const char* text);

#endif
