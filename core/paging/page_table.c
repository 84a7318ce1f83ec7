/*
 * Page tables: what each page of a sparse resource is backed by, and what of that the device has
 * not been told yet.
 *
 * Two levels: leaves of entries, made where pages are first committed and kept as long as the
 * table, so that a range of terabytes costs what is in use of it. An entry holds the owner's wish;
 * flags say what the device has. Leaves with changes are listed, so a submission looks at these
 * alone.
 *
 * A table belongs to one caller at a time; submissions of other threads read and update it
 * meanwhile, so all of it is under the paging lock.
 */
#include "core/paging/page_state.h"

#include <string.h>

static uint32_t divide_up(uint32_t value, uint32_t by)
{
    return value / by + (value % by != 0 ? 1 : 0);
}

static VkResult choose_types(MaarAllocator allocator, const struct maar_page_table_info* info,
                             struct maar_page_table* table)
{
    const struct maar_pool* owner = maar_pool_of(info->memory->pool);
    if (owner != NULL) {
        if (owner->allocator != allocator || !owner->stitches) {
            return maar_misuse(allocator, info->call,
                               "the pool of the memory's create info is none of this allocator's "
                               "that stitches");
        }
        if ((info->type_bits & (1u << owner->type_index)) == 0) {
            return maar_misuse(allocator, info->call,
                               "the pool's memory type is not among the memoryTypeBits of the "
                               "resource");
        }
        table->types[table->type_count++] = (uint8_t)owner->type_index;
        return VK_SUCCESS;
    }
    struct maar_type_choice choice;
    if (!maar_choose_types(allocator, info->type_bits, info->memory, &choice)) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    for (uint32_t i = 0; i < choice.count; ++i) {
        if ((choice.bits & (1u << choice.types[i])) != 0) {
            table->types[table->type_count++] = choice.types[i];
        }
    }
    if ((info->memory->flags & MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT) != 0) {
        table->type_count = 1;
    }
    return table->type_count != 0 ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT;
}

static void shape_table(const struct maar_page_table_info* info, struct maar_page_table* table)
{
    table->may_alias = info->may_alias;
    table->target = (uint8_t)info->target;
    table->kind = (uint8_t)info->kind;
    table->bind_flags = info->bind_flags;
    table->page_size = info->page_size;
    table->resource_offset = info->resource_offset;
    table->size = info->size;
    table->buffer = info->buffer;
    table->image = info->image;
    table->subresource = info->subresource;
    table->tile = info->tile;
    table->extent = info->extent;
    table->memory = *info->memory;
    table->memory.pNext = NULL;
    table->memory.pName = NULL;
    if (info->target == MAAR_PAGES_TILES) {
        table->tiles.width = divide_up(info->extent.width, info->tile.width);
        table->tiles.height = divide_up(info->extent.height, info->tile.height);
        table->tiles.depth = divide_up(info->extent.depth, info->tile.depth);
        table->page_count = (uint64_t)table->tiles.width * table->tiles.height * table->tiles.depth;
    } else {
        table->page_count =
            info->size / info->page_size + (info->size % info->page_size != 0 ? 1 : 0);
    }
}

VkResult maar_page_table_create(MaarAllocator allocator, const struct maar_page_table_info* info,
                                struct maar_page_table** table)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    *table = NULL;
    struct maar_page_table* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->paging = paging;
    shape_table(info, made);
    VkResult result = choose_types(allocator, info, made);
    if (result == VK_SUCCESS) {
        const uint64_t leaves = maar_leaf_count(made);
        made->leaves = leaves <= SIZE_MAX / sizeof made->leaves[0]
                           ? maar_host_calloc(allocator->callbacks, (size_t)leaves,
                                              sizeof(struct maar_page_leaf*))
                           : NULL;
        result = made->leaves != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, made);
        return result;
    }
    maar_mutex_lock(&paging->lock);
    made->next = paging->tables;
    if (paging->tables != NULL) {
        paging->tables->previous = made;
    }
    paging->tables = made;
    maar_mutex_unlock(&paging->lock);
    *table = made;
    return VK_SUCCESS;
}

/* ---- the list of what is to be submitted ---- */

