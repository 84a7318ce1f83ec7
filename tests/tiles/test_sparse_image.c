/*
 * Partially resident images on simulated devices, which check every bind: regions and how they are
 * rounded, levels that may be sampled, tails in strange places, metadata, two aspects, misuse,
 * and failures of every call.
 */
#include "tests/tiles/simulated_tiles.h"

static struct rig* rig;

static void start(const struct tile_device* device)
{
    static const struct tile_device plain = {.page_size = 0};
    rig = rig_new();
    tile_device_start(rig, device != NULL ? device : &plain, NULL,
                      MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
}

static void submit(void)
{
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    rig_check(rig);
}

static void commit(MaarSparseImage image, MaarTileRegion region)
{
    assert_int_equal(maarCommitTiles(rig->allocator, image, 1, &region), VK_SUCCESS);
}

static void evict(MaarSparseImage image, MaarTileRegion region)
{
    assert_int_equal(maarEvictTiles(rig->allocator, image, 1, &region), VK_SUCCESS);
}

/* The tiles of a level as a string of 0 and 1. */
static void expect_tiles(MaarSparseImage image, uint32_t level, uint32_t layer, const char* wanted)
{
    uint8_t there[64];
    char text[65] = {0};
    uint32_t count = 64;
    assert_int_equal(maarGetTileResidency(rig->allocator, image, level, layer, &count, there),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        text[i] = there[i] != 0 ? '1' : '0';
    }
    assert_string_equal(text, wanted);
}

static void expect_levels(MaarSparseImage image, uint32_t layer, const char* wanted)
{
    uint8_t levels[64];
    char text[65] = {0};
    uint32_t count = 64;
    assert_int_equal(maarGetMinResidentLevels(rig->allocator, image, layer, &count, levels),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        text[i] = (char)('0' + levels[i]);
    }
    assert_string_equal(text, wanted);
}

/* Neighbouring pages of buffers and images must not share a granule; so no block has both. */
static void kinds_share_no_block_below_the_granularity(void** state)
{
    (void)state;
    for (uint32_t coarse = 0; coarse < 2; ++coarse) {
        const struct tile_device device = {.granularity = coarse != 0 ? 128 * KIB : 64 * KIB};
        start(&device);
        MaarSparseImage image =
            tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){500, 300, 1}, 1);
        const VkBufferCreateInfo buffer = rig_buffer_info(MIB);
        const MaarReservationCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
            .pBufferInfo = &buffer,
        };
        const MaarPageRange range = {0, 64 * KIB};
        MaarReservation reservation = VK_NULL_HANDLE;
        assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
        commit(image, (MaarTileRegion){0, 0, {0, 0, 0}, {128, 128, 1}});
        assert_int_equal(maarCommitPages(rig->allocator, reservation, 1, &range), VK_SUCCESS);
        submit();
        MaarPagingStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
        assert_int_equal(maarGetPagingStatistics(rig->allocator, &totals), VK_SUCCESS);
        assert_int_equal(totals.committedBytes, 128 * KIB);
        assert_int_equal(totals.blockCount, coarse != 0 ? 2 : 1);
        maarDestroyReservation(rig->allocator, reservation);
        maarDestroySparseImage(rig->allocator, image);
        rig_close(rig);
    }
}

static void regions_are_rounded_outward_and_inward(void** state)
{
    (void)state;
    start(NULL);
    /* Tiles of 128x128: 4x3, the last column and row cut off. */
    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){500, 300, 1}, 2);
    commit(image, (MaarTileRegion){0, 1, {127, 128, 0}, {2, 1, 1}});
    expect_tiles(image, 0, 1, "000011000000");
    expect_tiles(image, 0, 0, "000000000000");
    commit(image, (MaarTileRegion){0, 1, {499, 299, 0}, {1000, 1000, 7}});
    expect_tiles(image, 0, 1, "000011000001");
    evict(image, (MaarTileRegion){0, 1, {1, 128, 0}, {255, 128, 1}});
    expect_tiles(image, 0, 1, "000010000001");
    evict(image, (MaarTileRegion){0, 1, {384, 256, 0}, {100, 44, 1}});
    expect_tiles(image, 0, 1, "000010000001");
    evict(image, (MaarTileRegion){0, 1, {384, 256, 0}, {116, 44, 1}});
    expect_tiles(image, 0, 1, "000010000000");
    assert_int_equal(tile_image(rig, image).committedTileCount, 1);
    submit();
    evict(image, (MaarTileRegion){0, 1, {0, 0, 0}, {500, 300, 1}});
    submit();
    assert_int_equal(tile_image(rig, image).committedSize, 0);
    assert_int_equal(rig_counters(rig).sparseBoundBytes, 0);
    maarDestroySparseImage(rig->allocator, image);
    rig_close(rig);
}

