/*
 * Imports for objects that exist already, by flags, and what a failed import says: on a simulated
 * device, whose dma-bufs allow two memory types.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/interop/sharing_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define DMA_BUF VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT

static struct rig* rig;
/* The memory types of a dma-buf: one that the host sees, and one that it does not see. */
static uint32_t visible_type;
static uint32_t local_type;

/* Opens a device whose dma-bufs may be imported as the first type that the host does not see and
 * as the first one that it sees. */
static void start(void)
{
    MaarSimulatedSharingInfo sharing = *rig_sharing_everything();
    const MaarSimulatedProfile* profile = rig_profile_discrete();
    visible_type = local_type = VK_MAX_MEMORY_TYPES;
    for (uint32_t i = profile->typeCount; i-- > 0;) {
        const VkMemoryPropertyFlags flags = profile->types[i].flags;
        if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
            visible_type = i;
        } else if ((flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0) {
            local_type = i;
        }
    }
    assert_true(visible_type < VK_MAX_MEMORY_TYPES && local_type < VK_MAX_MEMORY_TYPES);
    sharing.dmaBufTypeBits = 1u << visible_type | 1u << local_type;
    const struct rig_setup setup = {.profile = profile, .sharing = &sharing};
    rig = rig_begin(&setup);
}

/* A descriptor of memory that an exporter made for an object of its own. */
static MaarExportedMemory export_buffer(VkExternalMemoryHandleTypeFlagBits type, VkDeviceSize size,
                                        VkBuffer* buffer, MaarAllocation* allocation)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = type,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    const VkBufferCreateInfo info = rig_buffer_info(size);
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, buffer, allocation), VK_SUCCESS);
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    assert_int_equal(maarExportMemory(rig->allocator, *allocation, type, &exported), VK_SUCCESS);
    return exported;
}

/* The program's own objects. */
static VkBuffer make_own_buffer(VkDeviceSize size, VkExternalMemoryHandleTypeFlags types)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = types,
    };
    VkBufferCreateInfo info = rig_buffer_info(size);
    info.pNext = &external;
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(vkCreateBuffer(rig->device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static VkImage make_own_image(uint32_t side, VkExternalMemoryHandleTypeFlags types)
{
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = types,
    };
    VkImageCreateInfo info = rig_image_info(side, side);
    info.pNext = &external;
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(vkCreateImage(rig->device, &info, NULL, &image), VK_SUCCESS);
    return image;
}

static MaarImportInfo import_as(const MaarExportedMemory* exported, uint32_t type)
{
    MaarImportInfo import = sharing_import_info(exported);
    import.memoryTypeIndex = type;
    return import;
}

static void memory_is_imported_for_a_buffer_that_exists(void** state)
{
    (void)state;
    start();
    VkBuffer first = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const MaarExportedMemory exported = export_buffer(OPAQUE, 4096, &first, &memory);
    assert_true(exported.dedicated == VK_TRUE);
    const VkBuffer own = make_own_buffer(4096, OPAQUE);
    MaarImportInfo import = sharing_import_info(&exported);
    import.dedicatedBuffer = own;
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported), VK_SUCCESS);
    assert_int_equal(maarBindBuffer(rig->allocator, imported, 0, own, NULL), VK_SUCCESS);
    assert_int_equal(maarPeekFd(exported.handle), -1);
    assert_true(rig_info(rig, imported).dedicated == VK_TRUE);
    rig_check(rig);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, own, imported);
    maarDestroyBuffer(rig->allocator, first, memory);
}

static void memory_is_imported_for_an_image_that_exists(void** state)
{
    (void)state;
    start();
    const VkImageCreateInfo info = rig_image_info(64, 64);
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = OPAQUE,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    VkImage first = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &info, &how, &first, &memory), VK_SUCCESS);
    const MaarExportedMemory exported = rig_export(rig, memory);
    const VkImage own = make_own_image(64, OPAQUE);
    MaarImportInfo import = sharing_import_info(&exported);
    import.dedicatedImage = own;
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported), VK_SUCCESS);
    assert_int_equal(maarBindImage(rig->allocator, imported, 0, own, NULL), VK_SUCCESS);
    rig_check(rig);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyImage(rig->allocator, own, imported);
    maarDestroyImage(rig->allocator, first, memory);
}

