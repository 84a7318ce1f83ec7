/*
 * A tile cache on a simulated device, driven by bytes: requests that make sense and rubbish,
 * budgets that change, uploads that are recorded, given up, forgotten and executed late. As long as
 * nothing was set to fail, the naive cache does the same; after a failure only what always holds
 * is looked at.
 */
#include "tests/fuzz/fuzz_device.h"
#include "tests/tiles/cache_model.h"
#include "tests/tiles/tile_images.h"

enum { CACHED_UPLOADS = 16, CACHED_WAITING = 96, CACHED_REQUESTS = 24, CACHED_MOST_TILES = 200 };

/* An upload on its way; executed when the host timeline has the value, 0: not recorded. */
struct cached_upload {
    MaarTileUpload upload;
    uint32_t tile;
    uint64_t value;
};

struct tiles_world {
    struct fuzz_device device;
    MaarSimulatedProfile profile;
    MaarSparseImage image;
    MaarTileCache cache;
    struct cache_model model;
    bool compared; /* with the naive one */
    VkCommandPool pool;
    VkDeviceSize page;
    VkDeviceSize pinned;
    uint64_t host;
    uint32_t unsubmitted; /* updates since the binds were submitted */
    uint64_t shortages;
    uint32_t waiting_count;
    struct cached_upload waiting[CACHED_WAITING];
};

static MaarAllocator cache_allocator(const struct tiles_world* world)
{
    return world->device.rig.allocator;
}

/* ---- set up ---- */

static void start_model(struct tiles_world* world, const MaarTileCacheCreateInfo* made,
                        VkExtent3D extent, uint32_t room)
{
    const MaarSparseImageInfo image = tile_image(&world->device.rig, world->image);
    const MaarTileCacheInfo info = tile_cache(&world->device.rig, world->cache);
    struct cache_model* m = &world->model;
    m->extent[0][0] = extent.width;
    m->extent[0][1] = extent.height;
    m->extent[0][2] = extent.depth;
    m->tile[0] = image.tileExtent.width;
    m->tile[1] = image.tileExtent.height;
    m->tile[2] = image.tileExtent.depth;
    m->levels = image.mipLevels;
    m->layers = image.arrayLayers;
    m->pinned = info.firstPinnedLevel;
    m->deep = extent.depth > 1;
    m->keep = made->keepUpdates;
    m->room = room;
    m->slots = info.slotCount;
    cache_model_start(m);
    fuzz_require(m->count <= CACHED_MOST_TILES * 2);
}

/* The message about a budget of one byte says what is always there. */
static VkDeviceSize read_pinned(struct tiles_world* world, MaarTileCacheCreateInfo* info)
{
    info->budget = 1;
    fuzz_require(maarCreateTileCache(cache_allocator(world), info, &world->cache) ==
                 VK_ERROR_OUT_OF_POOL_MEMORY);
    fuzz_require(world->cache == VK_NULL_HANDLE);
    fuzz_require(world->device.rig.messages.last_id == MAAR_MESSAGE_ID_TILE_BUDGET_TOO_SMALL);
    return rig_message_number(&world->device.rig, 1);
}

static void make_cache(struct tiles_world* world)
{
    struct fuzz_device* device = &world->device;
    const uint8_t way = fuzz_byte(&device->input);
    const bool deep = (way & 3) == 3;
    const VkExtent3D extent = {1 + fuzz_device_pick(device, deep ? 64 : 640),
                               1 + fuzz_device_pick(device, deep ? 64 : 500),
                               deep ? 2 + fuzz_device_pick(device, 40) : 1};
    world->image = tile_create_image(&device->rig, VK_FORMAT_R8G8B8A8_UNORM, extent,
                                     deep ? 1 : 1 + (way >> 2) % 2);
    MaarTileCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = world->image,
        .keepUpdates = (way >> 3) % 3,
        .pinnedLevelCount = (way >> 5) % 4,
    };
    const uint32_t room = 1 + fuzz_device_pick(device, 24);
    world->page = tile_image(&device->rig, world->image).pageSize;
    world->pinned = read_pinned(world, &info);
    info.budget = world->pinned + room * world->page;
    info.stagingSize = (1 + fuzz_device_pick(device, 30)) * world->page;
    fuzz_require(maarCreateTileCache(cache_allocator(world), &info, &world->cache) == VK_SUCCESS);
    start_model(world, &info, extent, room);
}

