/*
 * Queries what a device can share, with typical resources.
 */
#include "tool_sharing.h"

#include <stdbool.h>
#include <stdio.h>

static json_t* uuid_text(const uint8_t* uuid)
{
    char text[2 * VK_UUID_SIZE + 1];
    for (size_t i = 0; i < VK_UUID_SIZE; ++i) {
        snprintf(text + 2 * i, 3, "%02x", uuid[i]);
    }
    return json_string(text);
}

/* Writes the parts of "export, import, dedicated only" that apply; "no" if none does. */
static json_t* ways(bool exportable, bool importable, bool dedicated)
{
    char text[64];
    snprintf(text, sizeof(text), "%s%s%s%s", exportable ? "export" : "",
             exportable && importable ? ", " : "", importable ? "import" : "",
             dedicated ? ", dedicated only" : "");
    return json_string(exportable || importable ? text : "no");
}

static json_t* ask_support(MaarAllocator allocator, bool image,
                           VkExternalMemoryHandleTypeFlagBits type)
{
    const VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 65536,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    const VkImageCreateInfo image_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {1920, 1080, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
    const MaarSharingQuery query = {
        .sType = MAAR_STRUCTURE_TYPE_SHARING_QUERY,
        .pBufferInfo = image ? NULL : &buffer_info,
        .pImageInfo = image ? &image_info : NULL,
        .handleType = type,
    };
    MaarSharingSupport support = {.sType = MAAR_STRUCTURE_TYPE_SHARING_SUPPORT};
    if (maarGetSharingSupport(allocator, &query, &support) != VK_SUCCESS) {
        return json_string("no");
    }
    return ways(support.exportable == VK_TRUE, support.importable == VK_TRUE,
                support.dedicatedOnly == VK_TRUE);
}

json_t* tool_list_sharing(MaarAllocator allocator)
{
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    if (maarGetSharingInfo(allocator, &info) != VK_SUCCESS) {
        return json_null();
    }
#if defined(_WIN32)
    const VkExternalMemoryHandleTypeFlagBits opaque =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT;
    const VkExternalSemaphoreHandleTypeFlags semaphore =
        VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT;
#else
    const VkExternalMemoryHandleTypeFlagBits opaque = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    const VkExternalSemaphoreHandleTypeFlags semaphore =
        VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
#endif
    const VkExternalMemoryHandleTypeFlagBits dma_buf =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    json_t* const object = json_object();
    json_object_set_new(object, "device_uuid", uuid_text(info.deviceUUID));
    json_object_set_new(object, "driver_uuid", uuid_text(info.driverUUID));
    json_object_set_new(object, "shared_buffers", ask_support(allocator, false, opaque));
    json_object_set_new(object, "shared_images", ask_support(allocator, true, opaque));
    json_object_set_new(object, "dma_buf_buffers", ask_support(allocator, false, dma_buf));
    json_object_set_new(object, "dma_buf_images", ask_support(allocator, true, dma_buf));
    json_object_set_new(object, "shared_timelines",
                        ways((info.exportableTimelineTypes & semaphore) != 0,
                             (info.importableTimelineTypes & semaphore) != 0, false));
    json_object_set_new(object, "shared_binary_semaphores",
                        ways((info.exportableBinaryTypes & semaphore) != 0,
                             (info.importableBinaryTypes & semaphore) != 0, false));
    json_object_set_new(object, "host_pointers", json_boolean(info.hostPointers == VK_TRUE));
    json_object_set_new(object, "minImportedHostPointerAlignment",
                        json_integer((json_int_t)info.minImportedHostPointerAlignment));
    return object;
}
