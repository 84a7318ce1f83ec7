/*
 * The update of a tile cache: which tiles get pages and which lose theirs. New pages are taken
 * while the budget allows. After that, a page passes from an evicted tile to a wanted one in one
 * step, so that a full budget needs no slack.
 */
#include "core/memory/allocator_state.h"
#include "core/tile_cache/tile_cache_check.h"
#include "core/tile_cache/tile_cache_order.h"
#include "core/tile_cache/tile_cache_uploads.h"

/* The number of updates after a shortage of device memory that request no more memory: about a
 * second at 60 updates a second. So a full device is not asked in every frame. */
enum { SHORTAGE_REST = 64 };

enum outcome {
    STARTED, /* its upload can start, or the tile was skipped */
    CROWDED, /* no room for the tile, nor for finer ones */
    DELAYED  /* no staging memory */
};

static void count_covered(struct maar_tile_cache* cache, uint32_t tile, int change)
{
    const uint32_t level = cache->tiles[tile].level;
    if (level + 1 >= cache->grid.mip_levels) {
        return;
    }
    const struct maar_tile_box box =
        maar_tile_cover(&cache->grid, level, maar_cache_number(cache, tile));
    const uint32_t layer = maar_cache_layer(cache, tile);
    uint32_t at[3];
    for (bool more = maar_tile_box_begin(&box, at); more; more = maar_tile_box_next(&box, at)) {
        const uint32_t number = maar_tile_number(&cache->grid.levels[level + 1], at);
        struct maar_cache_tile* t =
            &cache->tiles[maar_cache_tile_at(cache, layer, level + 1, number)];
        t->covered = (uint16_t)(t->covered + change);
    }
}

/* Returns the page of a tile that is not pinned. Its table exists. */
static struct maar_page_range page_of(struct maar_tile_cache* cache, uint32_t tile)
{
    const uint32_t level = cache->tiles[tile].level;
    return (struct maar_page_range){
        .table = maar_sparse_table(&cache->image->aspects[0], level, maar_cache_layer(cache, tile)),
        .first = maar_cache_number(cache, tile),
        .count = 1,
    };
}

/* Counts a tile as evicted. It has lost its page, or is about to. */
static void note_eviction(struct maar_tile_cache* cache, uint32_t tile)
{
    struct maar_cache_tile* t = &cache->tiles[tile];
    if (t->state == MAAR_TILE_VISIBLE) {
        --cache->info.visibleTileCounts[t->level];
        ++cache->info.levelsGeneration;
    }
    t->state = MAAR_TILE_ABSENT;
    maar_cache_unlink(cache, tile);
    count_covered(cache, tile, -1);
    --cache->live_count;
    ++cache->info.lastEvictionCount;
    ++cache->info.bindCount;
}

static void note_commitment(struct maar_tile_cache* cache, uint32_t tile)
{
    cache->tiles[tile].state = MAAR_TILE_UNFILLED;
    maar_cache_append(cache, tile);
    count_covered(cache, tile, 1);
    ++cache->live_count;
    ++cache->info.bindCount;
}

/* Takes a new page if the budget and the device allow it. */
static bool take_page(struct maar_tile_cache* cache, const char* call,
                      const struct maar_page_range* page)
{
    if (maar_cache_committed(cache) + cache->image->page_size > cache->info.budget ||
        cache->shortage_rest > 0) {
        return false;
    }
    if (maar_pages_try_commit(cache->allocator, call, 1, page) != VK_SUCCESS) {
        cache->shortage_rest = SHORTAGE_REST;
        ++cache->info.shortageCount;
        return false;
    }
    return true;
}

/* Gives a page to a tile without one. */
static enum outcome bring_page(struct maar_tile_cache* cache, const char* call, uint32_t tile)
{
    const uint32_t level = cache->tiles[tile].level;
    struct maar_page_table* table = NULL;
    if (maar_sparse_bring_table(cache->allocator, call, cache->image, 0, level,
                                maar_cache_layer(cache, tile), &table) != VK_SUCCESS) {
        ++cache->info.shortageCount;
        return CROWDED;
    }
    const struct maar_page_range page = page_of(cache, tile);
    if (!take_page(cache, call, &page)) {
        const uint32_t victim = maar_cache_committed(cache) > cache->info.budget
                                    ? MAAR_TILE_NONE
                                    : maar_cache_find_victim(cache, level);
        if (victim == MAAR_TILE_NONE) {
            return CROWDED;
        }
        const struct maar_page_range from = page_of(cache, victim);
        /* The move failed: the table lacks host memory, or the tile's last eviction was not
         * submitted yet. */
        if (!maar_page_move(page.table, page.first, from.table, from.first)) {
            ++cache->info.shortageCount;
            return CROWDED;
        }
        note_eviction(cache, victim);
    }
    note_commitment(cache, tile);
    return STARTED;
}