uint64_t* maar_page_entry(const struct maar_page_table* table, uint64_t page)
{
    struct maar_page_leaf* leaf = table->leaves[page / MAAR_LEAF_PAGES];
    return leaf != NULL ? &leaf->entries[page % MAAR_LEAF_PAGES] : NULL;
}

void maar_page_mark_dirty(struct maar_page_table* table, uint64_t page, uint64_t* entry)
{
    struct maar_paging* paging = table->paging;
    struct maar_page_leaf* leaf = table->leaves[page / MAAR_LEAF_PAGES];
    if ((*entry & MAAR_ENTRY_DIRTY) == 0) {
        *entry |= MAAR_ENTRY_DIRTY;
        ++paging->recorded_pages;
    }
    if (!leaf->dirty) {
        leaf->dirty = true;
        leaf->next_dirty = table->first_dirty;
        table->first_dirty = leaf;
    }
    if (!table->dirty && !table->sealed) {
        table->dirty = true;
        table->previous_dirty = paging->last_dirty;
        table->next_dirty = NULL;
        if (paging->last_dirty != NULL) {
            paging->last_dirty->next_dirty = table;
        } else {
            paging->first_dirty = table;
        }
        paging->last_dirty = table;
    }
}

/* The leaf stays listed: a submission passes over what is clean. */
static void mark_clean(struct maar_page_table* table, uint64_t* entry)
{
    if ((*entry & MAAR_ENTRY_DIRTY) != 0) {
        *entry &= ~MAAR_ENTRY_DIRTY;
        --table->paging->recorded_pages;
    }
}

void maar_page_table_unlist(struct maar_page_table* table)
{
    struct maar_paging* paging = table->paging;
    if (!table->dirty) {
        return;
    }
    table->dirty = false;
    if (table->previous_dirty != NULL) {
        table->previous_dirty->next_dirty = table->next_dirty;
    } else {
        paging->first_dirty = table->next_dirty;
    }
    if (table->next_dirty != NULL) {
        table->next_dirty->previous_dirty = table->previous_dirty;
    } else {
        paging->last_dirty = table->previous_dirty;
    }
    table->next_dirty = NULL;
    table->previous_dirty = NULL;
}

/* Merges two sorted lists of leaves. */
static struct maar_page_leaf* merge_leaves(struct maar_page_leaf* a, struct maar_page_leaf* b)
{
    struct maar_page_leaf* head = NULL;
    struct maar_page_leaf** tail = &head;
    while (a != NULL && b != NULL) {
        struct maar_page_leaf** lower = a->number < b->number ? &a : &b;
        *tail = *lower;
        tail = &(*lower)->next_dirty;
        *lower = (*lower)->next_dirty;
    }
    *tail = a != NULL ? a : b;
    return head;
}

void maar_page_table_sort(struct maar_page_table* table)
{
    /* A merge sort of a list, bottom up: bin i has 2^i leaves, or none. */
    struct maar_page_leaf* bins[40] = {NULL};
    for (struct maar_page_leaf *leaf = table->first_dirty, *next; leaf != NULL; leaf = next) {
        next = leaf->next_dirty;
        leaf->next_dirty = NULL;
        uint32_t i = 0;
        for (; bins[i] != NULL; ++i) {
            leaf = merge_leaves(bins[i], leaf);
            bins[i] = NULL;
        }
        bins[i] = leaf;
    }
    table->first_dirty = NULL;
    for (uint32_t i = 0; i < 40; ++i) {
        if (bins[i] != NULL) {
            table->first_dirty = merge_leaves(bins[i], table->first_dirty);
        }
    }
}

/* ---- taking and giving back ---- */

