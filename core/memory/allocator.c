/*
 * Creates and destroys the allocator, and reads the facts of its device.
 */
#include "core/memory/allocator_state.h"
#include "core/memory/capture_pools.h"

#include <string.h>

#include "core/chain.h"
#include "core/device_calls.h"
#include "core/memory/allocation_free.h"
#include "core/memory/export_types.h"
#include "core/memory/leaks.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/pool_create.h"
#include "core/memory/recycled.h"
#include "core/time/retire_collect.h"

#define KNOWN_ALLOCATOR_FLAGS                                                                      \
    ((MaarAllocatorCreateFlags)MAAR_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT |                 \
     (MaarAllocatorCreateFlags)MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT |                            \
     (MaarAllocatorCreateFlags)MAAR_ALLOCATOR_CREATE_EXCEED_ALLOCATION_COUNT_BIT)

/* The serial number of the next table of slots. This is the only global variable of the library
 * that changes. A serial number distinguishes the handles of one table from handles of another
 * table with the same indices: of another allocator, or of another kind. */
static maar_atomic64 next_serial;

/* The tables of an allocator: allocations, objects, slices. */
enum { TABLES = 3 };

static const MaarEntryPointsInfo* find_entry_points(const MaarAllocatorCreateInfo* info)
{
    return maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_ENTRY_POINTS_INFO);
}

/* Margins above this are refused, bytes: a program that writes further needs another tool. */
#define LARGEST_MARGIN ((VkDeviceSize)1 << 20)

static const MaarMarginInfo* find_margins(const MaarAllocatorCreateInfo* info)
{
    return maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_MARGIN_INFO);
}

