/*
 * When nothing works any more: the device is lost, host memory is gone for good, the driver refuses
 * every mapping or answers with codes that nobody knows. What exists can still be used, freed and
 * destroyed; nothing waits for ever.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/fault/fault_balance.h"
#include "tests/fault/fault_codes.h"
#include "tests/fault/fault_host.h"
#include "tests/fault/fault_rubbish.h"

#include <pthread.h>

enum { KEPT = 4 };

/* A program in mid-run: of everything some is alive and some is pending. */
struct program {
    struct rig* rig;
    struct fault_host host;
    VkSemaphore never; /* a timeline that never moves */
    MaarPool pool;
    MaarAllocation memory[KEPT];
    MaarAllocation mapped;
    MaarAllocation pooled;
    VkBuffer buffer;
    MaarAllocation buffer_memory;
    VkImage image;
    MaarAllocation image_memory;
    MaarSlice slices[KEPT];
};

static void allocate(struct program* p, const MaarAllocationCreateInfo* how, MaarAllocation* memory)
{
    *memory = rig_allocate(p->rig, 100 * KIB, how);
}

static void open_program(struct program* p)
{
    const struct rig_setup setup = {.count_host = true};
    const VkBufferCreateInfo buffer = rig_buffer_info(50 * KIB);
    const VkImageCreateInfo image = rig_image_info(128, 128);
    const MaarPoolCreateInfo pool = {.memoryTypeIndex = 0, .blockSize = MIB};
    memset(p, 0, sizeof *p);
    p->rig = rig_new();
    rig_open(p->rig, &setup);
    fault_host_init(&p->host, &p->rig->host_callbacks);
    p->rig->create_info.pAllocationCallbacks = &p->host.callbacks;
    fault_use_rubbish(&p->rig->create_info);
    rig_make_allocator(p->rig);
    MaarAllocator allocator = p->rig->allocator;
    p->never = rig_create_timeline(p->rig, 0);
    p->pool = rig_create_pool(p->rig, &pool);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    for (uint32_t i = 0; i < KEPT; ++i) {
        allocate(p, &how, &p->memory[i]);
    }
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    allocate(p, &how, &p->mapped);
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = p->pool;
    allocate(p, &how, &p->pooled);
    assert_int_equal(maarCreateBuffer(allocator, &buffer, NULL, &p->buffer, &p->buffer_memory),
                     VK_SUCCESS);
    assert_int_equal(maarCreateImage(allocator, &image, NULL, &p->image, &p->image_memory),
                     VK_SUCCESS);
    const MaarPoint point = {p->never, 1};
    for (uint32_t i = 0; i < KEPT; ++i) {
        const MaarSliceCreateInfo slice = {
            .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
            .size = 1000,
            .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
            .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
        };
        MaarSlice pending = VK_NULL_HANDLE;
        MaarAllocation later = rig_allocate(p->rig, 5000, NULL);
        assert_int_equal(maarCreateSlice(allocator, &slice, &p->slices[i]), VK_SUCCESS);
        assert_int_equal(maarCreateSlice(allocator, &slice, &pending), VK_SUCCESS);
        assert_int_equal(maarDestroySliceAfter(allocator, pending, 1, &point), VK_SUCCESS);
        assert_int_equal(maarFreeMemoryAfter(allocator, later, 1, &point), VK_SUCCESS);
    }
}

/* Ends all that is alive; nothing here may fail. */
static void end_program(struct program* p)
{
    MaarAllocator allocator = p->rig->allocator;
    maarFreeMemories(allocator, KEPT, p->memory);
    maarFreeMemory(allocator, p->mapped);
    maarFreeMemory(allocator, p->pooled);
    maarDestroyBuffer(allocator, p->buffer, p->buffer_memory);
    maarDestroyImage(allocator, p->image, p->image_memory);
    for (uint32_t i = 0; i < KEPT; ++i) {
        maarDestroySlice(allocator, p->slices[i]);
    }
    fault_expect_balance(p->rig);
}