/* Leaves for pages [first, first + count). No lock may be held. */
static VkResult make_leaves(struct maar_page_table* table, uint64_t first, uint64_t count)
{
    struct maar_paging* paging = table->paging;
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    if (count == 0) {
        return VK_SUCCESS;
    }
    for (uint64_t number = first / MAAR_LEAF_PAGES; number <= (first + count - 1) / MAAR_LEAF_PAGES;
         ++number) {
        if (table->leaves[number] != NULL) {
            continue;
        }
        struct maar_page_leaf* leaf = maar_host_calloc(
            callbacks, 1,
            sizeof(struct maar_page_leaf) + maar_leaf_size(table, number) * sizeof(uint64_t));
        if (leaf == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        leaf->number = (uint32_t)number;
        maar_mutex_lock(&paging->lock);
        table->leaves[number] = leaf;
        maar_mutex_unlock(&paging->lock);
    }
    return VK_SUCCESS;
}

/* Takes back that a page was given back; false when it was not, or there is none. */
static bool unhold(struct maar_page_table* table, uint64_t* entry)
{
    if ((*entry & MAAR_ENTRY_HELD) == 0) {
        return false;
    }
    *entry &= ~MAAR_ENTRY_HELD;
    maar_page_hold(maar_entry_block(table, *entry), maar_entry_page(*entry), false);
    ++table->committed;
    if ((*entry & MAAR_ENTRY_MOVED) == 0) {
        mark_clean(table, entry);
    }
    return true;
}

/* Whether a page of the range is being unbound just now: only then is it known what becomes of it.
 */
static bool is_being_unbound(const struct maar_page_range* range)
{
    const uint64_t both = MAAR_ENTRY_HELD | MAAR_ENTRY_INFLIGHT;
    for (uint64_t i = 0; range->table->submitting && i < range->count; ++i) {
        if ((*maar_page_entry(range->table, range->first + i) & both) == both) {
            return true;
        }
    }
    return false;
}

/* Whether a page of the range was given back, and another range shows it: what is committed is the
 * owner's alone, so it is not taken again; and the device has it here still, so it is not let go.
 */
static bool is_shown_elsewhere(const struct maar_page_range* range)
{
    for (uint64_t page = range->first; page < range->first + range->count; ++page) {
        const uint64_t entry = *maar_page_entry(range->table, page);
        if ((entry & MAAR_ENTRY_HELD) != 0 &&
            maar_entry_block(range->table, entry)->marks[maar_entry_page(entry)].live > 0) {
            return true;
        }
    }
    return false;
}

/* Pages of a range that need one. */
static uint64_t count_missing(const struct maar_page_range* range)
{
    uint64_t missing = 0;
    for (uint64_t page = range->first; page < range->first + range->count; ++page) {
        missing += !maar_entry_has_page(*maar_page_entry(range->table, page));
    }
    return missing;
}

/* The pool of a type for a table, or NULL when there is none yet. */
static struct maar_page_pool* find_pool(const struct maar_page_table* table, uint32_t type)
{
    const struct maar_pool* owner = maar_pool_of(table->memory.pool);
    const bool apart = table->paging->allocator->device.facts.granularity > table->page_size;
    for (struct maar_page_pool* pool = table->paging->pools; pool != NULL; pool = pool->next) {
        if (pool->type_index == type && pool->page_size == table->page_size &&
            pool->owner == owner && (!apart || pool->kind == (MaarResourceKind)table->kind)) {
            return pool;
        }
    }
    return NULL;
}

/* The same, made if need be. No lock may be held. */
static VkResult open_pool(struct maar_page_table* table, uint32_t type,
                          struct maar_page_pool** pool)
{
    struct maar_paging* paging = table->paging;
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    maar_mutex_lock(&paging->lock);
    *pool = find_pool(table, type);
    maar_mutex_unlock(&paging->lock);
    if (*pool != NULL) {
        return VK_SUCCESS;
    }
    struct maar_page_pool* made = maar_host_calloc(callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->owner = maar_pool_of(table->memory.pool);
    made->type_index = type;
    made->page_size = table->page_size;
    made->kind = paging->allocator->device.facts.granularity > table->page_size
                     ? (MaarResourceKind)table->kind
                     : MAAR_RESOURCE_KIND_UNKNOWN;
    made->block_size = made->owner != NULL ? made->owner->page_block_size : 0;
    maar_mutex_lock(&paging->lock);
    *pool = find_pool(table, type);
    if (*pool == NULL) {
        made->next = paging->pools;
        paging->pools = made;
        *pool = made;
        made = NULL;
    }
    maar_mutex_unlock(&paging->lock);
    maar_host_free(callbacks, made);
    return VK_SUCCESS;
}

/* Fills [page, page + count), none of which has a page, from the pool, which has enough. */
static void fill_run(struct maar_page_table* table, struct maar_page_pool* pool, uint64_t page,
                     uint64_t count)
{
    while (count > 0) {
        struct maar_page_block* block = NULL;
        uint32_t first = 0;
        const uint32_t wanted = count < UINT32_MAX / 2 ? (uint32_t)count : UINT32_MAX / 2;
        const uint32_t taken = maar_page_pool_take(pool, wanted, &block, &first);
        for (uint32_t i = 0; i < taken; ++i) {
            uint64_t* entry = maar_page_entry(table, page + i);
            *entry &= MAAR_ENTRY_FLAGS;
            *entry |= (((uint64_t)block->number + 1) << MAAR_ENTRY_BLOCK_SHIFT) | (first + i) |
                      MAAR_ENTRY_FRESH;
            maar_page_mark_dirty(table, page + i, entry);
        }
        table->committed += taken;
        page += taken;
        count -= taken;
    }
}

static void fill_range(const struct maar_page_range* range, struct maar_page_pool* pool)
{
    struct maar_page_table* table = range->table;
    const uint64_t end = range->first + range->count;
    for (uint64_t page = range->first; page < end;) {
        uint64_t* entry = maar_page_entry(table, page);
        if (maar_entry_has_page(*entry)) {
            if (unhold(table, entry)) {
                *entry |= MAAR_ENTRY_FRESH;
            }
            ++page;
            continue;
        }
        uint64_t stop = page + 1;
        while (stop < end && !maar_entry_has_page(*maar_page_entry(table, stop))) {
            ++stop;
        }
        fill_run(table, pool, page, stop - page);
        page = stop;
    }
}

/* From pages that are free already; VK_ERROR_OUT_OF_POOL_MEMORY when they are too few,
 * VK_ERROR_VALIDATION_FAILED_EXT, not told, when one is shown elsewhere. */
static VkResult commit_from(const struct maar_page_range* range, struct maar_page_pool* pool,
                            uint64_t* missing)
{
    struct maar_paging* paging = range->table->paging;
    maar_mutex_lock(&paging->lock);
    while (is_being_unbound(range)) {
        maar_mutex_unlock(&paging->lock);
        maar_thread_yield();
        maar_mutex_lock(&paging->lock);
    }
    if (range->table->may_alias && is_shown_elsewhere(range)) {
        maar_mutex_unlock(&paging->lock);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    *missing = count_missing(range);
    const bool enough = *missing <= pool->free_count;
    if (enough) {
        fill_range(range, pool);
    }
    maar_mutex_unlock(&paging->lock);
    return enough ? VK_SUCCESS : VK_ERROR_OUT_OF_POOL_MEMORY;
}

/* One memory type: what is free, and new blocks if `grow`. */
static VkResult commit_in_type(const struct maar_page_range* range, const char* call, uint32_t type,
                               bool grow, bool loud)
{
    struct maar_page_table* table = range->table;
    struct maar_page_pool* pool = NULL;
    VkResult result = open_pool(table, type, &pool);
    uint64_t missing = 0;
    while (result == VK_SUCCESS) {
        result = commit_from(range, pool, &missing);
        if (result == VK_ERROR_VALIDATION_FAILED_EXT) {
            return maar_misuse(table->paging->allocator, call,
                               "a page of the range was given back and waits to be unbound, and "
                               "another range shows it; submit that first");
        }
        if (result != VK_ERROR_OUT_OF_POOL_MEMORY || !grow) {
            return result;
        }
        result = maar_page_pool_grow(table->paging, pool, call, missing, &table->memory, loud);
    }
    return result;
}

/* What another type, or a louder request, may mend. */
static bool is_page_shortage(VkResult result)
{
    return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_POOL_MEMORY ||
           result == VK_ERROR_TOO_MANY_OBJECTS || result == VK_ERROR_UNKNOWN;
}

/* One range: free pages of the type liked best; those that are no longer pending; new blocks within
 * budget, of one type after another; then, unless quiet, as a request that fails without, whatever
 * it takes. */
static VkResult commit_range(MaarAllocator allocator, const char* call,
                             const struct maar_page_range* range, bool quiet)
{
    const struct maar_page_table* table = range->table;
    VkResult result = make_leaves(range->table, range->first, range->count);
    if (result != VK_SUCCESS) {
        return result;
    }
    const bool may_grow = (table->memory.flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0;
    result = commit_in_type(range, call, table->types[0], false, false);
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        (void)maar_retire_collect(allocator, NULL);
        result = commit_in_type(range, call, table->types[0], may_grow, false);
    }
    for (uint32_t i = 1; i < table->type_count && is_page_shortage(result); ++i) {
        result = commit_in_type(range, call, table->types[i], may_grow, false);
    }
    const uint32_t loud_count = may_grow && !quiet ? table->type_count : 0;
    for (uint32_t i = 0; i < loud_count && is_page_shortage(result); ++i) {
        result = commit_in_type(range, call, table->types[i], true, true);
    }
    return result;
}

/* The owner's wish for a page that it has. */
static void give_back(struct maar_page_table* table, uint64_t page, uint64_t* entry)
{
    struct maar_page_block* block = maar_entry_block(table, *entry);
    const uint32_t number = maar_entry_page(*entry);
    const bool is_unseen = (*entry & (MAAR_ENTRY_DIRTY | MAAR_ENTRY_INFLIGHT)) == MAAR_ENTRY_DIRTY;
    --table->committed;
    *entry &= ~MAAR_ENTRY_FRESH;
    if (!is_unseen || (*entry & MAAR_ENTRY_MOVED) != 0) {
        *entry |= MAAR_ENTRY_HELD;
        maar_page_hold(block, number, true);
        maar_page_mark_dirty(table, page, entry);
        return;
    }
    /* The device was never told. What it has there, if anything, belongs to somebody else. */
    maar_page_drop(block, number, 1, true);
    *entry &= MAAR_ENTRY_FLAGS;
    if ((*entry & MAAR_ENTRY_BOUND) == 0) {
        mark_clean(table, entry);
    }
}

static void end_fresh(const struct maar_page_range* range, bool keep)
{
    struct maar_page_table* table = range->table;
    for (uint64_t page = range->first; page < range->first + range->count; ++page) {
        uint64_t* entry = maar_page_entry(table, page);
        if (entry != NULL && (*entry & MAAR_ENTRY_FRESH) != 0) {
            if (keep) {
                *entry &= ~MAAR_ENTRY_FRESH;
            } else {
                give_back(table, page, entry);
            }
        }
    }
}

static bool is_leaf_unused(const struct maar_page_table* table, const struct maar_page_leaf* leaf)
{
    bool unused = !leaf->dirty;
    for (uint32_t i = 0; i < maar_leaf_size(table, leaf->number) && unused; ++i) {
        unused = leaf->entries[i] == 0;
    }
    return unused;
}

/* A call that failed leaves no leaves behind: it may have asked for far too much. */
static void free_unused_leaves(const struct maar_page_range* range)
{
    struct maar_page_table* table = range->table;
    struct maar_paging* paging = table->paging;
    if (range->count == 0) {
        return;
    }
    const uint64_t last = (range->first + range->count - 1) / MAAR_LEAF_PAGES;
    for (uint64_t number = range->first / MAAR_LEAF_PAGES; number <= last; ++number) {
        maar_mutex_lock(&paging->lock);
        struct maar_page_leaf* leaf = table->leaves[number];
        if (leaf != NULL && is_leaf_unused(table, leaf)) {
            table->leaves[number] = NULL;
        } else {
            leaf = NULL;
        }
        maar_mutex_unlock(&paging->lock);
        maar_host_free(paging->allocator->callbacks, leaf);
    }
}

static VkResult commit_all(MaarAllocator allocator, const char* call, uint32_t range_count,
                           const struct maar_page_range* ranges, bool quiet)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    VkResult result = VK_SUCCESS;
    uint32_t done = 0;
    maar_mutex_lock(&paging->lock);
    const uint64_t blocks_made = paging->blocks_made;
    maar_mutex_unlock(&paging->lock);
    while (done < range_count && result == VK_SUCCESS) {
        result = commit_range(allocator, call, &ranges[done], quiet);
        ++done;
    }
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < done; ++i) {
        end_fresh(&ranges[i], result == VK_SUCCESS);
    }
    maar_mutex_unlock(&paging->lock);
    for (uint32_t i = 0; i < done && result != VK_SUCCESS; ++i) {
        free_unused_leaves(&ranges[i]);
    }
    if (result != VK_SUCCESS) {
        maar_page_pools_undo(paging, blocks_made);
    }
    if (is_page_shortage(result) && !quiet) {
        maar_paging_tell_held(allocator, call);
    }
    /* Pools report their limits so; for a caller without one it is plain lack of memory. */
    return result == VK_ERROR_OUT_OF_POOL_MEMORY ? VK_ERROR_OUT_OF_DEVICE_MEMORY : result;
}

VkResult maar_pages_commit(MaarAllocator allocator, const char* call, uint32_t range_count,
                           const struct maar_page_range* ranges)
{
    return commit_all(allocator, call, range_count, ranges, false);
}

VkResult maar_pages_commit_quietly(MaarAllocator allocator, const char* call,
                                   const struct maar_page_range* range)
{
    return commit_all(allocator, call, 1, range, true);
}

void maar_pages_decommit(MaarAllocator allocator, uint32_t range_count,
                         const struct maar_page_range* ranges)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < range_count; ++i) {
        struct maar_page_table* table = ranges[i].table;
        const uint64_t end = ranges[i].first + ranges[i].count;
        for (uint64_t page = ranges[i].first; page < end; ++page) {
            uint64_t* entry = maar_page_entry(table, page);
            if (entry == NULL) {
                page |= MAAR_LEAF_PAGES - 1; /* a whole leaf without pages */
            } else if (maar_entry_has_page(*entry) && (*entry & MAAR_ENTRY_HELD) == 0) {
                give_back(table, page, entry);
            }
        }
    }
    maar_mutex_unlock(&paging->lock);
    (void)maar_page_pools_release(paging, NULL, true);
}

