/*
 * Allocating and freeing: placement into blocks, dedicated memory, fallbacks, observers, misuse.
 */
#include "tests/rig/rig.h"

#include <stdio.h>

#include "core/handle.h"

static VkResult try_allocate(struct rig* rig, const MaarMemoryRequest* request,
                             const MaarAllocationCreateInfo* how, MaarAllocation* allocation)
{
    *allocation = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateMemory(rig->allocator, request, how, allocation);
    if (result != VK_SUCCESS) {
        assert_true(*allocation == VK_NULL_HANDLE);
    }
    return result;
}

/* ---- the ordinary way ---- */

static void allocate_two_share_a_block(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = rig_allocate(rig, 1000, NULL);
    MaarAllocation b = rig_allocate(rig, 1000, NULL);
    MaarAllocationInfo first = rig_info(rig, a);
    MaarAllocationInfo second = rig_info(rig, b);
    assert_true(first.memory == second.memory);
    assert_true(first.offset + first.size <= second.offset ||
                second.offset + second.size <= first.offset);
    assert_int_equal(first.size, 1000);
    assert_int_equal(first.memoryTypeIndex, 0);
    assert_int_equal(first.propertyFlags, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    assert_int_equal(first.dedicated, VK_FALSE);
    assert_int_equal(first.fallback, VK_FALSE);
    assert_null(first.pMappedData);
    assert_null(first.pool);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 1);
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationCount, 2);
    assert_int_equal(statistics.allocationBytes, 2000);
    assert_int_equal(statistics.blockCount, 1);
    assert_true(statistics.blockBytes == first.blockSize);
    maarFreeMemory(rig->allocator, a);
    maarFreeMemory(rig->allocator, b);
    rig_check(rig);
    rig_expect_silence(rig);
}

static void allocate_alignment_is_any_number(void** state)
{
    (void)state;
    static const VkDeviceSize alignments[] = {0, 1, 3, 12, 48, 100, 4096, 65536, 196608, 1048576};
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation made[20];
    for (uint32_t i = 0; i < 10; ++i) {
        VkDeviceSize alignment = alignments[i];
        MaarMemoryRequest request =
            rig_request(77, alignment, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        assert_int_equal(try_allocate(rig, &request, &how, &made[2 * i]), VK_SUCCESS);
        assert_int_equal(rig_info(rig, made[2 * i]).offset % (alignment != 0 ? alignment : 1), 0);
        request.requirements.alignment = 16;
        how.minAlignment = alignment;
        assert_int_equal(try_allocate(rig, &request, &how, &made[2 * i + 1]), VK_SUCCESS);
        VkDeviceSize offset = rig_info(rig, made[2 * i + 1]).offset;
        assert_int_equal(offset % 16, 0);
        assert_int_equal(offset % (alignment != 0 ? alignment : 1), 0);
    }
    rig_check(rig);
    maarFreeMemories(rig->allocator, 20, made);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
}

static void allocate_impossible_sizes_fail(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation allocation;
    MaarMemoryRequest request = rig_request(UINT64_MAX, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    request.requirements.size = 5 * GIB; /* above maxMemoryAllocationSize */
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    request.requirements.size = 16;
    request.requirements.alignment = UINT64_MAX;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.minAlignment = UINT64_MAX - 1;
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).failureCount, 3);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
}

static void allocate_no_type_serves_fails(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation allocation;
    MaarMemoryRequest request = rig_request(100, 1, 0, MAAR_RESOURCE_KIND_LINEAR);
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), VK_ERROR_FEATURE_NOT_PRESENT);
    request.requirements.memoryTypeBits = 1;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_ERROR_FEATURE_NOT_PRESENT);
}

