/*
 * Batches: turns the recorded changes of tables into the elements of one vkQueueBindSparse, as few
 * as possible.
 *
 * While a submission is under way, owners may change the same entries again. So the batch marks the
 * entries that it names. When the submission was made or has failed, each marked entry is resolved
 * from the batch and from the changes recorded since.
 */
#include "core/paging/bind_batch.h"

#include "core/memory/block.h"
#include "core/paging/page_entry.h"
#include "core/paging/page_move.h"

#include <string.h>

static bool grow_array(const VkAllocationCallbacks* callbacks, void** array, uint32_t count,
                       size_t size)
{
    /* The old elements are not kept, since the array is about to be filled again. */
    void* made = maar_host_calloc(callbacks, count, size);
    if (made == NULL) {
        return false;
    }
    maar_host_free(callbacks, *array);
    *array = made;
    return true;
}

void maar_bind_batch_free(struct maar_paging* paging)
{
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    struct maar_bind_batch* batch = &paging->batch;
    maar_host_free(callbacks, batch->binds);
    maar_host_free(callbacks, batch->tile_binds);
    maar_host_free(callbacks, batch->spans);
    maar_host_free(callbacks, batch->buffers);
    maar_host_free(callbacks, batch->opaques);
    maar_host_free(callbacks, batch->images);
    maar_host_free(callbacks, batch->tables);
    memset(batch, 0, sizeof *batch);
}

