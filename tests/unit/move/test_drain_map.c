/*
 * The map of a pool: random changes against a naive picture of the same blocks.
 */
#include "tests/rig/rig.h"

#include "core/memory/block_index.h"
#include "core/move/drain_map.h"

/* Sizes and offsets are in units of 256 bytes: a naive block says for each unit whose it is. */
enum { BLOCKS = 6, UNITS = 96, UNIT = 256, MOST_ITEMS = 256, NOBODY = -1 };

static struct maar_map map;
static int32_t owners[BLOCKS][UNITS];
static uint32_t item_count;
static struct rig_random source;

static uint32_t below(uint32_t bound)
{
    return rig_below(&source, bound);
}

static VkDeviceSize bytes(uint32_t units)
{
    return (VkDeviceSize)units * UNIT;
}

static void mark(uint32_t item, int32_t owner)
{
    const struct maar_map_item* about = maar_map_item(&map, item);
    for (VkDeviceSize at = about->offset; at < maar_map_item_end(about); at += UNIT) {
        owners[about->block][at / UNIT] = owner;
    }
}

/* Lists a block of random items and gaps. */
static void list_block(uint32_t block)
{
    uint32_t last = MAAR_MAP_NONE;
    uint32_t at = 0;
    *maar_map_block(&map, map.blocks.count++) = (struct maar_map_block){
        .size = bytes(UNITS),
        .first_item = map.items.count,
        .first_cell = MAAR_MAP_NONE,
        .leaver = MAAR_MAP_NONE,
    };
    while (at < UNITS) {
        uint32_t units = 1 + below(12);
        units = units < UNITS - at ? units : UNITS - at;
        if (below(2) == 0 && (last == MAAR_MAP_NONE || (last & MAAR_MAP_GAP) == 0)) {
            last = maar_map_add_gap(&map, block, last, bytes(at), bytes(units));
        } else {
            const struct maar_map_item item = {
                .handle = map.items.count + 1,
                .origin_offset = bytes(at),
                .offset = bytes(at),
                .size = bytes(units),
                .extent = bytes(units),
                .alignment = UNIT << below(3),
                .origin = block,
                .block = block,
                .next_leaver = MAAR_MAP_NONE,
                .level = MAAR_MAP_STAYS,
            };
            last = maar_map_add_item(&map, last, &item);
            mark(last, (int32_t)last);
        }
        at += units;
    }
}

static void open_map(uint32_t seed)
{
    source = (struct rig_random){rig_seed(seed)};
    map = (struct maar_map){0};
    maar_map_begin(&map, NULL);
    assert_true(maar_map_reserve(&map, MOST_ITEMS * 2));
    assert_true(maar_drain_list_reserve(NULL, &map.blocks, BLOCKS, sizeof(struct maar_map_block)));
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        for (uint32_t k = 0; k < UNITS; ++k) {
            owners[i][k] = NOBODY;
        }
        list_block(i);
    }
    item_count = map.items.count;
}

/* Whether a gap is in the bin of its size. */
static bool is_shown(uint32_t cell)
{
    uint32_t at = map.heads[maar_size_class(maar_map_gap(&map, cell)->size)];
    while (at != MAAR_MAP_NONE && at != (cell & ~MAAR_MAP_GAP)) {
        at = maar_map_gap(&map, at)->bin_next;
    }
    return at != MAAR_MAP_NONE;
}

/* The cells of all blocks are those of the naive picture, and no two gaps are neighbours. */
static void check_map(void)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        uint32_t at = 0;
        bool was_gap = false;
        uint32_t last = MAAR_MAP_NONE;
        for (uint32_t cell = maar_map_block(&map, i)->first_cell; cell != MAAR_MAP_NONE;
             cell = maar_map_next(&map, cell)) {
            const bool is_gap = (cell & MAAR_MAP_GAP) != 0;
            const VkDeviceSize offset =
                is_gap ? maar_map_gap(&map, cell)->offset : maar_map_item(&map, cell)->offset;
            const VkDeviceSize end = is_gap ? offset + maar_map_gap(&map, cell)->size
                                            : maar_map_item_end(maar_map_item(&map, cell));
            assert_int_equal(offset, bytes(at));
            assert_int_equal(is_gap ? maar_map_gap(&map, cell)->previous
                                    : maar_map_item(&map, cell)->previous,
                             last);
            for (; at < end / UNIT; ++at) {
                assert_int_equal(owners[i][at], is_gap ? NOBODY : (int32_t)cell);
            }
            assert_false(is_gap && was_gap);
            assert_true(!is_gap || is_shown(cell) == !maar_map_block(&map, i)->is_source);
            shown += is_gap && !maar_map_block(&map, i)->is_source ? 1 : 0;
            was_gap = is_gap;
            last = cell;
        }
        assert_int_equal(at, UNITS);
    }
    for (uint32_t i = 0; i < MAAR_MAP_CLASSES; ++i) {
        const bool has_bit = (map.words[i / 64] >> i % 64 & 1u) != 0;
        assert_int_equal(has_bit, map.heads[i] != MAAR_MAP_NONE);
        for (uint32_t at = map.heads[i]; at != MAAR_MAP_NONE;
             at = maar_map_gap(&map, at)->bin_next) {
            --shown;
        }
    }
    assert_int_equal(shown, 0);
}

