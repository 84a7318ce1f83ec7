/*
 * Margins: bytes behind allocations, which are filled, compared and shown as padding.
 */
#include "tests/rig/rig.h"

enum { MARGIN = 64, SIZE = 256 };

/* The host sees type 1 of the discrete card without flushes. */
enum { VISIBLE = 1, LOCAL = 0 };

static struct rig* begin(const struct rig_setup* setup, VkDeviceSize size, VkBool32 checks)
{
    struct rig* const rig = rig_new();
    const MaarMarginInfo margins = {
        .sType = MAAR_STRUCTURE_TYPE_MARGIN_INFO, .marginSize = size, .checksMargins = checks};
    rig_open(rig, setup);
    rig->create_info.pNext = &margins;
    rig_make_allocator(rig);
    return rig;
}

static MaarAllocationCreateInfo in_type(uint32_t type)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.memoryTypeBits = 1u << type;
    return how;
}

/* Writes one byte at an offset from an allocation's first byte, wherever that is. */
static void poke(struct rig* rig, MaarAllocation allocation, VkDeviceSize offset)
{
    void* data = NULL;
    assert_int_equal(maarMapMemory(rig->allocator, allocation, &data), VK_SUCCESS);
    ((unsigned char*)data)[offset] ^= 0x55;
    maarUnmapMemory(rig->allocator, allocation);
}

static VkResult check(struct rig* rig)
{
    return maarCheckMargins(rig->allocator, VK_NULL_HANDLE, UINT32_MAX);
}

/* ---- what is between allocations ---- */

static void allocations_lie_apart(void** state)
{
    (void)state;
    struct rig* const rig = begin(NULL, MARGIN, VK_FALSE);
    const MaarAllocationCreateInfo how = in_type(LOCAL);
    const MaarAllocation one = rig_allocate(rig, SIZE, &how);
    const MaarAllocation two = rig_allocate(rig, SIZE, &how);
    const MaarAllocationInfo first = rig_info(rig, one);
    const MaarAllocationInfo second = rig_info(rig, two);
    assert_true(first.size == SIZE && second.size == SIZE);
    assert_true(second.offset >= first.offset + SIZE + MARGIN);
    const MaarStatistics totals = rig_statistics(rig, VK_NULL_HANDLE);
    assert_true(totals.allocationBytes == 2 * SIZE);
    assert_true(totals.paddingBytes >= 2 * MARGIN);
    const MaarDetailedStatistics details = rig_details(rig, VK_NULL_HANDLE);
    assert_true(details.allocationSizeMin == SIZE && details.allocationSizeMax == SIZE);
    MaarBlockRange ranges[16];
    uint32_t count = 16;
    assert_int_equal(maarEnumerateBlockRanges(rig->allocator, first.blockId, &count, ranges),
                     VK_SUCCESS);
    assert_int_equal(ranges[0].state, MAAR_BLOCK_RANGE_STATE_LIVE);
    assert_true(ranges[0].size == SIZE);
    assert_int_equal(ranges[1].state, MAAR_BLOCK_RANGE_STATE_PADDING);
    assert_true(ranges[1].offset == SIZE && ranges[1].size >= MARGIN);
    rig_check(rig);
    maarFreeMemory(rig->allocator, one);
    maarFreeMemory(rig->allocator, two);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).paddingBytes == 0);
}

static void every_strategy_keeps_margins(void** state)
{
    (void)state;
    static const MaarPlacementStrategy strategies[] = {MAAR_PLACEMENT_STRATEGY_TLSF,
                                                       MAAR_PLACEMENT_STRATEGY_BUDDY,
                                                       MAAR_PLACEMENT_STRATEGY_LINEAR};
    struct rig* const rig = begin(NULL, MARGIN, VK_TRUE);
    for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; ++i) {
        const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
                                         .memoryTypeIndex = VISIBLE,
                                         .strategy = strategies[i],
                                         .blockSize = MIB,
                                         .maxBlockCount = 1};
        const MaarPool pool = rig_create_pool(rig, &info);
        MaarAllocationCreateInfo how = in_type(VISIBLE);
        MaarAllocation made[3];
        MaarAllocation none = VK_NULL_HANDLE;
        how.pool = pool;
        for (uint32_t j = 0; j < 3; ++j) {
            made[j] = rig_allocate(rig, SIZE, &how);
        }
        assert_true(rig_info(rig, made[2]).size == SIZE);
        assert_int_equal(maarCheckMargins(rig->allocator, pool, UINT32_MAX), VK_SUCCESS);
        rig_check(rig);
        maarFreeMemories(rig->allocator, 3, made);
        rig_expect_silence(rig);
        /* A margin takes room. */
        assert_int_not_equal(rig_try(rig, MIB, &how, &none), VK_SUCCESS);
        rig_forget_messages(rig);
        made[0] = rig_allocate(rig, MIB / 2 - MARGIN, &how);
        maarFreeMemory(rig->allocator, made[0]);
        maarDestroyPool(rig->allocator, pool);
    }
}

