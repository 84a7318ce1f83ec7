/*
 * Memory that was made elsewhere.
 */
#ifndef MAAR_CORE_MEMORY_FOREIGN_MEMORY_H
#define MAAR_CORE_MEMORY_FOREIGN_MEMORY_H

#include <stdint.h>

#include "maar/allocator.h"

/* What an import gives to vkAllocateMemory. */
struct maar_foreign_memory {
    const void* next; /* VkImportMemory...Info */
    VkExternalMemoryHandleTypeFlags types;
    VkDeviceSize size;
    uint32_t type_index;
    MaarResourceKind kind;
    VkBuffer dedicated_buffer; /* at most one of these two */
    VkImage dedicated_image;
    void* user_data;
    const char* name; /* may be NULL */
};

/* One vkAllocateMemory, whose result it returns, as a dedicated allocation in a default pool of its
 * type. Counted and listed like any other; counted as a failure if it fails. */
VkResult maar_allocate_foreign(MaarAllocator allocator, const struct maar_foreign_memory* memory,
                               MaarAllocation* allocation);

#endif
