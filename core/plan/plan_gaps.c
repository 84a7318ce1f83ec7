/*
 * The sorted list of free gaps: see plan_gaps.h.
 */
#include "core/plan/plan_gaps.h"

#include "core/bits.h"

#include <string.h>

/* A full chunk is divided in two halves. Chunks that frees have thinned out are not joined, so room
 * is made for chunks of four gaps. A look takes about 2 ns: 64 for each of 65,536 items take 10 ms.
 */
enum { GAPS_OF_THIN_CHUNK = 4, LOOKS_PER_ITEM = 64 };

bool maar_plan_gaps_init(struct maar_plan_gaps* gaps, uint32_t items, struct maar_host_stack* stack)
{
    gaps->room = items / GAPS_OF_THIN_CHUNK + 2;
    gaps->items = items;
    gaps->chunks = maar_stack_grab(stack, gaps->room, sizeof gaps->chunks[0]);
    gaps->most = maar_stack_grab(stack, gaps->room, sizeof gaps->most[0]);
    struct maar_plan_gap_chunk* chunks = maar_stack_grab(stack, gaps->room, sizeof *chunks);
    if (gaps->chunks == NULL || gaps->most == NULL || chunks == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < gaps->room; ++i) {
        gaps->chunks[i] = &chunks[i];
    }
    maar_plan_gaps_reset(gaps);
    return true;
}

void maar_plan_gaps_reset(struct maar_plan_gaps* gaps)
{
    struct maar_plan_gap_chunk* first = gaps->chunks[0];
    gaps->count = 1;
    gaps->looks_left = (uint64_t)gaps->items * LOOKS_PER_ITEM;
    first->count = 1;
    gaps->most[0] = INT64_MAX;
    first->gaps[0] = (struct maar_plan_gap){0, INT64_MAX};
}

static void note_most(struct maar_plan_gaps* gaps, uint32_t c)
{
    const struct maar_plan_gap_chunk* chunk = gaps->chunks[c];
    int64_t most = 0;
    for (uint32_t i = 0; i < chunk->count; ++i) {
        const int64_t size = chunk->gaps[i].end - chunk->gaps[i].begin;
        most = size > most ? size : most;
    }
    gaps->most[c] = most;
}

/* Takes chunk number c, which is empty, off the list. */
static void drop_chunk(struct maar_plan_gaps* gaps, uint32_t c)
{
    struct maar_plan_gap_chunk* empty = gaps->chunks[c];
    --gaps->count;
    memmove(&gaps->chunks[c], &gaps->chunks[c + 1], (gaps->count - c) * sizeof gaps->chunks[0]);
    memmove(&gaps->most[c], &gaps->most[c + 1], (gaps->count - c) * sizeof gaps->most[0]);
    gaps->chunks[gaps->count] = empty;
}

static void remove_gap(struct maar_plan_gaps* gaps, uint32_t c, uint32_t at)
{
    struct maar_plan_gap_chunk* chunk = gaps->chunks[c];
    --chunk->count;
    memmove(&chunk->gaps[at], &chunk->gaps[at + 1], (chunk->count - at) * sizeof chunk->gaps[0]);
    if (chunk->count == 0) {
        drop_chunk(gaps, c);
    } else {
        note_most(gaps, c);
    }
}

/* Moves the upper half of a full chunk to a new chunk behind it. Returns false when there is none
 * left. */
static bool divide_chunk(struct maar_plan_gaps* gaps, uint32_t c)
{
    if (gaps->count == gaps->room) {
        return false;
    }
    struct maar_plan_gap_chunk* chunk = gaps->chunks[c];
    struct maar_plan_gap_chunk* upper = gaps->chunks[gaps->count];
    memmove(&gaps->chunks[c + 2], &gaps->chunks[c + 1],
            (gaps->count - c - 1) * sizeof gaps->chunks[0]);
    memmove(&gaps->most[c + 2], &gaps->most[c + 1], (gaps->count - c - 1) * sizeof gaps->most[0]);
    gaps->chunks[c + 1] = upper;
    ++gaps->count;
    chunk->count = MAAR_PLAN_CHUNK_GAPS / 2;
    upper->count = MAAR_PLAN_CHUNK_GAPS - chunk->count;
    memcpy(upper->gaps, &chunk->gaps[chunk->count], upper->count * sizeof upper->gaps[0]);
    note_most(gaps, c);
    note_most(gaps, c + 1);
    return true;
}

