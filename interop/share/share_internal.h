/*
 * Functions that the files of interop/share offer to each other and to the other rooms of interop.
 */
#ifndef MAAR_INTEROP_SHARE_SHARE_INTERNAL_H
#define MAAR_INTEROP_SHARE_SHARE_INTERNAL_H

#include <stdbool.h>

#include "interop/share/external_handle.h"
#include "maar/share.h"

/* Returns how semaphores of a type can be shared as handles of a type. Returns 0 if the extension
 * or the feature is not enabled. */
VkExternalSemaphoreFeatureFlags
maar_semaphore_sharing(MaarAllocator allocator, VkSemaphoreType type,
                       VkExternalSemaphoreHandleTypeFlagBits handle);

/* What the public calls of similar names do after their entry checks. Reports name `call` as the
 * public call. The output must not be NULL, and must be empty. */
VkResult maar_export_memory(MaarAllocator allocator, const char* call, const struct maar_slot* slot,
                            VkExternalMemoryHandleTypeFlagBits type, MaarExportedMemory* memory);
VkResult maar_create_shared_semaphore(MaarAllocator allocator, const char* call,
                                      const MaarSharedSemaphoreCreateInfo* info,
                                      VkSemaphore* semaphore);
VkResult maar_export_semaphore(MaarAllocator allocator, const char* call, VkSemaphore semaphore,
                               VkExternalSemaphoreHandleTypeFlagBits type,
                               MaarExternalHandle* handle);
VkResult maar_import_buffer(MaarAllocator allocator, const char* call,
                            const VkBufferCreateInfo* buffer_info, const MaarImportInfo* info,
                            VkBuffer* buffer, MaarAllocation* allocation);

/*
 * A handle that becomes an attachment of a block, for later exports. It is made before an import
 * begins, because nothing may fail after the import. After the import, it is filled with the
 * imported handle.
 */
struct maar_kept_handle;
struct maar_kept_handle* maar_kept_handle_make(MaarAllocator allocator);
void maar_kept_handle_discard(MaarAllocator allocator, struct maar_kept_handle* kept);
void maar_kept_handle_hang(struct maar_block* block, struct maar_kept_handle* kept,
                           VkExternalMemoryHandleTypeFlagBits type, maar_port_handle value);

/* The types of opaque handles on this system. */
#if defined(_WIN32)
#define MAAR_OPAQUE_MEMORY VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define MAAR_OPAQUE_SEMAPHORE VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT
#else
#define MAAR_OPAQUE_MEMORY VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define MAAR_OPAQUE_SEMAPHORE VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
#endif

#endif