/* An object of the program's own in a block that holds others: its types restrict the import. */
static void types_of_an_object_restrict_a_block_that_is_shared(void** state)
{
    (void)state;
    start();
    VkBuffer first = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const MaarExportedMemory exported = export_buffer(DMA_BUF, 4096, &first, &memory);
    const VkBuffer own = make_own_buffer(4096, DMA_BUF);
    MaarImportInfo import = import_as(&exported, MAAR_MEMORY_TYPE_NONE);
    import.dedicated = VK_FALSE;
    MaarAllocation imported = VK_NULL_HANDLE;
    for (uint32_t round = 0; round < 2; ++round) {
        const uint32_t type = round == 0 ? visible_type : local_type;
        MaarExternalHandle copy = VK_NULL_HANDLE;
        assert_int_equal(maarDuplicateExternalHandle(rig->allocator, exported.handle, &copy),
                         VK_SUCCESS);
        import.handle = copy;
        import.memoryTypeBits = 1u << type;
        assert_int_equal(maarImportMemory(rig->allocator, &import, &imported), VK_SUCCESS);
        assert_int_equal(rig_info(rig, imported).memoryTypeIndex, type);
        maarDestroyExternalHandle(rig->allocator, copy);
        maarFreeMemory(rig->allocator, imported);
    }
    vkDestroyBuffer(rig->device, own, NULL);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, first, memory);
}

static void flags_choose_among_the_types_of_a_handle(void** state)
{
    (void)state;
    start();
    VkBuffer first = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const MaarExportedMemory exported = export_buffer(DMA_BUF, 4096, &first, &memory);
    const struct {
        VkMemoryPropertyFlags required;
        VkMemoryPropertyFlags preferred;
        uint32_t type;
    } rounds[] = {
        {0, 0, local_type},
        {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, 0, visible_type},
        {0, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, visible_type},
        {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0, local_type},
    };
    for (uint32_t i = 0; i < sizeof rounds / sizeof rounds[0]; ++i) {
        MaarExternalHandle copy = VK_NULL_HANDLE;
        assert_int_equal(maarDuplicateExternalHandle(rig->allocator, exported.handle, &copy),
                         VK_SUCCESS);
        MaarImportInfo import = import_as(&exported, MAAR_MEMORY_TYPE_NONE);
        import.handle = copy;
        import.dedicatedBuffer = make_own_buffer(4096, DMA_BUF);
        import.requiredFlags = rounds[i].required;
        import.preferredFlags = rounds[i].preferred;
        MaarAllocation imported = VK_NULL_HANDLE;
        assert_int_equal(maarImportMemory(rig->allocator, &import, &imported), VK_SUCCESS);
        assert_int_equal(rig_info(rig, imported).memoryTypeIndex, rounds[i].type);
        maarDestroyExternalHandle(rig->allocator, copy);
        maarDestroyBuffer(rig->allocator, import.dedicatedBuffer, imported);
    }
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, first, memory);
}

