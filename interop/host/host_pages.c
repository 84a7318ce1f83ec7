/*
 * The pages of the host's memory: see host_pages.h.
 *
 * An import covers whole multiples of the device's alignment around the caller's bytes, and never
 * reaches beyond the pages of these bytes. If the memory type is not coherent, the caller's bytes
 * must be whole atoms of nonCoherentAtomSize: otherwise a flush or an invalidation would touch the
 * bytes beside them.
 */
#include "interop/host/host_pages.h"

#include "core/memory/foreign_memory.h"
#include "core/port_page.h"

bool maar_host_range_fits(MaarAllocator allocator, const void* memory, VkDeviceSize size)
{
    const uint64_t grain = allocator->device.facts.host_pointer_alignment;
    const uint64_t spare = grain > maar_port_page_size() ? grain : maar_port_page_size();
    const uint64_t room = UINTPTR_MAX - (uintptr_t)memory;
    return size <= room && room - size >= spare;
}

bool maar_host_import_is_enabled(MaarAllocator allocator)
{
    return allocator->device.facts.memory_host &&
           allocator->device.facts.host_pointer_alignment != 0;
}

const char* maar_host_pages_find(MaarAllocator allocator, const void* memory, VkDeviceSize size,
                                 struct maar_host_pages* pages)
{
    const uintptr_t address = (uintptr_t)memory;
    const uintptr_t end = address + (uintptr_t)size;
    const uintptr_t alignment = (uintptr_t)allocator->device.facts.host_pointer_alignment;
    const uintptr_t page = (uintptr_t)maar_port_page_size();
    const uintptr_t begin = address / alignment * alignment;
    const uintptr_t last = (end + (alignment - 1)) / alignment * alignment;
    *pages = (struct maar_host_pages){
        .memory = memory,
        .bytes = size,
        .begin = begin,
        .size = (VkDeviceSize)(last - begin),
        .offset = (VkDeviceSize)(address - begin),
    };
    return begin >= address / page * page && last <= (end + (page - 1)) / page * page
               ? NULL
               : "whole multiples of minImportedHostPointerAlignment around it reach beyond its "
                 "pages";
}

static bool are_whole_atoms(MaarAllocator allocator, const struct maar_host_pages* pages)
{
    const VkDeviceSize atom = allocator->device.facts.atom;
    return (uintptr_t)pages->memory % atom == 0 && pages->bytes % atom == 0;
}

/* Takes the types that are not coherent out of a set. */
static uint32_t coherent_types(MaarAllocator allocator, uint32_t bits)
{
    for (uint32_t type = 0; type < VK_MAX_MEMORY_TYPES && bits >> type != 0; ++type) {
        if ((bits >> type & 1) != 0 && maar_type_is_noncoherent(allocator, type)) {
            bits &= ~(1u << type);
        }
    }
    return bits;
}

const char* maar_host_type_choose(MaarAllocator allocator, const struct maar_host_pages* pages,
                                  uint32_t object_types, bool atoms, uint32_t* type,
                                  VkResult* result)
{
    const struct maar_device* device = &allocator->device;
    VkMemoryHostPointerPropertiesEXT properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT,
    };
    maar_lock_rank_expect_none();
    *result = device->vkGetMemoryHostPointerPropertiesEXT(device->handle, MAAR_HOST_ALLOCATION,
                                                          (const void*)pages->begin, &properties);
    if (*result != VK_SUCCESS) {
        return "the driver does not take this memory";
    }
    const uint32_t both = properties.memoryTypeBits & object_types;
    const uint32_t bits =
        atoms && are_whole_atoms(allocator, pages) ? both : coherent_types(allocator, both);
    const MaarAllocationCreateInfo preference = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = MAAR_ALLOCATION_CREATE_AVOIDED_TYPES_BIT,
        .usage = MAAR_MEMORY_USAGE_READBACK,
        .memoryTypeBits = bits,
    };
    struct maar_type_choice choice;
    if (bits != 0 && maar_choose_types(allocator, bits, &preference, &choice)) {
        *type = maar_best_type(&choice);
        return NULL;
    }
    *result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    if (bits != 0) {
        return "no memory type for it is one that the host sees";
    }
    return both != 0 ? "the memory types for it are not coherent, and it is not whole atoms of "
                       "nonCoherentAtomSize bytes"
                     : "no memory type serves both this memory and the object";
}

VkResult maar_host_pages_import(MaarAllocator allocator, const char* call,
                                const struct maar_host_pages* pages, struct maar_object dedicated,
                                uint32_t type, void* user_data, const char* name,
                                MaarAllocation* allocation)
{
    const VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = MAAR_HOST_ALLOCATION,
        .pHostPointer = (void*)pages->begin,
    };
    const struct maar_foreign_memory memory = {
        .call = call,
        .next = &import,
        .types = MAAR_HOST_ALLOCATION,
        .size = pages->size,
        .type_index = type,
        .kind = MAAR_RESOURCE_KIND_LINEAR,
        .dedicated_buffer = dedicated.buffer,
        .dedicated_image = dedicated.image,
        .user_data = user_data,
        .name = name,
    };
    return maar_allocate_foreign(allocator, &memory, allocation);
}

const char* maar_host_import_error(VkResult result)
{
    return result == VK_ERROR_TOO_MANY_OBJECTS
               ? "as many device memory objects exist as the device allows"
               : "the driver refuses to import this memory";
}
