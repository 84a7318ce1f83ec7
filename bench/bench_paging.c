/*
 * The cost of binding pages. The benchmark compares Maar's commits and single submission with a
 * program that names one bind for each page, in one call of vkQueueBindSparse or in one call for
 * each page. Each run binds the same number of pages of the same buffer on the same device in every
 * way. Every way waits until the device is done.
 *
 * Maar allocates pages and merges them into as few binds as possible. The other ways bind existing
 * memory: page i of the buffer to page i of a block.
 *
 * With --tiles, the program instead measures the cost of a cache of texture tiles: bench_tiles.c.
 */
#include "bench_common.h"
#include "bench_device.h"
#include "bench_options.h"
#include "bench_row.h"
#include "bench_tiles.h"

#include "maar/maar.h"
#include "maar/volk.h"

#include <stdlib.h>
#include <string.h>

enum { SCATTERED_PAGES = 1000, SCATTER_STEP = 3, DEFAULT_RUNS = 9, DEFAULT_UPDATES = 600 };

/* The bytes of the memory for binds without Maar. Maar's page blocks have the same size. */
#define NAIVE_BLOCK ((VkDeviceSize)16 << 20)
#define WAIT_NS 10000000000u

enum paging_way { WAY_MAAR, WAY_ONE_CALL, WAY_CALL_A_PAGE, WAY_COUNT };
static const char* const way_names[WAY_COUNT] = {"maar", "driver", "driver-calls"};

struct paging_bench {
    struct bench_device device;
    const char* device_name;
    struct bench_heaps heaps;
    uint32_t runs;
    uint32_t pages;
    bool tiles;
    uint32_t updates;
    MaarDeviceRecommendation advice;
    VkDevice handle;
    VkQueue queue;
    uint32_t family;
    MaarAllocator allocator;
    VkSemaphore timeline;
    uint64_t value; /* of the timeline */
    VkDeviceSize page_size;
    uint32_t type_index;
    struct bench_table table;
};

/* The pages of a buffer to bind. */
struct paging_load {
    const char* name;
    uint32_t count;
    uint32_t step;
};

struct paging_times {
    double record[BENCH_MAX_RUNS]; /* time until everything was submitted */
    double done[BENCH_MAX_RUNS];   /* time until the device was done */
    uint64_t binds;
    uint64_t calls;
};

static void open_paging(struct paging_bench* bench)
{
    MaarDeviceRecommendation* const advice = &bench->advice;
    advice->sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    bench_expect(maarRecommendDevice(vkGetInstanceProcAddr, bench->device.instance.instance,
                                     bench->device.physical, NULL, advice),
                 "maarRecommendDevice");
    bench->family = advice->sparseQueueFamily;
    if (bench->family == UINT32_MAX || !advice->features.features.sparseResidencyBuffer ||
        !advice->timelineSemaphore.timelineSemaphore) {
        bench_die(BENCH_EXIT_USAGE, "%s: no sparse buffers, no queue for them or no timelines",
                  bench->device.properties.deviceName);
    }
    bench->handle = bench_create_recommended(&bench->device, advice, bench->family);
    vkGetDeviceQueue(bench->handle, bench->family, 0, &bench->queue);
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo semaphore = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    bench_expect(vkCreateSemaphore(bench->handle, &semaphore, NULL, &bench->timeline),
                 "vkCreateSemaphore");
}

static void open_paging_allocator(struct paging_bench* bench)
{
    const MaarQueue queue = {.familyIndex = bench->family, .queue = bench->queue};
    MaarAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .apiVersion = BENCH_API_VERSION,
        .instance = bench->device.instance.instance,
        .physicalDevice = bench->device.physical,
        .device = bench->handle,
        .enabledExtensionCount = bench->advice.extensionCount,
        .ppEnabledExtensionNames = bench->advice.ppExtensionNames,
        .pEnabledFeatures = bench->advice.pFeatures,
        .queueCount = 1,
        .pQueues = &queue,
    };
    maarUseVolk(&info);
    bench_expect(maarCreateAllocator(&info, &bench->allocator), "maarCreateAllocator");
}

