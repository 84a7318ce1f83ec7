/*
 * Linear: bump, stack, double stack and ring, and frees out of order.
 */
#include "tests/unit/placement/placement_fixture.h"

static struct maar_placement* create(VkDeviceSize size, VkDeviceSize granularity)
{
    return fixture_create(MAAR_PLACEMENT_STRATEGY_LINEAR, size, granularity);
}

static VkDeviceSize allocate_upper(struct maar_placement* placement, VkDeviceSize size,
                                   VkDeviceSize alignment, uint32_t* node)
{
    const struct maar_placement_request request = {
        .size = size, .alignment = alignment, .upper = true};
    return fixture_request(placement, &request, node);
}

static void bump_fills_and_reset_empties(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    for (uint32_t round = 0; round < 3; ++round) {
        for (uint32_t i = 0; i < 100; ++i) {
            assert_true(fixture_allocate(placement, 10, 1, NULL) == (VkDeviceSize)i * 10);
        }
        assert_true(fixture_allocate(placement, 1, 1, NULL) == FIXTURE_REFUSED);
        maar_placement_reset(placement);
        assert_null(maar_placement_check(placement));
        assert_true(fixture_totals(placement).free_size == 1000);
    }
    maar_placement_destroy(placement, NULL);
}

static void stack_takes_back_the_newest(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    uint32_t nodes[3];
    fixture_allocate(placement, 100, 1, &nodes[0]);
    fixture_allocate(placement, 200, 64, &nodes[1]);
    fixture_allocate(placement, 300, 1, &nodes[2]);
    fixture_free(placement, nodes[2]);
    assert_true(fixture_allocate(placement, 300, 1, &nodes[2]) == 328);
    fixture_free(placement, nodes[2]);
    fixture_free(placement, nodes[1]);
    assert_true(fixture_allocate(placement, 900, 1, &nodes[1]) == 100);
    maar_placement_destroy(placement, NULL);
}

static void double_stack_meets_in_the_middle(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    uint32_t nodes[4];
    assert_true(fixture_allocate(placement, 300, 1, &nodes[0]) == 0);
    assert_true(allocate_upper(placement, 300, 1, &nodes[1]) == 700);
    assert_true(allocate_upper(placement, 100, 64, &nodes[2]) == 576);
    assert_true(fixture_allocate(placement, 276, 1, &nodes[3]) == 300);
    assert_true(allocate_upper(placement, 1, 1, NULL) == FIXTURE_REFUSED);
    assert_true(fixture_allocate(placement, 1, 1, NULL) == FIXTURE_REFUSED);
    fixture_free(placement, nodes[2]);
    assert_true(allocate_upper(placement, 124, 1, &nodes[2]) == 576);
    for (uint32_t i = 0; i < 4; ++i) {
        fixture_free(placement, nodes[i]);
    }
    assert_true(allocate_upper(placement, 1000, 1, NULL) == 0);
    maar_placement_destroy(placement, NULL);
}

static void ring_wraps_and_runs_for_ever(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    uint32_t nodes[3];
    for (uint32_t i = 0; i < 3; ++i) {
        assert_true(fixture_allocate(placement, 300, 1, &nodes[i]) == (VkDeviceSize)i * 300);
    }
    assert_true(fixture_allocate(placement, 300, 1, NULL) == FIXTURE_REFUSED);
    for (uint32_t i = 0; i < 100; ++i) {
        fixture_free(placement, nodes[i % 3]);
        assert_true(fixture_allocate(placement, 300, 1, &nodes[i % 3]) ==
                    (VkDeviceSize)(i % 3) * 300);
    }
    maar_placement_destroy(placement, NULL);
}

static void ring_and_upper_stack_live_together(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    uint32_t nodes[4];
    assert_true(fixture_allocate(placement, 400, 1, &nodes[0]) == 0);
    assert_true(fixture_allocate(placement, 300, 1, &nodes[1]) == 400);
    assert_true(allocate_upper(placement, 250, 1, &nodes[2]) == 750);
    fixture_free(placement, nodes[0]);
    assert_true(fixture_allocate(placement, 350, 1, &nodes[3]) == 0);
    assert_true(fixture_totals(placement).free_size == 100);
    assert_true(allocate_upper(placement, 50, 1, NULL) == 700);
    fixture_free(placement, nodes[1]);
    assert_true(fixture_totals(placement).free_size == 350);
    assert_true(fixture_allocate(placement, 350, 1, NULL) == 350);
    maar_placement_destroy(placement, NULL);
}

