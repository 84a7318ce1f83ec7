/*
 * Pools: creation, the default ones, destruction, priority, and the list of them all.
 */
#include <string.h>

#include "core/memory/memory_internal.h"
#include "core/port_time.h"
#include "maar/paging.h"

/* Blocks grow to this, bytes, on heaps above LARGE_HEAP, else to an eighth of the heap. 256 MiB is
 * what engines use: large enough that few blocks serve, small enough that a block that does not fit
 * a fragmented card is rare. */
#define DEFAULT_BLOCK_SIZE ((VkDeviceSize)256 << 20)
#define LARGE_HEAP ((VkDeviceSize)1 << 30)
enum { SMALL_HEAP_SHARE = 8 };
/* A block below this is not worth a call of the driver, bytes. */
#define SMALLEST_PREFERRED ((VkDeviceSize)1 << 20)

/* Requests of this share of the preferred size and more, 1.3 MiB of 256, take the block that
 * they fit tightest; smaller ones the first that has room. With it one of the seventeen traces in
 * docs/results/benchmarks.md reserves more than VMA, by 0.2 %; with either rule alone more do. */
enum { TIGHT_SHARE = 192 };

char* maar_copy_string(const VkAllocationCallbacks* callbacks, const char* text)
{
    size_t size = strlen(text) + 1;
    char* copy = maar_host_alloc(callbacks, size);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

static VkDeviceSize default_block_size(MaarAllocator allocator, uint32_t heap)
{
    VkDeviceSize heap_size = allocator->device.facts.memory.memoryHeaps[heap].size;
    VkDeviceSize limit = allocator->heaps[heap].limit;
    if (limit != 0 && limit < heap_size) {
        heap_size = limit;
    }
    VkDeviceSize size = allocator->preferred_block_size;
    if (size == 0) {
        size = heap_size > LARGE_HEAP ? DEFAULT_BLOCK_SIZE : heap_size / SMALL_HEAP_SHARE;
    }
    if (size < SMALLEST_PREFERRED) {
        size = SMALLEST_PREFERRED;
    }
    VkDeviceSize most = allocator->device.facts.max_allocation_size;
    return size < most ? size : most;
}

/* The structure in a pool's chain that asks for pages, or NULL. */
static const MaarPoolPagingInfo* find_paging(const MaarPoolCreateInfo* info)
{
    const VkBaseInStructure* link = info->pNext;
    while (link != NULL && (int)link->sType != (int)MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO) {
        link = link->pNext;
    }
    return (const MaarPoolPagingInfo*)link;
}

/* Vulkan's own structure in the chain that the caller gives for vkAllocateMemory, or NULL. */
static const VkExportMemoryAllocateInfo* find_vulkan_export(const MaarPoolCreateInfo* info)
{
    const VkBaseInStructure* link = info->pMemoryAllocateNext;
    while (link != NULL && link->sType != VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO) {
        link = link->pNext;
    }
    return (const VkExportMemoryAllocateInfo*)(const void*)link;
}

/* What a pool's blocks can be exported as: by Maar's own structure, or by Vulkan's. */
static VkExternalMemoryHandleTypeFlags pool_export_types(const MaarPoolCreateInfo* info)
{
    const MaarExportInfo* export = maar_export_find(info->pNext);
    const VkExportMemoryAllocateInfo* vulkan = find_vulkan_export(info);
    return export != NULL ? export->handleTypes : vulkan != NULL ? vulkan->handleTypes : 0;
}

static const char* find_export_fault(const MaarPoolCreateInfo* info)
{
    const MaarExportInfo* export = maar_export_find(info->pNext);
    const VkExportMemoryAllocateInfo* vulkan = find_vulkan_export(info);
    if (export != NULL && export->handleTypes == 0) {
        return "MaarExportInfo::handleTypes is 0";
    }
    if (export != NULL && vulkan != NULL && export->handleTypes != vulkan->handleTypes) {
        return "MaarExportInfo and VkExportMemoryAllocateInfo in pCreateInfo->pMemoryAllocateNext "
               "name different handle types";
    }
    return NULL;
}

/* A caller's pool checks only what it can know: everything that depends on the device. */
static const char* find_fault(MaarAllocator allocator, const MaarPoolCreateInfo* info)
{
    if (info->memoryTypeIndex >= allocator->device.facts.memory.memoryTypeCount) {
        return "pCreateInfo->memoryTypeIndex is not a memory type of this device";
    }
    if ((uint32_t)info->strategy > MAAR_PLACEMENT_STRATEGY_LINEAR) {
        return "pCreateInfo->strategy is not a MaarPlacementStrategy";
    }
    if (info->maxBlockCount != 0 && info->minBlockCount > info->maxBlockCount) {
        return "pCreateInfo->minBlockCount is above maxBlockCount";
    }
    if (!(info->priority >= 0.0F && info->priority <= 1.0F)) {
        return "pCreateInfo->priority is not within 0 and 1";
    }
    if (info->blockSize > allocator->device.facts.max_allocation_size ||
        info->blockSize > MAAR_RANGE_MAX_SIZE) {
        return "pCreateInfo->blockSize is above the device's maxMemoryAllocationSize";
    }
    if (find_export_fault(info) != NULL) {
        return find_export_fault(info);
    }
    const MaarPoolPagingInfo* paging = find_paging(info);
    if (paging != NULL && paging->stitch == VK_TRUE) {
        if (pool_export_types(info) != 0) {
            return "pCreateInfo asks for pages and for memory that can be exported; drivers do not "
                   "bind that to sparse resources";
        }
        if (paging->pageBlockSize > allocator->device.facts.max_allocation_size ||
            paging->pageBlockSize > MAAR_RANGE_MAX_SIZE) {
            return "MaarPoolPagingInfo::pageBlockSize is above the device's "
                   "maxMemoryAllocationSize";
        }
    }
    if (!maar_type_is_usable(allocator, info->memoryTypeIndex)) {
        return "pCreateInfo->memoryTypeIndex needs a feature that is not enabled "
               "(deviceCoherentMemory or protectedMemory)";
    }
    return NULL;
}

static VkDeviceSize pool_granularity(MaarAllocator allocator, const MaarPoolCreateInfo* info)
{
    return info->singleKind == VK_TRUE ? 1 : allocator->device.facts.granularity;
}

static void fill_pool(MaarAllocator allocator, const MaarPoolCreateInfo* info, bool custom,
                      struct maar_pool* pool)
{
    pool->allocator = allocator;
    pool->custom = custom;
    pool->single_kind = info->singleKind == VK_TRUE;
    pool->type_index = info->memoryTypeIndex;
    pool->heap_index = maar_type_heap(allocator, info->memoryTypeIndex);
    pool->strategy = info->strategy;
    pool->granularity = pool_granularity(allocator, info);
    pool->atom = maar_type_is_noncoherent(allocator, info->memoryTypeIndex)
                     ? allocator->device.facts.atom
                     : 1;
    pool->fixed_size = info->blockSize;
    pool->preferred_size = default_block_size(allocator, pool->heap_index);
    pool->min_alignment = info->minAlignment;
    pool->device_local = (maar_type_flags(allocator, info->memoryTypeIndex) &
                          VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    pool->tight_size = pool->preferred_size / TIGHT_SHARE;
    pool->plain = pool->min_alignment <= 1 && pool->atom <= 1;
    pool->retained_size = info->retainedEmptySize;
    pool->min_block_count = info->minBlockCount;
    pool->max_block_count = info->maxBlockCount != 0 ? info->maxBlockCount : UINT32_MAX;
    pool->allocate_next = info->pMemoryAllocateNext;
    pool->export_types = pool_export_types(info);
    pool->priority = info->priority != 0.0F ? info->priority : 0.5F;
    const MaarPoolPagingInfo* paging = find_paging(info);
    if (paging != NULL && paging->stitch == VK_TRUE) {
        pool->stitches = true;
        pool->stitch_threshold = paging->threshold;
        pool->page_block_size = paging->pageBlockSize;
    }
}

/* The blocks that a pool always has. They are what the caller asked for, so a budget does not stop
 * them; that it was exceeded is told. */
static VkResult make_first_blocks(struct maar_pool* pool)
{
    VkDeviceSize size = pool->fixed_size != 0 ? pool->fixed_size : pool->preferred_size;
    for (uint32_t i = 0; i < pool->min_block_count; ++i) {
        struct maar_budget budget = maar_budget_read(pool->allocator, pool->heap_index);
        VkResult result = maar_pool_grow(pool, NULL, size, UINT64_MAX, NULL);
        if (result != VK_SUCCESS) {
            return result;
        }
        if (!maar_budget_holds(&budget, size)) {
            maar_tell_over_budget(pool->allocator, pool->heap_index, size);
        }
    }
    return VK_SUCCESS;
}

VkResult maar_pool_create(MaarAllocator allocator, const MaarPoolCreateInfo* info, bool custom,
                          struct maar_pool** pool)
{
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    struct maar_pool* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return result;
    }
    fill_pool(allocator, info, custom, made);
    if (info->pName != NULL) {
        made->name = maar_copy_string(allocator->callbacks, info->pName);
        if (made->name == NULL) {
            goto free_pool;
        }
    }
    if (!maar_mutex_init(&made->lock, MAAR_LOCK_POOL, maar_is_synchronized(allocator))) {
        goto free_pool;
    }
    if (!maar_lane_init(&made->first_lane, made, 0)) {
        maar_mutex_destroy(&made->lock);
        goto free_pool;
    }
    maar_atomic_pointer_store(&made->lanes[0], &made->first_lane);
    maar_atomic32_store(&made->lane_count, 1);
    result = make_first_blocks(made);
    if (result != VK_SUCCESS) {
        maar_pool_destroy(made);
        return result;
    }
    *pool = made;
    return VK_SUCCESS;

free_pool:
    maar_host_free(allocator->callbacks, made->name);
    maar_host_free(allocator->callbacks, made);
    return result;
}

/* Tells of an allocation that nobody freed, and ends it. */
static void bury_leak(struct maar_lane* lane, uint32_t index)
{
    const struct maar_pool* pool = lane->pool;
    MaarAllocator allocator = pool->allocator;
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    if (slot->stitched) {
        maar_tell(allocator, MAAR_MESSAGE_SEVERITY_WARNING,
                  "leak: allocation \"%s\" of %llu bytes of pages in memory type %u, user data %p, "
                  "was never freed",
                  slot->name != NULL ? slot->name : "(no name)",
                  (unsigned long long)maar_slot_size(slot), pool->type_index, slot->user_data);
    } else if (!slot->internal) {
        maar_tell(allocator, MAAR_MESSAGE_SEVERITY_WARNING,
                  "leak: allocation \"%s\" of %llu bytes in memory type %u, block %llu, user data "
                  "%p, was never freed",
                  slot->name != NULL ? slot->name : "(no name)",
                  (unsigned long long)maar_slot_size(slot), pool->type_index,
                  (unsigned long long)slot->block->id, slot->user_data);
    }
    maar_host_free(allocator->callbacks, slot->name);
    slot->name = NULL;
    slot->block = NULL;
    maar_atomic32_store_release(&slot->key, maar_atomic32_load(&slot->key) + 1u);
    maar_slots_push(&lane->slots, slot, index);
}

static bool visit_leak(void* context, const MaarRangeInfo* info)
{
    if (info->state == MAAR_RANGE_STATE_LIVE) {
        bury_leak(context, (uint32_t)info->userData);
    }
    return true;
}

/* Tells of what is made of pages and was never freed, and ends it. */
static void bury_stitched(struct maar_lane* lane)
{
    maar_mutex_lock(&lane->lock);
    struct maar_block* block = lane->stitched;
    lane->stitched = NULL;
    lane->stitched_count = 0;
    lane->stitched_pending_count = 0;
    lane->stitched_pending_bytes = 0;
    maar_mutex_unlock(&lane->lock);
    while (block != NULL) {
        struct maar_block* next = block->next;
        bury_leak(lane, block->dedicated_slot);
        maar_block_destroy(block);
        block = next;
    }
}

void maar_pool_bury_stitched(struct maar_pool* pool)
{
    for (struct maar_lane* lane = maar_pool_next_lane(pool, 0); lane != NULL;
         lane = maar_pool_next_lane(pool, lane->number + 1)) {
        bury_stitched(lane);
    }
}

/* Frees every block and slot. Whoever walks the list of pools sees an empty one from the start. */
static void empty_lane(struct maar_lane* lane)
{
    MaarAllocator allocator = lane->pool->allocator;
    maar_mutex_lock(&lane->lock);
    struct maar_block** blocks = lane->blocks;
    uint32_t block_count = lane->block_count;
    struct maar_block* dedicated = lane->dedicated;
    lane->blocks = NULL;
    memset(&lane->room, 0, sizeof lane->room);
    lane->block_count = 0;
    lane->block_capacity = 0;
    lane->block_bytes = 0;
    lane->dedicated = NULL;
    lane->dedicated_count = 0;
    lane->dedicated_bytes = 0;
    (void)maar_atomic64_add(&allocator->allocations_made, lane->made_count);
    lane->made_count = 0;
    maar_atomic64_store(&lane->live_bytes, 0);
    maar_mutex_unlock(&lane->lock);

    for (uint32_t i = 0; i < block_count; ++i) {
        maar_placement_walk(blocks[i]->placement, visit_leak, lane);
        maar_block_destroy(blocks[i]);
    }
    while (dedicated != NULL) {
        struct maar_block* block = dedicated;
        dedicated = block->next;
        bury_leak(lane, block->dedicated_slot);
        maar_block_destroy(block);
    }
    maar_host_free(allocator->callbacks, blocks);
    maar_slots_give_back(&allocator->slots, &lane->slots);
}

static void empty_pool(struct maar_pool* pool)
{
    for (struct maar_lane* lane = maar_pool_next_lane(pool, 0); lane != NULL;
         lane = maar_pool_next_lane(pool, lane->number + 1)) {
        empty_lane(lane);
    }
}

static void free_pool(struct maar_pool* pool)
{
    const VkAllocationCallbacks* callbacks = pool->allocator->callbacks;
    for (uint32_t i = 0; i < MAAR_LANES; ++i) {
        struct maar_lane* lane = maar_pool_lane(pool, i);
        if (lane != NULL) {
            maar_mutex_destroy(&lane->lock);
        }
        if (lane != &pool->first_lane) {
            maar_host_free(callbacks, lane);
        }
    }
    maar_mutex_destroy(&pool->lock);
    maar_host_free(callbacks, pool->name);
    maar_host_free(callbacks, pool);
}

void maar_pool_destroy(struct maar_pool* pool)
{
    empty_pool(pool);
    free_pool(pool);
}

static bool is_of_pool(MaarAllocator allocator, const struct maar_retire_item* item, void* context)
{
    return item->pool == context ||
           (item->aside != MAAR_SLOT_NONE &&
            maar_slot_at(&allocator->slots, (uint32_t)item->aside)->block->pool == context);
}

static uint32_t count_pending(struct maar_pool* pool)
{
    uint32_t count = 0;
    for (struct maar_lane* lane = maar_pool_next_lane(pool, 0); lane != NULL;
         lane = maar_pool_next_lane(pool, lane->number + 1)) {
        maar_mutex_lock(&lane->lock);
        count += lane->pending_count;
        maar_mutex_unlock(&lane->lock);
    }
    return count;
}

/* What is pending in a pool must be freed before the pool goes; items that another thread has in
 * hand just now come back to the queue or are done by it. */
static void end_pool_pending(struct maar_pool* pool)
{
    MaarAllocator allocator = pool->allocator;
    if (maar_retire_is_empty(&allocator->retire)) {
        return;
    }
    (void)maar_retire_wait(allocator, is_of_pool, pool, MAAR_DESTROY_TIMEOUT_NS);
    uint32_t flushed = maar_retire_flush(allocator, is_of_pool, pool);
    while (count_pending(pool) > 0) {
        maar_thread_yield();
        flushed += maar_retire_flush(allocator, is_of_pool, pool);
    }
    if (flushed > 0) {
        maar_tell(allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                  "%u frees of a destroyed pool were still pending; they were done all the same",
                  flushed);
    }
}

static void list_pool(MaarAllocator allocator, struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    pool->next = allocator->pools;
    allocator->pools = pool;
    maar_mutex_unlock(&allocator->list_lock);
}

/* Under the list lock. */
static void unlink_pool(MaarAllocator allocator, struct maar_pool* pool)
{
    struct maar_pool** link = &allocator->pools;
    while (*link != pool) {
        link = &(*link)->next;
    }
    *link = pool->next;
}

static bool is_listed(MaarAllocator allocator, const struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    const struct maar_pool* entry = allocator->pools;
    while (entry != NULL && entry != pool) {
        entry = entry->next;
    }
    bool listed = entry != NULL && !entry->doomed;
    maar_mutex_unlock(&allocator->list_lock);
    return listed;
}

/* An emptied pool leaves the list now, or with the last walker that stands at it. */
static void doom_pool(struct maar_pool* pool)
{
    MaarAllocator allocator = pool->allocator;
    maar_mutex_lock(&allocator->list_lock);
    pool->doomed = true;
    bool last = pool->walker_count == 0;
    if (last) {
        unlink_pool(allocator, pool);
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (last) {
        free_pool(pool);
    }
}

/* Under the list lock: steps off a pool; true when it is to be freed by the caller. */
static bool step_off(MaarAllocator allocator, struct maar_pool* pool)
{
    --pool->walker_count;
    if (pool->doomed && pool->walker_count == 0) {
        unlink_pool(allocator, pool);
        return true;
    }
    return false;
}

struct maar_pool* maar_pool_next(MaarAllocator allocator, struct maar_pool* pool)
{
    bool last = false;
    maar_mutex_lock(&allocator->list_lock);
    struct maar_pool* next = pool != NULL ? pool->next : allocator->pools;
    while (next != NULL && next->doomed) {
        next = next->next;
    }
    if (next != NULL) {
        ++next->walker_count;
    }
    if (pool != NULL) {
        last = step_off(allocator, pool);
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (last) {
        free_pool(pool);
    }
    return next;
}

void maar_pool_hold(MaarAllocator allocator, struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    ++pool->walker_count;
    maar_mutex_unlock(&allocator->list_lock);
}

void maar_pool_leave(MaarAllocator allocator, struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    bool last = step_off(allocator, pool);
    maar_mutex_unlock(&allocator->list_lock);
    if (last) {
        free_pool(pool);
    }
}

MaarPoolCreateInfo maar_pool_default_info(MaarAllocator allocator, uint32_t type,
                                          MaarResourceKind kind)
{
    return (MaarPoolCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = type,
        .strategy = allocator->strategy,
        .retainedEmptySize = allocator->retained_size,
        .singleKind = allocator->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY &&
                      kind != MAAR_RESOURCE_KIND_UNKNOWN,
    };
}

VkResult maar_pool_default(MaarAllocator allocator, uint32_t type, MaarResourceKind kind,
                           uint32_t number, struct maar_pool** pool)
{
    maar_atomic_pointer* home = &allocator->default_pools[type][number];
    const MaarPoolCreateInfo info = maar_pool_default_info(allocator, type, kind);
    struct maar_pool* made = NULL;
    VkResult result = maar_pool_create(allocator, &info, false, &made);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_mutex_lock(&allocator->list_lock);
    *pool = maar_atomic_pointer_load(home);
    if (*pool == NULL) {
        made->next = allocator->pools;
        allocator->pools = made;
        maar_atomic_pointer_store(home, made);
        *pool = made;
        made = NULL;
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (made != NULL) {
        maar_pool_destroy(made); /* another thread was faster */
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreatePool(MaarAllocator allocator,
                                              const MaarPoolCreateInfo* pCreateInfo,
                                              MaarPool* pPool)
{
    if (pPool != NULL) {
        *pPool = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pCreateInfo", pCreateInfo,
                                  MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pPool == NULL) {
        return maar_misuse(allocator, __func__, "pPool is NULL");
    }
    const char* fault = find_fault(allocator, pCreateInfo);
    if (fault != NULL) {
        return maar_misuse(allocator, __func__, fault);
    }
    const MaarExportInfo* export = maar_export_find(pCreateInfo->pNext);
    if (export != NULL) {
        result = maar_shared_types_require(allocator, __func__, export->handleTypes);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    const MaarPoolPagingInfo* paging = find_paging(pCreateInfo);
    if (paging != NULL && paging->stitch == VK_TRUE) {
        result = maar_stitching_require(allocator, __func__);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    struct maar_pool* pool = NULL;
    result = maar_pool_create(allocator, pCreateInfo, true, &pool);
    if (result == VK_SUCCESS) {
        list_pool(allocator, pool);
        *pPool = maar_pool_handle(pool);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyPool(MaarAllocator allocator, MaarPool pool)
{
    struct maar_pool* own = maar_pool_of(pool);
    if (allocator == NULL || own == NULL) {
        return;
    }
    if (!is_listed(allocator, own)) {
        (void)maar_misuse(allocator, __func__, "pool is not a pool of this allocator");
        return;
    }
    end_pool_pending(own);
    maar_raise_live_peak(allocator, 0);
    maar_pool_bury_stitched(own);
    if (own->stitches) {
        allocator->paging.end_pool(allocator, own);
    }
    empty_pool(own);
    doom_pool(own);
}

VKAPI_ATTR VkResult VKAPI_CALL maarTrim(MaarAllocator allocator, MaarPool pool,
                                        VkDeviceSize* pReleasedSize)
{
    if (pReleasedSize != NULL) {
        *pReleasedSize = 0;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_pool* own = maar_pool_of(pool);
    if (own != NULL && own->allocator != allocator) {
        return maar_misuse(allocator, __func__, "pool is not a pool of this allocator");
    }
    (void)maar_retire_collect(allocator, NULL);
    VkDeviceSize released = 0;
    if (own != NULL) {
        released = maar_trim_paging(allocator, own) + maar_pool_trim(own);
    } else {
        void* slices = maar_atomic_pointer_load(&allocator->slices.state);
        if (slices != NULL) {
            (void)allocator->slices.trim(allocator, slices, NULL);
        }
        released += maar_trim_paging(allocator, NULL);
        for (own = maar_pool_next(allocator, NULL); own != NULL;
             own = maar_pool_next(allocator, own)) {
            released += maar_pool_trim(own);
        }
    }
    if (pReleasedSize != NULL) {
        *pReleasedSize = released;
    }
    return VK_SUCCESS;
}

/* One block after another, each pinned while the driver is called without the lock. */
static void set_lane_priority(const struct maar_device* device, struct maar_lane* lane,
                              float priority)
{
    uint64_t last_id = 0;
    for (;;) {
        struct maar_block* block = NULL;
        maar_mutex_lock(&lane->lock);
        for (uint32_t i = 0; i < lane->block_count && block == NULL; ++i) {
            if (lane->blocks[i]->id > last_id) {
                block = lane->blocks[i];
                ++block->pin_count;
            }
        }
        maar_mutex_unlock(&lane->lock);
        if (block == NULL) {
            return;
        }
        last_id = block->id;
        device->vkSetDeviceMemoryPriorityEXT(device->handle, block->memory, priority);
        maar_mutex_lock(&lane->lock);
        --block->pin_count;
        maar_mutex_unlock(&lane->lock);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarSetPoolPriority(MaarAllocator allocator, MaarPool pool,
                                                   float priority)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_pool* own = maar_pool_of(pool);
    if (own == NULL || own->allocator != allocator) {
        return maar_misuse(allocator, __func__,
                           "pool is VK_NULL_HANDLE, or not a pool of this allocator");
    }
    if (!(priority >= 0.0F && priority <= 1.0F)) {
        return maar_misuse(allocator, __func__, "priority is not within 0 and 1");
    }
    const struct maar_device* device = &allocator->device;
    if (!device->facts.memory_priority) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    maar_mutex_lock(&own->lock);
    own->priority = priority;
    maar_mutex_unlock(&own->lock);
    if (!device->facts.pageable_memory) {
        return VK_INCOMPLETE;
    }
    for (struct maar_lane* lane = maar_pool_next_lane(own, 0); lane != NULL;
         lane = maar_pool_next_lane(own, lane->number + 1)) {
        set_lane_priority(device, lane, priority);
    }
    return VK_SUCCESS;
}
