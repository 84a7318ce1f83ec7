/*
 * A device that is short of memory for long: the budget holds at every call of the driver, drops
 * are followed as fast as the limits of updates allow, budgets that jump move nothing to and fro,
 * and sets that take turns do not displace each other all the time.
 */
#include "tests/unit/residency/residency_fixture.h"

enum { BUFFERS = 12, SET = 6, FRAMES = 64 };

/* ---- the driver's boundary ---- */

static struct {
    VkDeviceSize base;   /* bytes in the heap that are not the manager's */
    VkDeviceSize budget; /* of the manager */
    VkDeviceSize most;
    uint64_t calls;
    uint64_t above;
} watch;

static VkDeviceSize heap_bytes(void)
{
    return rig_counters(rig).heapLive[heap];
}

/* Before each call of the driver. */
static void look(void* data, const char* function)
{
    (void)data;
    (void)function;
    const VkDeviceSize bytes = heap_bytes() - watch.base;
    ++watch.calls;
    watch.most = bytes > watch.most ? bytes : watch.most;
    watch.above += bytes > watch.budget ? 1 : 0;
}

static void open_watched(VkDeviceSize budget)
{
    const MaarResidencyCreateInfo info = manager_info(budget, 64 * UNIT);
    MaarResidencyCreateInfo silent = info;
    silent.pfnEvent = NULL;
    open_device();
    find_heap();
    watch.base = heap_bytes();
    watch.budget = budget;
    watch.most = 0;
    watch.calls = 0;
    watch.above = 0;
    open_manager(&silent);
    rig->call = look;
}

static void close_watched(void)
{
    rig->call = NULL;
    close_scene();
}

static void budget_holds_at_every_call_of_the_driver(void** state)
{
    MaarResident all[BUFFERS];
    struct rig_random dice = {rig_seed(5)};
    uint32_t words[BUFFERS];
    (void)state;
    open_watched(8 * UNIT);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        all[i] = create_buffer((1 + i % 3) * UNIT, 0);
        words[i] = i + 1;
        write_buffer(all[i], words[i]);
    }
    for (uint32_t i = 0; i < 600; ++i) {
        const uint32_t at = rig_below(&dice, BUFFERS);
        switch (rig_below(&dice, 8)) {
        case 0:
            update();
            break;
        case 1:
            assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 1, &all[at]),
                             VK_SUCCESS);
            break;
        case 2:
            hold(rig_below(&dice, 2) == 0);
            break;
        case 3:
            write_buffer(all[at], words[at] = 100 + i);
            break;
        default:
            expect_buffer(all[at], words[at]);
            break;
        }
    }
    hold(false);
    assert_true(watch.calls > 1000);
    assert_int_equal(watch.above, 0);
    assert_true(watch.most > 4 * UNIT);
    close_watched();
}

/* After a drop each update copies no more than its limit, and what is above goes in as few. */
static void drop_is_followed_as_fast_as_the_limit_allows(void** state)
{
    MaarResident all[8];
    const MaarResidencyUpdate limits = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_UPDATE,
                                        .maxCopySize = UNIT};
    (void)state;
    open_watched(8 * UNIT);
    for (uint32_t i = 0; i < 8; ++i) {
        all[i] = create_buffer(UNIT, 0);
        write_buffer(all[i], i + 1);
    }
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    assert_int_equal(maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_DEVICE, 4 * UNIT),
                     VK_SUCCESS);
    uint32_t updates = 0;
    while (heap_bytes() - watch.base > 4 * UNIT && updates < 100) {
        const VkDeviceSize before = manager_state().tiers[MAAR_TIER_HOST].savedSize;
        assert_int_equal(maarUpdateResidency(rig->allocator, manager, &limits), VK_SUCCESS);
        /* One to make room, and one ahead of need. */
        assert_true(manager_state().tiers[MAAR_TIER_HOST].savedSize - before <= 2 * UNIT);
        assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
        ++updates;
    }
    assert_true(updates <= 4 + 2);
    watch.budget = 4 * UNIT;
    watch.above = 0;
    for (uint32_t i = 0; i < 8; ++i) {
        expect_buffer(all[i], i + 1);
    }
    assert_int_equal(watch.above, 0);
    close_watched();
}

