/*
 * Keeps what blocks can take by shape: see shape_index.h.
 *
 * The first entry of a row of a block is the least bound of the row, so that most frees, which
 * raise nothing, see that in one comparison. It is unused in the rows of higher levels.
 */
#include "core/memory/shape_index.h"

#include <string.h>

enum {
    ROW_FAN_BITS = 4, /* a row of a higher level stands for 16 rows */
    ROW_FAN = 1 << ROW_FAN_BITS,
    ROW_LEVELS = 8 /* 16 to the power of 8 is above the largest capacity */
};

static uint32_t row_groups(uint32_t count)
{
    return count / ROW_FAN + (count % ROW_FAN != 0 ? 1 : 0);
}

static size_t row_count(uint32_t capacity)
{
    size_t rows = capacity;
    while (capacity > ROW_FAN) {
        capacity = row_groups(capacity);
        rows += capacity;
    }
    return rows;
}

/* One level of an index, from the blocks upward. */
struct row_level {
    uint32_t* rows;
    uint32_t count;
};

static struct row_level first_level(const struct maar_shape_index* index)
{
    return (struct row_level){(uint32_t*)(uintptr_t)index->rows, index->capacity};
}

static bool is_top(const struct row_level* level)
{
    return level->count <= ROW_FAN;
}

static struct row_level level_above(const struct maar_shape_index* index,
                                    const struct row_level* level)
{
    return (struct row_level){level->rows + (size_t)level->count * index->width,
                              row_groups(level->count)};
}

static uint32_t* row_at(const struct maar_shape_index* index, const struct row_level* level,
                        uint32_t at)
{
    return level->rows + (size_t)at * index->width;
}

size_t maar_shape_index_size(uint32_t capacity, uint32_t columns)
{
    return sizeof(struct maar_shape_index) + row_count(capacity) * (columns + 1) * sizeof(uint32_t);
}

void maar_shape_index_init(struct maar_shape_index* index, uint32_t capacity, uint32_t columns,
                           const struct maar_shape_index* from)
{
    index->capacity = capacity;
    index->width = columns + 1;
    if (from != NULL) {
        MAAR_DEBUG_ASSERT(from->count <= columns);
        index->count = from->count;
        memcpy(index->columns, from->columns, sizeof index->columns);
    }
}

uint32_t maar_shape_index_add(struct maar_shape_index* index, uint32_t shape)
{
    if (index->count + 1 >= index->width || index->count >= MAAR_SHAPE_COLUMNS) {
        return 0;
    }
    ++index->count;
    index->columns[shape] = (uint8_t)index->count;
    for (uint32_t i = 0; i < index->capacity; ++i) {
        index->rows[(size_t)i * index->width] = 0;
    }
    return index->count;
}

void maar_shape_index_reset(struct maar_shape_index* index)
{
    memset(index->rows, 0, row_count(index->capacity) * index->width * sizeof index->rows[0]);
}

/* Returns the first row in [at, end) with at least this bound, or end. */
static uint32_t scan(const struct maar_shape_index* index, const struct row_level* level,
                     uint32_t at, uint32_t end, uint32_t column, uint32_t size)
{
    const uint32_t* bound = row_at(index, level, at) + column;
    for (; at < end && *bound < size; ++at) {
        bound += index->width;
    }
    return at;
}

static uint32_t end_of_group(const struct row_level* level, uint32_t at)
{
    const uint32_t end = (at | (ROW_FAN - 1)) + 1;
    return end < level->count ? end : level->count;
}

uint32_t maar_shape_index_first(const struct maar_shape_index* index, uint32_t column,
                                uint32_t from, uint32_t size)
{
    struct row_level levels[ROW_LEVELS];
    uint32_t height = 0;
    levels[0] = first_level(index);
    if (from >= index->capacity) {
        return UINT32_MAX;
    }
    uint32_t end = end_of_group(&levels[0], from);
    uint32_t at = scan(index, &levels[0], from, end, column, size);
    /* Climbs while the rest of a group has no such block. */
    while (at == end) {
        if (end == levels[height].count || is_top(&levels[height])) {
            return UINT32_MAX;
        }
        levels[height + 1] = level_above(index, &levels[height]);
        ++height;
        at = end >> ROW_FAN_BITS;
        end = end_of_group(&levels[height], at);
        at = scan(index, &levels[height], at, end, column, size);
    }
    while (height > 0) {
        --height;
        at <<= ROW_FAN_BITS;
        at = scan(index, &levels[height], at, end_of_group(&levels[height], at), column, size);
    }
    return at;
}

