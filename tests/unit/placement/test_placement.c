/*
 * What all strategies share: storage that the owner brings, names of ranges, walks, determinism,
 * and a check that notices what is broken.
 */
#include "tests/unit/placement/placement_fixture.h"

#include <string.h>

#include "core/placement/placement_bins.h"
#include "tests/model/placement_name.h"

static const MaarPlacementStrategy strategies[] = {
    MAAR_PLACEMENT_STRATEGY_TLSF,
    MAAR_PLACEMENT_STRATEGY_BUDDY,
    MAAR_PLACEMENT_STRATEGY_LINEAR,
};

static void storage_is_asked_for_and_nothing_changes_without(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 0);
        const struct maar_placement_request request = {.size = 16, .alignment = 16};
        struct maar_placement_range range;
        enum maar_place_outcome outcome = MAAR_PLACED;
        uint32_t count = 0;
        while (outcome == MAAR_PLACED) {
            outcome = maar_placement_allocate(placement, &request, &range);
            count += outcome == MAAR_PLACED ? 1 : 0;
        }
        assert_int_equal(outcome, MAAR_PLACE_WANTS_STORAGE);
        assert_true(range.node == MAAR_PLACEMENT_NO_NODE);
        assert_int_equal(maar_placement_allocate(placement, &request, &range),
                         MAAR_PLACE_WANTS_STORAGE);
        assert_int_equal(fixture_totals(placement).range_count, count);
        assert_null(maar_placement_check(placement));
        const size_t size = maar_placement_storage_wanted(placement);
        void* memory = malloc(size);
        assert_non_null(memory);
        assert_null(maar_placement_storage_give(placement, memory, size));
        assert_int_equal(maar_placement_allocate(placement, &request, &range), MAAR_PLACED);
        assert_null(maar_placement_check(placement));
        maar_placement_destroy(placement, NULL);
    }
}

static void storage_that_comes_late_is_returned(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 0);
        const struct maar_placement_request request = {.size = 16, .alignment = 16};
        struct maar_placement_range range;
        while (maar_placement_allocate(placement, &request, &range) == MAAR_PLACED) {
        }
        const size_t size = maar_placement_storage_wanted(placement);
        void* first = malloc(size);
        void* second = malloc(size);
        assert_non_null(first);
        assert_non_null(second);
        assert_null(maar_placement_storage_give(placement, first, size));
        assert_ptr_equal(maar_placement_storage_give(placement, second, size), second);
        assert_ptr_equal(maar_placement_storage_give(placement, second, 0), second);
        free(second);
        assert_null(maar_placement_check(placement));
        maar_placement_destroy(placement, NULL);
    }
}

/* Storage grows by a fourth, and by half where there is much, or by what the smallest segment or
 * one request takes. */
static void growth_moves_no_node_and_leaves_little_idle(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], (VkDeviceSize)1 << 24, 0);
        const struct maar_placement_request request = {.size = 256, .alignment = 256};
        const struct placement_node* first = NULL;
        uint32_t node = 0;
        for (uint32_t count = 0; count < 20000; ++count) {
            struct maar_placement_range range;
            if (maar_placement_allocate(placement, &request, &range) == MAAR_PLACE_WANTS_STORAGE) {
                const uint32_t part = placement->capacity < 8192 ? 4 : 2;
                assert_true(maar_placement_storage_wanted(placement) <=
                            (placement->capacity / part + 64) * sizeof(struct placement_node));
                fixture_bring_storage(placement);
                assert_int_equal(maar_placement_allocate(placement, &request, &range), MAAR_PLACED);
            }
            if (count == 0) {
                node = range.node;
                first = placement_at(placement, node);
            }
        }
        assert_null(maar_placement_check(placement));
        assert_ptr_equal(placement_at(placement, node), first);
        assert_true(placement->segments > 20 && placement->segments < 30);
        maar_placement_destroy(placement, NULL);
    }
}

/* A placement takes small segments, and none that its table has no room for. */
static void segments_end_with_their_table(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], (VkDeviceSize)1 << 24, 0);
        const struct maar_placement_request request = {.size = 256, .alignment = 256};
        const size_t least = 18 * sizeof(struct placement_node);
        struct maar_placement_range range;
        uint32_t count = 0;
        for (;;) {
            if (maar_placement_allocate(placement, &request, &range) == MAAR_PLACED) {
                ++count;
                continue;
            }
            void* memory = malloc(least);
            assert_non_null(memory);
            void* returned = maar_placement_storage_give(placement, memory, least);
            if (returned != NULL) {
                free(returned);
                break;
            }
        }
        assert_int_equal(placement->segments, PLACEMENT_FEW_SEGMENTS);
        assert_true(maar_placement_storage_wanted(placement) == SIZE_MAX);
        assert_true(count > 1000);
        assert_null(maar_placement_check(placement));
        maar_placement_destroy(placement, NULL);
    }
}

