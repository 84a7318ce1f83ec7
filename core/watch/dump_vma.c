/*
 * The dump in VulkanMemoryAllocator's schema, so that its viewers can open it. That schema lacks
 * some of Maar's facts. Here pending allocations count as allocations, and padding counts as unused
 * space. A linear resource is called a BUFFER, since Maar does not know whether it is a buffer or a
 * linear image.
 */
#include "core/watch/dump_vma.h"

#include "core/memory/allocator_state.h"
#include "core/watch/dump_fields.h"

static void vma_uint(struct maar_json* json, const char* key, uint64_t number)
{
    maar_json_key(json, key);
    maar_json_uint(json, number);
}

/* Returns the ranges that occupy space: live and pending allocations. */
static struct maar_dump_spread vma_allocations(const struct maar_dump_totals* totals)
{
    struct maar_dump_spread used = totals->live;
    maar_dump_spread_merge(&used, &totals->pending);
    return used;
}

/* Writes the fields of one set of ranges. The smallest and the largest size are left out for fewer
 * than two ranges, as VulkanMemoryAllocator does. */
static void vma_stats(struct maar_json* json, const char* key,
                      const struct maar_dump_totals* totals)
{
    struct maar_dump_spread used = vma_allocations(totals);
    maar_json_key(json, key);
    maar_json_begin_object(json, false);
    vma_uint(json, "BlockCount", totals->block_count);
    vma_uint(json, "BlockBytes", totals->block_bytes);
    vma_uint(json, "AllocationCount", used.count);
    vma_uint(json, "AllocationBytes", used.bytes);
    vma_uint(json, "UnusedRangeCount", totals->holes.count);
    if (used.count > 1) {
        vma_uint(json, "AllocationSizeMin", used.smallest);
        vma_uint(json, "AllocationSizeMax", used.largest);
    }
    if (totals->holes.count > 1) {
        vma_uint(json, "UnusedRangeSizeMin", totals->holes.smallest);
        vma_uint(json, "UnusedRangeSizeMax", totals->holes.largest);
    }
    maar_json_end_object(json);
}

static void vma_general(const struct maar_device_facts* facts, struct maar_json* json)
{
    const VkPhysicalDeviceProperties* properties = &facts->properties;
    maar_json_key(json, "General");
    maar_json_begin_object(json, false);
    maar_json_key(json, "API");
    maar_json_string(json, "Vulkan");
    maar_json_key(json, "apiVersion");
    maar_dump_version(json, properties->apiVersion);
    maar_json_key(json, "GPU");
    maar_json_string(json, properties->deviceName);
    vma_uint(json, "deviceType", (uint64_t)properties->deviceType);
    vma_uint(json, "maxMemoryAllocationCount", facts->max_allocation_count);
    vma_uint(json, "bufferImageGranularity", facts->granularity);
    vma_uint(json, "nonCoherentAtomSize", facts->atom);
    vma_uint(json, "memoryHeapCount", facts->memory.memoryHeapCount);
    vma_uint(json, "memoryTypeCount", facts->memory.memoryTypeCount);
    maar_json_end_object(json);
}

/* Adds up the pools of one memory type. */
static struct maar_dump_totals vma_type_totals(const struct maar_dump_snapshot* snapshot,
                                               uint32_t type)
{
    struct maar_dump_totals totals = {0};
    for (const struct maar_dump_pool* pool = snapshot->pools; pool != NULL; pool = pool->next) {
        if (pool->type_index == type) {
            maar_dump_totals_merge(&totals, &pool->totals);
        }
    }
    return totals;
}

static void vma_heap_types(const struct maar_dump_snapshot* snapshot, uint32_t heap,
                           struct maar_json* json)
{
    const VkPhysicalDeviceMemoryProperties* memory = &snapshot->allocator->device.facts.memory;
    maar_json_key(json, "MemoryPools");
    maar_json_begin_object(json, false);
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        if (memory->memoryTypes[i].heapIndex != heap) {
            continue;
        }
        struct maar_dump_totals totals = vma_type_totals(snapshot, i);
        maar_json_key_number(json, "Type ", i);
        maar_json_begin_object(json, false);
        maar_json_key(json, "Flags");
        maar_dump_type_flags(json, memory->memoryTypes[i].propertyFlags);
        vma_stats(json, "Stats", &totals);
        maar_json_end_object(json);
    }
    maar_json_end_object(json);
}

static void vma_heap(const struct maar_dump_snapshot* snapshot, uint32_t heap,
                     struct maar_json* json)
{
    const VkPhysicalDeviceMemoryProperties* memory = &snapshot->allocator->device.facts.memory;
    struct maar_dump_totals totals = {0};
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        if (memory->memoryTypes[i].heapIndex == heap) {
            struct maar_dump_totals type = vma_type_totals(snapshot, i);
            maar_dump_totals_merge(&totals, &type);
        }
    }
    maar_json_key_number(json, "Heap ", heap);
    maar_json_begin_object(json, false);
    maar_json_key(json, "Flags");
    maar_dump_heap_flags(json, memory->memoryHeaps[heap].flags);
    vma_uint(json, "Size", memory->memoryHeaps[heap].size);
    maar_json_key(json, "Budget");
    maar_json_begin_object(json, false);
    vma_uint(json, "BudgetBytes", snapshot->budgets[heap].budget);
    vma_uint(json, "UsageBytes", snapshot->budgets[heap].usage);
    maar_json_end_object(json);
    vma_stats(json, "Stats", &totals);
    vma_heap_types(snapshot, heap, json);
    maar_json_end_object(json);
}

