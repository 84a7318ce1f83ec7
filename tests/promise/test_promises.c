/*
 * The promises of docs/design.md, each by its number. They are kept by the simulated driver's word
 * where that looks for itself: overlaps, granularity pages, flushed ranges, limits.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/promise/promise_locks.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"

enum { CROWD = 300 };

struct crowd {
    VkBuffer buffers[CROWD];
    VkImage images[CROWD];
    MaarAllocation memory[CROWD];
};

static struct crowd crowd;

/* Buffers and images of all sizes, some mapped, some freed again: the same on every run. */
static void fill_crowd(struct rig* rig, uint64_t seed)
{
    struct rig_random random = {.state = seed};
    memset(&crowd, 0, sizeof crowd);
    for (uint32_t i = 0; i < CROWD; ++i) {
        MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)rig_below(&random, 4));
        if (rig_below(&random, 2) == 0) {
            const VkBufferCreateInfo info = rig_buffer_info(1 + rig_below(&random, 100000));
            how.flags = how.usage != MAAR_MEMORY_USAGE_DEVICE_LOCAL && rig_below(&random, 2) == 0
                            ? MAAR_ALLOCATION_CREATE_MAPPED_BIT
                            : 0;
            assert_int_equal(
                maarCreateBuffer(rig->allocator, &info, &how, &crowd.buffers[i], &crowd.memory[i]),
                VK_SUCCESS);
        } else {
            const VkImageCreateInfo info =
                rig_image_info(1 + rig_below(&random, 200), 1 + rig_below(&random, 200));
            assert_int_equal(
                maarCreateImage(rig->allocator, &info, &how, &crowd.images[i], &crowd.memory[i]),
                VK_SUCCESS);
        }
        uint32_t victim = rig_below(&random, i + 1);
        if (rig_below(&random, 3) == 0) {
            maarDestroyBuffer(rig->allocator, crowd.buffers[victim],
                              crowd.images[victim] == VK_NULL_HANDLE ? crowd.memory[victim]
                                                                     : VK_NULL_HANDLE);
            maarDestroyImage(rig->allocator, crowd.images[victim],
                             crowd.images[victim] != VK_NULL_HANDLE ? crowd.memory[victim]
                                                                    : VK_NULL_HANDLE);
            crowd.buffers[victim] = VK_NULL_HANDLE;
            crowd.images[victim] = VK_NULL_HANDLE;
            crowd.memory[victim] = VK_NULL_HANDLE;
        }
    }
}

static void empty_crowd(struct rig* rig)
{
    for (uint32_t i = 0; i < CROWD; ++i) {
        if (crowd.images[i] != VK_NULL_HANDLE) {
            maarDestroyImage(rig->allocator, crowd.images[i], crowd.memory[i]);
        } else {
            maarDestroyBuffer(rig->allocator, crowd.buffers[i], crowd.memory[i]);
        }
    }
}

static const char* const promise_profiles[] = {
    "nvidia-rtx4090-linux",          "amd-rx6800-bar256-radv25.0",
    "amd-rx7900xtx-radv26.2",        "intel-arc-b580-bmg-anv25.0",
    "qualcomm-adreno740-turnip26.2", "arm-mali-g610-panvk25.0",
    "apple-m1-honeykrisp26.2",       "cpu-lavapipe25.0",
};

enum { PROFILE_COUNT = sizeof promise_profiles / sizeof promise_profiles[0] };

/* The driver compares every bind with every live one (VIOLATION_OVERLAP); here the sums, and the
 * ranges of each block. */
static void promise_1_live_allocations_never_overlap(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < PROFILE_COUNT; ++i) {
        const struct rig_setup setup = {.profile = rig_profile_file(promise_profiles[i])};
        struct rig* const rig = rig_begin(&setup);
        fill_crowd(rig, 100 + i);
        (void)rig_statistics(rig, VK_NULL_HANDLE); /* live + pending + padding + free = bytes */
        rig_check(rig);
        for (uint32_t a = 0; a < CROWD; ++a) {
            for (uint32_t b = 0; b < a; ++b) {
                if (crowd.memory[a] == VK_NULL_HANDLE || crowd.memory[b] == VK_NULL_HANDLE) {
                    continue;
                }
                MaarAllocationInfo x = rig_info(rig, crowd.memory[a]);
                MaarAllocationInfo y = rig_info(rig, crowd.memory[b]);
                assert_true(x.memory != y.memory || x.offset + x.size <= y.offset ||
                            y.offset + y.size <= x.offset);
            }
        }
        assert_int_equal(rig_counters(rig).violations[MAAR_SIMULATED_VIOLATION_OVERLAP], 0);
        empty_crowd(rig);
        rig_close(rig);
    }
}

