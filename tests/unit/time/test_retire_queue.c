/*
 * The retire queue by itself, on a device that this file plays: which items end, and in which
 * order their two parts go.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>

#include "core/port_time.h"
#include "core/time/retire_collect.h"

enum { TIMELINES = 40, ITEMS = 400 };

/* Semaphores are numbers above 0, whose values stand here. */
static uint64_t values[TIMELINES + 1];
static uint32_t reads;
static uint32_t waits;
static struct maar_device device;
static struct maar_retire retire;

/* What happened, in order: a range that was returned, or an object that was ended. */
static struct {
    bool range;
    uint32_t number;
} happened[2 * ITEMS];
static uint32_t happened_count;
static uint32_t rest_count;
static void (*on_object)(uint32_t number);
static void (*on_range)(uint32_t number);

static VkSemaphore semaphore_of(uint64_t number)
{
    return (VkSemaphore)(uintptr_t)number;
}

static MaarPoint at(uint64_t semaphore, uint64_t value)
{
    return (MaarPoint){semaphore_of(semaphore), value};
}

static VKAPI_ATTR VkResult VKAPI_CALL read_value(VkDevice handle, VkSemaphore semaphore,
                                                 uint64_t* value)
{
    (void)handle;
    ++reads;
    *value = values[(uintptr_t)semaphore];
    return VK_SUCCESS;
}

/* Whatever is waited for comes to pass. */
static VKAPI_ATTR VkResult VKAPI_CALL wait_for_values(VkDevice handle,
                                                      const VkSemaphoreWaitInfo* info,
                                                      uint64_t timeout)
{
    (void)handle;
    (void)timeout;
    ++waits;
    for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
        values[(uintptr_t)info->pSemaphores[i]] = info->pValues[i];
    }
    return VK_SUCCESS;
}

static void note(bool range, uint32_t number)
{
    happened[happened_count].range = range;
    happened[happened_count++].number = number;
}

static void end_object(MaarAllocator allocator, const struct maar_retire_item* item)
{
    (void)allocator;
    note(false, (uint32_t)item->object);
    if (on_object != NULL) {
        on_object((uint32_t)item->object);
    }
}

static void end_range(MaarAllocator allocator, struct maar_retire_item* item,
                      enum maar_retire_step step)
{
    (void)allocator;
    if (step == MAAR_RETIRE_DO_REST) {
        ++rest_count;
        return;
    }
    note(true, item->range);
    item->rest_flags = item->range % 2 != 0;
    if (on_range != NULL) {
        on_range(item->range);
    }
}

static void open_queue(void)
{
    memset(values, 0, sizeof values);
    memset(&device, 0, sizeof device);
    device.facts.timeline_semaphore = true;
    device.vkGetSemaphoreCounterValue = read_value;
    device.vkWaitSemaphores = wait_for_values;
    reads = waits = happened_count = rest_count = 0;
    on_object = on_range = NULL;
    assert_true(maar_retire_init(&retire, VK_NULL_HANDLE, &device, end_range, true));
}

static void close_queue(void)
{
    assert_null(maar_retire_check(&retire));
    assert_true(maar_retire_is_empty(&retire));
    maar_retire_destroy(&retire);
}

static struct maar_retire_item* prepare(uint32_t point_count, const MaarPoint* points)
{
    struct maar_retire_item* item = maar_retire_prepare(&retire, point_count, points);
    assert_non_null(item);
    return item;
}

/* An item with an object, and with a range of a pool unless that is NULL. */
static struct maar_retire_item* prepare_full(uint32_t number, struct maar_retire_pool* pool,
                                             MaarPoint point)
{
    struct maar_retire_item* item = prepare(1, &point);
    item->action = end_object;
    item->object = number;
    if (pool != NULL) {
        item->pool = pool;
        item->range = number;
    }
    return item;
}

static void queue_full(uint32_t number, struct maar_retire_pool* pool, MaarPoint point)
{
    maar_retire_queue(&retire, prepare_full(number, pool, point));
}

static uint32_t collect(void)
{
    uint32_t done = UINT32_MAX;
    assert_int_equal(maar_retire_collect(&retire, &done), VK_SUCCESS);
    assert_null(maar_retire_check(&retire));
    return done;
}

static uint32_t count_of(bool range, uint32_t number)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < happened_count; ++i) {
        count += happened[i].range == range && happened[i].number == number ? 1 : 0;
    }
    return count;
}

/* ---- which items end ---- */

static uint64_t random_below(uint64_t* seed, uint64_t most)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*seed >> 33) % most;
}

static bool has_passed(const MaarPoint* points, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t value = points[i].semaphore == VK_NULL_HANDLE
                                   ? maar_atomic64_load(&retire.host_value)
                                   : values[(uintptr_t)points[i].semaphore];
        if (value < points[i].value) {
            return false;
        }
    }
    return true;
}