/* Whether pages can be shown, and each still has room for one more reference. */
static const char* find_share_fault(const struct maar_page_range* to,
                                    const struct maar_page_table* from, uint64_t from_first)
{
    for (uint64_t i = 0; i < to->count; ++i) {
        const uint64_t* entry = maar_page_entry(from, from_first + i);
        if (entry == NULL || !maar_entry_has_page(*entry) || (*entry & MAAR_ENTRY_HELD) != 0) {
            return "a page of the source range is not committed";
        }
        const uint64_t* target = maar_page_entry(to->table, to->first + i);
        if (maar_entry_has_page(*target)) {
            return "a page of the target range is committed, or waits to be unbound; decommit the "
                   "range and submit that first";
        }
    }
    return NULL;
}

VkResult maar_pages_alias(MaarAllocator allocator, const char* call,
                          const struct maar_page_range* to, struct maar_page_table* from,
                          uint64_t from_first)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    VkResult result = make_leaves(to->table, to->first, to->count);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_mutex_lock(&paging->lock);
    const char* fault = find_share_fault(to, from, from_first);
    uint64_t shared = 0;
    for (; fault == NULL && shared < to->count; ++shared) {
        const uint64_t source = *maar_page_entry(from, from_first + shared);
        if (!maar_page_share(maar_entry_block(from, source), maar_entry_page(source))) {
            fault = "a page is shared by 65,535 ranges already";
            break;
        }
        uint64_t* entry = maar_page_entry(to->table, to->first + shared);
        *entry = (*entry & MAAR_ENTRY_FLAGS) | (source & MAAR_ENTRY_PAGE);
        maar_page_mark_dirty(to->table, to->first + shared, entry);
        ++to->table->committed;
    }
    while (fault != NULL && shared > 0) {
        --shared;
        give_back(to->table, to->first + shared, maar_page_entry(to->table, to->first + shared));
    }
    maar_mutex_unlock(&paging->lock);
    return fault != NULL ? maar_misuse(allocator, call, fault) : VK_SUCCESS;
}

