/*
 * Page tables: which page backs each part of a sparse resource, and which changes wait for a
 * submission.
 *
 * Leaves with changes are listed, so that a submission reads only these. A table belongs to one
 * caller at a time. Submissions of other threads read and update it meanwhile, so the paging lock
 * guards all of it.
 */
#include "core/paging/page_table.h"

#include "core/memory/allocation_check.h"
#include "core/memory/export_types.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "core/paging/page_entry.h"
#include "core/paging/page_move_list.h"
#include "core/paging/page_walk.h"

#include <string.h>

/* Bytes: the least page of a buffer or a whole image. */
#define LEAST_PAGE ((VkDeviceSize)4096)

static uint32_t divide_up(uint32_t value, uint32_t by)
{
    return value / by + (value % by != 0 ? 1 : 0);
}

VkResult maar_pages_check_memory(MaarAllocator allocator, const char* call, const char* argument,
                                 const MaarAllocationCreateInfo* info)
{
    if (info == NULL) {
        return VK_SUCCESS;
    }
    VkResult result = maar_check_structure(allocator, call, argument, info,
                                           MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO);
    if (result == VK_SUCCESS) {
        result = maar_check_create_info(allocator, call, argument, info);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((info->flags & MAAR_ALLOCATION_CREATE_MAPPED_BIT) != 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, call,
                           "pMemoryInfo->flags has MAAR_ALLOCATION_CREATE_MAPPED_BIT, but pages "
                           "cannot be mapped");
    }
    return maar_export_find(info->pNext) == NULL
               ? VK_SUCCESS
               : maar_misuse(allocator, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, call,
                             "pMemoryInfo->pNext has MaarExportInfo, but pages are never exported");
}

/* Whether a type can serve pages that the host accesses: flushes of a page must not reach into
 * another one. */
