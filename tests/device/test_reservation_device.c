/*
 * Reservations and arrays on real drivers: lavapipe executes what is recorded, so contents are
 * compared; a driver over a no-op kernel brings its pages and queues, and what it would have
 * written is not looked at.
 */
#include "tests/rig/rig.h"

static struct rig rig;

#define WORDS_AT_ONCE ((VkDeviceSize)64 << 10)

/* A command buffer at a time, and memory to read back through. */
static struct {
    VkCommandPool pool;
    VkCommandBuffer buffer;
    VkBuffer readback;
    MaarAllocation memory;
    VkSemaphore timeline;
    uint64_t value;
} commands;

static void open_commands(void)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = rig.recommendation.mainQueueFamily,
    };
    assert_int_equal(vkCreateCommandPool(rig.device, &pool, NULL, &commands.pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = commands.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &allocate, &commands.buffer), VK_SUCCESS);
    VkBufferCreateInfo info = rig_buffer_info(WORDS_AT_ONCE * 4);
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_int_equal(
        maarCreateBuffer(rig.allocator, &info, &how, &commands.readback, &commands.memory),
        VK_SUCCESS);
    commands.timeline = rig_create_timeline(&rig, 0);
    commands.value = 0;
}

static int open_device(void** state)
{
    *state = NULL;
    if (rig_start_paging(&rig)) {
        open_commands();
        *state = &rig;
    }
    return 0;
}

static int close_device(void** state)
{
    if (*state != NULL) {
        vkDestroySemaphore(rig.device, commands.timeline, NULL);
        vkDestroyCommandPool(rig.device, commands.pool, NULL);
        maarDestroyBuffer(rig.allocator, commands.readback, commands.memory);
    }
    return rig_teardown(state);
}

static MaarPagingInfo paging_info(void)
{
    MaarPagingInfo info = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    assert_int_equal(maarGetPagingInfo(rig.allocator, &info), VK_SUCCESS);
    return info;
}

/* ---- commands ---- */

static void begin_commands(void)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    assert_int_equal(vkBeginCommandBuffer(commands.buffer, &begin), VK_SUCCESS);
}

/* Runs them after a point, which may be null, and waits. */
static void run_commands(const MaarPoint* after)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const uint32_t wait_count = after != NULL && after->value > 0 ? 1 : 0;
    const uint64_t value = ++commands.value;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait_count,
        .pWaitSemaphoreValues = wait_count != 0 ? &after->value : NULL,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = wait_count,
        .pWaitSemaphores = wait_count != 0 ? &after->semaphore : NULL,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands.buffer,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &commands.timeline,
    };
    assert_int_equal(vkEndCommandBuffer(commands.buffer), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(rig.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(rig.queue), VK_SUCCESS);
}

static void fill(VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size, uint32_t word,
                 const MaarPoint* after)
{
    begin_commands();
    vkCmdFillBuffer(commands.buffer, buffer, offset, size, word);
    run_commands(after);
}

/* Every word of a range is that one. */
static void expect_words(VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size, uint32_t word,
                         const MaarPoint* after)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    for (VkDeviceSize done = 0; done < size;) {
        const VkDeviceSize left = size - done;
        const VkBufferCopy copy = {
            .srcOffset = offset + done,
            .size = left < WORDS_AT_ONCE * 4 ? left : WORDS_AT_ONCE * 4,
        };
        begin_commands();
        vkCmdCopyBuffer(commands.buffer, buffer, commands.readback, 1, &copy);
        vkCmdPipelineBarrier(commands.buffer, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
        run_commands(after);
        assert_int_equal(maarInvalidateAllocation(rig.allocator, commands.memory, 0, VK_WHOLE_SIZE),
                         VK_SUCCESS);
        const uint32_t* words = maarGetMappedData(rig.allocator, commands.memory);
        for (VkDeviceSize i = 0; rig_executes() && i < copy.size / 4; ++i) {
            if (words[i] != word) {
                fail_msg("0x%08x at byte %llu instead of 0x%08x", words[i],
                         (unsigned long long)(offset + done + 4 * i), word);
            }
        }
        done += copy.size;
    }
}

