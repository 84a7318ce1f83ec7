/*
 * Memory that is exported and imported, by descriptors: on lavapipe, where bytes are really shared,
 * and on a simulated device, which offers dma-bufs and dedicated blocks too and notices every
 * breach of Vulkan's rules.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/interop/sharing_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { BUFFER_SIZE = 100000, CYCLES = 10000 };

static struct rig rig;

static int open_sharing(void** state)
{
    *state = sharing_start(&rig, NULL) ? &rig : NULL;
    if (*state != NULL) {
        MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
        assert_int_equal(maarGetSharingInfo(rig.allocator, &info), VK_SUCCESS);
        if (info.memoryFd != VK_TRUE) {
            rig_close(&rig);
            *state = NULL;
            print_message("the device has no VK_KHR_external_memory_fd\n");
        }
    }
    return 0;
}

static bool fd_is_open(int fd)
{
    return fcntl(fd, F_GETFD) != -1;
}

static void fill(unsigned char* bytes, VkDeviceSize size, unsigned salt)
{
    for (VkDeviceSize i = 0; i < size; ++i) {
        bytes[i] = (unsigned char)(i * 31 + salt);
    }
}

static void expect_filled(const unsigned char* bytes, VkDeviceSize size, unsigned salt)
{
    for (VkDeviceSize i = 0; i < size; ++i) {
        if (bytes[i] != (unsigned char)(i * 31 + salt)) {
            fail_msg("byte %llu is %u", (unsigned long long)i, bytes[i]);
        }
    }
}

static void imported_buffer_sees_the_bytes_both_ways(void** state)
{
    rig_need(state, true, "");
    VkBuffer first = VK_NULL_HANDLE;
    VkBuffer other = VK_NULL_HANDLE;
    VkBuffer copy = VK_NULL_HANDLE;
    const MaarAllocation neighbour = rig_create_shared_buffer(&rig, BUFFER_SIZE, &first);
    const MaarAllocation own = rig_create_shared_buffer(&rig, BUFFER_SIZE, &other);
    unsigned char* neighbour_bytes = maarGetMappedData(rig.allocator, neighbour);
    unsigned char* own_bytes = maarGetMappedData(rig.allocator, own);
    fill(neighbour_bytes, BUFFER_SIZE, 1);
    fill(own_bytes, BUFFER_SIZE, 2);

    const MaarExportedMemory exported = rig_export(&rig, own);
    assert_int_equal(exported.blockId, rig_info(&rig, neighbour).blockId);
    assert_int_equal(exported.offset, rig_info(&rig, own).offset);
    assert_true(exported.offset > 0 || rig_info(&rig, neighbour).offset > 0);
    assert_int_equal(exported.blockSize, rig_info(&rig, own).blockSize);
    const MaarImportInfo info = sharing_import_info(&exported);
    const VkBufferCreateInfo buffer = rig_buffer_info(BUFFER_SIZE);
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarImportBuffer(rig.allocator, &buffer, &info, &copy, &imported), VK_SUCCESS);
    assert_int_equal(maarPeekFd(exported.handle), -1);
    maarDestroyExternalHandle(rig.allocator, exported.handle);

    void* mapped = NULL;
    assert_int_equal(maarMapMemory(rig.allocator, imported, &mapped), VK_SUCCESS);
    unsigned char* seen = (unsigned char*)mapped + exported.offset;
    expect_filled(seen, BUFFER_SIZE, 2);
    fill(seen, BUFFER_SIZE, 3);
    expect_filled(own_bytes, BUFFER_SIZE, 3);
    expect_filled(neighbour_bytes, BUFFER_SIZE, 1);
    assert_true(rig_info(&rig, imported).dedicated == VK_TRUE);
    assert_int_equal(rig_info(&rig, imported).size, exported.blockSize);
    rig_check(&rig);

    /* The exporter goes first; the bytes stay. */
    maarDestroyBuffer(rig.allocator, other, own);
    maarDestroyBuffer(rig.allocator, first, neighbour);
    assert_int_equal(maarTrim(rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    expect_filled(seen, BUFFER_SIZE, 3);
    maarUnmapMemory(rig.allocator, imported);
    maarDestroyBuffer(rig.allocator, copy, imported);
}

static void block_is_exported_once_for_all_in_it(void** state)
{
    rig_need(state, rig.simulated, "calls of the driver are counted on the simulated device");
    VkBuffer buffers[3];
    MaarAllocation allocations[3];
    for (uint32_t i = 0; i < 3; ++i) {
        allocations[i] = rig_create_shared_buffer(&rig, 4096, &buffers[i]);
    }
    for (uint32_t i = 0; i < 3; ++i) {
        const MaarExportedMemory exported = rig_export(&rig, allocations[i]);
        assert_true(maarPeekFd(exported.handle) > 2);
        assert_int_equal(fcntl(maarPeekFd(exported.handle), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        maarDestroyExternalHandle(rig.allocator, exported.handle);
    }
    assert_int_equal(rig_calls(&rig, "vkGetMemoryFdKHR"), 1);
    assert_int_equal(rig_calls(&rig, "vkAllocateMemory"), 1);
    for (uint32_t i = 0; i < 3; ++i) {
        maarDestroyBuffer(rig.allocator, buffers[i], allocations[i]);
    }
}

static void handle_is_taken_at_most_once(void** state)
{
    rig_need(state, true, "");
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&rig, 4096, &buffer);
    const uint32_t before = rig_count_fds();
    const MaarExportedMemory exported = rig_export(&rig, allocation);
    MaarExternalHandle copy = VK_NULL_HANDLE;
    assert_int_equal(maarDuplicateExternalHandle(rig.allocator, exported.handle, &copy),
                     VK_SUCCESS);
    int fd = -1;
    assert_int_equal(maarTakeFd(rig.allocator, exported.handle, &fd), VK_SUCCESS);
    assert_true(fd_is_open(fd));
    int again = 7;
    assert_int_equal(maarTakeFd(rig.allocator, exported.handle, &again),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    rig_expect_message(&rig, MAAR_MESSAGE_ID_HANDLE_EMPTY);
    assert_int_equal(again, -1);
    maarDestroyExternalHandle(rig.allocator, exported.handle);
    assert_true(fd_is_open(fd));
    assert_int_equal(close(fd), 0);
    const int shown = maarPeekFd(copy);
    assert_true(fd_is_open(shown));
    maarDestroyExternalHandle(rig.allocator, copy);
    assert_false(fd_is_open(shown));
    /* What is left is the block's own. */
    assert_int_equal(rig_count_fds(), before + 1);
    maarDestroyBuffer(rig.allocator, buffer, allocation);
    rig_forget_messages(&rig);
}

/* Whatever goes wrong, the descriptor stays open and the caller's. */
static void failed_import_leaves_the_handle(void** state)
{
    rig_need(state, !rig_is("swiftshader"), "SwiftShader maps whatever file it is given");
    FILE* file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fseek(file, 200000, SEEK_SET), 0);
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fflush(file), 0);
    const int foreign = dup(fileno(file));
    assert_true(foreign >= 0);
    MaarExternalHandle handle = VK_NULL_HANDLE;
    assert_int_equal(maarWrapFd(rig.allocator, foreign, &handle), VK_SUCCESS);
    MaarImportInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = handle,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
        .blockSize = 65536,
    };
    const uint32_t before = rig_count_fds();
    const MaarStatistics was = rig_statistics(&rig, VK_NULL_HANDLE);
    MaarAllocation allocation = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < 100; ++i) {
        const VkResult result = maarImportMemory(rig.allocator, &info, &allocation);
        assert_true(rig.simulated ? result == VK_ERROR_INVALID_EXTERNAL_HANDLE
                                  : result != VK_SUCCESS);
        assert_true(allocation == VK_NULL_HANDLE);
        assert_int_equal(maarPeekFd(handle), foreign);
        assert_true(fd_is_open(foreign));
    }
    assert_int_equal(rig_count_fds(), before);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).blockBytes, was.blockBytes);
    maarDestroyExternalHandle(rig.allocator, handle);
    assert_false(fd_is_open(foreign));
    assert_int_equal(fclose(file), 0);
}

