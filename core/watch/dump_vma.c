/*
 * Writes the dump in VulkanMemoryAllocator's schema, so that viewers for this schema can open the
 * dump. The schema has no place for some of Maar's facts. Here pending allocations count as
 * allocations, and padding counts as unused space. A linear resource is called a BUFFER, since Maar
 * does not know whether it is a buffer or a linear image.
 */
#include "core/watch/dump_vma.h"

#include "core/memory/allocator_state.h"
#include "core/memory/budget.h"
#include "core/watch/dump_fields.h"

/* Returns the ranges that occupy space: live and pending allocations. */
static struct maar_dump_spread vma_allocations(const struct maar_dump_totals* totals)
{
    struct maar_dump_spread used = totals->live;
    maar_dump_spread_merge(&used, &totals->pending);
    return used;
}

/* Writes the statistics of one set of totals. As in VulkanMemoryAllocator, the smallest and the
 * largest size are left out when there are fewer than two ranges. */
static void vma_stats(struct maar_json* json, const char* key,
                      const struct maar_dump_totals* totals)
{
    struct maar_dump_spread used = vma_allocations(totals);
    maar_json_key(json, key);
    maar_json_begin_object(json, false);
    const struct maar_dump_field fields[] = {
        {"BlockCount", totals->block_count},       {"BlockBytes", totals->block_bytes},
        {"AllocationCount", used.count},           {"AllocationBytes", used.bytes},
        {"UnusedRangeCount", totals->holes.count}, {0},
    };
    maar_dump_uints(json, fields);
    if (used.count > 1) {
        maar_dump_uint(json, "AllocationSizeMin", used.smallest);
        maar_dump_uint(json, "AllocationSizeMax", used.largest);
    }
    if (totals->holes.count > 1) {
        maar_dump_uint(json, "UnusedRangeSizeMin", totals->holes.smallest);
        maar_dump_uint(json, "UnusedRangeSizeMax", totals->holes.largest);
    }
    maar_json_end_object(json);
}

static void vma_general(const struct maar_device_facts* facts, struct maar_json* json)
{
    const VkPhysicalDeviceProperties* properties = &facts->properties;
    maar_dump_begin_object(json, "General");
    maar_dump_string(json, "API", "Vulkan");
    maar_dump_version(json, "apiVersion", properties->apiVersion);
    maar_dump_string(json, "GPU", properties->deviceName);
    const struct maar_dump_field fields[] = {
        {"deviceType", (uint64_t)properties->deviceType},
        {"maxMemoryAllocationCount", facts->max_allocation_count},
        {"bufferImageGranularity", facts->granularity},
        {"nonCoherentAtomSize", facts->atom},
        {"memoryHeapCount", facts->memory.memoryHeapCount},
        {"memoryTypeCount", facts->memory.memoryTypeCount},
        {0},
    };
    maar_dump_uints(json, fields);
    maar_json_end_object(json);
}

static void vma_heap_types(const struct maar_dump_snapshot* snapshot, uint32_t heap,
                           struct maar_json* json)
{
    const VkPhysicalDeviceMemoryProperties* memory = &snapshot->allocator->device.facts.memory;
    maar_dump_begin_object(json, "MemoryPools");
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        if (memory->memoryTypes[i].heapIndex != heap) {
            continue;
        }
        const struct maar_dump_totals totals = maar_dump_type_total(snapshot, i);
        maar_json_key_number(json, "Type ", i);
        maar_json_begin_object(json, false);
        maar_dump_type_flags(json, "Flags", memory->memoryTypes[i].propertyFlags);
        vma_stats(json, "Stats", &totals);
        maar_json_end_object(json);
    }
    maar_json_end_object(json);
}

/* Writes a heap's size and budget. The schema has no limits of the program: VulkanMemoryAllocator
 * writes a limit as the size of its heap, from which it assumes a budget where the driver has none.
 */
