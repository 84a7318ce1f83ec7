/*
 * Files of the system as stores and sources: opened, reserved, removed, cut off and altered.
 */
#include "maar/stores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/residency/store_ring.h"
#include "support/sample_bytes.h"

enum { FILE_SIZE = 1 << 20, LENGTH = 100001 };

static char path[64];
static uint8_t source[LENGTH];
static uint8_t target[LENGTH];
static MaarFileStore table;

static int name_file(void** state)
{
    static int number;
    (void)state;
    (void)snprintf(path, sizeof path, "maar_test_file_store_%d.tmp", ++number);
    (void)remove(path);
    table = (MaarFileStore){.sType = MAAR_STRUCTURE_TYPE_FILE_STORE};
    sample_fill(SAMPLE_RANDOM, 4, source, sizeof source);
    return 0;
}

static int remove_file(void** state)
{
    (void)state;
    maarCloseFileStore(&table);
    (void)remove(path);
    return 0;
}

static VkResult open_file(MaarFileStoreOpenFlags flags, VkDeviceSize size)
{
    const MaarFileStoreOpenInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO,
        .pPath = path,
        .flags = flags,
        .size = size,
    };
    const VkResult result = maarOpenFileStore(&info, &table);
    assert_true((result == VK_SUCCESS) == (table.pfnRead != NULL));
    assert_true((result == VK_SUCCESS) == (table.pfnWrite != NULL));
    return result;
}

static bool file_exists(void)
{
    FILE* file = fopen(path, "rb");
    if (file != NULL) {
        (void)fclose(file);
    }
    return file != NULL;
}

static struct maar_store* make_store(void)
{
    struct maar_store* store = NULL;
    const struct maar_store_info info = {.file = &table, .buffer_size = 16384};
    assert_int_equal(maar_store_create(&info, &store), VK_SUCCESS);
    return store;
}

static void copies_come_back_from_a_file(void** state)
{
    static const MaarFileStoreOpenFlags ways[] = {0, MAAR_FILE_STORE_OPEN_CACHED_BIT,
                                                  MAAR_FILE_STORE_OPEN_KEEP_BIT,
                                                  MAAR_FILE_STORE_OPEN_THREADS_BIT};
    (void)state;
    for (uint32_t way = 0; way < 4; ++way) {
        struct maar_extent extents[3];
        assert_int_equal(open_file(ways[way], FILE_SIZE - 1), VK_SUCCESS);
        assert_true(table.size == FILE_SIZE && table.alignment == 4096 && table.pfnSync != NULL);
        struct maar_store* store = make_store();
        assert_true(way != 3 || !maar_store_has_ring(store));
        for (uint32_t i = 0; i < 3; ++i) {
            assert_int_equal(maar_store_write(store, i, source, LENGTH - i * 5000, &extents[i]),
                             MAAR_STORE_DONE);
        }
        assert_int_equal(maar_store_sync(store), MAAR_STORE_DONE);
        for (uint32_t i = 0; i < 3; ++i) {
            memset(target, 0, sizeof target);
            assert_int_equal(maar_store_read(store, &extents[i], target), MAAR_STORE_DONE);
            assert_memory_equal(target, source, LENGTH - i * 5000);
        }
        maar_store_destroy(store);
        maarCloseFileStore(&table);
        assert_true(table.pfnRead == NULL && table.pUserData == NULL);
        maarCloseFileStore(&table);
        assert_true(file_exists() == (way == 2));
        (void)remove(path);
    }
}

/* A file that is kept is opened again, perhaps by another process. */
static void file_that_is_kept_is_opened_again(void** state)
{
    struct maar_extent extent;
    (void)state;
    assert_int_equal(open_file(MAAR_FILE_STORE_OPEN_KEEP_BIT, FILE_SIZE), VK_SUCCESS);
    struct maar_store* store = make_store();
    assert_int_equal(maar_store_write(store, 8, source, LENGTH, &extent), MAAR_STORE_DONE);
    maar_store_destroy(store);
    maarCloseFileStore(&table);
    assert_int_equal(open_file(0, FILE_SIZE), VK_ERROR_INITIALIZATION_FAILED); /* it exists */
    assert_int_equal(open_file(MAAR_FILE_STORE_OPEN_EXISTING_BIT, 0), VK_SUCCESS);
    assert_true(table.size == FILE_SIZE);
    store = make_store();
    extent.node = MAAR_STORE_NO_NODE;
    assert_int_equal(maar_store_read(store, &extent, target), MAAR_STORE_DONE);
    assert_memory_equal(target, source, LENGTH);
    maar_store_destroy(store);
    maarCloseFileStore(&table);
    assert_true(file_exists());
    /* It may be opened with more bytes than it has. */
    assert_int_equal(open_file(MAAR_FILE_STORE_OPEN_EXISTING_BIT, 2 * FILE_SIZE), VK_SUCCESS);
    assert_true(table.size == 2 * FILE_SIZE);
}

