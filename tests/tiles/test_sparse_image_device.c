/*
 * Partially resident images on real drivers, under the validation layer: tiles are written, their
 * neighbours come and go, and what was written is still there. Where nothing executes (RADV over
 * the no-op kernel) the same commands are recorded and submitted, and nothing is compared.
 */
#include <stdio.h>

#include "tests/tiles/tile_commands.h"
#include "tests/tiles/tile_images.h"

enum { MOST_TILES = 4096, MOST_LEVELS = 16 };

static struct rig rig;
static struct tile_commands commands;

/* What should be in each tile; 0: nothing that was written. */
struct scene {
    MaarSparseImage image;
    MaarSparseImageInfo info;
    VkImageCreateInfo made;
    uint32_t block; /* bytes of a texel */
    uint32_t first[MOST_LEVELS];
    uint32_t tiles[MOST_LEVELS][3];
    uint32_t count;
    uint32_t layers_at; /* tiles of a layer */
    uint32_t seeds[MOST_TILES];
    uint32_t next_seed;
};

static struct scene scene;
static bool quiet;

static int open_rig(void** state)
{
    *state = rig_start_paging(&rig) ? &rig : NULL;
    return 0;
}

static void need_images(void** state, bool three)
{
    MaarPagingInfo info = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    rig_need(state, true, "");
    assert_int_equal(maarGetPagingInfo(rig.allocator, &info), VK_SUCCESS);
    rig_need(state, three || info.sparseImages2D, "the device has no partially resident 2D images");
    rig_need(state, !three || info.sparseImages3D,
             "the device has no partially resident 3D images");
}

static uint32_t level_extent(uint32_t whole, uint32_t level)
{
    return whole >> level > 1 ? whole >> level : 1;
}

static void open_scene(VkFormat format, uint32_t block, VkExtent3D extent, uint32_t layers)
{
    memset(&scene, 0, sizeof scene);
    scene.made = tile_image_info(format, extent, layers);
    scene.block = block;
    scene.image = tile_create_image(&rig, format, extent, layers);
    scene.info = tile_image(&rig, scene.image);
    const uint32_t whole[3] = {extent.width, extent.height, extent.depth};
    const uint32_t tile[3] = {scene.info.tileExtent.width, scene.info.tileExtent.height,
                              scene.info.tileExtent.depth};
    for (uint32_t level = 0; level < scene.info.tailFirstLevel; ++level) {
        scene.first[level] = scene.layers_at;
        uint32_t count = 1;
        for (uint32_t axis = 0; axis < 3; ++axis) {
            scene.tiles[level][axis] =
                (level_extent(whole[axis], level) + tile[axis] - 1) / tile[axis];
            count *= scene.tiles[level][axis];
        }
        scene.layers_at += count;
    }
    scene.count = scene.layers_at * layers;
    assert_true(scene.count <= MOST_TILES);
    assert_int_equal(scene.info.tileCount, scene.count);
    if (!quiet) {
        print_message(
            "tile %ux%ux%u, page %llu, %u tiles, tail from level %u of %u (%llu bytes, %s)\n",
            tile[0], tile[1], tile[2], (unsigned long long)scene.info.pageSize, scene.count,
            scene.info.tailFirstLevel, scene.info.mipLevels,
            (unsigned long long)scene.info.tailSize,
            scene.info.singleTail ? "single" : "one a layer");
    }
    const VkDeviceSize texels = (VkDeviceSize)tile[0] * tile[1] * tile[2];
    tile_commands_open(&commands, &rig, texels * block);
    tile_commands_prepare(&commands, scene.info.image);
}

static void close_scene(void)
{
    tile_commands_close(&commands);
    maarDestroySparseImage(rig.allocator, scene.image);
    assert_int_equal(maarWaitPending(rig.allocator, UINT64_MAX), VK_SUCCESS);
    rig_check(&rig);
}

