/*
 * Buffers on the host's own memory, on simulated devices with and without the extension: imported
 * in place, or copied with the reason stated. tests/interop shows them on drivers that execute.
 */
#define _POSIX_C_SOURCE 200809L

#include "core/handle.h"
#include "maar/share.h"
#include "tests/rig/rig.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "support/profile.h"

enum { PAGE = 4096, REGION = 64 * PAGE };

static struct rig* rig;
static MaarSimulatedProfile profile;
static unsigned char* region; /* begins at a multiple of its size */

static int make_region(void** state)
{
    (void)state;
    region = aligned_alloc(REGION, REGION);
    return region != NULL && sysconf(_SC_PAGESIZE) == PAGE ? 0 : 1;
}

static int free_region(void** state)
{
    (void)state;
    free(region);
    return 0;
}

/* 0: without the extension. */
static void offer_alignment(const MaarSimulatedProfile* base, VkDeviceSize alignment)
{
    profile = *base;
    if (alignment != 0) {
        profile.limits.minImportedHostPointerAlignment = alignment;
        (void)snprintf(profile.extensions[profile.extensionCount++], sizeof profile.extensions[0],
                       "%s", VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    }
}

static void open_device(const MaarSimulatedProfile* base, VkDeviceSize alignment)
{
    offer_alignment(base, alignment);
    const struct rig_setup setup = {.profile = &profile, .count_host = true};
    rig = rig_begin(&setup);
    for (uint32_t i = 0; i < REGION; ++i) {
        region[i] = (unsigned char)(i * 7 + i / 251);
    }
}

static MaarHostBufferCreateInfo describe(void* memory, VkDeviceSize size,
                                         MaarHostBufferCreateFlags flags)
{
    return (MaarHostBufferCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO,
        .flags = flags,
        .pMemory = memory,
        .size = size,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .pName = "host bytes",
    };
}

static VkResult create(void* memory, VkDeviceSize size, MaarHostBufferCreateFlags flags,
                       MaarHostBuffer* made)
{
    const MaarHostBufferCreateInfo info = describe(memory, size, flags);
    const VkResult result = maarCreateHostBuffer(rig->allocator, &info, made);
    assert_true((result == VK_SUCCESS) == (*made != VK_NULL_HANDLE));
    rig_check(rig);
    return result;
}

static MaarHostBufferInfo look(MaarHostBuffer buffer)
{
    MaarHostBufferInfo info = {.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
    assert_int_equal(maarGetHostBufferInfo(rig->allocator, buffer, &info), VK_SUCCESS);
    assert_true(info.buffer != VK_NULL_HANDLE && info.allocation != VK_NULL_HANDLE);
    assert_true((info.copied == VK_TRUE) == (info.reason[0] != '\0'));
    return info;
}

/* What the device sees as the host's first byte. */
static unsigned char* device_bytes(MaarHostBuffer buffer)
{
    const MaarHostBufferInfo info = look(buffer);
    void* data = NULL;
    assert_int_equal(maarMapMemory(rig->allocator, info.allocation, &data), VK_SUCCESS);
    maarUnmapMemory(rig->allocator, info.allocation);
    return (unsigned char*)data + info.offset;
}

static void expect_copy(MaarHostBuffer buffer, VkDeviceSize size, const char* reason)
{
    const MaarHostBufferInfo info = look(buffer);
    assert_int_equal(info.copied, VK_TRUE);
    assert_int_equal(info.offset, 0);
    assert_true(info.size == size);
    assert_non_null(strstr(info.reason, reason));
}

static void memory_is_imported_in_place(void** state)
{
    (void)state;
    open_device(rig_profile_discrete(), PAGE);
    MaarHostBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(create(region + PAGE, (VkDeviceSize)3 * PAGE, 0, &buffer), VK_SUCCESS);
    const MaarHostBufferInfo info = look(buffer);
    assert_int_equal(info.copied, VK_FALSE);
    assert_int_equal(info.offset, 0);
    assert_int_equal(info.size, 3 * PAGE);
    assert_ptr_equal(device_bytes(buffer), region + PAGE);
    const MaarAllocationInfo memory = rig_info(rig, info.allocation);
    assert_int_equal(memory.size, 3 * PAGE);
    assert_string_equal(memory.pName, "host bytes");
    assert_int_equal(rig_counters(rig).importedLive, 1);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 1);
    assert_int_equal(maarPushHostBuffer(rig->allocator, buffer, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(maarPullHostBuffer(rig->allocator, buffer, 5, 99), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges"), 0);
    assert_int_equal(rig_calls(rig, "vkInvalidateMappedMemoryRanges"), 0);
    maarDestroyHostBuffer(rig->allocator, buffer);
    assert_int_equal(rig_counters(rig).importedLive, 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
    assert_int_equal(region[PAGE], (unsigned char)(PAGE * 7 + PAGE / 251));
    maarDestroyHostBuffer(rig->allocator, VK_NULL_HANDLE);
    rig_expect_silence(rig);
    rig_close(rig);
}

static void odd_ranges_import_their_pages(void** state)
{
    (void)state;
    open_device(rig_profile_discrete(), PAGE);
    struct rig_random random = {.state = rig_seed(63)};
    for (uint32_t i = 0; i < 300; ++i) {
        const uint32_t at = rig_below(&random, REGION);
        const uint32_t size = 1 + rig_below(&random, REGION - at);
        MaarHostBuffer buffer = VK_NULL_HANDLE;
        assert_int_equal(create(region + at, size, 0, &buffer), VK_SUCCESS);
        const MaarHostBufferInfo info = look(buffer);
        assert_int_equal(info.copied, VK_FALSE);
        assert_int_equal(info.offset, at % PAGE);
        assert_int_equal(info.size, size);
        assert_ptr_equal(device_bytes(buffer), region + at);
        const uint32_t end = (at + size + PAGE - 1) / PAGE * PAGE;
        assert_int_equal(rig_info(rig, info.allocation).size, end - at / PAGE * PAGE);
        assert_int_equal(maarPushHostBuffer(rig->allocator, buffer, size, VK_WHOLE_SIZE),
                         VK_SUCCESS);
        maarDestroyHostBuffer(rig->allocator, buffer);
    }
    rig_close(rig);
}

/* A smaller alignment than a page takes less than pages. */
static void small_alignment_imports_less(void** state)
{
    (void)state;
    open_device(rig_profile_discrete(), 64);
    MaarHostBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(create(region + 1000, 1000, 0, &buffer), VK_SUCCESS);
    const MaarHostBufferInfo info = look(buffer);
    assert_int_equal(info.copied, VK_FALSE);
    assert_int_equal(info.offset, 1000 % 64);
    assert_int_equal(rig_info(rig, info.allocation).size, 2048 - 960);
    maarDestroyHostBuffer(rig->allocator, buffer);
    rig_close(rig);
}

/* Above the page size nothing is imported that the caller has no page of. */
static void large_alignment_stays_within_the_pages(void** state)
{
    (void)state;
    enum { GRAIN = 16 * PAGE };
    static const struct {
        uint32_t at;
        uint32_t size;
        bool copied;
    } rows[] = {
        {0, GRAIN, false},
        {GRAIN, 2 * GRAIN, false},
        {GRAIN + 5, GRAIN - 10, false},
        {PAGE - 1, GRAIN - 2 * PAGE + 2, false},
        {PAGE, GRAIN - PAGE, true},
        {0, GRAIN - PAGE, true},
        {0, 1, true},
        {GRAIN - 1, 2, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        open_device(rig_profile_discrete(), GRAIN);
        MaarHostBuffer buffer = VK_NULL_HANDLE;
        assert_int_equal(create(region + rows[i].at, rows[i].size, 0, &buffer), VK_SUCCESS);
        if (rows[i].copied) {
            expect_copy(buffer, rows[i].size, "reach beyond its pages");
            rig_expect_message_naming(rig, MAAR_MESSAGE_ID_HOST_MEMORY_COPIED,
                                      "pCreateInfo->pMemory");
            MaarHostBuffer none = VK_NULL_HANDLE;
            assert_int_equal(create(region + rows[i].at, rows[i].size,
                                    MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT, &none),
                             VK_ERROR_INVALID_EXTERNAL_HANDLE);
            rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_IMPORTABLE);
        } else {
            assert_int_equal(look(buffer).copied, VK_FALSE);
            assert_ptr_equal(device_bytes(buffer), region + rows[i].at);
        }
        rig_expect_silence(rig);
        maarDestroyHostBuffer(rig->allocator, buffer);
        rig_close(rig);
    }
}

static void without_the_extension_there_is_a_copy(void** state)
{
    (void)state;
    open_device(rig_profile_discrete(), 0);
    MaarHostBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(create(region + 3, 5000, MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT, &buffer),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_IMPORTABLE, "VK_EXT_external_memory_host");
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
    assert_int_equal(create(region + 3, 5000, 0, &buffer), VK_SUCCESS);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_HOST_MEMORY_COPIED, "maarCreateHostBuffer");
    expect_copy(buffer, 5000, "VK_EXT_external_memory_host is not enabled");
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).fallbackCount, 1);
    maarDestroyHostBuffer(rig->allocator, buffer);
    rig_close(rig);
}

static void copy_asked_for_is_no_warning(void** state)
{
    (void)state;
    open_device(rig_profile_discrete(), PAGE);
    MaarHostBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(create(region, PAGE, MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT, &buffer),
                     VK_SUCCESS);
    expect_copy(buffer, PAGE, "requested");
    assert_int_equal(rig_counters(rig).importedLive, 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).fallbackCount, 0);
    rig_expect_silence(rig);
    maarDestroyHostBuffer(rig->allocator, buffer);
    rig_close(rig);
}

static unsigned char pushed(uint32_t at)
{
    return (unsigned char)(at * 5 + 1);
}

/* A copy begins with the host's bytes; pushing and pulling move the named ones and no others. */
static void copies_move_the_named_bytes(void** state)
{
    (void)state;
    const MaarSimulatedProfile* bases[] = {rig_profile_discrete(), rig_profile_noncoherent()};
    for (uint32_t i = 0; i < 2; ++i) {
        enum { AT = 777, SIZE = 9001 };
        static unsigned char before[SIZE];
        open_device(bases[i], 0);
        MaarHostBuffer buffer = VK_NULL_HANDLE;
        assert_int_equal(create(region + AT, SIZE, 0, &buffer), VK_SUCCESS);
        unsigned char* device = device_bytes(buffer);
        assert_memory_equal(device, region + AT, SIZE);
        memcpy(before, region + AT, SIZE);
        for (uint32_t k = 0; k < SIZE; ++k) {
            region[AT + k] = pushed(k);
        }
        assert_int_equal(maarPushHostBuffer(rig->allocator, buffer, 100, 50), VK_SUCCESS);
        assert_memory_equal(device, before, 100);
        assert_memory_equal(device + 150, before + 150, SIZE - 150);
        for (uint32_t k = 100; k < 150; ++k) {
            assert_int_equal(device[k], pushed(k));
        }
        memset(device, 0x22, SIZE);
        assert_int_equal(maarPullHostBuffer(rig->allocator, buffer, 8000, VK_WHOLE_SIZE),
                         VK_SUCCESS);
        for (uint32_t k = 0; k < SIZE; ++k) {
            assert_int_equal(region[AT + k], k < 8000 ? pushed(k) : 0x22);
        }
        assert_int_equal(region[AT - 1], (unsigned char)((AT - 1) * 7 + (AT - 1) / 251));
        assert_int_equal(region[AT + SIZE], (unsigned char)((AT + SIZE) * 7 + (AT + SIZE) / 251));
        assert_true((rig_calls(rig, "vkFlushMappedMemoryRanges") != 0) == (i == 1));
        assert_true((rig_calls(rig, "vkInvalidateMappedMemoryRanges") != 0) == (i == 1));
        maarDestroyHostBuffer(rig->allocator, buffer);
        rig_close(rig);
    }
}

/* A device whose only memory for the host is not coherent. */
static const MaarSimulatedProfile* incoherent_only(void)
{
    static MaarSimulatedProfile made;
    made = *rig_profile_noncoherent();
    made.types[1].flags &= ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    return &made;
}

static void incoherent_memory_is_flushed_and_invalidated(void** state)
{
    (void)state;
    open_device(incoherent_only(), PAGE);
    MaarHostBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(create(region + 512, 1024, MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT, &buffer),
                     VK_SUCCESS);
    assert_int_equal(look(buffer).offset, 512);
    assert_int_equal(rig_counters(rig).mappedCount, 1);
    assert_int_equal(maarPushHostBuffer(rig->allocator, buffer, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges"), 1);
    assert_int_equal(maarPullHostBuffer(rig->allocator, buffer, 300, 7), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkInvalidateMappedMemoryRanges"), 1);
    assert_int_equal(maarPullHostBuffer(rig->allocator, buffer, 1024, 0), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkInvalidateMappedMemoryRanges"), 1);
    rig_set_fault(rig, "vkFlushMappedMemoryRanges", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarPushHostBuffer(rig->allocator, buffer, 0, 1), VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_set_fault(rig, "vkInvalidateMappedMemoryRanges", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarPullHostBuffer(rig->allocator, buffer, 0, 1),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    maarDestroyHostBuffer(rig->allocator, buffer);
    rig_expect_silence(rig);
    rig_close(rig);
}

/* Half an atom belongs to somebody else, whose bytes an invalidation could undo. */
static void half_atoms_are_not_imported(void** state)
{
    (void)state;
    static const struct {
        uint32_t at;
        uint32_t size;
    } rows[] = {{513, 1023}, {513, 1024}, {512, 1000}, {512, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        open_device(incoherent_only(), PAGE);
        MaarHostBuffer buffer = VK_NULL_HANDLE;
        assert_int_equal(create(region + rows[i].at, rows[i].size, 0, &buffer), VK_SUCCESS);
        expect_copy(buffer, rows[i].size, "not whole atoms of nonCoherentAtomSize");
        maarDestroyHostBuffer(rig->allocator, buffer);
        rig_close(rig);
        /* Where there is coherent memory too, that is taken. */
        open_device(rig_profile_noncoherent(), PAGE);
        assert_int_equal(create(region + rows[i].at, rows[i].size, 0, &buffer), VK_SUCCESS);
        const MaarHostBufferInfo info = look(buffer);
        assert_int_equal(info.copied, VK_FALSE);
        assert_int_equal(rig_info(rig, info.allocation).memoryTypeIndex, 1);
        maarDestroyHostBuffer(rig->allocator, buffer);
        rig_expect_silence(rig);
        rig_close(rig);
    }
}

static void failure_of_the_driver_gives_a_copy(void** state)
{
    (void)state;
    static const struct {
        const char* function;
        const char* reason;
        VkResult result;
    } rows[] = {
        {"vkGetMemoryHostPointerPropertiesEXT", "the driver does not take this memory",
         VK_ERROR_INVALID_EXTERNAL_HANDLE},
        {"vkAllocateMemory", "the driver refuses to import", VK_ERROR_INVALID_EXTERNAL_HANDLE},
        {"vkAllocateMemory", "the driver refuses to import", VK_ERROR_OUT_OF_DEVICE_MEMORY},
        {"vkBindBufferMemory2", "the driver refuses to import", VK_ERROR_OUT_OF_DEVICE_MEMORY},
        {"vkMapMemory", "the driver refuses to import", VK_ERROR_MEMORY_MAP_FAILED},
        {"vkCreateBuffer", "refuses a buffer on imported", VK_ERROR_OUT_OF_DEVICE_MEMORY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        open_device(incoherent_only(), PAGE);
        MaarHostBuffer buffer = VK_NULL_HANDLE;
        rig_set_fault(rig, rows[i].function, 1, 1, rows[i].result);
        assert_int_equal(
            create(region, (VkDeviceSize)2 * PAGE, MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT, &buffer),
            rows[i].result);
        rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_IMPORTABLE);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
        assert_int_equal(rig_counters(rig).importedLive, 0);
        rig_set_fault(rig, rows[i].function, 1, 1, rows[i].result);
        assert_int_equal(create(region, (VkDeviceSize)2 * PAGE, 0, &buffer), VK_SUCCESS);
        expect_copy(buffer, (VkDeviceSize)2 * PAGE, rows[i].reason);
        assert_memory_equal(device_bytes(buffer), region, (size_t)2 * PAGE);
        assert_int_equal(rig_counters(rig).importedLive, 0);
        rig_forget_messages(rig);
        maarDestroyHostBuffer(rig->allocator, buffer);
        rig_close(rig);
    }
}

/* Each call of the driver, then each host allocation, fails in turn: a whole object or nothing. */
static void failures_leave_nothing_behind(void** state)
{
    (void)state;
    static const MaarHostBufferCreateFlags ways[] = {0, MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT,
                                                     MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT};
    for (uint32_t way = 0; way < 6; ++way) {
        const bool host = way >= 3;
        uint32_t failures = 0;
        uint32_t points = 0;
        for (uint32_t nth = 1, struck = 1; struck != 0 && nth < 100; ++nth) {
            MaarHostBuffer buffer = VK_NULL_HANDLE;
            open_device(incoherent_only(), PAGE);
            const uint64_t faults = rig_counters(rig).faultCount;
            const uint64_t live = atomic_load(&rig->host.live);
            const uint64_t calls = atomic_load(&rig->host.calls);
            if (host) {
                atomic_store(&rig->host.fail_at, calls + nth);
            } else {
                rig_set_fault(rig, NULL, nth, 1, VK_SUCCESS);
            }
            const VkResult result = create(region, (VkDeviceSize)2 * PAGE, ways[way % 3], &buffer);
            struck = host ? atomic_load(&rig->host.calls) >= calls + nth
                          : rig_counters(rig).faultCount != faults;
            rig_clear_faults(rig);
            points += struck != 0 ? 1 : 0;
            if (result != VK_SUCCESS) {
                const MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
                assert_int_equal(statistics.allocationCount, 0);
                assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
                assert_int_equal(rig_counters(rig).importedLive, 0);
                assert_true(!host || result == VK_ERROR_OUT_OF_HOST_MEMORY);
                /* Pools that were made meanwhile stay, and with them their arenas, the headers
                 * of blocks, the table of their ids, and the second records of handles. */
                assert_true(host || atomic_load(&rig->host.live) <= live + 9);
                failures += 1;
            }
            maarDestroyHostBuffer(rig->allocator, buffer);
            rig_close(rig);
        }
        print_message("%s, flags %u: %u points, %u failures\n", host ? "host memory" : "driver",
                      (unsigned)ways[way % 3], (unsigned)points, (unsigned)failures);
        assert_true(points >= failures && failures > 0);
    }
}

static void misuse_is_reported(void** state)
{
    (void)state;
    open_device(rig_profile_discrete(), PAGE);
    const VkResult wrong = VK_ERROR_VALIDATION_FAILED_EXT;
    MaarHostBuffer buffer = VK_NULL_HANDLE;
    MaarHostBufferCreateInfo info = describe(region, PAGE, 0);
    assert_int_equal(maarCreateHostBuffer(NULL, &info, &buffer), wrong);
    assert_int_equal(maarCreateHostBuffer(rig->allocator, NULL, &buffer), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCreateInfo");
    assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, NULL), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pHostBuffer");
    info.pMemory = NULL;
    assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCreateInfo->pMemory");
    info = describe(region, 0, 0);
    assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ZERO_SIZE, "pCreateInfo->size");
    info = describe(region, UINT64_MAX, 0);
    assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), wrong);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    info = describe(region, UINTPTR_MAX - (uintptr_t)region, 0);
    assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), wrong);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    info = describe(region, PAGE, 3);
    assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "NO_COPY");
    info = describe(region, PAGE, 8);
    assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), wrong);
    rig_expect_message(rig, MAAR_MESSAGE_ID_UNKNOWN_FLAGS);
    info = describe(region, PAGE, 0);
    info.usage = 0;
    assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_EMPTY_FLAGS, "pCreateInfo->usage");
    assert_null(buffer);

    MaarHostBufferInfo out = {.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
    assert_int_equal(maarGetHostBufferInfo(rig->allocator, VK_NULL_HANDLE, &out), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "hostBuffer");
    assert_int_equal(maarPushHostBuffer(rig->allocator, VK_NULL_HANDLE, 0, 1), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "hostBuffer");
    for (uint32_t copied = 0; copied < 2; ++copied) {
        const MaarHostBufferCreateFlags flags =
            copied != 0 ? MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT : 0;
        assert_int_equal(create(region + 9, 1000, flags, &buffer), VK_SUCCESS);
        assert_int_equal(maarGetHostBufferInfo(rig->allocator, buffer, NULL), wrong);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
        assert_int_equal(maarPushHostBuffer(rig->allocator, buffer, 0, 1001), wrong);
        rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
        assert_int_equal(maarPullHostBuffer(rig->allocator, buffer, 1001, VK_WHOLE_SIZE), wrong);
        rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
        assert_int_equal(maarPullHostBuffer(rig->allocator, buffer, 2, UINT64_MAX - 1), wrong);
        rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
        assert_int_equal(maarPullHostBuffer(rig->allocator, buffer, 1000, VK_WHOLE_SIZE),
                         VK_SUCCESS);
        maarDestroyHostBuffer(rig->allocator, buffer);
    }
    rig_close(rig);
}

