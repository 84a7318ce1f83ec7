/*
 * The index of an arena's blocks. It has an upper bound of the largest free range in each block,
 * and finds the blocks that may have room for a request. The arena's lock guards the index.
 *
 * The bound of a block is a 16-bit class. A free raises the class. An allocation does not lower it.
 * The class is corrected in four cases: a placement into the block fails, a large request chooses
 * the block, a placement may have taken the largest free range, or a placement makes the number of
 * its allocations a multiple of 16. Above the classes
 * is a tree: each entry is the maximum of the 32 entries below it, which are one cache line. The
 * first block that may have room is thus found in O(log n). A small request takes this block, so
 * that the first blocks of the list fill and the last blocks become empty. A large request takes
 * the block of the lowest sufficient class among the first 64 such blocks, which keeps larger
 * ranges whole.
 */
#ifndef MAAR_CORE_MEMORY_BLOCK_INDEX_H
#define MAAR_CORE_MEMORY_BLOCK_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/bits.h"
#include "core/memory/slot_table.h"

enum {
    /* Each octave of sizes has 2^5 classes. The classes of sizes up to 2^48 are 0 to 1,408. */
    MAAR_BLOCK_INDEX_CLASS_BITS = 5,
    /* The number of entries below one entry of the next higher level. */
    MAAR_BLOCK_INDEX_FAN = 32,
    MAAR_BLOCK_INDEX_FAN_BITS = 5,
    MAAR_BLOCK_INDEX_LEVELS = 9,
    /* The most blocks that the search for the tightest one compares: as many as 16 GiB have. */
    MAAR_BLOCK_INDEX_LOOKS = 64
};

struct maar_block;

/* The classes of an arena's blocks, and the levels above them. */
struct maar_block_index {
    uint16_t* levels; /* the lowest level first; in one host allocation with the list of blocks */
    uint32_t capacity;
};

/* Returns the class of a size. The class of 0 bytes is 0. A smaller size never has a higher class.
 */
static inline uint32_t maar_size_class(VkDeviceSize size)
{
    if (size < 1u << MAAR_BLOCK_INDEX_CLASS_BITS) {
        return (uint32_t)size;
    }
    const uint32_t step = maar_top_bit(size) - MAAR_BLOCK_INDEX_CLASS_BITS;
    return (step << MAAR_BLOCK_INDEX_CLASS_BITS) + (uint32_t)(size >> step);
}

/* Returns the number of entries in all levels of an index that has room for `capacity` blocks. */
size_t maar_block_index_entries(uint32_t capacity);
/* Sets the class of a block. */
void maar_block_index_set(struct maar_block_index* index, struct maar_block* block, uint32_t value);
/* Sets the numbers and the classes of the blocks in the entries [from, end) of the list, after they
 * have moved there. An entry without a block has class 0. */
void maar_block_index_renumber(struct maar_block_index* index, struct maar_block* const* blocks,
                               uint32_t from, uint32_t end);
/* Of the first MAAR_BLOCK_INDEX_LOOKS blocks that have at least the wanted class, returns the
 * number of the one with the lowest class: the first such block if there are several, UINT32_MAX if
 * there is none. */
uint32_t maar_block_index_tightest(const struct maar_block_index* index, uint32_t wanted);
/* Returns a sentence about the first broken invariant, or NULL. */
const char* maar_block_index_check(const struct maar_block_index* index,
                                   struct maar_block* const* blocks, uint32_t end);

/* Returns the number of the first entry in [at, end) with at least the wanted class, or end. All
 * entries are in one group. Compares eight entries at a time, or four: classes are below 2^15, so
 * the top bit of each entry is free. The function sets this bit and subtracts the wanted class. The
 * bit is then cleared where the entry is lower. */
static inline uint32_t maar_block_index_scan(const uint16_t* level, uint32_t at, uint32_t end,
                                             uint32_t wanted)
{
#if defined(__SSE2__)
    const __m128i below = _mm_set1_epi16((short)((int)wanted - 1));
    for (; at + 8 <= end; at += 8) {
        const __m128i eight = _mm_loadu_si128((const __m128i*)(const void*)&level[at]);
        const int found = _mm_movemask_epi8(_mm_cmpgt_epi16(eight, below));
        if (found != 0) {
            return at + maar_low_bit((uint32_t)found) / 2;
        }
    }
#endif
    while (at < end) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        if (at + 4 <= end) {
            const uint64_t tops = 0x8000800080008000u;
            uint64_t four = 0;
            memcpy(&four, &level[at], sizeof four);
            four = ((four | tops) - wanted * 0x0001000100010001u) & tops;
            if (four != 0) {
                return at + maar_low_bit(four) / 16;
            }
            at += 4;
            continue;
        }
#endif
        if (level[at] >= wanted) {
            return at;
        }
        ++at;
    }
    return end;
}

/* Continues maar_block_index_first with the groups after the first group. from: the number of the
 * first block of the next group, or the capacity. */
uint32_t maar_block_index_first_beyond(const struct maar_block_index* index, uint32_t from,
                                       uint32_t wanted);

/* Returns the number of the first block at or after `from` with at least the wanted class, or
 * UINT32_MAX if there is none. */
static inline uint32_t maar_block_index_first(const struct maar_block_index* index, uint32_t from,
                                              uint32_t wanted)
{
    uint32_t end = (from | (MAAR_BLOCK_INDEX_FAN - 1)) + 1;
    end = end < index->capacity ? end : index->capacity;
    const uint32_t at = from < end ? maar_block_index_scan(index->levels, from, end, wanted) : end;
    return at < end ? at : maar_block_index_first_beyond(index, end, wanted);
}

#endif
