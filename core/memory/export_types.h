/*
 * Finds the handle types that memory can be exported as. The functions that allocate, the pools and
 * interop use this file. No lock is needed.
 */
#ifndef MAAR_CORE_MEMORY_EXPORT_TYPES_H
#define MAAR_CORE_MEMORY_EXPORT_TYPES_H

#include "maar/allocator.h"
#include "maar/share.h"

/* Returns the MaarExportInfo in a chain, or NULL. */
const MaarExportInfo* maar_export_find(const void* chain);
/* Returns the handle types that an allocation with this create info can be exported as, or 0. A
 * MaarExportInfo in the create info's chain names them. Without a MaarExportInfo, they are the
 * handle types of the pool. info may be NULL. */
VkExternalMemoryHandleTypeFlags maar_export_types(MaarAllocator allocator,
                                                  const MaarAllocationCreateInfo* info);
/* Returns VK_SUCCESS when the extensions of all these handle types are enabled. Otherwise reports
 * the missing extension and returns an error. */
VkResult maar_shared_types_require(MaarAllocator allocator, const char* call,
                                   VkExternalMemoryHandleTypeFlags types);

#endif
