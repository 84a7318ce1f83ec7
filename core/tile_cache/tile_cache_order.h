/*
 * The tiles that shaders want of a tile cache, and the order in which tiles are filled and evicted.
 */
#ifndef MAAR_CORE_TILE_CACHE_TILE_CACHE_ORDER_H
#define MAAR_CORE_TILE_CACHE_TILE_CACHE_ORDER_H

#include "core/tile_cache/tile_cache_state.h"

/* Reads requests, stamps the wanted tiles, and gathers those that are not filled. */
void maar_cache_read_requests(struct maar_tile_cache* cache, uint32_t count,
                              const uint32_t* requests);
/* Removes and returns the most urgent candidate; MAAR_TILE_NONE when none is left. */
uint32_t maar_cache_next_candidate(struct maar_tile_cache* cache);
/* Returns the tile to evict for a tile of `level`; MAAR_TILE_NONE when no tile may be evicted. */
uint32_t maar_cache_find_victim(struct maar_tile_cache* cache, uint32_t level);

#endif
