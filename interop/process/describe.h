/*
 * Descriptors as the calls of this folder meet them: with an allocator that is told what is wrong.
 */
#ifndef MAAR_INTEROP_PROCESS_DESCRIBE_H
#define MAAR_INTEROP_PROCESS_DESCRIBE_H

#include "core/memory/memory_internal.h"
#include "maar/process.h"

/* VK_ERROR_VALIDATION_FAILED_EXT, told, for one that the caller gives and that is not sound. */
VkResult maar_descriptor_check(MaarAllocator allocator, const char* call,
                               const MaarDescriptor* descriptor);
/* One that came from somewhere: VK_ERROR_INVALID_EXTERNAL_HANDLE or VK_ERROR_FORMAT_NOT_SUPPORTED,
 * told; only on success is it filled. */
VkResult maar_descriptor_read(MaarAllocator allocator, const char* call, size_t size,
                              const uint8_t* bytes, MaarDescriptor* descriptor);
/* VK_ERROR_INCOMPATIBLE_DRIVER, told with both UUIDs, when only another device could import it. */
VkResult maar_descriptor_require_device(MaarAllocator allocator, const char* call,
                                        const MaarDescriptor* descriptor);

#endif