static struct maar_fault find_create_fault(const MaarAllocatorCreateInfo* info,
                                           struct maar_bound_text* text)
{
    const VkAllocationCallbacks* callbacks = info->pAllocationCallbacks;
    const MaarEntryPointsInfo* given = find_entry_points(info);
    const MaarDefaultExportInfo* export =
        maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_DEFAULT_EXPORT_INFO);
    const MaarMarginInfo* margins = find_margins(info);
    const struct maar_rule rules[] = {
        {info->instance == VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE,
         "pCreateInfo->instance is VK_NULL_HANDLE"},
        {info->physicalDevice == VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE,
         "pCreateInfo->physicalDevice is VK_NULL_HANDLE"},
        {info->device == VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE,
         "pCreateInfo->device is VK_NULL_HANDLE"},
        {info->pfnGetInstanceProcAddr == NULL && (given == NULL || given->functionCount == 0),
         MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCreateInfo->pfnGetInstanceProcAddr is NULL"},
        {given != NULL && given->functionCount > 0 && given->pFunctions == NULL,
         MAAR_MESSAGE_ID_NULL_ARGUMENT, "MaarEntryPointsInfo::pFunctions is NULL"},
        {given != NULL && given->instanceExtensionCount > 0 &&
             given->ppInstanceExtensionNames == NULL,
         MAAR_MESSAGE_ID_NULL_ARGUMENT, "MaarEntryPointsInfo::ppInstanceExtensionNames is NULL"},
        {export != NULL && export->memoryTypeCount > 0 && export->pHandleTypes == NULL,
         MAAR_MESSAGE_ID_NULL_ARGUMENT, "MaarDefaultExportInfo::pHandleTypes is NULL"},
        {info->enabledExtensionCount > 0 && info->ppEnabledExtensionNames == NULL,
         MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCreateInfo->ppEnabledExtensionNames is NULL"},
        {info->queueCount > 0 && info->pQueues == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "pCreateInfo->pQueues is NULL"},
        {info->heapSizeLimitCount > 0 && info->pHeapSizeLimits == NULL,
         MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCreateInfo->pHeapSizeLimits is NULL"},
        {callbacks != NULL && (callbacks->pfnAllocation == NULL ||
                               callbacks->pfnReallocation == NULL || callbacks->pfnFree == NULL),
         MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "pCreateInfo->pAllocationCallbacks lacks pfnAllocation, pfnReallocation or pfnFree"},
        {0},
    };
    const MaarAllocatorCreateFlags unknown = info->flags & ~KNOWN_ALLOCATOR_FLAGS;
    const VkDeviceSize margin = margins != NULL ? margins->marginSize : 0;
    const struct maar_bound bounds[] = {
        {unknown != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "pCreateInfo->flags has bits that are no MaarAllocatorCreateFlagBits",
         MAAR_SHOW_BITS(unknown)},
        {(uint32_t)info->strategy > MAAR_PLACEMENT_STRATEGY_LINEAR, MAAR_MESSAGE_ID_INVALID_ENUM,
         "pCreateInfo->strategy is not a MaarPlacementStrategy",
         MAAR_SHOW_NUMBER((uint32_t)info->strategy)},
        {margin > LARGEST_MARGIN, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "MaarMarginInfo::marginSize is larger than a margin may be",
         MAAR_SHOW_BYTES(margin, LARGEST_MARGIN)},
        {0},
    };
    const struct maar_fault fault = maar_find_fault(rules);
    return fault.sentence != NULL ? fault : maar_find_broken_bound(bounds, text);
}

static void copy_settings(const MaarAllocatorCreateInfo* info, MaarAllocator allocator)
{
    allocator->flags = info->flags;
    allocator->reporter.message = info->pfnMessage;
    allocator->reporter.user_data = info->pMessageUserData;
    allocator->device_allocate = info->pfnDeviceAllocate;
    allocator->device_free = info->pfnDeviceFree;
    allocator->device_memory_user_data = info->pDeviceMemoryUserData;
    allocator->out_of_memory = info->pfnOutOfMemory;
    allocator->out_of_memory_user_data = info->pOutOfMemoryUserData;
    allocator->strategy = info->strategy;
    allocator->preferred_block_size = info->preferredBlockSize;
    allocator->retained_size = info->retainedEmptySize;
    const MaarMarginInfo* margins = find_margins(info);
    if (margins != NULL) {
        allocator->margin = margins->marginSize;
        allocator->compares_margins = margins->marginSize > 0 && margins->checksMargins == VK_TRUE;
    }
    if (info->pAllocationCallbacks != NULL) {
        allocator->callback_storage = *info->pAllocationCallbacks;
        allocator->callbacks = &allocator->callback_storage;
    }
}

/* Reports which version is too low: that of the device, which was queried, or else the program's.
 */
static void report_low_version(MaarAllocator allocator, const MaarAllocatorCreateInfo* info)
{
    const VkPhysicalDeviceProperties* device = &allocator->device.facts.properties;
    const bool is_device = device->deviceName[0] != '\0';
    const uint32_t version = is_device ? device->apiVersion : info->apiVersion;
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_VERSION_TOO_LOW,
                "maarCreateAllocator", "%s%s%s %u.%u.%u, and Maar needs Vulkan 1.0 or later",
                is_device ? "the device " : "pCreateInfo->apiVersion",
                is_device ? device->deviceName : "", is_device ? " has Vulkan" : " is",
                VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                VK_API_VERSION_PATCH(version));
}

static VkResult open_device(const MaarAllocatorCreateInfo* info, MaarAllocator allocator)
{
    const MaarEntryPointsInfo* given = find_entry_points(info);
    const struct maar_device_open_info open_info = {
        .instance = info->instance,
        .physical = info->physicalDevice,
        .device = info->device,
        .source = {.get_instance_proc_addr = info->pfnGetInstanceProcAddr,
                   .get_device_proc_addr = info->pfnGetDeviceProcAddr,
                   .function_count = given != NULL ? given->functionCount : 0,
                   .functions = given != NULL ? given->pFunctions : NULL},
        .instance_extension_count = given != NULL ? given->instanceExtensionCount : 0,
        .instance_extensions = given != NULL ? given->ppInstanceExtensionNames : NULL,
        .api_version = info->apiVersion,
        .extension_count = info->enabledExtensionCount,
        .extensions = info->ppEnabledExtensionNames,
        .features = info->pEnabledFeatures,
        .callbacks = allocator->callbacks,
    };
    const char* missing = NULL;
    VkResult result = maar_device_open(&open_info, &allocator->device, &missing);
    if (missing != NULL) {
        maar_report(
            allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_MISSING_ENTRY_POINT, NULL,
            "%s cannot be found: was the instance created with VkApplicationInfo::apiVersion "
            "of at least pCreateInfo->apiVersion (0 stands for 1.1)?",
            missing);
    } else if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        report_low_version(allocator, info);
    }
    return result;
}

