/*
 * Places at the end of a free range, in TLSF placements; others ignore the choice of the end.
 */
#include "tests/unit/placement/placement_fixture.h"

static const VkDeviceSize NEVER = UINT64_MAX;

/* Allocates at the end of a free range if the range before it has `after` bytes. Returns the
 * offset or FIXTURE_REFUSED. */
static VkDeviceSize last(struct maar_placement* placement,
                         const struct maar_placement_request* request, VkDeviceSize after,
                         uint32_t* node)
{
    struct maar_placement_range range;
    enum maar_place_outcome outcome =
        maar_placement_allocate_last(placement, request, after, &range);
    if (outcome == MAAR_PLACE_WANTS_STORAGE) {
        fixture_bring_storage(placement);
        outcome = maar_placement_allocate_last(placement, request, after, &range);
    }
    assert_null(maar_placement_check(placement));
    assert_true(outcome == MAAR_PLACED || outcome == MAAR_PLACE_NO_ROOM);
    if (node != NULL) {
        *node = range.node;
    }
    return outcome == MAAR_PLACED ? range.offset : FIXTURE_REFUSED;
}

static void the_end_of_a_free_range_is_taken(void** state)
{
    (void)state;
    const struct maar_placement_request request = {.size = 1000, .alignment = 256};
    struct maar_placement* placement = fixture_create(MAAR_PLACEMENT_STRATEGY_TLSF, 1 << 16, 0);
    uint32_t node = 0;
    assert_true(last(placement, &request, 0, &node) == (1 << 16) - 1024);
    assert_true(last(placement, &request, 0, NULL) == (1 << 16) - 2048);
    assert_true(fixture_allocate(placement, 1000, 256, NULL) == 0);
    fixture_free(placement, node);
    assert_true(last(placement, &request, 0, NULL) == (1 << 16) - 1024);
    maar_placement_destroy(placement, NULL);
}

static void the_range_before_decides(void** state)
{
    (void)state;
    const struct maar_placement_request request = {.size = 256, .alignment = 256};
    struct maar_placement* placement = fixture_create(MAAR_PLACEMENT_STRATEGY_TLSF, 1 << 16, 0);
    uint32_t node = 0;
    assert_true(last(placement, &request, 1, &node) == 0); /* nothing is before */
    assert_true(last(placement, &request, 257, NULL) == 256);
    assert_true(last(placement, &request, 256, NULL) == (1 << 16) - 256);
    assert_true(last(placement, &request, NEVER, NULL) == 512);
    fixture_free(placement, node);
    assert_true(last(placement, &request, 1, NULL) == 0);
    maar_placement_destroy(placement, NULL);
}

static void alignment_holds_at_the_end(void** state)
{
    (void)state;
    const struct maar_placement_request odd = {.size = 1000, .alignment = 3000};
    const struct maar_placement_request whole = {.size = 1 << 15, .alignment = 1 << 15};
    struct maar_placement* placement = fixture_create(MAAR_PLACEMENT_STRATEGY_TLSF, 1 << 16, 0);
    assert_true(last(placement, &odd, 0, NULL) == 63000);
    assert_true(last(placement, &whole, 0, NULL) == 0);
    assert_true(last(placement, &odd, 0, NULL) == 60000);
    maar_placement_destroy(placement, NULL);
}

/* The last bytes of a space that is no multiple of a unit. */
static void an_odd_space_is_filled_from_its_end(void** state)
{
    (void)state;
    const struct maar_placement_request rest = {.size = 100, .alignment = 256};
    const struct maar_placement_request most = {.size = 1024, .alignment = 256};
    struct maar_placement* placement = fixture_create(MAAR_PLACEMENT_STRATEGY_TLSF, 1124, 0);
    uint32_t node = 0;
    assert_true(last(placement, &rest, 0, &node) == 1024);
    assert_true(last(placement, &most, 0, NULL) == 0);
    assert_true(last(placement, &rest, 0, NULL) == FIXTURE_REFUSED);
    fixture_free(placement, node);
    assert_true(last(placement, &rest, 0, NULL) == 1024);
    maar_placement_destroy(placement, NULL);
}

static void kinds_keep_apart_at_the_end(void** state)
{
    (void)state;
    const struct maar_placement_request linear = {.size = 256, .alignment = 256, .kind = 1};
    const struct maar_placement_request optimal = {.size = 256, .alignment = 256, .kind = 2};
    struct maar_placement* placement = fixture_create(MAAR_PLACEMENT_STRATEGY_TLSF, 4096, 1024);
    assert_true(last(placement, &linear, 0, NULL) == 4096 - 256);
    assert_true(last(placement, &optimal, 0, NULL) == 3072 - 256); /* not in the same granule */
    assert_true(last(placement, &optimal, 0, NULL) == 3072 - 512);
    assert_true(fixture_allocate(placement, 1536, 256, NULL) == 0);
    assert_true(last(placement, &linear, 0, NULL) == 4096 - 512); /* beside its kind */
    maar_placement_destroy(placement, NULL);
}

/* Where the end belongs to another kind, the usual place does. */
static void the_usual_place_is_taken_if_the_end_is_of_another_kind(void** state)
{
    (void)state;
    const struct maar_placement_request linear = {.size = 256, .alignment = 256, .kind = 1};
    const struct maar_placement_request optimal = {.size = 1536, .alignment = 256, .kind = 2};
    struct maar_placement* placement = fixture_create(MAAR_PLACEMENT_STRATEGY_TLSF, 2048, 1024);
    assert_true(last(placement, &linear, 0, NULL) == 2048 - 256);
    assert_true(last(placement, &optimal, 0, NULL) == FIXTURE_REFUSED);
    const struct maar_placement_request half = {.size = 1024, .alignment = 256, .kind = 2};
    assert_true(last(placement, &half, 0, NULL) == 0);
    maar_placement_destroy(placement, NULL);
}

static void other_strategies_ignore_it(void** state)
{
    (void)state;
    const struct maar_placement_request request = {.size = 64, .alignment = 64};
    const MaarPlacementStrategy strategies[] = {MAAR_PLACEMENT_STRATEGY_LINEAR,
                                                MAAR_PLACEMENT_STRATEGY_BUDDY};
    for (uint32_t i = 0; i < 2; ++i) {
        struct maar_placement* placement = fixture_create(strategies[i], 8192, 0);
        assert_true(last(placement, &request, 0, NULL) == 0);
        assert_true(last(placement, &request, 0, NULL) == 64);
        maar_placement_destroy(placement, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_free_range_is_taken),
        cmocka_unit_test(the_range_before_decides),
        cmocka_unit_test(alignment_holds_at_the_end),
        cmocka_unit_test(an_odd_space_is_filled_from_its_end),
        cmocka_unit_test(kinds_keep_apart_at_the_end),
        cmocka_unit_test(the_usual_place_is_taken_if_the_end_is_of_another_kind),
        cmocka_unit_test(other_strategies_ignore_it),
    };
    return cmocka_run_group_tests_name("placement_last", tests, NULL, NULL);
}
