/*
 * Images on the host's own memory, and buffers that several queue families share or that the device
 * only reads, on simulated devices. tests/interop shows them on drivers that execute.
 */
#define _POSIX_C_SOURCE 200809L

#include "maar/share.h"
#include "tests/rig/rig.h"

#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096, REGION = 64 * PAGE, SIDE = 64 };

static struct rig* rig;
static MaarSimulatedProfile profile;
static unsigned char* region; /* begins at a multiple of its size */

static int make_region(void** state)
{
    (void)state;
    region = aligned_alloc(REGION, REGION);
    return region != NULL ? 0 : 1;
}

static int free_region(void** state)
{
    (void)state;
    free(region);
    return 0;
}

static void open_device(const MaarSimulatedProfile* base, bool extension)
{
    profile = *base;
    if (extension) {
        profile.limits.minImportedHostPointerAlignment = PAGE;
        (void)snprintf(profile.extensions[profile.extensionCount++], sizeof profile.extensions[0],
                       "%s", VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    }
    profile.queueFamilyCount = 2;
    for (uint32_t i = 0; i < 2; ++i) {
        profile.queueFamilies[i] = (MaarSimulatedQueueFamily){
            .flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
            .count = 1,
        };
    }
    const struct rig_setup setup = {.profile = &profile, .count_host = true};
    rig = rig_begin(&setup);
}

static VkImageCreateInfo linear_info(void)
{
    VkImageCreateInfo info = rig_image_info(SIDE, SIDE);
    info.tiling = VK_IMAGE_TILING_LINEAR;
    return info;
}

static MaarHostImportInfo describe_import(void* memory, VkDeviceSize size)
{
    return (MaarHostImportInfo){
        .sType = MAAR_STRUCTURE_TYPE_HOST_IMPORT_INFO,
        .pMemory = memory,
        .size = size,
        .pName = "host pixels",
    };
}

static VkResult import_host(const VkImageCreateInfo* image_info, const MaarHostImportInfo* import,
                            VkImage* image, MaarAllocation* allocation)
{
    const VkResult result =
        maarImportHostImage(rig->allocator, image_info, import, image, allocation);
    assert_true((result == VK_SUCCESS) == (*image != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (*allocation != VK_NULL_HANDLE));
    rig_check(rig);
    return result;
}

/* How far the rows of the driver's image are apart. */
static VkDeviceSize row_pitch(VkImage image)
{
    const VkImageSubresource colour = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT};
    VkSubresourceLayout layout = {0};
    vkGetImageSubresourceLayout(rig->device, image, &colour, &layout);
    return layout.rowPitch;
}

static void image_lies_on_the_hosts_bytes(void** state)
{
    (void)state;
    open_device(rig_profile_discrete(), true);
    const VkImageCreateInfo info = linear_info();
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    MaarHostImportInfo import = describe_import(region + PAGE, (VkDeviceSize)16 * PAGE);
    assert_int_equal(import_host(&info, &import, &image, &allocation), VK_SUCCESS);
    void* data = NULL;
    assert_int_equal(maarMapMemory(rig->allocator, allocation, &data), VK_SUCCESS);
    assert_ptr_equal(data, region + PAGE);
    maarUnmapMemory(rig->allocator, allocation);
    assert_string_equal(rig_info(rig, allocation).pName, "host pixels");
    assert_int_equal(rig_counters(rig).importedLive, 1);
    import.rowPitch = row_pitch(image);
    maarDestroyImage(rig->allocator, image, allocation);
    assert_int_equal(rig_counters(rig).importedLive, 0);

    assert_int_equal(import_host(&info, &import, &image, &allocation), VK_SUCCESS);
    maarDestroyImage(rig->allocator, image, allocation);
    import.rowPitch += 4;
    assert_int_equal(import_host(&info, &import, &image, &allocation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "rowPitch");
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    rig_close(rig);
}

static void image_that_does_not_fit_says_why(void** state)
{
    (void)state;
    open_device(rig_profile_discrete(), true);
    VkImageCreateInfo info = linear_info();
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    const VkResult wrong = VK_ERROR_VALIDATION_FAILED_EXT;
    MaarHostImportInfo import = describe_import(region, PAGE);
    assert_int_equal(import_host(&info, &import, &image, &allocation), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "pImportInfo->size");
    import = describe_import(region + 1, (VkDeviceSize)16 * PAGE);
    assert_int_equal(import_host(&info, &import, &image, &allocation), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, "pImportInfo->pMemory");
    import = describe_import(NULL, PAGE);
    assert_int_equal(import_host(&info, &import, &image, &allocation), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pMemory");
    import = describe_import(region, 0);
    assert_int_equal(import_host(&info, &import, &image, &allocation), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ZERO_SIZE, "size");
    import = describe_import(region, UINT64_MAX);
    assert_int_equal(import_host(&info, &import, &image, &allocation), wrong);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    import = describe_import(region, (VkDeviceSize)16 * PAGE);
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    assert_int_equal(import_host(&info, &import, &image, &allocation), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "tiling");
    info = linear_info();
    info.flags |= VK_IMAGE_CREATE_DISJOINT_BIT;
    info.format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    assert_int_equal(import_host(&info, &import, &image, &allocation), wrong);
    rig_forget_messages(rig);
    assert_int_equal(maarImportHostImage(rig->allocator, &info, NULL, &image, &allocation), wrong);
    rig_forget_messages(rig);
    rig_close(rig);
}

static void results_of_the_driver_are_named(void** state)
{
    (void)state;
    open_device(rig_profile_discrete(), true);
    const VkImageCreateInfo info = linear_info();
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    const MaarHostImportInfo import = describe_import(region, (VkDeviceSize)16 * PAGE);
    static const struct {
        const char* function;
        VkResult result;
    } faults[] = {
        {"vkCreateImage", VK_ERROR_OUT_OF_DEVICE_MEMORY},
        {"vkGetMemoryHostPointerPropertiesEXT", VK_ERROR_INVALID_EXTERNAL_HANDLE},
        {"vkAllocateMemory", VK_ERROR_INVALID_EXTERNAL_HANDLE},
        {"vkAllocateMemory", VK_ERROR_OUT_OF_HOST_MEMORY},
        {"vkAllocateMemory", VK_ERROR_TOO_MANY_OBJECTS},
        {"vkBindImageMemory2", VK_ERROR_OUT_OF_DEVICE_MEMORY},
    };
    for (uint32_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        rig_set_fault(rig, faults[i].function, 1, 1, faults[i].result);
        assert_int_equal(import_host(&info, &import, &image, &allocation), faults[i].result);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
        if (faults[i].result == VK_ERROR_INVALID_EXTERNAL_HANDLE) {
            rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_IMPORTABLE,
                                      "VK_ERROR_INVALID_EXTERNAL_HANDLE");
        }
        rig_forget_messages(rig);
    }
    rig_close(rig);

    open_device(rig_profile_discrete(), false);
    assert_int_equal(import_host(&info, &import, &image, &allocation),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_IMPORTABLE, "VK_EXT_external_memory_host");
    rig_close(rig);
}

/* The sharing mode that the driver saw is right, or the simulated driver reports a violation. */
static void several_families_share_host_bytes(void** state)
{
    (void)state;
    for (uint32_t copied = 0; copied < 2; ++copied) {
        open_device(rig_profile_discrete(), true);
        MaarHostBufferCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO,
            .flags = copied != 0 ? MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT
                                 : MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT,
            .pMemory = region,
            .size = PAGE,
            .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
            .queueFamilyBits = 0x3,
        };
        MaarHostBuffer buffer = VK_NULL_HANDLE;
        assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), VK_SUCCESS);
        maarDestroyHostBuffer(rig->allocator, buffer);
        info.queueFamilyBits = 0x2; /* one alone: exclusive */
        assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), VK_SUCCESS);
        maarDestroyHostBuffer(rig->allocator, buffer);
        info.queueFamilyBits = 0x80000001;
        assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "queueFamilyBits");
        rig_close(rig);
    }
}

