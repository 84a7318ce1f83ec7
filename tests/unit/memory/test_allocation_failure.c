/*
 * The sentence that comes with "no memory": what was asked for, what there is, why, what would
 * help; how grave it is; and that nobody is flooded with it.
 */
#include <stdio.h>

#include "tests/rig/rig.h"

/* Fails, with one message of that severity and identifier that names call, size and culprit. */
static void expect_failure(struct rig* rig, VkDeviceSize size, const MaarAllocationCreateInfo* how,
                           VkResult wanted, MaarMessageSeverity severity, MaarMessageId id,
                           const char* culprit)
{
    MaarAllocation none = VK_NULL_HANDLE;
    rig_forget_messages(rig);
    assert_int_equal(rig_try(rig, size, how, &none), wanted);
    assert_int_equal(rig->messages.total, 1);
    assert_int_equal(rig->messages.counts[severity], 1);
    assert_true(rig_message_names(rig, "maarAllocateMemory"));
    assert_true(rig_message_names_number(rig, size));
    rig_expect_message_naming(rig, id, culprit);
}

static MaarAllocationCreateInfo only_here(void)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    return how;
}

/* ---- why ---- */

static void failure_of_the_driver_reports_what_there_is(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarAllocation held = rig_allocate(rig, 40 * MIB, NULL);
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, 7 * GIB, GIB), VK_SUCCESS);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const MaarAllocationCreateInfo how = only_here();
    const VkDeviceSize numbers[] = {8 * GIB, 7 * GIB, rig_budget(rig, 0).blockBytes};
    MaarAllocation none = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, GIB, &how, &none), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        assert_true(rig_message_names_number(rig, numbers[i]));
    }
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY,
                              "VK_ERROR_OUT_OF_DEVICE_MEMORY");
    /* With other types tried, those are named. */
    expect_failure(rig, 2 * GIB, NULL, VK_ERROR_OUT_OF_DEVICE_MEMORY, MAAR_MESSAGE_SEVERITY_WARNING,
                   MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "2");
    rig_clear_faults(rig);
    maarFreeMemory(rig->allocator, held);
}

static void failure_with_an_odd_code_is_named(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = only_here();
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_UNKNOWN);
    expect_failure(rig, GIB, &how, VK_ERROR_UNKNOWN, MAAR_MESSAGE_SEVERITY_WARNING,
                   MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "(VK_ERROR_UNKNOWN)");
    rig_clear_faults(rig);
}

/* A block of a buddy pool is as large as a power of two, and the limit has no room for that. */
static void failure_of_a_buddy_pool_names_the_limit_of_the_heap(void** state)
{
    (void)state;
    const VkDeviceSize limits[] = {0, 50 * MIB, 0};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1,
                                     .strategy = MAAR_PLACEMENT_STRATEGY_BUDDY};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    expect_failure(rig, 40 * MIB, &how, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                   MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_HEAP_LIMIT_REACHED,
                   "pHeapSizeLimits");
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
    maarDestroyPool(rig->allocator, pool);
}

static void failure_of_the_impossible_names_the_limit(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.limits.maxMemoryAllocationSize = 64 * GIB;
    const struct rig_setup setup = {.profile = &profile};
    struct rig* const rig = rig_begin(NULL);
    expect_failure(rig, 5 * GIB, NULL, VK_ERROR_OUT_OF_DEVICE_MEMORY, MAAR_MESSAGE_SEVERITY_WARNING,
                   MAAR_MESSAGE_ID_TOO_LARGE_FOR_DEVICE, "maxMemoryAllocationSize");
    expect_failure(rig, UINT64_MAX, NULL, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                   MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_TOO_LARGE_FOR_DEVICE, NULL);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
    rig_close(rig);

    const MaarAllocationCreateInfo how = only_here();
    rig_start(rig, &setup);
    expect_failure(rig, 9 * GIB, &how, VK_ERROR_OUT_OF_DEVICE_MEMORY, MAAR_MESSAGE_SEVERITY_WARNING,
                   MAAR_MESSAGE_ID_TOO_LARGE_FOR_HEAP, "8589934592");
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
}

