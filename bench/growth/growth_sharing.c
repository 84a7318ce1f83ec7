/*
 * Exports and imports beside shared buffers.
 */
#include "growth_cases.h"
#include "growth_shared.h"
#include "growth_steps.h"

#include <stdlib.h>

/* ---- exports ---- */

static void open_shared(struct growth* growth)
{
    growth_open_shared(growth, false);
}

static void open_blocks(struct growth* growth)
{
    growth_open_shared(growth, true);
    for (uint32_t i = 0; i < growth->n; ++i) {
        const MaarExportedMemory exported = growth_export(growth, growth->memory[i]);
        maarDestroyExternalHandle(growth->allocator, exported.handle);
    }
}

static void do_export(struct growth* growth, uint32_t index)
{
    const MaarExportedMemory exported = growth_export(growth, growth->memory[growth_pick(growth)]);
    (void)index;
    maarDestroyExternalHandle(growth->allocator, exported.handle);
}

static void do_describe(struct growth* growth, uint32_t index)
{
    const VkBufferCreateInfo info = growth_shared_buffer(64 * GROWTH_KIB);
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle handle = VK_NULL_HANDLE;
    (void)index;
    GROWTH_EXPECT(maarDescribeMemory(growth->allocator, growth->memory[growth_pick(growth)],
                                     GROWTH_SHARED_TYPE, &info, &descriptor, &handle));
    maarDestroyExternalHandle(growth->allocator, handle);
}

static void do_create_shared(struct growth* growth, uint32_t index)
{
    VkBuffer* buffers = growth->spare;
    const uint32_t at = growth->n + index;
    growth->memory[at] = growth_create_shared(growth, 64 * GROWTH_KIB, false, &buffers[at]);
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetSharingInfo(growth->allocator, &info));
}

static void do_get_support(struct growth* growth, uint32_t index)
{
    const VkBufferCreateInfo buffer = growth_buffer(64 * GROWTH_KIB);
    const MaarSharingQuery query = {
        .sType = MAAR_STRUCTURE_TYPE_SHARING_QUERY,
        .pBufferInfo = &buffer,
        .handleType = GROWTH_SHARED_TYPE,
    };
    MaarSharingSupport support = {.sType = MAAR_STRUCTURE_TYPE_SHARING_SUPPORT};
    (void)index;
    GROWTH_EXPECT(maarGetSharingSupport(growth->allocator, &query, &support));
}

/* ---- imports ---- */

/* One exported block, and n imports of it. */
struct imports {
    MaarExportedMemory exported;
    MaarDescriptor descriptor;
    MaarAllocation source;
    VkBuffer source_buffer;
    VkImage source_image;
    MaarExternalHandle* handles;
    VkBuffer* buffers;
    VkImage* images;
};

static MaarImportInfo describe_import(const struct imports* imports, MaarExternalHandle handle)
{
    return (MaarImportInfo){
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = handle,
        .handleType = GROWTH_SHARED_TYPE,
        .blockSize = imports->exported.blockSize,
        .offset = imports->exported.offset,
        .memoryTypeIndex = imports->exported.memoryTypeIndex,
        .dedicated = imports->exported.dedicated,
    };
}

static MaarExternalHandle duplicate(struct growth* growth)
{
    const struct imports* imports = growth->state;
    MaarExternalHandle handle = VK_NULL_HANDLE;
    GROWTH_EXPECT(
        maarDuplicateExternalHandle(growth->allocator, imports->exported.handle, &handle));
    return handle;
}

static void do_get_handle_info(struct growth* growth, uint32_t index)
{
    const struct imports* imports = growth->state;
    MaarExternalHandleInfo info = {.sType = MAAR_STRUCTURE_TYPE_EXTERNAL_HANDLE_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetExternalHandleInfo(growth->allocator, imports->exported.handle,
                                            GROWTH_SHARED_TYPE, &info));
}

static void import_memory(struct growth* growth, uint32_t at)
{
    const struct imports* imports = growth->state;
    const MaarImportInfo info = describe_import(imports, imports->handles[at]);
    GROWTH_EXPECT(maarImportMemory(growth->allocator, &info, &growth->memory[at]));
}

static void import_buffer(struct growth* growth, uint32_t at)
{
    const struct imports* imports = growth->state;
    const MaarImportInfo info = describe_import(imports, imports->handles[at]);
    const VkBufferCreateInfo buffer = growth_shared_buffer(64 * GROWTH_KIB);
    GROWTH_EXPECT(maarImportBuffer(growth->allocator, &buffer, &info, &imports->buffers[at],
                                   &growth->memory[at]));
}

static void import_described(struct growth* growth, uint32_t at)
{
    const struct imports* imports = growth->state;
    GROWTH_EXPECT(maarImportDescribedBuffer(growth->allocator, &imports->descriptor,
                                            imports->handles[at], &imports->buffers[at],
                                            &growth->memory[at]));
}

static void import_image(struct growth* growth, uint32_t at)
{
    const struct imports* imports = growth->state;
    const MaarImportInfo info = describe_import(imports, imports->handles[at]);
    const VkImageCreateInfo image = growth_image(128, 1, 1);
    GROWTH_EXPECT(maarImportImage(growth->allocator, &image, &info, &imports->images[at],
                                  &growth->memory[at]));
}