/* Any points in any order, against the rule itself; more timelines than have numbers. */
static void exactly_what_has_passed_ends(void** state)
{
    (void)state;
    for (uint64_t round = 1; round <= 60; ++round) {
        static MaarPoint points[ITEMS][3];
        static uint32_t counts[ITEMS];
        static struct maar_retire_pool pools[2];
        const uint64_t timelines = round % 3 == 0 ? TIMELINES : round % 3 * 2;
        uint64_t seed = round;
        uint32_t queued = 0;
        open_queue();
        memset(pools, 0, sizeof pools);
        while (queued < ITEMS) {
            for (uint64_t i = random_below(&seed, 40); i > 0 && queued < ITEMS; --i) {
                counts[queued] = 1 + (uint32_t)random_below(&seed, 3);
                for (uint32_t k = 0; k < counts[queued]; ++k) {
                    points[queued][k] =
                        at(random_below(&seed, timelines + 1), random_below(&seed, 30));
                }
                struct maar_retire_item* item = prepare(counts[queued], points[queued]);
                item->action = end_object;
                item->object = queued;
                item->pool = queued % 3 == 2 ? NULL : &pools[queued % 3];
                maar_retire_queue(&retire, item);
                ++queued;
            }
            const uint64_t moved = random_below(&seed, timelines + 1);
            if (moved == 0) {
                (void)maar_atomic64_add(&retire.host_value, random_below(&seed, 8));
            } else {
                values[moved] += random_below(&seed, 8);
            }
            (void)collect();
            for (uint32_t i = 0; i < queued; ++i) {
                assert_int_equal(count_of(false, i), has_passed(points[i], counts[i]));
            }
        }
        const uint32_t before = happened_count;
        assert_int_equal(maar_retire_flush(&retire, &pools[0]) +
                             maar_retire_flush(&retire, &pools[1]) +
                             maar_retire_flush(&retire, NULL),
                         ITEMS - before);
        close_queue();
    }
}

static void timelines_end_in_the_order_of_their_first_wait(void** state)
{
    (void)state;
    open_queue();
    queue_full(0, NULL, at(7, 1));
    queue_full(1, NULL, at(3, 1));
    queue_full(2, NULL, at(5, 1));
    queue_full(3, NULL, at(7, 2));
    queue_full(4, NULL, at(3, 1));
    values[7] = values[3] = values[5] = 9;
    assert_int_equal(collect(), 5);
    static const uint32_t order[5] = {0, 3, 1, 4, 2};
    for (uint32_t i = 0; i < 5; ++i) {
        assert_int_equal(happened[i].number, order[i]);
    }
    assert_int_equal(reads, 3);
    close_queue();
}

/* One driver call a timeline, however many items wait, and none for items that have to wait. */
static void a_collection_reads_each_timeline_once(void** state)
{
    (void)state;
    open_queue();
    for (uint32_t i = 0; i < ITEMS; ++i) {
        queue_full(i, NULL, at(1 + i % TIMELINES, 1 + i));
    }
    assert_int_equal(collect(), 0);
    assert_int_equal(reads, TIMELINES);
    assert_int_equal(maar_retire_flush(&retire, NULL), ITEMS);
    close_queue();
}

/* ---- the two parts of an item ---- */

static void bytes_go_before_objects(void** state)
{
    (void)state;
    struct maar_retire_pool pool = {.heap = 0};
    open_queue();
    queue_full(0, &pool, at(0, 0));
    struct maar_retire_item* bound = prepare_full(1, &pool, at(0, 0));
    bound->object_first = true;
    maar_retire_queue(&retire, bound);
    queue_full(2, &pool, at(0, 0));
    assert_int_equal(collect(), 3);
    static const struct {
        bool range;
        uint32_t number;
    } order[6] = {{true, 0}, {true, 2}, {false, 0}, {false, 1}, {true, 1}, {false, 2}};
    assert_int_equal(happened_count, 6);
    for (uint32_t i = 0; i < 6; ++i) {
        assert_int_equal(happened[i].range, order[i].range);
        assert_int_equal(happened[i].number, order[i].number);
    }
    assert_int_equal(rest_count, 1); /* the one that left something to do */
    close_queue();
}

/* More items than a batch has, at one point and at many. */
static void one_collection_ends_all_that_has_passed(void** state)
{
    (void)state;
    struct maar_retire_pool pool = {.heap = 0};
    open_queue();
    for (uint32_t i = 0; i < ITEMS; ++i) {
        queue_full(i, &pool, at(1, i < ITEMS / 2 ? 1 : i));
    }
    values[1] = ITEMS;
    reads = 0;
    assert_int_equal(collect(), ITEMS);
    assert_int_equal(reads, 1);
    assert_int_equal(happened_count, 2 * ITEMS);
    close_queue();
}

static uint32_t nested;

