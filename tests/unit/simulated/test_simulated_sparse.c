/*
 * Sparse resources of the simulated driver: how they are cut, what may be bound to them, and what
 * the driver keeps of it.
 */
#include "tests/unit/simulated/simulated_fixture.h"

#define PAGE ((VkDeviceSize)65536)
#define OPAQUE_TAIL 0x6D74000000000000ull

static struct simulated_fixture* open_with(void (*change)(MaarSimulatedProfile*))
{
    struct simulated_fixture* f = calloc(1, sizeof(*f));
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    assert_non_null(f);
    assert_non_null(profile);
    fixture_profile(profile);
    profile->limits.sparseAddressSpaceSize = (VkDeviceSize)1 << 40;
    profile->sparse.residencyImage2D = VK_TRUE;
    profile->sparse.residencyImage3D = VK_TRUE;
    profile->sparse.residency4Samples = VK_TRUE;
    profile->sparse.residencyAliased = VK_TRUE;
    if (change != NULL) {
        change(profile);
    }
    fixture_open(f, profile);
    free(profile);
    return f;
}

static int sparse_setup(void** state)
{
    *state = open_with(NULL);
    return 0;
}

static VkBuffer sparse_buffer(const struct simulated_fixture* f, VkDeviceSize size,
                              VkBufferCreateFlags flags)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | flags,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateBuffer(f->device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static VkImageCreateInfo sparse_image_info(VkFormat format, VkExtent3D extent, uint32_t levels,
                                           uint32_t layers)
{
    return (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT,
        .imageType = extent.depth > 1 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = extent,
        .mipLevels = levels,
        .arrayLayers = layers,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
}

static VkImage sparse_image(const struct simulated_fixture* f, VkFormat format, VkExtent3D extent,
                            uint32_t levels, uint32_t layers)
{
    const VkImageCreateInfo info = sparse_image_info(format, extent, levels, layers);
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateImage(f->device, &info, NULL, &image), VK_SUCCESS);
    return image;
}

static VkSparseImageMemoryRequirements requirements_of(const struct simulated_fixture* f,
                                                       VkImage image)
{
    VkSparseImageMemoryRequirements r[2];
    uint32_t count = 0;
    f->vkGetImageSparseMemoryRequirements(f->device, image, &count, NULL);
    assert_in_range(count, 1, 2);
    f->vkGetImageSparseMemoryRequirements(f->device, image, &count, r);
    return r[0];
}

static VkDeviceSize size_of(const struct simulated_fixture* f, VkImage image)
{
    VkMemoryRequirements requirements;
    f->vkGetImageMemoryRequirements(f->device, image, &requirements);
    assert_int_equal(requirements.size % requirements.alignment, 0);
    return requirements.size;
}

static VkResult bind_buffer(const struct simulated_fixture* f, VkBuffer buffer, uint32_t count,
                            const VkSparseMemoryBind* binds)
{
    const VkSparseBufferMemoryBindInfo buffers = {buffer, count, binds};
    const VkBindSparseInfo info = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                   .bufferBindCount = 1,
                                   .pBufferBinds = &buffers};
    return f->vkQueueBindSparse(f->queue, 1, &info, VK_NULL_HANDLE);
}

