/*
 * Lists far frees and takes them in: see far_list.h.
 *
 * A thread that lists a free writes the entry and then reads `listing` and `noted`. A thread that
 * closes a list, or takes it in, writes that word and then reads the entries. These operations are
 * sequentially consistent, so one of the two threads sees what the other has written: the entry is
 * freed, or it is withdrawn, or the block is noted again. An entry is removed by an exchange, so
 * that one thread alone frees its slot. The exchange also makes the slot's members visible.
 */
#include "core/memory/far_list.h"

#include "core/memory/allocator_state.h"
#include "core/memory/capture_entry.h"
#include "core/memory/pool.h"
#include "core/memory/range_end.h"
#include "core/memory/slot_home.h"

/* The list of a block opens when the block has OPEN_FROM allocations, and closes when it has only
 * CLOSE_AT. At CLOSE_AT a full list leaves some allocations in the block, so the block does not
 * become empty. The distance keeps a list from opening and closing again and again. */
enum { OPEN_FROM = 96, CLOSE_AT = 48 };
/* The block where a thread frees is noted for each eighth far free only. */
enum { NOTE_EVERY = 8 };
_Static_assert((int)CLOSE_AT > (int)MAAR_FAR_ENTRIES, "a list never empties its block");
_Static_assert((int)OPEN_FROM > (int)CLOSE_AT + (int)MAAR_FAR_ENTRIES,
               "a list taken in stays open");

/* Opens the list of a slot's block if the block has many allocations. Returns whether it is open.
 */
static bool open_list(MaarAllocator allocator, const struct maar_slot* slot)
{
    struct maar_block* block = maar_slot_enter(allocator, slot);
    if (block->range_count >= OPEN_FROM && block->listing_floor == 0) {
        block->listing_floor = CLOSE_AT;
        maar_atomic32_store_ordered(&block->listing, maar_block_arena(block)->number + 1);
    }
    const bool is_open = block->listing_floor != 0;
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return is_open;
}

/* Adds an entry. Returns its place, or MAAR_FAR_ENTRIES if the list is full. */
static uint32_t add_entry(struct maar_far_list* list, uint32_t entry)
{
    uint32_t at = maar_atomic32_load(&list->next) % MAAR_FAR_ENTRIES;
    for (uint32_t i = 0; i < MAAR_FAR_ENTRIES; ++i) {
        if (maar_atomic32_load(&list->entries[at]) == 0 &&
            maar_atomic32_turn_ordered(&list->entries[at], 0, entry)) {
            maar_atomic32_store(&list->next, at + 1);
            return at;
        }
        at = at + 1 < MAAR_FAR_ENTRIES ? at + 1 : 0;
    }
    return MAAR_FAR_ENTRIES;
}

/* Puts a block into the list of its arena, unless it is in such a list. The block may move, or
 * leave, at the same time. It is then found in the list of an arena of the past, see take_noted. */
static void note_list(struct maar_block* block)
{
    struct maar_far_list* list = &block->far_list;
    if (maar_atomic32_load_ordered(&list->noted) != 0 ||
        maar_atomic32_exchange_ordered(&list->noted, 1) != 0) {
        return;
    }
    struct maar_arena* arena = maar_block_arena(block);
    void* first = maar_atomic_pointer_load(&arena->far_first);
    do {
        maar_atomic_pointer_store(&list->next_noted, first);
    } while (!maar_atomic_pointer_replace(&arena->far_first, &first, block));
}

/* Frees what is listed at a block. If the block has a single allocation left, its free is that of a
 * thread which finds the list closed and withdraws it: that free must release the block. */
