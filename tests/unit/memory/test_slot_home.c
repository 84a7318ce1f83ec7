/*
 * Identity is not location: an allocation keeps its handle while its bytes get another home. These
 * cases move bytes themselves, as a mover would: two allocations of one size swap their homes under
 * the locks that core/memory/slot_home.h names.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/rig/rig.h"

#include <pthread.h>
#include <sched.h>

#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/object_handle.h"

enum { BYTES = 4096, ROUNDS = 20000 };

struct scene {
    struct rig* rig;
    MaarAllocation memories[2]; /* of one size, each in a pool of its own */
    MaarAllocationInfo homes[2];
    _Atomic int is_over;
    _Atomic uint32_t wrong_count;
    _Atomic uint64_t seen[2]; /* homes that the reader has seen */
};

static struct scene scene;

static struct maar_slot* slot_of(MaarAllocation memory)
{
    return maar_slot_resolve(&scene.rig->allocator->slots, MAAR_TO_BITS(memory), &(uint32_t){0});
}

static MaarPool make_pool(void)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = 1 * MIB,
    };
    return rig_create_pool(scene.rig, &info);
}

static MaarAllocation allocate_in(MaarPool pool)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = pool;
    return rig_allocate(scene.rig, BYTES, &how);
}

static void begin(void)
{
    memset(&scene, 0, sizeof scene);
    scene.rig = rig_begin(NULL);
    for (int i = 0; i < 2; ++i) {
        const MaarPool pool = make_pool();
        /* The second pool begins with another allocation, so that offsets differ too. */
        if (i == 1) {
            (void)allocate_in(pool);
        }
        scene.memories[i] = allocate_in(pool);
        scene.homes[i] = rig_info(scene.rig, scene.memories[i]);
        assert_int_equal(scene.homes[i].locationEpoch, 0);
    }
    assert_true(scene.homes[0].memory != scene.homes[1].memory);
    assert_true(scene.homes[0].offset != scene.homes[1].offset);
}

static void end(void)
{
    for (int i = 0; i < 2; ++i) {
        maarDestroyPool(scene.rig->allocator, scene.homes[i].pool);
    }
    rig_close(scene.rig);
}

/* Under both locks: two allocations of one size that are not mapped exchange their homes. */
static void exchange_homes(struct maar_slot* one, struct maar_slot* other)
{
    struct maar_block* block = maar_slot_block(scene.rig->allocator, one);
    const uint32_t node = one->node;
    maar_slot_set_home(one, maar_slot_block(scene.rig->allocator, other), other->node);
    maar_slot_set_home(other, block, node);
}

static void swap_homes(struct maar_slot* one, struct maar_slot* other)
{
    struct maar_arena* arenas[2] = {maar_block_arena(maar_slot_block(scene.rig->allocator, one)),
                                    maar_block_arena(maar_slot_block(scene.rig->allocator, other))};
    maar_arena_lock_both(arenas[0], arenas[1]);
    exchange_homes(one, other);
    maar_arena_unlock_both(arenas[0], arenas[1]);
}

static bool is_home(const MaarAllocationInfo* info, const MaarAllocationInfo* home)
{
    return info->memory == home->memory && info->offset == home->offset &&
           info->blockId == home->blockId && info->pool == home->pool;
}

static void* read_home(void* unused)
{
    (void)unused;
    MaarAllocator allocator = scene.rig->allocator;
    while (atomic_load(&scene.is_over) == 0) {
        MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
        bool is_right = maarGetAllocationInfo(allocator, scene.memories[0], &info) == VK_SUCCESS;
        const bool is_first = is_home(&info, &scene.homes[0]);
        is_right = is_right && (is_first || is_home(&info, &scene.homes[1]));
        is_right = is_right && maarGetMappedData(allocator, scene.memories[0]) == NULL;
        is_right = is_right &&
                   maarSetAllocationUserData(allocator, scene.memories[0], &scene) == VK_SUCCESS;
        (void)atomic_fetch_add(&scene.seen[is_first ? 0 : 1], 1);
        (void)atomic_fetch_add(&scene.wrong_count, is_right ? 0 : 1);
    }
    return NULL;
}

