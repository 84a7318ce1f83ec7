/*
 * The public functions of captures. The file, the devices and what the program says are written
 * here; captured_slot.h and captured_object.h have the rest.
 */
#include "maar/capture.h"

#include "core/bound_check.h"
#include "core/handle.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/capture_pools.h"
#include "core/memory/captured_driver.h"
#include "core/memory/captured_slot.h"

/* ---- begin ---- */

static void write_capture_device(MaarAllocator allocator, struct maar_capture_log* log)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const VkPhysicalDeviceProperties* properties = &facts->properties;
    const char* const texts[] = {properties->deviceName, NULL, NULL};
    MaarCaptureDevice device = {
        .device = MAAR_CAPTURE_DEVICE,
        .deviceType = (uint32_t)properties->deviceType,
        .vendorID = properties->vendorID,
        .deviceID = properties->deviceID,
        .driverVersion = properties->driverVersion,
        .apiVersion = properties->apiVersion,
        .heapCount = facts->memory.memoryHeapCount,
        .typeCount = facts->memory.memoryTypeCount,
        .bufferImageGranularity = facts->granularity,
        .maxMemoryAllocationCount = facts->max_allocation_count,
        .nonCoherentAtomSize = facts->atom,
        .maxMemoryAllocationSize = facts->max_allocation_size,
    };
    for (size_t i = 0; i < sizeof device.deviceUUID; ++i) {
        device.deviceUUID[i] = facts->device_uuid[i];
    }
    maar_capture_write_texts(&log->writer, MAAR_CAPTURE_KIND_DEVICE, &device, sizeof device, texts,
                             3);
}

static void write_memory_properties(MaarAllocator allocator, struct maar_capture_log* log)
{
    const VkPhysicalDeviceMemoryProperties* memory = &allocator->device.facts.memory;
    for (uint32_t i = 0; i < memory->memoryHeapCount; ++i) {
        const MaarCaptureHeap heap = {.device = MAAR_CAPTURE_DEVICE,
                                      .heap = i,
                                      .size = memory->memoryHeaps[i].size,
                                      .flags = memory->memoryHeaps[i].flags};
        maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_HEAP, &heap, sizeof heap);
    }
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        const MaarCaptureType type = {.device = MAAR_CAPTURE_DEVICE,
                                      .type = i,
                                      .heap = memory->memoryTypes[i].heapIndex,
                                      .flags = memory->memoryTypes[i].propertyFlags};
        maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_TYPE, &type, sizeof type);
    }
}

static void write_queues(MaarAllocator allocator, struct maar_capture_log* log)
{
    for (uint32_t i = 0; i < allocator->queue_count; ++i) {
        const MaarQueue* queue = &allocator->queues[i];
        const uint32_t family = queue->familyIndex;
        const MaarCaptureQueue facts = {
            .device = MAAR_CAPTURE_DEVICE,
            .family = family,
            .index = queue->queueIndex,
            .flags =
                family < MAAR_MAX_QUEUE_FAMILIES ? allocator->device.facts.queue_flags[family] : 0,
            .queue = (uint64_t)(uintptr_t)queue->queue,
        };
        maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_QUEUE, &facts, sizeof facts);
    }
}