static void ring_taken_back_continues_at_the_top(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    uint32_t nodes[3];
    fixture_allocate(placement, 400, 1, &nodes[0]);
    fixture_allocate(placement, 400, 1, &nodes[1]);
    fixture_free(placement, nodes[0]);
    assert_true(fixture_allocate(placement, 300, 1, &nodes[2]) == 0);
    fixture_free(placement, nodes[2]);
    assert_true(fixture_allocate(placement, 200, 1, NULL) == 800);
    maar_placement_destroy(placement, NULL);
}

static void frees_out_of_order_come_back_when_an_end_arrives(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    uint32_t nodes[10];
    for (uint32_t i = 0; i < 10; ++i) {
        fixture_allocate(placement, 100, 1, &nodes[i]);
    }
    for (uint32_t i = 2; i < 9; ++i) {
        fixture_free(placement, nodes[i == 2 ? 5 : i == 5 ? 2 : i]);
    }
    struct maar_placement_totals totals = fixture_totals(placement);
    assert_true(totals.free_size == 0);
    assert_true(totals.padding_size == 700);
    assert_int_equal(totals.range_count, 3);
    assert_true(fixture_allocate(placement, 100, 1, NULL) == FIXTURE_REFUSED);
    fixture_free(placement, nodes[9]);
    assert_true(fixture_totals(placement).free_size == 800);
    fixture_free(placement, nodes[0]);
    totals = fixture_totals(placement);
    assert_true(totals.free_size == 900);
    assert_true(maar_placement_largest_free_bound(placement) == 800);
    maar_placement_destroy(placement, NULL);
}

static void empty_space_starts_at_zero_again(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    uint32_t nodes[3];
    for (uint32_t i = 0; i < 3; ++i) {
        fixture_allocate(placement, 100, 1, &nodes[i]);
    }
    fixture_free(placement, nodes[1]);
    fixture_free(placement, nodes[0]);
    assert_true(fixture_totals(placement).free_size == 900);
    fixture_free(placement, nodes[2]);
    assert_true(fixture_allocate(placement, 1000, 1, NULL) == 0);
    maar_placement_destroy(placement, NULL);
}

static void odd_alignments_are_met_at_both_ends(void** state)
{
    (void)state;
    struct maar_placement* placement = create(10007, 0);
    for (uint32_t i = 0; i < 30; ++i) {
        const VkDeviceSize alignment = i % 3 == 0 ? 48 : i % 3 == 1 ? 3 : 100;
        const VkDeviceSize low = fixture_allocate(placement, 7 + i, alignment, NULL);
        const VkDeviceSize high = allocate_upper(placement, 7 + i, alignment, NULL);
        assert_true(low != FIXTURE_REFUSED && low % alignment == 0);
        assert_true(high != FIXTURE_REFUSED && high % alignment == 0);
    }
    maar_placement_destroy(placement, NULL);
}

static void kinds_keep_apart_at_both_ends(void** state)
{
    (void)state;
    struct maar_placement* placement = create(8192, 1024);
    struct maar_placement_request request = {.size = 100, .alignment = 4, .kind = 1};
    assert_true(fixture_request(placement, &request, NULL) == 0);
    request.kind = 2;
    assert_true(fixture_request(placement, &request, NULL) == 1024);
    request.upper = true;
    assert_true(fixture_request(placement, &request, NULL) == 8092);
    request.kind = 1;
    assert_true(fixture_request(placement, &request, NULL) == 7068);
    request.kind = 0;
    assert_true(fixture_request(placement, &request, NULL) == 6968);
    maar_placement_destroy(placement, NULL);
}

