/*
 * The new places of a pass of defragmentation. A program binds objects to them, maps them and reads
 * where they are, by a VmaAllocation that lives as long as the pass. A place is the new range of
 * one allocation of a batch: Maar knows it by the two.
 *
 * Any thread may map a place and read it. The name is externally synchronized, as it is in the
 * interface.
 */
#ifndef MAAR_VMA_PLACE_H
#define MAAR_VMA_PLACE_H

#include <stdatomic.h>

#include "vma/vma_layer.h"

struct maar_vma_place {
    MaarMoveBatch batch;
    MaarAllocation source;
    VmaAllocationInfo info; /* without the three members that follow */
    _Atomic(void*) mapped;  /* while map_count is above 0 */
    atomic_uint map_count;
    _Atomic(void*) user_data;
    char* name;
};

void maar_vma_place_info(const struct maar_vma_place* place, VmaAllocationInfo* info);
VkResult maar_vma_place_map(VmaAllocator allocator, struct maar_vma_place* place, void** data);
void maar_vma_place_unmap(VmaAllocator allocator, struct maar_vma_place* place);
VkResult maar_vma_place_sync(VmaAllocator allocator, const struct maar_vma_place* place,
                             VkDeviceSize offset, VkDeviceSize size, bool flushes);
/* Copy bytes between a place and the host, as the functions of the interface do. */
VkResult maar_vma_place_write(VmaAllocator allocator, struct maar_vma_place* place,
                              VkDeviceSize offset, VkDeviceSize size, const void* source);
VkResult maar_vma_place_read(VmaAllocator allocator, struct maar_vma_place* place,
                             VkDeviceSize offset, VkDeviceSize size, void* destination);
void maar_vma_place_name(VmaAllocator allocator, struct maar_vma_place* place, const char* name);

#endif