/* Reports each feature that the program enabled but that the allocator does not use. The most
 * common reason is that the program left apiVersion at 1.1. */
static void report_dropped(MaarAllocator allocator)
{
    static const struct {
        enum maar_dropped bit;
        const char* feature;
        const char* extension;
    } names[] = {
        {MAAR_DROPPED_BUFFER_DEVICE_ADDRESS, "bufferDeviceAddress",
         "apiVersion 1.2 or VK_KHR_buffer_device_address"},
        {MAAR_DROPPED_TIMELINE_SEMAPHORE, "timelineSemaphore",
         "apiVersion 1.2 or VK_KHR_timeline_semaphore"},
        {MAAR_DROPPED_MAINTENANCE4, "maintenance4", "apiVersion 1.3 or VK_KHR_maintenance4"},
        {MAAR_DROPPED_MEMORY_PRIORITY, "memoryPriority", "VK_EXT_memory_priority"},
        {MAAR_DROPPED_PAGEABLE_MEMORY, "pageableDeviceLocalMemory",
         "VK_EXT_pageable_device_local_memory"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if ((allocator->device.facts.dropped & (uint32_t)names[i].bit) != 0) {
            maar_report(allocator, MAAR_MESSAGE_SEVERITY_INFO, MAAR_MESSAGE_ID_FEATURE_UNUSED, NULL,
                        "the feature %s is not used: it needs %s in pCreateInfo", names[i].feature,
                        names[i].extension);
        }
    }
}

/* Sets the limits of the heaps and reads their budgets. The device must be open. */
static VkResult open_accounts(const MaarAllocatorCreateInfo* info, MaarAllocator allocator)
{
    uint32_t heap_count = allocator->device.facts.memory.memoryHeapCount;
    if (info->heapSizeLimitCount != 0 && info->heapSizeLimitCount != heap_count) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                    "maarCreateAllocator",
                    "pCreateInfo->heapSizeLimitCount is %u, and the device has %u heaps",
                    (unsigned)info->heapSizeLimitCount, (unsigned)heap_count);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    for (uint32_t i = 0; i < info->heapSizeLimitCount; ++i) {
        allocator->heaps[i].limit = info->pHeapSizeLimits[i];
    }
    allocator->avoided_types = maar_avoided_types(&allocator->device.facts.memory);
    allocator->rankings.ordinary_types = maar_ordinary_types(&allocator->device.facts.memory);
    struct maar_budget budgets[VK_MAX_MEMORY_HEAPS];
    (void)maar_budget_read_all(allocator, budgets);
    return VK_SUCCESS;
}

/* Keeps what default memory can be exported as. The device must be open. */
static VkResult copy_exports(const MaarAllocatorCreateInfo* info, MaarAllocator allocator)
{
    const MaarDefaultExportInfo* export =
        maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_DEFAULT_EXPORT_INFO);
    VkResult result = VK_SUCCESS;
    if (export == NULL) {
        return VK_SUCCESS;
    }
    if (export->memoryTypeCount > allocator->device.facts.memory.memoryTypeCount) {
        return maar_fail(
            allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
            "maarCreateAllocator",
            "MaarDefaultExportInfo::memoryTypeCount is %u, and the device has %u types",
            (unsigned)export->memoryTypeCount,
            (unsigned)allocator->device.facts.memory.memoryTypeCount);
    }
    for (uint32_t i = 0; i < export->memoryTypeCount && result == VK_SUCCESS; ++i) {
        const VkExternalMemoryHandleTypeFlags types = export->pHandleTypes[i];
        result = maar_shared_types_require(allocator, "maarCreateAllocator", types);
        allocator->default_exports[i] = types;
        allocator->has_default_exports = allocator->has_default_exports || types != 0;
    }
    return result;
}

