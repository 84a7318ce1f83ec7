/*
 * Creates and destroys tile caches. The staging buffer exists longer than its cache: until the last
 * upload that reads it has been executed.
 */
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/mapping.h"
#include "core/tile_cache/tile_cache_uploads.h"

#include <string.h>

#include "core/host_stack.h"
#include "core/memory/range_free.h"
#include "core/objects/buffer.h"
#include "core/objects/object.h"

/* The default number of uploads that an update starts: 4 MiB of tiles of 64 KiB. A bus of 16 GB/s
 * transfers this in a sixtieth of a frame. */
enum { DEFAULT_UPLOADS = 64 };

/* The default number of updates whose uploads fit into the staging memory: one that is filled, one
 * that is copied, and one that waits until its end is seen. */
enum { STAGED_UPDATES = 3 };

/* ---- checks ---- */

static VkResult check_usable_image(MaarAllocator allocator, const char* call,
                                   MaarSparseImage handle, struct maar_sparse_image** found)
{
    VkResult result = maar_check_sparse_image(allocator, call, "pCreateInfo->image", handle, found);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_sparse_image* image = *found;
    const struct maar_rule rules[] = {
        {image->in_cache, MAAR_MESSAGE_ID_TILE_CACHE_OWNS_IMAGE,
         "pCreateInfo->image has a tile cache already"},
        {(image->usage & VK_IMAGE_USAGE_TRANSFER_DST_BIT) == 0,
         MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE, "pCreateInfo->image lacks TRANSFER_DST usage"},
        {maar_sparse_committed(image) != maar_sparse_metadata_size(image),
         MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE, "pCreateInfo->image has committed tiles"},
        {0},
    };
    result = maar_check_rules(allocator, call, rules);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_texel_block block = maar_texel_block_of(image->format);
    const struct maar_tile_grid* grid = maar_sparse_grid(image);
    if (image->aspect_count != 1 || block.size == 0 || grid->tile[0] % block.width != 0 ||
        grid->tile[1] % block.height != 0) {
        return maar_fail(
            allocator, VK_ERROR_FORMAT_NOT_SUPPORTED, MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE, call,
            "images of format %d cannot be streamed: the format has other aspects than "
            "colour, or is not known",
            (int)image->format);
    }
    const struct maar_tile_level* first = &grid->levels[0];
    const bool deep = image->type == VK_IMAGE_TYPE_3D;
    if (image->mip_levels > MAAR_TILE_CACHE_MAX_LEVELS ||
        first->tiles[0] > MAAR_TILE_REQUEST_MAX_TILES ||
        first->tiles[1] > MAAR_TILE_REQUEST_MAX_TILES ||
        (deep ? first->tiles[2] : image->layers) > MAAR_TILE_REQUEST_MAX_LAYERS) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT,
                         MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE, call,
                         "the image has more tiles, layers or levels than requests can name");
    }
    return VK_SUCCESS;
}

/* ---- making ---- */

static void note_sizes(struct maar_tile_cache* cache, const MaarTileCacheCreateInfo* info)
{
    const uint32_t* tile = cache->grid.tile;
    cache->row_pitch = (VkDeviceSize)(tile[0] / cache->block.width) * cache->block.size;
    cache->slice_pitch = cache->row_pitch * (tile[1] / cache->block.height);
    struct maar_upload_slots* staging = &cache->staging;
    staging->size = cache->slice_pitch * tile[2];
    /* The unit is whole texel blocks and whole words. */
    staging->stride =
        maar_upload_stride(cache->allocator, staging->size,
                           maar_common_multiple(cache->block.size, 64, MAAR_RANGE_MAX_SIZE));
    cache->max_uploads =
        info->maxUploadsPerUpdate != 0 ? info->maxUploadsPerUpdate : (uint32_t)DEFAULT_UPLOADS;
    const uint64_t wanted = info->stagingSize != 0 ? info->stagingSize / staging->stride
                                                   : (uint64_t)STAGED_UPDATES * cache->max_uploads;
    /* The number of slots is at most the number of tiles, and at least one. */
    const uint64_t most = (uint64_t)cache->grid.total * cache->layers;
    staging->count = (uint32_t)(wanted < most ? wanted : most);
    staging->count = staging->count == 0 ? 1 : staging->count;
}

