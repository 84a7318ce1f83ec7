/*
 * Logical devices and their queues. An object that is alive when its device is destroyed is a leak.
 * The driver records the leak and frees the object.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_command.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_known.h"
#include "backends/simulated/sim_layout.h"
#include "backends/simulated/sim_memory.h"
#include "backends/simulated/sim_resource.h"
#include "backends/simulated/sim_submission.h"
#include "backends/simulated/sim_sync.h"

enum { SIM_DEVICE_SALT = 0x9E3779 };

/* Returns whether the requested queues exist, and fills in their number. */
static bool sim_count_queues(const struct sim_gpu* gpu, const VkDeviceCreateInfo* info,
                             struct sim_device* device)
{
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        const VkDeviceQueueCreateInfo* queues = &info->pQueueCreateInfos[i];
        if (queues->queueFamilyIndex >= gpu->profile.queueFamilyCount || queues->queueCount == 0 ||
            queues->queueCount > gpu->profile.queueFamilies[queues->queueFamilyIndex].count ||
            device->family_count[queues->queueFamilyIndex] != 0) {
            return false;
        }
        device->family_first[queues->queueFamilyIndex] = device->queue_count;
        device->family_count[queues->queueFamilyIndex] = queues->queueCount;
        device->queue_count += queues->queueCount;
    }
    return true;
}

static VkResult sim_device_fill_queues(struct sim_device* device)
{
    if (device->queue_count == 0) {
        return VK_SUCCESS;
    }
    device->queues =
        maar_host_calloc(device->callbacks, device->queue_count, sizeof(struct sim_queue));
    if (device->queues == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t family = 0; family < MAAR_SIMULATED_MAX_QUEUE_FAMILIES; family++) {
        for (uint32_t i = 0; i < device->family_count[family]; i++) {
            struct sim_queue* queue = &device->queues[device->family_first[family] + i];
            queue->device = device;
            queue->family = family;
        }
    }
    return VK_SUCCESS;
}

