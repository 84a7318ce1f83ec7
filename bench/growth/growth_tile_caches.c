/*
 * Tile caches: beside others, and with many tiles, requests and uploads.
 */
#include "growth_cases.h"
#include "growth_reservation.h"
#include "growth_steps.h"

#include <stdlib.h>

/* Texels of a tile of RGBA8 on a side, tiles of a row, and the bytes of a tile. */
enum { ROW = 64, TILE_BYTES = 65536 };

/* A cache of an image of 64 x n tiles in two layers, with room for the first. */
struct tiles {
    MaarSparseImage image;
    MaarTileCache cache;
    uint32_t* requests;
    uint32_t request_count;
    MaarTileUpload* uploads;
    uint32_t upload_count;
    uint8_t* levels;
    VkCommandPool pool;
    VkCommandBuffer commands;
};

static void submit(struct growth* growth)
{
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
}

/* ---- creation ---- */

static MaarTileCache create_cache(struct growth* growth, MaarSparseImage image, uint32_t tiles,
                                  uint32_t uploads)
{
    const MaarTileCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = image,
        .budget = (VkDeviceSize)TILE_BYTES * tiles,
        .maxUploadsPerUpdate = uploads,
        .stagingSize = (VkDeviceSize)TILE_BYTES * uploads,
    };
    MaarTileCache cache = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateTileCache(growth->allocator, &info, &cache));
    return cache;
}

static void create_commands(struct growth* growth, struct tiles* tiles)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
    };
    GROWTH_EXPECT(vkCreateCommandPool(growth->device, &pool, NULL, &tiles->pool));
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = tiles->pool,
        .commandBufferCount = 1,
    };
    GROWTH_EXPECT(vkAllocateCommandBuffers(growth->device, &info, &tiles->commands));
}

/* ---- steps of a frame ---- */

/* Asks for the first `count` tiles of level 0. */
static void update(struct growth* growth, uint32_t count)
{
    struct tiles* tiles = growth->state;
    const MaarTileCacheUpdate info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
        .requestCount = count,
        .pRequests = tiles->requests,
    };
    tiles->upload_count = tiles->request_count;
    GROWTH_EXPECT(maarUpdateTileCache(growth->allocator, tiles->cache, &info, &tiles->upload_count,
                                      tiles->uploads));
}

/* Changes the budget, and wants nothing. */
static void set_budget(struct growth* growth, VkDeviceSize budget)
{
    struct tiles* tiles = growth->state;
    const MaarTileCacheUpdate info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE, .budget = budget, .maxUploads = 1};
    uint32_t count = 0;
    GROWTH_EXPECT(
        maarUpdateTileCache(growth->allocator, tiles->cache, &info, &count, tiles->uploads));
}

static void record(struct growth* growth)
{
    struct tiles* tiles = growth->state;
    GROWTH_EXPECT(maarRecordTileUploads(growth->allocator, tiles->cache, tiles->commands,
                                        tiles->upload_count, tiles->uploads));
}

static void begin(struct growth* growth)
{
    const struct tiles* tiles = growth->state;
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    submit(growth);
    GROWTH_EXPECT(vkBeginCommandBuffer(tiles->commands, &info));
}

static void end(struct growth* growth)
{
    const struct tiles* tiles = growth->state;
    const MaarPoint done = {.value = ++growth->serial};
    GROWTH_EXPECT(vkEndCommandBuffer(tiles->commands));
    GROWTH_EXPECT(maarEndTileUploads(growth->allocator, tiles->cache, &done));
}

static void finish(struct growth* growth)
{
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, growth->serial));
}

static void frame(struct growth* growth, uint32_t count)
{
    update(growth, count);
    begin(growth);
    record(growth);
    end(growth);
    finish(growth);
}

/* ---- worlds ---- */

static void open_empty(struct growth* growth)
{
    struct tiles* tiles = growth_create_state(growth, 1, sizeof *tiles);
    const uint32_t count = ROW * growth->n;
    tiles->image = growth_create_sparse_image(growth, ROW, growth->n, 2);
    tiles->cache = create_cache(growth, tiles->image, 2 * count, 2 * count);
    tiles->request_count = 2 * count;
    growth->spare = tiles->uploads =
        bench_allocate(tiles->request_count, sizeof *tiles->uploads + sizeof *tiles->requests + 1);
    tiles->requests = (uint32_t*)(void*)(tiles->uploads + tiles->request_count);
    tiles->levels = (uint8_t*)(tiles->requests + tiles->request_count);
    for (uint32_t i = 0; i < count; ++i) {
        tiles->requests[i] = MAAR_PACK_TILE_REQUEST(0u, 0u, i % ROW, i / ROW);
    }
    create_commands(growth, tiles);
    frame(growth, 0);
    frame(growth, 0);
}

static void open_full(struct growth* growth)
{
    const uint32_t count = ROW * growth->n;
    open_empty(growth);
    for (uint32_t i = 0; i < 16; ++i) {
        frame(growth, count);
    }
}