static void note_pinned(struct maar_tile_cache* cache, const MaarTileCacheCreateInfo* info)
{
    const struct maar_sparse_aspect* aspect = &cache->image->aspects[0];
    const uint32_t levels = cache->image->mip_levels;
    const uint32_t least = info->pinnedLevelCount > 0 ? info->pinnedLevelCount : 1;
    uint32_t first = least < levels ? levels - least : 0;
    first = aspect->grid.level_count < first ? aspect->grid.level_count : first;
    cache->first_pinned = first;
    uint64_t tiles = 0;
    for (uint32_t level = first; level < aspect->grid.level_count; ++level) {
        tiles += (uint64_t)aspect->grid.levels[level].count * cache->layers;
    }
    const VkDeviceSize page = cache->image->page_size;
    cache->pinned_size = maar_sparse_committed(cache->image) + tiles * page +
                         aspect->tail_count * maar_align_up(aspect->tail_size, page);
}

/* Commits the pinned levels and the tails. */
static VkResult commit_pinned(struct maar_tile_cache* cache, const char* call)
{
    MaarAllocator allocator = cache->allocator;
    struct maar_sparse_image* image = cache->image;
    const uint32_t end = image->aspects[0].grid.level_count;
    const uint32_t levels = end > cache->first_pinned ? end - cache->first_pinned : 0;
    struct maar_host_stack scratch = {.callbacks = allocator->callbacks};
    struct maar_page_range* ranges =
        maar_stack_grab(&scratch, (size_t)levels * cache->layers, sizeof *ranges);
    VkResult result = ranges == NULL ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
    uint32_t count = 0;
    for (uint32_t i = 0; result == VK_SUCCESS && i < levels * cache->layers; ++i) {
        struct maar_page_table* table = NULL;
        result = maar_sparse_bring_table(allocator, call, image, 0,
                                         cache->first_pinned + i % levels, i / levels, &table);
        if (result == VK_SUCCESS) {
            ranges[count++] =
                (struct maar_page_range){.table = table, .count = maar_page_table_count(table)};
        }
    }
    if (result == VK_SUCCESS && count > 0) {
        result = maar_pages_commit(allocator, call, count, ranges);
    }
    if (result == VK_SUCCESS) {
        result = maar_sparse_commit_tails(allocator, call, image, 0, image->layers);
        if (result != VK_SUCCESS) {
            maar_pages_decommit(allocator, count, ranges);
        }
    }
    maar_stack_reset(&scratch);
    return result;
}

static void start_tiles(struct maar_tile_cache* cache)
{
    for (uint32_t level = 0; level < MAAR_TILE_CACHE_MAX_LEVELS; ++level) {
        cache->lists[level] = (struct maar_tile_list){MAAR_TILE_NONE, MAAR_TILE_NONE};
    }
    for (uint32_t layer = 0; layer < cache->layers; ++layer) {
        for (uint32_t level = 0; level < cache->grid.mip_levels; ++level) {
            const uint32_t count = cache->grid.levels[level].count;
            for (uint32_t i = 0; i < count; ++i) {
                struct maar_cache_tile* t =
                    &cache->tiles[maar_cache_tile_at(cache, layer, level, i)];
                t->level = (uint8_t)level;
                t->state = level < cache->first_pinned ? MAAR_TILE_ABSENT : MAAR_TILE_UNFILLED;
            }
            cache->unfilled_count += level < cache->first_pinned ? 0 : count;
            cache->info.tileCounts[level] += count;
        }
    }
    cache->recorded_slot = MAAR_NO_UPLOAD;
    cache->ending_slot = MAAR_NO_UPLOAD;
}

