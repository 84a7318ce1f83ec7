/*
 * The FAKE HIP runtime: the same rules under HIP's names, a device for each thread, and none of
 * what HIP lacks.
 */
#include "tests/fakes/fake_fixture.h"
#include "tests/fakes/fake_gate.h"

#include <sched.h>
#include <sys/mman.h>

enum { BLOCK = 65536 };

static struct maar_hip_runtime hip;
static const struct fake_control* control;

static int setup_hip(void** state)
{
    (void)state;
    control = fake_load_hip(MAAR_FAKE_HIP, &hip);
    return 0;
}

static int teardown_hip(void** state)
{
    (void)state;
    control->reset();
    return 0;
}

static int make_block(uint64_t size)
{
    const int fd = memfd_create("a test's block", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)(size + FAKE_FILE_EXTRA)), 0);
    return fd;
}

static struct maar_hip_memory_handle handle_of(int fd, uint64_t size)
{
    return (struct maar_hip_memory_handle){
        .type = MAAR_HIP_MEMORY_OPAQUE_FD, .handle = {.fd = fd}, .size = size};
}

static void device_says_that_it_is_fake(void** state)
{
    char text[100];
    int version = 0;
    (void)state;
    assert_int_equal(hip.hipInit(0), MAAR_HIP_SUCCESS);
    assert_int_equal(hip.hipDeviceGetName(text, sizeof text, 0), MAAR_HIP_SUCCESS);
    assert_string_equal(text, "FAKE HIP device (Maar's tests; not a GPU)");
    assert_int_equal(hip.hipDeviceGetPCIBusId(text, sizeof text, 0), MAAR_HIP_SUCCESS);
    assert_string_equal(text, "0000:01:00.0");
    assert_int_equal(hip.hipRuntimeGetVersion(&version), MAAR_HIP_SUCCESS);
    assert_int_equal(version, 60000000);
    assert_string_equal(hip.hipGetErrorName(MAAR_HIP_INVALID_VALUE), "hipErrorInvalidValue");
    fake_expect_no_breach(control);
}

static void* read_device(void* data)
{
    assert_int_equal(hip.hipGetDevice(data), MAAR_HIP_SUCCESS);
    return NULL;
}

static void device_belongs_to_the_thread(void** state)
{
    pthread_t thread;
    int there = -1;
    int here = -1;
    (void)state;
    control->set_device_count(2);
    assert_int_equal(hip.hipSetDevice(1), MAAR_HIP_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, read_device, &there), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(hip.hipGetDevice(&here), MAAR_HIP_SUCCESS);
    assert_int_equal(here, 1);
    assert_int_equal(there, 0);
    assert_int_equal(hip.hipSetDevice(2), MAAR_HIP_INVALID_DEVICE);
    fake_expect_breach(control, "hipSetDevice: there is no device 2");
}

static void block_is_imported_mapped_and_freed(void** state)
{
    const uint32_t before = rig_count_fds();
    const int fd = make_block(BLOCK);
    const struct maar_hip_memory_handle handle = handle_of(fd, BLOCK);
    const struct maar_hip_memory_range range = {.offset = 4096, .size = 100};
    char* file = mmap(NULL, BLOCK, PROT_READ, MAP_SHARED, fd, FAKE_FILE_PAYLOAD);
    maar_hip_memory memory = NULL;
    void* pointer = NULL;
    (void)state;
    assert_true(file != MAP_FAILED);
    assert_int_equal(hip.hipImportExternalMemory(&memory, &handle), MAAR_HIP_SUCCESS);
    assert_int_equal(close(fd), 0); /* unlike CUDA, HIP has not taken it */
    assert_int_equal(hip.hipExternalMemoryGetMappedBuffer(&pointer, memory, &range), 0);
    assert_int_equal(hip.hipMemsetAsync(pointer, 3, 100, NULL), MAAR_HIP_SUCCESS);
    assert_int_equal(hip.hipStreamSynchronize(NULL), MAAR_HIP_SUCCESS);
    assert_int_equal(file[4095] + file[4096] + file[4195] + file[4196], 6);
    assert_int_equal(hip.hipFree(pointer), MAAR_HIP_SUCCESS);
    assert_int_equal(hip.hipDestroyExternalMemory(memory), MAAR_HIP_SUCCESS);
    (void)munmap(file, BLOCK);
    assert_int_equal(rig_count_fds(), before);
    fake_expect_clean_end(control);
}

