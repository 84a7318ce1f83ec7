/*
 * Memory that was made elsewhere and is imported. interop calls this file to import shared handles
 * and the host's own memory. No lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_FOREIGN_MEMORY_H
#define MAAR_CORE_MEMORY_FOREIGN_MEMORY_H

#include <stdint.h>

#include "maar/allocator.h"

/* What vkAllocateMemory and the allocation need to know about memory that is imported. */
struct maar_foreign_memory {
    const char* call; /* the public function */
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

/* Imports memory by one vkAllocateMemory. The result is a dedicated allocation in the default pool
 * of its memory type. It is counted and listed like any other allocation, and a failure is counted
 * too. Returns the error of vkAllocateMemory if that fails. */
VkResult maar_allocate_foreign(MaarAllocator allocator, const struct maar_foreign_memory* memory,
                               MaarAllocation* allocation);

#endif
