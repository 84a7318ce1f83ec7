/*
 * A streamed texture on real drivers, under the validation layer: frames follow one another without
 * waiting, each reads tiles that the cache calls visible, and what it reads is what was uploaded
 * there. Where nothing executes (RADV over the no-op kernel) the same is recorded and submitted.
 */
#include <stdio.h>

#include "tests/tiles/tile_commands.h"
#include "tests/tiles/tile_images.h"

enum { IN_FLIGHT = 3, READS = 6, FRAMES = 240, MOST_UPLOADS = 24, MOST_TILES = 1024 };

static struct rig rig;

struct stream {
    struct tile_commands commands;
    MaarSparseImage image;
    MaarSparseImageInfo info;
    MaarTileCache cache;
    MaarTileCacheInfo known;
    VkSemaphore frames; /* raised by each frame */
    VkSemaphore uploads;
    uint64_t frame;
    VkCommandBuffer buffers[IN_FLIGHT][2];
    uint32_t read_count[IN_FLIGHT];
    struct tile_box reads[IN_FLIGHT][READS];
    struct rig_random random;
    uint32_t view[2];
    uint32_t layers;
    VkDeviceSize slot;
    uint64_t compared;
    VkDeviceSize budget;
};

static struct stream stream;

static int open_rig(void** state)
{
    *state = rig_start_paging(&rig) ? &rig : NULL;
    return 0;
}

static uint32_t seed_of(uint32_t level, uint32_t layer, int32_t x, int32_t y)
{
    return level << 28 ^ layer << 24 ^ (uint32_t)y << 12 ^ (uint32_t)x;
}

static void open_stream(uint32_t width, uint32_t height, uint32_t layers, uint32_t room)
{
    memset(&stream, 0, sizeof stream);
    stream.image =
        tile_create_image(&rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){width, height, 1}, layers);
    stream.info = tile_image(&rig, stream.image);
    stream.layers = layers;
    /* Two pinned levels at most have four tiles a layer, beside the tails. */
    stream.budget =
        layers * (stream.info.tailSize + 4 * stream.info.pageSize) + room * stream.info.pageSize;
    const MaarTileCacheCreateInfo cache = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = stream.image,
        .budget = stream.budget,
        .maxUploadsPerUpdate = MOST_UPLOADS,
    };
    assert_int_equal(maarCreateTileCache(rig.allocator, &cache, &stream.cache), VK_SUCCESS);
    stream.known.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO;
    stream.slot = (VkDeviceSize)stream.info.tileExtent.width * stream.info.tileExtent.height * 4;
    tile_commands_open(&stream.commands, &rig, IN_FLIGHT * READS * stream.slot);
    stream.frames = rig_create_timeline(&rig, 0);
    stream.uploads = rig_create_timeline(&rig, 0);
    stream.random.state = rig_seed(5);
}

static void close_stream(void)
{
    tile_commands_wait(&stream.commands);
    maarDestroyTileCache(rig.allocator, stream.cache);
    assert_int_equal(maarAdvanceHostTimeline(rig.allocator, UINT64_MAX), VK_SUCCESS);
    maarDestroySparseImage(rig.allocator, stream.image);
    assert_int_equal(maarWaitPending(rig.allocator, UINT64_MAX), VK_SUCCESS);
    vkDestroySemaphore(rig.device, stream.frames, NULL);
    vkDestroySemaphore(rig.device, stream.uploads, NULL);
    tile_commands_close(&stream.commands);
}

/* ---- a frame ---- */

static void fill(const MaarTileUpload* upload)
{
    uint8_t* bytes = upload->pData;
    const uint32_t seed =
        seed_of(upload->mipLevel, upload->arrayLayer, upload->offset.x, upload->offset.y);
    assert_int_equal(upload->size, stream.slot);
    assert_int_equal(upload->rowPitch, stream.info.tileExtent.width * 4);
    for (size_t i = 0; i < (size_t)upload->size; ++i) {
        bytes[i] = tile_pattern(seed, i);
    }
}

static uint32_t ask(uint32_t* requests, uint32_t most)
{
    const uint32_t tile = stream.info.tileExtent.width;
    if (rig_below(&stream.random, 12) == 0) {
        stream.view[0] = rig_below(&stream.random, 2048);
        stream.view[1] = rig_below(&stream.random, 2048);
    }
    const uint32_t count = 1 + rig_below(&stream.random, most);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t level = rig_below(&stream.random, 4);
        const uint32_t x = ((stream.view[0] + rig_below(&stream.random, 500)) >> level) / tile;
        const uint32_t y = ((stream.view[1] + rig_below(&stream.random, 500)) >> level) / tile;
        requests[i] = MAAR_PACK_TILE_REQUEST(level, rig_below(&stream.random, stream.layers), x, y);
    }
    return count;
}

