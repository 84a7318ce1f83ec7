/*
 * The bytes that stay placed with three frames in flight, by how memory is freed: at once (as if
 * the device were never behind), after points, and with ordered reuse. Beside it a bound below
 * which no allocator stays, and the rules of CUDA's stream-ordered pools and of PyTorch's caching
 * allocator, as models without a placement.
 *
 * Plays captures with submissions. Each submission of commands is one value of its queue's
 * timeline. It waits for the submission before it on its queue, and for what the capture's
 * semaphores say. With --threads, each thread of the capture has a queue: the first thread's
 * submissions wait for all others at each frame, and the others' next ones wait for that frame. An
 * allocation is first used by the next submission of its thread's queue, and last used by the
 * latest one before its free. At each frame the device has executed what was submitted three frames
 * ago.
 */
#include "bench_common.h"
#include "bench_device.h"
#include "bench_row.h"
#include "ordered_model.h"

#include "maar/maar.h"
#include "maar/volk.h"
#include "support/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_AHEAD = 3, DROPPED_PERCENT = 30 };

enum reuse_way { AT_ONCE, AFTER_POINTS, ORDERED, DROPPED, DROPPED_WAITS, DROPPED_PREFERS, WAYS };

static const char* const way_names[WAYS] = {"at_once",
                                            "after_points",
                                            "ordered",
                                            "ordered, 30 % dropped",
                                            "the same, added waits",
                                            "the same, waits preferred"};

struct reuse_bench {
    const char* device_name;
    struct bench_heaps heaps;
    bool by_threads;
    uint64_t block_size; /* 0: the default pool of a memory type */
    bool finds_blocks;   /* looks for the smallest block */
    struct bench_device device;
    MaarDeviceRecommendation advice;
    VkDevice handle;
    VkSemaphore timelines[MODEL_QUEUES];
    struct bench_table table;
};

/* One run over a capture. */
struct reuse_run {
    struct reuse_bench* bench;
    const struct support_trace* trace;
    enum reuse_way way;
    uint64_t block_size;
    MaarAllocator allocator;
    MaarPool pool;
    MaarAllocation* memory; /* of each resource */
    struct model_order order;
    MaarPoint added[MODEL_QUEUES][8]; /* waits of the next submission of each queue */
    uint32_t added_counts[MODEL_QUEUES];
    uint64_t random;
    bool is_trial; /* whether the capture fits one block, that of the pool */
    bool is_full;  /* it did not */
    VkDeviceSize high;
    VkDeviceSize least_block; /* 0: not looked for */
    uint64_t submissions;
    uint64_t waits;
};

static uint32_t queue_of(const struct reuse_bench* bench, uint32_t stream)
{
    return bench->by_threads ? stream % MODEL_QUEUES : 0;
}

static void open_device(struct reuse_bench* bench)
{
    MaarDeviceRecommendation* const advice = &bench->advice;
    advice->sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    bench_device_open(&bench->device, bench->device_name, &bench->heaps);
    bench_expect(maarRecommendDevice(vkGetInstanceProcAddr, bench->device.instance.instance,
                                     bench->device.physical, NULL, advice),
                 "maarRecommendDevice");
    if (!advice->timelineSemaphore.timelineSemaphore) {
        bench_die(BENCH_EXIT_USAGE, "%s: no timelines", bench->device.properties.deviceName);
    }
    bench->handle = bench_create_recommended(&bench->device, advice, 0);
}

/* Makes a pool of large blocks in the memory type of the default pool. */
static void open_pool(struct reuse_run* run)
{
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    bench_expect(maarChooseMemoryType(run->allocator, UINT32_MAX, &how, &choice),
                 "maarChooseMemoryType");
    const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
                                     .memoryTypeIndex = choice.memoryTypeIndex,
                                     .blockSize = run->block_size,
                                     .maxBlockCount = run->is_trial ? 1 : 0};
    bench_expect(maarCreatePool(run->allocator, &info, &run->pool), "maarCreatePool");
}