static void set_up(struct tiles_world* world)
{
    struct fuzz_device* device = &world->device;
    MaarSimulatedProfile* profile = &world->profile;
    const uint8_t way = fuzz_byte(&device->input);
    const struct rig_setup setup = {.profile = profile, .paging = true};
    *profile = *rig_profile_discrete();
    profile->sparse.sparseBinding = VK_TRUE;
    profile->sparse.residencyBuffer = VK_TRUE;
    profile->sparse.residencyImage2D = VK_TRUE;
    profile->sparse.residencyImage3D = VK_TRUE;
    profile->limits.sparseAddressSpaceSize = (VkDeviceSize)1 << 40;
    profile->requirements.sparseAlignment = (way & 1) != 0 ? 16384 : 65536;
    profile->requirements.sparseImageAlignment = profile->requirements.sparseAlignment;
    profile->requirements.mipTail = (MaarSimulatedMipTail)((way >> 1) % 3);
    profile->requirements.metadataSize = (way & 0x10) != 0 ? 131072 : 0;
    fuzz_device_open(device, &setup, MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
    make_cache(world);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = device->rig.recommendation.mainQueueFamily,
    };
    fuzz_require(vkCreateCommandPool(device->rig.device, &pool, NULL, &world->pool) == VK_SUCCESS);
    world->compared = true;
}

/* ---- updates ---- */

static uint32_t draw_request(struct tiles_world* world)
{
    struct fuzz_device* device = &world->device;
    const uint8_t way = fuzz_byte(&device->input);
    if (way >= 250) {
        return (uint32_t)fuzz_below(&device->input, UINT32_MAX);
    }
    if (way >= 245) {
        return MAAR_TILE_REQUEST_NONE;
    }
    const struct cache_model* m = &world->model;
    const struct model_tile* tile = &m->all[fuzz_device_pick(device, m->count)];
    const uint32_t third = m->deep ? tile->at[2] : tile->layer;
    return MAAR_PACK_TILE_REQUEST(tile->level, third, tile->at[0], tile->at[1]);
}

static void complete_uploads(struct tiles_world* world)
{
    for (uint32_t i = 0; i < world->waiting_count;) {
        if (world->waiting[i].value != 0 && world->waiting[i].value <= world->host) {
            cache_model_complete(&world->model, world->waiting[i].tile);
            world->waiting[i] = world->waiting[--world->waiting_count];
        } else {
            ++i;
        }
    }
}

/* What the naive one starts, in the same order. */
static void require_same_start(struct tiles_world* world, const MaarTileCacheUpdate* update,
                               uint32_t most, uint32_t count, const MaarTileUpload* uploads,
                               uint32_t* started)
{
    const uint32_t wanted =
        cache_model_update(&world->model, update->requestCount, update->pRequests, most, started);
    if (wanted != count) {
        (void)fprintf(stderr, "not so: %u uploads start, %u in the naive cache\n", count, wanted);
        abort();
    }
    for (uint32_t i = 0; i < count; ++i) {
        const struct model_tile* tile = &world->model.all[started[i]];
        fuzz_require(uploads[i].mipLevel == tile->level && uploads[i].arrayLayer == tile->layer);
        fuzz_require((uint32_t)uploads[i].offset.x == tile->at[0] * world->model.tile[0]);
        fuzz_require((uint32_t)uploads[i].offset.y == tile->at[1] * world->model.tile[1]);
        fuzz_require((uint32_t)uploads[i].offset.z == tile->at[2] * world->model.tile[2]);
    }
}