bool maar_page_move(struct maar_page_table* to, uint64_t to_page, struct maar_page_table* from,
                    uint64_t from_page)
{
    struct maar_paging* paging = to->paging;
    if (make_leaves(to, to_page, 1) != VK_SUCCESS) {
        return false;
    }
    maar_mutex_lock(&paging->lock);
    uint64_t* source = maar_page_entry(from, from_page);
    uint64_t* target = maar_page_entry(to, to_page);
    const bool can = source != NULL && maar_entry_has_page(*source) &&
                     (*source & MAAR_ENTRY_HELD) == 0 && !maar_entry_has_page(*target);
    if (can) {
        const bool is_unseen =
            (*source & (MAAR_ENTRY_DIRTY | MAAR_ENTRY_INFLIGHT)) == MAAR_ENTRY_DIRTY;
        *target |= *source & (MAAR_ENTRY_PAGE | MAAR_ENTRY_MOVED);
        *target |= is_unseen ? 0 : MAAR_ENTRY_MOVED;
        maar_page_mark_dirty(to, to_page, target);
        ++to->committed;
        *source &= MAAR_ENTRY_FLAGS & ~MAAR_ENTRY_MOVED;
        --from->committed;
        if (is_unseen && (*source & MAAR_ENTRY_BOUND) == 0) {
            mark_clean(from, source);
        } else {
            maar_page_mark_dirty(from, from_page, source);
        }
    }
    maar_mutex_unlock(&paging->lock);
    return can;
}

