/*
 * Handles that name no slot, whatever their bits: the table never looks behind its segments, where
 * its lock lies.
 */
#include "core/memory/allocator_state.h"
#include "core/memory/arena.h"
#include "core/memory/pool.h"
#include "tests/rig/rig.h"

static void no_number_leads_behind_the_segments(void** state)
{
    (void)state;
    struct rig* rig = rig_begin(NULL);
    const uint32_t numbers[] = {(1u << 30) - 513, (1u << 30) - 512, (1u << 30) - 1, 1u << 30};
    for (uint32_t i = 0; i < 4; ++i) {
        const uint64_t bad = maar_handle_make(numbers[i], 1);
        /* What a thread that holds the table's lock makes of it for everybody else. */
        maar_mutex_lock(&rig->allocator->slots.lock);
        struct maar_slot* slot =
            numbers[i] == 1u << 30 ? NULL
                                   : maar_slot_resolve(&rig->allocator->slots, bad, &(uint32_t){0});
        maar_mutex_unlock(&rig->allocator->slots.lock);
        assert_null(slot);
        maarFreeMemory(rig->allocator, MAAR_FROM_BITS(MaarAllocation, bad));
    }
    rig_close(rig);
}

/* An arena keeps a thousand free slots and gives the rest back, a run at a time, for others to use.
 */
static void slots_are_given_back_and_used_again(void** state)
{
    (void)state;
    enum { COUNT = 3000 };
    static MaarAllocation made[COUNT];
    struct rig* rig = rig_begin(NULL);
    uint32_t most = 0;
    for (uint32_t round = 0; round < 3; ++round) {
        for (uint32_t i = 0; i < COUNT; ++i) {
            made[i] = rig_allocate(rig, 256, NULL);
        }
        if (round == 0) {
            most = rig->allocator->slots.unused;
        }
        assert_int_equal(rig->allocator->slots.unused, most); /* no new ones */
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, COUNT);
        maarFreeMemories(rig->allocator, COUNT, made);
        const struct maar_arena* arena = rig->allocator->pools->first_arena;
        uint32_t kept = 0;
        for (uint32_t slot = arena->slots.head; slot != MAAR_SLOT_NONE; ++kept) {
            slot = maar_slot_at(&rig->allocator->slots, slot)->next_free;
        }
        assert_int_equal(kept, arena->slots.count);
        assert_true(kept > MAAR_SPARE_SLOTS - MAAR_SLOT_RUN && kept <= MAAR_SPARE_SLOTS);
    }
    rig_check(rig);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(no_number_leads_behind_the_segments),
        rig_unit_test(slots_are_given_back_and_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