static void update_cache(struct tiles_world* world)
{
    MaarTileUpload uploads[CACHED_UPLOADS];
    uint32_t requests[CACHED_REQUESTS];
    uint32_t started[CACHED_UPLOADS] = {0};
    struct fuzz_device* device = &world->device;
    uint32_t count = CACHED_UPLOADS;
    const uint8_t way = fuzz_byte(&device->input);
    if ((way & 7) == 7) {
        world->model.room = 1 + fuzz_device_pick(device, 24);
    }
    const MaarTileCacheUpdate update = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
        .requestCount = fuzz_device_pick(device, CACHED_REQUESTS + 1),
        .pRequests = requests,
        .budget = world->pinned + world->model.room * world->page,
        .maxUploads = 1 + (way >> 3) % CACHED_UPLOADS,
    };
    for (uint32_t i = 0; i < update.requestCount; ++i) {
        requests[i] = draw_request(world);
    }
    complete_uploads(world);
    if (world->waiting_count + CACHED_UPLOADS > CACHED_WAITING) {
        count = CACHED_WAITING - world->waiting_count;
    }
    const uint32_t most = count < update.maxUploads ? count : update.maxUploads;
    const VkResult result =
        maarUpdateTileCache(cache_allocator(world), world->cache, &update, &count, uploads);
    if (fuzz_device_allow(device, result) != VK_SUCCESS) {
        world->compared = false;
        return;
    }
    fuzz_require(count <= most);
    /* A page that went in an update whose binds were not submitted is not to be had again yet; the
     * naive one knows nothing of that. */
    const uint64_t shortages = tile_cache(&device->rig, world->cache).shortageCount;
    fuzz_require(shortages == world->shortages || world->unsubmitted != 0 || device->may_fail);
    world->compared = world->compared && shortages == world->shortages;
    world->shortages = shortages;
    ++world->unsubmitted;
    if (world->compared) {
        require_same_start(world, &update, most, count, uploads, started);
    }
    for (uint32_t i = 0; i < count; ++i) {
        memset(uploads[i].pData, (int)i, (size_t)uploads[i].size);
        world->waiting[world->waiting_count++] =
            (struct cached_upload){.upload = uploads[i], .tile = started[i]};
    }
}

/* ---- uploads ---- */

static void cancel_one(struct tiles_world* world)
{
    for (uint32_t i = 0; i < world->waiting_count; ++i) {
        struct cached_upload* w = &world->waiting[i];
        if (w->value == 0) {
            fuzz_require(maarCancelTileUploads(cache_allocator(world), world->cache, 1,
                                               &w->upload) == VK_SUCCESS);
            cache_model_cancel(&world->model, w->tile);
            *w = world->waiting[--world->waiting_count];
            return;
        }
    }
}

static void submit_commands(struct tiles_world* world, VkCommandBuffer commands,
                            const MaarPoint* binds)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = binds->semaphore != VK_NULL_HANDLE ? 1 : 0,
        .pWaitSemaphoreValues = &binds->value,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = values.waitSemaphoreValueCount,
        .pWaitSemaphores = &binds->semaphore,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    fuzz_require(vkQueueSubmit(world->device.rig.queue, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS);
}

/* Binds, then copies of some of what waits; the command buffer may be thrown away. */
static void record_uploads(struct tiles_world* world)
{
    MaarTileUpload ready[CACHED_WAITING];
    struct fuzz_device* device = &world->device;
    const uint8_t way = fuzz_byte(&device->input);
    const uint32_t first = fuzz_device_pick(device, world->waiting_count + 1);
    const uint64_t value = world->host + 1 + (way >> 4) % 3;
    MaarPoint binds = {.value = 0};
    uint32_t count = 0;
    VkCommandBuffer commands = NULL;
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = world->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (fuzz_device_allow(device, maarSubmitBinds(cache_allocator(world), 0, NULL, &binds)) !=
        VK_SUCCESS) {
        world->compared = false;
        return;
    }
    world->unsubmitted = 0;
    fuzz_device_forget(device);
    for (uint32_t i = first; i < world->waiting_count; ++i) {
        if (world->waiting[i].value == 0) {
            ready[count++] = world->waiting[i].upload;
        }
    }
    fuzz_require(vkAllocateCommandBuffers(device->rig.device, &allocate, &commands) == VK_SUCCESS);
    fuzz_require(vkBeginCommandBuffer(commands, &begin) == VK_SUCCESS);
    fuzz_require(maarRecordTileUploads(cache_allocator(world), world->cache, commands, count,
                                       ready) == VK_SUCCESS);
    fuzz_require(vkEndCommandBuffer(commands) == VK_SUCCESS);
    const MaarPoint point = {.value = value};
    const bool abandon = (way & 15) == 15;
    if (!abandon) {
        submit_commands(world, commands, &binds);
        for (uint32_t i = first; i < world->waiting_count; ++i) {
            struct cached_upload* w = &world->waiting[i];
            w->value = w->value == 0 ? value : w->value;
        }
    }
    fuzz_require(maarEndTileUploads(cache_allocator(world), world->cache,
                                    abandon ? NULL : &point) == VK_SUCCESS);
    vkFreeCommandBuffers(device->rig.device, world->pool, 1, &commands);
}

