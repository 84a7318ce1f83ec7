/*
 * Commits that say which pages are new, beside a bitmap of what is committed, and the commands that
 * fill these pages with zeros.
 */
#include "tests/unit/reservation/reservation_fixture.h"

static struct rig* rig;

#define PAGE (64 * KIB)

enum { ROOM = 64, MODEL_PAGES = 1500, MODEL_STEPS = 400 };

static MaarPageRange listed[ROOM];

static MaarNewPages new_pages(uint32_t capacity)
{
    return (MaarNewPages){
        .sType = MAAR_STRUCTURE_TYPE_NEW_PAGES, .rangeCapacity = capacity, .pRanges = listed};
}

static MaarNewPages commit_new(MaarReservation reservation, VkDeviceSize offset, VkDeviceSize size)
{
    MaarNewPages pages = new_pages(ROOM);
    const MaarPageRange range = {offset, size};
    assert_int_equal(maarCommitNewPages(rig->allocator, reservation, 1, &range, &pages),
                     VK_SUCCESS);
    return pages;
}

static void expect_range(uint32_t index, VkDeviceSize offset, VkDeviceSize size)
{
    assert_int_equal(listed[index].offset, offset);
    assert_int_equal(listed[index].size, size);
}

static void what_had_no_memory_is_new(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE - 1000, 0);
    MaarNewPages pages = commit_new(it, 10 * PAGE + 1, 2 * PAGE);
    assert_int_equal(pages.rangeCount, 1);
    assert_int_equal(pages.size, 3 * PAGE);
    expect_range(0, 10 * PAGE, 3 * PAGE);
    pages = commit_new(it, 10 * PAGE, 3 * PAGE);
    assert_int_equal(pages.rangeCount, 0);
    assert_int_equal(pages.size, 0);
    /* On both sides of what is there, and up to the end, which is no whole page. */
    pages = commit_new(it, 8 * PAGE, VK_WHOLE_SIZE);
    assert_int_equal(pages.rangeCount, 2);
    expect_range(0, 8 * PAGE, 2 * PAGE);
    expect_range(1, 13 * PAGE, 87 * PAGE - 1000);
    assert_int_equal(pages.size, 89 * PAGE - 1000);
    pages = commit_new(it, 0, 0);
    assert_int_equal(pages.rangeCount, 0);
    maarDestroyReservation(rig->allocator, it);
}

static void ranges_that_overlap_list_each_page_once(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    const MaarPageRange ranges[] = {{20 * PAGE, 4 * PAGE}, {22 * PAGE, 4 * PAGE},
                                    {0, 2 * PAGE},         {PAGE, 0},
                                    {2 * PAGE, 2 * PAGE},  {20 * PAGE, PAGE}};
    MaarNewPages pages = new_pages(ROOM);
    assert_int_equal(maarCommitNewPages(rig->allocator, it, 6, ranges, &pages), VK_SUCCESS);
    assert_int_equal(pages.rangeCount, 2);
    expect_range(0, 20 * PAGE, 6 * PAGE);
    expect_range(1, 0, 4 * PAGE);
    assert_int_equal(pages.size, 10 * PAGE);
    maarDestroyReservation(rig->allocator, it);
}

static void pages_that_were_given_back_are_new(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    assert_int_equal(fixture_commit(rig, it, 0, 10 * PAGE), VK_SUCCESS);
    (void)fixture_submit(rig);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(fixture_decommit(rig, it, 4 * PAGE, 2 * PAGE), VK_SUCCESS);
        if (i == 1) {
            (void)fixture_submit(rig);
        }
        assert_int_equal(commit_new(it, 0, 10 * PAGE).rangeCount, 1);
        expect_range(0, 4 * PAGE, 2 * PAGE);
        (void)fixture_submit(rig);
    }
    maarDestroyReservation(rig->allocator, it);
}