/* A number beside a segment, in it but between two nodes, or in a segment that there is not. */
static void numbers_that_are_no_slots_are_refused(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 0);
        for (uint32_t j = 0; j < 200; ++j) {
            fixture_allocate(placement, 64, 64, NULL);
        }
        assert_true(placement->segments > 2);
        for (uint32_t segment = 0; segment < placement->segments; ++segment) {
            const uint32_t end = placement_segment_end(placement, segment);
            for (uint32_t beside = 0; beside < 100; ++beside) {
                assert_false(maar_placement_free(placement, end + beside));
            }
            assert_false(maar_placement_free(placement, end - 1));
            assert_false(maar_placement_free(placement, placement_segment_begin(segment) + 2));
        }
        for (uint32_t segment = placement->segments; segment < PLACEMENT_SEGMENTS; ++segment) {
            assert_false(maar_placement_free(placement, placement_segment_begin(segment)));
        }
        assert_false(maar_placement_free(placement, PLACEMENT_NONE));
        assert_int_equal(fixture_totals(placement).range_count, 200);
        maar_placement_destroy(placement, NULL);
    }
}

static void warm_placement_asks_for_nothing(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 0);
        for (uint32_t j = 0; j < 1000; ++j) {
            assert_true(fixture_allocate(placement, 64, 64, NULL) != FIXTURE_REFUSED);
        }
        maar_placement_reset(placement);
        for (uint32_t j = 0; j < 1000; ++j) {
            const struct maar_placement_request request = {.size = 64, .alignment = 64};
            struct maar_placement_range range;
            assert_int_equal(maar_placement_allocate(placement, &request, &range), MAAR_PLACED);
        }
        assert_null(maar_placement_check(placement));
        maar_placement_destroy(placement, NULL);
    }
}

static void unknown_nodes_are_refused(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 0);
        struct maar_placement_range range;
        uint64_t user = 0;
        uint32_t kind = 0;
        uint32_t node = 0;
        fixture_allocate(placement, 64, 64, &node);
        const uint32_t generation = generation_of(placement, node);
        assert_false(maar_placement_free(placement, MAAR_PLACEMENT_NO_NODE));
        assert_false(maar_placement_free(placement, 55));
        assert_false(maar_placement_get(placement, 55, &range, &user, &kind));
        fixture_free(placement, node);
        assert_false(maar_placement_free(placement, node));
        assert_false(maar_placement_get(placement, node, &range, &user, &kind));
        assert_true(generation_of(placement, node) == NO_GENERATION);
        fixture_allocate(placement, 64, 64, &node);
        assert_true(generation_of(placement, node) != generation);
        maar_placement_destroy(placement, NULL);
    }
}

static void generations_outlive_resets_and_growth(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 0);
        uint32_t node = 0;
        fixture_allocate(placement, 64, 64, &node);
        const uint32_t first = generation_of(placement, node);
        uint32_t last = first;
        for (uint32_t round = 0; round < 40000; ++round) {
            maar_placement_reset(placement);
            const struct maar_placement_request request = {.size = 64, .alignment = 64};
            struct maar_placement_range range;
            assert_int_equal(maar_placement_allocate(placement, &request, &range), MAAR_PLACED);
            assert_int_equal(range.node, node);
            const uint32_t generation = generation_of(placement, node);
            assert_true(generation != last && generation != first);
            last = generation;
        }
        for (uint32_t j = 0; j < 300; ++j) {
            fixture_allocate(placement, 64, 64, NULL);
        }
        assert_true(generation_of(placement, node) == last);
        maar_placement_destroy(placement, NULL);
    }
}

/* The generation is in two parts; the name must not repeat when the lower one does. Another node
 * takes over before all names are used up. */
static void names_do_not_repeat(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 0);
        uint32_t node = 0;
        fixture_allocate(placement, 100, 256, &node);
        uint32_t only = node;
        uint32_t first = generation_of(placement, node);
        uint32_t last = first;
        uint32_t changes = 0;
        for (uint32_t frees = 1; frees < 1u << 18; ++frees) {
            fixture_free(placement, node);
            fixture_allocate(placement, 100, 256, &node);
            const uint32_t generation = generation_of(placement, node);
            if (node != only) {
                assert_true(frees >= (7u << 15) - 1);
                only = node;
                first = generation;
                ++changes;
            } else {
                assert_true(generation != first && generation != last);
            }
            last = generation;
        }
        assert_int_equal(changes, 1);
        assert_null(maar_placement_check(placement));
        maar_placement_destroy(placement, NULL);
    }
}

