/*
 * Protocol tests of maar/cuda.h: images as mipmapped arrays, and CUDA's virtual memory in both
 * directions.
 */
#define MAAR_ENABLE_EXPERIMENTAL 1
#include "tests/interop/cuda_case.h"

/* ---- images ---- */

static MaarAllocation make_image(struct cuda_case* c, const VkImageCreateInfo* info, VkImage* image)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    MaarAllocation allocation = VK_NULL_HANDLE;
    const VkResult result = maarCreateImage(c->rig.allocator, info, &how, image, &allocation);
    if (result != VK_SUCCESS) {
        fail_msg("no image: %d, \"%s\"", (int)result, c->rig.messages.last);
    }
    return allocation;
}

struct image_row {
    VkImageCreateInfo info;
    struct maar_cuda_array_shape shape;
};

static VkImageCreateInfo image_info(VkImageType type, VkFormat format, VkExtent3D extent,
                                    VkImageUsageFlags usage)
{
    VkImageCreateInfo info = rig_image_info(extent.width, extent.height);
    info.imageType = type;
    info.format = format;
    info.extent = extent;
    info.usage = usage;
    return info;
}

static void expect_array(struct cuda_case* c, const struct image_row* row)
{
    VkImage image = VK_NULL_HANDLE;
    const MaarAllocation allocation = make_image(c, &row->info, &image);
    const MaarExportedMemory exported = sharing_export(&c->rig, allocation);
    maarDestroyExternalHandle(c->rig.allocator, exported.handle);
    MaarCudaImage made = VK_NULL_HANDLE;
    MaarCudaImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_IMAGE_INFO};
    const VkResult result = maarCreateCudaImage(c->cuda, allocation, &row->info, &made);
    if (result != VK_SUCCESS) {
        fail_msg("no array: %d, \"%s\"", (int)result, c->rig.messages.last);
    }
    const struct maar_cuda_memory_image given = c->fake->last_image();
    assert_true(given.offset == exported.offset);
    assert_int_equal(given.levels, row->info.mipLevels);
    assert_int_equal(given.shape.width, row->shape.width);
    assert_int_equal(given.shape.height, row->shape.height);
    assert_int_equal(given.shape.depth, row->shape.depth);
    assert_int_equal(given.shape.format, row->shape.format);
    assert_int_equal(given.shape.channels, row->shape.channels);
    assert_int_equal(given.shape.flags, row->shape.flags);
    assert_int_equal(c->fake->last_memory().flags,
                     exported.dedicated == VK_TRUE ? (int)MAAR_CUDA_MEMORY_DEDICATED : 0);
    assert_int_equal(maarGetCudaImageInfo(made, &info), VK_SUCCESS);
    assert_non_null(info.pMipmappedArray);
    assert_int_equal(info.levelCount, row->info.mipLevels);
    for (uint32_t i = 0; i < 16; ++i) {
        assert_int_equal(info.ppLevels[i] != NULL, i < row->info.mipLevels);
    }
    maarDestroyCudaImage(made);
    assert_int_equal(c->fake->live(FAKE_KIND_IMAGE), 0);
    maarDestroyImage(c->rig.allocator, image, allocation);
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    fake_expect_no_breach(c->fake);
}