static void shown_pages_are_new_nowhere(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, MAAR_RESERVATION_CREATE_ALIASED_BIT);
    assert_int_equal(commit_new(it, 0, 10 * PAGE).rangeCount, 1);
    assert_int_equal(maarAliasPages(rig->allocator, it, 20 * PAGE, 4 * PAGE, it, 0), VK_SUCCESS);
    assert_int_equal(commit_new(it, 18 * PAGE, 8 * PAGE).rangeCount, 2);
    expect_range(0, 18 * PAGE, 2 * PAGE);
    expect_range(1, 24 * PAGE, 2 * PAGE);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, it);
}

static uint64_t bound_since(uint64_t before)
{
    return fixture_statistics(rig).pagesBound - before;
}

/* Pages that a buffer made of pages has left are new for a reservation in the same pool, and new
 * for the next such buffer: all of an object's pages were free before. */
static void pages_of_a_stitching_pool_are_all_new(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    const MaarPoolPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
                                       .stitch = VK_TRUE,
                                       .pageBlockSize = 16 * PAGE};
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .pNext = &paging, .memoryTypeIndex = 0};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = rig_create_pool(rig, &pool_info);
    const VkBufferCreateInfo small = fixture_buffer(16 * PAGE);
    const VkBufferCreateInfo large = fixture_buffer(64 * PAGE);
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pBufferInfo = &large,
                                            .pMemoryInfo = &how};
    MaarReservation it = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    MaarPageRun runs[64];
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &it), VK_SUCCESS);
    for (uint32_t i = 0; i < 3; ++i) {
        const uint64_t before = fixture_statistics(rig).pagesBound;
        assert_int_equal(maarCreateBuffer(rig->allocator, &small, &how, &buffer, &memory),
                         VK_SUCCESS);
        (void)fixture_submit(rig);
        uint32_t count = 64;
        VkDeviceSize listed_size = 0;
        assert_int_equal(maarEnumerateAllocationPages(rig->allocator, memory, &count, runs),
                         VK_SUCCESS);
        for (uint32_t run = 0; run < count; ++run) {
            listed_size += runs[run].size;
        }
        assert_int_equal(listed_size, 16 * PAGE);
        assert_int_equal(bound_since(before), 16);
        maarDestroyBuffer(rig->allocator, buffer, memory);
        assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
        /* The reservation takes what the buffer has left. */
        const MaarNewPages pages = commit_new(it, i * 16 * PAGE, 16 * PAGE);
        assert_int_equal(pages.rangeCount, 1);
        expect_range(0, i * 16 * PAGE, 16 * PAGE);
        (void)fixture_submit(rig);
        assert_int_equal(fixture_statistics(rig).blockCount, i + 1);
    }
    maarDestroyReservation(rig->allocator, it);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    maarDestroyPool(rig->allocator, how.pool);
}

static void without_room_nothing_is_committed(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 4000 * PAGE, 0);
    for (uint32_t i = 0; i < 5; ++i) {
        assert_int_equal(fixture_commit(rig, it, (10 + 2 * i) * PAGE, PAGE), VK_SUCCESS);
    }
    (void)fixture_submit(rig);
    const MaarPagingStatistics before = fixture_statistics(rig);
    const MaarPageRange range = {0, 2000 * PAGE};
    for (uint32_t room = 0; room < 6; ++room) {
        MaarNewPages pages = new_pages(room);
        assert_int_equal(maarCommitNewPages(rig->allocator, it, 1, &range, &pages), VK_INCOMPLETE);
        assert_int_equal(pages.rangeCount, 6);
        assert_int_equal(pages.size, 0);
        const MaarPagingStatistics after = fixture_statistics(rig);
        assert_memory_equal(&before, &after, offsetof(MaarPagingStatistics, peakBlockBytes));
        assert_int_equal(after.recordedPages, 0);
        rig_check(rig);
    }
    rig_expect_silence(rig);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).failureCount, 0);
    /* Without an array they are counted, and committed. */
    MaarNewPages pages = {.sType = MAAR_STRUCTURE_TYPE_NEW_PAGES};
    assert_int_equal(maarCommitNewPages(rig->allocator, it, 1, &range, &pages), VK_SUCCESS);
    assert_int_equal(pages.rangeCount, 6);
    assert_int_equal(pages.size, 1995 * PAGE);
    assert_int_equal(fixture_info(rig, it).committedSize, 2000 * PAGE);
    maarDestroyReservation(rig->allocator, it);
}