static void try_profile(const char* name, uint32_t* imported, uint32_t* copied)
{
    struct support_error error;
    char path[512];
    (void)snprintf(path, sizeof path, MAAR_SOURCE_DIR "/data/profiles/%s", name);
    static MaarSimulatedProfile base;
    if (!support_profile_load(path, &base, &error)) {
        fail_msg("%s", error.text);
    }
    const struct rig_setup setup = {.profile = &base, .count_host = true};
    rig = rig_begin(&setup);
    for (uint32_t i = 0; i < 3; ++i) {
        MaarHostBuffer buffer = VK_NULL_HANDLE;
        assert_int_equal(create(region + (size_t)100 * i, PAGE + 1000 * i, 0, &buffer), VK_SUCCESS);
        assert_int_equal(maarPushHostBuffer(rig->allocator, buffer, i, 5), VK_SUCCESS);
        assert_int_equal(maarPullHostBuffer(rig->allocator, buffer, 0, VK_WHOLE_SIZE), VK_SUCCESS);
        *(look(buffer).copied == VK_TRUE ? copied : imported) += 1;
        maarDestroyHostBuffer(rig->allocator, buffer);
    }
    rig_close(rig);
}

static void host_buffer_of_another_allocator_is_refused(void** state)
{
    (void)state;
    const VkResult refused = VK_ERROR_VALIDATION_FAILED_EXT;
    open_device(rig_profile_discrete(), PAGE);
    MaarAllocator other = VK_NULL_HANDLE;
    MaarHostBuffer made = VK_NULL_HANDLE;
    MaarHostBufferInfo info = {.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
    assert_int_equal(maarCreateAllocator(&rig->create_info, &other), VK_SUCCESS);
    assert_int_equal(create(region, PAGE, 0, &made), VK_SUCCESS);
    assert_int_equal(maarGetHostBufferInfo(other, made, &info), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "hostBuffer");
    assert_int_equal(maarPushHostBuffer(other, made, 0, 1), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "hostBuffer");
    assert_int_equal(maarPullHostBuffer(other, made, 0, 1), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "hostBuffer");
    maarDestroyHostBuffer(other, made);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "hostBuffer");
    (void)look(made);
    maarDestroyHostBuffer(rig->allocator, made);
    maarDestroyAllocator(other);
    rig_close(rig);
}