static struct tile_box box_of(uint32_t tile)
{
    struct tile_box box = {.layer = tile / scene.layers_at};
    uint32_t rest = tile % scene.layers_at;
    while (box.level + 1 < scene.info.tailFirstLevel && rest >= scene.first[box.level + 1]) {
        ++box.level;
    }
    rest -= scene.first[box.level];
    const uint32_t* tiles = scene.tiles[box.level];
    const uint32_t size[3] = {scene.info.tileExtent.width, scene.info.tileExtent.height,
                              scene.info.tileExtent.depth};
    const uint32_t whole[3] = {scene.made.extent.width, scene.made.extent.height,
                               scene.made.extent.depth};
    const uint32_t at[3] = {rest % tiles[0] * size[0], rest / tiles[0] % tiles[1] * size[1],
                            rest / tiles[0] / tiles[1] * size[2]};
    uint32_t extent[3];
    for (uint32_t axis = 0; axis < 3; ++axis) {
        extent[axis] = level_extent(whole[axis], box.level) - at[axis];
        extent[axis] = extent[axis] < size[axis] ? extent[axis] : size[axis];
    }
    box.offset = (VkOffset3D){(int32_t)at[0], (int32_t)at[1], (int32_t)at[2]};
    box.extent = (VkExtent3D){extent[0], extent[1], extent[2]};
    return box;
}

static MaarTileRegion region_of(uint32_t tile)
{
    const struct tile_box box = box_of(tile);
    return (MaarTileRegion){box.level, box.layer, box.offset, box.extent};
}

static void submit_and_write(const uint32_t* tiles, uint32_t count)
{
    MaarPoint point;
    assert_int_equal(maarSubmitBinds(rig.allocator, 0, NULL, &point), VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        const struct tile_box box = box_of(tiles[i]);
        scene.seeds[tiles[i]] = ++scene.next_seed;
        tile_commands_write(&commands, scene.info.image, scene.block, &box, scene.next_seed,
                            &point);
    }
}

static void expect_contents(void)
{
    uint64_t committed = 0;
    for (uint32_t i = 0; i < scene.count; ++i) {
        const struct tile_box box = box_of(i);
        if (scene.seeds[i] != 0) {
            ++committed;
            assert_true(tile_commands_shows(&commands, scene.info.image, scene.block, &box,
                                            scene.seeds[i]));
        }
    }
    assert_int_equal(maarGetSparseImageInfo(rig.allocator, scene.image, &scene.info), VK_SUCCESS);
    assert_int_equal(scene.info.committedTileCount, committed);
}

static void commit(uint32_t tile)
{
    const MaarTileRegion region = region_of(tile);
    assert_int_equal(maarCommitTiles(rig.allocator, scene.image, 1, &region), VK_SUCCESS);
}

static void evict(uint32_t tile)
{
    const MaarTileRegion region = region_of(tile);
    assert_int_equal(maarEvictTiles(rig.allocator, scene.image, 1, &region), VK_SUCCESS);
    scene.seeds[tile] = 0;
}

static uint64_t bind_count(void)
{
    MaarPagingStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(rig.allocator, &totals), VK_SUCCESS);
    return totals.bindCount;
}

/* Whole levels in one region each, so that adjacent tiles have adjacent pages; then every other
 * tile goes, and comes back elsewhere. */
static void play_levels(void)
{
    static uint32_t tiles[MOST_TILES];
    for (uint32_t layer = 0; layer < scene.made.arrayLayers; ++layer) {
        for (uint32_t level = 0; level < scene.info.tailFirstLevel; ++level) {
            const MaarTileRegion region = {level, layer, {0, 0, 0}, scene.made.extent};
            assert_int_equal(maarCommitTiles(rig.allocator, scene.image, 1, &region), VK_SUCCESS);
        }
    }
    for (uint32_t i = 0; i < scene.count; ++i) {
        tiles[i] = i;
    }
    const uint64_t binds = bind_count();
    submit_and_write(tiles, scene.count);
    print_message("%u tiles bound by %llu elements\n", scene.count,
                  (unsigned long long)(bind_count() - binds));
    expect_contents();
    uint32_t gone = 0;
    for (uint32_t i = 0; i < scene.count; i += 2) {
        evict(i);
        tiles[gone++] = i;
    }
    submit_and_write(NULL, 0);
    expect_contents();
    for (uint32_t i = gone; i-- > 0;) {
        commit(tiles[i]);
    }
    submit_and_write(tiles, gone);
    expect_contents();
}

static void play_randomly(uint32_t rounds)
{
    static uint32_t fresh[MOST_TILES];
    struct rig_random random = {.state = rig_seed(7)};
    for (uint32_t round = 0; round < rounds; ++round) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < scene.count; ++i) {
            const uint32_t dice = rig_below(&random, 4);
            if (dice == 0 && scene.seeds[i] != 0) {
                evict(i);
            } else if (dice == 1 && scene.seeds[i] == 0) {
                commit(i);
                fresh[count++] = i;
            }
        }
        submit_and_write(fresh, count);
        expect_contents();
        rig_check(&rig);
    }
}