static bool can_map_pages(MaarAllocator allocator, uint32_t type, VkDeviceSize page_size)
{
    return (maar_type_flags(allocator, type) & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 &&
           (!maar_type_is_noncoherent(allocator, type) ||
            page_size % allocator->device.facts.atom == 0);
}

static VkResult choose_types(MaarAllocator allocator, const struct maar_page_table_info* info,
                             struct maar_page_table* table)
{
    const struct maar_pool* owner = maar_pool_of(allocator, info->memory->pool);
    VkResult known = maar_pool_require_own(allocator, info->call, "the pool of the create info",
                                           info->memory->pool);
    if (known != VK_SUCCESS) {
        return known;
    }
    if (owner != NULL) {
        if (!owner->stitches) {
            return maar_misuse(allocator, MAAR_MESSAGE_ID_POOL_MISMATCH, info->call,
                               "the pool of the memory's create info is none of this allocator's "
                               "that stitches");
        }
        if ((info->type_bits & (1u << owner->type_index)) == 0) {
            return maar_misuse(allocator, MAAR_MESSAGE_ID_POOL_MISMATCH, info->call,
                               "the pool's memory type is not among the memoryTypeBits of the "
                               "resource");
        }
        if (info->mapped && !can_map_pages(allocator, owner->type_index, info->page_size)) {
            return maar_misuse(
                allocator, MAAR_MESSAGE_ID_POOL_MISMATCH, info->call,
                "the pool's memory type is not HOST_VISIBLE, but the pages are to be "
                "mapped");
        }
        table->types[table->type_count++] = (uint8_t)owner->type_index;
        return VK_SUCCESS;
    }
    struct maar_type_choice choice;
    uint32_t bits = info->type_bits;
    for (uint32_t type = 0; info->mapped && type < VK_MAX_MEMORY_TYPES; ++type) {
        bits &= can_map_pages(allocator, type, info->page_size) ? UINT32_MAX : ~(1u << type);
    }
    if (!maar_choose_types(allocator, bits, info->memory, &choice)) {
        maar_report_no_type(allocator, info->call, bits, info->memory);
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

/* Makes the pool that the program has named the only place where pages spill. */
static VkResult choose_spill(MaarAllocator allocator, const struct maar_page_table_info* info,
                             struct maar_page_table* table)
{
    if (info->spill == VK_NULL_HANDLE) {
        return VK_SUCCESS;
    }
    const VkResult known =
        maar_pool_require_own(allocator, info->call, "MaarReservationSpillInfo::pool", info->spill);
    if (known != VK_SUCCESS) {
        return known;
    }
    const struct maar_pool* pool = maar_pool_of(allocator, info->spill);
    const struct maar_rule rules[] = {
        {!pool->stitches, MAAR_MESSAGE_ID_POOL_MISMATCH,
         "MaarReservationSpillInfo::pool does not stitch"},
        {(info->type_bits & (1u << pool->type_index)) == 0, MAAR_MESSAGE_ID_POOL_MISMATCH,
         "the memory type of MaarReservationSpillInfo::pool is not among the memoryTypeBits of the "
         "resource"},
        {pool->heap_index == maar_type_heap(allocator, table->types[0]),
         MAAR_MESSAGE_ID_POOL_MISMATCH,
         "MaarReservationSpillInfo::pool has memory of the heap that the pages prefer"},
        {info->mapped && !can_map_pages(allocator, pool->type_index, info->page_size),
         MAAR_MESSAGE_ID_POOL_MISMATCH,
         "the memory type of MaarReservationSpillInfo::pool is not HOST_VISIBLE, but the pages are "
         "to be mapped"},
        {0},
    };
    table->spill = info->spill;
    table->types[1] = (uint8_t)pool->type_index;
    table->type_count = 2;
    return maar_check_rules(allocator, info->call, rules);
}

/* Notes which of the types lie in other heaps than the preferred one. */
static void note_away_types(MaarAllocator allocator, struct maar_page_table* table)
{
    const uint32_t home = maar_type_heap(allocator, table->types[0]);
    for (uint32_t i = 1; i < table->type_count; ++i) {
        const uint32_t type = table->types[i];
        table->away_types |= maar_type_heap(allocator, type) != home ? 1u << type : 0;
    }
}

static void shape_table(struct maar_paging* paging, const struct maar_page_table_info* info,
                        struct maar_page_table* table)
{
    *table = (struct maar_page_table){
        .paging = paging,
        .may_alias = info->may_alias,
        .mapped = info->mapped,
        .target = (uint8_t)info->target,
        .kind = (uint8_t)info->kind,
        .bind_flags = info->bind_flags,
        .page_size = info->page_size,
        .resource_offset = info->resource_offset,
        .size = info->size,
        .buffer = info->buffer,
        .image = info->image,
        .subresource = info->subresource,
        .tile = info->tile,
        .extent = info->extent,
        .reservation = info->reservation,
        .reserved = info->reserved,
        .spill = info->spill,
        .memory = *info->memory,
    };
    table->memory.pNext = NULL;
    table->memory.pName = NULL;
    if (info->target == MAAR_PAGES_TILES) {
        table->tiles = (VkExtent3D){
            .width = divide_up(info->extent.width, info->tile.width),
            .height = divide_up(info->extent.height, info->tile.height),
            .depth = divide_up(info->extent.depth, info->tile.depth),
        };
        table->page_count = (uint64_t)table->tiles.width * table->tiles.height * table->tiles.depth;
    } else {
        table->page_count =
            info->size / info->page_size + (info->size % info->page_size != 0 ? 1 : 0);
    }
}

VkDeviceSize maar_page_size(const VkMemoryRequirements* needs)
{
    return maar_align_up(LEAST_PAGE, needs->alignment);
}

VkResult maar_page_table_create(MaarAllocator allocator, const struct maar_page_table_info* info,
                                struct maar_page_table** table)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    MAAR_DEBUG_ASSERT(paging != NULL);
    *table = NULL;
    struct maar_page_table* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    shape_table(paging, info, made);
    VkResult result = choose_types(allocator, info, made);
    if (result == VK_SUCCESS) {
        result = choose_spill(allocator, info, made);
    }
    if (result == VK_SUCCESS) {
        note_away_types(allocator, made);
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

/* ---- the list of changes ---- */

uint64_t* maar_page_entry(const struct maar_page_table* table, uint64_t page)
{
    struct maar_page_leaf* leaf = table->leaves[page / MAAR_LEAF_PAGES];
    return leaf != NULL ? &leaf->entries[page % MAAR_LEAF_PAGES] : NULL;
}

/* Adds a table to the list of tables with changes, unless it is there. */
static void list_dirty(struct maar_page_table* table)
{
    struct maar_paging* paging = table->paging;
    if (table->dirty) {
        return;
    }
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

void maar_page_mark_dirty(struct maar_page_table* table, uint64_t page, uint64_t* entry)
{
    struct maar_paging* paging = table->paging;
    struct maar_page_leaf* leaf = table->leaves[page / MAAR_LEAF_PAGES];
    maar_assert_held(&paging->lock);
    if ((*entry & MAAR_ENTRY_DIRTY) == 0) {
        *entry |= MAAR_ENTRY_DIRTY;
        ++paging->recorded_pages;
    }
    if (!leaf->dirty) {
        leaf->dirty = true;
        leaf->next_dirty = table->first_dirty;
        table->first_dirty = leaf;
    }
    if (!table->sealed || table->unbinding) {
        list_dirty(table);
    }
}

void maar_page_mark_clean(struct maar_page_table* table, uint64_t* entry)
{
    maar_assert_held(&table->paging->lock);
    if ((*entry & MAAR_ENTRY_DIRTY) != 0) {
        *entry &= ~MAAR_ENTRY_DIRTY;
        --table->paging->recorded_pages;
    }
}

void maar_page_table_unlist(struct maar_page_table* table)
{
    struct maar_paging* paging = table->paging;
    maar_assert_held(&paging->lock);
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

/* Merges two lists of leaves, each sorted by number. */
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
    maar_assert_held(&table->paging->lock);
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

/* ---- the end ---- */

/* Drops the change of an entry of a table that ends, unless the page that the device has here was
 * moved to another entry (page_reuse.h), or its bytes to another page (page_move.h). Before the
 * page serves another entry, the device must unbind it here: the object still exists then. Work
 * that uses the object until it ends finds the bytes in the other page. Returns whether the change
 * stays. */
static bool seal_entry(struct maar_page_table* table, struct maar_page_leaf* leaf, uint64_t* entry)
{
    /* A page that is held here is the page that the device has here, unless it was moved here. */
    const uint64_t held = *entry & (MAAR_ENTRY_HELD | MAAR_ENTRY_MOVED);
    const bool is_rebound = (*entry & MAAR_ENTRY_REBOUND) != 0;
    const bool is_moved_away = (*entry & MAAR_ENTRY_DIRTY) != 0 &&
                               (*entry & MAAR_ENTRY_BOUND) != 0 &&
                               (held != MAAR_ENTRY_HELD || is_rebound);
    if (!is_moved_away) {
        maar_page_mark_clean(table, entry);
    } else if (maar_entry_has_page(*entry) && (*entry & MAAR_ENTRY_HELD) == 0 && !is_rebound) {
        /* It has got another page since. */
        maar_page_count(table, leaf, *entry, false);
        *entry |= MAAR_ENTRY_HELD;
        maar_page_hold(maar_entry_block(table, *entry), maar_entry_page(*entry), true);
    }
    return is_moved_away;
}

uint64_t maar_page_table_seal(struct maar_page_table* table)
{
    struct maar_paging* paging = table->paging;
    maar_lock_rank_expect_none();
    maar_mutex_lock(&paging->lock);
    table->sealed = true;
    maar_page_moves_forget(table);
    /* The number of the next submission is known only while none is under way: that one may fail.
     */
    while (table->submitting || (paging->submitting && table->first_dirty != NULL)) {
        maar_condition_wait(&paging->changed, &paging->lock);
    }
    for (struct maar_page_leaf* leaf = table->first_dirty; leaf != NULL; leaf = leaf->next_dirty) {
        for (uint32_t i = 0; i < maar_leaf_size(table, leaf->number); ++i) {
            table->unbinding |= seal_entry(table, leaf, &leaf->entries[i]);
        }
    }
    /* The next submission takes the changes that stay, and first of all signals this value. */
    const uint64_t value = table->unbinding ? paging->recorded_value : table->last_value;
    if (table->unbinding) {
        list_dirty(table); /* a submission that failed meanwhile has left it off the list */
    } else {
        maar_page_table_unlist(table);
    }
    maar_mutex_unlock(&paging->lock);
    return value;
}

void maar_page_table_forget(struct maar_page_table* table)
{
    maar_assert_held(&table->paging->lock);
    MAAR_DEBUG_ASSERT(table->sealed && !table->submitting);
    for (struct maar_page_leaf* leaf = table->first_dirty; leaf != NULL; leaf = leaf->next_dirty) {
        for (uint32_t i = 0; i < maar_leaf_size(table, leaf->number); ++i) {
            maar_page_mark_clean(table, &leaf->entries[i]);
        }
    }
    maar_page_table_unlist(table);
}

/* Notes that a page is dropped which the device may still have in another place. Its unbinding
 * there is recorded, and comes before all that the next submission binds. */
static void note_unsettled(struct maar_paging* paging, struct maar_page_block* block)
{
    ++paging->unsettled;
    if (block->last_value < paging->recorded_value) {
        block->value_before = block->last_value;
        block->last_value = paging->recorded_value;
    }
}

/* Drops the pages of a leaf, run after run. */
static void end_leaf(struct maar_page_table* table, struct maar_page_leaf* leaf)
{
    const uint32_t size = maar_leaf_size(table, leaf->number);
    for (uint32_t i = 0; i < size;) {
        const uint64_t entry = leaf->entries[i];
        maar_page_mark_clean(table, &leaf->entries[i]);
        if (!maar_entry_has_page(entry)) {
            ++i;
            continue;
        }
        const bool live = (entry & MAAR_ENTRY_HELD) == 0;
        bool moved = (entry & MAAR_ENTRY_MOVED) != 0;
        uint32_t count = 1;
        while (i + count < size) {
            uint64_t next = leaf->entries[i + count];
            if ((next & MAAR_ENTRY_PAGE) != (entry & MAAR_ENTRY_PAGE) + count ||
                ((next & MAAR_ENTRY_HELD) == 0) != live) {
                break;
            }
            maar_page_mark_clean(table, &leaf->entries[i + count]);
            moved = moved || (next & MAAR_ENTRY_MOVED) != 0;
            ++count;
        }
        if (moved) {
            note_unsettled(table->paging, maar_entry_block(table, entry));
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
    maar_lock_rank_expect_none();
    maar_mutex_lock(&paging->lock);
    while (table->submitting) {
        maar_condition_wait(&paging->changed, &paging->lock);
    }
    maar_page_table_unlist(table);
    maar_page_moves_forget(table);
    maar_page_cursors_leave(table);
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
    (void)maar_page_pools_release(paging, NULL, UINT32_MAX, true);
}

void maar_page_tables_forget(struct maar_paging* paging, const struct maar_page_pool* pool)
{
    maar_assert_held(&paging->lock);
    for (struct maar_page_table* table = paging->tables; table != NULL; table = table->next) {
        for (uint64_t page = 0; page < table->page_count; ++page) {
            uint64_t* entry = maar_page_entry(table, page);
            if (entry == NULL) {
                page |= MAAR_LEAF_PAGES - 1;
                continue;
            }
            const struct maar_page_block* block = maar_entry_block(table, *entry);
            if (block != NULL && block->pool == pool) {
                maar_page_stop_leaving(table, entry);
                ++table->losses;
                if ((*entry & MAAR_ENTRY_HELD) == 0) {
                    maar_page_count(table, maar_page_leaf_of(table, page), *entry, false);
                }
                maar_page_mark_clean(table, entry);
                *entry = 0;
            }
        }
    }
}

void maar_page_table_set_allocation(struct maar_page_table* table, MaarAllocation allocation)
{
    maar_mutex_lock(&table->paging->lock);
    table->allocation = MAAR_TO_BITS(allocation);
    maar_mutex_unlock(&table->paging->lock);
}

/* ---- questions ---- */

uint64_t maar_page_table_count(const struct maar_page_table* table)
{
    return table->page_count;
}

uint64_t maar_page_table_committed(const struct maar_page_table* table)
{
    return table->committed;
}

uint64_t maar_page_table_away(const struct maar_page_table* table)
{
    maar_mutex_lock(&table->paging->lock);
    const uint64_t away = table->away;
    maar_mutex_unlock(&table->paging->lock);
    return away;
}

uint64_t maar_page_table_losses(const struct maar_page_table* table)
{
    return table->losses;
}

uint32_t maar_page_table_types(const struct maar_page_table* table)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < table->type_count; ++i) {
        bits |= 1u << table->types[i];
    }
    return bits;
}

struct maar_pool* maar_page_table_owner(const struct maar_page_table* table)
{
    return maar_pool_of(table->paging->allocator, table->memory.pool);
}

struct maar_pool* maar_page_table_spill_owner(const struct maar_page_table* table)
{
    return maar_pool_of(table->paging->allocator, table->spill);
}

struct maar_page_pool_key maar_page_table_pool_key(const struct maar_page_table* table,
                                                   uint32_t type)
{
    const bool spills = table->spill != VK_NULL_HANDLE && type == table->types[1];
    return (struct maar_page_pool_key){
        .owner = spills ? maar_page_table_spill_owner(table) : maar_page_table_owner(table),
        .type_index = type,
        .kind = (MaarResourceKind)table->kind,
        .mapped = table->mapped,
        .page_size = table->page_size,
    };
}

static bool is_committed(const struct maar_page_table* table, uint64_t page)
{
    const uint64_t* entry = maar_page_entry(table, page);
    maar_assert_held(&table->paging->lock);
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

uint64_t maar_page_table_missing(const struct maar_page_table* table, uint64_t first, uint64_t end,
                                 uint64_t* count)
{
    maar_mutex_lock(&table->paging->lock);
    while (first < end && is_committed(table, first)) {
        ++first;
    }
    uint64_t past = first;
    while (past < end && !is_committed(table, past)) {
        ++past;
    }
    maar_mutex_unlock(&table->paging->lock);
    *count = past - first;
    return first;
}

void maar_page_table_read(const struct maar_page_table* table, uint32_t count, uint8_t* committed)
{
    maar_mutex_lock(&table->paging->lock);
    for (uint32_t page = 0; page < count; ++page) {
        committed[page] = is_committed(table, page) ? 1 : 0;
    }
    maar_mutex_unlock(&table->paging->lock);
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
        .memoryTypeIndex = block->pool->type_index,
    };
}

bool maar_page_table_mapped_run(const struct maar_page_table* table, VkDeviceSize begin,
                                VkDeviceSize end, struct maar_mapped_run* run)
{
    const uint64_t first = begin / table->page_size;
    const uint64_t past = (end - 1) / table->page_size + 1;
    uint64_t page = first;
    MAAR_DEBUG_ASSERT(table->mapped && begin < end && past <= table->page_count);
    maar_mutex_lock(&table->paging->lock);
    const uint64_t* entry = maar_page_entry(table, first);
    while (page < past && is_committed(table, page) &&
           (*maar_page_entry(table, page) & MAAR_ENTRY_PAGE) ==
               (*entry & MAAR_ENTRY_PAGE) + (page - first)) {
        ++page;
    }
    if (page > first) {
        const struct maar_block* block = maar_entry_block(table, *entry)->block;
        const VkDeviceSize stop = page * table->page_size;
        run->size = (stop < end ? stop : end) - begin;
        run->memory = block->memory;
        run->memory_offset =
            maar_entry_page(*entry) * table->page_size + (begin - first * table->page_size);
        run->data = (char*)block->mapped + run->memory_offset;
        run->type_index = block->pool->type_index;
    }
    maar_mutex_unlock(&table->paging->lock);
    return page > first;
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
