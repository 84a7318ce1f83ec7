/*
 * All schedules of two threads that share what a buffer cache needs: the allocator's pages, its
 * queue and the queue's lock. Each has a cache of its own with one slot of staging memory and room
 * for two items, and uses, prefetches and evicts them while a device executes submissions in turn.
 * A file store with one buffer serves threads that read, write and cancel.
 *
 * MAAR_TEST_PREEMPTIONS sets the number of preemptions of a schedule.
 */
#include "core/residency/store.h"
#include "tests/schedule/schedule.h"
#include "tests/schedule/scheduled_file.h"
#include "tests/unit/reservation/reservation_fixture.h"
#include "tests/unit/residency/fake_ring.h"

#define PAGE (64 * KIB)

enum { CACHES = 2, ITEMS = 4, ROOM = 2, FILE_SIZE = 4096, COPY = 700 };

static struct rig* rig;
static struct {
    MaarReservation reservation;
    MaarBufferCache cache;
    VkSemaphore work;
    uint64_t value;
} caches[CACHES];
static struct schedule_lock queue_lock = {.number = 0};

/* ---- the scene ---- */

static void VKAPI_PTR lock_queue(void* data, VkQueue queue)
{
    (void)data;
    (void)queue;
    schedule_lock_take(&queue_lock);
}

static void VKAPI_PTR unlock_queue(void* data, VkQueue queue)
{
    (void)data;
    (void)queue;
    schedule_lock_release(&queue_lock);
}

static VkResult VKAPI_CALL fill_item(void* user, uint32_t item, void* item_user,
                                     VkDeviceSize offset, VkDeviceSize size, void* data)
{
    (void)user;
    (void)item_user;
    (void)offset;
    schedule_point("fill");
    memset(data, (int)item + 1, (size_t)size);
    return VK_SUCCESS;
}

static void make_cache(uint32_t at)
{
    VkBufferCreateInfo buffer = rig_buffer_info(ITEMS * PAGE);
    const MaarReservationCreateInfo pages = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
    };
    buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    assert_int_equal(maarCreateReservation(rig->allocator, &pages, &caches[at].reservation),
                     VK_SUCCESS);
    const MaarBufferCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO,
        .reservation = caches[at].reservation,
        .budget = ROOM * PAGE,
        .stagingSize = PAGE,
        .uploadSize = PAGE,
        .pfnFill = fill_item,
    };
    MaarBufferItem items[ITEMS];
    uint32_t numbers[ITEMS];
    for (uint32_t i = 0; i < ITEMS; ++i) {
        items[i] = (MaarBufferItem){.offset = i * PAGE, .size = PAGE};
    }
    assert_int_equal(maarCreateBufferCache(rig->allocator, &info, &caches[at].cache), VK_SUCCESS);
    assert_int_equal(maarAddBufferItems(rig->allocator, caches[at].cache, ITEMS, items, numbers),
                     VK_SUCCESS);
    caches[at].work = rig_create_timeline(rig, 0);
    caches[at].value = 0;
}

static void open_caches(void)
{
    const struct rig_setup setup = {
        .profile = rig_profile_sparse(),
        .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                 MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT |
                 MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT,
        .paging = true,
    };
    rig = rig_new();
    rig_open(rig, &setup);
    for (uint32_t i = 0; i < rig->create_info.queueCount; ++i) {
        rig->paging_queues[i].pfnLock = lock_queue;
        rig->paging_queues[i].pfnUnlock = unlock_queue;
    }
    rig_make_allocator(rig);
    queue_lock.is_held = false;
    for (uint32_t i = 0; i < CACHES; ++i) {
        make_cache(i);
    }
    rig->call = schedule_call;
}

static void close_caches(void)
{
    MaarBufferCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO};
    rig_check(rig);
    for (uint32_t i = 0; i < CACHES; ++i) {
        assert_int_equal(maarGetBufferCacheInfo(rig->allocator, caches[i].cache, &info),
                         VK_SUCCESS);
        assert_true(info.committedSize <= ROOM * PAGE);
        assert_int_equal(info.useCount, 0);
        maarDestroyBufferCache(rig->allocator, caches[i].cache);
        maarDestroyReservation(rig->allocator, caches[i].reservation);
        vkDestroySemaphore(rig->device, caches[i].work, NULL);
    }
    rig_forget_messages(rig); /* pages that were never submitted */
    (void)rig_end_case(NULL);
}

static void explore(const struct schedule_program* program)
{
    const struct schedule_result result = schedule_explore(program);
    assert_int_equal(result.end, SCHEDULE_DONE);
    assert_true(result.schedule_count > 100);
}

