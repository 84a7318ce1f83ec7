/*
 * What uses of residents cost the host. A use names 1,000 residents: the same ones each time, or
 * the next ones of all. Everything fits on the device, so that nothing is copied. Then the cost of
 * an update, with everything on the device and just below the budget.
 */
#include "bench_common.h"
#include "bench_device.h"
#include "bench_row.h"

#include "maar/maar.h"
#include "maar/volk.h"

#include <stdlib.h>

enum { USES = 1000, RESIDENT_BYTES = 4096, PASSES = 3 };

struct residents_bench {
    const char* device_name;
    struct bench_heaps heaps;
    uint32_t count;
    uint32_t runs;
    struct bench_device device;
    MaarDeviceRecommendation advice;
    VkDevice handle;
    VkQueue queue;
    VkSemaphore timeline;
    uint64_t value;
    MaarAllocator allocator;
    MaarResidency residency;
    MaarResident* residents;
    MaarResidentObject* objects;
    MaarResidentUse* uses;
    struct bench_table table;
};

static uint64_t allocation_count;

static void* VKAPI_PTR count_allocation(void* user, size_t size, size_t alignment,
                                        VkSystemAllocationScope scope)
{
    (void)user;
    (void)scope;
    ++allocation_count;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void* VKAPI_PTR refuse_reallocation(void* user, void* original, size_t size,
                                           size_t alignment, VkSystemAllocationScope scope)
{
    (void)user, (void)original, (void)size, (void)alignment, (void)scope;
    return NULL;
}

static void VKAPI_PTR free_memory(void* user, void* memory)
{
    (void)user;
    free(memory);
}

static const VkAllocationCallbacks callbacks = {.pfnAllocation = count_allocation,
                                                .pfnReallocation = refuse_reallocation,
                                                .pfnFree = free_memory};

static void open_bench(struct residents_bench* bench)
{
    static MaarQueue queue;
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    MaarDeviceRecommendation* const advice = &bench->advice;
    advice->sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    bench_device_open(&bench->device, bench->device_name, &bench->heaps);
    bench_expect(maarRecommendDevice(vkGetInstanceProcAddr, bench->device.instance.instance,
                                     bench->device.physical, NULL, advice),
                 "maarRecommendDevice");
    bench->handle = bench_create_recommended(&bench->device, advice, 0);
    vkGetDeviceQueue(bench->handle, 0, 0, &queue.queue);
    bench->queue = queue.queue;
    bench_expect(vkCreateSemaphore(bench->handle, &semaphore, NULL, &bench->timeline),
                 "vkCreateSemaphore");
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
        .pAllocationCallbacks = &callbacks,
    };
    maarUseVolk(&info);
    bench_expect(maarCreateAllocator(&info, &bench->allocator), "maarCreateAllocator");
    const MaarResidencyCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .deviceBudget = (VkDeviceSize)bench->count * RESIDENT_BYTES * 9 / 8,
        .hostBudget = (VkDeviceSize)bench->count * RESIDENT_BYTES,
    };
    bench_expect(maarCreateResidency(bench->allocator, &how, &bench->residency),
                 "maarCreateResidency");
}

static void make_residents(struct residents_bench* bench)
{
    const VkBufferCreateInfo buffer = bench_buffer_info(RESIDENT_BYTES);
    const MaarResidentCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                         .pBufferInfo = &buffer};
    bench->residents = bench_allocate(bench->count, sizeof *bench->residents);
    bench->objects = bench_allocate(USES, sizeof *bench->objects);
    bench->uses = bench_allocate(bench->count, sizeof *bench->uses);
    for (uint64_t i = 0; i < bench->count; ++i) {
        bench_expect(
            maarCreateResident(bench->allocator, bench->residency, &info, &bench->residents[i]),
            "maarCreateResident");
        bench->uses[i] =
            (MaarResidentUse){.resident = bench->residents[i], .access = MAAR_ACCESS_READ_BIT};
    }
}

static void pass_last(struct residents_bench* bench)
{
    const VkSemaphoreSignalInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                          .semaphore = bench->timeline,
                                          .value = bench->value};
    bench_expect(vkSignalSemaphoreKHR(bench->handle, &signal), "vkSignalSemaphoreKHR");
}