static void bind_opaque(const struct simulated_fixture* f, VkImage image, VkSparseMemoryBind bind)
{
    const VkSparseImageOpaqueMemoryBindInfo images = {image, 1, &bind};
    const VkBindSparseInfo info = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                   .imageOpaqueBindCount = 1,
                                   .pImageOpaqueBinds = &images};
    assert_int_equal(f->vkQueueBindSparse(f->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

static void bind_tiles(const struct simulated_fixture* f, VkImage image,
                       VkSparseImageMemoryBind bind)
{
    const VkSparseImageMemoryBindInfo images = {image, 1, &bind};
    const VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO, .imageBindCount = 1, .pImageBinds = &images};
    assert_int_equal(f->vkQueueBindSparse(f->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

/* Not one violation, and so many bytes bound. */
static void expect_bound(const struct simulated_fixture* f, VkDeviceSize bytes)
{
    const MaarSimulatedCounters counters = fixture_counters(f);
    char text[MAAR_SIMULATED_MAX_TEXT] = "";
    maarSimulatedGetViolation(f->physical, 0, NULL, sizeof(text), text);
    assert_string_equal(text, "");
    assert_int_equal(counters.violationCount, 0);
    assert_int_equal(counters.sparseBoundBytes, bytes);
}

static void tiles_are_the_standard_ones(void** state)
{
    const struct simulated_fixture* f = *state;
    const struct {
        VkFormat format;
        VkExtent3D extent, tile;
        uint32_t tail;
    } rows[] = {
        {VK_FORMAT_R8_UNORM, {1024, 1024, 1}, {256, 256, 1}, 3},
        {VK_FORMAT_R8G8_UNORM, {1024, 1024, 1}, {256, 128, 1}, 3},
        {VK_FORMAT_R8G8B8A8_UNORM, {1024, 1024, 1}, {128, 128, 1}, 4},
        {VK_FORMAT_R16G16B16A16_SFLOAT, {1024, 1024, 1}, {128, 64, 1}, 4},
        {VK_FORMAT_R32G32B32A32_SFLOAT, {1024, 1024, 1}, {64, 64, 1}, 5},
        {VK_FORMAT_BC7_UNORM_BLOCK, {1024, 1024, 1}, {256, 256, 1}, 3},
        {VK_FORMAT_D32_SFLOAT, {1024, 1024, 1}, {128, 128, 1}, 4},
        {VK_FORMAT_R8_UNORM, {128, 128, 128}, {64, 32, 32}, 2},
        {VK_FORMAT_R8G8_UNORM, {128, 128, 128}, {32, 32, 32}, 3},
        {VK_FORMAT_R8G8B8A8_UNORM, {128, 128, 128}, {32, 32, 16}, 3},
        {VK_FORMAT_R16G16B16A16_SFLOAT, {128, 128, 128}, {32, 16, 16}, 3},
        {VK_FORMAT_R32G32B32A32_SFLOAT, {128, 128, 128}, {16, 16, 16}, 4},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const VkImage image = sparse_image(f, rows[i].format, rows[i].extent, 8, 1);
        const VkSparseImageMemoryRequirements r = requirements_of(f, image);
        assert_memory_equal(&r.formatProperties.imageGranularity, &rows[i].tile,
                            sizeof(rows[i].tile));
        assert_int_equal(r.imageMipTailFirstLod, rows[i].tail);
        assert_int_equal(r.imageMipTailSize, PAGE);
        assert_int_equal(r.imageMipTailOffset + PAGE, size_of(f, image));
        f->vkDestroyImage(f->device, image, NULL);
    }
    expect_bound(f, 0);
}

static void small_pages(MaarSimulatedProfile* profile)
{
    profile->requirements.sparseAlignment = 16384;
}

static void tiles_follow_the_page(void** state)
{
    struct simulated_fixture* f = open_with(small_pages);
    *state = f;
    const VkImage image =
        sparse_image(f, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 9, 2);
    const VkSparseImageMemoryRequirements r = requirements_of(f, image);
    assert_int_equal(r.formatProperties.imageGranularity.width, 64);
    assert_int_equal(r.formatProperties.imageGranularity.height, 64);
    assert_int_equal(r.imageMipTailFirstLod, 3);
    assert_int_equal(r.imageMipTailSize, 16384);
    assert_int_equal(r.imageMipTailOffset, 21 * 16384);
    assert_int_equal(r.imageMipTailStride, 22 * 16384);
    assert_int_equal(size_of(f, image), 44 * 16384);
    f->vkDestroyImage(f->device, image, NULL);
}

static void answers_agree_with_one_another(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkImageCreateInfo info =
        sparse_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){1024, 512, 1}, 11, 3);
    const VkImage image =
        sparse_image(f, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){1024, 512, 1}, 11, 3);
    const VkSparseImageMemoryRequirements r = requirements_of(f, image);
    const VkDeviceImageMemoryRequirements asked = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_IMAGE_MEMORY_REQUIREMENTS, .pCreateInfo = &info};
    VkSparseImageMemoryRequirements2 r2 = {
        .sType = VK_STRUCTURE_TYPE_SPARSE_IMAGE_MEMORY_REQUIREMENTS_2};
    uint32_t count = 1;
    f->vkGetDeviceImageSparseMemoryRequirements(f->device, &asked, &count, &r2);
    assert_int_equal(count, 1);
    assert_memory_equal(&r2.memoryRequirements, &r, sizeof(r));
    const VkImageSparseMemoryRequirementsInfo2 of_image = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_SPARSE_MEMORY_REQUIREMENTS_INFO_2, .image = image};
    memset(&r2.memoryRequirements, 0, sizeof(r2.memoryRequirements));
    f->vkGetImageSparseMemoryRequirements2(f->device, &of_image, &count, &r2);
    assert_memory_equal(&r2.memoryRequirements, &r, sizeof(r));
    const PFN_vkGetPhysicalDeviceSparseImageFormatProperties formats =
        (PFN_vkGetPhysicalDeviceSparseImageFormatProperties)maarSimulatedGetInstanceProcAddr(
            f->instance, "vkGetPhysicalDeviceSparseImageFormatProperties");
    VkSparseImageFormatProperties properties;
    count = 1;
    formats(f->physical, info.format, info.imageType, info.samples, info.usage, info.tiling, &count,
            &properties);
    assert_int_equal(count, 1);
    assert_memory_equal(&properties, &r.formatProperties, sizeof(properties));
    formats(f->physical, info.format, info.imageType, VK_SAMPLE_COUNT_2_BIT, info.usage,
            info.tiling, &count, NULL);
    assert_int_equal(count, 0);
    formats(f->physical, info.format, VK_IMAGE_TYPE_1D, info.samples, info.usage, info.tiling,
            &count, NULL);
    assert_int_equal(count, 0);
    f->vkDestroyImage(f->device, image, NULL);
    expect_bound(f, 0);
}