static void expect_host_buffer_refused(MaarHostBuffer bad, MaarMessageId id)
{
    const VkResult refused = VK_ERROR_VALIDATION_FAILED_EXT;
    MaarHostBufferInfo info = {.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
    assert_int_equal(maarGetHostBufferInfo(rig->allocator, bad, &info), refused);
    rig_expect_message_naming(rig, id, "hostBuffer");
    assert_int_equal(maarPushHostBuffer(rig->allocator, bad, 0, 1), refused);
    rig_expect_message_naming(rig, id, "hostBuffer");
    assert_int_equal(maarPullHostBuffer(rig->allocator, bad, 0, 1), refused);
    rig_expect_message_naming(rig, id, "hostBuffer");
    maarDestroyHostBuffer(rig->allocator, bad);
    if (bad == VK_NULL_HANDLE) {
        rig_expect_silence(rig);
    } else {
        rig_expect_message_naming(rig, id, "hostBuffer");
    }
}

static void bad_host_buffers_are_refused(void** state)
{
    (void)state;
    open_device(rig_profile_discrete(), PAGE);
    MaarHostBuffer stale = VK_NULL_HANDLE;
    MaarHostBuffer made = VK_NULL_HANDLE;
    expect_host_buffer_refused(VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE);
    expect_host_buffer_refused(MAAR_FROM_BITS(MaarHostBuffer, (uintptr_t)rig),
                               MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    assert_int_equal(create(region, PAGE, 0, &stale), VK_SUCCESS);
    maarDestroyHostBuffer(rig->allocator, stale);
    expect_host_buffer_refused(stale, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(create(region, PAGE, 0, &made), VK_SUCCESS);
    assert_int_equal((uint32_t)MAAR_TO_BITS(made), (uint32_t)MAAR_TO_BITS(stale));
    expect_host_buffer_refused(stale, MAAR_MESSAGE_ID_STALE_HANDLE);
    (void)look(made);
    maarDestroyHostBuffer(rig->allocator, made);
    rig_close(rig);
}

static void every_profile_serves(void** state)
{
    (void)state;
    uint32_t count = 0;
    uint32_t imported = 0;
    uint32_t copied = 0;
    DIR* folder = opendir(MAAR_SOURCE_DIR "/data/profiles");
    assert_non_null(folder);
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char* ending = strrchr(entry->d_name, '.');
        if (ending != NULL && strcmp(ending, ".json") == 0) {
            try_profile(entry->d_name, &imported, &copied);
            count += 1;
        }
    }
    (void)closedir(folder);
    print_message("%u profiles: %u imported, %u copied\n", (unsigned)count, (unsigned)imported,
                  (unsigned)copied);
    assert_true(imported > count && copied > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(memory_is_imported_in_place),
        rig_unit_test(odd_ranges_import_their_pages),
        rig_unit_test(small_alignment_imports_less),
        rig_unit_test(large_alignment_stays_within_the_pages),
        rig_unit_test(without_the_extension_there_is_a_copy),
        rig_unit_test(copy_asked_for_is_no_warning),
        rig_unit_test(copies_move_the_named_bytes),
        rig_unit_test(incoherent_memory_is_flushed_and_invalidated),
        rig_unit_test(half_atoms_are_not_imported),
        rig_unit_test(failure_of_the_driver_gives_a_copy),
        rig_unit_test(failures_leave_nothing_behind),
        rig_unit_test(misuse_is_reported),
        rig_unit_test(host_buffer_of_another_allocator_is_refused),
        rig_unit_test(bad_host_buffers_are_refused),
        rig_unit_test(every_profile_serves),
    };
    return cmocka_run_group_tests(tests, make_region, free_region);
}
