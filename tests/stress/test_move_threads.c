/*
 * Threads that move allocations, beside threads that allocate, map, write, read, free and free
 * after points the same allocations. A mapped allocation stays where it is, and its bytes are its
 * own: each holds a word that its owner checks at every visit, as long as the allocation has not
 * moved since. One thread runs defragmentation, for blocks and for rooms, and frees the rooms that
 * it takes. In the end nothing is left. In a second case the main thread begins and ends
 * captures meanwhile, and each history is whole.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/captured.h"

#include <pthread.h>
#include <time.h>

enum {
    OWNERS = 3,
    MOVERS = 2,
    RUNNERS = 1,
    WORKERS = OWNERS + MOVERS + RUNNERS,
    ENTRIES = 48,
    ROUNDS = 6000,
    BATCH = 8,
    WORDS = 256,
    POOLS = 2,
    CAPTURES = 8
};

/* An allocation that an owner takes out while it works on it. Movers only read the handle, which
 * may be stale by then. */
struct entry {
    _Atomic(MaarAllocation) shared;
    /* The owner's. */
    uint32_t word;
    uint64_t epoch; /* of the last visit */
    VkDeviceSize size;
};

struct crew {
    struct rig* rig;
    MaarPool pools[POOLS];
    struct entry entries[ENTRIES];
    _Atomic(bool) taken[ENTRIES]; /* an owner works on the entry */
    pthread_mutex_t ticking;
    _Atomic uint64_t clock; /* of the host timeline; rises under the mutex */
    _Atomic uint32_t errors;
    _Atomic uint32_t moved;
    _Atomic uint32_t rooms; /* that were taken */
    _Atomic uint32_t working;
};

struct worker {
    struct crew* crew;
    pthread_t thread;
    struct rig_random random;
};

/* cmocka's assertions belong to the main thread. */
static void expect(struct crew* crew, bool condition, const char* what)
{
    if (!condition) {
        print_error("not so: %s\n", what);
        (void)atomic_fetch_add(&crew->errors, 1);
    }
}
#define EXPECT(condition) expect(crew, (condition), #condition)

static uint32_t below(struct worker* worker, uint32_t bound)
{
    return rig_below(&worker->random, bound);
}

/* A point of the host timeline that soon passes. */
static MaarPoint soon(struct worker* worker)
{
    return (MaarPoint){.value = atomic_load(&worker->crew->clock) + 1 + below(worker, 3)};
}

static void tick(struct crew* crew)
{
    EXPECT(pthread_mutex_lock(&crew->ticking) == 0);
    const uint64_t now = atomic_fetch_add(&crew->clock, 1) + 1;
    EXPECT(maarAdvanceHostTimeline(crew->rig->allocator, now) == VK_SUCCESS);
    EXPECT(pthread_mutex_unlock(&crew->ticking) == 0);
    EXPECT(maarCollect(crew->rig->allocator, NULL) == VK_SUCCESS);
}

/* ---- owners ---- */

static MaarAllocation take(struct worker* worker, struct entry* entry)
{
    struct crew* const crew = worker->crew;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = crew->pools[below(worker, POOLS)];
    how.pName = below(worker, 4) == 0 ? "a name" : NULL;
    how.pUserData = entry;
    entry->size = (VkDeviceSize)4 * (1 + below(worker, WORDS));
    const MaarMemoryRequest request = rig_request(entry->size, (VkDeviceSize)16 << below(worker, 5),
                                                  2, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation memory = VK_NULL_HANDLE;
    EXPECT(maarAllocateMemory(crew->rig->allocator, &request, &how, &memory) == VK_SUCCESS);
    entry->epoch = UINT64_MAX; /* there are no words yet */
    return memory;
}

static MaarAllocationInfo info_of(struct crew* crew, MaarAllocation memory)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    EXPECT(maarGetAllocationInfo(crew->rig->allocator, memory, &info) == VK_SUCCESS);
    return info;
}

