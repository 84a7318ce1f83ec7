/*
 * Short words for the unit tests of placement: create, allocate with storage brought, free, check.
 */
#ifndef MAAR_TESTS_UNIT_PLACEMENT_FIXTURE_H
#define MAAR_TESTS_UNIT_PLACEMENT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/placement/placement.h"

#define FIXTURE_REFUSED UINT64_MAX

static inline struct maar_placement* fixture_create(MaarPlacementStrategy strategy,
                                                    VkDeviceSize size, VkDeviceSize granularity)
{
    const struct maar_placement_info info = {
        .strategy = strategy, .size = size, .granularity = granularity};
    struct maar_placement* placement = NULL;
    assert_int_equal(maar_placement_create(&info, NULL, &placement), VK_SUCCESS);
    assert_null(maar_placement_check(placement));
    return placement;
}

static inline void fixture_bring_storage(struct maar_placement* placement)
{
    const size_t size = maar_placement_storage_wanted(placement);
    void* memory = malloc(size);
    assert_non_null(memory);
    free(maar_placement_storage_give(placement, memory, size));
}

static inline void fixture_resize(struct maar_placement* placement, VkDeviceSize size)
{
    if (!maar_placement_resize(placement, size)) {
        assert_null(maar_placement_check(placement));
        fixture_bring_storage(placement);
        assert_true(maar_placement_resize(placement, size));
    }
    assert_null(maar_placement_check(placement));
}

/* Any request; checks afterwards. Returns the offset or FIXTURE_REFUSED. */
static inline VkDeviceSize fixture_request(struct maar_placement* placement,
                                           const struct maar_placement_request* request,
                                           uint32_t* node)
{
    struct maar_placement_range range;
    if (node != NULL) {
        *node = MAAR_PLACEMENT_NO_NODE;
    }
    enum maar_place_outcome outcome = maar_placement_allocate(placement, request, &range);
    if (outcome == MAAR_PLACE_WANTS_STORAGE) {
        assert_null(maar_placement_check(placement));
        fixture_bring_storage(placement);
        outcome = maar_placement_allocate(placement, request, &range);
    }
    assert_null(maar_placement_check(placement));
    if (node != NULL) {
        *node = range.node;
    }
    if (outcome != MAAR_PLACED) {
        assert_int_equal(outcome, MAAR_PLACE_NO_ROOM);
        assert_true(range.node == MAAR_PLACEMENT_NO_NODE);
        return FIXTURE_REFUSED;
    }
    assert_true(range.size == request->size);
    return range.offset;
}

static inline VkDeviceSize fixture_allocate(struct maar_placement* placement, VkDeviceSize size,
                                            VkDeviceSize alignment, uint32_t* node)
{
    const struct maar_placement_request request = {.size = size, .alignment = alignment};
    return fixture_request(placement, &request, node);
}

static inline void fixture_free(struct maar_placement* placement, uint32_t node)
{
    assert_true(maar_placement_free(placement, node));
    assert_null(maar_placement_check(placement));
}

static inline struct maar_placement_totals fixture_totals(const struct maar_placement* placement)
{
    struct maar_placement_totals totals;
    maar_placement_totals(placement, &totals);
    return totals;
}

#endif
