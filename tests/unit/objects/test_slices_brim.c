/*
 * Slices where memory is short: what is left is used whole, empty buffers of slices make room for
 * others, and a slice does not fail beside a thread that releases one.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>
#include <sched.h>

#include "core/memory/patience.h"
#include "core/port_time.h"

#define UNIT (64 * KIB)

static struct rig* rig;

/* limit: of the heap of host memory, bytes. */
static void open_rig(VkDeviceSize limit)
{
    const VkDeviceSize limits[3] = {0, limit, 0};
    rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
}

static VkResult try_slice(VkDeviceSize size, VkDeviceSize alignment, MaarSlice* slice)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = size,
        .alignment = alignment,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
        .allocationFlags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT,
    };
    return maarCreateSlice(rig->allocator, &info, slice);
}

static MaarSliceInfo read_slice(MaarSlice slice)
{
    MaarSliceInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    assert_int_equal(maarGetSliceInfo(rig->allocator, slice, &info), VK_SUCCESS);
    return info;
}

/* Frees those of the slices that begin in [begin, end). Returns their number. */
static uint32_t free_between(uint32_t count, MaarSlice* slices, VkDeviceSize begin,
                             VkDeviceSize end)
{
    uint32_t freed = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const VkDeviceSize offset = read_slice(slices[i]).offset;
        if (offset >= begin && offset < end) {
            maarDestroySlice(rig->allocator, slices[i]);
            slices[i] = VK_NULL_HANDLE;
            ++freed;
        }
    }
    return freed;
}

/* Fills the heap, and returns how many slices it holds. */
static uint32_t fill(VkDeviceSize size, uint32_t most, MaarSlice* slices)
{
    uint32_t count = 0;
    VkResult result = VK_SUCCESS;
    while (result == VK_SUCCESS) {
        assert_true(count < most);
        result = try_slice(size, 0, &slices[count]);
        count += result == VK_SUCCESS;
    }
    assert_int_equal(result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_forget_messages(rig);
    return count;
}

static void empty(uint32_t count, const MaarSlice* slices)
{
    for (uint32_t i = 0; i < count; ++i) {
        maarDestroySlice(rig->allocator, slices[i]);
    }
}

static void buffers_become_smaller_until_the_heap_is_full(void** state)
{
    (void)state;
    enum { UNITS = 21 };
    MaarSlice slices[UNITS + 1];
    open_rig(UNITS * UNIT);
    const uint32_t count = fill(UNIT, UNITS + 1, slices);
    assert_int_equal(count, UNITS);
    empty(count, slices);
}

/* The rest is smaller than the first buffer of a shelf. */
static void rest_of_a_block_holds_a_slice_of_its_size(void** state)
{
    (void)state;
    MaarSlice slices[2];
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    open_rig(UNIT);
    const MaarAllocation most = rig_allocate(rig, UNIT - UNIT / 4, &how);
    const uint32_t count = fill(UNIT / 4, 2, slices);
    assert_int_equal(count, 1);
    empty(count, slices);
    maarFreeMemory(rig->allocator, most);
}

/* What is left is not cut into a buffer for each slice. */
static void few_buffers_fill_a_heap(void** state)
{
    (void)state;
    enum { UNITS = 21, MOST = UNITS * 65536 / 256 + 1 };
    static MaarSlice slices[MOST];
    open_rig(UNITS * UNIT);
    const uint32_t count = fill(256, MOST, slices);
    assert_int_equal(count, UNITS * UNIT / 256);
    assert_true(rig_calls(rig, "vkBindBufferMemory2") <= 10);
    empty(count, slices);
}

/* Where no type is within its budget, a buffer still holds many slices. */
static void few_buffers_exceed_a_budget(void** state)
{
    (void)state;
    enum { COUNT = 16384 };
    static MaarSlice slices[COUNT];
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 256,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    open_rig(0);
    for (uint32_t heap = 0; heap < 3; ++heap) {
        assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, heap, UNIT, 0), VK_SUCCESS);
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_int_equal(maarCreateSlice(rig->allocator, &info, &slices[i]), VK_SUCCESS);
    }
    assert_true(rig_calls(rig, "vkBindBufferMemory2") <= COUNT * 256 / UNIT);
    rig_forget_messages(rig);
    empty(COUNT, slices);
}

/* One failing slice asks the driver a bounded number of times, and reports one message. */
static void failure_is_reported_once(void** state)
{
    (void)state;
    MaarSlice slices[65];
    MaarSlice none = VK_NULL_HANDLE;
    open_rig(64 * UNIT);
    const uint32_t count = fill(UNIT, 65, slices);
    const uint64_t failures = rig_statistics(rig, VK_NULL_HANDLE).failureCount;
    assert_int_equal(try_slice(UNIT, 0, &none), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).failureCount, failures + 1);
    assert_true(rig->messages.total <= 1);
    rig_forget_messages(rig);
    empty(count, slices);
}