static void a_call_that_fails_lists_nothing(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    const MaarPageRange range = {0, 50 * PAGE};
    MaarNewPages pages = new_pages(ROOM);
    pages.rangeCount = 7;
    pages.size = 7;
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCommitNewPages(rig->allocator, it, 1, &range, &pages),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
    assert_int_equal(pages.rangeCount, 0);
    assert_int_equal(pages.size, 0);
    assert_int_equal(fixture_info(rig, it).committedSize, 0);
    pages.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO;
    assert_int_equal(maarCommitNewPages(rig->allocator, it, 1, &range, &pages),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pNewPages");
    assert_int_equal(maarCommitNewPages(rig->allocator, it, 1, &range, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pNewPages");
    pages = new_pages(ROOM);
    assert_int_equal(maarCommitNewPages(rig->allocator, it, 1, NULL, &pages),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRanges");
    maarDestroyReservation(rig->allocator, it);
}

static void the_list_takes_no_host_memory(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, &setup);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    assert_int_equal(fixture_commit(rig, it, 0, PAGE), VK_SUCCESS);
    const uint64_t before = atomic_load(&rig->host.calls);
    for (uint32_t i = 0; i < 40; ++i) {
        assert_int_equal(commit_new(it, (2 + 2 * i) * PAGE, PAGE).rangeCount, 1);
    }
    MaarNewPages pages = commit_new(it, 0, 90 * PAGE);
    assert_int_equal(pages.rangeCount, 41);
    assert_int_equal(atomic_load(&rig->host.calls), before);
    maarDestroyReservation(rig->allocator, it);
}

/* Random commits and returns: what is listed is what had no memory, each page once. */
static void lists_are_those_of_a_bitmap(void** state)
{
    (void)state;
    static bool live[MODEL_PAGES];
    static bool fresh[MODEL_PAGES];
    static MaarPageRange room[MODEL_PAGES];
    struct rig_random random = {.state = rig_seed(7)};
    memset(live, 0, sizeof live);
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, MODEL_PAGES * PAGE, 0);
    for (uint32_t step = 0; step < MODEL_STEPS; ++step) {
        MaarPageRange ranges[3];
        const bool commits = rig_below(&random, 2) == 0;
        for (uint32_t i = 0; i < 3; ++i) {
            const uint32_t first = rig_below(&random, MODEL_PAGES);
            const uint32_t most = MODEL_PAGES - first < 90 ? MODEL_PAGES - first : 90;
            const uint32_t count = rig_below(&random, most + 1);
            ranges[i] = (MaarPageRange){first * PAGE, count * PAGE};
            for (uint32_t page = first; page < first + count; ++page) {
                fresh[page] = fresh[page] || (commits && !live[page]);
                live[page] = commits;
            }
        }
        if (!commits) {
            assert_int_equal(maarDecommitPages(rig->allocator, it, 3, ranges), VK_SUCCESS);
        } else {
            MaarNewPages pages = {.sType = MAAR_STRUCTURE_TYPE_NEW_PAGES,
                                  .rangeCapacity = MODEL_PAGES,
                                  .pRanges = room};
            assert_int_equal(maarCommitNewPages(rig->allocator, it, 3, ranges, &pages), VK_SUCCESS);
            VkDeviceSize size = 0;
            for (uint32_t i = 0; i < pages.rangeCount; ++i) {
                size += room[i].size;
                for (VkDeviceSize at = 0; at < room[i].size; at += PAGE) {
                    const VkDeviceSize page = (room[i].offset + at) / PAGE;
                    assert_true(fresh[page]);
                    fresh[page] = false;
                }
            }
            assert_int_equal(size, pages.size);
        }
        for (uint32_t page = 0; page < MODEL_PAGES; ++page) {
            assert_false(fresh[page]);
        }
        if (rig_below(&random, 3) == 0) {
            (void)fixture_submit(rig);
        }
    }
    rig_check(rig);
    maarDestroyReservation(rig->allocator, it);
}

static void bytes_beyond_a_smaller_buffer_are_new(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_NO_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, 0);
    MaarNewPages pages = commit_new(it, 0, 4 * MIB);
    assert_int_equal(pages.rangeCount, 1);
    expect_range(0, 0, 4 * MIB);
    assert_int_equal(commit_new(it, MIB, MIB).rangeCount, 0);
    const MaarPageRange range = {0, 5 * MIB};
    pages = new_pages(0);
    assert_int_equal(maarCommitNewPages(rig->allocator, it, 1, &range, &pages), VK_INCOMPLETE);
    assert_int_equal(pages.rangeCount, 1);
    assert_int_equal(fixture_info(rig, it).committedSize, 4 * MIB);
    pages = commit_new(it, 0, 5 * MIB);
    const VkDeviceSize now = fixture_info(rig, it).committedSize;
    assert_true(now >= 5 * MIB);
    expect_range(0, 4 * MIB, now - 4 * MIB);
    assert_int_equal(pages.size, now - 4 * MIB);
    maarDestroyReservation(rig->allocator, it);
}

/* An array has no such call: its committed bytes before and after an append say the same. */
static void committed_bytes_of_an_array_show_what_is_new(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    const VkBufferCreateInfo buffer = fixture_buffer(64 * MIB);
    const MaarArrayCreateInfo create = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 1000,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .pBufferInfo = &buffer},
    };
    MaarArray array = VK_NULL_HANDLE;
    assert_int_equal(maarCreateArray(rig->allocator, &create, &array), VK_SUCCESS);
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    assert_int_equal(maarGetArrayInfo(rig->allocator, array, &info), VK_SUCCESS);
    VkDeviceSize before = 0;
    for (uint32_t i = 0; i < 20; ++i) {
        assert_int_equal(maarAppendArray(rig->allocator, array, 777, NULL), VK_SUCCESS);
        const VkDeviceSize after = fixture_info(rig, info.reservation).committedSize;
        MaarPageRun runs[64];
        const uint32_t count = fixture_runs(rig, info.reservation, runs);
        assert_int_equal(runs[count - 1].offset + runs[count - 1].size, after);
        assert_true(after >= before);
        before = after;
    }
    maarDestroyArray(rig->allocator, array);
}