static MaarReservation reserve(VkDeviceSize size, MaarReservationCreateFlags flags)
{
    VkBufferCreateInfo buffer = rig_buffer_info(size);
    buffer.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    /* Where another family binds than works, both see the buffer. */
    const uint32_t families[] = {rig.paging_queues[0].familyIndex, rig.families[0]};
    if (families[0] != families[1]) {
        buffer.sharingMode = VK_SHARING_MODE_CONCURRENT;
        buffer.queueFamilyIndexCount = 2;
        buffer.pQueueFamilyIndices = families;
    }
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = flags,
        .pBufferInfo = &buffer,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    const VkResult result = maarCreateReservation(rig.allocator, &info, &reservation);
    if (result != VK_SUCCESS) {
        fail_msg("no reservation: %d, \"%s\"", (int)result, rig.messages.last);
    }
    return reservation;
}

static MaarReservationInfo look(MaarReservation reservation)
{
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    assert_int_equal(maarGetReservationInfo(rig.allocator, reservation, &info), VK_SUCCESS);
    return info;
}

static void commit(MaarReservation reservation, VkDeviceSize offset, VkDeviceSize size)
{
    const MaarPageRange range = {offset, size};
    assert_int_equal(maarCommitPages(rig.allocator, reservation, 1, &range), VK_SUCCESS);
}

static void decommit(MaarReservation reservation, VkDeviceSize offset, VkDeviceSize size)
{
    const MaarPageRange range = {offset, size};
    assert_int_equal(maarDecommitPages(rig.allocator, reservation, 1, &range), VK_SUCCESS);
}

/* After all that was run so far. */
static MaarPoint submit_binds(void)
{
    const MaarPoint done = {commands.timeline, commands.value};
    MaarPoint point = {.value = 0};
    assert_int_equal(maarSubmitBinds(rig.allocator, 1, &done, &point), VK_SUCCESS);
    return point;
}

/* ---- cases ---- */

static void scattered_pages_keep_what_was_written(void** state)
{
    rig_need(state, true, "");
    rig_need(state, paging_info().sparseReservations == VK_TRUE,
             "the device has no sparse buffers");
    MaarReservation it = reserve(256 * MIB, MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT);
    const MaarReservationInfo info = look(it);
    const VkDeviceSize page = info.pageSize;
    print_message("pages of %llu bytes, address %#llx\n", (unsigned long long)page,
                  (unsigned long long)info.address);
    assert_int_not_equal(info.address, 0);
    enum { PAGES = 1000 };
    static MaarPageRange ranges[PAGES];
    for (uint32_t i = 0; i < PAGES; ++i) {
        ranges[i] = (MaarPageRange){(VkDeviceSize)(i * 37 % PAGES) * 4 * page, page};
    }
    assert_int_equal(maarCommitPages(rig.allocator, it, PAGES, ranges), VK_SUCCESS);
    MaarPoint point = submit_binds();
    for (uint32_t i = 0; i < PAGES; i += 50) {
        fill(info.buffer, ranges[i].offset, page, 0xA0000000u + i, &point);
    }
    /* Every other one of those goes, and others come. */
    for (uint32_t i = 50; i < PAGES; i += 100) {
        decommit(it, ranges[i].offset, page);
        commit(it, ranges[i].offset + page, 2 * page);
    }
    point = submit_binds();
    for (uint32_t i = 50; i < PAGES; i += 100) {
        fill(info.buffer, ranges[i].offset + page, 2 * page, 0xB0000000u + i, &point);
    }
    for (uint32_t i = 0; i < PAGES; i += 100) {
        expect_words(info.buffer, ranges[i].offset, page, 0xA0000000u + i, &point);
    }
    for (uint32_t i = 50; i < PAGES; i += 100) {
        expect_words(info.buffer, ranges[i].offset + page, 2 * page, 0xB0000000u + i, &point);
    }
    rig_check(&rig);
    maarDestroyReservation(rig.allocator, it);
}