static void array_describes_the_image(void** state)
{
    const VkImageUsageFlags sampled = VK_IMAGE_USAGE_SAMPLED_BIT;
    const VkExtent3D flat = {64, 32, 1};
    struct image_row rows[6] = {
        {image_info(VK_IMAGE_TYPE_2D, VK_FORMAT_R8G8B8A8_UNORM, flat,
                    sampled | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT),
         {64, 32, 0, MAAR_CUDA_FORMAT_UINT8, 4, MAAR_CUDA_ARRAY_COLOR_ATTACHMENT}},
        {image_info(VK_IMAGE_TYPE_2D, VK_FORMAT_R32_SFLOAT, flat,
                    sampled | VK_IMAGE_USAGE_STORAGE_BIT),
         {64, 32, 0, MAAR_CUDA_FORMAT_FLOAT, 1, MAAR_CUDA_ARRAY_SURFACE}},
        {image_info(VK_IMAGE_TYPE_2D, VK_FORMAT_R16G16_SFLOAT, flat, sampled),
         {64, 32, 0, MAAR_CUDA_FORMAT_HALF, 2, 0}},
        {image_info(VK_IMAGE_TYPE_3D, VK_FORMAT_R16_UINT, (VkExtent3D){32, 16, 8}, sampled),
         {32, 16, 8, MAAR_CUDA_FORMAT_UINT16, 1, 0}},
        {image_info(VK_IMAGE_TYPE_2D, VK_FORMAT_R8G8B8A8_UNORM, flat, sampled),
         {64, 32, 5, MAAR_CUDA_FORMAT_UINT8, 4, MAAR_CUDA_ARRAY_LAYERED}},
        {image_info(VK_IMAGE_TYPE_2D, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){32, 32, 1}, sampled),
         {32, 32, 6, MAAR_CUDA_FORMAT_UINT8, 4, MAAR_CUDA_ARRAY_CUBE}},
    };
    struct cuda_case* c = cuda_case_get(state);
    rows[0].info.mipLevels = 7;
    rows[4].info.arrayLayers = 5;
    rows[5].info.arrayLayers = 6;
    rows[5].info.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        print_message("image %u\n", (unsigned)i);
        expect_array(c, &rows[i]);
    }
}

static void image_that_cuda_has_no_word_for_is_refused(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    VkImageCreateInfo info = image_info(VK_IMAGE_TYPE_2D, VK_FORMAT_R8G8B8A8_UNORM,
                                        (VkExtent3D){64, 64, 1}, VK_IMAGE_USAGE_SAMPLED_BIT);
    VkImage image = VK_NULL_HANDLE;
    const MaarAllocation allocation = make_image(c, &info, &image);
    MaarCudaImage made = (MaarCudaImage)c;
    info.format = VK_FORMAT_D32_SFLOAT_S8_UINT;
    assert_int_equal(maarCreateCudaImage(c->cuda, allocation, &info, &made),
                     VK_ERROR_FORMAT_NOT_SUPPORTED);
    assert_null(made);
    info.format = VK_FORMAT_R8G8B8A8_UNORM;
    info.samples = VK_SAMPLE_COUNT_4_BIT;
    assert_int_equal(maarCreateCudaImage(c->cuda, allocation, &info, &made),
                     VK_ERROR_FORMAT_NOT_SUPPORTED);
    rig_forget_messages(&c->rig);
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    c->fake->set_fault("cuExternalMemoryGetMappedMipmappedArray", 1, 1, MAAR_CUDA_OUT_OF_MEMORY);
    assert_int_equal(maarCreateCudaImage(c->cuda, allocation, &info, &made),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_forget_messages(&c->rig);
    c->fake->set_fault("cuMipmappedArrayGetLevel", 1, 1, MAAR_CUDA_UNKNOWN);
    assert_int_equal(maarCreateCudaImage(c->cuda, allocation, &info, &made), VK_ERROR_UNKNOWN);
    rig_forget_messages(&c->rig);
    assert_int_equal(c->fake->live(FAKE_KIND_IMAGE), 0);
    maarDestroyImage(c->rig.allocator, image, allocation);
    fake_expect_no_breach(c->fake);
}

static void image_of_its_own_memory_is_imported_as_dedicated(void** state)
{
    const struct cuda_case_setup setup = {.kinds = SEMAPHORE_WRAP_ALL, .dedicated_images = true};
    const struct image_row row = {image_info(VK_IMAGE_TYPE_2D, VK_FORMAT_R8G8B8A8_UNORM,
                                             (VkExtent3D){64, 32, 1}, VK_IMAGE_USAGE_SAMPLED_BIT),
                                  {64, 32, 0, MAAR_CUDA_FORMAT_UINT8, 4, 0}};
    static struct cuda_case c;
    (void)state;
    if (!cuda_case_open(&c, &setup)) {
        skip();
    }
    expect_array(&c, &row);
    assert_int_equal(c.fake->last_memory().flags,
                     c.rig.simulated ? (int)MAAR_CUDA_MEMORY_DEDICATED : 0);
    cuda_case_close(&c);
}

/* ---- blocks in a row ---- */

enum { BLOCKS = 3 };

static MaarAllocation make_block(struct cuda_case* c, VkDeviceSize size)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pNext = &export;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    return rig_allocate(&c->rig, size, &how);
}

