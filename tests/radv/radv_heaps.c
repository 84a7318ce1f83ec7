/*
 * Heaps as small as a card's, and the end of all memory: what does not fit in the liked heap goes
 * elsewhere, and what fits nowhere fails.
 */
#include "tests/radv/radv_case.h"

/* A card with a small BAR; an APU, which has no BAR, makes its heaps of the visible part and GTT.
 */
enum { VRAM_MIB = 2048, BAR_MIB = 256, GTT_MIB = 4096 };

#define BOTH                                                                                       \
    ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |                                  \
     (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)

static void set_small_card(void)
{
    radv_set_sizes(VRAM_MIB * MIB, BAR_MIB * MIB, GTT_MIB * MIB);
}

static VkPhysicalDeviceMemoryProperties known_memory(struct rig* rig)
{
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &known), VK_SUCCESS);
    assert_int_equal(known.memoryBudget, VK_TRUE);
    return known.memoryProperties;
}

static void heaps_are_as_large_as_reported(void** state)
{
    (void)state;
    static struct rig rig;
    set_small_card();
    radv_start(&rig);
    const VkPhysicalDeviceMemoryProperties memory = known_memory(&rig);
    if (radv_is_discrete(&rig)) {
        assert_int_equal(memory.memoryHeapCount, 3);
        assert_int_equal(memory.memoryHeaps[0].size, (VRAM_MIB - BAR_MIB) * MIB);
        assert_int_equal(memory.memoryHeaps[0].flags, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);
        assert_int_equal(memory.memoryHeaps[1].size, GTT_MIB * MIB);
        assert_int_equal(memory.memoryHeaps[1].flags, 0);
        assert_int_equal(memory.memoryHeaps[2].size, BAR_MIB * MIB);
        assert_int_equal(memory.memoryHeaps[2].flags, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);
    } else {
        const VkDeviceSize whole = (BAR_MIB + GTT_MIB) * MIB;
        const VkDeviceSize device = memory.memoryHeaps[1].size;
        assert_int_equal(memory.memoryHeapCount, 2);
        assert_int_equal(memory.memoryHeaps[1].flags, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);
        assert_true(device + memory.memoryHeaps[0].size <= whole);
        assert_true(device + memory.memoryHeaps[0].size > whole - 8 * MIB);
        assert_true(device / 2 >= memory.memoryHeaps[0].size - 8 * MIB);
    }
    for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
        const MaarHeapBudget budget = rig_budget(&rig, i);
        assert_int_equal(budget.fromDriver, VK_TRUE);
        assert_int_equal(budget.size, memory.memoryHeaps[i].size);
        assert_int_equal(budget.blockBytes, 0);
    }
    radv_close(&rig);
}

/* ---- the BAR ---- */

enum { UPLOAD_MIB = 24, UPLOADS = 16 };

