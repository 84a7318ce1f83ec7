/*
 * Threads on one MaarCuda, over the FAKE CUDA driver: they ask for the addresses of new allocations
 * and of common ones, so that they meet at the first import of a block, free and trim meanwhile, so
 * that blocks end while others are imported, and make timelines that their own streams signal. The
 * second case lets calls of CUDA, of Vulkan and host allocations fail at random. At the end nothing
 * is left in the FAKE, and no descriptor.
 *
 * MAAR_STRESS_ROUNDS: rounds of each thread. MAAR_TEST_SEED as everywhere; the interleaving is the
 * machine's.
 */
#include <pthread.h>
#include <sched.h>

#include "tests/fault/fault_balance.h"
#include "tests/fault/fault_fds.h"
#include "tests/fault/fault_host.h"
#include "tests/interop/cuda_fixture.h"
#include "tests/stress/storm_errors.h"

enum { THREADS = 4, COMMON = 3, CHANCE = 200, SIZE = 3000, SOON_NS = 2000000 };

struct cuda_storm {
    struct cuda_desk desk;
    struct fault_host host;
    bool calm;
    uint32_t rounds;
    MaarAllocation common[COMMON];
    VkBuffer common_buffers[COMMON];
    _Atomic uint64_t addresses[COMMON];
    _Atomic uint32_t working;
    struct storm_errors errors;
    _Atomic uint64_t done, failed;
};

struct cuda_worker {
    struct cuda_storm* storm;
    struct maar_cuda_stream* stream;
    pthread_t thread;
    struct rig_random random;
};

static bool is_done(struct cuda_storm* storm, VkResult result, uint32_t line)
{
    storm_expect(&storm->errors, result == VK_SUCCESS || !storm->calm, line);
    storm_expect(&storm->errors, result <= 0 && result != VK_ERROR_VALIDATION_FAILED_EXT, line);
    (void)atomic_fetch_add(result == VK_SUCCESS ? &storm->done : &storm->failed, 1);
    return result == VK_SUCCESS;
}
#define DONE(storm, result) is_done(storm, result, __LINE__)

static void see_new_buffer(struct cuda_worker* worker)
{
    struct cuda_storm* storm = worker->storm;
    MaarAllocator allocator = storm->desk.rig.allocator;
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkBufferCreateInfo info = rig_buffer_info(SIZE);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pNext = &export;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.dedicated =
        rig_below(&worker->random, 3) == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    MaarCudaMemory seen = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    if (!DONE(storm, maarCreateBuffer(allocator, &info, &how, &buffer, &memory))) {
        return;
    }
    VkResult result = maarGetCudaMemory(storm->desk.cuda, memory, &seen);
    EXPECT(storm, (result == VK_SUCCESS) == (seen.pDevice != NULL));
    if (DONE(storm, result) && seen.pDevice != NULL) {
        /* The FAKE's addresses are the host's. */
        unsigned char* here = maarGetMappedData(allocator, memory);
        here[SIZE - 1] = (unsigned char)rig_next(&worker->random);
        EXPECT(storm, ((unsigned char*)seen.pDevice)[SIZE - 1] == here[SIZE - 1]);
    }
    maarDestroyBuffer(allocator, buffer, memory);
    if (rig_below(&worker->random, 8) == 0) {
        (void)maarTrim(allocator, VK_NULL_HANDLE, NULL);
    }
}

/* A common allocation has one address, whoever asks, once somebody has succeeded. */
static void see_common_buffer(struct cuda_worker* worker)
{
    struct cuda_storm* storm = worker->storm;
    const uint32_t which = rig_below(&worker->random, COMMON);
    MaarCudaMemory seen = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    if (DONE(storm, maarGetCudaMemory(storm->desk.cuda, storm->common[which], &seen))) {
        uint64_t known = 0;
        if (!atomic_compare_exchange_strong(&storm->addresses[which], &known, seen.devicePointer)) {
            EXPECT(storm, known == seen.devicePointer);
        }
    }
}

