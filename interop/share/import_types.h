/*
 * The memory types of an import: what the driver says of a handle, what the object and the caller
 * allow, and which of these leaves nothing. No lock may be held.
 */
#ifndef MAAR_INTEROP_SHARE_IMPORT_TYPES_H
#define MAAR_INTEROP_SHARE_IMPORT_TYPES_H

#include "core/memory/type_choice.h"
#include "maar/share.h"

/* Whether Vulkan has no query for handles of a type. */
static inline bool maar_is_opaque_handle(VkExternalMemoryHandleTypeFlagBits type)
{
    return type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT ||
           type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT;
}

/* Ranks the memory types of an import. object_types: those of the object, or UINT32_MAX. Returns
 * VK_ERROR_FEATURE_NOT_PRESENT, with a report of the argument at fault and of the types that would
 * do, if no type is left; or what the driver says of the handle. The choice must not be moved in
 * memory afterwards. */
VkResult maar_choose_import_types(MaarAllocator allocator, const char* call,
                                  const MaarImportInfo* info, uint32_t object_types,
                                  struct maar_type_choice* choice);

#endif
