/*
 * What a capture records of calls of the driver: see captured_driver.h.
 */
#include "core/memory/captured_driver.h"

#include "core/handle.h"

void maar_capture_failure(MaarAllocator allocator, const struct maar_device_memory_info* info,
                          VkResult result, uint64_t duration_ns)
{
    const MaarCaptureMemory failed = {
        .device = MAAR_CAPTURE_DEVICE,
        .type = info->type_index,
        .size = info->size,
        .duration_ns = duration_ns,
        .result = result,
        .handleTypes = info->export_types | info->import_types,
        .priority = info->priority,
    };
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    if (log != NULL) {
        maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_MEMORY_FAILED, &failed, sizeof failed);
        maar_capture_log_leave(log);
    }
}

/* Writes the budgets, which the driver is asked for while this thread is not inside the log. */
static void write_budgets(MaarAllocator allocator,
                          const VkPhysicalDeviceMemoryBudgetPropertiesEXT* answer)
{
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    const uint32_t heaps = allocator->device.facts.memory.memoryHeapCount;
    MaarCaptureBudget facts = {.device = MAAR_CAPTURE_DEVICE, .heapCount = heaps};
    if (log == NULL) {
        return;
    }
    for (uint32_t i = 0; i < heaps && i < MAAR_CAPTURE_MOST_HEAPS; ++i) {
        facts.budget[i] = answer->heapBudget[i];
        facts.usage[i] = answer->heapUsage[i];
    }
    maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_BUDGET, &facts, sizeof facts);
    maar_capture_log_leave(log);
}

void maar_capture_budgets(MaarAllocator allocator)
{
    const struct maar_device* device = &allocator->device;
    struct maar_capture_log* const log =
        device->facts.memory_budget ? maar_capture_enter(allocator) : NULL;
    if (log == NULL) {
        return;
    }
    const bool due = maar_capture_log_wants_budget(log);
    maar_capture_log_leave(log);
    if (due) {
        VkPhysicalDeviceMemoryBudgetPropertiesEXT answer = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT,
        };
        VkPhysicalDeviceMemoryProperties2 question = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
            .pNext = &answer,
        };
        maar_lock_rank_expect_none();
        device->vkGetPhysicalDeviceMemoryProperties2(device->physical, &question);
        write_budgets(allocator, &answer);
    }
}

void maar_capture_mapping(MaarAllocator allocator, struct maar_block* block, bool mapped)
{
    const uint64_t memory = MAAR_TO_BITS(block->memory);
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    if (log == NULL) {
        return;
    }
    if (maar_atomic32_load(&block->captured) == 0) {
        /* the capture has not reached the block yet */
    } else if (mapped) {
        const MaarCaptureMap map = {
            .device = MAAR_CAPTURE_DEVICE, .memory = memory, .size = UINT64_MAX};
        maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_MAP, &map, sizeof map);
    } else {
        maar_capture_log_end(log, MAAR_CAPTURE_KIND_UNMAP, memory);
    }
    maar_capture_log_leave(log);
}