static void open_run(struct reuse_run* run)
{
    struct reuse_bench* const bench = run->bench;
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    MaarAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .apiVersion = BENCH_API_VERSION,
        .instance = bench->device.instance.instance,
        .physicalDevice = bench->device.physical,
        .device = bench->handle,
        .enabledExtensionCount = bench->advice.extensionCount,
        .ppEnabledExtensionNames = bench->advice.ppExtensionNames,
        .pEnabledFeatures = bench->advice.pFeatures,
    };
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        bench_expect(vkCreateSemaphore(bench->handle, &semaphore, NULL, &bench->timelines[i]),
                     "vkCreateSemaphore");
    }
    maarUseVolk(&info);
    bench_expect(maarCreateAllocator(&info, &run->allocator), "maarCreateAllocator");
    if (run->block_size != 0) {
        open_pool(run);
    }
    run->memory = calloc(run->trace->resource_count + 1, sizeof *run->memory);
    if (run->memory == NULL || !model_order_open(&run->order, run->trace)) {
        bench_die(BENCH_EXIT_FAILED, "no host memory");
    }
}

static void pass_all(const struct reuse_run* run, const uint64_t* values)
{
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        const VkSemaphoreSignalInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                              .semaphore = run->bench->timelines[i],
                                              .value = values[i]};
        uint64_t now = 0;
        bench_expect(vkGetSemaphoreCounterValueKHR(run->bench->handle, signal.semaphore, &now),
                     "vkGetSemaphoreCounterValueKHR");
        if (now < values[i]) {
            bench_expect(vkSignalSemaphoreKHR(run->bench->handle, &signal), "vkSignalSemaphoreKHR");
        }
    }
    bench_expect(maarCollect(run->allocator, NULL), "maarCollect");
}

static void close_run(struct reuse_run* run)
{
    for (size_t i = 0; i < run->trace->resource_count; ++i) {
        maarFreeMemory(run->allocator, run->memory[i]);
    }
    pass_all(run, run->order.submitted);
    maarDestroyPool(run->allocator, run->pool);
    maarDestroyAllocator(run->allocator);
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        vkDestroySemaphore(run->bench->handle, run->bench->timelines[i], NULL);
    }
    model_order_close(&run->order);
    free(run->memory);
}

/* Lists what the next submission of a queue waits for, as far as the program knows. */
static uint32_t list_waits(const struct reuse_run* run, uint32_t queue, MaarPoint* points)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        if (run->order.next[queue][i] != 0) {
            points[count++] = (MaarPoint){run->bench->timelines[i], run->order.next[queue][i]};
        }
    }
    return count;
}

static MaarOrderedUseFlags flags_of(enum reuse_way way)
{
    const MaarOrderedUseFlags waits = MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT;
    return way == DROPPED_WAITS     ? waits
           : way == DROPPED_PREFERS ? waits | MAAR_ORDERED_USE_PREFER_WAITS_BIT
                                    : 0;
}

static void allocate(struct reuse_run* run, uint32_t resource, uint32_t stream)
{
    const struct support_trace_resource* const what = &run->trace->resources[resource];
    const uint32_t queue = queue_of(run->bench, stream);
    MaarPoint points[MODEL_QUEUES];
    const MaarOrderedUseInfo use = {
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO,
        .flags = flags_of(run->way),
        .pointCount = list_waits(run, queue, points),
        .pPoints = points,
        .waitCapacity = 8,
        .pWaits = run->added[queue],
        .pWaitCount = &run->added_counts[queue],
    };
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {what->size, what->alignment, UINT32_MAX},
        .kind = what->kind == SUPPORT_TRACE_IMAGE_OPTIMAL ? MAAR_RESOURCE_KIND_OPTIMAL
                                                          : MAAR_RESOURCE_KIND_LINEAR,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = run->way >= ORDERED ? &use : NULL,
        .pool = run->pool,
        .dedicated = MAAR_DEDICATED_NEVER,
    };
    const VkResult result =
        maarAllocateMemory(run->allocator, &request, &how, &run->memory[resource]);
    run->is_full = run->is_trial && result == VK_ERROR_OUT_OF_POOL_MEMORY;
    if (run->is_full) {
        return;
    }
    bench_expect(result, "maarAllocateMemory");
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    bench_expect(maarGetStatistics(run->allocator, VK_NULL_HANDLE, &statistics),
                 "maarGetStatistics");
    const VkDeviceSize placed = statistics.allocationBytes + statistics.pendingBytes;
    run->high = placed > run->high ? placed : run->high;
    model_order_begin_resource(&run->order, resource, queue);
}