/* Begins and ends a use of the residents from the given one on. */
BENCH_NOINLINE static void use_residents(struct residents_bench* bench, uint64_t first)
{
    const MaarUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                    .useCount = USES,
                                    .pUses = bench->uses + first};
    MaarUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    MaarUse use = VK_NULL_HANDLE;
    bench_expect(
        maarBeginUse(bench->allocator, bench->residency, &begin, bench->objects, &info, &use),
        "maarBeginUse");
    const MaarPoint point = {bench->timeline, ++bench->value};
    bench_expect(maarEndUse(bench->allocator, bench->residency, use, 1, &point), "maarEndUse");
}

static void report(struct residents_bench* bench, const char* what, double* values,
                   uint64_t allocations)
{
    struct bench_row row;
    bench_row_begin(&row, "residents");
    bench_row_name(&row, "what", what);
    bench_row_count(&row, "residents", bench->count);
    bench_row_number(&row, "us", bench_median(values, bench->runs) / 1000, 1);
    bench_row_number(&row, "least_us", bench_least_of(values, bench->runs) / 1000, 1);
    bench_row_count(&row, "allocations", allocations);
    bench_row_end(&row, &bench->table);
}

static void measure_uses(struct residents_bench* bench, bool rotates)
{
    double values[BENCH_MAX_RUNS];
    const uint64_t sets = bench->count / USES;
    const uint64_t before = allocation_count;
    uint64_t at = 0;
    for (uint64_t run = 0; run < bench->runs; ++run) {
        const double begin = bench_thread_ns();
        for (uint64_t i = 0; i < sets; ++i) {
            use_residents(bench, rotates ? at % sets * USES : 0);
            ++at;
        }
        values[run] = (bench_thread_ns() - begin) / (double)sets;
        pass_last(bench);
    }
    report(bench, rotates ? "use, rotating" : "use, the same", values, allocation_count - before);
}

static void measure_updates(struct residents_bench* bench, const char* what)
{
    double values[BENCH_MAX_RUNS];
    const uint64_t before = allocation_count;
    for (uint64_t run = 0; run < bench->runs; ++run) {
        use_residents(bench, 0);
        pass_last(bench);
        const double begin = bench_thread_ns();
        bench_expect(maarUpdateResidency(bench->allocator, bench->residency, NULL),
                     "maarUpdateResidency");
        values[run] = bench_thread_ns() - begin;
    }
    report(bench, what, values, allocation_count - before);
}

int main(int argc, char** argv)
{
    struct residents_bench bench = {
        .device_name = "simulated:nvidia-rtx4090-linux", .count = 100000, .runs = 31};
    const struct bench_option options[] = {
        {"--device", "DEVICE", BENCH_OPTION_TEXT, &bench.device_name,
         "auto, vulkan:N, or simulated:PROFILE (simulated:nvidia-rtx4090-linux)"},
        {"--heap", "N=SIZE", BENCH_OPTION_HEAP, &bench.heaps, "size of a simulated heap"},
        {"--residents", "N", BENCH_OPTION_COUNT, &bench.count, "residents (100000)"},
        {"--runs", "N", BENCH_OPTION_COUNT, &bench.runs, "runs, at most 1000 (31)"},
    };
    const struct bench_command command = {
        .name = "bench_residents",
        .summary = "The host's cost of uses of residents.",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    (void)bench_parse_options(&command, argc, argv);
    if (bench.count < USES || bench.runs < 1 || bench.runs > BENCH_MAX_RUNS) {
        bench_die(BENCH_EXIT_USAGE, "at least %d residents, and 1 to %d runs", USES,
                  BENCH_MAX_RUNS);
    }
    open_bench(&bench);
    make_residents(&bench);
    for (uint64_t i = 0; i + USES <= bench.count; i += USES) {
        use_residents(&bench, i);
    }
    pass_last(&bench);
    measure_uses(&bench, false);
    measure_uses(&bench, true);
    measure_updates(&bench, "update");
    maarDestroyResidency(bench.allocator, bench.residency);
    maarDestroyAllocator(bench.allocator);
    vkDestroySemaphore(bench.handle, bench.timeline, NULL);
    vkDestroyDevice(bench.handle, NULL);
    bench_device_close(&bench.device);
    free(bench.residents);
    free(bench.objects);
    free(bench.uses);
    return 0;
}