static void promise_2_kinds_never_share_a_granule(void** state)
{
    (void)state;
    for (int strategy = MAAR_PLACEMENT_STRATEGY_TLSF; strategy <= MAAR_PLACEMENT_STRATEGY_LINEAR;
         ++strategy) {
        MaarSimulatedProfile profile = *rig_profile_discrete();
        profile.limits.bufferImageGranularity = 65536;
        profile.requirements.imageAlignment = 256; /* so that only the granularity keeps apart */
        profile.requirements.smallImageAlignment = 256;
        const struct rig_setup setup = {.profile = &profile};
        struct rig* const rig = rig_new();
        rig_open(rig, &setup);
        rig->create_info.strategy = (MaarPlacementStrategy)strategy;
        rig_make_allocator(rig);
        fill_crowd(rig, 200);
        rig_check(rig);
        assert_int_equal(rig_counters(rig).violations[MAAR_SIMULATED_VIOLATION_GRANULARITY], 0);
        empty_crowd(rig);
        rig_close(rig);
    }
}

/* Resources of unknown kind may be of either: they share a granule with nothing. */
static void promise_2_unknown_kinds_share_with_nobody(void** state)
{
    (void)state;
    enum { COUNT = 90 };
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation made[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        MaarMemoryRequest request = rig_request(100 + i * 30, 16, 1, (MaarResourceKind)(i % 3));
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &made[i]), VK_SUCCESS);
    }
    for (uint32_t a = 0; a < COUNT; ++a) {
        for (uint32_t b = 0; b < a; ++b) {
            MaarAllocationInfo x = rig_info(rig, made[a]);
            MaarAllocationInfo y = rig_info(rig, made[b]);
            bool apart = x.memory != y.memory || (x.offset + x.size - 1) / 1024 < y.offset / 1024 ||
                         (y.offset + y.size - 1) / 1024 < x.offset / 1024;
            bool may_share = x.kind == y.kind && x.kind != MAAR_RESOURCE_KIND_UNKNOWN;
            assert_true(apart || may_share);
        }
    }
    maarFreeMemories(rig->allocator, COUNT, made);
}

/* Every call that can fail, failing at every point: see tests/fault. Here the shortest case, so
 * that the promise has its name. */
static void promise_3_a_failing_call_changes_nothing(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo info = rig_buffer_info(1000);
    MaarStatistics before = rig_statistics(rig, VK_NULL_HANDLE);
    for (uint64_t nth = 1; nth <= 3; ++nth) { /* create, allocate, bind */
        VkBuffer buffer = (VkBuffer)(uintptr_t)1;
        MaarAllocation memory = (MaarAllocation)(uintptr_t)1;
        rig_set_fault(rig, NULL, nth, UINT64_MAX, VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, &memory),
                         VK_ERROR_OUT_OF_HOST_MEMORY);
        rig_clear_faults(rig);
        assert_true(buffer == VK_NULL_HANDLE && memory == VK_NULL_HANDLE);
        MaarStatistics after = rig_statistics(rig, VK_NULL_HANDLE);
        assert_int_equal(after.blockCount, before.blockCount);
        assert_int_equal(after.allocationCount, before.allocationCount);
        assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
        assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_MEMORY], 0);
    }
}