static void a_home_is_read_whole_while_it_changes(void** state)
{
    (void)state;
    begin();
    pthread_t reader;
    pthread_create(&reader, NULL, read_home, NULL);
    struct maar_slot* slots[2] = {slot_of(scene.memories[0]), slot_of(scene.memories[1])};
    for (int i = 0; i < ROUNDS || atomic_load(&scene.seen[0]) == 0 ||
                    atomic_load(&scene.seen[1]) == 0 || i % 2 != 0;
         ++i) {
        swap_homes(slots[0], slots[1]);
    }
    atomic_store(&scene.is_over, 1);
    pthread_join(reader, NULL);
    assert_int_equal(scene.wrong_count, 0);
    end();
}

static void the_handle_stays_and_the_new_home_is_freed(void** state)
{
    (void)state;
    begin();
    swap_homes(slot_of(scene.memories[0]), slot_of(scene.memories[1]));
    const MaarAllocationInfo moved = rig_info(scene.rig, scene.memories[0]);
    assert_true(is_home(&moved, &scene.homes[1]));
    maarFreeMemory(scene.rig->allocator, scene.memories[0]);
    assert_int_equal(rig_statistics(scene.rig, scene.homes[0].pool).allocationCount, 1);
    assert_int_equal(rig_statistics(scene.rig, scene.homes[1].pool).allocationCount, 1);
    maarFreeMemory(scene.rig->allocator, scene.memories[1]);
    assert_int_equal(rig_statistics(scene.rig, scene.homes[0].pool).allocationCount, 0);
    rig_check(scene.rig);
    end();
}

/* A thread may have read a home, and lock it when the block and its pool are gone. */
static void the_lock_of_a_home_outlasts_its_block_and_its_pool(void** state)
{
    (void)state;
    begin();
    struct maar_slot* slot = slot_of(scene.memories[0]);
    struct maar_block* old_block = maar_slot_block(scene.rig->allocator, slot);
    struct maar_arena* old_arena = maar_block_arena(old_block);
    swap_homes(slot, slot_of(scene.memories[1]));
    maarFreeMemory(scene.rig->allocator, scene.memories[1]);
    maarDestroyPool(scene.rig->allocator, scene.homes[0].pool);

    maar_mutex_lock(&maar_block_arena(old_block)->lock);
    assert_ptr_not_equal(maar_slot_block(scene.rig->allocator, slot), old_block);
    maar_mutex_unlock(&old_arena->lock);
    maar_mutex_lock(&old_block->map_lock);
    maar_mutex_unlock(&old_block->map_lock);

    /* The next pool uses both headers again. */
    scene.homes[0].pool = make_pool();
    const MaarAllocation next = allocate_in(scene.homes[0].pool);
    assert_ptr_equal(maar_slot_block(scene.rig->allocator, slot_of(next)), old_block);
    assert_ptr_equal(maar_block_arena(old_block), old_arena);
    assert_int_equal(rig_info(scene.rig, next).offset, 0);
    const MaarAllocationInfo info = rig_info(scene.rig, scene.memories[0]);
    assert_true(is_home(&info, &scene.homes[1]));
    rig_check(scene.rig);
    end();
}

/* Returns when another thread waits for a mutex that this one holds. Windows does not show whether
 * a thread waits: there, the thread gets time enough to wait. */
static void await_waiter(const struct maar_mutex* mutex)
{
#if defined(_WIN32)
    (void)mutex;
    Sleep(50);
#else
    while (maar_atomic32_load(&mutex->state) != 2) {
        sched_yield();
    }
#endif
}

static void* read_once(void* info)
{
    (void)maarGetAllocationInfo(scene.rig->allocator, scene.memories[0], info);
    return NULL;
}