/* Reports the first queue that cannot be used. The device must be open. */
static VkResult check_queues(const MaarAllocatorCreateInfo* info, MaarAllocator allocator)
{
    const uint32_t families = allocator->device.facts.queue_family_count;
    static const enum maar_function_group needed[] = {
        MAAR_FUNCTIONS_SEMAPHORES, MAAR_FUNCTIONS_COMMANDS, MAAR_FUNCTIONS_SUBMISSIONS};
    for (size_t i = 0; info->queueCount > 0 && i < sizeof needed / sizeof needed[0]; ++i) {
        if (maar_require_functions(allocator, &allocator->device, "pCreateInfo->pQueues",
                                   needed[i]) != VK_SUCCESS) {
            return VK_ERROR_INITIALIZATION_FAILED;
        }
    }
    for (uint32_t i = 0; i < info->queueCount; ++i) {
        const MaarQueue* queue = &info->pQueues[i];
        if (queue->queue == VK_NULL_HANDLE) {
            return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_NULL_HANDLE,
                             "maarCreateAllocator",
                             "pCreateInfo->pQueues[%u].queue is VK_NULL_HANDLE", i);
        }
        if ((queue->pfnLock == NULL) != (queue->pfnUnlock == NULL)) {
            return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                             MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "maarCreateAllocator",
                             "pCreateInfo->pQueues[%u] has only one of pfnLock and pfnUnlock", i);
        }
        /* Of a device with more families, Maar knows only the first ones. */
        if (queue->familyIndex >= families && families < MAAR_MAX_QUEUE_FAMILIES) {
            return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                             MAAR_MESSAGE_ID_OUT_OF_RANGE, "maarCreateAllocator",
                             "pCreateInfo->pQueues[%u].familyIndex is %u, and the number of queue "
                             "families of the device is %u",
                             i, queue->familyIndex, families);
        }
    }
    return VK_SUCCESS;
}

