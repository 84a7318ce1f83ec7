/*
 * Steps: images, and CUDA's virtual memory, the experimental part of maar/cuda.h, over the FAKE
 * CUDA driver. Calls that end things (cuMemUnmap, cuMemRelease, cuMemAddressFree) are left alone.
 */
#include "core/handle.h"
#include "tests/fault/fault_cuda.h"

#define BLOCK ((VkDeviceSize)FAKE_GRANULARITY)

/* ---- images ---- */

static VkImageCreateInfo cuda_image_info(void)
{
    VkImageCreateInfo info = rig_image_info(64, 64);
    info.mipLevels = 3;
    return info;
}

static void prepare_cuda_image(struct fault_context* c)
{
    fault_prepare_cuda(c);
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkImageCreateInfo info = cuda_image_info();
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    assert_int_equal(maarCreateImage(c->rig.allocator, &info, &how, &c->image, &c->memory),
                     VK_SUCCESS);
}

static VkResult make_cuda_image(struct fault_context* c, MaarCudaImage* image)
{
    const VkImageCreateInfo info = cuda_image_info();
    *image = MAAR_FROM_BITS(MaarCudaImage, 1);
    VkResult result = maarCreateCudaImage(fault_cuda.cuda, c->memory, &info, image);
    assert_true((result == VK_SUCCESS) == (*image != VK_NULL_HANDLE));
    return result;
}

static VkResult run_cuda_image(struct fault_context* c)
{
    return make_cuda_image(c, &fault_cuda.image);
}

static void undo_cuda_image(struct fault_context* c)
{
    (void)c;
    maarDestroyCudaImage(fault_cuda.cuda, fault_cuda.image);
    fault_cuda.image = VK_NULL_HANDLE;
}

/* The block is in CUDA already. */
static void prepare_second_image(struct fault_context* c)
{
    prepare_cuda_image(c);
    assert_int_equal(make_cuda_image(c, &fault_cuda.other_image), VK_SUCCESS);
}

static void prepare_made_image(struct fault_context* c)
{
    prepare_cuda_image(c);
    assert_int_equal(run_cuda_image(c), VK_SUCCESS);
}

static VkResult run_destroy_image(struct fault_context* c)
{
    undo_cuda_image(c);
    return VK_SUCCESS;
}

static VkResult run_cuda_image_info(struct fault_context* c)
{
    (void)c;
    MaarCudaImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_IMAGE_INFO};
    return maarGetCudaImageInfo(fault_cuda.cuda, fault_cuda.image, &info);
}

static void finish_cuda_image(struct fault_context* c)
{
    undo_cuda_image(c);
    maarDestroyCudaImage(fault_cuda.cuda, fault_cuda.other_image);
    maarDestroyImage(c->rig.allocator, c->image, c->memory);
    fault_finish_cuda(c);
}

/* ---- memory of CUDA's ---- */

/* The simulated device takes what the FAKE makes as its own, of memory type 0. */
static void prepare_foreign_memory(struct fault_context* c)
{
    fault_prepare_cuda(c);
    MaarSharingInfo sharing = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    struct fake_identity identity = {.memory_type = 0};
    assert_int_equal(maarGetSharingInfo(c->rig.allocator, &sharing), VK_SUCCESS);
    memcpy(identity.device_uuid, sharing.deviceUUID, VK_UUID_SIZE);
    memcpy(identity.driver_uuid, sharing.driverUUID, VK_UUID_SIZE);
    fault_fake->set_identity(&identity);
}

