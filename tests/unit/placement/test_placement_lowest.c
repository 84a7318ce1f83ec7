/*
 * The lowest place at which a request fits, in TLSF and buddy placements, and by the public range
 * allocator.
 */
#include "tests/unit/placement/placement_fixture.h"

#include "maar/range.h"

/* Allocates at the lowest place. Returns the offset or FIXTURE_REFUSED. */
static VkDeviceSize lowest(struct maar_placement* placement,
                           const struct maar_placement_request* request, uint32_t* node)
{
    struct maar_placement_range range;
    enum maar_place_outcome outcome = maar_placement_allocate_lowest(placement, request, &range);
    if (outcome == MAAR_PLACE_WANTS_STORAGE) {
        fixture_bring_storage(placement);
        outcome = maar_placement_allocate_lowest(placement, request, &range);
    }
    assert_null(maar_placement_check(placement));
    if (node != NULL) {
        *node = range.node;
    }
    assert_true(outcome == MAAR_PLACED || outcome == MAAR_PLACE_NO_ROOM);
    return outcome == MAAR_PLACED ? range.offset : FIXTURE_REFUSED;
}

/* Holes of 1024, 768, 512 and 256 bytes, in this order, each behind a live range. */
static struct maar_placement* with_holes(MaarPlacementStrategy strategy)
{
    struct maar_placement* placement = fixture_create(strategy, 1 << 16, 0);
    uint32_t holes[4];
    for (uint32_t i = 0; i < 4; ++i) {
        (void)fixture_allocate(placement, 1024, 256, NULL);
        (void)fixture_allocate(placement, 1024 - 256 * (VkDeviceSize)i, 256, &holes[i]);
    }
    (void)fixture_allocate(placement, 1024, 256, NULL);
    for (uint32_t i = 0; i < 4; ++i) {
        fixture_free(placement, holes[i]);
    }
    return placement;
}

static void the_first_hole_is_taken_not_the_tightest(void** state)
{
    (void)state;
    const struct maar_placement_request request = {.size = 256, .alignment = 256};
    struct maar_placement* placement = with_holes(MAAR_PLACEMENT_STRATEGY_TLSF);
    assert_true(lowest(placement, &request, NULL) == 1024);
    assert_true(fixture_allocate(placement, 256, 256, NULL) == 4 * 1024 + 1024 + 768 + 512);
    assert_true(lowest(placement, &request, NULL) == 1024 + 256);
    maar_placement_destroy(placement, NULL);
}

static void a_hole_that_alignment_makes_too_small_is_passed_over(void** state)
{
    (void)state;
    const struct maar_placement_request request = {.size = 1024, .alignment = 3000};
    struct maar_placement* placement = with_holes(MAAR_PLACEMENT_STRATEGY_TLSF);
    assert_true(lowest(placement, &request, NULL) == 9000);
    maar_placement_destroy(placement, NULL);
}

static void buddies_are_cut_from_the_lowest_node(void** state)
{
    (void)state;
    const struct maar_placement_request request = {.size = 256, .alignment = 256};
    struct maar_placement* placement = with_holes(MAAR_PLACEMENT_STRATEGY_BUDDY);
    uint32_t node = 0;
    assert_true(lowest(placement, &request, &node) == 1024);
    assert_true(lowest(placement, &request, NULL) == 1024 + 256);
    fixture_free(placement, node);
    assert_true(lowest(placement, &request, NULL) == 1024);
    maar_placement_destroy(placement, NULL);
}

static void a_full_space_has_no_lowest_place(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; ++i) {
        const MaarPlacementStrategy strategy =
            i == 0 ? MAAR_PLACEMENT_STRATEGY_TLSF : MAAR_PLACEMENT_STRATEGY_BUDDY;
        struct maar_placement* placement = fixture_create(strategy, 1 << 16, 0);
        const struct maar_placement_request half = {.size = 1 << 15, .alignment = 1};
        const struct maar_placement_request more = {.size = (1 << 16) + 1, .alignment = 1};
        assert_true(lowest(placement, &more, NULL) == FIXTURE_REFUSED);
        assert_true(lowest(placement, &half, NULL) == 0);
        assert_true(lowest(placement, &half, NULL) == 1 << 15);
        assert_true(lowest(placement, &half, NULL) == FIXTURE_REFUSED);
        maar_placement_destroy(placement, NULL);
    }
}