/* Decides, binds, and uploads; nothing of it waits. */
static void stream_tiles(uint32_t slot)
{
    uint32_t requests[64];
    MaarTileUpload uploads[MOST_UPLOADS];
    uint32_t count = MOST_UPLOADS;
    const MaarTileCacheUpdate update = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
        .requestCount = ask(requests, 64),
        .pRequests = requests,
    };
    assert_int_equal(maarUpdateTileCache(rig.allocator, stream.cache, &update, &count, uploads),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        fill(&uploads[i]);
    }
    const MaarPoint sampled = {stream.frames, stream.frame - 1};
    const MaarPoint done = {stream.uploads, stream.frame};
    MaarPoint bound;
    assert_int_equal(maarSubmitBinds(rig.allocator, 1, &sampled, &bound), VK_SUCCESS);
    VkCommandBuffer buffer = tile_commands_begin(&stream.commands);
    assert_int_equal(maarRecordTileUploads(rig.allocator, stream.cache, buffer, count, uploads),
                     VK_SUCCESS);
    tile_commands_submit(&stream.commands, buffer,
                         bound.semaphore != VK_NULL_HANDLE ? &bound : NULL, &done);
    const MaarPoint host = {VK_NULL_HANDLE, stream.frame};
    assert_int_equal(
        maarEndTileUploads(rig.allocator, stream.cache, rig_executes() ? &done : &host),
        VK_SUCCESS);
    stream.buffers[slot][0] = buffer;
    assert_int_equal(maarGetTileCacheInfo(rig.allocator, stream.cache, &stream.known), VK_SUCCESS);
    assert_int_equal(maarGetSparseImageInfo(rig.allocator, stream.image, &stream.info), VK_SUCCESS);
    assert_int_equal(stream.known.committedSize, stream.info.committedSize);
    assert_true(stream.known.committedSize <= stream.budget);
}

static void choose_reads(uint32_t slot)
{
    static uint8_t levels[MOST_TILES];
    const int32_t tile = (int32_t)stream.info.tileExtent.width;
    const uint32_t layer = rig_below(&stream.random, stream.layers);
    uint32_t count = MOST_TILES;
    assert_int_equal(maarGetTileCacheLevels(rig.allocator, stream.cache, layer, &count, levels),
                     VK_SUCCESS);
    const uint32_t across = 2048 / (uint32_t)tile;
    stream.read_count[slot] = 0;
    for (uint32_t i = 0; i < READS; ++i) {
        const uint32_t at = rig_below(&stream.random, count);
        const uint32_t level = levels[at];
        if (level >= stream.info.mipLevels) {
            continue;
        }
        const uint32_t size = 2048u >> level < (uint32_t)tile ? 2048u >> level : (uint32_t)tile;
        stream.reads[slot][stream.read_count[slot]++] = (struct tile_box){
            level,
            layer,
            {(int32_t)(at % across >> level) * tile, (int32_t)(at / across >> level) * tile, 0},
            {size, size, 1}};
    }
}

/* Reads tiles that are visible, as a shader would sample them. */
static void submit_frame(uint32_t slot)
{
    const MaarPoint done = {stream.frames, stream.frame};
    choose_reads(slot);
    VkCommandBuffer buffer = tile_commands_begin(&stream.commands);
    for (uint32_t i = 0; i < stream.read_count[slot]; ++i) {
        const struct tile_box* box = &stream.reads[slot][i];
        const VkBufferImageCopy copy = {
            .bufferOffset = (slot * READS + i) * stream.slot,
            .bufferRowLength = stream.info.tileExtent.width,
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, box->level, box->layer, 1},
            .imageOffset = box->offset,
            .imageExtent = box->extent,
        };
        vkCmdCopyImageToBuffer(buffer, stream.info.image, VK_IMAGE_LAYOUT_GENERAL,
                               stream.commands.buffer, 1, &copy);
    }
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
    tile_commands_submit(&stream.commands, buffer, NULL, &done);
    stream.buffers[slot][1] = buffer;
}