static void nothing_offered(MaarSimulatedProfile* profile)
{
    profile->sparse.residencyBuffer = VK_FALSE;
    profile->sparse.residencyImage2D = VK_FALSE;
    profile->sparse.residencyAliased = VK_FALSE;
}

static void residency_needs_its_feature(void** state)
{
    struct simulated_fixture* f = open_with(nothing_offered);
    *state = f;
    const VkImageCreateInfo info =
        sparse_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 1, 1);
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateImage(f->device, &info, NULL, &image),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    VkBuffer buffer = sparse_buffer(f, PAGE, VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_FEATURE], 1);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    buffer = sparse_buffer(f, PAGE, VK_BUFFER_CREATE_SPARSE_ALIASED_BIT);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_FEATURE], 2);
    f->vkDestroyBuffer(f->device, buffer, NULL);
}

static void pages_are_kept_and_split(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkBuffer buffer = sparse_buffer(f, 16 * PAGE, VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT);
    const VkDeviceMemory memory = fixture_memory(f, 0, 16 * PAGE);
    const VkDeviceMemory other = fixture_memory(f, 0, 16 * PAGE);
    const VkSparseMemoryBind all = {.size = 16 * PAGE, .memory = memory};
    assert_int_equal(bind_buffer(f, buffer, 1, &all), VK_SUCCESS);
    expect_bound(f, 16 * PAGE);
    const VkSparseMemoryBind parts[] = {
        {.resourceOffset = 4 * PAGE, .size = 2 * PAGE},
        {.resourceOffset = 8 * PAGE, .size = PAGE, .memory = other, .memoryOffset = 3 * PAGE},
        {.resourceOffset = 15 * PAGE, .size = PAGE},
    };
    assert_int_equal(bind_buffer(f, buffer, 3, parts), VK_SUCCESS);
    expect_bound(f, 13 * PAGE);
    MaarSimulatedPages pages[8];
    uint32_t count = 8;
    assert_int_equal(maarSimulatedEnumeratePages(f->device, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer,
                                                 &count, pages),
                     VK_SUCCESS);
    assert_int_equal(count, 4);
    assert_int_equal(pages[1].offset, 6 * PAGE);
    assert_int_equal(pages[1].size, 2 * PAGE);
    assert_int_equal(pages[1].memoryOffset, 6 * PAGE);
    assert_true(pages[2].memory == other && pages[2].memoryOffset == 3 * PAGE);
    count = 2;
    assert_int_equal(maarSimulatedEnumeratePages(f->device, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer,
                                                 &count, pages),
                     VK_INCOMPLETE);
    assert_int_equal(count, 2);
    assert_int_equal(fixture_counters(f).sparseBatchCount, 2);
    assert_int_equal(fixture_counters(f).sparseBindCount, 4);
    assert_int_equal(fixture_counters(f).sparseBoundPeak, 16 * PAGE);
    f->vkFreeMemory(f->device, other, NULL);
    expect_bound(f, 12 * PAGE);
    assert_int_equal(fixture_counters(f).freedBoundBytes, PAGE);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    expect_bound(f, 0);
    f->vkFreeMemory(f->device, memory, NULL);
    assert_int_equal(fixture_counters(f).freedBeforeResourceCount, 1);
}