/* ---- comparing ---- */

static void require_same(struct tiles_world* world)
{
    uint32_t visible[MODEL_LEVELS] = {0};
    uint8_t levels[MODEL_TILES];
    const struct cache_model* m = &world->model;
    const MaarTileCacheInfo info = tile_cache(&world->device.rig, world->cache);
    fuzz_require(info.committedSize == tile_image(&world->device.rig, world->image).committedSize);
    for (uint32_t layer = 0; layer < m->layers; ++layer) {
        uint32_t count = MODEL_TILES;
        fuzz_require(maarGetTileCacheLevels(cache_allocator(world), world->cache, layer, &count,
                                            levels) == VK_SUCCESS);
        for (uint32_t i = 0, at = 0; i < m->count && world->compared; ++i) {
            if (m->all[i].layer == layer && m->all[i].level == 0) {
                fuzz_require(levels[at++] == cache_model_level_at(m, i));
            }
        }
    }
    if (!world->compared) {
        return;
    }
    for (uint32_t i = 0; i < m->count; ++i) {
        visible[m->all[i].level] += m->all[i].visible;
    }
    fuzz_require(info.hitCount == m->hits && info.missCount == m->misses);
    fuzz_require(info.evictionCount == m->evictions && info.rejectedCount == m->rejected);
    fuzz_require(info.usedSlotCount == m->used);
    fuzz_require(memcmp(info.visibleTileCounts, visible, sizeof visible) == 0);
}

static void step(struct tiles_world* world)
{
    const uint8_t action = fuzz_byte(&world->device.input);
    if (action < 110) {
        update_cache(world);
        require_same(world);
    } else if (action < 180) {
        record_uploads(world);
    } else if (action < 215) {
        world->host += 1 + action % 3;
        fuzz_require(maarAdvanceHostTimeline(cache_allocator(world), world->host) == VK_SUCCESS);
    } else if (action < 235) {
        cancel_one(world);
    } else if (action >= 250) {
        /* A loss would end the cache's work: the rest of the input would prove nothing. */
        const uint64_t before = fuzz_below(&world->device.input, 16);
        fuzz_device_forget(&world->device);
        fuzz_host_plan(&world->device.host, before, 1);
        rig_set_fault(&world->device.rig, NULL, 1 + before % 5, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        world->device.may_fail = true;
        world->compared = false;
    }
    fuzz_device_sound(&world->device);
}

static void take_down(struct tiles_world* world)
{
    struct rig* rig = &world->device.rig;
    fuzz_device_forget(&world->device);
    maarDestroyTileCache(rig->allocator, world->cache);
    fuzz_require(maarAdvanceHostTimeline(rig->allocator, UINT64_MAX) == VK_SUCCESS);
    maarDestroySparseImage(rig->allocator, world->image);
    vkDestroyCommandPool(rig->device, world->pool, NULL);
    fuzz_device_close(&world->device);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct tiles_world world;
    /* The naive one's list of tiles is large, and written before it is read. */
    const size_t list = offsetof(struct tiles_world, model.all);
    const size_t behind = offsetof(struct tiles_world, model.hits);
    memset(&world, 0, list);
    memset((unsigned char*)&world + behind, 0, sizeof world - behind);
    world.device.input = (struct fuzz_input){data, size};
    set_up(&world);
    while (!fuzz_is_dry(&world.device.input)) {
        step(&world);
    }
    take_down(&world);
    return 0;
}