static void allocate_misuse_names_the_argument(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    const MaarMemoryRequest good = rig_request(100, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocation allocation;
    assert_int_equal(maarAllocateMemory(rig->allocator, &good, NULL, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pAllocation");
    assert_int_equal(try_allocate(rig, NULL, NULL, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRequest");
    MaarMemoryRequest request = good;
    request.sType = MAAR_STRUCTURE_TYPE_STATISTICS;
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pRequest");
    request = good;
    request.requirements.size = 0;
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ZERO_SIZE, "size");
    request = good;
    request.kind = (MaarResourceKind)3;
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "kind");
    request = good;
    request.requiresDedicated = VK_TRUE;
    MaarAllocationCreateInfo wrong = how;
    wrong.dedicated = MAAR_DEDICATED_NEVER;
    assert_int_equal(try_allocate(rig, &request, &wrong, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_DEDICATED_REQUIRED, "NEVER");
    wrong = how;
    wrong.sType = MAAR_STRUCTURE_TYPE_STATISTICS;
    assert_int_equal(try_allocate(rig, &good, &wrong, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pCreateInfo");
    wrong = how;
    wrong.usage = (MaarMemoryUsage)6;
    assert_int_equal(try_allocate(rig, &good, &wrong, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "usage");
    wrong = how;
    wrong.dedicated = (MaarDedicated)4;
    assert_int_equal(try_allocate(rig, &good, &wrong, &allocation), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_INVALID_ENUM);
    wrong = how;
    wrong.priority = 1.5F;
    assert_int_equal(try_allocate(rig, &good, &wrong, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "priority");
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationsMade, 0);
}

static void free_twice_is_reported_and_harmless(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = rig_allocate(rig, 1000, NULL);
    maarFreeMemory(rig->allocator, VK_NULL_HANDLE);
    rig_expect_silence(rig);
    maarFreeMemory(rig->allocator, a);
    rig_expect_silence(rig);
    maarFreeMemory(rig->allocator, a);
    char handle[24];
    (void)snprintf(handle, sizeof handle, "0x%llx", (unsigned long long)MAAR_TO_BITS(a));
    assert_true(rig_message_names(rig, "maarFreeMemory"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, handle);
    MaarAllocation b = rig_allocate(rig, 1000, NULL); /* takes the place, not the handle */
    assert_true(a != b);
    maarFreeMemory(rig->allocator, a);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    maarFreeMemories(rig->allocator, 1, &a);
    assert_true(rig_message_names(rig, "maarFreeMemories"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, handle);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 1);
    maarFreeMemory(rig->allocator, MAAR_FROM_BITS(MaarAllocation, UINT64_C(0x123456789ABCDEF0)));
    rig_expect_message(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    maarFreeMemory(rig->allocator, b);
}

static void allocate_many_is_all_or_nothing(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_tiny()};
    struct rig* const rig = rig_begin(&setup);
    MaarMemoryRequest requests[6];
    MaarAllocation made[6];
    for (uint32_t i = 0; i < 6; ++i) {
        requests[i] = rig_request(15 * MIB, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
        made[i] = (MaarAllocation)(uintptr_t)1;
    }
    assert_int_equal(maarAllocateMemories(rig->allocator, 6, requests, NULL, made),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    for (uint32_t i = 0; i < 6; ++i) {
        assert_true(made[i] == VK_NULL_HANDLE);
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
    assert_int_equal(maarAllocateMemories(rig->allocator, 3, requests, NULL, made), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 3);
    maarFreeMemories(rig->allocator, 3, made);
    assert_int_equal(maarAllocateMemories(rig->allocator, 0, NULL, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarAllocateMemories(rig->allocator, 1, NULL, NULL, made),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    assert_int_equal(maarAllocateMemories(rig->allocator, 1, requests, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pAllocations");
    maarFreeMemories(rig->allocator, 1, NULL);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pAllocations");
}

static void allocate_never_allocate_uses_what_is_there(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarMemoryRequest request = rig_request(1000, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation;
    how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_ERROR_OUT_OF_POOL_MEMORY);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
    how.dedicated = MAAR_DEDICATED_AUTO;
    MaarAllocation first = rig_allocate(rig, 1000, NULL);
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 1);
    maarFreeMemory(rig->allocator, first);
    maarFreeMemory(rig->allocator, allocation);
}

/* ---- blocks of a size that the program has named ---- */

static const struct rig_setup named = {.preferred_block = 256 * MIB};

static void blocks_start_small_and_grow(void** state)
{
    (void)state;
    enum { COUNT = 1024 };
    static MaarAllocation made[COUNT];
    struct rig* const rig = rig_begin(&named);
    made[0] = rig_allocate(rig, 64 * KIB, NULL);
    assert_int_equal(rig_info(rig, made[0]).blockSize, 32 * MIB);
    for (uint32_t i = 1; i < COUNT; ++i) {
        made[i] = rig_allocate(rig, MIB, NULL);
        assert_true(rig_info(rig, made[i]).blockSize <= 256 * MIB);
    }
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.blockCount, 7);
    assert_int_equal(statistics.blockBytes, 1248 * MIB);
    maarFreeMemories(rig->allocator, COUNT, made);
}

/* Few programs read back much. */
static void blocks_of_host_memory_start_smaller(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(&named);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    MaarAllocation small = rig_allocate(rig, 64 * KIB, &how);
    assert_int_equal(rig_info(rig, small).blockSize, MIB);
    MaarAllocation next = rig_allocate(rig, MIB, &how);
    assert_int_equal(rig_info(rig, next).blockSize, 31 * MIB);
    maarFreeMemory(rig->allocator, small);
    maarFreeMemory(rig->allocator, next);
}

static void blocks_shrink_when_the_driver_refuses(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(&named);
    MaarAllocation made[2];
    made[0] = rig_allocate(rig, 30 * MIB, NULL);
    assert_int_equal(rig_info(rig, made[0]).blockSize, 64 * MIB);
    rig_set_fault(rig, "vkAllocateMemory", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    made[1] = rig_allocate(rig, 40 * MIB, NULL);
    MaarAllocationInfo info = rig_info(rig, made[1]);
    assert_int_equal(rig_counters(rig).faultCount, 1);
    assert_int_equal(info.fallback, VK_FALSE);
    assert_int_equal(info.memoryTypeIndex, 0);
    /* Half of the 128 MiB that it asked for first, so that two would fit. */
    assert_int_equal(info.blockSize, 64 * MIB);
    maarFreeMemories(rig->allocator, 2, made);
}

/* What has been waited for is as good as free. */
static void blocks_take_what_has_passed_before_growing(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_begin(&named);
    const MaarPoint point = {.semaphore = rig_create_timeline(rig, 0), .value = 1};
    MaarAllocation made[2];
    made[0] = rig_allocate(rig, 30 * MIB, NULL);
    made[1] = rig_allocate(rig, 30 * MIB, NULL);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 1);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, made[0], 1, &point), VK_SUCCESS);
    rig_signal(rig, point.semaphore, 1);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    made[0] = rig_allocate(rig, 30 * MIB, &how);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 1);
    maarFreeMemories(rig->allocator, 2, made);
    vkDestroySemaphore(rig->device, point.semaphore, NULL);
}

/* Of two blocks with the same room the lower one. */
static void blocks_of_equal_room_fill_from_below(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = 16 * MIB};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = rig_create_pool(rig, &info);
    MaarAllocation made[4];
    for (uint32_t i = 0; i < 3; ++i) {
        made[i] = rig_allocate(rig, 12 * MIB, &how);
    }
    made[3] = rig_allocate(rig, 4 * MIB, &how);
    assert_true(rig_info(rig, made[0]).blockId < rig_info(rig, made[1]).blockId);
    assert_true(rig_info(rig, made[0]).blockId == rig_info(rig, made[3]).blockId);
    maarFreeMemories(rig->allocator, 4, made);
    maarDestroyPool(rig->allocator, how.pool);
}

/* ---- dedicated memory ---- */

static MaarAllocation allocate_with(struct rig* rig, VkDeviceSize size, MaarDedicated dedicated)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = dedicated;
    return rig_allocate(rig, size, &how);
}

static void dedicated_modes_decide(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    static const struct {
        MaarDedicated mode;
        VkDeviceSize size;
        VkBool32 dedicated;
    } rows[] = {
        {MAAR_DEDICATED_AUTO, 1000, VK_FALSE},          {MAAR_DEDICATED_AUTO, 128 * MIB, VK_TRUE},
        {MAAR_DEDICATED_AUTO, 128 * MIB - 1, VK_FALSE}, {MAAR_DEDICATED_ALWAYS, 1, VK_TRUE},
        {MAAR_DEDICATED_NEVER, 300 * MIB, VK_FALSE},    {MAAR_DEDICATED_PREFERRED, 1000, VK_TRUE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        MaarAllocation made = allocate_with(rig, rows[i].size, rows[i].mode);
        MaarAllocationInfo info = rig_info(rig, made);
        assert_int_equal(info.dedicated, rows[i].dedicated);
        if (rows[i].dedicated == VK_TRUE) {
            assert_int_equal(info.offset, 0);
            assert_true(info.blockSize == rows[i].size);
            assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).dedicatedCount, 1);
        }
        rig_check(rig);
        maarFreeMemory(rig->allocator, made);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).dedicatedCount, 0);
    }
}

/* Also where a block has room, which a plain request looks into first. */
static void dedicated_large_ones_leave_blocks_alone(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.preferredBlockSize = 8 * MIB;
    rig_make_allocator(rig);
    MaarAllocation made[3];
    made[0] = rig_allocate(rig, 4 * MIB - 64 * KIB, NULL);
    assert_int_equal(rig_info(rig, made[0]).dedicated, VK_FALSE);
    assert_int_equal(rig_info(rig, made[0]).blockSize, 8 * MIB);
    made[1] = rig_allocate(rig, 4 * MIB, NULL);
    assert_int_equal(rig_info(rig, made[1]).dedicated, VK_TRUE);
    made[2] = rig_allocate(rig, 4 * MIB - 1, NULL);
    assert_int_equal(rig_info(rig, made[2]).dedicated, VK_FALSE);
    assert_true(rig_info(rig, made[2]).blockId == rig_info(rig, made[0]).blockId);
    maarFreeMemories(rig->allocator, 3, made);
}

static void dedicated_driver_preferences_are_heard(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarMemoryRequest request = rig_request(1000, 1, UINT32_MAX, MAAR_RESOURCE_KIND_OPTIMAL);
    MaarAllocation allocation;
    request.prefersDedicated = VK_TRUE;
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), VK_SUCCESS);
    assert_int_equal(rig_info(rig, allocation).dedicated, VK_TRUE);
    maarFreeMemory(rig->allocator, allocation);
    MaarAllocationCreateInfo never = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    never.dedicated = MAAR_DEDICATED_NEVER;
    assert_int_equal(try_allocate(rig, &request, &never, &allocation), VK_SUCCESS);
    assert_int_equal(rig_info(rig, allocation).dedicated, VK_FALSE);
    maarFreeMemory(rig->allocator, allocation);
    request.prefersDedicated = VK_FALSE;
    request.requiresDedicated = VK_TRUE;
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), VK_SUCCESS);
    assert_int_equal(rig_info(rig, allocation).dedicated, VK_TRUE);
    maarFreeMemory(rig->allocator, allocation);
}

static void dedicated_preferences_end_at_three_quarters(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_tiny()}; /* 16 objects */
    struct rig* const rig = rig_begin(&setup);
    MaarAllocation made[16];
    uint32_t count = 0;
    for (; count < 12; ++count) {
        made[count] = allocate_with(rig, 4096, MAAR_DEDICATED_PREFERRED);
        assert_int_equal(rig_info(rig, made[count]).dedicated, VK_TRUE);
    }
    made[count] = allocate_with(rig, 4096, MAAR_DEDICATED_PREFERRED);
    assert_int_equal(rig_info(rig, made[count++]).dedicated, VK_FALSE);
    for (; count < 16; ++count) {
        made[count] = allocate_with(rig, 4096, MAAR_DEDICATED_ALWAYS);
    }
    MaarMemoryRequest request = rig_request(4096, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocation allocation;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_ERROR_TOO_MANY_OBJECTS);
    MaarAllocation placed = rig_allocate(rig, 4096, NULL); /* the block still has room */
    maarFreeMemory(rig->allocator, placed);
    maarFreeMemories(rig->allocator, count, made);
}

