/*
 * maarWriteDump and Maar's own schema, maar-dump/1, which docs/dumps.md describes. The text is
 * written twice from one snapshot. The first time only counts its bytes, so that the second text
 * always fits.
 */
#include "core/memory/allocator_state.h"
#include "core/watch/dump_fields.h"
#include "core/watch/dump_vma.h"

static void write_uint(struct maar_json* json, const char* key, uint64_t number)
{
    maar_json_key(json, key);
    maar_json_uint(json, number);
}

static void write_bool(struct maar_json* json, const char* key, bool truth)
{
    maar_json_key(json, key);
    maar_json_bool(json, truth);
}

static void write_string(struct maar_json* json, const char* key, const char* text)
{
    maar_json_key(json, key);
    maar_json_string(json, text);
}

static const char* device_type_name(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return "INTEGRATED_GPU";
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return "DISCRETE_GPU";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return "VIRTUAL_GPU";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return "CPU";
    default:
        return "OTHER";
    }
}

static const char* strategy_name(MaarPlacementStrategy strategy)
{
    switch (strategy) {
    case MAAR_PLACEMENT_STRATEGY_BUDDY:
        return "buddy";
    case MAAR_PLACEMENT_STRATEGY_LINEAR:
        return "linear";
    default:
        return "tlsf";
    }
}

static const char* state_name(MaarBlockRangeState state)
{
    switch (state) {
    case MAAR_BLOCK_RANGE_STATE_LIVE:
        return "live";
    case MAAR_BLOCK_RANGE_STATE_PENDING:
        return "pending";
    case MAAR_BLOCK_RANGE_STATE_PADDING:
        return "padding";
    default:
        return "free";
    }
}

static const char* kind_name(MaarResourceKind kind)
{
    switch (kind) {
    case MAAR_RESOURCE_KIND_LINEAR:
        return "linear";
    case MAAR_RESOURCE_KIND_OPTIMAL:
        return "optimal";
    default:
        return "unknown";
    }
}

static void write_device(const struct maar_device_facts* facts, struct maar_json* json)
{
    const VkPhysicalDeviceProperties* properties = &facts->properties;
    maar_json_key(json, "device");
    maar_json_begin_object(json, false);
    write_string(json, "name", properties->deviceName);
    write_string(json, "type", device_type_name(properties->deviceType));
    write_uint(json, "vendorID", properties->vendorID);
    write_uint(json, "deviceID", properties->deviceID);
    write_uint(json, "driverVersion", properties->driverVersion);
    maar_json_key(json, "apiVersion");
    maar_dump_version(json, properties->apiVersion);
    maar_json_key(json, "usedApiVersion");
    maar_dump_version(json, facts->api_version);
    maar_json_end_object(json);
}

static void write_limits(const struct maar_device_facts* facts, struct maar_json* json)
{
    maar_json_key(json, "limits");
    maar_json_begin_object(json, false);
    write_uint(json, "bufferImageGranularity", facts->granularity);
    write_uint(json, "nonCoherentAtomSize", facts->atom);
    write_uint(json, "maxMemoryAllocationSize", facts->max_allocation_size);
    write_uint(json, "maxMemoryAllocationCount", facts->max_allocation_count);
    maar_json_end_object(json);
    maar_json_key(json, "capabilities");
    maar_json_begin_object(json, false);
    write_bool(json, "memoryBudget", facts->memory_budget);
    write_bool(json, "memoryPriority", facts->memory_priority);
    write_bool(json, "pageableDeviceLocalMemory", facts->pageable_memory);
    write_bool(json, "bufferDeviceAddress", facts->buffer_device_address);
    write_bool(json, "maintenance4", facts->maintenance4);
    write_bool(json, "timelineSemaphore", facts->timeline_semaphore);
    write_bool(json, "deviceCoherentMemory", facts->device_coherent_amd);
    maar_json_end_object(json);
}

/* Writes the fields of totals into an open object. */
static void write_totals(const struct maar_dump_totals* totals, struct maar_json* json)
{
    write_uint(json, "blockCount", totals->block_count);
    write_uint(json, "dedicatedCount", totals->dedicated_count);
    write_uint(json, "allocationCount", totals->live.count);
    write_uint(json, "pendingCount", totals->pending.count);
    write_uint(json, "freeRangeCount", totals->free.count);
    write_uint(json, "blockBytes", totals->block_bytes);
    write_uint(json, "dedicatedBytes", totals->dedicated_bytes);
    write_uint(json, "allocationBytes", totals->live.bytes);
    write_uint(json, "pendingBytes", totals->pending.bytes);
    write_uint(json, "paddingBytes", totals->padding_bytes);
    write_uint(json, "freeBytes", totals->free.bytes);
    write_uint(json, "allocationSizeMin", totals->live.smallest);
    write_uint(json, "allocationSizeMax", totals->live.largest);
    write_uint(json, "freeRangeSizeMin", totals->free.smallest);
    write_uint(json, "freeRangeSizeMax", totals->free.largest);
    maar_json_key(json, "fragmentation");
    maar_json_real(json, totals->free.bytes == 0
                             ? 0.0
                             : 1.0 - (double)totals->free.largest / (double)totals->free.bytes);
}

