/*
 * The benchmark of slices: how long one step of a run plans when its host time is limited, and what
 * another thread's allocations cost meanwhile. A pool holds many resources, of which half were
 * freed at random. A run gives blocks back, or makes room for one request. Nothing is copied.
 *
 * With a limit of 1 ns each step does one part of the work. The longest part is an upper bound of
 * the time for which a lock is held: a part holds each lock once at most, and for less than itself.
 */
#include "bench/bench_common.h"
#include "bench/bench_row.h"

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
    struct bench_device device;
    struct bench_table table;
    MaarAllocator allocator;
    MaarPool pool;
    MaarAllocation* memories;
    uint64_t random;
};

/* What the steps of a run have cost. */
struct slices {
    uint64_t steps;
    uint64_t over; /* steps above 50 us */
    double longest_ns;
    double total_ns;
    double end_ns; /* of maarEndDefragmentation */
    uint64_t moves;
    uint64_t moved_bytes;
};

/* Another thread, which allocates and frees. */
struct neighbour {
    struct slices_bench* bench;
    _Atomic bool stops;
    double pair_ns;
    double longest_ns;
    uint64_t pairs;
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

/* Twice as many resources as will live, of which half are freed. */
static void fill_pool(struct slices_bench* bench)
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

static void* allocate_and_free(void* argument)
{
    enum { HELD = 64 };
    struct neighbour* const own = argument;
    MaarAllocation held[HELD] = {VK_NULL_HANDLE};
    const double start = bench_thread_ns();
    while (!atomic_load(&own->stops)) {
        MaarAllocation* const one = &held[own->pairs % HELD];
        const double before = bench_wall_ns();
        maarFreeMemory(own->bench->allocator, *one);
        *one = allocate_one(own->bench, 4096);
        const double took = bench_wall_ns() - before;
        own->longest_ns = took > own->longest_ns ? took : own->longest_ns;
        ++own->pairs;
    }
    own->pair_ns = (bench_thread_ns() - start) / (double)own->pairs;
    maarFreeMemories(own->bench->allocator, HELD, held);
    return NULL;
}

static void start_neighbour(struct neighbour* neighbour, pthread_t* thread)
{
    if (pthread_create(thread, NULL, allocate_and_free, neighbour) != 0) {
        bench_die(BENCH_EXIT_FAILED, "no thread");
    }
}

/* Steps until there is nothing left. */
static struct slices run_slices(struct slices_bench* bench, MaarDefragmentationGoal goal,
                                uint64_t limit_ns)
{
    struct slices slices = {0};
    const MaarDefragmentationBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = bench->pool,
        .goal = goal,
        .roomSize = bench->room_size,
        .roomKind = MAAR_RESOURCE_KIND_LINEAR,
    };
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxHostTime_ns = limit_ns};
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    bench_expect(maarBeginDefragmentation(bench->allocator, &begin, &run),
                 "maarBeginDefragmentation");
    for (;;) {
        MaarMoveBatch batch = VK_NULL_HANDLE;
        const double start = bench_thread_ns();
        const VkResult result = maarStepDefragmentation(bench->allocator, run, &limits, &batch);
        const double took = bench_thread_ns() - start;
        ++slices.steps;
        slices.total_ns += took;
        slices.over += took > 50000 ? 1 : 0;
        slices.longest_ns = took > slices.longest_ns ? took : slices.longest_ns;
        if (result == VK_NOT_READY) {
            continue;
        }
        bench_expect(result, "maarStepDefragmentation");
        if (batch == VK_NULL_HANDLE) {
            break;
        }
        bench_expect(maarCommitMoves(bench->allocator, batch, 0, NULL, NULL), "maarCommitMoves");
    }
    bench_expect(maarGetDefragmentationInfo(bench->allocator, run, &info),
                 "maarGetDefragmentationInfo");
    slices.moves = info.batchedCount;
    slices.moved_bytes = info.batchedBytes;
    const double start = bench_thread_ns();
    maarEndDefragmentation(bench->allocator, run);
    slices.end_ns = bench_thread_ns() - start;
    return slices;
}

/* One run, alone or beside another thread. */
static void measure(struct slices_bench* bench, MaarDefragmentationGoal goal, uint64_t limit_ns,
                    bool is_beside, double alone_ns)
{
    struct neighbour neighbour = {.bench = bench};
    pthread_t thread;
    fill_pool(bench);
    if (is_beside) {
        start_neighbour(&neighbour, &thread);
    }
    const struct slices slices = run_slices(bench, goal, limit_ns);
    if (is_beside) {
        atomic_store(&neighbour.stops, true);
        (void)pthread_join(thread, NULL);
    }
    empty_pool(bench);
    struct bench_row row;
    bench_row_begin(&row, "defragmentation_slices");
    bench_row_text(&row, ".device", bench->device.properties.deviceName);
    bench_row_name(&row, "goal", goal == MAAR_DEFRAGMENTATION_GOAL_ROOM ? "room" : "blocks");
    bench_row_count(&row, "limit_ns", limit_ns);
    bench_row_name(&row, "beside", is_beside ? "a thread" : "nothing");
    bench_row_count(&row, "live", bench->live);
    bench_row_count(&row, "steps", slices.steps);
    bench_row_number(&row, "longest_us", slices.longest_ns / 1000.0, 1);
    bench_row_count(&row, "over_50us", slices.over);
    bench_row_number(&row, "total_ms", slices.total_ns / 1000000.0, 2);
    bench_row_number(&row, "end_us", slices.end_ns / 1000.0, 1);
    bench_row_count(&row, "moves", slices.moves);
    bench_row_number(&row, "moved_mib", (double)slices.moved_bytes / 1048576.0, 1);
    if (is_beside) {
        bench_row_number(&row, "pair_ns", neighbour.pair_ns, 1);
        bench_row_number(&row, "of_alone", neighbour.pair_ns / alone_ns, 2);
    } else {
        bench_row_none(&row, "pair_ns");
        bench_row_none(&row, "of_alone");
    }
    bench_row_end(&row, &bench->table);
}

/* CPU time of a pair while nothing else happens. */
static double measure_alone(struct slices_bench* bench)
{
    struct neighbour neighbour = {.bench = bench};
    pthread_t thread;
    fill_pool(bench);
    start_neighbour(&neighbour, &thread);
    const double end = bench_wall_ns() + 300e6;
    while (bench_wall_ns() < end) {
        /* waits */
    }
    atomic_store(&neighbour.stops, true);
    (void)pthread_join(thread, NULL);
    empty_pool(bench);
    return neighbour.pair_ns;
}

int main(int argc, char** argv)
{
    static struct slices_bench bench = {
        .device_name = "simulated:amd-rx7900xtx-radv25.0",
        .block_size = UINT64_C(16) << 20,
        .room_size = UINT64_C(8) << 20,
        .live = 100000,
        .limit_ns = 20000,
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
        measure(&bench, goals[i], 1, false, alone_ns);
        measure(&bench, goals[i], bench.limit_ns, false, alone_ns);
        measure(&bench, goals[i], bench.limit_ns, true, alone_ns);
    }
    allocator_peer_maar.destroy(bench.allocator);
    bench_device_close(&bench.device);
    return 0;
}
