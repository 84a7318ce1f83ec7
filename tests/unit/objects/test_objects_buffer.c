/*
 * Buffers and images: created in one call, bound by hand, and aliased. Planes, device addresses,
 * and memory types for objects that do not exist yet.
 */
#include <stdio.h>

#include "core/handle.h"
#include "tests/rig/rig.h"

static void buffer_comes_bound(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &allocation),
                     VK_SUCCESS);
    assert_true(buffer != VK_NULL_HANDLE);
    assert_int_equal(rig_calls(rig, "vkBindBufferMemory2"), 1);
    MaarAllocationInfo known = rig_info(rig, allocation);
    assert_true(known.size >= 5000);
    assert_int_equal(known.kind, MAAR_RESOURCE_KIND_LINEAR);
    assert_int_equal(known.memoryTypeIndex, 1);
    assert_non_null(known.pMappedData);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    maarDestroyBuffer(rig->allocator, VK_NULL_HANDLE, VK_NULL_HANDLE);
    rig_expect_silence(rig);
}

/* The first buffers take the slow path, the others the fast one. */
static void buffers_in_a_block_are_bound_where_their_allocations_lie(void** state)
{
    (void)state;
    rig_need_all_functions();
    enum { COUNT = 5 };
    struct rig* const rig = rig_begin(NULL);
    VkBufferCreateInfo info = rig_buffer_info(5000);
    info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    VkBuffer buffers[COUNT];
    MaarAllocation allocations[COUNT];
    MaarAllocationInfo first = {0};
    VkDeviceAddress begin = 0;
    for (uint32_t i = 0; i < COUNT; ++i) {
        VkDeviceAddress address = 0;
        assert_int_equal(
            maarCreateBuffer(rig->allocator, &info, NULL, &buffers[i], &allocations[i]),
            VK_SUCCESS);
        assert_int_equal(maarGetBufferAddress(rig->allocator, buffers[i], &address), VK_SUCCESS);
        const MaarAllocationInfo known = rig_info(rig, allocations[i]);
        first = i == 0 ? known : first;
        begin = i == 0 ? address - known.offset : begin;
        assert_true(known.memory == first.memory);
        assert_true(i == 0 || known.offset != first.offset);
        assert_true(address - begin == known.offset);
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], allocations[i]);
    }
}

static void buffer_destroyed_twice_is_reported(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    VkBuffer a;
    VkBuffer b;
    MaarAllocation x;
    MaarAllocation y;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &a, &x), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, a, x);
    maarDestroyBuffer(rig->allocator, a, x);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &b, &y), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, b, x); /* a stale allocation: the buffer lives */
    char name[32];
    (void)snprintf(name, sizeof name, "0x%llX", (unsigned long long)MAAR_TO_BITS(b));
    assert_true(rig_message_names(rig, "VkBuffer"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, name);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 1);
    const MaarPoint host = {VK_NULL_HANDLE, 1};
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, b, x, 1, &host),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names(rig, "VkBuffer"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, name);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 1);
    /* Without an object the message is about the allocation alone. */
    maarDestroyBuffer(rig->allocator, VK_NULL_HANDLE, x);
    assert_false(rig_message_names(rig, "VkBuffer"));
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    maarDestroyBuffer(rig->allocator, b, y);
}

/* A structure of Vulkan that has the usage, by its number: the headers may be older. */
enum { TYPE_USAGE_FLAGS_2 = 1000470006 };

