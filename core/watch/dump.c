/*
 * maarWriteDump and Maar's own schema, maar-dump/1, which docs/dumps.md describes. maarWriteDump
 * first counts the bytes of the text. If the caller's buffer is large enough, a second pass writes
 * the text from the same snapshot.
 */
#include "core/bound_check.h"
#include "core/chain.h"
#include "core/memory/allocator_state.h"
#include "core/watch/dump_fields.h"
#include "core/watch/dump_vma.h"

static const char* device_type_name(VkPhysicalDeviceType type)
{
    static const char* const names[] = {
        [VK_PHYSICAL_DEVICE_TYPE_OTHER] = "OTHER",
        [VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU] = "INTEGRATED_GPU",
        [VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU] = "DISCRETE_GPU",
        [VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU] = "VIRTUAL_GPU",
        [VK_PHYSICAL_DEVICE_TYPE_CPU] = "CPU",
    };
    return (uint32_t)type <= VK_PHYSICAL_DEVICE_TYPE_CPU ? names[type] : "OTHER";
}

static const char* const strategy_names[] = {
    [MAAR_PLACEMENT_STRATEGY_TLSF] = "tlsf",
    [MAAR_PLACEMENT_STRATEGY_BUDDY] = "buddy",
    [MAAR_PLACEMENT_STRATEGY_LINEAR] = "linear",
};

static const char* const state_names[] = {
    [MAAR_BLOCK_RANGE_STATE_FREE] = "free",
    [MAAR_BLOCK_RANGE_STATE_LIVE] = "live",
    [MAAR_BLOCK_RANGE_STATE_PENDING] = "pending",
    [MAAR_BLOCK_RANGE_STATE_PADDING] = "padding",
};

static const char* const kind_names[] = {
    [MAAR_RESOURCE_KIND_UNKNOWN] = "unknown",
    [MAAR_RESOURCE_KIND_LINEAR] = "linear",
    [MAAR_RESOURCE_KIND_OPTIMAL] = "optimal",
};

static void write_device(const struct maar_device_facts* facts, struct maar_json* json)
{
    const VkPhysicalDeviceProperties* properties = &facts->properties;
    maar_dump_begin_object(json, "device");
    maar_dump_string(json, "name", properties->deviceName);
    maar_dump_string(json, "type", device_type_name(properties->deviceType));
    maar_dump_uint(json, "vendorID", properties->vendorID);
    maar_dump_uint(json, "deviceID", properties->deviceID);
    maar_dump_uint(json, "driverVersion", properties->driverVersion);
    maar_dump_version(json, "apiVersion", properties->apiVersion);
    maar_dump_version(json, "usedApiVersion", facts->api_version);
    maar_json_end_object(json);
}

static void write_limits(const struct maar_device_facts* facts, struct maar_json* json)
{
    maar_dump_begin_object(json, "limits");
    const struct maar_dump_field fields[] = {
        {"bufferImageGranularity", facts->granularity},
        {"nonCoherentAtomSize", facts->atom},
        {"maxMemoryAllocationSize", facts->max_allocation_size},
        {"maxMemoryAllocationCount", facts->max_allocation_count},
        {0},
    };
    maar_dump_uints(json, fields);
    maar_json_end_object(json);
    const struct {
        const char* key;
        bool has;
    } capabilities[] = {
        {"memoryBudget", facts->memory_budget},
        {"memoryPriority", facts->memory_priority},
        {"pageableDeviceLocalMemory", facts->pageable_memory},
        {"bufferDeviceAddress", facts->buffer_device_address},
        {"maintenance4", facts->maintenance4},
        {"timelineSemaphore", facts->timeline_semaphore},
        {"deviceCoherentMemory", facts->device_coherent_amd},
    };
    maar_dump_begin_object(json, "capabilities");
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; ++i) {
        maar_dump_bool(json, capabilities[i].key, capabilities[i].has);
    }
    maar_json_end_object(json);
}