/* The lock that a reader waits for is the old home's when the reader gets it. */
static void a_reader_that_waited_looks_again(void** state)
{
    (void)state;
    begin();
    struct maar_slot* slots[2] = {slot_of(scene.memories[0]), slot_of(scene.memories[1])};
    struct maar_arena* old = maar_block_arena(maar_slot_block(scene.rig->allocator, slots[0]));
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    pthread_t reader;
    maar_arena_lock_both(old, maar_block_arena(maar_slot_block(scene.rig->allocator, slots[1])));
    pthread_create(&reader, NULL, read_once, &info);
    await_waiter(&old->lock);
    exchange_homes(slots[0], slots[1]);
    maar_arena_unlock_both(old, maar_block_arena(maar_slot_block(scene.rig->allocator, slots[0])));
    pthread_join(reader, NULL);
    assert_true(is_home(&info, &scene.homes[1]));
    end();
}

static void* lock_both(void* arenas)
{
    struct maar_arena** both = arenas;
    maar_arena_lock_both(both[0], both[1]);
    maar_arena_unlock_both(both[0], both[1]);
    maar_arena_lock_both(both[0], both[0]);
    maar_arena_unlock_both(both[0], both[0]);
    return NULL;
}

/* A thread that waits for the one with the lower address does not hold the other one. */
static void two_arenas_are_locked_in_one_order(void** state)
{
    (void)state;
    begin();
    struct maar_arena* low =
        maar_block_arena(maar_slot_block(scene.rig->allocator, slot_of(scene.memories[0])));
    struct maar_arena* high =
        maar_block_arena(maar_slot_block(scene.rig->allocator, slot_of(scene.memories[1])));
    if (low > high) {
        struct maar_arena* swapped = low;
        low = high;
        high = swapped;
    }
    struct maar_arena* orders[2][2] = {{low, high}, {high, low}};
    for (int i = 0; i < 2; ++i) {
        maar_mutex_lock(&low->lock);
        pthread_t thread;
        pthread_create(&thread, NULL, lock_both, orders[i]);
        await_waiter(&low->lock);
        maar_lock_rank_leave(MAAR_LOCK_ARENA);
        const bool is_free = maar_mutex_try_lock(&high->lock);
        if (is_free) {
            maar_mutex_unlock(&high->lock);
        }
        maar_mutex_unlock(&low->lock);
        pthread_join(thread, NULL);
        assert_true(is_free);
    }
    end();
}

static _Atomic int renamed_result;

static void* rename_it(void* unused)
{
    (void)unused;
    atomic_store(&renamed_result,
                 (int)maarSetAllocationName(scene.rig->allocator, scene.memories[0], "too late"));
    return NULL;
}

/* A free between the look at a handle and the lock of its home. */
static void an_allocation_that_ends_meanwhile_is_not_touched(void** state)
{
    (void)state;
    begin();
    struct maar_slot* slot = slot_of(scene.memories[0]);
    uint32_t index = 0;
    assert_true(maar_slot_find_bytes(scene.rig->allocator, slot).size == BYTES);
    (void)maar_slot_resolve(&scene.rig->allocator->slots, MAAR_TO_BITS(scene.memories[0]), &index);
    struct maar_arena* arena = maar_block_arena(maar_slot_enter(scene.rig->allocator, slot));
    pthread_t thread;
    pthread_create(&thread, NULL, rename_it, NULL);
    await_waiter(&arena->lock);
    assert_true(maar_slot_claim(slot, MAAR_TO_BITS(scene.memories[0])));
    maar_mutex_unlock(&arena->lock);
    pthread_join(thread, NULL);
    assert_true(maar_slot_find_bytes(scene.rig->allocator, slot).size == 0);
    assert_int_equal(renamed_result, VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(scene.rig->messages.last_id, MAAR_MESSAGE_ID_STALE_HANDLE);
    rig_forget_messages(scene.rig);
    assert_null(maar_slot_name(slot, index));
    maar_release_slot(scene.rig->allocator, slot, index);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(a_home_is_read_whole_while_it_changes),
        rig_unit_test(a_reader_that_waited_looks_again),
        rig_unit_test(the_handle_stays_and_the_new_home_is_freed),
        rig_unit_test(the_lock_of_a_home_outlasts_its_block_and_its_pool),
        rig_unit_test(two_arenas_are_locked_in_one_order),
        rig_unit_test(an_allocation_that_ends_meanwhile_is_not_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