/* Whether all words of an allocation are those of its entry. */
static bool is_own(const struct entry* entry, const uint32_t* words)
{
    for (VkDeviceSize i = 0; i < entry->size / 4; ++i) {
        if (words[i] != entry->word + i) {
            return false;
        }
    }
    return true;
}

/* Maps, compares, writes anew, compares and unmaps. Nothing may move it meanwhile. */
static void visit(struct worker* worker, struct entry* entry, MaarAllocation memory)
{
    struct crew* const crew = worker->crew;
    void* data = NULL;
    EXPECT(maarMapMemory(crew->rig->allocator, memory, &data) == VK_SUCCESS);
    const MaarAllocationInfo before = info_of(crew, memory);
    uint32_t* const words = data;
    EXPECT(before.size >= entry->size && before.pUserData == entry);
    EXPECT(entry->epoch != before.locationEpoch || is_own(entry, words));
    entry->word = rig_next(&worker->random);
    for (uint32_t i = 0; i < entry->size / 4; ++i) {
        words[i] = entry->word + i;
    }
    if (below(worker, 8) == 0) {
        const struct timespec nap = {.tv_nsec = 20000};
        (void)nanosleep(&nap, NULL);
    }
    EXPECT(is_own(entry, words));
    const MaarAllocationInfo after = info_of(crew, memory);
    EXPECT(after.memory == before.memory && after.offset == before.offset);
    EXPECT(after.locationEpoch == before.locationEpoch);
    entry->epoch = after.locationEpoch;
    if (below(worker, 32) != 0) {
        maarUnmapMemory(crew->rig->allocator, memory);
        return;
    }
    /* Stays mapped for a while. */
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_NONE;
    EXPECT(maarGetMoveObstacle(crew->rig->allocator, memory, &obstacle) == VK_SUCCESS);
    EXPECT(obstacle == MAAR_MOVE_OBSTACLE_MAPPED);
    maarUnmapMemory(crew->rig->allocator, memory);
}

/* The library's own copies map as well. */
static void copy(struct worker* worker, struct entry* entry, MaarAllocation memory)
{
    struct crew* const crew = worker->crew;
    uint32_t words[WORDS];
    const uint64_t before = info_of(crew, memory).locationEpoch;
    EXPECT(maarCopyFromAllocation(crew->rig->allocator, memory, 0, entry->size, words) ==
           VK_SUCCESS);
    const uint64_t after = info_of(crew, memory).locationEpoch;
    EXPECT(before <= after);
    EXPECT(before != after || entry->epoch != before || is_own(entry, words));
}

static void give(struct worker* worker, MaarAllocation memory)
{
    struct crew* const crew = worker->crew;
    const MaarPoint point = soon(worker);
    void* data = NULL;
    if (below(worker, 16) == 0) {
        EXPECT(maarMapMemory(crew->rig->allocator, memory, &data) == VK_SUCCESS);
        maarUnmapMemory(crew->rig->allocator, memory);
    }
    if (below(worker, 2) == 0) {
        EXPECT(maarFreeMemoryAfter(crew->rig->allocator, memory, 1, &point) == VK_SUCCESS);
    } else {
        maarFreeMemory(crew->rig->allocator, memory);
    }
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    EXPECT(maarGetAllocationInfo(crew->rig->allocator, memory, &info) ==
           VK_ERROR_VALIDATION_FAILED_EXT);
}

static void work_on(struct worker* worker, struct entry* entry)
{
    MaarAllocation memory = atomic_load(&entry->shared);
    if (memory == VK_NULL_HANDLE) {
        memory = take(worker, entry);
        visit(worker, entry, memory);
        atomic_store(&entry->shared, memory);
        return;
    }
    const uint32_t what = below(worker, 10);
    if (what < 5) {
        visit(worker, entry, memory);
    } else if (what < 8) {
        copy(worker, entry, memory);
    } else {
        give(worker, memory);
        atomic_store(&entry->shared, VK_NULL_HANDLE);
    }
}