static void dedicated_memory_has_no_margin(void** state)
{
    (void)state;
    struct rig* const rig = begin(NULL, MARGIN, VK_TRUE);
    MaarAllocationCreateInfo how = in_type(VISIBLE);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    const MaarAllocation made = rig_allocate(rig, SIZE, &how);
    assert_true(rig_info(rig, made).size == SIZE && rig_info(rig, made).blockSize == SIZE);
    assert_int_equal(check(rig), VK_SUCCESS);
    maarFreeMemory(rig->allocator, made);
    rig_expect_silence(rig);
}

/* Where memory must be flushed, margins are whole atoms and are not compared. */
static void margins_are_whole_atoms(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    struct rig* const rig = begin(&setup, 4, VK_TRUE);
    const MaarAllocationCreateInfo how = in_type(2);
    const MaarAllocation one = rig_allocate(rig, SIZE, &how);
    const MaarAllocation two = rig_allocate(rig, SIZE, &how);
    assert_true(rig_info(rig, one).size == SIZE);
    assert_true(rig_info(rig, two).offset >= rig_info(rig, one).offset + SIZE + 256);
    poke(rig, one, SIZE);
    maarFreeMemory(rig->allocator, one);
    maarFreeMemory(rig->allocator, two);
    rig_expect_silence(rig);
}

static void calls_end_before_the_margin(void** state)
{
    (void)state;
    struct rig* const rig = begin(NULL, MARGIN, VK_TRUE);
    const MaarAllocationCreateInfo how = in_type(VISIBLE);
    const char bytes[2] = {0};
    const MaarAllocation made = rig_allocate(rig, SIZE, &how);
    assert_int_equal(maarCopyToAllocation(rig->allocator, made, SIZE - 2, 2, bytes), VK_SUCCESS);
    assert_int_equal(maarCopyToAllocation(rig->allocator, made, SIZE - 1, 2, bytes),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    maarFreeMemory(rig->allocator, made);
    rig_expect_silence(rig);
}

/* ---- comparisons ---- */

static void damage_is_reported_when_it_is_freed(void** state)
{
    (void)state;
    struct rig* const rig = begin(NULL, MARGIN, VK_TRUE);
    MaarAllocationCreateInfo how = in_type(VISIBLE);
    how.pName = "vertices";
    for (uint32_t i = 0; i < 4; ++i) {
        static const VkDeviceSize offsets[] = {0, SIZE - 1, SIZE, SIZE + MARGIN - 1};
        const MaarAllocation made = rig_allocate(rig, SIZE, &how);
        poke(rig, made, offsets[i]);
        maarFreeMemory(rig->allocator, made);
        if (offsets[i] < SIZE) {
            rig_expect_silence(rig);
        } else {
            rig_expect_message_naming(rig, MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN, "vertices");
        }
    }
    const MaarAllocation several[2] = {rig_allocate(rig, SIZE, &how),
                                       rig_allocate(rig, SIZE, &how)};
    poke(rig, several[0], SIZE);
    maarFreeMemories(rig->allocator, 2, several);
    rig_expect_message(rig, MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN);
    rig_check(rig);
}

static void objects_are_compared_too(void** state)
{
    (void)state;
    struct rig* const rig = begin(NULL, MARGIN, VK_TRUE);
    const VkBufferCreateInfo info = rig_buffer_info(SIZE);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    for (uint32_t i = 0; i < 2; ++i) {
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation made = VK_NULL_HANDLE;
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &made), VK_SUCCESS);
        if (i == 1) {
            poke(rig, made, rig_info(rig, made).size);
        }
        maarDestroyBuffer(rig->allocator, buffer, made);
        if (i == 0) {
            rig_expect_silence(rig);
        }
    }
    rig_expect_message(rig, MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN);
}

