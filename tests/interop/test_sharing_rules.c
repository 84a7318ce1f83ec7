/*
 * What drivers demand of those who share, on simulated devices that can be set to demand it:
 * blocks for one object alone, dma-bufs and their memory types, images with modifiers, semaphores,
 * a driver that closes what it must not.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "core/memory/default_pool.h"
#include "tests/interop/sharing_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define DMA_BUF VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
#define BOTH_WAYS                                                                                  \
    (VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT)
#define TIMELINE_FD VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT

static struct rig* rig;

static void start(const MaarSimulatedSharingInfo* sharing, MaarSimulatedFlags flags)
{
    const struct rig_setup setup = {.sharing = sharing, .flags = flags};
    rig = rig_begin(&setup);
}

static VkResult make(VkExternalMemoryHandleTypeFlags types, VkDeviceSize size, VkBuffer* buffer,
                     MaarAllocation* allocation)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = types,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    const VkBufferCreateInfo info = rig_buffer_info(size);
    return maarCreateBuffer(rig->allocator, &info, &how, buffer, allocation);
}

static MaarExportedMemory export_as(MaarAllocation allocation,
                                    VkExternalMemoryHandleTypeFlagBits type)
{
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    assert_int_equal(maarExportMemory(rig->allocator, allocation, type, &exported), VK_SUCCESS);
    return exported;
}

static void driver_that_demands_it_gets_dedicated_blocks(void** state)
{
    (void)state;
    MaarSimulatedSharingInfo sharing = *rig_sharing_everything();
    sharing.opaqueBuffers = BOTH_WAYS | VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
    sharing.opaqueImages = BOTH_WAYS | VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
    start(&sharing, 0);
    VkBuffer buffers[2];
    MaarAllocation allocations[2];
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(make(OPAQUE, 4096, &buffers[i], &allocations[i]), VK_SUCCESS);
        assert_true(rig_info(rig, allocations[i]).dedicated == VK_TRUE);
    }
    const MaarExportedMemory exported = export_as(allocations[0], OPAQUE);
    assert_true(exported.dedicated == VK_TRUE);
    assert_int_equal(exported.blockSize, exported.size);
    const MaarImportInfo import = sharing_import_info(&exported);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    VkBuffer copy = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &copy, &imported),
                     VK_SUCCESS);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    VkBuffer alias = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, imported, 0, &info, &alias),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_DEDICATED_REQUIRED);
    maarDestroyBuffer(rig->allocator, copy, imported);

    const VkImageCreateInfo image_info = rig_image_info(64, 64);
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = OPAQUE,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, &how, &image, &memory),
                     VK_SUCCESS);
    assert_true(rig_info(rig, memory).dedicated == VK_TRUE);
    how.dedicated = MAAR_DEDICATED_NEVER;
    VkImage refused = VK_NULL_HANDLE;
    MaarAllocation nothing = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, &how, &refused, &nothing),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_DEDICATED_REQUIRED);
    maarDestroyImage(rig->allocator, image, memory);
    for (uint32_t i = 0; i < 2; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], allocations[i]);
    }
}

static void unshareable_resource_is_refused(void** state)
{
    (void)state;
    MaarSimulatedSharingInfo sharing = *rig_sharing_everything();
    sharing.opaqueBuffers = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
    start(&sharing, 0);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    const MaarStatistics before = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(make(OPAQUE, 4096, &buffer, &allocation), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE);
    assert_int_equal(
        make(OPAQUE | VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP_BIT, 4096, &buffer, &allocation),
        VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, before.blockBytes);
    rig_forget_messages(rig);
}

/* A dma-buf states its types and its size itself. */
static void dma_buf_chooses_its_own_type_and_size(void** state)
{
    (void)state;
    MaarSimulatedSharingInfo sharing = *rig_sharing_everything();
    sharing.dmaBufTypeBits = 0x6;
    start(&sharing, 0);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(make(DMA_BUF, 4096, &buffer, &allocation), VK_SUCCESS);
    const MaarExportedMemory exported = export_as(allocation, DMA_BUF);
    MaarImportInfo import = sharing_import_info(&exported);
    import.memoryTypeIndex = MAAR_MEMORY_TYPE_NONE;
    import.usage = MAAR_MEMORY_USAGE_READBACK;
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    VkBuffer copy = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &copy, &imported),
                     VK_SUCCESS);
    assert_true((0x6u >> rig_info(rig, imported).memoryTypeIndex & 1u) != 0);
    assert_int_equal(maarPeekFd(exported.handle), -1);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, copy, imported);

    const MaarExportedMemory again = export_as(allocation, DMA_BUF);
    import = sharing_import_info(&again);
    import.memoryTypeIndex = 0; /* none of the handle's */
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &copy, &imported),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE);
    assert_true(maarPeekFd(again.handle) >= 0);
    maarDestroyExternalHandle(rig->allocator, again.handle);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
}

