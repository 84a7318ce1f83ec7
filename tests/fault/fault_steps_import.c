/*
 * Steps: memory that comes in, from an exporter on the same device.
 */
#include "tests/fault/fault_fds.h"
#include "tests/fault/fault_steps.h"

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define DMA_BUF VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT

enum { BUFFER_SIZE = 5000, IMAGE_SIDE = 64, MODIFIER_PITCH = 512 };

/* ---- exporters ---- */

static void export_memory(struct fault_context* c, VkExternalMemoryHandleTypeFlagBits type)
{
    c->exported = (MaarExportedMemory){.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    assert_int_equal(maarExportMemory(c->rig.allocator, c->memory, type, &c->exported), VK_SUCCESS);
    c->handle = c->exported.handle;
}

static void make_exported_buffer(struct fault_context* c, VkExternalMemoryHandleTypeFlagBits type,
                                 MaarDedicated dedicated)
{
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
                                   .handleTypes = (VkExternalMemoryHandleTypeFlags)type};
    const VkBufferCreateInfo info = rig_buffer_info(BUFFER_SIZE);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    how.dedicated = dedicated;
    assert_int_equal(maarCreateBuffer(c->rig.allocator, &info, &how, &c->buffer, &c->memory),
                     VK_SUCCESS);
    export_memory(c, type);
}

static void prepare_shared_buffer(struct fault_context* c)
{
    make_exported_buffer(c, OPAQUE, MAAR_DEDICATED_AUTO);
}

static void prepare_shared_dedicated(struct fault_context* c)
{
    make_exported_buffer(c, OPAQUE, MAAR_DEDICATED_ALWAYS);
}

static void prepare_shared_dma_buf(struct fault_context* c)
{
    make_exported_buffer(c, DMA_BUF, MAAR_DEDICATED_AUTO);
}

static void make_exported_image(struct fault_context* c, VkExternalMemoryHandleTypeFlagBits type,
                                const VkImageCreateInfo* info)
{
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
                                   .handleTypes = (VkExternalMemoryHandleTypeFlags)type};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    assert_int_equal(maarCreateImage(c->rig.allocator, info, &how, &c->image, &c->memory),
                     VK_SUCCESS);
    export_memory(c, type);
}

static void prepare_shared_image(struct fault_context* c)
{
    const VkImageCreateInfo info = rig_image_info(IMAGE_SIDE, IMAGE_SIDE);
    make_exported_image(c, OPAQUE, &info);
}

/* Linear rows, as a program on another device would lay them out. */
struct modifier_info {
    VkSubresourceLayout layout;
    VkImageDrmFormatModifierExplicitCreateInfoEXT modifier;
    VkImageCreateInfo image;
};

static void describe_rows(struct modifier_info* info)
{
    info->layout = (VkSubresourceLayout){.rowPitch = MODIFIER_PITCH};
    info->modifier = (VkImageDrmFormatModifierExplicitCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT,
        .drmFormatModifierPlaneCount = 1,
        .pPlaneLayouts = &info->layout,
    };
    info->image = rig_image_info(IMAGE_SIDE, IMAGE_SIDE);
    info->image.pNext = &info->modifier;
    info->image.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
}

static void prepare_shared_rows(struct fault_context* c)
{
    struct modifier_info info;
    describe_rows(&info);
    make_exported_image(c, DMA_BUF, &info.image);
}

static void finish_exporter(struct fault_context* c)
{
    maarDestroyExternalHandle(c->rig.allocator, c->handle);
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->buffer != VK_NULL_HANDLE ? c->memory : 0);
    maarDestroyImage(c->rig.allocator, c->image, c->image != VK_NULL_HANDLE ? c->memory : 0);
}

/* ---- importing ---- */

static MaarImportInfo import_info(const struct fault_context* c, const char* name)
{
    return (MaarImportInfo){
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = c->handle,
        .handleType = c->exported.handleType,
        .blockSize = c->exported.blockSize,
        .offset = c->exported.offset,
        .memoryTypeIndex = c->exported.memoryTypeIndex,
        .dedicated = c->exported.dedicated,
        .pName = name,
    };
}

/* The handle is the caller's after a failure, and empty after a success. */
static void expect_owner(const struct fault_context* c, int fd, VkResult result)
{
    assert_int_equal(maarPeekFd(c->handle), result == VK_SUCCESS ? -1 : fd);
    assert_true(result == VK_SUCCESS || fault_is_open(fd));
    assert_true((result == VK_SUCCESS) == (c->imported != VK_NULL_HANDLE));
}

static VkResult import_memory(struct fault_context* c, const MaarImportInfo* info)
{
    const int fd = maarPeekFd(c->handle);
    c->imported = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarImportMemory(c->rig.allocator, info, &c->imported);
    expect_owner(c, fd, result);
    return result;
}