/* ---- the end ---- */

uint64_t maar_page_table_seal(struct maar_page_table* table)
{
    struct maar_paging* paging = table->paging;
    maar_mutex_lock(&paging->lock);
    table->sealed = true;
    maar_page_table_unlist(table);
    while (table->submitting) {
        maar_mutex_unlock(&paging->lock);
        maar_thread_yield();
        maar_mutex_lock(&paging->lock);
    }
    for (struct maar_page_leaf* leaf = table->first_dirty; leaf != NULL; leaf = leaf->next_dirty) {
        for (uint32_t i = 0; i < maar_leaf_size(table, leaf->number); ++i) {
            mark_clean(table, &leaf->entries[i]);
        }
    }
    const uint64_t value = table->last_value;
    maar_mutex_unlock(&paging->lock);
    return value;
}

/* Under the lock: ends the entries of one leaf, run after run. */
static void end_leaf(struct maar_page_table* table, struct maar_page_leaf* leaf)
{
    const uint32_t size = maar_leaf_size(table, leaf->number);
    for (uint32_t i = 0; i < size;) {
        const uint64_t entry = leaf->entries[i];
        mark_clean(table, &leaf->entries[i]);
        if (!maar_entry_has_page(entry)) {
            ++i;
            continue;
        }
        const bool live = (entry & MAAR_ENTRY_HELD) == 0;
        uint32_t count = 1;
        while (i + count < size) {
            uint64_t next = leaf->entries[i + count];
            if ((next & MAAR_ENTRY_PAGE) != (entry & MAAR_ENTRY_PAGE) + count ||
                ((next & MAAR_ENTRY_HELD) == 0) != live) {
                break;
            }
            mark_clean(table, &leaf->entries[i + count]);
            ++count;
        }
        maar_page_drop(maar_entry_block(table, entry), maar_entry_page(entry), count, live);
        i += count;
    }
}

