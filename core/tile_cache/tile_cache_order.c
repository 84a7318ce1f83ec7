/*
 * The tiles that shaders want of a tile cache: reads requests, stamps tiles and orders them by
 * urgency, and chooses the tile to evict.
 */
#include "core/tile_cache/tile_cache_order.h"

/* ---- wanting ---- */

static void add_candidate(struct maar_tile_cache* cache, uint32_t tile)
{
    cache->candidates[cache->candidate_count++] = tile;
}

/* Stamps a tile as wanted. Returns false if this update has stamped it before. */
static bool want(struct maar_tile_cache* cache, uint32_t tile)
{
    struct maar_cache_tile* t = &cache->tiles[tile];
    if (t->stamp == cache->now) {
        ++t->count;
        return false;
    }
    t->stamp = cache->now;
    t->count = 1;
    if (t->level < cache->first_pinned) {
        if (t->state != MAAR_TILE_ABSENT) {
            maar_cache_unlink(cache, tile);
            maar_cache_append(cache, tile);
        }
        if (t->state == MAAR_TILE_ABSENT || t->state == MAAR_TILE_UNFILLED) {
            add_candidate(cache, tile);
        }
    }
    return true;
}

/* Stamps the tiles of a box of a level. Returns false if this update has stamped all of them
 * before. */
static bool want_box(struct maar_tile_cache* cache, uint32_t layer, uint32_t level,
                     const struct maar_tile_box* box)
{
    bool news = false;
    uint32_t at[3];
    for (bool more = maar_tile_box_begin(box, at); more; more = maar_tile_box_next(box, at)) {
        const uint32_t number = maar_tile_number(&cache->grid.levels[level], at);
        news = want(cache, maar_cache_tile_at(cache, layer, level, number)) || news;
    }
    return news;
}

/* Returns the tiles of the next level that cover a box. */
static struct maar_tile_box cover_box(const struct maar_tile_grid* grid, uint32_t level,
                                      const struct maar_tile_box* box)
{
    const struct maar_tile_level* of = &grid->levels[level];
    const uint32_t last[3] = {box->end[0] - 1, box->end[1] - 1, box->end[2] - 1};
    struct maar_tile_box cover = maar_tile_cover(grid, level, maar_tile_number(of, box->first));
    const struct maar_tile_box last_box = maar_tile_cover(grid, level, maar_tile_number(of, last));
    for (uint32_t axis = 0; axis < 3; ++axis) {
        cover.end[axis] = last_box.end[axis];
    }
    return cover;
}

static void want_cover(struct maar_tile_cache* cache, uint32_t layer, uint32_t level,
                       uint32_t number)
{
    struct maar_tile_box box;
    maar_tile_place(&cache->grid.levels[level], number, box.first);
    for (uint32_t axis = 0; axis < 3; ++axis) {
        box.end[axis] = box.first[axis] + 1;
    }
    /* If a tile was wanted before, all tiles that cover it were wanted too. */
    while (level + 1 < cache->first_pinned) {
        box = cover_box(&cache->grid, level, &box);
        ++level;
        if (!want_box(cache, layer, level, &box)) {
            return;
        }
    }
}

/* Returns the tile that a request names, or MAAR_TILE_NONE. */
static uint32_t named_tile(struct maar_tile_cache* cache, uint32_t request)
{
    const uint32_t level = MAAR_TILE_REQUEST_LEVEL(request);
    const bool deep = cache->image->type == VK_IMAGE_TYPE_3D;
    const uint32_t layer = deep ? 0 : MAAR_TILE_REQUEST_LAYER(request);
    const uint32_t at[3] = {MAAR_TILE_REQUEST_X(request), MAAR_TILE_REQUEST_Y(request),
                            deep ? MAAR_TILE_REQUEST_LAYER(request) : 0};
    if (level >= cache->grid.mip_levels || layer >= cache->layers) {
        return MAAR_TILE_NONE;
    }
    const struct maar_tile_level* of = &cache->grid.levels[level];
    if (at[0] >= of->tiles[0] || at[1] >= of->tiles[1] || at[2] >= of->tiles[2]) {
        return MAAR_TILE_NONE;
    }
    return maar_cache_tile_at(cache, layer, level, maar_tile_number(of, at));
}