/* Writes the fields of totals into an open object. */
static void write_totals(const struct maar_dump_totals* totals, struct maar_json* json)
{
    const struct maar_dump_field fields[] = {
        {"blockCount", totals->block_count},         {"dedicatedCount", totals->dedicated_count},
        {"allocationCount", totals->live.count},     {"pendingCount", totals->pending.count},
        {"freeRangeCount", totals->free.count},      {"blockBytes", totals->block_bytes},
        {"dedicatedBytes", totals->dedicated_bytes}, {"allocationBytes", totals->live.bytes},
        {"pendingBytes", totals->pending.bytes},     {"paddingBytes", totals->padding_bytes},
        {"freeBytes", totals->free.bytes},           {"allocationSizeMin", totals->live.smallest},
        {"allocationSizeMax", totals->live.largest}, {"freeRangeSizeMin", totals->free.smallest},
        {"freeRangeSizeMax", totals->free.largest},  {0},
    };
    maar_dump_uints(json, fields);
    maar_dump_real(json, "fragmentation",
                   totals->free.bytes == 0
                       ? 0.0
                       : 1.0 - (double)totals->free.largest / (double)totals->free.bytes);
}

static void write_total(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    const MaarStatistics* counters = &snapshot->counters;
    const struct maar_dump_totals totals = maar_dump_total(snapshot);
    maar_dump_begin_object(json, "total");
    write_totals(&totals, json);
    const struct maar_dump_field fields[] = {
        {"peakBlockCount", counters->peakBlockCount},
        {"peakBlockBytes", counters->peakBlockBytes},
        {"peakAllocationBytes", counters->peakAllocationBytes},
        {"deviceAllocationCalls", counters->deviceAllocationCalls},
        {"deviceFreeCalls", counters->deviceFreeCalls},
        {"allocationsMade", counters->allocationsMade},
        {"failureCount", counters->failureCount},
        {"fallbackCount", counters->fallbackCount},
        {"overBudgetCount", counters->overBudgetCount},
        {0},
    };
    maar_dump_uints(json, fields);
    maar_json_end_object(json);
}

static void write_heaps(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    MaarAllocator allocator = snapshot->allocator;
    const VkPhysicalDeviceMemoryProperties* memory = &allocator->device.facts.memory;
    maar_dump_begin_array(json, "heaps");
    for (uint32_t i = 0; i < memory->memoryHeapCount; ++i) {
        const struct maar_dump_totals totals = maar_dump_heap_total(snapshot, i);
        maar_json_begin_object(json, false);
        maar_dump_uint(json, "index", i);
        maar_dump_heap_flags(json, "flags", memory->memoryHeaps[i].flags);
        const struct maar_dump_field fields[] = {
            {"size", memory->memoryHeaps[i].size},
            {"limit", allocator->heaps[i].limit},
            {"budget", snapshot->budgets[i].budget},
            {"usage", snapshot->budgets[i].usage},
            {0},
        };
        maar_dump_uints(json, fields);
        maar_dump_bool(json, "fromDriver", snapshot->budgets[i].from_driver);
        write_totals(&totals, json);
        maar_json_end_object(json);
    }
    maar_json_end_array(json);
}

static void write_types(const struct maar_dump_snapshot* snapshot, struct maar_json* json)
{
    MaarAllocator allocator = snapshot->allocator;
    const VkPhysicalDeviceMemoryProperties* memory = &allocator->device.facts.memory;
    maar_dump_begin_array(json, "types");
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        const struct maar_dump_totals totals = maar_dump_type_total(snapshot, i);
        maar_json_begin_object(json, false);
        maar_dump_uint(json, "index", i);
        maar_dump_uint(json, "heap", memory->memoryTypes[i].heapIndex);
        maar_dump_type_flags(json, "flags", memory->memoryTypes[i].propertyFlags);
        maar_dump_bool(json, "avoided", (allocator->avoided_types & (1u << i)) != 0);
        write_totals(&totals, json);
        maar_json_end_object(json);
    }
    maar_json_end_array(json);
}

static void write_range(const struct maar_dump_range* range, struct maar_json* json)
{
    maar_json_begin_object(json, true);
    maar_dump_uint(json, "offset", range->offset);
    maar_dump_uint(json, "size", range->size);
    maar_dump_string(json, "state", state_names[range->state]);
    if (range->state == MAAR_BLOCK_RANGE_STATE_LIVE ||
        range->state == MAAR_BLOCK_RANGE_STATE_PENDING) {
        maar_dump_string(json, "kind", kind_names[range->kind]);
    }
    if (range->name != NULL) {
        maar_dump_string(json, "name", range->name);
    }
    if (range->user_data != 0) {
        maar_dump_hex(json, "userData", range->user_data);
    }
    if (range->internal) {
        maar_dump_bool(json, "internal", true);
    }
    maar_json_end_object(json);
}