static void signal_timeline(struct cuda_worker* worker, MaarCudaTimeline timeline)
{
    struct cuda_storm* storm = worker->storm;
    MaarCudaTimelineInfo known = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO};
    EXPECT(storm, maarGetCudaTimelineInfo(storm->desk.cuda, timeline, &known) == VK_SUCCESS);
    for (uint64_t value = 1; value <= 3; ++value) {
        const VkSemaphoreWaitInfo wait = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
            .semaphoreCount = 1,
            .pSemaphores = &known.semaphore,
            .pValues = &value,
        };
        if (!DONE(storm, maarCudaSignal(storm->desk.cuda, timeline, value, worker->stream))) {
            return;
        }
        const VkResult waited =
            vkWaitSemaphores(storm->desk.rig.device, &wait, storm->calm ? UINT64_MAX : SOON_NS);
        EXPECT(storm, waited == VK_SUCCESS || !storm->calm);
    }
}

static void use_timeline(struct cuda_worker* worker)
{
    struct cuda_storm* storm = worker->storm;
    const MaarCudaTimelineCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
        .mode = rig_below(&worker->random, 2) == 0 ? MAAR_HANDOFF_MODE_TIMELINE
                                                   : MAAR_HANDOFF_MODE_HOST,
    };
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    VkResult result = maarCreateCudaTimeline(storm->desk.cuda, &info, &timeline);
    EXPECT(storm, (result == VK_SUCCESS) == (timeline != VK_NULL_HANDLE));
    if (DONE(storm, result)) {
        signal_timeline(worker, timeline);
        (void)storm->desk.driver.cuStreamSynchronize(worker->stream);
        maarDestroyCudaTimeline(storm->desk.cuda, timeline);
    }
}

static void* work(void* data)
{
    struct cuda_worker* worker = data;
    struct cuda_storm* storm = worker->storm;
    MaarCudaInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_INFO};
    struct maar_cuda_context* popped = NULL;
    EXPECT(storm, maarGetCudaInfo(storm->desk.cuda, &info) == VK_SUCCESS);
    EXPECT(storm, storm->desk.driver.cuCtxPushCurrent(info.pContext) == MAAR_CUDA_SUCCESS);
    for (uint32_t round = 0; round < storm->rounds; ++round) {
        switch (rig_below(&worker->random, 4)) {
        case 0:
            use_timeline(worker);
            break;
        case 1:
            see_common_buffer(worker);
            break;
        default:
            see_new_buffer(worker);
            break;
        }
    }
    EXPECT(storm, storm->desk.driver.cuCtxPopCurrent(&popped) == MAAR_CUDA_SUCCESS);
    EXPECT(storm, storm->desk.fake->context_depth() == 0);
    (void)atomic_fetch_sub(&storm->working, 1);
    return NULL;
}

/* Every so often a call fails. What ends things never does: nobody could do anything about it. */
static void fail_at_random(struct cuda_storm* storm, struct rig_random* random)
{
    static const char* const functions[] = {
        "cuImportExternalMemory",    "cuExternalMemoryGetMappedBuffer",
        "cuImportExternalSemaphore", "cuSignalExternalSemaphoresAsync",
        "cuLaunchHostFunc",
    };
    static const VkResult codes[] = {
        VK_ERROR_OUT_OF_HOST_MEMORY,
        VK_ERROR_OUT_OF_DEVICE_MEMORY,
        VK_ERROR_TOO_MANY_OBJECTS,
    };
    atomic_store(&storm->host.chance, CHANCE);
    while (atomic_load(&storm->working) != 0) {
        storm->desk.fake->set_fault(functions[rig_below(random, 5)], 1 + rig_below(random, 5), 1,
                                    MAAR_CUDA_OUT_OF_MEMORY);
        rig_clear_faults(&storm->desk.rig);
        rig_set_fault(&storm->desk.rig, NULL, 1 + rig_below(random, 20), 1,
                      codes[rig_below(random, 3)]);
        (void)sched_yield();
    }
    atomic_store(&storm->host.chance, 0);
    storm->desk.fake->set_fault(NULL, 0, 0, 0);
    rig_clear_faults(&storm->desk.rig);
}