/* Closed behind Maar's back: not a lack of descriptors, and nothing of the driver's. */
static void handle_that_somebody_closed_is_reported(void** state)
{
    rig_need(state, true, "");
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarExternalHandle copy = (MaarExternalHandle)(uintptr_t)1;
    MaarAllocation imported = (MaarAllocation)(uintptr_t)1;
    const MaarAllocation allocation = rig_create_shared_buffer(&rig, 4096, &buffer);
    const MaarExportedMemory exported = rig_export(&rig, allocation);
    const MaarImportInfo info = sharing_import_info(&exported);
    const MaarStatistics was = rig_statistics(&rig, VK_NULL_HANDLE);
    rig_forget_messages(&rig);
    assert_int_equal(close(maarPeekFd(exported.handle)), 0);
    assert_int_equal(maarImportMemory(rig.allocator, &info, &imported),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_true(imported == VK_NULL_HANDLE);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_HANDLE_CLOSED, "pImportInfo->handle");
    assert_int_equal(maarDuplicateExternalHandle(rig.allocator, exported.handle, &copy),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_null(copy);
    rig_expect_message(&rig, MAAR_MESSAGE_ID_HANDLE_CLOSED);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).blockBytes, was.blockBytes);
    maarDestroyExternalHandle(rig.allocator, exported.handle);
    maarDestroyBuffer(rig.allocator, buffer, allocation);
}