static void blocks_lie_in_a_row_in_cuda(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    const VkDeviceSize size = FAKE_GRANULARITY;
    MaarAllocation blocks[BLOCKS];
    MaarCudaRange range = VK_NULL_HANDLE;
    MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    assert_int_equal(maarCreateCudaRange(c->cuda, BLOCKS * size, &range), VK_SUCCESS);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        blocks[i] = make_block(c, size);
        assert_int_equal(maarAppendToCudaRange(range, blocks[i]), VK_SUCCESS);
    }
    assert_int_equal(maarGetCudaRangeInfo(range, &info), VK_SUCCESS);
    assert_true(info.size == BLOCKS * size && info.reservedSize >= info.size);
    assert_int_equal(info.granularity, FAKE_GRANULARITY);
    /* One write across all of them, but for the first and the last byte. */
    assert_int_equal(c->driver.cuMemsetD8Async(info.devicePointer + 1, 7, info.size - 2, c->stream),
                     0);
    assert_int_equal(c->driver.cuStreamSynchronize(c->stream), 0);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        const unsigned char* bytes = maarGetMappedData(c->rig.allocator, blocks[i]);
        assert_non_null(bytes);
        assert_int_equal(bytes[0], i == 0 ? 0 : 7);
        assert_int_equal(bytes[size / 2], 7);
        assert_int_equal(bytes[size - 1], i + 1 == BLOCKS ? 0 : 7);
    }
    const MaarAllocation more = make_block(c, size);
    assert_int_equal(maarAppendToCudaRange(range, more), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_forget_messages(&c->rig);
    maarFreeMemory(c->rig.allocator, more);
    maarDestroyCudaRange(range);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        maarFreeMemory(c->rig.allocator, blocks[i]);
    }
    fake_expect_no_breach(c->fake);
}