static void levels_that_may_be_sampled_are_found(void** state)
{
    (void)state;
    start(NULL);
    /* 512: 4x4 tiles, 256: 2x2, 128: 1, then the tail. */
    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){512, 512, 1}, 1);
    const uint32_t tail = tile_image(rig, image).tailFirstLevel;
    assert_true(tail == 2 || tail == 3);
    expect_levels(image, 0, "::::::::::::::::"); /* 10: none */
    assert_int_equal(maarCommitMipTail(rig->allocator, image, 0, 1), VK_SUCCESS);
    if (tail == 3) {
        expect_levels(image, 0, "3333333333333333");
        commit(image, (MaarTileRegion){2, 0, {0, 0, 0}, {128, 128, 1}});
    }
    expect_levels(image, 0, "2222222222222222");
    commit(image, (MaarTileRegion){1, 0, {128, 0, 0}, {128, 128, 1}});
    expect_levels(image, 0, "2211221122222222");
    commit(image, (MaarTileRegion){0, 0, {256, 0, 0}, {128, 256, 1}});
    commit(image, (MaarTileRegion){0, 0, {0, 0, 0}, {128, 256, 1}});
    expect_levels(image, 0, "2201220122222222");
    assert_int_equal(maarEvictMipTail(rig->allocator, image, 0, 1), VK_SUCCESS);
    expect_levels(image, 0, "::::::::::::::::");
    uint32_t count = 0;
    uint8_t few[3];
    assert_int_equal(maarGetMinResidentLevels(rig->allocator, image, 0, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, 16);
    count = 3;
    assert_int_equal(maarGetMinResidentLevels(rig->allocator, image, 0, &count, few),
                     VK_INCOMPLETE);
    assert_int_equal(count, 3);
    maarDestroySparseImage(rig->allocator, image);
    rig_close(rig);
}

/* Offsets that the driver makes up, beyond any image, and metadata that must always be there. */
static void tails_and_metadata_lie_where_the_driver_says(void** state)
{
    static const struct tile_device devices[] = {
        {.page_size = 65536, .tail_offset = 0x6D74000000000000},
        {.page_size = 16384, .tail_offset = 0x6D74000000000000, .metadata_size = 65536},
        {.tail = MAAR_SIMULATED_MIP_TAIL_SINGLE, .metadata_size = 131072},
        {.tail = MAAR_SIMULATED_MIP_TAIL_NONE, .metadata_size = 65536},
    };
    (void)state;
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; ++i) {
        start(&devices[i]);
        MaarSparseImage image =
            tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){600, 600, 1}, 3);
        const MaarSparseImageInfo before = tile_image(rig, image);
        assert_true(before.committedSize >= devices[i].metadata_size);
        assert_int_equal(before.singleTail, devices[i].tail == MAAR_SIMULATED_MIP_TAIL_SINGLE);
        submit();
        assert_int_equal(rig_counters(rig).sparseBoundBytes, before.committedSize);
        assert_int_equal(maarCommitMipTail(rig->allocator, image, 1, 1), VK_SUCCESS);
        const MaarSparseImageInfo one = tile_image(rig, image);
        const bool has_tail = devices[i].tail != MAAR_SIMULATED_MIP_TAIL_NONE;
        assert_int_equal(one.tailSize > 0, has_tail);
        assert_int_equal(one.committedSize - before.committedSize, one.tailSize);
        submit();
        assert_int_equal(maarCommitMipTail(rig->allocator, image, 0, VK_REMAINING_ARRAY_LAYERS),
                         VK_SUCCESS);
        assert_int_equal(tile_image(rig, image).committedSize - before.committedSize,
                         one.singleTail ? one.tailSize : 3 * one.tailSize);
        submit();
        /* A single tail stays as long as a layer may need it. */
        assert_int_equal(maarEvictMipTail(rig->allocator, image, 0, 2), VK_SUCCESS);
        assert_int_equal(tile_image(rig, image).committedSize - before.committedSize, one.tailSize);
        assert_int_equal(maarEvictMipTail(rig->allocator, image, 0, 3), VK_SUCCESS);
        assert_int_equal(tile_image(rig, image).committedSize, before.committedSize);
        submit();
        maarDestroySparseImage(rig->allocator, image);
        rig_close(rig);
    }
}