/* Whether a unit is free at a level. */
static bool is_free(uint32_t block, uint32_t unit, int32_t level)
{
    for (uint32_t i = 0; i < item_count; ++i) {
        const struct maar_map_item* item = maar_map_item(&map, i);
        if (item->is_leaver && item->level > level && item->origin == block &&
            item->origin_offset <= bytes(unit) &&
            item->origin_offset + item->extent > bytes(unit)) {
            return false;
        }
    }
    return owners[block][unit] == NOBODY;
}

/* The size of the smallest gap that an item fits into, or 0. All of a gap is free at the level. */
static uint32_t smallest_gap(uint32_t item, int32_t level)
{
    const struct maar_map_item* about = maar_map_item(&map, item);
    uint32_t best = 0;
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        if (maar_map_block(&map, i)->is_source) {
            continue;
        }
        for (uint32_t first = 0; first < UNITS; ++first) {
            uint32_t end = first;
            bool all = true;
            while (end < UNITS && owners[i][end] == NOBODY) {
                all = all && is_free(i, end, level);
                ++end;
            }
            const uint32_t mask = about->alignment / UNIT - 1;
            const uint32_t begin = (first + mask) & ~mask;
            if (all && end > first && begin + about->size / UNIT <= end &&
                (best == 0 || end - first < best)) {
                best = end - first;
            }
            first = end > first ? end : first;
        }
    }
    return best;
}

/* Moves an item to the gap that the map finds. Returns whether there is one. */
static bool move_item(uint32_t item, int32_t level, bool leaves)
{
    struct maar_map_place place;
    (void)mark(item, NOBODY);
    const uint32_t left = maar_map_take(&map, item);
    maar_map_plan(&map, item, level, leaves);
    assert_true((left & MAAR_MAP_GAP) != 0);
    const uint32_t expected = smallest_gap(item, level - (leaves ? 1 : 0));
    const bool found = maar_map_fit(&map, item, level - (leaves ? 1 : 0), &place);
    assert_int_equal(found, expected != 0);
    if (!found) {
        return false;
    }
    assert_int_equal(maar_map_gap(&map, place.gap)->size, bytes(expected));
    assert_int_equal(place.offset % maar_map_item(&map, item)->alignment, 0);
    maar_map_put(&map, item, place.gap, place.offset);
    mark(item, (int32_t)item);
    return true;
}

static void random_changes_are_those_of_a_naive_map_and_undone(void** state)
{
    (void)state;
    static int32_t before[BLOCKS][UNITS];
    uint32_t moved = 0;
    for (uint32_t seed = 1; seed <= 200; ++seed) {
        open_map(seed);
        check_map();
        memcpy(before, owners, sizeof before);
        VkDeviceSize stay[BLOCKS];
        for (uint32_t i = 0; i < BLOCKS; ++i) {
            stay[i] = maar_map_block(&map, i)->stay;
        }
        for (uint32_t i = 0; i < 40; ++i) {
            const uint32_t item = below(item_count);
            const struct maar_map_item* about = maar_map_item(&map, item);
            const bool leaves = about->is_leaver || (about->level == MAAR_MAP_STAYS && below(2));
            const int32_t level =
                about->level != MAAR_MAP_STAYS ? about->level : (int32_t)(1 + i / 8);
            if (!move_item(item, level, leaves)) {
                break; /* it is nowhere: a plan would undo this */
            }
            ++moved;
            check_map();
        }
        while (!maar_map_undo(&map, 0, 1 + below(5))) {
        }
        memcpy(owners, before, sizeof before);
        check_map();
        for (uint32_t i = 0; i < item_count; ++i) {
            const struct maar_map_item* item = maar_map_item(&map, i);
            assert_int_equal(item->level, MAAR_MAP_STAYS);
            assert_false(item->is_leaver);
            assert_int_equal(item->offset, item->origin_offset);
        }
        for (uint32_t i = 0; i < BLOCKS; ++i) {
            assert_int_equal(maar_map_block(&map, i)->stay, stay[i]);
            assert_int_equal(maar_map_block(&map, i)->leaver, MAAR_MAP_NONE);
        }
        maar_map_destroy(&map);
    }
    assert_true(moved > 1000);
}

