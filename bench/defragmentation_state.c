/*
 * The states of the benchmark of defragmentation; see defragmentation_state.h.
 */
#include "bench/defragmentation_state.h"

#include "bench/bench_common.h"

#include <stdlib.h>
#include <string.h>

/* Whether a state frees a live resource. number: of the resource in the order of allocation. */
static bool is_freed(const struct defragmentation_state* state, uint32_t number, uint32_t count,
                     uint64_t* random)
{
    enum { CLUSTER = 32 };
    switch (state->freed) {
    case FREED_OLDEST:
        return (uint64_t)number * 100 < (uint64_t)count * state->percent;
    case FREED_CLUSTERS: {
        uint64_t seed = BENCH_SEED + number / CLUSTER * 977;
        (void)bench_random(&seed);
        return bench_random(&seed) % 100 < state->percent;
    }
    default:
        return bench_random(random) % 100 < state->percent;
    }
}

/* A slot of a script, while it is replayed. */
struct slot {
    struct defragmentation_live live; /* without a size: nothing lives here */
    uint32_t order;                   /* of its allocation */
};

static int compare_order(const void* one, const void* other)
{
    const struct slot* const a = one;
    const struct slot* const b = other;
    return (a->order > b->order) - (a->order < b->order);
}

/* Returns what a resource needs, in whole units of BENCH_ALIGNMENT. So no allocator rounds it
 * further, and the allocators can have the same layout. */
static struct defragmentation_live rounded(const struct support_trace_resource* resource)
{
    const uint64_t alignment = trace_alignment(resource);
    const uint64_t mask = BENCH_ALIGNMENT - 1;
    return (struct defragmentation_live){
        .size = (resource->size + mask) & ~mask,
        .alignment = alignment > BENCH_ALIGNMENT ? alignment : BENCH_ALIGNMENT,
    };
}

/* Plays the steps of a script up to its steady state. A recording has none: up to its peak. */
static void play(const struct defragmentation_peer* peer, void* allocator, uint64_t block_size,
                 const struct support_trace* trace, const struct trace_script* script,
                 struct slot* slots)
{
    const size_t end = script->copies == 1 ? script->peak + 1 : script->steady;
    uint32_t made = 0;
    for (size_t i = 0; i < end; ++i) {
        const struct trace_step* const step = &script->steps[i];
        const struct support_trace_resource* const resource = &trace->resources[step->resource];
        struct slot* const slot = &slots[step->slot];
        if (step->is_free && slot->live.size != 0) {
            peer->allocator->free(allocator, &slot->live.item);
            *slot = (struct slot){0};
        }
        if (step->is_free || resource->size > block_size) {
            continue; /* a larger one would have a block of its own */
        }
        *slot = (struct slot){.live = rounded(resource), .order = made++};
        if (!peer->allocate(allocator, slot->live.size, slot->live.alignment, &slot->live.item)) {
            bench_die(BENCH_EXIT_FAILED, "%s cannot allocate", peer->name);
        }
    }
}

struct defragmentation_lives defragmentation_replay(const struct defragmentation_peer* peer,
                                                    void* allocator, uint64_t block_size,
                                                    const struct support_trace* trace,
                                                    const struct trace_script* script,
                                                    const struct defragmentation_state* state)
{
    struct slot* const slots = bench_allocate(script->slot_count, sizeof(*slots));
    play(peer, allocator, block_size, trace, script, slots);
    uint32_t live = 0;
    for (uint32_t i = 0; i < script->slot_count; ++i) {
        if (slots[i].live.size != 0) {
            slots[live++] = slots[i];
        }
    }
    qsort(slots, live, sizeof(*slots), compare_order);
    struct defragmentation_lives lives = {.all = bench_allocate(live + 1, sizeof(*lives.all))};
    uint64_t random = BENCH_SEED;
    for (uint32_t i = 0; i < live; ++i) {
        if (is_freed(state, i, live, &random)) {
            peer->allocator->free(allocator, &slots[i].live.item);
        } else {
            lives.all[lives.count++] = slots[i].live;
        }
    }
    free(slots);
    return lives;
}

/* Allocations that fill holes. */
struct fillers {
    struct allocator_item* items;
    uint32_t count;
};

/* Fills the hole between two offsets of the block that is being filled. */
static void fill(const struct defragmentation_peer* peer, void* allocator, uint64_t from,
                 uint64_t to, struct fillers* fillers)
{
    if (from < to && !peer->allocate(allocator, to - from, 1, &fillers->items[fillers->count++])) {
        bench_die(BENCH_EXIT_FAILED, "%s cannot allocate a filler", peer->name);
    }
}

struct defragmentation_lives defragmentation_rebuild(const struct defragmentation_peer* peer,
                                                     void* allocator,
                                                     const struct defragmentation_layout* layout)
{
    struct defragmentation_lives lives = {
        .all = bench_allocate(layout->count + 1, sizeof(*lives.all))};
    struct fillers fillers = {.items =
                                  bench_allocate((size_t)layout->count + layout->block_count + 1,
                                                 sizeof(*fillers.items))};
    uint64_t end = 0;
    for (uint32_t i = 0; i < layout->count; ++i) {
        const struct defragmentation_range* const range = &layout->ranges[i];
        struct defragmentation_live* const live = &lives.all[lives.count++];
        if (i > 0 && range->block != range[-1].block) {
            fill(peer, allocator, end, layout->block_size, &fillers);
            end = 0;
        }
        fill(peer, allocator, end, range->offset, &fillers);
        live->size = range->size;
        live->alignment = range->alignment;
        if (!peer->allocate(allocator, range->size, range->alignment, &live->item)) {
            bench_die(BENCH_EXIT_FAILED, "%s cannot allocate", peer->name);
        }
        end = range->offset + range->size;
    }
    fill(peer, allocator, end, layout->block_size, &fillers);
    for (uint32_t i = 0; i < fillers.count; ++i) {
        peer->allocator->free(allocator, &fillers.items[i]);
    }
    free(fillers.items);
    return lives;
}