static void promise_4_atoms_are_whole_and_unshared(void** state)
{
    (void)state;
    enum { COUNT = 80 };
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocation made[COUNT];
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    for (uint32_t i = 0; i < COUNT; ++i) {
        how.dedicated = i % 10 == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
        made[i] = rig_allocate(rig, 1 + i * 13, &how);
        MaarAllocationInfo info = rig_info(rig, made[i]);
        assert_int_equal(info.memoryTypeIndex, 2);
        for (VkDeviceSize at = 0; at < info.size; at += 57) {
            assert_int_equal(maarFlushAllocation(rig->allocator, made[i], at, 1), VK_SUCCESS);
            assert_int_equal(maarInvalidateAllocation(rig->allocator, made[i], at, VK_WHOLE_SIZE),
                             VK_SUCCESS);
        }
    }
    for (uint32_t a = 0; a < COUNT; ++a) {
        for (uint32_t b = 0; b < a; ++b) {
            MaarAllocationInfo x = rig_info(rig, made[a]);
            MaarAllocationInfo y = rig_info(rig, made[b]);
            assert_true(x.memory != y.memory || (x.offset + x.size - 1) / 256 < y.offset / 256 ||
                        (y.offset + y.size - 1) / 256 < x.offset / 256);
        }
    }
    assert_true(rig_calls(rig, "vkFlushMappedMemoryRanges") > COUNT);
    assert_int_equal(rig_counters(rig).violations[MAAR_SIMULATED_VIOLATION_FLUSH], 0);
    maarFreeMemories(rig->allocator, COUNT, made);
}

static void promise_5_limits_are_never_passed(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_tiny()};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocation made[64];
    uint32_t count = 0;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (uint32_t i = 0; i < 64; ++i) {
        MaarMemoryRequest request =
            rig_request((1 + i % 17) * MIB, 1, 3, MAAR_RESOURCE_KIND_LINEAR);
        how.dedicated = (MaarDedicated)(i % 4);
        count += maarAllocateMemory(rig->allocator, &request, &how, &made[count]) == VK_SUCCESS;
        MaarSimulatedCounters counters = rig_counters(rig);
        assert_true(counters.liveCount[MAAR_SIMULATED_OBJECT_MEMORY] <= 16);
        assert_true(counters.heapLive[0] <= 64 * MIB && counters.heapLive[1] <= 64 * MIB);
    }
    assert_true(count > 5 && count < 64);
    assert_int_equal(rig_counters(rig).violations[MAAR_SIMULATED_VIOLATION_ALLOCATION_COUNT], 0);
    assert_int_equal(rig_counters(rig).violations[MAAR_SIMULATED_VIOLATION_ALLOCATION_SIZE], 0);
    maarFreeMemories(rig->allocator, count, made);
}

static void promise_5_budgets_bind_under_the_flag(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, 64 * MIB, 0), VK_SUCCESS);
    MaarAllocation made[200];
    uint32_t count = 0;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarMemoryRequest request = rig_request(MIB, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    how.flags = MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    while (count < 200 &&
           maarAllocateMemory(rig->allocator, &request, &how, &made[count]) == VK_SUCCESS) {
        ++count;
        assert_true(rig_counters(rig).heapLive[0] <= 64 * MIB);
    }
    assert_true(count >= 60 && count <= 64);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 0);
    rig_expect_message(rig, MAAR_MESSAGE_ID_BUDGET_REACHED);
    how.flags = 0; /* the last resort, reported */
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &made[count++]),
                     VK_SUCCESS);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OVER_BUDGET, "0");
    maarFreeMemories(rig->allocator, count, made);
}

/* Simulated devices share where there are file descriptors. */
#if !defined(_WIN32)
static MaarAllocation make_shared(struct rig* rig, VkBuffer* buffer)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, buffer, &allocation),
                     VK_SUCCESS);
    return allocation;
}

static VkResult import_shared(struct rig* rig, const MaarExportedMemory* exported, VkBuffer* buffer,
                              MaarAllocation* allocation)
{
    const MaarImportInfo import = {
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = exported->handle,
        .handleType = exported->handleType,
        .blockSize = exported->blockSize,
        .offset = exported->offset,
        .memoryTypeIndex = exported->memoryTypeIndex,
    };
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    return maarImportBuffer(rig->allocator, &info, &import, buffer, allocation);
}
#endif

/* Through every import that fails, at whichever call of the driver, the caller has the handle; the
 * one that succeeds takes it. And the driver is one that closes what it refuses, and gives the
 * number to something else at once: it would notice a second owner. */