/* Makes room for half as much again as was counted. */
static VkResult reserve_batch(struct maar_paging* paging)
{
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    struct maar_bind_batch* batch = &paging->batch;
    bool good = true;
    if (batch->bind_count > batch->capacity) {
        const uint32_t count = batch->bind_count + batch->bind_count / 2 + 64;
        batch->capacity = 0;
        good =
            grow_array(callbacks, (void**)&batch->binds, count, sizeof batch->binds[0]) &&
            grow_array(callbacks, (void**)&batch->tile_binds, count, sizeof batch->tile_binds[0]) &&
            grow_array(callbacks, (void**)&batch->spans, count, sizeof batch->spans[0]);
        batch->capacity = good ? count : 0;
    }
    if (good && batch->table_count > batch->table_capacity) {
        const uint32_t count = batch->table_count + batch->table_count / 2 + 16;
        batch->table_capacity = 0;
        good = grow_array(callbacks, (void**)&batch->buffers, count, sizeof batch->buffers[0]) &&
               grow_array(callbacks, (void**)&batch->opaques, count, sizeof batch->opaques[0]) &&
               grow_array(callbacks, (void**)&batch->images, count, sizeof batch->images[0]) &&
               grow_array(callbacks, (void**)&batch->tables, count, sizeof(void*));
        batch->table_capacity = good ? count : 0;
    }
    return good ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* Which changed pages a walk finds. */
enum run_choice {
    RUN_ALL,
    RUN_UNBOUND, /* those that are unbound */
    RUN_REBOUND  /* those that get another page, and have a page on the device */
};

/* A walk over runs of changed pages. One element of a submission stands for each run. */
struct run_walk {
    struct maar_page_table* table;
    struct maar_page_leaf* leaf; /* where the next page is */
    uint32_t at;
    uint64_t first;
    uint64_t count;
    uint64_t entry; /* the entry of the first page */
    bool unbinds;
    enum run_choice choice;
};

static bool entry_unbinds(uint64_t entry)
{
    return !maar_entry_has_page(entry) || (entry & MAAR_ENTRY_HELD) != 0;
}

/* Returns whether the page after a run belongs to the run: it follows in memory too, or both are
 * unbound. A run of tiles stays in its row, since only tiles of one row are one element. */
static bool continues(const struct run_walk* walk, uint64_t page, uint64_t entry)
{
    if (walk->count == 0 || page != walk->first + walk->count ||
        entry_unbinds(entry) != walk->unbinds) {
        return false;
    }
    if (walk->table->target == MAAR_PAGES_TILES && page % walk->table->tiles.width == 0) {
        return false;
    }
    return walk->unbinds ||
           (entry & MAAR_ENTRY_PAGE) == (walk->entry & MAAR_ENTRY_PAGE) + walk->count;
}

static bool is_chosen(enum run_choice choice, uint64_t entry)
{
    switch (choice) {
    case RUN_UNBOUND:
        return entry_unbinds(entry);
    case RUN_REBOUND:
        return !entry_unbinds(entry) && (entry & MAAR_ENTRY_BOUND) != 0;
    default:
        return true;
    }
}

/* Finds the next run in a table's dirty leaves, which are sorted. Returns false at the end. */
static bool next_run(struct run_walk* walk)
{
    walk->count = 0;
    while (walk->leaf != NULL) {
        for (; walk->at < maar_leaf_size(walk->table, walk->leaf->number); ++walk->at) {
            const uint64_t entry = walk->leaf->entries[walk->at];
            const uint64_t page = (uint64_t)walk->leaf->number * MAAR_LEAF_PAGES + walk->at;
            if ((entry & MAAR_ENTRY_DIRTY) == 0 || !is_chosen(walk->choice, entry)) {
                if (walk->count > 0) {
                    return true;
                }
                continue;
            }
            if (walk->count > 0 && !continues(walk, page, entry)) {
                return true;
            }
            if (walk->count == 0) {
                walk->first = page;
                walk->entry = entry;
                walk->unbinds = entry_unbinds(entry);
            }
            ++walk->count;
        }
        walk->leaf = walk->leaf->next_dirty;
        walk->at = 0;
    }
    return walk->count > 0;
}

static struct run_walk begin_walk(struct maar_page_table* table, enum run_choice choice)
{
    return (struct run_walk){.table = table, .leaf = table->first_dirty, .choice = choice};
}

static uint32_t count_runs(struct maar_page_table* table, enum run_choice choice)
{
    struct run_walk walk = begin_walk(table, choice);
    uint32_t count = 0;
    while (next_run(&walk)) {
        ++count;
    }
    return count;
}

/* Whether a table has a changed entry with these flags. */
static bool has_change(const struct maar_page_table* table, uint64_t flags)
{
    const uint64_t all = MAAR_ENTRY_DIRTY | flags;
    for (const struct maar_page_leaf* leaf = table->first_dirty; leaf != NULL;
         leaf = leaf->next_dirty) {
        for (uint32_t i = 0; i < maar_leaf_size(table, leaf->number); ++i) {
            if ((leaf->entries[i] & all) == all) {
                return true;
            }
        }
    }
    return false;
}

/* Counts the elements that the recorded changes need. */
static void count_recorded(struct maar_paging* paging)
{
    struct maar_bind_batch* batch = &paging->batch;
    maar_assert_held(&paging->lock);
    batch->bind_count = 0;
    batch->table_count = 0;
    batch->unsettled = paging->unsettled;
    batch->moves = false;
    for (struct maar_page_table* table = paging->first_dirty; table != NULL;
         table = table->next_dirty) {
        maar_page_table_sort(table);
        /* A page was moved, or it was dropped after it had been, and any change may have it now. */
        batch->moves =
            batch->moves || has_change(table, batch->unsettled != 0 ? 0 : MAAR_ENTRY_MOVED);
    }
    for (struct maar_page_table* table = paging->first_dirty; table != NULL;
         table = table->next_dirty) {
        batch->bind_count += count_runs(table, RUN_ALL);
        batch->bind_count += batch->moves ? count_runs(table, RUN_REBOUND) : 0;
        batch->table_count += batch->moves ? 2 : 1;
    }
}

static void write_plain_bind(const struct run_walk* walk, VkSparseMemoryBind* bind)
{
    const struct maar_page_table* table = walk->table;
    const VkDeviceSize offset = walk->first * table->page_size;
    VkDeviceSize size = walk->count * table->page_size;
    size = size < table->size - offset ? size : table->size - offset;
    *bind = (VkSparseMemoryBind){
        .resourceOffset = table->resource_offset + offset,
        .size = size,
        .flags = table->bind_flags,
    };
    if (!walk->unbinds) {
        bind->memory = maar_entry_block(table, walk->entry)->block->memory;
        bind->memoryOffset = maar_entry_page(walk->entry) * table->page_size;
    }
}

static uint32_t clip_tiles(uint64_t first, uint64_t count, uint32_t tile, uint32_t extent)
{
    const uint64_t begin = first * tile;
    const uint64_t end = (first + count) * tile;
    return (uint32_t)((end < extent ? end : extent) - begin);
}

static void write_tile_bind(const struct run_walk* walk, VkSparseImageMemoryBind* bind)
{
    const struct maar_page_table* table = walk->table;
    const uint64_t x = walk->first % table->tiles.width;
    const uint64_t y = walk->first / table->tiles.width % table->tiles.height;
    const uint64_t z = walk->first / table->tiles.width / table->tiles.height;
    *bind = (VkSparseImageMemoryBind){
        .subresource = table->subresource,
        .offset = {.x = (int32_t)(x * table->tile.width),
                   .y = (int32_t)(y * table->tile.height),
                   .z = (int32_t)(z * table->tile.depth)},
        .extent = {.width = clip_tiles(x, walk->count, table->tile.width, table->extent.width),
                   .height = clip_tiles(y, 1, table->tile.height, table->extent.height),
                   .depth = clip_tiles(z, 1, table->tile.depth, table->extent.depth)},
    };
    if (!walk->unbinds) {
        bind->memory = maar_entry_block(table, walk->entry)->block->memory;
        bind->memoryOffset = maar_entry_page(walk->entry) * table->page_size;
    }
}

/* Marks the pages of a run as under way, and their blocks as named by this submission. Under the
 * lock. */
static void take_run(struct maar_paging* paging, const struct run_walk* walk)
{
    struct maar_bind_batch* batch = &paging->batch;
    for (uint64_t i = 0; i < walk->count; ++i) {
        uint64_t* entry = maar_page_entry(walk->table, walk->first + i);
        *entry = (*entry & ~MAAR_ENTRY_DIRTY) | MAAR_ENTRY_INFLIGHT;
        struct maar_page_block* block = maar_entry_block(walk->table, *entry);
        if (block != NULL && block->last_value != paging->recorded_value) {
            block->value_before = block->last_value;
            block->last_value = paging->recorded_value;
        }
    }
    paging->recorded_pages -= walk->count;
    batch->spans[batch->taken.spans++] = (struct maar_bind_span){
        .table = walk->table,
        .first = walk->first,
        .count = walk->count,
        .unbinds = walk->unbinds,
    };
    *(walk->unbinds ? &batch->taken.pages_unbound : &batch->taken.pages_bound) += walk->count;
}

static void write_bind(struct maar_bind_batch* batch, const struct run_walk* walk)
{
    if (walk->table->target == MAAR_PAGES_TILES) {
        write_tile_bind(walk, &batch->tile_binds[batch->taken.tiles++]);
    } else {
        write_plain_bind(walk, &batch->binds[batch->taken.plain++]);
    }
}

/* Writes the chosen runs of a table. */
static void take_runs(struct maar_paging* paging, struct maar_page_table* table,
                      enum run_choice choice)
{
    struct run_walk walk = begin_walk(table, choice);
    while (next_run(&walk)) {
        if (choice == RUN_REBOUND) {
            walk.unbinds = true; /* a later element of the submission binds the new page */
            write_bind(&paging->batch, &walk);
        } else {
            write_bind(&paging->batch, &walk);
            take_run(paging, &walk);
        }
    }
}

/* Adds the elements of a table, written since there were `first` binds, to the batch. */
static void add_table(struct maar_paging* paging, struct maar_page_table* table,
                      const struct maar_bind_counts* first)
{
    struct maar_bind_batch* batch = &paging->batch;
    const uint32_t plain = batch->taken.plain - first->plain;
    const uint32_t tiles = batch->taken.tiles - first->tiles;
    if (plain + tiles == 0) {
        return;
    }
    if (!table->submitting) {
        table->submitting = true;
        table->value_before = table->last_value;
        table->last_value = paging->recorded_value;
        batch->tables[batch->table_count++] = table;
    }
    if (table->target == MAAR_PAGES_TILES) {
        batch->images[batch->taken.images++] = (VkSparseImageMemoryBindInfo){
            .image = table->image, .bindCount = tiles, .pBinds = &batch->tile_binds[first->tiles]};
    } else if (table->target == MAAR_PAGES_OPAQUE) {
        batch->opaques[batch->taken.opaques++] = (VkSparseImageOpaqueMemoryBindInfo){
            .image = table->image, .bindCount = plain, .pBinds = &batch->binds[first->plain]};
    } else {
        batch->buffers[batch->taken.buffers++] = (VkSparseBufferMemoryBindInfo){
            .buffer = table->buffer, .bindCount = plain, .pBinds = &batch->binds[first->plain]};
    }
}

/* Moves the unbinding of all tables into the batch, as its first step. A page that is to be bound
 * in another place is unbound first, also where its old place gets another page. */
static void take_first_step(struct maar_paging* paging)
{
    struct maar_bind_batch* batch = &paging->batch;
    maar_assert_held(&paging->lock);
    for (struct maar_page_table* table = paging->first_dirty; table != NULL;
         table = table->next_dirty) {
        const struct maar_bind_counts first = batch->taken;
        take_runs(paging, table, RUN_REBOUND);
        take_runs(paging, table, RUN_UNBOUND);
        add_table(paging, table, &first);
    }
    batch->step = batch->taken;
}

/* Moves what one table has recorded into the batch. */
static void take_table(struct maar_paging* paging, struct maar_page_table* table)
{
    const struct maar_bind_counts first = paging->batch.taken;
    maar_assert_held(&paging->lock);
    take_runs(paging, table, RUN_ALL); /* after a first step, all that is left is bound */
    for (struct maar_page_leaf *leaf = table->first_dirty, *next; leaf != NULL; leaf = next) {
        next = leaf->next_dirty;
        leaf->dirty = false;
        leaf->next_dirty = NULL;
    }
    table->first_dirty = NULL;
    add_table(paging, table, &first);
}

VkResult maar_bind_batch_take(struct maar_paging* paging)
{
    struct maar_bind_batch* batch = &paging->batch;
    MAAR_DEBUG_ASSERT(paging->submitting);
    for (;;) {
        maar_mutex_lock(&paging->lock);
        count_recorded(paging);
        if (batch->bind_count <= batch->capacity && batch->table_count <= batch->table_capacity) {
            break;
        }
        maar_mutex_unlock(&paging->lock);
        VkResult result = reserve_batch(paging);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    batch->table_count = 0;
    batch->taken = (struct maar_bind_counts){.spans = 0};
    batch->step = batch->taken;
    if (batch->moves) {
        ++paging->recorded_value; /* each step has a value of the timeline */
        take_first_step(paging);
    }
    while (paging->first_dirty != NULL) {
        struct maar_page_table* table = paging->first_dirty;
        maar_page_table_unlist(table);
        take_table(paging, table);
    }
    maar_page_moves_take(paging);
    if (batch->taken.spans > 0) {
        ++paging->recorded_value;
    }
    maar_mutex_unlock(&paging->lock);
    /* Debian 12's validation layer (1.3.239) reads as many opaque binds as there are buffers. So
     * the array has empty elements at its end, enough for each step. */
    if (batch->taken.buffers > 0) {
        memset(&batch->opaques[batch->taken.opaques], 0,
               batch->taken.buffers * sizeof batch->opaques[0]);
    }
    return VK_SUCCESS;
}

/* Resolves the state of an entry, once its submission was made or has failed. Called under the
 * lock. */
static void resolve_entry(const struct maar_bind_span* span, uint64_t page, bool succeeded)
{
    struct maar_page_table* table = span->table;
    uint64_t* entry = maar_page_entry(table, page);
    const bool changed_since = (*entry & MAAR_ENTRY_DIRTY) != 0;
    *entry &= ~MAAR_ENTRY_INFLIGHT;
    if (succeeded) {
        *entry &= ~MAAR_ENTRY_BOUND;
        *entry |= span->unbinds ? 0 : MAAR_ENTRY_BOUND;
        *entry &= changed_since ? UINT64_MAX : ~MAAR_ENTRY_MOVED;
        *entry &= ~MAAR_ENTRY_REBOUND;
    }
    const bool held = (*entry & MAAR_ENTRY_HELD) != 0;
    const bool bound = (*entry & MAAR_ENTRY_BOUND) != 0;
    if (held && !bound && (*entry & MAAR_ENTRY_MOVED) == 0) {
        /* The owner gave the page back, and the device does not have it. */
        maar_page_drop(maar_entry_block(table, *entry), maar_entry_page(*entry), 1, false);
        table->paging->recorded_pages -= changed_since ? 1 : 0;
        *entry = 0;
        return;
    }
    if (!succeeded) {
        maar_page_mark_dirty(table, page, entry);
    }
}

/* Takes back the timeline's value of a submission that was not made, so that no thread waits for
 * it. */
static void take_value_back(struct maar_paging* paging)
{
    maar_assert_held(&paging->lock);
    const uint64_t value = --paging->recorded_value;
    paging->recorded_value -= paging->batch.moves ? 1 : 0;
    for (uint32_t i = 0; i < paging->batch.table_count; ++i) {
        struct maar_page_table* table = paging->batch.tables[i];
        table->last_value = table->last_value == value ? table->value_before : table->last_value;
    }
    for (uint32_t i = 0; i < paging->block_end; ++i) {
        struct maar_page_block* block = paging->blocks[i];
        if (block != NULL && block->last_value == value) {
            block->last_value = block->value_before;
        } else if (block != NULL && block->last_value > value) {
            /* A page was dropped meanwhile that the next submission unbinds: see page_table.c. */
            block->last_value = paging->recorded_value;
        }
    }
}

void maar_bind_batch_end(struct maar_paging* paging, bool succeeded)
{
    struct maar_bind_batch* batch = &paging->batch;
    MAAR_DEBUG_ASSERT(paging->submitting);
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < batch->taken.spans; ++i) {
        const struct maar_bind_span* span = &batch->spans[i];
        for (uint64_t page = span->first; page < span->first + span->count; ++page) {
            resolve_entry(span, page, succeeded);
        }
    }
    for (uint32_t i = 0; i < batch->table_count; ++i) {
        batch->tables[i]->submitting = false;
    }
    if (succeeded) {
        paging->pages_bound += batch->taken.pages_bound;
        paging->pages_unbound += batch->taken.pages_unbound;
        paging->bind_count += (uint64_t)batch->taken.plain + batch->taken.tiles;
        ++paging->submission_count;
        paging->unsettled -= batch->unsettled;
    } else {
        take_value_back(paging);
    }
    struct maar_page_moves* ended = maar_page_moves_resolve(paging, succeeded);
    maar_mutex_unlock(&paging->lock);
    maar_condition_wake(&paging->changed);
    maar_page_moves_retire(paging->allocator, ended, maar_atomic64_load(&paging->submitted));
}
