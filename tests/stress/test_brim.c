/*
 * Allocations at the brim: each thread frees after points that have passed and allocates again as
 * much as its own model says that there is room for, while other threads only collect, wait, trim
 * or look. No request may fail, no observer may be called, and no pool may have a block more than
 * it needs.
 *
 * MAAR_STRESS_ROUNDS: rounds of each thread. MAAR_STRESS_THREADS: threads that allocate.
 * MAAR_TEST_SEED as everywhere; the interleaving is the system's.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/stress/brim_crew.h"

#include <sched.h>

enum { SLOTS_OF_BLOCK = 8, BLOCKS = 4, SLOTS = SLOTS_OF_BLOCK * BLOCKS };
static const VkDeviceSize slot_size = 16384;
static const VkDeviceSize block_size = (VkDeviceSize)16384 * SLOTS_OF_BLOCK;
static const uint32_t host_type = 1;

static MaarPool create_pool(struct brim_worker* worker, uint32_t most)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = host_type,
        .blockSize = block_size,
        .maxBlockCount = most,
    };
    MaarPool pool = VK_NULL_HANDLE;
    brim_expect(worker->crew,
                maarCreatePool(worker->crew->rig.allocator, &info, &pool) == VK_SUCCESS, "no pool");
    return pool;
}

static VkResult try_allocate(struct brim_worker* worker, MaarPool pool, VkDeviceSize size,
                             MaarAllocation* memory)
{
    const MaarMemoryRequest request =
        rig_request(size, 256, 1u << host_type, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    const VkResult result = maarAllocateMemory(worker->crew->rig.allocator, &request, &how, memory);
    (void)atomic_fetch_add(&worker->crew->made, result == VK_SUCCESS ? 1 : 0);
    return result;
}

static void allocate_all(struct brim_worker* worker, MaarPool pool, MaarAllocation* memory,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (memory[i] == VK_NULL_HANDLE) {
            brim_expect(worker->crew,
                        try_allocate(worker, pool, slot_size, &memory[i]) == VK_SUCCESS,
                        "a request fails though there is room");
        }
    }
}

static void free_passed(struct brim_worker* worker, MaarAllocation* memory)
{
    MaarPoint points[2];
    const uint32_t count = brim_passed_points(worker, points);
    brim_expect(worker->crew,
                maarFreeMemoryAfter(worker->crew->rig.allocator, *memory, count, points) ==
                    VK_SUCCESS,
                "a free fails");
    *memory = VK_NULL_HANDLE;
}

/* The accounts of a thread's own pool agree with its model. */
static void expect_pool(struct brim_worker* worker, MaarPool pool, uint32_t live,
                        VkDeviceSize live_bytes, uint32_t most_blocks)
{
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    struct brim_crew* crew = worker->crew;
    brim_expect(crew, maarGetStatistics(crew->rig.allocator, pool, &statistics) == VK_SUCCESS,
                "no statistics of the pool");
    brim_expect(crew,
                statistics.allocationCount == live && statistics.allocationBytes == live_bytes,
                "the accounts differ from the model");
    brim_expect(crew, statistics.blockCount <= most_blocks, "a block more than needed");
}

/* Fills the pool, then frees some and allocates as many, and never has a block too many. */
static void turn_slots(struct brim_worker* worker, uint32_t most_blocks, uint32_t live)
{
    MaarAllocation memory[SLOTS] = {VK_NULL_HANDLE};
    MaarPool pool = create_pool(worker, most_blocks);
    const uint32_t need = (live + SLOTS_OF_BLOCK - 1) / SLOTS_OF_BLOCK;
    for (uint32_t round = 0; round < worker->crew->rounds; ++round) {
        allocate_all(worker, pool, memory, live);
        expect_pool(worker, pool, live, live * slot_size, need);
        const uint32_t chance = 1 + rig_below(&worker->random, 4);
        for (uint32_t i = 0; i < live; ++i) {
            if (rig_below(&worker->random, 4) < chance) {
                free_passed(worker, &memory[i]);
            }
        }
    }
    for (uint32_t i = 0; i < live; ++i) {
        if (memory[i] != VK_NULL_HANDLE) {
            free_passed(worker, &memory[i]);
        }
    }
    expect_pool(worker, pool, 0, 0, need);
    maarDestroyPool(worker->crew->rig.allocator, pool);
}

static void fill_fixed_pool(struct brim_worker* worker)
{
    turn_slots(worker, BLOCKS, SLOTS);
}

static void fill_growable_pool(struct brim_worker* worker)
{
    /* By turns as many as the blocks hold, and a single one. */
    turn_slots(worker, 0, worker->number % 3 == 1 ? 1 : SLOTS);
}

static void fixed_pool_always_has_what_was_freed(void** state)
{
    (void)state;
    brim_run_case(600, fill_fixed_pool);
}

static void growable_pool_never_grows_beyond_need(void** state)
{
    (void)state;
    brim_run_case(600, fill_growable_pool);
}