static void failure_for_want_of_objects_counts_them(void** state)
{
    (void)state;
    enum { LIMIT = 16 };
    const struct rig_setup setup = {.profile = rig_profile_tiny()};
    MaarAllocation made[LIMIT];
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = only_here();
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    for (uint32_t i = 0; i < LIMIT; ++i) {
        assert_int_equal(rig_try(rig, MIB, &how, &made[i]), VK_SUCCESS);
    }
    expect_failure(rig, MIB, &how, VK_ERROR_TOO_MANY_OBJECTS, MAAR_MESSAGE_SEVERITY_WARNING,
                   MAAR_MESSAGE_ID_TOO_MANY_ALLOCATIONS, "maxMemoryAllocationCount");
    maarFreeMemories(rig->allocator, LIMIT, made);
}

static void failure_by_a_heap_limit_names_it(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    const VkDeviceSize limits[3] = {100 * MIB, 0, 0};
    rig_open(rig, NULL);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    const MaarAllocationCreateInfo how = only_here();
    expect_failure(rig, 200 * MIB, &how, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                   MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_HEAP_LIMIT_REACHED,
                   "pHeapSizeLimits");
}

/* It is the block that the limit forbids, however little is asked for. */
static void failure_of_a_block_by_a_heap_limit_names_it(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    const VkDeviceSize limits[3] = {32 * MIB, 0, 0};
    rig_open(rig, NULL);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    const MaarPoolCreateInfo info = {.blockSize = 64 * MIB};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = only_here();
    how.pool = pool;
    expect_failure(rig, KIB, &how, VK_ERROR_OUT_OF_DEVICE_MEMORY, MAAR_MESSAGE_SEVERITY_WARNING,
                   MAAR_MESSAGE_ID_HEAP_LIMIT_REACHED, "pHeapSizeLimits");
    maarDestroyPool(rig->allocator, pool);

    how = only_here();
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    const MaarAllocation most = rig_allocate(rig, 32 * MIB - 16 * KIB, &how);
    how = only_here();
    expect_failure(rig, KIB, &how, VK_ERROR_OUT_OF_DEVICE_MEMORY, MAAR_MESSAGE_SEVERITY_WARNING,
                   MAAR_MESSAGE_ID_HEAP_LIMIT_REACHED, "pHeapSizeLimits");
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 1);
    maarFreeMemory(rig->allocator, most);
}

/* ---- what the program forbids itself ---- */

static void failure_within_budget_is_no_warning(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, 100 * MIB, 0), VK_SUCCESS);
    MaarAllocationCreateInfo how = only_here();
    how.flags |= MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    expect_failure(rig, 200 * MIB, &how, VK_ERROR_OUT_OF_DEVICE_MEMORY, MAAR_MESSAGE_SEVERITY_INFO,
                   MAAR_MESSAGE_ID_BUDGET_REACHED, "104857600");
}

