/*
 * Requests while another thread is making a block: in the driver, or in a callback of the host's
 * that the maker is in with its block listed already.
 */
#define _POSIX_C_SOURCE 200809L
#include "core/memory/slot_table.h"
#include "tests/rig/rig.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct request {
    VkDeviceSize size;
    MaarDedicated dedicated;
    MaarAllocationCreateFlags flags;
    VkResult result;
    MaarAllocation memory;
};

static struct rig* rig;
static MaarPool pool;
static struct request first, second;
static bool hooked;
static _Atomic int was_called, is_over, second_is_done;
static pthread_t other;

static void nap(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

static void* carry(void* argument)
{
    struct request* request = argument;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = pool;
    how.dedicated = request->dedicated;
    how.flags = request->flags;
    const MaarMemoryRequest wanted = rig_request(request->size, 16, 2, MAAR_RESOURCE_KIND_LINEAR);
    request->result = maarAllocateMemory(rig->allocator, &wanted, &how, &request->memory);
    return NULL;
}

/* The other thread's request, while this one is where it fetches slots for its own. */
static void* VKAPI_PTR allocate_host(void* data, size_t size, size_t alignment,
                                     VkSystemAllocationScope scope)
{
    (void)data;
    (void)alignment;
    (void)scope;
    if (hooked && size == maar_slot_segment_bytes(0) && atomic_exchange(&was_called, 1) == 0) {
        (void)pthread_create(&other, NULL, carry, &second);
        (void)pthread_join(other, NULL);
    }
    return malloc(size);
}

static void VKAPI_PTR free_host(void* data, void* memory)
{
    (void)data;
    free(memory);
}

static void* VKAPI_PTR refuse_to_reallocate(void* data, void* old, size_t size, size_t alignment,
                                            VkSystemAllocationScope scope)
{
    (void)data;
    (void)old;
    (void)size;
    (void)alignment;
    (void)scope;
    return NULL;
}

static VkDeviceSize preferred; /* of the next allocator */

static void start(const MaarPoolCreateInfo* info)
{
    static const VkAllocationCallbacks callbacks = {
        .pfnAllocation = allocate_host,
        .pfnReallocation = refuse_to_reallocate,
        .pfnFree = free_host,
    };
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    atomic_store(&was_called, 0);
    atomic_store(&second_is_done, 0);
    rig = rig_new();
    rig_open(rig, &(struct rig_setup){.preferred_block = preferred});
    preferred = 0;
    rig->create_info.pAllocationCallbacks = &callbacks;
    rig_make_allocator(rig);
    pool = info != NULL ? rig_create_pool(rig, info) : VK_NULL_HANDLE;
}

static void finish(void)
{
    rig->call = NULL;
    maarFreeMemory(rig->allocator, first.memory);
    maarFreeMemory(rig->allocator, second.memory);
    maarDestroyPool(rig->allocator, pool);
    rig_close(rig);
}

static void maker_whose_block_others_fill_makes_another(void** state)
{
    (void)state;
    start(&(MaarPoolCreateInfo){.memoryTypeIndex = 1, .blockSize = MIB});
    first = (struct request){.size = MIB, .dedicated = MAAR_DEDICATED_NEVER};
    second = (struct request){.size = 64 * KIB, .dedicated = MAAR_DEDICATED_NEVER};
    hooked = true;
    (void)carry(&first);
    hooked = false;
    assert_int_equal(atomic_load(&was_called), 1);
    assert_int_equal(second.result, VK_SUCCESS);
    assert_int_equal(first.result, VK_SUCCESS);
    finish();
}

static void dedicated_blocks_are_listed_in_order(void** state)
{
    (void)state;
    start(&(MaarPoolCreateInfo){.memoryTypeIndex = 1});
    first = (struct request){.size = MIB, .dedicated = MAAR_DEDICATED_ALWAYS};
    second = first;
    hooked = true;
    (void)carry(&first);
    hooked = false;
    MaarBlockInfo blocks[2] = {{.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO},
                               {.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO}};
    uint32_t count = 2;
    assert_int_equal(maarEnumerateBlocks(rig->allocator, pool, &count, blocks), VK_SUCCESS);
    assert_int_equal(count, 2);
    assert_true(blocks[0].blockId < blocks[1].blockId);
    finish();
}

static void* carry_second(void* unused)
{
    (void)unused;
    (void)carry(&second);
    atomic_store(&second_is_done, 1);
    return NULL;
}

/* While this thread is in the driver, which has nothing for anybody else. */
static void start_second(void* data, const char* function)
{
    (void)data;
    if (strcmp(function, "vkAllocateMemory") != 0 || atomic_exchange(&was_called, 1) != 0) {
        return;
    }
    rig_set_fault(rig, "vkAllocateMemory", 1, 1000, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    (void)pthread_create(&other, NULL, carry_second, NULL);
    for (int i = 0; i < 100 && !atomic_load(&second_is_done); ++i) {
        nap(1);
    }
    rig_clear_faults(rig);
}

static void block_on_its_way_is_waited_for_in_one_arena(void** state)
{
    (void)state;
    preferred = 256 * MIB;
    start(NULL);
    first = (struct request){.size = 40 * MIB};
    second = first;
    rig->call = start_second;
    (void)carry(&first);
    (void)pthread_join(other, NULL);
    assert_int_equal(first.result, VK_SUCCESS);
    assert_int_equal(second.result, VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 1);
    finish();
}

/* Makes and gives back blocks without end. */
static void* churn(void* unused)
{
    (void)unused;
    while (!atomic_load(&is_over)) {
        struct request made[4];
        for (int i = 0; i < 4; ++i) {
            made[i] = (struct request){.size = MIB, .dedicated = MAAR_DEDICATED_NEVER};
            (void)carry(&made[i]);
        }
        for (int i = 0; i < 4; ++i) {
            maarFreeMemory(rig->allocator, made[i].memory);
        }
    }
    return NULL;
}

static void take_long(void* data, const char* function)
{
    (void)data;
    if (strcmp(function, "vkAllocateMemory") == 0) {
        nap(5);
    }
}

static void what_no_block_can_hold_is_not_waited_for(void** state)
{
    (void)state;
    enum { MAKERS = 4 };
    pthread_t makers[MAKERS];
    start(&(MaarPoolCreateInfo){.memoryTypeIndex = 1, .blockSize = MIB});
    atomic_store(&is_over, 0);
    rig->call = take_long;
    for (int i = 0; i < MAKERS; ++i) {
        assert_int_equal(pthread_create(&makers[i], NULL, churn, NULL), 0);
    }
    nap(50);
    second = (struct request){
        .size = 3 * MIB,
        .dedicated = MAAR_DEDICATED_NEVER,
        .flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT,
    };
    (void)pthread_create(&other, NULL, carry_second, NULL);
    for (int i = 0; i < 5000 && !atomic_load(&second_is_done); ++i) {
        nap(1);
    }
    const int ended = atomic_load(&second_is_done);
    atomic_store(&is_over, 1);
    for (int i = 0; i < MAKERS; ++i) {
        (void)pthread_join(makers[i], NULL);
    }
    (void)pthread_join(other, NULL);
    assert_int_equal(ended, 1);
    assert_int_equal(second.result, VK_ERROR_OUT_OF_POOL_MEMORY);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(maker_whose_block_others_fill_makes_another),
        rig_unit_test(dedicated_blocks_are_listed_in_order),
        rig_unit_test(block_on_its_way_is_waited_for_in_one_arena),
        rig_unit_test(what_no_block_can_hold_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