/* What ends right at a granule's border shares none of it. An alignment that is no power of two
 * leads into the middle of the next granule. */
static void kinds_do_not_mind_a_granule_that_is_full(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 16, 1024);
        const struct maar_placement_request full = {.size = 1024, .alignment = 1024, .kind = 1};
        const struct maar_placement_request odd = {.size = 10, .alignment = 1100, .kind = 2};
        assert_true(fixture_request(placement, &full, NULL) == 0);
        assert_true(fixture_request(placement, &odd, NULL) == 1100);
        maar_placement_destroy(placement, NULL);
    }
}

static void user_and_kind_are_kept(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 64);
        const struct maar_placement_request request = {
            .size = 100, .alignment = 4, .user = UINT64_MAX - 5, .kind = MAAR_RANGE_MAX_KIND};
        struct maar_placement_range range;
        uint64_t user = 0;
        uint32_t kind = 0;
        uint32_t node = 0;
        const VkDeviceSize offset = fixture_request(placement, &request, &node);
        assert_true(maar_placement_get(placement, node, &range, &user, &kind));
        assert_true(range.offset == offset && range.size == 100 && range.node == node);
        assert_true(user == UINT64_MAX - 5);
        assert_int_equal(kind, MAAR_RANGE_MAX_KIND);
        maar_placement_destroy(placement, NULL);
    }
}

static bool count_and_stop(void* context, const MaarRangeInfo* info)
{
    (void)info;
    uint32_t* left = context;
    *left -= 1;
    return *left != 0;
}

static void walk_stops_when_asked(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 0);
        for (uint32_t j = 0; j < 20; ++j) {
            fixture_allocate(placement, 100, 256, NULL);
        }
        for (uint32_t stop = 1; stop < 40; ++stop) {
            uint32_t left = stop;
            maar_placement_walk(placement, count_and_stop, &left);
            assert_int_equal(left, 0);
        }
        maar_placement_destroy(placement, NULL);
    }
}

/* FNV-1a over the offsets of a fixed sequence of calls. */
static uint64_t placement_digest(MaarPlacementStrategy strategy)
{
    struct maar_placement* placement = fixture_create(strategy, 1 << 22, 1024);
    uint32_t nodes[64];
    uint64_t digest = 14695981039346656037u;
    uint64_t random = 1;
    memset(nodes, 0xFF, sizeof(nodes));
    for (uint32_t i = 0; i < 2000; ++i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint32_t slot = (uint32_t)(random >> 58);
        if (nodes[slot] != MAAR_PLACEMENT_NO_NODE) {
            fixture_free(placement, nodes[slot]);
            nodes[slot] = MAAR_PLACEMENT_NO_NODE;
        }
        const struct maar_placement_request request = {
            .size = 1 + (random >> 20 & 0xFFFF),
            .alignment = (VkDeviceSize)1 << (random >> 40 & 7),
            .kind = (uint32_t)(random >> 50 & 1) + 1,
        };
        const VkDeviceSize offset = fixture_request(placement, &request, &nodes[slot]);
        if (offset == FIXTURE_REFUSED) {
            nodes[slot] = MAAR_PLACEMENT_NO_NODE;
        }
        digest = (digest ^ offset) * 1099511628211u;
    }
    maar_placement_destroy(placement, NULL);
    return digest;
}

static void same_calls_give_the_same_placement(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        const uint64_t digest = placement_digest(strategies[i]);
        assert_true(placement_digest(strategies[i]) == digest);
    }
}

/* Copies a placement, whose memory may end before the last member does. */
static void copy_placement(struct maar_placement* to, const struct maar_placement* from)
{
    memcpy(to, from, placement_bytes(from->segment_limit));
}

