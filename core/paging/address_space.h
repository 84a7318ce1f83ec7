/*
 * The address space that all sparse objects of a device share (sparseAddressSpaceSize).
 */
#ifndef MAAR_CORE_PAGING_ADDRESS_SPACE_H
#define MAAR_CORE_PAGING_ADDRESS_SPACE_H

#include "maar/allocator.h"

/* Takes address space, or reports what is in the way: VK_ERROR_OUT_OF_DEVICE_MEMORY. fallback:
 * NULL, or the end of the sentence, which says what the caller does without the space; then the
 * report is a warning. Paging is open. */
VkResult maar_paging_take_space(MaarAllocator allocator, const char* call, VkDeviceSize size,
                                const char* fallback);
void maar_paging_return_space(MaarAllocator allocator, VkDeviceSize size);

#endif
