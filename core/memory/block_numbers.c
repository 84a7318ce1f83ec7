/*
 * The numbers of blocks: see block_numbers.h.
 */
#include "core/memory/block_numbers.h"

#include <string.h>

#include "core/host_memory.h"
#include "core/memory/allocator_state.h"
#include "core/memory/block.h"

void maar_block_numbers_init(struct maar_block_numbers* numbers)
{
    numbers->capacity = MAAR_FIRST_BLOCK_NUMBERS;
    numbers->end = 1;
    maar_atomic_pointer_store(&numbers->headers, numbers->first);
}

void maar_block_numbers_destroy(struct maar_block_numbers* numbers,
                                const VkAllocationCallbacks* callbacks)
{
    struct maar_block** headers = maar_atomic_pointer_load(&numbers->headers);
    while (headers != numbers->first) {
        struct maar_block** outgrown = (struct maar_block**)(void*)headers[0];
        maar_host_free(callbacks, headers);
        headers = outgrown;
    }
}

/* Replaces an array of this capacity by one that is twice as large, unless another thread has done
 * so. Leaves the list lock and takes it again. Returns false when there is no host memory. */
static bool grow(MaarAllocator allocator, uint32_t capacity)
{
    struct maar_block_numbers* numbers = &allocator->block_numbers;
    maar_mutex_unlock(&allocator->list_lock);
    struct maar_block** larger =
        capacity <= UINT32_MAX / 2
            ? maar_host_calloc(allocator->callbacks, (size_t)capacity * 2, sizeof(*larger))
            : NULL;
    maar_mutex_lock(&allocator->list_lock);
    if (larger == NULL) {
        return numbers->capacity != capacity;
    }
    if (numbers->capacity == capacity) {
        struct maar_block** headers = maar_atomic_pointer_load(&numbers->headers);
        memcpy(larger, headers, capacity * sizeof(*larger));
        larger[0] = (struct maar_block*)(void*)headers;
        numbers->capacity = capacity * 2;
        maar_atomic_pointer_store(&numbers->headers, larger);
        return true;
    }
    maar_mutex_unlock(&allocator->list_lock);
    maar_host_free(allocator->callbacks, larger);
    maar_mutex_lock(&allocator->list_lock);
    return true;
}

bool maar_block_numbers_add(MaarAllocator allocator, struct maar_block* block)
{
    struct maar_block_numbers* numbers = &allocator->block_numbers;
    bool has_room = true;
    maar_mutex_lock(&allocator->list_lock);
    while (has_room && numbers->end == numbers->capacity) {
        has_room = grow(allocator, numbers->capacity);
    }
    if (has_room) {
        struct maar_block** headers = maar_atomic_pointer_load(&numbers->headers);
        block->number = numbers->end;
        headers[numbers->end] = block;
        ++numbers->end;
    }
    maar_mutex_unlock(&allocator->list_lock);
    return has_room;
}