/* While one collector is in foreign code, another one finds the rest of the queue. */
static void collect_within(uint32_t number)
{
    (void)number;
    on_object = NULL;
    assert_int_equal(happened_count, 64 + 1); /* the bytes of the batch, and one object */
    nested = collect();
}

static void a_batch_is_small(void** state)
{
    (void)state;
    struct maar_retire_pool pool = {.heap = 0};
    open_queue();
    for (uint32_t i = 0; i < 100; ++i) {
        queue_full(i, &pool, at(1, 1));
    }
    values[1] = 1;
    on_object = collect_within;
    assert_int_equal(collect(), 64);
    assert_int_equal(nested, 36);
    close_queue();
}

/* ---- pools ---- */

static void a_pool_ends_its_own_items(void** state)
{
    (void)state;
    struct maar_retire_pool pools[2] = {{.heap = 0}};
    open_queue();
    for (uint32_t i = 0; i < 200; ++i) {
        queue_full(i, &pools[i % 2], at(i % 4, 5));
    }
    assert_int_equal(maar_retire_wait(&retire, &pools[1], UINT64_MAX), VK_SUCCESS);
    for (uint32_t i = 0; i < 200; ++i) {
        assert_int_equal(count_of(true, i), i % 2 != 0);
    }
    assert_int_equal(values[2], 0); /* only the other pool waits for it, */
    assert_int_equal(maar_retire_wait(&retire, &pools[0], UINT64_MAX), VK_NOT_READY);
    assert_int_equal(values[2], 5);
    assert_int_equal(maar_retire_flush(&retire, &pools[0]), 50); /* and 50 wait for the host */
    close_queue();
}

/* ---- beside other threads ---- */

static _Atomic bool returning;
static _Atomic bool reclaimed;

static void linger(uint32_t number)
{
    (void)number;
    const uint64_t deadline = maar_deadline_ns(50000000);
    atomic_store(&returning, true);
    while (maar_time_left_ns(deadline) > 0) {
        assert_false(atomic_load(&reclaimed));
    }
}

static void* collect_elsewhere(void* data)
{
    (void)data;
    (void)maar_retire_collect(&retire, NULL);
    return NULL;
}

/* A request that found no room looks again at each step of a batch that may have made room. */
static void each_step_that_gives_back_is_counted(void** state)
{
    (void)state;
    struct maar_retire_pool pool = {.heap = 0};
    open_queue();
    struct maar_retire_item* plain = prepare_full(2, &pool, at(0, 0)); /* without a second step */
    plain->action = NULL;
    uint64_t seen = maar_retire_returned(&retire, 1);
    maar_retire_queue(&retire, plain);
    assert_int_equal(collect(), 1);
    assert_int_equal(maar_retire_returned(&retire, 1), seen + 1);
    seen = maar_retire_returned(&retire, 1);
    maar_retire_queue(&retire, prepare_full(4, &pool, at(0, 0)));
    assert_int_equal(collect(), 1);
    assert_int_equal(maar_retire_returned(&retire, 1), seen + 2);
    assert_int_equal(maar_retire_returned(&retire, ~1u), 0); /* not those of other heaps */
    close_queue();
}

/* The bytes that another collector is returning just now are not missed. */
static void a_request_waits_for_bytes_on_their_way(void** state)
{
    (void)state;
    struct maar_retire_pool pool = {.heap = 0};
    pthread_t thread;
    open_queue();
    atomic_store(&returning, false);
    atomic_store(&reclaimed, false);
    const uint64_t seen = maar_retire_returned(&retire, 1);
    assert_false(maar_retire_reclaim(&retire, 1, seen));
    struct maar_retire_item* item = prepare_full(1, &pool, at(0, 0));
    item->action = NULL; /* nothing is noted while this thread looks */
    maar_retire_queue(&retire, item);
    on_range = linger;
    assert_int_equal(pthread_create(&thread, NULL, collect_elsewhere, NULL), 0);
    while (!atomic_load(&returning)) {
    }
    assert_true(maar_retire_reclaim(&retire, 1, seen));
    atomic_store(&reclaimed, true);
    assert_int_equal(count_of(true, 1), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(maar_retire_reclaim(&retire, 1, seen)); /* nor those that came back meanwhile */
    close_queue();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_what_has_passed_ends),
        cmocka_unit_test(timelines_end_in_the_order_of_their_first_wait),
        cmocka_unit_test(a_collection_reads_each_timeline_once),
        cmocka_unit_test(bytes_go_before_objects),
        cmocka_unit_test(one_collection_ends_all_that_has_passed),
        cmocka_unit_test(a_batch_is_small),
        cmocka_unit_test(a_pool_ends_its_own_items),
        cmocka_unit_test(each_step_that_gives_back_is_counted),
        cmocka_unit_test(a_request_waits_for_bytes_on_their_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
