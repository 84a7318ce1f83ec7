/*
 * Keeps the classes of an arena's blocks, and finds blocks by class: see block_index.h.
 */
#include "core/memory/block_index.h"

#include "core/memory/block.h"

static uint32_t groups_of(uint32_t width)
{
    return (width + MAAR_BLOCK_INDEX_FAN - 1) >> MAAR_BLOCK_INDEX_FAN_BITS;
}

size_t maar_block_index_entries(uint32_t capacity)
{
    size_t entries = capacity;
    while (capacity > MAAR_BLOCK_INDEX_FAN) {
        capacity = groups_of(capacity);
        entries += capacity;
    }
    return entries;
}

/* Returns the maximum of the entries of one group. */
static uint16_t best_of_group(const uint16_t* level, uint32_t group, uint32_t width)
{
    uint32_t end = (group + 1) << MAAR_BLOCK_INDEX_FAN_BITS;
    end = end < width ? end : width;
    uint16_t best = 0;
    uint32_t i = group << MAAR_BLOCK_INDEX_FAN_BITS;
#if defined(__SSE2__)
    if (end - i == MAAR_BLOCK_INDEX_FAN) {
        __m128i most = _mm_loadu_si128((const __m128i*)(const void*)&level[i]);
        for (uint32_t k = i + 8; k < end; k += 8) {
            most = _mm_max_epi16(most, _mm_loadu_si128((const __m128i*)(const void*)&level[k]));
        }
        most = _mm_max_epi16(most, _mm_srli_si128(most, 8));
        most = _mm_max_epi16(most, _mm_srli_si128(most, 4));
        most = _mm_max_epi16(most, _mm_srli_si128(most, 2));
        return (uint16_t)_mm_extract_epi16(most, 0);
    }
#endif
    for (; i < end; ++i) {
        best = level[i] > best ? level[i] : best;
    }
    return best;
}

/* Writes an entry, and corrects the entries above. A group is read only if its maximum may fall. */
static void write_level(struct maar_block_index* index, uint32_t at, uint32_t value)
{
    uint16_t* level = index->levels;
    uint32_t width = index->capacity;
    for (;;) {
        const uint16_t before = level[at];
        level[at] = (uint16_t)value;
        if (width <= MAAR_BLOCK_INDEX_FAN) {
            return;
        }
        uint16_t* above = level + width;
        const uint32_t parent = at >> MAAR_BLOCK_INDEX_FAN_BITS;
        if (value <= above[parent]) {
            if (before < above[parent]) {
                return;
            }
            value = best_of_group(level, parent, width);
        }
        if (above[parent] == value) {
            return;
        }
        level = above;
        width = groups_of(width);
        at = parent;
    }
}

void maar_block_index_set(struct maar_block_index* index, struct maar_block* block, uint32_t value)
{
    if (index->levels[block->at] != value) {
        write_level(index, block->at, value);
    }
}

void maar_block_index_renumber(struct maar_block_index* index, struct maar_block* const* blocks,
                               uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; ++i) {
        uint32_t value = 0;
        if (blocks[i] != NULL) {
            blocks[i]->at = i;
            const VkDeviceSize room = maar_block_room(blocks[i]);
            value = maar_size_class(room);
            maar_block_set_quiet(blocks[i], room);
        }
        if (index->levels[i] != value) {
            write_level(index, i, value);
        }
    }
}

uint32_t maar_block_index_tightest(const struct maar_block_index* index, uint32_t wanted)
{
    uint32_t best = UINT32_MAX;
    uint32_t least = UINT32_MAX;
    uint32_t looks = MAAR_BLOCK_INDEX_LOOKS;
    for (uint32_t at = maar_block_index_first(index, 0, wanted); at != UINT32_MAX && looks > 0;
         at = maar_block_index_first(index, at + 1, wanted)) {
        if (index->levels[at] < least) {
            best = at;
            least = index->levels[at];
        }
        --looks;
    }
    return best;
}

uint32_t maar_block_index_first_beyond(const struct maar_block_index* index, uint32_t from,
                                       uint32_t wanted)
{
    const uint16_t* levels[MAAR_BLOCK_INDEX_LEVELS];
    uint32_t level = 0;
    uint32_t width = index->capacity;
    uint32_t at = from;
    uint32_t end = from;
    levels[0] = index->levels;
    while (at == end) {
        if (end >= width) {
            return UINT32_MAX;
        }
        at = end >> MAAR_BLOCK_INDEX_FAN_BITS;
        levels[level + 1] = levels[level] + width;
        width = groups_of(width);
        ++level;
        end = (at | (MAAR_BLOCK_INDEX_FAN - 1)) + 1;
        end = end < width ? end : width;
        at = maar_block_index_scan(levels[level], at, end, wanted);
    }
    while (level > 0) {
        --level;
        at <<= MAAR_BLOCK_INDEX_FAN_BITS;
        at = maar_block_index_scan(levels[level], at, at + MAAR_BLOCK_INDEX_FAN, wanted);
    }
    return at;
}

const char* maar_block_index_check(const struct maar_block_index* index,
                                   struct maar_block* const* blocks, uint32_t end)
{
    for (uint32_t i = 0; i < end; ++i) {
        const struct maar_block* block = blocks[i];
        if (block == NULL) {
            continue;
        }
        const uint32_t exact = maar_size_class(maar_block_room(block));
        if (block->at != i) {
            return "a block does not know its place in its arena";
        }
        if (index->levels[i] < exact) {
            return "an arena does not know of room in a block";
        }
        if (block->draining ? index->levels[i] != 0
                            : maar_size_class(block->quiet_room) > index->levels[i] ||
                                  block->quiet_room > block->least_bound) {
            return "the indexes of an arena would miss a free";
        }
    }
    const uint16_t* level = index->levels;
    for (uint32_t width = index->capacity; width > MAAR_BLOCK_INDEX_FAN; width = groups_of(width)) {
        const uint16_t* above = level + width;
        for (uint32_t i = 0; i < width; ++i) {
            if (level[i] > above[i >> MAAR_BLOCK_INDEX_FAN_BITS]) {
                return "an arena would pass over a block that has room";
            }
        }
        level = above;
    }
    return NULL;
}