static void write_blocks(const struct maar_dump_pool* pool, struct maar_json* json)
{
    maar_dump_begin_array(json, "blocks");
    for (uint32_t i = 0; i < pool->block_count; ++i) {
        const struct maar_dump_block* block = &pool->blocks[i];
        maar_json_begin_object(json, false);
        maar_dump_uint(json, "id", block->id);
        maar_dump_uint(json, "size", block->size);
        maar_dump_bool(json, "dedicated", block->dedicated);
        maar_dump_uint(json, "mapCount", block->map_count);
        if (block->shared_types != 0) {
            maar_dump_bool(json, "imported", block->imported);
            maar_dump_uint(json, "handleTypes", block->shared_types);
        }
        maar_dump_hex(json, "memory", block->memory);
        maar_dump_begin_array(json, "ranges");
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
    maar_dump_begin_array(json, "pools");
    for (const struct maar_dump_pool* pool = snapshot->pools; pool != NULL; pool = pool->next) {
        maar_json_begin_object(json, false);
        maar_dump_bool(json, "custom", pool->custom);
        if (pool->name != NULL) {
            maar_dump_string(json, "name", pool->name);
        }
        maar_dump_uint(json, "type", pool->type_index);
        maar_dump_uint(json, "heap", maar_type_heap(snapshot->allocator, pool->type_index));
        maar_dump_string(json, "strategy", strategy_names[pool->strategy]);
        maar_dump_uint(json, "blockSize", pool->fixed_size);
        maar_dump_uint(json, "preferredBlockSize", pool->preferred_size);
        maar_dump_real(json, "priority", (double)pool->priority);
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
    maar_dump_string(json, "schema", "maar-dump/1");
    maar_dump_version(json, "maarVersion", MAAR_VERSION);
    maar_dump_bool(json, "detailed", snapshot->detailed);
    write_device(facts, json);
    write_limits(facts, json);
    write_total(snapshot, json);
    write_heaps(snapshot, json);
    write_types(snapshot, json);
    write_pools(snapshot, json);
    maar_json_end_object(json);
}

/* Writes at most capacity bytes. Returns the size of the whole text with its terminating zero byte,
 * or 0 if the text is malformed. */
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

/* Returns the digits by which the text may grow although nothing is allocated: the driver's figures
 * change by themselves. */
static size_t growing_digits(const struct maar_dump_snapshot* snapshot)
{
    enum { MOST_DIGITS = 20 }; /* of 64 bits */
    const VkPhysicalDeviceMemoryProperties* memory = &snapshot->allocator->device.facts.memory;
    size_t digits = (size_t)memory->memoryHeapCount * 2 * (MOST_DIGITS - 1);
    for (uint32_t i = 0; i < memory->memoryHeapCount; ++i) {
        for (uint64_t left = snapshot->budgets[i].budget; left >= 10; left /= 10) {
            --digits;
        }
        for (uint64_t left = snapshot->budgets[i].usage; left >= 10; left /= 10) {
            --digits;
        }
    }
    return digits;
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
        return maar_refuse_enum(allocator, __func__, "pDumpInfo->format", "MaarDumpFormat",
                                (int)pDumpInfo->format);
    }
    if (pSize == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pSize is NULL");
    }
    const MaarDumpUsageInfo* usages =
        maar_chain_find(pDumpInfo->pNext, MAAR_STRUCTURE_TYPE_DUMP_USAGE_INFO);
    if (usages != NULL && usages->pfnUsage == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "MaarDumpUsageInfo::pfnUsage is NULL");
    }
    struct maar_dump_snapshot snapshot;
    result = maar_dump_snapshot_take(allocator, pDumpInfo->detailed == VK_TRUE, &snapshot);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (usages != NULL) {
        maar_dump_snapshot_ask(&snapshot, usages);
    }
    size_t needed = write_snapshot(&snapshot, pDumpInfo->format, NULL, 0);
    const size_t slack = growing_digits(&snapshot);
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
    *pSize = result == VK_SUCCESS && pText != NULL ? needed : needed + slack;
    maar_dump_snapshot_release(&snapshot);
    return result;
}
