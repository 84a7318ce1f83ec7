/*
 * Handles that name no slot, whatever their bits: the table never looks behind its segments, where
 * its lock lies.
 */
#include "tests/rig/rig.h"

#include "core/memory/memory_internal.h"

static void no_number_leads_behind_the_segments(void** state)
{
    (void)state;
    static struct rig rig;
    rig_start(&rig, NULL);
    const uint32_t numbers[] = {(1u << 30) - 513, (1u << 30) - 512, (1u << 30) - 1, 1u << 30};
    for (uint32_t i = 0; i < 4; ++i) {
        const MaarAllocation bad = maar_handle_make(numbers[i], 1);
        /* What a thread that holds the table's lock makes of it for everybody else. */
        maar_mutex_lock(&rig.allocator->slots.lock);
        struct maar_slot* slot =
            numbers[i] == 1u << 30 ? NULL
                                   : maar_slot_resolve(&rig.allocator->slots, bad, &(uint32_t){0});
        maar_mutex_unlock(&rig.allocator->slots.lock);
        assert_null(slot);
        maarFreeMemory(rig.allocator, bad);
    }
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_number_leads_behind_the_segments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
