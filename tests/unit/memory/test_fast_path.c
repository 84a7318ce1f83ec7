/*
 * The fast path of allocations and frees: a request that resembles an earlier one is served by the
 * kept choice of its pool, and one that differs in anything is not.
 */
#include "core/memory/fast_choice.h"
#include "core/memory/pool.h"
#include "tests/rig/rig.h"

enum { FREED_AT_ONCE = 40 };

static const VkMemoryPropertyFlags device_local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
static const VkMemoryPropertyFlags host_visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;

/* Allocates twice, so that the second time the choice of the first is kept. */
static MaarAllocationInfo second(struct rig* rig, const MaarMemoryRequest* request,
                                 const MaarAllocationCreateInfo* how)
{
    MaarAllocation made[2];
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarAllocateMemory(rig->allocator, request, how, &made[i]), VK_SUCCESS);
    }
    const MaarAllocationInfo info = rig_info(rig, made[1]);
    assert_int_equal(info.memoryTypeIndex, rig_info(rig, made[0]).memoryTypeIndex);
    assert_int_equal(info.kind, request->kind);
    assert_int_equal(info.size, request->requirements.size);
    assert_ptr_equal(info.pUserData, how->pUserData);
    assert_null(info.pName);
    rig_check(rig);
    maarFreeMemories(rig->allocator, 2, made);
    return info;
}

/* All combinations, more than are kept, and twice, so that no choice serves another request. With
 * one kind for all, more requests share an entry of the table that differ in their usage. */
static void expect_own_types(uint32_t kinds)
{
    enum { USAGES = MAAR_MEMORY_USAGE_FLAGS_ONLY + 1, FLAGS = 4, BITS = 9 };
    static const VkMemoryPropertyFlags flags[FLAGS] = {0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                                       VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                                       VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
    static const uint32_t type_bits[BITS] = {0x1, 0x2, 0x4, 0x8, 0x9, 0xA, 0xE, 0xF, UINT32_MAX};
    struct rig* const rig = rig_begin(NULL);
    uint32_t served = 0;
    for (uint32_t i = 0; i < 2 * USAGES * FLAGS * BITS; ++i) {
        const uint32_t bits = type_bits[i % BITS];
        const uint32_t usage = i / BITS % USAGES;
        MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)usage);
        how.requiredFlags = flags[i / BITS / USAGES % FLAGS];
        how.pUserData = &served;
        MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
        if (maarChooseMemoryType(rig->allocator, bits, &how, &choice) == VK_SUCCESS) {
            const MaarMemoryRequest request =
                rig_request(4096, 256, bits, (MaarResourceKind)((usage + bits) % kinds));
            assert_int_equal(second(rig, &request, &how).memoryTypeIndex, choice.memoryTypeIndex);
            ++served;
        }
    }
    assert_true(served > 100);
    rig_close(rig);
}

static void requests_that_differ_get_their_own_types(void** state)
{
    (void)state;
    expect_own_types(3);
    expect_own_types(1);
}

/* Every entry of the table has the same choice, so that a wrong hash leads to it, too. */
static void choice_serves_only_its_own_request(void** state)
{
    (void)state;
    struct maar_pool pool = {.fast_size = 4096, .granularity = 64};
    struct maar_fast_choice choices[MAAR_FAST_CHOICES] = {0};
    const MaarAllocationCreateInfo how = {.usage = MAAR_MEMORY_USAGE_UPLOAD, .requiredFlags = 2};
    const MaarMemoryRequest request = rig_request(256, 256, 0x7, MAAR_RESOURCE_KIND_LINEAR);
    maar_fast_choice_keep(choices, &request, &how, &pool);
    const struct maar_fast_choice* kept = maar_fast_choice_find(choices, &request, &how);
    assert_non_null(kept);
    assert_ptr_equal(maar_atomic_pointer_load(&kept->pool), &pool);
    for (uint32_t i = 0; i < MAAR_FAST_CHOICES; ++i) {
        choices[i] = *kept;
    }
    for (uint32_t i = 0; i < 32; ++i) {
        MaarAllocationCreateInfo other_how = how;
        MaarMemoryRequest other = request;
        other_how.usage = (MaarMemoryUsage)((uint32_t)how.usage ^ 1u << i);
        assert_null(maar_fast_choice_find(choices, &request, &other_how));
        other_how = how;
        other_how.requiredFlags ^= 1u << i;
        assert_null(maar_fast_choice_find(choices, &request, &other_how));
        other.kind = (MaarResourceKind)((uint32_t)request.kind ^ 1u << i);
        assert_null(maar_fast_choice_find(choices, &other, &how));
        other = request;
        other.requirements.memoryTypeBits ^= 1u << i;
        assert_null(maar_fast_choice_find(choices, &other, &how));
    }
}

