/*
 * The naive tile cache.
 */
#include "tests/tiles/cache_model.h"

#include <string.h>

#include "maar/tile_cache.h"

static uint32_t page_count(const struct cache_model* m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->count; ++i) {
        count += m->all[i].page && m->all[i].level < m->pinned;
    }
    return count;
}

/* Whether two tiles of adjacent levels show a common part of the image, on one axis: intervals of
 * texels, brought to one measure. */
static bool meet(const struct cache_model* m, const struct model_tile* fine,
                 const struct model_tile* coarse, uint32_t axis)
{
    const uint64_t size = m->tile[axis];
    const uint64_t fine_whole = m->extent[fine->level][axis];
    const uint64_t coarse_whole = m->extent[coarse->level][axis];
    const uint64_t fine_first = fine->at[axis] * size;
    const uint64_t coarse_first = coarse->at[axis] * size;
    const uint64_t fine_end = fine_first + size < fine_whole ? fine_first + size : fine_whole;
    const uint64_t coarse_end =
        coarse_first + size < coarse_whole ? coarse_first + size : coarse_whole;
    return fine_first * coarse_whole < coarse_end * fine_whole &&
           coarse_first * fine_whole < fine_end * coarse_whole;
}

static bool covers(const struct cache_model* m, const struct model_tile* coarse,
                   const struct model_tile* fine)
{
    return coarse->layer == fine->layer && coarse->level == fine->level + 1 &&
           meet(m, fine, coarse, 0) && meet(m, fine, coarse, 1) && meet(m, fine, coarse, 2);
}

void cache_model_start(struct cache_model* m)
{
    for (uint32_t level = 0; level < m->levels; ++level) {
        for (uint32_t axis = 0; axis < 3; ++axis) {
            const uint32_t size = m->extent[0][axis] >> level;
            m->extent[level][axis] = size > 1 ? size : 1;
            m->tiles[level][axis] = (m->extent[level][axis] + m->tile[axis] - 1) / m->tile[axis];
        }
    }
    for (uint32_t layer = 0; layer < m->layers; ++layer) {
        for (uint32_t level = 0; level < m->levels; ++level) {
            const uint32_t* tiles = m->tiles[level];
            for (uint32_t i = 0; i < tiles[0] * tiles[1] * tiles[2]; ++i) {
                struct model_tile* t = &m->all[m->count++];
                *t = (struct model_tile){.level = level, .layer = layer};
                t->at[0] = i % tiles[0];
                t->at[1] = i / tiles[0] % tiles[1];
                t->at[2] = i / tiles[0] / tiles[1];
                t->page = level >= m->pinned;
            }
        }
    }
    for (uint32_t i = 0; i < m->count; ++i) {
        for (uint32_t k = 0; k < m->count; ++k) {
            if (covers(m, &m->all[k], &m->all[i])) {
                m->all[i].above[m->all[i].above_count++] = k;
            }
        }
    }
}

uint32_t cache_model_find(const struct cache_model* m, uint32_t level, uint32_t layer,
                          const uint32_t at[3])
{
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct model_tile* t = &m->all[i];
        if (t->level == level && t->layer == layer && memcmp(t->at, at, sizeof t->at) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static bool want_one(struct cache_model* m, struct model_tile* t)
{
    if (t->stamp == m->now) {
        ++t->count;
        return false;
    }
    t->stamp = m->now;
    t->order = ++m->order;
    t->count = 1;
    t->candidate = t->candidate || (!t->visible && !t->filling);
    return true;
}

/* The tiles that show what the tiles marked with `level` in a set show, marked with level + 1. */
static void mark_above(const struct cache_model* m, uint32_t level, uint8_t* set)
{
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct model_tile* t = &m->all[i];
        for (uint32_t k = 0; t->level == level && set[i] && k < t->above_count; ++k) {
            set[t->above[k]] = 1;
        }
    }
}

/* Wants a tile and all that covers it, level by level, until a whole level was wanted before. */
static void want_all(struct cache_model* m, uint32_t index)
{
    static uint8_t set[MODEL_TILES];
    bool news = want_one(m, &m->all[index]);
    memset(set, 0, sizeof set);
    set[index] = 1;
    for (uint32_t level = m->all[index].level; news && level + 1 < m->pinned; ++level) {
        mark_above(m, level, set);
        news = false;
        for (uint32_t i = 0; i < m->count; ++i) {
            if (set[i] && m->all[i].level == level + 1) {
                news = want_one(m, &m->all[i]) || news;
            }
        }
    }
}

static void read_one(struct cache_model* m, uint32_t request, bool* asked)
{
    const uint32_t level = MAAR_TILE_REQUEST_LEVEL(request);
    const uint32_t third = MAAR_TILE_REQUEST_LAYER(request);
    const uint32_t at[3] = {MAAR_TILE_REQUEST_X(request), MAAR_TILE_REQUEST_Y(request),
                            m->deep ? third : 0};
    if (request == MAAR_TILE_REQUEST_NONE) {
        return;
    }
    const uint32_t tile = cache_model_find(m, level, m->deep ? 0 : third, at);
    if (tile == UINT32_MAX) {
        ++m->rejected;
        return;
    }
    if (!asked[tile]) {
        asked[tile] = true;
        m->hits += m->all[tile].visible;
        m->misses += !m->all[tile].visible;
    }
    want_all(m, tile);
}

static bool is_better(const struct cache_model* m, const struct model_tile* t,
                      const struct model_tile* than)
{
    const uint32_t age = m->now - t->stamp;
    const uint32_t other = m->now - than->stamp;
    if (age != other) {
        return age > other;
    }
    return t->level != than->level ? t->level < than->level : t->order < than->order;
}

static uint32_t find_one_to_go(const struct cache_model* m, uint32_t level)
{
    static bool needed[MODEL_TILES];
    uint32_t best = UINT32_MAX;
    memset(needed, 0, sizeof needed);
    for (uint32_t i = 0; i < m->count; ++i) {
        for (uint32_t k = 0; m->all[i].page && k < m->all[i].above_count; ++k) {
            needed[m->all[i].above[k]] = true;
        }
    }
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct model_tile* t = &m->all[i];
        if (t->level >= m->pinned || !t->page || t->filling || needed[i] ||
            (m->now - t->stamp <= m->keep && t->level >= level)) {
            continue;
        }
        if (best == UINT32_MAX || is_better(m, t, &m->all[best])) {
            best = i;
        }
    }
    return best;
}