static void sim_device_read_overallocation(struct sim_device* device,
                                           const VkDeviceCreateInfo* info)
{
    const VkDeviceMemoryOverallocationCreateInfoAMD* request =
        sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_DEVICE_MEMORY_OVERALLOCATION_CREATE_INFO_AMD);
    if (request != NULL && (device->extensions >> SIM_EXT_OVERALLOCATION_AMD & 1u) != 0 &&
        request->overallocationBehavior != VK_MEMORY_OVERALLOCATION_BEHAVIOR_DEFAULT_AMD) {
        device->overcommit_known = true;
        device->overcommit =
            request->overallocationBehavior == VK_MEMORY_OVERALLOCATION_BEHAVIOR_ALLOWED_AMD;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_create_device(VkPhysicalDevice physicalDevice,
                                                        const VkDeviceCreateInfo* pCreateInfo,
                                                        const VkAllocationCallbacks* pAllocator,
                                                        VkDevice* pDevice)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    *pDevice = VK_NULL_HANDLE;
    VkResult result = sim_enter(gpu, NULL, SIM_FN_vkCreateDevice);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkAllocationCallbacks* callbacks =
        pAllocator != NULL ? pAllocator : gpu->instance->callbacks;
    struct sim_device* device = maar_host_calloc(callbacks, 1, sizeof(*device));
    if (device == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    device->gpu = gpu;
    device->first_free = UINT32_MAX;
    device->has_callbacks = pAllocator != NULL;
    if (callbacks != NULL) {
        device->callbacks_copy = *callbacks;
        device->callbacks = &device->callbacks_copy;
    }
    const uint32_t minor = sim_profile_minor(&gpu->profile);
    device->api_minor = gpu->instance->api_minor < minor ? gpu->instance->api_minor : minor;
    result = sim_extensions_parse(pCreateInfo->enabledExtensionCount,
                                  pCreateInfo->ppEnabledExtensionNames, gpu->extensions,
                                  &device->extensions);
    if (result == VK_SUCCESS) {
        result = sim_features_parse(gpu, pCreateInfo, &device->features);
    }
    if (result == VK_SUCCESS && !sim_count_queues(gpu, pCreateInfo, device)) {
        result = VK_ERROR_INITIALIZATION_FAILED;
    }
    if (result == VK_SUCCESS) {
        result = sim_device_fill_queues(device);
    }
    if (result != VK_SUCCESS) {
        maar_host_free(callbacks, device);
        return result;
    }
    sim_device_read_overallocation(device, pCreateInfo);
    sim_lock_gpu(gpu);
    gpu->counters.liveCount[MAAR_SIMULATED_OBJECT_DEVICE]++;
    device->salt = ++gpu->devices_made * SIM_DEVICE_SALT;
    device->next = gpu->devices;
    gpu->devices = device;
    sim_unlock_gpu(gpu);
    *pDevice = (VkDevice)(void*)device;
    return VK_SUCCESS;
}

/* Records the objects that outlive the device, one violation for each kind. Lock held. */
static void sim_report_leaks(struct sim_device* device)
{
    uint32_t leaked[SIM_KIND_COUNT] = {0};
    for (uint32_t i = 0; i < device->slot_count; i++) {
        if (device->slots[i].object != NULL) {
            leaked[device->slots[i].object->kind]++;
        }
    }
    for (int kind = 1; kind < SIM_KIND_COUNT; kind++) {
        const bool owned = kind == SIM_KIND_COMMAND_BUFFER || kind == SIM_KIND_DESCRIPTOR_SET;
        if (leaked[kind] != 0 && !owned) {
            sim_violate(device->gpu, SIM_FN_vkDestroyDevice, MAAR_SIMULATED_VIOLATION_LEAK,
                        "%u %s still alive", leaked[kind], sim_kind_name((enum sim_kind)kind));
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_destroy_device(VkDevice device,
                                                     const VkAllocationCallbacks* pAllocator)
{
    struct sim_device* d = SIM_DEVICE(device);
    if (d == NULL) {
        return;
    }
    struct sim_gpu* gpu = d->gpu;
    sim_enter(gpu, d, SIM_FN_vkDestroyDevice);
    sim_lock_gpu(gpu);
    sim_report_leaks(d);
    if ((pAllocator != NULL) != d->has_callbacks) {
        sim_violate(gpu, SIM_FN_vkDestroyDevice, MAAR_SIMULATED_VIOLATION_CALLBACKS,
                    "the device was created %s allocation callbacks",
                    d->has_callbacks ? "with" : "without");
    }
    gpu->counters.liveCount[MAAR_SIMULATED_OBJECT_DEVICE]--;
    struct sim_device** link = &gpu->devices;
    while (*link != d) {
        link = &(*link)->next;
    }
    *link = d->next;
    if (d->pending != NULL && !d->lost) {
        sim_violate(gpu, SIM_FN_vkDestroyDevice, MAAR_SIMULATED_VIOLATION_IN_USE,
                    "a submission has not been executed");
    }
    sim_unlock_gpu(gpu);
    sim_submissions_free(d, d->pending);
    d->pending = NULL;
    for (uint32_t i = 0; i < d->slot_count; i++) {
        struct sim_object* object = d->slots[i].object;
        if (object == NULL) {
            continue;
        }
        sim_lock_gpu(gpu);
        if (object->kind == SIM_KIND_MEMORY) {
            sim_memory_uncount((struct sim_memory*)object);
        } else if (object->kind == SIM_KIND_BUFFER || object->kind == SIM_KIND_IMAGE) {
            sim_pages_forget((struct sim_resource*)object);
            sim_layout_release((struct sim_resource*)object);
        } else if (object->kind == SIM_KIND_FENCE) {
            sim_known_release((struct sim_signal*)object);
        } else if (object->kind == SIM_KIND_SEMAPHORE) {
            sim_known_release((struct sim_signal*)object);
            sim_payload_forget((struct sim_signal*)object, SIM_FN_vkDestroyDevice);
        }
        sim_object_remove(object);
        sim_unlock_gpu(gpu);
        if (object->kind == SIM_KIND_MEMORY) {
            sim_memory_release((struct sim_memory*)object);
        } else if (object->kind == SIM_KIND_COMMAND_BUFFER) {
            sim_command_release((struct sim_command_buffer*)object);
        } else {
            if (object->kind == SIM_KIND_BUFFER || object->kind == SIM_KIND_IMAGE) {
                sim_tree_release(d->callbacks, &((struct sim_resource*)object)->pages.runs);
            }
            sim_object_release(object);
        }
    }
    sim_order_release(d);
    maar_host_free(d->callbacks, d->slots);
    maar_host_free(d->callbacks, d->queues);
    const VkAllocationCallbacks callbacks = d->callbacks_copy;
    maar_host_free(&callbacks, d);
}

static VKAPI_ATTR void VKAPI_CALL sim_get_device_queue2(VkDevice device,
                                                        const VkDeviceQueueInfo2* pQueueInfo,
                                                        VkQueue* pQueue)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pQueue = VK_NULL_HANDLE;
    sim_enter(d->gpu, d, SIM_FN_vkGetDeviceQueue2);
    const uint32_t family = pQueueInfo->queueFamilyIndex;
    if (family < d->gpu->profile.queueFamilyCount &&
        pQueueInfo->queueIndex < d->family_count[family]) {
        *pQueue = (VkQueue)(void*)&d->queues[d->family_first[family] + pQueueInfo->queueIndex];
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_get_device_queue(VkDevice device, uint32_t queueFamilyIndex,
                                                       uint32_t queueIndex, VkQueue* pQueue)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pQueue = VK_NULL_HANDLE;
    sim_enter(d->gpu, d, SIM_FN_vkGetDeviceQueue);
    if (queueFamilyIndex < d->gpu->profile.queueFamilyCount &&
        queueIndex < d->family_count[queueFamilyIndex]) {
        *pQueue = (VkQueue)(void*)&d->queues[d->family_first[queueFamilyIndex] + queueIndex];
        return;
    }
    sim_lock_gpu(d->gpu);
    sim_violate(d->gpu, SIM_FN_vkGetDeviceQueue, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                "queue %u of family %u was not created", queueIndex, queueFamilyIndex);
    sim_unlock_gpu(d->gpu);
}

const struct sim_entry sim_device_entries[] = {
    SIM_ENTRY(vkGetDeviceProcAddr, sim_get_device_proc_addr),
    SIM_ENTRY(vkCreateDevice, sim_create_device),
    SIM_ENTRY(vkDestroyDevice, sim_destroy_device),
    SIM_ENTRY(vkGetDeviceQueue, sim_get_device_queue),
    SIM_ENTRY(vkGetDeviceQueue2, sim_get_device_queue2),
    {SIM_FN_COUNT, NULL},
};