/* A shelf keeps an empty buffer, which is too small for the next slice. */
static void empty_buffer_that_is_too_small_is_passed_over(void** state)
{
    (void)state;
    MaarSlice slices[2];
    open_rig(0);
    assert_int_equal(try_slice(256, 0, &slices[0]), VK_SUCCESS);
    maarDestroySlice(rig->allocator, slices[0]);
    assert_int_equal(try_slice(2 * UNIT, 0, &slices[0]), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkBindBufferMemory2"), 2);
    assert_int_equal(try_slice(256, 0, &slices[1]), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkBindBufferMemory2"), 2);
    empty(2, slices);
}

/* The only free range serves at its own offset, and is too short for any other. */
static void range_that_is_aligned_by_chance_is_found(void** state)
{
    (void)state;
    MaarSlice slices[UNIT / 256 + 1];
    open_rig(UNIT);
    const uint32_t count = fill(256, UNIT / 256 + 1, slices);
    assert_int_equal(count, UNIT / 256);
    for (uint32_t i = 0; i < count; ++i) {
        if (read_slice(slices[i]).offset == 8192) {
            maarDestroySlice(rig->allocator, slices[i]);
            assert_int_equal(try_slice(256, 8192, &slices[i]), VK_SUCCESS);
            assert_int_equal(read_slice(slices[i]).offset, 8192);
        }
    }
    rig_expect_silence(rig);
    empty(count, slices);
}

/* A slice with a large alignment finds no place in a free range, and leaves the range to others. */
static void range_that_an_aligned_slice_could_not_use_is_found(void** state)
{
    (void)state;
    MaarSlice slices[UNIT / KIB + 1];
    MaarSlice other = VK_NULL_HANDLE;
    open_rig(UNIT);
    const uint32_t count = fill(KIB, UNIT / KIB + 1, slices);
    assert_int_equal(free_between(count, slices, 5 * KIB, 9 * KIB), 4);
    assert_int_equal(try_slice(4 * KIB, 4 * KIB, &other), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(try_slice(4 * KIB, 0, &other), VK_SUCCESS);
    rig_forget_messages(rig);
    maarDestroySlice(rig->allocator, other);
    empty(count, slices);
}

/* Both sizes are in one size class. */
static void range_that_a_larger_slice_could_not_use_is_found(void** state)
{
    (void)state;
    MaarSlice slices[UNIT / KIB + 2];
    MaarSlice other = VK_NULL_HANDLE;
    open_rig(UNIT);
    const uint32_t count = fill(1008, UNIT / KIB + 2, slices);
    assert_int_equal(free_between(count, slices, 5 * 1008, 9 * 1008), 4);
    assert_int_equal(try_slice(4 * KIB - 2, 0, &other), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(try_slice(4 * 1008, 0, &other), VK_SUCCESS);
    rig_forget_messages(rig);
    maarDestroySlice(rig->allocator, other);
    empty(count, slices);
}

static void empty_buffer_of_slices_makes_room_for_others(void** state)
{
    (void)state;
    MaarSlice slices[9];
    open_rig(8 * UNIT);
    empty(fill(UNIT, 9, slices), slices);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    maarFreeMemory(rig->allocator, rig_allocate(rig, 8 * UNIT, &how));
}

static void unmapping_leaves_the_mapping_of_slices(void** state)
{
    (void)state;
    MaarSlice slice = VK_NULL_HANDLE;
    void* data = NULL;
    open_rig(0);
    assert_int_equal(try_slice(256, 0, &slice), VK_SUCCESS);
    const MaarSliceInfo info = read_slice(slice);
    maarUnmapMemory(rig->allocator, info.allocation);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPED, "maarUnmapMemory");
    assert_int_equal(maarMapMemory(rig->allocator, info.allocation, &data), VK_SUCCESS);
    maarUnmapMemory(rig->allocator, info.allocation);
    assert_ptr_equal(read_slice(slice).pMappedData, info.pMappedData);
    memset(info.pMappedData, 1, 256);
    assert_int_equal(
        maarFlushAllocation(rig->allocator, info.allocation, info.allocationOffset, info.size),
        VK_SUCCESS);
    maarDestroySlice(rig->allocator, slice);
}

/* ---- beside a thread that releases a buffer ---- */

static _Atomic bool armed;
static _Atomic bool lingering;

static void linger_in_driver(void* data, const char* function)
{
    (void)data;
    if (strcmp(function, "vkDestroyBuffer") != 0 || !atomic_exchange(&armed, false)) {
        return;
    }
    const uint64_t deadline = maar_deadline_ns(50000000);
    atomic_store(&lingering, true);
    while (maar_time_left_ns(deadline) > 0) {
        (void)sched_yield();
    }
}

static void* trim_elsewhere(void* data)
{
    (void)data;
    (void)maarTrim(rig->allocator, VK_NULL_HANDLE, NULL);
    return NULL;
}

static void slice_waits_for_a_buffer_that_another_releases(void** state)
{
    (void)state;
    MaarSlice slices[9];
    pthread_t thread;
    open_rig(8 * UNIT);
    rig->call = linger_in_driver;
    uint32_t count = fill(UNIT, 9, slices);
    const VkBuffer doomed = read_slice(slices[count - 1]).buffer;
    for (uint32_t i = 0; i < count; ++i) {
        if (read_slice(slices[i]).buffer == doomed) {
            maarDestroySlice(rig->allocator, slices[i]);
            slices[i--] = slices[--count];
        }
    }
    atomic_store(&lingering, false);
    atomic_store(&armed, true);
    assert_int_equal(pthread_create(&thread, NULL, trim_elsewhere, NULL), 0);
    while (!atomic_load(&lingering)) {
        (void)sched_yield();
    }
    assert_int_equal(try_slice(UNIT, 0, &slices[count++]), VK_SUCCESS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    rig_expect_silence(rig);
    empty(count, slices);
    rig->call = NULL;
}

/* ---- beside a thread that makes a buffer ---- */

struct slice_elsewhere {
    MaarSlice slice;
    VkResult result;
};

/* Binds the memory of a buffer, the last of the heap, while another thread asks for a slice. */
static void linger_in_bind(void* data, const char* function)
{
    (void)data;
    if (strcmp(function, "vkBindBufferMemory2") != 0 || !atomic_exchange(&armed, false)) {
        return;
    }
    const uint64_t deadline = maar_deadline_ns(50000000);
    atomic_store(&lingering, true);
    while (maar_time_left_ns(deadline) > 0) {
        (void)sched_yield();
    }
}

static void* take_elsewhere(void* data)
{
    struct slice_elsewhere* elsewhere = data;
    while (!atomic_load(&lingering)) {
        (void)sched_yield();
    }
    elsewhere->result = try_slice(256, 0, &elsewhere->slice);
    return NULL;
}

static void slice_waits_for_a_buffer_that_another_makes(void** state)
{
    (void)state;
    struct slice_elsewhere elsewhere = {.result = VK_NOT_READY};
    MaarSlice slice = VK_NULL_HANDLE;
    pthread_t thread;
    open_rig(UNIT);
    rig->call = linger_in_bind;
    atomic_store(&lingering, false);
    atomic_store(&armed, true);
    assert_int_equal(pthread_create(&thread, NULL, take_elsewhere, &elsewhere), 0);
    assert_int_equal(try_slice(256, 0, &slice), VK_SUCCESS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(elsewhere.result, VK_SUCCESS);
    assert_true(read_slice(elsewhere.slice).buffer == read_slice(slice).buffer);
    rig_expect_silence(rig);
    rig->call = NULL;
    maarDestroySlice(rig->allocator, elsewhere.slice);
    maarDestroySlice(rig->allocator, slice);
}

/* Takes a slice of the same shelf, which has no room, while this thread makes a buffer. */
static void take_in_bind(void* data, const char* function)
{
    MaarSlice none = VK_NULL_HANDLE;
    (void)data;
    if (strcmp(function, "vkBindBufferMemory2") == 0 && atomic_exchange(&armed, false)) {
        const uint64_t deadline = maar_deadline_ns(MAAR_MOST_WAIT_NS);
        assert_int_equal(try_slice(256, 0, &none), VK_ERROR_OUT_OF_DEVICE_MEMORY);
        atomic_store(&lingering, maar_time_left_ns(deadline) == 0);
    }
}

static void slice_does_not_wait_for_its_own_thread(void** state)
{
    (void)state;
    MaarSlice slice = VK_NULL_HANDLE;
    open_rig(UNIT);
    rig->call = take_in_bind;
    atomic_store(&lingering, false);
    atomic_store(&armed, true);
    assert_int_equal(try_slice(256, 0, &slice), VK_SUCCESS);
    assert_false(atomic_load(&lingering));
    rig_forget_messages(rig);
    rig->call = NULL;
    maarDestroySlice(rig->allocator, slice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(buffers_become_smaller_until_the_heap_is_full),
        rig_unit_test(rest_of_a_block_holds_a_slice_of_its_size),
        rig_unit_test(few_buffers_fill_a_heap),
        rig_unit_test(few_buffers_exceed_a_budget),
        rig_unit_test(failure_is_reported_once),
        rig_unit_test(empty_buffer_that_is_too_small_is_passed_over),
        rig_unit_test(range_that_is_aligned_by_chance_is_found),
        rig_unit_test(range_that_an_aligned_slice_could_not_use_is_found),
        rig_unit_test(range_that_a_larger_slice_could_not_use_is_found),
        rig_unit_test(empty_buffer_of_slices_makes_room_for_others),
        rig_unit_test(unmapping_leaves_the_mapping_of_slices),
        rig_unit_test(slice_waits_for_a_buffer_that_another_releases),
        rig_unit_test(slice_waits_for_a_buffer_that_another_makes),
        rig_unit_test(slice_does_not_wait_for_its_own_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