static void dedicated_refused_falls_into_a_block(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation first = rig_allocate(rig, 1000, NULL);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    MaarAllocation second = allocate_with(rig, 1000, MAAR_DEDICATED_PREFERRED);
    assert_int_equal(rig_info(rig, second).dedicated, VK_FALSE);
    rig_clear_faults(rig);
    maarFreeMemory(rig->allocator, first);
    maarFreeMemory(rig->allocator, second);
}

/* ---- what happens when memory is short ---- */

/* The call, the allocation and what stood in the way; of many, the 1st, 2nd, 4th and so on. */
static void fallbacks_are_explained_and_not_repeated(void** state)
{
    (void)state;
    const VkDeviceSize limits[VK_MAX_MEMORY_HEAPS] = {[0] = 64 * MIB};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = "albedo";
    MaarAllocation made[10];
    for (uint32_t i = 0; i < 10; ++i) {
        made[i] = rig_allocate(rig, 30 * MIB, &how);
        assert_int_equal(rig_info(rig, made[i]).fallback, i >= 2);
        if (i == 2) {
            assert_true(rig_message_names(rig, "maarAllocateMemory"));
            assert_true(rig_message_names(rig, "\"albedo\""));
            assert_true(rig_message_names(rig, "pHeapSizeLimits"));
        }
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).fallbackCount, 8);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 4);
    assert_true(rig_message_names_number(rig, 8));
    rig_expect_message(rig, MAAR_MESSAGE_ID_FALLBACK_TYPE);
    maarFreeMemories(rig->allocator, 10, made);
}