static void release(struct reuse_run* run, uint32_t resource)
{
    MaarPoint points[MODEL_QUEUES];
    uint64_t last[MODEL_QUEUES];
    uint32_t count = 0;
    model_order_last_use(&run->order, resource, last);
    for (uint32_t i = 0; i < MODEL_QUEUES; ++i) {
        if (last[i] != 0) {
            points[count++] = (MaarPoint){run->bench->timelines[i], last[i]};
        }
    }
    if (run->way == AT_ONCE || count == 0) {
        maarFreeMemory(run->allocator, run->memory[resource]);
    } else {
        bench_expect(maarFreeMemoryAfter(run->allocator, run->memory[resource], count, points),
                     "maarFreeMemoryAfter");
    }
    run->memory[resource] = VK_NULL_HANDLE;
}

static void submit(struct reuse_run* run, uint32_t queue, uint32_t submit_index)
{
    MaarPoint waits[MODEL_QUEUES + 8];
    uint32_t count = list_waits(run, queue, waits);
    for (uint32_t i = 0; i < run->added_counts[queue]; ++i) {
        waits[count++] = run->added[queue][i];
        for (uint32_t j = 0; j < MODEL_QUEUES; ++j) {
            if (run->bench->timelines[j] == run->added[queue][i].semaphore) {
                model_order_add_wait(&run->order, queue, j, run->added[queue][i].value);
            }
        }
    }
    run->waits += run->added_counts[queue];
    run->added_counts[queue] = 0;
    const uint64_t value = model_order_submit(&run->order, run->trace, queue, submit_index);
    const MaarPoint signal = {run->bench->timelines[queue], value};
    const MaarSubmissionInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO,
        .waitCount = count,
        .pWaits = waits,
        .signalCount = 1,
        .pSignals = &signal,
    };
    if (run->way >= ORDERED) {
        bench_expect(maarDeclareSubmission(run->allocator, &info), "maarDeclareSubmission");
    }
    ++run->submissions;
    const uint32_t percent = run->way >= DROPPED ? DROPPED_PERCENT : 0;
    model_order_plan_next(&run->order, queue, !model_drops(&run->random, percent));
}

static void play(struct reuse_run* run)
{
    for (size_t i = 0; i < run->trace->step_count && !run->is_full; ++i) {
        const struct support_trace_step* const step = &run->trace->steps[i];
        switch (step->op) {
        case SUPPORT_TRACE_ALLOC:
            allocate(run, step->index, step->stream);
            break;
        case SUPPORT_TRACE_FREE:
            release(run, step->index);
            break;
        case SUPPORT_TRACE_SUBMIT:
            if (run->trace->submits[step->index].kind == SUPPORT_TRACE_SUBMIT_COMMANDS) {
                submit(run, queue_of(run->bench, step->stream), step->index);
            }
            break;
        case SUPPORT_TRACE_FRAME:
            pass_all(run, model_order_frame(&run->order, run->bench->by_threads, FRAMES_AHEAD));
            break;
        default:
            break;
        }
    }
}

/* reference: the run that frees at once. */
static void print_row(struct reuse_bench* bench, const struct reuse_run* run, const char* way,
                      const struct reuse_run* reference)
{
    struct bench_row row;
    bench_row_begin(&row, "ordered_reuse");
    bench_row_name(&row, "trace", run->trace->name);
    bench_row_text(&row, "queues", bench->by_threads ? "threads" : "one");
    bench_row_name(&row, "frees", way);
    bench_row_number(&row, "placed_kib", (double)run->high / 1024, 0);
    bench_row_number(&row, "to_at_once", (double)run->high / (double)reference->high, 3);
    bench_row_number(&row, "block_kib", (double)run->least_block / 1024, 0);
    bench_row_number(&row, "block_to", (double)run->least_block / (double)reference->least_block,
                     3);
    bench_row_count(&row, "submissions", run->submissions);
    bench_row_count(&row, "added_waits", run->waits);
    bench_row_end(&row, &bench->table);
}

/* Whether a capture fits one block of a size. */
static bool fits_block(const struct reuse_run* like, VkDeviceSize size)
{
    struct reuse_run run = {.bench = like->bench,
                            .trace = like->trace,
                            .way = like->way,
                            .block_size = size,
                            .is_trial = true,
                            .random = BENCH_SEED};
    open_run(&run);
    play(&run);
    close_run(&run);
    return !run.is_full;
}