/* A size above the exporter's does not reach a driver if the system knows the size of the handle.
 * lavapipe would refuse it, and close the descriptor that it was given although it must not. */
static void import_of_a_wrong_size_is_refused(void** state)
{
    rig_need(state, !rig_is("swiftshader"), "SwiftShader maps a file at whatever size it receives");
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&rig, 4096, &buffer);
    const uint32_t before = rig_count_fds();
    const MaarExportedMemory exported = rig_export(&rig, allocation);
    MaarImportInfo info = sharing_import_info(&exported);
    info.blockSize = exported.blockSize * 2;
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_true(maarImportMemory(rig.allocator, &info, &imported) != VK_SUCCESS);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NOT_IMPORTABLE, "blockSize");
    assert_true(fd_is_open(maarPeekFd(exported.handle)));
    /* No device has so much, whatever is known of the handle. */
    info.blockSize = (VkDeviceSize)1 << 60;
    assert_int_equal(maarImportMemory(rig.allocator, &info, &imported),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NOT_IMPORTABLE, "blockSize");
    assert_true(fd_is_open(maarPeekFd(exported.handle)));
    info.blockSize = exported.blockSize;
    assert_int_equal(maarImportMemory(rig.allocator, &info, &imported), VK_SUCCESS);
    assert_int_equal(maarPeekFd(exported.handle), -1);
    maarDestroyExternalHandle(rig.allocator, exported.handle);
    maarFreeMemory(rig.allocator, imported);
    assert_int_equal(rig_count_fds(), before + 1);
    maarDestroyBuffer(rig.allocator, buffer, allocation);
}

/* The handle that came in goes out again, without the driver. */
static void imported_memory_can_be_passed_on(void** state)
{
    rig_need(state, true, "");
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&rig, 4096, &buffer);
    unsigned char* bytes = maarGetMappedData(rig.allocator, allocation);
    fill(bytes, 4096, 9);
    MaarExportedMemory exported = rig_export(&rig, allocation);
    MaarAllocation imported[3];
    for (uint32_t i = 0; i < 3; ++i) {
        const MaarImportInfo info = sharing_import_info(&exported);
        assert_int_equal(maarImportMemory(rig.allocator, &info, &imported[i]), VK_SUCCESS);
        maarDestroyExternalHandle(rig.allocator, exported.handle);
        const VkDeviceSize offset = exported.offset;
        exported = rig_export(&rig, imported[i]);
        assert_int_equal(exported.offset, 0);
        exported.offset = offset;
    }
    maarDestroyExternalHandle(rig.allocator, exported.handle);
    void* mapped = NULL;
    assert_int_equal(maarMapMemory(rig.allocator, imported[2], &mapped), VK_SUCCESS);
    expect_filled((unsigned char*)mapped + exported.offset, 4096, 9);
    maarUnmapMemory(rig.allocator, imported[2]);
    for (uint32_t i = 0; i < 3; ++i) {
        maarFreeMemory(rig.allocator, imported[i]);
    }
    maarDestroyBuffer(rig.allocator, buffer, allocation);
}

