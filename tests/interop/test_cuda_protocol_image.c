/*
 * Protocol tests of maar/cuda.h: images as mipmapped arrays.
 */
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
    VkImage neighbour = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    const MaarAllocation before = make_image(c, &row->info, &neighbour);
    const MaarAllocation allocation = make_image(c, &row->info, &image);
    const MaarExportedMemory exported = rig_export(&c->rig, allocation);
    maarDestroyExternalHandle(c->rig.allocator, exported.handle);
    assert_int_equal(exported.offset != 0, exported.dedicated == VK_FALSE);
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
    assert_int_equal(maarGetCudaImageInfo(c->cuda, made, &info), VK_SUCCESS);
    assert_non_null(info.pMipmappedArray);
    assert_int_equal(info.levelCount, row->info.mipLevels);
    for (uint32_t i = 0; i < 16; ++i) {
        assert_int_equal(info.ppLevels[i] != NULL, i < row->info.mipLevels);
    }
    maarDestroyCudaImage(c->cuda, made);
    assert_int_equal(c->fake->live(FAKE_KIND_IMAGE), 0);
    maarDestroyImage(c->rig.allocator, image, allocation);
    maarDestroyImage(c->rig.allocator, neighbour, before);
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
    c->fake->set_fault("cuMipmappedArrayGetLevel", 1, 1, MAAR_CUDA_LAUNCH_FAILED);
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

int main(void)
{
    const struct CMUnitTest cases[] = {
        CUDA_CASE(array_describes_the_image),
        CUDA_CASE(image_that_cuda_has_no_word_for_is_refused),
        cmocka_unit_test(image_of_its_own_memory_is_imported_as_dedicated),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