/* Depth tiles lead; a stencil tile, which is larger, goes with the last of those that it shows. */
static void two_aspects_come_and_go_together(void** state)
{
    (void)state;
    start(NULL);
    VkImageCreateInfo made =
        tile_image_info(VK_FORMAT_D32_SFLOAT_S8_UINT, (VkExtent3D){512, 512, 1}, 1);
    made.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    made.mipLevels = 1;
    MaarSparseImage image = VK_NULL_HANDLE;
    assert_int_equal(tile_try_image(rig, &made, &image), VK_SUCCESS);
    const MaarSparseImageInfo info = tile_image(rig, image);
    assert_int_equal(info.aspect, VK_IMAGE_ASPECT_DEPTH_BIT);
    assert_int_equal(info.tileExtent.width, 128);
    commit(image, (MaarTileRegion){0, 0, {0, 0, 0}, {256, 128, 1}});
    assert_int_equal(tile_image(rig, image).committedTileCount, 2);
    assert_int_equal(tile_image(rig, image).committedSize, 3 * info.pageSize);
    submit();
    evict(image, (MaarTileRegion){0, 0, {0, 0, 0}, {128, 128, 1}});
    assert_int_equal(tile_image(rig, image).committedSize, 2 * info.pageSize);
    submit();
    evict(image, (MaarTileRegion){0, 0, {128, 0, 0}, {128, 128, 1}});
    assert_int_equal(tile_image(rig, image).committedSize, 0);
    submit();
    assert_int_equal(rig_counters(rig).sparseBoundBytes, 0);
    maarDestroySparseImage(rig->allocator, image);
    rig_close(rig);
}

static void expect_rejection(const VkImageCreateInfo* made, VkResult result, MaarMessageId id,
                             const char* culprit)
{
    MaarSparseImage image = (MaarSparseImage)(uintptr_t)1;
    assert_int_equal(tile_try_image(rig, made, &image), result);
    assert_null(image);
    rig_expect_message_naming(rig, id, culprit);
}

static void destroyed_image_gives_its_pages_back(void** state)
{
    (void)state;
    start(NULL);
    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){512, 512, 1}, 1);
    commit(image, (MaarTileRegion){0, 0, {0, 0, 0}, {512, 512, 1}});
    submit();
    maarDestroySparseImage(rig->allocator, image);
    MaarPagingStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &totals), VK_SUCCESS);
    assert_int_equal(totals.committedBytes, 0);
    assert_int_equal(totals.reservedBytes, 0);
    rig_close(rig);
}