static void shared_bytes_are_seen_at_the_end_of_a_batch(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkBufferCreateFlags residency = VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT;
    const VkBuffer one = sparse_buffer(f, 4 * PAGE, residency);
    const VkBuffer two = sparse_buffer(f, 4 * PAGE, residency);
    const VkDeviceMemory memory = fixture_memory(f, 0, 4 * PAGE);
    VkSparseMemoryBind here = {.size = PAGE, .memory = memory};
    assert_int_equal(bind_buffer(f, one, 1, &here), VK_SUCCESS);
    /* One gives the page up in the batch in which the other takes it. */
    VkSparseMemoryBind gone = {.size = PAGE};
    const VkSparseBufferMemoryBindInfo both[] = {{two, 1, &here}, {one, 1, &gone}};
    VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO, .bufferBindCount = 2, .pBufferBinds = both};
    assert_int_equal(f->vkQueueBindSparse(f->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    expect_bound(f, PAGE);
    here.resourceOffset = 2 * PAGE;
    assert_int_equal(bind_buffer(f, one, 1, &here), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OVERLAP, 1);
    f->vkDestroyBuffer(f->device, one, NULL);
    f->vkDestroyBuffer(f->device, two, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void aliased_resources_may_share_bytes(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkBufferCreateFlags flags =
        VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT | VK_BUFFER_CREATE_SPARSE_ALIASED_BIT;
    const VkBuffer one = sparse_buffer(f, 4 * PAGE, flags);
    const VkBuffer two = sparse_buffer(f, 4 * PAGE, flags);
    const VkBuffer plain = sparse_buffer(f, 4 * PAGE, VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT);
    const VkDeviceMemory memory = fixture_memory(f, 0, 4 * PAGE);
    const VkSparseMemoryBind twice[] = {{.size = PAGE, .memory = memory},
                                        {.resourceOffset = PAGE, .size = PAGE, .memory = memory}};
    assert_int_equal(bind_buffer(f, one, 2, twice), VK_SUCCESS);
    assert_int_equal(bind_buffer(f, two, 1, twice), VK_SUCCESS);
    expect_bound(f, 3 * PAGE);
    assert_int_equal(bind_buffer(f, plain, 1, twice), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OVERLAP, 3);
    f->vkDestroyBuffer(f->device, one, NULL);
    f->vkDestroyBuffer(f->device, two, NULL);
    f->vkDestroyBuffer(f->device, plain, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void a_batch_binds_nothing_twice(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkBuffer buffer = sparse_buffer(f, 4 * PAGE, VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT);
    const VkDeviceMemory memory = fixture_memory(f, 0, 4 * PAGE);
    const VkSparseMemoryBind binds[] = {
        {.resourceOffset = 2 * PAGE, .size = PAGE, .memory = memory},
        {.size = 4 * PAGE},
    };
    assert_int_equal(bind_buffer(f, buffer, 2, binds), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_BIND_TWICE, 1);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void binds_to_the_wrong_memory_are_written_down(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkBuffer buffer = sparse_buffer(f, 4 * PAGE, VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT);
    const VkExportMemoryAllocateInfo export = {.sType =
                                                   VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO};
    VkDeviceMemory exportable = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(f, 0, 4 * PAGE, &export, &exportable), VK_SUCCESS);
    const VkDeviceMemory lazy = fixture_memory(f, 4, 4 * PAGE);
    const VkDeviceMemory memory = fixture_memory(f, 0, 2 * PAGE);
    VkSparseMemoryBind bind = {.size = PAGE, .memory = exportable};
    assert_int_equal(bind_buffer(f, buffer, 1, &bind), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_ARGUMENT], 1);
    bind.memory = lazy;
    assert_int_equal(bind_buffer(f, buffer, 1, &bind), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_BIND_TYPE], 1);
    bind.memory = memory;
    bind.memoryOffset = 4096;
    assert_int_equal(bind_buffer(f, buffer, 1, &bind), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_BIND_ALIGNMENT], 1);
    bind.memoryOffset = 2 * PAGE;
    assert_int_equal(bind_buffer(f, buffer, 1, &bind), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_BIND_RANGE], 1);
    bind.memoryOffset = 0;
    bind.resourceOffset = 100;
    assert_int_equal(bind_buffer(f, buffer, 1, &bind), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_BIND_RANGE], 2);
    assert_int_equal(fixture_counters(f).violationCount, 5);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    f->vkFreeMemory(f->device, exportable, NULL);
    f->vkFreeMemory(f->device, lazy, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void tiles_are_bound_by_their_texels(void** state)
{
    const struct simulated_fixture* f = *state;
    /* Tiles of 128x128: 5x3 of them, the last ones cut. */
    const VkImage image =
        sparse_image(f, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){600, 300, 1}, 1, 2);
    const VkDeviceMemory memory = fixture_memory(f, 0, 32 * PAGE);
    VkSparseImageMemoryBind bind = {
        .subresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1},
        .extent = {600, 300, 1},
        .memory = memory,
    };
    bind_tiles(f, image, bind);
    expect_bound(f, 15 * PAGE);
    bind.memory = VK_NULL_HANDLE;
    bind.offset = (VkOffset3D){128, 128, 0};
    bind.extent = (VkExtent3D){256, 172, 1};
    bind_tiles(f, image, bind);
    expect_bound(f, 11 * PAGE);
    /* The pages that came free are those of rows 1 and 2, columns 1 and 2. */
    const VkBuffer buffer = sparse_buffer(f, 16 * PAGE, VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT);
    const VkSparseMemoryBind freed[] = {
        {.size = 2 * PAGE, .memory = memory, .memoryOffset = 6 * PAGE},
        {.resourceOffset = 4 * PAGE, .size = 2 * PAGE, .memory = memory, .memoryOffset = 11 * PAGE},
    };
    assert_int_equal(bind_buffer(f, buffer, 2, freed), VK_SUCCESS);
    expect_bound(f, 15 * PAGE);
    const VkSparseMemoryBind taken = {
        .resourceOffset = 8 * PAGE, .size = PAGE, .memory = memory, .memoryOffset = 8 * PAGE};
    assert_int_equal(bind_buffer(f, buffer, 1, &taken), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OVERLAP, 1);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    bind.extent = (VkExtent3D){256, 100, 1};
    bind_tiles(f, image, bind);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_BIND_RANGE], 1);
    bind.offset.x = 64;
    bind.extent.height = 172;
    bind_tiles(f, image, bind);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_BIND_RANGE], 2);
    bind.subresource.arrayLayer = 2;
    bind_tiles(f, image, bind);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_BIND_RANGE], 3);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void boxes_of_tiles_have_depth(void** state)
{
    const struct simulated_fixture* f = *state;
    /* Tiles of 32x32x16: 4x4x8 of them. */
    const VkImage image =
        sparse_image(f, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){128, 128, 128}, 1, 1);
    const VkDeviceMemory memory = fixture_memory(f, 0, 128 * PAGE);
    VkSparseImageMemoryBind bind = {
        .subresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0},
        .offset = {32, 64, 16},
        .extent = {64, 32, 64},
        .memory = memory,
    };
    bind_tiles(f, image, bind);
    expect_bound(f, 8 * PAGE);
    bind.offset = (VkOffset3D){0, 0, 0};
    bind.extent = (VkExtent3D){128, 128, 128};
    bind_tiles(f, image, bind);
    expect_bound(f, 128 * PAGE);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void a_tail_for_each_layer_is_bound_by_stride(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkImage image =
        sparse_image(f, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 9, 3);
    const VkSparseImageMemoryRequirements r = requirements_of(f, image);
    const VkDeviceMemory memory = fixture_memory(f, 0, 8 * PAGE);
    assert_int_equal(r.imageMipTailFirstLod, 2);
    assert_int_equal(r.formatProperties.flags, 0);
    for (uint32_t layer = 0; layer < 3; layer++) {
        const VkSparseMemoryBind bind = {
            .resourceOffset = r.imageMipTailOffset + r.imageMipTailStride * layer,
            .size = r.imageMipTailSize,
            .memory = memory,
            .memoryOffset = layer * PAGE,
        };
        bind_opaque(f, image, bind);
    }
    expect_bound(f, 3 * PAGE);
    bind_opaque(f, image, (VkSparseMemoryBind){.size = PAGE});
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_BIND_RANGE, 1);
    const VkSparseImageMemoryBind in_tail = {
        .subresource = {VK_IMAGE_ASPECT_COLOR_BIT, 2, 0},
        .extent = {64, 64, 1},
        .memory = memory,
        .memoryOffset = 4 * PAGE,
    };
    bind_tiles(f, image, in_tail);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_BIND_RANGE, 2);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void one_opaque_tail(MaarSimulatedProfile* profile)
{
    profile->requirements.mipTail = MAAR_SIMULATED_MIP_TAIL_SINGLE;
    profile->requirements.mipTailOffset = OPAQUE_TAIL;
    profile->requirements.metadataSize = 1000;
}

