/*
 * The benchmark of slices: how long one step of a run plans when its host time is limited, for how
 * long its calls hold locks, and what another thread's allocations cost meanwhile. A pool holds
 * many resources, of which half were freed at random. A run gives blocks back, or makes room for
 * one request. Nothing is copied.
 *
 * With a limit of 1 ns each step does one part of the work. Such runs make the same calls each
 * time, and each call counts with the least that it has cost. The longest part is an upper bound of
 * the time for which a lock is held; builds with MAAR_LOCK_HOLDS measure that time itself.
 */
#include "bench/bench_common.h"
#include "bench/bench_row.h"
#include "bench/slices_record.h"

#include "bench/allocator_peer.h"
#include "maar/move.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct slices_bench {
    const char* device_name;
    struct bench_heaps heaps;
    uint64_t block_size;
    uint64_t room_size;
    uint32_t live;
    uint32_t limit_ns;
    uint32_t repeats;
    struct bench_device device;
    struct bench_table table;
    struct bench_table hold_table;
    MaarAllocator allocator;
    MaarPool pool;
    MaarAllocation* memories;
    uint64_t random;
};

/* How a run goes. */
struct slices_plan {
    MaarDefragmentationGoal goal;
    uint64_t limit_ns;
    bool gives_up; /* after one move, when most is left to take back */
    enum slices_beside { BESIDE_NOTHING, BESIDE_THREAD, BESIDE_OWNER } beside;
    uint64_t moves; /* what it did */
    uint64_t moved_bytes;
};

/* Another thread, which allocates and frees. */
enum neighbour_state { NEIGHBOUR_STARTS, NEIGHBOUR_READY, NEIGHBOUR_COUNTS, NEIGHBOUR_STOPS };
struct neighbour {
    struct slices_bench* bench;
    pthread_t thread;
    bool is_owner;     /* of all blocks of the pool: it fills the pool */
    _Atomic int state; /* an enum neighbour_state */
    double pair_ns;    /* CPU time, while it counts */
};

static MaarAllocation allocate_one(struct slices_bench* bench, uint64_t size)
{
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = size, .alignment = 256, .memoryTypeBits = UINT32_MAX},
        .kind = MAAR_RESOURCE_KIND_LINEAR,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pool = bench->pool,
    };
    MaarAllocation memory = VK_NULL_HANDLE;
    bench_expect(maarAllocateMemory(bench->allocator, &request, &how, &memory),
                 "maarAllocateMemory");
    return memory;
}

static uint64_t random_size(struct slices_bench* bench)
{
    return 256 * (1 + bench_random(&bench->random) % 128);
}

static void create_pool(struct slices_bench* bench)
{
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
    };
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    bench_expect(maarChooseMemoryType(bench->allocator, UINT32_MAX, &how, &choice),
                 "maarChooseMemoryType");
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = choice.memoryTypeIndex,
        .blockSize = bench->block_size,
    };
    bench_expect(maarCreatePool(bench->allocator, &info, &bench->pool), "maarCreatePool");
}

/* Twice as many resources as will live, of which half are freed. */
static void fill_pool(struct slices_bench* bench)
{
    bench->random = BENCH_SEED;
    bench->memories = bench_allocate((size_t)2 * bench->live, sizeof bench->memories[0]);
    for (uint32_t i = 0; i < 2 * bench->live; ++i) {
        bench->memories[i] = allocate_one(bench, random_size(bench));
    }
    uint32_t freed = 0;
    for (uint32_t i = 0; i < 2 * bench->live && freed < bench->live; ++i) {
        if (bench_random(&bench->random) % (2 * bench->live - i) < bench->live - freed) {
            maarFreeMemory(bench->allocator, bench->memories[i]);
            bench->memories[i] = VK_NULL_HANDLE;
            ++freed;
        }
    }
}

static void empty_pool(struct slices_bench* bench)
{
    maarFreeMemories(bench->allocator, 2 * bench->live, bench->memories);
    free(bench->memories);
    maarDestroyPool(bench->allocator, bench->pool);
}

enum { HELD = 64, WARM_PAIRS = 20000 };

static void play_pairs(struct slices_bench* bench, MaarAllocation held[HELD], uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i) {
        maarFreeMemory(bench->allocator, held[i % HELD]);
        held[i % HELD] = allocate_one(bench, 4096);
    }
}

