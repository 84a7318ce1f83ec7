/*
 * Which block among many: what an arena knows of the largest free range in each of its blocks.
 *
 * For each block a 16-bit class says how large that range is at most: a free raises it; an
 * allocation leaves it alone until one has failed for it. Above the classes lies, for each 16 of
 * them, the best, and so on upward, so that the first block that may have room is found in
 * O(log n): small requests take that one, so that lower blocks fill and later ones empty. Large
 * requests take the block of the lowest class that will do, which leaves larger ranges whole; only
 * blocks are looked at that may have room.
 *
 * Under the lock of the arena.
 */
#ifndef MAAR_CORE_MEMORY_ROOM_H
#define MAAR_CORE_MEMORY_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/bits.h"
#include "core/memory/slot_table.h"

enum {
    /* Steps of a class in each octave of sizes: 2^5. Sizes of 48 bits have 1,440 classes. */
    MAAR_FREE_INDEX_CLASS_BITS = 5,
    /* Entries under one entry of the level above. */
    MAAR_FREE_INDEX_FAN = 16,
    MAAR_FREE_INDEX_FAN_BITS = 4,
    MAAR_FREE_INDEX_LEVELS = 9
};

struct maar_block;

struct maar_free_index {
    uint16_t* levels; /* the lowest first; in the same host allocation as the list of blocks */
    uint32_t capacity;
};

/* A size below another one never has a higher class. 0 for no bytes. */
static inline uint32_t maar_size_class(VkDeviceSize size)
{
    if (size < 1u << MAAR_FREE_INDEX_CLASS_BITS) {
        return (uint32_t)size;
    }
    const uint32_t step = maar_top_bit(size) - MAAR_FREE_INDEX_CLASS_BITS;
    return (step << MAAR_FREE_INDEX_CLASS_BITS) + (uint32_t)(size >> step);
}

/* Entries of all levels over so many blocks. */
size_t maar_free_index_entries(uint32_t capacity);
/* Gives a block its class. */
void maar_free_index_set(struct maar_free_index* index, struct maar_block* block, uint32_t value);
/* Blocks from `from` on have moved in the list, or there are new levels. */
void maar_free_index_renumber(struct maar_free_index* index, struct maar_block* const* blocks,
                              uint32_t count, uint32_t from);
/* The number of the block of the lowest class at or above this one, as far as is known, and the
 * first of those; UINT32_MAX if there is none. */
uint32_t maar_free_index_tightest(const struct maar_free_index* index, uint32_t wanted);
const char* maar_free_index_check(const struct maar_free_index* index,
                                  struct maar_block* const* blocks, uint32_t count);

/* The first entry in [at, end) of one group that has a class, or end. Four entries at a time:
 * classes are below 2^15, so with the top bit of each set, taking the class away clears it where
 * the entry is lower. */
static inline uint32_t maar_free_index_scan(const uint16_t* level, uint32_t at, uint32_t end,
                                            uint32_t wanted)
{
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

/* maar_free_index_first when the group of `from` has none. */
uint32_t maar_free_index_first_beyond(const struct maar_free_index* index, uint32_t from,
                                      uint32_t wanted);

/* The number of the first block at or after `from` that may have room of a class; UINT32_MAX if
 * none has. */
static inline uint32_t maar_free_index_first(const struct maar_free_index* index, uint32_t from,
                                             uint32_t wanted)
{
    uint32_t end = (from | (MAAR_FREE_INDEX_FAN - 1)) + 1;
    end = end < index->capacity ? end : index->capacity;
    const uint32_t at = from < end ? maar_free_index_scan(index->levels, from, end, wanted) : end;
    return at < end ? at : maar_free_index_first_beyond(index, end, wanted);
}

#endif