static void* own(void* argument)
{
    struct worker* const worker = argument;
    struct crew* const crew = worker->crew;
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        const uint32_t at = below(worker, ENTRIES);
        bool expected = false;
        if (atomic_compare_exchange_strong(&crew->taken[at], &expected, true)) {
            work_on(worker, &crew->entries[at]);
            atomic_store(&crew->taken[at], false);
        }
    }
    (void)atomic_fetch_sub(&crew->working, 1);
    return NULL;
}

/* ---- movers ---- */

static MaarMoveBatch begin(struct worker* worker)
{
    struct crew* const crew = worker->crew;
    MaarMoveRequest requests[BATCH];
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    uint32_t count = 0;
    const uint32_t first = below(worker, ENTRIES);
    for (uint32_t i = 0; i < BATCH; ++i) {
        const MaarAllocation memory = atomic_load(&crew->entries[(first + i) % ENTRIES].shared);
        if (memory != VK_NULL_HANDLE) {
            requests[count++] = (MaarMoveRequest){.allocation = memory};
        }
    }
    how.memoryTypeBits = 2;
    how.pool = crew->pools[below(worker, POOLS)];
    how.dedicated = below(worker, 8) == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
    how.pool = how.dedicated == MAAR_DEDICATED_ALWAYS ? VK_NULL_HANDLE : how.pool;
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = count,
        .pRequests = requests,
        .pCreateInfo = below(worker, 2) == 0 ? &how : NULL,
    };
    MaarMoveBatch batch = VK_NULL_HANDLE;
    if (count > 0) {
        const VkResult result = maarBeginMoves(crew->rig->allocator, &info, &batch);
        EXPECT((result == VK_SUCCESS) == (batch != VK_NULL_HANDLE));
        EXPECT(result == VK_SUCCESS || result == VK_ERROR_FEATURE_NOT_PRESENT ||
               result == VK_ERROR_VALIDATION_FAILED_EXT);
    }
    return batch;
}

static void look_at(struct worker* worker, MaarMoveBatch batch)
{
    struct crew* const crew = worker->crew;
    MaarMove moves[BATCH];
    uint32_t count = BATCH;
    for (uint32_t i = 0; i < BATCH; ++i) {
        moves[i] = (MaarMove){.sType = MAAR_STRUCTURE_TYPE_MOVE};
    }
    EXPECT(maarGetMoves(crew->rig->allocator, batch, &count, moves) == VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        EXPECT(moves[i].sourceMemory != moves[i].targetMemory ||
               moves[i].sourceOffset != moves[i].targetOffset);
        if (below(worker, 8) == 0) {
            EXPECT(maarDropMoves(crew->rig->allocator, batch, 1, &moves[i].allocation) ==
                   VK_SUCCESS);
        }
    }
}

static void end(struct worker* worker, MaarMoveBatch batch)
{
    struct crew* const crew = worker->crew;
    const MaarPoint point = soon(worker);
    const uint32_t point_count = below(worker, 2);
    uint32_t moved = 0;
    if (below(worker, 4) == 0) {
        EXPECT(maarCancelMoves(crew->rig->allocator, batch, point_count, &point) == VK_SUCCESS);
    } else {
        EXPECT(maarCommitMoves(crew->rig->allocator, batch, point_count, &point, &moved) ==
               VK_SUCCESS);
    }
    (void)atomic_fetch_add(&crew->moved, moved);
}