static void vma_heap_size(const struct maar_dump_snapshot* snapshot, uint32_t heap,
                          struct maar_json* json)
{
    const struct maar_budget* budget = &snapshot->budgets[heap];
    const VkDeviceSize limit = snapshot->allocator->heaps[heap].limit;
    VkDeviceSize size = snapshot->allocator->device.facts.memory.memoryHeaps[heap].size;
    VkDeviceSize bytes = budget->budget;
    if (limit != 0 && limit < size) {
        size = limit;
        bytes = !budget->from_driver ? maar_budget_assumed(size) : bytes < limit ? bytes : limit;
    }
    maar_dump_uint(json, "Size", size);
    maar_dump_begin_object(json, "Budget");
    maar_dump_uint(json, "BudgetBytes", bytes);
    maar_dump_uint(json, "UsageBytes", budget->usage);
    maar_json_end_object(json);
}

static void vma_heap(const struct maar_dump_snapshot* snapshot, uint32_t heap,
                     struct maar_json* json)
{
    const VkPhysicalDeviceMemoryProperties* memory = &snapshot->allocator->device.facts.memory;
    const struct maar_dump_totals totals = maar_dump_heap_total(snapshot, heap);
    maar_json_key_number(json, "Heap ", heap);
    maar_json_begin_object(json, false);
    maar_dump_heap_flags(json, "Flags", memory->memoryHeaps[heap].flags);
    vma_heap_size(snapshot, heap, json);
    vma_stats(json, "Stats", &totals);
    vma_heap_types(snapshot, heap, json);
    maar_json_end_object(json);
}

static bool is_hole(const struct maar_dump_range* range)
{
    return range->state == MAAR_BLOCK_RANGE_STATE_FREE ||
           range->state == MAAR_BLOCK_RANGE_STATE_PADDING;
}

static const char* vma_type_name(const struct maar_dump_range* range)
{
    static const char* const names[] = {
        [MAAR_RESOURCE_KIND_UNKNOWN] = "UNKNOWN",
        [MAAR_RESOURCE_KIND_LINEAR] = "BUFFER",
        [MAAR_RESOURCE_KIND_OPTIMAL] = "IMAGE_OPTIMAL",
    };
    return is_hole(range) ? "FREE" : names[range->kind];
}

/* Writes the fields of an allocation into an open object. The schema's Usage is the usage of a
 * VkBuffer or VkImage, which only the program knows: see MaarDumpUsageInfo. */
static void vma_allocation(const struct maar_dump_range* range, struct maar_json* json)
{
    maar_dump_string(json, "Type", vma_type_name(range));
    maar_dump_uint(json, "Size", range->size);
    maar_dump_uint(json, "Usage", range->usage);
    if (range->user_data != 0) {
        maar_dump_hex(json, "CustomData", range->user_data);
    }
    if (range->name != NULL) {
        maar_dump_string(json, "Name", range->name);
    }
}

static void vma_ranges(const struct maar_dump_block* block, struct maar_json* json)
{
    maar_dump_begin_array(json, "Suballocations");
    for (uint32_t i = 0; i < block->range_count;) {
        const struct maar_dump_range* range = &block->ranges[i];
        VkDeviceSize size = range->size;
        ++i;
        /* Free ranges and padding that are neighbours form one hole. */
        while (is_hole(range) && i < block->range_count && is_hole(&block->ranges[i])) {
            size += block->ranges[i].size;
            ++i;
        }
        maar_json_begin_object(json, true);
        maar_dump_uint(json, "Offset", range->offset);
        if (is_hole(range)) {
            maar_dump_string(json, "Type", "FREE");
            maar_dump_uint(json, "Size", size);
        } else {
            vma_allocation(range, json);
        }
        maar_json_end_object(json);
    }
    maar_json_end_array(json);
}

static void vma_blocks(const struct maar_dump_pool* pool, struct maar_json* json)
{
    for (uint32_t i = 0; i < pool->block_count; ++i) {
        const struct maar_dump_block* block = &pool->blocks[i];
        if (block->dedicated) {
            continue;
        }
        struct maar_dump_spread used = vma_allocations(&block->totals);
        maar_json_key_number(json, "", block->id);
        maar_json_begin_object(json, false);
        const struct maar_dump_field fields[] = {
            {"MapRefCount", block->map_count},           {"TotalBytes", block->size},
            {"UnusedBytes", block->totals.holes.bytes},  {"Allocations", used.count},
            {"UnusedRanges", block->totals.holes.count}, {0},
        };
        maar_dump_uints(json, fields);
        vma_ranges(block, json);
        maar_json_end_object(json);
    }
}

