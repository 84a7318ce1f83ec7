/*
 * One step for each public function that can fail for want of memory or by the driver's will.
 */
#include "tests/fault/fault_steps.h"

static const MaarPoint host_point = {.value = 1000};

/* ---- pools and plain memory ---- */

static VkResult run_pool(struct fault_context* c)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = MIB,
        .minBlockCount = 10,
        .pName = "pool",
    };
    VkResult result = maarCreatePool(c->rig.allocator, &info, &c->pool);
    assert_true((result == VK_SUCCESS) == (c->pool != VK_NULL_HANDLE));
    return result;
}

static void undo_pool(struct fault_context* c)
{
    maarDestroyPool(c->rig.allocator, c->pool);
}

static VkResult allocate(struct fault_context* c, const MaarAllocationCreateInfo* how)
{
    MaarMemoryRequest request = rig_request(5000, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    c->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateMemory(c->rig.allocator, &request, how, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static void undo_memory(struct fault_context* c)
{
    maarFreeMemory(c->rig.allocator, c->memory);
    c->memory = VK_NULL_HANDLE;
}

static VkResult run_named(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = "named";
    return allocate(c, &how);
}

static VkResult run_mapped(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    return allocate(c, &how);
}

static VkResult run_dedicated(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.pName = "dedicated";
    return allocate(c, &how);
}

static void prepare_full_pool(struct fault_context* c)
{
    const MaarPoolCreateInfo info = {.blockSize = 8 * KIB};
    c->pool = rig_create_pool(&c->rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = c->pool;
    c->many[0] = rig_allocate(&c->rig, 8 * KIB, &how);
}

static VkResult run_in_pool(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = c->pool;
    return allocate(c, &how);
}

static void finish_pool(struct fault_context* c)
{
    maarFreeMemory(c->rig.allocator, c->many[0]);
    maarDestroyPool(c->rig.allocator, c->pool);
}

static VkResult run_many(struct fault_context* c)
{
    MaarMemoryRequest requests[FAULT_MANY];
    for (uint32_t i = 0; i < FAULT_MANY; ++i) {
        requests[i] = rig_request((i + 1) * 3 * MIB, 16, UINT32_MAX, MAAR_RESOURCE_KIND_UNKNOWN);
        c->many[i] = (MaarAllocation)(uintptr_t)1;
    }
    VkResult result = maarAllocateMemories(c->rig.allocator, FAULT_MANY, requests, NULL, c->many);
    for (uint32_t i = 0; i < FAULT_MANY; ++i) {
        assert_true((result == VK_SUCCESS) == (c->many[i] != VK_NULL_HANDLE));
    }
    return result;
}

static void undo_many(struct fault_context* c)
{
    maarFreeMemories(c->rig.allocator, FAULT_MANY, c->many);
}

static void prepare_memory(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    how.minAlignment = 65536;
    how.pName = "prepared";
    c->memory = rig_allocate(&c->rig, MIB, &how);
}

static VkResult run_rename(struct fault_context* c)
{
    VkResult result = maarSetAllocationName(c->rig.allocator, c->memory, "renamed");
    const char* name = rig_info(&c->rig, c->memory).pName;
    assert_string_equal(name, result == VK_SUCCESS ? "renamed" : "prepared");
    return result;
}

static void undo_nothing(struct fault_context* c)
{
    (void)c;
}

/* ---- the host's view ---- */

static VkResult run_map(struct fault_context* c)
{
    void* data = c;
    VkResult result = maarMapMemory(c->rig.allocator, c->memory, &data);
    assert_true((result == VK_SUCCESS) == (data != NULL));
    assert_ptr_equal(rig_info(&c->rig, c->memory).pMappedData, data);
    return result;
}

static void undo_map(struct fault_context* c)
{
    maarUnmapMemory(c->rig.allocator, c->memory);
}

static VkResult run_copy_to(struct fault_context* c)
{
    const char bytes[100] = {1};
    return maarCopyToAllocation(c->rig.allocator, c->memory, 1000, sizeof bytes, bytes);
}

static VkResult run_copy_from(struct fault_context* c)
{
    char bytes[100];
    return maarCopyFromAllocation(c->rig.allocator, c->memory, 1000, sizeof bytes, bytes);
}

static void prepare_mapped(struct fault_context* c)
{
    void* data = NULL;
    prepare_memory(c);
    assert_int_equal(maarMapMemory(c->rig.allocator, c->memory, &data), VK_SUCCESS);
}

static VkResult run_flush(struct fault_context* c)
{
    return maarFlushAllocation(c->rig.allocator, c->memory, 0, VK_WHOLE_SIZE);
}

static VkResult run_invalidate(struct fault_context* c)
{
    return maarInvalidateAllocation(c->rig.allocator, c->memory, 0, VK_WHOLE_SIZE);
}

/* ---- objects ---- */

static VkResult run_buffer(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.pName = "buffer";
    c->buffer = (VkBuffer)(uintptr_t)1;
    VkResult result = maarCreateBuffer(c->rig.allocator, &info, &how, &c->buffer, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->buffer != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static void undo_buffer(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
    c->memory = VK_NULL_HANDLE;
}

static VkResult run_image(struct fault_context* c)
{
    const VkImageCreateInfo info = rig_image_info(256, 256);
    c->image = (VkImage)(uintptr_t)1;
    VkResult result = maarCreateImage(c->rig.allocator, &info, NULL, &c->image, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->image != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static void undo_image(struct fault_context* c)
{
    maarDestroyImage(c->rig.allocator, c->image, c->memory);
    c->memory = VK_NULL_HANDLE;
}

static VkResult run_planes(struct fault_context* c)
{
    VkImageCreateInfo info = rig_image_info(256, 256);
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    info.format = VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM;
    c->image = (VkImage)(uintptr_t)1;
    VkResult result =
        maarCreateDisjointImage(c->rig.allocator, &info, NULL, FAULT_PLANES, &c->image, c->many);
    assert_true((result == VK_SUCCESS) == (c->image != VK_NULL_HANDLE));
    for (uint32_t i = 0; i < FAULT_PLANES; ++i) {
        assert_true((result == VK_SUCCESS) == (c->many[i] != VK_NULL_HANDLE));
    }
    return result;
}

static void undo_planes(struct fault_context* c)
{
    maarDestroyImage(c->rig.allocator, c->image, c->many[0]);
    maarFreeMemories(c->rig.allocator, FAULT_PLANES - 1, &c->many[1]);
}

static VkResult run_alias_buffer(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    c->buffer = (VkBuffer)(uintptr_t)1;
    VkResult result =
        maarCreateAliasingBuffer(c->rig.allocator, c->memory, 65536, &info, &c->buffer);
    assert_true((result == VK_SUCCESS) == (c->buffer != VK_NULL_HANDLE));
    return result;
}

static void undo_alias_buffer(struct fault_context* c)
{
    vkDestroyBuffer(c->rig.device, c->buffer, &c->rig.host_callbacks);
}

static VkResult run_alias_image(struct fault_context* c)
{
    const VkImageCreateInfo info = rig_image_info(64, 64);
    c->image = (VkImage)(uintptr_t)1;
    VkResult result = maarCreateAliasingImage(c->rig.allocator, c->memory, 65536, &info, &c->image);
    assert_true((result == VK_SUCCESS) == (c->image != VK_NULL_HANDLE));
    return result;
}

static void undo_alias_image(struct fault_context* c)
{
    vkDestroyImage(c->rig.device, c->image, &c->rig.host_callbacks);
}

static void prepare_bare_buffer(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    assert_int_equal(vkCreateBuffer(c->rig.device, &info, &c->rig.host_callbacks, &c->buffer),
                     VK_SUCCESS);
}

static VkResult run_for_buffer(struct fault_context* c)
{
    c->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateMemoryForBuffer(c->rig.allocator, c->buffer, NULL, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static void prepare_bare_image(struct fault_context* c)
{
    const VkImageCreateInfo info = rig_image_info(64, 64);
    assert_int_equal(vkCreateImage(c->rig.device, &info, &c->rig.host_callbacks, &c->image),
                     VK_SUCCESS);
}

static VkResult run_for_image(struct fault_context* c)
{
    c->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateMemoryForImage(c->rig.allocator, c->image,
                                                 VK_IMAGE_TILING_OPTIMAL, NULL, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static void prepare_bind_buffer(struct fault_context* c)
{
    prepare_bare_buffer(c);
    assert_int_equal(run_for_buffer(c), VK_SUCCESS);
}

static VkResult run_bind_buffer(struct fault_context* c)
{
    return maarBindBuffer(c->rig.allocator, c->memory, 0, c->buffer, NULL);
}

static void prepare_bind_image(struct fault_context* c)
{
    prepare_bare_image(c);
    assert_int_equal(run_for_image(c), VK_SUCCESS);
}

static VkResult run_bind_image(struct fault_context* c)
{
    return maarBindImage(c->rig.allocator, c->memory, 0, c->image, NULL);
}

static VkResult run_choose_buffer(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    c->choice.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE;
    return maarChooseMemoryTypeForBuffer(c->rig.allocator, &info, NULL, &c->choice);
}

static VkResult run_choose_image(struct fault_context* c)
{
    const VkImageCreateInfo info = rig_image_info(64, 64);
    c->choice.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE;
    return maarChooseMemoryTypeForImage(c->rig.allocator, &info, NULL, &c->choice);
}

/* ---- slices ---- */

static VkResult run_slice(struct fault_context* c)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 100,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    c->slice = (MaarSlice)(uintptr_t)1;
    VkResult result = maarCreateSlice(c->rig.allocator, &info, &c->slice);
    assert_true((result == VK_SUCCESS) == (c->slice != VK_NULL_HANDLE));
    return result;
}

static void undo_slice(struct fault_context* c)
{
    maarDestroySlice(c->rig.allocator, c->slice);
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
}

/* ---- later ---- */

static VkResult run_free_after(struct fault_context* c)
{
    VkResult result = maarFreeMemoryAfter(c->rig.allocator, c->memory, 1, &host_point);
    if (result != VK_SUCCESS) {
        assert_int_equal(rig_info(&c->rig, c->memory).size, MIB);
    }
    return result;
}

static void undo_after(struct fault_context* c)
{
    assert_int_equal(maarAdvanceHostTimeline(c->rig.allocator, host_point.value), VK_SUCCESS);
    assert_int_equal(maarCollect(c->rig.allocator, NULL), VK_SUCCESS);
    c->memory = VK_NULL_HANDLE;
}

static void prepare_buffer(struct fault_context* c)
{
    assert_int_equal(run_buffer(c), VK_SUCCESS);
}

static VkResult run_buffer_after(struct fault_context* c)
{
    return maarDestroyBufferAfter(c->rig.allocator, c->buffer, c->memory, 1, &host_point);
}

static void prepare_image(struct fault_context* c)
{
    assert_int_equal(run_image(c), VK_SUCCESS);
}

static VkResult run_image_after(struct fault_context* c)
{
    return maarDestroyImageAfter(c->rig.allocator, c->image, c->memory, 1, &host_point);
}

static void prepare_slice(struct fault_context* c)
{
    assert_int_equal(run_slice(c), VK_SUCCESS);
}

static VkResult run_slice_after(struct fault_context* c)
{
    return maarDestroySliceAfter(c->rig.allocator, c->slice, 1, &host_point);
}

static void prepare_passed(struct fault_context* c)
{
    prepare_memory(c);
    c->timeline = rig_create_timeline(&c->rig, 1);
    const MaarPoint point = {c->timeline, 1};
    assert_int_equal(maarFreeMemoryAfter(c->rig.allocator, c->memory, 1, &point), VK_SUCCESS);
}

static VkResult run_collect(struct fault_context* c)
{
    uint32_t freed = 99;
    VkResult result = maarCollect(c->rig.allocator, &freed);
    assert_int_equal(freed, result == VK_SUCCESS ? 1 : 0);
    return result;
}

static VkResult run_wait(struct fault_context* c)
{
    return maarWaitPending(c->rig.allocator, UINT64_MAX);
}

static void finish_timeline(struct fault_context* c)
{
    vkDestroySemaphore(c->rig.device, c->timeline, NULL);
}

/* ---- dumps ---- */

static VkResult run_dump(struct fault_context* c)
{
    const MaarDumpInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
        .detailed = VK_TRUE,
    };
    size_t size = 0;
    VkResult result = maarWriteDump(c->rig.allocator, &info, &size, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    c->dump = malloc(size);
    assert_non_null(c->dump);
    result = maarWriteDump(c->rig.allocator, &info, &size, c->dump);
    free(c->dump);
    return result;
}

const struct fault_step fault_steps[] = {
    {.name = "pool", .run = run_pool, .undo = undo_pool},
    {.name = "named memory", .run = run_named, .undo = undo_memory},
    {.name = "mapped memory", .run = run_mapped, .undo = undo_memory},
    {.name = "dedicated memory", .run = run_dedicated, .undo = undo_memory},
    {.name = "memory in a full pool",
     .prepare = prepare_full_pool,
     .run = run_in_pool,
     .undo = undo_memory,
     .finish = finish_pool},
    {.name = "several allocations", .run = run_many, .undo = undo_many},
    {.name = "name",
     .prepare = prepare_memory,
     .run = run_rename,
     .undo = undo_nothing,
     .finish = undo_memory},
    {.name = "map",
     .prepare = prepare_memory,
     .run = run_map,
     .undo = undo_map,
     .finish = undo_memory},
    {.name = "copy to",
     .prepare = prepare_memory,
     .run = run_copy_to,
     .undo = undo_nothing,
     .finish = undo_memory,
     .profile = rig_profile_noncoherent},
    {.name = "copy from",
     .prepare = prepare_memory,
     .run = run_copy_from,
     .undo = undo_nothing,
     .finish = undo_memory,
     .profile = rig_profile_noncoherent},
    {.name = "flush",
     .prepare = prepare_mapped,
     .run = run_flush,
     .undo = undo_nothing,
     .finish = undo_memory,
     .profile = rig_profile_noncoherent},
    {.name = "invalidate",
     .prepare = prepare_mapped,
     .run = run_invalidate,
     .undo = undo_nothing,
     .finish = undo_memory,
     .profile = rig_profile_noncoherent},
    {.name = "buffer", .run = run_buffer, .undo = undo_buffer},
    {.name = "image", .run = run_image, .undo = undo_image},
    {.name = "planes", .run = run_planes, .undo = undo_planes},
    {.name = "aliasing buffer",
     .prepare = prepare_memory,
     .run = run_alias_buffer,
     .undo = undo_alias_buffer,
     .finish = undo_memory},
    {.name = "aliasing image",
     .prepare = prepare_memory,
     .run = run_alias_image,
     .undo = undo_alias_image,
     .finish = undo_memory},
    {.name = "memory for a buffer",
     .prepare = prepare_bare_buffer,
     .run = run_for_buffer,
     .undo = undo_memory,
     .finish = undo_alias_buffer},
    {.name = "memory for an image",
     .prepare = prepare_bare_image,
     .run = run_for_image,
     .undo = undo_memory,
     .finish = undo_alias_image},
    {.name = "bound buffer",
     .prepare = prepare_bind_buffer,
     .run = run_bind_buffer,
     .undo = undo_buffer},
    {.name = "bound image",
     .prepare = prepare_bind_image,
     .run = run_bind_image,
     .undo = undo_image},
    {.name = "type for a buffer",
     .run = run_choose_buffer,
     .undo = undo_nothing,
     .off = RIG_OFF_MAINTENANCE4},
    {.name = "type for an image",
     .run = run_choose_image,
     .undo = undo_nothing,
     .off = RIG_OFF_MAINTENANCE4},
    {.name = "slice", .run = run_slice, .undo = undo_slice},
    {.name = "slice in incoherent memory",
     .run = run_slice,
     .undo = undo_slice,
     .profile = rig_profile_noncoherent},
    {.name = "memory later", .prepare = prepare_memory, .run = run_free_after, .undo = undo_after},
    {.name = "buffer later",
     .prepare = prepare_buffer,
     .run = run_buffer_after,
     .undo = undo_after},
    {.name = "image later", .prepare = prepare_image, .run = run_image_after, .undo = undo_after},
    {.name = "slice later", .prepare = prepare_slice, .run = run_slice_after, .undo = undo_after},
    {.name = "collect",
     .prepare = prepare_passed,
     .run = run_collect,
     .undo = undo_nothing,
     .finish = finish_timeline,
     .waits = true},
    {.name = "wait",
     .prepare = prepare_passed,
     .run = run_wait,
     .undo = undo_nothing,
     .finish = finish_timeline,
     .waits = true},
    {.name = "dump",
     .prepare = prepare_memory,
     .run = run_dump,
     .undo = undo_nothing,
     .finish = undo_memory},
};

const uint32_t fault_step_count = sizeof fault_steps / sizeof fault_steps[0];