static void close_program(struct program* p)
{
    assert_int_equal(p->rig->messages.counts[MAAR_MESSAGE_SEVERITY_FATAL], 0);
    maarDestroyAllocator(p->rig->allocator);
    p->rig->allocator = VK_NULL_HANDLE;
    vkDestroySemaphore(p->rig->device, p->never, NULL);
    rig_close(p->rig);
}

/* ---- a lost device ---- */

static void lose_device(struct program* p)
{
    uint64_t value = 0;
    rig_set_fault(p->rig, "vkGetSemaphoreCounterValue", 1, 1, VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkGetSemaphoreCounterValue(p->rig->device, p->never, &value),
                     VK_ERROR_DEVICE_LOST);
    rig_clear_faults(p->rig);
}

static void expect_nothing_pending(struct program* p)
{
    MaarStatistics statistics = rig_statistics(p->rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.pendingCount, 0);
    assert_int_equal(statistics.pendingSliceCount, 0);
    assert_true(statistics.pendingBytes == 0 && statistics.pendingSliceBytes == 0);
}

/* Everything that a program may still try, and then its end. */
static void lost_device_lets_everything_end(void** state)
{
    (void)state;
    static struct program p;
    open_program(&p);
    lose_device(&p);
    MaarAllocator allocator = p.rig->allocator;
    const unsigned char byte = 7;
    unsigned char back = 0;
    void* data = NULL;
    assert_int_equal(maarCopyToAllocation(allocator, p.memory[0], 0, 1, &byte), VK_SUCCESS);
    assert_int_equal(maarCopyFromAllocation(allocator, p.memory[0], 0, 1, &back), VK_SUCCESS);
    assert_int_equal(back, byte);
    assert_int_equal(maarMapMemory(allocator, p.memory[0], &data), VK_SUCCESS);
    maarUnmapMemory(allocator, p.memory[0]);
    uint32_t freed = 0;
    assert_int_equal(maarCollect(allocator, &freed), VK_ERROR_DEVICE_LOST);
    assert_int_equal(freed, 2 * KEPT);
    expect_nothing_pending(&p);
    /* Frees "after" are frees at once from now on, or at the next look. */
    const MaarPoint point = {p.never, 1000};
    assert_int_equal(maarFreeMemoryAfter(allocator, p.memory[1], 1, &point), VK_SUCCESS);
    p.memory[1] = VK_NULL_HANDLE;
    VkResult result = maarWaitPending(allocator, UINT64_MAX);
    assert_true(result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST);
    expect_nothing_pending(&p);
    end_program(&p);
    maarDestroyPool(allocator, p.pool);
    assert_int_equal(maarTrim(allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    fault_expect_empty(p.rig);
    close_program(&p);
}

/* Whichever call meets the loss first, the pending bytes come back and a program can end. */
static void loss_met_by_any_call_gives_pending_back(void** state)
{
    (void)state;
    static struct program p;
    enum { TRIM, WAIT, SHORTAGE, POOL, DESTROY, CALLS };
    for (uint32_t call = 0; call < CALLS; ++call) {
        open_program(&p);
        MaarAllocator allocator = p.rig->allocator;
        lose_device(&p);
        if (call == TRIM) {
            assert_int_equal(maarTrim(allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
            expect_nothing_pending(&p);
        } else if (call == WAIT) {
            assert_int_equal(maarWaitPending(allocator, UINT64_MAX), VK_ERROR_DEVICE_LOST);
            expect_nothing_pending(&p);
        } else if (call == SHORTAGE) { /* the driver says it at once; a look gives back */
            MaarMemoryRequest request = rig_request(GIB, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
            MaarAllocation none = (MaarAllocation)(uintptr_t)1;
            rig_set_fault(p.rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_DEVICE_LOST);
            assert_int_equal(maarAllocateMemory(allocator, &request, NULL, &none),
                             VK_ERROR_DEVICE_LOST);
            assert_true(none == VK_NULL_HANDLE);
            rig_clear_faults(p.rig);
            assert_int_equal(maarCollect(allocator, NULL), VK_ERROR_DEVICE_LOST);
            expect_nothing_pending(&p);
        } else if (call == POOL) {
            const MaarPoint point = {p.never, 1};
            assert_int_equal(maarFreeMemoryAfter(allocator, p.pooled, 1, &point), VK_SUCCESS);
            p.pooled = VK_NULL_HANDLE;
            maarDestroyPool(allocator, p.pool);
            expect_nothing_pending(&p);
        }
        end_program(&p);
        close_program(&p); /* DESTROY: the loss is first met here */
    }
}

struct waiter {
    MaarAllocator allocator;
    pthread_t thread;
    VkResult result;
};

static void* wait_for_ever(void* argument)
{
    struct waiter* waiter = argument;
    waiter->result = maarWaitPending(waiter->allocator, UINT64_MAX);
    return NULL;
}

/* Threads that wait without limit come back when the device goes. */
static void loss_wakes_whoever_waits_for_ever(void** state)
{
    (void)state;
    static struct program p;
    struct waiter waiters[3];
    open_program(&p);
    const uint64_t before = rig_calls(p.rig, "vkWaitSemaphores");
    for (uint32_t i = 0; i < 3; ++i) {
        waiters[i] = (struct waiter){.allocator = p.rig->allocator, .result = VK_INCOMPLETE};
        assert_int_equal(pthread_create(&waiters[i].thread, NULL, wait_for_ever, &waiters[i]), 0);
    }
    while (rig_calls(p.rig, "vkWaitSemaphores") == before) { /* one at least is in the driver */
    }
    lose_device(&p);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(pthread_join(waiters[i].thread, NULL), 0);
        /* Who comes late finds that nothing is pending any more. */
        assert_true(waiters[i].result == VK_ERROR_DEVICE_LOST || waiters[i].result == VK_SUCCESS);
    }
    expect_nothing_pending(&p);
    end_program(&p);
    close_program(&p);
}

/* ---- no host memory, for ever ---- */

static void host_memory_gone_lets_everything_end(void** state)
{
    (void)state;
    static struct program p;
    open_program(&p);
    MaarAllocator allocator = p.rig->allocator;
    fault_host_arm(&p.host, 1, UINT64_MAX);
    /* What is there can be used ... */
    void* data = NULL;
    assert_int_equal(maarMapMemory(allocator, p.memory[0], &data), VK_SUCCESS);
    memset(data, 3, 100 * KIB);
    assert_int_equal(maarFlushAllocation(allocator, p.memory[0], 0, VK_WHOLE_SIZE), VK_SUCCESS);
    maarUnmapMemory(allocator, p.memory[0]);
    (void)rig_info(p.rig, p.mapped);
    (void)rig_budget(p.rig, 0);
    rig_check(p.rig);
    /* ... new things fail one after another, and cleanly ... */
    uint32_t failed = 0;
    for (uint32_t i = 0; i < 200; ++i) {
        MaarMemoryRequest request =
            rig_request(3 * MIB * (i + 1), 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
        MaarAllocation none = (MaarAllocation)(uintptr_t)1;
        VkResult result = maarAllocateMemory(allocator, &request, NULL, &none);
        assert_true((result == VK_SUCCESS) == (none != VK_NULL_HANDLE));
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
        failed += result != VK_SUCCESS ? 1 : 0;
        maarFreeMemory(allocator, none);
    }
    assert_true(failed > 100);
    MaarPool pool = (MaarPool)(uintptr_t)1;
    const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO};
    assert_int_equal(maarCreatePool(allocator, &info, &pool), VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_null(pool);
    /* ... time goes on, and everything ends without a byte more. */
    rig_signal(p.rig, p.never, 1);
    uint32_t freed = 0;
    assert_int_equal(maarCollect(allocator, &freed), VK_SUCCESS);
    assert_int_equal(freed, 2 * KEPT);
    expect_nothing_pending(&p);
    end_program(&p);
    maarDestroyPool(allocator, p.pool);
    assert_int_equal(maarTrim(allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    fault_expect_empty(p.rig);
    close_program(&p);
}

/* ---- a driver out of its mind ---- */

static void mapping_refused_for_ever_is_survived(void** state)
{
    (void)state;
    static struct program p;
    open_program(&p);
    MaarAllocator allocator = p.rig->allocator;
    MaarStatistics before = rig_statistics(p.rig, VK_NULL_HANDLE);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    rig_set_fault(p.rig, "vkMapMemory", 1, UINT64_MAX, VK_ERROR_MEMORY_MAP_FAILED);
    for (uint32_t i = 0; i < 20; ++i) {
        const VkBufferCreateInfo info = rig_buffer_info((i + 1) * 100 * KIB);
        VkBuffer buffer = (VkBuffer)(uintptr_t)1;
        MaarAllocation none = (MaarAllocation)(uintptr_t)1;
        how.dedicated = i % 2 == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
        assert_int_equal(maarCreateBuffer(allocator, &info, &how, &buffer, &none),
                         VK_ERROR_MEMORY_MAP_FAILED);
        assert_true(buffer == VK_NULL_HANDLE && none == VK_NULL_HANDLE);
    }
    MaarStatistics after = rig_statistics(p.rig, VK_NULL_HANDLE);
    assert_int_equal(after.blockCount, before.blockCount);
    assert_int_equal(after.allocationCount, before.allocationCount);
    assert_true(maarGetMappedData(allocator, p.mapped) != NULL); /* what was mapped stays so */
    rig_clear_faults(p.rig);
    rig_signal(p.rig, p.never, 1);
    end_program(&p);
    close_program(&p);
}

/* Codes that no version of Vulkan knows come out as they went in, and change nothing. */
static void unheard_of_codes_are_passed_on(void** state)
{
    (void)state;
    static const char* const functions[] = {
        "vkAllocateMemory",
        "vkMapMemory",
        "vkCreateBuffer",
        "vkBindBufferMemory2",
    };
    static struct program p;
    open_program(&p);
    MaarStatistics before = rig_statistics(p.rig, VK_NULL_HANDLE);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    for (uint32_t i = 0; i < 4; ++i) {
        const VkBufferCreateInfo info = rig_buffer_info(300 * MIB);
        VkBuffer buffer = (VkBuffer)(uintptr_t)1;
        MaarAllocation none = (MaarAllocation)(uintptr_t)1;
        rig_set_fault(p.rig, functions[i], 1, UINT64_MAX, FAULT_UNHEARD_OF);
        assert_int_equal(maarCreateBuffer(p.rig->allocator, &info, &how, &buffer, &none),
                         FAULT_UNHEARD_OF);
        assert_true(buffer == VK_NULL_HANDLE && none == VK_NULL_HANDLE);
        rig_clear_faults(p.rig);
        MaarStatistics after = rig_statistics(p.rig, VK_NULL_HANDLE);
        assert_int_equal(after.blockCount, before.blockCount);
        assert_true(after.blockBytes == before.blockBytes);
        rig_check(p.rig);
    }
    rig_set_fault(p.rig, "vkGetSemaphoreCounterValue", 1, UINT64_MAX, FAULT_UNHEARD_OF);
    uint32_t freed = 9;
    assert_int_equal(maarCollect(p.rig->allocator, &freed), FAULT_UNHEARD_OF);
    assert_int_equal(freed, 0);
    assert_true(rig_statistics(p.rig, VK_NULL_HANDLE).pendingCount == KEPT);
    rig_clear_faults(p.rig);
    rig_signal(p.rig, p.never, 1);
    end_program(&p);
    close_program(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(lost_device_lets_everything_end),
        rig_unit_test(loss_met_by_any_call_gives_pending_back),
        rig_unit_test(loss_wakes_whoever_waits_for_ever),
        rig_unit_test(host_memory_gone_lets_everything_end),
        rig_unit_test(mapping_refused_for_ever_is_survived),
        rig_unit_test(unheard_of_codes_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
