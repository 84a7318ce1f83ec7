/*
 * Makes and destroys pools, and checks their create infos.
 */
#include "core/memory/pool_create.h"

#include "core/chain.h"
#include "core/memory/allocator_state.h"
#include "core/memory/block_growth.h"
#include "core/memory/export_types.h"
#include "core/memory/leaks.h"
#include "core/memory/margin_size.h"
#include "core/memory/recycled.h"

/* Blocks grow to this size, in bytes, on heaps above LARGE_HEAP, and to an eighth of the heap on
 * others. 256 MiB is what engines use: few blocks serve, and a fragmented card rarely has no room
 * for a block. */
#define DEFAULT_BLOCK_SIZE ((VkDeviceSize)256 << 20)
#define LARGE_HEAP ((VkDeviceSize)1 << 30)
enum { SMALL_HEAP_SHARE = 8 };
/* Bytes. A smaller block is not worth a call of the driver. */
#define SMALLEST_PREFERRED ((VkDeviceSize)1 << 20)

/* A request of this share of the preferred size or more, 1.3 MiB of 256, takes the block that it
 * fits most tightly. A smaller request takes the first block that has room. With this rule Maar
 * reserves no more than VMA for most traces in docs/project/results/benchmarks.md, where the others
 * stand too. With either rule alone more traces take more. */
enum { TIGHT_SHARE = 192 };

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
const MaarPoolPagingInfo* maar_pool_find_paging(const MaarPoolCreateInfo* info)
{
    return maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO);
}

/* Returns Vulkan's own export structure in the chain that the caller gives for vkAllocateMemory, or
 * NULL. */
