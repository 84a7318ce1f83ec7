/*
 * The host's view: counted and sticky mappings, flushes in whole atoms, copies.
 */
#include "tests/rig/rig.h"

static MaarAllocation allocate_type(struct rig* rig, uint32_t type, VkDeviceSize size,
                                    MaarAllocationCreateFlags flags)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.memoryTypeBits = 1u << type;
    how.flags = flags;
    return rig_allocate(rig, size, &how);
}

static void map_counts_and_becomes_sticky(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = allocate_type(rig, 1, 1000, 0);
    void* first = NULL;
    void* again = NULL;
    assert_int_equal(maarMapMemory(rig->allocator, a, &first), VK_SUCCESS);
    assert_non_null(first);
    assert_ptr_equal(rig_info(rig, a).pMappedData, first);
    assert_int_equal(maarMapMemory(rig->allocator, a, &again), VK_SUCCESS);
    assert_ptr_equal(first, again);
    assert_int_equal(rig_calls(rig, "vkMapMemory"), 1);
    maarUnmapMemory(rig->allocator, a);
    assert_ptr_equal(rig_info(rig, a).pMappedData, first);
    assert_int_equal(rig_calls(rig, "vkUnmapMemory"), 0);
    maarUnmapMemory(rig->allocator, a);
    assert_null(rig_info(rig, a).pMappedData);
    assert_int_equal(rig_calls(rig, "vkUnmapMemory"), 1);
    maarUnmapMemory(rig->allocator, a);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPED, "maarMapMemory");
    for (uint32_t i = 0; i < 5; ++i) {
        assert_int_equal(maarMapMemory(rig->allocator, a, &again), VK_SUCCESS);
        maarUnmapMemory(rig->allocator, a);
    }
    assert_int_equal(rig_calls(rig, "vkMapMemory"), 2); /* it stays mapped from then on */
    assert_null(rig_info(rig, a).pMappedData);
    maarFreeMemory(rig->allocator, a);
}

static void map_two_allocations_share_one_mapping(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = allocate_type(rig, 1, 1000, 0);
    MaarAllocation b = allocate_type(rig, 1, 1000, MAAR_ALLOCATION_CREATE_MAPPED_BIT);
    void* x = NULL;
    assert_int_equal(maarMapMemory(rig->allocator, a, &x), VK_SUCCESS);
    char* y = rig_info(rig, b).pMappedData;
    assert_non_null(y);
    assert_true(y - (char*)x ==
                (ptrdiff_t)rig_info(rig, b).offset - (ptrdiff_t)rig_info(rig, a).offset);
    assert_int_equal(rig_calls(rig, "vkMapMemory"), 1);
    memset(x, 1, 1000);
    memset(y, 2, 1000);
    maarUnmapMemory(rig->allocator, b); /* the mapping for life is not to be undone */
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPED, "maarMapMemory");
    assert_ptr_equal(rig_info(rig, b).pMappedData, y);
    maarFreeMemory(rig->allocator, a); /* while mapped */
    assert_ptr_equal(rig_info(rig, b).pMappedData, y);
    maarFreeMemory(rig->allocator, b);
}

static void map_ends_with_the_last_mapped_allocation(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation stays = allocate_type(rig, 1, 1000, 0);
    MaarAllocation goes = allocate_type(rig, 1, 1000, 0);
    void* data = NULL;
    assert_int_equal(maarMapMemory(rig->allocator, goes, &data), VK_SUCCESS);
    assert_int_equal(maarMapMemory(rig->allocator, goes, &data), VK_SUCCESS);
    maarFreeMemory(rig->allocator, goes); /* while mapped twice */
    assert_int_equal(rig_calls(rig, "vkUnmapMemory"), 1);
    maarFreeMemory(rig->allocator, stays);
}