static void kinds_stay_apart_after_the_first_request(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const VkDeviceSize granularity = 1024; /* the profile's */
    enum { COUNT = 90 };
    MaarAllocation made[COUNT];
    MaarAllocationInfo infos[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        /* Unknown kinds come first with the alignment of a granule, then side by side with less. */
        const bool is_early = i < COUNT / 2;
        const MaarMemoryRequest request =
            rig_request(256, is_early ? granularity : 256, 0x1,
                        is_early ? (MaarResourceKind)(i % 3) : MAAR_RESOURCE_KIND_UNKNOWN);
        assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &made[i]), VK_SUCCESS);
        infos[i] = rig_info(rig, made[i]);
        for (uint32_t j = 0; j < i; ++j) {
            /* Two unknown resources may be of different kinds. */
            const bool may_share =
                infos[i].kind == infos[j].kind && infos[i].kind != MAAR_RESOURCE_KIND_UNKNOWN;
            assert_true(may_share || infos[i].memory != infos[j].memory ||
                        infos[i].offset / granularity != infos[j].offset / granularity);
        }
    }
    rig_check(rig);
    maarFreeMemories(rig->allocator, COUNT, made);
}

/* Returns the result of a request that differs in one member from one that was served before. */
static VkResult try_request(struct rig* rig, const MaarMemoryRequest* request,
                            const MaarAllocationCreateInfo* how)
{
    MaarAllocation made;
    memset(&made, 0xEE, sizeof made);
    const VkResult result = maarAllocateMemory(rig->allocator, request, how, &made);
    assert_true(result == VK_SUCCESS || made == VK_NULL_HANDLE);
    maarFreeMemory(rig->allocator, made);
    return result;
}

static void mistakes_are_seen_after_requests_without(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarMemoryRequest request = rig_request(4096, 256, 0x1, MAAR_RESOURCE_KIND_LINEAR);
    (void)second(rig, &request, &how);
    const MaarStatistics before = rig_statistics(rig, VK_NULL_HANDLE);
    MaarMemoryRequest other = request;
    other.requirements.size = 0;
    assert_int_equal(try_request(rig, &other, &how), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_ZERO_SIZE);
    other = request;
    other.kind = (MaarResourceKind)(MAAR_RESOURCE_KIND_OPTIMAL + 1);
    assert_int_equal(try_request(rig, &other, &how), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_INVALID_ENUM);
    MaarAllocationCreateInfo another = how;
    another.usage = (MaarMemoryUsage)(MAAR_MEMORY_USAGE_FLAGS_ONLY + 1);
    assert_int_equal(try_request(rig, &request, &another), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_INVALID_ENUM);
    another = how;
    another.flags = 0x80000000u;
    assert_int_equal(try_request(rig, &request, &another), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_UNKNOWN_FLAGS);
    assert_int_equal(try_request(rig, NULL, &how), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    const MaarStatistics after = rig_statistics(rig, VK_NULL_HANDLE);
    assert_memory_equal(&before, &after, sizeof before);
}

static void options_are_kept_after_requests_without(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarMemoryRequest request = rig_request(5000, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    (void)second(rig, &request, &how);
    how.minAlignment = 65536;
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(second(rig, &request, &how).offset % 65536, 0);
    }
    how.minAlignment = 0;
    how.requiredFlags = host_visible;
    how.preferredFlags = device_local;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_non_null(second(rig, &request, &how).pMappedData);
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_PREFERRED;
    assert_true(second(rig, &request, &how).dedicated);
    how.dedicated = MAAR_DEDICATED_AUTO;
    assert_false(second(rig, &request, &how).dedicated);
    MaarMemoryRequest driver = request;
    driver.prefersDedicated = VK_TRUE;
    assert_true(second(rig, &driver, &how).dedicated);
}

/* What a free must also undo: a name, a mapping, an allocation that is the last in its block. */
static void frees_of_every_state_give_all_back(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.requiredFlags = host_visible | device_local;
    MaarAllocation made[FREED_AT_ONCE];
    for (uint32_t round = 0; round < 2; ++round) {
        for (uint32_t i = 0; i < FREED_AT_ONCE; ++i) {
            made[i] = rig_allocate(rig, 1024 + i, &how);
            void* data = NULL;
            if (i % 3 == 1) {
                assert_int_equal(maarSetAllocationName(rig->allocator, made[i], "named"),
                                 VK_SUCCESS);
            } else if (i % 3 == 2) {
                assert_int_equal(maarMapMemory(rig->allocator, made[i], &data), VK_SUCCESS);
            }
        }
        for (uint32_t i = 0; i < FREED_AT_ONCE; ++i) {
            maarFreeMemory(rig->allocator, made[round == 0 ? i : FREED_AT_ONCE - 1 - i]);
        }
        rig_check(rig);
        const MaarStatistics now = rig_statistics(rig, VK_NULL_HANDLE);
        assert_int_equal(now.allocationCount, 0);
        assert_int_equal(now.allocationBytes, 0);
        maarFreeMemory(rig->allocator, made[0]);
        rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(requests_that_differ_get_their_own_types),
        cmocka_unit_test(choice_serves_only_its_own_request),
        rig_unit_test(kinds_stay_apart_after_the_first_request),
        rig_unit_test(mistakes_are_seen_after_requests_without),
        rig_unit_test(options_are_kept_after_requests_without),
        rig_unit_test(frees_of_every_state_give_all_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