static void await_state(struct neighbour* neighbour, int state)
{
    while (atomic_load(&neighbour->state) < state) {
        /* waits */
    }
}

/* Allocates and frees until the run has ended. Its pairs are counted from the moment when the run
 * begins. */
static void* allocate_and_free(void* argument)
{
    struct neighbour* const own = argument;
    MaarAllocation held[HELD] = {VK_NULL_HANDLE};
    uint64_t pairs = 0;
    play_pairs(own->bench, held, WARM_PAIRS);
    if (own->is_owner) {
        fill_pool(own->bench);
    }
    atomic_store(&own->state, NEIGHBOUR_READY);
    while (atomic_load(&own->state) == NEIGHBOUR_READY) {
        play_pairs(own->bench, held, HELD);
    }
    const double start = bench_thread_ns();
    while (atomic_load(&own->state) == NEIGHBOUR_COUNTS) {
        play_pairs(own->bench, held, HELD);
        pairs += HELD;
    }
    own->pair_ns = (bench_thread_ns() - start) / (double)pairs;
    maarFreeMemories(own->bench->allocator, HELD, held);
    return NULL;
}

/* Makes a pool whose blocks are this thread's, or those of the neighbour. In the latter case both
 * threads meet before, so that each has an arena. */
static void start_beside(struct neighbour* neighbour, enum slices_beside beside)
{
    struct slices_bench* const bench = neighbour->bench;
    create_pool(bench);
    if (beside != BESIDE_OWNER) {
        fill_pool(bench);
    }
    if (beside == BESIDE_NOTHING) {
        return;
    }
    neighbour->is_owner = beside == BESIDE_OWNER;
    if (pthread_create(&neighbour->thread, NULL, allocate_and_free, neighbour) != 0) {
        bench_die(BENCH_EXIT_FAILED, "no thread");
    }
    if (neighbour->is_owner) {
        MaarAllocation held[HELD] = {VK_NULL_HANDLE};
        play_pairs(bench, held, WARM_PAIRS);
        maarFreeMemories(bench->allocator, HELD, held);
    }
    await_state(neighbour, NEIGHBOUR_READY);
}

/* Ends the neighbour. Returns the CPU time of its pairs, or 0 if there is none. */
static double stop_beside(struct neighbour* neighbour, enum slices_beside beside)
{
    if (beside != BESIDE_NOTHING) {
        atomic_store(&neighbour->state, NEIGHBOUR_STOPS);
        (void)pthread_join(neighbour->thread, NULL);
    }
    empty_pool(neighbour->bench);
    return neighbour->pair_ns;
}

static const char begin_name[] = "maarBeginDefragmentation";
static const char step_name[] = "maarStepDefragmentation";
static const char give_up_name[] = "maarStepDefragmentation, givesUp";
static const char commit_name[] = "maarCommitMoves";
static const char take_name[] = "maarTakeDefragmentationRoom";
static const char end_name[] = "maarEndDefragmentation";

/* What a step has come to. */
enum step_end { STEP_UNFINISHED, STEP_MOVED, STEP_COMPLETE };

/* Does a step, and carries out its batch. */
static enum step_end step_run(struct slices_bench* bench, MaarDefragmentation run, bool gives_up,
                              const struct slices_plan* plan, struct slices_record* record)
{
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
        .maxMoves = plan->gives_up ? 1 : 0,
        .maxHostTime_ns = plan->limit_ns,
        .givesUp = gives_up ? VK_TRUE : VK_FALSE,
    };
    MaarMoveBatch batch = VK_NULL_HANDLE;
    slices_record_start(record);
    const VkResult result = maarStepDefragmentation(bench->allocator, run, &limits, &batch);
    slices_record_stop(record, gives_up ? give_up_name : step_name);
    if (result == VK_NOT_READY) {
        return STEP_UNFINISHED;
    }
    bench_expect(result, step_name);
    if (batch == VK_NULL_HANDLE) {
        return STEP_COMPLETE;
    }
    slices_record_start(record);
    bench_expect(maarCommitMoves(bench->allocator, batch, 0, NULL, NULL), commit_name);
    slices_record_stop(record, commit_name);
    return STEP_MOVED;
}

