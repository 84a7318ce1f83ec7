/*
 * The map of a pool: see drain_map.h.
 */
#include "core/move/drain_map.h"

#include <string.h>

#include "core/bits.h"
#include "core/memory/block_index.h"

enum {
    /* Gaps of one class that are compared. Pools with more of them have many that fit. */
    COMPARED_GAPS = 48,
    /* Gaps that a search looks at in all. */
    SEARCHED_GAPS = 256,
    /* A change makes at most two gaps more. */
    GAPS_OF_CHANGE = 2
};

void maar_map_begin(struct maar_map* map, const VkAllocationCallbacks* callbacks)
{
    map->callbacks = callbacks;
    maar_map_begin_pool(map, 0);
}

void maar_map_begin_pool(struct maar_map* map, VkDeviceSize granularity)
{
    map->granularity = granularity;
    map->gaps.count = 0;
    map->changes.count = 0;
    map->free_gap = MAAR_MAP_NONE;
    for (uint32_t i = 0; i < MAAR_MAP_CLASSES; ++i) {
        map->heads[i] = MAAR_MAP_NONE;
    }
    memset(map->words, 0, sizeof map->words);
}

void maar_map_destroy(struct maar_map* map)
{
    maar_drain_list_free(map->callbacks, &map->items);
    maar_drain_list_free(map->callbacks, &map->gaps);
    maar_drain_list_free(map->callbacks, &map->blocks);
    maar_drain_list_free(map->callbacks, &map->changes);
}

bool maar_map_reserve(struct maar_map* map, uint32_t count)
{
    const VkAllocationCallbacks* callbacks = map->callbacks;
    return maar_drain_list_reserve(callbacks, &map->items, count, sizeof(struct maar_map_item)) &&
           maar_drain_list_reserve(callbacks, &map->gaps, GAPS_OF_CHANGE * count,
                                   sizeof(struct maar_map_gap)) &&
           maar_drain_list_reserve(callbacks, &map->changes, 2 * count,
                                   sizeof(struct maar_map_change));
}

/* ---- gaps by size ---- */

void maar_map_show_gap(struct maar_map* map, uint32_t cell, bool shown)
{
    struct maar_map_gap* gap = maar_map_gap(map, cell);
    const uint32_t class = maar_size_class(gap->size);
    uint32_t* head = &map->heads[class];
    if (shown) {
        gap->bin_previous = MAAR_MAP_NONE;
        gap->bin_next = *head;
        if (*head != MAAR_MAP_NONE) {
            maar_map_gap(map, *head)->bin_previous = cell & ~MAAR_MAP_GAP;
        }
        *head = cell & ~MAAR_MAP_GAP;
        map->words[class / 64] |= UINT64_C(1) << class % 64;
        return;
    }
    if (gap->bin_next != MAAR_MAP_NONE) {
        maar_map_gap(map, gap->bin_next)->bin_previous = gap->bin_previous;
    }
    if (gap->bin_previous != MAAR_MAP_NONE) {
        maar_map_gap(map, gap->bin_previous)->bin_next = gap->bin_next;
    } else {
        *head = gap->bin_next;
    }
    if (*head == MAAR_MAP_NONE) {
        map->words[class / 64] &= ~(UINT64_C(1) << class % 64);
    }
}

/* Returns the first class from one on that has gaps, or MAAR_MAP_CLASSES. */
static uint32_t next_gap_class(const struct maar_map* map, uint32_t class)
{
    uint32_t word = class / 64;
    uint64_t bits = class < MAAR_MAP_CLASSES ? map->words[word] & (~UINT64_C(0) << class % 64) : 0;
    while (bits == 0 && ++word < MAAR_MAP_WORDS) {
        bits = map->words[word];
    }
    return bits != 0 ? word * 64 + maar_low_bit(bits) : (uint32_t)MAAR_MAP_CLASSES;
}