static void buffer_without_usage_is_refused(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkBufferCreateInfo info = rig_buffer_info(5000);
    VkBuffer buffer = (VkBuffer)(uintptr_t)1;
    MaarAllocation allocation = (MaarAllocation)(uintptr_t)1;
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    info.usage = 0;
    const uint64_t calls = rig_calls(rig, "vkCreateBuffer");
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, &allocation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_EMPTY_FLAGS, "pBufferInfo->usage");
    assert_true(buffer == VK_NULL_HANDLE && allocation == VK_NULL_HANDLE);
    assert_int_equal(maarChooseMemoryTypeForBuffer(rig->allocator, &info, NULL, &choice),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_EMPTY_FLAGS, "pBufferInfo->usage");
    assert_int_equal(rig_calls(rig, "vkCreateBuffer"), calls);
    /* The driver sees what a later structure may explain. */
    const VkBaseInStructure later = {.sType = (VkStructureType)TYPE_USAGE_FLAGS_2};
    info.pNext = &later;
    rig_set_fault(rig, "vkCreateBuffer", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, &allocation),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_expect_silence(rig);
}

static void buffer_misuse_names_the_argument(void** state)
{
    (void)state;
    const struct rig_setup setup = {.off = RIG_OFF_ADDRESS};
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct rig* const rig = rig_begin(&setup);
    VkBufferCreateInfo info = rig_buffer_info(100);
    VkBuffer buffer = (VkBuffer)(uintptr_t)1;
    MaarAllocation allocation = (MaarAllocation)(uintptr_t)1;
    assert_int_equal(maarCreateBuffer(rig->allocator, NULL, NULL, &buffer, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBufferInfo");
    assert_true(buffer == VK_NULL_HANDLE && allocation == VK_NULL_HANDLE);
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, NULL, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBuffer");
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pAllocation");
    info.size = 0;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ZERO_SIZE, "size");
    info.size = 100;
    info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "bufferDeviceAddress");
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "sType");
    assert_int_equal(rig_calls(rig, "vkCreateBuffer"), 0);
}