/* The blocks that were seen, by memory: an open hash table. */
struct block_numbers {
    VkDeviceMemory* memories;
    uint32_t* numbers;
    uint32_t capacity; /* a power of two */
    uint32_t count;
};

static uint32_t number_of(struct block_numbers* blocks, VkDeviceMemory memory)
{
    uint64_t bits = 0;
    memcpy(&bits, &memory, sizeof(memory));
    uint32_t at = (uint32_t)(bits * UINT64_C(0x9E3779B97F4A7C15) >> 32);
    for (at &= blocks->capacity - 1; blocks->memories[at] != VK_NULL_HANDLE;
         at = (at + 1) & (blocks->capacity - 1)) {
        if (blocks->memories[at] == memory) {
            return blocks->numbers[at];
        }
    }
    blocks->memories[at] = memory;
    blocks->numbers[at] = blocks->count;
    return blocks->count++;
}

static int compare_place(const void* one, const void* other)
{
    const struct defragmentation_range* const a = one;
    const struct defragmentation_range* const b = other;
    if (a->block != b->block) {
        return a->block > b->block ? 1 : -1;
    }
    return (a->offset > b->offset) - (a->offset < b->offset);
}

struct defragmentation_layout defragmentation_read(const struct defragmentation_peer* peer,
                                                   void* allocator, uint64_t block_size,
                                                   const struct defragmentation_lives* lives)
{
    struct block_numbers blocks = {.capacity = 16};
    struct defragmentation_layout layout = {
        .block_size = block_size,
        .count = lives->count,
        .ranges = bench_allocate(lives->count + 1, sizeof(*layout.ranges)),
    };
    struct bench_range* const checked = bench_allocate(lives->count + 1, sizeof(*checked));
    while (blocks.capacity < 2 * lives->count) {
        blocks.capacity *= 2;
    }
    blocks.memories = bench_allocate(blocks.capacity, sizeof(*blocks.memories));
    blocks.numbers = bench_allocate(blocks.capacity, sizeof(*blocks.numbers));
    for (uint32_t i = 0; i < lives->count; ++i) {
        const struct defragmentation_live* const live = &lives->all[i];
        struct allocator_place place;
        peer->allocator->place(allocator, &live->item, &place);
        layout.ranges[i] = (struct defragmentation_range){
            .block = number_of(&blocks, place.memory),
            .offset = place.offset,
            .size = live->size,
            .alignment = live->alignment,
        };
        checked[i] = (struct bench_range){
            .space = layout.ranges[i].block,
            .space_size = block_size,
            .offset = place.offset,
            .size = live->size,
            .alignment = live->alignment,
        };
        layout.live_bytes += live->size;
    }
    bench_check_ranges(peer->name, checked, lives->count);
    qsort(layout.ranges, layout.count, sizeof(*layout.ranges), compare_place);
    layout.block_count = blocks.count;
    free(checked);
    free(blocks.memories);
    free(blocks.numbers);
    return layout;
}

void defragmentation_compare(const char* who, const struct defragmentation_layout* expected,
                             const struct defragmentation_layout* found)
{
    if (found->count != expected->count || found->block_count != expected->block_count) {
        bench_die(BENCH_EXIT_FAILED, "%s: the layout has %u ranges in %u blocks, not %u in %u", who,
                  found->count, found->block_count, expected->count, expected->block_count);
    }
    for (uint32_t i = 0; i < expected->count; ++i) {
        const struct defragmentation_range* const a = &expected->ranges[i];
        const struct defragmentation_range* const b = &found->ranges[i];
        if (a->block != b->block || a->offset != b->offset || a->size != b->size ||
            a->alignment != b->alignment) {
            bench_die(BENCH_EXIT_FAILED,
                      "%s: range %u lies in block %u at %llu, and not in block %u at %llu", who, i,
                      b->block, (unsigned long long)b->offset, a->block,
                      (unsigned long long)a->offset);
        }
    }
}

static int compare_bytes(const void* one, const void* other)
{
    const uint64_t a = *(const uint64_t*)one;
    const uint64_t b = *(const uint64_t*)other;
    return (a > b) - (a < b);
}

uint64_t* defragmentation_bounds(const struct defragmentation_layout* layout)
{
    uint64_t* const bounds = bench_allocate(layout->block_count + 1, sizeof(*bounds));
    for (uint32_t i = 0; i < layout->count; ++i) {
        bounds[layout->ranges[i].block + 1] += layout->ranges[i].size;
    }
    qsort(bounds + 1, layout->block_count, sizeof(*bounds), compare_bytes);
    for (uint32_t i = 1; i <= layout->block_count; ++i) {
        bounds[i] += bounds[i - 1];
    }
    return bounds;
}

void defragmentation_free_lives(const struct defragmentation_peer* peer, void* allocator,
                                struct defragmentation_lives* lives)
{
    for (uint32_t i = 0; i < lives->count; ++i) {
        peer->allocator->free(allocator, &lives->all[i].item);
    }
    free(lives->all);
    *lives = (struct defragmentation_lives){0};
}

void defragmentation_layout_release(struct defragmentation_layout* layout)
{
    free(layout->ranges);
    *layout = (struct defragmentation_layout){0};
}
