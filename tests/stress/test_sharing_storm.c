/*
 * Threads that share while everything that can fail does: each makes buffers in blocks that all of
 * them export, sends them through descriptors to itself, imports them, looks at the bytes, and does
 * the same with semaphores, while host allocations and calls of the driver fail at random, and the
 * driver now and then closes what it refuses, whose number something else has at once. In the end
 * no descriptor is open that was not before, and the books balance. (If the number went to another
 * thread's duplicate of the very same file, nobody could know whose it is: that is not tried.)
 *
 * MAAR_STRESS_ROUNDS: rounds of each thread. MAAR_TEST_SEED as everywhere; the interleaving is the
 * machine's.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "maar/share.h"
#include "tests/fault/fault_balance.h"
#include "tests/fault/fault_fds.h"
#include "tests/fault/fault_host.h"
#include "tests/fault/fault_rubbish.h"
#include "tests/stress/storm_errors.h"

enum { THREADS = 4, CHANCE = 300, SIZE = 3000 };

struct sharing_storm {
    struct rig rig;
    struct fault_host host;
    uint32_t rounds;
    _Atomic uint32_t working;
    struct storm_errors errors;
    _Atomic uint64_t shared, failed;
};

struct sharer {
    struct sharing_storm* storm;
    pthread_t thread;
    struct rig_random random;
};

static bool count_result(struct sharing_storm* storm, VkResult result)
{
    EXPECT(storm, result <= 0 && result != VK_ERROR_VALIDATION_FAILED_EXT);
    (void)atomic_fetch_add(result == VK_SUCCESS ? &storm->shared : &storm->failed, 1);
    return result == VK_SUCCESS;
}

/* ---- handles ---- */

/* On to another owner: by a duplicate, or by hand. Returns what is to be used from now on. */
static MaarExternalHandle pass_on(struct sharer* sharer, MaarExternalHandle handle)
{
    struct sharing_storm* storm = sharer->storm;
    MaarAllocator allocator = storm->rig.allocator;
    MaarExternalHandle other = VK_NULL_HANDLE;
    if (rig_below(&sharer->random, 2) == 0) {
        VkResult result = maarDuplicateExternalHandle(allocator, handle, &other);
        if (!count_result(storm, result)) {
            return handle;
        }
        maarDestroyExternalHandle(allocator, handle);
        return other;
    }
    int fd = -1;
    EXPECT(storm, maarTakeFd(allocator, handle, &fd) == VK_SUCCESS && fd >= 0);
    EXPECT(storm, maarPeekFd(handle) == -1);
    maarDestroyExternalHandle(allocator, handle);
    while (!count_result(storm, maarWrapFd(allocator, fd, &other))) {
        EXPECT(storm, fault_is_open(fd));
    }
    return other;
}

/* ---- memory ---- */

static void look_at_bytes(struct sharer* sharer, MaarAllocation memory, MaarAllocation imported,
                          VkDeviceSize offset)
{
    struct sharing_storm* storm = sharer->storm;
    MaarAllocator allocator = storm->rig.allocator;
    void* there = NULL;
    unsigned char* here = maarGetMappedData(allocator, memory);
    EXPECT(storm, here != NULL);
    if (here != NULL && count_result(storm, maarMapMemory(allocator, imported, &there))) {
        const unsigned char mark = (unsigned char)rig_next(&sharer->random);
        here[SIZE - 1] = mark;
        EXPECT(storm, ((unsigned char*)there)[offset + SIZE - 1] == mark);
        maarUnmapMemory(allocator, imported);
    }
}

static void import_buffer(struct sharer* sharer, const VkBufferCreateInfo* info,
                          MaarAllocation memory, const MaarExportedMemory* exported)
{
    struct sharing_storm* storm = sharer->storm;
    MaarAllocator allocator = storm->rig.allocator;
    const MaarImportInfo import = {
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = exported->handle,
        .handleType = exported->handleType,
        .blockSize = exported->blockSize,
        .offset = exported->offset,
        .memoryTypeIndex = exported->memoryTypeIndex,
        .dedicated = exported->dedicated,
    };
    const int fd = maarPeekFd(exported->handle);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    VkResult result = maarImportBuffer(allocator, info, &import, &buffer, &imported);
    EXPECT(storm, (result == VK_SUCCESS) == (imported != VK_NULL_HANDLE));
    EXPECT(storm, (result == VK_SUCCESS) == (buffer != VK_NULL_HANDLE));
    EXPECT(storm, maarPeekFd(exported->handle) == (result == VK_SUCCESS ? -1 : fd));
    EXPECT(storm, result == VK_SUCCESS || fault_is_open(fd));
    if (count_result(storm, result)) {
        look_at_bytes(sharer, memory, imported, exported->offset);
        maarDestroyBuffer(allocator, buffer, imported);
    }
}

static void share_buffer_once(struct sharer* sharer)
{
    struct sharing_storm* storm = sharer->storm;
    MaarAllocator allocator = storm->rig.allocator;
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkBufferCreateInfo info = rig_buffer_info(SIZE);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pNext = &export;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.dedicated =
        rig_below(&sharer->random, 8) == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    if (!count_result(storm, maarCreateBuffer(allocator, &info, &how, &buffer, &memory))) {
        return;
    }
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    VkResult result = maarExportMemory(allocator, memory,
                                       VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, &exported);
    EXPECT(storm, (result == VK_SUCCESS) == (exported.handle != VK_NULL_HANDLE));
    if (count_result(storm, result)) {
        exported.handle = pass_on(sharer, exported.handle);
        import_buffer(sharer, &info, memory, &exported);
        maarDestroyExternalHandle(allocator, exported.handle);
    }
    maarDestroyBuffer(allocator, buffer, memory);
}