static void expect_undone(struct rig* rig)
{
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    MaarSimulatedCounters counters = rig_counters(rig);
    assert_int_equal(statistics.allocationCount, 0);
    assert_int_equal(statistics.blockCount, 0);
    assert_int_equal(counters.liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
    assert_int_equal(counters.liveCount[MAAR_SIMULATED_OBJECT_IMAGE], 0);
    assert_int_equal(counters.liveCount[MAAR_SIMULATED_OBJECT_MEMORY], 0);
    rig_check(rig);
}

static void failing_steps_are_undone(void** state)
{
    (void)state;
    static const char* const steps[] = {"vkCreateBuffer", "vkAllocateMemory", "vkBindBufferMemory2",
                                        "vkCreateImage",  "vkAllocateMemory", "vkBindImageMemory2"};
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(5000);
    const VkImageCreateInfo image_info = rig_image_info(32, 32);
    for (uint32_t i = 0; i < 6; ++i) {
        VkBuffer buffer = (VkBuffer)(uintptr_t)1;
        VkImage image = (VkImage)(uintptr_t)1;
        MaarAllocation allocation = (MaarAllocation)(uintptr_t)1;
        rig_set_fault(rig, steps[i], 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        if (i < 3) {
            assert_int_equal(
                maarCreateBuffer(rig->allocator, &buffer_info, NULL, &buffer, &allocation),
                VK_ERROR_OUT_OF_DEVICE_MEMORY);
            assert_true(buffer == VK_NULL_HANDLE);
        } else {
            assert_int_equal(
                maarCreateImage(rig->allocator, &image_info, NULL, &image, &allocation),
                VK_ERROR_OUT_OF_DEVICE_MEMORY);
            assert_true(image == VK_NULL_HANDLE);
        }
        assert_true(allocation == VK_NULL_HANDLE);
        rig_clear_faults(rig);
        expect_undone(rig);
    }
}

static void image_comes_bound(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkImageCreateInfo info = rig_image_info(640, 480);
    VkImage image;
    MaarAllocation allocation;
    assert_int_equal(maarCreateImage(rig->allocator, &info, NULL, &image, &allocation), VK_SUCCESS);
    assert_int_equal(rig_info(rig, allocation).kind, MAAR_RESOURCE_KIND_OPTIMAL);
    assert_int_equal(rig_info(rig, allocation).memoryTypeIndex, 0);
    maarDestroyImage(rig->allocator, image, allocation);
    maarDestroyImage(rig->allocator, image, allocation);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "VkImage");
    info.tiling = VK_IMAGE_TILING_LINEAR;
    assert_int_equal(maarCreateImage(rig->allocator, &info, NULL, &image, &allocation), VK_SUCCESS);
    assert_int_equal(rig_info(rig, allocation).kind, MAAR_RESOURCE_KIND_LINEAR);
    maarDestroyImage(rig->allocator, image, allocation);
    maarDestroyImage(rig->allocator, VK_NULL_HANDLE, VK_NULL_HANDLE);
}

static void image_misuse_names_the_argument(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct rig* const rig = rig_begin(NULL);
    VkImageCreateInfo info = rig_image_info(64, 64);
    VkImage image;
    MaarAllocation allocation;
    assert_int_equal(maarCreateImage(rig->allocator, NULL, NULL, &image, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pImageInfo");
    assert_int_equal(maarCreateImage(rig->allocator, &info, NULL, NULL, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pImage");
    assert_int_equal(maarCreateImage(rig->allocator, &info, NULL, &image, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pAllocation");
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    assert_int_equal(maarCreateImage(rig->allocator, &info, NULL, &image, &allocation), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_DISJOINT_IMAGE, "maarCreateDisjointImage");
}

static void dedicated_objects_are_named_to_the_driver(void** state)
{
    (void)state;
    rig_need_all_functions();
    static const MaarSimulatedDedicated required = {
        .imagesRequire = VK_TRUE,
        .buffersRequire = VK_TRUE,
    };
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    struct rig* const rig = rig_begin(&setup);
    maarSimulatedSetDedicated(rig->physical, &required);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(1000); /* not a multiple of the atom */
    const VkImageCreateInfo image_info = rig_image_info(63, 63);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.memoryTypeBits = 4; /* host-visible, not coherent */
    VkBuffer buffer;
    VkImage image;
    MaarAllocation a;
    MaarAllocation b;
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &a), VK_SUCCESS);
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, &how, &image, &b), VK_SUCCESS);
    assert_int_equal(rig_info(rig, a).dedicated, VK_TRUE);
    assert_int_equal(rig_info(rig, b).dedicated, VK_TRUE);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT; /* the driver still requires it */
    VkBuffer other;
    MaarAllocation c;
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &other, &c), VK_SUCCESS);
    assert_int_equal(rig_info(rig, c).dedicated, VK_TRUE);
    maarDestroyBuffer(rig->allocator, buffer, a);
    maarDestroyBuffer(rig->allocator, other, c);
    maarDestroyImage(rig->allocator, image, b);
    rig_close(rig); /* the driver saw no violation of the rules of dedicated memory */
}

static void by_hand_allocate_and_bind(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(1000);
    const VkImageCreateInfo image_info = rig_image_info(64, 64);
    VkBuffer buffer;
    VkImage image;
    MaarAllocation a = VK_NULL_HANDLE;
    MaarAllocation b = VK_NULL_HANDLE;
    assert_int_equal(vkCreateBuffer(rig->device, &buffer_info, NULL, &buffer), VK_SUCCESS);
    assert_int_equal(vkCreateImage(rig->device, &image_info, NULL, &image), VK_SUCCESS);
    assert_int_equal(maarAllocateMemoryForBuffer(rig->allocator, VK_NULL_HANDLE, NULL, &a),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "buffer");
    assert_int_equal(maarAllocateMemoryForBuffer(rig->allocator, buffer, NULL, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pAllocation");
    assert_int_equal(maarAllocateMemoryForImage(rig->allocator, VK_NULL_HANDLE,
                                                VK_IMAGE_TILING_OPTIMAL, NULL, &b),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "image");
    assert_int_equal(maarAllocateMemoryForBuffer(rig->allocator, buffer, NULL, &a), VK_SUCCESS);
    assert_int_equal(
        maarAllocateMemoryForImage(rig->allocator, image, VK_IMAGE_TILING_OPTIMAL, NULL, &b),
        VK_SUCCESS);
    assert_int_equal(rig_info(rig, b).kind, MAAR_RESOURCE_KIND_OPTIMAL);
    assert_int_equal(maarBindBuffer(rig->allocator, a, 0, VK_NULL_HANDLE, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "buffer");
    assert_int_equal(maarBindBuffer(rig->allocator, a, rig_info(rig, a).size, buffer, NULL),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "offset");
    assert_int_equal(maarBindBuffer(rig->allocator, VK_NULL_HANDLE, 0, buffer, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "VK_NULL_HANDLE");
    assert_int_equal(maarBindImage(rig->allocator, b, 0, VK_NULL_HANDLE, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "image");
    assert_int_equal(maarBindImage(rig->allocator, b, UINT64_MAX, image, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "offset");
    assert_int_equal(maarBindBuffer(rig->allocator, a, 0, buffer, NULL), VK_SUCCESS);
    assert_int_equal(maarBindImage(rig->allocator, b, 0, image, NULL), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, buffer, a);
    maarDestroyImage(rig->allocator, image, b);
}

/* A buffer or image that reaches into the neighbour is within its VkDeviceMemory, so nobody but
 * Maar can see it. */
static void objects_that_reach_beyond_their_allocation_are_refused(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(100000);
    const VkImageCreateInfo image_info = rig_image_info(256, 256);
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(vkCreateBuffer(rig->device, &buffer_info, NULL, &buffer), VK_SUCCESS);
    assert_int_equal(vkCreateImage(rig->device, &image_info, NULL, &image), VK_SUCCESS);
    MaarAllocation small = rig_allocate(rig, 65536, NULL);
    MaarAllocation large = rig_allocate(rig, 1048576, NULL);
    assert_int_equal(maarBindBuffer(rig->allocator, small, 0, buffer, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "65536");
    assert_int_equal(maarBindImage(rig->allocator, small, 0, image, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "maarBindImage");
    assert_int_equal(maarBindBuffer(rig->allocator, large, 1048576 - 65536, buffer, NULL), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT);
    assert_int_equal(rig_calls(rig, "vkBindBufferMemory2") + rig_calls(rig, "vkBindImageMemory2"),
                     0);
    assert_int_equal(maarBindBuffer(rig->allocator, large, 65536, buffer, NULL), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, buffer, large);
    maarDestroyImage(rig->allocator, image, small);
}

static void aliases_fit_or_are_refused(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    how.minAlignment = 65536;
    MaarAllocation memory = rig_allocate(rig, MIB, &how);
    VkBufferCreateInfo buffer_info = rig_buffer_info(MIB);
    VkImageCreateInfo image_info = rig_image_info(128, 128);
    VkBuffer whole = VK_NULL_HANDLE;
    VkBuffer half = VK_NULL_HANDLE;
    VkBuffer none = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, 0, &buffer_info, &whole),
                     VK_SUCCESS);
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, 65536, &buffer_info, &none),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "1048576");
    assert_true(none == VK_NULL_HANDLE);
    buffer_info.size = MIB / 2;
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, MIB / 2, &buffer_info, &half),
                     VK_SUCCESS);
    assert_int_equal(maarCreateAliasingImage(rig->allocator, memory, 65536, &image_info, &image),
                     VK_SUCCESS);
    vkDestroyImage(rig->device, image, NULL);
    assert_int_equal(maarCreateAliasingImage(rig->allocator, memory, 100, &image_info, &image),
                     invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT);
    assert_true(image == VK_NULL_HANDLE);
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, MIB, &buffer_info, &none),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "offset");
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, 0, NULL, &none), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBufferInfo");
    assert_int_equal(maarCreateAliasingImage(rig->allocator, memory, 0, &image_info, NULL),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pImage");
    image_info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    assert_int_equal(maarCreateAliasingImage(rig->allocator, memory, 0, &image_info, &image),
                     invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_DISJOINT_IMAGE);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_IMAGE], 0);
    rig_forget_messages(rig);
    vkDestroyBuffer(rig->device, whole, NULL);
    vkDestroyBuffer(rig->device, half, NULL);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
    maarFreeMemory(rig->allocator, memory);
}

