/*
 * What can be wrong with the arguments of an allocation.
 */
#ifndef MAAR_CORE_MEMORY_ALLOCATION_CHECK_H
#define MAAR_CORE_MEMORY_ALLOCATION_CHECK_H

#include <stdbool.h>

#include "maar/allocator.h"

/* How to allocate when the caller does not say: a NULL create info stands for it. */
extern const MaarAllocationCreateInfo maar_default_create_info;

/* Checks what a create info says, whatever it is for; reports what is wrong with it. argument: the
 * caller's name of it. */
VkResult maar_check_create_info(MaarAllocator allocator, const char* call, const char* argument,
                                const MaarAllocationCreateInfo* info);
/* Checks all arguments of an allocation; reports what is wrong with them. internal: the flags for
 * Maar's own allocations are allowed. */
VkResult maar_check_allocation(MaarAllocator allocator, const char* call,
                               const MaarMemoryRequest* request,
                               const MaarAllocationCreateInfo* info, bool internal);

#endif