static void image_with_a_modifier_is_imported(void** state)
{
    (void)state;
    start(rig_sharing_everything(), 0);
    VkImageCreateInfo info = rig_image_info(64, 64);
    const uint64_t linear = 0;
    const VkImageDrmFormatModifierListCreateInfoEXT list = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT,
        .drmFormatModifierCount = 1,
        .pDrmFormatModifiers = &linear,
    };
    info.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
    info.pNext = &list;
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = DMA_BUF,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &info, &how, &image, &allocation), VK_SUCCESS);
    const MaarExportedMemory exported = export_as(allocation, DMA_BUF);
    MaarImportInfo import = sharing_import_info(&exported);
    import.memoryTypeIndex = MAAR_MEMORY_TYPE_NONE;
    const VkSubresourceLayout layout = {.rowPitch = 256};
    const VkImageDrmFormatModifierExplicitCreateInfoEXT explicit_layout = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT,
        .drmFormatModifierPlaneCount = 1,
        .pPlaneLayouts = &layout,
    };
    info.pNext = &explicit_layout;
    VkImage copy = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarImportImage(rig->allocator, &info, &import, &copy, &imported), VK_SUCCESS);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyImage(rig->allocator, copy, imported);
    maarDestroyImage(rig->allocator, image, allocation);
}

/* As lavapipe 25 does. */
static void driver_that_closes_what_it_refuses_harms_nobody(void** state)
{
    (void)state;
    start(rig_sharing_everything(), MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(make(OPAQUE, 4096, &buffer, &allocation), VK_SUCCESS);
    /* The first export opens what block and driver keep. */
    maarDestroyExternalHandle(rig->allocator, export_as(allocation, OPAQUE).handle);
    const uint32_t before = rig_count_fds();
    const MaarExportedMemory exported = export_as(allocation, OPAQUE);
    const MaarImportInfo import = sharing_import_info(&exported);
    MaarAllocation imported = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkAllocateMemory", 1, 1, VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_true(fcntl(maarPeekFd(exported.handle), F_GETFD) != -1);
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported), VK_SUCCESS);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarFreeMemory(rig->allocator, imported);
    assert_int_equal(rig_count_fds(), before);
    assert_int_equal(rig_counters(rig).fdsClosedByFailure, 1);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
}

/* A bind that fails gives the handle back, although the driver took what it was given. */
static void handle_outlives_a_bind_that_fails(void** state)
{
    (void)state;
    start(rig_sharing_everything(), 0);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(make(OPAQUE, 4096, &buffer, &allocation), VK_SUCCESS);
    const MaarExportedMemory exported = export_as(allocation, OPAQUE);
    const MaarImportInfo import = sharing_import_info(&exported);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    VkBuffer copy = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    const uint32_t before = rig_count_fds();
    const MaarStatistics was = rig_statistics(rig, VK_NULL_HANDLE);
    rig_set_fault(rig, "vkBindBufferMemory2", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &copy, &imported),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(copy == VK_NULL_HANDLE && imported == VK_NULL_HANDLE);
    assert_int_equal(rig_count_fds(), before);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, was.blockBytes);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, was.allocationCount);
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &copy, &imported),
                     VK_SUCCESS);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, copy, imported);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
}

/* The bytes are there already: no limit of this allocator's stops them. */
static void imports_pass_heap_limits(void** state)
{
    (void)state;
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    rig = rig_new();
    rig_open(rig, &setup);
    const VkDeviceSize limits[VK_MAX_MEMORY_HEAPS] = {2 * MIB, 2 * MIB, 2 * MIB};
    VkPhysicalDeviceMemoryProperties properties;
    PFN_vkGetPhysicalDeviceMemoryProperties get =
        (PFN_vkGetPhysicalDeviceMemoryProperties)maarSimulatedGetInstanceProcAddr(
            rig->instance, "vkGetPhysicalDeviceMemoryProperties");
    get(rig->physical, &properties);
    rig->create_info.heapSizeLimitCount = properties.memoryHeapCount;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(make(OPAQUE, MIB + MIB / 2, &buffer, &allocation), VK_SUCCESS);
    const MaarExportedMemory exported = export_as(allocation, OPAQUE);
    const MaarImportInfo import = sharing_import_info(&exported);
    const VkBufferCreateInfo info = rig_buffer_info(MIB + MIB / 2);
    VkBuffer copy = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &copy, &imported),
                     VK_SUCCESS);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).blockBytes > 2 * MIB);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, copy, imported);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
}

