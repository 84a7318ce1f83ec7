/*
 * Tile caches against a naive one, on simulated devices that check every bind and copy: random
 * viewers, rubbish among the requests, uploads that take their time, budgets that change. After
 * each update both have done the same, the image's pages are within the budget, and so is what the
 * device has bound.
 */
#include <stdio.h>

#include "tests/tiles/cache_model.h"
#include "tests/tiles/simulated_tiles.h"

enum { UPDATES = 2000, MOST_REQUESTS = 256, MOST_UPLOADS = 64, MOST_WAITING = 512 };

struct shape {
    const char* name;
    struct tile_device device;
    VkFormat format;
    VkExtent3D extent;
    uint32_t layers;
    uint32_t room; /* tiles that are not pinned */
    uint32_t keep;
    uint32_t pinned_levels;
    uint32_t slots;
};

/* An upload on its way: handed out, recorded, and executed when the host timeline is there. */
struct waiting {
    MaarTileUpload upload;
    uint32_t tile;
    uint64_t value; /* 0: not recorded */
};

struct play {
    struct rig* rig;
    const struct shape* shape;
    MaarSparseImage image;
    MaarTileCache cache;
    struct cache_model model;
    struct rig_random random;
    VkCommandPool pool;
    uint64_t host; /* the host timeline */
    uint32_t waiting_count;
    struct waiting waiting[MOST_WAITING];
    uint32_t request_count;
    uint32_t requests[MOST_REQUESTS];
    uint32_t view[3]; /* where the viewer looks, in texels */
    VkDeviceSize page;
    VkDeviceSize pinned_size;
    uint64_t uploads_seen;
};

static struct play play;

static void start_model(const MaarTileCacheInfo* info, const MaarSparseImageInfo* image)
{
    struct cache_model* m = &play.model;
    const VkExtent3D* extent = &play.shape->extent;
    memset(m, 0, sizeof *m);
    m->extent[0][0] = extent->width;
    m->extent[0][1] = extent->height;
    m->extent[0][2] = extent->depth;
    m->tile[0] = image->tileExtent.width;
    m->tile[1] = image->tileExtent.height;
    m->tile[2] = image->tileExtent.depth;
    m->levels = image->mipLevels;
    m->layers = image->arrayLayers;
    m->pinned = info->firstPinnedLevel;
    m->deep = extent->depth > 1;
    m->keep = play.shape->keep;
    m->room = play.shape->room;
    m->slots = info->slotCount;
    cache_model_start(m);
}

static void start_play(const struct shape* shape, uint64_t seed)
{
    memset(&play, 0, sizeof play);
    play.shape = shape;
    play.random.state = seed;
    play.rig = rig_new();
    tile_device_start(play.rig, &shape->device, NULL, MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
    play.image = tile_create_image(play.rig, shape->format, shape->extent, shape->layers);
    const MaarSparseImageInfo image = tile_image(play.rig, play.image);
    play.page = image.pageSize;
    MaarTileCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = play.image,
        .budget = 1,
        .keepUpdates = shape->keep,
        .pinnedLevelCount = shape->pinned_levels,
    };
    /* The message says how much is always there. */
    assert_int_equal(maarCreateTileCache(play.rig->allocator, &info, &play.cache),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    play.pinned_size = rig_message_number(play.rig, 1);
    rig_expect_message(play.rig, MAAR_MESSAGE_ID_TILE_BUDGET_TOO_SMALL);
    info.budget = play.pinned_size + shape->room * play.page;
    info.stagingSize = shape->slots * play.page;
    assert_int_equal(maarCreateTileCache(play.rig->allocator, &info, &play.cache), VK_SUCCESS);
    const MaarTileCacheInfo made = tile_cache(play.rig, play.cache);
    assert_int_equal(made.pinnedSize, play.pinned_size);
    assert_int_equal(made.committedSize, play.pinned_size);
    start_model(&made, &image);
    print_message("%s: %u tiles of %ux%ux%u, pinned from level %u of %u, room for %u, %u slots\n",
                  shape->name, play.model.count, play.model.tile[0], play.model.tile[1],
                  play.model.tile[2], play.model.pinned, play.model.levels, shape->room,
                  made.slotCount);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = play.rig->recommendation.mainQueueFamily,
    };
    assert_int_equal(vkCreateCommandPool(play.rig->device, &pool, NULL, &play.pool), VK_SUCCESS);
}

