/*
 * The threads that only collect, wait, trim or look, and the life of a crew: see brim_crew.h.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/stress/brim_crew.h"

#include <sched.h>
#include <time.h>

enum { ENOUGH_BLOCKS = 256, ENOUGH_RANGES = 512, FIRST_VALUE = 1000 };

void brim_expect(struct brim_crew* crew, bool condition, const char* reason)
{
    if (!condition) {
        const char* none = NULL;
        (void)atomic_fetch_add(&crew->errors, 1);
        (void)atomic_compare_exchange_strong(&crew->first_error, &none, reason);
    }
}

uint64_t brim_now_ns(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void brim_expect_room(struct brim_crew* crew, uint64_t began_ns, VkResult result,
                      const char* reason)
{
    const bool is_late = result != VK_SUCCESS && brim_now_ns() - began_ns >= 1000000000u;
    (void)atomic_fetch_add(&crew->late, is_late ? 1 : 0);
    brim_expect(crew, result == VK_SUCCESS || is_late, reason);
}

static uint32_t read_number(const char* name, uint32_t preset)
{
    const char* text = getenv(name);
    const uint32_t number = text != NULL ? (uint32_t)strtoul(text, NULL, 0) : 0;
    return number != 0 ? number : preset;
}

uint32_t brim_worker_count(void)
{
    const uint32_t count = read_number("MAAR_STRESS_THREADS", 3);
    return count < BRIM_MOST_WORKERS ? count : BRIM_MOST_WORKERS;
}

uint32_t brim_rounds(uint32_t preset)
{
    return read_number("MAAR_STRESS_ROUNDS", preset);
}

uint32_t brim_passed_points(struct brim_worker* worker, MaarPoint points[2])
{
    struct brim_crew* crew = worker->crew;
    const uint32_t count = 1 + rig_below(&worker->random, 8) / 7;
    const uint64_t passed = atomic_load(&crew->passed);
    for (uint32_t i = 0; i < count; ++i) {
        /* The host's points pass at once; the semaphore's are found by a collection. */
        const bool host = rig_below(&worker->random, 8) == 0;
        points[i] = (MaarPoint){
            .semaphore = host ? VK_NULL_HANDLE : crew->timeline,
            .value = passed - rig_below(&worker->random, 3),
        };
    }
    return count;
}

/* ---- threads that do not allocate ---- */

static void collect_only(struct brim_crew* crew)
{
    uint32_t freed = 0;
    brim_expect(crew, maarCollect(crew->rig.allocator, &freed) == VK_SUCCESS, "a collection fails");
}

static void wait_only(struct brim_crew* crew)
{
    const VkResult result = maarWaitPending(crew->rig.allocator, 200000);
    brim_expect(crew, result == VK_SUCCESS || result == VK_TIMEOUT || result == VK_NOT_READY,
                "a wait fails");
}

static void trim_only(struct brim_crew* crew)
{
    brim_expect(crew, maarTrim(crew->rig.allocator, VK_NULL_HANDLE, NULL) == VK_SUCCESS,
                "a trim fails");
}

static void look_at_blocks(struct brim_crew* crew)
{
    MaarAllocator allocator = crew->rig.allocator;
    static MaarBlockInfo blocks[ENOUGH_BLOCKS];
    static MaarBlockRange ranges[ENOUGH_RANGES];
    uint32_t count = ENOUGH_BLOCKS;
    for (uint32_t i = 0; i < count; ++i) {
        blocks[i] = (MaarBlockInfo){.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    }
    VkResult result = maarEnumerateBlocks(allocator, VK_NULL_HANDLE, &count, blocks);
    brim_expect(crew, result == VK_SUCCESS || result == VK_INCOMPLETE, "no list of blocks");
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t room = ENOUGH_RANGES; /* the block may be gone by now, which is reported */
        (void)maarEnumerateBlockRanges(allocator, blocks[i].blockId, &room, ranges);
    }
}

