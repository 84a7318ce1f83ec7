/*
 * Tables beside the handle table: each slot has an item of its own, and to reserve one takes little
 * host memory, however large the table is.
 */
#include "tests/rig/rig.h"

#include "core/memory/slot_side.h"

enum { MOST_SLOTS = 1 << 20, ITEMS = 4000 };

static size_t largest_request;

static void* VKAPI_PTR measure_allocation(void* user, size_t size, size_t alignment,
                                          VkSystemAllocationScope scope)
{
    (void)user;
    (void)alignment;
    (void)scope;
    largest_request = size > largest_request ? size : largest_request;
    return malloc(size);
}

static const VkAllocationCallbacks callbacks = {
    .pfnAllocation = measure_allocation,
    .pfnReallocation = rig_plain_reallocate,
    .pfnFree = rig_plain_free,
};

/* Neighbours, and slots anywhere. */
static uint32_t index_of(struct rig_random* random, uint32_t number)
{
    return number < ITEMS / 2 ? number : rig_below(random, MOST_SLOTS);
}

static void each_slot_has_an_item_of_its_own(void** state)
{
    (void)state;
    static struct maar_slot_side side;
    const uint64_t seed = rig_seed(1);
    struct rig_random random = {seed};
    assert_null(maar_slot_side_at(&side, 0, sizeof(uint64_t)));
    for (uint32_t i = 0; i < ITEMS; ++i) {
        const uint32_t index = index_of(&random, i);
        assert_int_equal(maar_slot_side_reserve(&side, &callbacks, index, sizeof(uint64_t)),
                         VK_SUCCESS);
        uint64_t* item = maar_slot_side_at(&side, index, sizeof(uint64_t));
        assert_non_null(item);
        assert_true(*item == 0 || *item == index + 1);
        *item = index + 1;
    }
    random.state = seed;
    for (uint32_t i = 0; i < ITEMS; ++i) {
        const uint32_t index = index_of(&random, i);
        const uint64_t* item = maar_slot_side_at(&side, index, sizeof(uint64_t));
        assert_non_null(item);
        assert_int_equal(*item, index + 1);
    }
    assert_null(maar_slot_side_at(&side, MOST_SLOTS, sizeof(uint64_t)));
    assert_true(largest_request <= 8 * KIB);
    maar_slot_side_destroy(&side, &callbacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_slot_has_an_item_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