static struct imports* prepare_imports(struct growth* growth)
{
    const size_t count = (size_t)growth->n + growth->count;
    bench_raise_descriptors();
    struct imports* imports = growth_create_state(growth, 1, sizeof *imports);
    growth->memory = bench_allocate(count, sizeof *growth->memory);
    growth->spare = bench_allocate(count, 2 * sizeof(uint64_t) + sizeof(MaarExternalHandle));
    imports->buffers = growth->spare;
    imports->images = (VkImage*)(void*)(imports->buffers + count);
    imports->handles = (MaarExternalHandle*)(void*)(imports->images + count);
    return imports;
}

static void export_buffer(struct growth* growth)
{
    struct imports* imports = prepare_imports(growth);
    const VkBufferCreateInfo buffer = growth_shared_buffer(64 * GROWTH_KIB);
    MaarExternalHandle handle = VK_NULL_HANDLE;
    imports->descriptor.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR;
    imports->source = growth_create_shared(growth, 64 * GROWTH_KIB, false, &imports->source_buffer);
    imports->exported = growth_export(growth, imports->source);
    GROWTH_EXPECT(maarDescribeMemory(growth->allocator, imports->source, GROWTH_SHARED_TYPE,
                                     &buffer, &imports->descriptor, &handle));
    maarDestroyExternalHandle(growth->allocator, handle);
}

static void export_image(struct growth* growth)
{
    struct imports* imports = prepare_imports(growth);
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = GROWTH_SHARED_TYPE,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = &export,
    };
    const VkImageCreateInfo info = growth_image(128, 1, 1);
    GROWTH_EXPECT(
        maarCreateImage(growth->allocator, &info, &how, &imports->source_image, &imports->source));
    imports->exported = growth_export(growth, imports->source);
}

static void duplicate_more(struct growth* growth)
{
    const struct imports* imports = growth->state;
    for (uint32_t i = 0; i < growth->count; ++i) {
        imports->handles[growth->n + i] = duplicate(growth);
    }
}

static void import_n(struct growth* growth, void (*import)(struct growth*, uint32_t))
{
    const struct imports* imports = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        imports->handles[i] = duplicate(growth);
        import(growth, i);
    }
}

static void open_imports(struct growth* growth)
{
    export_buffer(growth);
    import_n(growth, import_memory);
}

static void open_imported_images(struct growth* growth)
{
    export_image(growth);
    import_n(growth, import_image);
}

static void free_imports(struct growth* growth, uint32_t first, uint32_t count)
{
    const struct imports* imports = growth->state;
    for (uint32_t i = first; i < first + count; ++i) {
        vkDestroyImage(growth->device, imports->images[i], NULL);
        maarDestroyBuffer(growth->allocator, imports->buffers[i], growth->memory[i]);
        maarDestroyExternalHandle(growth->allocator, imports->handles[i]);
        imports->images[i] = VK_NULL_HANDLE;
        imports->buffers[i] = VK_NULL_HANDLE;
    }
}

static void free_more(struct growth* growth)
{
    free_imports(growth, growth->n, growth->count);
}

static void close_imports(struct growth* growth)
{
    const struct imports* imports = growth->state;
    free_imports(growth, 0, growth->n);
    maarDestroyExternalHandle(growth->allocator, imports->exported.handle);
    vkDestroyImage(growth->device, imports->source_image, NULL);
    maarDestroyBuffer(growth->allocator, imports->source_buffer, imports->source);
}

static void do_import_memory(struct growth* growth, uint32_t index)
{
    import_memory(growth, growth->n + index);
}

static void do_import_buffer(struct growth* growth, uint32_t index)
{
    import_buffer(growth, growth->n + index);
}

static void do_import_described(struct growth* growth, uint32_t index)
{
    import_described(growth, growth->n + index);
}

static void do_import_image(struct growth* growth, uint32_t index)
{
    import_image(growth, growth->n + index);
}

#define SHARED(case_name, function, least, text, world, before, does, after, ends)                 \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .n = least, .count = 64,      \
        .open = open_##world, .prepare = before, .operation = does, .tidy = after, .close = ends   \
    }

const struct growth_case growth_sharing_cases[] = {
    SHARED("export", "maarExportMemory", 256, "shared buffers", shared, NULL, do_export, NULL,
           growth_close_shared),
    SHARED("export-blocks", "maarExportMemory", 64, "exported blocks", blocks, NULL, do_export,
           NULL, growth_close_shared),
    SHARED("describe-memory", "maarDescribeMemory", 64, "exported blocks", blocks, NULL,
           do_describe, NULL, growth_close_shared),
    SHARED("create-shared-buffer", "maarCreateBuffer", 256, "shared buffers", shared, NULL,
           do_create_shared, growth_destroy_more_shared, growth_close_shared),
    SHARED("sharing-info", "maarGetSharingInfo", 256, "shared buffers", shared, NULL, do_get_info,
           NULL, growth_close_shared),
    SHARED("sharing-support", "maarGetSharingSupport", 256, "shared buffers", shared, NULL,
           do_get_support, NULL, growth_close_shared),
    SHARED("handle-info", "maarGetExternalHandleInfo", 64, "imported blocks", imports, NULL,
           do_get_handle_info, NULL, close_imports),
    SHARED("import-memory", "maarImportMemory", 64, "imported blocks", imports, duplicate_more,
           do_import_memory, free_more, close_imports),
    SHARED("import-buffer", "maarImportBuffer", 64, "imported blocks", imports, duplicate_more,
           do_import_buffer, free_more, close_imports),
    SHARED("import-described", "maarImportDescribedBuffer", 64, "imported blocks", imports,
           duplicate_more, do_import_described, free_more, close_imports),
    SHARED("import-image", "maarImportImage", 64, "imported images", imported_images,
           duplicate_more, do_import_image, free_more, close_imports),
    {.name = NULL},
};