static void rewrite_file(const uint8_t* bytes, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void require_file(const uint8_t* bytes, size_t size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    memset(target, 0, sizeof target);
    assert_int_equal(fread(target, 1, sizeof target, file), size);
    assert_memory_equal(target, bytes, size);
    assert_int_equal(fclose(file), 0);
}

static void file_altered_behind_our_back_is_noticed(void** state)
{
    struct maar_extent extent;
    (void)state;
#if defined(_WIN32)
    print_message("skipped: Windows lets nobody write the file meanwhile\n");
    skip();
#endif
    uint8_t* bytes = malloc(FILE_SIZE);
    assert_non_null(bytes);
    assert_int_equal(
        open_file(MAAR_FILE_STORE_OPEN_KEEP_BIT | MAAR_FILE_STORE_OPEN_CACHED_BIT, FILE_SIZE),
        VK_SUCCESS);
    struct maar_store* store = make_store();
    assert_int_equal(maar_store_write(store, 8, source, LENGTH, &extent), MAAR_STORE_DONE);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, FILE_SIZE, file), FILE_SIZE);
    assert_int_equal(fclose(file), 0);
    bytes[extent.offset + 5000] ^= 1;
    rewrite_file(bytes, FILE_SIZE);
    assert_int_equal(maar_store_read(store, &extent, target), MAAR_STORE_DAMAGED);
    bytes[extent.offset + 5000] ^= 1;
    rewrite_file(bytes, FILE_SIZE);
    assert_int_equal(maar_store_read(store, &extent, target), MAAR_STORE_DONE);
    static const size_t cuts[] = {0, 1, 4096, 60000, LENGTH};
    for (uint32_t i = 0; i < 5; ++i) {
        rewrite_file(bytes, (size_t)extent.offset + cuts[i]);
        assert_int_equal(maar_store_read(store, &extent, target), MAAR_STORE_FAILED);
    }
    maar_store_destroy(store);
    free(bytes);
}

