/*
 * Instances, and the physical devices that profiles describe.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_share.h"

#include <string.h>

/* The first device address of a gpu. It is far from zero, so that no object has a null address. */
static const uint64_t sim_first_address = (uint64_t)1 << 32;

static const uint64_t sim_instance_extensions = (uint64_t)1 << SIM_EXT_PROPERTIES2 |
                                                (uint64_t)1 << SIM_EXT_EXTERNAL_CAPABILITIES |
                                                (uint64_t)1 << SIM_EXT_SEMAPHORE_CAPABILITIES;

static VKAPI_ATTR VkResult VKAPI_CALL sim_enumerate_instance_version(uint32_t* pApiVersion)
{
    *pApiVersion = VK_MAKE_API_VERSION(0, 1, 4, 0);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_enumerate_instance_extensions(
    const char* pLayerName, uint32_t* pPropertyCount, VkExtensionProperties* pProperties)
{
    if (pLayerName != NULL) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    return sim_extensions_enumerate(sim_instance_extensions, pPropertyCount, pProperties);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_enumerate_instance_layers(uint32_t* pPropertyCount,
                                                                    VkLayerProperties* pProperties)
{
    (void)pProperties;
    *pPropertyCount = 0;
    return VK_SUCCESS;
}

/* Rejects impossible profiles. Their indices would lead the driver out of its arrays. */
static bool sim_profile_is_sound(const MaarSimulatedProfile* profile)
{
    if (profile->sType != MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE || profile->heapCount == 0 ||
        profile->heapCount > VK_MAX_MEMORY_HEAPS || profile->typeCount == 0 ||
        profile->typeCount > VK_MAX_MEMORY_TYPES ||
        profile->queueFamilyCount > MAAR_SIMULATED_MAX_QUEUE_FAMILIES ||
        profile->extensionCount > MAAR_SIMULATED_MAX_EXTENSIONS) {
        return false;
    }
    for (uint32_t i = 0; i < profile->typeCount; i++) {
        if (profile->types[i].heap >= profile->heapCount) {
            return false;
        }
    }
    for (uint32_t i = 0; i < profile->extensionCount; i++) {
        if (memchr(profile->extensions[i], 0, sizeof(profile->extensions[i])) == NULL) {
            return false;
        }
    }
    return memchr(profile->deviceName, 0, sizeof(profile->deviceName)) != NULL &&
           memchr(profile->driverName, 0, sizeof(profile->driverName)) != NULL &&
           memchr(profile->driverInfo, 0, sizeof(profile->driverInfo)) != NULL;
}

static void sim_gpu_describe(struct sim_gpu* gpu, const MaarSimulatedInstanceCreateInfo* info,
                             const MaarSimulatedProfile* profile)
{
    gpu->profile = *profile;
    if (profile->queueFamilyCount == 0) {
        gpu->profile.queueFamilyCount = 1;
        gpu->profile.queueFamilies[0] = (MaarSimulatedQueueFamily){
            .count = 16,
            .flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT |
                     VK_QUEUE_SPARSE_BINDING_BIT,
        };
    }
    gpu->flags = info->flags;
    gpu->on_call = info->pfnCall;
    gpu->on_violation = info->pfnViolation;
    gpu->user_data = info->pUserData;
    gpu->next_address = sim_first_address;
    gpu->extensions = sim_extensions_of_profile(&gpu->profile);
    const VkStructureType sharing_type =
        (VkStructureType)MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO;
    const MaarSimulatedSharingInfo* sharing = sim_chain_find(profile->pNext, sharing_type);
    sim_external_describe(gpu,
                          sharing != NULL ? sharing : sim_chain_find(info->pNext, sharing_type));
    gpu->profile.pNext = NULL;
    gpu->features = sim_features_of_gpu(gpu);
}

static struct sim_gpu* sim_gpu_create(struct sim_instance* instance,
                                      const MaarSimulatedInstanceCreateInfo* info,
                                      const MaarSimulatedProfile* profile)
{
    struct sim_gpu* gpu = maar_host_calloc(instance->callbacks, 1, sizeof(*gpu));
    if (gpu == NULL) {
        return NULL;
    }
    gpu->instance = instance;
    if (!sim_lock_init(&gpu->lock)) {
        goto free_gpu;
    }
    if (!sim_condition_init(&gpu->progress)) {
        goto finish_lock;
    }
    sim_gpu_describe(gpu, info, profile);
    return gpu;

finish_lock:
    sim_lock_finish(&gpu->lock);
free_gpu:
    maar_host_free(instance->callbacks, gpu);
    return NULL;
}

static void sim_gpu_destroy(struct sim_gpu* gpu)
{
    const VkAllocationCallbacks* callbacks = gpu->instance->callbacks;
    sim_condition_finish(&gpu->progress);
    sim_lock_finish(&gpu->lock);
    maar_host_free(callbacks, gpu);
}

static void sim_instance_free(struct sim_instance* instance)
{
    for (uint32_t i = 0; i < instance->gpu_count; i++) {
        sim_gpu_destroy(instance->gpus[i]);
    }
    const VkAllocationCallbacks callbacks = instance->callbacks_copy;
    maar_host_free(&callbacks, instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_create_instance(const VkInstanceCreateInfo* pCreateInfo,
                                                          const VkAllocationCallbacks* pAllocator,
                                                          VkInstance* pInstance)
{
    *pInstance = VK_NULL_HANDLE;
    if (pCreateInfo->enabledLayerCount != 0) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    uint64_t extensions = 0;
    if (sim_extensions_parse(pCreateInfo->enabledExtensionCount,
                             pCreateInfo->ppEnabledExtensionNames, sim_instance_extensions,
                             &extensions) != VK_SUCCESS) {
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    const MaarSimulatedInstanceCreateInfo* info = sim_chain_find(
        pCreateInfo->pNext, (VkStructureType)MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO);
    if (info == NULL || info->profileCount == 0 || info->profileCount > SIM_MAX_GPUS) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    struct sim_instance* instance = maar_host_calloc(pAllocator, 1, sizeof(*instance));
    if (instance == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (pAllocator != NULL) {
        instance->callbacks_copy = *pAllocator;
        instance->callbacks = &instance->callbacks_copy;
    }
    const VkApplicationInfo* application = pCreateInfo->pApplicationInfo;
    instance->api_minor = application != NULL ? VK_API_VERSION_MINOR(application->apiVersion) : 0;
    instance->extensions = extensions;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < info->profileCount && result == VK_SUCCESS; i++) {
        if (!sim_profile_is_sound(&info->pProfiles[i])) {
            result = VK_ERROR_INITIALIZATION_FAILED;
            break;
        }
        instance->gpus[i] = sim_gpu_create(instance, info, &info->pProfiles[i]);
        if (instance->gpus[i] == NULL) {
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
            break;
        }
        instance->gpu_count++;
    }
    if (result != VK_SUCCESS) {
        sim_instance_free(instance);
        return result;
    }
    *pInstance = (VkInstance)(void*)instance;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL sim_destroy_instance(VkInstance instance,
                                                       const VkAllocationCallbacks* pAllocator)
{
    struct sim_instance* self = (struct sim_instance*)(void*)instance;
    if (self == NULL) {
        return;
    }
    for (uint32_t i = 0; i < self->gpu_count; i++) {
        struct sim_gpu* gpu = self->gpus[i];
        sim_lock_gpu(gpu);
        if ((pAllocator != NULL) != (self->callbacks != NULL)) {
            sim_violate(gpu, SIM_FN_vkDestroyInstance, MAAR_SIMULATED_VIOLATION_CALLBACKS,
                        "the instance was created %s allocation callbacks",
                        self->callbacks != NULL ? "with" : "without");
        }
        sim_reused_forget(gpu, SIM_FN_vkDestroyInstance);
        if (gpu->counters.liveCount[MAAR_SIMULATED_OBJECT_DEVICE] != 0) {
            sim_violate(gpu, SIM_FN_vkDestroyInstance, MAAR_SIMULATED_VIOLATION_LEAK,
                        "a VkDevice is still alive");
        }
        sim_unlock_gpu(gpu);
    }
    sim_instance_free(self);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_enumerate_physical_devices(
    VkInstance instance, uint32_t* pPhysicalDeviceCount, VkPhysicalDevice* pPhysicalDevices)
{
    struct sim_instance* self = (struct sim_instance*)(void*)instance;
    if (pPhysicalDevices == NULL) {
        *pPhysicalDeviceCount = self->gpu_count;
        return VK_SUCCESS;
    }
    const uint32_t room = *pPhysicalDeviceCount;
    *pPhysicalDeviceCount = room < self->gpu_count ? room : self->gpu_count;
    for (uint32_t i = 0; i < *pPhysicalDeviceCount; i++) {
        pPhysicalDevices[i] = (VkPhysicalDevice)(void*)self->gpus[i];
    }
    return room < self->gpu_count ? VK_INCOMPLETE : VK_SUCCESS;
}

const struct sim_entry sim_instance_entries[] = {
    SIM_ENTRY(vkGetInstanceProcAddr, maarSimulatedGetInstanceProcAddr),
    SIM_ENTRY(vkEnumerateInstanceVersion, sim_enumerate_instance_version),
    SIM_ENTRY(vkEnumerateInstanceExtensionProperties, sim_enumerate_instance_extensions),
    SIM_ENTRY(vkEnumerateInstanceLayerProperties, sim_enumerate_instance_layers),
    SIM_ENTRY(vkCreateInstance, sim_create_instance),
    SIM_ENTRY(vkDestroyInstance, sim_destroy_instance),
    SIM_ENTRY(vkEnumeratePhysicalDevices, sim_enumerate_physical_devices),
    {SIM_FN_COUNT, NULL},
};
