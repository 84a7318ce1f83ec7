/*
 * Images of maar/cuda.h over the FAKE CUDA driver and a simulated device: what CUDA receives of
 * formats, layers and use, and that what fails leaves nothing. Nothing of this says anything about
 * a GPU, least of all where the texels lie.
 */
#include "tests/interop/cuda_fixture.h"

#include "interop/cuda/cuda_internal.h"

static VkImageCreateInfo plain_image(void)
{
    return (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {64, 32, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT,
    };
}

static struct maar_cuda_array_shape shape_of(const VkImageCreateInfo* info)
{
    struct maar_cuda_array_shape shape;
    const char* fault = NULL;
    assert_int_equal(maar_cuda_image_shape(info, &shape, &fault), VK_SUCCESS);
    assert_null(fault);
    return shape;
}

/* ---- the table ---- */

static void format_is_its_bits_and_channels(void** state)
{
    static const struct {
        VkFormat vulkan;
        enum maar_cuda_format cuda;
        unsigned int channels;
    } cases[] = {
        {VK_FORMAT_R8_UNORM, MAAR_CUDA_FORMAT_UINT8, 1},
        {VK_FORMAT_R8G8_SNORM, MAAR_CUDA_FORMAT_SINT8, 2},
        {VK_FORMAT_R8G8B8A8_SRGB, MAAR_CUDA_FORMAT_UINT8, 4},
        {VK_FORMAT_B8G8R8A8_UNORM, MAAR_CUDA_FORMAT_UINT8, 4},
        {VK_FORMAT_A8B8G8R8_SINT_PACK32, MAAR_CUDA_FORMAT_SINT8, 4},
        {VK_FORMAT_R16_UINT, MAAR_CUDA_FORMAT_UINT16, 1},
        {VK_FORMAT_R16G16_SINT, MAAR_CUDA_FORMAT_SINT16, 2},
        {VK_FORMAT_R16G16B16A16_SFLOAT, MAAR_CUDA_FORMAT_HALF, 4},
        {VK_FORMAT_R32_SFLOAT, MAAR_CUDA_FORMAT_FLOAT, 1},
        {VK_FORMAT_R32G32_UINT, MAAR_CUDA_FORMAT_UINT32, 2},
        {VK_FORMAT_R32G32B32A32_SINT, MAAR_CUDA_FORMAT_SINT32, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        VkImageCreateInfo info = plain_image();
        info.format = cases[i].vulkan;
        const struct maar_cuda_array_shape shape = shape_of(&info);
        assert_int_equal(shape.format, cases[i].cuda);
        assert_int_equal(shape.channels, cases[i].channels);
    }
}

static void format_without_an_equal_is_refused(void** state)
{
    static const VkFormat refused[] = {
        VK_FORMAT_R8G8B8_UNORM,
        VK_FORMAT_R32G32B32_SFLOAT,
        VK_FORMAT_R5G6B5_UNORM_PACK16,
        VK_FORMAT_A2B10G10R10_UNORM_PACK32,
        VK_FORMAT_B10G11R11_UFLOAT_PACK32,
        VK_FORMAT_D32_SFLOAT,
        VK_FORMAT_D24_UNORM_S8_UINT,
        VK_FORMAT_BC7_UNORM_BLOCK,
        VK_FORMAT_R64_SFLOAT,
        VK_FORMAT_UNDEFINED,
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
        struct maar_cuda_array_shape shape;
        const char* fault = NULL;
        VkImageCreateInfo info = plain_image();
        info.format = refused[i];
        assert_int_equal(maar_cuda_image_shape(&info, &shape, &fault),
                         VK_ERROR_FORMAT_NOT_SUPPORTED);
        assert_non_null(strstr(fault, "pImageInfo->format"));
    }
}

static void shape_says_kind_and_use(void** state)
{
    VkImageCreateInfo info = plain_image();
    (void)state;
    struct maar_cuda_array_shape shape = shape_of(&info);
    assert_int_equal(shape.width, 64);
    assert_int_equal(shape.height, 32);
    assert_int_equal(shape.depth, 0);
    assert_int_equal(shape.flags, 0);
    info.usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    assert_int_equal(shape_of(&info).flags,
                     MAAR_CUDA_ARRAY_SURFACE | MAAR_CUDA_ARRAY_COLOR_ATTACHMENT);
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    info.arrayLayers = 5;
    shape = shape_of(&info);
    assert_int_equal(shape.depth, 5);
    assert_int_equal(shape.flags, MAAR_CUDA_ARRAY_LAYERED);
    info.imageType = VK_IMAGE_TYPE_1D;
    info.extent.height = 1;
    shape = shape_of(&info);
    assert_int_equal(shape.height, 0);
    assert_int_equal(shape.depth, 5);
    info = plain_image();
    info.imageType = VK_IMAGE_TYPE_3D;
    info.extent.depth = 8;
    shape = shape_of(&info);
    assert_int_equal(shape.depth, 8);
    assert_int_equal(shape.flags, 0);
}

static void shape_of_cubes_has_their_faces(void** state)
{
    VkImageCreateInfo info = plain_image();
    (void)state;
    info.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
    info.extent.height = 64;
    info.arrayLayers = 6;
    struct maar_cuda_array_shape shape = shape_of(&info);
    assert_int_equal(shape.depth, 6);
    assert_int_equal(shape.flags, MAAR_CUDA_ARRAY_CUBE);
    info.arrayLayers = 18;
    shape = shape_of(&info);
    assert_int_equal(shape.depth, 18);
    assert_int_equal(shape.flags, MAAR_CUDA_ARRAY_CUBE | MAAR_CUDA_ARRAY_LAYERED);
    info.arrayLayers = 8; /* cube views of some of them are possible, but it is no cube */
    assert_int_equal(shape_of(&info).flags, MAAR_CUDA_ARRAY_LAYERED);
}

static void shape_that_cuda_does_not_know_is_refused(void** state)
{
    struct maar_cuda_array_shape shape;
    const char* fault = NULL;
    VkImageCreateInfo infos[4];
    const char* const words[4] = {"tiling", "samples", "flags", "3D image with layers"};
    (void)state;
    for (size_t i = 0; i < 4; ++i) {
        infos[i] = plain_image();
    }
    infos[0].tiling = VK_IMAGE_TILING_LINEAR;
    infos[1].samples = VK_SAMPLE_COUNT_4_BIT;
    infos[2].flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT;
    infos[3].imageType = VK_IMAGE_TYPE_3D;
    infos[3].arrayLayers = 2;
    for (size_t i = 0; i < 4; ++i) {
        assert_int_equal(maar_cuda_image_shape(&infos[i], &shape, &fault),
                         VK_ERROR_FORMAT_NOT_SUPPORTED);
        assert_non_null(strstr(fault, words[i]));
    }
}

/* ---- objects ---- */

static MaarAllocation make_image(struct cuda_desk* desk, const VkImageCreateInfo* info,
                                 VkImage* image)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocation allocation = VK_NULL_HANDLE;
    how.pNext = &export;
    assert_int_equal(maarCreateImage(desk->rig.allocator, info, &how, image, &allocation),
                     VK_SUCCESS);
    return allocation;
}

static void image_is_an_array_with_levels(void** state)
{
    struct cuda_desk desk;
    VkImage image = VK_NULL_HANDLE;
    MaarCudaImage in_cuda = VK_NULL_HANDLE;
    VkImageCreateInfo info = plain_image();
    (void)state;
    cuda_desk_start(&desk, NULL);
    info.mipLevels = 3;
    info.usage |= VK_IMAGE_USAGE_STORAGE_BIT;
    const MaarAllocation memory = make_image(&desk, &info, &image);
    assert_int_equal(maarCreateCudaImage(desk.cuda, memory, &info, &in_cuda), VK_SUCCESS);
    const struct maar_cuda_memory_image passed = desk.fake->last_image();
    assert_int_equal(passed.offset, rig_info(&desk.rig, memory).offset);
    assert_int_equal(passed.levels, 3);
    assert_int_equal(passed.shape.flags, MAAR_CUDA_ARRAY_SURFACE);
    MaarCudaImageInfo seen = {.sType = MAAR_STRUCTURE_TYPE_CUDA_IMAGE_INFO};
    assert_int_equal(maarGetCudaImageInfo(desk.cuda, in_cuda, &seen), VK_SUCCESS);
    assert_non_null(seen.pMipmappedArray);
    assert_int_equal(seen.levelCount, 3);
    for (size_t i = 0; i < 16; ++i) {
        assert_int_equal(seen.ppLevels[i] != NULL, i < 3);
    }
    /* An optimal image is not mapped as bytes; and the block is imported once for both. */
    assert_int_equal(desk.fake->calls("cuExternalMemoryGetMappedBuffer"), 0);
    (void)cuda_desk_memory(&desk, memory);
    assert_int_equal(desk.fake->calls("cuImportExternalMemory"), 1);
    assert_int_equal(desk.fake->calls("cuExternalMemoryGetMappedBuffer"), 1);
    maarDestroyCuda(desk.cuda);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_PEER_IN_USE);
    maarDestroyCudaImage(desk.cuda, in_cuda);
    maarDestroyImage(desk.rig.allocator, image, memory);
    cuda_desk_close(&desk);
}