static VkResult run_foreign_memory(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    c->buffer = (VkBuffer)(uintptr_t)1;
    c->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateCudaMemory(fault_cuda.cuda, &info, 0, &c->buffer, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->buffer != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

static void undo_foreign_memory(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
}

/* ---- ranges ---- */

static VkResult run_range(struct fault_context* c)
{
    (void)c;
    fault_cuda.range = MAAR_FROM_BITS(MaarCudaRange, 1);
    VkResult result = maarCreateCudaRange(fault_cuda.cuda, 3 * BLOCK, &fault_cuda.range);
    assert_true((result == VK_SUCCESS) == (fault_cuda.range != VK_NULL_HANDLE));
    return result;
}

static void undo_range(struct fault_context* c)
{
    (void)c;
    maarDestroyCudaRange(fault_cuda.cuda, fault_cuda.range);
    fault_cuda.range = VK_NULL_HANDLE;
}

static VkResult run_destroy_range(struct fault_context* c)
{
    undo_range(c);
    return VK_SUCCESS;
}

static void prepare_range(struct fault_context* c)
{
    fault_prepare_cuda(c);
    assert_int_equal(run_range(c), VK_SUCCESS);
}

static void finish_range(struct fault_context* c)
{
    undo_range(c);
    fault_finish_cuda(c);
}

static MaarCudaRangeInfo range_now(void)
{
    MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    assert_int_equal(maarGetCudaRangeInfo(fault_cuda.cuda, fault_cuda.range, &info), VK_SUCCESS);
    return info;
}

static VkResult run_range_info(struct fault_context* c)
{
    (void)c;
    assert_int_equal(range_now().size, 0);
    return VK_SUCCESS;
}

static void prepare_block(struct fault_context* c)
{
    prepare_range(c);
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    c->memory = rig_allocate(&c->rig, BLOCK, &how);
}

static VkResult run_append(struct fault_context* c)
{
    const VkDeviceSize before = range_now().size;
    VkResult result = maarAppendToCudaRange(fault_cuda.cuda, fault_cuda.range, c->memory);
    assert_int_equal(range_now().size, before + (result == VK_SUCCESS ? BLOCK : 0));
    return result;
}

static void finish_block(struct fault_context* c)
{
    maarFreeMemory(c->rig.allocator, c->memory);
    finish_range(c);
}

/* ---- mirrors ---- */

static VkResult run_mirror(struct fault_context* c)
{
    (void)c;
    const VkBufferCreateInfo buffer = rig_buffer_info(8 * BLOCK);
    const MaarCudaMirrorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO,
        .pBufferInfo = &buffer,
    };
    fault_cuda.mirror = MAAR_FROM_BITS(MaarCudaMirror, 1);
    VkResult result = maarCreateCudaMirror(fault_cuda.cuda, &info, &fault_cuda.mirror);
    assert_true((result == VK_SUCCESS) == (fault_cuda.mirror != VK_NULL_HANDLE));
    return result;
}

static void undo_mirror(struct fault_context* c)
{
    (void)c;
    maarDestroyCudaMirror(fault_cuda.cuda, fault_cuda.mirror);
    fault_cuda.mirror = VK_NULL_HANDLE;
}

/* What binds pages, which the allocator opens once, is there. */
static void prepare_another_mirror(struct fault_context* c)
{
    fault_prepare_cuda(c);
    assert_int_equal(run_mirror(c), VK_SUCCESS);
    undo_mirror(c);
}

static VkResult run_destroy_mirror(struct fault_context* c)
{
    undo_mirror(c);
    return VK_SUCCESS;
}

static void prepare_mirror(struct fault_context* c)
{
    fault_prepare_cuda(c);
    assert_int_equal(run_mirror(c), VK_SUCCESS);
}

static void finish_mirror(struct fault_context* c)
{
    undo_mirror(c);
    fault_finish_cuda(c);
}

static MaarCudaMirrorInfo mirror_now(void)
{
    MaarCudaMirrorInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_INFO};
    assert_int_equal(maarGetCudaMirrorInfo(fault_cuda.cuda, fault_cuda.mirror, &info), VK_SUCCESS);
    return info;
}

static VkResult run_mirror_info(struct fault_context* c)
{
    (void)c;
    assert_int_equal(mirror_now().size, 0);
    return VK_SUCCESS;
}