static void handle_says_what_is_behind_it(void** state)
{
    (void)state;
    start();
    VkBuffer buffers[2];
    MaarAllocation memory[2];
    const MaarExportedMemory buf = export_buffer(DMA_BUF, 8192, &buffers[0], &memory[0]);
    const MaarExportedMemory opaque = export_buffer(OPAQUE, 8192, &buffers[1], &memory[1]);
    MaarExternalHandleInfo info = {.sType = MAAR_STRUCTURE_TYPE_EXTERNAL_HANDLE_INFO};
    assert_int_equal(maarGetExternalHandleInfo(rig->allocator, buf.handle, DMA_BUF, &info),
                     VK_SUCCESS);
    assert_int_equal(info.memoryTypeBits, 1u << visible_type | 1u << local_type);
    assert_true(info.fromDriver == VK_TRUE);
    assert_true(info.size == 0 || info.size >= 8192);
    assert_int_equal(rig_calls(rig, "vkGetMemoryFdPropertiesKHR"), 1);
    assert_int_equal(maarGetExternalHandleInfo(rig->allocator, opaque.handle, OPAQUE, &info),
                     VK_SUCCESS);
    assert_true((info.memoryTypeBits >> opaque.memoryTypeIndex & 1u) != 0);
    assert_true(info.fromDriver == VK_FALSE);
    assert_int_equal(rig_calls(rig, "vkGetMemoryFdPropertiesKHR"), 1); /* Vulkan forbids it */
    assert_true(maarPeekFd(buf.handle) >= 0 && maarPeekFd(opaque.handle) >= 0);

    assert_int_equal(maarGetExternalHandleInfo(rig->allocator, opaque.handle, DMA_BUF, &info),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_IMPORTABLE,
                              "VK_ERROR_INVALID_EXTERNAL_HANDLE");
    assert_int_equal(info.memoryTypeBits, 0);
    assert_int_equal(maarGetExternalHandleInfo(rig->allocator, VK_NULL_HANDLE, DMA_BUF, &info),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "handle");
    assert_int_equal(
        maarGetExternalHandleInfo(rig->allocator, buf.handle,
                                  (VkExternalMemoryHandleTypeFlagBits)(DMA_BUF | OPAQUE), &info),
        VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "handleType");
    assert_int_equal(maarGetExternalHandleInfo(rig->allocator, buf.handle,
                                               VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP_BIT,
                                               &info),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_forget_messages(rig);
    rig_set_fault(rig, "vkGetMemoryFdPropertiesKHR", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarGetExternalHandleInfo(rig->allocator, buf.handle, DMA_BUF, &info),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    int fd = -1;
    assert_int_equal(maarTakeFd(rig->allocator, opaque.handle, &fd), VK_SUCCESS);
    assert_int_equal(close(fd), 0);
    assert_int_equal(maarGetExternalHandleInfo(rig->allocator, opaque.handle, OPAQUE, &info),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    rig_expect_message(rig, MAAR_MESSAGE_ID_HANDLE_EMPTY);
    maarDestroyExternalHandle(rig->allocator, buf.handle);
    maarDestroyExternalHandle(rig->allocator, opaque.handle);
    for (uint32_t i = 0; i < 2; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], memory[i]);
    }
}

/* The argument at fault, and the types that would do. */
static void failed_import_names_what_would_do(void** state)
{
    (void)state;
    start();
    VkBuffer first = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const MaarExportedMemory exported = export_buffer(DMA_BUF, 4096, &first, &memory);
    MaarAllocation imported = VK_NULL_HANDLE;
    char would_do[40];
    (void)snprintf(would_do, sizeof would_do, "types 0x%X would do",
                   1u << visible_type | 1u << local_type);
    MaarImportInfo import = import_as(&exported, MAAR_MEMORY_TYPE_NONE);
    import.dedicated = VK_FALSE;
    const MaarImportInfo good = import;
    uint32_t other = 0;
    while (other == visible_type || other == local_type) {
        ++other;
    }
    import.memoryTypeIndex = other;
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, "pImportInfo->memoryTypeIndex");
    rig_forget_messages(rig);
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, would_do);
    import = good;
    import.requiredFlags = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, "requiredFlags");
    import = good;
    import.memoryTypeBits = 1u << other;
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, "memoryTypeBits");
    /* Two at once: all sides are listed. */
    import.requiredFlags = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, "memoryTypeBits");

    import = good;
    rig_set_fault(rig, "vkAllocateMemory", 1, 8, VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_IMPORTABLE,
                              "VK_ERROR_INVALID_EXTERNAL_HANDLE");
    rig_set_fault(rig, "vkAllocateMemory", 0, 0, VK_SUCCESS);
    assert_true(maarPeekFd(exported.handle) >= 0);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, first, memory);
}

static void objects_that_do_not_suit_the_call_are_named(void** state)
{
    (void)state;
    start();
    VkBuffer first = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const MaarExportedMemory exported = export_buffer(OPAQUE, 4096, &first, &memory);
    const VkBuffer large = make_own_buffer(65536, OPAQUE);
    const VkImage image = make_own_image(16, OPAQUE);
    const MaarImportInfo good = sharing_import_info(&exported);
    MaarAllocation imported = VK_NULL_HANDLE;
    VkBuffer copy = VK_NULL_HANDLE;
    VkImage copied = VK_NULL_HANDLE;
    MaarImportInfo import = good;
    import.dedicatedBuffer = large;
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, "object");
    import.dedicatedImage = image;
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "dedicatedImage");
    import.dedicatedBuffer = VK_NULL_HANDLE;
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &copy, &imported),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "maarImportMemory");
    const VkImageCreateInfo image_info = rig_image_info(16, 16);
    assert_int_equal(maarImportImage(rig->allocator, &image_info, &import, &copied, &imported),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "maarImportMemory");
    import = good;
    assert_int_equal(maarImportMemory(rig->allocator, &import, &imported),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_IMPORTABLE, "dedicatedBuffer");
    assert_true(maarPeekFd(exported.handle) >= 0);
    vkDestroyBuffer(rig->device, large, NULL);
    vkDestroyImage(rig->device, image, NULL);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, first, memory);
}

static int end(void** state)
{
    (void)state;
    rig_close(rig);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(memory_is_imported_for_a_buffer_that_exists, end),
        cmocka_unit_test_teardown(memory_is_imported_for_an_image_that_exists, end),
        cmocka_unit_test_teardown(types_of_an_object_restrict_a_block_that_is_shared, end),
        cmocka_unit_test_teardown(flags_choose_among_the_types_of_a_handle, end),
        cmocka_unit_test_teardown(handle_says_what_is_behind_it, end),
        cmocka_unit_test_teardown(failed_import_names_what_would_do, end),
        cmocka_unit_test_teardown(objects_that_do_not_suit_the_call_are_named, end),
    };
    return cmocka_run_group_tests_name("imports", tests, NULL, NULL);
}