static void image_with_memory_of_its_own_is_imported_as_such(void** state)
{
    struct cuda_desk desk;
    VkImage image = VK_NULL_HANDLE;
    MaarCudaImage in_cuda = VK_NULL_HANDLE;
    MaarSimulatedSharingInfo sharing = *rig_sharing_everything();
    const struct rig_setup setup = {.sharing = &sharing};
    const VkImageCreateInfo info = plain_image();
    (void)state;
    sharing.opaqueImages |=
        (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
    cuda_desk_start(&desk, &setup);
    const MaarAllocation memory = make_image(&desk, &info, &image);
    assert_int_equal(maarCreateCudaImage(desk.cuda, memory, &info, &in_cuda), VK_SUCCESS);
    assert_int_equal(desk.fake->last_memory().flags, MAAR_CUDA_MEMORY_DEDICATED);
    maarDestroyCudaImage(desk.cuda, in_cuda);
    maarDestroyImage(desk.rig.allocator, image, memory);
    cuda_desk_close(&desk);
}

static void image_that_fails_leaves_nothing(void** state)
{
    static const char* const functions[] = {
        "cuCtxPushCurrent",
        "cuImportExternalMemory",
        "cuExternalMemoryGetMappedMipmappedArray",
        "cuMipmappedArrayGetLevel",
    };
    struct cuda_desk desk;
    VkImage image = VK_NULL_HANDLE;
    MaarCudaImage in_cuda = VK_NULL_HANDLE;
    VkImageCreateInfo info = plain_image();
    (void)state;
    cuda_desk_start(&desk, NULL);
    const MaarAllocation memory = make_image(&desk, &info, &image);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
        desk.fake->set_fault(functions[i], 1, 1, MAAR_CUDA_OUT_OF_MEMORY);
        assert_int_equal(maarCreateCudaImage(desk.cuda, memory, &info, &in_cuda),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_null(in_cuda);
        rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_CALL_FAILED, functions[i]);
        assert_int_equal(desk.fake->live(FAKE_KIND_IMAGE), 0);
        assert_int_equal(desk.fake->live(FAKE_KIND_MEMORY), 0);
        assert_int_equal(cuda_desk_cuda_info(&desk).importedBlockCount, 0);
    }
    desk.cuda->images = false; /* no driver is known that maps none */
    assert_int_equal(maarCreateCudaImage(desk.cuda, memory, &info, &in_cuda),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED);
    assert_int_equal(cuda_desk_cuda_info(&desk).images, VK_FALSE);
    desk.cuda->images = true;
    VkImageCreateInfo wrong = info;
    wrong.format = VK_FORMAT_R8G8B8_UNORM;
    assert_int_equal(maarCreateCudaImage(desk.cuda, memory, &wrong, &in_cuda),
                     VK_ERROR_FORMAT_NOT_SUPPORTED);
    rig_expect_message_naming(&desk.rig, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED, "pImageInfo->format");
    wrong.mipLevels = 0;
    assert_int_equal(maarCreateCudaImage(desk.cuda, memory, &wrong, &in_cuda),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    maarDestroyImage(desk.rig.allocator, image, memory);
    maarDestroyCudaImage(desk.cuda, VK_NULL_HANDLE);
    cuda_desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(format_is_its_bits_and_channels),
        cmocka_unit_test(format_without_an_equal_is_refused),
        cmocka_unit_test(shape_says_kind_and_use),
        cmocka_unit_test(shape_of_cubes_has_their_faces),
        cmocka_unit_test(shape_that_cuda_does_not_know_is_refused),
        cmocka_unit_test(image_is_an_array_with_levels),
        cmocka_unit_test(image_with_memory_of_its_own_is_imported_as_such),
        cmocka_unit_test(image_that_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
