/*
 * Far frees: what a thread frees in the arena of another thread. Most are listed first; nothing
 * that the headers promise shows it. And the blocks that arenas adopt from one another.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "core/memory/slot_home.h"
#include "tests/rig/rig.h"

#include <pthread.h>
#include <time.h>

enum { BYTES = 4096, IN_BLOCK = 256, MOST = 4 * IN_BLOCK };

struct scene {
    struct rig* rig;
    MaarPool pool;
    struct maar_pool* own;
    MaarAllocation memories[MOST]; /* of the arena 0 */
};

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 1000000};
    nanosleep(&time, NULL);
}

static MaarAllocationCreateInfo scene_how(const struct scene* scene)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = scene->pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    return how;
}

static VkResult take(const struct scene* scene, VkDeviceSize size, MaarAllocation* memory)
{
    const MaarAllocationCreateInfo how = scene_how(scene);
    const MaarMemoryRequest request = rig_request(size, 16, 2, MAAR_RESOURCE_KIND_LINEAR);
    return maarAllocateMemory(scene->rig->allocator, &request, &how, memory);
}

static void* take_and_free(void* argument)
{
    const struct scene* scene = argument;
    MaarAllocation memory = VK_NULL_HANDLE;
    const VkResult result = take(scene, BYTES, &memory);
    maarFreeMemory(scene->rig->allocator, memory);
    return result == VK_SUCCESS ? NULL : argument;
}

/* Another thread finds the first arena locked. So the arena is this thread's from now on, and the
 * main thread, which has met nobody, is far from it. */
static void let_threads_meet(struct scene* scene)
{
    pthread_t thread;
    void* failed = NULL;
    maar_mutex_lock(&scene->own->first_arena->lock);
    assert_int_equal(pthread_create(&thread, NULL, take_and_free, scene), 0);
    while (maar_atomic32_load(&scene->rig->allocator->threads.count) == 0) {
        nap();
    }
    maar_mutex_unlock(&scene->own->first_arena->lock);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    assert_true(maar_pool_is_shared(scene->own));
}

/* Fills some blocks, all but the place for one allocation in the last block. */
static struct scene* open_scene(uint32_t block_count, uint32_t max_block_count)
{
    static struct scene scene;
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = (VkDeviceSize)BYTES * IN_BLOCK,
        .maxBlockCount = max_block_count,
    };
    memset(&scene, 0, sizeof scene);
    scene.rig = rig_begin(NULL);
    scene.pool = rig_create_pool(scene.rig, &info);
    scene.own = maar_pool_of(scene.rig->allocator, scene.pool);
    for (uint32_t i = 0; i + 1 < block_count * IN_BLOCK; ++i) {
        assert_int_equal(take(&scene, BYTES, &scene.memories[i]), VK_SUCCESS);
    }
    let_threads_meet(&scene);
    return &scene;
}

static void close_scene(struct scene* scene)
{
    for (uint32_t i = 0; i < MOST; ++i) {
        maarFreeMemory(scene->rig->allocator, scene->memories[i]);
    }
    maarDestroyPool(scene->rig->allocator, scene->pool);
    rig_expect_silence(scene->rig);
    rig_check(scene->rig);
}

static void give(struct scene* scene, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; ++i) {
        maarFreeMemory(scene->rig->allocator, scene->memories[i]);
        scene->memories[i] = VK_NULL_HANDLE;
    }
}

/* Returns the number of frees that are listed at the pool's blocks. */
static uint32_t count_listed(const struct scene* scene)
{
    uint32_t count = 0;
    for (struct maar_arena* arena = maar_pool_next_arena(scene->own, 0); arena != NULL;
         arena = maar_pool_next_arena(scene->own, arena->number + 1)) {
        for (struct maar_block* block = maar_arena_next_block(arena, 0); block != NULL;
             block = maar_arena_next_block(arena, block->at + 1)) {
            for (uint32_t i = 0; i < MAAR_FAR_ENTRIES; ++i) {
                count += maar_atomic32_load(&block->far_list.entries[i]) != 0 ? 1 : 0;
            }
        }
    }
    return count;
}