static enum outcome admit(struct maar_tile_cache* cache, const char* call, uint32_t tile)
{
    if (cache->staging.first_free == MAAR_NO_UPLOAD) {
        return DELAYED;
    }
    if (cache->tiles[tile].state == MAAR_TILE_UNFILLED) {
        return STARTED;
    }
    if (!maar_cache_cover_is_there(cache, tile)) {
        ++cache->info.crowdedCount;
        return STARTED;
    }
    return bring_page(cache, call, tile);
}

/* Starts uploads of the most urgent candidates. Returns how many. */
static uint32_t admit_all(struct maar_tile_cache* cache, const char* call, uint32_t most,
                          MaarTileUpload* uploads)
{
    uint32_t started = 0;
    for (;;) {
        const uint32_t left = cache->candidate_count;
        const uint32_t tile = maar_cache_next_candidate(cache);
        if (tile == MAAR_TILE_NONE) {
            return started;
        }
        const enum outcome outcome = started == most ? DELAYED : admit(cache, call, tile);
        if (outcome != STARTED) {
            cache->info.delayedCount += outcome == DELAYED ? left : 0;
            cache->info.crowdedCount += outcome == CROWDED ? left : 0;
            return started;
        }
        if (cache->tiles[tile].state == MAAR_TILE_UNFILLED) {
            maar_cache_start_upload(cache, tile, &uploads[started++]);
        }
    }
}

/* Gives pages back until the cache is within a smaller budget. Tiles that are being filled keep
 * their pages. */
static void shrink(struct maar_tile_cache* cache)
{
    while (maar_cache_committed(cache) > cache->info.budget) {
        const uint32_t victim = maar_cache_find_victim(cache, MAAR_TILE_NONE);
        if (victim == MAAR_TILE_NONE) {
            return;
        }
        const struct maar_page_range page = page_of(cache, victim);
        maar_pages_decommit(cache->allocator, 1, &page);
        note_eviction(cache, victim);
    }
}

static VkResult check_update(MaarAllocator allocator, const char* call, MaarTileCache cache,
                             const MaarTileCacheUpdate* update, const uint32_t* count,
                             const MaarTileUpload* uploads, struct maar_tile_cache** found)
{
    VkResult result = maar_check_cache(allocator, call, cache, found);
    if (result == VK_SUCCESS && count == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pUploadCount is NULL");
    }
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, call, "pUpdate", update,
                                      MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_rule rules[] = {
        {update->requestCount > 0 && update->pRequests == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "pUpdate->pRequests is NULL"},
        {*count > 0 && uploads == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pUploads is NULL"},
        {0},
    };
    result = maar_check_rules(allocator, call, rules);
    const VkDeviceSize least = (*found)->pinned_size;
    if (result == VK_SUCCESS && update->budget != 0 && update->budget < least) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                         MAAR_MESSAGE_ID_TILE_BUDGET_TOO_SMALL, call,
                         "pUpdate->budget is %s, and %s are always there",
                         maar_show_bytes(update->budget).text, maar_show_bytes(least).text);
    }
    return result;
}

static void note_totals(struct maar_tile_cache* cache, uint32_t started)
{
    MaarTileCacheInfo* info = &cache->info;
    ++info->updateCount;
    info->hitCount += info->lastHitCount;
    info->missCount += info->lastMissCount;
    info->evictionCount += info->lastEvictionCount;
    info->lastUploadCount = started;
    info->uploadCount += started;
    const VkDeviceSize committed = maar_cache_committed(cache);
    info->peakCommittedSize =
        committed > info->peakCommittedSize ? committed : info->peakCommittedSize;
}

VKAPI_ATTR VkResult VKAPI_CALL maarUpdateTileCache(MaarAllocator allocator, MaarTileCache cache,
                                                   const MaarTileCacheUpdate* pUpdate,
                                                   uint32_t* pUploadCount, MaarTileUpload* pUploads)
{
    struct maar_tile_cache* it = NULL;
    const uint32_t room = pUploadCount != NULL ? *pUploadCount : 0;
    VkResult result =
        check_update(allocator, __func__, cache, pUpdate, pUploadCount, pUploads, &it);
    if (pUploadCount != NULL) {
        *pUploadCount = 0;
    }
    if (result == VK_SUCCESS) {
        result = maar_cache_complete(it);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    uint32_t most = pUpdate->maxUploads != 0 ? pUpdate->maxUploads : it->max_uploads;
    most = room < most ? room : most;
    ++it->now;
    it->info.lastHitCount = 0;
    it->info.lastMissCount = 0;
    it->info.lastEvictionCount = 0;
    it->shortage_rest -= it->shortage_rest > 0 ? 1 : 0;
    if (pUpdate->budget != 0) {
        it->info.budget = pUpdate->budget;
    }
    maar_cache_read_requests(it, pUpdate->requestCount, pUpdate->pRequests);
    shrink(it);
    *pUploadCount = admit_all(it, __func__, most, pUploads);
    note_totals(it, *pUploadCount);
    if ((allocator->flags & MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT) != 0) {
        const char* broken = maar_tile_cache_check(it);
        if (broken != NULL) {
            maar_broken(allocator, broken);
        }
    }
    return VK_SUCCESS;
}
