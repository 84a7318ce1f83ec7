/*
 * Commits, decommits, aliases and moves of pages, range by range.
 *
 * A commit asks for pages of one memory type after another, at first within budgets. The pages that
 * it takes are marked as fresh until all of its ranges have their pages. So a call that fails gives
 * back exactly what it took. page_entry.h says what entries mean. The paging lock is held, except
 * where a function says that no lock may be held.
 */
#include "core/paging/page_commit.h"
#include "core/memory/allocation_failure.h"
#include "core/memory/device_memory.h"

#include "core/paging/page_entry.h"
#include "core/paging/page_reuse.h"
#include "core/time/retire_collect.h"

/* Makes the leaves of pages [first, first + count). No lock may be held. */
static VkResult make_leaves(struct maar_page_table* table, uint64_t first, uint64_t count)
{
    struct maar_paging* paging = table->paging;
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    maar_lock_rank_expect_none();
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

/* Commits a held page again. Returns false if the page is not held. */
static bool unhold(struct maar_page_table* table, uint64_t page, uint64_t* entry)
{
    if ((*entry & MAAR_ENTRY_HELD) == 0) {
        return false;
    }
    *entry &= ~MAAR_ENTRY_HELD;
    maar_page_hold(maar_entry_block(table, *entry), maar_entry_page(*entry), false);
    maar_page_count(table, maar_page_leaf_of(table, page), *entry, true);
    if ((*entry & (MAAR_ENTRY_MOVED | MAAR_ENTRY_REBOUND)) == 0) {
        maar_page_mark_clean(table, entry);
    }
    return true;
}

/* Returns whether the submission under way unbinds a page of the range. The state of that page is
 * known only when the submission ends. */
static bool is_being_unbound(const struct maar_page_range* range)
{
    const uint64_t both = MAAR_ENTRY_HELD | MAAR_ENTRY_INFLIGHT;
    maar_assert_held(&range->table->paging->lock);
    for (uint64_t i = 0; range->table->submitting && i < range->count; ++i) {
        if ((*maar_page_entry(range->table, range->first + i) & both) == both) {
            return true;
        }
    }
    return false;
}

/* Returns whether a page of the range is held here and live in another range, or held here twice.
 * Such a page is not committed again, since a commit takes unshared pages. It is not freed either,
 * since the device has it here. */
static bool is_shown_elsewhere(const struct maar_page_range* range)
{
    bool is_shown = false;
    uint64_t end = range->first;
    for (; end < range->first + range->count && !is_shown; ++end) {
        const uint64_t entry = *maar_page_entry(range->table, end);
        if ((entry & MAAR_ENTRY_HELD) != 0) {
            struct maar_page_mark* mark =
                &maar_entry_block(range->table, entry)->marks[maar_entry_page(entry)];
            is_shown = mark->live > 0;
            ++mark->live; /* so that the next entry with this page finds it */
        }
    }
    for (uint64_t page = range->first; page < end; ++page) {
        const uint64_t entry = *maar_page_entry(range->table, page);
        if ((entry & MAAR_ENTRY_HELD) != 0) {
            --maar_entry_block(range->table, entry)->marks[maar_entry_page(entry)].live;
        }
    }
    return is_shown;
}

/* Returns how many entries of a range lack a page. */
static uint64_t count_missing(const struct maar_page_range* range)
{
    uint64_t missing = 0;
    for (uint64_t page = range->first; page < range->first + range->count; ++page) {
        missing += !maar_entry_has_page(*maar_page_entry(range->table, page));
    }
    return missing;
}

/* Fills [page, page + count) from the pool. No entry has a page, and the pool has enough. */
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
            maar_page_count(table, maar_page_leaf_of(table, page + i), *entry, true);
        }
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
            if (unhold(table, page, entry)) {
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

/* Fills a range with free pages and with held pages of a pool, which the submission unbinds before
 * it binds them here. Returns false if even these are too few. */
static bool fill_with_held(const struct maar_page_range* range, struct maar_page_pool* pool)
{
    struct maar_page_table* table = range->table;
    const uint64_t end = range->first + range->count;
    uint64_t missing = 0;
    for (uint64_t page = range->first; page < end; ++page) {
        uint64_t* entry = maar_page_entry(table, page);
        missing += maar_entry_has_page(*entry) ? 0 : 1;
        if (unhold(table, page, entry)) {
            *entry |= MAAR_ENTRY_FRESH;
        }
    }
    if (missing > pool->free_count &&
        !maar_held_has(table->paging, pool, missing - pool->free_count)) {
        return false;
    }
    struct maar_held_walk walk = maar_held_begin(table->paging, pool);
    for (uint64_t page = range->first; page < end; ++page) {
        uint64_t* entry = maar_page_entry(table, page);
        if (maar_entry_has_page(*entry)) {
            continue;
        }
        if (pool->free_count > 0) {
            fill_run(table, pool, page, 1);
        } else {
            maar_held_move(&walk, table, page);
            *entry |= MAAR_ENTRY_FRESH;
        }
    }
    return true;
}

enum commit_outcome {
    COMMIT_DONE,
    COMMIT_TOO_FEW,        /* free pages: *missing more are needed */
    COMMIT_SHOWN_ELSEWHERE /* a page is held here and live in another range */
};

/* Waits until a submission under way ends, which may free pages. Returns false if there is none, or
 * when the patience is at its end. Called under the paging lock, which it releases meanwhile. */
static bool wait_for_submission(struct maar_paging* paging, struct maar_patience* patience)
{
    const bool waits = paging->submitting && patience->left_ns != 0;
    const uint64_t deadline = maar_patience_deadline(patience);
    while (paging->submitting &&
           maar_condition_wait_for(&paging->changed, &paging->lock, maar_time_left_ns(deadline))) {
    }
    maar_patience_spend(patience, deadline);
    return waits;
}

/* Fills a range with pages of a pool that are free already. No lock may be held: waits for a
 * submission that unbinds pages of the range and, if held pages may serve too, for one that may
 * free some. */
static enum commit_outcome commit_from(const struct maar_page_range* range,
                                       struct maar_page_pool* pool, bool with_held,
                                       struct maar_patience* patience, uint64_t* missing)
{
    struct maar_paging* paging = range->table->paging;
    enum commit_outcome outcome = COMMIT_TOO_FEW;
    maar_mutex_lock(&paging->lock);
    do {
        while (is_being_unbound(range)) {
            maar_condition_wait(&paging->changed, &paging->lock);
        }
        *missing = count_missing(range);
        if (range->table->may_alias && is_shown_elsewhere(range)) {
            outcome = COMMIT_SHOWN_ELSEWHERE;
        } else if (*missing <= pool->free_count || maar_page_pool_revive(pool, *missing)) {
            fill_range(range, pool);
            outcome = COMMIT_DONE;
        } else if (with_held && fill_with_held(range, pool)) {
            outcome = COMMIT_DONE;
        }
    } while (outcome == COMMIT_TOO_FEW && with_held && wait_for_submission(paging, patience));
    maar_mutex_unlock(&paging->lock);
    return outcome;
}

/* The ways in which a commit may get memory. */
enum commit_effort {
    COMMIT_FREE_PAGES,    /* only pages that are free already */
    COMMIT_HELD_PAGES,    /* these, and pages whose unbinding is recorded */
    COMMIT_WITHIN_BUDGET, /* new blocks within budgets, without asking the observer */
    COMMIT_LAST_RESORT    /* every way that a failing allocation tries */
};

/* Returns how many of the table's memory types serve a range. The pool where pages spill may have
 * ended. */
static uint32_t count_types(const struct maar_page_range* range)
{
    const struct maar_page_table* table = range->table;
    const bool is_alone = range->stays || (table->spill != VK_NULL_HANDLE &&
                                           maar_page_table_spill_owner(table) == NULL);
    return is_alone ? 1 : table->type_count;
}

/* Commits a range in one memory type. No lock may be held. */
static VkResult commit_in_type(const struct maar_page_range* range, const char* call, uint32_t type,
                               enum commit_effort effort, struct maar_patience* patience)
{
    struct maar_page_table* table = range->table;
    const struct maar_page_pool_key key = maar_page_table_pool_key(table, type);
    struct maar_page_pool* pool = NULL;
    VkResult result = maar_page_pool_open(table->paging, &key, &pool);
    while (result == VK_SUCCESS) {
        uint64_t missing = 0;
        switch (commit_from(range, pool, effort == COMMIT_HELD_PAGES, patience, &missing)) {
        case COMMIT_DONE:
            return VK_SUCCESS;
        case COMMIT_SHOWN_ELSEWHERE:
            return maar_misuse(table->paging->allocator, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED, call,
                               "a page of the range was given back and waits to be unbound, and "
                               "another place shows it; submit that first");
        case COMMIT_TOO_FEW:
            break;
        }
        result = effort <= COMMIT_HELD_PAGES
                     ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                     : maar_page_pool_grow(table->paging, pool, call, missing, &table->memory,
                                           effort == COMMIT_LAST_RESORT, patience);
    }
    return result;
}

/* Commits a range in one of its types. No lock may be held. */
static VkResult commit_in_any_type(const struct maar_page_range* range, const char* call,
                                   enum commit_effort effort, struct maar_patience* patience)
{
    const struct maar_page_table* table = range->table;
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    for (uint32_t i = 0; i < count_types(range) && maar_is_page_shortage(result); ++i) {
        result = commit_in_type(range, call, table->types[i], effort, patience);
        if (maar_is_page_shortage(result)) {
            result = commit_in_type(range, call, table->types[i], COMMIT_HELD_PAGES, patience);
        }
    }
    return result;
}

/* Whether the heaps of a range's types are together as large as the range. */
static bool may_fit_together(const struct maar_page_range* range)
{
    const struct maar_page_table* table = range->table;
    MaarAllocator allocator = table->paging->allocator;
    uint32_t heaps = 0;
    uint64_t pages = 0;
    for (uint32_t i = 0; i < count_types(range); ++i) {
        const uint32_t heap = maar_type_heap(allocator, table->types[i]);
        const VkDeviceSize size = allocator->device.facts.memory.memoryHeaps[heap].size;
        pages += (heaps >> heap & 1) == 0 ? size / table->page_size : 0;
        heaps |= 1u << heap;
    }
    return range->count <= pages;
}

/* Commits a range that no type can serve whole, piece by piece. A piece that no type can serve is
 * halved. So the types together are used up before the call fails. No lock may be held. */
static VkResult commit_in_pieces(const struct maar_page_range* range, const char* call,
                                 enum commit_effort effort, struct maar_patience* patience)
{
    uint64_t most = (range->count + 1) / 2;
    for (uint64_t done = 0; done < range->count;) {
        struct maar_page_range piece = *range;
        piece.first += done;
        piece.count = most < range->count - done ? most : range->count - done;
        const VkResult result = commit_in_any_type(&piece, call, effort, patience);
        if (result == VK_SUCCESS) {
            done += piece.count;
        } else if (maar_is_page_shortage(result) && piece.count > 1) {
            most = piece.count / 2;
        } else {
            return result;
        }
    }
    return VK_SUCCESS;
}

/* Commits one range. It tries free pages of the preferred type, then pages that are no longer
 * pending, then new blocks within budget, then held pages, of one type after another, then pieces
 * of different types. Last, unless within_budget, it tries every way that a failing allocation
 * tries. No lock may be held. */
static VkResult commit_range(MaarAllocator allocator, const char* call,
                             const struct maar_page_range* range, bool within_budget,
                             struct maar_patience* patience)
{
    const struct maar_page_table* table = range->table;
    VkResult result = make_leaves(range->table, range->first, range->count);
    if (result != VK_SUCCESS) {
        return result;
    }
    const bool may_grow = (table->memory.flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0;
    const enum commit_effort effort = may_grow ? COMMIT_WITHIN_BUDGET : COMMIT_FREE_PAGES;
    result = commit_in_type(range, call, table->types[0], COMMIT_FREE_PAGES, patience);
    if (maar_is_page_shortage(result)) {
        (void)maar_retire_collect(&allocator->retire, NULL);
        result = commit_in_any_type(range, call, effort, patience);
    }
    if (maar_is_page_shortage(result) && count_types(range) > 1 && may_fit_together(range)) {
        result = commit_in_pieces(range, call, effort, patience);
    }
    const uint32_t last_count = may_grow && !within_budget ? count_types(range) : 0;
    for (uint32_t i = 0; i < last_count && maar_is_page_shortage(result); ++i) {
        result = commit_in_type(range, call, table->types[i], COMMIT_LAST_RESORT, patience);
    }
    return result;
}

/* Gives a committed page back. */
static void give_back(struct maar_page_table* table, uint64_t page, uint64_t* entry)
{
    struct maar_page_block* block = maar_entry_block(table, *entry);
    const uint32_t number = maar_entry_page(*entry);
    MAAR_DEBUG_ASSERT((*entry & MAAR_ENTRY_HELD) == 0);
    const bool is_unseen = (*entry & (MAAR_ENTRY_DIRTY | MAAR_ENTRY_INFLIGHT)) == MAAR_ENTRY_DIRTY;
    maar_page_count(table, maar_page_leaf_of(table, page), *entry, false);
    *entry &= ~MAAR_ENTRY_FRESH;
    maar_page_stop_leaving(table, entry);
    if (!is_unseen || (*entry & MAAR_ENTRY_MOVED) != 0) {
        *entry |= MAAR_ENTRY_HELD;
        maar_page_hold(block, number, true);
        maar_page_mark_dirty(table, page, entry);
        return;
    }
    /* No submission named the page. The device has another entry's page here. */
    maar_page_drop(block, number, 1, true);
    *entry &= MAAR_ENTRY_FLAGS & ~MAAR_ENTRY_REBOUND;
    if ((*entry & MAAR_ENTRY_BOUND) == 0) {
        maar_page_mark_clean(table, entry);
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

/* The bytes that a call took from types that its tables do not prefer. */
struct fallback_bytes {
    VkDeviceSize bytes[VK_MAX_MEMORY_TYPES];
    uint8_t preferred[VK_MAX_MEMORY_TYPES];
};

/* Adds the pages that a call took for a range from another type than the preferred one. */
static void count_fallback(const struct maar_page_range* range, struct fallback_bytes* fallback)
{
    const struct maar_page_table* table = range->table;
    maar_assert_held(&table->paging->lock);
    for (uint64_t i = 0; count_types(range) > 1 && i < range->count; ++i) {
        const uint64_t* entry = maar_page_entry(table, range->first + i);
        if (entry == NULL || (*entry & MAAR_ENTRY_FRESH) == 0) {
            continue;
        }
        const uint32_t type = maar_entry_block(table, *entry)->pool->type_index;
        if (type != table->types[0]) {
            fallback->bytes[type] += table->page_size;
            fallback->preferred[type] = table->types[0];
        }
    }
}

/* Counts a call as a fallback if it took such pages, and reports each type that they are of. */
static void report_fallback(MaarAllocator allocator, const char* call,
                            const struct fallback_bytes* fallback)
{
    struct maar_fallback report = {.call = call};
    for (uint32_t type = 0; type < VK_MAX_MEMORY_TYPES; ++type) {
        if (fallback->bytes[type] != 0) {
            report.size = fallback->bytes[type];
            report.type = type;
            report.preferred = fallback->preferred[type];
            maar_report_fallback(allocator, &report);
            report.counted = true;
        }
    }
}

static bool is_leaf_empty(const struct maar_page_table* table, const struct maar_page_leaf* leaf)
{
    bool empty = true;
    for (uint32_t i = 0; i < maar_leaf_size(table, leaf->number) && empty; ++i) {
        empty = leaf->entries[i] == 0;
    }
    return empty;
}

/* Takes the leaves without entries off the list of those with changes. */
static void unlist_empty_leaves(struct maar_page_table* table)
{
    maar_assert_held(&table->paging->lock);
    for (struct maar_page_leaf** link = &table->first_dirty; *link != NULL;) {
        struct maar_page_leaf* leaf = *link;
        if (is_leaf_empty(table, leaf)) {
            *link = leaf->next_dirty;
            leaf->next_dirty = NULL;
            leaf->dirty = false;
        } else {
            link = &leaf->next_dirty;
        }
    }
}

/* Frees the empty leaves of a range, since a failed call may have asked for far too much. No lock
 * may be held. */
static void free_unused_leaves(const struct maar_page_range* range)
{
    struct maar_page_table* table = range->table;
    struct maar_paging* paging = table->paging;
    if (range->count == 0) {
        return;
    }
    const uint64_t last = (range->first + range->count - 1) / MAAR_LEAF_PAGES;
    maar_mutex_lock(&paging->lock);
    unlist_empty_leaves(table);
    maar_mutex_unlock(&paging->lock);
    for (uint64_t number = range->first / MAAR_LEAF_PAGES; number <= last; ++number) {
        maar_mutex_lock(&paging->lock);
        struct maar_page_leaf* leaf = table->leaves[number];
        if (leaf != NULL && !leaf->dirty && is_leaf_empty(table, leaf)) {
            table->leaves[number] = NULL;
        } else {
            leaf = NULL;
        }
        maar_mutex_unlock(&paging->lock);
        maar_host_free(paging->allocator->callbacks, leaf);
    }
}

/* Returns how many pages a range lacks. Its leaves may not exist. */
static uint64_t count_lacking(const struct maar_page_range* range)
{
    uint64_t lacking = 0;
    maar_assert_held(&range->table->paging->lock);
    for (uint64_t page = range->first; page < range->first + range->count; ++page) {
        const uint64_t* entry = maar_page_entry(range->table, page);
        lacking += entry == NULL || !maar_entry_has_page(*entry);
    }
    return lacking;
}

/* Returns how many pages a call has taken for ranges, and how many these ranges still lack. */
static uint64_t count_asked(struct maar_paging* paging, uint32_t range_count,
                            const struct maar_page_range* ranges)
{
    uint64_t asked = 0;
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < range_count; ++i) {
        for (uint64_t page = 0; page < ranges[i].count; ++page) {
            const uint64_t* entry = maar_page_entry(ranges[i].table, ranges[i].first + page);
            asked +=
                entry == NULL || !maar_entry_has_page(*entry) || (*entry & MAAR_ENTRY_FRESH) != 0;
        }
    }
    maar_mutex_unlock(&paging->lock);
    return asked;
}

/* Describes a call that found no pages for a range, before the call gives back what it took: only
 * then do the accounts show the reason. */
static struct maar_allocation_failure describe_shortage(MaarAllocator allocator, const char* call,
                                                        const struct maar_page_range* range,
                                                        uint64_t asked, VkResult result)
{
    const struct maar_page_table* table = range->table;
    const MaarAllocationCreateFlags flags = table->memory.flags;
    const VkDeviceSize lacking =
        count_asked(table->paging, 1, range) * table->page_size; /* the range took nothing */
    const struct maar_budget budget =
        maar_budget_read(allocator, maar_type_heap(allocator, table->types[0]));
    struct maar_allocation_failure failure = {
        .call = call,
        .size = asked * table->page_size,
        .lacking = lacking,
        .result = result,
        .type_index = table->types[0],
        .type_bits = maar_page_table_types(table),
        .pool = maar_page_table_owner(table),
        .only_budget =
            (flags & (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT) != 0 &&
            !maar_budget_holds(&budget, lacking),
        .in_pieces = true,
    };
    failure.reason = maar_find_failure_reason(allocator, &failure);
    return failure;
}

static void report_page_shortage(MaarAllocator allocator,
                                 const struct maar_allocation_failure* failure,
                                 const struct maar_page_range* range)
{
    const MaarAllocationCreateFlags flags = range->table->memory.flags;
    if ((flags & (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0) {
        maar_report_allocation_failure(allocator, failure);
    }
}

/* Reports pages that are held. This is how a program that forgets maarSubmitBinds runs out of
 * pages. */
static void report_held(MaarAllocator allocator, const char* call)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    VkDeviceSize held = 0;
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < paging->block_end; ++i) {
        const struct maar_page_block* block = paging->blocks[i];
        if (block != NULL) {
            held += (uint64_t)(block->used_count - block->live_count) * block->pool->page_size;
        }
    }
    maar_mutex_unlock(&paging->lock);
    if (held > 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_NO_PAGES, call,
                    "no pages are free, while %s that were given back wait for "
                    "maarSubmitBinds",
                    maar_show_bytes(held).text);
    }
}

bool maar_new_pages_overflow(const struct maar_new_pages* taken)
{
    return (taken->ranges != NULL || taken->listed != NULL) && taken->count > taken->capacity;
}

void maar_new_pages_add(struct maar_new_pages* taken, uint64_t reservation, VkDeviceSize offset,
                        VkDeviceSize size)
{
    const bool follows = taken->count > 0 && offset == taken->end && reservation == taken->last;
    taken->size += size;
    taken->count += follows ? 0 : 1;
    taken->end = offset + size;
    taken->last = reservation;
    if (taken->count > taken->capacity) {
        return;
    }
    const uint32_t at = taken->count - 1;
    if (taken->listed != NULL) {
        taken->listed[at].size = (follows ? taken->listed[at].size : 0) + size;
        taken->listed[at].offset = taken->end - taken->listed[at].size;
        taken->listed[at].reservation = MAAR_FROM_BITS(MaarReservation, reservation);
    } else if (taken->ranges != NULL) {
        taken->ranges[at].size = (follows ? taken->ranges[at].size : 0) + size;
        taken->ranges[at].offset = taken->end - taken->ranges[at].size;
    }
}

/* Lists the pages that a range lacks, which are those that the call takes for it: the ranges before
 * it have their pages already. No lock may be held. */
static void list_missing(const struct maar_page_range* range, struct maar_new_pages* taken)
{
    const struct maar_page_table* table = range->table;
    const uint64_t end = range->first + range->count;
    uint64_t count = 0;
    for (uint64_t page = maar_page_table_missing(table, range->first, end, &count); page < end;
         page = maar_page_table_missing(table, page + count, end, &count)) {
        const VkDeviceSize offset = page * table->page_size;
        const VkDeviceSize bytes = count * table->page_size;
        const VkDeviceSize rest = table->reserved - offset;
        maar_new_pages_add(taken, table->reservation, offset, bytes < rest ? bytes : rest);
    }
}

/* Returns the free pages that may serve a range. Called under the paging lock. */
static uint64_t count_free_for(const struct maar_page_range* range)
{
    const struct maar_page_table* table = range->table;
    uint64_t pages = 0;
    for (uint32_t i = 0; i < count_types(range); ++i) {
        const struct maar_page_pool_key key = maar_page_table_pool_key(table, table->types[i]);
        const struct maar_page_pool* pool = maar_page_pool_find(table->paging, &key);
        pages += pool != NULL ? pool->free_count : 0;
    }
    return pages;
}

/* Returns the bytes that a call misses: those that its ranges lack, from the one on that failed,
 * less what is free. */
static VkDeviceSize count_missing_bytes(struct maar_paging* paging, uint32_t range_count,
                                        const struct maar_page_range* ranges)
{
    const struct maar_page_table* table = ranges[0].table;
    uint64_t lacking = 0;
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < range_count; ++i) {
        lacking += ranges[i].table->page_size == table->page_size ? count_lacking(&ranges[i]) : 0;
    }
    const uint64_t unused = count_free_for(&ranges[0]);
    maar_mutex_unlock(&paging->lock);
    return (lacking > unused ? lacking - unused : 1) * table->page_size;
}

/* Notes for checks that a call takes pages of tables, or no longer does. */
static void set_committing(uint32_t range_count, const struct maar_page_range* ranges,
                           bool committing)
{
    for (uint32_t i = 0; i < range_count; ++i) {
        maar_assert_held(&ranges[i].table->paging->lock);
        ranges[i].table->committing = committing;
    }
}

/* Commits ranges. taken: NULL, or receives which pages are new. */
static VkResult commit_all(MaarAllocator allocator, const char* call, uint32_t range_count,
                           const struct maar_page_range* ranges, bool within_budget,
                           struct maar_new_pages* taken)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    struct maar_patience patience = maar_patience_begin();
    VkResult result = VK_SUCCESS;
    uint32_t done = 0;
    maar_mutex_lock(&paging->lock);
    const uint64_t blocks_made = paging->blocks_made;
    set_committing(range_count, ranges, true);
    maar_mutex_unlock(&paging->lock);
    while (done < range_count && result == VK_SUCCESS) {
        if (taken != NULL) {
            list_missing(&ranges[done], taken);
        }
        result = commit_range(allocator, call, &ranges[done], within_budget, &patience);
        ++done;
    }
    if (result == VK_SUCCESS && taken != NULL && maar_new_pages_overflow(taken)) {
        result = VK_INCOMPLETE;
    }
    if (taken != NULL && maar_is_page_shortage(result)) {
        taken->missing = count_missing_bytes(paging, range_count - done + 1, &ranges[done - 1]);
    }
    const bool is_reported = maar_is_page_shortage(result) && !within_budget;
    struct maar_allocation_failure failure = {.size = 0};
    if (is_reported) {
        const uint64_t asked = count_asked(paging, range_count, ranges);
        failure = describe_shortage(allocator, call, &ranges[done - 1], asked, result);
    }
    struct fallback_bytes fallback = {.bytes = {0}};
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < done; ++i) {
        if (result == VK_SUCCESS) {
            count_fallback(&ranges[i], &fallback);
        }
        end_fresh(&ranges[i], result == VK_SUCCESS);
    }
    set_committing(range_count, ranges, false);
    maar_mutex_unlock(&paging->lock);
    report_fallback(allocator, call, &fallback);
    for (uint32_t i = 0; i < done && result != VK_SUCCESS; ++i) {
        free_unused_leaves(&ranges[i]);
    }
    if (result != VK_SUCCESS) {
        maar_page_pools_undo(paging, blocks_made);
    }
    if (result < 0 && result != VK_ERROR_VALIDATION_FAILED_EXT && !within_budget) {
        (void)maar_atomic64_add(&allocator->failures, 1);
    }
    if (is_reported) {
        report_page_shortage(allocator, &failure, &ranges[done - 1]);
        report_held(allocator, call);
    }
    /* To the caller, a pool's limit is a lack of memory. */
    return result == VK_ERROR_OUT_OF_POOL_MEMORY ? VK_ERROR_OUT_OF_DEVICE_MEMORY : result;
}