static void statistics_count_listed_frees(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 0);
    give(scene, 10, 20);
    assert_int_equal(count_listed(scene), 20);
    const MaarStatistics all = rig_statistics(scene->rig, VK_NULL_HANDLE);
    assert_int_equal(count_listed(scene), 0);
    assert_int_equal(all.allocationCount, IN_BLOCK - 1 - 20);
    assert_int_equal(all.allocationBytes, (VkDeviceSize)BYTES * (IN_BLOCK - 1 - 20));
    give(scene, 50, 20);
    assert_int_equal(count_listed(scene), 20);
    const MaarDetailedStatistics details = rig_details(scene->rig, scene->pool);
    assert_int_equal(details.freeRangeSizeMax, (VkDeviceSize)BYTES * 20);
    close_scene(scene);
}

static void walks_see_no_listed_free(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 0);
    MaarBlockInfo block = {.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    uint32_t count = 1;
    give(scene, 0, 20);
    assert_int_equal(count_listed(scene), 20);
    assert_int_equal(maarEnumerateBlocks(scene->rig->allocator, scene->pool, &count, &block),
                     VK_SUCCESS);
    assert_int_equal(block.allocationCount, IN_BLOCK - 1 - 20);
    give(scene, 20, 20);
    assert_int_equal(count_listed(scene), 20);
    static MaarBlockRange ranges[IN_BLOCK];
    count = IN_BLOCK;
    assert_int_equal(maarEnumerateBlockRanges(scene->rig->allocator, block.blockId, &count, ranges),
                     VK_SUCCESS);
    uint32_t live = 0;
    for (uint32_t i = 0; i < count; ++i) {
        live += ranges[i].state == MAAR_BLOCK_RANGE_STATE_LIVE ? 1 : 0;
    }
    assert_int_equal(live, IN_BLOCK - 1 - 40);
    close_scene(scene);
}

/* A dump counts the live allocations of its pools. */
static void dumps_count_listed_frees(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 0);
    static char text[65536];
    size_t size = sizeof text;
    const MaarDumpInfo info = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO};
    give(scene, 0, 20);
    assert_int_equal(count_listed(scene), 20);
    assert_int_equal(maarWriteDump(scene->rig->allocator, &info, &size, text), VK_SUCCESS);
    assert_int_equal((IN_BLOCK - 1 - 20) * BYTES, 962560);
    assert_non_null(strstr(text, "962560")); /* the live bytes */
    assert_null(strstr(text, "1044480"));    /* those before */
    close_scene(scene);
}

/* "a handle freed twice": found at once, not when the list is taken in. */
static void a_listed_handle_is_invalid_at_once(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 0);
    const MaarAllocation memory = scene->memories[7];
    give(scene, 7, 1);
    assert_int_equal(count_listed(scene), 1);
    maarFreeMemory(scene->rig->allocator, memory);
    rig_expect_message(scene->rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    assert_int_equal(maarGetAllocationInfo(scene->rig->allocator, memory, &info),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(scene->rig);
    assert_int_equal(count_listed(scene), 1);
    close_scene(scene);
}

static void listed_bytes_are_found_before_a_block_is_made(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 0);
    MaarAllocation memory = VK_NULL_HANDLE;
    give(scene, 30, 20);
    assert_int_equal(count_listed(scene), 20);
    assert_int_equal(take(scene, BYTES * 20, &memory), VK_SUCCESS);
    assert_int_equal(rig_statistics(scene->rig, scene->pool).blockCount, 1);
    maarFreeMemory(scene->rig->allocator, memory);
    close_scene(scene);
}

static void listed_bytes_are_found_at_the_maximum(void** state)
{
    (void)state;
    struct scene* scene = open_scene(2, 2);
    MaarAllocation memories[2] = {VK_NULL_HANDLE};
    give(scene, 30, 20);
    give(scene, IN_BLOCK + 30, 24);
    assert_int_equal(count_listed(scene), 44);
    assert_int_equal(take(scene, BYTES * 24, &memories[0]), VK_SUCCESS);
    assert_int_equal(take(scene, BYTES * 20, &memories[1]), VK_SUCCESS);
    maarFreeMemories(scene->rig->allocator, 2, memories);
    close_scene(scene);
}