/* Inserts a gap before gap number `at` of a chunk. */
static bool insert_gap(struct maar_plan_gaps* gaps, uint32_t c, uint32_t at,
                       struct maar_plan_gap gap)
{
    if (gaps->chunks[c]->count == MAAR_PLAN_CHUNK_GAPS) {
        if (!divide_chunk(gaps, c)) {
            return false;
        }
        if (at > gaps->chunks[c]->count) {
            at -= gaps->chunks[c]->count;
            ++c;
        }
    }
    struct maar_plan_gap_chunk* chunk = gaps->chunks[c];
    memmove(&chunk->gaps[at + 1], &chunk->gaps[at], (chunk->count - at) * sizeof chunk->gaps[0]);
    chunk->gaps[at] = gap;
    ++chunk->count;
    const int64_t size = gap.end - gap.begin;
    gaps->most[c] = size > gaps->most[c] ? size : gaps->most[c];
    return true;
}

/* Takes [begin, end) out of a gap of a chunk. */
static bool cut_gap(struct maar_plan_gaps* gaps, uint32_t c, uint32_t at, int64_t begin,
                    int64_t end)
{
    struct maar_plan_gap_chunk* chunk = gaps->chunks[c];
    struct maar_plan_gap* gap = &chunk->gaps[at];
    const struct maar_plan_gap above = {end, gap->end};
    if (gap->begin == begin && gap->end == end) {
        remove_gap(gaps, c, at);
        return true;
    }
    if (gap->begin == begin) {
        gap->begin = end;
        note_most(gaps, c);
        return true;
    }
    gap->end = begin;
    note_most(gaps, c);
    return above.begin == above.end || insert_gap(gaps, c, at + 1, above);
}

/* Takes the lowest gap of a chunk that has an aligned place. Returns -2 if there is none. */
static int64_t take_of_chunk(struct maar_plan_gaps* gaps, uint32_t c, int64_t size, int64_t align)
{
    const struct maar_plan_gap_chunk* chunk = gaps->chunks[c];
    for (uint32_t i = 0; i < chunk->count; ++i) {
        const struct maar_plan_gap gap = chunk->gaps[i];
        const int64_t at = (int64_t)maar_align_up((uint64_t)gap.begin, (uint64_t)align);
        if (at <= gap.end && gap.end - at >= size) {
            gaps->looks_left -= i < gaps->looks_left ? i : gaps->looks_left;
            return cut_gap(gaps, c, i, at, at + size) ? at : -1;
        }
    }
    gaps->looks_left -= chunk->count < gaps->looks_left ? chunk->count : gaps->looks_left;
    return -2;
}

int64_t maar_plan_gaps_take(struct maar_plan_gaps* gaps, int64_t size, int64_t align)
{
    for (uint32_t c = 0; c < gaps->count; ++c) {
        const int64_t enough = gaps->looks_left > 0 ? size : size + align - 1;
        const int64_t at = gaps->most[c] >= enough ? take_of_chunk(gaps, c, size, align) : -2;
        if (at != -2) {
            return at;
        }
    }
    return -1;
}

/* Finds the first gap that begins at or above an address: its chunk and its number there, which may
 * be the number behind the last gap of the chunk. */
static uint32_t find_gap(const struct maar_plan_gaps* gaps, int64_t begin, uint32_t* at)
{
    uint32_t low = 0;
    uint32_t count = gaps->count;
    while (count > 0) {
        const uint32_t half = count / 2;
        if (gaps->chunks[low + half]->gaps[0].begin < begin) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    const uint32_t c = low > 0 ? low - 1 : 0;
    const struct maar_plan_gap_chunk* chunk = gaps->chunks[c];
    *at = 0;
    while (*at < chunk->count && chunk->gaps[*at].begin < begin) {
        ++*at;
    }
    return c;
}

bool maar_plan_gaps_give(struct maar_plan_gaps* gaps, int64_t begin, int64_t end)
{
    uint32_t at = 0;
    const uint32_t c = find_gap(gaps, begin, &at);
    struct maar_plan_gap_chunk* chunk = gaps->chunks[c];
    /* The gap behind may be the first one of the next chunk. */
    const bool is_last = at == chunk->count;
    const uint32_t next_c = is_last ? c + 1 : c;
    const uint32_t next_at = is_last ? 0 : at;
    struct maar_plan_gap_chunk* next_chunk = next_c < gaps->count ? gaps->chunks[next_c] : NULL;
    const bool joins_next = next_chunk != NULL && next_chunk->gaps[next_at].begin == end;
    const bool joins_last = at > 0 && chunk->gaps[at - 1].end == begin;
    if (joins_last) {
        chunk->gaps[at - 1].end = joins_next ? next_chunk->gaps[next_at].end : end;
        note_most(gaps, c);
        if (joins_next) {
            remove_gap(gaps, next_c, next_at);
        }
        return true;
    }
    if (joins_next) {
        next_chunk->gaps[next_at].begin = begin;
        note_most(gaps, next_c);
        return true;
    }
    return insert_gap(gaps, c, at, (struct maar_plan_gap){begin, end});
}