/* ---- points that pass while the threads run ---- */

enum { LATEST = 3, RING = 1 << 12 };

/* What a thread has freed after a point to come: the word at its start is its own until then. The
 * thread writes `freed`, the clock writes the others: `seen` counts the words that it has read. */
struct pending_ring {
    struct {
        _Atomic uint64_t* word;
        uint64_t tag;
        uint64_t value;
    } entries[RING];
    _Atomic uint64_t freed;
    uint64_t ended;
    uint64_t seen;
};

struct dated_slot {
    MaarAllocation memory;
    _Atomic uint64_t* word;
    uint64_t tag;
};

static struct pending_ring rings[BRIM_MOST_WORKERS];

/* Before the clock moves: whatever waits for this value is still as its thread left it. Each
 * thread's values ascend. A thread that hardly runs may write an entry after its value has passed.
 * The memory of such an entry may be in other hands already. */
static void look_before_tick(struct brim_crew* crew, uint64_t value)
{
    for (uint32_t i = 0; i < crew->worker_count; ++i) {
        struct pending_ring* ring = &rings[i];
        const uint64_t freed = atomic_load(&ring->freed);
        while (ring->ended < freed && ring->entries[ring->ended % RING].value <= value) {
            const uint64_t at = ring->ended++ % RING;
            if (ring->entries[at].value == value) {
                ++ring->seen;
                brim_expect(crew, atomic_load(ring->entries[at].word) == ring->entries[at].tag,
                            "memory was handed out before its point");
            }
        }
    }
}

/* The memory of a pending slot is looked at until its point has passed, so the entry is written
 * before the free. */
static void free_later(struct brim_worker* worker, struct dated_slot* slot, uint64_t value)
{
    struct brim_crew* crew = worker->crew;
    struct pending_ring* ring = &rings[worker->number];
    const uint64_t at = atomic_load(&ring->freed);
    const MaarPoint points[2] = {
        {.semaphore = crew->timeline, .value = value},
        {.semaphore = VK_NULL_HANDLE, .value = value},
    };
    brim_expect(crew, atomic_load(slot->word) == slot->tag, "live memory was handed out");
    ring->entries[at % RING].word = slot->word;
    ring->entries[at % RING].tag = slot->tag;
    ring->entries[at % RING].value = value;
    atomic_store(&ring->freed, at + 1);
    brim_expect(crew,
                maarFreeMemoryAfter(crew->rig.allocator, slot->memory,
                                    1 + rig_below(&worker->random, 2), points) == VK_SUCCESS,
                "a free fails");
    slot->memory = VK_NULL_HANDLE;
}

static bool take_slot(struct brim_worker* worker, MaarPool pool, struct dated_slot* slot)
{
    static _Atomic uint64_t tags;
    MaarAllocator allocator = worker->crew->rig.allocator;
    const VkResult result = try_allocate(worker, pool, slot_size, &slot->memory);
    if (result != VK_SUCCESS) {
        brim_expect(worker->crew, result == VK_ERROR_OUT_OF_POOL_MEMORY, "the wrong error");
        (void)atomic_fetch_sub(&worker->crew->observed, 1); /* counted as an error if it is one */
        return false;
    }
    void* data = NULL;
    brim_expect(worker->crew, maarMapMemory(allocator, slot->memory, &data) == VK_SUCCESS,
                "no mapping");
    slot->word = data;
    slot->tag = atomic_fetch_add(&tags, 1) + 1;
    atomic_store(slot->word, slot->tag);
    return true;
}

static uint32_t count_to_come(const uint64_t values[SLOTS], uint64_t clock)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SLOTS; ++i) {
        count += values[i] > clock ? 1u : 0u;
    }
    return count;
}

/* values: when each of the slots of the model is free; 0: it is free, UINT64_MAX: it is live. */
static void turn_dated_slot(struct brim_worker* worker, MaarPool pool, struct dated_slot* slots,
                            uint64_t values[SLOTS], uint64_t* latest)
{
    struct brim_crew* crew = worker->crew;
    const uint32_t chosen = rig_below(&worker->random, SLOTS);
    if (slots[chosen].memory != VK_NULL_HANDLE) {
        /* Two ahead of the clock, which mostly passes after the free is queued. */
        const uint64_t soon = atomic_load(&crew->begun) + 2 + rig_below(&worker->random, LATEST);
        *latest = soon > *latest ? soon : *latest;
        free_later(worker, &slots[chosen], *latest);
        values[chosen] = *latest;
        return;
    }
    const bool must = count_to_come(values, atomic_load(&crew->passed)) < SLOTS;
    if (!take_slot(worker, pool, &slots[chosen])) {
        brim_expect(crew, !must, "a request fails though a point has passed");
        (void)sched_yield();
        return;
    }
    /* A slot of the model whose point had passed is taken. */
    const uint64_t begun = atomic_load(&crew->begun);
    uint32_t least = 0;
    for (uint32_t i = 1; i < SLOTS; ++i) {
        least = values[i] < values[least] ? i : least;
    }
    brim_expect(crew, values[least] <= begun, "there was no room yet");
    values[least] = values[chosen];
    values[chosen] = UINT64_MAX;
}