/* Creates the file and begins. The log is ours alone. */
static VkResult begin_file(MaarAllocator allocator, const char* call, struct maar_capture_log* log,
                           const MaarCaptureBeginInfo* info)
{
    const struct maar_capture_opening opening = {
        .path = info->pPath,
        .origin = MAAR_CAPTURE_ORIGIN_ALLOCATOR,
        .program = info->pProgram,
        .most_bytes = info->maxBytes,
    };
    char reason[MAAR_FILE_REASON_SIZE] = "";
    if (!maar_captured_objects_open(&log->objects, allocator->callbacks)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!maar_capture_open(&log->writer, &opening, reason)) {
        maar_captured_objects_close(&log->objects, allocator->callbacks);
        return maar_fail(allocator, VK_ERROR_INITIALIZATION_FAILED, MAAR_MESSAGE_ID_CAPTURE_FAILED,
                         call, "the file %s cannot be created: %s", maar_quote(info->pPath).text,
                         reason);
    }
    write_capture_device(allocator, log);
    write_memory_properties(allocator, log);
    write_queues(allocator, log);
    maar_capture_start(allocator, log);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarBeginCapture(MaarAllocator allocator,
                                                const MaarCaptureBeginInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_CAPTURE_BEGIN_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_rule rules[] = {
        {pInfo->pPath == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo->pPath is NULL"},
        {0},
    };
    const struct maar_bound bounds[] = {
        {pInfo->maxBytes != 0 && pInfo->maxBytes < MAAR_CAPTURE_HEADER_SIZE,
         MAAR_MESSAGE_ID_OUT_OF_RANGE, "pInfo->maxBytes is less than the head of a capture",
         MAAR_SHOW_BYTES(pInfo->maxBytes, MAAR_CAPTURE_HEADER_SIZE)},
        {0},
    };
    result = maar_check_rules_and_bounds(allocator, __func__, rules, bounds);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_capture_log* const log = maar_capture_log_of(allocator);
    if (log == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!maar_capture_log_turn(log, MAAR_CAPTURE_IDLE, MAAR_CAPTURE_CHANGING)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CAPTURE_ORDER, __func__,
                           "the allocator writes a capture already");
    }
    result = begin_file(allocator, __func__, log, pInfo);
    (void)maar_capture_log_turn(log, MAAR_CAPTURE_CHANGING,
                                result == VK_SUCCESS ? MAAR_CAPTURE_RUNNING : MAAR_CAPTURE_IDLE);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarEndCapture(MaarAllocator allocator)
{
    const VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarCaptureState state = MAAR_CAPTURE_STATE_OPEN;
    if (!maar_capture_stop(allocator, MAAR_CAPTURE_KIND_EMPTY, &state)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CAPTURE_ORDER, __func__,
                           "the allocator writes no capture");
    }
    return state == MAAR_CAPTURE_STATE_COMPLETE ? VK_SUCCESS : VK_INCOMPLETE;
}

/* ---- what the program says ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarCaptureFrame(MaarAllocator allocator, VkQueue queue)
{
    const VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    if (log != NULL) {
        const MaarCaptureFrame frame = {
            .device = MAAR_CAPTURE_DEVICE,
            .queue = (uint64_t)(uintptr_t)queue,
            .frame = maar_atomic64_add(&log->frame_count, 1) - 1,
        };
        maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_FRAME, &frame, sizeof frame);
        maar_capture_log_leave(log);
        maar_capture_budgets(allocator);
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCaptureMark(MaarAllocator allocator, const char* pText)
{
    const VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pText == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pText is NULL");
    }
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    if (log != NULL) {
        const MaarCaptureMark mark = {.device = MAAR_CAPTURE_DEVICE};
        maar_capture_write_texts(&log->writer, MAAR_CAPTURE_KIND_MARK, &mark, sizeof mark, &pText,
                                 1);
        maar_capture_log_leave(log);
    }
    return VK_SUCCESS;
}

static VkResult check_submit(MaarAllocator allocator, const char* call,
                             const MaarCaptureSubmitInfo* info)
{
    const struct maar_rule rules[] = {
        {info->waitCount > 0 && info->pWaits == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "pInfo->pWaits is NULL"},
        {info->signalCount > 0 && info->pSignals == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "pInfo->pSignals is NULL"},
        {info->accessCount > 0 && info->pAccesses == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "pInfo->pAccesses is NULL"},
        {0},
    };
    VkResult result = maar_check_rules(allocator, call, rules);
    for (uint32_t i = 0; i < info->accessCount && result == VK_SUCCESS; ++i) {
        result = maar_resolve(allocator, call, info->pAccesses[i].allocation, NULL) != NULL
                     ? VK_SUCCESS
                     : VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return result;
}

static void write_points(struct maar_capture_log* log, MaarCaptureKind kind, uint64_t submission,
                         uint32_t count, const MaarPoint* points)
{
    for (uint32_t i = 0; i < count; ++i) {
        maar_capture_log_point(log, kind, submission, MAAR_TO_BITS(points[i].semaphore),
                               points[i].value);
    }
}

static void write_accesses(MaarAllocator allocator, struct maar_capture_log* log,
                           uint64_t submission, uint32_t count, const MaarCaptureAccess* accesses)
{
    for (uint32_t i = 0; i < count; ++i) {
        MaarCaptureUse use = {
            .device = MAAR_CAPTURE_DEVICE,
            .submission = submission,
            .flags = accesses[i].flags, /* the values are those of MaarCaptureUseFlagBits */
        };
        if (maar_captured_as(allocator, log, accesses[i].allocation, &use.objectKind,
                             &use.object)) {
            maar_capture_write(&log->writer, MAAR_CAPTURE_KIND_USE, &use, sizeof use);
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarCaptureSubmit(MaarAllocator allocator,
                                                 const MaarCaptureSubmitInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO);
    }
    if (result == VK_SUCCESS) {
        result = check_submit(allocator, __func__, pInfo);
    }
    struct maar_capture_log* const log =
        result == VK_SUCCESS ? maar_capture_enter(allocator) : NULL;
    if (log != NULL) {
        const MaarCaptureSubmit facts = {
            .kind = MAAR_CAPTURE_SUBMIT_COMMANDS,
            .queue = (uint64_t)(uintptr_t)pInfo->queue,
            .commandBufferCount = pInfo->commandBufferCount,
            .waitCount = pInfo->waitCount,
            .signalCount = pInfo->signalCount,
        };
        const uint64_t submission = maar_capture_log_submit(log, &facts);
        write_points(log, MAAR_CAPTURE_KIND_SUBMIT_WAIT, submission, pInfo->waitCount,
                     pInfo->pWaits);
        write_points(log, MAAR_CAPTURE_KIND_SUBMIT_SIGNAL, submission, pInfo->signalCount,
                     pInfo->pSignals);
        write_accesses(allocator, log, submission, pInfo->accessCount, pInfo->pAccesses);
        maar_capture_log_leave(log);
    }
    return result;
}