static void frees_after_points_compare_at_once(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = begin(NULL, MARGIN, VK_TRUE);
    const MaarAllocationCreateInfo how = in_type(VISIBLE);
    const VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint point = {.semaphore = timeline, .value = 1};
    const MaarAllocation made = rig_allocate(rig, SIZE, &how);
    poke(rig, made, SIZE);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, made, 1, &point), VK_SUCCESS);
    rig_expect_message(rig, MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN);
    assert_int_equal(check(rig), VK_SUCCESS); /* what is pending is not compared */
    rig_signal(rig, timeline, 1);
    (void)maarCollect(rig->allocator, NULL);
    rig_check(rig);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void a_check_finds_damage_in_its_types(void** state)
{
    (void)state;
    struct rig* const rig = begin(NULL, MARGIN, VK_TRUE);
    const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
                                     .memoryTypeIndex = VISIBLE};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = in_type(VISIBLE);
    const MaarAllocation one = rig_allocate(rig, SIZE, &how);
    how.pool = pool;
    how.pName = "pooled";
    const MaarAllocation two = rig_allocate(rig, SIZE, &how);
    assert_int_equal(check(rig), VK_SUCCESS);
    poke(rig, two, SIZE + 1);
    assert_int_equal(check(rig), VK_ERROR_UNKNOWN);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN, "pooled");
    assert_int_equal(maarCheckMargins(rig->allocator, pool, 1u << VISIBLE), VK_ERROR_UNKNOWN);
    assert_int_equal(maarCheckMargins(rig->allocator, VK_NULL_HANDLE, 1u << 2), VK_SUCCESS);
    assert_int_equal(maarCheckMargins(rig->allocator, VK_NULL_HANDLE, 1u << LOCAL),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(maarCheckMargins(rig->allocator, pool, 1u << 2), VK_ERROR_FEATURE_NOT_PRESENT);
    poke(rig, two, SIZE + 1);
    rig_forget_messages(rig);
    assert_int_equal(check(rig), VK_SUCCESS);
    maarFreeMemory(rig->allocator, one);
    maarFreeMemory(rig->allocator, two);
    rig_expect_silence(rig);
    maarDestroyPool(rig->allocator, pool);
}

static void without_checks_there_is_nothing_to_compare(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; ++i) {
        struct rig* const rig = begin(NULL, i == 0 ? MARGIN : 0, i == 0 ? VK_FALSE : VK_TRUE);
        const MaarAllocationCreateInfo how = in_type(VISIBLE);
        const MaarAllocation made = rig_allocate(rig, SIZE, &how);
        assert_int_equal(check(rig), VK_ERROR_FEATURE_NOT_PRESENT);
        if (i == 0) {
            poke(rig, made, SIZE);
        }
        maarFreeMemory(rig->allocator, made);
        rig_expect_silence(rig);
    }
}

/* ---- moves ---- */

/* Moves an allocation, which the program copies. */
static void move(struct rig* rig, MaarAllocation allocation, const MaarAllocationCreateInfo* how)
{
    const MaarMoveRequest request = {.allocation = allocation};
    const MaarMoveBeginInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
                                    .requestCount = 1,
                                    .pRequests = &request,
                                    .pCreateInfo = how};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    MaarMove moved = {.sType = MAAR_STRUCTURE_TYPE_MOVE};
    uint32_t count = 1;
    assert_int_equal(maarBeginMoves(rig->allocator, &info, &batch), VK_SUCCESS);
    assert_int_equal(maarGetMoves(rig->allocator, batch, &count, &moved), VK_SUCCESS);
    assert_true(moved.size == SIZE);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &count), VK_SUCCESS);
    assert_int_equal(count, 1);
}

static void what_moves_keeps_its_margin(void** state)
{
    (void)state;
    struct rig* const rig = begin(NULL, MARGIN, VK_TRUE);
    MaarAllocationCreateInfo how = in_type(VISIBLE);
    const MaarAllocation made = rig_allocate(rig, SIZE, &how);
    for (uint32_t i = 0; i < 4; ++i) {
        /* To dedicated memory, which has none, and back. */
        how.dedicated = i % 2 == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_NEVER;
        move(rig, made, i < 2 ? &how : NULL);
        (void)maarCollect(rig->allocator, NULL);
        assert_true(rig_info(rig, made).size == SIZE);
        assert_int_equal(check(rig), VK_SUCCESS);
        rig_check(rig);
    }
    poke(rig, made, SIZE);
    maarFreeMemory(rig->allocator, made);
    rig_expect_message(rig, MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN);
}