static void alias_in_a_foreign_type_is_refused(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.requirements.imageTypeBits = 1;
    const struct rig_setup setup = {.profile = &profile};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    MaarAllocation memory = rig_allocate(rig, MIB, &how);
    const VkImageCreateInfo info = rig_image_info(64, 64);
    VkImage image;
    assert_int_equal(maarCreateAliasingImage(rig->allocator, memory, 0, &info, &image),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT);
    maarFreeMemory(rig->allocator, memory);
}

static VkImageCreateInfo planar_info(VkFormat format)
{
    VkImageCreateInfo info = rig_image_info(256, 256);
    info.format = format;
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    return info;
}

static void planes_get_memory_each(void** state)
{
    (void)state;
    rig_need_all_functions();
    static const VkFormat formats[2] = {VK_FORMAT_G8_B8R8_2PLANE_420_UNORM,
                                        VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM};
    struct rig* const rig = rig_begin(NULL);
    for (uint32_t i = 0; i < 2; ++i) {
        const VkImageCreateInfo info = planar_info(formats[i]);
        const uint32_t planes = i + 2;
        VkImage image;
        MaarAllocation memory[3];
        assert_int_equal(
            maarCreateDisjointImage(rig->allocator, &info, NULL, planes, &image, memory),
            VK_SUCCESS);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, planes);
        maarDestroyImage(rig->allocator, image, memory[0]);
        maarFreeMemories(rig->allocator, planes - 1, &memory[1]);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    }
}

