/*
 * TLSF: where ranges go, what is joined, and what a search may cost.
 */
#include "tests/unit/placement/placement_fixture.h"

static struct maar_placement* create(VkDeviceSize size, VkDeviceSize granularity)
{
    return fixture_create(MAAR_PLACEMENT_STRATEGY_TLSF, size, granularity);
}

static void ranges_freed_in_any_order_are_joined(void** state)
{
    (void)state;
    static const uint32_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (uint32_t i = 0; i < 6; ++i) {
        struct maar_placement* placement = create(3000, 0);
        uint32_t nodes[3];
        for (uint32_t j = 0; j < 3; ++j) {
            assert_true(fixture_allocate(placement, 1000, 1, &nodes[j]) == (VkDeviceSize)j * 1000);
        }
        assert_true(fixture_allocate(placement, 1, 1, NULL) == FIXTURE_REFUSED);
        for (uint32_t j = 0; j < 3; ++j) {
            fixture_free(placement, nodes[orders[i][j]]);
        }
        assert_true(maar_placement_largest_free_bound(placement) == 3000);
        assert_true(fixture_allocate(placement, 3000, 1, NULL) == 0);
        maar_placement_destroy(placement, NULL);
    }
}

static void hole_of_the_right_size_is_preferred(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 20, 0);
    uint32_t nodes[4];
    fixture_allocate(placement, 8192, 256, &nodes[0]);
    fixture_allocate(placement, 256, 256, &nodes[1]);
    const VkDeviceSize small = fixture_allocate(placement, 1024, 256, &nodes[2]);
    fixture_allocate(placement, 256, 256, &nodes[3]);
    fixture_free(placement, nodes[0]);
    fixture_free(placement, nodes[2]);
    assert_true(fixture_allocate(placement, 1000, 256, NULL) == small);
    assert_true(fixture_allocate(placement, 8000, 256, NULL) == 0);
    maar_placement_destroy(placement, NULL);
}

static void front_gap_of_alignment_stays_free(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 20, 0);
    assert_true(fixture_allocate(placement, 16, 16, NULL) == 0);
    assert_true(fixture_allocate(placement, 4096, 65536, NULL) == 65536);
    const struct maar_placement_totals totals = fixture_totals(placement);
    assert_true(totals.padding_size == 0);
    assert_true(totals.used_size == 16 + 4096);
    assert_true(fixture_allocate(placement, 65520, 16, NULL) == 16);
    maar_placement_destroy(placement, NULL);
}

static void tail_below_every_alignment_is_padding(void** state)
{
    (void)state;
    struct maar_placement* placement = create(4096, 0);
    uint32_t node = 0;
    assert_true(fixture_allocate(placement, 100, 256, &node) == 0);
    assert_true(fixture_totals(placement).padding_size == 156);
    /* An alignment of 4 makes smaller remainders worth keeping. */
    assert_true(fixture_allocate(placement, 6, 4, NULL) == 256);
    assert_true(fixture_totals(placement).padding_size == 158);
    fixture_free(placement, node);
    assert_true(fixture_totals(placement).padding_size == 2);
    maar_placement_destroy(placement, NULL);
}

static void refused_request_does_not_change_the_unit(void** state)
{
    (void)state;
    struct maar_placement* placement = create(4096, 0);
    assert_true(fixture_allocate(placement, 5000, 1, NULL) == FIXTURE_REFUSED);
    assert_true(fixture_allocate(placement, 100, 256, NULL) == 0);
    assert_true(fixture_totals(placement).padding_size == 156);
    maar_placement_destroy(placement, NULL);
}

static void odd_alignments_are_met(void** state)
{
    (void)state;
    static const VkDeviceSize alignments[] = {1, 3, 48, 7, 100, 4096, 12345};
    struct maar_placement* placement = create(1 << 20, 0);
    for (uint32_t i = 0; i < 70; ++i) {
        const VkDeviceSize alignment = alignments[i % 7];
        const VkDeviceSize offset = fixture_allocate(placement, 11 + i * 13, alignment, NULL);
        assert_true(offset != FIXTURE_REFUSED);
        assert_true(offset % alignment == 0);
    }
    maar_placement_destroy(placement, NULL);
}

static void whole_space_of_odd_size_is_one_range(void** state)
{
    (void)state;
    static const VkDeviceSize sizes[] = {
        1, 255, 257, 1000, 65537, MAAR_RANGE_MAX_SIZE - 1, MAAR_RANGE_MAX_SIZE};
    for (uint32_t i = 0; i < 7; ++i) {
        struct maar_placement* placement = create(sizes[i], 0);
        uint32_t node = 0;
        assert_true(fixture_allocate(placement, sizes[i] + 1, 256, NULL) == FIXTURE_REFUSED);
        assert_true(fixture_allocate(placement, sizes[i], 256, &node) == 0);
        assert_true(fixture_totals(placement).free_size == 0);
        assert_true(maar_placement_largest_free_bound(placement) == 0);
        fixture_free(placement, node);
        assert_true(maar_placement_largest_free_bound(placement) == sizes[i]);
        maar_placement_destroy(placement, NULL);
    }
}

