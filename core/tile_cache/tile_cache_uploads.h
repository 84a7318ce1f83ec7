/*
 * The uploads of a tile cache.
 */
#ifndef MAAR_CORE_TILE_CACHE_TILE_CACHE_UPLOADS_H
#define MAAR_CORE_TILE_CACHE_TILE_CACHE_UPLOADS_H

#include "core/tile_cache/tile_cache_state.h"

/* Makes tiles visible once their uploads have been executed. */
VkResult maar_cache_complete(struct maar_tile_cache* cache);
/* Takes a free slot for a tile with a page. The caller knows that a slot is free. */
void maar_cache_start_upload(struct maar_tile_cache* cache, uint32_t tile, MaarTileUpload* upload);
/* Writes the points that uploads under way wait for, at most MAAR_MAX_POINTS. Returns how many. */
uint32_t maar_cache_ending_points(struct maar_tile_cache* cache, MaarPoint* points);

#endif