static void write_total(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    const MaarStatistics* counters = &snapshot->counters;
    struct maar_dump_totals totals = {0};
    for (const struct maar_dump_pool* pool = snapshot->pools; pool != NULL; pool = pool->next) {
        maar_dump_totals_merge(&totals, &pool->totals);
    }
    maar_json_key(json, "total");
    maar_json_begin_object(json, false);
    write_totals(&totals, json);
    write_uint(json, "peakBlockCount", counters->peakBlockCount);
    write_uint(json, "peakBlockBytes", counters->peakBlockBytes);
    write_uint(json, "peakAllocationBytes", counters->peakAllocationBytes);
    write_uint(json, "deviceAllocationCalls", counters->deviceAllocationCalls);
    write_uint(json, "deviceFreeCalls", counters->deviceFreeCalls);
    write_uint(json, "allocationsMade", counters->allocationsMade);
    write_uint(json, "failureCount", counters->failureCount);
    write_uint(json, "fallbackCount", counters->fallbackCount);
    write_uint(json, "overBudgetCount", counters->overBudgetCount);
    maar_json_end_object(json);
}

static void write_heaps(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    MaarAllocator allocator = snapshot->allocator;
    const VkPhysicalDeviceMemoryProperties* memory = &allocator->device.facts.memory;
    maar_json_key(json, "heaps");
    maar_json_begin_array(json, false);
    for (uint32_t i = 0; i < memory->memoryHeapCount; ++i) {
        struct maar_dump_totals totals = {0};
        for (const struct maar_dump_pool* pool = snapshot->pools; pool != NULL; pool = pool->next) {
            if (maar_type_heap(allocator, pool->type_index) == i) {
                maar_dump_totals_merge(&totals, &pool->totals);
            }
        }
        maar_json_begin_object(json, false);
        write_uint(json, "index", i);
        maar_json_key(json, "flags");
        maar_dump_heap_flags(json, memory->memoryHeaps[i].flags);
        write_uint(json, "size", memory->memoryHeaps[i].size);
        write_uint(json, "limit", allocator->heaps[i].limit);
        write_uint(json, "budget", snapshot->budgets[i].budget);
        write_uint(json, "usage", snapshot->budgets[i].usage);
        write_bool(json, "fromDriver", snapshot->budgets[i].from_driver);
        write_totals(&totals, json);
        maar_json_end_object(json);
    }
    maar_json_end_array(json);
}

static void write_types(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    MaarAllocator allocator = snapshot->allocator;
    const VkPhysicalDeviceMemoryProperties* memory = &allocator->device.facts.memory;
    maar_json_key(json, "types");
    maar_json_begin_array(json, false);
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        struct maar_dump_totals totals = {0};
        for (const struct maar_dump_pool* pool = snapshot->pools; pool != NULL; pool = pool->next) {
            if (pool->type_index == i) {
                maar_dump_totals_merge(&totals, &pool->totals);
            }
        }
        maar_json_begin_object(json, false);
        write_uint(json, "index", i);
        write_uint(json, "heap", memory->memoryTypes[i].heapIndex);
        maar_json_key(json, "flags");
        maar_dump_type_flags(json, memory->memoryTypes[i].propertyFlags);
        write_bool(json, "avoided", (allocator->avoided_types & (1u << i)) != 0);
        write_totals(&totals, json);
        maar_json_end_object(json);
    }
    maar_json_end_array(json);
}

static void write_range(const struct maar_dump_range* range, struct maar_json* json)
{
    maar_json_begin_object(json, true);
    write_uint(json, "offset", range->offset);
    write_uint(json, "size", range->size);
    write_string(json, "state", state_name(range->state));
    if (range->state == MAAR_BLOCK_RANGE_STATE_LIVE ||
        range->state == MAAR_BLOCK_RANGE_STATE_PENDING) {
        write_string(json, "kind", kind_name(range->kind));
    }
    if (range->name != NULL) {
        write_string(json, "name", range->name);
    }
    if (range->user_data != 0) {
        maar_json_key(json, "userData");
        maar_json_hex_string(json, range->user_data);
    }
    if (range->internal) {
        write_bool(json, "internal", true);
    }
    maar_json_end_object(json);
}

