/*
 * Steps: buffers, images, slices and binding.
 */
#include "tests/fault/fault_steps.h"

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

static void prepare_buffer(struct fault_context* c)
{
    assert_int_equal(run_buffer(c), VK_SUCCESS);
}

static VkResult run_destroy_buffer(struct fault_context* c)
{
    undo_buffer(c);
    return VK_SUCCESS;
}

static void prepare_address(struct fault_context* c)
{
    VkBufferCreateInfo info = rig_buffer_info(5000);
    info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    assert_int_equal(maarCreateBuffer(c->rig.allocator, &info, NULL, &c->buffer, &c->memory),
                     VK_SUCCESS);
}

static VkResult run_address(struct fault_context* c)
{
    VkDeviceAddress address = 0;
    VkResult result = maarGetBufferAddress(c->rig.allocator, c->buffer, &address);
    assert_true(address != 0);
    return result;
}

static VkResult create_image(struct fault_context* c, uint32_t width)
{
    const VkImageCreateInfo info = rig_image_info(width, width);
    c->image = (VkImage)(uintptr_t)1;
    VkResult result = maarCreateImage(c->rig.allocator, &info, NULL, &c->image, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->image != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static VkResult run_image(struct fault_context* c)
{
    return create_image(c, 256);
}

/* Above half a block: a VkDeviceMemory of its own, or else a place in a block. */
static VkResult run_large_image(struct fault_context* c)
{
    return create_image(c, 8192);
}

static void undo_image(struct fault_context* c)
{
    maarDestroyImage(c->rig.allocator, c->image, c->memory);
    c->memory = VK_NULL_HANDLE;
}

static void prepare_image(struct fault_context* c)
{
    assert_int_equal(run_image(c), VK_SUCCESS);
}

static VkResult run_destroy_image(struct fault_context* c)
{
    undo_image(c);
    return VK_SUCCESS;
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
}

static void prepare_slice(struct fault_context* c)
{
    assert_int_equal(run_slice(c), VK_SUCCESS);
}

static VkResult run_destroy_slice(struct fault_context* c)
{
    undo_slice(c);
    return VK_SUCCESS;
}

static VkResult run_slice_info(struct fault_context* c)
{
    MaarSliceInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    VkResult result = maarGetSliceInfo(c->rig.allocator, c->slice, &info);
    assert_int_equal(info.size, 100);
    return result;
}

static void undo_slices(struct fault_context* c)
{
    for (uint32_t i = 0; i < FAULT_CROWD; ++i) {
        maarDestroySlice(c->rig.allocator, c->slices[i]);
        c->slices[i] = VK_NULL_HANDLE;
    }
}

/* So many that there is a second buffer, and that tables grow. */
static VkResult run_slices(struct fault_context* c)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < FAULT_CROWD && result == VK_SUCCESS; ++i) {
        const MaarSliceCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
            .size = 1500,
            .usage =
                i % 2 == 0 ? VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT : VK_BUFFER_USAGE_VERTEX_BUFFER_BIT,
            .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
        };
        c->slices[i] = (MaarSlice)(uintptr_t)1;
        result = maarCreateSlice(c->rig.allocator, &info, &c->slices[i]);
        assert_true((result == VK_SUCCESS) == (c->slices[i] != VK_NULL_HANDLE));
    }
    if (result != VK_SUCCESS) {
        undo_slices(c);
        assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    }
    return result;
}

static const char only_destroys[] = "destroys and gives back, which cannot fail";

static const struct fault_step steps[] = {
    {.function = "maarCreateBuffer", .run = run_buffer, .undo = undo_buffer},
    {.function = "maarDestroyBuffer",
     .never = only_destroys,
     .prepare = prepare_buffer,
     .run = run_destroy_buffer},
    {.function = "maarCreateImage", .run = run_image, .undo = undo_image},
    {.function = "maarCreateImage",
     .variant = "dedicated",
     .run = run_large_image,
     .undo = undo_image},
    {.function = "maarDestroyImage",
     .never = only_destroys,
     .prepare = prepare_image,
     .run = run_destroy_image},
    {.function = "maarCreateDisjointImage", .run = run_planes, .undo = undo_planes},
    {.function = "maarCreateAliasingBuffer",
     .prepare = fault_prepare_memory,
     .run = run_alias_buffer,
     .undo = undo_alias_buffer,
     .finish = fault_undo_memory},
    {.function = "maarCreateAliasingImage",
     .prepare = fault_prepare_memory,
     .run = run_alias_image,
     .undo = undo_alias_image,
     .finish = fault_undo_memory},
    {.function = "maarAllocateMemoryForBuffer",
     .prepare = prepare_bare_buffer,
     .run = run_for_buffer,
     .undo = fault_undo_memory,
     .finish = undo_alias_buffer},
    {.function = "maarAllocateMemoryForImage",
     .prepare = prepare_bare_image,
     .run = run_for_image,
     .undo = fault_undo_memory,
     .finish = undo_alias_image},
    {.function = "maarBindBuffer",
     .prepare = prepare_bind_buffer,
     .run = run_bind_buffer,
     .finish = undo_buffer},
    {.function = "maarBindImage",
     .prepare = prepare_bind_image,
     .run = run_bind_image,
     .finish = undo_image},
    {.function = "maarChooseMemoryTypeForBuffer",
     .run = run_choose_buffer,
     .off = RIG_OFF_MAINTENANCE4},
    {.function = "maarChooseMemoryTypeForImage",
     .run = run_choose_image,
     .off = RIG_OFF_MAINTENANCE4},
    {.function = "maarGetBufferAddress",
     .never = "vkGetBufferDeviceAddress returns an address, never an error",
     .prepare = prepare_address,
     .run = run_address,
     .finish = undo_buffer},
    {.function = "maarCreateSlice", .run = run_slice, .undo = undo_slice},
    {.function = "maarCreateSlice",
     .variant = "not coherent",
     .run = run_slice,
     .undo = undo_slice,
     .profile = rig_profile_noncoherent},
    {.function = "maarCreateSlice",
     .variant = "crowd",
     .run = run_slices,
     .undo = undo_slices,
     .session = true},
    {.function = "maarDestroySlice",
     .never = only_destroys,
     .prepare = prepare_slice,
     .run = run_destroy_slice},
    {.function = "maarGetSliceInfo",
     .never = "reads what is kept",
     .prepare = prepare_slice,
     .run = run_slice_info,
     .finish = undo_slice},
};

const struct fault_table fault_object_steps = {steps, sizeof steps / sizeof steps[0]};
