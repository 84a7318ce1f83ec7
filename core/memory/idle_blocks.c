/*
 * The heap of idle blocks: see idle_blocks.h. Each block knows its place in the heap.
 */
#include "core/memory/idle_blocks.h"

#include "core/memory/block.h"

static bool goes_before(const struct maar_block* one, const struct maar_block* other)
{
    return one->size != other->size ? one->size < other->size : one->at > other->at;
}

static void put_idle(struct maar_idle_blocks* idle, uint32_t at, struct maar_block* block)
{
    idle->heap[at] = block;
    block->idle_place = at + 1;
}

/* Puts a block where it belongs, from place `at` toward the top. */
static void rise(struct maar_idle_blocks* idle, uint32_t at, struct maar_block* block)
{
    while (at > 0 && goes_before(block, idle->heap[(at - 1) / 2])) {
        put_idle(idle, at, idle->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put_idle(idle, at, block);
}

/* Puts a block where it belongs, from place `at` downward. */
static void sink(struct maar_idle_blocks* idle, uint32_t at, struct maar_block* block)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < idle->count && goes_before(idle->heap[child + 1], idle->heap[child])) {
            ++child;
        }
        if (child >= idle->count || !goes_before(idle->heap[child], block)) {
            break;
        }
        put_idle(idle, at, idle->heap[child]);
        at = child;
    }
    put_idle(idle, at, block);
}

void maar_idle_blocks_add(struct maar_idle_blocks* idle, struct maar_block* block)
{
    rise(idle, idle->count++, block);
}

void maar_idle_blocks_remove(struct maar_idle_blocks* idle, struct maar_block* block)
{
    if (block->idle_place == 0) {
        return;
    }
    const uint32_t at = block->idle_place - 1;
    struct maar_block* last = idle->heap[--idle->count];
    block->idle_place = 0;
    if (last == block) {
        return;
    }
    if (at > 0 && goes_before(last, idle->heap[(at - 1) / 2])) {
        rise(idle, at, last);
    } else {
        sink(idle, at, last);
    }
}

const char* maar_idle_blocks_check(const struct maar_idle_blocks* idle)
{
    for (uint32_t i = 0; i < idle->count; ++i) {
        const struct maar_block* block = idle->heap[i];
        if (block->idle_place != i + 1) {
            return "an idle block does not know its place among the idle blocks";
        }
        if (block->range_count != 0 || block->pin_count != 0) {
            return "a block in use stands among the idle blocks";
        }
        if (i > 0 && goes_before(block, idle->heap[(i - 1) / 2])) {
            return "the idle blocks are not in their order";
        }
    }
    return NULL;
}