static void end_play(void)
{
    maarDestroyTileCache(play.rig->allocator, play.cache);
    assert_int_equal(maarAdvanceHostTimeline(play.rig->allocator, UINT64_MAX), VK_SUCCESS);
    maarDestroySparseImage(play.rig->allocator, play.image);
    vkDestroyCommandPool(play.rig->device, play.pool, NULL);
    rig_close(play.rig);
}

/* ---- a frame ---- */

static void look_around(void)
{
    struct rig_random* random = &play.random;
    const uint32_t most = rig_below(random, 8) == 0 ? MOST_REQUESTS : 40;
    if (rig_below(random, 60) == 0) {
        for (uint32_t axis = 0; axis < 3; ++axis) {
            play.view[axis] = rig_below(random, play.model.extent[0][axis]);
        }
    }
    play.request_count = rig_below(random, 20) == 0 ? 0 : 1 + rig_below(random, most);
    for (uint32_t i = 0; i < play.request_count; ++i) {
        const uint32_t dice = rig_below(random, 20);
        if (dice == 0) {
            play.requests[i] = rig_next(random);
            continue;
        }
        const uint32_t level = rig_below(random, play.model.levels < 15 ? play.model.levels : 15);
        uint32_t at[3];
        for (uint32_t axis = 0; axis < 3; ++axis) {
            const uint32_t spread = play.model.tile[axis] * 5;
            const uint32_t texel = play.view[axis] + rig_below(random, spread);
            const uint32_t tile = (texel >> level) / play.model.tile[axis];
            at[axis] =
                tile < play.model.tiles[level][axis] ? tile : play.model.tiles[level][axis] - 1;
        }
        const uint32_t third = play.model.deep ? at[2] : rig_below(random, play.model.layers);
        play.requests[i] =
            dice == 1 ? MAAR_TILE_REQUEST_NONE : MAAR_PACK_TILE_REQUEST(level, third, at[0], at[1]);
    }
}

static void expect_upload(const MaarTileUpload* upload, uint32_t tile)
{
    const struct model_tile* t = &play.model.all[tile];
    const uint32_t* whole = play.model.extent[t->level];
    const int32_t at[3] = {upload->offset.x, upload->offset.y, upload->offset.z};
    const uint32_t extent[3] = {upload->extent.width, upload->extent.height, upload->extent.depth};
    assert_int_equal(upload->mipLevel, t->level);
    assert_int_equal(upload->arrayLayer, t->layer);
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const uint32_t size = play.model.tile[axis];
        const uint32_t rest = whole[axis] - t->at[axis] * size;
        assert_int_equal(at[axis], t->at[axis] * size);
        assert_int_equal(extent[axis], rest < size ? rest : size);
    }
    assert_non_null(upload->pData);
    memset(upload->pData, (int)(tile & 255u), (size_t)upload->size);
}

static void update(void)
{
    MaarTileUpload uploads[MOST_UPLOADS];
    uint32_t started[MOST_UPLOADS];
    const MaarTileCacheUpdate update = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
        .requestCount = play.request_count,
        .pRequests = play.requests,
        .budget = play.pinned_size + play.model.room * play.page,
        .maxUploads = 1 + rig_below(&play.random, MOST_UPLOADS),
    };
    uint32_t count = rig_below(&play.random, 10) == 0 ? rig_below(&play.random, 4) : MOST_UPLOADS;
    const uint32_t most = count < update.maxUploads ? count : update.maxUploads;
    for (uint32_t i = 0; i < play.waiting_count;) {
        if (play.waiting[i].value != 0 && play.waiting[i].value <= play.host) {
            cache_model_complete(&play.model, play.waiting[i].tile);
            play.waiting[i] = play.waiting[--play.waiting_count];
        } else {
            ++i;
        }
    }
    assert_int_equal(maarUpdateTileCache(play.rig->allocator, play.cache, &update, &count, uploads),
                     VK_SUCCESS);
    assert_int_equal(
        cache_model_update(&play.model, play.request_count, play.requests, most, started), count);
    for (uint32_t i = 0; i < count; ++i) {
        expect_upload(&uploads[i], started[i]);
        assert_true(play.waiting_count < MOST_WAITING);
        play.waiting[play.waiting_count++] =
            (struct waiting){.upload = uploads[i], .tile = started[i]};
    }
    play.uploads_seen += count;
}

