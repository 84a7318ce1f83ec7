/*
 * Buddy: powers of two, forests over spaces of any size, joining.
 */
#include "tests/unit/placement/placement_fixture.h"

static struct maar_placement* create(VkDeviceSize size, VkDeviceSize granularity)
{
    return fixture_create(MAAR_PLACEMENT_STRATEGY_BUDDY, size, granularity);
}

static bool count_free(void* context, const MaarRangeInfo* info)
{
    *(uint32_t*)context += info->state == MAAR_RANGE_STATE_FREE ? 1 : 0;
    return true;
}

static uint32_t free_count(const struct maar_placement* placement)
{
    uint32_t count = 0;
    maar_placement_walk(placement, count_free, &count);
    return count;
}

static void sizes_are_rounded_to_powers_of_two(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 16, 0);
    assert_true(fixture_allocate(placement, 100, 1, NULL) == 0);
    assert_true(fixture_allocate(placement, 1, 1, NULL) == 128);
    assert_true(fixture_allocate(placement, 1000, 1, NULL) == 1024);
    const struct maar_placement_totals totals = fixture_totals(placement);
    assert_true(totals.used_size == 1101);
    assert_true(totals.padding_size == 28 + 24);
    assert_true(totals.range_count == 3);
    maar_placement_destroy(placement, NULL);
}

static void buddies_join_up_to_the_root(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 12, 0);
    uint32_t nodes[64];
    for (uint32_t i = 0; i < 64; ++i) {
        assert_true(fixture_allocate(placement, 64, 64, &nodes[i]) == (VkDeviceSize)i * 64);
    }
    assert_true(fixture_allocate(placement, 1, 1, NULL) == FIXTURE_REFUSED);
    for (uint32_t i = 0; i < 64; ++i) {
        fixture_free(placement, nodes[(i * 29) % 64]);
    }
    assert_int_equal(free_count(placement), 1);
    assert_true(fixture_allocate(placement, 1 << 12, 1 << 12, NULL) == 0);
    maar_placement_destroy(placement, NULL);
}

static void space_of_any_size_is_a_forest(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0); /* 512 256 128 64 32 8 */
    assert_int_equal(free_count(placement), 6);
    assert_true(maar_placement_largest_free_bound(placement) == 512);
    assert_true(fixture_allocate(placement, 513, 1, NULL) == FIXTURE_REFUSED);
    static const VkDeviceSize sizes[] = {8, 512, 32, 256, 64, 128};
    static const VkDeviceSize offsets[] = {992, 0, 960, 512, 896, 768};
    uint32_t nodes[6];
    for (uint32_t i = 0; i < 6; ++i) {
        assert_true(fixture_allocate(placement, sizes[i], 1, &nodes[i]) == offsets[i]);
    }
    assert_true(fixture_totals(placement).free_size == 0);
    for (uint32_t i = 0; i < 6; ++i) {
        fixture_free(placement, nodes[i]);
    }
    assert_int_equal(free_count(placement), 6);
    maar_placement_destroy(placement, NULL);
}

static void resize_joins_old_roots_with_new(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    fixture_resize(placement, 2048);
    assert_int_equal(free_count(placement), 1);
    assert_true(fixture_allocate(placement, 2048, 1, NULL) == 0);
    maar_placement_destroy(placement, NULL);
}

static void resize_keeps_live_ranges(void** state)
{
    (void)state;
    struct maar_placement* placement = create(100, 0); /* 64 32 4 */
    uint32_t node = 0;
    assert_true(fixture_allocate(placement, 3, 1, &node) == 96);
    fixture_resize(placement, 1 << 20);
    assert_true(maar_placement_largest_free_bound(placement) == 1 << 19);
    fixture_free(placement, node);
    assert_int_equal(free_count(placement), 1);
    maar_placement_destroy(placement, NULL);
}

static void powers_of_two_are_aligned_by_themselves(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 20, 0);
    fixture_allocate(placement, 1, 1, NULL);
    assert_true(fixture_allocate(placement, 4096, 4096, NULL) == 4096);
    assert_true(fixture_allocate(placement, 16, 65536, NULL) == 65536);
    assert_true(fixture_totals(placement).padding_size == 0);
    maar_placement_destroy(placement, NULL);
}

static void odd_alignments_are_met_inside_a_node(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 16, 0);
    uint32_t nodes[60];
    for (uint32_t i = 0; i < 60; ++i) {
        const VkDeviceSize alignment = i % 3 == 0 ? 48 : i % 3 == 1 ? 3 : 100;
        const VkDeviceSize offset = fixture_allocate(placement, 5 + i, alignment, &nodes[i]);
        assert_true(offset != FIXTURE_REFUSED);
        assert_true(offset % alignment == 0);
    }
    for (uint32_t i = 0; i < 60; ++i) {
        fixture_free(placement, nodes[i]);
    }
    assert_int_equal(free_count(placement), 1);
    maar_placement_destroy(placement, NULL);
}

static void kinds_keep_apart(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 16, 1024);
    const struct maar_placement_request linear = {.size = 64, .alignment = 64, .kind = 1};
    const struct maar_placement_request optimal = {.size = 64, .alignment = 64, .kind = 2};
    assert_true(fixture_request(placement, &linear, NULL) == 0);
    assert_true(fixture_request(placement, &optimal, NULL) == 1024);
    assert_true(fixture_request(placement, &linear, NULL) == 64);
    assert_true(fixture_request(placement, &optimal, NULL) == 1088);
    maar_placement_destroy(placement, NULL);
}

static void largest_space_is_one_root(void** state)
{
    (void)state;
    struct maar_placement* placement = create(MAAR_RANGE_MAX_SIZE, 0);
    uint32_t nodes[2];
    assert_true(fixture_allocate(placement, 1, 1, &nodes[0]) == 0);
    assert_true(fixture_allocate(placement, MAAR_RANGE_MAX_SIZE / 2, 1, &nodes[1]) ==
                MAAR_RANGE_MAX_SIZE / 2);
    fixture_free(placement, nodes[0]);
    fixture_free(placement, nodes[1]);
    assert_true(fixture_allocate(placement, MAAR_RANGE_MAX_SIZE, 1, NULL) == 0);
    maar_placement_destroy(placement, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_rounded_to_powers_of_two),
        cmocka_unit_test(buddies_join_up_to_the_root),
        cmocka_unit_test(space_of_any_size_is_a_forest),
        cmocka_unit_test(resize_joins_old_roots_with_new),
        cmocka_unit_test(resize_keeps_live_ranges),
        cmocka_unit_test(powers_of_two_are_aligned_by_themselves),
        cmocka_unit_test(odd_alignments_are_met_inside_a_node),
        cmocka_unit_test(kinds_keep_apart),
        cmocka_unit_test(largest_space_is_one_root),
    };
    return cmocka_run_group_tests_name("placement_buddy", tests, NULL, NULL);
}