/* The thread of the arena finds them too. */
static void listed_bytes_are_found_by_their_arena(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 1);
    pthread_t thread;
    void* failed = NULL;
    MaarAllocation last = VK_NULL_HANDLE;
    assert_int_equal(take(scene, BYTES, &last), VK_SUCCESS);
    give(scene, 30, 5);
    assert_int_equal(count_listed(scene), 5);
    assert_int_equal(pthread_create(&thread, NULL, take_and_free, scene), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    maarFreeMemory(scene->rig->allocator, last);
    close_scene(scene);
}

static void a_full_list_is_taken_in(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 0);
    give(scene, 0, MAAR_FAR_ENTRIES);
    assert_int_equal(count_listed(scene), MAAR_FAR_ENTRIES);
    give(scene, MAAR_FAR_ENTRIES, 1);
    assert_int_equal(count_listed(scene), 1);
    close_scene(scene);
}

/* The driver's memory goes back as soon as the last allocation is freed, whoever frees it. */
static void no_block_waits_for_its_list(void** state)
{
    (void)state;
    struct scene* scene = open_scene(3, 0);
    for (uint32_t i = 0; i < 3 * IN_BLOCK; ++i) {
        give(scene, i, 1);
        assert_true(count_listed(scene) < 3 * MAAR_FAR_ENTRIES);
    }
    assert_int_equal(count_listed(scene), 0);
    assert_int_equal(rig_counters(scene->rig).liveCount[MAAR_SIMULATED_OBJECT_MEMORY], 1);
    close_scene(scene);
}

static void listed_frees_are_no_leaks(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 0);
    give(scene, 10, 20);
    assert_int_equal(count_listed(scene), 20);
    maarDestroyPool(scene->rig->allocator, scene->pool);
    assert_int_equal(scene->rig->messages.total, IN_BLOCK - 1 - 20);
    rig_expect_message(scene->rig, MAAR_MESSAGE_ID_LEAK);
}

static void captures_know_of_no_listed_free(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 0);
    give(scene, 10, 1);
    assert_int_equal(count_listed(scene), 1);
    maar_atomic32_store(&scene->rig->allocator->capture_users, 1);
    give(scene, 20, 20);
    maar_atomic32_store(&scene->rig->allocator->capture_users, 0);
    assert_int_equal(count_listed(scene), 1);
    close_scene(scene);
}

/* ---- adopted blocks ---- */

/* Returns the arena of the block of an allocation. */
static struct maar_arena* arena_of(const struct scene* scene, MaarAllocation memory)
{
    uint32_t index = 0;
    const struct maar_slot* slot =
        maar_slot_resolve(&scene->rig->allocator->slots, MAAR_TO_BITS(memory), &index);
    assert_non_null(slot);
    return maar_block_arena(maar_slot_block(scene->rig->allocator, slot));
}

static void* hold_first_arena(void* argument)
{
    struct maar_pool* pool = argument;
    maar_mutex_lock(&pool->first_arena->lock);
    maar_atomic32_store(&pool->first_arena->far_due, 1);
    while (maar_atomic32_load(&pool->arenas.count) < 2) {
        nap();
    }
    maar_mutex_unlock(&pool->first_arena->lock);
    return NULL;
}

/* Gives the main thread an arena of its own, number 1: it finds the first one locked. The pool must
 * be full but for one allocation. */
static void get_an_arena(struct scene* scene)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, hold_first_arena, scene->own), 0);
    while (maar_atomic32_load(&scene->own->first_arena->far_due) == 0) {
        nap();
    }
    assert_int_equal(take(scene, BYTES, &scene->memories[MOST - 1]), VK_SUCCESS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(maar_known_thread_arena(&scene->rig->allocator->threads), 1);
}