static const char* vma_type_name(const struct maar_dump_range* range)
{
    if (range->state == MAAR_BLOCK_RANGE_STATE_FREE ||
        range->state == MAAR_BLOCK_RANGE_STATE_PADDING) {
        return "FREE";
    }
    switch (range->kind) {
    case MAAR_RESOURCE_KIND_LINEAR:
        return "BUFFER";
    case MAAR_RESOURCE_KIND_OPTIMAL:
        return "IMAGE_OPTIMAL";
    default:
        return "UNKNOWN";
    }
}

/* Writes the fields of an allocation into an open object. The schema's Usage is that of a VkBuffer
 * or VkImage, which Maar does not know. */
static void vma_allocation(const struct maar_dump_range* range, struct maar_json* json)
{
    maar_json_key(json, "Type");
    maar_json_string(json, vma_type_name(range));
    vma_uint(json, "Size", range->size);
    vma_uint(json, "Usage", 0);
    if (range->user_data != 0) {
        maar_json_key(json, "CustomData");
        maar_json_hex_string(json, range->user_data);
    }
    if (range->name != NULL) {
        maar_json_key(json, "Name");
        maar_json_string(json, range->name);
    }
}

static bool is_hole(const struct maar_dump_range* range)
{
    return range->state == MAAR_BLOCK_RANGE_STATE_FREE ||
           range->state == MAAR_BLOCK_RANGE_STATE_PADDING;
}

static void vma_ranges(const struct maar_dump_block* block, struct maar_json* json)
{
    maar_json_key(json, "Suballocations");
    maar_json_begin_array(json, false);
    for (uint32_t i = 0; i < block->range_count;) {
        const struct maar_dump_range* range = &block->ranges[i];
        VkDeviceSize size = range->size;
        ++i;
        /* Neighbouring free ranges and padding are one hole. */
        while (is_hole(range) && i < block->range_count && is_hole(&block->ranges[i])) {
            size += block->ranges[i].size;
            ++i;
        }
        maar_json_begin_object(json, true);
        vma_uint(json, "Offset", range->offset);
        if (is_hole(range)) {
            maar_json_key(json, "Type");
            maar_json_string(json, "FREE");
            vma_uint(json, "Size", size);
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
        vma_uint(json, "MapRefCount", block->map_count);
        vma_uint(json, "TotalBytes", block->size);
        vma_uint(json, "UnusedBytes", block->totals.holes.bytes);
        vma_uint(json, "Allocations", used.count);
        vma_uint(json, "UnusedRanges", block->totals.holes.count);
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

/* Returns the first record of a memory type, among custom or default pools, from `pool` on; NULL
 * when there is none. */
static const struct maar_dump_pool* vma_next_pool(const struct maar_dump_pool* pool, uint32_t type,
                                                  bool custom)
{
    while (pool != NULL && (pool->type_index != type || pool->custom != custom)) {
        pool = pool->next;
    }
    return pool;
}

/* Writes one entry for each memory type, even if the type has several default pools. */
static void vma_default_pools(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    maar_json_key(json, "DefaultPools");
    maar_json_begin_object(json, false);
    for (uint32_t i = 0; i < snapshot->allocator->device.facts.memory.memoryTypeCount; ++i) {
        const struct maar_dump_pool* first = vma_next_pool(snapshot->pools, i, false);
        if (first == NULL) {
            continue;
        }
        maar_json_key_number(json, "Type ", i);
        maar_json_begin_object(json, false);
        vma_uint(json, "PreferredBlockSize", first->preferred_size);
        maar_json_key(json, "Blocks");
        maar_json_begin_object(json, false);
        for (const struct maar_dump_pool* pool = first; pool != NULL;
             pool = vma_next_pool(pool->next, i, false)) {
            vma_blocks(pool, json);
        }
        maar_json_end_object(json);
        maar_json_key(json, "DedicatedAllocations");
        maar_json_begin_array(json, false);
        for (const struct maar_dump_pool* pool = first; pool != NULL;
             pool = vma_next_pool(pool->next, i, false)) {
            vma_dedicated(pool, json);
        }
        maar_json_end_array(json);
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
    vma_uint(json, "PreferredBlockSize",
             pool->fixed_size != 0 ? pool->fixed_size : pool->preferred_size);
    maar_json_key(json, "Blocks");
    maar_json_begin_object(json, false);
    vma_blocks(pool, json);
    maar_json_end_object(json);
    maar_json_key(json, "DedicatedAllocations");
    maar_json_begin_array(json, false);
    vma_dedicated(pool, json);
    maar_json_end_array(json);
    maar_json_end_object(json);
}

/* Writes the custom pools. Viewers need unique names, so each name begins with a number. */
static void vma_custom_pools(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    maar_json_key(json, "CustomPools");
    maar_json_begin_object(json, false);
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
    struct maar_dump_totals totals = {0};
    for (const struct maar_dump_pool* pool = snapshot->pools; pool != NULL; pool = pool->next) {
        maar_dump_totals_merge(&totals, &pool->totals);
    }
    maar_json_begin_object(json, false);
    vma_general(facts, json);
    vma_stats(json, "Total", &totals);
    maar_json_key(json, "MemoryInfo");
    maar_json_begin_object(json, false);
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