static void last_bytes_of_the_space_are_usable(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    assert_true(fixture_allocate(placement, 768, 256, NULL) == 0);
    assert_true(fixture_allocate(placement, 232, 256, NULL) == 768);
    assert_true(fixture_totals(placement).free_size == 0);
    maar_placement_destroy(placement, NULL);
}

static void absurd_alignment_means_offset_zero(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 20, 0);
    uint32_t node = 0;
    assert_true(fixture_allocate(placement, 10, UINT64_MAX, &node) == 0);
    assert_true(fixture_allocate(placement, 10, (VkDeviceSize)1 << 63, NULL) == FIXTURE_REFUSED);
    assert_true(fixture_allocate(placement, UINT64_MAX, 1, NULL) == FIXTURE_REFUSED);
    fixture_free(placement, node);
    assert_true(fixture_allocate(placement, 10, (VkDeviceSize)1 << 63, NULL) == 0);
    maar_placement_destroy(placement, NULL);
}

static void kinds_keep_apart(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 20, 1024);
    const struct maar_placement_request linear = {.size = 100, .alignment = 4, .kind = 1};
    const struct maar_placement_request optimal = {.size = 100, .alignment = 4, .kind = 2};
    const struct maar_placement_request any = {.size = 100, .alignment = 4};
    assert_true(fixture_request(placement, &linear, NULL) == 0);
    assert_true(fixture_request(placement, &optimal, NULL) == 1024);
    assert_true(fixture_request(placement, &linear, NULL) == 100);
    assert_true(fixture_request(placement, &any, NULL) == 200);
    assert_true(fixture_request(placement, &optimal, NULL) == 1124);
    maar_placement_destroy(placement, NULL);
}

static void kinds_see_past_ranges_without_one(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 16, 1024);
    const struct maar_placement_request linear = {.size = 64, .alignment = 64, .kind = 1};
    const struct maar_placement_request optimal = {.size = 64, .alignment = 64, .kind = 2};
    const struct maar_placement_request any = {.size = 64, .alignment = 64};
    assert_true(fixture_request(placement, &linear, NULL) == 0);
    for (uint32_t i = 1; i < 4; ++i) {
        assert_true(fixture_request(placement, &any, NULL) == (VkDeviceSize)i * 64);
    }
    assert_true(fixture_request(placement, &optimal, NULL) == 1024);
    maar_placement_destroy(placement, NULL);
}

static void kinds_in_units_of_granules_need_no_look(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1 << 16, 256);
    struct maar_placement_request request = {.size = 100, .alignment = 256};
    for (uint32_t i = 0; i < 10; ++i) {
        request.kind = 1 + i % 2;
        assert_true(fixture_request(placement, &request, NULL) == (VkDeviceSize)i * 256);
    }
    /* Smaller units: now the kinds count. */
    request.alignment = 4;
    request.kind = 1;
    assert_true(fixture_request(placement, &request, NULL) == 2560);
    request.kind = 2;
    assert_true(fixture_request(placement, &request, NULL) == 2816);
    maar_placement_destroy(placement, NULL);
}

static void resize_extends_a_free_end(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1000, 0);
    assert_true(fixture_allocate(placement, 600, 8, NULL) == 0);
    assert_true(fixture_allocate(placement, 1000, 8, NULL) == FIXTURE_REFUSED);
    fixture_resize(placement, 100000);
    assert_true(fixture_allocate(placement, 99400, 8, NULL) == 600);
    maar_placement_destroy(placement, NULL);
}

static void resize_extends_a_full_space(void** state)
{
    (void)state;
    struct maar_placement* placement = create(1001, 0);
    assert_true(fixture_allocate(placement, 1001, 256, NULL) == 0);
    /* The range takes the rest of its unit: borders stay multiples of it. */
    fixture_resize(placement, 1010);
    assert_true(fixture_totals(placement).free_size == 0);
    assert_true(fixture_totals(placement).padding_size == 9);
    fixture_resize(placement, 1034);
    assert_true(fixture_totals(placement).free_size == 10);
    fixture_resize(placement, 1290);
    assert_true(fixture_allocate(placement, 256, 256, NULL) == 1024);
    assert_true(fixture_totals(placement).free_size == 10);
    assert_true(fixture_allocate(placement, 10, 1, NULL) == 1280);
    maar_placement_destroy(placement, NULL);
}

