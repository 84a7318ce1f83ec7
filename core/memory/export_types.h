/*
 * What memory can be exported as.
 */
#ifndef MAAR_CORE_MEMORY_EXPORT_TYPES_H
#define MAAR_CORE_MEMORY_EXPORT_TYPES_H

#include "maar/allocator.h"
#include "maar/share.h"

/* The MaarExportInfo in a chain, or NULL. */
const MaarExportInfo* maar_export_find(const void* chain);
/* The handle types that an allocation made so can be exported as, by its chain or its pool: 0 for
 * none. info may be NULL. */
VkExternalMemoryHandleTypeFlags maar_export_types(MaarAllocator allocator,
                                                  const MaarAllocationCreateInfo* info);
/* VK_SUCCESS when the extensions for all of these are enabled; reports if not. */
VkResult maar_shared_types_require(MaarAllocator allocator, const char* call,
                                   VkExternalMemoryHandleTypeFlags types);

#endif