static void write_blocks(const struct maar_dump_pool* pool, struct maar_json* json)
{
    maar_json_key(json, "blocks");
    maar_json_begin_array(json, false);
    for (uint32_t i = 0; i < pool->block_count; ++i) {
        const struct maar_dump_block* block = &pool->blocks[i];
        maar_json_begin_object(json, false);
        write_uint(json, "id", block->id);
        write_uint(json, "size", block->size);
        write_bool(json, "dedicated", block->dedicated);
        write_uint(json, "mapCount", block->map_count);
        if (block->shared_types != 0) {
            write_bool(json, "imported", block->imported);
            write_uint(json, "handleTypes", block->shared_types);
        }
        maar_json_key(json, "memory");
        maar_json_hex_string(json, block->memory);
        maar_json_key(json, "ranges");
        maar_json_begin_array(json, false);
        for (uint32_t j = 0; j < block->range_count; ++j) {
            write_range(&block->ranges[j], json);
        }
        maar_json_end_array(json);
        maar_json_end_object(json);
    }
    maar_json_end_array(json);
}

static void write_pools(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    maar_json_key(json, "pools");
    maar_json_begin_array(json, false);
    for (const struct maar_dump_pool* pool = snapshot->pools; pool != NULL; pool = pool->next) {
        maar_json_begin_object(json, false);
        write_bool(json, "custom", pool->custom);
        if (pool->name != NULL) {
            write_string(json, "name", pool->name);
        }
        write_uint(json, "type", pool->type_index);
        write_uint(json, "heap", maar_type_heap(snapshot->allocator, pool->type_index));
        write_string(json, "strategy", strategy_name(pool->strategy));
        write_uint(json, "blockSize", pool->fixed_size);
        write_uint(json, "preferredBlockSize", pool->preferred_size);
        maar_json_key(json, "priority");
        maar_json_real(json, (double)pool->priority);
        write_totals(&pool->totals, json);
        if (snapshot->detailed) {
            write_blocks(pool, json);
        }
        maar_json_end_object(json);
    }
    maar_json_end_array(json);
}

static void write_maar(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    const struct maar_device_facts* facts = &snapshot->allocator->device.facts;
    maar_json_begin_object(json, false);
    write_string(json, "schema", "maar-dump/1");
    maar_json_key(json, "maarVersion");
    maar_dump_version(json, maarGetVersion());
    write_bool(json, "detailed", snapshot->detailed);
    write_device(facts, json);
    write_limits(facts, json);
    write_total(snapshot, json);
    write_heaps(snapshot, json);
    write_types(snapshot, json);
    write_pools(snapshot, json);
    maar_json_end_object(json);
}

/* Writes at most capacity bytes and returns the size of the whole text with its zero. */
static size_t write_snapshot(const struct maar_dump_snapshot* snapshot, MaarDumpFormat format,
                             char* out, size_t capacity)
{
    struct maar_json json;
    maar_json_begin(&json, out, capacity);
    if (format == MAAR_DUMP_FORMAT_VMA) {
        maar_dump_write_vma(snapshot, &json);
    } else {
        write_maar(snapshot, &json);
    }
    return maar_json_end(&json);
}

VKAPI_ATTR VkResult VKAPI_CALL maarWriteDump(MaarAllocator allocator, const MaarDumpInfo* pDumpInfo,
                                             size_t* pSize, char* pText)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pDumpInfo", pDumpInfo,
                                  MAAR_STRUCTURE_TYPE_DUMP_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((uint32_t)pDumpInfo->format > MAAR_DUMP_FORMAT_VMA) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_INVALID_ENUM, __func__,
                           "pDumpInfo->format is not a MaarDumpFormat");
    }
    if (pSize == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pSize is NULL");
    }
    struct maar_dump_snapshot snapshot;
    result = maar_dump_snapshot_take(allocator, pDumpInfo->detailed == VK_TRUE, &snapshot);
    if (result != VK_SUCCESS) {
        return result;
    }
    size_t needed = write_snapshot(&snapshot, pDumpInfo->format, NULL, 0);
    if (needed == 0) {
        maar_broken(allocator, "a dump is not well-formed JSON");
        result = VK_ERROR_UNKNOWN;
    } else if (pText != NULL && *pSize >= needed) {
        (void)write_snapshot(&snapshot, pDumpInfo->format, pText, needed);
    } else if (pText != NULL) {
        if (*pSize > 0) {
            pText[0] = '\0';
        }
        result = VK_INCOMPLETE;
    }
    *pSize = needed;
    maar_dump_snapshot_release(&snapshot);
    return result;
}