static void images_that_cannot_be_are_refused(void** state)
{
    (void)state;
    start(NULL);
    const VkImageCreateInfo good =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 1);
    VkImageCreateInfo bad = good;
    bad.tiling = VK_IMAGE_TILING_LINEAR;
    expect_rejection(&bad, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
                     "tiling");
    bad = good;
    bad.samples = VK_SAMPLE_COUNT_4_BIT;
    expect_rejection(&bad, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
                     "samples");
    bad = good;
    bad.imageType = VK_IMAGE_TYPE_1D;
    expect_rejection(&bad, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
                     "imageType");
    bad = good;
    bad.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    expect_rejection(&bad, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
                     NULL);
    bad = good;
    bad.extent.depth = 0;
    expect_rejection(&bad, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_ZERO_SIZE,
                     "pImageInfo->extent.depth");
    bad = good;
    bad.extent.width = 0;
    expect_rejection(&bad, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_ZERO_SIZE,
                     "pImageInfo->extent.width");
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    bad = good;
    bad.pNext = &external;
    expect_rejection(&bad, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
                     NULL);

    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 1);
    const uint32_t tail = tile_image(rig, image).tailFirstLevel;
    static const struct {
        MaarTileRegion region;
        MaarMessageId id;
        const char* culprit;
    } rows[] = {
        {{0, 1, {0, 0, 0}, {1, 1, 1}}, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRegions[0].arrayLayer"},
        {{99, 0, {0, 0, 0}, {1, 1, 1}}, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRegions[0].mipLevel"},
        {{0, 0, {-1, 0, 0}, {1, 1, 1}}, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRegions[0].offset"},
        {{0, 0, {0, 256, 0}, {1, 1, 1}}, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRegions[0].offset"},
        {{0, 0, {0, 0, 0}, {0, 1, 1}}, MAAR_MESSAGE_ID_ZERO_SIZE, "pRegions[0].extent"},
        {{0, 0, {0, 0, 0}, {1, 0, 1}}, MAAR_MESSAGE_ID_ZERO_SIZE, "pRegions[0].extent"},
        {{0, 0, {0, 0, 0}, {256, 256, 0}}, MAAR_MESSAGE_ID_ZERO_SIZE, "pRegions[0].extent"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        assert_int_equal(maarCommitTiles(rig->allocator, image, 1, &rows[i].region),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, rows[i].id, rows[i].culprit);
        assert_int_equal(maarEvictTiles(rig->allocator, image, 1, &rows[i].region),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, rows[i].id, rows[i].culprit);
    }
    const MaarTileRegion in_tail[2] = {{0, 0, {0, 0, 0}, {1, 1, 1}},
                                       {tail, 0, {0, 0, 0}, {1, 1, 1}}};
    assert_int_equal(maarCommitTiles(rig->allocator, image, 2, in_tail),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRegions[1].mipLevel");
    assert_int_equal(maarCommitMipTail(rig->allocator, image, 1, 1),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "firstLayer");
    maarDestroySparseImage(rig->allocator, image);
    rig_close(rig);
}

/* Not of metadata, which nobody asked for. */
static void forgotten_submission_is_reported(void** state)
{
    (void)state;
    start(&(struct tile_device){.metadata_size = 128 * KIB});
    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 1);
    maarDestroySparseImage(rig->allocator, image);
    rig_expect_silence(rig);
    image = tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 1);
    const MaarTileRegion region = {0, 0, {0, 0, 0}, {256, 256, 1}};
    assert_int_equal(maarCommitTiles(rig->allocator, image, 1, &region), VK_SUCCESS);
    maarDestroySparseImage(rig->allocator, image);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED, "4");
    image = tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 1);
    assert_int_equal(maarCommitTiles(rig->allocator, image, 1, &region), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    maarDestroySparseImage(rig->allocator, image);
    rig_expect_silence(rig);
    rig_close(rig);
}

static void destroying_an_image_twice_is_reported(void** state)
{
    (void)state;
    start(NULL);
    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 1);
    maarDestroySparseImage(rig->allocator, image);
    rig_expect_silence(rig);
    maarDestroySparseImage(rig->allocator, image);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "image");
    assert_int_equal(maarDestroySparseImageAfter(rig->allocator, image, 0, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    rig_close(rig);
}

static void device_without_residency_is_reported(void** state)
{
    (void)state;
    const struct tile_device device = {.page_size = 0};
    const struct rig_setup setup = {.off = RIG_OFF_RESIDENCY};
    rig = rig_new();
    tile_device_start(rig, &device, &setup, 0);
    const VkImageCreateInfo made =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 1);
    expect_rejection(&made, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                     "sparseResidencyImage2D");
    rig_close(rig);
}

/* The driver is not even asked, so it sees no breach of its rules. */
static void address_space_that_is_used_up_is_reported(void** state)
{
    (void)state;
    start(&(struct tile_device){.address_space = 2 * GIB});
    const VkImageCreateInfo made =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){16384, 16384, 1}, 1);
    MaarSparseImage image = VK_NULL_HANDLE;
    MaarSparseImage second = VK_NULL_HANDLE;
    assert_int_equal(tile_try_image(rig, &made, &image), VK_SUCCESS);
    assert_int_equal(tile_try_image(rig, &made, &second), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_null(second);
    rig_expect_message(rig, MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED);
    maarDestroySparseImage(rig->allocator, image);
    assert_int_equal(tile_try_image(rig, &made, &second), VK_SUCCESS);
    maarDestroySparseImage(rig->allocator, second);
    rig_close(rig);
}

