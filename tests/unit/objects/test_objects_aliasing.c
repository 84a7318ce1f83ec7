/*
 * Objects on existing allocations: which kinds of objects may lie there, and next to which
 * neighbours. The simulated driver compares the pages of all objects that are bound.
 */
#include "tests/rig/rig.h"

static VkBuffer make_buffer(struct rig* rig, VkDeviceSize size, const MaarAllocationCreateInfo* how,
                            MaarAllocation* allocation)
{
    const VkBufferCreateInfo info = rig_buffer_info(size);
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, how, &buffer, allocation), VK_SUCCESS);
    return buffer;
}

static VkImage make_image(struct rig* rig, uint32_t width, const MaarAllocationCreateInfo* how,
                          MaarAllocation* allocation)
{
    const VkImageCreateInfo info = rig_image_info(width, width);
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &info, how, &image, allocation), VK_SUCCESS);
    return image;
}

static VkResult alias_buffer(struct rig* rig, MaarAllocation allocation, VkDeviceSize offset,
                             VkDeviceSize size, VkBuffer* buffer)
{
    const VkBufferCreateInfo info = rig_buffer_info(size);
    return maarCreateAliasingBuffer(rig->allocator, allocation, offset, &info, buffer);
}

static VkResult alias_image(struct rig* rig, MaarAllocation allocation, uint32_t width,
                            VkImage* image)
{
    const VkImageCreateInfo info = rig_image_info(width, width);
    return maarCreateAliasingImage(rig->allocator, allocation, 0, &info, image);
}

/* Expects that a rejected alias leaves only the two objects that existed before. */
static void expect_refused(struct rig* rig, VkResult result, MaarMessageId id, const char* culprit)
{
    assert_int_equal(result, VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, id, culprit);
    MaarSimulatedCounters counters = rig_counters(rig);
    assert_int_equal(counters.liveCount[MAAR_SIMULATED_OBJECT_BUFFER] +
                         counters.liveCount[MAAR_SIMULATED_OBJECT_IMAGE],
                     2);
}

/* ---- rejected ---- */

static void other_kind_is_rejected_without_the_flag(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_NEVER;
    MaarAllocation linear;
    MaarAllocation optimal;
    VkBuffer buffer = make_buffer(rig, 64 * KIB, &how, &linear);
    VkImage image = make_image(rig, 128, &how, &optimal);
    VkBuffer second = VK_NULL_HANDLE;
    VkImage other = VK_NULL_HANDLE;
    expect_refused(rig, alias_image(rig, linear, 32, &other), MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT,
                   NULL);
    assert_true(other == VK_NULL_HANDLE);
    expect_refused(rig, alias_buffer(rig, optimal, 0, 256, &second),
                   MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, NULL);
    assert_true(second == VK_NULL_HANDLE);
    maarDestroyBuffer(rig->allocator, buffer, linear);
    maarDestroyImage(rig->allocator, image, optimal);
}

/* A create info that no call accepts is rejected on an existing allocation, too. */
static void buffer_that_cannot_be_is_refused(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    const struct rig_setup setup = {.off = RIG_OFF_ADDRESS};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    const MaarAllocation memory = rig_allocate(rig, 64 * KIB, &how);
    VkBufferCreateInfo info = rig_buffer_info(256);
    VkBuffer buffer = VK_NULL_HANDLE;
    info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, 0, &info, &buffer), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pBufferInfo->usage");
    info = rig_buffer_info(0);
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, 0, &info, &buffer), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ZERO_SIZE, "pBufferInfo->size");
    assert_int_equal(rig_calls(rig, "vkCreateBuffer"), 0);
    info = rig_buffer_info(65 * KIB);
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, 0, &info, &buffer), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "66560");
    maarFreeMemory(rig->allocator, memory);
}

/* An object for which the driver requires a dedicated allocation cannot lie on an existing one. */
static void object_that_shares_nothing_is_refused(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    MaarAllocation linear;
    MaarAllocation optimal;
    VkBuffer buffer = make_buffer(rig, 64 * KIB, &how, &linear);
    VkImage image = make_image(rig, 128, &how, &optimal);
    const MaarSimulatedDedicated requirement = {.buffersRequire = VK_TRUE};
    maarSimulatedSetDedicated(rig->physical, &requirement);
    VkBuffer second = VK_NULL_HANDLE;
    expect_refused(rig, alias_buffer(rig, linear, 0, 256, &second),
                   MAAR_MESSAGE_ID_DEDICATED_REQUIRED, NULL);
    assert_true(second == VK_NULL_HANDLE);
    maarDestroyBuffer(rig->allocator, buffer, linear);
    maarDestroyImage(rig->allocator, image, optimal);
}