/* Plants one error after another; the check must name each, and be content when it is undone. */
static void check_notices_planted_errors(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 1024);
        uint32_t nodes[6];
        const struct maar_placement_request request = {.size = 1000, .alignment = 256, .kind = 1};
        for (uint32_t j = 0; j < 6; ++j) {
            fixture_request(placement, &request, &nodes[j]);
        }
        fixture_free(placement, nodes[1]);
        fixture_free(placement, nodes[3]);
        struct placement_node* node = placement_at(placement, nodes[2]);
        const struct placement_node good_node = *node;
        struct maar_placement good;
        copy_placement(&good, placement);

        placement->used_size += 1;
        assert_non_null(maar_placement_check(placement));
        copy_placement(placement, &good);
        placement->range_count += 1;
        assert_non_null(maar_placement_check(placement));
        copy_placement(placement, &good);
        placement->touched_end = 0;
        assert_non_null(maar_placement_check(placement));
        copy_placement(placement, &good);
        placement_at(placement, PLACEMENT_NONE)->where ^= PLACEMENT_STATE_MASK;
        assert_non_null(maar_placement_check(placement));
        placement_at(placement, PLACEMENT_NONE)->where ^= PLACEMENT_STATE_MASK;
        placement->fresh_left += 1;
        assert_non_null(maar_placement_check(placement));
        copy_placement(placement, &good);

        node->where += (uint64_t)5000 << PLACEMENT_OFFSET_SHIFT; /* overlaps its upper neighbour */
        assert_non_null(maar_placement_check(placement));
        *node = good_node;
        node->extent += (uint64_t)5000 << PLACEMENT_SIZE_SHIFT;
        assert_non_null(maar_placement_check(placement));
        *node = good_node;
        node->where ^= (uint64_t)3 << PLACEMENT_KIND_SHIFT; /* kind 2 between kinds 1 */
        node->extent += (uint64_t)1048 << PLACEMENT_SIZE_SHIFT;
        assert_non_null(maar_placement_check(placement));
        *node = good_node;
        node->prev = nodes[5];
        assert_non_null(maar_placement_check(placement));
        *node = good_node;
        node->next = 0xFFFFFFF0;
        assert_non_null(maar_placement_check(placement));
        *node = good_node;
        node->prev ^= PLACEMENT_LINK_FREE;
        assert_non_null(maar_placement_check(placement));
        *node = good_node;
        placement_set(node, placement_meta(PLACEMENT_FREE, 0, 0), placement_offset(&good_node),
                      1024);
        assert_non_null(maar_placement_check(placement));
        *node = good_node;
        placement_set(node, placement_meta(PLACEMENT_UNUSED, 0, 0), 0, 0);
        assert_non_null(maar_placement_check(placement));
        *node = good_node;
        assert_null(maar_placement_check(placement));
        maar_placement_destroy(placement, NULL);
    }
}

static void check_notices_broken_bins(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 1 << 20, 0);
        uint32_t nodes[4];
        for (uint32_t j = 0; j < 4; ++j) {
            fixture_allocate(placement, 1024, 256, &nodes[j]);
        }
        fixture_free(placement, nodes[0]);
        fixture_free(placement, nodes[2]);
        const uint32_t node = nodes[2];
        struct maar_placement good;
        copy_placement(&good, placement);
        struct placement_node* free_node = placement_at(placement, node);
        const struct placement_node good_node = *free_node;
        struct placement_node* second = placement_at(placement, nodes[0]);
        const struct placement_node good_second = *second;
        const size_t bin = placement_bin_next(placement, PLACEMENT_BIN_BASE);
        const size_t number = bin - PLACEMENT_BIN_BASE;
        assert_int_equal(*placement_bin_head(placement, bin), node);
        assert_int_equal(good_node.u.bin.next, nodes[0]);

        placement->bin_words[number >> 6] &= ~((uint64_t)1 << (number & 63));
        assert_non_null(maar_placement_check(placement));
        copy_placement(placement, &good);
        placement->bin_words[0] |= 1;
        placement->bins[0] = PLACEMENT_NONE;
        assert_non_null(maar_placement_check(placement));
        copy_placement(placement, &good);
        free_node->u.bin.next = node;
        assert_non_null(maar_placement_check(placement));
        *free_node = good_node;
        free_node->u.bin.next = PLACEMENT_NONE;
        assert_non_null(maar_placement_check(placement));
        *free_node = good_node;
        second->u.bin.prev = 3;
        assert_non_null(maar_placement_check(placement));
        *second = good_second;
        free_node->extent -= (uint64_t)512 << PLACEMENT_SIZE_SHIFT;
        assert_non_null(maar_placement_check(placement));
        *free_node = good_node;
        assert_null(maar_placement_check(placement));
        maar_placement_destroy(placement, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_is_asked_for_and_nothing_changes_without),
        cmocka_unit_test(storage_that_comes_late_is_returned),
        cmocka_unit_test(growth_moves_no_node_and_leaves_little_idle),
        cmocka_unit_test(segments_end_with_their_table),
        cmocka_unit_test(numbers_that_are_no_slots_are_refused),
        cmocka_unit_test(warm_placement_asks_for_nothing),
        cmocka_unit_test(unknown_nodes_are_refused),
        cmocka_unit_test(generations_outlive_resets_and_growth),
        cmocka_unit_test(names_do_not_repeat),
        cmocka_unit_test(kinds_do_not_mind_a_granule_that_is_full),
        cmocka_unit_test(user_and_kind_are_kept),
        cmocka_unit_test(walk_stops_when_asked),
        cmocka_unit_test(same_calls_give_the_same_placement),
        cmocka_unit_test(check_notices_planted_errors),
        cmocka_unit_test(check_notices_broken_bins),
    };
    return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
