/*
 * Threads that allocate in pending memory, and free it again, at once or after points of the host
 * timeline, while others advance the timeline and collect, and while one makes rooms of free and
 * pending bytes (maarTakeDefragmentationRoom). Each granule of the pool's blocks has an
 * owner and the point that it waits for: nobody gets a granule that has an owner, or whose point
 * neither has passed nor is covered.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 4000, HELD = 12, GRANULES = 256, BLOCKS = 4 };

static const VkDeviceSize GRANULE = 4096;

struct crew {
    struct rig* rig;
    MaarPool pool;
    _Atomic(VkDeviceMemory) blocks[BLOCKS];
    _Atomic uint32_t owners[BLOCKS][GRANULES];
    _Atomic uint64_t points[BLOCKS][GRANULES];
    pthread_mutex_t ticking;
    _Atomic uint64_t clock; /* of the host timeline */
    _Atomic uint32_t errors;
};

struct worker {
    struct crew* crew;
    pthread_t thread;
    uint32_t number;
    struct rig_random random;
    MaarAllocation held[HELD];
    uint32_t room_count;
};

static void expect(struct crew* crew, bool condition, const char* what)
{
    if (!condition) {
        print_error("not so: %s\n", what);
        (void)atomic_fetch_add(&crew->errors, 1);
    }
}
#define EXPECT(condition) expect(crew, (condition), #condition)

static uint32_t block_number(struct crew* crew, VkDeviceMemory memory)
{
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        VkDeviceMemory none = VK_NULL_HANDLE;
        (void)atomic_compare_exchange_strong(&crew->blocks[i], &none, memory);
        if (atomic_load(&crew->blocks[i]) == memory) {
            return i;
        }
    }
    EXPECT(false);
    return 0;
}

/* Sets the owner of an allocation's granules. point: what the new owner covers, or waits for. */
static void set_owner(struct worker* worker, MaarAllocation allocation, bool begins, uint64_t point)
{
    struct crew* const crew = worker->crew;
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    EXPECT(maarGetAllocationInfo(crew->rig->allocator, allocation, &info) == VK_SUCCESS);
    const uint32_t block = block_number(crew, info.memory);
    const uint32_t first = (uint32_t)(info.offset / GRANULE);
    const uint32_t end = (uint32_t)((info.offset + info.size + GRANULE - 1) / GRANULE);
    for (uint32_t i = first; i < end; ++i) {
        if (begins) {
            const uint64_t wanted = atomic_load(&crew->points[block][i]);
            EXPECT(wanted <= point || wanted <= atomic_load(&crew->clock));
        } else if (atomic_load(&crew->points[block][i]) < point) {
            atomic_store(&crew->points[block][i], point);
        }
        const uint32_t old =
            atomic_exchange(&crew->owners[block][i], begins ? worker->number + 1 : 0);
        EXPECT(old == (begins ? 0 : worker->number + 1));
    }
}

static void allocate_one(struct worker* worker, uint32_t at)
{
    struct crew* const crew = worker->crew;
    const uint64_t value = atomic_load(&crew->clock) + rig_below(&worker->random, 4);
    const MaarPoint point = {.value = value};
    const MaarOrderedUseInfo use = {
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO, .pointCount = 1, .pPoints = &point};
    const bool is_ordered = rig_below(&worker->random, 5) != 0;
    const MaarMemoryRequest request = rig_request(GRANULE * (1 + rig_below(&worker->random, 8)),
                                                  GRANULE, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = crew->pool;
    how.pNext = is_ordered ? &use : NULL;
    if (maarAllocateMemory(crew->rig->allocator, &request, &how, &worker->held[at]) == VK_SUCCESS) {
        set_owner(worker, worker->held[at], true, is_ordered ? value : 0);
    }
}

static void free_one(struct worker* worker, uint32_t at)
{
    struct crew* const crew = worker->crew;
    const MaarPoint point = {.value = atomic_load(&crew->clock) + rig_below(&worker->random, 4)};
    const bool at_once = rig_below(&worker->random, 3) == 0;
    set_owner(worker, worker->held[at], false, at_once ? 0 : point.value);
    if (at_once) {
        maarFreeMemory(crew->rig->allocator, worker->held[at]);
    } else {
        EXPECT(maarFreeMemoryAfter(crew->rig->allocator, worker->held[at], 1, &point) ==
               VK_SUCCESS);
    }
    worker->held[at] = VK_NULL_HANDLE;
}

static void tick(struct crew* crew)
{
    EXPECT(pthread_mutex_lock(&crew->ticking) == 0);
    EXPECT(maarAdvanceHostTimeline(crew->rig->allocator, atomic_fetch_add(&crew->clock, 1) + 1) ==
           VK_SUCCESS);
    EXPECT(pthread_mutex_unlock(&crew->ticking) == 0);
    EXPECT(maarCollect(crew->rig->allocator, NULL) == VK_SUCCESS);
}

static VkBool32 VKAPI_PTR lets_nothing_move(void* data, MaarAllocation allocation, void* user_data)
{
    (void)data;
    (void)allocation;
    (void)user_data;
    return VK_FALSE;
}

/* Makes a room without moves, and takes it if its points pass soon. Returns whether it did. */
static bool make_room(struct worker* worker)
{
    struct crew* const crew = worker->crew;
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = crew->pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_ROOM,
        .roomSize = GRANULE * (2 + rig_below(&worker->random, 8)),
        .roomAlignment = GRANULE,
        .roomKind = MAAR_RESOURCE_KIND_LINEAR,
        .pfnMayMove = lets_nothing_move,
    };
    MaarDefragmentation run = VK_NULL_HANDLE;
    EXPECT(maarBeginDefragmentation(crew->rig->allocator, &info, &run) == VK_SUCCESS);
    MaarAllocation room = VK_NULL_HANDLE;
    VkResult result = VK_NOT_READY;
    for (uint32_t i = 0; i < 8 && result == VK_NOT_READY; ++i) {
        MaarMoveBatch batch = VK_NULL_HANDLE;
        EXPECT(maarStepDefragmentation(crew->rig->allocator, run, NULL, &batch) == VK_SUCCESS);
        EXPECT(batch == VK_NULL_HANDLE);
        result = maarTakeDefragmentationRoom(crew->rig->allocator, run, NULL, &room);
        tick(crew);
    }
    if (result == VK_SUCCESS) {
        set_owner(worker, room, true, 0);
    }
    maarEndDefragmentation(crew->rig->allocator, run);
    if (result == VK_SUCCESS) {
        set_owner(worker, room, false, 0);
        maarFreeMemory(crew->rig->allocator, room);
    }
    return result == VK_SUCCESS;
}