/* Takes the room that a run has made. Its other work is done in steps. */
static void take_room(struct slices_bench* bench, MaarDefragmentation run,
                      struct slices_record* record)
{
    MaarAllocation room = VK_NULL_HANDLE;
    slices_record_start(record);
    bench_expect(maarTakeDefragmentationRoom(bench->allocator, run, NULL, &room), take_name);
    slices_record_stop(record, take_name);
    maarFreeMemory(bench->allocator, room);
}

/* Steps until there is nothing left, or until the run gives up. */
static void run_slices(struct slices_bench* bench, struct slices_plan* plan,
                       struct slices_record* record)
{
    const bool has_room = plan->goal == MAAR_DEFRAGMENTATION_GOAL_ROOM;
    const MaarDefragmentationBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = bench->pool,
        .goal = plan->goal,
        .roomSize = bench->room_size,
        .roomKind = MAAR_RESOURCE_KIND_LINEAR,
    };
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    slices_record_begin(record);
    slices_record_start(record);
    bench_expect(maarBeginDefragmentation(bench->allocator, &begin, &run), begin_name);
    slices_record_stop(record, begin_name);
    enum step_end end = STEP_UNFINISHED;
    while (end == STEP_UNFINISHED || (end == STEP_MOVED && !plan->gives_up)) {
        end = step_run(bench, run, false, plan, record);
    }
    while (end != STEP_COMPLETE) {
        end = step_run(bench, run, true, plan, record);
    }
    if (has_room && !plan->gives_up) {
        take_room(bench, run, record);
    }
    bench_expect(maarGetDefragmentationInfo(bench->allocator, run, &info),
                 "maarGetDefragmentationInfo");
    plan->moves = info.batchedCount;
    plan->moved_bytes = info.batchedBytes;
    slices_record_start(record);
    maarEndDefragmentation(bench->allocator, run);
    slices_record_stop(record, end_name);
    slices_record_end(record);
}

static void print_plan(struct slices_bench* bench, const struct slices_plan* plan,
                       const struct slices_record* record, double pair_ns, double alone_ns)
{
    const char* name = plan->gives_up ? give_up_name : step_name;
    const struct slices_cost steps = slices_record_cost(record, name, 50000);
    static const char* const names[] = {"nothing", "a thread", "the owner"};
    struct bench_row row;
    bench_row_begin(&row, "defragmentation_slices");
    bench_row_text(&row, ".device", bench->device.properties.deviceName);
    bench_row_name(&row, "goal", plan->goal == MAAR_DEFRAGMENTATION_GOAL_ROOM ? "room" : "blocks");
    bench_row_count(&row, "limit_ns", plan->limit_ns);
    bench_row_name(&row, "beside", names[plan->beside]);
    bench_row_name(&row, "steps_that", plan->gives_up ? "give up" : "plan");
    bench_row_count(&row, "live", bench->live);
    bench_row_count(&row, "runs", record->runs);
    bench_row_count(&row, "steps", steps.count);
    bench_row_number(&row, "longest_us", steps.longest_ns / 1000.0, 1);
    bench_row_count(&row, "over_50us", steps.over);
    bench_row_number(&row, "total_ms", steps.total_ns / 1000000.0, 2);
    bench_row_number(&row, "begin_us",
                     slices_record_cost(record, begin_name, 0).longest_ns / 1000.0, 1);
    bench_row_number(&row, "end_us", slices_record_cost(record, end_name, 0).longest_ns / 1000.0,
                     1);
    bench_row_count(&row, "moves", plan->moves);
    bench_row_number(&row, "moved_mib", (double)plan->moved_bytes / 1048576.0, 1);
    if (plan->beside != BESIDE_NOTHING) {
        bench_row_number(&row, "pair_ns", pair_ns, 1);
        bench_row_number(&row, "of_alone", pair_ns / alone_ns, 2);
    } else {
        bench_row_none(&row, "pair_ns");
        bench_row_none(&row, "of_alone");
    }
    bench_row_end(&row, &bench->table);
}