static void promise_6_handles_have_one_owner(void** state)
{
    (void)state;
#if defined(_WIN32)
    print_message("skipped: simulated devices share by file descriptors\n");
    skip();
#else
    const struct rig_setup setup = {
        .sharing = rig_sharing_everything(),
        .flags = MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT | MAAR_SIMULATED_REUSE_CLOSED_FD_BIT,
    };
    struct rig* const rig = rig_begin(&setup);
    VkBuffer buffer = VK_NULL_HANDLE;
    VkBuffer copy = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    const MaarAllocation allocation = make_shared(rig, &buffer);
    const MaarExportedMemory exported = rig_export(rig, allocation);
    const int own = maarPeekFd(exported.handle);
    for (uint32_t i = 0; i < 3; ++i) { /* each finds out who closed what the one before it closed */
        rig_set_fault(rig, "vkAllocateMemory", 1, 1, VK_ERROR_INVALID_EXTERNAL_HANDLE);
        assert_int_equal(import_shared(rig, &exported, &copy, &imported),
                         VK_ERROR_INVALID_EXTERNAL_HANDLE);
        assert_int_equal(rig_counters(rig).fdsReused, 1);
    }
    uint64_t failures = 0;
    for (;;) {
        rig_set_fault(rig, NULL, failures + 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        const VkResult result = import_shared(rig, &exported, &copy, &imported);
        rig_clear_faults(rig);
        if (result == VK_SUCCESS) {
            break;
        }
        ++failures;
        assert_true(copy == VK_NULL_HANDLE && imported == VK_NULL_HANDLE);
        assert_int_equal(maarPeekFd(exported.handle), own);
        assert_true(fcntl(own, F_GETFD) != -1);
    }
    assert_true(failures >= 3); /* the object, its memory, the bind */
    assert_int_equal(maarPeekFd(exported.handle), -1);
    int fd = 0;
    assert_int_equal(maarTakeFd(rig->allocator, exported.handle, &fd),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(fd, -1);
    maarDestroyExternalHandle(rig->allocator, exported.handle);

    /* What is taken is the taker's, whatever becomes of the object and the memory. */
    const MaarExportedMemory passed = rig_export(rig, imported);
    assert_int_equal(maarTakeFd(rig->allocator, passed.handle, &fd), VK_SUCCESS);
    maarDestroyExternalHandle(rig->allocator, passed.handle);
    maarDestroyBuffer(rig->allocator, copy, imported);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
    assert_true(fcntl(fd, F_GETFD) != -1);
    assert_int_equal(close(fd), 0);
    rig_forget_messages(rig);
    rig_close(rig);
#endif
}

/* ---- promise 7 ---- */

struct lock_check {
    struct lock_prober* prober;
    bool active;
    bool failed;
    uint32_t probes;
    char where[64];
};

static void probe_at(struct lock_check* check, const char* where)
{
    if (!check->active || check->failed) {
        return;
    }
    check->active = false; /* the probe itself must not be probed */
    ++check->probes;
    if (!promise_probe(check->prober)) {
        check->failed = true;
        (void)strncpy(check->where, where, sizeof check->where - 1);
    }
    check->active = true;
}

static void probe_in_driver(void* data, const char* function)
{
    /* A block's map lock is held around mapping that block, as promised; the probe takes none. */
    probe_at(data, function);
}

static struct lock_check lock_check;
static VkAllocationCallbacks inner_callbacks;

static void* VKAPI_PTR probe_and_allocate(void* user, size_t size, size_t alignment,
                                          VkSystemAllocationScope scope)
{
    probe_at(&lock_check, "a host allocation");
    return inner_callbacks.pfnAllocation(user, size, alignment, scope);
}

static void VKAPI_PTR probe_and_free(void* user, void* memory)
{
    probe_at(&lock_check, "a host free");
    inner_callbacks.pfnFree(user, memory);
}

static void VKAPI_PTR probe_in_message(void* user, const MaarMessage* report)
{
    (void)user;
    (void)report;
    probe_at(&lock_check, "a message");
}

static void VKAPI_PTR probe_in_device_memory(void* user, uint32_t type, VkDeviceMemory memory,
                                             VkDeviceSize size)
{
    (void)user;
    (void)type;
    (void)memory;
    (void)size;
    probe_at(&lock_check, "a device-memory callback");
}

static VkBool32 VKAPI_PTR probe_in_observer(void* user, const MaarOutOfMemoryInfo* info)
{
    (void)user;
    (void)info;
    probe_at(&lock_check, "an out-of-memory observer");
    return VK_FALSE;
}

/* Whatever calls the driver or the program, once. */
static void do_everything(struct rig* rig)
{
    MaarAllocator allocator = rig->allocator;
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoolCreateInfo pool_info = {.blockSize = MIB, .minBlockCount = 10, .pName = "pool"};
    MaarPool pool = rig_create_pool(rig, &pool_info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocation many[200];
    how.pool = pool;
    how.pName = "name";
    for (uint32_t i = 0; i < 200; ++i) {
        many[i] = rig_allocate(rig, 30000, &how);
    }
    (void)maarSetPoolPriority(allocator, pool, 0.5F);
    for (uint32_t i = 0; i < 200; ++i) {
        const MaarPoint point = {timeline, i % 3};
        assert_int_equal(maarFreeMemoryAfter(allocator, many[i], 1, &point), VK_SUCCESS);
    }
    assert_int_equal(maarCollect(allocator, NULL), VK_SUCCESS);
    rig_signal(rig, timeline, 10);
    assert_int_equal(maarWaitPending(allocator, UINT64_MAX), VK_SUCCESS);
    maarFreeMemory(allocator, many[0]); /* a message */
    fill_crowd(rig, 7);
    for (uint32_t i = 0; i < CROWD; ++i) {
        if (crowd.memory[i] != VK_NULL_HANDLE && rig_info(rig, crowd.memory[i]).pMappedData) {
            assert_int_equal(maarFlushAllocation(allocator, crowd.memory[i], 0, VK_WHOLE_SIZE),
                             VK_SUCCESS);
        }
    }
    empty_crowd(rig);
    MaarSlice slices[100];
    for (uint32_t i = 0; i < 100; ++i) {
        const MaarSliceCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
            .size = 5000,
            .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
            .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
        };
        assert_int_equal(maarCreateSlice(allocator, &info, &slices[i]), VK_SUCCESS);
    }
    for (uint32_t i = 0; i < 100; ++i) {
        maarDestroySlice(allocator, slices[i]);
    }
    MaarMemoryRequest request = rig_request(UINT64_C(1) << 40, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation none;
    assert_int_not_equal(maarAllocateMemory(allocator, &request, NULL, &none), VK_SUCCESS);
    const MaarDumpInfo dump = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO, .detailed = VK_TRUE};
    size_t size = 0;
    assert_int_equal(maarWriteDump(allocator, &dump, &size, NULL), VK_SUCCESS);
    (void)rig_budget(rig, 0);
    assert_int_equal(maarTrim(allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    maarDestroyPool(allocator, pool);
    vkDestroySemaphore(rig->device, timeline, NULL);
#if !defined(_WIN32)
    VkBuffer buffer = VK_NULL_HANDLE;
    VkBuffer copy = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    const MaarAllocation shared = make_shared(rig, &buffer);
    const MaarExportedMemory exported = rig_export(rig, shared);
    assert_int_equal(import_shared(rig, &exported, &copy, &imported), VK_SUCCESS);
    maarDestroyExternalHandle(allocator, exported.handle);
    maarDestroyBuffer(allocator, copy, imported);
    maarDestroyBuffer(allocator, buffer, shared);
#endif
}

static void promise_7_no_lock_across_foreign_code(void** state)
{
    (void)state;
    const struct rig_setup setup = {
        .profile = rig_profile_noncoherent(),
        .count_host = true,
        .sharing = rig_sharing_everything(),
    };
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    inner_callbacks = rig->host_callbacks;
    rig->host_callbacks.pfnAllocation = probe_and_allocate;
    rig->host_callbacks.pfnFree = probe_and_free;
    rig->create_info.pfnMessage = probe_in_message;
    rig->create_info.pfnDeviceAllocate = probe_in_device_memory;
    rig->create_info.pfnDeviceFree = probe_in_device_memory;
    rig->create_info.pfnOutOfMemory = probe_in_observer;
    lock_check = (struct lock_check){.active = false};
    rig_make_allocator(rig);
    lock_check.prober = promise_prober_start(rig);
    assert_non_null(lock_check.prober);
    rig->call = probe_in_driver;
    rig->call_data = &lock_check;
    lock_check.active = true;
    do_everything(rig);
    lock_check.active = false;
    if (lock_check.failed) {
        /* The other thread hangs in a lock: nothing can be taken down in order. */
        fail_msg("a lock is held across %s", lock_check.where);
    }
    assert_int_equal(promise_prober_stop(lock_check.prober), lock_check.probes);
    assert_true(lock_check.probes > 1000);
}

/* ---- promise 8 ---- */

static void remember_places(struct rig* rig, MaarAllocationInfo* places)
{
    for (uint32_t i = 0; i < CROWD; ++i) {
        memset(&places[i], 0, sizeof places[i]);
        if (crowd.memory[i] != VK_NULL_HANDLE) {
            places[i] = rig_info(rig, crowd.memory[i]);
        }
    }
}

static void promise_8_same_calls_same_places(void** state)
{
    (void)state;
    static MaarAllocationInfo places[2][CROWD];
    for (uint32_t i = 0; i < PROFILE_COUNT; ++i) {
        for (uint32_t run = 0; run < 2; ++run) {
            const struct rig_setup setup = {.profile = rig_profile_file(promise_profiles[i])};
            struct rig* const rig = rig_begin(&setup);
            fill_crowd(rig, 300 + i);
            remember_places(rig, places[run]);
            empty_crowd(rig);
            rig_close(rig);
        }
        for (uint32_t k = 0; k < CROWD; ++k) {
            assert_true(places[0][k].blockId == places[1][k].blockId);
            assert_true(places[0][k].offset == places[1][k].offset);
            assert_true(places[0][k].size == places[1][k].size);
            assert_true(places[0][k].blockSize == places[1][k].blockSize);
            assert_int_equal(places[0][k].memoryTypeIndex, places[1][k].memoryTypeIndex);
            assert_int_equal(places[0][k].dedicated, places[1][k].dedicated);
        }
    }
}

/* ---- promise 9 ---- */

/* That the library neither prints nor exits nor reads the environment is promise_9_silence's; here
 * its host memory, all of it the program's. */
static void promise_9_host_memory_is_the_programs(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    uint64_t calls = atomic_load(&rig->host.calls);
    fill_crowd(rig, 9);
    assert_true(atomic_load(&rig->host.calls) > calls);
    empty_crowd(rig);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    assert_int_equal(atomic_load(&rig->host.live), 0);
    assert_int_equal(atomic_load(&rig->host.live_bytes), 0);
}

/* Breaks a total behind the allocator's back. Builds with heavy checks stop the program there. */
static void promise_9_broken_invariant_poisons(void** state)
{
    (void)state;
#if defined(MAAR_HEAVY_CHECKS)
    print_message("skipped: builds with heavy checks trap\n");
    skip();
#else
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation memory = rig_allocate(rig, 1000, NULL);
    const char* broken = NULL;
    ++rig->allocator->pools->first_arena->pending_count;
    assert_int_equal(maarCheckAllocator(rig->allocator, &broken), VK_ERROR_UNKNOWN);
    --rig->allocator->pools->first_arena->pending_count;
    assert_string_equal(broken, "what is pending in an arena is not the sum of its blocks");
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_FATAL], 1);
    rig_expect_message(rig, MAAR_MESSAGE_ID_BROKEN_INVARIANT);
    MaarMemoryRequest request = rig_request(1000, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation none = memory;
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, NULL, &none), VK_ERROR_UNKNOWN);
    assert_true(none == VK_NULL_HANDLE);
    assert_int_equal(maarGetAllocationInfo(rig->allocator, memory, &info), VK_ERROR_UNKNOWN);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_ERROR_UNKNOWN);
    assert_int_equal(maarCheckAllocator(rig->allocator, NULL), VK_ERROR_UNKNOWN);
    rig_expect_silence(rig);
    maarFreeMemory(rig->allocator, memory); /* refused as well: the destruction reports it */
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    rig_close(rig);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(promise_1_live_allocations_never_overlap),
        rig_unit_test(promise_2_kinds_never_share_a_granule),
        rig_unit_test(promise_2_unknown_kinds_share_with_nobody),
        rig_unit_test(promise_3_a_failing_call_changes_nothing),
        rig_unit_test(promise_4_atoms_are_whole_and_unshared),
        rig_unit_test(promise_5_limits_are_never_passed),
        rig_unit_test(promise_5_budgets_bind_under_the_flag),
        rig_unit_test(promise_6_handles_have_one_owner),
        rig_unit_test(promise_7_no_lock_across_foreign_code),
        rig_unit_test(promise_8_same_calls_same_places),
        rig_unit_test(promise_9_host_memory_is_the_programs),
        rig_unit_test(promise_9_broken_invariant_poisons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
