/*
 * The FAKE driver. chain_driver.h describes it. Handles of objects are numbers.
 */
#include "chain_driver.h"

#include <stdlib.h>
#include <string.h>

#include "core/handle.h"
#include "layer/layer_newer.h"

struct chain_driver chain_driver;

/* A dispatchable object begins with the key of its instance or device. */
struct chain_object {
    void* key;
    struct chain_object* child; /* physical device, or queue */
};

static uint64_t last_handle = 0x1000;

static uint64_t new_handle(void)
{
    last_handle += 0x10;
    return last_handle;
}

static struct chain_object* new_object(void)
{
    struct chain_object* const object = calloc(1, sizeof(*object));
    struct chain_object* const child = calloc(1, sizeof(*child));
    if (object == NULL || child == NULL) {
        abort();
    }
    object->key = object;
    object->child = child;
    child->key = object;
    return object;
}

static void free_object(struct chain_object* object)
{
    free(object->child);
    free(object);
}

VkPhysicalDevice chain_physical_device(VkInstance instance)
{
    return (VkPhysicalDevice)(void*)((struct chain_object*)(void*)instance)->child;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                                      const VkAllocationCallbacks* callbacks,
                                                      VkInstance* instance)
{
    (void)info;
    (void)callbacks;
    *instance = (VkInstance)(void*)new_object();
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
                                                   const VkAllocationCallbacks* callbacks)
{
    (void)callbacks;
    free_object((struct chain_object*)(void*)instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL list_extensions(VkPhysicalDevice physical, const char* layer,
                                                      uint32_t* count, VkExtensionProperties* list)
{
    (void)physical;
    (void)layer;
    if (list != NULL && *count >= 1) {
        memset(list, 0, sizeof(*list));
        strcpy(list->extensionName, VK_EXT_DEVICE_MEMORY_REPORT_EXTENSION_NAME);
    }
    *count = 1;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice physical,
                                             VkPhysicalDeviceProperties* out)
{
    (void)physical;
    memset(out, 0, sizeof(*out));
    out->apiVersion = VK_API_VERSION_1_3;
    strcpy(out->deviceName, "FAKE device");
}

static VKAPI_ATTR void VKAPI_CALL memory_properties(VkPhysicalDevice physical,
                                                    VkPhysicalDeviceMemoryProperties* out)
{
    (void)physical;
    memset(out, 0, sizeof(*out));
    out->memoryHeapCount = 1;
    out->memoryHeaps[0].size = (VkDeviceSize)1 << 30;
    out->memoryTypeCount = 2;
}

static VKAPI_ATTR void VKAPI_CALL queue_families(VkPhysicalDevice physical, uint32_t* count,
                                                 VkQueueFamilyProperties* out)
{
    (void)physical;
    *count = 1;
    if (out != NULL) {
        memset(out, 0, sizeof(*out));
        out->queueFlags = VK_QUEUE_COMPUTE_BIT;
    }
}

/* Reports an allocation of the driver's own if the program wants reports. */
static void report_memory(const VkDeviceCreateInfo* info)
{
    const VkBaseInStructure* link = info->pNext;
    for (uint32_t i = 0; i < info->enabledExtensionCount; ++i) {
        chain_driver.saw_report_extension = chain_driver.saw_report_extension ||
                                            strcmp(info->ppEnabledExtensionNames[i],
                                                   VK_EXT_DEVICE_MEMORY_REPORT_EXTENSION_NAME) == 0;
    }
    for (; link != NULL; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_DEVICE_DEVICE_MEMORY_REPORT_CREATE_INFO_EXT) {
            const VkDeviceDeviceMemoryReportCreateInfoEXT* const wanted = (const void*)link;
            const VkDeviceMemoryReportCallbackDataEXT data = {
                .sType = VK_STRUCTURE_TYPE_DEVICE_MEMORY_REPORT_CALLBACK_DATA_EXT,
                .type = VK_DEVICE_MEMORY_REPORT_EVENT_TYPE_ALLOCATE_EXT,
                .memoryObjectId = 77,
                .size = 4096,
                .objectType = VK_OBJECT_TYPE_DEVICE,
            };
            wanted->pfnUserCallback(&data, wanted->pUserData);
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkDevice* device)
{
    (void)physical;
    (void)callbacks;
    report_memory(info);
    *device = (VkDevice)(void*)new_object();
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device,
                                                 const VkAllocationCallbacks* callbacks)
{
    (void)callbacks;
    free_object((struct chain_object*)(void*)device);
}

static VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index,
                                            VkQueue* queue)
{
    (void)family;
    (void)index;
    *queue = (VkQueue)(void*)((struct chain_object*)(void*)device)->child;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                               const VkAllocationCallbacks* callbacks,
                                               VkDeviceMemory* memory)
{
    (void)device;
    (void)info;
    (void)callbacks;
    if (chain_driver.allocation_result == VK_SUCCESS) {
        *memory = MAAR_FROM_BITS(VkDeviceMemory, new_handle());
    }
    return chain_driver.allocation_result;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks* callbacks)
{
    (void)device;
    (void)callbacks;
    if (chain_driver.before_free != NULL) {
        chain_driver.before_free(memory);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL map2(VkDevice device, const struct layer_map_info* info,
                                           void** data)
{
    (void)device;
    (void)info;
    *data = NULL;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL unmap2(VkDevice device, const struct layer_unmap_info* info)
{
    (void)device;
    (void)info;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL set_priority(VkDevice device, VkDeviceMemory memory, float value)
{
    (void)device;
    (void)memory;
    (void)value;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkBuffer* buffer)
{
    (void)device;
    (void)info;
    (void)callbacks;
    *buffer = MAAR_FROM_BITS(VkBuffer, new_handle());
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL buffer_needs(VkDevice device,
                                               const VkBufferMemoryRequirementsInfo2* info,
                                               VkMemoryRequirements2* out)
{
    (void)device;
    (void)info;
    VkMemoryDedicatedRequirements* const dedicated = out->pNext;
    out->memoryRequirements = (VkMemoryRequirements){640, 64, 3};
    if (dedicated != NULL) {
        dedicated->prefersDedicatedAllocation = VK_TRUE;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffers(VkDevice device, uint32_t count,
                                                   const VkBindBufferMemoryInfo* infos)
{
    VkResult all = VK_SUCCESS;
    (void)device;
    for (uint32_t i = 0; i < count; ++i) {
        const VkResult result = i == 1 ? chain_driver.second_bind_result : VK_SUCCESS;
        const struct layer_bind_status* const status = infos[i].pNext;
        if (status != NULL) {
            *status->pResult = result;
        }
        all = result != VK_SUCCESS ? result : all;
    }
    return all;
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_structure(VkDevice device, const VkAccelerationStructureCreateInfoKHR* info,
                 const VkAllocationCallbacks* callbacks, VkAccelerationStructureKHR* structure)
{
    (void)device;
    (void)info;
    (void)callbacks;
    *structure = MAAR_FROM_BITS(VkAccelerationStructureKHR, new_handle());
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_structure(VkDevice device,
                                                    VkAccelerationStructureKHR structure,
                                                    const VkAllocationCallbacks* callbacks)
{
    (void)device;
    (void)structure;
    (void)callbacks;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_session(VkDevice device,
                                                     const VkVideoSessionCreateInfoKHR* info,
                                                     const VkAllocationCallbacks* callbacks,
                                                     VkVideoSessionKHR* session)
{
    (void)device;
    (void)info;
    (void)callbacks;
    *session = MAAR_FROM_BITS(VkVideoSessionKHR, new_handle());
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL session_needs(VkDevice device, VkVideoSessionKHR session,
                                                    uint32_t* count,
                                                    VkVideoSessionMemoryRequirementsKHR* out)
{
    (void)device;
    (void)session;
    for (uint32_t i = 0; out != NULL && i < *count; ++i) {
        out[i].memoryRequirements.size = 1000;
    }
    *count = 3;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_session(VkDevice device, VkVideoSessionKHR session,
                                                   uint32_t count,
                                                   const VkBindVideoSessionMemoryInfoKHR* infos)
{
    (void)device;
    (void)session;
    (void)count;
    (void)infos;
    return VK_SUCCESS;
}

struct chain_function {
    const char* name;
    PFN_vkVoidFunction function;
};

#define CHAIN(name, function)                                                                      \
    {                                                                                              \
        "vk" #name, (PFN_vkVoidFunction)(function)                                                 \
    }

static const struct chain_function instance_functions[] = {
    CHAIN(CreateInstance, create_instance),
    CHAIN(DestroyInstance, destroy_instance),
    CHAIN(CreateDevice, create_device),
    CHAIN(EnumerateDeviceExtensionProperties, list_extensions),
    CHAIN(GetPhysicalDeviceProperties, properties),
    CHAIN(GetPhysicalDeviceMemoryProperties, memory_properties),
    CHAIN(GetPhysicalDeviceQueueFamilyProperties, queue_families),
    CHAIN(GetDeviceProcAddr, chain_get_device_function),
    {NULL, NULL},
};

static const struct chain_function device_functions[] = {
    CHAIN(GetDeviceProcAddr, chain_get_device_function),
    CHAIN(DestroyDevice, destroy_device),
    CHAIN(GetDeviceQueue, get_queue),
    CHAIN(AllocateMemory, allocate),
    CHAIN(FreeMemory, free_memory),
    CHAIN(SetDeviceMemoryPriorityEXT, set_priority),
    CHAIN(CreateBuffer, create_buffer),
    CHAIN(GetBufferMemoryRequirements2, buffer_needs),
    CHAIN(BindBufferMemory2, bind_buffers),
    CHAIN(CreateAccelerationStructureKHR, create_structure),
    CHAIN(DestroyAccelerationStructureKHR, destroy_structure),
    CHAIN(CreateVideoSessionKHR, create_session),
    CHAIN(GetVideoSessionMemoryRequirementsKHR, session_needs),
    CHAIN(BindVideoSessionMemoryKHR, bind_session),
    CHAIN(CmdDraw, destroy_structure), /* any address */
    {NULL, NULL},
};

static PFN_vkVoidFunction find(const struct chain_function* list, const char* name)
{
    for (; list->name != NULL; ++list) {
        if (strcmp(list->name, name) == 0) {
            return list->function;
        }
    }
    return NULL;
}

PFN_vkVoidFunction VKAPI_CALL chain_get_device_function(VkDevice device, const char* name)
{
    (void)device;
    if (chain_driver.has_newer_map && strcmp(name, "vkMapMemory2") == 0) {
        return (PFN_vkVoidFunction)map2;
    }
    if (chain_driver.has_newer_map && strcmp(name, "vkUnmapMemory2") == 0) {
        return (PFN_vkVoidFunction)unmap2;
    }
    return find(device_functions, name);
}

PFN_vkVoidFunction VKAPI_CALL chain_get_instance_function(VkInstance instance, const char* name)
{
    (void)instance;
    const PFN_vkVoidFunction found = find(instance_functions, name);
    return found != NULL ? found : find(device_functions, name);
}