VkResult maar_pages_commit(MaarAllocator allocator, const char* call, uint32_t range_count,
                           const struct maar_page_range* ranges)
{
    return commit_all(allocator, call, range_count, ranges, false, NULL);
}

VkResult maar_pages_commit_listed(MaarAllocator allocator, const char* call, uint32_t range_count,
                                  const struct maar_page_range* ranges,
                                  struct maar_new_pages* taken)
{
    return commit_all(allocator, call, range_count, ranges, false, taken);
}

VkResult maar_pages_try_commit(MaarAllocator allocator, const char* call, uint32_t range_count,
                               const struct maar_page_range* ranges)
{
    return commit_all(allocator, call, range_count, ranges, true, NULL);
}

uint64_t maar_pages_decommit_range(const struct maar_page_range* range)
{
    struct maar_page_table* table = range->table;
    const uint64_t end = range->first + range->count;
    uint64_t count = 0;
    maar_mutex_lock(&table->paging->lock);
    for (uint64_t page = range->first; page < end; ++page) {
        uint64_t* entry = maar_page_entry(table, page);
        if (entry == NULL) {
            page |= MAAR_LEAF_PAGES - 1; /* skip a leaf without pages */
        } else if (maar_entry_has_page(*entry) && (*entry & MAAR_ENTRY_HELD) == 0) {
            give_back(table, page, entry);
            ++count;
        }
    }
    maar_mutex_unlock(&table->paging->lock);
    return count;
}

