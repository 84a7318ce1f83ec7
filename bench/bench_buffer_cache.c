/*
 * What a buffer cache uploads, beside the optimum and the oldest use: the workloads of
 * bench_residency, played through a cache on a device. Each object is an item of one page, and each
 * submission a use.
 */
#include "bench_common.h"
#include "bench_device.h"
#include "bench_options.h"
#include "bench_row.h"
#include "maar/volk.h"
#include "residency_rule.h"
#include "residency_workload.h"

#include <stdlib.h>
#include <string.h>

struct cache_bench {
    const char* device_name;
    struct bench_heaps heaps;
    struct bench_device device;
    MaarDeviceRecommendation advice;
    VkDevice handle;
    VkQueue queue;
    MaarAllocator allocator;
    VkSemaphore timeline;
    uint64_t value;
    MaarReservation reservation;
    MaarReservationInfo reserved;
    MaarBufferCache cache;
};

static VkResult VKAPI_CALL fill(void* user, uint32_t item, void* item_user, VkDeviceSize offset,
                                VkDeviceSize size, void* data)
{
    (void)user;
    (void)item_user;
    (void)offset;
    memset(data, (int)(item & 255), (size_t)size);
    return VK_SUCCESS;
}

/* ---- the device ---- */

static void open_device(struct cache_bench* bench)
{
    MaarDeviceRecommendation* advice = &bench->advice;
    bench_device_open(&bench->device, bench->device_name, &bench->heaps);
    advice->sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    bench_expect(maarRecommendDevice(vkGetInstanceProcAddr, bench->device.instance.instance,
                                     bench->device.physical, NULL, advice),
                 "maarRecommendDevice");
    const uint32_t family = advice->sparseQueueFamily;
    if (family == UINT32_MAX || !advice->features.features.sparseResidencyBuffer ||
        !advice->timelineSemaphore.timelineSemaphore) {
        bench_die(BENCH_EXIT_USAGE, "%s: no sparse buffers, no queue for them or no timelines",
                  bench->device.properties.deviceName);
    }
    bench->handle = bench_create_recommended(&bench->device, advice, family);
    vkGetDeviceQueue(bench->handle, family, 0, &bench->queue);
    const MaarQueue queue = {.familyIndex = family, .queue = bench->queue};
    MaarAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .apiVersion = BENCH_API_VERSION,
        .instance = bench->device.instance.instance,
        .physicalDevice = bench->device.physical,
        .device = bench->handle,
        .enabledExtensionCount = advice->extensionCount,
        .ppEnabledExtensionNames = advice->ppExtensionNames,
        .pEnabledFeatures = advice->pFeatures,
        .queueCount = 1,
        .pQueues = &queue,
    };
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    maarUseVolk(&info);
    bench_expect(maarCreateAllocator(&info, &bench->allocator), "maarCreateAllocator");
    bench_expect(vkCreateSemaphore(bench->handle, &semaphore, NULL, &bench->timeline),
                 "vkCreateSemaphore");
}

static void close_device(struct cache_bench* bench)
{
    vkDestroySemaphore(bench->handle, bench->timeline, NULL);
    maarDestroyAllocator(bench->allocator);
    vkDestroyDevice(bench->handle, NULL);
    bench_device_close(&bench->device);
}

/* ---- a workload ---- */

/* Makes a cache with an item of one page for each object, and room for some of them. */
static void open_cache(struct cache_bench* bench, uint32_t objects, uint32_t capacity,
                       uint32_t most_uses)
{
    VkBufferCreateInfo buffer = bench_buffer_info((VkDeviceSize)objects << 16);
    const MaarReservationCreateInfo reserve = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
        .pBufferInfo = &buffer,
    };
    buffer.usage |= VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    bench->reserved.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO;
    bench_expect(maarCreateReservation(bench->allocator, &reserve, &bench->reservation),
                 "maarCreateReservation");
    bench_expect(maarGetReservationInfo(bench->allocator, bench->reservation, &bench->reserved),
                 "maarGetReservationInfo");
    const VkDeviceSize page = bench->reserved.pageSize;
    const MaarBufferCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO,
        .reservation = bench->reservation,
        .budget = capacity * page,
        .stagingSize = 2 * (VkDeviceSize)most_uses * page,
        .uploadSize = page,
        .pfnFill = fill,
    };
    bench_expect(maarCreateBufferCache(bench->allocator, &info, &bench->cache),
                 "maarCreateBufferCache");
    for (uint32_t i = 0; i < objects; ++i) {
        const MaarBufferItem item = {.offset = i * page, .size = page};
        bench_expect(maarAddBufferItems(bench->allocator, bench->cache, 1, &item, NULL),
                     "maarAddBufferItems");
    }
}