/* Two batches are under way at a time. */
static void* move(void* argument)
{
    struct worker* const worker = argument;
    struct crew* const crew = worker->crew;
    MaarMoveBatch batches[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    for (uint32_t i = 0; i < ROUNDS / 4 || atomic_load(&crew->working) > 0; ++i) {
        MaarMoveBatch* const batch = &batches[i % 2];
        if (*batch != VK_NULL_HANDLE) {
            look_at(worker, *batch);
            end(worker, *batch);
        }
        *batch = begin(worker);
        if (below(worker, 16) == 0) {
            tick(crew);
        }
    }
    end(worker, batches[0]);
    end(worker, batches[1]);
    return NULL;
}

/* ---- runs ---- */

static MaarDefragmentation begin_run(struct worker* worker, bool wants_room)
{
    struct crew* const crew = worker->crew;
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = crew->pools[below(worker, POOLS)],
        .goal = wants_room ? MAAR_DEFRAGMENTATION_GOAL_ROOM : MAAR_DEFRAGMENTATION_GOAL_BLOCKS,
        .roomSize = 1024 * (1 + below(worker, 12)),
        .roomAlignment = 256,
        .roomKind = MAAR_RESOURCE_KIND_LINEAR,
    };
    MaarDefragmentation run = VK_NULL_HANDLE;
    EXPECT(maarBeginDefragmentation(crew->rig->allocator, &info, &run) == VK_SUCCESS);
    return run;
}

/* Takes a room if it is ready, looks at it, and frees it. Returns whether it was taken. */
static bool use_room(struct worker* worker, MaarDefragmentation run)
{
    struct crew* const crew = worker->crew;
    MaarAllocation room = VK_NULL_HANDLE;
    const VkResult result = maarTakeDefragmentationRoom(crew->rig->allocator, run, worker, &room);
    EXPECT(result == VK_SUCCESS || result == VK_NOT_READY || result == VK_ERROR_OUT_OF_POOL_MEMORY);
    if (result == VK_SUCCESS) {
        void* data = NULL;
        EXPECT(maarMapMemory(crew->rig->allocator, room, &data) == VK_SUCCESS);
        const MaarAllocationInfo info = info_of(crew, room);
        memset(data, 0xA5, (size_t)info.size); /* it is nobody else's */
        EXPECT(info.pUserData == worker && info.offset % 256 == 0);
        maarUnmapMemory(crew->rig->allocator, room);
        (void)atomic_fetch_add(&crew->rooms, 1);
    }
    maarFreeMemory(crew->rig->allocator, room);
    return result == VK_SUCCESS;
}

static void* run(void* argument)
{
    struct worker* const worker = argument;
    struct crew* const crew = worker->crew;
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxMoves = 3};
    while (atomic_load(&crew->working) > 0) {
        const bool wants_room = below(worker, 3) != 0;
        const MaarDefragmentation own = begin_run(worker, wants_room);
        bool is_taken = false;
        const uint32_t steps = 1 + below(worker, 30);
        for (uint32_t i = 0; i < steps && !is_taken; ++i) {
            MaarMoveBatch batch = VK_NULL_HANDLE;
            const VkResult result =
                maarStepDefragmentation(crew->rig->allocator, own, &limits, &batch);
            EXPECT(result == VK_SUCCESS || (result == VK_NOT_READY && !wants_room));
            end(worker, batch);
            is_taken = wants_room && use_room(worker, own);
            if (below(worker, 4) == 0) {
                tick(crew);
            }
        }
        maarEndDefragmentation(crew->rig->allocator, own);
    }
    return NULL;
}

/* ---- the cases ---- */

/* Looks at everything. The workers go on meanwhile, so a sum need not be that of one moment. */
static void look(struct crew* crew)
{
    (void)rig_statistics(crew->rig, VK_NULL_HANDLE);
    EXPECT(maarTrim(crew->rig->allocator, VK_NULL_HANDLE, NULL) == VK_SUCCESS);
    EXPECT(maarCheckAllocator(crew->rig->allocator, NULL) == VK_SUCCESS);
}

