/*
 * Threads that wait for each other sleep: while one is inside the driver, the others use no
 * processor time. On a simulated device that shares everything.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "core/memory/allocator_state.h"
#include "tests/interop/sharing_fixture.h"

#include <pthread.h>
#include <time.h>

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

enum { EXPORTERS = 4, DRIVER_SLEEP_MS = 200, MOST_CPU_MS = 50 };

static struct rig* rig;
static PFN_vkGetMemoryFdKHR driver_export;
static maar_atomic32 driver_calls;

static VkResult VKAPI_PTR export_slowly(VkDevice device, const VkMemoryGetFdInfoKHR* info, int* fd)
{
    const struct timespec nap = {.tv_nsec = (long)DRIVER_SLEEP_MS * 1000000};
    (void)maar_atomic32_add(&driver_calls, 1);
    (void)nanosleep(&nap, NULL);
    return driver_export(device, info, fd);
}

struct exporter {
    pthread_t thread;
    MaarAllocation allocation;
    VkResult result;
    int64_t cpu_ns;
};

static void* export_one(void* data)
{
    struct exporter* exporter = data;
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    struct timespec used;
    exporter->result = maarExportMemory(rig->allocator, exporter->allocation, OPAQUE, &exported);
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    exporter->cpu_ns = (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    return NULL;
}

static void exporters_of_one_block_sleep_while_one_is_in_the_driver(void** state)
{
    (void)state;
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    rig = rig_begin(&setup);
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation shared = rig_create_shared_buffer(rig, 4096, &buffer);
    driver_export = rig->allocator->device.vkGetMemoryFdKHR;
    rig->allocator->device.vkGetMemoryFdKHR = export_slowly;
    struct exporter exporters[EXPORTERS];
    for (uint32_t i = 0; i < EXPORTERS; ++i) {
        exporters[i] = (struct exporter){.allocation = shared};
        assert_int_equal(pthread_create(&exporters[i].thread, NULL, export_one, &exporters[i]), 0);
    }
    for (uint32_t i = 0; i < EXPORTERS; ++i) {
        assert_int_equal(pthread_join(exporters[i].thread, NULL), 0);
        assert_int_equal(exporters[i].result, VK_SUCCESS);
        assert_in_range(exporters[i].cpu_ns, 0, (uint64_t)MOST_CPU_MS * 1000000);
    }
    assert_int_equal(maar_atomic32_load(&driver_calls), 1);
    rig->allocator->device.vkGetMemoryFdKHR = driver_export;
    maarDestroyBuffer(rig->allocator, buffer, shared);
}

static void* leave_later(void* data)
{
    const struct timespec nap = {.tv_nsec = (long)DRIVER_SLEEP_MS * 1000000};
    (void)nanosleep(&nap, NULL);
    maar_gate_leave(data);
    return NULL;
}

static void gate_waits_until_the_work_is_done(void** state)
{
    (void)state;
    struct maar_gate gate;
    pthread_t worker;
    assert_true(maar_gate_init(&gate));
    assert_true(maar_gate_wait(&gate, 0));
    maar_gate_enter(&gate);
    assert_false(maar_gate_wait(&gate, 1000000));
    assert_int_equal(maar_gate_count(&gate), 1);
    assert_int_equal(pthread_create(&worker, NULL, leave_later, &gate), 0);
    assert_true(maar_gate_wait(&gate, UINT64_MAX));
    maar_gate_destroy(&gate);
    assert_int_equal(pthread_join(worker, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(exporters_of_one_block_sleep_while_one_is_in_the_driver),
        rig_unit_test(gate_waits_until_the_work_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