/* Plays all submissions, each of which is over when it is made. Returns the CPU time of the begins
 * and ends. */
static double play(struct cache_bench* bench, const struct residency_workload* workload)
{
    double ns = 0;
    for (uint32_t i = 0; i < workload->submission_count; ++i) {
        const MaarBufferUseBeginInfo begin = {
            .sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO,
            .flags = MAAR_BUFFER_USE_WAIT_BIT,
            .itemCount = workload->begins[i + 1] - workload->begins[i],
            .pItems = &workload->uses[workload->begins[i]],
        };
        const MaarPoint done = {bench->timeline, ++bench->value};
        const VkSemaphoreSignalInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                              .semaphore = done.semaphore,
                                              .value = done.value};
        uint64_t use = 0;
        const double start = bench_thread_ns();
        bench_expect(maarBeginBufferUse(bench->allocator, bench->cache, &begin, NULL, &use),
                     "maarBeginBufferUse");
        bench_expect(maarEndBufferUse(bench->allocator, bench->cache, use, 1, &done),
                     "maarEndBufferUse");
        ns += bench_thread_ns() - start;
        bench_expect(vkSignalSemaphoreKHR(bench->handle, &signal), "vkSignalSemaphore");
    }
    return ns;
}

static void run_workload(struct cache_bench* bench, uint32_t number, uint32_t percent,
                         struct bench_table* table)
{
    struct residency_workload workload;
    MaarBufferCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO};
    struct bench_row row;
    residency_workload_make(&workload, number, 0, false);
    uint32_t capacity = (uint32_t)((uint64_t)workload.used_count * percent / 100);
    capacity = capacity > workload.most_uses ? capacity : workload.most_uses + 1;
    open_cache(bench, workload.object_count, capacity, workload.most_uses);
    const double ns = play(bench, &workload);
    bench_expect(maarGetBufferCacheInfo(bench->allocator, bench->cache, &info),
                 "maarGetBufferCacheInfo");
    if (info.peakCommittedSize > info.budget) {
        bench_die(BENCH_EXIT_FAILED, "the cache has exceeded its budget");
    }
    const double uploads = (double)info.uploadedSize / (double)bench->reserved.pageSize;
    const uint64_t bytes = (uint64_t)capacity * RESIDENCY_OBJECT_BYTES;
    const uint64_t object = RESIDENCY_OBJECT_BYTES;
    const double optimum =
        (double)(residency_play(&workload, RESIDENCY_OPTIMUM, bytes).restored / object);
    const double oldest =
        (double)(residency_play(&workload, RESIDENCY_OLDEST, bytes).restored / object);
    bench_row_begin(&row, "buffer_cache");
    bench_row_text(&row, ".device", bench->device.properties.deviceName);
    bench_row_name(&row, "workload", workload.name);
    bench_row_count(&row, "capacity", percent);
    bench_row_count(&row, "items", workload.used_count);
    bench_row_number(&row, "uploaded_mib", (double)info.uploadedSize / 1048576.0, 1);
    bench_row_number(&row, "to_optimum", uploads / optimum, 2);
    bench_row_number(&row, "oldest_to_optimum", oldest / optimum, 2);
    bench_row_number(&row, "use_us", ns / workload.submission_count / 1e3, 1);
    bench_row_end(&row, table);
    maarDestroyBufferCache(bench->allocator, bench->cache);
    maarDestroyReservation(bench->allocator, bench->reservation);
    residency_workload_release(&workload);
}

int main(int argc, char** argv)
{
    struct bench_table table = {{0}};
    struct cache_bench bench = {.device_name = "simulated:amd-rx7900xtx-radv26.2"};
    const struct bench_option options[] = {
        {"--device", "DEVICE", BENCH_OPTION_TEXT, &bench.device_name,
         "vulkan:N or simulated:PROFILE (simulated:amd-rx7900xtx-radv26.2)"},
    };
    const struct bench_command command = {
        .name = "bench_buffer_cache",
        .summary = "Uploaded bytes of a buffer cache, divided by the optimum.",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    (void)bench_parse_options(&command, argc, argv);
    open_device(&bench);
    for (uint32_t number = 0; number < 2; ++number) {
        run_workload(&bench, number, 50, &table);
        run_workload(&bench, number, 90, &table);
    }
    close_device(&bench);
    return 0;
}