static void drop(struct cache_model* m, uint32_t tile)
{
    m->all[tile].page = false;
    m->all[tile].visible = false;
    ++m->evictions;
}

static bool cover_is_there(const struct cache_model* m, const struct model_tile* t)
{
    for (uint32_t k = 0; k < t->above_count; ++k) {
        if (!m->all[t->above[k]].page) {
            return false;
        }
    }
    return true;
}

static uint32_t most_urgent(const struct cache_model* m)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct model_tile* t = &m->all[i];
        const struct model_tile* b = best == UINT32_MAX ? NULL : &m->all[best];
        if (t->candidate &&
            (b == NULL || t->level > b->level || (t->level == b->level && t->count > b->count))) {
            best = i;
        }
    }
    return best;
}

static bool make_room(struct cache_model* m, uint32_t level)
{
    const uint32_t pages = page_count(m);
    if (pages < m->room) {
        return true;
    }
    const uint32_t victim = pages > m->room ? UINT32_MAX : find_one_to_go(m, level);
    if (victim == UINT32_MAX) {
        return false;
    }
    drop(m, victim);
    return true;
}

uint32_t cache_model_update(struct cache_model* m, uint32_t count, const uint32_t* requests,
                            uint32_t most, uint32_t* started)
{
    static bool asked[MODEL_TILES];
    uint32_t made = 0;
    memset(asked, 0, sizeof asked);
    ++m->now;
    m->order = 0;
    for (uint32_t i = 0; i < m->count; ++i) {
        m->all[i].candidate = false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        read_one(m, requests[i], asked);
    }
    for (uint32_t i = 0; i < m->count; ++i) {
        struct model_tile* t = &m->all[i];
        if (t->level >= m->pinned) {
            t->candidate = !t->visible && !t->filling;
            t->count = t->stamp == m->now ? t->count : 0;
        }
    }
    while (page_count(m) > m->room) {
        const uint32_t victim = find_one_to_go(m, UINT32_MAX);
        if (victim == UINT32_MAX) {
            break;
        }
        drop(m, victim);
    }
    for (uint32_t i = most_urgent(m); i != UINT32_MAX && made < most && m->used < m->slots;
         i = most_urgent(m)) {
        struct model_tile* t = &m->all[i];
        t->candidate = false;
        if (!t->page && !cover_is_there(m, t)) {
            continue;
        }
        if (!t->page && !make_room(m, t->level)) {
            break;
        }
        t->order = t->page ? t->order : ++m->order;
        t->page = true;
        t->filling = true;
        ++m->used;
        started[made++] = i;
    }
    return made;
}

void cache_model_complete(struct cache_model* m, uint32_t tile)
{
    m->all[tile].filling = false;
    m->all[tile].visible = true;
    --m->used;
}

void cache_model_cancel(struct cache_model* m, uint32_t tile)
{
    m->all[tile].filling = false;
    --m->used;
}

uint32_t cache_model_level_at(const struct cache_model* m, uint32_t tile)
{
    static uint8_t set[MODEL_TILES];
    bool good[MODEL_LEVELS];
    uint32_t usable = m->levels;
    memset(set, 0, sizeof set);
    set[tile] = 1;
    for (uint32_t level = 0; level < m->levels; ++level) {
        good[level] = true;
        for (uint32_t i = 0; i < m->count; ++i) {
            good[level] = good[level] && (!set[i] || m->all[i].level != level || m->all[i].visible);
        }
        mark_above(m, level, set);
    }
    while (usable > 0 && good[usable - 1]) {
        --usable;
    }
    return usable;
}
