/*
 * Host memory through the caller's callbacks, or the C library's when there are none.
 */
#include "core/host_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/lock_rank.h"

enum { HOST_MEMORY_ALIGNMENT = 16 };

void* maar_host_alloc(const VkAllocationCallbacks* callbacks, size_t size)
{
    maar_lock_rank_expect_none();
    if (callbacks != NULL && callbacks->pfnAllocation != NULL) {
        return callbacks->pfnAllocation(callbacks->pUserData, size, HOST_MEMORY_ALIGNMENT,
                                        VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
    }
    return malloc(size);
}

void* maar_host_calloc(const VkAllocationCallbacks* callbacks, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    maar_lock_rank_expect_none();
    if (callbacks == NULL || callbacks->pfnAllocation == NULL) {
        return calloc(count, size);
    }
    void* memory = maar_host_alloc(callbacks, count * size);
    if (memory != NULL) {
        memset(memory, 0, count * size);
    }
    return memory;
}

void maar_host_free(const VkAllocationCallbacks* callbacks, void* memory)
{
    if (memory == NULL) {
        return;
    }
    maar_lock_rank_expect_none();
    if (callbacks != NULL && callbacks->pfnFree != NULL) {
        callbacks->pfnFree(callbacks->pUserData, memory);
        return;
    }
    free(memory);
}

void* maar_host_grow(const VkAllocationCallbacks* callbacks, void* array, uint32_t* capacity,
                     uint32_t needed, size_t size)
{
    if (needed <= *capacity) {
        return array;
    }
    const uint32_t wanted = needed / 2 > *capacity ? needed : 2 * *capacity;
    const uint32_t count = wanted < needed ? needed : wanted;
    void* made = maar_host_calloc(callbacks, count, size);
    if (made == NULL) {
        return NULL;
    }
    if (array != NULL) {
        memcpy(made, array, *capacity * size);
    }
    maar_host_free(callbacks, array);
    *capacity = count;
    return made;
}

char* maar_copy_string(const VkAllocationCallbacks* callbacks, const char* text)
{
    size_t size = strlen(text) + 1;
    char* copy = maar_host_alloc(callbacks, size);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}