static void map_count_does_not_wrap(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = allocate_type(rig, 1, 1000, 0);
    void* data = NULL;
    for (uint32_t i = 0; i < UINT16_MAX; ++i) {
        assert_int_equal(maarMapMemory(rig->allocator, a, &data), VK_SUCCESS);
    }
    assert_int_equal(maarMapMemory(rig->allocator, a, &data), VK_ERROR_MEMORY_MAP_FAILED);
    rig_expect_message(rig, MAAR_MESSAGE_ID_MAPPED_TOO_OFTEN);
    for (uint32_t i = 0; i < UINT16_MAX; ++i) {
        assert_non_null(maarGetMappedData(rig->allocator, a));
        maarUnmapMemory(rig->allocator, a);
    }
    assert_null(maarGetMappedData(rig->allocator, a));
    rig_expect_silence(rig);
    maarFreeMemory(rig->allocator, a);
}

/* In a block that ends within an atom, also what is placed from above begins with one. */
static void atoms_are_kept_from_above_too(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    struct rig* const rig = rig_begin(&setup);
    const MaarPoolCreateInfo info = {
        .memoryTypeIndex = 2,
        .strategy = MAAR_PLACEMENT_STRATEGY_LINEAR,
        .blockSize = 65536 + 100,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = rig_create_pool(rig, &info);
    how.flags = MAAR_ALLOCATION_CREATE_UPPER_BIT;
    MaarAllocation made[3];
    for (uint32_t i = 0; i < 3; ++i) {
        made[i] = rig_allocate(rig, 10, &how);
        assert_true(rig_info(rig, made[i]).offset == 65536 - 256 * (VkDeviceSize)(i + 1));
        assert_int_equal(rig_info(rig, made[i]).size, 256); /* whole atoms */
    }
    maarFreeMemories(rig->allocator, 3, made);
    maarDestroyPool(rig->allocator, how.pool);
}

static void message_names_what_is_not_mapped(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = allocate_type(rig, 1, 1000, 0);
    assert_int_equal(maarSetAllocationName(rig->allocator, a, "vertices"), VK_SUCCESS);
    assert_int_equal(maarFlushAllocation(rig->allocator, a, 0, VK_WHOLE_SIZE),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names(rig, "\"vertices\""));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPED, "MAAR_ALLOCATION_CREATE_MAPPED_BIT");
    maarFreeMemory(rig->allocator, a);
}

/* The usage does not choose the memory in a pool, so the message must not recommend one. */
static void message_says_that_the_pool_has_the_type(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = MIB, .pName = "level"};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = rig_create_pool(rig, &info);
    MaarAllocation a = rig_allocate(rig, 1000, &how);
    void* data = NULL;
    assert_int_equal(maarMapMemory(rig->allocator, a, &data), VK_ERROR_MEMORY_MAP_FAILED);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPABLE, "\"level\"");
    maarFreeMemory(rig->allocator, a);
    maarDestroyPool(rig->allocator, how.pool);
}

static void map_not_visible_fails(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = allocate_type(rig, 0, 1000, 0);
    void* data = rig;
    assert_int_equal(maarMapMemory(rig->allocator, a, &data), VK_ERROR_MEMORY_MAP_FAILED);
    assert_null(data);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPABLE, "HOST_VISIBLE");
    assert_int_equal(maarSetAllocationName(rig->allocator, a, "shadow_map"), VK_SUCCESS);
    assert_int_equal(maarMapMemory(rig->allocator, a, &data), VK_ERROR_MEMORY_MAP_FAILED);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPABLE, "shadow_map");
    char byte = 0;
    assert_int_equal(maarCopyToAllocation(rig->allocator, a, 0, 1, &byte),
                     VK_ERROR_MEMORY_MAP_FAILED);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPABLE, "maarCopyToAllocation");
    assert_int_equal(maarMapMemory(rig->allocator, a, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "ppData");
    maarFreeMemory(rig->allocator, a);
    data = rig;
    assert_int_equal(maarMapMemory(rig->allocator, a, &data), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_null(data);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    maarUnmapMemory(rig->allocator, a);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
}

static void map_failure_of_the_driver_changes_nothing(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = allocate_type(rig, 1, 1000, 0);
    void* data = rig;
    rig_set_fault(rig, "vkMapMemory", 1, 1, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(maarMapMemory(rig->allocator, a, &data), VK_ERROR_MEMORY_MAP_FAILED);
    assert_null(data);
    assert_null(rig_info(rig, a).pMappedData);
    maarUnmapMemory(rig->allocator, a);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_MAPPED);
    MaarStatistics before = rig_statistics(rig, VK_NULL_HANDLE);
    MaarMemoryRequest request = rig_request(1000, 1, 2, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    MaarAllocation b;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    rig_set_fault(rig, "vkMapMemory", 1, 1, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &b),
                     VK_ERROR_MEMORY_MAP_FAILED);
    assert_true(b == VK_NULL_HANDLE);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).allocationBytes == before.allocationBytes);
    maarFreeMemory(rig->allocator, a);
}