static void fill_after_points(struct brim_worker* worker)
{
    struct dated_slot slots[SLOTS] = {{.memory = VK_NULL_HANDLE}};
    uint64_t values[SLOTS] = {0};
    uint64_t latest = 0;
    MaarPool pool = create_pool(worker, BLOCKS);
    for (uint32_t round = 0; round < worker->crew->rounds; ++round) {
        turn_dated_slot(worker, pool, slots, values, &latest);
    }
    for (uint32_t i = 0; i < SLOTS; ++i) {
        if (slots[i].memory != VK_NULL_HANDLE) {
            maarFreeMemory(worker->crew->rig.allocator, slots[i].memory);
        }
    }
    /* The clock may still look at the pool's memory. */
    while (atomic_load(&worker->crew->passed) <= latest) {
        (void)sched_yield();
    }
    maarDestroyPool(worker->crew->rig.allocator, pool);
}

static void nothing_is_handed_out_before_its_point(void** state)
{
    (void)state;
    static struct brim_crew crew;
    memset(rings, 0, sizeof rings);
    brim_open(&crew, 20000);
    crew.before_tick = look_before_tick;
    brim_begin(&crew);
    brim_run(&crew, fill_after_points);
    uint64_t freed = 0;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < crew.worker_count; ++i) {
        freed += atomic_load(&rings[i].freed);
        seen += rings[i].seen;
    }
    print_message("%llu of %llu words were read before their point passed\n",
                  (unsigned long long)seen, (unsigned long long)freed);
    assert_true(seen > 0 && seen <= freed);
    brim_end(&crew);
}

/* ---- mixed sizes ---- */

struct mixed_item {
    MaarAllocation memory;
    VkDeviceMemory block;
    VkDeviceSize size;
};

/* Blocks of the pool that hold a live allocation. */
static uint32_t count_used_blocks(const struct mixed_item items[SLOTS])
{
    VkDeviceMemory seen[SLOTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < SLOTS; ++i) {
        uint32_t at = 0;
        while (at < count && seen[at] != items[i].block) {
            ++at;
        }
        if (items[i].memory != VK_NULL_HANDLE && at == count) {
            seen[count++] = items[i].block;
        }
    }
    return count;
}

/* A request succeeds whenever the live allocations leave a whole block, and whatever its size. */
static void make_mixed(struct brim_worker* worker, MaarPool pool, struct mixed_item items[SLOTS],
                       uint32_t i, VkDeviceSize* bytes)
{
    struct brim_crew* crew = worker->crew;
    const VkDeviceSize size = rig_below(&worker->random, 6) == 0
                                  ? block_size
                                  : 1 + rig_below(&worker->random, (uint32_t)block_size / 2);
    const bool must = count_used_blocks(items) < BLOCKS;
    const VkResult result = try_allocate(worker, pool, size, &items[i].memory);
    if (result != VK_SUCCESS) {
        brim_expect(crew, !must, "a request fails beside an empty block");
        (void)atomic_fetch_sub(&crew->observed, 1); /* counted as an error if it is one */
        return;
    }
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    brim_expect(crew,
                maarGetAllocationInfo(crew->rig.allocator, items[i].memory, &info) == VK_SUCCESS,
                "no info");
    items[i].block = info.memory;
    items[i].size = info.size;
    *bytes += info.size;
}

static void fill_with_mixed_sizes(struct brim_worker* worker)
{
    struct mixed_item items[SLOTS] = {{.memory = VK_NULL_HANDLE}};
    MaarPool pool = create_pool(worker, BLOCKS);
    VkDeviceSize bytes = 0;
    uint32_t live = 0;
    for (uint32_t round = 0; round < worker->crew->rounds; ++round) {
        const uint32_t i = rig_below(&worker->random, SLOTS);
        if (items[i].memory == VK_NULL_HANDLE) {
            make_mixed(worker, pool, items, i, &bytes);
            live += items[i].memory != VK_NULL_HANDLE ? 1 : 0;
        } else {
            bytes -= items[i].size;
            --live;
            free_passed(worker, &items[i].memory);
        }
        expect_pool(worker, pool, live, bytes, BLOCKS);
    }
    for (uint32_t i = 0; i < SLOTS; ++i) {
        if (items[i].memory != VK_NULL_HANDLE) {
            free_passed(worker, &items[i].memory);
        }
    }
    maarDestroyPool(worker->crew->rig.allocator, pool);
}

static void a_whole_block_serves_any_size(void** state)
{
    (void)state;
    brim_run_case(8000, fill_with_mixed_sizes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_pool_always_has_what_was_freed),
        cmocka_unit_test(growable_pool_never_grows_beyond_need),
        cmocka_unit_test(nothing_is_handed_out_before_its_point),
        cmocka_unit_test(a_whole_block_serves_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