static void shortage_goes_to_the_next_type_and_says_so(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    MaarAllocation bar = rig_allocate(rig, 150 * MIB, &how);
    assert_int_equal(rig_info(rig, bar).memoryTypeIndex, 3);
    rig_expect_silence(rig);
    MaarAllocation system = rig_allocate(rig, 150 * MIB, &how);
    MaarAllocationInfo info = rig_info(rig, system);
    assert_int_equal(info.memoryTypeIndex, 1);
    assert_int_equal(info.fallback, VK_TRUE);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FALLBACK_TYPE, "1");
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).fallbackCount, 1);
    MaarMemoryRequest request = rig_request(150 * MIB, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation;
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    maarFreeMemory(rig->allocator, bar);
    maarFreeMemory(rig->allocator, system);
}

struct observer {
    struct rig* rig;
    MaarAllocation victims[4];
    uint32_t victim_count;
    uint32_t call_count;
    VkBool32 answer_always;
    MaarOutOfMemoryInfo last;
};

static VkBool32 VKAPI_PTR observe(void* user, const MaarOutOfMemoryInfo* info)
{
    assert_int_equal(info->sType, MAAR_STRUCTURE_TYPE_OUT_OF_MEMORY_INFO);
    assert_null(info->pNext);
    struct observer* observer = user;
    assert_int_equal(info->attempt, observer->call_count);
    ++observer->call_count;
    observer->last = *info;
    if (observer->victim_count > 0) {
        --observer->victim_count;
        maarFreeMemory(observer->rig->allocator, observer->victims[observer->victim_count]);
        return VK_TRUE;
    }
    return observer->answer_always;
}

