/*
 * Checks of the arguments of an allocation. The functions that allocate call them before they do
 * anything else. No lock is needed.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATION_CHECK_H
#define MAAR_CORE_MEMORY_ALLOCATION_CHECK_H

#include <stdbool.h>

#include "maar/allocator.h"

/* The create info that a NULL pointer stands for. */
extern const MaarAllocationCreateInfo maar_default_create_info;

/* Checks a create info without a request, and reports the first mistake. argument: the name that
 * the create info has in the public function, for the message. */
VkResult maar_check_create_info(MaarAllocator allocator, const char* call, const char* argument,
                                const MaarAllocationCreateInfo* info);
/* Checks all arguments of an allocation, and reports the first mistake. internal: the flags for
 * Maar's own allocations are allowed. */
VkResult maar_check_allocation(MaarAllocator allocator, const char* call,
                               const MaarMemoryRequest* request,
                               const MaarAllocationCreateInfo* info, bool internal);

#endif
