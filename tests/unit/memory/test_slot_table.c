/*
 * Handles that name no slot, whatever their bits: the table never looks behind its segments, where
 * its lock lies.
 */
#include <stdio.h>

#include "core/memory/allocation_handle.h"
#include "core/memory/allocator_state.h"
#include "core/memory/arena.h"
#include "core/memory/pool.h"
#include "tests/rig/rig.h"

static void* VKAPI_PTR filled_allocate(void* user, size_t size, size_t alignment,
                                       VkSystemAllocationScope scope)
{
    void* memory = rig_plain_reallocate(user, NULL, size, alignment, scope);
    return memory != NULL ? memset(memory, 0xEF, size) : NULL;
}

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
            most = maar_atomic32_load(&rig->allocator->slots.unused);
        }
        assert_int_equal(maar_atomic32_load(&rig->allocator->slots.unused), most); /* no new ones */
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

/* A slot retires when its keys are used up. Here the last keys are reached at once: the slot gets a
 * key close to the end while it is free. */
static void slot_without_keys_retires(void** state)
{
    (void)state;
    enum { LAST_USES = 3 };
    struct rig* rig = rig_begin(NULL);
    MaarAllocation stale[LAST_USES];
    const MaarAllocation kept = rig_allocate(rig, 256, NULL);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 256, NULL));
    const struct maar_arena* arena = rig->allocator->pools->first_arena;
    const uint32_t index = arena->slots.head;
    struct maar_slot* slot = maar_slot_at(&rig->allocator->slots, index);
    maar_atomic32_store(&slot->key, MAAR_SLOT_MOVING - 2 * LAST_USES);
    for (uint32_t i = 0; i < LAST_USES; ++i) {
        assert_int_equal(arena->slots.head, index);
        stale[i] = rig_allocate(rig, 256, NULL);
        maarFreeMemory(rig->allocator, stale[i]);
    }
    for (uint32_t i = 0; i < 2000; ++i) {
        const MaarAllocation made = rig_allocate(rig, 256, NULL);
        assert_true((uint32_t)MAAR_TO_BITS(made) != index + 1);
        for (uint32_t j = 0; j < LAST_USES; ++j) {
            MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
            assert_int_equal(maarGetAllocationInfo(rig->allocator, stale[j], &info),
                             VK_ERROR_VALIDATION_FAILED_EXT);
            rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
        }
        maarFreeMemory(rig->allocator, made);
    }
    maarFreeMemory(rig->allocator, kept);
    rig_check(rig);
    rig_close(rig);
}

/* A segment is not written before its slots are needed: neither does one call pay for all of them,
 * nor does what the memory holds make a handle. */
static void unused_slots_are_neither_written_nor_read(void** state)
{
    (void)state;
    enum { NUMBERS = 1000, RUNS = 20 };
    const uint32_t filler_key = 0xEFEFEFEFu;
    const VkAllocationCallbacks callbacks = {
        .pfnAllocation = filled_allocate,
        .pfnReallocation = rig_plain_reallocate,
        .pfnFree = rig_plain_free,
    };
    struct maar_slot_table table;
    struct maar_slot_list list = {.head = MAAR_SLOT_NONE};
    struct maar_mutex lock;
    assert_true(maar_mutex_init(&lock, MAAR_LOCK_ARENA, true));
    assert_true(maar_slots_init(&table, &callbacks, 2, true));
    for (uint32_t run = 1; run <= RUNS; ++run) {
        uint32_t index = 0;
        maar_mutex_lock(&lock);
        assert_int_equal(maar_slots_refill(&table, &lock, &list), VK_SUCCESS);
        maar_mutex_unlock(&lock);
        for (uint32_t number = 0; number < NUMBERS; ++number) {
            assert_null(maar_slot_resolve(&table, maar_handle_make(number, filler_key), &index));
            assert_false(maar_slot_was_used(&table, maar_handle_make(number, filler_key)));
        }
        const uint32_t end = maar_slot_segment_base(table.segment_count);
        if (run * MAAR_SLOT_RUN < end) {
            const struct maar_slot* slot = maar_slot_at(&table, run * MAAR_SLOT_RUN);
            assert_int_equal(maar_atomic32_load(&slot->key), filler_key);
        }
        for (uint32_t i = 0; i < MAAR_SLOT_RUN; ++i) {
            assert_int_equal(maar_slots_pop(&table, &list), (run - 1) * MAAR_SLOT_RUN + i);
        }
    }
    maar_slots_destroy(&table);
    maar_mutex_destroy(&lock);
}