/* Returns a new gap. The list has room. */
static uint32_t new_gap(struct maar_map* map, uint32_t block, VkDeviceSize offset,
                        VkDeviceSize size)
{
    uint32_t at = map->free_gap;
    if (at != MAAR_MAP_NONE) {
        map->free_gap = maar_map_gap(map, at)->bin_next;
    } else {
        at = map->gaps.count++;
    }
    struct maar_map_gap* gap = maar_map_gap(map, at);
    gap->offset = offset;
    gap->size = size;
    gap->block = block;
    return at | MAAR_MAP_GAP;
}

static void end_gap(struct maar_map* map, uint32_t cell)
{
    if (!maar_map_block(map, maar_map_gap(map, cell)->block)->is_source) {
        maar_map_show_gap(map, cell, false);
    }
    maar_map_gap(map, cell)->bin_next = map->free_gap;
    map->free_gap = cell & ~MAAR_MAP_GAP;
}

/* ---- the cells of a block ---- */

static void set_next(struct maar_map* map, uint32_t block, uint32_t cell, uint32_t next)
{
    if (cell == MAAR_MAP_NONE) {
        maar_map_block(map, block)->first_cell = next;
    } else if ((cell & MAAR_MAP_GAP) != 0) {
        maar_map_gap(map, cell)->next = next;
    } else {
        maar_map_item(map, cell)->next = next;
    }
}

static void set_previous(struct maar_map* map, uint32_t cell, uint32_t previous)
{
    if (cell == MAAR_MAP_NONE) {
        return;
    }
    if ((cell & MAAR_MAP_GAP) != 0) {
        maar_map_gap(map, cell)->previous = previous;
    } else {
        maar_map_item(map, cell)->previous = previous;
    }
}

/* Makes two cells neighbours. Either may be none. */
static void link_cells(struct maar_map* map, uint32_t block, uint32_t one, uint32_t other)
{
    set_next(map, block, one, other);
    set_previous(map, other, one);
}

/* Makes a gap between two cells, unless it is empty. Returns the cell before the second one. */
static uint32_t link_gap(struct maar_map* map, uint32_t block, uint32_t before,
                         struct maar_map_gap span, uint32_t behind)
{
    if (span.size == 0) {
        link_cells(map, block, before, behind);
        return before;
    }
    const uint32_t cell = new_gap(map, block, span.offset, span.size);
    link_cells(map, block, before, cell);
    link_cells(map, block, cell, behind);
    if (!maar_map_block(map, block)->is_source) {
        maar_map_show_gap(map, cell, true);
    }
    return cell;
}

uint32_t maar_map_add_gap(struct maar_map* map, uint32_t block, uint32_t last, VkDeviceSize offset,
                          VkDeviceSize size)
{
    const struct maar_map_gap span = {.offset = offset, .size = size};
    return link_gap(map, block, last, span, MAAR_MAP_NONE);
}

uint32_t maar_map_add_item(struct maar_map* map, uint32_t last, const struct maar_map_item* item)
{
    const uint32_t at = map->items.count++;
    struct maar_map_block* block = maar_map_block(map, item->origin);
    *maar_map_item(map, at) = *item;
    link_cells(map, item->origin, last, at);
    set_next(map, item->origin, at, MAAR_MAP_NONE);
    ++block->item_count;
    if (item->handle != 0) {
        block->stay += item->size;
        block->largest = item->size > block->largest ? item->size : block->largest;
    }
    return at;
}

void maar_map_forget(struct maar_map* map, uint32_t block)
{
    struct maar_map_block* about = maar_map_block(map, block);
    uint32_t cell = about->first_cell;
    while (cell != MAAR_MAP_NONE) {
        const uint32_t next = maar_map_next(map, cell);
        if ((cell & MAAR_MAP_GAP) != 0) {
            end_gap(map, cell);
        }
        cell = next;
    }
    map->items.count = about->first_item;
    about->first_cell = MAAR_MAP_NONE;
    about->item_count = 0;
    about->stay = 0;
    about->largest = 0;
    about->is_stuck = false;
}