static void wrong_openings_fail(void** state)
{
    MaarFileStoreOpenInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO, .pPath = path, .size = FILE_SIZE};
    (void)state;
    assert_int_equal(maarOpenFileStore(&info, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarOpenFileStore(NULL, &table), VK_ERROR_VALIDATION_FAILED_EXT);
    table.sType = MAAR_STRUCTURE_TYPE_COMPRESSOR;
    assert_int_equal(maarOpenFileStore(&info, &table), VK_ERROR_VALIDATION_FAILED_EXT);
    table.sType = MAAR_STRUCTURE_TYPE_FILE_STORE;
    info.pPath = NULL;
    assert_int_equal(maarOpenFileStore(&info, &table), VK_ERROR_VALIDATION_FAILED_EXT);
    info.sType = MAAR_STRUCTURE_TYPE_FILE_STORE;
    info.pPath = path;
    assert_int_equal(maarOpenFileStore(&info, &table), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(open_file(0x80, FILE_SIZE), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(open_file(0, 0), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(open_file(0, ((VkDeviceSize)1 << 48) + 1), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(open_file(MAAR_FILE_STORE_OPEN_EXISTING_BIT, 0),
                     VK_ERROR_INITIALIZATION_FAILED);
    (void)snprintf(path, sizeof path, "no such folder/file");
    assert_int_equal(open_file(0, FILE_SIZE), VK_ERROR_INITIALIZATION_FAILED);
    maarCloseFileStore(NULL);
}

/* Larger than any disk, on which nothing is left then. */
static void disk_with_too_few_bytes_is_named(void** state)
{
    (void)state;
    const VkResult result = open_file(MAAR_FILE_STORE_OPEN_KEEP_BIT, (VkDeviceSize)1 << 48);
    assert_true(result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_INITIALIZATION_FAILED);
    assert_false(file_exists());
}

static void* VKAPI_CALL no_memory(void* user, size_t size, size_t alignment,
                                  VkSystemAllocationScope scope)
{
    (void)user;
    (void)size;
    (void)alignment;
    (void)scope;
    return NULL;
}

static void VKAPI_CALL free_nothing(void* user, void* memory)
{
    (void)user;
    assert_null(memory);
}

static void openings_without_host_memory_leave_nothing(void** state)
{
    const VkAllocationCallbacks callbacks = {.pfnAllocation = no_memory, .pfnFree = free_nothing};
    const VkAllocationCallbacks wrong = {.pfnAllocation = no_memory};
    MaarFileSource opened = {.sType = MAAR_STRUCTURE_TYPE_FILE_SOURCE};
    MaarFileStoreOpenInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO,
        .pPath = path,
        .size = FILE_SIZE,
        .pAllocationCallbacks = &callbacks,
    };
    (void)state;
    assert_int_equal(maarOpenFileStore(&info, &table), VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_false(file_exists());
    info.pAllocationCallbacks = &wrong;
    assert_int_equal(maarOpenFileStore(&info, &table), VK_ERROR_VALIDATION_FAILED_EXT);
    rewrite_file(source, 10);
    assert_int_equal(maarOpenFileSource(path, &callbacks, &opened), VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarOpenFileSource(path, &wrong, &opened), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_null(opened.pfnRead);
}

static void sources_are_read_and_mapped(void** state)
{
    MaarFileSource opened = {.sType = MAAR_STRUCTURE_TYPE_FILE_SOURCE};
    (void)state;
    rewrite_file(source, LENGTH);
    assert_int_equal(maarOpenFileSource(path, NULL, &opened), VK_SUCCESS);
    assert_int_equal(opened.size, LENGTH);
    assert_non_null(opened.pBytes);
    assert_memory_equal(opened.pBytes, source, LENGTH);
    assert_int_equal(opened.pfnRead(opened.pUserData, 77, LENGTH - 77, target), VK_SUCCESS);
    assert_memory_equal(target, source + 77, LENGTH - 77);
    assert_int_equal(opened.pfnRead(opened.pUserData, 78, LENGTH - 77, target), VK_ERROR_UNKNOWN);
    /* Nothing was written. */
    require_file(source, LENGTH);
    maarCloseFileSource(&opened);
    assert_true(opened.pfnRead == NULL && opened.pBytes == NULL);
    maarCloseFileSource(&opened);
    maarCloseFileSource(NULL);
    rewrite_file(source, 0);
    assert_int_equal(maarOpenFileSource(path, NULL, &opened), VK_SUCCESS);
    assert_true(opened.size == 0 && opened.pBytes == NULL);
    maarCloseFileSource(&opened);
}

static void wrong_sources_fail(void** state)
{
    MaarFileSource opened = {.sType = MAAR_STRUCTURE_TYPE_FILE_SOURCE};
    (void)state;
    assert_int_equal(maarOpenFileSource(path, NULL, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarOpenFileSource(NULL, NULL, &opened), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarOpenFileSource(path, NULL, &opened), VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(maarOpenFileSource(".", NULL, &opened), VK_ERROR_INITIALIZATION_FAILED);
    opened.sType = MAAR_STRUCTURE_TYPE_FILE_STORE;
    assert_int_equal(maarOpenFileSource(path, NULL, &opened), VK_ERROR_VALIDATION_FAILED_EXT);
}

#define file_unit_test(function) cmocka_unit_test_setup_teardown(function, name_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_unit_test(copies_come_back_from_a_file),
        file_unit_test(file_that_is_kept_is_opened_again),
        file_unit_test(file_altered_behind_our_back_is_noticed),
        file_unit_test(wrong_openings_fail),
        file_unit_test(disk_with_too_few_bytes_is_named),
        file_unit_test(openings_without_host_memory_leave_nothing),
        file_unit_test(sources_are_read_and_mapped),
        file_unit_test(wrong_sources_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