static void observer_frees_and_the_request_succeeds(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_tiny()};
    struct observer observer = {.victim_count = 0};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.pfnOutOfMemory = observe;
    rig->create_info.pOutOfMemoryUserData = &observer;
    rig_make_allocator(rig);
    observer.rig = rig;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.memoryTypeBits = 1;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    for (; observer.victim_count < 4; ++observer.victim_count) {
        observer.victims[observer.victim_count] = rig_allocate(rig, 16 * MIB, &how);
    }
    assert_int_equal(observer.call_count, 0);
    MaarAllocation made = rig_allocate(rig, 10 * MIB, &how);
    assert_int_equal(observer.call_count, 1);
    assert_int_equal(observer.last.size, 10 * MIB);
    assert_int_equal(observer.last.memoryTypeBits, 1);
    assert_int_equal(observer.last.memoryTypeIndex, 0);
    assert_int_equal(observer.last.heapIndex, 0);
    assert_int_equal(observer.last.result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    maarFreeMemory(rig->allocator, made);
    while (observer.victim_count > 0) {
        maarFreeMemory(rig->allocator, observer.victims[--observer.victim_count]);
    }
    rig_check(rig);
}

static void observer_is_asked_at_most_eight_times(void** state)
{
    (void)state;
    struct observer observer = {.answer_always = VK_TRUE};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pfnOutOfMemory = observe;
    rig->create_info.pOutOfMemoryUserData = &observer;
    rig_make_allocator(rig);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    MaarMemoryRequest request = rig_request(1000, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation;
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(observer.call_count, MAAR_MAX_OUT_OF_MEMORY_ATTEMPTS);
    observer.call_count = 0;
    observer.answer_always = VK_FALSE;
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(observer.call_count, 1);
    observer.call_count = 0;
    rig_clear_faults(rig);
    rig_set_fault(rig, "vkAllocateMemory", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation),
                     VK_ERROR_OUT_OF_HOST_MEMORY); /* not the device's memory: nobody is asked */
    assert_int_equal(observer.call_count, 0);
    rig_clear_faults(rig);
}