static void array_grows_in_place(void** state)
{
    rig_need(state, true, "");
    rig_need(state, paging_info().sparseReservations == VK_TRUE,
             "the device has no sparse buffers");
    VkBufferCreateInfo buffer = rig_buffer_info(128 * MIB);
    buffer.usage |= VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    const MaarArrayCreateInfo create = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 16,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .pBufferInfo = &buffer},
    };
    MaarArray array = VK_NULL_HANDLE;
    assert_int_equal(maarCreateArray(rig.allocator, &create, &array), VK_SUCCESS);
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    assert_int_equal(maarGetArrayInfo(rig.allocator, array, &info), VK_SUCCESS);
    const MaarReservationInfo before = look(info.reservation);
    enum { BATCHES = 32 };
    const uint64_t batch = 4 * MIB / 16;
    MaarPoint point = {.value = 0};
    for (uint32_t i = 0; i < BATCHES; ++i) {
        uint64_t first = 0;
        assert_int_equal(maarAppendArray(rig.allocator, array, batch, &first), VK_SUCCESS);
        point = submit_binds();
        fill(before.buffer, first * 16, batch * 16, 0xC0000000u + i, &point);
    }
    const MaarReservationInfo after = look(info.reservation);
    assert_true(after.buffer == before.buffer);
    assert_int_equal(after.address, before.address);
    assert_int_equal(after.moveCount, 0);
    for (uint32_t i = 0; i < BATCHES; ++i) {
        expect_words(before.buffer, i * batch * 16, batch * 16, 0xC0000000u + i, &point);
    }
    /* What is behind a truncation goes and comes again; what is before it stays. */
    assert_int_equal(maarTruncateArray(rig.allocator, array, 3 * batch, VK_TRUE), VK_SUCCESS);
    (void)submit_binds();
    assert_int_equal(maarAppendArray(rig.allocator, array, 5 * batch, NULL), VK_SUCCESS);
    point = submit_binds();
    fill(before.buffer, 3 * batch * 16, 5 * batch * 16, 7, &point);
    expect_words(before.buffer, 2 * batch * 16, batch * 16, 0xC0000002u, &point);
    expect_words(before.buffer, 3 * batch * 16, 5 * batch * 16, 7, &point);
    MaarPagingStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(rig.allocator, &statistics), VK_SUCCESS);
    assert_int_equal(statistics.copiedBytes, 0);
    maarDestroyArray(rig.allocator, array);
}

static void aliased_ranges_show_the_same_bytes(void** state)
{
    rig_need(state, true, "");
    rig_need(state, paging_info().aliasing == VK_TRUE, "the device shares no pages");
    MaarReservation first = reserve(16 * MIB, MAAR_RESERVATION_CREATE_ALIASED_BIT);
    MaarReservation second = reserve(16 * MIB, MAAR_RESERVATION_CREATE_ALIASED_BIT);
    const VkBuffer one = look(first).buffer;
    const VkBuffer other = look(second).buffer;
    commit(first, 0, 8 * MIB);
    commit(second, 0, MIB);
    assert_int_equal(maarAliasPages(rig.allocator, second, 4 * MIB, 4 * MIB, first, 2 * MIB),
                     VK_SUCCESS);
    MaarPoint point = submit_binds();
    fill(one, 0, 8 * MIB, 0x11111111, &point);
    fill(one, 3 * MIB, MIB, 0x22222222, &point);
    fill(other, 0, MIB, 0x33333333, &point);
    expect_words(other, 4 * MIB, MIB, 0x11111111, &point);
    expect_words(other, 5 * MIB, MIB, 0x22222222, &point);
    expect_words(other, 6 * MIB, 2 * MIB, 0x11111111, &point);
    fill(other, 4 * MIB, 64 * KIB, 0x44444444, &point);
    expect_words(one, 2 * MIB, 64 * KIB, 0x44444444, &point);
    expect_words(other, 0, MIB, 0x33333333, &point);
    /* The pages outlive the range that they were committed for. */
    maarDestroyReservation(rig.allocator, first);
    assert_int_equal(maarWaitPending(rig.allocator, UINT64_MAX), VK_SUCCESS);
    expect_words(other, 5 * MIB, MIB, 0x22222222, &point);
    rig_check(&rig);
    maarDestroyReservation(rig.allocator, second);
}

/* Commits a range and fills what is new of it with zeros. */
static MaarNewPages commit_zeros(MaarReservation reservation, VkDeviceSize offset,
                                 VkDeviceSize size, MaarPageRange* ranges, uint32_t capacity)
{
    const MaarPageRange range = {offset, size};
    MaarNewPages pages = {
        .sType = MAAR_STRUCTURE_TYPE_NEW_PAGES, .rangeCapacity = capacity, .pRanges = ranges};
    assert_int_equal(maarCommitNewPages(rig.allocator, reservation, 1, &range, &pages), VK_SUCCESS);
    const MaarPoint point = submit_binds();
    begin_commands();
    assert_int_equal(
        maarRecordZeroPages(rig.allocator, reservation, pages.rangeCount, ranges, commands.buffer),
        VK_SUCCESS);
    run_commands(&point);
    return pages;
}