static VkResult run_import_memory(struct fault_context* c)
{
    const MaarImportInfo info = import_info(c, NULL);
    return import_memory(c, &info);
}

/* Size and type are the driver's to say. */
static VkResult run_import_dma_buf(struct fault_context* c)
{
    MaarImportInfo info = import_info(c, "named");
    info.memoryTypeIndex = MAAR_MEMORY_TYPE_NONE;
    info.usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL;
    return import_memory(c, &info);
}

static void undo_imported_memory(struct fault_context* c)
{
    maarFreeMemory(c->rig.allocator, c->imported);
}

static VkResult run_import_buffer(struct fault_context* c)
{
    const MaarImportInfo info = import_info(c, "named");
    const VkBufferCreateInfo buffer = rig_buffer_info(BUFFER_SIZE);
    const int fd = maarPeekFd(c->handle);
    c->imported_buffer = (VkBuffer)(uintptr_t)1;
    c->imported = (MaarAllocation)(uintptr_t)1;
    VkResult result =
        maarImportBuffer(c->rig.allocator, &buffer, &info, &c->imported_buffer, &c->imported);
    expect_owner(c, fd, result);
    assert_true((result == VK_SUCCESS) == (c->imported_buffer != VK_NULL_HANDLE));
    return result;
}

static void undo_imported_buffer(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->imported_buffer, c->imported);
}

static VkResult import_image(struct fault_context* c, const VkImageCreateInfo* image)
{
    const MaarImportInfo info = import_info(c, NULL);
    const int fd = maarPeekFd(c->handle);
    c->imported_image = (VkImage)(uintptr_t)1;
    c->imported = (MaarAllocation)(uintptr_t)1;
    VkResult result =
        maarImportImage(c->rig.allocator, image, &info, &c->imported_image, &c->imported);
    expect_owner(c, fd, result);
    assert_true((result == VK_SUCCESS) == (c->imported_image != VK_NULL_HANDLE));
    return result;
}

static VkResult run_import_image(struct fault_context* c)
{
    const VkImageCreateInfo image = rig_image_info(IMAGE_SIDE, IMAGE_SIDE);
    return import_image(c, &image);
}

static VkResult run_import_rows(struct fault_context* c)
{
    struct modifier_info info;
    describe_rows(&info);
    return import_image(c, &info.image);
}

static void undo_imported_image(struct fault_context* c)
{
    maarDestroyImage(c->rig.allocator, c->imported_image, c->imported);
}

/* ---- out again ---- */

static void prepare_imported(struct fault_context* c)
{
    prepare_shared_buffer(c);
    assert_int_equal(run_import_memory(c), VK_SUCCESS);
}

static VkResult run_export_imported(struct fault_context* c)
{
    MaarExportedMemory again = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    VkResult result = maarExportMemory(c->rig.allocator, c->imported, OPAQUE, &again);
    assert_true((result == VK_SUCCESS) == (again.handle != VK_NULL_HANDLE));
    c->copy = again.handle;
    return result;
}

static void undo_export_imported(struct fault_context* c)
{
    maarDestroyExternalHandle(c->rig.allocator, c->copy);
}

static void finish_imported(struct fault_context* c)
{
    undo_imported_memory(c);
    finish_exporter(c);
}

static const struct fault_step steps[] = {
    {"maarImportMemory", "opaque", .prepare = prepare_shared_buffer, .run = run_import_memory,
     .undo = undo_imported_memory, .finish = finish_exporter, .shares = true},
    {"maarImportMemory", "dma-buf", .prepare = prepare_shared_dma_buf, .run = run_import_dma_buf,
     .undo = undo_imported_memory, .finish = finish_exporter, .shares = true},
    {"maarImportBuffer", "in a block", .prepare = prepare_shared_buffer, .run = run_import_buffer,
     .undo = undo_imported_buffer, .finish = finish_exporter, .shares = true},
    {"maarImportBuffer", "dedicated", .prepare = prepare_shared_dedicated, .run = run_import_buffer,
     .undo = undo_imported_buffer, .finish = finish_exporter, .shares = true},
    {"maarImportBuffer", "dma-buf", .prepare = prepare_shared_dma_buf, .run = run_import_buffer,
     .undo = undo_imported_buffer, .finish = finish_exporter, .shares = true},
    {"maarImportImage", "opaque", .prepare = prepare_shared_image, .run = run_import_image,
     .undo = undo_imported_image, .finish = finish_exporter, .shares = true},
    {"maarImportImage", "modifier", .prepare = prepare_shared_rows, .run = run_import_rows,
     .undo = undo_imported_image, .finish = finish_exporter, .shares = true},
    {"maarExportMemory", "imported", .prepare = prepare_imported, .run = run_export_imported,
     .undo = undo_export_imported, .finish = finish_imported, .shares = true},
};

const struct fault_table fault_import_steps = {
    steps,
    sizeof steps / sizeof steps[0],
};
