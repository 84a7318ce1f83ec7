/*
 * Finds a block by its id: see block_ids.h.
 */
#include "core/memory/block_ids.h"

#include "core/memory/allocator_state.h"
#include "core/memory/pool_list.h"

enum { FIRST_HEAD_COUNT = 64 };

static struct maar_block** chain_of(const struct maar_block_ids* ids, uint64_t id)
{
    return &ids->heads[id & (ids->head_count - 1)];
}

/* Returns the block with this id, or NULL. Called under the lock. */
static struct maar_block* search_chain(const struct maar_block_ids* ids, uint64_t id)
{
    struct maar_block* block = ids->head_count != 0 ? *chain_of(ids, id) : NULL;
    while (block != NULL && block->id != id) {
        block = block->next_of_id;
    }
    return block;
}

bool maar_block_ids_init(struct maar_block_ids* ids, bool synchronized)
{
    *ids = (struct maar_block_ids){0};
    return maar_mutex_init(&ids->lock, MAAR_LOCK_BLOCK_IDS, synchronized);
}

void maar_block_ids_destroy(struct maar_block_ids* ids, const VkAllocationCallbacks* callbacks)
{
    MAAR_DEBUG_ASSERT(ids->count == 0);
    maar_host_free(callbacks, ids->heads);
    maar_mutex_destroy(&ids->lock);
}

static void add_to_chain(struct maar_block_ids* ids, struct maar_block* block)
{
    struct maar_block** chain = chain_of(ids, block->id);
    block->next_of_id = *chain;
    *chain = block;
}

/* Moves all blocks to the chains of a larger table. Returns the old chains. Called under the
 * lock. */
static struct maar_block** move_to(struct maar_block_ids* ids, struct maar_block** heads,
                                   size_t head_count)
{
    struct maar_block** old_heads = ids->heads;
    const size_t old_count = ids->head_count;
    ids->heads = heads;
    ids->head_count = head_count;
    for (size_t i = 0; i < old_count; ++i) {
        struct maar_block* block = old_heads[i];
        while (block != NULL) {
            struct maar_block* next = block->next_of_id;
            add_to_chain(ids, block);
            block = next;
        }
    }
    return old_heads;
}

bool maar_block_ids_grow(struct maar_block_ids* ids, const VkAllocationCallbacks* callbacks)
{
    maar_mutex_lock(&ids->lock);
    const size_t present = ids->head_count;
    const bool full = ids->count >= present;
    maar_mutex_unlock(&ids->lock);
    if (!full) {
        return true;
    }
    const size_t wanted = present != 0 ? 2 * present : FIRST_HEAD_COUNT;
    struct maar_block** unwanted = maar_host_calloc(callbacks, wanted, sizeof *unwanted);
    if (unwanted == NULL) {
        return present != 0;
    }
    maar_mutex_lock(&ids->lock);
    /* Another thread may have made more chains meanwhile. */
    if (ids->head_count < wanted) {
        unwanted = move_to(ids, unwanted, wanted);
    }
    maar_mutex_unlock(&ids->lock);
    maar_host_free(callbacks, unwanted);
    return true;
}

void maar_block_ids_add(struct maar_block_ids* ids, struct maar_block* block)
{
    maar_mutex_lock(&ids->lock);
    add_to_chain(ids, block);
    ++ids->count;
    maar_mutex_unlock(&ids->lock);
}

void maar_block_ids_remove(struct maar_block_ids* ids, struct maar_block* block)
{
    maar_mutex_lock(&ids->lock);
    struct maar_block** link = chain_of(ids, block->id);
    while (*link != block) {
        link = &(*link)->next_of_id;
    }
    *link = block->next_of_id;
    --ids->count;
    maar_mutex_unlock(&ids->lock);
}

struct maar_block* maar_block_ids_find(struct maar_block_ids* ids, uint64_t id,
                                       const struct maar_arena* arena)
{
    maar_assert_held(&arena->lock);
    maar_mutex_lock(&ids->lock);
    struct maar_block* block = search_chain(ids, id);
    const bool own = block != NULL && maar_atomic_pointer_load(&block->arena) == arena;
    maar_mutex_unlock(&ids->lock);
    return own ? block : NULL;
}

struct maar_arena* maar_block_ids_find_arena(struct maar_block_ids* ids, uint64_t id)
{
    maar_mutex_lock(&ids->lock);
    const struct maar_block* block = search_chain(ids, id);
    struct maar_arena* arena = block != NULL ? maar_atomic_pointer_load(&block->arena) : NULL;
    maar_mutex_unlock(&ids->lock);
    return arena;
}

struct maar_arena* maar_block_ids_hold_arena(MaarAllocator allocator, uint64_t id)
{
    struct maar_block_ids* ids = &allocator->block_ids;
    struct maar_arena* arena = NULL;
    /* A pool leaves the list under the list lock, when its blocks have left the table. */
    maar_mutex_lock(&allocator->list_lock);
    maar_mutex_lock(&ids->lock);
    const struct maar_block* block = search_chain(ids, id);
    if (block != NULL) {
        arena = maar_atomic_pointer_load(&block->arena);
        ++block->pool->walker_count;
    }
    maar_mutex_unlock(&ids->lock);
    maar_mutex_unlock(&allocator->list_lock);
    return arena;
}
