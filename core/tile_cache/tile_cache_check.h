/*
 * The heavy check of a tile cache. Tests and heavy checks call it.
 */
#ifndef MAAR_CORE_TILE_CACHE_TILE_CACHE_CHECK_H
#define MAAR_CORE_TILE_CACHE_TILE_CACHE_CHECK_H

#include "core/tile_cache/tile_cache_state.h"

/* Returns the first broken invariant, or NULL. */
const char* maar_tile_cache_check(struct maar_tile_cache* cache);

#endif