/* ---- what tasks do ---- */

/* Uses two items; the work that uses them has ended at once. */
static void use_items(uint32_t at, uint32_t first, VkFlags flags)
{
    const uint32_t items[] = {first, first + 1};
    const MaarBufferUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO,
                                          .flags = flags,
                                          .itemCount = 2,
                                          .pItems = items};
    MaarBufferUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO};
    uint64_t use = 0;
    const VkResult result =
        maarBeginBufferUse(rig->allocator, caches[at].cache, &begin, &info, &use);
    if (result == VK_NOT_READY || (flags == 0 && result == VK_ERROR_OUT_OF_POOL_MEMORY)) {
        return; /* the one slot is in use, or is too small for both */
    }
    assert_int_equal(result, VK_SUCCESS);
    const MaarPoint end = {caches[at].work, ++caches[at].value};
    rig_signal(rig, end.semaphore, end.value);
    assert_int_equal(maarEndBufferUse(rig->allocator, caches[at].cache, use, 1, &end), VK_SUCCESS);
}

static void prefetch_item(uint32_t at, uint32_t item)
{
    const MaarBufferPrefetch prefetch = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_PREFETCH,
                                         .itemCount = 1,
                                         .pItems = &item,
                                         .distance = 1};
    MaarBufferUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO};
    const VkResult result =
        maarPrefetchBufferItems(rig->allocator, caches[at].cache, &prefetch, &info);
    assert_true(result == VK_SUCCESS || result == VK_NOT_READY);
}

static void use_first_cache(void)
{
    use_items(0, 0, MAAR_BUFFER_USE_WAIT_BIT);
    use_items(0, 2, MAAR_BUFFER_USE_WAIT_BIT);
}

static void use_second_cache(void)
{
    use_items(1, 0, MAAR_BUFFER_USE_WAIT_BIT);
    use_items(1, 1, MAAR_BUFFER_USE_WAIT_BIT);
}

static void prefetch_second_cache(void)
{
    prefetch_item(1, 3);
    use_items(1, 0, 0);
    prefetch_item(1, 2);
    use_items(1, 2, MAAR_BUFFER_USE_WAIT_BIT);
}

static void execute(void)
{
    for (uint32_t i = 0; i < 2; ++i) {
        schedule_point("device");
        (void)maarSimulatedExecuteSubmissions(rig->physical, 1);
    }
}

/* ---- cases ---- */

static void two_caches_share_one_queue(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "two caches, device",
                                             .task_count = 3,
                                             .preemptions = 1,
                                             .begin = open_caches,
                                             .tasks = {use_first_cache, use_second_cache, execute},
                                             .end = close_caches};
    explore(&program);
}

static void prefetches_share_one_queue(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "use, prefetch and use",
                                             .task_count = 2,
                                             .preemptions = 1,
                                             .begin = open_caches,
                                             .tasks = {use_first_cache, prefetch_second_cache},
                                             .end = close_caches};
    explore(&program);
}

/* ---- a file store with one buffer ---- */

static uint8_t file_bytes[FILE_SIZE];
static struct maar_store* store;
static struct maar_extent kept;
static uint8_t kept_bytes[COPY];

static void open_store(void)
{
    static const MaarFileStore file = SCHEDULED_FILE(file_bytes, FILE_SIZE);
    const struct maar_store_info info = {.file = &file,
                                         .synchronized = true,
                                         .request_count = 4,
                                         .buffer_count = 1,
                                         .buffer_size = 512};
    assert_int_equal(maar_store_create(&info, &store), VK_SUCCESS);
    memset(kept_bytes, 9, sizeof kept_bytes);
    assert_int_equal(maar_store_write(store, 1, kept_bytes, COPY, &kept), MAAR_STORE_DONE);
}

static void close_store(void)
{
    uint8_t found[COPY];
    assert_int_equal(maar_store_read(store, &kept, found), MAAR_STORE_DONE);
    assert_memory_equal(found, kept_bytes, COPY);
    assert_null(maar_store_check(store));
    assert_int_equal(maar_store_get_totals(store).extent_count, 1);
    maar_store_destroy(store);
}

/* Writes a copy, reads it and frees it. */
static void write_and_read(void)
{
    struct maar_extent extent;
    uint8_t bytes[COPY];
    uint8_t found[COPY];
    memset(bytes, 3, sizeof bytes);
    assert_int_equal(maar_store_write(store, 2, bytes, COPY, &extent), MAAR_STORE_DONE);
    assert_int_equal(maar_store_read(store, &extent, found), MAAR_STORE_DONE);
    assert_memory_equal(found, bytes, COPY);
    maar_store_free(store, &extent);
}

