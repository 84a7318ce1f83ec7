/*
 * The shape index of an arena with many blocks: for each shape of request, how much each block can
 * still take. A shape is what a placement looks at beside the size: alignment, kind and direction.
 *
 * Alignment and kinds can make a free range unfit that is large enough. The block index knows sizes
 * only: with it alone, each request may try many blocks in vain. The shape index remembers where
 * requests failed. After a failure in a block, no request of that shape and of at least that size
 * tries the block again until a free has made enough room there. So a block is tried in vain only
 * after it has changed.
 *
 * The index has a row for each block, with a bound for each shape, in bytes: no larger request of
 * that shape fits into the block. A failed placement lowers one bound, a free raises the row. Above
 * the rows are further levels: each row is the maximum of the 16 rows below it. The first block
 * that may have room is found in O(log n). The arena's lock guards the index.
 */
#ifndef MAAR_CORE_MEMORY_SHAPE_INDEX_H
#define MAAR_CORE_MEMORY_SHAPE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/memory/slot_table.h"

enum {
    MAAR_SHAPE_KINDS = 4,
    MAAR_SHAPE_ALIGNMENTS = 64, /* powers of two */
    MAAR_SHAPES = 2 * MAAR_SHAPE_KINDS * MAAR_SHAPE_ALIGNMENTS,
    /* The most shapes that an index can keep. Programs use ten to twenty. */
    MAAR_SHAPE_COLUMNS = 255
};

/* The bound of a block that may have room for any size. */
#define MAAR_SHAPE_ANY_SIZE UINT32_MAX

struct maar_shape_index {
    uint32_t capacity;            /* blocks */
    uint32_t width;               /* entries of a row: its least bound, then the columns */
    uint32_t count;               /* columns in use */
    uint8_t columns[MAAR_SHAPES]; /* the column of each shape, 0 for none */
    uint32_t rows[];
};

/* Returns the number of a shape. The alignment is a power of two, and kind is below
 * MAAR_SHAPE_KINDS. */
static inline uint32_t maar_shape_number(VkDeviceSize alignment, uint32_t kind, bool upper)
{
    return (maar_low_bit(alignment) * MAAR_SHAPE_KINDS + kind) * 2 + (upper ? 1 : 0);
}

/* Returns the bound of a block whose largest free range has this many bytes. */
static inline uint32_t maar_shape_bound(VkDeviceSize room)
{
    return room < MAAR_SHAPE_ANY_SIZE ? (uint32_t)room : MAAR_SHAPE_ANY_SIZE;
}

/* Returns the column of a shape, or 0 if the index has none. */
static inline uint32_t maar_shape_index_column(const struct maar_shape_index* index, uint32_t shape)
{
    return index->columns[shape];
}

/* Returns one bound of a block. */
static inline uint32_t maar_shape_index_bound(const struct maar_shape_index* index, uint32_t at,
                                              uint32_t column)
{
    return index->rows[(size_t)at * index->width + column];
}

/* Returns the least bound of a block. */
static inline uint32_t maar_shape_index_least(const struct maar_shape_index* index, uint32_t at)
{
    return index->rows[(size_t)at * index->width];
}

/* Returns the bytes of an index for this many blocks, with room for this many columns. */
size_t maar_shape_index_size(uint32_t capacity, uint32_t columns);
/* Initializes an index in zeroed memory of that size. It gets the columns of another index, or none
 * if `from` is NULL. All bounds are 0. */
void maar_shape_index_init(struct maar_shape_index* index, uint32_t capacity, uint32_t columns,
                           const struct maar_shape_index* from);
/* Adds a column for a shape and returns it. All its bounds are 0. Returns 0 if there is no room. */
uint32_t maar_shape_index_add(struct maar_shape_index* index, uint32_t shape);
/* Sets all bounds to 0. */
void maar_shape_index_reset(struct maar_shape_index* index);

/* Returns the number of the first block at or after `from` that has at least this bound in a
 * column, or UINT32_MAX. */
uint32_t maar_shape_index_first(const struct maar_shape_index* index, uint32_t column,
                                uint32_t from, uint32_t size);
/* Sets one bound of a block. */
void maar_shape_index_set(struct maar_shape_index* index, uint32_t at, uint32_t column,
                          uint32_t bound);
/* Raises all bounds of a block to at least `room` bytes. */
void maar_shape_index_raise(struct maar_shape_index* index, uint32_t at, VkDeviceSize room);
/* Sets all bounds of a block to 0. */
void maar_shape_index_clear(struct maar_shape_index* index, uint32_t at);
/* Returns a sentence about the first broken invariant, or NULL. */
const char* maar_shape_index_check(const struct maar_shape_index* index);

#endif
