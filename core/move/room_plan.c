/*
 * The exact plan for a window of a small pool: a place for each of its allocations. Where few
 * allocations and few free ranges are, the tightest range for the largest allocation first may find
 * no places though there are some. So all ways are tried, with the window at each offset that it
 * may have.
 */
#include "core/bits.h"
#include "core/memory/pool.h"
#include "core/move/room_search.h"

enum {
    /* Ranges of the pool, beyond which a pool is not small. */
    MOST_RANGES = 128,
    MOST_SPANS = 32,
    /* Blocks that are looked at. */
    MOST_BLOCKS = 32,
    /* Places that are tried before the search ends without an answer: some 50 us. */
    MOST_TRIES = 4096
};

/* A free range, and how much of it is left. */
struct plan_span {
    uint64_t block;
    VkDeviceSize begin;
    VkDeviceSize end;
};

/* The state of the search. */
struct plan_search {
    const struct maar_room_window* window;
    VkDeviceSize size; /* of the window */
    VkDeviceSize alignment;
    struct plan_span spans[MOST_SPANS];
    uint32_t span_count;
    struct plan_span left;  /* free directly before the first allocation of the window, or empty */
    struct plan_span right; /* free directly behind the last one */
    struct maar_room_place* places;
    uint32_t count;
    uint32_t range_count;
    uint32_t try_count;
    VkDeviceSize offset; /* of the window, in the end */
    bool is_small;
};

/* Notes an allocation of the window. */
static void note_occupant(const struct maar_drain_run* run, struct plan_search* search,
                          const struct maar_placement_range* range, uint64_t tag)
{
    const uint32_t index = maar_tag_slot(tag);
    const uint32_t key =
        maar_atomic32_load_acquire(&maar_slot_at(&run->allocator->slots, index)->key);
    const VkDeviceSize known = maar_tag_alignment(tag);
    if ((key & 1u) == 0) {
        return;
    }
    if (search->count == MAAR_ROOM_PLACES) {
        search->is_small = false;
        return;
    }
    uint32_t at = search->count++;
    while (at > 0 && search->places[at - 1].size < range->size) {
        search->places[at] = search->places[at - 1];
        --at;
    }
    search->places[at] = (struct maar_room_place){
        .handle = maar_handle_make(index, key),
        .size = range->size,
        .alignment = known != 0 ? known : range->offset & (~range->offset + 1),
    };
}

/* Notes a free range. */
static void note_span(const struct maar_drain_run* run, struct plan_search* search,
                      const struct plan_span* span)
{
    const struct maar_room_window* window = search->window;
    const bool is_home = span->block == run->room->home.id;
    if (is_home && span->begin <= window->last && span->end > window->first) {
        search->left = *span;
    } else if (is_home && span->begin < window->last + search->size &&
               span->end > window->first + search->size) {
        search->right = *span;
    } else if (is_home && span->end > window->first && span->begin < window->last + search->size) {
        return; /* between two allocations of the window */
    } else if (search->span_count == MOST_SPANS) {
        search->is_small = false;
    } else {
        search->spans[search->span_count++] = *span;
    }
}

/* Notes what is in a block. Called under the arena's lock. */
static void note_block(const struct maar_drain_run* run, struct plan_search* search,
                       const struct maar_block* block)
{
    const struct maar_room_window* window = search->window;
    const bool is_home = block->id == run->room->home.id;
    uint32_t node = MAAR_PLACEMENT_NO_NODE;
    bool has_range = true;
    search->range_count += block->range_count + 1;
    if (search->range_count > MOST_RANGES) {
        search->is_small = false;
        return;
    }
    while (has_range) {
        struct maar_placement_range range;
        uint64_t tag = 0;
        const struct maar_span free = maar_placement_free_behind(block->placement, node);
        if (free.size != 0) {
            const struct plan_span span = {block->id, free.offset, free.offset + free.size};
            note_span(run, search, &span);
        }
        has_range = maar_placement_next_live(block->placement, &node, &range, &tag);
        if (has_range && is_home && range.offset < window->first + search->size &&
            maar_placement_extent_end(block->placement, node) > window->first) {
            note_occupant(run, search, &range, tag);
        }
    }
}

/* Notes what is in the blocks of the pool. */
static void note_pool(const struct maar_drain_run* run, struct plan_search* search)
{
    const struct maar_pool* pool = run->room->home.pool;
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0);
         arena != NULL && search->is_small; arena = maar_pool_next_arena(pool, arena->number + 1)) {
        maar_mutex_lock(&arena->lock);
        search->is_small = search->is_small && arena->block_count <= MOST_BLOCKS;
        for (const struct maar_block* block = maar_arena_next_block(arena, 0);
             block != NULL && search->is_small;
             block = maar_arena_next_block(arena, block->at + 1)) {
            if (!block->draining) {
                note_block(run, search, block);
            }
        }
        maar_mutex_unlock(&arena->lock);
    }
}