/* What the other cases take for equality is not blindness. */
static void planted_difference_is_seen(void** state)
{
    need_images(state, false);
    if (!rig_executes()) {
        print_message("skipped: nothing executes on this rig\n");
        skip();
    }
    open_scene(VK_FORMAT_R8G8B8A8_UNORM, 4, (VkExtent3D){256, 256, 1}, 1);
    const uint32_t tile = 1;
    const struct tile_box box = box_of(tile);
    commit(tile);
    submit_and_write(&tile, 1);
    assert_false(tile_commands_shows(&commands, scene.info.image, scene.block, &box, 77));
    expect_contents();
    close_scene();
}

static void tiles_2d_keep_their_contents(void** state)
{
    need_images(state, false);
    open_scene(VK_FORMAT_R8G8B8A8_UNORM, 4, (VkExtent3D){1024, 1024, 1}, 1);
    play_levels();
    play_randomly(8);
    close_scene();
}

static void tiles_of_odd_sizes_keep_their_contents(void** state)
{
    need_images(state, false);
    open_scene(VK_FORMAT_R8G8B8A8_UNORM, 4, (VkExtent3D){1000, 333, 1}, 1);
    play_levels();
    play_randomly(6);
    close_scene();
}

static void tiles_of_layers_keep_their_contents(void** state)
{
    need_images(state, false);
    open_scene(VK_FORMAT_R8G8B8A8_UNORM, 4, (VkExtent3D){512, 256, 1}, 5);
    play_levels();
    play_randomly(6);
    close_scene();
}

static void tiles_3d_keep_their_contents(void** state)
{
    need_images(state, true);
    open_scene(VK_FORMAT_R8G8B8A8_UNORM, 4, (VkExtent3D){100, 96, 40}, 1);
    play_levels();
    play_randomly(6);
    close_scene();
}

static void tiles_of_other_texels_keep_their_contents(void** state)
{
    need_images(state, false);
    open_scene(VK_FORMAT_R8_UINT, 1, (VkExtent3D){1024, 512, 1}, 1);
    play_levels();
    close_scene();
    open_scene(VK_FORMAT_R32G32B32A32_UINT, 16, (VkExtent3D){256, 256, 1}, 2);
    play_levels();
    play_randomly(4);
    close_scene();
}

/* The tail of one layer comes and goes while that of another stays. */
static void mip_tails_keep_their_contents(void** state)
{
    need_images(state, false);
    open_scene(VK_FORMAT_R8G8B8A8_UNORM, 4, (VkExtent3D){256, 256, 1}, 3);
    MaarPoint point;
    assert_int_equal(maarCommitMipTail(rig.allocator, scene.image, 0, VK_REMAINING_ARRAY_LAYERS),
                     VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(rig.allocator, 0, NULL, &point), VK_SUCCESS);
    const uint32_t last = scene.info.mipLevels - 1;
    const struct tile_box box = {last, 1, {0, 0, 0}, {1, 1, 1}};
    const bool has_tail = scene.info.tailFirstLevel < scene.info.mipLevels;
    assert_int_equal(has_tail, scene.info.tailSize > 0);
    if (has_tail) {
        tile_commands_write(&commands, scene.info.image, 4, &box, 9, &point);
        uint8_t there = 0;
        uint32_t one = 1;
        assert_int_equal(maarGetTileResidency(rig.allocator, scene.image, last, 2, &one, &there),
                         VK_SUCCESS);
        assert_int_equal(there, 1);
        assert_int_equal(maarEvictMipTail(rig.allocator, scene.image, 2, 1), VK_SUCCESS);
        assert_int_equal(maarGetTileResidency(rig.allocator, scene.image, last, 2, &one, &there),
                         VK_SUCCESS);
        assert_int_equal(there, scene.info.singleTail ? 1 : 0);
        assert_int_equal(maarSubmitBinds(rig.allocator, 0, NULL, NULL), VK_SUCCESS);
        assert_true(tile_commands_shows(&commands, scene.info.image, 4, &box, 9));
    }
    close_scene();
    rig_need(state, has_tail, "the driver has no mip tail");
}