static void observer_is_not_asked_for_what_is_there(void** state)
{
    (void)state;
    struct observer observer = {.answer_always = VK_TRUE};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pfnOutOfMemory = observe;
    rig->create_info.pOutOfMemoryUserData = &observer;
    rig_make_allocator(rig);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    MaarMemoryRequest request = rig_request(1000, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation;
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_int_equal(observer.call_count, 0);
    request.requirements.size = MAAR_RANGE_MAX_SIZE;
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_silence(rig);
}

static void lost_device_is_reported(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation live = rig_allocate(rig, 1000, NULL);
    rig_set_fault(rig, "vkAllocateMemory", 1, 1, VK_ERROR_DEVICE_LOST);
    MaarMemoryRequest request = rig_request(200 * MIB, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation;
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), VK_ERROR_DEVICE_LOST);
    const MaarPoint point = {.value = 5};
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, live, 1, &point), VK_SUCCESS);
    uint32_t freed = 0;
    assert_int_equal(maarCollect(rig->allocator, &freed), VK_ERROR_DEVICE_LOST);
    assert_int_equal(freed, 1);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
}

/* The code that the preferred type failed with. */
static void shortage_is_reported_by_its_first_error(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    const MaarMemoryRequest request = rig_request(1000, 1, 3, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation;
    rig_set_fault(rig, "vkAllocateMemory", 1, 1, VK_ERROR_TOO_MANY_OBJECTS);
    rig_set_fault(rig, "vkAllocateMemory", 2, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(rig_counters(rig).faultCount, 2);
    rig_clear_faults(rig);
}

static void shortage_releases_nothing_elsewhere(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.memoryTypeBits = 2;
    maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, &how));
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 1);
    const MaarMemoryRequest request = rig_request(1000, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation;
    how.memoryTypeBits = 0;
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(try_allocate(rig, &request, &how, &allocation), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 1); /* in another heap */
    rig_clear_faults(rig);
}