void maar_page_table_destroy(struct maar_page_table* table)
{
    if (table == NULL) {
        return;
    }
    struct maar_paging* paging = table->paging;
    MaarAllocator allocator = paging->allocator;
    maar_mutex_lock(&paging->lock);
    while (table->submitting) {
        maar_mutex_unlock(&paging->lock);
        maar_thread_yield();
        maar_mutex_lock(&paging->lock);
    }
    maar_page_table_unlist(table);
    for (uint64_t i = 0; i < maar_leaf_count(table); ++i) {
        if (table->leaves[i] != NULL) {
            end_leaf(table, table->leaves[i]);
        }
    }
    if (table->previous != NULL) {
        table->previous->next = table->next;
    } else {
        paging->tables = table->next;
    }
    if (table->next != NULL) {
        table->next->previous = table->previous;
    }
    maar_mutex_unlock(&paging->lock);
    for (uint64_t i = 0; i < maar_leaf_count(table); ++i) {
        maar_host_free(allocator->callbacks, table->leaves[i]);
    }
    maar_host_free(allocator->callbacks, table->leaves);
    maar_host_free(allocator->callbacks, table);
    (void)maar_page_pools_release(paging, NULL, true);
}

void maar_page_tables_forget(struct maar_paging* paging, const struct maar_page_pool* pool)
{
    for (struct maar_page_table* table = paging->tables; table != NULL; table = table->next) {
        for (uint64_t page = 0; page < table->page_count; ++page) {
            uint64_t* entry = maar_page_entry(table, page);
            if (entry == NULL) {
                page |= MAAR_LEAF_PAGES - 1;
                continue;
            }
            const struct maar_page_block* block = maar_entry_block(table, *entry);
            if (block != NULL && block->pool == pool) {
                table->committed -= (*entry & MAAR_ENTRY_HELD) == 0 ? 1 : 0;
                mark_clean(table, entry);
                *entry = 0;
            }
        }
    }
}

