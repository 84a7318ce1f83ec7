/*
 * Tile caches: their state and common functions.
 *
 * Every level of the image is cut into tiles, including the levels of a mip tail. One upload fills
 * a tile. Levels from `first_pinned` on always have their pages. Each other level lists its tiles
 * with pages, the least recently wanted first. A request for a tile wants all tiles that cover it
 * too. A tile that covers a tile with a page is not evicted. So everything that covers a tile with
 * a page has a page too.
 *
 * A cache belongs to one caller at a time.
 */
#ifndef MAAR_CORE_TILE_CACHE_TILE_CACHE_STATE_H
#define MAAR_CORE_TILE_CACHE_TILE_CACHE_STATE_H

#include "core/reservation/sparse_image.h"
#include "core/staging/upload_slots.h"
#include "core/tile_cache/texel_block.h"
#include "maar/tile_cache.h"

#define MAAR_TILE_NONE UINT32_MAX

enum maar_tile_state {
    MAAR_TILE_ABSENT,    /* no page */
    MAAR_TILE_UNFILLED,  /* a page without contents, and no upload */
    MAAR_TILE_UPLOADING, /* a page and a slot */
    MAAR_TILE_VISIBLE
};

/* The state of one tile. */
struct maar_cache_tile {
    uint32_t previous; /* in the list of its level, across layers */
    uint32_t next;
    uint32_t stamp;   /* the update that last wanted it or a tile that it covers */
    uint32_t asked;   /* the update in which a request last named it; 0: never */
    uint32_t count;   /* how often it was wanted in the update of its stamp */
    uint16_t covered; /* tiles with a page that it covers directly */
    uint8_t state;
    uint8_t level;
};

/* The tiles with pages of one level. */
struct maar_tile_list {
    uint32_t first;
    uint32_t last;
};

/* A tile cache. */
struct maar_tile_cache {
    struct maar_paged_object listed;
    MaarAllocator allocator;
    struct maar_sparse_image* image;
    struct maar_tile_grid grid; /* of all levels */
    struct maar_texel_block block;
    uint32_t layers;
    uint32_t first_pinned;
    uint32_t max_uploads;
    uint32_t keep_updates;
    VkDeviceSize pinned_size;
    uint32_t live_count; /* tiles with a page, without those of pinned levels */

    uint32_t now;                  /* number of the update, never 0; wraps */
    struct maar_cache_tile* tiles; /* the tiles of one layer after another */
    struct maar_tile_list lists[MAAR_TILE_CACHE_MAX_LEVELS];
    uint32_t unfilled_count; /* of pinned levels */
    uint32_t* candidates;    /* room for every tile */
    uint32_t candidate_count;
    uint32_t shortage_rest; /* number of updates that will request no more memory */

    struct maar_upload_slots staging; /* a slot holds a tile */
    uint32_t recorded_slot;           /* heads of lists */
    uint32_t ending_slot;
    VkDeviceSize row_pitch;
    VkDeviceSize slice_pitch;
    bool in_general;                 /* the image's transition was recorded */
    bool transition_open;            /* a transition was recorded since the last end */
    struct maar_retire_item* ending; /* prepared, with room for MAAR_MAX_POINTS */

    uint8_t* levels; /* scratch and answer for one layer */
    uint32_t levels_layer;
    uint64_t levels_generation; /* the generation of `levels`; 0: none */
    MaarTileCacheInfo info;     /* the budget and the counts, updated with each change */
};

/* Return the layer of a tile and its number in its level, and the tile of such a place. */
static inline uint32_t maar_cache_layer(struct maar_tile_cache* cache, uint32_t tile)
{
    return tile / cache->grid.total;
}

static inline uint32_t maar_cache_number(struct maar_tile_cache* cache, uint32_t tile)
{
    return tile % cache->grid.total - cache->grid.levels[cache->tiles[tile].level].first;
}

static inline uint32_t maar_cache_tile_at(struct maar_tile_cache* cache, uint32_t layer,
                                          uint32_t level, uint32_t number)
{
    return layer * cache->grid.total + cache->grid.levels[level].first + number;
}

/* Returns the bytes of all pages of a cache. */
static inline VkDeviceSize maar_cache_committed(struct maar_tile_cache* cache)
{
    return cache->pinned_size + cache->live_count * cache->image->page_size;
}

/* Finds the cache of a handle, as maar_object_enter does. */
VkResult maar_check_cache(MaarAllocator allocator, const char* call, MaarTileCache cache,
                          struct maar_tile_cache** found);
/* Puts a tile at the end of its level's list, as the tile wanted last. */
void maar_cache_append(struct maar_tile_cache* cache, uint32_t tile);
/* Takes a tile off its level's list. */
void maar_cache_unlink(struct maar_tile_cache* cache, uint32_t tile);
/* Returns whether all tiles that cover a tile have pages. */
bool maar_cache_cover_is_there(struct maar_tile_cache* cache, uint32_t tile);

#endif