static VkBufferCreateInfo describe_range(VkDeviceSize size)
{
    return (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
}

/* Finds the size of a page and Maar's memory type for it. */
static void ask_pages(struct paging_bench* bench)
{
    const VkBufferCreateInfo info = describe_range(65536);
    VkBuffer buffer = VK_NULL_HANDLE;
    VkMemoryRequirements needs;
    bench_expect(vkCreateBuffer(bench->handle, &info, NULL, &buffer), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(bench->handle, buffer, &needs);
    vkDestroyBuffer(bench->handle, buffer, NULL);
    bench->page_size = needs.alignment;
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    bench_expect(maarChooseMemoryType(bench->allocator, needs.memoryTypeBits, &how, &choice),
                 "maarChooseMemoryType");
    bench->type_index = choice.memoryTypeIndex;
}

static void wait_for(struct paging_bench* bench, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &semaphore,
        .pValues = &value,
    };
    bench_expect(vkWaitSemaphoresKHR(bench->handle, &wait, WAIT_NS), "vkWaitSemaphoresKHR");
}

static void check_committed(struct paging_bench* bench, MaarReservation reservation,
                            const struct paging_load* load)
{
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    bench_expect(maarGetReservationInfo(bench->allocator, reservation, &info),
                 "maarGetReservationInfo");
    if (info.committedSize != (VkDeviceSize)load->count * bench->page_size) {
        bench_die(BENCH_EXIT_FAILED, "maar: not all pages were committed");
    }
    bench_expect(maarCheckAllocator(bench->allocator, NULL), "maarCheckAllocator");
}

static void time_maar(struct paging_bench* bench, const struct paging_load* load, uint32_t run,
                      struct paging_times* times)
{
    const VkDeviceSize page = bench->page_size;
    const VkBufferCreateInfo buffer = describe_range(page * load->count * load->step);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
        .pBufferInfo = &buffer,
    };
    const uint32_t range_count = load->step == 1 ? 1 : load->count;
    MaarPageRange* const ranges = bench_allocate(range_count, sizeof(*ranges));
    for (uint32_t i = 0; i < range_count; ++i) {
        ranges[i].offset = page * i * load->step;
        ranges[i].size = load->step == 1 ? buffer.size : page;
    }
    MaarReservation reservation = VK_NULL_HANDLE;
    bench_expect(maarCreateReservation(bench->allocator, &info, &reservation),
                 "maarCreateReservation");
    MaarPagingStatistics before = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    MaarPagingStatistics after = before;
    maarGetPagingStatistics(bench->allocator, &before);
    MaarPoint point;
    const double start = bench_wall_ns();
    bench_expect(maarCommitPages(bench->allocator, reservation, range_count, ranges),
                 "maarCommitPages");
    bench_expect(maarSubmitBinds(bench->allocator, 0, NULL, &point), "maarSubmitBinds");
    times->record[run] = bench_wall_ns() - start;
    wait_for(bench, point.semaphore, point.value);
    times->done[run] = bench_wall_ns() - start;
    maarGetPagingStatistics(bench->allocator, &after);
    times->binds = after.bindCount - before.bindCount;
    times->calls = after.submissionCount - before.submissionCount;
    check_committed(bench, reservation, load);
    maarDestroyReservation(bench->allocator, reservation);
    bench_expect(maarWaitPending(bench->allocator, WAIT_NS), "maarWaitPending");
    free(ranges);
}

/* Submits binds, after the previous submission. */
static void call_bind(struct paging_bench* bench, VkBuffer buffer, const VkSparseMemoryBind* binds,
                      uint32_t count)
{
    const uint64_t before = bench->value;
    const uint64_t value = ++bench->value;
    const VkSparseBufferMemoryBindInfo buffer_binds = {
        .buffer = buffer,
        .bindCount = count,
        .pBinds = binds,
    };
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &before,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &bench->timeline,
        .bufferBindCount = 1,
        .pBufferBinds = &buffer_binds,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &bench->timeline,
    };
    bench_expect(vkQueueBindSparse(bench->queue, 1, &info, VK_NULL_HANDLE), "vkQueueBindSparse");
}

static void time_naive(struct paging_bench* bench, const struct paging_load* load, bool call_a_page,
                       uint32_t run, struct paging_times* times)
{
    const VkDeviceSize page = bench->page_size;
    const VkDeviceSize block = NAIVE_BLOCK > page ? NAIVE_BLOCK / page * page : page;
    const uint32_t in_block = (uint32_t)(block / page);
    const uint32_t block_count = (load->count + in_block - 1) / in_block;
    const VkBufferCreateInfo info = describe_range(page * load->count * load->step);
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = block,
        .memoryTypeIndex = bench->type_index,
    };
    VkDeviceMemory* const memory = bench_allocate(block_count, sizeof(*memory));
    VkSparseMemoryBind* const binds = bench_allocate(load->count, sizeof(*binds));
    VkBuffer buffer = VK_NULL_HANDLE;
    bench_expect(vkCreateBuffer(bench->handle, &info, NULL, &buffer), "vkCreateBuffer");
    for (uint32_t i = 0; i < block_count; ++i) {
        bench_expect(vkAllocateMemory(bench->handle, &allocate, NULL, &memory[i]),
                     "vkAllocateMemory");
    }
    const double start = bench_wall_ns();
    for (uint32_t i = 0; i < load->count; ++i) {
        binds[i] = (VkSparseMemoryBind){
            .resourceOffset = page * i * load->step,
            .size = page,
            .memory = memory[i / in_block],
            .memoryOffset = page * (i % in_block),
        };
        if (call_a_page) {
            call_bind(bench, buffer, &binds[i], 1);
        }
    }
    if (!call_a_page) {
        call_bind(bench, buffer, binds, load->count);
    }
    times->record[run] = bench_wall_ns() - start;
    wait_for(bench, bench->timeline, bench->value);
    times->done[run] = bench_wall_ns() - start;
    times->binds = load->count;
    times->calls = call_a_page ? load->count : 1;
    vkDestroyBuffer(bench->handle, buffer, NULL);
    for (uint32_t i = 0; i < block_count; ++i) {
        vkFreeMemory(bench->handle, memory[i], NULL);
    }
    free(memory);
    free(binds);
}