static void new_pages_are_filled_with_zeros(void** state)
{
    rig_need(state, true, "");
    const MaarPagingInfo paging = paging_info();
    rig_need(state, paging.reservations == VK_TRUE, "the device has no timelines");
    static const MaarReservationCreateFlags ways[] = {0, MAAR_RESERVATION_CREATE_COPYING_BIT};
    for (uint32_t way = 0; way < 2; ++way) {
        const bool copies = ways[way] != 0 || paging.sparseReservations == VK_FALSE;
        MaarReservation it = reserve(64 * MIB, ways[way]);
        MaarPageRange ranges[4];
        commit(it, 0, 8 * MIB);
        MaarPoint point = submit_binds();
        fill(look(it).buffer, 0, 8 * MIB, 0xE1E1E1E1u, &point);
        decommit(it, 2 * MIB, 4 * MIB);
        point = submit_binds();
        assert_int_equal(commit_zeros(it, 0, 12 * MIB, ranges, 4).rangeCount, copies ? 1 : 2);
        const VkBuffer buffer = look(it).buffer;
        const uint32_t kept = 0xE1E1E1E1u;
        expect_words(buffer, 0, 2 * MIB, kept, NULL);
        expect_words(buffer, 2 * MIB, 4 * MIB, copies ? kept : 0, NULL);
        expect_words(buffer, 6 * MIB, 2 * MIB, kept, NULL);
        expect_words(buffer, 8 * MIB, 4 * MIB, 0, NULL);
        rig_check(&rig);
        maarDestroyReservation(rig.allocator, it);
    }
}

/* Compares every word of a committed range with what the host sees there. */
/* What is touched has its bytes, or is listed as fresh, once. */
static void touched_ranges_have_their_bytes(void** state)
{
    enum { PARTS = 64, ROOM = 8 };
    static bool live[PARTS];
    rig_need(state, true, "");
    rig_need(state, paging_info().sparseReservations == VK_TRUE,
             "the device has no sparse buffers");
    struct rig_random random = {.state = rig_seed(23)};
    MaarReservation it = reserve(64 * MIB, MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT);
    const VkBuffer buffer = look(it).buffer;
    memset(live, 0, sizeof live);
    for (uint32_t step = 0; step < 300; ++step) {
        const uint32_t part = rig_below(&random, PARTS);
        const MaarReservationRange range = {it, part * MIB, 4 * look(it).pageSize};
        const MaarTouchInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_TOUCH_INFO, .rangeCount = 1, .pRanges = &range};
        MaarReservationRange fresh[ROOM];
        MaarTouchResult touched = {
            .sType = MAAR_STRUCTURE_TYPE_TOUCH_RESULT, .freshCapacity = ROOM, .pFresh = fresh};
        assert_int_equal(maarTouchPages(rig.allocator, &info, &touched), VK_SUCCESS);
        const MaarPoint bound = submit_binds();
        assert_int_equal(touched.freshSize, live[part] ? 0 : range.size);
        if (!live[part]) {
            fill(buffer, range.offset, range.size, 0xB0000000u + part, &bound);
        }
        live[part] = true;
        expect_words(buffer, range.offset, range.size, 0xB0000000u + part, &bound);
        if (rig_below(&random, 8) == 0) {
            MaarPageTrimInfo trim = {.sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_INFO,
                                     .reservationCount = 1,
                                     .pReservations = &it,
                                     .keptSize = 10 * range.size};
            MaarReservationRange gone[PARTS];
            MaarPageTrimResult trimmed = {.sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_RESULT,
                                          .rangeCapacity = PARTS,
                                          .pRanges = gone};
            assert_int_equal(maarTrimPages(rig.allocator, &trim, &trimmed), VK_SUCCESS);
            for (uint32_t i = 0; i < trimmed.rangeCount; ++i) {
                assert_true(live[gone[i].offset / MIB]);
                assert_int_equal(gone[i].size, range.size);
                live[gone[i].offset / MIB] = false;
            }
        }
    }
    maarDestroyReservation(rig.allocator, it);
}

static void expect_words_of_the_host(MaarReservation reservation, VkDeviceSize size, uint32_t word)
{
    MaarHostRun runs[64];
    const MaarPageRange range = {0, size};
    uint32_t count = 64;
    assert_int_equal(maarInvalidatePages(rig.allocator, reservation, 1, &range), VK_SUCCESS);
    assert_int_equal(maarGetHostPages(rig.allocator, reservation, &range, &count, runs),
                     VK_SUCCESS);
    for (uint32_t i = 0; rig_executes() && i < count; ++i) {
        const uint32_t* words = runs[i].pData;
        for (VkDeviceSize at = 0; at < runs[i].size / 4; ++at) {
            assert_int_equal(words[at], word);
        }
    }
}