static VkResult run_grow(struct fault_context* c)
{
    (void)c;
    const MaarCudaMirrorInfo before = mirror_now();
    VkResult result = maarGrowCudaMirror(fault_cuda.cuda, fault_cuda.mirror, before.size + BLOCK);
    const MaarCudaMirrorInfo now = mirror_now();
    assert_int_equal(now.size, before.size + (result == VK_SUCCESS ? BLOCK : 0));
    assert_int_equal(now.blockCount, before.blockCount + (result == VK_SUCCESS ? 1 : 0));
    return result;
}

static void prepare_grown_mirror(struct fault_context* c)
{
    prepare_mirror(c);
    assert_int_equal(run_grow(c), VK_SUCCESS);
}

#define MIRROR_STEP                                                                                \
    FAULT_CUDA_STEP, .sharing = rig_sharing_sparse, .profile = rig_profile_sparse, .paging = true

static const struct fault_step steps[] = {
    {"maarCreateCudaImage", "first", .prepare = prepare_cuda_image, .run = run_cuda_image,
     .undo = undo_cuda_image, .finish = finish_cuda_image, FAULT_CUDA_STEP, .keeps_fds = true},
    {"maarCreateCudaImage", "again", .prepare = prepare_second_image, .run = run_cuda_image,
     .undo = undo_cuda_image, .finish = finish_cuda_image, FAULT_CUDA_STEP},
    {"maarDestroyCudaImage", .never = "lets go", .prepare = prepare_made_image,
     .run = run_destroy_image, .finish = finish_cuda_image, FAULT_CUDA_STEP},
    {"maarGetCudaImageInfo", .never = "reads what is kept", .prepare = prepare_made_image,
     .run = run_cuda_image_info, .finish = finish_cuda_image, FAULT_CUDA_STEP},
    {"maarAllocateCudaMemory", .prepare = prepare_foreign_memory, .run = run_foreign_memory,
     .undo = undo_foreign_memory, .finish = fault_finish_cuda, FAULT_CUDA_STEP},
    {"maarCreateCudaRange", .prepare = fault_prepare_cuda, .run = run_range, .undo = undo_range,
     .finish = fault_finish_cuda, FAULT_CUDA_STEP},
    {"maarDestroyCudaRange", .never = "lets go", .prepare = prepare_range, .run = run_destroy_range,
     .finish = finish_range, FAULT_CUDA_STEP},
    {"maarGetCudaRangeInfo", .never = "reads what is kept", .prepare = prepare_range,
     .run = run_range_info, .finish = finish_range, FAULT_CUDA_STEP},
    {"maarAppendToCudaRange", .prepare = prepare_block, .run = run_append, .finish = finish_block,
     FAULT_CUDA_STEP, .keeps_fds = true},
    {"maarCreateCudaMirror", "first", .prepare = fault_prepare_cuda, .run = run_mirror,
     .undo = undo_mirror, .finish = fault_finish_cuda, MIRROR_STEP, .keeps_warm = true},
    {"maarCreateCudaMirror", "another", .prepare = prepare_another_mirror, .run = run_mirror,
     .undo = undo_mirror, .finish = fault_finish_cuda, MIRROR_STEP},
    {"maarDestroyCudaMirror", .never = "lets go", .prepare = prepare_grown_mirror,
     .run = run_destroy_mirror, .finish = finish_mirror, MIRROR_STEP},
    {"maarGetCudaMirrorInfo", .never = "reads what is kept", .prepare = prepare_mirror,
     .run = run_mirror_info, .finish = finish_mirror, MIRROR_STEP},
    {"maarGrowCudaMirror", "first", .prepare = prepare_mirror, .run = run_grow,
     .finish = finish_mirror, MIRROR_STEP, .session = true, .lost_is_done = true},
    {"maarGrowCudaMirror", "more", .prepare = prepare_grown_mirror, .run = run_grow,
     .finish = finish_mirror, MIRROR_STEP, .session = true, .lost_is_done = true},
};

const struct fault_table fault_page_steps = {
    steps,
    sizeof steps / sizeof steps[0],
};