static void image_that_goes_is_outlived_by_its_binds(void** state)
{
    need_images(state, false);
    for (uint32_t round = 0; round < 20; ++round) {
        quiet = round > 0;
        open_scene(VK_FORMAT_R8G8B8A8_UNORM, 4, (VkExtent3D){512, 512, 1}, 1);
        commit(round % scene.count);
        if (round % 2 == 0) {
            assert_int_equal(maarSubmitBinds(rig.allocator, 0, NULL, NULL), VK_SUCCESS);
            commit((round + 1) % scene.count);
        }
        tile_commands_close(&commands);
        maarDestroySparseImage(rig.allocator, scene.image);
    }
    quiet = false;
    assert_int_equal(maarWaitPending(rig.allocator, UINT64_MAX), VK_SUCCESS);
    MaarPagingStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(rig.allocator, &totals), VK_SUCCESS);
    assert_int_equal(totals.reservedBytes, 0);
    assert_int_equal(totals.committedBytes, 0);
    assert_int_equal(totals.reservationCount, 0);
    rig_check(&rig);
}

/* What the driver binds, with a name that the format's blocks have everywhere. */
static void block_formats_are_bound(void** state)
{
    need_images(state, false);
    static const VkFormat formats[] = {VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_FORMAT_BC7_UNORM_BLOCK,
                                       VK_FORMAT_R16G16B16A16_SFLOAT};
    uint32_t bound = 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; ++i) {
        const VkImageCreateInfo made = tile_image_info(formats[i], (VkExtent3D){1024, 1024, 1}, 1);
        const MaarSparseImageCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
            .pImageInfo = &made,
        };
        MaarSparseImage image = VK_NULL_HANDLE;
        const VkResult result = maarCreateSparseImage(rig.allocator, &info, &image);
        if (result == VK_ERROR_FORMAT_NOT_SUPPORTED) {
            continue;
        }
        assert_int_equal(result, VK_SUCCESS);
        const MaarTileRegion region = {0, 0, {0, 0, 0}, {1024, 1024, 1}};
        assert_int_equal(maarCommitTiles(rig.allocator, image, 1, &region), VK_SUCCESS);
        assert_int_equal(maarCommitMipTail(rig.allocator, image, 0, 1), VK_SUCCESS);
        assert_int_equal(maarSubmitBinds(rig.allocator, 0, NULL, NULL), VK_SUCCESS);
        maarDestroySparseImage(rig.allocator, image);
        ++bound;
    }
    rig_need(state, bound > 0, "the driver has tiles of none of these formats");
}

/* 16,384 tiles at the finest level: cheap until they are used. */
static void large_image_costs_what_is_used(void** state)
{
    need_images(state, false);
    const VkImageCreateInfo made =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){16384, 16384, 1}, 1);
    const MaarSparseImageCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
        .pImageInfo = &made,
    };
    MaarSparseImage image = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSparseImage(rig.allocator, &info, &image), VK_SUCCESS);
    MaarPagingStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    struct rig_random random = {.state = rig_seed(3)};
    for (uint32_t i = 0; i < 64; ++i) {
        const MaarTileRegion region = {
            0,
            0,
            {(int32_t)rig_below(&random, 16384), (int32_t)rig_below(&random, 16384), 0},
            {1, 1, 1}};
        assert_int_equal(maarCommitTiles(rig.allocator, image, 1, &region), VK_SUCCESS);
    }
    assert_int_equal(maarSubmitBinds(rig.allocator, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarGetPagingStatistics(rig.allocator, &totals), VK_SUCCESS);
    assert_int_equal(totals.submissionCount, 1);
    assert_true(totals.committedBytes <= 64 * 65536);
    assert_true(totals.blockBytes <= 64 * MIB);
    maarDestroySparseImage(rig.allocator, image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(planted_difference_is_seen, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(tiles_2d_keep_their_contents, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(tiles_of_odd_sizes_keep_their_contents, open_rig,
                                        rig_teardown),
        cmocka_unit_test_setup_teardown(tiles_of_layers_keep_their_contents, open_rig,
                                        rig_teardown),
        cmocka_unit_test_setup_teardown(tiles_3d_keep_their_contents, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(tiles_of_other_texels_keep_their_contents, open_rig,
                                        rig_teardown),
        cmocka_unit_test_setup_teardown(mip_tails_keep_their_contents, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(image_that_goes_is_outlived_by_its_binds, open_rig,
                                        rig_teardown),
        cmocka_unit_test_setup_teardown(block_formats_are_bound, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(large_image_costs_what_is_used, open_rig, rig_teardown),
    };
    return cmocka_run_group_tests_name("sparse_image_device", tests, NULL, NULL);
}