static void broken_rules_are_said_under_hip_s_names(void** state)
{
    const int fd = make_block(BLOCK);
    struct maar_hip_memory_handle handle = handle_of(fd, BLOCK - 1);
    struct maar_hip_memory_range range = {.offset = BLOCK, .size = 1};
    maar_hip_memory memory = NULL;
    void* pointer = NULL;
    (void)state;
    assert_int_equal(hip.hipImportExternalMemory(&memory, &handle), MAAR_HIP_OUT_OF_MEMORY);
    fake_expect_breach(control, "hipImportExternalMemory: the size is 65535, but 65536");
    assert_true(fake_is_open(fd));
    /* The runtime itself looks at the fields; whatever it passes on has one error. */
    handle = handle_of(fd, BLOCK);
    handle.flags = 2;
    assert_int_equal(hip.hipImportExternalMemory(&memory, &handle), MAAR_HIP_INVALID_VALUE);
    fake_expect_breach(control, "hipImportExternalMemory: flags 0x2 are unknown");
    handle = handle_of(fd, BLOCK);
    handle.type = MAAR_HIP_MEMORY_OPAQUE_WIN32;
    assert_int_equal(hip.hipImportExternalMemory(&memory, &handle), MAAR_HIP_OUT_OF_MEMORY);
    fake_expect_breach(control, "hipImportExternalMemory: handles of type 2 are not supported");
    handle = handle_of(-1, BLOCK);
    assert_int_equal(hip.hipImportExternalMemory(&memory, &handle), MAAR_HIP_OUT_OF_MEMORY);
    fake_expect_breach(control, "hipImportExternalMemory: -1 is no open descriptor");
    handle = handle_of(fd, BLOCK);
    assert_int_equal(hip.hipImportExternalMemory(&memory, &handle), MAAR_HIP_SUCCESS);
    assert_int_equal(hip.hipExternalMemoryGetMappedBuffer(&pointer, memory, &range),
                     MAAR_HIP_INVALID_VALUE);
    fake_expect_breach(control, "hipExternalMemoryGetMappedBuffer: 1 bytes at 65536 are outside");
    range.offset = 0;
    assert_int_equal(hip.hipExternalMemoryGetMappedBuffer(&pointer, memory, &range), 0);
    assert_int_equal(hip.hipDestroyExternalMemory(memory), MAAR_HIP_SUCCESS);
    fake_expect_breach(control, "hipDestroyExternalMemory: external memory is destroyed before");
}

static void there_are_no_semaphores_and_no_images(void** state)
{
    void* library = fake_open_library(MAAR_FAKE_HIP);
    (void)state;
    assert_null(dlsym(library, "hipImportExternalSemaphore"));
    assert_null(dlsym(library, "hipExternalMemoryGetMappedMipmappedArray"));
    assert_null(dlsym(library, "cuInit"));
}

static void MAAR_HIP_CALL count_up(void* data)
{
    ++*(int*)data;
}