/* 32, 16, 8 and 4 MiB, and then the least that would do. */
static void shortage_halves_a_block_three_times(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarMemoryRequest request = rig_request(64 * KIB, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation;
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(try_allocate(rig, &request, NULL, &allocation), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 5);
    rig_clear_faults(rig);
}

/* ---- callbacks on device memory ---- */

struct memory_log {
    uint32_t allocated;
    uint32_t freed;
    VkDeviceSize bytes;
    VkDeviceMemory last;
};

static void VKAPI_PTR log_allocated(void* user, uint32_t type, VkDeviceMemory memory,
                                    VkDeviceSize size)
{
    struct memory_log* log = user;
    assert_int_equal(type, 0);
    ++log->allocated;
    log->bytes += size;
    log->last = memory;
}

static void VKAPI_PTR log_freed(void* user, uint32_t type, VkDeviceMemory memory, VkDeviceSize size)
{
    struct memory_log* log = user;
    assert_int_equal(type, 0);
    assert_true(memory == log->last);
    ++log->freed;
    log->bytes -= size;
}

static void blocks_count_device_memory_callbacks(void** state)
{
    (void)state;
    struct memory_log log = {.allocated = 0};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pfnDeviceAllocate = log_allocated;
    rig->create_info.pfnDeviceFree = log_freed;
    rig->create_info.pDeviceMemoryUserData = &log;
    rig_make_allocator(rig);
    MaarAllocation made = allocate_with(rig, 5000, MAAR_DEDICATED_ALWAYS);
    assert_int_equal(log.allocated, 1);
    assert_int_equal(log.bytes, 5000);
    assert_true(log.last == rig_info(rig, made).memory);
    maarFreeMemory(rig->allocator, made);
    assert_int_equal(log.freed, 1);
    assert_int_equal(log.bytes, 0);
    rig_set_fault(rig, "vkAllocateMemory", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    MaarMemoryRequest request = rig_request(1000, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation failed;
    assert_int_equal(try_allocate(rig, &request, NULL, &failed), VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(log.allocated, 1);
    (void)rig_info(rig, made = rig_allocate(rig, 1000, NULL));
    assert_int_equal(log.allocated, 2);
    maarFreeMemory(rig->allocator, made);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    assert_int_equal(log.freed, 2);
    assert_int_equal(log.bytes, 0);
}

/* ---- the sake of threads ---- */

static void externally_synchronized_works_alike(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.flags =
        MAAR_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT | MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT;
    rig_make_allocator(rig);
    MaarAllocation made[100];
    for (uint32_t i = 0; i < 100; ++i) {
        made[i] = rig_allocate(rig, 100 + i * 37, NULL);
    }
    for (uint32_t i = 0; i < 100; ++i) {
        maarFreeMemory(rig->allocator, made[(i * 37) % 100]);
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    rig_expect_silence(rig);
}

static void messages_name_the_call_and_the_argument(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    MaarAllocation memory = rig_allocate(rig, 1000, NULL);
    assert_int_equal(maarGetAllocationInfo(rig->allocator, memory, &info),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pInfo->sType");
    info.sType = (MaarStructureType)0;
    assert_int_equal(maarGetAllocationInfo(rig->allocator, memory, &info),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pInfo->sType");
    assert_int_equal(maarGetAllocationInfo(rig->allocator, memory, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
    assert_null(maarGetMappedData(rig->allocator, VK_NULL_HANDLE));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "allocation");
    maarFreeMemory(rig->allocator, memory);
}

/* A structure of a chain whose sType was forgotten would be skipped, as those are that Maar does
 * not know, and what it asks for would be missing without a report. */
static void structure_in_a_chain_without_its_type_is_refused(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarExportInfo export = {
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkBaseInStructure unknown = {.sType = (VkStructureType)0x7FFFFFF0,
                                       .pNext = (const VkBaseInStructure*)(const void*)&export};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &unknown;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, 1000, &how, &memory), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pCreateInfo->pNext");
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &export,
    };
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePool(rig->allocator, &info, &pool), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pCreateInfo->pNext");
    how.pNext = NULL;
    assert_int_equal(rig_try(rig, 1000, &how, &memory), VK_SUCCESS);
    maarFreeMemory(rig->allocator, memory);
}

static void unknown_flags_are_refused(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = 64, .alignment = 1, .memoryTypeBits = 0xFFFFFFFFu},
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = 0x4000,
    };
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &memory),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_UNKNOWN_FLAGS);
    assert_null(memory);
}

static void mapped_data_is_there_while_mapped(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .usage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    MaarAllocation memory = rig_allocate(rig, 1000, &how);
    void* data = NULL;
    assert_null(maarGetMappedData(rig->allocator, memory));
    assert_int_equal(maarFlushAllocation(rig->allocator, memory, 0, 10),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPED, "allocation");
    assert_int_equal(maarMapMemory(rig->allocator, memory, &data), VK_SUCCESS);
    assert_ptr_equal(maarGetMappedData(rig->allocator, memory), data);
    assert_int_equal(maarFlushAllocation(rig->allocator, memory, 0, 10), VK_SUCCESS);
    maarUnmapMemory(rig->allocator, memory);
    assert_null(maarGetMappedData(rig->allocator, memory));
    maarFreeMemory(rig->allocator, memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(messages_name_the_call_and_the_argument),
        rig_unit_test(structure_in_a_chain_without_its_type_is_refused),
        rig_unit_test(unknown_flags_are_refused),
        rig_unit_test(mapped_data_is_there_while_mapped),
        rig_unit_test(allocate_two_share_a_block),
        rig_unit_test(allocate_alignment_is_any_number),
        rig_unit_test(allocate_impossible_sizes_fail),
        rig_unit_test(allocate_no_type_serves_fails),
        rig_unit_test(allocate_misuse_names_the_argument),
        rig_unit_test(free_twice_is_reported_and_harmless),
        rig_unit_test(allocate_many_is_all_or_nothing),
        rig_unit_test(allocate_never_allocate_uses_what_is_there),
        rig_unit_test(blocks_start_small_and_grow),
        rig_unit_test(blocks_of_host_memory_start_smaller),
        rig_unit_test(blocks_shrink_when_the_driver_refuses),
        rig_unit_test(blocks_count_device_memory_callbacks),
        rig_unit_test(dedicated_modes_decide),
        rig_unit_test(dedicated_driver_preferences_are_heard),
        rig_unit_test(dedicated_preferences_end_at_three_quarters),
        rig_unit_test(dedicated_refused_falls_into_a_block),
        rig_unit_test(fallbacks_are_explained_and_not_repeated),
        rig_unit_test(shortage_goes_to_the_next_type_and_says_so),
        rig_unit_test(observer_frees_and_the_request_succeeds),
        rig_unit_test(observer_is_asked_at_most_eight_times),
        rig_unit_test(observer_is_not_asked_for_what_is_there),
        rig_unit_test(lost_device_is_reported),
        rig_unit_test(externally_synchronized_works_alike),
        rig_unit_test(shortage_is_reported_by_its_first_error),
        rig_unit_test(shortage_releases_nothing_elsewhere),
        rig_unit_test(shortage_halves_a_block_three_times),
        rig_unit_test(blocks_take_what_has_passed_before_growing),
        rig_unit_test(blocks_of_equal_room_fill_from_below),
        rig_unit_test(dedicated_large_ones_leave_blocks_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