static void planes_failing_are_undone(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_begin(NULL);
    const VkImageCreateInfo info = planar_info(VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM);
    VkImage image;
    MaarAllocation memory[3];
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    rig_set_fault(rig, "vkAllocateMemory", 3, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreateDisjointImage(rig->allocator, &info, &how, 3, &image, memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    assert_true(image == VK_NULL_HANDLE && memory[0] == VK_NULL_HANDLE &&
                memory[1] == VK_NULL_HANDLE && memory[2] == VK_NULL_HANDLE);
    expect_undone(rig);
    rig_set_fault(rig, "vkBindImageMemory2", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarCreateDisjointImage(rig->allocator, &info, NULL, 3, &image, memory),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    expect_undone(rig);
}

/* A message reports that the driver did not create the object, unless the result says so already.
 */
static void object_that_the_driver_refuses_is_reported(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(5000);
    const VkImageCreateInfo image_info = rig_image_info(32, 32);
    const VkImageCreateInfo planes = planar_info(VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM);
    VkBuffer buffer;
    VkImage image;
    MaarAllocation memory[3];
    rig_set_fault(rig, "vkCreateBuffer", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, NULL, &buffer, memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_NOT_CREATED, "maarCreateBuffer");
    rig_set_fault(rig, "vkCreateImage", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, NULL, &image, memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_NOT_CREATED, "maarCreateImage");
    rig_set_fault(rig, "vkCreateImage", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreateDisjointImage(rig->allocator, &planes, NULL, 3, &image, memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_NOT_CREATED, "maarCreateDisjointImage");
    rig_set_fault(rig, "vkCreateBuffer", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, NULL, &buffer, memory),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(rig->messages.total, 0);
    expect_undone(rig);
}

static void planes_misuse_leaves_outputs_null(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct rig* const rig = rig_begin(NULL);
    VkImageCreateInfo info = planar_info(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM);
    VkImage image = (VkImage)(uintptr_t)1;
    MaarAllocation memory[4];
    memset(memory, 1, sizeof memory);
    assert_int_equal(maarCreateDisjointImage(rig->allocator, NULL, NULL, 2, &image, memory),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pImageInfo");
    assert_true(image == VK_NULL_HANDLE && memory[0] == VK_NULL_HANDLE &&
                memory[1] == VK_NULL_HANDLE);
    assert_int_equal(maarCreateDisjointImage(rig->allocator, &info, NULL, 4, &image, memory),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "planeCount");
    assert_int_equal(maarCreateDisjointImage(rig->allocator, &info, NULL, 2, &image, NULL),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pAllocations");
    info.flags = 0;
    assert_int_equal(maarCreateDisjointImage(rig->allocator, &info, NULL, 2, &image, memory),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_DISJOINT_IMAGE, "VK_IMAGE_CREATE_DISJOINT_BIT");
}

static void address_follows_the_feature(void** state)
{
    (void)state;
    rig_need_all_functions();
    VkBufferCreateInfo info = rig_buffer_info(1000);
    info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    struct rig* const rig = rig_begin(NULL);
    VkBuffer buffer;
    MaarAllocation allocation;
    VkDeviceAddress address = 0;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, &allocation),
                     VK_SUCCESS);
    assert_int_equal(maarGetBufferAddress(rig->allocator, buffer, &address), VK_SUCCESS);
    assert_true(address != 0);
    assert_int_equal(maarGetBufferAddress(rig->allocator, VK_NULL_HANDLE, &address),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(address, 0);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "buffer");
    maarDestroyBuffer(rig->allocator, buffer, allocation);
    rig_close(rig);

    const struct rig_setup setup = {.off = RIG_OFF_ADDRESS};
    rig_start(rig, &setup);
    address = 1;
    assert_int_equal(maarGetBufferAddress(rig->allocator, (VkBuffer)(uintptr_t)0x1000, &address),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(address, 0);
}

static void types_of_future_objects_need_no_object(void** state)
{
    (void)state;
    rig_need_all_functions();
    for (uint32_t i = 0; i < 2; ++i) {
        const struct rig_setup setup = {.off = i == 0 ? 0 : RIG_OFF_MAINTENANCE4};
        struct rig* const rig = rig_begin(&setup);
        const VkBufferCreateInfo buffer_info = rig_buffer_info(1000);
        const VkImageCreateInfo image_info = rig_image_info(64, 64);
        const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
        MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
        assert_int_equal(maarChooseMemoryTypeForBuffer(rig->allocator, &buffer_info, &how, &choice),
                         VK_SUCCESS);
        assert_int_equal(choice.memoryTypeIndex, 2);
        assert_int_equal(maarChooseMemoryTypeForImage(rig->allocator, &image_info, NULL, &choice),
                         VK_SUCCESS);
        assert_int_equal(choice.memoryTypeIndex, 0);
        assert_int_equal(rig_calls(rig, "vkCreateBuffer"), i);
        assert_int_equal(rig_calls(rig, "vkCreateImage"), i);
        assert_int_equal(rig_calls(rig, "vkDestroyBuffer"), i);
        assert_int_equal(maarChooseMemoryTypeForBuffer(rig->allocator, NULL, NULL, &choice),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBufferInfo");
        assert_int_equal(maarChooseMemoryTypeForImage(rig->allocator, &image_info, NULL, NULL),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pChoice");
        rig_close(rig);
    }
}

/* A minimised window has a width of 0. What no device could have does not reach the driver. */
static void impossible_image_is_named_and_not_tried(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_begin(NULL);
    static const char* const names[] = {
        "pImageInfo->extent.width", "pImageInfo->extent.height", "pImageInfo->extent.depth",
        "pImageInfo->mipLevels",    "pImageInfo->arrayLayers",   "pImageInfo->samples",
        "pImageInfo->usage",        "pImageInfo->mipLevels",     "pImageInfo->extent.height",
        "pImageInfo->extent.depth", "pImageInfo->arrayLayers",
    };
    VkImageCreateInfo infos[11];
    for (uint32_t i = 0; i < 11; ++i) {
        infos[i] = rig_image_info(640, 480);
    }
    infos[0].extent.width = 0;
    infos[1].extent.height = 0;
    infos[2].extent.depth = 0;
    infos[3].mipLevels = 0;
    infos[4].arrayLayers = 0;
    infos[5].samples = 0;
    infos[6].usage = 0;
    infos[7].mipLevels = 11; /* 640 texels have 10 */
    infos[8].imageType = VK_IMAGE_TYPE_1D;
    infos[9].extent.depth = 2;
    infos[10].imageType = VK_IMAGE_TYPE_3D;
    infos[10].arrayLayers = 2;
    const uint64_t calls = rig_calls(rig, "vkCreateImage");
    for (uint32_t i = 0; i < 11; ++i) {
        VkImage image = VK_NULL_HANDLE;
        MaarAllocation allocation = VK_NULL_HANDLE;
        const MaarMessageId id = i < 6    ? MAAR_MESSAGE_ID_ZERO_SIZE
                                 : i == 6 ? MAAR_MESSAGE_ID_EMPTY_FLAGS
                                          : MAAR_MESSAGE_ID_OUT_OF_RANGE;
        assert_int_equal(maarCreateImage(rig->allocator, &infos[i], NULL, &image, &allocation),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, id, names[i]);
    }
    for (uint32_t i = 0; i < 11; ++i) {
        const MaarMessageId id = i < 6    ? MAAR_MESSAGE_ID_ZERO_SIZE
                                 : i == 6 ? MAAR_MESSAGE_ID_EMPTY_FLAGS
                                          : MAAR_MESSAGE_ID_OUT_OF_RANGE;
        MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
        assert_int_equal(maarChooseMemoryTypeForImage(rig->allocator, &infos[i], NULL, &choice),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, id, names[i]);
        VkImage image = VK_NULL_HANDLE;
        MaarAllocation planes[2];
        infos[i].flags = VK_IMAGE_CREATE_DISJOINT_BIT;
        assert_int_equal(
            maarCreateDisjointImage(rig->allocator, &infos[i], NULL, 2, &image, planes),
            VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, id, names[i]);
    }
    const VkBufferCreateInfo nothing = rig_buffer_info(0);
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    assert_int_equal(maarChooseMemoryTypeForBuffer(rig->allocator, &nothing, NULL, &choice),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ZERO_SIZE, "pBufferInfo->size");
    assert_int_equal(rig_calls(rig, "vkCreateImage"), calls);
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    VkImageCreateInfo full = rig_image_info(640, 480);
    full.mipLevels = 10;
    assert_int_equal(maarCreateImage(rig->allocator, &full, NULL, &image, &allocation), VK_SUCCESS);
    maarDestroyImage(rig->allocator, image, allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(impossible_image_is_named_and_not_tried),
        rig_unit_test(buffer_comes_bound),
        rig_unit_test(buffers_in_a_block_are_bound_where_their_allocations_lie),
        rig_unit_test(buffer_destroyed_twice_is_reported),
        rig_unit_test(buffer_without_usage_is_refused),
        rig_unit_test(buffer_misuse_names_the_argument),
        rig_unit_test(failing_steps_are_undone),
        rig_unit_test(object_that_the_driver_refuses_is_reported),
        rig_unit_test(image_comes_bound),
        rig_unit_test(image_misuse_names_the_argument),
        rig_unit_test(dedicated_objects_are_named_to_the_driver),
        rig_unit_test(by_hand_allocate_and_bind),
        rig_unit_test(objects_that_reach_beyond_their_allocation_are_refused),
        rig_unit_test(aliases_fit_or_are_refused),
        rig_unit_test(alias_in_a_foreign_type_is_refused),
        rig_unit_test(planes_get_memory_each),
        rig_unit_test(planes_failing_are_undone),
        rig_unit_test(planes_misuse_leaves_outputs_null),
        rig_unit_test(address_follows_the_feature),
        rig_unit_test(types_of_future_objects_need_no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