/* Begins a write and takes it back, unless another thread has begun to carry it out. */
static void write_and_cancel(void)
{
    struct maar_store_request* request = NULL;
    struct maar_extent extent;
    uint8_t bytes[COPY];
    memset(bytes, 4, sizeof bytes);
    assert_int_equal(maar_store_begin_write(store, 3, bytes, COPY, &request), MAAR_STORE_PENDING);
    if (!maar_store_cancel(store, request)) {
        assert_int_equal(maar_store_wait(store, request, &extent), MAAR_STORE_DONE);
        maar_store_free(store, &extent);
    }
}

static void run_requests(void)
{
    (void)maar_store_run(store);
    (void)maar_store_run(store);
}

static void threads_share_one_buffer_of_a_store(void** state)
{
    (void)state;
    const struct schedule_program program = {
        .name = "store: write and read, write and cancel, run",
        .task_count = 3,
        .preemptions = 2,
        .begin = open_store,
        .tasks = {write_and_read, write_and_cancel, run_requests},
        .end = close_store};
    explore(&program);
}

/* ---- a file store with a ring ---- */

static struct fake_ring ring;

static void wait_in_the_kernel(void* data)
{
    (void)data;
    schedule_point("wait");
}

static void open_ringed(void)
{
    static const MaarFileStore file = SCHEDULED_FILE(file_bytes, FILE_SIZE);
    ring = (struct fake_ring){.file = file, .random = 3, .before = wait_in_the_kernel};
    const struct maar_store_info info = {.file = &file,
                                         .synchronized = true,
                                         .request_count = 4,
                                         .buffer_count = 1,
                                         .buffer_size = 512,
                                         .ring_calls = &fake_ring_calls,
                                         .ring_user = &ring};
    assert_int_equal(maar_store_create(&info, &store), VK_SUCCESS);
    memset(kept_bytes, 9, sizeof kept_bytes);
    assert_int_equal(maar_store_write(store, 1, kept_bytes, COPY, &kept), MAAR_STORE_DONE);
}

static void write_by_the_ring(void)
{
    struct maar_extent extent;
    uint8_t bytes[COPY];
    memset(bytes, 5, sizeof bytes);
    assert_int_equal(ring_write(store, 2, bytes, COPY, &extent), MAAR_STORE_DONE);
    maar_store_free(store, &extent);
}

static void read_by_the_ring(void)
{
    uint8_t found[COPY];
    assert_int_equal(ring_read(store, &kept, found), MAAR_STORE_DONE);
    assert_memory_equal(found, kept_bytes, COPY);
}

static void drive_the_ring(void)
{
    maar_store_drive(store);
    (void)maar_store_await(store, maar_store_ended(store));
}

static void threads_take_turns_in_driving(void** state)
{
    (void)state;
    const struct schedule_program program = {
        .name = "store with a ring: write, read, drive",
        .task_count = 3,
        .preemptions = 2,
        .begin = open_ringed,
        .tasks = {write_by_the_ring, read_by_the_ring, drive_the_ring},
        .end = close_store};
    explore(&program);
}

/* A request that one thread gives to the ring while another one waits for it. */
static struct maar_store_request* shared_request;

static void open_with_a_request(void)
{
    static uint8_t bytes[COPY];
    open_ringed();
    memset(bytes, 6, sizeof bytes);
    assert_int_equal(maar_store_begin_write(store, 3, bytes, COPY, &shared_request),
                     MAAR_STORE_PENDING);
}

static void start_the_request(void)
{
    (void)maar_store_start(store, shared_request); /* unless the other one carries it out */
}

static void wait_for_the_request(void)
{
    struct maar_extent extent;
    assert_int_equal(maar_store_wait(store, shared_request, &extent), MAAR_STORE_DONE);
    maar_store_free(store, &extent);
}

static void who_waits_for_a_request_that_is_started_drives(void** state)
{
    (void)state;
    const struct schedule_program program = {.name = "store with a ring: start, wait",
                                             .task_count = 2,
                                             .preemptions = 2,
                                             .begin = open_with_a_request,
                                             .tasks = {start_the_request, wait_for_the_request},
                                             .end = close_store};
    assert_int_equal(schedule_explore(&program).end, SCHEDULE_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(two_caches_share_one_queue),
        rig_unit_test(prefetches_share_one_queue),
        rig_unit_test(threads_share_one_buffer_of_a_store),
        rig_unit_test(threads_take_turns_in_driving),
        rig_unit_test(who_waits_for_a_request_that_is_started_drives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
