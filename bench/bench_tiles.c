/*
 * A flight over a texture, without a shader; see bench_tiles.h. The viewer sees 1920 x 1080 pixels:
 * the nearer half with one texel for each pixel, the farther half with two. One pixel of each 8 x 8
 * requests its tile. Uploads are recorded and count as executed at once, so that the cache is as
 * busy as its budget allows.
 */
#include "bench_tiles.h"

#include "bench_common.h"
#include "bench_device.h"

#include <stdlib.h>

enum {
    TEXTURE_SIZE = 16384,
    TILE_TEXELS = 128, /* RGBA8 texels of a page of 64 KiB */
    STEP = 8,
    COLUMNS = 1920 / STEP,
    ROWS = 1080 / STEP,
    REQUESTS = COLUMNS * ROWS,
    MOST_UPLOADS = 64,
    TEXELS_A_FRAME = 24
};

#define BUDGET ((VkDeviceSize)128 << 20)

struct flight {
    const struct bench_tiles* bench;
    MaarSparseImage image;
    MaarTileCache cache;
    VkCommandPool pool;
    VkCommandBuffer commands;
    uint32_t* requests;
    uint8_t* levels;
    uint32_t level_count;
    uint64_t generation; /* generation of the levels that were last read */
    uint32_t level_reads;
    double update_ns, levels_ns, binds_ns;
};

static void create_cache(struct flight* flight)
{
    VkImageCreateInfo texture = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {TEXTURE_SIZE, TEXTURE_SIZE, 1},
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
    for (uint32_t rest = TEXTURE_SIZE; rest != 0; rest /= 2) {
        ++texture.mipLevels;
    }
    const MaarSparseImageCreateInfo image = {
        .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
        .pImageInfo = &texture,
    };
    const MaarAllocator allocator = flight->bench->allocator;
    bench_expect(maarCreateSparseImage(allocator, &image, &flight->image), "maarCreateSparseImage");
    const MaarTileCacheCreateInfo cache = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = flight->image,
        .budget = BUDGET,
        .maxUploadsPerUpdate = MOST_UPLOADS,
    };
    bench_expect(maarCreateTileCache(allocator, &cache, &flight->cache), "maarCreateTileCache");
    bench_expect(maarGetTileCacheLevels(allocator, flight->cache, 0, &flight->level_count, NULL),
                 "maarGetTileCacheLevels");
    flight->levels = bench_allocate(flight->level_count, 1);
    flight->requests = bench_allocate(REQUESTS, sizeof(*flight->requests));
}

static void create_commands(struct flight* flight)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = flight->bench->family,
    };
    bench_expect(vkCreateCommandPool(flight->bench->device, &pool, NULL, &flight->pool),
                 "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = flight->pool,
        .commandBufferCount = 1,
    };
    bench_expect(vkAllocateCommandBuffers(flight->bench->device, &info, &flight->commands),
                 "vkAllocateCommandBuffers");
}

/* Requests the tiles that are visible from a position. */
static void ask(struct flight* flight, uint32_t x, uint32_t y)
{
    for (uint32_t row = 0; row < ROWS; ++row) {
        const uint32_t level = row < ROWS / 2 ? 1 : 0;
        for (uint32_t column = 0; column < COLUMNS; ++column) {
            const uint32_t texel_x = (x + column * STEP) % TEXTURE_SIZE >> level;
            const uint32_t texel_y = (y + row * STEP) % TEXTURE_SIZE >> level;
            flight->requests[row * COLUMNS + column] =
                MAAR_PACK_TILE_REQUEST(level, 0u, texel_x / TILE_TEXELS, texel_y / TILE_TEXELS);
        }
    }
}

static void record_uploads(struct flight* flight, uint32_t count, const MaarTileUpload* uploads,
                           uint64_t value)
{
    const MaarAllocator allocator = flight->bench->allocator;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const MaarPoint done = {VK_NULL_HANDLE, value};
    bench_expect(vkBeginCommandBuffer(flight->commands, &begin), "vkBeginCommandBuffer");
    bench_expect(maarRecordTileUploads(allocator, flight->cache, flight->commands, count, uploads),
                 "maarRecordTileUploads");
    bench_expect(vkEndCommandBuffer(flight->commands), "vkEndCommandBuffer");
    bench_expect(maarEndTileUploads(allocator, flight->cache, &done), "maarEndTileUploads");
    bench_expect(maarAdvanceHostTimeline(allocator, value), "maarAdvanceHostTimeline");
}

