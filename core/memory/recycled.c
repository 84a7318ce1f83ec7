/*
 * Headers of blocks and arenas: see recycled.h.
 *
 * A thread that reads a header late uses only its lock, its list of far frees (far_list.h) and, of
 * a block, its arena and its number. These stay valid from one use of the header to the next. All
 * other members are set to zero before each use.
 */
#include "core/memory/recycled.h"

#include <string.h>

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"

static struct maar_block* new_block(MaarAllocator allocator)
{
    void* memory = maar_host_calloc(allocator->callbacks, 1,
                                    sizeof(struct maar_block) + MAAR_BLOCK_ALIGNMENT - 1);
    if (memory == NULL) {
        return NULL;
    }
    struct maar_block* block =
        (void*)(((uintptr_t)memory + MAAR_BLOCK_ALIGNMENT - 1) & ~(MAAR_BLOCK_ALIGNMENT - 1));
    block->header_memory = memory;
    if (!maar_mutex_init(&block->map_lock, MAAR_LOCK_MAP, maar_is_synchronized(allocator))) {
        goto free_memory;
    }
    if (!maar_block_numbers_add(allocator, block)) {
        goto destroy_lock;
    }
    return block;

destroy_lock:
    maar_mutex_destroy(&block->map_lock);
free_memory:
    maar_host_free(allocator->callbacks, memory);
    return NULL;
}

struct maar_block* maar_block_header_take(struct maar_arena* arena)
{
    MaarAllocator allocator = arena->pool->allocator;
    maar_mutex_lock(&allocator->list_lock);
    struct maar_block* block = allocator->spare_blocks;
    if (block != NULL) {
        allocator->spare_blocks = block->next;
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (block == NULL) {
        block = new_block(allocator);
    }
    if (block != NULL) {
        block->next = NULL;
        block->pool = arena->pool;
        block->dedicated_slot = MAAR_SLOT_NONE;
        maar_atomic_pointer_store(&block->arena, arena);
    }
    return block;
}

void maar_block_header_keep(struct maar_block* block)
{
    enum { FIRST = offsetof(struct maar_block, at), LAST = offsetof(struct maar_block, map_lock) };
    MaarAllocator allocator = block->pool->allocator;
    maar_atomic32_store_ordered(&block->listing, 0);
    memset((char*)block + FIRST, 0, LAST - FIRST);
    block->placement = NULL;
    maar_mutex_lock(&allocator->list_lock);
    block->next = allocator->spare_blocks;
    allocator->spare_blocks = block;
    maar_mutex_unlock(&allocator->list_lock);
}

static struct maar_arena* new_arena(MaarAllocator allocator)
{
    struct maar_arena* arena = maar_host_calloc(allocator->callbacks, 1, sizeof *arena);
    if (arena != NULL &&
        !maar_mutex_init(&arena->lock, MAAR_LOCK_ARENA, maar_is_synchronized(allocator))) {
        maar_host_free(allocator->callbacks, arena);
        arena = NULL;
    }
    return arena;
}

struct maar_arena* maar_arena_take(struct maar_pool* pool, uint32_t number)
{
    MaarAllocator allocator = pool->allocator;
    maar_mutex_lock(&allocator->list_lock);
    struct maar_arena* arena = allocator->spare_arenas;
    if (arena != NULL) {
        allocator->spare_arenas = arena->next_spare;
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (arena == NULL) {
        arena = new_arena(allocator);
    }
    if (arena != NULL) {
        maar_atomic_pointer_store(&arena->far_block, NULL);
        arena->next_spare = NULL;
        arena->pool = pool;
        arena->number = number;
        arena->slots.head = MAAR_SLOT_NONE;
    }
    return arena;
}

void maar_arena_keep(struct maar_arena* arena)
{
    MaarAllocator allocator = arena->pool->allocator;
    const size_t kept = offsetof(struct maar_arena, next_spare);
    memset((char*)arena + kept, 0, sizeof *arena - kept);
    maar_mutex_lock(&allocator->list_lock);
    arena->next_spare = allocator->spare_arenas;
    allocator->spare_arenas = arena;
    maar_mutex_unlock(&allocator->list_lock);
}

void maar_recycled_free(MaarAllocator allocator)
{
    maar_block_numbers_destroy(&allocator->block_numbers, allocator->callbacks);
    while (allocator->spare_blocks != NULL) {
        struct maar_block* block = allocator->spare_blocks;
        allocator->spare_blocks = block->next;
        maar_mutex_destroy(&block->map_lock);
        maar_host_free(allocator->callbacks, block->header_memory);
    }
    while (allocator->spare_arenas != NULL) {
        struct maar_arena* arena = allocator->spare_arenas;
        allocator->spare_arenas = arena->next_spare;
        maar_mutex_destroy(&arena->lock);
        maar_host_free(allocator->callbacks, arena);
    }
}