uint32_t maar_map_item_from(const struct maar_map* map, uint32_t cell)
{
    return cell != MAAR_MAP_NONE && (cell & MAAR_MAP_GAP) != 0 ? maar_map_gap(map, cell)->next
                                                               : cell;
}

uint32_t maar_map_item_before(const struct maar_map* map, uint32_t item)
{
    const uint32_t cell = maar_map_item(map, item)->previous;
    return cell != MAAR_MAP_NONE && (cell & MAAR_MAP_GAP) != 0 ? maar_map_gap(map, cell)->previous
                                                               : cell;
}

/* ---- changes ---- */

static uint32_t take_item(struct maar_map* map, uint32_t at)
{
    const struct maar_map_item item = *maar_map_item(map, at);
    struct maar_map_gap span = {.offset = item.offset,
                                .size = maar_map_item_end(&item) - item.offset};
    uint32_t before = item.previous;
    uint32_t behind = item.next;
    if (before != MAAR_MAP_NONE && (before & MAAR_MAP_GAP) != 0) {
        const struct maar_map_gap gap = *maar_map_gap(map, before);
        span.offset = gap.offset;
        span.size += gap.size;
        end_gap(map, before);
        before = gap.previous;
    }
    if (behind != MAAR_MAP_NONE && (behind & MAAR_MAP_GAP) != 0) {
        const struct maar_map_gap gap = *maar_map_gap(map, behind);
        span.size += gap.size;
        end_gap(map, behind);
        behind = gap.next;
    }
    return link_gap(map, item.block, before, span, behind);
}

static void put_item(struct maar_map* map, uint32_t at, uint32_t cell, VkDeviceSize offset)
{
    struct maar_map_item* item = maar_map_item(map, at);
    const struct maar_map_gap gap = *maar_map_gap(map, cell);
    const struct maar_map_gap lower = {.offset = gap.offset, .size = offset - gap.offset};
    end_gap(map, cell);
    item->block = gap.block;
    item->offset = offset;
    const VkDeviceSize end = maar_map_item_end(item);
    const struct maar_map_gap upper = {.offset = end, .size = gap.offset + gap.size - end};
    (void)link_gap(map, gap.block, gap.previous, lower, at);
    (void)link_gap(map, gap.block, at, upper, gap.next);
}

uint32_t maar_map_take(struct maar_map* map, uint32_t item)
{
    const struct maar_map_item* about = maar_map_item(map, item);
    struct maar_map_change* change =
        maar_drain_list_at(&map->changes, map->changes.count++, sizeof(struct maar_map_change));
    *change = (struct maar_map_change){
        .offset = about->offset,
        .item = item,
        .block = about->block,
        .before = maar_map_item_before(map, item),
        .level = about->level,
        .is_leaver = about->is_leaver,
        .is_taken = true,
    };
    return take_item(map, item);
}

void maar_map_put(struct maar_map* map, uint32_t item, uint32_t gap, VkDeviceSize offset)
{
    struct maar_map_change* change =
        maar_drain_list_at(&map->changes, map->changes.count++, sizeof(struct maar_map_change));
    *change = (struct maar_map_change){.item = item};
    put_item(map, item, gap, offset);
}

void maar_map_plan(struct maar_map* map, uint32_t item, int32_t level, bool is_leaver)
{
    struct maar_map_item* about = maar_map_item(map, item);
    struct maar_map_block* origin = maar_map_block(map, about->origin);
    if (about->level == MAAR_MAP_STAYS) {
        origin->stay -= about->size;
    }
    if (is_leaver && !about->is_leaver) {
        about->next_leaver = origin->leaver;
        origin->leaver = item;
    }
    about->level = level;
    about->is_leaver = is_leaver;
}

