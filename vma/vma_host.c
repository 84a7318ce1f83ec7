/*
 * Host memory of the layer: from the program's callbacks, or from the C library's heap.
 */
#include "vma/vma_layer.h"

#include <stdlib.h>

enum { HOST_ALIGNMENT = 16 };

void* maar_vma_host_allocate(const VkAllocationCallbacks* callbacks, size_t size)
{
    if (callbacks == NULL) {
        return calloc(1, size);
    }
    void* memory = callbacks->pfnAllocation(callbacks->pUserData, size, HOST_ALIGNMENT,
                                            VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

void maar_vma_host_free(const VkAllocationCallbacks* callbacks, void* memory)
{
    if (callbacks == NULL) {
        free(memory);
    } else if (memory != NULL) {
        callbacks->pfnFree(callbacks->pUserData, memory);
    }
}

char* maar_vma_host_copy(const VkAllocationCallbacks* callbacks, const char* text)
{
    const size_t size = strlen(text) + 1;
    char* copy = maar_vma_host_allocate(callbacks, size);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}
