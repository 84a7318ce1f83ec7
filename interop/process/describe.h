/*
 * Checks of descriptors. Their reports go to an allocator.
 */
#ifndef MAAR_INTEROP_PROCESS_DESCRIBE_H
#define MAAR_INTEROP_PROCESS_DESCRIBE_H

#include "maar/process.h"

/* Checks a descriptor that the caller gives. Returns VK_ERROR_VALIDATION_FAILED_EXT, with a report,
 * if the descriptor is not sound. */
VkResult maar_descriptor_check(MaarAllocator allocator, const char* call,
                               const MaarDescriptor* descriptor);
/* Reads a descriptor that came from elsewhere. Fills *descriptor on success only. On failure,
 * returns VK_ERROR_INVALID_EXTERNAL_HANDLE or VK_ERROR_FORMAT_NOT_SUPPORTED, with a report. */
VkResult maar_descriptor_read(MaarAllocator allocator, const char* call, size_t size,
                              const uint8_t* bytes, MaarDescriptor* descriptor);
/* Returns VK_ERROR_INCOMPATIBLE_DRIVER if only another device or driver can import the handle. The
 * report has both UUIDs. */
VkResult maar_descriptor_require_device(MaarAllocator allocator, const char* call,
                                        const MaarDescriptor* descriptor);

#endif
