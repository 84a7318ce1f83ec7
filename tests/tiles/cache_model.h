/*
 * A tile cache as its documentation describes it, without lists, heaps or counts that are kept:
 * every choice looks at every tile. What the real one does is compared with it, update after
 * update.
 */
#ifndef MAAR_TESTS_TILES_CACHE_MODEL_H
#define MAAR_TESTS_TILES_CACHE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { MODEL_LEVELS = 16, MODEL_TILES = 4096, MODEL_ABOVE = 27 };

struct model_tile {
    uint32_t level;
    uint32_t layer;
    uint32_t at[3];
    uint32_t above[MODEL_ABOVE]; /* tiles of the next level that show part of the same */
    uint32_t above_count;
    bool page;
    bool filling; /* has a slot */
    bool visible;
    bool candidate;
    uint32_t stamp; /* update that last wanted it */
    uint32_t order; /* among those of one update: when it was first wanted */
    uint32_t count;
};

struct cache_model {
    uint32_t extent[MODEL_LEVELS][3];
    uint32_t tiles[MODEL_LEVELS][3];
    uint32_t tile[3];
    uint32_t levels;
    uint32_t layers;
    uint32_t pinned; /* first level that is */
    bool deep;
    uint32_t keep;
    uint32_t room; /* tiles that are not pinned and may have pages */
    uint32_t slots;
    uint32_t used;
    uint32_t now;
    uint32_t order;
    uint32_t count;
    struct model_tile all[MODEL_TILES];
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions;
    uint64_t rejected;
};

/* extent, tile, levels, layers, pinned, keep, room and slots must be set (extent of level 0). */
void cache_model_start(struct cache_model* model);
/* Writes the indices of the tiles whose uploads start; returns how many. */
uint32_t cache_model_update(struct cache_model* model, uint32_t count, const uint32_t* requests,
                            uint32_t most, uint32_t* started);
/* The tile at a place. */
uint32_t cache_model_find(const struct cache_model* model, uint32_t level, uint32_t layer,
                          const uint32_t at[3]);
void cache_model_complete(struct cache_model* model, uint32_t tile);
void cache_model_cancel(struct cache_model* model, uint32_t tile);
/* The finest level that may be sampled at a tile of level 0. */
uint32_t cache_model_level_at(const struct cache_model* model, uint32_t tile);

#endif