static void stream_and_events_work_in_order(void** state)
{
    struct maar_hip_stream* stream = NULL;
    struct maar_hip_event* event = NULL;
    char host[8] = {1};
    void* pointer = NULL;
    int calls = 0;
    (void)state;
    assert_int_equal(hip.hipStreamCreateWithFlags(&stream, MAAR_HIP_STREAM_NON_BLOCKING), 0);
    assert_int_equal(hip.hipEventCreateWithFlags(&event, MAAR_HIP_EVENT_DISABLE_TIMING), 0);
    assert_int_equal(hip.hipMalloc(&pointer, 8), 0);
    assert_int_equal(hip.hipMemsetAsync(pointer, 7, 8, stream), 0);
    assert_int_equal(hip.hipMemcpyAsync(host, pointer, 8, MAAR_HIP_COPY_DEVICE_TO_HOST, stream), 0);
    assert_int_equal(hip.hipLaunchHostFunc(stream, count_up, &calls), 0);
    assert_int_equal(hip.hipEventRecord(event, stream), 0);
    assert_int_equal(hip.hipStreamWaitEvent(NULL, event, 0), 0);
    assert_int_equal(hip.hipEventSynchronize(event), 0);
    assert_int_equal(hip.hipStreamSynchronize(NULL), 0);
    assert_int_equal(host[7], 7);
    assert_int_equal(calls, 1);
    assert_int_equal(hip.hipMemcpyAsync(host, host, 8, MAAR_HIP_COPY_DEVICE_TO_HOST, stream),
                     MAAR_HIP_INVALID_VALUE);
    fake_expect_breach(control, "hipMemcpyAsync: the source, 8 bytes, is no device memory");
    assert_int_equal(hip.hipMemcpyAsync(host, pointer, 8, MAAR_HIP_COPY_BY_ADDRESS, stream), 0);
    assert_int_equal(hip.hipStreamSynchronize(stream), 0);
    assert_int_equal(hip.hipFree(pointer), 0);
    assert_int_equal(hip.hipEventDestroy(event), 0);
    assert_int_equal(hip.hipStreamDestroy(stream), 0);
    fake_expect_clean_end(control);
}

static void* free_pointer(void* data)
{
    void** pointer = data;
    assert_int_equal(hip.hipFree(*pointer), MAAR_HIP_SUCCESS);
    *pointer = NULL;
    return NULL;
}

/* As the real hipFree does. */
static void free_waits_for_the_streams(void** state)
{
    struct fake_gate gate = FAKE_GATE_CLOSED;
    struct maar_hip_stream* stream = NULL;
    pthread_t thread;
    void* pointer = NULL;
    void* other = NULL;
    (void)state;
    assert_int_equal(hip.hipStreamCreateWithFlags(&stream, MAAR_HIP_STREAM_NON_BLOCKING), 0);
    assert_int_equal(hip.hipMalloc(&pointer, 8), MAAR_HIP_SUCCESS);
    assert_int_equal(hip.hipMalloc(&other, 8), MAAR_HIP_SUCCESS);
    assert_int_equal(hip.hipLaunchHostFunc(stream, fake_wait_at_gate, &gate), MAAR_HIP_SUCCESS);
    control->set_free_waits(false);
    assert_int_equal(hip.hipFree(other), MAAR_HIP_SUCCESS);
    control->set_free_waits(true);
    assert_int_equal(pthread_create(&thread, NULL, free_pointer, &pointer), 0);
    while (control->calls("hipFree") < 2) {
        (void)sched_yield();
    }
    assert_int_equal(hip.hipStreamQuery(stream), MAAR_HIP_NOT_READY);
    assert_int_equal(control->live(FAKE_KIND_ALLOCATION), 1);
    fake_open_gate(&gate);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_null(pointer);
    assert_int_equal(hip.hipStreamDestroy(stream), MAAR_HIP_SUCCESS);
    fake_expect_clean_end(control);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_hip, teardown_hip)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(device_says_that_it_is_fake),
        CASE(device_belongs_to_the_thread),
        CASE(block_is_imported_mapped_and_freed),
        CASE(broken_rules_are_said_under_hip_s_names),
        CASE(there_are_no_semaphores_and_no_images),
        CASE(stream_and_events_work_in_order),
        CASE(free_waits_for_the_streams),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