/* ---- zeros ---- */

static VkCommandPool command_pool;

static VkCommandBuffer open_zeros(void)
{
    return rig_open_commands(rig, &command_pool);
}

static VkResult record(MaarReservation reservation, VkDeviceSize offset, VkDeviceSize size,
                       VkCommandBuffer commands)
{
    const MaarPageRange range = {offset, size};
    return maarRecordZeroPages(rig->allocator, reservation, 1, &range, commands);
}

static void only_committed_words_are_filled(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 10 * PAGE + 6, 0);
    assert_int_equal(fixture_commit(rig, it, 2 * PAGE, VK_WHOLE_SIZE), VK_SUCCESS);
    VkCommandBuffer commands = open_zeros();
    static const struct {
        VkDeviceSize offset, size;
        MaarMessageId id;
    } wrong[] = {
        {PAGE, 2 * PAGE, MAAR_MESSAGE_ID_OUT_OF_RANGE},
        {0, VK_WHOLE_SIZE, MAAR_MESSAGE_ID_OUT_OF_RANGE},
        {2 * PAGE, 9 * PAGE, MAAR_MESSAGE_ID_OUT_OF_RANGE},
        {2 * PAGE + 2, 8, MAAR_MESSAGE_ID_INVALID_ALIGNMENT},
        {2 * PAGE, 6, MAAR_MESSAGE_ID_INVALID_ALIGNMENT},
    };
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(record(it, wrong[i].offset, wrong[i].size, commands),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, wrong[i].id, "pRanges");
    }
    assert_int_equal(record(it, 2 * PAGE, PAGE, VK_NULL_HANDLE), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "commandBuffer");
    assert_int_equal(maarRecordZeroPages(rig->allocator, it, 1, NULL, commands),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRanges");
    assert_int_equal(rig_calls(rig, "vkCmdFillBuffer"), 0);
    assert_int_equal(rig_calls(rig, "vkCmdPipelineBarrier"), 0);
    /* The two bytes beyond the last word are no fill of their own. */
    assert_int_equal(record(it, 10 * PAGE + 4, 2, commands), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkCmdFillBuffer"), 0);
    assert_int_equal(record(it, 2 * PAGE, VK_WHOLE_SIZE, commands), VK_SUCCESS);
    assert_int_equal(record(it, 2 * PAGE + 4, 8, commands), VK_SUCCESS);
    assert_int_equal(record(it, 0, 0, commands), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkCmdFillBuffer"), 2);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
    maarDestroyReservation(rig->allocator, it);
}

static void a_buffer_without_transfers_cannot_be_filled(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    VkBufferCreateInfo buffer = fixture_buffer(MIB);
    buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                      .pBufferInfo = &buffer};
    MaarReservation it = VK_NULL_HANDLE;
    VkCommandBuffer commands = open_zeros();
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &it), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    assert_int_equal(record(it, 0, MIB, commands), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, "reservation");
    maarDestroyReservation(rig->allocator, it);
    /* Growth by copies adds what it needs itself. */
    info.flags = MAAR_RESERVATION_CREATE_COPYING_BIT;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &it), VK_SUCCESS);
    assert_int_equal(record(it, 0, 4, commands), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRanges");
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    assert_int_equal(record(it, 0, MIB, commands), VK_SUCCESS);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
    maarDestroyReservation(rig->allocator, it);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_all_but_fills(VkDevice device,
                                                                   const char* name)
{
    return strcmp(name, "vkCmdFillBuffer") == 0 ? NULL : vkGetDeviceProcAddr(device, name);
}

static void fills_need_their_function(void** state)
{
    (void)state;
    rig = rig_new();
    fixture_open_with(rig, FIXTURE_SPARSE, PAGE, NULL, find_all_but_fills);
    MaarReservation it = fixture_reserve(rig, MIB, 0);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    VkCommandBuffer commands = open_zeros();
    assert_int_equal(record(it, 0, MIB, commands), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_MISSING_ENTRY_POINT, "vkCmdFillBuffer");
    assert_int_equal(rig_calls(rig, "vkCmdPipelineBarrier"), 0);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
    maarDestroyReservation(rig->allocator, it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(what_had_no_memory_is_new),
        rig_unit_test(ranges_that_overlap_list_each_page_once),
        rig_unit_test(pages_that_were_given_back_are_new),
        rig_unit_test(shown_pages_are_new_nowhere),
        rig_unit_test(pages_of_a_stitching_pool_are_all_new),
        rig_unit_test(without_room_nothing_is_committed),
        rig_unit_test(a_call_that_fails_lists_nothing),
        rig_unit_test(the_list_takes_no_host_memory),
        rig_unit_test(lists_are_those_of_a_bitmap),
        rig_unit_test(bytes_beyond_a_smaller_buffer_are_new),
        rig_unit_test(committed_bytes_of_an_array_show_what_is_new),
        rig_unit_test(only_committed_words_are_filled),
        rig_unit_test(a_buffer_without_transfers_cannot_be_filled),
        rig_unit_test(fills_need_their_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
