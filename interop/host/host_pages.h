/*
 * The pages of the host's memory: which ones an import covers, which memory types serve, and the
 * import itself. Buffers and images on memory of the host are built on it. No lock may be held.
 */
#ifndef MAAR_INTEROP_HOST_HOST_PAGES_H
#define MAAR_INTEROP_HOST_HOST_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/objects/object.h"

#define MAAR_HOST_ALLOCATION VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

/* The caller's bytes, and the pages to import. */
struct maar_host_pages {
    const void* memory;
    VkDeviceSize bytes;
    uintptr_t begin;
    VkDeviceSize size;
    VkDeviceSize offset; /* of the caller's first byte */
};

/* Whether the bytes, and what alignment adds to them, lie within the address space. */
bool maar_host_range_fits(MaarAllocator allocator, const void* memory, VkDeviceSize size);
/* Whether host memory can be imported at all. */
bool maar_host_import_is_enabled(MaarAllocator allocator);
/* Finds the pages of some bytes. Returns a sentence about the reason if whole multiples of the
 * device's alignment reach beyond the pages of these bytes, else NULL. */
const char* maar_host_pages_find(MaarAllocator allocator, const void* memory, VkDeviceSize size,
                                 struct maar_host_pages* pages);
/* Finds the memory type for the pages, among those that the driver and the object allow. Leaves out
 * types that are not coherent, unless `atoms` is set and the bytes are whole atoms. Returns NULL,
 * or a sentence about the reason; then *result is an error. */
const char* maar_host_type_choose(MaarAllocator allocator, const struct maar_host_pages* pages,
                                  uint32_t object_types, bool atoms, uint32_t* type,
                                  VkResult* result);
/* Imports the pages as a new allocation. dedicated: an object, or none. */
VkResult maar_host_pages_import(MaarAllocator allocator, const char* call,
                                const struct maar_host_pages* pages, struct maar_object dedicated,
                                uint32_t type, void* user_data, const char* name,
                                MaarAllocation* allocation);
/* Returns a sentence about an import that the driver refused. */
const char* maar_host_import_error(VkResult result);

#endif
