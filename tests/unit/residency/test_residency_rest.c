/*
 * The blocks of a tier use all of its budget: as many residents of one size are on the device at
 * once as the budget has bytes for, whatever the budget is now and was before.
 */
#include "tests/unit/residency/residency_fixture.h"

enum { RESIDENTS = 40 };

static MaarResident all[RESIDENTS];

/* Returns how many residents, the first ones, one use can have on the device. */
static uint32_t count_together(void)
{
    MaarResidentUse uses[RESIDENTS];
    uint32_t count = 0;
    event_count = 0;
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        uses[i] = (MaarResidentUse){.resident = all[i], .access = MAAR_ACCESS_READ_BIT};
    }
    for (uint32_t tried = 1; tried <= RESIDENTS; ++tried) {
        MaarUse use = VK_NULL_HANDLE;
        const VkResult result = try_uses(tried, uses, 0, NULL, &use);
        if (result == VK_SUCCESS) {
            count = tried;
            cancel_use(use);
        } else {
            assert_int_equal(result, VK_ERROR_OUT_OF_POOL_MEMORY);
            rig_forget_messages(rig);
            break;
        }
    }
    return count;
}

static void open_residents(VkDeviceSize budget, VkDeviceSize size)
{
    const MaarResidencyCreateInfo info = manager_info(budget, 2 * RESIDENTS * size);
    open_device();
    open_manager(&info);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        event_count = 0;
        all[i] = create_buffer(size, 0);
        write_buffer(all[i], i + 1);
    }
}

static void close_residents(void)
{
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        event_count = 0;
        expect_buffer(all[i], i + 1);
        destroy_resident(all[i]);
    }
    close_scene();
}

static void blocks_hold_as_many_as_the_budget_has_bytes_for(void** state)
{
    /* Few blocks and many, and rests of most sizes. In units of 64 KiB. */
    static const struct {
        uint32_t budget;
        uint32_t size;
    } cases[] = {{128, 5}, {24, 1}, {100, 3}, {119, 5}, {79, 4}, {34, 5},
                 {131, 4}, {29, 5}, {61, 3},  {8, 3},   {9, 5},  {5, 5}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const uint32_t whole = cases[i].budget / cases[i].size;
        open_residents(cases[i].budget * UNIT, cases[i].size * UNIT);
        assert_int_equal(count_together(), whole < RESIDENTS ? whole : RESIDENTS);
        assert_true(manager_state().tiers[MAAR_TIER_DEVICE].peakSize <= cases[i].budget * UNIT);
        close_residents();
    }
}

/* Blocks were made for another budget. What they leave is used all the same. */
static void blocks_serve_a_budget_that_changes(void** state)
{
    static const uint32_t budgets[] = {60, 7, 25, 100, 40, 6, 11, 63, 5, 99};
    const uint32_t size = 5;
    (void)state;
    open_residents(60 * UNIT, size * UNIT);
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; ++i) {
        assert_int_equal(
            maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_DEVICE, budgets[i] * UNIT),
            VK_SUCCESS);
        event_count = 0;
        for (uint32_t j = 0; j < 8; ++j) {
            update();
        }
        settle();
        const MaarTierInfo device = manager_state().tiers[MAAR_TIER_DEVICE];
        assert_true(device.size <= budgets[i] * UNIT);
        /* Where a block is older than the budget, one place may be lost. */
        const uint32_t together = count_together();
        const uint32_t whole = budgets[i] / size;
        assert_true(together <= whole);
        assert_true(together + 1 >= whole);
    }
    close_residents();
}

/* Residents of other sizes use the rest, too. */
static void the_rest_serves_small_residents(void** state)
{
    MaarResidentUse uses[8];
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_residents(23 * UNIT, 5 * UNIT); /* one block of 20 units, and three */
    assert_int_equal(count_together(), 4);
    for (uint32_t i = 0; i < 4; ++i) {
        uses[i] = (MaarResidentUse){.resident = all[i], .access = MAAR_ACCESS_READ_BIT};
    }
    for (uint32_t i = 4; i < 7; ++i) {
        uses[i] = (MaarResidentUse){.resident = create_buffer(UNIT, 0),
                                    .access = MAAR_ACCESS_OVERWRITE_BIT};
    }
    assert_int_equal(try_uses(7, uses, 0, NULL, &use), VK_SUCCESS);
    cancel_use(use);
    for (uint32_t i = 4; i < 7; ++i) {
        destroy_resident(uses[i].resident);
    }
    close_residents();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(blocks_hold_as_many_as_the_budget_has_bytes_for),
        rig_unit_test(blocks_serve_a_budget_that_changes),
        rig_unit_test(the_rest_serves_small_residents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