static void question_for_what_is_there_is_silent(void** state)
{
    (void)state;
    MaarAllocation none = VK_NULL_HANDLE;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    assert_int_equal(rig_try(rig, MIB, &how, &none), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_silence(rig);
}

static void failure_by_a_pool_names_it(void** state)
{
    (void)state;
    MaarAllocation held = VK_NULL_HANDLE;
    MaarAllocation large = VK_NULL_HANDLE;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .blockSize = MIB,
        .maxBlockCount = 1,
        .pName = "streaming",
    };
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    assert_int_equal(rig_try(rig, 600 * KIB, &how, &held), VK_SUCCESS);
    assert_int_equal(rig_try(rig, 500 * KIB, &how, &large), VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_true(rig_message_names_number(rig, 500 * KIB));
    assert_true(rig_message_names_number(rig, MIB));
    assert_true(rig_message_names_number(rig, 424 * KIB)); /* free */
    assert_false(rig_message_names(rig, "maarWaitPoints"));
    expect_failure(rig, 600 * KIB, &how, VK_ERROR_OUT_OF_POOL_MEMORY, MAAR_MESSAGE_SEVERITY_INFO,
                   MAAR_MESSAGE_ID_POOL_FULL, "\"streaming\"");
    expect_failure(rig, 2 * MIB, &how, VK_ERROR_OUT_OF_POOL_MEMORY, MAAR_MESSAGE_SEVERITY_INFO,
                   MAAR_MESSAGE_ID_TOO_LARGE_FOR_POOL, "\"streaming\"");
    how.dedicated = MAAR_DEDICATED_ALWAYS; /* as the message says */
    VkResult result = rig_try(rig, 2 * MIB, &how, &large);
    assert_int_equal(result, VK_SUCCESS);
    maarFreeMemory(rig->allocator, large);
    maarFreeMemory(rig->allocator, held);
    maarDestroyPool(rig->allocator, pool);
}

/* What waits for a point is no free byte, and comes back when the point has passed. */
static void failure_by_a_pool_says_what_waits(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_begin(NULL);
    const MaarPoint host = {VK_NULL_HANDLE, 1};
    const MaarPoolCreateInfo info = {
        .blockSize = MIB,
        .maxBlockCount = 1,
        .strategy = MAAR_PLACEMENT_STRATEGY_LINEAR,
    };
    MaarAllocation made[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = rig_create_pool(rig, &info);
    assert_int_equal(rig_try(rig, 384 * KIB, &how, &made[0]), VK_SUCCESS);
    assert_int_equal(rig_try(rig, 320 * KIB, &how, &made[1]), VK_SUCCESS);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, made[0], 1, &host), VK_SUCCESS);
    MaarAllocation none = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, 512 * KIB, &how, &none), VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_true(rig_message_names_number(rig, 512 * KIB));
    assert_true(rig_message_names_number(rig, MIB));
    assert_true(rig_message_names_number(rig, 320 * KIB)); /* free */
    assert_true(rig_message_names_number(rig, 384 * KIB)); /* waits */
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_POOL_FULL, "maarWaitPoints");
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    maarFreeMemory(rig->allocator, made[1]);
    assert_int_equal(rig_try(rig, 512 * KIB, &how, &made[0]), VK_SUCCESS);
    maarFreeMemory(rig->allocator, made[0]);
    maarDestroyPool(rig->allocator, how.pool);
}

/* ---- other calls ---- */

static void pool_without_its_first_blocks_says_why(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = 64 * MIB,
        .minBlockCount = 3,
    };
    MaarPool pool = (MaarPool)(uintptr_t)1;
    rig_set_fault(rig, "vkAllocateMemory", 2, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreatePool(rig->allocator, &info, &pool), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_null(pool);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "67108864");
    rig_clear_faults(rig);
}

static void objects_without_memory_name_their_call(void** state)
{
    (void)state;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(MIB);
    const VkImageCreateInfo image_info = rig_image_info(512, 512);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, NULL, &buffer, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "1048576");
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, NULL, &image, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "1048576");
    const MaarAllocationCreateInfo named = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pName = "shadow map",
    };
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, &named, &image, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, &named, &image, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "1048576");
    rig_clear_faults(rig);
}

static void mapping_that_fails_names_the_block(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const MaarAllocation memory = rig_allocate(rig, 100, &how);
    void* data = rig;
    rig_set_fault(rig, "vkMapMemory", 1, 1, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(maarMapMemory(rig->allocator, memory, &data), VK_ERROR_MEMORY_MAP_FAILED);
    assert_null(data);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_MAP_FAILED, "1");
    maarFreeMemory(rig->allocator, memory);
}

static void type_that_nobody_has_is_reported(void** state)
{
    (void)state;
    MaarAllocation none = VK_NULL_HANDLE;
    struct rig* const rig = rig_begin(NULL);
    const MaarMemoryRequest request = rig_request(100, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &none),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_ERROR], 1);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE);
    /* Both masks are named, not what is left of them. */
    const MaarMemoryRequest high = rig_request(100, 1, 0x20, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo low = how;
    low.memoryTypeBits = 0x3;
    assert_int_equal(maarAllocateMemory(rig->allocator, &high, &low, &none),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_true(rig_message_names(rig, "0x20"));
    assert_false(rig_message_names(rig, "features")); /* none that this device's types need */
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, "0x3");
}

/* The types that a feature bars are named, on a device that has such types. */
static void types_that_need_a_feature_are_named(void** state)
{
    (void)state;
    MaarAllocation none = VK_NULL_HANDLE;
    const struct rig_setup setup = {.profile = rig_profile_file("amd-rx7900xtx-radv26.2")};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &known), VK_SUCCESS);
    const MaarMemoryRequest request =
        rig_request(100, 1, known.avoidedTypeBits, MAAR_RESOURCE_KIND_LINEAR);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &none),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    char text[64];
    (void)snprintf(text, sizeof text, "of which 0x%X need features", known.avoidedTypeBits);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, text);
}