static void read_only(struct brim_crew* crew)
{
    MaarAllocator allocator = crew->rig.allocator;
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    MaarHeapBudget budgets[VK_MAX_MEMORY_HEAPS];
    uint32_t count = VK_MAX_MEMORY_HEAPS;
    for (uint32_t i = 0; i < count; ++i) {
        budgets[i] = (MaarHeapBudget){.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET};
    }
    brim_expect(crew,
                maarGetStatistics(allocator, VK_NULL_HANDLE, &statistics) == VK_SUCCESS &&
                    maarGetDetailedStatistics(allocator, VK_NULL_HANDLE, &details) == VK_SUCCESS,
                "no statistics");
    brim_expect(crew, maarGetHeapBudgets(allocator, &count, budgets) == VK_SUCCESS, "no budgets");
    look_at_blocks(crew);
}

static void dump_only(struct brim_crew* crew)
{
    static char text[1 << 16];
    const MaarDumpInfo info = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO};
    size_t size = sizeof text;
    const char* broken = NULL;
    const VkResult result = maarWriteDump(crew->rig.allocator, &info, &size, text);
    brim_expect(crew, result == VK_SUCCESS || result == VK_INCOMPLETE, "no dump");
    brim_expect(crew, maarCheckAllocator(crew->rig.allocator, &broken) == VK_SUCCESS,
                "the heavy check finds something");
}

struct idler {
    struct brim_crew* crew;
    uint32_t number;
};

static void* idle(void* argument)
{
    static void (*const turns[BRIM_IDLERS])(struct brim_crew*) = {
        collect_only, wait_only, trim_only, read_only, dump_only,
    };
    const struct idler* idler = argument;
    struct brim_crew* crew = idler->crew;
    do {
        turns[idler->number](crew);
        (void)atomic_fetch_add(&crew->turns[idler->number], 1);
        (void)sched_yield();
    } while (atomic_load(&crew->working) > 0);
    return NULL;
}

/* ---- the life of a crew ---- */

/* Before each call of the driver: other threads get on while this one is in foreign code. */
static void let_others_on(void* data, const char* function)
{
    (void)data;
    (void)function;
    (void)sched_yield();
}

static VkBool32 VKAPI_PTR observe(void* data, const MaarOutOfMemoryInfo* info)
{
    struct brim_crew* crew = data;
    (void)info;
    (void)atomic_fetch_add(&crew->observed, 1);
    return VK_FALSE;
}

void brim_open(struct brim_crew* crew, uint32_t rounds)
{
    const struct rig_setup setup = {.count_host = true};
    memset(crew, 0, sizeof *crew);
    rig_open(&crew->rig, &setup);
    crew->worker_count = brim_worker_count();
    crew->rounds = brim_rounds(rounds);
    crew->rig.call = let_others_on;
    crew->rig.create_info.pfnOutOfMemory = observe;
    crew->rig.create_info.pOutOfMemoryUserData = crew;
}

void brim_begin(struct brim_crew* crew)
{
    rig_make_allocator(&crew->rig);
    crew->timeline = rig_create_timeline(&crew->rig, FIRST_VALUE);
    assert_int_equal(maarAdvanceHostTimeline(crew->rig.allocator, FIRST_VALUE), VK_SUCCESS);
    atomic_store(&crew->begun, FIRST_VALUE);
    atomic_store(&crew->passed, FIRST_VALUE);
}

struct brim_thread {
    struct brim_worker worker;
    void (*work)(struct brim_worker* worker);
    pthread_t thread;
};