static VkResult copy_queues(const MaarAllocatorCreateInfo* info, MaarAllocator allocator)
{
    if (info->queueCount == 0) {
        return VK_SUCCESS;
    }
    allocator->queues =
        maar_host_calloc(allocator->callbacks, info->queueCount, sizeof *allocator->queues);
    if (allocator->queues == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    memcpy(allocator->queues, info->pQueues, info->queueCount * sizeof *allocator->queues);
    allocator->queue_count = info->queueCount;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateAllocator(const MaarAllocatorCreateInfo* pCreateInfo,
                                                   MaarAllocator* pAllocator)
{
    if (pAllocator != NULL) {
        *pAllocator = VK_NULL_HANDLE;
    }
    if (pCreateInfo == NULL || pAllocator == NULL ||
        pCreateInfo->sType != MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct maar_bound_text text;
    const struct maar_fault fault = find_create_fault(pCreateInfo, &text);
    if (fault.sentence != NULL) {
        const struct maar_reporter reporter = {.message = pCreateInfo->pfnMessage,
                                               .user_data = pCreateInfo->pMessageUserData};
        maar_message_deliver(&reporter, MAAR_MESSAGE_SEVERITY_ERROR, fault.id, __func__,
                             fault.sentence);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    MaarAllocator made =
        maar_host_calloc(pCreateInfo->pAllocationCallbacks, 1, sizeof(struct MaarAllocator_T));
    if (made == NULL) {
        return result;
    }
    copy_settings(pCreateInfo, made);
    result = open_device(pCreateInfo, made);
    if (result == VK_SUCCESS) {
        result = open_accounts(pCreateInfo, made);
    }
    if (result == VK_SUCCESS) {
        result = copy_exports(pCreateInfo, made);
    }
    if (result == VK_SUCCESS) {
        result = check_queues(pCreateInfo, made);
    }
    if (result == VK_SUCCESS) {
        result = copy_queues(pCreateInfo, made);
    }
    if (result != VK_SUCCESS) {
        goto free_allocator;
    }
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    bool synchronized = maar_is_synchronized(made);
    if (!maar_mutex_init(&made->list_lock, MAAR_LOCK_POOL_LIST, synchronized)) {
        goto free_allocator;
    }
    if (!maar_mutex_init(&made->share_lock, MAAR_LOCK_SHARE, synchronized)) {
        goto free_list_lock;
    }
    const uint64_t serial = maar_atomic64_add(&next_serial, TABLES) - TABLES;
    made->first_slice_key = maar_first_key(serial + 2);
    if (!maar_slots_init(&made->slots, made->callbacks, maar_first_key(serial), synchronized)) {
        goto free_share_lock;
    }
    if (!maar_slots_init(&made->object_slots, made->callbacks, maar_first_key(serial + 1),
                         synchronized)) {
        goto free_slots;
    }
    if (!maar_block_ids_init(&made->block_ids, synchronized)) {
        goto free_object_slots;
    }
    maar_block_numbers_init(&made->block_numbers);
    made->free_object_slots.head = MAAR_SLOT_NONE;
    if (!maar_retire_init(&made->retire, made, &made->device, maar_end_pending_range,
                          synchronized)) {
        goto free_block_ids;
    }
    if (!maar_leaving_init(&made->leaving, synchronized)) {
        goto destroy_retire;
    }
    made->kinds_apart =
        made->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY && made->device.facts.granularity > 1;
    report_dropped(made);
    *pAllocator = made;
    return VK_SUCCESS;

destroy_retire:
    maar_retire_destroy(&made->retire);
free_block_ids:
    maar_block_ids_destroy(&made->block_ids, made->callbacks);
free_object_slots:
    maar_slots_destroy(&made->object_slots);
free_slots:
    maar_slots_destroy(&made->slots);
free_share_lock:
    maar_mutex_destroy(&made->share_lock);
free_list_lock:
    maar_mutex_destroy(&made->list_lock);
free_allocator:
    maar_host_free(made->callbacks, made->queues);
    maar_host_free(pCreateInfo->pAllocationCallbacks, made);
    return result;
}

static void end_pending(MaarAllocator allocator)
{
    if (maar_atomic_pointer_load(&allocator->moving.state) != NULL) {
        allocator->moving.end_pool(allocator, NULL, MAAR_END_RECORDED);
    }
    if (maar_atomic_pointer_load(&allocator->paging.state) != NULL) {
        allocator->paging.end_pool(allocator, NULL, MAAR_END_RECORDED);
    }
    (void)maar_retire_wait(&allocator->retire, NULL, MAAR_DESTROY_TIMEOUT_NS);
    const struct maar_retire_blocker blocker = maar_find_blocker(allocator, NULL);
    uint32_t count = maar_retire_flush(&allocator->retire, NULL);
    if (count > 0) {
        maar_retire_report_flushed(&allocator->retire, "maarDestroyAllocator", count, &blocker);
    }
}

VKAPI_ATTR void VKAPI_CALL maarDestroyAllocator(MaarAllocator allocator)
{
    if (allocator == NULL) {
        return;
    }
    end_pending(allocator);
    MaarCaptureState state = MAAR_CAPTURE_STATE_OPEN;
    (void)maar_capture_stop(allocator, MAAR_CAPTURE_KIND_DEVICE_END, &state);
    void* slices = maar_atomic_pointer_load(&allocator->slices.state);
    if (slices != NULL) {
        allocator->slices.destroy(allocator, slices);
    }
    void* sharing = maar_atomic_pointer_load(&allocator->sharing.state);
    if (sharing != NULL) {
        allocator->sharing.destroy(allocator, sharing);
    }
    void* paging = maar_atomic_pointer_load(&allocator->paging.state);
    if (paging != NULL) {
        for (struct maar_pool* pool = allocator->pools; pool != NULL; pool = pool->next) {
            maar_pool_release_stitched(pool);
        }
        allocator->paging.destroy(allocator, paging);
    }
    void* moving = maar_atomic_pointer_load(&allocator->moving.state);
    if (moving != NULL) {
        /* Binds have waited for timelines of the moves. */
        allocator->moving.destroy(allocator, moving);
    }
    while (allocator->pools != NULL) {
        struct maar_pool* pool = allocator->pools;
        allocator->pools = pool->next;
        if (pool->custom) {
            maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                        "leak: pool \"%s\" of memory type %u was never destroyed",
                        pool->name != NULL ? pool->name : "", pool->type_index);
        }
        maar_pool_destroy(pool);
    }
    const uint32_t handles = maar_atomic32_load(&allocator->external_handle_count);
    if (handles > 0) {
        maar_report(
            allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
            "leak: %u MaarExternalHandle objects were never destroyed; a handle that was not taken "
            "out of its object stays open and keeps its memory alive",
            (unsigned)handles);
    }
    maar_capture_log_destroy(maar_atomic_pointer_load(&allocator->capture), allocator->callbacks);
    maar_ordered_destroy(allocator);
    maar_leaving_destroy(&allocator->leaving);
    maar_retire_destroy(&allocator->retire);
    maar_recycled_free(allocator);
    maar_block_ids_destroy(&allocator->block_ids, allocator->callbacks);
    maar_slots_destroy(&allocator->object_slots);
    maar_slots_destroy(&allocator->slots);
    maar_epochs_destroy(&allocator->epochs, allocator->callbacks);
    maar_slot_records_destroy(&allocator->movables, allocator->callbacks);
    maar_mutex_destroy(&allocator->share_lock);
    maar_mutex_destroy(&allocator->list_lock);
    maar_host_free(allocator->callbacks, allocator->queues);
    VkAllocationCallbacks storage = allocator->callback_storage;
    maar_host_free(allocator->callbacks != NULL ? &storage : NULL, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetAllocatorInfo(MaarAllocator allocator,
                                                    MaarAllocatorInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                  MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_device_facts* facts = &allocator->device.facts;
    pInfo->memoryProperties = facts->memory;
    memcpy(pInfo->deviceName, facts->properties.deviceName, sizeof pInfo->deviceName);
    pInfo->deviceType = facts->properties.deviceType;
    pInfo->apiVersion = facts->api_version;
    pInfo->bufferImageGranularity = facts->granularity;
    pInfo->nonCoherentAtomSize = facts->atom;
    pInfo->maxMemoryAllocationSize = facts->max_allocation_size;
    pInfo->maxMemoryAllocationCount = facts->max_allocation_count;
    pInfo->allocationCountLimit = maar_object_count_limit(allocator);
    pInfo->avoidedTypeBits = allocator->avoided_types;
    pInfo->memoryBudget = facts->memory_budget ? VK_TRUE : VK_FALSE;
    pInfo->memoryPriority = facts->memory_priority ? VK_TRUE : VK_FALSE;
    pInfo->pageableDeviceLocalMemory = facts->pageable_memory ? VK_TRUE : VK_FALSE;
    pInfo->bufferDeviceAddress = facts->buffer_device_address ? VK_TRUE : VK_FALSE;
    pInfo->maintenance4 = facts->maintenance4 ? VK_TRUE : VK_FALSE;
    pInfo->timelineSemaphore = facts->timeline_semaphore ? VK_TRUE : VK_FALSE;
    return VK_SUCCESS;
}