static VkResult make_storage(struct maar_tile_cache* cache)
{
    const VkAllocationCallbacks* callbacks = cache->allocator->callbacks;
    const size_t total = (size_t)cache->grid.total * cache->layers;
    cache->tiles = maar_host_calloc(callbacks, total, sizeof *cache->tiles);
    cache->candidates = maar_host_calloc(callbacks, total, sizeof *cache->candidates);
    cache->levels = maar_host_alloc(callbacks, cache->grid.total);
    cache->ending = maar_retire_prepare(&cache->allocator->retire, MAAR_MAX_POINTS, NULL);
    if (cache->tiles == NULL || cache->candidates == NULL || cache->levels == NULL ||
        cache->ending == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    start_tiles(cache);
    return VK_SUCCESS;
}

/* Frees everything except the staging buffer. */
static void free_storage(struct maar_tile_cache* cache)
{
    MaarAllocator allocator = cache->allocator;
    const VkAllocationCallbacks* callbacks = allocator->callbacks;
    maar_host_free(callbacks, cache->tiles);
    maar_host_free(callbacks, cache->candidates);
    maar_upload_slots_free(&cache->staging);
    maar_host_free(callbacks, cache->levels);
    if (cache->ending != NULL) {
        maar_retire_discard(&allocator->retire, cache->ending);
    }
    maar_host_free(callbacks, cache);
}

static void end_leaked_cache(MaarAllocator allocator, struct maar_paged_object* object)
{
    struct maar_tile_cache* cache = (struct maar_tile_cache*)(void*)object;
    (void)maar_destroy_buffer(allocator, "maarDestroyAllocator", cache->staging.buffer,
                              cache->staging.memory);
    free_storage(cache);
}

static VkResult make_cache(struct maar_tile_cache* cache, const char* call,
                           const MaarTileCacheCreateInfo* info)
{
    struct maar_sparse_image* image = cache->image;
    const VkExtent3D tile = image->tile;
    if (!maar_tile_grid_init(&cache->grid, image->extent, tile, image->mip_levels,
                             image->mip_levels) ||
        (uint64_t)cache->grid.total * image->layers >= MAAR_TILE_NONE) {
        return maar_fail(cache->allocator, VK_ERROR_FEATURE_NOT_PRESENT,
                         MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE, call,
                         "the image has 2^32 tiles or more");
    }
    cache->layers = image->layers;
    cache->block = maar_texel_block_of(image->format);
    cache->keep_updates = info->keepUpdates;
    cache->levels_layer = UINT32_MAX;
    note_sizes(cache, info);
    note_pinned(cache, info);
    cache->info = (MaarTileCacheInfo){
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO,
        .image = MAAR_FROM_BITS(MaarSparseImage, image->listed.handle),
        .budget = info->budget,
        .peakCommittedSize = cache->pinned_size,
        .pinnedSize = cache->pinned_size,
        .firstPinnedLevel = cache->first_pinned,
        .slotCount = cache->staging.count,
        .slotSize = cache->staging.size,
        .levelsGeneration = 1,
        .bindCount = cache->pinned_size / image->page_size,
    };
    const VkDeviceSize least =
        cache->pinned_size + (cache->first_pinned > 0 ? image->page_size : 0);
    if (info->budget < least) {
        return maar_fail(cache->allocator, VK_ERROR_OUT_OF_POOL_MEMORY,
                         MAAR_MESSAGE_ID_TILE_BUDGET_TOO_SMALL, call,
                         "a budget of %s is too small: %s are always there, and with one more "
                         "tile %s",
                         maar_show_bytes(info->budget).text,
                         maar_show_bytes(cache->pinned_size).text, maar_show_bytes(least).text);
    }
    VkResult result = make_storage(cache);
    if (result == VK_SUCCESS) {
        result = maar_upload_slots_create(&cache->staging, call, "tile cache staging");
    }
    if (result == VK_SUCCESS) {
        result = commit_pinned(cache, call);
        if (result != VK_SUCCESS) {
            maar_upload_slots_undo(&cache->staging);
        }
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateTileCache(MaarAllocator allocator,
                                                   const MaarTileCacheCreateInfo* pCreateInfo,
                                                   MaarTileCache* pCache)
{
    const struct maar_output outputs[] = {
        {"pCache", pCache, sizeof *pCache},
        {0},
    };
    struct maar_sparse_image* image = NULL;
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pCreateInfo", pCreateInfo,
                                  MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO);
    if (result == VK_SUCCESS) {
        result = check_usable_image(allocator, __func__, pCreateInfo->image, &image);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_tile_cache* cache = maar_host_calloc(allocator->callbacks, 1, sizeof *cache);
    if (cache == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    cache->allocator = allocator;
    cache->image = image;
    cache->staging.allocator = allocator;
    result = maar_object_open(allocator, MAAR_OBJECT_TILE_CACHE, cache, &cache->listed.handle);
    if (result == VK_SUCCESS) {
        result = make_cache(cache, __func__, pCreateInfo);
    }
    if (result != VK_SUCCESS) {
        (void)maar_object_close(allocator, cache->listed.handle);
        free_storage(cache);
        return result;
    }
    cache->image->in_cache = true;
    cache->listed.kind = MAAR_OBJECT_TILE_CACHE;
    cache->listed.end_leaked = end_leaked_cache;
    maar_paging_list(allocator, &cache->listed);
    *pCache = MAAR_FROM_BITS(MaarTileCache, cache->listed.handle);
    return VK_SUCCESS;
}

/* ---- the end ---- */

static void end_staging(MaarAllocator allocator, const struct maar_retire_item* item)
{
    maar_discard_object(allocator,
                        (struct maar_object){.buffer = MAAR_FROM_BITS(VkBuffer, item->object)});
}

/* Destroys the staging buffer once the uploads that read it have been executed. Cannot fail. */
static void retire_staging(struct maar_tile_cache* cache, uint32_t point_count,
                           const MaarPoint* points)
{
    MaarAllocator allocator = cache->allocator;
    struct maar_retire_item* item = cache->ending;
    uint32_t index = MAAR_SLOT_NONE;
    struct maar_slot* slot =
        maar_resolve(allocator, "maarDestroyTileCache", cache->staging.memory, &index);
    cache->ending = NULL;
    item->action = end_staging;
    item->object = MAAR_TO_BITS(cache->staging.buffer);
    maar_retire_set_points(item, point_count, points);
    if (slot != NULL && maar_slot_claim(slot, MAAR_TO_BITS(cache->staging.memory))) {
        maar_slot_retire(allocator, slot, index, item);
    }
    maar_retire_queue(&allocator->retire, item);
}

VKAPI_ATTR void VKAPI_CALL maarDestroyTileCache(MaarAllocator allocator, MaarTileCache cache)
{
    struct maar_tile_cache* it = NULL;
    if (allocator == NULL || cache == VK_NULL_HANDLE ||
        maar_check_cache(allocator, __func__, cache, &it) != VK_SUCCESS ||
        maar_object_claim(allocator, __func__, "cache", MAAR_TO_BITS(cache)) != VK_SUCCESS) {
        return;
    }
    maar_paging_unlist(allocator, &it->listed);
    it->image->in_cache = false;
    MaarPoint points[MAAR_MAX_POINTS];
    const uint32_t point_count = maar_cache_ending_points(it, points);
    if (point_count > 0) {
        retire_staging(it, point_count, points);
    } else {
        (void)maar_destroy_buffer(allocator, __func__, it->staging.buffer, it->staging.memory);
    }
    free_storage(it);
}

/* ---- questions ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarGetTileCacheInfo(MaarAllocator allocator, MaarTileCache cache,
                                                    MaarTileCacheInfo* pInfo)
{
    struct maar_tile_cache* it = NULL;
    VkResult result = maar_check_cache(allocator, __func__, cache, &it);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    void* next = pInfo->pNext;
    *pInfo = it->info;
    pInfo->pNext = next;
    pInfo->committedSize = maar_cache_committed(it);
    pInfo->usedSlotCount = it->staging.used;
    return VK_SUCCESS;
}