static bool has_idler_behind(const struct brim_crew* crew)
{
    for (uint32_t i = 0; i < BRIM_IDLERS; ++i) {
        if (atomic_load(&crew->turns[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void* work_and_leave(void* argument)
{
    struct brim_thread* thread = argument;
    while (has_idler_behind(thread->worker.crew)) {
        (void)sched_yield();
    }
    thread->work(&thread->worker);
    (void)atomic_fetch_sub(&thread->worker.crew->working, 1);
    return NULL;
}

static void tick(struct brim_crew* crew)
{
    const uint64_t value = atomic_load(&crew->passed) + 1;
    atomic_store(&crew->begun, value);
    crew->before_tick(crew, value);
    rig_signal(&crew->rig, crew->timeline, value);
    assert_int_equal(maarAdvanceHostTimeline(crew->rig.allocator, value), VK_SUCCESS);
    atomic_store(&crew->passed, value);
    (void)sched_yield();
}

void brim_run(struct brim_crew* crew, void (*work)(struct brim_worker* worker))
{
    static struct brim_thread threads[BRIM_MOST_WORKERS];
    pthread_t idlers[BRIM_IDLERS];
    struct idler idle_data[BRIM_IDLERS];
    const uint64_t seed = rig_seed(17);
    atomic_store(&crew->working, crew->worker_count);
    for (uint32_t i = 0; i < BRIM_IDLERS; ++i) {
        idle_data[i] = (struct idler){.crew = crew, .number = i};
        assert_int_equal(pthread_create(&idlers[i], NULL, idle, &idle_data[i]), 0);
    }
    for (uint32_t i = 0; i < crew->worker_count; ++i) {
        threads[i].worker = (struct brim_worker){
            .crew = crew,
            .number = i,
            .random = {.state = seed + i},
        };
        threads[i].work = work;
        assert_int_equal(pthread_create(&threads[i].thread, NULL, work_and_leave, &threads[i]), 0);
    }
    while (crew->before_tick != NULL && atomic_load(&crew->working) > 0) {
        tick(crew);
    }
    for (uint32_t i = 0; i < crew->worker_count; ++i) {
        assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
    }
    for (uint32_t i = 0; i < BRIM_IDLERS; ++i) {
        assert_int_equal(pthread_join(idlers[i], NULL), 0);
    }
    print_message("%llu allocations; turns: collect %llu, wait %llu, trim %llu, read %llu, "
                  "dump %llu\n",
                  (unsigned long long)atomic_load(&crew->made),
                  (unsigned long long)atomic_load(&crew->turns[0]),
                  (unsigned long long)atomic_load(&crew->turns[1]),
                  (unsigned long long)atomic_load(&crew->turns[2]),
                  (unsigned long long)atomic_load(&crew->turns[3]),
                  (unsigned long long)atomic_load(&crew->turns[4]));
    const uint32_t late = atomic_load(&crew->late);
    if (late != 0) {
        print_message("%u requests failed after a second: the other threads hardly ran\n", late);
    }
    if (atomic_load(&crew->errors) != 0 || (atomic_load(&crew->observed) != 0 && late == 0)) {
        const char* reason = atomic_load(&crew->first_error);
        fail_msg("%u errors, the first: %s; %u calls of the observer",
                 (unsigned)atomic_load(&crew->errors), reason != NULL ? reason : "none",
                 (unsigned)atomic_load(&crew->observed));
    }
}

void brim_end(struct brim_crew* crew)
{
    const uint64_t last = atomic_load(&crew->passed) + 1000;
    rig_signal(&crew->rig, crew->timeline, last);
    assert_int_equal(maarAdvanceHostTimeline(crew->rig.allocator, last), VK_SUCCESS);
    assert_int_equal(maarWaitPending(crew->rig.allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(maarTrim(crew->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    const MaarStatistics statistics = rig_statistics(&crew->rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationCount, 0);
    assert_int_equal(statistics.pendingCount, 0);
    assert_int_equal(statistics.blockCount, 0);
    vkDestroySemaphore(crew->rig.device, crew->timeline, NULL);
    rig_close(&crew->rig);
}

void brim_run_case(uint32_t rounds, void (*work)(struct brim_worker* worker))
{
    static struct brim_crew crew;
    brim_open(&crew, rounds);
    brim_begin(&crew);
    brim_run(&crew, work);
    brim_end(&crew);
}
