/*
 * The index of a queue among MaarAllocatorCreateInfo::pQueues, which a call names. No lock may be
 * held.
 */
#ifndef MAAR_CORE_MEMORY_QUEUE_INDEX_H
#define MAAR_CORE_MEMORY_QUEUE_INDEX_H

#include "core/memory/allocator_state.h"

/* Reports an index of no queue, and returns the error of misuse. The message of an allocator
 * without queues is about the list of queues, for no index would do. */
VkResult maar_refuse_queue_index(MaarAllocator allocator, const char* call, const char* argument,
                                 uint32_t index);
/* Checks an index. Returns VK_SUCCESS, or reports the mistake and returns its error. */
static inline VkResult maar_check_queue_index(MaarAllocator allocator, const char* call,
                                              const char* argument, uint32_t index)
{
    return index < allocator->queue_count
               ? VK_SUCCESS
               : maar_refuse_queue_index(allocator, call, argument, index);
}

#endif