static void capture(struct crew* crew, uint32_t number)
{
    char path[128];
    struct support_history history;
    const struct timespec nap = {.tv_nsec = 4000000};
    assert_int_equal(captured_begin(crew->rig->allocator, captured_path(number, path), 0),
                     VK_SUCCESS);
    (void)nanosleep(&nap, NULL);
    assert_int_equal(maarEndCapture(crew->rig->allocator), VK_SUCCESS);
    captured_load(path, &history);
    captured_check(&history, false);
    support_history_release(&history);
}

static void start_crew(struct crew* crew, struct worker workers[WORKERS])
{
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1, .blockSize = 16 * KIB};
    const uint64_t seed = rig_seed(6);
    memset(crew, 0, sizeof *crew);
    crew->rig = rig_begin(NULL);
    assert_int_equal(pthread_mutex_init(&crew->ticking, NULL), 0);
    for (uint32_t i = 0; i < POOLS; ++i) {
        crew->pools[i] = rig_create_pool(crew->rig, &info);
    }
    atomic_store(&crew->working, OWNERS);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        void* (*const work)(void*) = i < OWNERS ? own : i < OWNERS + MOVERS ? move : run;
        workers[i] = (struct worker){.crew = crew, .random = {seed + i}};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

static void join_crew(struct worker workers[WORKERS])
{
    for (uint32_t i = 0; i < WORKERS; ++i) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
}

static void end_crew(struct crew* crew, struct worker workers[WORKERS])
{
    assert_int_equal(atomic_load(&crew->errors), 0);
    assert_true(atomic_load(&crew->moved) > 100);
    assert_true(atomic_load(&crew->rooms) > 0);
    rig_check(crew->rig);
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        const MaarAllocation memory = atomic_load(&crew->entries[i].shared);
        if (memory != VK_NULL_HANDLE) {
            visit(&workers[0], &crew->entries[i], memory);
        }
        maarFreeMemory(crew->rig->allocator, memory);
    }
    assert_int_equal(atomic_load(&crew->errors), 0);
    assert_int_equal(maarAdvanceHostTimeline(crew->rig->allocator, UINT64_MAX / 2), VK_SUCCESS);
    assert_int_equal(maarWaitPending(crew->rig->allocator, UINT64_MAX), VK_SUCCESS);
    const MaarStatistics left = rig_statistics(crew->rig, VK_NULL_HANDLE);
    assert_int_equal(left.allocationCount + left.pendingCount, 0);
    rig_check(crew->rig);
    for (uint32_t i = 0; i < POOLS; ++i) {
        maarDestroyPool(crew->rig->allocator, crew->pools[i]);
    }
    assert_int_equal(crew->rig->messages.counts[MAAR_MESSAGE_SEVERITY_FATAL], 0);
    assert_int_equal(pthread_mutex_destroy(&crew->ticking), 0);
}

static struct crew the_crew;
static struct worker the_workers[WORKERS];

static void moves_among_threads_lose_nothing(void** state)
{
    (void)state;
    start_crew(&the_crew, the_workers);
    while (atomic_load(&the_crew.working) > 0) {
        look(&the_crew);
    }
    join_crew(the_workers);
    end_crew(&the_crew, the_workers);
}

static void captures_of_moves_are_whole(void** state)
{
    char path[128];
    struct support_history history;
    (void)state;
    start_crew(&the_crew, the_workers);
    for (uint32_t i = 0; i < CAPTURES; ++i) {
        capture(&the_crew, 200 + i);
    }
    assert_int_equal(captured_begin(the_crew.rig->allocator, captured_path(199, path), 0),
                     VK_SUCCESS);
    while (atomic_load(&the_crew.working) > 0) {
        look(&the_crew);
    }
    join_crew(the_workers);
    assert_int_equal(maarEndCapture(the_crew.rig->allocator), VK_SUCCESS);
    captured_load(path, &history);
    captured_check(&history, false);
    captured_compare(&history, the_crew.rig);
    support_history_release(&history);
    end_crew(&the_crew, the_workers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(moves_among_threads_lose_nothing),
        rig_unit_test(captures_of_moves_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