static void read_request(struct maar_tile_cache* cache, uint32_t request)
{
    const uint32_t tile = named_tile(cache, request);
    ++cache->info.requestCount;
    if (tile == MAAR_TILE_NONE) {
        ++cache->info.rejectedCount;
        return;
    }
    struct maar_cache_tile* t = &cache->tiles[tile];
    if (t->asked != cache->now) {
        t->asked = cache->now;
        if (t->state == MAAR_TILE_VISIBLE) {
            ++cache->info.lastHitCount;
        } else {
            ++cache->info.lastMissCount;
        }
    }
    if (want(cache, tile) && t->level < cache->first_pinned) {
        want_cover(cache, maar_cache_layer(cache, tile), t->level, maar_cache_number(cache, tile));
    }
}

/* Adds the pinned tiles that have no contents yet. */
static void gather_pinned(struct maar_tile_cache* cache)
{
    const uint32_t first = cache->grid.levels[cache->first_pinned].first;
    for (uint32_t layer = 0; layer < cache->layers; ++layer) {
        for (uint32_t i = first; i < cache->grid.total; ++i) {
            const uint32_t tile = layer * cache->grid.total + i;
            if (cache->tiles[tile].state == MAAR_TILE_UNFILLED) {
                if (cache->tiles[tile].stamp != cache->now) {
                    cache->tiles[tile].count = 0;
                }
                add_candidate(cache, tile);
            }
        }
    }
}

/* ---- in order of urgency ---- */

/* Returns whether `a` is more urgent: coarser, wanted more often, or first in the image. */
static bool is_more_urgent(struct maar_tile_cache* cache, uint32_t a, uint32_t b)
{
    const struct maar_cache_tile* left = &cache->tiles[a];
    const struct maar_cache_tile* right = &cache->tiles[b];
    if (left->level != right->level) {
        return left->level > right->level;
    }
    return left->count != right->count ? left->count > right->count : a < b;
}

/* Restores the heap of candidates, whose most urgent tile is on top. */
static void sift(struct maar_tile_cache* cache, uint32_t at)
{
    uint32_t* heap = cache->candidates;
    const uint32_t count = cache->candidate_count;
    for (;;) {
        uint32_t best = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; ++child) {
            best = is_more_urgent(cache, heap[child], heap[best]) ? child : best;
        }
        if (best == at) {
            return;
        }
        const uint32_t tile = heap[at];
        heap[at] = heap[best];
        heap[best] = tile;
        at = best;
    }
}

void maar_cache_read_requests(struct maar_tile_cache* cache, uint32_t count,
                              const uint32_t* requests)
{
    cache->candidate_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t request = requests[i];
        if (request != MAAR_TILE_REQUEST_NONE) {
            read_request(cache, request);
        }
    }
    if (cache->unfilled_count > 0) {
        gather_pinned(cache);
    }
    for (uint32_t i = cache->candidate_count / 2; i-- > 0;) {
        sift(cache, i);
    }
}

uint32_t maar_cache_next_candidate(struct maar_tile_cache* cache)
{
    if (cache->candidate_count == 0) {
        return MAAR_TILE_NONE;
    }
    const uint32_t tile = cache->candidates[0];
    cache->candidates[0] = cache->candidates[--cache->candidate_count];
    sift(cache, 0);
    return tile;
}

/* ---- eviction ---- */

uint32_t maar_cache_find_victim(struct maar_tile_cache* cache, uint32_t level)
{
    uint32_t victim = MAAR_TILE_NONE;
    uint32_t victim_age = 0;
    for (uint32_t l = 0; l < cache->first_pinned; ++l) {
        for (uint32_t i = cache->lists[l].first; i != MAAR_TILE_NONE; i = cache->tiles[i].next) {
            const struct maar_cache_tile* t = &cache->tiles[i];
            const uint32_t age = cache->now - t->stamp;
            /* The other tiles of the list are younger. They are kept for this level and finer ones,
             * or they are no better than the victim of a finer level. */
            if ((age <= cache->keep_updates && l >= level) ||
                (victim != MAAR_TILE_NONE && age <= victim_age)) {
                break;
            }
            if (t->state != MAAR_TILE_UPLOADING && t->covered == 0) {
                victim = i;
                victim_age = age;
                break;
            }
        }
    }
    return victim;
}