/* ---- semaphores ---- */

static void import_shared_semaphore(struct sharer* sharer, MaarExternalHandle handle,
                                    VkSemaphoreType type)
{
    struct sharing_storm* storm = sharer->storm;
    const int fd = maarPeekFd(handle);
    VkSemaphore imported = VK_NULL_HANDLE;
    VkResult result =
        maarImportSemaphore(storm->rig.allocator, handle,
                            VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, type, &imported);
    EXPECT(storm, (result == VK_SUCCESS) == (imported != VK_NULL_HANDLE));
    EXPECT(storm, maarPeekFd(handle) == (result == VK_SUCCESS ? -1 : fd));
    EXPECT(storm, result == VK_SUCCESS || fault_is_open(fd));
    if (count_result(storm, result)) {
        vkDestroySemaphore(storm->rig.device, imported,
                           storm->rig.create_info.pAllocationCallbacks);
    }
}

static void share_semaphore_once(struct sharer* sharer)
{
    struct sharing_storm* storm = sharer->storm;
    MaarAllocator allocator = storm->rig.allocator;
    const VkSemaphoreType type =
        rig_below(&sharer->random, 2) == 0 ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY;
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = type,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    VkSemaphore semaphore = VK_NULL_HANDLE;
    if (!count_result(storm, maarCreateSharedSemaphore(allocator, &info, &semaphore))) {
        return;
    }
    MaarExternalHandle handle = VK_NULL_HANDLE;
    if (count_result(storm, maarExportSemaphore(allocator, semaphore,
                                                VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                                                &handle))) {
        handle = pass_on(sharer, handle);
        import_shared_semaphore(sharer, handle, type);
        maarDestroyExternalHandle(allocator, handle);
    }
    vkDestroySemaphore(storm->rig.device, semaphore, storm->rig.create_info.pAllocationCallbacks);
}

static void* share(void* data)
{
    struct sharer* sharer = data;
    for (uint32_t round = 0; round < sharer->storm->rounds; ++round) {
        if (rig_below(&sharer->random, 3) == 0) {
            share_semaphore_once(sharer);
        } else {
            share_buffer_once(sharer);
        }
    }
    (void)atomic_fetch_sub(&sharer->storm->working, 1);
    return NULL;
}

/* ---- weather ---- */

/* Every so often a call of the driver fails, and its manners change. */
static void let_loose(struct sharing_storm* storm, struct rig_random* random)
{
    static const VkResult codes[] = {
        VK_ERROR_OUT_OF_HOST_MEMORY,
        VK_ERROR_OUT_OF_DEVICE_MEMORY,
        VK_ERROR_TOO_MANY_OBJECTS,
        VK_ERROR_INVALID_EXTERNAL_HANDLE,
    };
    static const MaarSimulatedFlags manners[] = {
        0,
        MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT | MAAR_SIMULATED_REUSE_CLOSED_FD_BIT,
    };
    atomic_store(&storm->host.chance, CHANCE);
    while (atomic_load(&storm->working) != 0) {
        maarSimulatedSetFlags(storm->rig.physical,
                              manners[rig_below(random, 2)] | MAAR_SIMULATED_ALLOW_ALIASING_BIT);
        rig_clear_faults(&storm->rig);
        rig_set_fault(&storm->rig, NULL, 1 + rig_below(random, 20), 1, codes[rig_below(random, 4)]);
        (void)sched_yield();
    }
    atomic_store(&storm->host.chance, 0);
    rig_clear_faults(&storm->rig);
}

static uint32_t rounds_wanted(void)
{
    const char* text = getenv("MAAR_STRESS_ROUNDS");
    const uint32_t rounds = text != NULL ? (uint32_t)strtoul(text, NULL, 0) : 0;
    return rounds != 0 ? rounds : 10000;
}

static void threads_share_while_everything_fails(void** state)
{
    (void)state;
    static struct sharing_storm storm;
    static struct sharer sharers[THREADS];
    const struct rig_setup setup = {
        .sharing = rig_sharing_everything(),
        .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
        .count_host = true,
    };
    struct rig_random random = {rig_seed(14)};
    const uint32_t fds = fault_open_fds();
    memset(&storm, 0, sizeof storm);
    rig_open(&storm.rig, &setup);
    fault_host_init(&storm.host, &storm.rig.host_callbacks);
    storm.rig.create_info.pAllocationCallbacks = &storm.host.callbacks;
    fault_use_rubbish(&storm.rig.create_info);
    rig_make_allocator(&storm.rig);
    storm.rounds = rounds_wanted();
    atomic_store(&storm.working, THREADS);
    for (uint32_t i = 0; i < THREADS; ++i) {
        sharers[i] = (struct sharer){.storm = &storm, .random = {rig_next(&random)}};
        assert_int_equal(pthread_create(&sharers[i].thread, NULL, share, &sharers[i]), 0);
    }
    let_loose(&storm, &random);
    for (uint32_t i = 0; i < THREADS; ++i) {
        pthread_join(sharers[i].thread, NULL);
    }
    print_message("%llu calls did what they should, %llu failed\n",
                  (unsigned long long)atomic_load(&storm.shared),
                  (unsigned long long)atomic_load(&storm.failed));
    if (atomic_load(&storm.errors.count) != 0) {
        fail_msg("%u expectations failed, the first in line %u",
                 (unsigned)atomic_load(&storm.errors.count),
                 (unsigned)atomic_load(&storm.errors.first));
    }
    assert_int_equal(maarTrim(storm.rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    fault_expect_empty(&storm.rig);
    rig_close(&storm.rig);
    assert_int_equal(fault_open_fds(), fds);
    assert_true(atomic_load(&storm.failed) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_while_everything_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