/* The device allows so many device memory objects, and one of them is empty. */
static void import_takes_the_place_of_an_empty_block(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    const struct rig_setup setup = {.profile = &profile, .sharing = rig_sharing_everything()};
    enum { MOST = 8 };
    profile.limits.maxMemoryAllocationCount = MOST;
    rig = rig_begin(&setup);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation shared = VK_NULL_HANDLE;
    MaarAllocation others[MOST];
    assert_int_equal(make(OPAQUE, MIB, &buffer, &shared), VK_SUCCESS);
    const MaarExportedMemory exported = export_as(shared, OPAQUE);
    const MaarImportInfo import = sharing_import_info(&exported);
    const VkBufferCreateInfo info = rig_buffer_info(MIB);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 4096, &how)); /* its block stays */
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    for (uint32_t i = 2; i < MOST; ++i) {
        others[i] = rig_allocate(rig, 4096, &how);
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, MOST);
    VkBuffer copy = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &copy, &imported),
                     VK_SUCCESS);
    rig_expect_silence(rig);
    VkBuffer second = VK_NULL_HANDLE;
    MaarAllocation refused = VK_NULL_HANDLE;
    const MaarExportedMemory again = export_as(shared, OPAQUE);
    const MaarImportInfo second_import = sharing_import_info(&again);
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &second_import, &second, &refused),
                     VK_ERROR_TOO_MANY_OBJECTS);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_MANY_ALLOCATIONS, "maarImportBuffer");
    maarDestroyExternalHandle(rig->allocator, again.handle);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarFreeMemories(rig->allocator, MOST - 2, &others[2]);
    maarDestroyBuffer(rig->allocator, copy, imported);
    maarDestroyBuffer(rig->allocator, buffer, shared);
}

/* Of one block, as two types of handle. */
static void memory_of_two_handle_types_is_exported_as_both(void** state)
{
    (void)state;
    start(rig_sharing_everything(), 0);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(make(OPAQUE | DMA_BUF, 4096, &buffer, &allocation), VK_SUCCESS);
    const MaarExportedMemory first = export_as(allocation, OPAQUE);
    const MaarExportedMemory second = export_as(allocation, DMA_BUF);
    assert_int_equal(first.blockId, second.blockId);
    maarDestroyExternalHandle(rig->allocator, first.handle);
    maarDestroyExternalHandle(rig->allocator, second.handle);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
}

/* What is exportable as more than was asked for may lie elsewhere, and lets others in. */
static void each_set_of_handle_types_has_its_own_pool(void** state)
{
    (void)state;
    start(rig_sharing_everything(), 0);
    static const VkExternalMemoryHandleTypeFlags sets[3] = {OPAQUE | DMA_BUF, OPAQUE, DMA_BUF};
    struct maar_pool* pools[3];
    for (uint32_t round = 0; round < 2; ++round) {
        for (uint32_t i = 0; i < 3; ++i) {
            struct maar_pool* pool = NULL;
            assert_int_equal(
                maar_pool_exporting(rig->allocator, 0, MAAR_RESOURCE_KIND_LINEAR, sets[i], &pool),
                VK_SUCCESS);
            assert_true(pool->export_types == sets[i]);
            assert_true(round == 0 || pool == pools[i]); /* made once */
            pools[i] = pool;
        }
    }
}