/* An update whose time is over takes up one resident, and the next ones take up the others. */
static void update_ends_when_its_time_is_over(void** state)
{
    MaarResident all[8];
    const MaarResidencyUpdate limits = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_UPDATE,
                                        .maxTime_ns = 1};
    (void)state;
    open_watched(8 * UNIT);
    for (uint32_t i = 0; i < 8; ++i) {
        all[i] = create_buffer(UNIT, 0);
        write_buffer(all[i], i + 1);
    }
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    VkDeviceSize released = 0;
    assert_int_equal(maarYieldResidency(rig->allocator, manager, 1u << memory_type, 8 * UNIT,
                                        1000000000, &released),
                     VK_SUCCESS);
    update();
    assert_int_equal(manager_state().tiers[MAAR_TIER_DEVICE].residentCount, 0);
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 4, all), VK_SUCCESS);
    for (uint32_t i = 0; i < 16; ++i) {
        const uint32_t before = manager_state().tiers[MAAR_TIER_DEVICE].residentCount;
        assert_int_equal(maarUpdateResidency(rig->allocator, manager, &limits), VK_SUCCESS);
        assert_true(manager_state().tiers[MAAR_TIER_DEVICE].residentCount <= before + 1);
    }
    assert_int_equal(manager_state().tiers[MAAR_TIER_DEVICE].residentCount, 4);
    for (uint32_t i = 0; i < 8; ++i) {
        expect_buffer(all[i], i + 1);
    }
    close_watched();
}

/* ---- budgets that jump ---- */

/* The heap's budget, whatever it says. */
static void say_budget(VkDeviceSize budget)
{
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, heap, budget, 0), VK_SUCCESS);
}

static VkDeviceSize moved_size(void)
{
    const MaarResidencyInfo info = manager_state();
    return info.tiers[MAAR_TIER_DEVICE].restoredSize + info.tiers[MAAR_TIER_HOST].savedSize;
}

/* Plays frames that use two residents, and want all others. Returns the bytes that all frames but
 * the first ones have moved. */
static VkDeviceSize play_frames(const MaarResident* all, uint32_t count,
                                const VkDeviceSize* budgets)
{
    VkDeviceSize before = 0;
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        before = frame == 8 ? moved_size() : before;
        say_budget(budgets[frame % count]);
        assert_int_equal(maarPrefetchResidents(rig->allocator, manager, BUFFERS, all), VK_SUCCESS);
        update();
        do_work();
        for (uint32_t i = 0; i < 2; ++i) {
            expect_buffer(all[i], i + 1);
        }
        event_count = 0;
        rig_forget_messages(rig);
    }
    return moved_size() - before;
}

static void budgets_that_jump_move_nothing_to_and_fro(void** state)
{
    static const VkDeviceSize scripts[][4] = {
        {4 * UNIT, 12 * UNIT, 4 * UNIT, 12 * UNIT},
        {0, (VkDeviceSize)1 << 60, 0, (VkDeviceSize)1 << 60},
        {4 * UNIT, 12 * UNIT, 12 * UNIT, 12 * UNIT},
        {12 * UNIT, 6 * UNIT, 0, 8 * UNIT},
    };
    (void)state;
    for (size_t s = 0; s < sizeof scripts / sizeof scripts[0]; ++s) {
        MaarResident all[BUFFERS];
        const MaarResidencyCreateInfo info = manager_info(0, 4 * BUFFERS * UNIT);
        open_device();
        find_heap();
        say_budget(12 * UNIT);
        open_manager(&info);
        for (uint32_t i = 0; i < BUFFERS; ++i) {
            all[i] = create_buffer(UNIT, 0);
            write_buffer(all[i], i + 1);
        }
        const VkDeviceSize moved = play_frames(all, 4, scripts[s]);
        print_message("script %zu: %llu units in %d frames\n", s,
                      (unsigned long long)(moved / UNIT), FRAMES - 8);
        /* A budget that holds one resident lets the two that are used take turns. */
        const bool is_tiny = scripts[s][0] == 0 || scripts[s][2] == 0;
        assert_true(moved <= (is_tiny ? (VkDeviceSize)2 * FRAMES : (VkDeviceSize)16) * UNIT);
        say_budget(64 * UNIT);
        for (uint32_t i = 0; i < 2 * FRAMES; ++i) {
            update();
        }
        assert_true(manager_state().tiers[MAAR_TIER_DEVICE].budget >= 12 * UNIT);
        for (uint32_t i = 0; i < BUFFERS; ++i) {
            expect_buffer(all[i], i + 1);
            event_count = 0;
        }
        rig_forget_messages(rig);
        close_scene();
    }
}