/* Fills the heap of device-local memory that the host sees; returns how many fell back. */
static uint32_t fill_bar(struct rig* rig, MaarDedicated dedicated, MaarAllocation* made)
{
    const VkPhysicalDeviceMemoryProperties memory = known_memory(rig);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    how.dedicated = dedicated;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    uint32_t fallbacks = 0;
    uint32_t bar = UINT32_MAX;
    for (uint32_t i = 0; i < UPLOADS; ++i) {
        made[i] = rig_allocate(rig, UPLOAD_MIB * MIB, &how);
        const MaarAllocationInfo info = rig_info(rig, made[i]);
        const uint32_t heap = memory.memoryTypes[info.memoryTypeIndex].heapIndex;
        assert_true((info.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0);
        assert_non_null(info.pMappedData);
        bar = i == 0 ? heap : bar;
        assert_int_equal(info.fallback, heap != bar);
        assert_int_equal((info.propertyFlags & BOTH) == BOTH, heap == bar);
        fallbacks += info.fallback;
    }
    const MaarHeapBudget filled = rig_budget(rig, bar);
    assert_int_equal(filled.size, BAR_MIB * MIB);
    assert_true(filled.usage <= filled.budget);
    /* Not given up before it was full, but for what the driver holds there itself. */
    assert_true(filled.blockBytes >= (BAR_MIB - 2 * UPLOAD_MIB) * MIB);
    return fallbacks;
}

static void small_bar_fills_and_falls_back(void** state)
{
    (void)state;
    static struct rig rig;
    MaarAllocation made[UPLOADS];
    set_small_card();
    radv_start(&rig);
    if (!radv_is_discrete(&rig)) {
        rig_close(&rig);
        radv_skip("an APU has no BAR");
    }
    for (int mode = 0; mode < 2; ++mode) {
        const MaarDedicated dedicated = mode == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_NEVER;
        const uint32_t fallbacks = fill_bar(&rig, dedicated, made);
        /* Ten fit, less what the driver holds there. */
        assert_true(fallbacks >= UPLOADS - BAR_MIB / UPLOAD_MIB && fallbacks <= UPLOADS - 6);
        const MaarStatistics totals = rig_statistics(&rig, VK_NULL_HANDLE);
        print_message("%s: %u of %u fell back, %u blocks\n", mode == 0 ? "dedicated" : "placed",
                      fallbacks, UPLOADS, totals.blockCount);
        assert_int_equal(totals.failureCount, 0);
        assert_int_equal(totals.overBudgetCount, 0);
        radv_expect_books_agree(&rig);
        maarFreeMemories(rig.allocator, UPLOADS, made);
        radv_expect_empty(&rig);
    }
    radv_close(&rig);
}

/* Who insists on such memory goes over budget as a last resort, not at all under the flag, and
 * fails where the kernel has no more. */
static void full_bar_is_exceeded_or_refused(void** state)
{
    (void)state;
    static struct rig rig;
    MaarAllocation made[UPLOADS];
    set_small_card();
    radv_start(&rig);
    if (!radv_is_discrete(&rig)) {
        rig_close(&rig);
        radv_skip("an APU has no BAR");
    }
    (void)fill_bar(&rig, MAAR_DEDICATED_ALWAYS, made);
    const MaarMemoryRequest request =
        rig_request(UPLOAD_MIB * MIB, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    how.requiredFlags = BOTH;
    how.flags = MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    struct radv_snapshot before;
    radv_take_snapshot(&rig, &before);
    MaarAllocation more = (MaarAllocation)(uintptr_t)1;
    assert_int_equal(maarAllocateMemory(rig.allocator, &request, &how, &more),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(more == VK_NULL_HANDLE);
    radv_expect_unchanged(&rig, &before);

    how.flags = 0;
    radv_refuse(FAULT_CALL_CREATE, 1, UINT64_MAX);
    assert_int_equal(maarAllocateMemory(rig.allocator, &request, &how, &more),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(more == VK_NULL_HANDLE);
    assert_true(radv_allow_all() > 0);
    radv_expect_unchanged(&rig, &before);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).overBudgetCount, 0);

    assert_int_equal(maarAllocateMemory(rig.allocator, &request, &how, &more), VK_SUCCESS);
    assert_int_equal(rig_info(&rig, more).propertyFlags & BOTH, BOTH);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).overBudgetCount, 1);
    rig_expect_message(&rig, MAAR_MESSAGE_ID_OVER_BUDGET);
    maarFreeMemory(rig.allocator, more);
    maarFreeMemories(rig.allocator, UPLOADS, made);
    radv_close(&rig);
}

/* ---- everything ---- */

/* The no-op kernel ends at 4 GiB, whatever it says of the heaps. */
enum { PIECE_MIB = 120, MOST_PIECES = 4096 / PIECE_MIB + 1 };