/* A cache with a frame's uploads in flight. */
static void open_started(struct growth* growth)
{
    open_empty(growth);
    update(growth, ROW * growth->n);
    begin(growth);
}

static void close_tiles(struct growth* growth)
{
    const struct tiles* tiles = growth->state;
    submit(growth);
    maarDestroyTileCache(growth->allocator, tiles->cache);
    maarDestroySparseImage(growth->allocator, tiles->image);
    vkDestroyCommandPool(growth->device, tiles->pool, NULL);
}

/* A cache with room for half of the tiles, and with half of them. */
static void open_crowded(struct growth* growth)
{
    struct tiles* tiles = NULL;
    open_empty(growth);
    tiles = growth->state;
    set_budget(growth, (VkDeviceSize)TILE_BYTES * ROW * growth->n);
    for (uint32_t i = 0; i < 16; ++i) {
        frame(growth, ROW * growth->n / 2);
    }
    growth_shuffle(growth, tiles->requests, ROW * growth->n / 2);
}

/* ---- operations ---- */

static void do_update_few(struct growth* growth, uint32_t index)
{
    (void)index;
    update(growth, 16);
}

static void do_update_all(struct growth* growth, uint32_t index)
{
    (void)index;
    update(growth, ROW * growth->n);
}

/* Wants 16 tiles that other tiles must give way to. */
static void do_update_crowded(struct growth* growth, uint32_t index)
{
    struct tiles* tiles = growth->state;
    uint32_t* const first = tiles->requests;
    (void)index;
    tiles->requests += bench_random(&growth->random) % (ROW * growth->n - 16);
    frame(growth, 16);
    tiles->requests = first;
}

/* The cache keeps the levels of the layer that was read last. */
static void do_get_levels(struct growth* growth, uint32_t index)
{
    const struct tiles* tiles = growth->state;
    (void)index;
    for (uint32_t layer = 0; layer < 2; ++layer) {
        uint32_t count = ROW * growth->n;
        GROWTH_EXPECT(
            maarGetTileCacheLevels(growth->allocator, tiles->cache, layer, &count, tiles->levels));
    }
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    const struct tiles* tiles = growth->state;
    MaarTileCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetTileCacheInfo(growth->allocator, tiles->cache, &info));
}

/* ---- uploads of all tiles ---- */

static void do_record(struct growth* growth, uint32_t index)
{
    (void)index;
    record(growth);
}

/* The command buffer will not be submitted, so the next run records it again. */
static void do_end(struct growth* growth, uint32_t index)
{
    const struct tiles* tiles = growth->state;
    (void)index;
    GROWTH_EXPECT(maarEndTileUploads(growth->allocator, tiles->cache, NULL));
}

static void begin_again(struct growth* growth)
{
    const struct tiles* tiles = growth->state;
    do_end(growth, 0);
    GROWTH_EXPECT(vkEndCommandBuffer(tiles->commands));
    begin(growth);
}

static void record_again(struct growth* growth)
{
    begin_again(growth);
    record(growth);
}

static void update_all(struct growth* growth)
{
    update(growth, ROW * growth->n);
    submit(growth);
}

static void do_cancel(struct growth* growth, uint32_t index)
{
    const struct tiles* tiles = growth->state;
    (void)index;
    GROWTH_EXPECT(maarCancelTileUploads(growth->allocator, tiles->cache, tiles->upload_count,
                                        tiles->uploads));
}

static void upload_all(struct growth* growth)
{
    update(growth, ROW * growth->n);
    begin(growth);
    record(growth);
    end(growth);
    finish(growth);
}

static void do_complete(struct growth* growth, uint32_t index)
{
    (void)index;
    update(growth, 0);
}

/* Evicts what is not pinned, and leaves room for all tiles again. */
static void evict_all(struct growth* growth)
{
    const struct tiles* tiles = growth->state;
    MaarTileCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO};
    GROWTH_EXPECT(maarGetTileCacheInfo(growth->allocator, tiles->cache, &info));
    set_budget(growth, info.pinnedSize);
    submit(growth);
    set_budget(growth, info.budget);
    submit(growth);
}

static void create_large_image(struct growth* growth)
{
    struct tiles* tiles = growth->state;
    tiles->image = growth_create_sparse_image(growth, ROW, growth->n, 2);
}

static void do_create_large(struct growth* growth, uint32_t index)
{
    struct tiles* tiles = growth->state;
    (void)index;
    tiles->cache = create_cache(growth, tiles->image, 2 * ROW * growth->n, 4);
}

static void create_large(struct growth* growth)
{
    create_large_image(growth);
    do_create_large(growth, 0);
}

static void do_destroy_large(struct growth* growth, uint32_t index)
{
    const struct tiles* tiles = growth->state;
    (void)index;
    maarDestroyTileCache(growth->allocator, tiles->cache);
}

static void destroy_large_image(struct growth* growth)
{
    const struct tiles* tiles = growth->state;
    submit(growth);
    maarDestroySparseImage(growth->allocator, tiles->image);
}