/* ---- sets that take turns ---- */

/* Uses a set at once, and compares it. Returns the bytes that were restored. */
static VkDeviceSize use_set(const MaarResident* set, uint32_t first_word, MaarUseFlags flags)
{
    static uint32_t words[SET * UNIT / sizeof(uint32_t)];
    MaarResidentUse uses[SET];
    MaarResidentObject objects[SET];
    MaarUse use = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < SET; ++i) {
        uses[i] = (MaarResidentUse){set[i], MAAR_ACCESS_READ_BIT, 0};
    }
    assert_int_equal(try_uses(SET, uses, flags | MAAR_USE_WAIT_BIT, objects, &use), VK_SUCCESS);
    const VkDeviceSize restored = answer.restoredSize;
    VkCommandBuffer into = begin_commands();
    for (uint32_t i = 0; i < SET; ++i) {
        const VkBufferCopy region = {.dstOffset = i * UNIT, .size = UNIT};
        vkCmdCopyBuffer(into, objects[i].buffer, readback, 1, &region);
    }
    end_use_at(use, submit_commands());
    wait_for(submitted);
    assert_int_equal(
        maarCopyFromAllocation(rig->allocator, readback_memory, 0, sizeof words, words),
        VK_SUCCESS);
    for (uint32_t i = 0; i < SET * UNIT / sizeof(uint32_t); ++i) {
        assert_int_equal(words[i], first_word + i / (UNIT / sizeof(uint32_t)));
    }
    return restored;
}

/* Two sets of six take turns on a device that holds eight. */
static VkDeviceSize alternate(MaarUseFlags flags, VkDeviceSize* most)
{
    MaarResident all[2 * SET];
    VkDeviceSize restored = 0;
    *most = 0;
    open_watched(8 * UNIT);
    for (uint32_t i = 0; i < 2 * SET; ++i) {
        all[i] = create_buffer(UNIT, 0);
        write_buffer(all[i], i + 1);
    }
    for (uint32_t step = 0; step < FRAMES; ++step) {
        const uint32_t first = step % 2 == 0 ? 0 : SET;
        const VkDeviceSize bytes = use_set(&all[first], first + 1, flags);
        *most = bytes > *most ? bytes : *most;
        restored += step >= FRAMES / 2 ? bytes : 0;
        update();
    }
    assert_int_equal(watch.above, 0);
    assert_true((manager_state().demotedCount > 0) == (flags != 0));
    for (uint32_t i = 0; i < 2 * SET; ++i) {
        expect_buffer(all[i], i + 1);
    }
    close_watched();
    return restored;
}

static void sets_that_take_turns_are_demoted_in_part(void** state)
{
    VkDeviceSize most = 0;
    (void)state;
    const VkDeviceSize plain = alternate(0, &most);
    print_message("%llu units in %d steps, at most %llu in one\n",
                  (unsigned long long)(plain / UNIT), FRAMES / 2,
                  (unsigned long long)(most / UNIT));
    assert_true(most <= SET * UNIT);
    const VkDeviceSize demoted = alternate(MAAR_USE_MAY_DEMOTE_BIT, &most);
    print_message("%llu units with demotion, at most %llu in one\n",
                  (unsigned long long)(demoted / UNIT), (unsigned long long)(most / UNIT));
    assert_true(most <= SET * UNIT);
    assert_true(4 * demoted <= plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(budget_holds_at_every_call_of_the_driver),
        rig_unit_test(drop_is_followed_as_fast_as_the_limit_allows),
        rig_unit_test(update_ends_when_its_time_is_over),
        rig_unit_test(budgets_that_jump_move_nothing_to_and_fro),
        rig_unit_test(sets_that_take_turns_are_demoted_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