static void fill_buffer_on(const struct simulated_fixture* f, VkBuffer buffer)
{
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateCommandPool(f->device, &pool_info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .commandBufferCount = 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(f->vkAllocateCommandBuffers(f->device, &info, &commands), VK_SUCCESS);
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(f->vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    f->vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, 0);
    assert_int_equal(f->vkEndCommandBuffer(commands), VK_SUCCESS);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    assert_int_equal(f->vkQueueSubmit(f->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    f->vkDestroyCommandPool(f->device, pool, NULL);
}

static void opaque_offsets_are_passed_back(void** state)
{
    struct simulated_fixture* f = open_with(one_opaque_tail);
    *state = f;
    const VkImage image =
        sparse_image(f, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 9, 4);
    VkSparseImageMemoryRequirements r[2];
    uint32_t count = 2;
    f->vkGetImageSparseMemoryRequirements(f->device, image, &count, r);
    assert_int_equal(count, 2);
    assert_int_equal(r[0].formatProperties.flags, VK_SPARSE_IMAGE_FORMAT_SINGLE_MIPTAIL_BIT);
    assert_int_equal(r[0].imageMipTailOffset, OPAQUE_TAIL);
    assert_int_equal(r[0].imageMipTailStride, 0);
    assert_int_equal(r[0].imageMipTailSize, 2 * PAGE);
    assert_int_equal(r[1].formatProperties.aspectMask, VK_IMAGE_ASPECT_METADATA_BIT);
    assert_int_equal(r[1].imageMipTailSize, PAGE);
    assert_int_equal(size_of(f, image), 23 * PAGE);
    const VkDeviceMemory memory = fixture_memory(f, 0, 8 * PAGE);
    bind_opaque(
        f, image,
        (VkSparseMemoryBind){.resourceOffset = OPAQUE_TAIL, .size = 2 * PAGE, .memory = memory});
    bind_opaque(f, image,
                (VkSparseMemoryBind){.resourceOffset = r[1].imageMipTailOffset,
                                     .size = PAGE,
                                     .memory = memory,
                                     .memoryOffset = 2 * PAGE,
                                     .flags = VK_SPARSE_MEMORY_BIND_METADATA_BIT});
    expect_bound(f, 3 * PAGE);
    bind_opaque(f, image,
                (VkSparseMemoryBind){.resourceOffset = r[1].imageMipTailOffset, .size = PAGE});
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_BIND_RANGE, 1);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void depth_and_stencil_are_cut_apart(void** state)
{
    const struct simulated_fixture* f = *state;
    VkImageCreateInfo info =
        sparse_image_info(VK_FORMAT_D32_SFLOAT_S8_UINT, (VkExtent3D){512, 512, 1}, 10, 1);
    info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateImage(f->device, &info, NULL, &image), VK_SUCCESS);
    VkSparseImageMemoryRequirements r[2];
    uint32_t count = 2;
    f->vkGetImageSparseMemoryRequirements(f->device, image, &count, r);
    assert_int_equal(count, 2);
    assert_int_equal(r[0].formatProperties.aspectMask, VK_IMAGE_ASPECT_DEPTH_BIT);
    assert_int_equal(r[0].formatProperties.imageGranularity.width, 128);
    assert_int_equal(r[0].imageMipTailFirstLod, 3);
    assert_int_equal(r[1].formatProperties.aspectMask, VK_IMAGE_ASPECT_STENCIL_BIT);
    assert_int_equal(r[1].formatProperties.imageGranularity.width, 256);
    assert_int_equal(r[1].imageMipTailFirstLod, 2);
    assert_int_equal(size_of(f, image), (21 + 1 + 5 + 1) * PAGE);
    const VkDeviceMemory memory = fixture_memory(f, 0, 32 * PAGE);
    VkSparseImageMemoryBind bind = {
        .subresource = {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 0},
        .extent = {512, 512, 1},
        .memory = memory,
    };
    bind_tiles(f, image, bind);
    bind.subresource.aspectMask = VK_IMAGE_ASPECT_STENCIL_BIT;
    bind.memoryOffset = 16 * PAGE;
    bind_tiles(f, image, bind);
    for (uint32_t i = 0; i < 2; i++) {
        bind_opaque(f, image,
                    (VkSparseMemoryBind){.resourceOffset = r[i].imageMipTailOffset,
                                         .size = r[i].imageMipTailSize,
                                         .memory = memory,
                                         .memoryOffset = (20 + i) * PAGE});
    }
    expect_bound(f, 22 * PAGE);
    bind.subresource.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
    bind_tiles(f, image, bind);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 1);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void no_tail(MaarSimulatedProfile* profile)
{
    profile->requirements.mipTail = MAAR_SIMULATED_MIP_TAIL_NONE;
}

static void small_levels_take_whole_tiles_without_a_tail(void** state)
{
    struct simulated_fixture* f = open_with(no_tail);
    *state = f;
    const VkImage image =
        sparse_image(f, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 9, 1);
    const VkSparseImageMemoryRequirements r = requirements_of(f, image);
    assert_int_equal(r.imageMipTailFirstLod, 9);
    assert_int_equal(r.imageMipTailSize, 0);
    assert_int_equal(size_of(f, image), 12 * PAGE);
    const VkDeviceMemory memory = fixture_memory(f, 0, PAGE);
    const VkSparseImageMemoryBind bind = {
        .subresource = {VK_IMAGE_ASPECT_COLOR_BIT, 8, 0},
        .extent = {1, 1, 1},
        .memory = memory,
    };
    bind_tiles(f, image, bind);
    expect_bound(f, PAGE);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void without_residency_all_must_be_bound(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkBuffer buffer = sparse_buffer(f, 4 * PAGE - 1, 0);
    const VkBuffer resident = sparse_buffer(f, 4 * PAGE, VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT);
    const VkDeviceMemory memory = fixture_memory(f, 0, 4 * PAGE);
    const VkSparseMemoryBind most = {.size = 3 * PAGE, .memory = memory};
    const VkSparseMemoryBind rest = {
        .resourceOffset = 3 * PAGE, .size = PAGE, .memory = memory, .memoryOffset = 3 * PAGE};
    fill_buffer_on(f, resident);
    assert_int_equal(bind_buffer(f, buffer, 1, &most), VK_SUCCESS);
    expect_bound(f, 3 * PAGE);
    fill_buffer_on(f, buffer);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_UNBOUND, 1);
    assert_int_equal(bind_buffer(f, buffer, 1, &rest), VK_SUCCESS);
    fill_buffer_on(f, buffer);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_UNBOUND, 1);
    f->vkFreeMemory(f->device, memory, NULL);
    fill_buffer_on(f, buffer);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_UNBOUND, 2);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    f->vkDestroyBuffer(f->device, resident, NULL);
}