/* Whether the window has an offset between what is placed to its left and to its right. */
static bool window_fits(struct plan_search* search)
{
    const VkDeviceSize least =
        search->left.begin > search->window->first ? search->left.begin : search->window->first;
    search->offset = maar_align_up(least, search->alignment);
    return search->offset <= search->window->last &&
           (search->right.end == 0 || search->offset + search->size <= search->right.end);
}

/* Places an allocation at the lower end of a free range. */
static bool fill_up(struct plan_span* span, struct maar_room_place* place)
{
    const VkDeviceSize offset = maar_align_up(span->begin, place->alignment);
    if (span->end == 0 || offset + place->size > span->end) {
        return false;
    }
    place->block = span->block;
    place->offset = offset;
    span->begin = offset + place->size;
    return true;
}

/* Places an allocation at the upper end of a free range. */
static bool fill_down(struct plan_span* span, struct maar_room_place* place)
{
    if (span->end == 0 || place->size > span->end - span->begin) {
        return false;
    }
    const VkDeviceSize offset =
        (span->end - place->size) - (span->end - place->size) % place->alignment;
    if (offset < span->begin) {
        return false;
    }
    place->block = span->block;
    place->offset = offset;
    span->end = offset;
    return true;
}

/* The free range that a choice stands for: one of the others, or beside the window. */
static struct plan_span* span_of_choice(struct plan_search* search, uint32_t choice)
{
    if (choice < search->span_count) {
        return &search->spans[choice];
    }
    return choice == search->span_count ? &search->left : &search->right;
}

/* Tries all places, with a stack of its own: a choice for each allocation. Returns whether there is
 * a plan. */
static bool find_places(struct plan_search* search)
{
    struct plan_span before[MAAR_ROOM_PLACES];
    uint32_t choices[MAAR_ROOM_PLACES] = {0};
    uint32_t depth = 0;
    const uint32_t end = search->span_count + 2;
    while (depth < search->count) {
        if (choices[depth] == end) {
            if (depth == 0) {
                return false;
            }
            choices[depth] = 0;
            --depth;
            *span_of_choice(search, choices[depth]) = before[depth];
            ++choices[depth];
            continue;
        }
        struct plan_span* span = span_of_choice(search, choices[depth]);
        before[depth] = *span;
        const bool is_right = choices[depth] == search->span_count + 1;
        const bool fits = is_right ? fill_down(span, &search->places[depth])
                                   : fill_up(span, &search->places[depth]);
        if (++search->try_count > MOST_TRIES) {
            return false;
        }
        if (fits && window_fits(search)) {
            ++depth;
        } else {
            *span = before[depth];
            ++choices[depth];
        }
    }
    return window_fits(search);
}

bool maar_room_plan(struct maar_drain_run* run)
{
    struct maar_room* room = run->room;
    struct plan_search search = {
        .window = &room->window,
        .size = room->end - room->begin,
        .alignment = room->window_alignment,
        .places = room->places,
        .is_small = room->home.pool->granularity <= 1 && room->window.count <= MAAR_ROOM_PLACES,
    };
    room->place_count = 0;
    if (search.is_small) {
        note_pool(run, &search);
    }
    if (!search.is_small || search.count == 0) {
        return true;
    }
    if (!find_places(&search)) {
        return search.try_count > MOST_TRIES;
    }
    room->place_count = search.count;
    room->begin = search.offset;
    room->end = search.offset + search.size;
    return true;
}

/* Returns the live node before an offset. Called under the arena's lock; the block has few ranges.
 */
static uint32_t node_before(const struct maar_block* block, VkDeviceSize offset)
{
    struct maar_placement_range range;
    uint64_t tag = 0;
    uint32_t before = MAAR_PLACEMENT_NO_NODE;
    uint32_t node = MAAR_PLACEMENT_NO_NODE;
    for (uint32_t i = 0; i < 2 * MOST_RANGES; ++i) {
        if (!maar_placement_next_live(block->placement, &node, &range, &tag) ||
            range.offset >= offset) {
            return before;
        }
        before = node;
    }
    return before;
}

enum maar_pool_outcome maar_room_place_planned(struct maar_drain_run* run, uint64_t handle,
                                               const struct maar_place_request* request,
                                               struct maar_made* made)
{
    const struct maar_room* room = run->room;
    struct maar_arena* arena = NULL;
    uint32_t at = 0;
    while (at < room->place_count && room->places[at].handle != handle) {
        ++at;
    }
    struct maar_block* block =
        at < room->place_count ? maar_drain_enter(run->allocator, room->places[at].block, &arena)
                               : NULL;
    if (block == NULL) {
        return MAAR_POOL_NO_ROOM;
    }
    enum maar_pool_outcome outcome = MAAR_POOL_NO_ROOM;
    do {
        const VkDeviceSize offset = room->places[at].offset;
        outcome = block->draining ? MAAR_POOL_NO_ROOM
                                  : maar_arena_place_at(arena, block, request, 0, offset,
                                                        node_before(block, offset), made);
    } while (outcome == MAAR_POOL_CHANGED);
    maar_drain_leave(run->allocator, arena);
    return outcome;
}