static uint32_t least_of(const struct maar_shape_index* index, const uint32_t* row)
{
    uint32_t least = MAAR_SHAPE_ANY_SIZE;
    for (uint32_t i = 1; i <= index->count; ++i) {
        least = row[i] < least ? row[i] : least;
    }
    return least;
}

void maar_shape_index_set(struct maar_shape_index* index, uint32_t at, uint32_t column,
                          uint32_t bound)
{
    struct row_level level = first_level(index);
    uint32_t* row = row_at(index, &level, at);
    uint32_t before = row[column];
    row[column] = bound;
    if (bound <= before) {
        row[0] = bound < row[0] ? bound : row[0];
    } else {
        row[0] = least_of(index, row);
    }
    while (!is_top(&level)) {
        /* The maximum is another row's. */
        const struct row_level above = level_above(index, &level);
        const uint32_t most_before = row_at(index, &above, at >> ROW_FAN_BITS)[column];
        if (before < most_before && bound <= most_before) {
            return;
        }
        const uint32_t begin = at & ~(uint32_t)(ROW_FAN - 1);
        const uint32_t end = end_of_group(&level, at);
        uint32_t most = 0;
        for (uint32_t i = begin; i < end; ++i) {
            const uint32_t entry = row_at(index, &level, i)[column];
            most = entry > most ? entry : most;
        }
        at >>= ROW_FAN_BITS;
        level = above;
        if (most == most_before) {
            return;
        }
        row_at(index, &level, at)[column] = most;
        before = most_before;
        bound = most;
    }
}

/* Raises the entries of a row. Returns whether any was lower. */
static bool raise_row(const struct maar_shape_index* index, uint32_t* row, uint32_t bound)
{
    bool raised = false;
    for (uint32_t i = 1; i <= index->count; ++i) {
        if (row[i] < bound) {
            row[i] = bound;
            raised = true;
        }
    }
    return raised;
}

void maar_shape_index_raise(struct maar_shape_index* index, uint32_t at, VkDeviceSize room)
{
    const uint32_t bound = maar_shape_bound(room);
    struct row_level level = first_level(index);
    uint32_t* row = row_at(index, &level, at);
    if (row[0] >= bound) {
        return;
    }
    bool raised = raise_row(index, row, bound);
    row[0] = least_of(index, row);
    while (raised && !is_top(&level)) {
        at >>= ROW_FAN_BITS;
        level = level_above(index, &level);
        raised = raise_row(index, row_at(index, &level, at), bound);
    }
}

void maar_shape_index_clear(struct maar_shape_index* index, uint32_t at)
{
    for (uint32_t i = 1; i <= index->count; ++i) {
        maar_shape_index_set(index, at, i, 0);
    }
}

/* Whether a row is the maximum of the rows below it. */
static bool is_maximum(const struct maar_shape_index* index, const struct row_level* below,
                       const uint32_t* row, uint32_t at)
{
    const uint32_t begin = at << ROW_FAN_BITS;
    const uint32_t end = end_of_group(below, begin);
    for (uint32_t column = 1; column <= index->count; ++column) {
        uint32_t most = 0;
        for (uint32_t i = begin; i < end; ++i) {
            const uint32_t entry = row_at(index, below, i)[column];
            most = entry > most ? entry : most;
        }
        if (row[column] != most) {
            return false;
        }
    }
    return true;
}

const char* maar_shape_index_check(const struct maar_shape_index* index)
{
    struct row_level level = first_level(index);
    for (uint32_t i = 0; i < index->capacity; ++i) {
        const uint32_t* row = row_at(index, &level, i);
        if (index->count > 0 && row[0] > least_of(index, row)) {
            return "the shape index of an arena would miss a free";
        }
    }
    while (!is_top(&level)) {
        const struct row_level above = level_above(index, &level);
        for (uint32_t i = 0; i < above.count; ++i) {
            if (!is_maximum(index, &level, row_at(index, &above, i), i)) {
                return "the shape index of an arena would pass over a block that has room";
            }
        }
        level = above;
    }
    return NULL;
}