/* Some of the uploads are filled by now; a few never will be. */
static void record(const MaarPoint* binds)
{
    MaarTileUpload ready[MOST_WAITING];
    uint32_t count = 0;
    const uint64_t value = play.host + 1 + rig_below(&play.random, 3);
    VkCommandBuffer commands = NULL;
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = play.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const bool abandon = rig_below(&play.random, 30) == 0;
    const bool lazy = rig_below(&play.random, 3) == 0;
    for (uint32_t i = 0; i < play.waiting_count;) {
        struct waiting* w = &play.waiting[i];
        if (w->value == 0 && rig_below(&play.random, 50) == 0) {
            assert_int_equal(maarCancelTileUploads(play.rig->allocator, play.cache, 1, &w->upload),
                             VK_SUCCESS);
            cache_model_cancel(&play.model, w->tile);
            *w = play.waiting[--play.waiting_count];
            continue;
        }
        if (w->value == 0 && !(lazy && rig_below(&play.random, 2) == 0)) {
            ready[count++] = w->upload;
            w->value = abandon ? 0 : value;
        }
        ++i;
    }
    assert_int_equal(vkAllocateCommandBuffers(play.rig->device, &allocate, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    assert_int_equal(maarRecordTileUploads(play.rig->allocator, play.cache, commands, count, ready),
                     VK_SUCCESS);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    const MaarPoint point = {.value = value};
    if (!abandon) {
        const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
        const VkTimelineSemaphoreSubmitInfo values = {
            .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
            .waitSemaphoreValueCount = 1,
            .pWaitSemaphoreValues = &binds->value,
        };
        const VkSubmitInfo submit = {
            .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
            .pNext = &values,
            .waitSemaphoreCount = 1,
            .pWaitSemaphores = &binds->semaphore,
            .pWaitDstStageMask = &stage,
            .commandBufferCount = 1,
            .pCommandBuffers = &commands,
        };
        assert_int_equal(vkQueueSubmit(play.rig->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    }
    assert_int_equal(maarEndTileUploads(play.rig->allocator, play.cache, abandon ? NULL : &point),
                     VK_SUCCESS);
    vkFreeCommandBuffers(play.rig->device, play.pool, 1, &commands);
}

static void expect_same_tiles(void)
{
    static uint8_t there[MODEL_TILES];
    static uint8_t levels[MODEL_TILES];
    uint32_t loaded_layer = UINT32_MAX;
    uint32_t loaded_level = UINT32_MAX;
    const uint32_t tail = tile_image(play.rig, play.image).tailFirstLevel;
    uint32_t number = 0;
    for (uint32_t i = 0; i < play.model.count; ++i) {
        const struct model_tile* t = &play.model.all[i];
        if (t->layer != loaded_layer || t->level != loaded_level) {
            uint32_t count = MODEL_TILES;
            assert_int_equal(maarGetTileResidency(play.rig->allocator, play.image, t->level,
                                                  t->layer, &count, there),
                             VK_SUCCESS);
            loaded_layer = t->layer;
            loaded_level = t->level;
            number = 0;
            if (t->level == 0) {
                count = MODEL_TILES;
                assert_int_equal(maarGetTileCacheLevels(play.rig->allocator, play.cache, t->layer,
                                                        &count, levels),
                                 VK_SUCCESS);
                assert_int_equal(count, play.model.tiles[0][0] * play.model.tiles[0][1] *
                                            play.model.tiles[0][2]);
            }
        }
        assert_int_equal(there[t->level < tail ? number : 0], t->page);
        if (t->level == 0) {
            assert_int_equal(levels[number], cache_model_level_at(&play.model, i));
        }
        ++number;
    }
}

static void expect_same_counts(bool shrinking)
{
    const MaarTileCacheInfo info = tile_cache(play.rig, play.cache);
    const struct cache_model* m = &play.model;
    uint32_t visible[MODEL_LEVELS] = {0};
    for (uint32_t i = 0; i < m->count; ++i) {
        visible[m->all[i].level] += m->all[i].visible;
    }
    assert_int_equal(info.hitCount, m->hits);
    assert_int_equal(info.missCount, m->misses);
    assert_int_equal(info.evictionCount, m->evictions);
    assert_int_equal(info.rejectedCount, m->rejected);
    assert_int_equal(info.usedSlotCount, m->used);
    assert_int_equal(info.uploadCount, play.uploads_seen);
    assert_memory_equal(info.visibleTileCounts, visible, sizeof visible);
    assert_int_equal(info.committedSize, tile_image(play.rig, play.image).committedSize);
    if (!shrinking) {
        assert_true(info.committedSize <= info.budget);
    }
}

static void run(const struct shape* shape, uint32_t updates, bool change_budget)
{
    start_play(shape, rig_seed(11));
    VkDeviceSize peak = 0;
    for (uint32_t i = 0; i < updates; ++i) {
        MaarPoint binds;
        bool shrinking = false;
        if (change_budget && rig_below(&play.random, 40) == 0) {
            play.model.room = 1 + rig_below(&play.random, shape->room);
        }
        look_around();
        update();
        shrinking = change_budget && tile_cache(play.rig, play.cache).committedSize >
                                         play.pinned_size + play.model.room * play.page;
        assert_int_equal(maarSubmitBinds(play.rig->allocator, 0, NULL, &binds), VK_SUCCESS);
        const MaarSimulatedCounters counters = rig_counters(play.rig);
        const MaarTileCacheInfo info = tile_cache(play.rig, play.cache);
        assert_int_equal(counters.sparseBoundBytes, info.committedSize);
        peak = counters.sparseBoundBytes > peak ? counters.sparseBoundBytes : peak;
        record(&binds);
        play.host += rig_below(&play.random, 3);
        assert_int_equal(maarAdvanceHostTimeline(play.rig->allocator, play.host), VK_SUCCESS);
        expect_same_counts(shrinking);
        if (i % 16 == 0) {
            expect_same_tiles();
        }
    }
    const MaarTileCacheInfo info = tile_cache(play.rig, play.cache);
    print_message("%llu hits, %llu misses, %llu uploads, %llu evictions; bound at most %llu of "
                  "%llu bytes\n",
                  (unsigned long long)info.hitCount, (unsigned long long)info.missCount,
                  (unsigned long long)info.uploadCount, (unsigned long long)info.evictionCount,
                  (unsigned long long)peak,
                  (unsigned long long)(play.pinned_size + shape->room * play.page));
    assert_true(info.evictionCount > 100 && info.hitCount > 100);
    assert_true(peak <= play.pinned_size + shape->room * play.page);
    end_play();
}

static void cache_of_one_layer_does_as_the_naive_one(void** state)
{
    static const struct shape shape = {
        .name = "2048x2048",
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {2048, 2048, 1},
        .layers = 1,
        .room = 60,
        .slots = 100,
    };
    (void)state;
    run(&shape, UPDATES, false);
}

static void cache_without_a_tail_does_as_the_naive_one(void** state)
{
    static const struct shape shape = {
        .name = "1500x700, three layers, no tail",
        .device = {.page_size = 16384, .tail = MAAR_SIMULATED_MIP_TAIL_NONE},
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {1500, 700, 1},
        .layers = 3,
        .room = 90,
        .slots = 40,
        .keep = 2,
    };
    (void)state;
    run(&shape, UPDATES / 2, false);
}

static void cache_of_a_volume_does_as_the_naive_one(void** state)
{
    static const struct shape shape = {
        .name = "200x120x90, single tail elsewhere, metadata",
        .device = {.tail = MAAR_SIMULATED_MIP_TAIL_SINGLE,
                   .tail_offset = (VkDeviceSize)1 << 44,
                   .metadata_size = 131072},
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {200, 120, 90},
        .layers = 1,
        .room = 40,
        .slots = 64,
    };
    (void)state;
    run(&shape, UPDATES / 2, false);
}

static void cache_with_a_changing_budget_does_as_the_naive_one(void** state)
{
    static const struct shape shape = {
        .name = "2048x1024, two pinned levels more",
        .device = {.page_size = 16384},
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {2048, 1024, 1},
        .layers = 1,
        .room = 200,
        .pinned_levels = 9,
        .slots = 128,
        .keep = 1,
    };
    (void)state;
    run(&shape, UPDATES, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(cache_of_one_layer_does_as_the_naive_one),
        rig_unit_test(cache_without_a_tail_does_as_the_naive_one),
        rig_unit_test(cache_of_a_volume_does_as_the_naive_one),
        rig_unit_test(cache_with_a_changing_budget_does_as_the_naive_one),
    };
    return cmocka_run_group_tests_name("tile_cache", tests, NULL, NULL);
}
