/*
 * The pages of a block: which are free, taken, shared and held.
 *
 * Each block lists its free runs by length, and bits show which lists have runs (as in TLSF:
 * Masmano et al., ECRTS 2004). Any part of a run can be given back alone. Only the two end pages of
 * a free run store its length, so neighbours are joined without a search.
 */
#include "core/paging/page_block.h"

#include "core/memory/block.h"
#include "core/memory/empty_blocks.h"

#include <string.h>

/* Returns the lowest class whose runs are all at least this long. */
static uint32_t sufficient_class(uint32_t length)
{
    if (length < 4) {
        return length;
    }
    const uint32_t step = 1u << (maar_top_bit(length) - 2);
    return length > UINT32_MAX - (step - 1) ? MAAR_PAGE_CLASSES
                                            : maar_page_class(length + (step - 1));
}

/* Returns the first class at or above `from` that has a run, or MAAR_PAGE_CLASSES. */
static uint32_t next_run_class(const struct maar_page_block* block, uint32_t from)
{
    for (uint32_t word = from / 64; word < MAAR_PAGE_CLASSES / 64; ++word) {
        uint64_t bits = block->classes[word];
        if (word == from / 64) {
            bits &= UINT64_MAX << (from % 64);
        }
        if (bits != 0) {
            return word * 64 + maar_low_bit(bits);
        }
    }
    return MAAR_PAGE_CLASSES;
}

uint32_t maar_page_longest_class(const struct maar_page_block* block)
{
    for (uint32_t word = MAAR_PAGE_CLASSES / 64; word-- > 0;) {
        const uint64_t bits = block->classes[word];
        if (bits != 0) {
            return word * 64 + maar_top_bit(bits);
        }
    }
    return 0;
}

static void note_longest(struct maar_page_block* block)
{
    block->pool->longest[block->place] =
        block->drainer == 0 ? (uint8_t)maar_page_longest_class(block) : 0;
}

static void list_free_run(struct maar_page_block* block, uint32_t first, uint32_t length)
{
    struct maar_page_mark* marks = block->marks;
    const uint32_t class = maar_page_class(length);
    marks[first].run = length;
    marks[first + length - 1].run = length;
    marks[first].previous = MAAR_PAGE_NONE;
    marks[first].next = block->heads[class];
    if (block->heads[class] != MAAR_PAGE_NONE) {
        marks[block->heads[class]].previous = first;
    }
    block->heads[class] = first;
    block->classes[class / 64] |= (uint64_t)1 << (class % 64);
}

void maar_page_block_begin(struct maar_page_block* block)
{
    list_free_run(block, 0, block->page_count);
    note_longest(block);
}

void maar_page_block_drain(struct maar_page_block* block, uint64_t drainer)
{
    struct maar_page_pool* pool = block->pool;
    const uint32_t unused = block->page_count - block->used_count;
    maar_assert_held(pool->lock);
    MAAR_DEBUG_ASSERT(block->drainer == 0 &&
                      pool->free_count >= (uint64_t)unused + block->live_count);
    block->drainer = drainer;
    block->promised = block->live_count;
    pool->free_count -= (uint64_t)unused + block->promised;
    ++pool->draining_count;
    note_longest(block);
}

void maar_page_block_unpromise(struct maar_page_block* block)
{
    maar_assert_held(block->pool->lock);
    block->pool->free_count += block->promised;
    block->promised = 0;
}

void maar_page_block_revive(struct maar_page_block* block)
{
    maar_assert_held(block->pool->lock);
    if (block->drainer != 0) {
        maar_page_block_unpromise(block);
        block->drainer = 0;
        block->is_emptied = false;
        block->pool->free_count += block->page_count - block->used_count;
        --block->pool->draining_count;
        note_longest(block);
    }
}

static void unlist_free_run(struct maar_page_block* block, uint32_t first)
{
    struct maar_page_mark* marks = block->marks;
    const uint32_t length = marks[first].run;
    const uint32_t class = maar_page_class(length);
    const uint32_t next = marks[first].next;
    const uint32_t previous = marks[first].previous;
    if (previous != MAAR_PAGE_NONE) {
        marks[previous].next = next;
    } else {
        block->heads[class] = next;
        if (next == MAAR_PAGE_NONE) {
            block->classes[class / 64] &= ~((uint64_t)1 << (class % 64));
        }
    }
    if (next != MAAR_PAGE_NONE) {
        marks[next].previous = previous;
    }
    marks[first].run = 0;
    marks[first + length - 1].run = 0;
}

/* Updates the numbers in core/memory's statistics: how much of the block is in use. */
static void publish_use(const struct maar_page_block* block)
{
    const VkDeviceSize size = block->pool->page_size;
    maar_block_note_pages(block->block, block->live_count * size,
                          (block->used_count - block->live_count) * size);
}

