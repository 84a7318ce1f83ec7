/*
 * What a program does with the new places of a pass: see vma_place.h.
 */
#include "vma/vma_place.h"

void maar_vma_place_info(const struct maar_vma_place* place, VmaAllocationInfo* info)
{
    *info = place->info;
    info->pMappedData = atomic_load(&place->map_count) != 0 ? atomic_load(&place->mapped) : NULL;
    info->pUserData = atomic_load(&place->user_data);
    info->pName = place->name;
}

VkResult maar_vma_place_map(VmaAllocator allocator, struct maar_vma_place* place, void** data)
{
    const VkResult result = maarMapMovedMemory(allocator->maar, place->batch, place->source, data);
    if (result == VK_SUCCESS) {
        atomic_store(&place->mapped, *data);
        (void)atomic_fetch_add(&place->map_count, 1);
    }
    return result;
}

void maar_vma_place_unmap(VmaAllocator allocator, struct maar_vma_place* place)
{
    unsigned count = atomic_load(&place->map_count);
    while (count != 0 && !atomic_compare_exchange_weak(&place->map_count, &count, count - 1)) {
    }
    maarUnmapMovedMemory(allocator->maar, place->batch, place->source);
}

VkResult maar_vma_place_sync(VmaAllocator allocator, const struct maar_vma_place* place,
                             VkDeviceSize offset, VkDeviceSize size, bool flushes)
{
    return flushes
               ? maarFlushMovedMemory(allocator->maar, place->batch, place->source, offset, size)
               : maarInvalidateMovedMemory(allocator->maar, place->batch, place->source, offset,
                                           size);
}

/* Whether a place has these bytes. Reports it if not. */
static bool has_bytes(VmaAllocator allocator, const struct maar_vma_place* place,
                      VkDeviceSize offset, VkDeviceSize size)
{
    const bool has = offset <= place->info.size && size <= place->info.size - offset;
    if (!has) {
        maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_ERROR,
                        MAAR_MESSAGE_ID_OUT_OF_RANGE,
                        "dstTmpAllocation: size %llu at offset %llu exceeds its size of %llu",
                        (unsigned long long)size, (unsigned long long)offset,
                        (unsigned long long)place->info.size);
    }
    return has;
}

VkResult maar_vma_place_write(VmaAllocator allocator, struct maar_vma_place* place,
                              VkDeviceSize offset, VkDeviceSize size, const void* source)
{
    void* data = NULL;
    VkResult result = has_bytes(allocator, place, offset, size)
                          ? maar_vma_place_map(allocator, place, &data)
                          : VK_ERROR_VALIDATION_FAILED_EXT;
    if (result == VK_SUCCESS) {
        memcpy((char*)data + offset, source, (size_t)size);
        result = maar_vma_place_sync(allocator, place, offset, size, true);
        maar_vma_place_unmap(allocator, place);
    }
    return result;
}

VkResult maar_vma_place_read(VmaAllocator allocator, struct maar_vma_place* place,
                             VkDeviceSize offset, VkDeviceSize size, void* destination)
{
    void* data = NULL;
    VkResult result = has_bytes(allocator, place, offset, size)
                          ? maar_vma_place_map(allocator, place, &data)
                          : VK_ERROR_VALIDATION_FAILED_EXT;
    if (result == VK_SUCCESS) {
        result = maar_vma_place_sync(allocator, place, offset, size, false);
        if (result == VK_SUCCESS) {
            memcpy(destination, (const char*)data + offset, (size_t)size);
        }
        maar_vma_place_unmap(allocator, place);
    }
    return result;
}

void maar_vma_place_name(VmaAllocator allocator, struct maar_vma_place* place, const char* name)
{
    char* copy = name != NULL ? maar_vma_host_copy(allocator->callbacks, name) : NULL;
    maar_vma_host_free(allocator->callbacks, place->name);
    place->name = copy;
}