static const VkExportMemoryAllocateInfo* find_vulkan_export(const MaarPoolCreateInfo* info)
{
    return maar_chain_find(info->pMemoryAllocateNext,
                           VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
}

/* Returns what a pool's blocks can be exported as, by Maar's own structure or by Vulkan's. */
static VkExternalMemoryHandleTypeFlags pool_export_types(const MaarPoolCreateInfo* info)
{
    const MaarExportInfo* export = maar_export_find(info->pNext);
    const VkExportMemoryAllocateInfo* vulkan = find_vulkan_export(info);
    return export != NULL ? export->handleTypes : vulkan != NULL ? vulkan->handleTypes : 0;
}

/* Returns the size of the largest block that the device and a placement can have, bytes. */
static VkDeviceSize largest_block(MaarAllocator allocator)
{
    const VkDeviceSize most = allocator->device.facts.max_allocation_size;
    return most < MAAR_RANGE_MAX_SIZE ? most : MAAR_RANGE_MAX_SIZE;
}

static struct maar_fault find_export_fault(const MaarPoolCreateInfo* info)
{
    const MaarExportInfo* export = maar_export_find(info->pNext);
    const VkExportMemoryAllocateInfo* vulkan = find_vulkan_export(info);
    const struct maar_rule rules[] = {
        {export != NULL && export->handleTypes == 0, MAAR_MESSAGE_ID_EMPTY_FLAGS,
         "MaarExportInfo::handleTypes is 0"},
        {export != NULL && vulkan != NULL && export->handleTypes != vulkan->handleTypes,
         MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "MaarExportInfo and VkExportMemoryAllocateInfo in pCreateInfo->pMemoryAllocateNext name "
         "different handle types"},
        {0},
    };
    return maar_find_fault(rules);
}

/* Returns what is wrong with the pages that a pool asks for. */
static struct maar_fault find_paging_fault(MaarAllocator allocator, const MaarPoolCreateInfo* info,
                                           struct maar_bound_text* text)
{
    const MaarPoolPagingInfo* paging = maar_pool_find_paging(info);
    if (paging == NULL || paging->stitch != VK_TRUE) {
        return MAAR_NO_FAULT;
    }
    const struct maar_rule rules[] = {
        {pool_export_types(info) != 0, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
         "pCreateInfo asks for pages and for memory that can be exported; drivers do not bind that "
         "to sparse resources"},
        {0},
    };
    const VkDeviceSize largest = largest_block(allocator);
    const struct maar_bound bounds[] = {
        {paging->pageBlockSize > largest, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "MaarPoolPagingInfo::pageBlockSize is above the device's maxMemoryAllocationSize",
         MAAR_SHOW_BYTES(paging->pageBlockSize, largest)},
        {0},
    };
    const struct maar_fault fault = maar_find_fault(rules);
    return fault.sentence != NULL ? fault : maar_find_broken_bound(bounds, text);
}

/* Returns what a create info has too much of. */
static struct maar_fault find_pool_bound(MaarAllocator allocator, const MaarPoolCreateInfo* info,
                                         struct maar_bound_text* text)
{
    const uint32_t type_count = allocator->device.facts.memory.memoryTypeCount;
    const VkDeviceSize largest = largest_block(allocator);
    const struct maar_bound bounds[] = {
        {info->memoryTypeIndex >= type_count, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->memoryTypeIndex is not a memory type of this device",
         MAAR_SHOW_COUNT(info->memoryTypeIndex, type_count)},
        {!(info->priority >= 0.0F && info->priority <= 1.0F), MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->priority is not within 0 and 1", MAAR_SHOW_FRACTION(info->priority)},
        {(uint32_t)info->strategy > MAAR_PLACEMENT_STRATEGY_LINEAR, MAAR_MESSAGE_ID_INVALID_ENUM,
         "pCreateInfo->strategy is not a MaarPlacementStrategy",
         MAAR_SHOW_NUMBER((uint32_t)info->strategy)},
        {info->minAlignment > largest, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->minAlignment is above the device's maxMemoryAllocationSize",
         MAAR_SHOW_BYTES(info->minAlignment, largest)},
        {info->blockSize > largest, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->blockSize is above the device's maxMemoryAllocationSize",
         MAAR_SHOW_BYTES(info->blockSize, largest)},
        {info->maxBlockCount != 0 && info->minBlockCount > info->maxBlockCount,
         MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pCreateInfo->minBlockCount is above maxBlockCount",
         MAAR_SHOW_LIMIT(info->minBlockCount, info->maxBlockCount)},
        {0},
    };
    return maar_find_broken_bound(bounds, text);
}

/* The caller of the function checks what does not depend on the device. */
struct maar_fault maar_pool_find_fault(MaarAllocator allocator, const MaarPoolCreateInfo* info,
                                       struct maar_bound_text* text)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const bool is_type = info->memoryTypeIndex < facts->memory.memoryTypeCount;
    const struct maar_fault export = find_export_fault(info);
    const struct maar_rule rules[] = {
        {maar_chain_has_untyped(info->pNext), MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE,
         "pCreateInfo->pNext has a structure whose sType is 0"},
        {is_type && !maar_type_is_usable(facts, info->memoryTypeIndex),
         MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
         "pCreateInfo->memoryTypeIndex needs a feature that is not enabled (deviceCoherentMemory "
         "or protectedMemory)"},
        {0},
    };
    struct maar_fault fault = export.sentence != NULL ? export : maar_find_fault(rules);
    if (fault.sentence == NULL) {
        fault = find_pool_bound(allocator, info, text);
    }
    return fault.sentence != NULL ? fault : find_paging_fault(allocator, info, text);
}

static VkDeviceSize pool_granularity(MaarAllocator allocator, const MaarPoolCreateInfo* info)
{
    return info->singleKind == VK_TRUE ? 1 : allocator->device.facts.granularity;
}

/* The alignment of allocations in memory that can be exported, bytes. Vulkan's may be as small as
 * 16 bytes. CUDA's own allocations begin at multiples of 256, and some of its libraries rely on it.
 */
enum { EXPORTED_ALIGNMENT = 256 };

static VkDeviceSize pool_alignment(const MaarPoolCreateInfo* info)
{
    const VkDeviceSize both =
        maar_common_multiple(info->minAlignment, EXPORTED_ALIGNMENT, MAAR_RANGE_MAX_SIZE);
    return pool_export_types(info) != 0 && both != 0 ? both : info->minAlignment;
}

/* Whether others see most blocks of a pool: each costs a descriptor here, and an import there. Of
 * memory that can be exported by default they see little. */
static bool is_for_sharing(MaarAllocator allocator, const MaarPoolCreateInfo* info)
{
    const VkExternalMemoryHandleTypeFlags types = pool_export_types(info);
    return types != 0 && types != allocator->default_exports[info->memoryTypeIndex];
}

static void fill_pool(MaarAllocator allocator, const MaarPoolCreateInfo* info, bool custom,
                      struct maar_pool* pool)
{
    const uint32_t type = info->memoryTypeIndex;
    const uint32_t heap = maar_type_heap(allocator, type);
    const VkDeviceSize preferred = default_block_size(allocator, heap);
    const VkDeviceSize atom =
        maar_type_is_noncoherent(allocator, type) ? allocator->device.facts.atom : 1;
    const VkDeviceSize alignment = pool_alignment(info);
    *pool = (struct maar_pool){
        .allocator = allocator,
        .custom = custom,
        .heavy_checks = (allocator->flags & MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT) != 0,
        .single_kind = info->singleKind == VK_TRUE,
        .type_index = type,
        .heap_index = heap,
        .strategy = info->strategy,
        .granularity = pool_granularity(allocator, info),
        .atom = atom,
        .fixed_size = info->blockSize,
        .preferred_size = preferred,
        .frugal = allocator->preferred_block_size == 0 && info->blockSize == 0 &&
                  !is_for_sharing(allocator, info),
        .min_alignment = alignment,
        .device_local =
            (maar_type_flags(allocator, type) & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0,
        .tight_size = preferred / TIGHT_SHARE,
        .margin = maar_margin_of_pool(allocator, atom),
        .compares_margins = maar_margin_is_compared(allocator, type),
        .plain = alignment <= 1 && atom <= 1 && allocator->margin == 0,
        .retained_size = info->retainedEmptySize,
        .min_block_count = info->minBlockCount,
        .max_block_count = info->maxBlockCount != 0 ? info->maxBlockCount : UINT32_MAX,
        .allocate_next = info->pMemoryAllocateNext,
        .export_types = pool_export_types(info),
        .priority = info->priority != 0.0F ? info->priority : 0.5F,
        .pending = {.heap = heap},
    };
    if (pool->plain && pool->strategy == MAAR_PLACEMENT_STRATEGY_TLSF && pool->tight_size > 0) {
        pool->fast_size = pool->tight_size - 1;
    }
    const MaarPoolPagingInfo* paging = maar_pool_find_paging(info);
    if (paging != NULL && paging->stitch == VK_TRUE) {
        pool->stitches = true;
        pool->frugal = false; /* only small objects are placed in its blocks */
        pool->stitch_threshold = paging->threshold;
        pool->page_block_size = paging->pageBlockSize;
    }
}

void maar_pool_free(struct maar_pool* pool)
{
    const VkAllocationCallbacks* callbacks = pool->allocator->callbacks;
    for (uint32_t i = 0; i < MAAR_ARENAS; ++i) {
        struct maar_arena* arena = maar_arena_set_at(&pool->arenas, i);
        if (arena != NULL) {
            /* Blocks that have left may still stand in its list. They must not do so for ever. */
            maar_mutex_lock(&arena->lock);
            maar_arena_take_in(arena);
            maar_mutex_unlock(&arena->lock);
            maar_arena_keep(arena);
        }
    }
    maar_arena_set_destroy(&pool->arenas);
    maar_condition_destroy(&pool->block_ended);
    maar_host_free(callbacks, pool->name);
    maar_host_free(callbacks, pool);
}

void maar_pool_destroy(struct maar_pool* pool)
{
    maar_pool_empty(pool);
    maar_pool_free(pool);
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
    if (!maar_condition_init(&made->block_ended)) {
        goto free_pool;
    }
    made->first_arena = maar_arena_take(made, 0);
    if (made->first_arena == NULL) {
        goto free_condition;
    }
    if (!maar_arena_set_init(&made->arenas, made->first_arena, MAAR_LOCK_POOL,
                             maar_is_synchronized(allocator))) {
        goto keep_arena;
    }
    *pool = made;
    return VK_SUCCESS;

keep_arena:
    maar_arena_keep(made->first_arena);
free_condition:
    maar_condition_destroy(&made->block_ended);
free_pool:
    maar_host_free(allocator->callbacks, made->name);
    maar_host_free(allocator->callbacks, made);
    return result;
}