/* Sets the level of an item back. */
static void unplan(struct maar_map* map, uint32_t item, int32_t level, bool is_leaver)
{
    struct maar_map_item* about = maar_map_item(map, item);
    struct maar_map_block* origin = maar_map_block(map, about->origin);
    if (about->is_leaver && !is_leaver) {
        origin->leaver = about->next_leaver;
    }
    if (about->level != MAAR_MAP_STAYS && level == MAAR_MAP_STAYS) {
        origin->stay += about->size;
    }
    about->level = level;
    about->is_leaver = is_leaver;
}

bool maar_map_undo(struct maar_map* map, uint32_t left, uint32_t most)
{
    for (; map->changes.count > left && most > 0; --most) {
        const struct maar_map_change change = *(const struct maar_map_change*)maar_drain_list_at(
            &map->changes, --map->changes.count, sizeof(struct maar_map_change));
        if (!change.is_taken) {
            (void)take_item(map, change.item);
            continue;
        }
        const uint32_t gap = change.before != MAAR_MAP_NONE
                                 ? maar_map_item(map, change.before)->next
                                 : maar_map_block(map, change.block)->first_cell;
        unplan(map, change.item, change.level, change.is_leaver);
        put_item(map, change.item, gap, change.offset);
    }
    return map->changes.count <= left;
}

/* ---- the search for a gap ---- */

/* Whether the bytes of a gap are free at a level: nothing that leaves them moves at a higher one.
 */
static bool is_free_at(const struct maar_map* map, const struct maar_map_gap* gap, int32_t level)
{
    uint32_t at = maar_map_block(map, gap->block)->leaver;
    while (at != MAAR_MAP_NONE) {
        const struct maar_map_item* item = maar_map_item(map, at);
        if (item->level > level && item->origin_offset < gap->offset + gap->size &&
            item->origin_offset + item->extent > gap->offset) {
            return false;
        }
        at = item->next_leaver;
    }
    return true;
}

/* Whether an item fits into a gap, and where. */
static bool fits(const struct maar_map* map, const struct maar_map_item* item, uint32_t at,
                 int32_t level, struct maar_map_place* place)
{
    const struct maar_map_gap* gap = maar_map_gap(map, at);
    VkDeviceSize begin = gap->offset;
    VkDeviceSize end = gap->offset + gap->size;
    if (gap->previous != MAAR_MAP_NONE &&
        maar_map_kinds_conflict(map, maar_map_item(map, gap->previous)->kind, item->kind)) {
        begin = maar_align_up(begin, map->granularity);
    }
    if (gap->next != MAAR_MAP_NONE &&
        maar_map_kinds_conflict(map, maar_map_item(map, gap->next)->kind, item->kind)) {
        end &= ~(map->granularity - 1);
    }
    place->offset = maar_align_up(begin, item->alignment);
    place->gap = at | MAAR_MAP_GAP;
    return place->offset < end && item->size <= end - place->offset && is_free_at(map, gap, level);
}

bool maar_map_fit(const struct maar_map* map, uint32_t item, int32_t level,
                  struct maar_map_place* place)
{
    const struct maar_map_item* about = maar_map_item(map, item);
    uint32_t searched = 0;
    for (uint32_t class = next_gap_class(map, maar_size_class(about->size));
         class < MAAR_MAP_CLASSES && searched < SEARCHED_GAPS;
         class = next_gap_class(map, class + 1)) {
        VkDeviceSize best = UINT64_MAX;
        uint32_t compared = 0;
        for (uint32_t at = map->heads[class]; at != MAAR_MAP_NONE && compared < COMPARED_GAPS;
             at = maar_map_gap(map, at)->bin_next) {
            const VkDeviceSize size = maar_map_gap(map, at)->size;
            struct maar_map_place here;
            ++compared;
            if (size >= about->size && size < best && fits(map, about, at, level, &here)) {
                best = size;
                *place = here;
            }
            if (best == about->size) {
                break;
            }
        }
        if (best != UINT64_MAX) {
            return true;
        }
        searched += compared;
    }
    return false;
}