void maar_page_block_emptied(struct maar_page_block* block)
{
    struct maar_page_pool* pool = block->pool;
    block->emptied_at = maar_atomic64_load(&pool->clock->last);
    if (pool->empty_count++ == 0) {
        pool->emptied_from = block->emptied_at;
    }
}

static void free_run(struct maar_page_block* block, uint32_t first, uint32_t length)
{
    struct maar_page_mark* marks = block->marks;
    block->pool->free_count += block->drainer == 0 ? length : 0;
    block->used_count -= length;
    if (block->used_count == 0) {
        maar_page_block_emptied(block);
    }
    memset(&marks[first], 0, length * sizeof marks[0]);
    if (first > 0 && marks[first - 1].run != 0) {
        const uint32_t before = marks[first - 1].run;
        first -= before;
        length += before;
        unlist_free_run(block, first);
    }
    if (first + length < block->page_count && marks[first + length].run != 0) {
        const uint32_t after = marks[first + length].run;
        unlist_free_run(block, first + length);
        length += after;
    }
    list_free_run(block, first, length);
}

/* The number of runs tried in the request's own class. These runs may be a little too short. After
 * them, a run of a longer class is cut. */
enum { CLASS_LOOKS = 8 };

uint32_t maar_page_find_run(const struct maar_page_block* block, uint32_t length)
{
    uint32_t run = block->heads[maar_page_class(length)];
    for (uint32_t i = 0; i < CLASS_LOOKS && run != MAAR_PAGE_NONE; ++i) {
        if (block->marks[run].run >= length) {
            return run;
        }
        run = block->marks[run].next;
    }
    const uint32_t class = sufficient_class(length);
    const uint32_t found =
        class < MAAR_PAGE_CLASSES ? next_run_class(block, class) : MAAR_PAGE_CLASSES;
    return found < MAAR_PAGE_CLASSES ? block->heads[found] : MAAR_PAGE_NONE;
}

void maar_page_take(struct maar_page_block* block, uint32_t first, uint32_t count)
{
    const uint32_t length = block->marks[first].run;
    maar_assert_held(block->pool->lock);
    MAAR_DEBUG_ASSERT(length >= count && block->drainer == 0);
    unlist_free_run(block, first);
    if (length > count) {
        list_free_run(block, first + count, length - count);
    }
    for (uint32_t i = 0; i < count; ++i) {
        block->marks[first + i].run = 0;
        block->marks[first + i].refs = 1;
        block->marks[first + i].live = 1;
    }
    block->pool->empty_count -= block->used_count == 0;
    block->pool->free_count -= count;
    block->used_count += count;
    block->live_count += count;
    note_longest(block);
    publish_use(block);
}

bool maar_page_share(struct maar_page_block* block, uint32_t page)
{
    struct maar_page_mark* mark = &block->marks[page];
    maar_assert_held(block->pool->lock);
    MAAR_DEBUG_ASSERT(mark->run == 0 && mark->refs > 0);
    if (mark->refs == UINT16_MAX) {
        return false;
    }
    ++mark->refs;
    ++mark->live;
    return true;
}

void maar_page_keep(struct maar_page_block* block, uint32_t first, uint32_t count)
{
    maar_assert_held(block->pool->lock);
    for (uint32_t page = first; page < first + count; ++page) {
        MAAR_DEBUG_ASSERT(block->marks[page].run == 0 && block->marks[page].refs > 0 &&
                          block->marks[page].refs < UINT16_MAX);
        ++block->marks[page].refs;
    }
}

void maar_page_hold(struct maar_page_block* block, uint32_t page, bool held)
{
    struct maar_page_mark* mark = &block->marks[page];
    maar_assert_held(block->pool->lock);
    MAAR_DEBUG_ASSERT(mark->run == 0 && mark->refs > 0);
    if (held) {
        --mark->live;
        block->live_count -= mark->live == 0;
    } else {
        block->live_count += mark->live == 0;
        ++mark->live;
    }
    publish_use(block);
}

void maar_page_drop(struct maar_page_block* block, uint32_t first, uint32_t count, bool live)
{
    uint32_t from = first;
    maar_assert_held(block->pool->lock);
    for (uint32_t page = first; page < first + count; ++page) {
        struct maar_page_mark* mark = &block->marks[page];
        MAAR_DEBUG_ASSERT(mark->run == 0 && mark->refs > 0 && (!live || mark->live > 0));
        if (live) {
            --mark->live;
            block->live_count -= mark->live == 0;
        }
        if (--mark->refs != 0) {
            if (page > from) {
                free_run(block, from, page - from);
            }
            from = page + 1;
        }
    }
    if (first + count > from) {
        free_run(block, from, first + count - from);
    }
    note_longest(block);
    publish_use(block);
}