/* Returns how many pieces there are. */
static uint32_t take_everything(struct rig* rig, MaarAllocation* made)
{
    for (uint32_t i = 0; i < MOST_PIECES; ++i) {
        struct radv_snapshot before;
        radv_take_snapshot(rig, &before);
        const VkResult result = radv_allocate_dedicated(
            rig, PIECE_MIB * MIB, MAAR_MEMORY_USAGE_DEVICE_UPLOAD, 0, &made[i]);
        if (result != VK_SUCCESS) {
            assert_int_equal(result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
            radv_expect_unchanged(rig, &before);
            return i;
        }
        void* data = NULL;
        assert_int_equal(maarMapMemory(rig->allocator, made[i], &data), VK_SUCCESS);
        maarUnmapMemory(rig->allocator, made[i]);
    }
    fail_msg("more than 4 GiB were handed out");
    return 0;
}

static void end_of_memory_is_reached_again_and_again(void** state)
{
    (void)state;
    static struct rig rig;
    MaarAllocation made[MOST_PIECES];
    radv_start(&rig);
    uint32_t first = 0;
    for (uint32_t round = 0; round < 3; ++round) {
        const uint32_t count = take_everything(&rig, made);
        first = round == 0 ? count : first;
        assert_int_equal(count, first);
        assert_true(count >= MOST_PIECES - 4);
        /* What comes back can be had again. */
        maarFreeMemory(rig.allocator, made[count / 2]);
        assert_int_equal(radv_allocate_dedicated(&rig, PIECE_MIB * MIB,
                                                 MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0,
                                                 &made[count / 2]),
                         VK_SUCCESS);
        maarFreeMemories(rig.allocator, count, made);
        radv_expect_empty(&rig);
    }
    print_message("%u pieces of %d MiB\n", first, PIECE_MIB);
    radv_close(&rig);
}

/* Small ones in growing blocks: the last blocks shrink to what is there. */
static void blocks_shrink_towards_the_end(void** state)
{
    (void)state;
    enum { SMALL_MIB = 20, MOST = 4096 / SMALL_MIB + 1 };
    static struct rig rig;
    static MaarAllocation made[MOST];
    radv_start(&rig);
    const MaarMemoryRequest request =
        rig_request(SMALL_MIB * MIB, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    uint32_t count = 0;
    VkResult result = VK_SUCCESS;
    while (result == VK_SUCCESS && count < MOST) {
        result = maarAllocateMemory(rig.allocator, &request, NULL, &made[count]);
        count += result == VK_SUCCESS;
    }
    assert_int_equal(result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const MaarStatistics totals = rig_statistics(&rig, VK_NULL_HANDLE);
    print_message("%u of %d MiB in %u blocks, %u MiB free in them\n", count, SMALL_MIB,
                  totals.blockCount, (unsigned)(totals.freeBytes / MIB));
    assert_true(count >= MOST - 1 - 4096 / SMALL_MIB / 10);
    radv_expect_books_agree(&rig);
    maarFreeMemories(rig.allocator, count, made);
    radv_close(&rig);
}

struct stock {
    struct rig rig;
    MaarAllocation made[MOST_PIECES];
    uint32_t count;
    uint32_t asked;
};

static VkBool32 VKAPI_PTR give_one_up(void* user, const MaarOutOfMemoryInfo* info)
{
    struct stock* stock = user;
    assert_int_equal(info->result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(info->attempt, stock->asked);
    assert_int_equal(info->size, 2 * PIECE_MIB * MIB);
    ++stock->asked;
    maarFreeMemory(stock->rig.allocator, stock->made[--stock->count]);
    return VK_TRUE;
}

/* Two neighbours of half the size must go before a whole one fits. */
static void observer_makes_room(void** state)
{
    (void)state;
    static struct stock stock;
    radv_open(&stock.rig);
    rig_make_allocator(&stock.rig);
    stock.count = take_everything(&stock.rig, stock.made);
    maarFreeMemories(stock.rig.allocator, stock.count, stock.made);
    radv_expect_empty(&stock.rig);
    maarDestroyAllocator(stock.rig.allocator);
    stock.rig.create_info.pfnOutOfMemory = give_one_up;
    stock.rig.create_info.pOutOfMemoryUserData = &stock;
    rig_make_allocator(&stock.rig);
    const uint32_t all = stock.count;
    for (stock.count = 0; stock.count < all; ++stock.count) {
        assert_int_equal(radv_allocate_dedicated(&stock.rig, PIECE_MIB * MIB,
                                                 MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0,
                                                 &stock.made[stock.count]),
                         VK_SUCCESS);
    }
    MaarAllocation large = VK_NULL_HANDLE;
    assert_int_equal(radv_allocate_dedicated(&stock.rig, 2 * PIECE_MIB * MIB,
                                             MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, &large),
                     VK_SUCCESS);
    assert_true(stock.asked >= 1 && stock.asked <= 2);
    assert_int_equal(stock.count, all - stock.asked);
    radv_expect_books_agree(&stock.rig);
    maarFreeMemory(stock.rig.allocator, large);
    maarFreeMemories(stock.rig.allocator, stock.count, stock.made);
    radv_close(&stock.rig);
}

const struct radv_case radv_heap_cases[] = {
    {"heaps_are_as_large_as_reported", heaps_are_as_large_as_reported},
    {"small_bar_fills_and_falls_back", small_bar_fills_and_falls_back},
    {"full_bar_is_exceeded_or_refused", full_bar_is_exceeded_or_refused},
    {"end_of_memory_is_reached_again_and_again", end_of_memory_is_reached_again_and_again},
    {"blocks_shrink_towards_the_end", blocks_shrink_towards_the_end},
    {"observer_makes_room", observer_makes_room},
    {NULL, NULL},
};