static void flush_coherent_never_calls_the_driver(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = allocate_type(rig, 1, 1000, MAAR_ALLOCATION_CREATE_MAPPED_BIT);
    assert_int_equal(maarFlushAllocation(rig->allocator, a, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(maarInvalidateAllocation(rig->allocator, a, 10, 20), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges"), 0);
    assert_int_equal(rig_calls(rig, "vkInvalidateMappedMemoryRanges"), 0);
    maarFreeMemory(rig->allocator, a);
}

/* The simulated driver checks each range: whole atoms, inside the mapping. */
static void flush_noncoherent_rounds_to_atoms(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocation made[20];
    for (uint32_t i = 0; i < 20; ++i) {
        made[i] = allocate_type(rig, 2, 1 + 77 * i, MAAR_ALLOCATION_CREATE_MAPPED_BIT);
        MaarAllocationInfo info = rig_info(rig, made[i]);
        assert_int_equal(info.offset % 256, 0);
        for (VkDeviceSize at = 0; at < info.size; at += 1 + info.size / 5) {
            assert_int_equal(maarFlushAllocation(rig->allocator, made[i], at, VK_WHOLE_SIZE),
                             VK_SUCCESS);
            assert_int_equal(maarInvalidateAllocation(rig->allocator, made[i], at, 1), VK_SUCCESS);
        }
        assert_int_equal(maarFlushAllocation(rig->allocator, made[i], 0, 0), VK_SUCCESS);
    }
    assert_true(rig_calls(rig, "vkFlushMappedMemoryRanges") >= 20);
    uint64_t calls = rig_calls(rig, "vkFlushMappedMemoryRanges");
    assert_int_equal(maarFlushAllocations(rig->allocator, 20, made, NULL, NULL), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges") - calls, 2);
    calls = rig_calls(rig, "vkInvalidateMappedMemoryRanges");
    assert_int_equal(maarInvalidateAllocations(rig->allocator, 16, made, NULL, NULL), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkInvalidateMappedMemoryRanges") - calls, 1);
    maarFreeMemories(rig->allocator, 20, made);
}

static void flush_dedicated_odd_size_ends_with_the_block(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.memoryTypeBits = 4;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    MaarAllocation a = rig_allocate(rig, 1000, &how);
    assert_int_equal(rig_info(rig, a).blockSize, 1000);
    assert_int_equal(rig_info(rig, a).size, 1000);
    assert_int_equal(maarFlushAllocation(rig->allocator, a, 990, 10), VK_SUCCESS);
    assert_int_equal(maarFlushAllocation(rig->allocator, a, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(maarFlushAllocation(rig->allocator, a, 1000, VK_WHOLE_SIZE), VK_SUCCESS);
    maarFreeMemory(rig->allocator, a);
}

static void flush_misuse_is_reported(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct rig* const rig = rig_begin(&setup);
    MaarAllocation a = allocate_type(rig, 2, 1024, 0);
    assert_int_equal(maarFlushAllocation(rig->allocator, a, 0, 1024), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_MAPPED);
    assert_int_equal(maarFlushAllocation(rig->allocator, a, 1025, VK_WHOLE_SIZE), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    assert_int_equal(maarInvalidateAllocation(rig->allocator, a, 1000, 100), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    assert_int_equal(maarInvalidateAllocation(rig->allocator, a, 8, UINT64_MAX - 4), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    assert_int_equal(maarFlushAllocations(rig->allocator, 1, NULL, NULL, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pAllocations");
    assert_int_equal(maarFlushAllocations(rig->allocator, 0, NULL, NULL, NULL), VK_SUCCESS);
    maarFreeMemory(rig->allocator, a);
    assert_int_equal(maarFlushAllocation(rig->allocator, a, 0, 1), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges"), 0);
}

static void copies_arrive_and_leave_no_mapping(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocation a = allocate_type(rig, 2, 1000, 0);
    const char text[] = "between the lines";
    char back[sizeof text] = {0};
    assert_int_equal(maarCopyToAllocation(rig->allocator, a, 500, sizeof text, text), VK_SUCCESS);
    assert_int_equal(maarCopyFromAllocation(rig->allocator, a, 500, sizeof text, back), VK_SUCCESS);
    assert_string_equal(text, back);
    assert_null(rig_info(rig, a).pMappedData);
    assert_true(rig_calls(rig, "vkFlushMappedMemoryRanges") > 0);
    assert_true(rig_calls(rig, "vkInvalidateMappedMemoryRanges") > 0);
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    assert_int_equal(maarCopyToAllocation(rig->allocator, a, 1020, 10, text), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    assert_int_equal(maarCopyFromAllocation(rig->allocator, a, 0, 1, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pDestination");
    assert_int_equal(maarCopyToAllocation(rig->allocator, a, 0, 1, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pSource");
    rig_set_fault(rig, "vkFlushMappedMemoryRanges", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarCopyToAllocation(rig->allocator, a, 0, 1, text),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_null(rig_info(rig, a).pMappedData);
    maarFreeMemory(rig->allocator, a);
}

/* Types 0 and 1 of the discrete device: device-local, and host-visible. */
static void mapped_if_visible_does_not_choose_the_type(void** state)
{
    (void)state;
    struct rig* rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_IF_VISIBLE_BIT;
    const MaarAllocation hidden = rig_allocate(rig, KIB, &how);
    assert_int_equal(rig_info(rig, hidden).memoryTypeIndex, 0);
    assert_null(maarGetMappedData(rig->allocator, hidden));
    how.usage = MAAR_MEMORY_USAGE_UPLOAD;
    const MaarAllocation visible = rig_allocate(rig, KIB, &how);
    assert_non_null(maarGetMappedData(rig->allocator, visible));
    const MaarPoolCreateInfo pools[] = {{.memoryTypeIndex = 0}, {.memoryTypeIndex = 1}};
    for (uint32_t i = 0; i < 2; ++i) {
        how.pool = rig_create_pool(rig, &pools[i]);
        const MaarAllocation placed = rig_allocate(rig, KIB, &how);
        assert_true((maarGetMappedData(rig->allocator, placed) != NULL) == (i == 1));
        maarFreeMemory(rig->allocator, placed);
        maarDestroyPool(rig->allocator, how.pool);
    }
    rig_expect_silence(rig);
    maarFreeMemory(rig->allocator, visible);
    maarFreeMemory(rig->allocator, hidden);
}

static void mapped_if_visible_fails_with_the_driver(void** state)
{
    (void)state;
    struct rig* rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_IF_VISIBLE_BIT;
    MaarAllocation none = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkMapMemory", 1, 1, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(rig_try(rig, KIB, &how, &none), VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(map_counts_and_becomes_sticky),
        rig_unit_test(mapped_if_visible_does_not_choose_the_type),
        rig_unit_test(mapped_if_visible_fails_with_the_driver),
        rig_unit_test(map_two_allocations_share_one_mapping),
        rig_unit_test(map_not_visible_fails),
        rig_unit_test(message_names_what_is_not_mapped),
        rig_unit_test(message_says_that_the_pool_has_the_type),
        rig_unit_test(map_failure_of_the_driver_changes_nothing),
        rig_unit_test(flush_coherent_never_calls_the_driver),
        rig_unit_test(flush_noncoherent_rounds_to_atoms),
        rig_unit_test(flush_dedicated_odd_size_ends_with_the_block),
        rig_unit_test(flush_misuse_is_reported),
        rig_unit_test(copies_arrive_and_leave_no_mapping),
        rig_unit_test(map_ends_with_the_last_mapped_allocation),
        rig_unit_test(map_count_does_not_wrap),
        rig_unit_test(atoms_are_kept_from_above_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
