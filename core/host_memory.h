/*
 * Host memory: the one door to it. Everything goes through the VkAllocationCallbacks that the
 * caller gave; without any, through the C library. No lock may be held across these calls, since
 * they may run the caller's code.
 */
#ifndef MAAR_CORE_HOST_MEMORY_H
#define MAAR_CORE_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <vulkan/vulkan_core.h>

/* Whether callbacks, or none, have what is called here: all or nothing. */
static inline bool maar_host_callbacks_serve(const VkAllocationCallbacks* callbacks)
{
    return callbacks == NULL || (callbacks->pfnAllocation != NULL && callbacks->pfnFree != NULL);
}

/* All return memory that is aligned as malloc's is (callbacks are asked for 16 bytes), or NULL.
 * Scope is VK_SYSTEM_ALLOCATION_SCOPE_OBJECT. */
void* maar_host_alloc(const VkAllocationCallbacks* callbacks, size_t size);
/* As above, zeroed; NULL too when count * size overflows. */
void* maar_host_calloc(const VkAllocationCallbacks* callbacks, size_t count, size_t size);
/* memory may be NULL. */
void maar_host_free(const VkAllocationCallbacks* callbacks, void* memory);

/* Returns a copy of a string, or NULL when there is no host memory. */
char* maar_copy_string(const VkAllocationCallbacks* callbacks, const char* text);

#endif