/* Some runs, alone or beside another thread. */
static void measure(struct slices_bench* bench, struct slices_plan plan, double alone_ns)
{
    struct slices_record record = {0};
    double pair_ns = 0;
    /* Runs whose steps are limited by time differ. */
    const uint32_t repeats = plan.limit_ns > 1 ? 1 : bench->repeats;
    for (uint32_t i = 0; i < repeats; ++i) {
        struct neighbour neighbour = {.bench = bench};
        start_beside(&neighbour, plan.beside);
        atomic_store(&neighbour.state, NEIGHBOUR_COUNTS);
        run_slices(bench, &plan, &record);
        pair_ns = stop_beside(&neighbour, plan.beside);
    }
    print_plan(bench, &plan, &record, pair_ns, alone_ns);
    if (repeats > 1) {
        const bool has_room = plan.goal == MAAR_DEFRAGMENTATION_GOAL_ROOM;
        const char* goal = plan.gives_up ? (has_room ? "room, given up" : "blocks, given up")
                                         : (has_room ? "room" : "blocks");
        slices_record_print_holds(&record, goal, bench->live, &bench->hold_table);
    }
    slices_record_free(&record);
}

static int compare_times(const void* one, const void* other)
{
    const double a = *(const double*)one;
    const double b = *(const double*)other;
    return a < b ? -1 : a > b ? 1 : 0;
}

/* CPU time of a pair while nothing else happens: the median of some runs. */
static double measure_alone(struct slices_bench* bench)
{
    enum { RUNS = 5 };
    double times[RUNS];
    for (uint32_t i = 0; i < RUNS; ++i) {
        struct neighbour neighbour = {.bench = bench};
        start_beside(&neighbour, BESIDE_THREAD);
        atomic_store(&neighbour.state, NEIGHBOUR_COUNTS);
        const double end = bench_wall_ns() + 60e6;
        while (bench_wall_ns() < end) {
            /* waits */
        }
        times[i] = stop_beside(&neighbour, BESIDE_THREAD);
    }
    qsort(times, RUNS, sizeof times[0], compare_times);
    return times[RUNS / 2];
}

int main(int argc, char** argv)
{
    static struct slices_bench bench = {
        .device_name = "simulated:amd-rx7900xtx-radv25.0",
        .block_size = UINT64_C(16) << 20,
        .room_size = UINT64_C(8) << 20,
        .live = 100000,
        .limit_ns = 20000,
        .repeats = 5,
    };
    const struct bench_option options[] = {
        {"--device", "NAME", BENCH_OPTION_TEXT, &bench.device_name,
         "auto, vulkan:N or simulated:PROFILE; a card by default"},
        {"--heap", "N=SIZE", BENCH_OPTION_HEAP, &bench.heaps, "the size of a simulated heap"},
        {"--block-size", "SIZE", BENCH_OPTION_SIZE, &bench.block_size,
         "size of the blocks; 16MiB by default"},
        {"--room", "SIZE", BENCH_OPTION_SIZE, &bench.room_size, "of one request; 8MiB by default"},
        {"--live", "N", BENCH_OPTION_COUNT, &bench.live, "live resources; 100000 by default"},
        {"--limit", "N", BENCH_OPTION_COUNT, &bench.limit_ns,
         "host time of a step, ns; 20000 by default"},
        {"--repeats", "N", BENCH_OPTION_COUNT, &bench.repeats,
         "runs of which each call counts with the least; 5 by default"},
    };
    const struct bench_command command = {
        .name = "bench_defragmentation_slices",
        .summary = "Measures the steps of runs whose host time is limited.",
        .operands = "",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    struct allocator_tally tally = {0};
    const struct allocator_options how = {0};
    (void)bench_parse_options(&command, argc, argv);
    bench_device_open(&bench.device, bench.device_name, &bench.heaps);
    bench.allocator = allocator_peer_maar.create(&bench.device, &how, &tally);
    const double alone_ns = measure_alone(&bench);
    const MaarDefragmentationGoal goals[] = {MAAR_DEFRAGMENTATION_GOAL_BLOCKS,
                                             MAAR_DEFRAGMENTATION_GOAL_ROOM};
    for (uint32_t i = 0; i < 2; ++i) {
        struct slices_plan plan = {.goal = goals[i], .limit_ns = 1};
        measure(&bench, plan, alone_ns);
        plan.gives_up = true;
        measure(&bench, plan, alone_ns);
        plan = (struct slices_plan){.goal = goals[i], .limit_ns = bench.limit_ns};
        measure(&bench, plan, alone_ns);
        plan.beside = BESIDE_THREAD;
        measure(&bench, plan, alone_ns);
        plan.beside = BESIDE_OWNER;
        measure(&bench, plan, alone_ns);
    }
    allocator_peer_maar.destroy(bench.allocator);
    bench_device_close(&bench.device);
    return 0;
}