static void fly_on(struct flight* flight, uint32_t number)
{
    const MaarAllocator allocator = flight->bench->allocator;
    MaarTileUpload uploads[MOST_UPLOADS];
    uint32_t count = MOST_UPLOADS;
    MaarPoint bound;
    ask(flight, number * TEXELS_A_FRAME, number * TEXELS_A_FRAME / 2);
    const MaarTileCacheUpdate update = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
        .requestCount = REQUESTS,
        .pRequests = flight->requests,
    };
    const double start = bench_thread_ns();
    bench_expect(maarUpdateTileCache(allocator, flight->cache, &update, &count, uploads),
                 "maarUpdateTileCache");
    const double updated = bench_thread_ns();
    bench_expect(maarSubmitBinds(allocator, 0, NULL, &bound), "maarSubmitBinds");
    flight->update_ns += updated - start;
    flight->binds_ns += bench_thread_ns() - updated;
    record_uploads(flight, count, uploads, number + 1);

    MaarTileCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO};
    bench_expect(maarGetTileCacheInfo(allocator, flight->cache, &info), "maarGetTileCacheInfo");
    if (info.peakCommittedSize > BUDGET) {
        bench_die(BENCH_EXIT_FAILED, "the cache has exceeded its budget");
    }
    if (info.levelsGeneration != flight->generation) {
        const double read = bench_thread_ns();
        bench_expect(maarGetTileCacheLevels(allocator, flight->cache, 0, &flight->level_count,
                                            flight->levels),
                     "maarGetTileCacheLevels");
        flight->levels_ns += bench_thread_ns() - read;
        ++flight->level_reads;
        flight->generation = info.levelsGeneration;
    }
}

static void report(const struct flight* flight, struct bench_table* table)
{
    const double updates = flight->bench->updates;
    MaarTileCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO};
    struct bench_row row;
    bench_expect(maarGetTileCacheInfo(flight->bench->allocator, flight->cache, &info),
                 "maarGetTileCacheInfo");
    bench_expect(maarCheckAllocator(flight->bench->allocator, NULL), "maarCheckAllocator");
    const uint64_t wanted = info.hitCount + info.missCount;
    bench_row_begin(&row, "paging");
    bench_row_text(&row, ".device", flight->bench->device_name);
    bench_row_text(&row, "workload", "tiles");
    bench_row_name(&row, "peer", "maar");
    bench_row_count(&row, "requests", REQUESTS);
    bench_row_count(&row, "updates", flight->bench->updates);
    bench_row_number(&row, "update_us", flight->update_ns / updates / 1e3, 1);
    bench_row_number(&row, "levels_us", flight->levels_ns / flight->level_reads / 1e3, 1);
    bench_row_number(&row, "binds_us", flight->binds_ns / updates / 1e3, 1);
    bench_row_number(&row, "peak_mib", (double)info.peakCommittedSize / 1048576.0, 1);
    bench_row_count(&row, "uploads", info.uploadCount);
    bench_row_count(&row, "evictions", info.evictionCount);
    bench_row_number(&row, "hits", (double)info.hitCount / (double)wanted, 3);
    bench_row_text(&row, ".self_check", "passed");
    bench_row_end(&row, table);
}

void bench_tiles_run(const struct bench_tiles* bench, struct bench_table* table)
{
    struct flight flight = {.bench = bench};
    create_cache(&flight);
    create_commands(&flight);
    for (uint32_t i = 0; i < bench->updates; ++i) {
        fly_on(&flight, i);
    }
    report(&flight, table);
    maarDestroyTileCache(bench->allocator, flight.cache);
    maarDestroySparseImage(bench->allocator, flight.image);
    vkDestroyCommandPool(bench->device, flight.pool, NULL);
    free(flight.requests);
    free(flight.levels);
}