/* Pages are tried for in blocks of several sizes and types: one sentence for all of it. */
static void pages_without_memory_are_reported_once(void** state)
{
    (void)state;
    const struct rig_setup setup = {
        .profile = rig_profile_file("amd-rx7900xtx-radv25.0"),
        .paging = true,
    };
    struct rig* const rig = rig_begin(&setup);
    const VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 64 * MIB,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer_info,
    };
    const MaarPageRange range = {.offset = 0, .size = 16 * MIB};
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCommitPages(rig->allocator, reservation, 1, &range),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig->messages.total, 1);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "16777216");
    rig_clear_faults(rig);
    assert_int_equal(maarCommitPages(rig->allocator, reservation, 1, &range), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    maarDestroyReservation(rig->allocator, reservation);
}

/* ---- once, where it is news ---- */

static void failures_in_a_row_are_reported_less_and_less(void** state)
{
    (void)state;
    MaarAllocation memory = VK_NULL_HANDLE;
    struct rig* const rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = only_here();
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    for (uint32_t i = 0; i < 1000; ++i) {
        assert_int_equal(rig_try(rig, 500 * MIB, &how, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    assert_int_equal(rig->messages.total, 10); /* the 1st, 2nd, 4th ... 512th */
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "512");
    rig_clear_faults(rig);
}

static void failure_of_another_kind_is_reported_at_once(void** state)
{
    (void)state;
    MaarAllocation memory = VK_NULL_HANDLE;
    struct rig* const rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = only_here();
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(rig_try(rig, GIB, &how, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    expect_failure(rig, 5 * GIB, &how, VK_ERROR_OUT_OF_DEVICE_MEMORY, MAAR_MESSAGE_SEVERITY_WARNING,
                   MAAR_MESSAGE_ID_TOO_LARGE_FOR_DEVICE, "maxMemoryAllocationSize");
    rig_clear_faults(rig);
    /* And so is what is refused after something worked. */
    assert_int_equal(rig_try(rig, GIB, &how, &memory), VK_SUCCESS);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    expect_failure(rig, GIB, &how, VK_ERROR_OUT_OF_DEVICE_MEMORY, MAAR_MESSAGE_SEVERITY_WARNING,
                   MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, NULL);
    rig_clear_faults(rig);
    maarFreeMemory(rig->allocator, memory);
}

static void request_that_is_met_in_the_end_is_no_failure(void** state)
{
    (void)state;
    MaarAllocation memory = VK_NULL_HANDLE;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    rig_set_fault(rig, "vkAllocateMemory", 1, 2, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_try(rig, MIB, &how, &memory), VK_SUCCESS); /* in a smaller block */
    rig_expect_silence(rig);
    maarFreeMemory(rig->allocator, memory);
}

static VkBool32 VKAPI_PTR lift_the_fault(void* user, const MaarOutOfMemoryInfo* info)
{
    struct rig* rig = user;
    (void)info;
    assert_int_equal(rig->messages.total, 0); /* it is not over yet */
    rig_clear_faults(rig);
    return VK_TRUE;
}

static void observer_that_makes_room_spares_the_message(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    MaarAllocation memory = VK_NULL_HANDLE;
    rig_open(rig, NULL);
    rig->create_info.pfnOutOfMemory = lift_the_fault;
    rig->create_info.pOutOfMemoryUserData = rig;
    rig_make_allocator(rig);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_try(rig, GIB, NULL, &memory), VK_SUCCESS);
    rig_expect_silence(rig);
    maarFreeMemory(rig->allocator, memory);
}

/* ---- a callback that calls, although it must not: no lock is held ---- */

struct listener {
    struct rig* rig;
    uint32_t heard;
    MaarAllocation held;
};

static void VKAPI_PTR act_on_message(void* user, const MaarMessage* report)
{
    struct listener* listener = user;
    MaarAllocator allocator = listener->rig->allocator;
    MaarAllocation small = VK_NULL_HANDLE;
    assert_int_equal(report->severity, MAAR_MESSAGE_SEVERITY_WARNING);
    assert_int_equal(report->id, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY);
    ++listener->heard;
    rig_check(listener->rig);
    (void)rig_statistics(listener->rig, VK_NULL_HANDLE);
    assert_int_equal(rig_try(listener->rig, 100, NULL, &small), VK_SUCCESS);
    maarFreeMemory(allocator, small);
    maarFreeMemory(allocator, listener->held);
    listener->held = VK_NULL_HANDLE;
    assert_int_equal(maarTrim(allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
}

static void listener_that_calls_all_the_same_is_survived(void** state)
{
    (void)state;
    static struct listener listener;
    MaarAllocation none = VK_NULL_HANDLE;
    listener.rig = rig_new();
    rig_open(listener.rig, NULL);
    listener.rig->create_info.pfnMessage = act_on_message;
    listener.rig->create_info.pMessageUserData = &listener;
    rig_make_allocator(listener.rig);
    listener.held = rig_allocate(listener.rig, MIB, NULL);
    rig_set_fault(listener.rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_try(listener.rig, GIB, NULL, &none), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(listener.heard, 1);
    assert_true(listener.held == VK_NULL_HANDLE);
    rig_clear_faults(listener.rig);
    rig_close(listener.rig);
}

/* No text is cut within a character: of two bytes, behind 0 and behind 1 byte. */
static void text_that_is_cut_ends_with_a_whole_character(void** state)
{
    (void)state;
    for (uint32_t shift = 0; shift < 2; ++shift) {
        struct rig* const rig = rig_new();
        char name[1200];
        rig_start(rig, NULL);
        memset(name, 'x', shift);
        for (uint32_t i = shift; i + 2 < sizeof name; i += 2) {
            memcpy(name + i, "\xC3\xA9\0", 3);
        }
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        const MaarPoolCreateInfo info = {.blockSize = MIB, .maxBlockCount = 1, .pName = name};
        how.pool = rig_create_pool(rig, &info);
        how.pName = name;
        MaarAllocation made[2];
        assert_int_equal(rig_try(rig, MIB, &how, &made[0]), VK_SUCCESS);
        assert_int_equal(rig_try(rig, MIB, &how, &made[1]), VK_ERROR_OUT_OF_POOL_MEMORY);
        assert_null(strstr(rig->messages.last, "\xC3\""));
        assert_non_null(strstr(rig->messages.last, "\xC3\xA9\""));
        rig_expect_message(rig, MAAR_MESSAGE_ID_POOL_FULL);
        maarFreeMemory(rig->allocator, made[0]);
        maarDestroyAllocator(rig->allocator); /* reports the pool's whole name, as far as it goes */
        rig->allocator = VK_NULL_HANDLE;
        assert_int_equal((uint8_t)rig->messages.last[strlen(rig->messages.last) - 1], 0xA9);
        rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(failure_of_the_driver_reports_what_there_is),
        rig_unit_test(failure_with_an_odd_code_is_named),
        rig_unit_test(failure_of_a_buddy_pool_names_the_limit_of_the_heap),
        rig_unit_test(failure_of_the_impossible_names_the_limit),
        rig_unit_test(failure_for_want_of_objects_counts_them),
        rig_unit_test(failure_by_a_heap_limit_names_it),
        rig_unit_test(failure_of_a_block_by_a_heap_limit_names_it),
        rig_unit_test(failure_within_budget_is_no_warning),
        rig_unit_test(question_for_what_is_there_is_silent),
        rig_unit_test(failure_by_a_pool_names_it),
        rig_unit_test(failure_by_a_pool_says_what_waits),
        rig_unit_test(pool_without_its_first_blocks_says_why),
        rig_unit_test(objects_without_memory_name_their_call),
        rig_unit_test(mapping_that_fails_names_the_block),
        rig_unit_test(type_that_nobody_has_is_reported),
        rig_unit_test(types_that_need_a_feature_are_named),
        rig_unit_test(pages_without_memory_are_reported_once),
        rig_unit_test(failures_in_a_row_are_reported_less_and_less),
        rig_unit_test(failure_of_another_kind_is_reported_at_once),
        rig_unit_test(request_that_is_met_in_the_end_is_no_failure),
        rig_unit_test(observer_that_makes_room_spares_the_message),
        rig_unit_test(listener_that_calls_all_the_same_is_survived),
        rig_unit_test(text_that_is_cut_ends_with_a_whole_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