static void* make_rooms(void* data)
{
    struct worker* const worker = data;
    for (uint32_t round = 0; round < ROUNDS / 40; ++round) {
        worker->room_count += make_room(worker) ? 1 : 0;
    }
    return NULL;
}

static void* work(void* data)
{
    struct worker* const worker = data;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        const uint32_t at = rig_below(&worker->random, HELD);
        if (worker->held[at] == VK_NULL_HANDLE) {
            allocate_one(worker, at);
        } else {
            free_one(worker, at);
        }
        if (rig_below(&worker->random, 12) == 0) {
            tick(worker->crew);
        }
    }
    for (uint32_t i = 0; i < HELD; ++i) {
        if (worker->held[i] != VK_NULL_HANDLE) {
            free_one(worker, i);
        }
    }
    return NULL;
}

static void threads_share_pending_memory(void** state)
{
    (void)state;
    static struct crew crew;
    static struct worker workers[THREADS + 1]; /* the last one makes rooms */
    const uint64_t seed = rig_seed(4711);
    memset(&crew, 0, sizeof crew);
    memset(workers, 0, sizeof workers);
    crew.rig = rig_begin(NULL);
    assert_int_equal(pthread_mutex_init(&crew.ticking, NULL), 0);
    const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
                                     .blockSize = GRANULE * GRANULES,
                                     .minBlockCount = 1,
                                     .maxBlockCount = BLOCKS,
                                     .retainedEmptySize = GRANULE * GRANULES * BLOCKS};
    crew.pool = rig_create_pool(crew.rig, &info);
    for (uint32_t i = 0; i <= THREADS; ++i) {
        workers[i].crew = &crew;
        workers[i].number = i;
        workers[i].random.state = seed + i;
        assert_int_equal(
            pthread_create(&workers[i].thread, NULL, i < THREADS ? work : make_rooms, &workers[i]),
            0);
    }
    for (uint32_t i = 0; i <= THREADS; ++i) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
    assert_int_equal(maarAdvanceHostTimeline(crew.rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(maarCollect(crew.rig->allocator, NULL), VK_SUCCESS);
    rig_check(crew.rig);
    MaarOrderedStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_ORDERED_STATISTICS};
    assert_int_equal(maarGetOrderedStatistics(crew.rig->allocator, &statistics), VK_SUCCESS);
    assert_true(statistics.coveredCount > ROUNDS / 4);
    assert_true(statistics.joinedCount > 0 && workers[THREADS].room_count > 0);
    assert_int_equal(statistics.inheritingCount, 0);
    assert_int_equal(statistics.pendingCount, 0);
    assert_int_equal(rig_statistics(crew.rig, crew.pool).pendingCount, 0);
    assert_int_equal(rig_statistics(crew.rig, crew.pool).allocationCount, 0);
    rig_forget_messages(crew.rig); /* requests that found no room */
    maarDestroyPool(crew.rig->allocator, crew.pool);
    assert_int_equal(pthread_mutex_destroy(&crew.ticking), 0);
    assert_int_equal(atomic_load(&crew.errors), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(threads_share_pending_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
