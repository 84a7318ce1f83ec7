/*
 * Shares buffers with one exportable VkDeviceMemory for each, without an allocator.
 */
#include "bench/sharing_peer.h"

#include "bench/bench_common.h"

#include <unistd.h>

VkResult sharing_import_raw(const struct sharing_devices* devices, VkDeviceMemory memory,
                            VkDeviceSize size, VkDeviceMemory* imported)
{
    const VkMemoryGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = memory,
        .handleType = SHARING_TYPE,
    };
    VkImportMemoryFdInfoKHR import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
        .handleType = SHARING_TYPE,
    };
    VkResult result = sharing_get_fd(devices->sides[SHARING_EXPORTER].handle, &get, &import.fd);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &import,
        .allocationSize = size,
        .memoryTypeIndex = devices->type_index,
    };
    result = sharing_allocate(devices->sides[SHARING_IMPORTER].handle, &info, NULL, imported);
    if (result != VK_SUCCESS) {
        close(import.fd);
    }
    return result;
}

VkResult sharing_bind_raw(const struct sharing_side* side, VkDeviceSize size, VkDeviceMemory memory,
                          VkDeviceSize offset, VkBuffer* buffer)
{
    const VkBufferCreateInfo info = sharing_buffer_info(size);
    VkResult result = side->table.vkCreateBuffer(side->handle, &info, NULL, buffer);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = side->table.vkBindBufferMemory(side->handle, *buffer, memory, offset);
    if (result != VK_SUCCESS) {
        side->table.vkDestroyBuffer(side->handle, *buffer, NULL);
        *buffer = VK_NULL_HANDLE;
    }
    return result;
}

static void* open_single(const struct sharing_devices* devices)
{
    return (void*)(uintptr_t)devices;
}

static void close_single(void* state)
{
    (void)state;
}

/* Binds an end's buffer to its memory. If `allocated` is an error, destroys the buffer instead and
 * returns false. */
static bool bind_single(const struct sharing_side* side, struct sharing_end* end,
                        VkResult allocated)
{
    if (allocated != VK_SUCCESS) {
        side->table.vkDestroyBuffer(side->handle, end->buffer, NULL);
        *end = (struct sharing_end){.buffer = VK_NULL_HANDLE};
        return false;
    }
    bench_expect(
        side->table.vkBindBufferMemory(side->handle, end->buffer, end->allocation.memory, 0),
        "vkBindBufferMemory");
    return true;
}

static bool create_single(void* state, struct sharing_item* item)
{
    const struct sharing_devices* const devices = state;
    const struct sharing_side* const side = &devices->sides[SHARING_EXPORTER];
    struct sharing_end* const end = &item->ends[SHARING_EXPORTER];
    const VkBufferCreateInfo info = sharing_buffer_info(item->size);
    bench_expect(side->table.vkCreateBuffer(side->handle, &info, NULL, &end->buffer),
                 "vkCreateBuffer");
    VkMemoryRequirements needs;
    side->table.vkGetBufferMemoryRequirements(side->handle, end->buffer, &needs);
    const VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = SHARING_TYPE,
    };
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &export,
        .allocationSize = needs.size,
        .memoryTypeIndex = devices->type_index,
    };
    return bind_single(side, end,
                       sharing_allocate(side->handle, &allocate, NULL, &end->allocation.memory));
}

static bool hand_over_single(void* state, struct sharing_item* item)
{
    const struct sharing_devices* const devices = state;
    const struct sharing_side* const side = &devices->sides[SHARING_IMPORTER];
    struct sharing_end* const end = &item->ends[SHARING_IMPORTER];
    const VkBufferCreateInfo info = sharing_buffer_info(item->size);
    bench_expect(side->table.vkCreateBuffer(side->handle, &info, NULL, &end->buffer),
                 "vkCreateBuffer");
    VkMemoryRequirements needs; /* equal buffers have equal requirements on both sides */
    side->table.vkGetBufferMemoryRequirements(side->handle, end->buffer, &needs);
    return bind_single(side, end,
                       sharing_import_raw(devices, item->ends[SHARING_EXPORTER].allocation.memory,
                                          needs.size, &end->allocation.memory));
}

static void destroy_single(void* state, struct sharing_item* item)
{
    const struct sharing_devices* const devices = state;
    for (int i = 0; i < SHARING_SIDES; ++i) {
        const struct sharing_side* const side = &devices->sides[i];
        side->table.vkDestroyBuffer(side->handle, item->ends[i].buffer, NULL);
        if (item->ends[i].allocation.memory != VK_NULL_HANDLE) {
            sharing_free(side->handle, item->ends[i].allocation.memory, NULL);
        }
    }
}

static void place_single(void* state, const struct sharing_item* item,
                         struct sharing_place places[SHARING_SIDES])
{
    (void)state;
    for (int i = 0; i < SHARING_SIDES; ++i) {
        places[i] = (struct sharing_place){.memory = item->ends[i].allocation.memory};
    }
}

const struct sharing_peer sharing_peer_single = {
    .name = "single",
    .open = open_single,
    .create = create_single,
    .hand_over = hand_over_single,
    .destroy = destroy_single,
    .close = close_single,
    .place = place_single,
};