static void host_and_device_see_the_same_bytes(void** state)
{
    rig_need(state, true, "");
    const MaarPagingInfo paging = paging_info();
    rig_need(state, paging.reservations == VK_TRUE, "the device has no timelines");
    static const MaarReservationCreateFlags ways[] = {MAAR_RESERVATION_CREATE_MAPPED_BIT,
                                                      MAAR_RESERVATION_CREATE_MAPPED_BIT |
                                                          MAAR_RESERVATION_CREATE_COPYING_BIT};
    for (uint32_t way = 0; way < 2; ++way) {
        MaarReservation it = reserve(64 * MIB, ways[way]);
        MaarHostRun runs[64];
        uint32_t count = 64;
        commit(it, MIB, 2 * MIB);
        commit(it, 0, 4 * MIB);
        const MaarPoint point = submit_binds();
        assert_int_equal(maarWaitPoints(rig.allocator, 1, &point, UINT64_MAX), VK_SUCCESS);
        const MaarPageRange range = {0, 4 * MIB};
        assert_int_equal(maarGetHostPages(rig.allocator, it, &range, &count, runs), VK_SUCCESS);
        for (uint32_t i = 0; rig_executes() && i < count; ++i) {
            memset(runs[i].pData, 0x5A, (size_t)runs[i].size);
        }
        assert_int_equal(maarFlushPages(rig.allocator, it, 1, &range), VK_SUCCESS);
        expect_words(look(it).buffer, 0, 4 * MIB, 0x5A5A5A5Au, &point);
        fill(look(it).buffer, 0, 4 * MIB, 0xF00DF00Du, &point);
        expect_words_of_the_host(it, 4 * MIB, 0xF00DF00Du);
        rig_check(&rig);
        maarDestroyReservation(rig.allocator, it);
    }
}

static void copies_bring_the_contents_along(void** state)
{
    rig_need(state, true, "");
    rig_need(state, paging_info().reservations == VK_TRUE, "the device has no timelines");
    MaarReservation it = reserve(64 * MIB, MAAR_RESERVATION_CREATE_COPYING_BIT);
    commit(it, 0, 4 * MIB);
    MaarPoint point = submit_binds();
    fill(look(it).buffer, 0, 4 * MIB, 0xD0000000u, &point);
    for (uint32_t i = 1; i < 8; ++i) {
        const VkDeviceSize end = 4 * MIB * (i + 1);
        commit(it, 0, end - 2 * MIB); /* the first of the two is mostly never used */
        commit(it, 0, end);
        point = submit_binds();
        fill(look(it).buffer, end - 4 * MIB, 4 * MIB, 0xD0000000u + i, &point);
        (void)maarCollect(rig.allocator, NULL);
    }
    for (uint32_t i = 0; i < 8; ++i) {
        expect_words(look(it).buffer, 4 * MIB * i, 4 * MIB, 0xD0000000u + i, &point);
    }
    assert_in_range(look(it).moveCount, 3, 15);
    rig_check(&rig);
    maarDestroyReservation(rig.allocator, it);
}

static void reservations_share_the_address_space(void** state)
{
    rig_need(state, true, "");
    const MaarPagingInfo info = paging_info();
    rig_need(state, info.sparseReservations == VK_TRUE, "the device has no sparse buffers");
    rig_need(state, info.addressSpaceSize < (VkDeviceSize)1 << 36, "its address space has no end");
    MaarReservation first = reserve(info.addressSpaceSize / 2, 0);
    VkBufferCreateInfo buffer = rig_buffer_info(info.addressSpaceSize / 2 + 1);
    const MaarReservationCreateInfo create = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                              .pBufferInfo = &buffer};
    MaarReservation second = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig.allocator, &create, &second),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED,
                              "sparseAddressSpaceSize");
    maarDestroyReservation(rig.allocator, first);
    assert_int_equal(maarCreateReservation(rig.allocator, &create, &second), VK_SUCCESS);
    maarDestroyReservation(rig.allocator, second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scattered_pages_keep_what_was_written, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(array_grows_in_place, open_device, close_device),
        cmocka_unit_test_setup_teardown(aliased_ranges_show_the_same_bytes, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(new_pages_are_filled_with_zeros, open_device, close_device),
        cmocka_unit_test_setup_teardown(touched_ranges_have_their_bytes, open_device, close_device),
        cmocka_unit_test_setup_teardown(host_and_device_see_the_same_bytes, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(copies_bring_the_contents_along, open_device, close_device),
        cmocka_unit_test_setup_teardown(reservations_share_the_address_space, open_device,
                                        close_device),
    };
    return cmocka_run_group_tests_name("reservation_device", tests, NULL, NULL);
}
