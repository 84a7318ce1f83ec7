/*
 * Steps: compressors, file stores and sources, in a file of this program's own.
 */
#include "tests/fault/fault_steps.h"

#include <stdio.h>

static const char store_path[] = "maar_fault_store.tmp";

static struct {
    MaarCompressor compressor;
    MaarFileStore file;
    MaarFileSource source;
} kept;

static VkResult run_get_compressor(struct fault_context* c)
{
    (void)c;
    kept.compressor = (MaarCompressor){.sType = MAAR_STRUCTURE_TYPE_COMPRESSOR};
    const VkResult result = maarGetCompressor(MAAR_COMPRESSION_DEFAULT, &kept.compressor);
    assert_true((result == VK_SUCCESS) == (kept.compressor.pfnCompress != NULL));
    /* A library without any compressor answers at once. */
    return result == VK_ERROR_FEATURE_NOT_PRESENT ? VK_SUCCESS : result;
}

static VkResult run_open_store(struct fault_context* c)
{
    const MaarFileStoreOpenInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO,
        .pPath = store_path,
        .size = 65536,
        .pAllocationCallbacks = &c->host.callbacks,
    };
    (void)remove(store_path);
    kept.file = (MaarFileStore){.sType = MAAR_STRUCTURE_TYPE_FILE_STORE};
    const VkResult result = maarOpenFileStore(&info, &kept.file);
    assert_true((result == VK_SUCCESS) == (kept.file.pfnRead != NULL));
    FILE* file = result == VK_SUCCESS ? NULL : fopen(store_path, "rb");
    assert_null(file);
    return result;
}

static void prepare_store(struct fault_context* c)
{
    assert_int_equal(run_open_store(c), VK_SUCCESS);
}

static VkResult run_close_store(struct fault_context* c)
{
    (void)c;
    maarCloseFileStore(&kept.file);
    return VK_SUCCESS;
}

static void undo_store(struct fault_context* c)
{
    (void)run_close_store(c);
}

static void prepare_file(struct fault_context* c)
{
    (void)c;
    FILE* file = fopen(store_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("weights", 1, 7, file), 7);
    assert_int_equal(fclose(file), 0);
}

static VkResult run_open_source(struct fault_context* c)
{
    kept.source = (MaarFileSource){.sType = MAAR_STRUCTURE_TYPE_FILE_SOURCE};
    const VkResult result = maarOpenFileSource(store_path, &c->host.callbacks, &kept.source);
    assert_true((result == VK_SUCCESS) == (kept.source.pfnRead != NULL));
    return result;
}

static void prepare_source(struct fault_context* c)
{
    prepare_file(c);
    assert_int_equal(run_open_source(c), VK_SUCCESS);
}

static VkResult run_close_source(struct fault_context* c)
{
    (void)c;
    maarCloseFileSource(&kept.source);
    return VK_SUCCESS;
}

static void undo_source(struct fault_context* c)
{
    (void)run_close_source(c);
}

static void finish_file(struct fault_context* c)
{
    (void)c;
    (void)remove(store_path);
}

static const struct fault_step steps[] = {
    {.function = "maarGetCompressor", .never = "fills a table", .run = run_get_compressor},
    {.function = "maarOpenFileStore", .run = run_open_store, .undo = undo_store},
    {.function = "maarCloseFileStore",
     .never = "gives back host memory",
     .prepare = prepare_store,
     .run = run_close_store},
    {.function = "maarOpenFileSource",
     .prepare = prepare_file,
     .run = run_open_source,
     .undo = undo_source,
     .finish = finish_file},
    {.function = "maarCloseFileSource",
     .never = "gives back host memory",
     .prepare = prepare_source,
     .run = run_close_source,
     .finish = finish_file},
};

const struct fault_table fault_store_steps = {steps, sizeof steps / sizeof steps[0]};