static void a_thread_adopts_the_block_where_it_frees(void** state)
{
    (void)state;
    struct scene* scene = open_scene(4, 4);
    MaarAllocation memories[4] = {VK_NULL_HANDLE};
    get_an_arena(scene);
    give(scene, 2 * IN_BLOCK, 40);
    assert_int_equal(arena_of(scene, scene->memories[2 * IN_BLOCK + 40])->number, 0);
    assert_int_equal(take(scene, BYTES, &memories[0]), VK_SUCCESS);
    assert_int_equal(arena_of(scene, memories[0])->number, 1);
    assert_int_equal(arena_of(scene, scene->memories[2 * IN_BLOCK + 40])->number, 1);
    assert_int_equal(arena_of(scene, scene->memories[0])->number, 0);
    rig_check(scene->rig);
    assert_int_equal(rig_statistics(scene->rig, scene->pool).blockCount, 4);
    assert_int_equal(rig_statistics(scene->rig, scene->pool).allocationCount,
                     4 * IN_BLOCK - 40 + 1);
    /* What the block has moved with it works there. */
    give(scene, 2 * IN_BLOCK + 40, 100);
    assert_int_equal(count_listed(scene), 0);
    for (uint32_t i = 1; i < 4; ++i) {
        assert_int_equal(take(scene, BYTES * 10, &memories[i]), VK_SUCCESS);
        assert_int_equal(arena_of(scene, memories[i])->number, 1);
    }
    rig_check(scene->rig);
    maarFreeMemories(scene->rig->allocator, 4, memories);
    close_scene(scene);
}

static void the_only_block_of_an_arena_in_use_stays(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 1);
    MaarAllocation memory = VK_NULL_HANDLE;
    get_an_arena(scene);
    give(scene, 100, 40);
    assert_int_equal(take(scene, BYTES, &memory), VK_SUCCESS);
    assert_int_equal(arena_of(scene, memory)->number, 0);
    maarFreeMemory(scene->rig->allocator, memory);
    close_scene(scene);
}

static void an_arena_that_is_not_used_gives_its_only_block(void** state)
{
    (void)state;
    struct scene* scene = open_scene(1, 1);
    MaarAllocation memories[10] = {VK_NULL_HANDLE};
    get_an_arena(scene);
    give(scene, 100, 40);
    for (uint32_t i = 0; i < 10; ++i) {
        give(scene, 140 + i, 1);
        assert_int_equal(take(scene, BYTES, &memories[i]), VK_SUCCESS);
    }
    assert_int_equal(arena_of(scene, memories[9])->number, 1);
    rig_check(scene->rig);
    maarFreeMemories(scene->rig->allocator, 10, memories);
    close_scene(scene);
}

/* A walk would see a block twice, or not at all. */
static void no_block_moves_during_a_walk(void** state)
{
    (void)state;
    struct scene* scene = open_scene(4, 4);
    MaarAllocation memory = VK_NULL_HANDLE;
    get_an_arena(scene);
    give(scene, 2 * IN_BLOCK, 40);
    maar_pool_begin_walk(scene->own);
    assert_int_equal(take(scene, BYTES, &memory), VK_SUCCESS);
    assert_int_equal(arena_of(scene, memory)->number, 0);
    maar_pool_end_walk(scene->own);
    maarFreeMemory(scene->rig->allocator, memory);
    close_scene(scene);
}

static void no_pinned_block_moves(void** state)
{
    (void)state;
    struct scene* scene = open_scene(4, 4);
    MaarAllocation memory = VK_NULL_HANDLE;
    get_an_arena(scene);
    give(scene, 2 * IN_BLOCK, 40);
    struct maar_arena* first = scene->own->first_arena;
    struct maar_block* block = first->blocks[2];
    maar_mutex_lock(&first->lock);
    maar_arena_pin(first, block);
    maar_mutex_unlock(&first->lock);
    assert_int_equal(take(scene, BYTES, &memory), VK_SUCCESS);
    assert_int_equal(arena_of(scene, memory)->number, 0);
    maar_mutex_lock(&first->lock);
    maar_arena_unpin(first, block);
    maar_mutex_unlock(&first->lock);
    maarFreeMemory(scene->rig->allocator, memory);
    close_scene(scene);
}