/* How often a text is in the dump. */
static uint32_t count_in_dump(const char* words)
{
    const MaarDumpInfo info = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO, .detailed = VK_TRUE};
    size_t size = 0;
    assert_int_equal(maarWriteDump(rig.allocator, &info, &size, NULL), VK_SUCCESS);
    char* text = malloc(size);
    assert_non_null(text);
    assert_int_equal(maarWriteDump(rig.allocator, &info, &size, text), VK_SUCCESS);
    uint32_t count = 0;
    for (const char* at = text; (at = strstr(at, words)) != NULL; at += strlen(words)) {
        ++count;
    }
    free(text);
    return count;
}

static void dump_shows_what_is_shared(void** state)
{
    rig_need(state, true, "");
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&rig, 4096, &buffer);
    const MaarExportedMemory exported = rig_export(&rig, allocation);
    const MaarImportInfo info = sharing_import_info(&exported);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const MaarAllocation plain = rig_allocate(&rig, 4096, &how);
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarImportMemory(rig.allocator, &info, &imported), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, exported.handle);
    assert_int_equal(count_in_dump("\"handleTypes\""), 2);
    assert_int_equal(count_in_dump("\"imported\": true"), 1);
    assert_int_equal(count_in_dump("\"imported\": false"), 1);
    maarFreeMemory(rig.allocator, imported);
    maarFreeMemory(rig.allocator, plain);
    maarDestroyBuffer(rig.allocator, buffer, allocation);
}

static void ten_thousand_cycles_leak_no_descriptor(void** state)
{
    rig_need(state, true, "");
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&rig, 4096, &buffer);
    maarDestroyExternalHandle(rig.allocator, rig_export(&rig, allocation).handle);
    const uint32_t before = rig_count_fds();
    const MaarStatistics was = rig_statistics(&rig, VK_NULL_HANDLE);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    for (uint32_t i = 0; i < CYCLES; ++i) {
        const MaarExportedMemory exported = rig_export(&rig, allocation);
        const MaarImportInfo import = sharing_import_info(&exported);
        VkBuffer copy = VK_NULL_HANDLE;
        MaarAllocation imported = VK_NULL_HANDLE;
        assert_int_equal(maarImportBuffer(rig.allocator, &info, &import, &copy, &imported),
                         VK_SUCCESS);
        maarDestroyExternalHandle(rig.allocator, exported.handle);
        maarDestroyBuffer(rig.allocator, copy, imported);
    }
    assert_int_equal(rig_count_fds(), before);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).blockBytes, was.blockBytes);
    maarDestroyBuffer(rig.allocator, buffer, allocation);
}

static void ordinary_memory_is_not_exported(void** state)
{
    rig_need(state, true, "");
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const MaarAllocation allocation = rig_allocate(&rig, 4096, &how);
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    assert_int_equal(maarExportMemory(rig.allocator, allocation,
                                      VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, &exported),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(&rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE);
    maarFreeMemory(rig.allocator, allocation);
}

/* Exportable memory is a class of its own: what is not shared never lies in it. */
static void exportable_memory_lies_apart(void** state)
{
    rig_need(state, true, "");
    VkBuffer shared = VK_NULL_HANDLE;
    const MaarAllocation exportable = rig_create_shared_buffer(&rig, 4096, &shared);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const MaarAllocation plain = rig_allocate(&rig, 4096, &how);
    assert_int_not_equal(rig_info(&rig, exportable).blockId, rig_info(&rig, plain).blockId);
    maarFreeMemory(rig.allocator, plain);
    maarDestroyBuffer(rig.allocator, shared, exportable);
}

static void pool_of_exportable_memory_serves_plain_requests(void** state)
{
    rig_need(state, true, "");
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    const MaarSharingQuery query = {
        .sType = MAAR_STRUCTURE_TYPE_SHARING_QUERY,
        .pBufferInfo = &info,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarSharingSupport support = {.sType = MAAR_STRUCTURE_TYPE_SHARING_SUPPORT};
    assert_int_equal(maarGetSharingSupport(rig.allocator, &query, &support), VK_SUCCESS);
    assert_true(support.exportable && support.importable && !support.dedicatedOnly);
    assert_true(support.memoryTypeBits != 0);
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_int_equal(maarChooseMemoryType(rig.allocator, support.memoryTypeBits, &how, &choice),
                     VK_SUCCESS);
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &export,
        .memoryTypeIndex = choice.memoryTypeIndex,
        .blockSize = MIB,
        .minBlockCount = 1,
    };
    const MaarPool pool = rig_create_pool(&rig, &pool_info);
    how.pool = pool;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &buffer, &allocation),
                     VK_SUCCESS);
    const MaarExportedMemory exported = rig_export(&rig, allocation);
    assert_int_equal(exported.blockSize, MIB);
    maarDestroyExternalHandle(rig.allocator, exported.handle);
    maarDestroyBuffer(rig.allocator, buffer, allocation);
    maarDestroyPool(rig.allocator, pool);
}