static void destroy_large(struct growth* growth)
{
    do_destroy_large(growth, 0);
    destroy_large_image(growth);
}

static void open_large(struct growth* growth)
{
    (void)growth_create_state(growth, 1, sizeof(struct tiles));
}

/* ---- beside other caches ---- */

struct caches {
    MaarSparseImage* images;
    MaarTileCache* caches;
};

static void create_small(struct growth* growth, uint32_t at)
{
    struct caches* all = growth->state;
    all->images[at] = growth_create_sparse_image(growth, 4, 4, 1);
    all->caches[at] = create_cache(growth, all->images[at], 32, 4);
}

static void destroy_small(struct growth* growth, uint32_t at)
{
    const struct caches* all = growth->state;
    maarDestroyTileCache(growth->allocator, all->caches[at]);
    maarDestroySparseImage(growth->allocator, all->images[at]);
}

static void open_caches(struct growth* growth)
{
    struct caches* all = growth_create_state(growth, 1, sizeof *all);
    const uint32_t count = growth->n + growth->count;
    growth->spare = bench_allocate(2 * (size_t)count, sizeof(MaarTileCache));
    all->caches = growth->spare;
    all->images = (MaarSparseImage*)(void*)(all->caches + count);
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_small(growth, i);
    }
    submit(growth);
}

static void close_caches(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        destroy_small(growth, i);
    }
}

static void do_create(struct growth* growth, uint32_t index)
{
    (void)index;
    create_small(growth, growth->n);
    destroy_small(growth, growth->n);
}

static void do_get_small_info(struct growth* growth, uint32_t index)
{
    const struct caches* all = growth->state;
    MaarTileCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetTileCacheInfo(growth->allocator, all->caches[growth_pick(growth)], &info));
}

#define TILES(case_name, function, how, most, text, world, before, does, after, ends)              \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = 8,          \
        .count = most, .open = open_##world, .prepare = before, .operation = does, .tidy = after,  \
        .close = ends                                                                              \
    }

const struct growth_case growth_tile_cache_cases[] = {
    TILES("update-tiles", "maarUpdateTileCache", GROWTH_BESIDE, 64,
          "rows of 64 tiles in memory; 16 requests", full, NULL, do_update_few, NULL, close_tiles),
    TILES("update-tiles-requests", "maarUpdateTileCache", GROWTH_OVER, 0,
          "rows of 64 tiles, each requested and in memory", full, NULL, do_update_all, NULL,
          close_tiles),
    TILES("tile-cache-levels", "maarGetTileCacheLevels", GROWTH_OVER, 0,
          "rows of 64 tiles in memory", full, NULL, do_get_levels, NULL, close_tiles),
    TILES("tile-cache-info-tiles", "maarGetTileCacheInfo", GROWTH_BESIDE, 64,
          "rows of 64 tiles in memory", full, NULL, do_get_info, NULL, close_tiles),
    TILES("record-uploads", "maarRecordTileUploads", GROWTH_OVER, 0, "rows of 64 tiles to upload",
          started, NULL, do_record, begin_again, close_tiles),
    TILES("update-crowded",
          "maarUpdateTileCache maarRecordTileUploads maarEndTileUploads maarSubmitBinds",
          GROWTH_BESIDE, 64, "rows of 64 tiles, half of them in memory; 16 others are requested",
          crowded, NULL, do_update_crowded, NULL, close_tiles),
    TILES("end-uploads", "maarEndTileUploads", GROWTH_OVER, 0, "rows of 64 recorded uploads",
          started, record_again, do_end, NULL, close_tiles),
    TILES("cancel-uploads", "maarCancelTileUploads", GROWTH_OVER, 0, "rows of 64 uploads", empty,
          update_all, do_cancel, NULL, close_tiles),
    TILES("update-completes", "maarUpdateTileCache", GROWTH_OVER, 0,
          "rows of 64 uploads that have been executed", empty, upload_all, do_complete, evict_all,
          close_tiles),
    TILES("create-tile-cache-tiles", "maarCreateTileCache", GROWTH_OVER, 0,
          "rows of 64 tiles of the image", large, create_large_image, do_create_large,
          destroy_large, NULL),
    TILES("destroy-tile-cache-tiles", "maarDestroyTileCache", GROWTH_OVER, 0,
          "rows of 64 tiles of the image", large, create_large, do_destroy_large,
          destroy_large_image, NULL),
    {
        .name = "create-tile-cache",
        .functions = "maarCreateTileCache maarDestroyTileCache",
        .dimension = "other caches",
        .n = 250,
        .count = 64,
        .open = open_caches,
        .operation = do_create,
        .close = close_caches,
    },
    {
        .name = "tile-cache-info",
        .functions = "maarGetTileCacheInfo",
        .dimension = "other caches",
        .n = 250,
        .open = open_caches,
        .operation = do_get_small_info,
        .close = close_caches,
    },
    {.name = NULL},
};
