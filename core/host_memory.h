/*
 * Host memory. All of it comes from the caller's VkAllocationCallbacks or, without callbacks, from
 * the C library. No lock may be held across these calls, since they may run the caller's code.
 */
#ifndef MAAR_CORE_HOST_MEMORY_H
#define MAAR_CORE_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <vulkan/vulkan_core.h>

/* Returns whether the callbacks have all functions that Maar calls. NULL stands for the C
 * library. */
static inline bool maar_host_callbacks_serve(const VkAllocationCallbacks* callbacks)
{
    return callbacks == NULL || (callbacks->pfnAllocation != NULL && callbacks->pfnFree != NULL);
}

/* Returns memory with malloc's alignment, or NULL. Callbacks get an alignment of 16 bytes and the
 * scope VK_SYSTEM_ALLOCATION_SCOPE_OBJECT. */
void* maar_host_alloc(const VkAllocationCallbacks* callbacks, size_t size);
/* Returns zeroed memory, as maar_host_alloc does. Returns NULL when count * size overflows. */
void* maar_host_calloc(const VkAllocationCallbacks* callbacks, size_t count, size_t size);
/* Frees memory. memory may be NULL. */
void maar_host_free(const VkAllocationCallbacks* callbacks, void* memory);

/* Ensures that an array of *capacity elements has `needed` of them, the new ones zeroed. It grows
 * to twice as many at least. Returns the array, which may be elsewhere now. Returns NULL when there
 * is no host memory; the array is then as before. array is NULL while *capacity is 0. */
void* maar_host_grow(const VkAllocationCallbacks* callbacks, void* array, uint32_t* capacity,
                     uint32_t needed, size_t size);

/* Returns a copy of a string, or NULL when there is no host memory. */
char* maar_copy_string(const VkAllocationCallbacks* callbacks, const char* text);

#endif
