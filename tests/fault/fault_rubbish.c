/*
 * A driver that leaves rubbish where a failing call should have written. In front of the rig's
 * driver, whose functions volk holds.
 */
#include "tests/fault/fault_rubbish.h"

#define RUBBISH ((uintptr_t)0xDEADBEE8)

static VkResult VKAPI_PTR rubbish_allocate_memory(VkDevice device, const VkMemoryAllocateInfo* info,
                                                  const VkAllocationCallbacks* callbacks,
                                                  VkDeviceMemory* memory)
{
    VkResult result = vkAllocateMemory(device, info, callbacks, memory);
    if (result != VK_SUCCESS) {
        *memory = (VkDeviceMemory)RUBBISH;
    }
    return result;
}

static VkResult VKAPI_PTR rubbish_map_memory(VkDevice device, VkDeviceMemory memory,
                                             VkDeviceSize offset, VkDeviceSize size,
                                             VkMemoryMapFlags flags, void** data)
{
    VkResult result = vkMapMemory(device, memory, offset, size, flags, data);
    if (result != VK_SUCCESS) {
        *data = (void*)RUBBISH;
    }
    return result;
}

static VkResult VKAPI_PTR rubbish_create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                                const VkAllocationCallbacks* callbacks,
                                                VkBuffer* buffer)
{
    VkResult result = vkCreateBuffer(device, info, callbacks, buffer);
    if (result != VK_SUCCESS) {
        *buffer = (VkBuffer)RUBBISH;
    }
    return result;
}

static VkResult VKAPI_PTR rubbish_create_image(VkDevice device, const VkImageCreateInfo* info,
                                               const VkAllocationCallbacks* callbacks,
                                               VkImage* image)
{
    VkResult result = vkCreateImage(device, info, callbacks, image);
    if (result != VK_SUCCESS) {
        *image = (VkImage)RUBBISH;
    }
    return result;
}

static VkResult VKAPI_PTR rubbish_create_image_view(VkDevice device,
                                                    const VkImageViewCreateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkImageView* view)
{
    VkResult result = vkCreateImageView(device, info, callbacks, view);
    if (result != VK_SUCCESS) {
        *view = (VkImageView)RUBBISH;
    }
    return result;
}

static VkResult VKAPI_PTR rubbish_counter_value(VkDevice device, VkSemaphore semaphore,
                                                uint64_t* value)
{
    VkResult result = vkGetSemaphoreCounterValue(device, semaphore, value);
    if (result != VK_SUCCESS) {
        *value = UINT64_MAX; /* everything would have passed */
    }
    return result;
}

/* Descriptor 0 is somebody's, and is missed when it is closed. */
static VkResult VKAPI_PTR rubbish_memory_fd(VkDevice device, const VkMemoryGetFdInfoKHR* info,
                                            int* fd)
{
    VkResult result = vkGetMemoryFdKHR(device, info, fd);
    if (result != VK_SUCCESS) {
        *fd = 0;
    }
    return result;
}

static VkResult VKAPI_PTR rubbish_semaphore_fd(VkDevice device, const VkSemaphoreGetFdInfoKHR* info,
                                               int* fd)
{
    VkResult result = vkGetSemaphoreFdKHR(device, info, fd);
    if (result != VK_SUCCESS) {
        *fd = 0;
    }
    return result;
}

static VkResult VKAPI_PTR rubbish_fd_properties(VkDevice device,
                                                VkExternalMemoryHandleTypeFlagBits type, int fd,
                                                VkMemoryFdPropertiesKHR* properties)
{
    VkResult result = vkGetMemoryFdPropertiesKHR(device, type, fd, properties);
    if (result != VK_SUCCESS) {
        properties->memoryTypeBits = UINT32_MAX;
    }
    return result;
}

static VkResult VKAPI_PTR rubbish_create_semaphore(VkDevice device,
                                                   const VkSemaphoreCreateInfo* info,
                                                   const VkAllocationCallbacks* callbacks,
                                                   VkSemaphore* semaphore)
{
    VkResult result = vkCreateSemaphore(device, info, callbacks, semaphore);
    if (result != VK_SUCCESS) {
        *semaphore = (VkSemaphore)RUBBISH;
    }
    return result;
}

static PFN_vkVoidFunction VKAPI_PTR rubbish_device_proc_addr(VkDevice device, const char* name)
{
    static const struct {
        const char* name;
        PFN_vkVoidFunction function;
    } rows[] = {
        {"vkAllocateMemory", (PFN_vkVoidFunction)rubbish_allocate_memory},
        {"vkMapMemory", (PFN_vkVoidFunction)rubbish_map_memory},
        {"vkCreateBuffer", (PFN_vkVoidFunction)rubbish_create_buffer},
        {"vkCreateImage", (PFN_vkVoidFunction)rubbish_create_image},
        {"vkCreateImageView", (PFN_vkVoidFunction)rubbish_create_image_view},
        {"vkGetSemaphoreCounterValue", (PFN_vkVoidFunction)rubbish_counter_value},
        {"vkGetMemoryFdKHR", (PFN_vkVoidFunction)rubbish_memory_fd},
        {"vkGetSemaphoreFdKHR", (PFN_vkVoidFunction)rubbish_semaphore_fd},
        {"vkGetMemoryFdPropertiesKHR", (PFN_vkVoidFunction)rubbish_fd_properties},
        {"vkCreateSemaphore", (PFN_vkVoidFunction)rubbish_create_semaphore},
    };
    PFN_vkVoidFunction real = vkGetDeviceProcAddr(device, name);
    for (size_t i = 0; real != NULL && i < sizeof rows / sizeof rows[0]; ++i) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].function;
        }
    }
    return real;
}

void fault_use_rubbish(MaarAllocatorCreateInfo* info)
{
    info->pfnGetDeviceProcAddr = rubbish_device_proc_addr;
}