/* An image whose heap is too small for all of a request takes nothing of it. */
static void shortage_commits_nothing(void** state)
{
    (void)state;
    const struct tile_device device = {.device_heap = 32 * MIB};
    rig = rig_new();
    tile_device_start(rig, &device, NULL, MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
    VkImageCreateInfo made =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){8192, 8192, 1}, 1);
    const MaarAllocationCreateInfo memory = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        .memoryTypeBits = 1,
        .pName = "terrain",
    };
    const MaarSparseImageCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
        .pImageInfo = &made,
        .pMemoryInfo = &memory,
    };
    MaarSparseImage image = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSparseImage(rig->allocator, &info, &image), VK_SUCCESS);
    const MaarTileRegion regions[2] = {{1, 0, {0, 0, 0}, {1024, 1024, 1}},
                                       {0, 0, {0, 0, 0}, {8192, 8192, 1}}};
    assert_int_equal(maarCommitTiles(rig->allocator, image, 2, regions),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(tile_image(rig, image).committedSize, 0);
    assert_int_equal(maarCommitTiles(rig->allocator, image, 1, regions), VK_SUCCESS);
    submit();
    maarDestroySparseImage(rig->allocator, image);
    rig_close(rig);
}

/* What the preferred memory has no room for lies in another type that the image may have. The
 * host's memory is filled with other bytes than zeros. */
static void tiles_lie_in_another_type_when_the_first_is_full(void** state)
{
    (void)state;
    const struct tile_device device = {.device_heap = 32 * MIB};
    const struct rig_setup setup = {.count_host = true};
    rig = rig_new();
    tile_device_start(rig, &device, &setup, MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
    const VkImageCreateInfo made =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){8192, 8192, 1}, 1);
    MaarSparseImage image = VK_NULL_HANDLE;
    assert_int_equal(tile_try_image(rig, &made, &image), VK_SUCCESS);
    const MaarTileRegion regions[2] = {{0, 0, {0, 0, 0}, {4096, 4096, 1}},
                                       {1, 0, {0, 0, 0}, {1024, 1024, 1}}};
    assert_int_equal(maarCommitTiles(rig->allocator, image, 2, regions), VK_SUCCESS);
    submit();
    assert_true(tile_image(rig, image).committedSize > 64 * MIB);
    maarDestroySparseImage(rig->allocator, image);
    rig_close(rig);
}

/* Everything that an image's life asks of the driver and the host, one failure after another. */
static VkResult live(MaarSparseImage* image)
{
    const VkImageCreateInfo made =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){700, 300, 1}, 2);
    const MaarTileRegion regions[2] = {{0, 0, {0, 0, 0}, {300, 300, 1}},
                                       {1, 1, {200, 100, 0}, {100, 100, 1}}};
    VkResult result = tile_try_image(rig, &made, image);
    if (result == VK_SUCCESS) {
        result = maarCommitMipTail(rig->allocator, *image, 0, 2);
    }
    if (result == VK_SUCCESS) {
        result = maarCommitTiles(rig->allocator, *image, 2, regions);
    }
    if (result == VK_SUCCESS) {
        result = maarSubmitBinds(rig->allocator, 0, NULL, NULL);
    }
    if (result == VK_SUCCESS) {
        result = maarEvictTiles(rig->allocator, *image, 1, regions);
    }
    if (result == VK_SUCCESS) {
        uint8_t levels[64];
        uint32_t count = 64;
        result = maarGetMinResidentLevels(rig->allocator, *image, 1, &count, levels);
    }
    if (result == VK_SUCCESS) {
        const MaarPoint point = {.value = 1};
        result = maarDestroySparseImageAfter(rig->allocator, *image, 1, &point);
        *image = result == VK_SUCCESS ? VK_NULL_HANDLE : *image;
    }
    return result;
}