static void report(struct paging_bench* bench, const struct paging_load* load, enum paging_way way,
                   const struct paging_times* all)
{
    const struct paging_times* const times = &all[way];
    const double done = bench_median_of(times->done, bench->runs);
    struct bench_row row;
    bench_row_begin(&row, "paging");
    bench_row_text(&row, ".device", bench->device.properties.deviceName);
    bench_row_text(&row, "workload", load->name);
    bench_row_name(&row, "peer", way_names[way]);
    bench_row_count(&row, "pages", load->count);
    bench_row_count(&row, "page_b", bench->page_size);
    bench_row_count(&row, "binds", times->binds);
    bench_row_count(&row, "calls", times->calls);
    bench_row_number(&row, "pages_call", (double)load->count / (double)times->calls, 1);
    bench_row_number(&row, "submit_us", bench_median_of(times->record, bench->runs) / 1e3, 1);
    bench_row_number(&row, "done_us", done / 1e3, 1);
    bench_row_number(&row, "min_us", bench_least_of(times->done, bench->runs) / 1e3, 1);
    bench_row_number(&row, "pages_s", (double)load->count * 1e9 / done, 0);
    bench_row_number(&row, "of_calls",
                     bench_median_ratio(times->done, all[WAY_CALL_A_PAGE].done, bench->runs), 3);
    bench_row_count(&row, ".runs", bench->runs);
    bench_row_text(&row, ".self_check", way == WAY_MAAR ? "passed" : "none");
    bench_row_end(&row, &bench->table);
}

/* The ways take turns, so that other work of the machine affects all of them. */
static void run_load(struct paging_bench* bench, const struct paging_load* load)
{
    struct paging_times* const times = bench_allocate(WAY_COUNT, sizeof(*times));
    for (uint32_t run = 0; run < bench->runs; ++run) {
        time_maar(bench, load, run, &times[WAY_MAAR]);
        time_naive(bench, load, false, run, &times[WAY_ONE_CALL]);
        time_naive(bench, load, true, run, &times[WAY_CALL_A_PAGE]);
    }
    for (int way = 0; way < WAY_COUNT; ++way) {
        report(bench, load, (enum paging_way)way, times);
    }
    free(times);
}

static void run_tiles(struct paging_bench* bench)
{
    if (!bench->advice.features.features.sparseResidencyImage2D) {
        bench_die(BENCH_EXIT_USAGE, "%s: no partially resident images",
                  bench->device.properties.deviceName);
    }
    const struct bench_tiles tiles = {.device_name = bench->device.properties.deviceName,
                                      .device = bench->handle,
                                      .family = bench->family,
                                      .allocator = bench->allocator,
                                      .updates = bench->updates};
    bench_tiles_run(&tiles, &bench->table);
}

int main(int argc, char** argv)
{
    struct paging_bench bench = {
        .device_name = "auto", .runs = DEFAULT_RUNS, .pages = 4096, .updates = DEFAULT_UPDATES};
    const struct bench_option options[] = {
        {"--device", "DEVICE", BENCH_OPTION_TEXT, &bench.device_name,
         "auto (default), vulkan:N, or simulated:PROFILE"},
        {"--heap", "N=SIZE", BENCH_OPTION_HEAP, &bench.heaps, "size of a simulated heap"},
        {"--pages", "N", BENCH_OPTION_COUNT, &bench.pages, "adjacent pages bound at once (4096)"},
        {"--runs", "N", BENCH_OPTION_COUNT, &bench.runs, "timed runs (9)"},
        {"--tiles", NULL, BENCH_OPTION_FLAG, &bench.tiles, "measure a cache of tiles instead"},
        {"--updates", "N", BENCH_OPTION_COUNT, &bench.updates, "updates of that cache (600)"},
    };
    const struct bench_command command = {
        .name = "bench_paging",
        .summary = "Binds pages of sparse buffers, by Maar and one by one.",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    bench_parse_options(&command, argc, argv);
    if (bench.runs > BENCH_MAX_RUNS) {
        bench_die(BENCH_EXIT_USAGE, "--runs: at most %d", BENCH_MAX_RUNS);
    }
    bench_device_open(&bench.device, bench.device_name, &bench.heaps);
    open_paging(&bench);
    open_paging_allocator(&bench);
    ask_pages(&bench);
    const struct paging_load loads[] = {
        {"adjacent", bench.pages, 1},
        {"scattered", SCATTERED_PAGES, SCATTER_STEP},
    };
    for (size_t i = 0; !bench.tiles && i < sizeof(loads) / sizeof(loads[0]); ++i) {
        run_load(&bench, &loads[i]);
    }
    if (bench.tiles) {
        run_tiles(&bench);
    }
    maarDestroyAllocator(bench.allocator);
    vkDestroySemaphore(bench.handle, bench.timeline, NULL);
    vkDestroyDevice(bench.handle, NULL);
    bench_device_close(&bench.device);
    return 0;
}
