/*
 * Checks the invariants of a tile cache. The cache agrees with its image on every tile. Tiles with
 * pages are covered by tiles with pages. Lists are in order, and all counts are right. Walks all
 * tiles.
 */
#include "core/tile_cache/tile_cache_check.h"

/* The counts of a walk over all tiles. */
struct tally {
    uint32_t live;
    uint32_t unfilled;
    uint32_t uploading;
    uint32_t visible[MAAR_TILE_CACHE_MAX_LEVELS];
};

static const char* check_tile(struct maar_tile_cache* cache, uint32_t tile, struct tally* tally)
{
    const struct maar_cache_tile* t = &cache->tiles[tile];
    const bool pinned = t->level >= cache->first_pinned;
    const uint32_t layer = maar_cache_layer(cache, tile);
    const struct maar_page_table* table =
        t->level < cache->image->aspects[0].grid.level_count
            ? maar_sparse_table(&cache->image->aspects[0], t->level, layer)
            : NULL;
    const bool has_page =
        t->level >= cache->image->aspects[0].grid.level_count ||
        (table != NULL && maar_page_is_committed(table, maar_cache_number(cache, tile)));
    if (has_page != (t->state != MAAR_TILE_ABSENT)) {
        return "a tile cache and its image disagree on a tile";
    }
    tally->live += !pinned && has_page;
    tally->unfilled += pinned && t->state == MAAR_TILE_UNFILLED;
    tally->uploading += t->state == MAAR_TILE_UPLOADING;
    tally->visible[t->level] += t->state == MAAR_TILE_VISIBLE;
    return t->state != MAAR_TILE_ABSENT && !maar_cache_cover_is_there(cache, tile)
               ? "a tile with a page is covered by one without"
               : NULL;
}

static const char* check_upload_slots(const struct maar_tile_cache* cache)
{
    uint32_t counts[MAAR_UPLOAD_ENDING + 1] = {0};
    for (uint32_t i = 0; i < cache->staging.count; ++i) {
        ++counts[cache->staging.slots[i].state];
    }
    if (maar_upload_count(&cache->staging, cache->staging.first_free, MAAR_UPLOAD_FREE) !=
            counts[MAAR_UPLOAD_FREE] ||
        maar_upload_count(&cache->staging, cache->recorded_slot, MAAR_UPLOAD_RECORDED) !=
            counts[MAAR_UPLOAD_RECORDED] ||
        maar_upload_count(&cache->staging, cache->ending_slot, MAAR_UPLOAD_ENDING) !=
            counts[MAAR_UPLOAD_ENDING]) {
        return "a list of uploads of a tile cache is torn";
    }
    return cache->staging.count - counts[MAAR_UPLOAD_FREE] != cache->staging.used
               ? "a tile cache counts its uploads wrong"
               : NULL;
}

const char* maar_tile_cache_check(struct maar_tile_cache* cache)
{
    struct tally tally = {.live = 0};
    uint32_t listed = 0;
    for (uint32_t i = 0; i < cache->grid.total * cache->layers; ++i) {
        const char* broken = check_tile(cache, i, &tally);
        if (broken != NULL) {
            return broken;
        }
    }
    for (uint32_t level = 0; level < cache->grid.mip_levels; ++level) {
        uint32_t before = MAAR_TILE_NONE;
        for (uint32_t i = cache->lists[level].first; i != MAAR_TILE_NONE;
             before = i, i = cache->tiles[i].next) {
            const struct maar_cache_tile* t = &cache->tiles[i];
            if (t->previous != before || t->level != level || t->state == MAAR_TILE_ABSENT) {
                return "a list of a tile cache is torn";
            }
            if (before != MAAR_TILE_NONE &&
                cache->now - t->stamp > cache->now - cache->tiles[before].stamp) {
                return "a list of a tile cache is out of order";
            }
            ++listed;
        }
        if (tally.visible[level] != cache->info.visibleTileCounts[level]) {
            return "a tile cache counts visible tiles wrong";
        }
    }
    if (listed != tally.live || tally.live != cache->live_count ||
        tally.unfilled != cache->unfilled_count || tally.uploading != cache->staging.used) {
        return "a tile cache counts its tiles wrong";
    }
    if (maar_cache_committed(cache) != maar_sparse_committed(cache->image)) {
        return "a tile cache counts its pages wrong";
    }
    return check_upload_slots(cache);
}
