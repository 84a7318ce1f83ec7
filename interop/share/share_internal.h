/*
 * What the files of interop/share and the rooms beside it ask of one another.
 */
#ifndef MAAR_INTEROP_SHARE_SHARE_INTERNAL_H
#define MAAR_INTEROP_SHARE_SHARE_INTERNAL_H

#include "core/memory/memory_internal.h"
#include "interop/share/external_handle.h"
#include "maar/share.h"

/* What a semaphore of a type can do as a handle of a type; 0 too where the extension or the feature
 * is not enabled. */
VkExternalSemaphoreFeatureFlags
maar_semaphore_sharing(MaarAllocator allocator, VkSemaphoreType type,
                       VkExternalSemaphoreHandleTypeFlagBits handle);

/* Whether the extension for such handles is enabled. */
bool maar_memory_handle_is_enabled(MaarAllocator allocator,
                                   VkExternalMemoryHandleTypeFlagBits type);

/* The public calls of like names once they have been entered, told of under another one: what is
 * filled is not null, and empty. */
VkResult maar_export_memory(MaarAllocator allocator, const char* call, MaarAllocation allocation,
                            VkExternalMemoryHandleTypeFlagBits type, MaarExportedMemory* memory);
VkResult maar_export_semaphore(MaarAllocator allocator, const char* call, VkSemaphore semaphore,
                               VkExternalSemaphoreHandleTypeFlagBits type,
                               MaarExternalHandle* handle);
VkResult maar_import_buffer(MaarAllocator allocator, const char* call,
                            const VkBufferCreateInfo* buffer_info, const MaarImportInfo* info,
                            VkBuffer* buffer, MaarAllocation* allocation);

/*
 * A handle that hangs on a block, for those who export it: made before an import begins, since
 * nothing may fail after it, and then filled with the handle that was imported.
 */
struct maar_kept_handle;
struct maar_kept_handle* maar_kept_handle_make(MaarAllocator allocator);
void maar_kept_handle_discard(MaarAllocator allocator, struct maar_kept_handle* kept);
void maar_kept_handle_hang(struct maar_block* block, struct maar_kept_handle* kept,
                           VkExternalMemoryHandleTypeFlagBits type, maar_port_handle value);

/* What an opaque handle of a type is on this system. */
#if defined(_WIN32)
#define MAAR_OPAQUE_MEMORY VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define MAAR_OPAQUE_SEMAPHORE VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT
#else
#define MAAR_OPAQUE_MEMORY VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define MAAR_OPAQUE_SEMAPHORE VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
#endif

#endif