/* In both tests a range of no kind is alone in the older run, between two kinds in one granule. */
static void kinds_see_the_younger_run_below(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 16, 1024);
    const struct maar_placement_request buffer = {.size = 1090, .alignment = 1, .kind = 1};
    const struct maar_placement_request image = {.size = 20000, .alignment = 1, .kind = 2};
    uint32_t nodes[2];
    assert_true(fixture_allocate(placement, 1100, 1, &nodes[0]) == 0);
    assert_true(fixture_allocate(placement, 64, 1, NULL) == 1100);
    assert_true(fixture_allocate(placement, (1 << 16) - 1164, 1, &nodes[1]) == 1164);
    fixture_free(placement, nodes[0]);
    assert_true(fixture_request(placement, &buffer, NULL) == 0);
    fixture_free(placement, nodes[1]);
    assert_true(fixture_request(placement, &image, NULL) == 2048);
    maar_placement_destroy(placement, NULL);
}

static void kinds_see_the_upper_run_above(void** state)
{
    (void)state;
    struct maar_placement* placement = create(2048, 1024);
    const struct maar_placement_request image = {
        .size = 64, .alignment = 1, .kind = 2, .upper = true};
    struct maar_placement_request buffer = {.size = 1100, .alignment = 1, .kind = 1};
    uint32_t node = 0;
    assert_true(fixture_allocate(placement, 1200, 1, &node) == 0);
    assert_true(fixture_allocate(placement, 64, 1, NULL) == 1200);
    assert_true(fixture_request(placement, &image, NULL) == 1984);
    fixture_free(placement, node);
    assert_true(fixture_request(placement, &buffer, NULL) == FIXTURE_REFUSED);
    buffer.size = 1024;
    assert_true(fixture_request(placement, &buffer, NULL) == 0);
    maar_placement_destroy(placement, NULL);
}

static void resize_extends_the_space(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    uint32_t upper = 0;
    assert_true(fixture_allocate(placement, 900, 1, NULL) == 0);
    assert_true(allocate_upper(placement, 100, 1, &upper) == 900);
    fixture_resize(placement, 2000);
    /* What lies above the upper stack waits for it to become empty. */
    assert_true(fixture_totals(placement).free_size == 0);
    fixture_free(placement, upper);
    assert_true(fixture_totals(placement).free_size == 1100);
    assert_true(fixture_allocate(placement, 1100, 1, NULL) == 900);
    maar_placement_destroy(placement, NULL);
}

static void largest_space_is_usable_to_its_end(void** state)
{
    (void)state;
    struct maar_placement* placement = create(MAAR_RANGE_MAX_SIZE, 0);
    assert_true(fixture_allocate(placement, 1, 1, NULL) == 0);
    assert_true(allocate_upper(placement, 1, 1, NULL) == MAAR_RANGE_MAX_SIZE - 1);
    assert_true(fixture_allocate(placement, MAAR_RANGE_MAX_SIZE - 2, 1, NULL) == 1);
    assert_true(fixture_totals(placement).free_size == 0);
    assert_true(allocate_upper(placement, UINT64_MAX, 1, NULL) == FIXTURE_REFUSED);
    assert_true(fixture_allocate(placement, UINT64_MAX, UINT64_MAX, NULL) == FIXTURE_REFUSED);
    maar_placement_destroy(placement, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bump_fills_and_reset_empties),
        cmocka_unit_test(stack_takes_back_the_newest),
        cmocka_unit_test(double_stack_meets_in_the_middle),
        cmocka_unit_test(ring_wraps_and_runs_for_ever),
        cmocka_unit_test(ring_and_upper_stack_live_together),
        cmocka_unit_test(ring_taken_back_continues_at_the_top),
        cmocka_unit_test(frees_out_of_order_come_back_when_an_end_arrives),
        cmocka_unit_test(empty_space_starts_at_zero_again),
        cmocka_unit_test(odd_alignments_are_met_at_both_ends),
        cmocka_unit_test(kinds_keep_apart_at_both_ends),
        cmocka_unit_test(kinds_see_the_younger_run_below),
        cmocka_unit_test(kinds_see_the_upper_run_above),
        cmocka_unit_test(resize_extends_the_space),
        cmocka_unit_test(largest_space_is_usable_to_its_end),
    };
    return cmocka_run_group_tests_name("placement_linear", tests, NULL, NULL);
}