/* Pages that the process itself may not write: a write by Maar would end the test. */
static void read_only_memory_is_never_written(void** state)
{
    (void)state;
    unsigned char* pages = region;
    memset(pages, 0x5A, (size_t)4 * PAGE);
    assert_int_equal(mprotect(pages, (size_t)4 * PAGE, PROT_READ), 0);
    for (uint32_t copied = 0; copied < 2; ++copied) {
        open_device(rig_profile_noncoherent(), true);
        const MaarHostBufferCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO,
            .flags = MAAR_HOST_BUFFER_CREATE_READ_ONLY_BIT |
                     (copied != 0 ? (uint32_t)MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT : 0u),
            .pMemory = pages,
            .size = (VkDeviceSize)2 * PAGE,
            .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
        };
        MaarHostBuffer buffer = VK_NULL_HANDLE;
        MaarHostBufferInfo made = {.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
        assert_int_equal(maarCreateHostBuffer(rig->allocator, &info, &buffer), VK_SUCCESS);
        assert_int_equal(maarGetHostBufferInfo(rig->allocator, buffer, &made), VK_SUCCESS);
        assert_int_equal(made.copied, copied != 0 ? VK_TRUE : VK_FALSE);
        assert_int_equal(maarPushHostBuffer(rig->allocator, buffer, 0, VK_WHOLE_SIZE), VK_SUCCESS);
        if (copied != 0) {
            MaarAllocationCreateInfo upload = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
            MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
            assert_int_equal(maarChooseMemoryType(rig->allocator, UINT32_MAX, &upload, &choice),
                             VK_SUCCESS);
            assert_int_equal(rig_info(rig, made.allocation).memoryTypeIndex,
                             choice.memoryTypeIndex);
            assert_int_equal(
                ((unsigned char*)maarGetMappedData(rig->allocator, made.allocation))[PAGE], 0x5A);
        }
        assert_int_equal(maarPullHostBuffer(rig->allocator, buffer, 0, 1),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "hostBuffer");
        maarDestroyHostBuffer(rig->allocator, buffer);
        rig_close(rig);
    }
    assert_int_equal(mprotect(pages, (size_t)4 * PAGE, PROT_READ | PROT_WRITE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_lies_on_the_hosts_bytes),
        cmocka_unit_test(image_that_does_not_fit_says_why),
        cmocka_unit_test(results_of_the_driver_are_named),
        cmocka_unit_test(several_families_share_host_bytes),
        cmocka_unit_test(read_only_memory_is_never_written),
    };
    return cmocka_run_group_tests_name("host_images", tests, make_region, free_region);
}