static bool is_filler(const struct maar_slot_extra* extra)
{
    const unsigned char* bytes = (const unsigned char*)extra;
    bool is = true;
    for (size_t i = 0; i < sizeof *extra; ++i) {
        is = is && bytes[i] == 0xEF;
    }
    return is;
}

/* The second record of a slot is not touched before the allocation has a name or user data: neither
 * its cache line, nor the page of fresh memory. */
static void plain_allocations_touch_no_extra(void** state)
{
    (void)state;
    enum { COUNT = 700, TAGGED = 650 };
    static MaarAllocation made[COUNT];
    const VkAllocationCallbacks callbacks = {
        .pfnAllocation = filled_allocate,
        .pfnReallocation = rig_plain_reallocate,
        .pfnFree = rig_plain_free,
    };
    struct rig* rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pAllocationCallbacks = &callbacks;
    rig_make_allocator(rig);
    for (uint32_t round = 0; round < 2; ++round) {
        for (uint32_t i = 0; i < COUNT; ++i) {
            made[i] = rig_allocate(rig, 256, NULL);
        }
        maarFreeMemories(rig->allocator, COUNT, made);
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        made[i] = rig_allocate(rig, 256, NULL);
    }
    assert_int_equal(maarSetAllocationUserData(rig->allocator, made[TAGGED], rig), VK_SUCCESS);
    assert_int_equal(maarSetAllocationName(rig->allocator, made[TAGGED], "one"), VK_SUCCESS);
    for (uint32_t i = 0; i < COUNT; ++i) {
        const struct maar_slot* slot = maar_slot_of_own(rig->allocator, made[i]);
        assert_int_equal(is_filler(maar_slot_extra(slot, maar_slot_index(made[i]))), i != TAGGED);
        assert_int_equal(maar_slots_index_of(&rig->allocator->slots, slot),
                         maar_slot_index(made[i]));
        MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
        assert_int_equal(maarGetAllocationInfo(rig->allocator, made[i], &info), VK_SUCCESS);
        assert_ptr_equal(info.pUserData, i == TAGGED ? rig : NULL);
        assert_int_equal(info.pName != NULL, i == TAGGED);
    }
    maarFreeMemories(rig->allocator, COUNT, made);
    rig_check(rig);
    rig_close(rig);
}

/* Each allocation has a name and user data of its own, in every segment. */
static void names_and_user_data_are_the_slot_s_own(void** state)
{
    (void)state;
    enum { COUNT = 1200 };
    static MaarAllocation made[COUNT];
    struct rig* rig = rig_begin(NULL);
    char name[16];
    for (uint32_t i = 0; i < COUNT; ++i) {
        (void)snprintf(name, sizeof name, "name %u", (unsigned)i);
        MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
        how.pName = name;
        how.pUserData = &made[i];
        made[i] = rig_allocate(rig, 256, &how);
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
        assert_int_equal(maarGetAllocationInfo(rig->allocator, made[i], &info), VK_SUCCESS);
        (void)snprintf(name, sizeof name, "name %u", (unsigned)i);
        assert_string_equal(info.pName, name);
        assert_ptr_equal(info.pUserData, &made[i]);
    }
    maarFreeMemories(rig->allocator, COUNT, made);
    /* The slots are used again, and have nothing of the earlier allocations. */
    for (uint32_t i = 0; i < COUNT; ++i) {
        made[i] = rig_allocate(rig, 256, NULL);
        MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
        assert_int_equal(maarGetAllocationInfo(rig->allocator, made[i], &info), VK_SUCCESS);
        assert_null(info.pName);
        assert_null(info.pUserData);
    }
    maarFreeMemories(rig->allocator, COUNT, made);
    rig_check(rig);
    rig_close(rig);
}

static void first_keys_of_allocators_differ(void** state)
{
    (void)state;
    enum { COUNT = 1 << 16 };
    static uint8_t seen[COUNT / 8];
    for (uint32_t i = 0; i < COUNT; ++i) {
        const uint32_t key = maar_first_key(i);
        assert_true(key >= 2 && key <= 1u << 31 && key % 2 == 0);
        /* The serial numbers that differ in their low 16 bits differ there in their keys. */
        const uint32_t low = key / 2 % COUNT;
        assert_int_equal(seen[low / 8] >> (low % 8) & 1, 0);
        seen[low / 8] |= (uint8_t)(1u << (low % 8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(no_number_leads_behind_the_segments),
        rig_unit_test(slots_are_given_back_and_used_again),
        rig_unit_test(slot_without_keys_retires),
        cmocka_unit_test(unused_slots_are_neither_written_nor_read),
        rig_unit_test(plain_allocations_touch_no_extra),
        rig_unit_test(names_and_user_data_are_the_slot_s_own),
        cmocka_unit_test(first_keys_of_allocators_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
