/*
 * Threads that export, import, pass on and free shared memory at once. One allocation is exported
 * by all of them from the start, so that they meet at its block's first export; pools of exportable
 * memory are made and destroyed meanwhile; handles are taken by two threads at once, of which one
 * must succeed. At the end no descriptor is left.
 *
 * MAAR_STRESS_ROUNDS: rounds of each thread. MAAR_TEST_SEED as everywhere; the interleaving is the
 * machine's.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/interop/sharing_fixture.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 400, TAKERS = 2 };

struct sharing_storm {
    struct rig rig;
    MaarAllocation common;
    uint32_t rounds;
    _Atomic uint32_t errors;
};

struct sharer {
    struct sharing_storm* storm;
    pthread_t thread;
    struct rig_random random;
};

static void expect(struct sharing_storm* storm, bool condition)
{
    if (!condition) {
        (void)atomic_fetch_add(&storm->errors, 1);
    }
}

/* Exports, imports, exports the import, imports that. */
static void pass_on(struct sharing_storm* storm, MaarAllocation allocation)
{
    const MaarAllocator allocator = storm->rig.allocator;
    MaarAllocation imported[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    MaarAllocation from = allocation;
    for (uint32_t i = 0; i < 2; ++i) {
        MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
        if (maarExportMemory(allocator, from, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                             &exported) != VK_SUCCESS) {
            expect(storm, false);
            break;
        }
        const MaarImportInfo info = sharing_import_info(&exported);
        expect(storm, maarImportMemory(allocator, &info, &imported[i]) == VK_SUCCESS);
        maarDestroyExternalHandle(allocator, exported.handle);
        from = imported[i];
    }
    maarFreeMemories(allocator, 2, imported);
}

static MaarAllocation make_exportable(struct sharer* sharer, MaarPool pool)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = pool == VK_NULL_HANDLE ? &export : NULL;
    how.pool = pool;
    const MaarMemoryRequest request =
        rig_request(1 + rig_below(&sharer->random, 300000), 256, 0x1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation = VK_NULL_HANDLE;
    expect(sharer->storm, maarAllocateMemory(sharer->storm->rig.allocator, &request, &how,
                                             &allocation) == VK_SUCCESS);
    return allocation;
}

static void use_pool(struct sharer* sharer)
{
    struct sharing_storm* storm = sharer->storm;
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &export,
        .blockSize = MIB,
    };
    MaarPool pool = VK_NULL_HANDLE;
    expect(storm, maarCreatePool(storm->rig.allocator, &info, &pool) == VK_SUCCESS);
    const MaarAllocation allocation = make_exportable(sharer, pool);
    pass_on(storm, allocation);
    maarFreeMemory(storm->rig.allocator, allocation);
    maarDestroyPool(storm->rig.allocator, pool);
}

static void* share(void* argument)
{
    struct sharer* sharer = argument;
    struct sharing_storm* storm = sharer->storm;
    pass_on(storm, storm->common);
    for (uint32_t i = 0; i < storm->rounds; ++i) {
        const uint32_t what = rig_below(&sharer->random, 8);
        if (what == 0) {
            use_pool(sharer);
        } else if (what == 1) {
            pass_on(storm, storm->common);
        } else {
            const MaarAllocation allocation = make_exportable(sharer, VK_NULL_HANDLE);
            pass_on(storm, allocation);
            maarFreeMemory(storm->rig.allocator, allocation);
        }
    }
    return NULL;
}

static void threads_share_without_a_trace(void** state)
{
    (void)state;
    static struct sharing_storm storm;
    static struct sharer sharers[THREADS];
    const char* text = getenv("MAAR_STRESS_ROUNDS");
    storm.rounds = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : ROUNDS;
    const uint64_t seed = rig_seed(20);
    assert_true(sharing_start(&storm.rig, NULL));
    VkBuffer buffer = VK_NULL_HANDLE;
    const uint32_t before = rig_count_fds();
    storm.common = rig_create_shared_buffer(&storm.rig, 4096, &buffer);
    for (uint32_t i = 0; i < THREADS; ++i) {
        sharers[i] = (struct sharer){.storm = &storm, .random = {.state = seed + i}};
        assert_int_equal(pthread_create(&sharers[i].thread, NULL, share, &sharers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; ++i) {
        assert_int_equal(pthread_join(sharers[i].thread, NULL), 0);
    }
    assert_int_equal(atomic_load(&storm.errors), 0);
    rig_check(&storm.rig);
    maarDestroyBuffer(storm.rig.allocator, buffer, storm.common);
    assert_int_equal(maarTrim(storm.rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(&storm.rig, VK_NULL_HANDLE).allocationCount, 0);
    assert_int_equal(rig_count_fds(), before);
    rig_close(&storm.rig);
}

struct taker {
    struct rig* rig;
    MaarExternalHandle handle;
    pthread_barrier_t* barrier;
    int fd;
};

static void* take(void* argument)
{
    struct taker* taker = argument;
    (void)pthread_barrier_wait(taker->barrier);
    (void)maarTakeFd(taker->rig->allocator, taker->handle, &taker->fd);
    return NULL;
}

static void one_of_two_takers_succeeds(void** state)
{
    (void)state;
    static struct rig rig;
    assert_true(sharing_start(&rig, NULL));
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(&rig, 4096, &buffer);
    for (uint32_t i = 0; i < 200; ++i) {
        const MaarExportedMemory exported = rig_export(&rig, allocation);
        pthread_barrier_t barrier;
        assert_int_equal(pthread_barrier_init(&barrier, NULL, TAKERS), 0);
        struct taker takers[TAKERS];
        pthread_t threads[TAKERS];
        for (uint32_t j = 0; j < TAKERS; ++j) {
            takers[j] = (struct taker){&rig, exported.handle, &barrier, -1};
            assert_int_equal(pthread_create(&threads[j], NULL, take, &takers[j]), 0);
        }
        uint32_t taken = 0;
        for (uint32_t j = 0; j < TAKERS; ++j) {
            assert_int_equal(pthread_join(threads[j], NULL), 0);
            taken += takers[j].fd >= 0 ? 1 : 0;
            if (takers[j].fd >= 0) {
                assert_int_equal(close(takers[j].fd), 0);
            }
        }
        assert_int_equal(taken, 1);
        maarDestroyExternalHandle(rig.allocator, exported.handle);
        assert_int_equal(pthread_barrier_destroy(&barrier), 0);
    }
    maarDestroyBuffer(rig.allocator, buffer, allocation);
    rig_forget_messages(&rig);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_without_a_trace),
        cmocka_unit_test(one_of_two_takers_succeeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
