/*
 * The common functions of tile caches: the check of a handle, the lists of tiles, and which tiles
 * cover a tile.
 */
#include "core/tile_cache/tile_cache_state.h"

VkResult maar_check_cache(MaarAllocator allocator, const char* call, MaarTileCache cache,
                          struct maar_tile_cache** found)
{
    void* object = NULL;
    const VkResult result = maar_object_enter(allocator, call, "cache", MAAR_OBJECT_TILE_CACHE,
                                              MAAR_TO_BITS(cache), &object);
    *found = object;
    return result;
}

void maar_cache_append(struct maar_tile_cache* cache, uint32_t tile)
{
    struct maar_cache_tile* t = &cache->tiles[tile];
    struct maar_tile_list* list = &cache->lists[t->level];
    t->previous = list->last;
    t->next = MAAR_TILE_NONE;
    if (list->last != MAAR_TILE_NONE) {
        cache->tiles[list->last].next = tile;
    } else {
        list->first = tile;
    }
    list->last = tile;
}

void maar_cache_unlink(struct maar_tile_cache* cache, uint32_t tile)
{
    struct maar_cache_tile* t = &cache->tiles[tile];
    struct maar_tile_list* list = &cache->lists[t->level];
    if (t->previous != MAAR_TILE_NONE) {
        cache->tiles[t->previous].next = t->next;
    } else {
        list->first = t->next;
    }
    if (t->next != MAAR_TILE_NONE) {
        cache->tiles[t->next].previous = t->previous;
    } else {
        list->last = t->previous;
    }
}

bool maar_cache_cover_is_there(struct maar_tile_cache* cache, uint32_t tile)
{
    const uint32_t level = cache->tiles[tile].level;
    if (level + 1 >= cache->first_pinned) {
        return true;
    }
    const struct maar_tile_box box =
        maar_tile_cover(&cache->grid, level, maar_cache_number(cache, tile));
    const uint32_t layer = maar_cache_layer(cache, tile);
    uint32_t at[3];
    for (bool more = maar_tile_box_begin(&box, at); more; more = maar_tile_box_next(&box, at)) {
        const uint32_t number = maar_tile_number(&cache->grid.levels[level + 1], at);
        const uint32_t above = maar_cache_tile_at(cache, layer, level + 1, number);
        if (cache->tiles[above].state == MAAR_TILE_ABSENT) {
            return false;
        }
    }
    return true;
}
