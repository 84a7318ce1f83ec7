/*
 * Pools: what they are made from, the default ones, trimming, priority. Their end: pool_end.c.
 */
#include <string.h>

#include "core/memory/memory_internal.h"
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
 * docs/project/results/benchmarks.md reserves more than VMA, by 0.2 %; with either rule alone more
 * do. */
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

static void report_no_first_block(const struct maar_pool* pool, VkDeviceSize size, VkResult result)
{
    const struct maar_allocation_failure failure = {
        .call = "maarCreatePool",
        .name = pool->name,
        .size = size,
        .result = result,
        .type_index = pool->type_index,
    };
    if (result != VK_ERROR_OUT_OF_HOST_MEMORY && result != VK_ERROR_DEVICE_LOST) {
        maar_report_allocation_failure(pool->allocator, &failure);
    }
}

/* The blocks that a pool always has. They are what the caller asked for, so a budget does not stop
 * them; that it was exceeded is told. */
static VkResult make_first_blocks(struct maar_pool* pool)
{
    VkDeviceSize size = pool->fixed_size != 0 ? pool->fixed_size : pool->preferred_size;
    uint32_t exceeding = 0;
    for (uint32_t i = 0; i < pool->min_block_count; ++i) {
        struct maar_budget budget = maar_budget_read(pool->allocator, pool->heap_index);
        VkResult result = maar_pool_grow(pool, NULL, size, UINT64_MAX, NULL);
        if (result != VK_SUCCESS) {
            report_no_first_block(pool, size, result);
            return result;
        }
        exceeding += maar_budget_holds(&budget, size) ? 0 : 1;
    }
    /* Not before all of them are there: a call that fails has exceeded nothing. */
    for (; exceeding > 0; --exceeding) {
        maar_report_over_budget(pool->allocator, pool->heap_index, size);
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
    if (!maar_arena_init(&made->first_arena, made, 0)) {
        maar_mutex_destroy(&made->lock);
        goto free_pool;
    }
    maar_atomic_pointer_store(&made->arenas[0], &made->first_arena);
    maar_atomic32_store(&made->arena_count, 1);
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

/* The kind in the lowest bits, how many have claimed it in the others: 2^62 are never reached. */
enum { KIND_MASK = 3, KIND_CLAIM = 4 };

static bool minds_kind(const struct maar_pool* pool, MaarResourceKind kind)
{
    return pool->single_kind && pool->custom && kind != MAAR_RESOURCE_KIND_UNKNOWN &&
           pool->allocator->device.facts.granularity > 1;
}

bool maar_pool_claim_kind(struct maar_pool* pool, MaarResourceKind kind)
{
    if (!minds_kind(pool, kind)) {
        return true;
    }
    uint64_t old = maar_atomic64_load(&pool->kind);
    uint64_t claimed = 0;
    do {
        if (old != 0 && (old & KIND_MASK) != (uint64_t)kind) {
            return false;
        }
        claimed = (old | (uint64_t)kind) + KIND_CLAIM;
    } while (!maar_atomic64_replace(&pool->kind, &old, claimed));
    return true;
}

void maar_pool_disclaim_kind(struct maar_pool* pool, MaarResourceKind kind)
{
    if (!minds_kind(pool, kind)) {
        return;
    }
    uint64_t old = maar_atomic64_load(&pool->kind);
    uint64_t left = 0;
    do {
        left = old - KIND_CLAIM;
    } while (!maar_atomic64_replace(&pool->kind, &old, left < KIND_CLAIM ? 0 : left));
}

static void list_pool(MaarAllocator allocator, struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    pool->next = allocator->pools;
    allocator->pools = pool;
    maar_mutex_unlock(&allocator->list_lock);
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
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pPool is NULL");
    }
    const char* fault = find_fault(allocator, pCreateInfo);
    if (fault != NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_INVALID_ARGUMENT, __func__, fault);
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

VkResult maar_pool_require_own(MaarAllocator allocator, const char* call, MaarPool pool)
{
    return pool == VK_NULL_HANDLE || maar_pool_of(pool)->allocator == allocator
               ? VK_SUCCESS
               : maar_misuse(allocator, MAAR_MESSAGE_ID_FOREIGN_HANDLE, call,
                             "pool is not a pool of this allocator");
}

VKAPI_ATTR VkResult VKAPI_CALL maarTrim(MaarAllocator allocator, MaarPool pool,
                                        VkDeviceSize* pReleasedSize)
{
    if (pReleasedSize != NULL) {
        *pReleasedSize = 0;
    }
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_pool_require_own(allocator, __func__, pool);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_pool* own = maar_pool_of(pool);
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
static void set_arena_priority(const struct maar_device* device, struct maar_arena* arena,
                               float priority)
{
    uint64_t last_id = 0;
    for (;;) {
        struct maar_block* block = NULL;
        maar_mutex_lock(&arena->lock);
        for (uint32_t i = 0; i < arena->block_count && block == NULL; ++i) {
            if (arena->blocks[i]->id > last_id) {
                block = arena->blocks[i];
                ++block->pin_count;
            }
        }
        maar_mutex_unlock(&arena->lock);
        if (block == NULL) {
            return;
        }
        last_id = block->id;
        device->vkSetDeviceMemoryPriorityEXT(device->handle, block->memory, priority);
        maar_mutex_lock(&arena->lock);
        --block->pin_count;
        maar_mutex_unlock(&arena->lock);
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
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, __func__,
                           "pool is VK_NULL_HANDLE, or not a pool of this allocator");
    }
    if (!(priority >= 0.0F && priority <= 1.0F)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_OUT_OF_RANGE, __func__,
                           "priority is not within 0 and 1");
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
    for (struct maar_arena* arena = maar_pool_next_arena(own, 0); arena != NULL;
         arena = maar_pool_next_arena(own, arena->number + 1)) {
        set_arena_priority(device, arena, priority);
    }
    return VK_SUCCESS;
}