static void kinds_keep_to_their_granules(void** state)
{
    (void)state;
    /* A gap of eight units between two items, of kinds 1 and 2, in granules of four. */
    for (uint8_t kind = 0; kind < 4; ++kind) {
        struct maar_map_place place;
        map = (struct maar_map){0};
        maar_map_begin(&map, NULL);
        maar_map_begin_pool(&map, 4 * UNIT);
        assert_true(maar_map_reserve(&map, 8));
        assert_true(maar_drain_list_reserve(NULL, &map.blocks, 2, sizeof(struct maar_map_block)));
        for (uint32_t i = 0; i < 2; ++i) {
            *maar_map_block(&map, map.blocks.count++) = (struct maar_map_block){
                .size = bytes(16),
                .first_item = map.items.count,
                .first_cell = MAAR_MAP_NONE,
                .leaver = MAAR_MAP_NONE,
                .is_source = i == 1,
            };
        }
        struct maar_map_item item = {
            .handle = 1,
            .size = bytes(3),
            .extent = bytes(3),
            .alignment = UNIT,
            .next_leaver = MAAR_MAP_NONE,
            .level = MAAR_MAP_STAYS,
            .kind = 1,
        };
        uint32_t last = maar_map_add_item(&map, MAAR_MAP_NONE, &item);
        last = maar_map_add_gap(&map, 0, last, bytes(3), bytes(8));
        item.kind = 2;
        item.offset = item.origin_offset = bytes(11);
        item.size = item.extent = bytes(5);
        (void)maar_map_add_item(&map, last, &item);
        /* One that has to find its place: of seven units, or of five, which one granule cannot
         * hold. */
        item.origin = item.block = 1;
        item.offset = item.origin_offset = 0;
        item.kind = kind;
        item.size = item.extent = bytes(kind == 0 || kind == 2 ? 7 : 5);
        const uint32_t wanted = maar_map_add_item(&map, MAAR_MAP_NONE, &item);
        const bool found = maar_map_fit(&map, wanted, 0, &place);
        /* Kind 3 has the granule in the middle alone; kind 1 begins at once and kind 2 ends last.
         */
        assert_int_equal(found, kind != 3);
        if (found) {
            assert_int_equal(place.offset, bytes(kind == 2 ? 4 : 3));
        }
        maar_map_destroy(&map);
    }
}

static void tightest_gap_of_a_class_is_found(void** state)
{
    (void)state;
    /* Gaps of sizes that are nearly equal, between small items. The item needs the second one. */
    enum { GAPS = 3, LEAST = 4000 };
    struct maar_map_place place;
    map = (struct maar_map){0};
    maar_map_begin(&map, NULL);
    assert_true(maar_map_reserve(&map, 8));
    assert_true(maar_drain_list_reserve(NULL, &map.blocks, 2, sizeof(struct maar_map_block)));
    for (uint32_t i = 0; i < 2; ++i) {
        *maar_map_block(&map, map.blocks.count++) = (struct maar_map_block){
            .first_cell = MAAR_MAP_NONE, .leaver = MAAR_MAP_NONE, .is_source = i == 1};
    }
    struct maar_map_item item = {
        .handle = 1, .size = UNIT, .extent = UNIT, .alignment = UNIT, .level = MAAR_MAP_STAYS};
    uint32_t last = MAAR_MAP_NONE;
    uint32_t at = 0;
    for (uint32_t i = 0; i < GAPS; ++i) {
        const uint32_t units = LEAST + (i + 2) % GAPS;
        assert_int_equal(maar_size_class(bytes(units)), maar_size_class(bytes(LEAST)));
        last = maar_map_add_gap(&map, 0, last, bytes(at), bytes(units));
        item.offset = item.origin_offset = bytes(at + units);
        last = maar_map_add_item(&map, last, &item);
        at += units + 1;
    }
    item.origin = item.block = 1;
    item.offset = item.origin_offset = 0;
    item.size = item.extent = bytes(LEAST);
    const uint32_t wanted = maar_map_add_item(&map, MAAR_MAP_NONE, &item);
    assert_true(maar_map_fit(&map, wanted, 0, &place));
    assert_int_equal(maar_map_gap(&map, place.gap)->size, bytes(LEAST));
    maar_map_destroy(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes_are_those_of_a_naive_map_and_undone),
        cmocka_unit_test(kinds_keep_to_their_granules),
        cmocka_unit_test(tightest_gap_of_a_class_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