static void sparse_buffers_have_an_address(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
        .size = 4 * PAGE,
        .usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
    };
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateBuffer(f->device, &info, NULL, &buffer), VK_SUCCESS);
    const VkBufferDeviceAddressInfo asked = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                             .buffer = buffer};
    const VkDeviceAddress address = f->vkGetBufferDeviceAddress(f->device, &asked);
    assert_true(address != 0);
    const VkDeviceMemory plain = fixture_memory(f, 0, PAGE);
    const VkSparseMemoryBind bind = {.size = PAGE, .memory = plain};
    assert_int_equal(bind_buffer(f, buffer, 1, &bind), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 1);
    assert_true(f->vkGetBufferDeviceAddress(f->device, &asked) == address);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    f->vkFreeMemory(f->device, plain, NULL);
}

/* Every second page of a large buffer, then the others, from memory in another order. */
static void many_pages_are_bound_in_little_time(void** state)
{
    enum { PAGES = 4096 };
    const struct simulated_fixture* f = *state;
    const VkBuffer buffer = sparse_buffer(f, PAGES * PAGE, VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT);
    VkDeviceMemory memory[2] = {fixture_memory(f, 0, PAGES / 2 * PAGE),
                                fixture_memory(f, 1, PAGES / 2 * PAGE)};
    VkSparseMemoryBind* binds = calloc(PAGES, sizeof(*binds));
    assert_non_null(binds);
    for (uint32_t i = 0; i < PAGES; i++) {
        const uint32_t shuffled = i * 1237u % PAGES;
        binds[i] = (VkSparseMemoryBind){.resourceOffset = shuffled * PAGE,
                                        .size = PAGE,
                                        .memory = memory[i % 2],
                                        .memoryOffset = i / 2 * PAGE};
    }
    assert_int_equal(bind_buffer(f, buffer, PAGES / 2, binds), VK_SUCCESS);
    expect_bound(f, PAGES / 2 * PAGE);
    assert_int_equal(bind_buffer(f, buffer, PAGES / 2, binds + PAGES / 2), VK_SUCCESS);
    expect_bound(f, PAGES * PAGE);
    for (uint32_t i = 0; i < PAGES; i++) {
        binds[i].memory = VK_NULL_HANDLE;
    }
    assert_int_equal(bind_buffer(f, buffer, PAGES, binds), VK_SUCCESS);
    expect_bound(f, 0);
    free(binds);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    f->vkFreeMemory(f->device, memory[0], NULL);
    f->vkFreeMemory(f->device, memory[1], NULL);
}