/* The space ends inside the last unit of a range. It is freed beside live and free ranges. */
static void odd_end_is_freed_whole(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; ++i) {
        struct maar_placement* placement = create(1000, 0);
        uint32_t nodes[3];
        assert_true(fixture_allocate(placement, 256, 256, &nodes[0]) == 0);
        assert_true(fixture_allocate(placement, 256, 256, &nodes[1]) == 256);
        assert_true(fixture_allocate(placement, 300, 256, &nodes[2]) == 512);
        assert_true(fixture_totals(placement).free_size == 0);
        if ((i & 1) != 0) {
            fixture_free(placement, nodes[1]);
        }
        VkDeviceSize size = 1000;
        if ((i & 2) != 0) {
            size = 1010; /* in its last unit still */
            fixture_resize(placement, size);
        }
        if ((i & 4) != 0) {
            size = 1280; /* a free range follows */
            fixture_resize(placement, size);
        }
        fixture_free(placement, nodes[2]);
        const VkDeviceSize begin = (i & 1) != 0 ? 256 : 512;
        assert_true(fixture_totals(placement).free_size == size - begin);
        assert_true(maar_placement_largest_free_bound(placement) == size - begin);
        assert_true(fixture_allocate(placement, size - begin, 256, &nodes[2]) == begin);
        fixture_free(placement, nodes[0]);
        fixture_free(placement, nodes[2]);
        assert_true(fixture_totals(placement).free_size == ((i & 1) != 0 ? size : size - 256));
        maar_placement_destroy(placement, NULL);
    }
}

/* A free range of the largest size: its extent has the highest bit. */
static void largest_space_becomes_one_range_again(void** state)
{
    (void)state;
    static const VkDeviceSize sizes[] = {256, 4096, MAAR_RANGE_MAX_SIZE / 2,
                                         MAAR_RANGE_MAX_SIZE - 256};
    for (uint32_t i = 0; i < 8; ++i) {
        struct maar_placement* placement = create(MAAR_RANGE_MAX_SIZE, 0);
        const VkDeviceSize size = sizes[i / 2];
        uint32_t nodes[2];
        assert_true(fixture_allocate(placement, size, 256, &nodes[0]) == 0);
        assert_true(fixture_allocate(placement, MAAR_RANGE_MAX_SIZE - size, 256, &nodes[1]) ==
                    size);
        fixture_free(placement, nodes[i % 2]);
        fixture_free(placement, nodes[1 - i % 2]);
        assert_true(maar_placement_largest_free_bound(placement) == MAAR_RANGE_MAX_SIZE);
        assert_true(fixture_allocate(placement, MAAR_RANGE_MAX_SIZE, 256, &nodes[0]) == 0);
        fixture_free(placement, nodes[0]);
        assert_true(fixture_allocate(placement, MAAR_RANGE_MAX_SIZE - 1, 256, &nodes[0]) == 0);
        fixture_free(placement, nodes[0]);
        assert_true(fixture_totals(placement).free_size == MAAR_RANGE_MAX_SIZE);
        maar_placement_destroy(placement, NULL);
    }
}

static void unrounded_sizes_fragment_no_more_than_rounded(void** state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    VkDeviceSize padding[2];
    for (uint32_t raw = 0; raw < 2; ++raw) {
        struct maar_placement* placement = create(1 << 22, 0);
        for (uint32_t i = 0; i < 500; ++i) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            VkDeviceSize size = 1 + (random >> 52);
            size = raw != 0 ? size : (size + 255) / 256 * 256;
            assert_true(fixture_allocate(placement, size, 256, NULL) != FIXTURE_REFUSED);
        }
        const struct maar_placement_totals totals = fixture_totals(placement);
        padding[raw] = totals.padding_size;
        /* One free range behind all: nothing was left between them. */
        assert_true(maar_placement_largest_free_bound(placement) == totals.free_size);
        maar_placement_destroy(placement, NULL);
    }
    assert_true(padding[0] == 0);
    assert_true(padding[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_freed_in_any_order_are_joined),
        cmocka_unit_test(hole_of_the_right_size_is_preferred),
        cmocka_unit_test(front_gap_of_alignment_stays_free),
        cmocka_unit_test(tail_below_every_alignment_is_padding),
        cmocka_unit_test(refused_request_does_not_change_the_unit),
        cmocka_unit_test(odd_alignments_are_met),
        cmocka_unit_test(whole_space_of_odd_size_is_one_range),
        cmocka_unit_test(last_bytes_of_the_space_are_usable),
        cmocka_unit_test(absurd_alignment_means_offset_zero),
        cmocka_unit_test(kinds_keep_apart),
        cmocka_unit_test(kinds_see_past_ranges_without_one),
        cmocka_unit_test(kinds_in_units_of_granules_need_no_look),
        cmocka_unit_test(resize_extends_a_free_end),
        cmocka_unit_test(resize_extends_a_full_space),
        cmocka_unit_test(odd_end_is_freed_whole),
        cmocka_unit_test(largest_space_becomes_one_range_again),
        cmocka_unit_test(unrounded_sizes_fragment_no_more_than_rounded),
    };
    return cmocka_run_group_tests_name("placement_tlsf", tests, NULL, NULL);
}