static uint32_t rounds_wanted(void)
{
    const char* text = getenv("MAAR_STRESS_ROUNDS");
    const uint32_t rounds = text != NULL ? (uint32_t)strtoul(text, NULL, 0) : 0;
    return rounds != 0 ? rounds : 4000;
}

static void open_storm(struct cuda_storm* storm, bool calm)
{
    const struct rig_setup setup = {
        .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
        .count_host = true,
    };
    memset(storm, 0, sizeof *storm);
    storm->calm = calm;
    storm->rounds = rounds_wanted();
    cuda_desk_open(&storm->desk, &setup);
    /* Once more, on host memory that fails on demand. */
    maarDestroyAllocator(storm->desk.rig.allocator);
    fault_host_init(&storm->host, &storm->desk.rig.host_callbacks);
    storm->desk.rig.create_info.pAllocationCallbacks = &storm->host.callbacks;
    rig_make_allocator(&storm->desk.rig);
    const MaarCudaCreateInfo info = cuda_desk_info();
    assert_int_equal(maarCreateCuda(storm->desk.rig.allocator, &info, &storm->desk.cuda),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < COMMON; ++i) {
        storm->common[i] =
            rig_create_shared_buffer(&storm->desk.rig, SIZE, &storm->common_buffers[i]);
    }
    atomic_store(&storm->working, THREADS);
}

static void close_storm(struct cuda_storm* storm)
{
    print_message("%llu calls did what they should, %llu failed\n",
                  (unsigned long long)atomic_load(&storm->done),
                  (unsigned long long)atomic_load(&storm->failed));
    if (atomic_load(&storm->errors.count) != 0) {
        fail_msg("%u expectations failed, the first in line %u",
                 (unsigned)atomic_load(&storm->errors.count),
                 (unsigned)atomic_load(&storm->errors.first));
    }
    assert_true((atomic_load(&storm->failed) == 0) == storm->calm);
    for (uint32_t i = 0; i < COMMON; ++i) {
        maarDestroyBuffer(storm->desk.rig.allocator, storm->common_buffers[i], storm->common[i]);
    }
    assert_int_equal(maarTrim(storm->desk.rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    fault_expect_empty(&storm->desk.rig);
    assert_int_equal(cuda_desk_cuda_info(&storm->desk).importedBlockCount, 0);
    assert_int_equal(cuda_desk_cuda_info(&storm->desk).importedBytes, 0);
    cuda_desk_close(&storm->desk);
}

static void run_storm(bool calm)
{
    static struct cuda_storm storm;
    static struct cuda_worker workers[THREADS];
    struct rig_random random = {rig_seed(calm ? 15 : 16)};
    const uint32_t fds = fault_open_fds();
    open_storm(&storm, calm);
    struct maar_cuda_context* popped = NULL;
    assert_int_equal(storm.desk.driver.cuCtxPushCurrent(cuda_desk_cuda_info(&storm.desk).pContext),
                     MAAR_CUDA_SUCCESS);
    for (uint32_t i = 0; i < THREADS; ++i) {
        workers[i] = (struct cuda_worker){.storm = &storm, .random = {rig_next(&random)}};
        assert_int_equal(
            storm.desk.driver.cuStreamCreate(&workers[i].stream, MAAR_CUDA_STREAM_NON_BLOCKING),
            MAAR_CUDA_SUCCESS);
    }
    for (uint32_t i = 0; i < THREADS; ++i) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    if (!calm) {
        fail_at_random(&storm, &random);
    }
    for (uint32_t i = 0; i < THREADS; ++i) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(storm.desk.driver.cuStreamDestroy(workers[i].stream), MAAR_CUDA_SUCCESS);
    }
    assert_int_equal(storm.desk.driver.cuCtxPopCurrent(&popped), MAAR_CUDA_SUCCESS);
    close_storm(&storm);
    assert_int_equal(fault_open_fds(), fds);
}

static void threads_import_and_signal_at_once(void** state)
{
    (void)state;
    run_storm(true);
}

static void threads_import_and_signal_while_everything_fails(void** state)
{
    (void)state;
    run_storm(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_import_and_signal_at_once),
        cmocka_unit_test(threads_import_and_signal_while_everything_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