#define SPARSE_TEST(name) cmocka_unit_test_setup_teardown(name, sparse_setup, fixture_teardown)
#define OTHER_TEST(name) cmocka_unit_test_setup_teardown(name, NULL, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPARSE_TEST(tiles_are_the_standard_ones),
        OTHER_TEST(tiles_follow_the_page),
        SPARSE_TEST(answers_agree_with_one_another),
        OTHER_TEST(residency_needs_its_feature),
        SPARSE_TEST(pages_are_kept_and_split),
        SPARSE_TEST(shared_bytes_are_seen_at_the_end_of_a_batch),
        SPARSE_TEST(aliased_resources_may_share_bytes),
        SPARSE_TEST(a_batch_binds_nothing_twice),
        SPARSE_TEST(binds_to_the_wrong_memory_are_written_down),
        SPARSE_TEST(tiles_are_bound_by_their_texels),
        SPARSE_TEST(boxes_of_tiles_have_depth),
        SPARSE_TEST(a_tail_for_each_layer_is_bound_by_stride),
        OTHER_TEST(opaque_offsets_are_passed_back),
        SPARSE_TEST(depth_and_stencil_are_cut_apart),
        OTHER_TEST(small_levels_take_whole_tiles_without_a_tail),
        SPARSE_TEST(without_residency_all_must_be_bound),
        SPARSE_TEST(sparse_buffers_have_an_address),
        SPARSE_TEST(many_pages_are_bound_in_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