enum { MANY = 64 };

static void defragmentation_keeps_margins(void** state)
{
    (void)state;
    struct rig* const rig = begin(NULL, MARGIN, VK_TRUE);
    const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
                                     .memoryTypeIndex = VISIBLE,
                                     .blockSize = 16 * KIB};
    const MaarPool pool = rig_create_pool(rig, &info);
    const MaarDefragmentationBeginInfo begin_info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO, .pool = pool};
    MaarAllocationCreateInfo how = in_type(VISIBLE);
    MaarAllocation made[MANY];
    MaarMoveBatch batch = VK_NULL_HANDLE;
    uint32_t moves = 0;
    how.pool = pool;
    /* What goes has another size, so that no pattern is left where a new margin lies. */
    for (uint32_t i = 0; i < MANY; ++i) {
        made[i] = rig_allocate(rig, i % 3 != 0 ? 1000 : 2 * KIB, &how);
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        if (i % 3 != 0) {
            maarFreeMemory(rig->allocator, made[i]);
        }
    }
    const MaarDefragmentation run = rig_begin_run(rig, &begin_info);
    while (maarStepDefragmentation(rig->allocator, run, NULL, &batch) >= VK_SUCCESS &&
           batch != VK_NULL_HANDLE) {
        uint32_t moved = 0;
        assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
        moves += moved;
        (void)maarCollect(rig->allocator, NULL);
        assert_int_equal(check(rig), VK_SUCCESS);
        rig_check(rig);
    }
    maarEndDefragmentation(rig->allocator, run);
    assert_true(moves > 0);
    for (uint32_t i = 0; i < MANY; i += 3) {
        assert_true(rig_info(rig, made[i]).size == 2 * KIB);
        maarFreeMemory(rig->allocator, made[i]);
    }
    rig_expect_silence(rig);
    maarDestroyPool(rig->allocator, pool);
}

/* ---- failures ---- */

static void memory_that_cannot_be_mapped_is_not_given(void** state)
{
    (void)state;
    struct rig* const rig = begin(NULL, MARGIN, VK_TRUE);
    const MaarAllocationCreateInfo how = in_type(VISIBLE);
    MaarAllocation made = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkMapMemory", 1, 1, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(rig_try(rig, SIZE, &how, &made), VK_ERROR_MEMORY_MAP_FAILED);
    rig_expect_message(rig, MAAR_MESSAGE_ID_MAP_FAILED);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    rig_clear_faults(rig);
    made = rig_allocate(rig, SIZE, &how);
    rig_set_fault(rig, "vkMapMemory", 1, 1, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(check(rig), VK_ERROR_MEMORY_MAP_FAILED);
    rig_clear_faults(rig);
    assert_int_equal(check(rig), VK_SUCCESS);
    maarFreeMemory(rig->allocator, made);
}

static void misuse_is_reported(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    const MaarMarginInfo margins = {.sType = MAAR_STRUCTURE_TYPE_MARGIN_INFO,
                                    .marginSize = MIB + 1};
    rig_open(rig, NULL);
    rig->create_info.pNext = &margins;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &rig->allocator),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "marginSize");
    struct rig* const other = begin(NULL, MARGIN, VK_TRUE);
    assert_int_equal(
        maarCheckMargins(other->allocator, (MaarPool)(uintptr_t)0x12345678, UINT32_MAX),
        VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(other);
    assert_int_equal(maarCheckMargins(NULL, VK_NULL_HANDLE, UINT32_MAX),
                     VK_ERROR_VALIDATION_FAILED_EXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(allocations_lie_apart),
        rig_unit_test(every_strategy_keeps_margins),
        rig_unit_test(dedicated_memory_has_no_margin),
        rig_unit_test(margins_are_whole_atoms),
        rig_unit_test(calls_end_before_the_margin),
        rig_unit_test(damage_is_reported_when_it_is_freed),
        rig_unit_test(objects_are_compared_too),
        rig_unit_test(frees_after_points_compare_at_once),
        rig_unit_test(a_check_finds_damage_in_its_types),
        rig_unit_test(without_checks_there_is_nothing_to_compare),
        rig_unit_test(what_moves_keeps_its_margin),
        rig_unit_test(defragmentation_keeps_margins),
        rig_unit_test(memory_that_cannot_be_mapped_is_not_given),
        rig_unit_test(misuse_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