void maar_pages_decommit(MaarAllocator allocator, uint32_t range_count,
                         const struct maar_page_range* ranges)
{
    for (uint32_t i = 0; i < range_count; ++i) {
        (void)maar_pages_decommit_range(&ranges[i]);
    }
    (void)maar_page_pools_release(maar_paging_of(allocator), NULL, UINT32_MAX, true);
}

/* Returns why pages cannot be shared, or NULL. */
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
    MAAR_DEBUG_ASSERT(to->table->may_alias && from->may_alias &&
                      to->table->page_size == from->page_size);
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
        maar_page_count(to->table, maar_page_leaf_of(to->table, to->first + shared), *entry, true);
    }
    while (fault != NULL && shared > 0) {
        --shared;
        give_back(to->table, to->first + shared, maar_page_entry(to->table, to->first + shared));
    }
    maar_mutex_unlock(&paging->lock);
    return fault != NULL ? maar_misuse(allocator, MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE, call, fault)
                         : VK_SUCCESS;
}

bool maar_page_move(struct maar_page_table* to, uint64_t to_page, struct maar_page_table* from,
                    uint64_t from_page)
{
    struct maar_paging* paging = to->paging;
    MAAR_DEBUG_ASSERT(to->page_size == from->page_size && to->image == from->image);
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
        maar_page_count(to, maar_page_leaf_of(to, to_page), *target, true);
        maar_page_count(from, maar_page_leaf_of(from, from_page), *source, false);
        *source &= MAAR_ENTRY_FLAGS & ~MAAR_ENTRY_MOVED;
        if (is_unseen && (*source & MAAR_ENTRY_BOUND) == 0) {
            maar_page_mark_clean(from, source);
        } else {
            maar_page_mark_dirty(from, from_page, source);
        }
    }
    maar_mutex_unlock(&paging->lock);
    return can;
}
