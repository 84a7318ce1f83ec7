/*
 * Memory that was made elsewhere and is imported. The interop rooms call this file. No lock may be
 * held.
 */
#ifndef MAAR_CORE_MEMORY_FOREIGN_MEMORY_H
#define MAAR_CORE_MEMORY_FOREIGN_MEMORY_H

#include <stdint.h>

#include "maar/allocator.h"

/* The arguments of an import for vkAllocateMemory. */
struct maar_foreign_memory {
    const void* next; /* VkImportMemory...Info */
    VkExternalMemoryHandleTypeFlags types;
    VkDeviceSize size;
    uint32_t type_index;
    MaarResourceKind kind;
    VkBuffer dedicated_buffer; /* at most one of buffer and image */
    VkImage dedicated_image;
    void* user_data;
    const char* name; /* may be NULL */
};

/* Imports memory by one vkAllocateMemory, whose result it returns, as a dedicated allocation in a
 * default pool of its type. The allocation is counted and listed like any other. A failure is
 * counted too. */
VkResult maar_allocate_foreign(MaarAllocator allocator, const struct maar_foreign_memory* memory,
                               MaarAllocation* allocation);

#endif
