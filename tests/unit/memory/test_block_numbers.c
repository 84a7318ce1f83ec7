/*
 * The numbers of blocks: a slot finds its block by a number, whatever the table of numbers does
 * meanwhile.
 */
#include "core/memory/allocation_handle.h"
#include "tests/rig/rig.h"

enum { COUNT = 8 * MAAR_FIRST_BLOCK_NUMBERS, BYTES = 4096 };

static MaarAllocation made[COUNT];

static void make_dedicated(struct rig* rig, uint32_t from, uint32_t end)
{
    MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    for (uint32_t i = from; i < end; ++i) {
        made[i] = rig_allocate(rig, BYTES + i, &how);
    }
}

static const struct maar_block* block_of(struct rig* rig, uint32_t i)
{
    return maar_slot_block(rig->allocator, maar_slot_of_own(rig->allocator, made[i]));
}

static void expect_own_blocks(struct rig* rig, uint32_t end)
{
    for (uint32_t i = 0; i < end; ++i) {
        assert_true(block_of(rig, i)->size == BYTES + i);
    }
}

static void blocks_keep_their_numbers(void** state)
{
    (void)state;
    static uint32_t numbers[COUNT];
    const struct rig_setup setup = {.count_host = true};
    struct rig* rig = rig_begin(&setup);
    make_dedicated(rig, 0, COUNT);
    expect_own_blocks(rig, COUNT);
    for (uint32_t i = 0; i < COUNT; ++i) {
        numbers[i] = block_of(rig, i)->number;
    }
    /* A header that is used again keeps its number, so there are no new ones. */
    const uint32_t end = rig->allocator->block_numbers.end;
    for (uint32_t i = COUNT / 2; i < COUNT; ++i) {
        maarFreeMemory(rig->allocator, made[i]);
    }
    make_dedicated(rig, COUNT / 2, COUNT);
    expect_own_blocks(rig, COUNT);
    assert_int_equal(rig->allocator->block_numbers.end, end);
    for (uint32_t i = 0; i < COUNT / 2; ++i) {
        assert_int_equal(block_of(rig, i)->number, numbers[i]);
    }
    maarFreeMemories(rig->allocator, COUNT, made);
    rig_check(rig);
    rig_close(rig); /* which finds host memory that was not freed */
}

/* What is outgrown stays, because a thread may have read its address before. */
static void an_outgrown_table_can_be_read(void** state)
{
    (void)state;
    struct rig* rig = rig_begin(NULL);
    make_dedicated(rig, 0, 2 * MAAR_FIRST_BLOCK_NUMBERS);
    struct maar_block* const* old =
        maar_atomic_pointer_load(&rig->allocator->block_numbers.headers);
    make_dedicated(rig, 2 * MAAR_FIRST_BLOCK_NUMBERS, COUNT);
    assert_true(maar_atomic_pointer_load(&rig->allocator->block_numbers.headers) != (void*)old);
    for (uint32_t i = 0; i < MAAR_FIRST_BLOCK_NUMBERS; ++i) {
        assert_ptr_equal(old[block_of(rig, i)->number], block_of(rig, i));
    }
    maarFreeMemories(rig->allocator, COUNT, made);
    rig_check(rig);
    rig_close(rig);
}

/* Without host memory for a larger table the allocation fails and changes nothing. */
static void a_table_that_cannot_grow_fails_the_call(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* rig = rig_begin(&setup);
    uint32_t count = 0;
    while (rig->allocator->block_numbers.end < rig->allocator->block_numbers.capacity) {
        make_dedicated(rig, count, count + 1);
        ++count;
    }
    const MaarStatistics before = rig_statistics(rig, VK_NULL_HANDLE);
    MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    rig->host.fail_at = rig->host.calls + 2; /* the header is the first */
    MaarAllocation none = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, BYTES, &how, &none), VK_ERROR_OUT_OF_HOST_MEMORY);
    rig->host.fail_at = 0;
    rig_forget_messages(rig);
    assert_int_equal(rig->allocator->block_numbers.end, rig->allocator->block_numbers.capacity);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, before.allocationCount);
    make_dedicated(rig, count, count + 1);
    expect_own_blocks(rig, count + 1);
    maarFreeMemories(rig->allocator, count + 1, made);
    rig_check(rig);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(blocks_keep_their_numbers),
        rig_unit_test(an_outgrown_table_can_be_read),
        rig_unit_test(a_table_that_cannot_grow_fails_the_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
