/*
 * Steps: handles of the operating system, and memory and semaphores that go out.
 */
#include "tests/fault/fault_fds.h"
#include "tests/fault/fault_steps.h"

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define DMA_BUF VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
#define SEMAPHORE_FD VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT

/* ---- handles ---- */

static void prepare_fd(struct fault_context* c)
{
    c->fd = fault_some_fd();
    assert_true(c->fd >= 0);
}

static VkResult run_wrap(struct fault_context* c)
{
    c->handle = (MaarExternalHandle)(uintptr_t)1;
    VkResult result = maarWrapFd(c->rig.allocator, c->fd, &c->handle);
    assert_true((result == VK_SUCCESS) == (c->handle != VK_NULL_HANDLE));
    assert_true(fault_is_open(c->fd));
    return result;
}

static void undo_handle(struct fault_context* c)
{
    maarDestroyExternalHandle(c->rig.allocator, c->handle);
    c->handle = VK_NULL_HANDLE;
}

static void prepare_handle(struct fault_context* c)
{
    prepare_fd(c);
    assert_int_equal(run_wrap(c), VK_SUCCESS);
}

static VkResult run_wrap_win32(struct fault_context* c)
{
    MaarExternalHandle handle = (MaarExternalHandle)(uintptr_t)1;
    assert_int_equal(maarWrapWin32Handle(c->rig.allocator, c, &handle),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_null(handle);
    return VK_SUCCESS;
}

static VkResult run_take(struct fault_context* c)
{
    int fd = -1;
    VkResult result = maarTakeFd(c->rig.allocator, c->handle, &fd);
    assert_int_equal(fd, c->fd);
    return result;
}

static void undo_take(struct fault_context* c)
{
    fault_close(c->fd);
}

static VkResult run_take_win32(struct fault_context* c)
{
    void* handle = c;
    assert_int_equal(maarTakeWin32Handle(c->rig.allocator, c->handle, &handle),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_null(handle);
    return VK_SUCCESS;
}

static VkResult run_peek(struct fault_context* c)
{
    assert_int_equal(maarPeekFd(c->handle), c->fd);
    return VK_SUCCESS;
}

static VkResult run_peek_win32(struct fault_context* c)
{
    assert_null(maarPeekWin32Handle(c->handle));
    return VK_SUCCESS;
}

static VkResult run_duplicate(struct fault_context* c)
{
    c->copy = (MaarExternalHandle)(uintptr_t)1;
    VkResult result = maarDuplicateExternalHandle(c->rig.allocator, c->handle, &c->copy);
    assert_true((result == VK_SUCCESS) == (c->copy != VK_NULL_HANDLE));
    assert_int_equal(maarPeekFd(c->handle), c->fd);
    return result;
}

static void undo_duplicate(struct fault_context* c)
{
    maarDestroyExternalHandle(c->rig.allocator, c->copy);
}

static VkResult run_destroy_handle(struct fault_context* c)
{
    undo_handle(c);
    return VK_SUCCESS;
}

static const struct fault_step handle_steps[] = {
    {"maarWrapFd", .prepare = prepare_fd, .run = run_wrap, .undo = undo_handle, .shares = true},
    {"maarWrapWin32Handle", .run = run_wrap_win32, .never = "there are no NT handles here"},
    {"maarTakeFd", .never = "takes what is kept", .prepare = prepare_handle, .run = run_take,
     .undo = undo_take, .finish = undo_handle},
    {"maarTakeWin32Handle", .never = "there are no NT handles here", .prepare = prepare_handle,
     .run = run_take_win32, .finish = undo_handle},
    {"maarPeekFd", .never = "reads what is kept", .prepare = prepare_handle, .run = run_peek,
     .finish = undo_handle},
    {"maarPeekWin32Handle", .never = "there are no NT handles here", .prepare = prepare_handle,
     .run = run_peek_win32, .finish = undo_handle},
    {"maarDuplicateExternalHandle", .prepare = prepare_handle, .run = run_duplicate,
     .undo = undo_duplicate, .finish = undo_handle, .shares = true},
    {"maarDestroyExternalHandle", .never = "closes what is kept", .prepare = prepare_handle,
     .run = run_destroy_handle},
};

const struct fault_table fault_handle_steps = {
    handle_steps,
    sizeof handle_steps / sizeof handle_steps[0],
};

/* ---- memory that goes out ---- */

static VkResult make_buffer(struct fault_context* c, VkExternalMemoryHandleTypeFlags types,
                            MaarDedicated dedicated)
{
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO, .handleTypes = types};
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    how.dedicated = dedicated;
    c->buffer = (VkBuffer)(uintptr_t)1;
    c->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarCreateBuffer(c->rig.allocator, &info, &how, &c->buffer, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->buffer != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static VkResult run_exportable_buffer(struct fault_context* c)
{
    return make_buffer(c, OPAQUE, MAAR_DEDICATED_AUTO);
}

static VkResult run_dedicated_buffer(struct fault_context* c)
{
    return make_buffer(c, OPAQUE | DMA_BUF, MAAR_DEDICATED_ALWAYS);
}

static void undo_buffer(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
    c->buffer = VK_NULL_HANDLE;
    c->memory = VK_NULL_HANDLE;
}

static VkResult run_exportable_image(struct fault_context* c)
{
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO, .handleTypes = OPAQUE};
    const VkImageCreateInfo info = rig_image_info(64, 64);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    c->image = (VkImage)(uintptr_t)1;
    c->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarCreateImage(c->rig.allocator, &info, &how, &c->image, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->image != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static void undo_image(struct fault_context* c)
{
    maarDestroyImage(c->rig.allocator, c->image, c->memory);
}

static VkResult run_exporting_pool(struct fault_context* c)
{
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO, .handleTypes = OPAQUE};
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &export,
        .blockSize = MIB,
        .minBlockCount = 3,
        .pName = "shared",
    };
    c->pool = (MaarPool)(uintptr_t)1;
    VkResult result = maarCreatePool(c->rig.allocator, &info, &c->pool);
    assert_true((result == VK_SUCCESS) == (c->pool != VK_NULL_HANDLE));
    return result;
}

static void undo_exporting_pool(struct fault_context* c)
{
    maarDestroyPool(c->rig.allocator, c->pool);
}

static VkResult run_exportable_memory(struct fault_context* c)
{
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO, .handleTypes = OPAQUE};
    const MaarMemoryRequest request = rig_request(5000, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pNext = &export;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    c->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateMemory(c->rig.allocator, &request, &how, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static void undo_exportable_memory(struct fault_context* c)
{
    maarFreeMemory(c->rig.allocator, c->memory);
}

static void prepare_exportable(struct fault_context* c)
{
    assert_int_equal(run_exportable_buffer(c), VK_SUCCESS);
}

static void prepare_dma_buf(struct fault_context* c)
{
    assert_int_equal(run_dedicated_buffer(c), VK_SUCCESS);
}

static VkResult export_as(struct fault_context* c, VkExternalMemoryHandleTypeFlagBits type)
{
    c->exported = (MaarExportedMemory){.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    VkResult result = maarExportMemory(c->rig.allocator, c->memory, type, &c->exported);
    assert_true((result == VK_SUCCESS) == (c->exported.handle != VK_NULL_HANDLE));
    c->handle = c->exported.handle;
    return result;
}

static VkResult run_export(struct fault_context* c)
{
    return export_as(c, OPAQUE);
}

static VkResult run_export_dma_buf(struct fault_context* c)
{
    return export_as(c, DMA_BUF);
}

/* The driver has been asked already. */
static void prepare_exported(struct fault_context* c)
{
    prepare_exportable(c);
    assert_int_equal(run_export(c), VK_SUCCESS);
    undo_handle(c);
}

static VkResult run_sharing_info(struct fault_context* c)
{
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    VkResult result = maarGetSharingInfo(c->rig.allocator, &info);
    assert_int_equal(info.memoryFd, VK_TRUE);
    return result;
}

static void prepare_exported_dma_buf(struct fault_context* c)
{
    prepare_dma_buf(c);
    assert_int_equal(run_export_dma_buf(c), VK_SUCCESS);
}

static VkResult run_handle_info(struct fault_context* c)
{
    MaarExternalHandleInfo info = {.sType = MAAR_STRUCTURE_TYPE_EXTERNAL_HANDLE_INFO};
    const VkResult result = maarGetExternalHandleInfo(c->rig.allocator, c->handle, DMA_BUF, &info);
    assert_true((result == VK_SUCCESS) == (info.memoryTypeBits != 0));
    return result;
}

static void finish_exported(struct fault_context* c)
{
    undo_handle(c);
    undo_buffer(c);
}

static VkResult ask_support(struct fault_context* c, bool image)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(5000);
    const VkImageCreateInfo picture = rig_image_info(64, 64);
    const MaarSharingQuery query = {
        .sType = MAAR_STRUCTURE_TYPE_SHARING_QUERY,
        .pBufferInfo = image ? NULL : &buffer,
        .pImageInfo = image ? &picture : NULL,
        .handleType = OPAQUE,
    };
    MaarSharingSupport support = {.sType = MAAR_STRUCTURE_TYPE_SHARING_SUPPORT};
    VkResult result = maarGetSharingSupport(c->rig.allocator, &query, &support);
    /* A driver that says that it knows no such image has answered. */
    assert_true((support.exportable == VK_TRUE) == (support.memoryTypeBits != 0));
    assert_true(result == VK_SUCCESS || support.exportable == VK_FALSE);
    return result;
}

static VkResult run_buffer_support(struct fault_context* c)
{
    return ask_support(c, false);
}

static VkResult run_image_support(struct fault_context* c)
{
    return ask_support(c, true);
}

static const struct fault_step export_steps[] = {
    {"maarGetSharingInfo", .never = "the driver's answers cannot fail", .run = run_sharing_info,
     .shares = true},
    {"maarGetSharingSupport", "buffer", .run = run_buffer_support, .shares = true},
    {"maarGetSharingSupport", "image", .run = run_image_support, .shares = true},
    {"maarGetSharingSupport", "without maintenance4", .run = run_buffer_support, .shares = true,
     .off = RIG_OFF_MAINTENANCE4},
    {"maarCreatePool", "exportable", .run = run_exporting_pool, .undo = undo_exporting_pool,
     .shares = true},
    {"maarAllocateMemory", "exportable", .run = run_exportable_memory,
     .undo = undo_exportable_memory, .shares = true, .maps = true},
    {"maarCreateBuffer", "exportable", .run = run_exportable_buffer, .undo = undo_buffer,
     .shares = true},
    {"maarCreateBuffer", "exportable, dedicated", .run = run_dedicated_buffer, .undo = undo_buffer,
     .shares = true},
    {"maarCreateImage", "exportable", .run = run_exportable_image, .undo = undo_image,
     .shares = true},
    {"maarExportMemory", "first", .prepare = prepare_exportable, .run = run_export,
     .undo = undo_handle, .finish = undo_buffer, .shares = true, .keeps_fds = true},
    {"maarExportMemory", "again", .prepare = prepare_exported, .run = run_export,
     .undo = undo_handle, .finish = undo_buffer, .shares = true},
    {"maarExportMemory", "dma-buf", .prepare = prepare_dma_buf, .run = run_export_dma_buf,
     .undo = undo_handle, .finish = undo_buffer, .shares = true, .keeps_fds = true},
    {"maarGetExternalHandleInfo", .prepare = prepare_exported_dma_buf, .run = run_handle_info,
     .finish = finish_exported, .shares = true},
};

const struct fault_table fault_export_steps = {
    export_steps,
    sizeof export_steps / sizeof export_steps[0],
};

/* ---- semaphores ---- */

static VkResult make_semaphore(struct fault_context* c, VkSemaphoreType type)
{
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = type,
        .initialValue = type == VK_SEMAPHORE_TYPE_TIMELINE ? 7 : 0,
        .handleType = SEMAPHORE_FD,
    };
    c->semaphore = (VkSemaphore)(uintptr_t)1;
    VkResult result = maarCreateSharedSemaphore(c->rig.allocator, &info, &c->semaphore);
    assert_true((result == VK_SUCCESS) == (c->semaphore != VK_NULL_HANDLE));
    return result;
}

static VkResult run_timeline(struct fault_context* c)
{
    return make_semaphore(c, VK_SEMAPHORE_TYPE_TIMELINE);
}

static VkResult run_binary(struct fault_context* c)
{
    return make_semaphore(c, VK_SEMAPHORE_TYPE_BINARY);
}

static void undo_semaphore(struct fault_context* c)
{
    vkDestroySemaphore(c->rig.device, c->semaphore, c->rig.create_info.pAllocationCallbacks);
}

static void prepare_timeline(struct fault_context* c)
{
    assert_int_equal(run_timeline(c), VK_SUCCESS);
}

static void prepare_binary(struct fault_context* c)
{
    assert_int_equal(run_binary(c), VK_SUCCESS);
}

static VkResult run_export_semaphore(struct fault_context* c)
{
    c->handle = (MaarExternalHandle)(uintptr_t)1;
    VkResult result = maarExportSemaphore(c->rig.allocator, c->semaphore, SEMAPHORE_FD, &c->handle);
    assert_true((result == VK_SUCCESS) == (c->handle != VK_NULL_HANDLE));
    return result;
}

static void prepare_exported_timeline(struct fault_context* c)
{
    prepare_timeline(c);
    assert_int_equal(run_export_semaphore(c), VK_SUCCESS);
}

static void prepare_exported_binary(struct fault_context* c)
{
    prepare_binary(c);
    assert_int_equal(run_export_semaphore(c), VK_SUCCESS);
}

static VkResult import_semaphore(struct fault_context* c, VkSemaphoreType type)
{
    const int fd = maarPeekFd(c->handle);
    c->imported_semaphore = (VkSemaphore)(uintptr_t)1;
    VkResult result = maarImportSemaphore(c->rig.allocator, c->handle, SEMAPHORE_FD, type,
                                          &c->imported_semaphore);
    assert_true((result == VK_SUCCESS) == (c->imported_semaphore != VK_NULL_HANDLE));
    assert_int_equal(maarPeekFd(c->handle), result == VK_SUCCESS ? -1 : fd);
    assert_true(result == VK_SUCCESS || fault_is_open(fd));
    return result;
}

static VkResult run_import_timeline(struct fault_context* c)
{
    return import_semaphore(c, VK_SEMAPHORE_TYPE_TIMELINE);
}

static VkResult run_import_binary(struct fault_context* c)
{
    return import_semaphore(c, VK_SEMAPHORE_TYPE_BINARY);
}

static void undo_imported_semaphore(struct fault_context* c)
{
    vkDestroySemaphore(c->rig.device, c->imported_semaphore,
                       c->rig.create_info.pAllocationCallbacks);
}

static void finish_exported_semaphore(struct fault_context* c)
{
    undo_handle(c);
    undo_semaphore(c);
}

static const struct fault_step semaphore_steps[] = {
    {"maarCreateSharedSemaphore", "timeline", .run = run_timeline, .undo = undo_semaphore,
     .shares = true},
    {"maarCreateSharedSemaphore", "binary", .run = run_binary, .undo = undo_semaphore,
     .shares = true},
    {"maarExportSemaphore", "timeline", .prepare = prepare_timeline, .run = run_export_semaphore,
     .undo = undo_handle, .finish = undo_semaphore, .shares = true, .keeps_fds = true},
    {"maarExportSemaphore", "binary", .prepare = prepare_binary, .run = run_export_semaphore,
     .undo = undo_handle, .finish = undo_semaphore, .shares = true, .keeps_fds = true},
    {"maarImportSemaphore", "timeline", .prepare = prepare_exported_timeline,
     .run = run_import_timeline, .undo = undo_imported_semaphore,
     .finish = finish_exported_semaphore, .shares = true},
    {"maarImportSemaphore", "binary", .prepare = prepare_exported_binary, .run = run_import_binary,
     .undo = undo_imported_semaphore, .finish = finish_exported_semaphore, .shares = true},
};

const struct fault_table fault_semaphore_steps = {
    semaphore_steps,
    sizeof semaphore_steps / sizeof semaphore_steps[0],
};
