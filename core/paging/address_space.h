/*
 * The address space that all sparse objects of a device share (sparseAddressSpaceSize). The count
 * is atomic; no lock is needed.
 */
#ifndef MAAR_CORE_PAGING_ADDRESS_SPACE_H
#define MAAR_CORE_PAGING_ADDRESS_SPACE_H

#include "maar/allocator.h"

/* Takes address space. Returns VK_ERROR_OUT_OF_DEVICE_MEMORY, with a report of the reason, if too
 * little is left. fallback: NULL, or the end of the sentence, which says what the caller does
 * without the space. With a fallback the report is a warning. Paging is open. */
VkResult maar_paging_take_space(MaarAllocator allocator, const char* call, VkDeviceSize size,
                                const char* fallback);
/* Gives address space back. */
void maar_paging_return_space(MaarAllocator allocator, VkDeviceSize size);

#endif