static void vma_dedicated(const struct maar_dump_pool* pool, struct maar_json* json)
{
    for (uint32_t i = 0; i < pool->block_count; ++i) {
        const struct maar_dump_block* block = &pool->blocks[i];
        if (block->dedicated) {
            maar_json_begin_object(json, true);
            vma_allocation(&block->ranges[0], json);
            maar_json_end_object(json);
        }
    }
}

/* Returns the first record, from `pool` on, of a custom or default pool of a memory type. Returns
 * NULL when there is no such record. */
static const struct maar_dump_pool* vma_next_pool(const struct maar_dump_pool* pool, uint32_t type,
                                                  bool custom)
{
    while (pool != NULL && (pool->type_index != type || pool->custom != custom)) {
        pool = pool->next;
    }
    return pool;
}

/* Writes the blocks and the dedicated allocations of a pool. If `all` is true, also writes those of
 * all further default pools of the same memory type. */
static void vma_pool_lists(const struct maar_dump_pool* first, bool all, struct maar_json* json)
{
    const uint32_t type = first->type_index;
    maar_dump_begin_object(json, "Blocks");
    for (const struct maar_dump_pool* pool = first; pool != NULL;
         pool = all ? vma_next_pool(pool->next, type, false) : NULL) {
        vma_blocks(pool, json);
    }
    maar_json_end_object(json);
    maar_dump_begin_array(json, "DedicatedAllocations");
    for (const struct maar_dump_pool* pool = first; pool != NULL;
         pool = all ? vma_next_pool(pool->next, type, false) : NULL) {
        vma_dedicated(pool, json);
    }
    maar_json_end_array(json);
}

/* Writes one entry for each memory type that has default pools, even if the type has several. */
static void vma_default_pools(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    maar_dump_begin_object(json, "DefaultPools");
    for (uint32_t i = 0; i < snapshot->allocator->device.facts.memory.memoryTypeCount; ++i) {
        const struct maar_dump_pool* first = vma_next_pool(snapshot->pools, i, false);
        if (first == NULL) {
            continue;
        }
        maar_json_key_number(json, "Type ", i);
        maar_json_begin_object(json, false);
        maar_dump_uint(json, "PreferredBlockSize", first->preferred_size);
        vma_pool_lists(first, true, json);
        maar_json_end_object(json);
    }
    maar_json_end_object(json);
}

static void vma_custom_pool(const struct maar_dump_pool* pool, uint64_t number,
                            struct maar_json* json)
{
    maar_json_begin_object(json, false);
    maar_json_key(json, "Name");
    maar_json_numbered_string(json, number, " - ", pool->name);
    maar_dump_uint(json, "PreferredBlockSize",
                   pool->fixed_size != 0 ? pool->fixed_size : pool->preferred_size);
    vma_pool_lists(pool, false, json);
    maar_json_end_object(json);
}

/* Writes the custom pools. Viewers need unique names, so each name begins with a number that is
 * unique within the memory type. */
static void vma_custom_pools(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    maar_dump_begin_object(json, "CustomPools");
    for (uint32_t i = 0; i < snapshot->allocator->device.facts.memory.memoryTypeCount; ++i) {
        const struct maar_dump_pool* pool = vma_next_pool(snapshot->pools, i, true);
        if (pool == NULL) {
            continue;
        }
        maar_json_key_number(json, "Type ", i);
        maar_json_begin_array(json, false);
        for (uint64_t number = 0; pool != NULL;
             pool = vma_next_pool(pool->next, i, true), ++number) {
            vma_custom_pool(pool, number, json);
        }
        maar_json_end_array(json);
    }
    maar_json_end_object(json);
}

void maar_dump_write_vma(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    const struct maar_device_facts* facts = &snapshot->allocator->device.facts;
    const struct maar_dump_totals totals = maar_dump_total(snapshot);
    maar_json_begin_object(json, false);
    vma_general(facts, json);
    vma_stats(json, "Total", &totals);
    maar_dump_begin_object(json, "MemoryInfo");
    for (uint32_t i = 0; i < facts->memory.memoryHeapCount; ++i) {
        vma_heap(snapshot, i, json);
    }
    maar_json_end_object(json);
    if (snapshot->detailed) {
        vma_default_pools(snapshot, json);
        vma_custom_pools(snapshot, json);
    }
    maar_json_end_object(json);
}