/* ---- looking ---- */

uint64_t maar_page_table_count(const struct maar_page_table* table)
{
    return table->page_count;
}

uint64_t maar_page_table_committed(const struct maar_page_table* table)
{
    return table->committed;
}

uint32_t maar_page_table_types(const struct maar_page_table* table)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < table->type_count; ++i) {
        bits |= 1u << table->types[i];
    }
    return bits;
}

const struct maar_pool* maar_page_table_owner(const struct maar_page_table* table)
{
    return maar_pool_of(table->memory.pool);
}

static bool is_committed(const struct maar_page_table* table, uint64_t page)
{
    const uint64_t* entry = maar_page_entry(table, page);
    return entry != NULL && maar_entry_has_page(*entry) && (*entry & MAAR_ENTRY_HELD) == 0;
}

bool maar_page_is_committed(const struct maar_page_table* table, uint64_t page)
{
    return maar_pages_are_committed(table, page, 1);
}

bool maar_pages_are_committed(const struct maar_page_table* table, uint64_t first, uint64_t count)
{
    maar_mutex_lock(&table->paging->lock);
    bool all = true;
    for (uint64_t i = 0; i < count && all; ++i) {
        all = is_committed(table, first + i);
    }
    maar_mutex_unlock(&table->paging->lock);
    return all;
}

static void write_run(const struct maar_page_table* table, uint64_t page, uint64_t count,
                      MaarPageRun* run)
{
    const uint64_t entry = *maar_page_entry(table, page);
    const struct maar_page_block* block = maar_entry_block(table, entry);
    VkDeviceSize size = count * table->page_size;
    if (table->target != MAAR_PAGES_TILES && size > table->size - page * table->page_size) {
        size = table->size - page * table->page_size;
    }
    *run = (MaarPageRun){
        .offset = page * table->page_size,
        .size = size,
        .memory = block->block->memory,
        .memoryOffset = maar_entry_page(entry) * table->page_size,
        .blockId = block->block->id,
    };
}

uint32_t maar_page_table_runs(const struct maar_page_table* table, uint32_t capacity,
                              MaarPageRun* runs)
{
    uint32_t count = 0;
    maar_mutex_lock(&table->paging->lock);
    for (uint64_t page = 0; page < table->page_count;) {
        if (maar_page_entry(table, page) == NULL) {
            page = (page | (MAAR_LEAF_PAGES - 1)) + 1;
            continue;
        }
        if (!is_committed(table, page)) {
            ++page;
            continue;
        }
        const uint64_t first = *maar_page_entry(table, page) & MAAR_ENTRY_PAGE;
        uint64_t length = 1;
        while (page + length < table->page_count && is_committed(table, page + length) &&
               (*maar_page_entry(table, page + length) & MAAR_ENTRY_PAGE) == first + length) {
            ++length;
        }
        if (runs != NULL && count < capacity) {
            write_run(table, page, length, &runs[count]);
        }
        ++count;
        page += length;
    }
    maar_mutex_unlock(&table->paging->lock);
    return count;
}