/* The offset in the block counts, not the offset in the allocation. */
static void memory_at_an_odd_place_is_refused(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarMemoryRequest byte = rig_request(1, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    const MaarMemoryRequest bytes = rig_request(4096, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation made[2];
    assert_int_equal(maarAllocateMemory(rig->allocator, &byte, NULL, &made[0]), VK_SUCCESS);
    assert_int_equal(maarAllocateMemory(rig->allocator, &bytes, NULL, &made[1]), VK_SUCCESS);
    assert_int_equal(rig_info(rig, made[1]).offset, 1);
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(alias_buffer(rig, made[1], 0, 256, &buffer), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT);
    assert_int_equal(alias_buffer(rig, made[1], 1023, 256, &buffer), VK_SUCCESS);
    vkDestroyBuffer(rig->device, buffer, NULL);
    maarFreeMemories(rig->allocator, 2, made);
}

static void pool_of_one_kind_refuses_the_other(void** state)
{
    (void)state;
    const MaarPoolCreateInfo info = {.singleKind = VK_TRUE};
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = rig_create_pool(rig, &info);
    MaarAllocation optimal;
    MaarAllocation none = VK_NULL_HANDLE;
    VkImage image = make_image(rig, 128, &how, &optimal);
    const VkBufferCreateInfo linear = rig_buffer_info(256);
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &linear, &how, &buffer, &none),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_POOL_MISMATCH);
    assert_true(buffer == VK_NULL_HANDLE && none == VK_NULL_HANDLE);
    maarDestroyImage(rig->allocator, image, optimal);
    maarDestroyPool(rig->allocator, how.pool);
}

static void pool_of_one_kind_stays_so(void** state)
{
    (void)state;
    const MaarPoolCreateInfo info = {.singleKind = VK_TRUE};
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = rig_create_pool(rig, &info);
    for (uint32_t i = 0; i < 2; ++i) {
        how.flags = i == 0 ? 0 : (VkFlags)MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
        MaarAllocation first;
        MaarAllocation second;
        VkImage image = VK_NULL_HANDLE;
        VkBuffer a = make_buffer(rig, 4608, &how, &first);
        VkBuffer b = make_buffer(rig, 256, &how, &second);
        expect_refused(rig, alias_image(rig, first, 32, &image),
                       MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "kind");
        maarDestroyBuffer(rig->allocator, a, first);
        maarDestroyBuffer(rig->allocator, b, second);
    }
    maarDestroyPool(rig->allocator, how.pool);
}

static void memory_of_one_object_is_refused(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    MaarAllocation linear;
    MaarAllocation optimal;
    VkBuffer buffer = make_buffer(rig, 64 * KIB, &how, &linear);
    VkImage image = make_image(rig, 128, &how, &optimal);
    VkBuffer second = VK_NULL_HANDLE;
    VkImage other = VK_NULL_HANDLE;
    expect_refused(rig, alias_buffer(rig, linear, 256, 256, &second),
                   MAAR_MESSAGE_ID_DEDICATED_REQUIRED, NULL);
    expect_refused(rig, alias_image(rig, optimal, 32, &other), MAAR_MESSAGE_ID_DEDICATED_REQUIRED,
                   NULL);
    expect_refused(rig, alias_image(rig, linear, 32, &other), MAAR_MESSAGE_ID_DEDICATED_REQUIRED,
                   NULL);
    assert_true(second == VK_NULL_HANDLE && other == VK_NULL_HANDLE);
    maarDestroyBuffer(rig->allocator, buffer, linear);
    maarDestroyImage(rig->allocator, image, optimal);
}

/* ---- accepted ---- */

static void same_kind_is_accepted_without_the_flag(void** state)
{
    (void)state;
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_NEVER;
    MaarAllocation linear;
    MaarAllocation optimal;
    VkBuffer buffer = make_buffer(rig, 64 * KIB, &how, &linear);
    VkImage image = make_image(rig, 128, &how, &optimal);
    VkBuffer second = VK_NULL_HANDLE;
    VkImage other = VK_NULL_HANDLE;
    assert_int_equal(alias_buffer(rig, linear, 1024, 256, &second), VK_SUCCESS);
    assert_int_equal(alias_image(rig, optimal, 64, &other), VK_SUCCESS);
    vkDestroyBuffer(rig->device, second, NULL);
    vkDestroyImage(rig->device, other, NULL);
    maarDestroyBuffer(rig->allocator, buffer, linear);
    maarDestroyImage(rig->allocator, image, optimal);
    rig_expect_silence(rig);
}