static void no_arena_adopts_a_block_that_has_left(void** state)
{
    (void)state;
    struct scene* scene = open_scene(4, 0);
    get_an_arena(scene);
    const struct maar_arena* second = maar_arena_set_at(&scene->own->arenas, 1);
    give(scene, 0, IN_BLOCK);
    give(scene, 2 * IN_BLOCK, IN_BLOCK);
    give(scene, IN_BLOCK, IN_BLOCK - 1);
    assert_ptr_equal(
        maar_atomic_pointer_load(&second->far_block),
        maar_slot_block(
            scene->rig->allocator,
            maar_slot_at(&scene->rig->allocator->slots,
                         (uint32_t)MAAR_TO_BITS(scene->memories[2 * IN_BLOCK - 1]) - 1u)));
    give(scene, 2 * IN_BLOCK - 1, 1);
    assert_null(maar_atomic_pointer_load(&second->far_block));
    close_scene(scene);
}

/* Moves a block as it is, with what is listed there. */
static void move_block(struct maar_arena* from, struct maar_arena* to, struct maar_block* block)
{
    maar_mutex_lock(&to->lock);
    assert_int_equal(maar_arena_reserve_list(to, 1), VK_SUCCESS);
    maar_mutex_unlock(&to->lock);
    maar_arena_lock_both(from, to);
    maar_arena_move_block(from, to, block);
    maar_arena_unlock_both(from, to);
}

/* A block may be noted at the arena that it leaves at that moment. A walk finds the list also if it
 * has been at the other arena already. */
static void a_list_at_an_arena_of_the_past_is_found(void** state)
{
    (void)state;
    struct scene* scene = open_scene(4, 4);
    get_an_arena(scene);
    struct maar_arena* first = scene->own->first_arena;
    struct maar_arena* second = maar_arena_set_at(&scene->own->arenas, 1);
    struct maar_block* block = first->blocks[1];
    give(scene, IN_BLOCK, 20);
    assert_int_equal(count_listed(scene), 20);
    move_block(first, second, block);
    assert_int_equal(count_listed(scene), 20);
    maar_pool_begin_walk(scene->own);
    maar_pool_end_walk(scene->own);
    assert_int_equal(count_listed(scene), 0);
    rig_check(scene->rig);

    move_block(second, first, block);
    give(scene, IN_BLOCK + 20, 20);
    assert_int_equal(count_listed(scene), 20);
    move_block(first, second, block);
    maar_mutex_lock(&first->lock);
    maar_arena_take_in(first);
    maar_mutex_unlock(&first->lock);
    assert_int_equal(count_listed(scene), 20);
    move_block(second, first, block);
    maar_pool_begin_walk(scene->own);
    maar_pool_end_walk(scene->own);
    assert_int_equal(count_listed(scene), 0);
    rig_check(scene->rig);
    close_scene(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(statistics_count_listed_frees),
        rig_unit_test(walks_see_no_listed_free),
        rig_unit_test(dumps_count_listed_frees),
        rig_unit_test(a_listed_handle_is_invalid_at_once),
        rig_unit_test(listed_bytes_are_found_before_a_block_is_made),
        rig_unit_test(listed_bytes_are_found_at_the_maximum),
        rig_unit_test(listed_bytes_are_found_by_their_arena),
        rig_unit_test(a_full_list_is_taken_in),
        rig_unit_test(no_block_waits_for_its_list),
        rig_unit_test(listed_frees_are_no_leaks),
        rig_unit_test(captures_know_of_no_listed_free),
        rig_unit_test(a_thread_adopts_the_block_where_it_frees),
        rig_unit_test(the_only_block_of_an_arena_in_use_stays),
        rig_unit_test(an_arena_that_is_not_used_gives_its_only_block),
        rig_unit_test(no_block_moves_during_a_walk),
        rig_unit_test(no_pinned_block_moves),
        rig_unit_test(no_arena_adopts_a_block_that_has_left),
        rig_unit_test(a_list_at_an_arena_of_the_past_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