static void image_is_shared_whole(void** state)
{
    rig_need(state, true, "");
    const VkImageCreateInfo info = rig_image_info(64, 64);
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    VkImage image = VK_NULL_HANDLE;
    VkImage copy = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig.allocator, &info, &how, &image, &allocation), VK_SUCCESS);
    const MaarExportedMemory exported = rig_export(&rig, allocation);
    const MaarImportInfo import = sharing_import_info(&exported);
    assert_int_equal(maarImportImage(rig.allocator, &info, &import, &copy, &imported), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, exported.handle);
    maarDestroyImage(rig.allocator, copy, imported);
    maarDestroyImage(rig.allocator, image, allocation);
}

static void buffer_beyond_its_block_is_refused(void** state)
{
    rig_need(state, true, "");
    VkBuffer buffer = VK_NULL_HANDLE;
    VkBuffer copy = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&rig, 4096, &buffer);
    MaarAllocation imported = VK_NULL_HANDLE;
    const MaarExportedMemory exported = rig_export(&rig, allocation);
    MaarImportInfo import = sharing_import_info(&exported);
    import.offset = exported.blockSize - 2048;
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    assert_int_equal(maarImportBuffer(rig.allocator, &info, &import, &copy, &imported),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(&rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT);
    assert_true(copy == VK_NULL_HANDLE && imported == VK_NULL_HANDLE);
    assert_true(fd_is_open(maarPeekFd(exported.handle)));
    maarDestroyExternalHandle(rig.allocator, exported.handle);
    maarDestroyBuffer(rig.allocator, buffer, allocation);
}

static void misuse_is_named(void** state)
{
    rig_need(state, true, "");
    MaarExternalHandle handle = VK_NULL_HANDLE;
    assert_int_equal(maarWrapFd(rig.allocator, -1, &handle), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "fd");
    assert_int_equal(maarWrapFd(rig.allocator, 900000, &handle), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    rig_expect_message(&rig, MAAR_MESSAGE_ID_HANDLE_CLOSED);
    assert_int_equal(maarWrapWin32Handle(rig.allocator, &rig, &handle),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    const MaarExportInfo none = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO};
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &none,
    };
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePool(rig.allocator, &pool_info, &pool),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_EMPTY_FLAGS, "handleTypes");
    const MaarExportInfo win32 = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &win32;
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &buffer, &allocation),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_forget_messages(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_sharing, rig_teardown)
        CASE(imported_buffer_sees_the_bytes_both_ways),
        CASE(block_is_exported_once_for_all_in_it),
        CASE(handle_is_taken_at_most_once),
        CASE(failed_import_leaves_the_handle),
        CASE(handle_that_somebody_closed_is_reported),
        CASE(import_of_a_wrong_size_is_refused),
        CASE(imported_memory_can_be_passed_on),
        CASE(dump_shows_what_is_shared),
        CASE(ten_thousand_cycles_leak_no_descriptor),
        CASE(ordinary_memory_is_not_exported),
        CASE(exportable_memory_lies_apart),
        CASE(pool_of_exportable_memory_serves_plain_requests),
        CASE(image_is_shared_whole),
        CASE(buffer_beyond_its_block_is_refused),
        CASE(misuse_is_named),
#undef CASE
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