static void block_that_does_not_fit_a_range_is_refused(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    MaarCudaRange range = VK_NULL_HANDLE;
    assert_int_equal(maarCreateCudaRange(c->cuda, 2 * FAKE_GRANULARITY, &range), VK_SUCCESS);
    const MaarAllocation odd = make_block(c, FAKE_GRANULARITY + 65536);
    assert_int_equal(maarAppendToCudaRange(range, odd), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(&c->rig);
    const uint32_t descriptors = sharing_count_fds();
    const MaarAllocation even = make_block(c, FAKE_GRANULARITY);
    static const char* const functions[] = {"cuMemImportFromShareableHandle", "cuMemMap",
                                            "cuMemSetAccess"};
    for (size_t i = 0; i < 3; ++i) {
        c->fake->set_fault(functions[i], 1, 1, MAAR_CUDA_OUT_OF_MEMORY);
        assert_int_equal(maarAppendToCudaRange(range, even), VK_ERROR_OUT_OF_DEVICE_MEMORY);
        rig_forget_messages(&c->rig);
        assert_int_equal(c->fake->live(FAKE_KIND_BACKING) + c->fake->live(FAKE_KIND_PAGES), 0);
    }
    assert_int_equal(maarAppendToCudaRange(range, even), VK_SUCCESS);
    maarDestroyCudaRange(range);
    maarFreeMemory(c->rig.allocator, even);
    maarFreeMemory(c->rig.allocator, odd);
    assert_true(sharing_count_fds() <= descriptors + 2);
    fake_expect_no_breach(c->fake);
}

/* ---- the opposite direction ---- */

static void cuda_memory_needs_its_flag(void** state)
{
    struct cuda_case* c = cuda_case_get(state);
    const VkBufferCreateInfo info = rig_buffer_info(65536);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(
        maarAllocateCudaMemory(c->cuda, &info, MAAR_MEMORY_TYPE_NONE, &buffer, &allocation),
        VK_ERROR_FEATURE_NOT_PRESENT);
    rig_forget_messages(&c->rig);
    assert_int_equal(c->fake->calls("cuMemCreate"), 0);
}

/* The simulated device takes what the FAKE driver makes, lavapipe takes nothing but its own. */
static void cuda_memory_is_imported_or_refused_whole(void** state)
{
    const struct cuda_case_setup setup = {.kinds = SEMAPHORE_WRAP_ALL, .without_cuda = true};
    static struct cuda_case c;
    (void)state;
    if (!cuda_case_open(&c, &setup)) {
        skip();
    }
    const MaarCudaCreateInfo create = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .flags = MAAR_CUDA_CREATE_CUDA_MEMORY_BIT,
        .pLibraryPath = MAAR_FAKE_CUDA,
    };
    struct fake_identity identity = {.memory_type = 1};
    memcpy(identity.device_uuid, c.sharing.deviceUUID, VK_UUID_SIZE);
    memcpy(identity.driver_uuid, c.sharing.driverUUID, VK_UUID_SIZE);
    c.fake->set_identity(&identity);
    cuda_case_start(&c, &create);
    const VkBufferCreateInfo info = rig_buffer_info(65536);
    const uint32_t descriptors = sharing_count_fds();
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    const VkResult result = maarAllocateCudaMemory(c.cuda, &info, 1, &buffer, &allocation);
    if (c.rig.simulated) {
        assert_int_equal(result, VK_SUCCESS);
        const MaarCudaMemory memory = cuda_case_memory(&c, allocation);
        void* mapped = NULL;
        assert_int_equal(c.driver.cuMemsetD8Async(memory.devicePointer, 9, 65536, c.stream), 0);
        assert_int_equal(c.driver.cuStreamSynchronize(c.stream), 0);
        assert_int_equal(maarMapMemory(c.rig.allocator, allocation, &mapped), VK_SUCCESS);
        assert_int_equal(((const unsigned char*)mapped)[65535], 9);
        maarUnmapMemory(c.rig.allocator, allocation);
        maarDestroyBuffer(c.rig.allocator, buffer, allocation);
        assert_int_equal(maarTrim(c.rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    } else {
        assert_true(result < VK_SUCCESS);
        assert_true(buffer == VK_NULL_HANDLE && allocation == VK_NULL_HANDLE);
        rig_forget_messages(&c.rig);
    }
    assert_int_equal(sharing_count_fds(), descriptors);
    assert_int_equal(c.fake->live(FAKE_KIND_BACKING) + c.fake->live(FAKE_KIND_PAGES) +
                         c.fake->live(FAKE_KIND_RESERVATION),
                     0);
    cuda_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        CUDA_CASE(array_describes_the_image),
        CUDA_CASE(image_that_cuda_has_no_word_for_is_refused),
        cmocka_unit_test(image_of_its_own_memory_is_imported_as_dedicated),
        CUDA_CASE(blocks_lie_in_a_row_in_cuda),
        CUDA_CASE(block_that_does_not_fit_a_range_is_refused),
        CUDA_CASE(cuda_memory_needs_its_flag),
        cmocka_unit_test(cuda_memory_is_imported_or_refused_whole),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