static void untied_memory_takes_any_object(void** state)
{
    (void)state;
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    MaarAllocation memory;
    VkBuffer buffer = make_buffer(rig, 64 * KIB, &how, &memory);
    VkBuffer second = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(alias_buffer(rig, memory, 256, 256, &second), VK_SUCCESS);
    assert_int_equal(alias_image(rig, memory, 64, &image), VK_SUCCESS);
    vkDestroyBuffer(rig->device, second, NULL);
    vkDestroyImage(rig->device, image, NULL);
    maarDestroyBuffer(rig->allocator, buffer, memory);
    rig_expect_silence(rig);
}

/* An allocation for aliases lies between two neighbours of one kind, and objects of either kind lie
 * on it in turn. The driver sees no page that two kinds share. */
static void crowd_an_alias(MaarPlacementStrategy strategy, bool own_pool, MaarResourceKind kind)
{
    enum { SIDES = 2 };
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.requirements.smallImageAlignment = 256; /* otherwise images would never share a page */
    const struct rig_setup setup = {.profile = &profile};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.strategy = strategy;
    rig_make_allocator(rig);
    const MaarPoolCreateInfo info = {.strategy = strategy};
    MaarPool pool = own_pool ? rig_create_pool(rig, &info) : VK_NULL_HANDLE;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    MaarAllocation beside[2 * SIDES];
    VkBuffer buffers[SIDES];
    VkImage images[SIDES];
    MaarAllocation memory = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < SIDES; ++i) {
        buffers[i] = make_buffer(rig, 300, &how, &beside[2 * i]);
        if (i == 0) {
            MaarAllocationCreateInfo shared = how;
            shared.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
            const MaarMemoryRequest request = rig_request(4608, 256, 1, kind);
            assert_int_equal(maarAllocateMemory(rig->allocator, &request, &shared, &memory),
                             VK_SUCCESS);
            assert_int_equal(rig_info(rig, memory).kind, kind);
        }
        images[i] = make_image(rig, 8, &how, &beside[2 * i + 1]);
    }
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(alias_buffer(rig, memory, 0, 4608, &buffer), VK_SUCCESS);
    vkDestroyBuffer(rig->device, buffer, NULL);
    assert_int_equal(alias_image(rig, memory, 33, &image), VK_SUCCESS);
    vkDestroyImage(rig->device, image, NULL);
    assert_int_equal(rig_counters(rig).violationCount, 0);
    for (uint32_t i = 0; i < SIDES; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], beside[2 * i]);
        maarDestroyImage(rig->allocator, images[i], beside[2 * i + 1]);
    }
    maarFreeMemory(rig->allocator, memory);
    rig_check(rig);
    maarDestroyPool(rig->allocator, pool);
    rig_expect_silence(rig);
    rig_close(rig);
}

static void aliases_share_no_page_with_neighbours(void** state)
{
    (void)state;
    for (uint32_t strategy = 0; strategy <= MAAR_PLACEMENT_STRATEGY_LINEAR; ++strategy) {
        for (uint32_t kind = 0; kind <= MAAR_RESOURCE_KIND_OPTIMAL; ++kind) {
            crowd_an_alias((MaarPlacementStrategy)strategy, false, (MaarResourceKind)kind);
            crowd_an_alias((MaarPlacementStrategy)strategy, true, (MaarResourceKind)kind);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(other_kind_is_rejected_without_the_flag),
        rig_unit_test(buffer_that_cannot_be_is_refused),
        rig_unit_test(object_that_shares_nothing_is_refused),
        rig_unit_test(pool_of_one_kind_refuses_the_other),
        rig_unit_test(pool_of_one_kind_stays_so),
        rig_unit_test(memory_of_one_object_is_refused),
        rig_unit_test(same_kind_is_accepted_without_the_flag),
        rig_unit_test(untied_memory_takes_any_object),
        rig_unit_test(aliases_share_no_page_with_neighbours),
        rig_unit_test(memory_at_an_odd_place_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
