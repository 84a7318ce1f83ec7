/*
 * A heap that is nearly full: what is left of it stays whole for large requests, in a pool whose
 * block size nobody has named. Blocks shrink as the heap fills, and empty ones go back.
 */
#include "tests/rig/rig.h"

#define HEAP (1024 * MIB)
#define PREFERRED (HEAP / 8)

enum { MOST_MADE = 2000 };

struct pile {
    MaarAllocation made[MOST_MADE];
    uint32_t count;
};

static struct rig* begin(VkDeviceSize budget)
{
    static MaarSimulatedProfile profile;
    static struct rig_setup setup;
    setup = (struct rig_setup){.profile = &profile};
    profile = *rig_profile_discrete();
    profile.heaps[0].size = HEAP;
    profile.heaps[0].budget = budget;
    return rig_begin(&setup);
}

static VkResult try_size(struct rig* rig, VkDeviceSize size, MaarAllocation* allocation)
{
    const MaarMemoryRequest request = rig_request(size, 256, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_NEVER;
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    return maarAllocateMemory(rig->allocator, &request, &how, allocation);
}

static MaarAllocation take(struct rig* rig, VkDeviceSize size)
{
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(try_size(rig, size, &allocation), VK_SUCCESS);
    return allocation;
}

static void fill(struct rig* rig, struct pile* pile, VkDeviceSize size, VkDeviceSize end)
{
    for (VkDeviceSize live = size * pile->count; live < end; live += size) {
        assert_in_range(pile->count, 0, MOST_MADE - 1);
        pile->made[pile->count++] = take(rig, size);
    }
}

static void empty(struct rig* rig, struct pile* pile)
{
    maarFreeMemories(rig->allocator, pile->count, pile->made);
    pile->count = 0;
}

static VkDeviceSize held(struct rig* rig)
{
    return rig_statistics(rig, VK_NULL_HANDLE).blockBytes;
}

/* From three fifths of the budget on, a block has at most the share of the preferred size that the
 * rest has of the last two fifths. */
static void check_blocks_shrink(struct rig* rig, VkDeviceSize budget)
{
    static struct pile pile;
    bool shrunk = false;
    while (rig_budget(rig, 0).usage + 16 * MIB < budget) {
        const VkDeviceSize before = held(rig);
        fill(rig, &pile, MIB, MIB * (pile.count + 1));
        const VkDeviceSize left = budget - before;
        if (held(rig) != before && left < budget / 5 * 2) {
            const VkDeviceSize most = PREFERRED / 100 * (left / (budget / 5 * 2 / 100) + 1);
            assert_in_range(held(rig) - before, MIB, most > 2 * MIB ? most : 2 * MIB);
            shrunk = true;
        }
    }
    assert_true(shrunk);
    /* Shrinking blocks are few: each takes an eighth of what is left, or more. */
    assert_in_range(rig_calls(rig, "vkAllocateMemory"), 1, 50);
    empty(rig, &pile);
}

static void blocks_shrink_as_the_budget_ends(void** state)
{
    (void)state;
    struct rig* const rig = begin(HEAP / 2);
    check_blocks_shrink(rig, HEAP / 2);
}

static void blocks_shrink_as_the_heap_ends(void** state)
{
    (void)state;
    struct rig* const rig = begin(HEAP);
    check_blocks_shrink(rig, HEAP);
}

/* A request that is large beside the block that it would get has the block for itself. */
static void large_request_has_its_block_alone(void** state)
{
    (void)state;
    struct rig* const rig = begin(HEAP);
    MaarAllocation base[8];
    for (uint32_t i = 0; i < 8; ++i) {
        base[i] = take(rig, 114 * MIB);
    }
    MaarAllocation some = take(rig, 24 * MIB);
    assert_int_equal(rig_info(rig, some).blockSize, 24 * MIB);
    maarFreeMemory(rig->allocator, some);
    maarFreeMemories(rig->allocator, 8, base);
}

/* Small requests would otherwise lie in the empty block of a large one, and then neither the block
 * nor the rest of the heap would serve the next large request. */
static void small_requests_leave_room_for_large_ones(void** state)
{
    (void)state;
    static struct pile small;
    struct rig* const rig = begin(HEAP);
    MaarAllocation base[8];
    for (uint32_t i = 0; i < 8; ++i) {
        base[i] = take(rig, 98 * MIB);
    }
    for (uint32_t round = 0; round < 10; ++round) {
        MaarAllocation large = take(rig, 150 * MIB);
        maarFreeMemory(rig->allocator, large);
        fill(rig, &small, MIB, MIB * (small.count + 2));
    }
    MaarAllocation last = take(rig, 150 * MIB);
    maarFreeMemory(rig->allocator, last);
    empty(rig, &small);
    maarFreeMemories(rig->allocator, 8, base);
}

/* Beside little that lives, a program that frees everything in each frame makes no blocks again. */
static void roomy_heap_keeps_empty_blocks(void** state)
{
    (void)state;
    static struct pile pile;
    struct rig* const rig = begin(HEAP);
    MaarAllocation base[4];
    for (uint32_t i = 0; i < 4; ++i) {
        base[i] = take(rig, 108 * MIB);
    }
    uint64_t calls = 0;
    for (uint32_t frame = 0; frame < 4; ++frame) {
        fill(rig, &pile, MIB, 50 * MIB);
        empty(rig, &pile);
        calls = frame == 0 ? rig_calls(rig, "vkAllocateMemory") : calls;
    }
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), calls);
    maarFreeMemories(rig->allocator, 4, base);
}

/* The program has said how large blocks are, and that pool keeps what it says. */
static void named_size_does_not_shrink(void** state)
{
    (void)state;
    static const struct rig_setup setup = {.preferred_block = 64 * MIB};
    struct rig* const rig = rig_begin(&setup);
    const VkDeviceSize budget = rig_budget(rig, 0).budget;
    static struct pile pile;
    VkDeviceSize live = 0;
    while (live < budget / 8 * 7) {
        const VkDeviceSize size = budget / 1000;
        fill(rig, &pile, size, size * (pile.count + 1));
        live += size;
    }
    assert_in_range(rig_info(rig, pile.made[pile.count - 1]).blockSize, 64 * MIB / 3, UINT64_MAX);
    empty(rig, &pile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(blocks_shrink_as_the_budget_ends),
        rig_unit_test(blocks_shrink_as_the_heap_ends),
        rig_unit_test(large_request_has_its_block_alone),
        rig_unit_test(small_requests_leave_room_for_large_ones),
        rig_unit_test(roomy_heap_keeps_empty_blocks),
        rig_unit_test(named_size_does_not_shrink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
