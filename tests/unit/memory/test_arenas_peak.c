/*
 * The peak of live bytes with threads that reuse each other's bytes: never above that of blocks.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/rig/rig.h"

#include <pthread.h>

static struct rig* rig;
static MaarPool pool;

static void* turn(void* unused)
{
    (void)unused;
    for (int i = 0; i < 400000; ++i) {
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
        how.pool = pool;
        how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
        const MaarMemoryRequest request =
            rig_request((i % 2 == 0 ? 64 : 40) * MIB, 16, 2, MAAR_RESOURCE_KIND_LINEAR);
        MaarAllocation memory = VK_NULL_HANDLE;
        (void)maarAllocateMemory(rig->allocator, &request, &how, &memory);
        maarFreeMemory(rig->allocator, memory);
    }
    return NULL;
}

static void no_more_is_live_than_there_is(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = 64 * MIB,
        .minBlockCount = 1,
        .maxBlockCount = 1,
    };
    pool = rig_create_pool(rig, &info);
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) {
        pthread_create(&threads[i], NULL, turn, NULL);
    }
    for (int i = 0; i < 3; ++i) {
        pthread_join(threads[i], NULL);
    }
    const MaarStatistics now = rig_statistics(rig, VK_NULL_HANDLE);
    maarDestroyPool(rig->allocator, pool);
    rig_close(rig);
    assert_int_equal(now.peakAllocationBytes, 64 * MIB);
    assert_int_equal(now.peakBlockBytes, 64 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {rig_unit_test(no_more_is_live_than_there_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