static void expect_nothing_left(MaarSparseImage image)
{
    MaarPagingStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    rig_check(rig);
    maarDestroySparseImage(rig->allocator, image);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &totals), VK_SUCCESS);
    assert_int_equal(totals.reservedBytes, 0);
    assert_int_equal(totals.committedBytes, 0);
    assert_int_equal(totals.reservationCount, 0);
    rig_close(rig);
}

static void open_failing(void)
{
    const struct tile_device device = {.metadata_size = 65536};
    const struct rig_setup setup = {.count_host = true};
    rig = rig_new();
    tile_device_start(rig, &device, &setup, MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
}

static void failing_host_leaves_nothing_behind(void** state)
{
    (void)state;
    uint64_t failures = 0;
    for (uint64_t nth = 1, end = 2; nth < end; ++nth) {
        MaarSparseImage image = VK_NULL_HANDLE;
        open_failing();
        const uint64_t at = atomic_load(&rig->host.calls) + nth;
        atomic_store(&rig->host.fail_at, at);
        const VkResult result = live(&image);
        atomic_store(&rig->host.fail_at, 0);
        end = atomic_load(&rig->host.calls) >= at ? nth + 2 : nth;
        failures += result != VK_SUCCESS ? 1 : 0;
        expect_nothing_left(image);
        assert_true(nth < 1000);
    }
    print_message("%llu times a host allocation failed\n", (unsigned long long)failures);
    assert_true(failures > 30);
}

static void failing_driver_leaves_nothing_behind(void** state)
{
    static const VkResult codes[] = {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY};
    static const char* const calls[] = {"vkCreateImage", "vkAllocateMemory", "vkQueueBindSparse",
                                        "vkCreateSemaphore"};
    (void)state;
    for (uint32_t i = 0; i < 8; ++i) {
        MaarSparseImage image = VK_NULL_HANDLE;
        open_failing();
        rig_set_fault(rig, calls[i / 2], 1, 100, codes[i % 2]);
        const VkResult result = live(&image);
        rig_clear_faults(rig);
        rig_forget_messages(rig);
        assert_int_equal(result, codes[i % 2]);
        expect_nothing_left(image);
    }
    for (uint64_t nth = 1; nth < 20; ++nth) {
        MaarSparseImage image = VK_NULL_HANDLE;
        open_failing();
        rig_set_fault(rig, NULL, nth, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        (void)live(&image);
        rig_clear_faults(rig);
        rig_forget_messages(rig);
        expect_nothing_left(image);
    }
}

/* An image that a program forgot is named, and taken down. */
static void forgotten_image_is_reported(void** state)
{
    (void)state;
    start(NULL);
    MaarSparseImage image =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){256, 256, 1}, 1);
    commit(image, (MaarTileRegion){0, 0, {0, 0, 0}, {256, 256, 1}});
    submit();
    rig_forget_messages(rig);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(regions_are_rounded_outward_and_inward),
        rig_unit_test(levels_that_may_be_sampled_are_found),
        rig_unit_test(tails_and_metadata_lie_where_the_driver_says),
        rig_unit_test(two_aspects_come_and_go_together),
        rig_unit_test(destroyed_image_gives_its_pages_back),
        rig_unit_test(images_that_cannot_be_are_refused),
        rig_unit_test(forgotten_submission_is_reported),
        rig_unit_test(destroying_an_image_twice_is_reported),
        rig_unit_test(device_without_residency_is_reported),
        rig_unit_test(address_space_that_is_used_up_is_reported),
        rig_unit_test(shortage_commits_nothing),
        rig_unit_test(tiles_lie_in_another_type_when_the_first_is_full),
        rig_unit_test(failing_host_leaves_nothing_behind),
        rig_unit_test(failing_driver_leaves_nothing_behind),
        rig_unit_test(forgotten_image_is_reported),
        rig_unit_test(kinds_share_no_block_below_the_granularity),
    };
    return cmocka_run_group_tests_name("sparse_image", tests, NULL, NULL);
}