/* Returns the smallest single block that a capture fits, by bisection. */
static VkDeviceSize find_least_block(const struct reuse_run* run)
{
    const VkDeviceSize step = 64 << 10;
    VkDeviceSize below = run->high / step; /* too small, in steps */
    VkDeviceSize fits = below + 1;
    while (!fits_block(run, fits * step)) {
        below = fits;
        fits *= 2;
    }
    while (fits - below > 1) {
        const VkDeviceSize middle = below + (fits - below) / 2;
        *(fits_block(run, middle * step) ? &fits : &below) = middle;
    }
    return fits * step;
}

static void print_models(struct reuse_bench* bench, const struct support_trace* trace,
                         const struct reuse_run* reference)
{
    struct reuse_run run = {.trace = trace};
    if (!bench->by_threads) {
        run.high = model_bound(trace, FRAMES_AHEAD, 0);
        print_row(bench, &run, "bound", reference);
        run.high = model_bound(trace, FRAMES_AHEAD, DROPPED_PERCENT);
        print_row(bench, &run, "bound, 30 % dropped", reference);
    }
    for (uint32_t rule = 0; rule < MODEL_RULES; ++rule) {
        run.high = model_play(trace, bench->by_threads, FRAMES_AHEAD, (enum model_rule)rule,
                              &run.submissions, &run.waits);
        print_row(bench, &run, model_rule_names[rule], reference);
    }
}

static void run_trace(struct reuse_bench* bench, const char* path)
{
    struct support_trace trace;
    struct support_error error;
    struct reuse_run reference = {.high = 1, .least_block = 1};
    if (!support_trace_load(path, &trace, &error)) {
        bench_die(BENCH_EXIT_USAGE, "%s", error.text);
    }
    for (uint32_t way = 0; way < WAYS; ++way) {
        struct reuse_run run = {.bench = bench,
                                .trace = &trace,
                                .way = (enum reuse_way)way,
                                .block_size = bench->block_size,
                                .random = BENCH_SEED};
        open_run(&run);
        play(&run);
        close_run(&run);
        run.least_block = bench->finds_blocks ? find_least_block(&run) : 0;
        reference = way == AT_ONCE && run.high > 0 ? run : reference;
        reference.least_block = reference.least_block > 0 ? reference.least_block : 1;
        print_row(bench, &run, way_names[way], &reference);
    }
    print_models(bench, &trace, &reference);
    support_trace_release(&trace);
}

int main(int argc, char** argv)
{
    static const char* const traces[] = {"armagetronad", "extremetuxracer", "godot",
                                         "mpv",          "neverball",       "supertuxkart",
                                         "teeworlds",    "vkmark",          "warzone2100"};
    struct reuse_bench bench = {.device_name = "simulated:nvidia-rtx4090-linux"};
    const struct bench_option options[] = {
        {"--device", "DEVICE", BENCH_OPTION_TEXT, &bench.device_name,
         "auto, vulkan:N, or simulated:PROFILE (simulated:nvidia-rtx4090-linux)"},
        {"--heap", "N=SIZE", BENCH_OPTION_HEAP, &bench.heaps, "size of a simulated heap"},
        {"--block", "SIZE", BENCH_OPTION_SIZE, &bench.block_size,
         "use a pool with blocks of this size (the default pool)"},
        {"--least-block", NULL, BENCH_OPTION_FLAG, &bench.finds_blocks,
         "find the smallest single block that a capture fits"},
        {"--threads", NULL, BENCH_OPTION_FLAG, &bench.by_threads, "a queue for each thread"},
    };
    const struct bench_command command = {
        .name = "bench_ordered_reuse",
        .summary = "High water of placed bytes with three frames in flight.",
        .operands = "[TRACE...]",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    const int first = bench_parse_options(&command, argc, argv);
    open_device(&bench);
    for (int i = first; i < argc; ++i) {
        run_trace(&bench, argv[i]);
    }
    for (size_t i = 0; first == argc && i < sizeof(traces) / sizeof(traces[0]); ++i) {
        char path[512];
        snprintf(path, sizeof path, MAAR_BENCH_DATA "/traces/submitted-%s.csv.gz", traces[i]);
        run_trace(&bench, path);
    }
    vkDestroyDevice(bench.handle, NULL);
    bench_device_close(&bench.device);
    return 0;
}