/* The last bytes of a space that is no multiple of a unit. */
static void the_end_of_an_odd_space_is_found(void** state)
{
    (void)state;
    const struct maar_placement_request most = {.size = 1024, .alignment = 256};
    const struct maar_placement_request rest = {.size = 100, .alignment = 256};
    struct maar_placement* placement = fixture_create(MAAR_PLACEMENT_STRATEGY_TLSF, 1124, 0);
    assert_true(lowest(placement, &most, NULL) == 0);
    assert_true(lowest(placement, &rest, NULL) == 1024);
    maar_placement_destroy(placement, NULL);
}

static void kinds_keep_apart_at_the_lowest_place(void** state)
{
    (void)state;
    const struct maar_placement_request linear = {.size = 64, .alignment = 64, .kind = 1};
    const struct maar_placement_request optimal = {.size = 64, .alignment = 64, .kind = 2};
    struct maar_placement* placement = fixture_create(MAAR_PLACEMENT_STRATEGY_TLSF, 8192, 1024);
    assert_true(lowest(placement, &linear, NULL) == 0);
    assert_true(lowest(placement, &optimal, NULL) == 1024);
    assert_true(lowest(placement, &linear, NULL) == 64);
    maar_placement_destroy(placement, NULL);
}

/* A linear placement goes on behind the newest range. */
static void linear_placements_ignore_it(void** state)
{
    (void)state;
    const struct maar_placement_request request = {.size = 64, .alignment = 64};
    struct maar_placement* placement = fixture_create(MAAR_PLACEMENT_STRATEGY_LINEAR, 8192, 0);
    uint32_t node = 0;
    assert_true(lowest(placement, &request, NULL) == 0);
    assert_true(lowest(placement, &request, &node) == 64);
    assert_true(lowest(placement, &request, NULL) == 128);
    fixture_free(placement, node);
    assert_true(lowest(placement, &request, NULL) == 192);
    maar_placement_destroy(placement, NULL);
}

static void ranges_take_it_by_a_flag(void** state)
{
    (void)state;
    const MaarRangeAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO, .size = 1 << 16};
    MaarRangeAllocateInfo how = {.sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
                                 .alignment = 256};
    MaarRangeAllocator ranges = VK_NULL_HANDLE;
    MaarRange made[5];
    VkDeviceSize offset = 0;
    assert_int_equal(maarCreateRangeAllocator(&info, &ranges), VK_SUCCESS);
    for (uint32_t i = 0; i < 5; ++i) {
        how.size = i == 3 ? 512 : 1024;
        assert_int_equal(maarAllocateRange(ranges, &how, &made[i], &offset), VK_SUCCESS);
    }
    assert_int_equal(maarFreeRange(ranges, made[1]), VK_SUCCESS);
    assert_int_equal(maarFreeRange(ranges, made[3]), VK_SUCCESS);
    how.size = 512;
    how.flags = MAAR_RANGE_ALLOCATE_LOWEST_BIT;
    assert_int_equal(maarAllocateRange(ranges, &how, &made[1], &offset), VK_SUCCESS);
    assert_true(offset == 1024);
    how.flags = 0;
    assert_int_equal(maarAllocateRange(ranges, &how, &made[3], &offset), VK_SUCCESS);
    assert_true(offset == 1024 + 512 || offset == 3 * 1024);
    assert_null(maarCheckRangeAllocator(ranges));
    maarDestroyRangeAllocator(ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_hole_is_taken_not_the_tightest),
        cmocka_unit_test(a_hole_that_alignment_makes_too_small_is_passed_over),
        cmocka_unit_test(buddies_are_cut_from_the_lowest_node),
        cmocka_unit_test(a_full_space_has_no_lowest_place),
        cmocka_unit_test(the_end_of_an_odd_space_is_found),
        cmocka_unit_test(kinds_keep_apart_at_the_lowest_place),
        cmocka_unit_test(linear_placements_ignore_it),
        cmocka_unit_test(ranges_take_it_by_a_flag),
    };
    return cmocka_run_group_tests_name("placement_lowest", tests, NULL, NULL);
}