static void take_far_list(struct maar_arena* arena, struct maar_block* block)
{
    uint32_t indices[MAAR_FAR_ENTRIES];
    struct maar_slot* slots[MAAR_FAR_ENTRIES];
    uint32_t count = 0;
    const struct maar_slot_table* table = &arena->pool->allocator->slots;
    for (uint32_t i = 0; i < MAAR_FAR_ENTRIES; ++i) {
        if (maar_atomic32_load_ordered(&block->far_list.entries[i]) == 0 ||
            block->range_count <= count + 1) {
            continue;
        }
        const uint32_t entry = maar_atomic32_exchange_ordered(&block->far_list.entries[i], 0);
        if (entry != 0) {
            indices[count] = entry - 1u;
            slots[count] = maar_slot_at(table, entry - 1u);
            MAAR_PREFETCH(slots[count]);
            ++count;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        maar_placement_prefetch(block->placement, slots[i]->node);
    }
    for (uint32_t i = 0; i < count; ++i) {
        maar_end_listed_slot(arena, block, slots[i], indices[i]);
    }
}

/* Whether a list has an entry. */
static bool has_entries(const struct maar_far_list* list)
{
    bool any = false;
    for (uint32_t i = 0; i < MAAR_FAR_ENTRIES; ++i) {
        any = any || maar_atomic32_load_ordered(&list->entries[i]) != 0;
    }
    return any;
}

/* Takes in the list of a block that was in the list of an arena. If the block is in another arena
 * now, that arena will take it in. A thread that has walked past that arena must walk again. */
static void take_noted(struct maar_arena* arena, struct maar_block* block)
{
    maar_atomic32_store_ordered(&block->far_list.noted, 0);
    if (maar_block_arena(block) == arena) {
        take_far_list(arena, block);
    } else if (has_entries(&block->far_list)) {
        note_list(block);
        (void)maar_atomic32_add(&arena->pool->allocator->stray_count, 1);
    }
}

void maar_arena_take_in(struct maar_arena* arena)
{
    maar_assert_held(&arena->lock);
    struct maar_block* block = maar_atomic_pointer_exchange(&arena->far_first, NULL);
    while (block != NULL) {
        /* As soon as the block is not noted any more, another thread may note it again. */
        struct maar_block* next = maar_atomic_pointer_load(&block->far_list.next_noted);
        take_noted(arena, block);
        block = next;
    }
}

bool maar_arena_take_in_if_any(struct maar_arena* arena)
{
    const bool any = maar_atomic_pointer_load(&arena->far_first) != NULL;
    if (any) {
        maar_arena_take_in(arena);
    }
    return any;
}

void maar_far_close(struct maar_arena* arena, struct maar_block* block)
{
    block->listing_floor = 0;
    maar_atomic32_store_ordered(&block->listing, 0);
    take_far_list(arena, block);
}

/* Makes room in a full list. */
static void take_full_list(MaarAllocator allocator, const struct maar_slot* slot)
{
    struct maar_block* block = maar_slot_enter(allocator, slot);
    struct maar_arena* arena = maar_block_arena(block);
    take_far_list(arena, block);
    maar_mutex_unlock(&arena->lock);
}

/* Notes that a thread of an arena frees in a block of another one. The block has an allocation of
 * this thread, so it cannot leave meanwhile. */
static void note_far_block(struct maar_pool* pool, uint32_t number, struct maar_block* block)
{
    struct maar_arena* own = number < MAAR_ARENAS ? maar_arena_set_at(&pool->arenas, number) : NULL;
    if (own != NULL) {
        maar_atomic_pointer_store(&own->far_block, block);
    }
}

/* Called when a block's far frees are not listed. Returns whether they are listed from now on, and
 * this one is far. */
static bool begin_listing(const struct maar_slot* slot, struct maar_block* block, uint32_t number)
{
    if (block->placement == NULL || maar_block_arena(block)->number == number) {
        return false;
    }
    note_far_block(block->pool, number, block);
    return open_list(block->pool->allocator, slot);
}

bool maar_far_free(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    struct maar_block* block = maar_slot_block(allocator, slot);
    struct maar_far_list* list = &block->far_list;
    const uint32_t number = maar_known_thread_arena(&allocator->threads);
    const uint32_t listing = maar_atomic32_load(&block->listing);
    if (listing == number + 1 || maar_slot_has(slot, MAAR_SLOT_NAMED) ||
        maar_may_capture(allocator) || (listing == 0 && !begin_listing(slot, block, number))) {
        return false;
    }
    if (listing != 0 && maar_atomic32_load(&list->next) % NOTE_EVERY == 0) {
        note_far_block(block->pool, number, block);
    }
    uint32_t at = add_entry(list, index + 1u);
    if (at == MAAR_FAR_ENTRIES) {
        take_full_list(allocator, slot);
        at = add_entry(list, index + 1u);
    }
    if (at == MAAR_FAR_ENTRIES) {
        return false;
    }
    /* From here on another thread may free the slot. Even the block may leave. Its header stays:
     * see recycled.h. */
    if (maar_atomic32_load_ordered(&block->listing) == 0 &&
        maar_atomic32_turn_ordered(&list->entries[at], index + 1u, 0)) {
        return false;
    }
    note_list(block);
    if (at % (MAAR_FAR_ENTRIES / 2) == 0) {
        maar_atomic32_store(&maar_block_arena(block)->far_due, 1);
    }
    return true;
}