static void compare(uint32_t slot)
{
    assert_int_equal(
        maarInvalidateAllocation(rig.allocator, stream.commands.memory, 0, VK_WHOLE_SIZE),
        VK_SUCCESS);
    for (uint32_t i = 0; i < stream.read_count[slot] && rig_executes(); ++i) {
        const struct tile_box* box = &stream.reads[slot][i];
        const uint8_t* bytes = stream.commands.data + (slot * READS + i) * stream.slot;
        const uint32_t seed = seed_of(box->level, box->layer, box->offset.x, box->offset.y);
        const size_t pitch = (size_t)stream.info.tileExtent.width * 4;
        for (size_t y = 0; y < box->extent.height; ++y) {
            for (size_t x = 0; x < (size_t)box->extent.width * 4; ++x) {
                const size_t at = y * pitch + x;
                if (bytes[at] != tile_pattern(seed, at)) {
                    fail_msg("level %u, layer %u, texel %d,%d: byte %zu differs", box->level,
                             box->layer, box->offset.x, box->offset.y, at);
                }
            }
        }
        ++stream.compared;
    }
}

/* Waits for the frame that used this slot before, as a program does that has this number of frames
 * in flight. */
static void reuse_slot(uint32_t slot)
{
    if (stream.frame <= IN_FLIGHT) {
        return;
    }
    if (rig_executes()) {
        const uint64_t value = stream.frame - IN_FLIGHT;
        const VkSemaphoreWaitInfo wait = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
            .semaphoreCount = 1,
            .pSemaphores = &stream.frames,
            .pValues = &value,
        };
        assert_int_equal(vkWaitSemaphores(rig.device, &wait, UINT64_MAX), VK_SUCCESS);
    } else {
        tile_commands_wait(&stream.commands);
        assert_int_equal(maarAdvanceHostTimeline(rig.allocator, stream.frame - 1), VK_SUCCESS);
    }
    compare(slot);
    /* Uploads of that frame were submitted before it, to the same queue. */
    vkFreeCommandBuffers(rig.device, stream.commands.pool, 2, stream.buffers[slot]);
}

static void play(uint32_t frames)
{
    for (stream.frame = 1; stream.frame <= frames; ++stream.frame) {
        const uint32_t slot = (uint32_t)(stream.frame % IN_FLIGHT);
        reuse_slot(slot);
        stream_tiles(slot);
        submit_frame(slot);
    }
    const MaarTileCacheInfo* known = &stream.known;
    print_message("%u frames: %llu hits, %llu misses, %llu uploads, %llu evictions, %llu tiles "
                  "compared; at most %llu of %llu bytes\n",
                  frames, (unsigned long long)known->hitCount, (unsigned long long)known->missCount,
                  (unsigned long long)known->uploadCount, (unsigned long long)known->evictionCount,
                  (unsigned long long)stream.compared, (unsigned long long)known->peakCommittedSize,
                  (unsigned long long)stream.budget);
    assert_true(known->evictionCount > 20);
    assert_true(!rig_executes() || stream.compared > frames);
    tile_commands_wait(&stream.commands);
}

static void need_stream(void** state)
{
    MaarPagingInfo info = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    rig_need(state, true, "");
    assert_int_equal(maarGetPagingInfo(rig.allocator, &info), VK_SUCCESS);
    rig_need(state, info.sparseImages2D, "the device has no partially resident 2D images");
}

static void visible_tiles_show_what_was_uploaded(void** state)
{
    need_stream(state);
    open_stream(2048, 2048, 1, 24);
    play(FRAMES);
    close_stream();
}

static void layers_are_streamed_apart(void** state)
{
    need_stream(state);
    open_stream(2048, 2048, 3, 50);
    play(FRAMES / 2);
    close_stream();
}

/* A cache that goes while its uploads are under way leaves them their staging memory. */
static void cache_that_goes_is_outlived_by_its_uploads(void** state)
{
    need_stream(state);
    for (uint32_t round = 0; round < 5; ++round) {
        open_stream(2048, 2048, 1, 24);
        stream.frame = 1;
        stream_tiles(0);
        maarDestroyTileCache(rig.allocator, stream.cache);
        stream.cache = VK_NULL_HANDLE;
        close_stream();
    }
    rig_check(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(visible_tiles_show_what_was_uploaded, open_rig,
                                        rig_teardown),
        cmocka_unit_test_setup_teardown(layers_are_streamed_apart, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(cache_that_goes_is_outlived_by_its_uploads, open_rig,
                                        rig_teardown),
    };
    return cmocka_run_group_tests_name("tile_cache_device", tests, NULL, NULL);
}