static void timeline_is_seen_from_both_sides(void** state)
{
    (void)state;
    start(rig_sharing_everything(), 0);
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = VK_SEMAPHORE_TYPE_TIMELINE,
        .initialValue = 5,
        .handleType = TIMELINE_FD,
    };
    const uint32_t before = rig_count_fds();
    VkSemaphore own = VK_NULL_HANDLE;
    VkSemaphore other = VK_NULL_HANDLE;
    MaarExternalHandle handle = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSharedSemaphore(rig->allocator, &info, &own), VK_SUCCESS);
    assert_int_equal(maarExportSemaphore(rig->allocator, own, TIMELINE_FD, &handle), VK_SUCCESS);
    rig_set_fault(rig, "vkImportSemaphoreFdKHR", 1, 1, VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(maarImportSemaphore(rig->allocator, handle, TIMELINE_FD,
                                         VK_SEMAPHORE_TYPE_TIMELINE, &other),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_true(maarPeekFd(handle) >= 0);
    assert_int_equal(maarImportSemaphore(rig->allocator, handle, TIMELINE_FD,
                                         VK_SEMAPHORE_TYPE_TIMELINE, &other),
                     VK_SUCCESS);
    assert_int_equal(maarPeekFd(handle), -1);
    maarDestroyExternalHandle(rig->allocator, handle);
    rig_signal(rig, own, 9);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarAllocation allocation = rig_allocate(rig, 4096, &how);
    const MaarPoint point = {other, 9};
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, allocation, 1, &point), VK_SUCCESS);
    uint32_t freed = 0;
    assert_int_equal(maarCollect(rig->allocator, &freed), VK_SUCCESS);
    assert_int_equal(freed, 1);
    vkDestroySemaphore(rig->device, own, rig->create_info.pAllocationCallbacks);
    vkDestroySemaphore(rig->device, other, rig->create_info.pAllocationCallbacks);
    assert_int_equal(rig_count_fds(), before);
}

static void device_that_shares_nothing_says_so(void** state)
{
    (void)state;
    const struct rig_setup setup = {.sharing = NULL};
    rig = rig_begin(&setup);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    const MaarSharingQuery query = {
        .sType = MAAR_STRUCTURE_TYPE_SHARING_QUERY,
        .handleType = OPAQUE,
        .pBufferInfo = &info,
    };
    MaarSharingSupport support = {.sType = MAAR_STRUCTURE_TYPE_SHARING_SUPPORT};
    assert_int_equal(maarGetSharingSupport(rig->allocator, &query, &support), VK_SUCCESS);
    assert_false(support.exportable || support.importable);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    MaarExternalHandle handle = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarWrapFd(rig->allocator, null, &handle), VK_SUCCESS);
    const MaarImportInfo import = {
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = handle,
        .handleType = OPAQUE,
        .blockSize = 4096,
        .memoryTypeIndex = 0,
    };
    assert_int_equal(maarImportMemory(rig->allocator, &import, &allocation),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_forget_messages(rig);
    maarDestroyExternalHandle(rig->allocator, handle);
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    assert_int_equal(
        maarDescribeTimeline(rig->allocator, timeline, TIMELINE_FD, &descriptor, &handle),
        VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE);
    vkDestroySemaphore(rig->device, timeline, NULL);
    rig_close(rig);
}

static void semaphores_that_cannot_be_shared_are_refused(void** state)
{
    (void)state;
    MaarSimulatedSharingInfo sharing = *rig_sharing_everything();
    sharing.opaqueTimeline = 0;
    start(&sharing, 0);
    MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = VK_SEMAPHORE_TYPE_TIMELINE,
        .handleType = TIMELINE_FD,
    };
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSharedSemaphore(rig->allocator, &info, &semaphore),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE);
    info.type = VK_SEMAPHORE_TYPE_BINARY;
    assert_int_equal(maarCreateSharedSemaphore(rig->allocator, &info, &semaphore), VK_SUCCESS);
    vkDestroySemaphore(rig->device, semaphore, rig->create_info.pAllocationCallbacks);
    MaarSharingInfo says = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    assert_int_equal(maarGetSharingInfo(rig->allocator, &says), VK_SUCCESS);
    assert_int_equal(says.exportableTimelineTypes, 0);
    assert_int_equal(says.exportableBinaryTypes & (uint32_t)TIMELINE_FD, TIMELINE_FD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(driver_that_demands_it_gets_dedicated_blocks),
        rig_unit_test(unshareable_resource_is_refused),
        rig_unit_test(dma_buf_chooses_its_own_type_and_size),
        rig_unit_test(image_with_a_modifier_is_imported),
        rig_unit_test(driver_that_closes_what_it_refuses_harms_nobody),
        rig_unit_test(handle_outlives_a_bind_that_fails),
        rig_unit_test(imports_pass_heap_limits),
        rig_unit_test(import_takes_the_place_of_an_empty_block),
        rig_unit_test(memory_of_two_handle_types_is_exported_as_both),
        rig_unit_test(timeline_is_seen_from_both_sides),
        rig_unit_test(device_that_shares_nothing_says_so),
        rig_unit_test(semaphores_that_cannot_be_shared_are_refused),
        rig_unit_test(each_set_of_handle_types_has_its_own_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
