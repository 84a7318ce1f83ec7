/*
 * Threads and failures together. Some threads make, use and end resources of their own and of
 * others while calls of the driver and host allocations fail at random; one looks at everything and
 * trims; one changes budgets and lets failures loose. Threads leave in mid-run with their resources
 * alive: others inherit and end them. Whatever fails must leave its outputs null; at the end
 * everything balances.
 *
 * MAAR_STRESS_ROUNDS: rounds of each thread. MAAR_TEST_SEED as everywhere; the interleaving is the
 * machine's.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/fault/fault_balance.h"
#include "tests/fault/fault_codes.h"
#include "tests/fault/fault_host.h"
#include "tests/fault/fault_rubbish.h"
#include "tests/stress/storm_errors.h"

#include <pthread.h>
#include <sched.h>

enum { WORKERS = 4, GENERATIONS = 6, ITEMS = 24, STALLS = 64, SHARED = 4 };

enum item_kind { ITEM_MEMORY, ITEM_BUFFER, ITEM_IMAGE, ITEM_SLICE, ITEM_KINDS };

struct item {
    bool used;
    enum item_kind kind;
    MaarAllocation memory;
    VkBuffer buffer;
    VkImage image;
    MaarSlice slice;
    unsigned char mark; /* written to the first byte, if mapped */
    bool mapped;
};

struct storm {
    struct rig rig;
    struct fault_host host;
    MaarAllocation shared[SHARED];       /* mapped, renamed and copied to by all */
    pthread_mutex_t shared_name[SHARED]; /* a rename wants the allocation for itself */
    MaarPool pool;                       /* shared by all */
    VkSemaphore timeline;
    _Atomic uint64_t clock;
    struct storm_errors errors;
    _Atomic uint32_t working;
    _Atomic bool lost;
    bool may_lose;
    uint32_t heap_count;
    uint32_t rounds;
    pthread_mutex_t stall_lock; /* guards stalls: what waits for another thread to end it */
    struct item stalls[STALLS];
    _Atomic uint64_t made, failed, inherited, spared;
    _Atomic int64_t reported_live; /* VkDeviceMemory, as the callbacks have it */
};

struct worker {
    struct storm* storm;
    pthread_t thread;
    struct rig_random random;
    struct item items[ITEMS];
    bool inherits; /* the last generation leaves nothing to others */
};

static void expect_made(struct storm* storm, VkResult result, bool empty, uint32_t line)
{
    storm_expect(&storm->errors, (result != VK_SUCCESS) == empty, line);
    storm_expect(&storm->errors, result <= 0 && result != VK_ERROR_VALIDATION_FAILED_EXT, line);
    (void)atomic_fetch_add(result == VK_SUCCESS ? &storm->made : &storm->failed, 1);
}
#define MADE(storm, result, empty) expect_made(storm, result, empty, __LINE__)

/* ---- one resource ---- */

static void mark(struct worker* worker, struct item* item)
{
    item->mark = (unsigned char)rig_next(&worker->random);
    void* data = maarGetMappedData(worker->storm->rig.allocator, item->memory);
    EXPECT(worker->storm, data != NULL);
    if (data != NULL) {
        *(unsigned char*)data = item->mark;
    }
}

static void make_memory(struct worker* worker, struct item* item, bool buffer)
{
    struct storm* storm = worker->storm;
    MaarAllocator allocator = storm->rig.allocator;
    MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)rig_below(&worker->random, 3));
    const uint32_t size = 1 + rig_below(&worker->random, 300000);
    how.pName = rig_below(&worker->random, 3) == 0 ? "storm" : NULL;
    how.dedicated =
        rig_below(&worker->random, 12) == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
    item->mapped = how.usage == MAAR_MEMORY_USAGE_UPLOAD;
    how.flags = item->mapped ? (VkFlags)MAAR_ALLOCATION_CREATE_MAPPED_BIT : 0;
    item->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = VK_SUCCESS;
    if (buffer) {
        const VkBufferCreateInfo info = rig_buffer_info(size);
        item->buffer = (VkBuffer)(uintptr_t)1;
        result = maarCreateBuffer(allocator, &info, &how, &item->buffer, &item->memory);
        EXPECT(storm, (result == VK_SUCCESS) == (item->buffer != VK_NULL_HANDLE));
    } else {
        MaarMemoryRequest request = rig_request(size, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
        if (rig_below(&worker->random, 3) == 0 && how.dedicated == MAAR_DEDICATED_AUTO) {
            how.pool = storm->pool;
            item->mapped = false;
            how.flags = 0;
        }
        result = maarAllocateMemory(allocator, &request, &how, &item->memory);
    }
    MADE(storm, result, item->memory == VK_NULL_HANDLE);
    item->used = result == VK_SUCCESS;
    if (item->used && item->mapped) {
        mark(worker, item);
    }
}

static void make_image(struct worker* worker, struct item* item)
{
    const uint32_t width = 1u << rig_below(&worker->random, 9);
    const VkImageCreateInfo info = rig_image_info(width, width);
    item->image = (VkImage)(uintptr_t)1;
    item->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result =
        maarCreateImage(worker->storm->rig.allocator, &info, NULL, &item->image, &item->memory);
    MADE(worker->storm, result, item->memory == VK_NULL_HANDLE && item->image == VK_NULL_HANDLE);
    item->used = result == VK_SUCCESS;
}

static void make_slice(struct worker* worker, struct item* item)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 1 + rig_below(&worker->random, 5000),
        .usage = rig_below(&worker->random, 2) == 0 ? VK_BUFFER_USAGE_VERTEX_BUFFER_BIT
                                                    : VK_BUFFER_USAGE_INDEX_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    item->slice = (MaarSlice)(uintptr_t)1;
    VkResult result = maarCreateSlice(worker->storm->rig.allocator, &info, &item->slice);
    MADE(worker->storm, result, item->slice == VK_NULL_HANDLE);
    item->used = result == VK_SUCCESS;
}

static void make_item(struct worker* worker, struct item* item)
{
    memset(item, 0, sizeof *item);
    item->kind = (enum item_kind)rig_below(&worker->random, ITEM_KINDS);
    if (item->kind == ITEM_IMAGE) {
        make_image(worker, item);
    } else if (item->kind == ITEM_SLICE) {
        make_slice(worker, item);
    } else {
        make_memory(worker, item, item->kind == ITEM_BUFFER);
    }
}

static void end_now(MaarAllocator allocator, const struct item* item)
{
    switch (item->kind) {
    case ITEM_SLICE:
        maarDestroySlice(allocator, item->slice);
        break;
    case ITEM_BUFFER:
        maarDestroyBuffer(allocator, item->buffer, item->memory);
        break;
    case ITEM_IMAGE:
        maarDestroyImage(allocator, item->image, item->memory);
        break;
    default:
        maarFreeMemory(allocator, item->memory);
        break;
    }
}

static VkResult end_later(struct worker* worker, const struct item* item)
{
    struct storm* storm = worker->storm;
    MaarAllocator allocator = storm->rig.allocator;
    const MaarPoint point = {
        .semaphore = rig_below(&worker->random, 2) == 0 ? storm->timeline : VK_NULL_HANDLE,
        .value = atomic_load(&storm->clock) + rig_below(&worker->random, 3),
    };
    switch (item->kind) {
    case ITEM_SLICE:
        return maarDestroySliceAfter(allocator, item->slice, 1, &point);
    case ITEM_BUFFER:
        return maarDestroyBufferAfter(allocator, item->buffer, item->memory, 1, &point);
    case ITEM_IMAGE:
        return maarDestroyImageAfter(allocator, item->image, item->memory, 1, &point);
    default:
        return maarFreeMemoryAfter(allocator, item->memory, 1, &point);
    }
}

static void end_item(struct worker* worker, struct item* item)
{
    struct storm* storm = worker->storm;
    if (item->mapped) {
        const unsigned char* data = maarGetMappedData(storm->rig.allocator, item->memory);
        EXPECT(storm, data != NULL && *data == item->mark);
    }
    if (rig_below(&worker->random, 2) == 0 || end_later(worker, item) != VK_SUCCESS) {
        end_now(storm->rig.allocator, item); /* what could not be kept for later lives still */
    }
    item->used = false;
}

/* ---- what is shared ---- */

/* Puts an item where another thread finds it; false when there is no room. */
static bool leave_item(struct storm* storm, struct item* item)
{
    bool left = false;
    (void)pthread_mutex_lock(&storm->stall_lock);
    for (uint32_t i = 0; i < STALLS && !left; ++i) {
        if (!storm->stalls[i].used) {
            storm->stalls[i] = *item;
            item->used = false;
            left = true;
        }
    }
    (void)pthread_mutex_unlock(&storm->stall_lock);
    return left;
}

/* Takes what another thread left, if there is anything. */
static struct item find_item(struct storm* storm, uint32_t from)
{
    struct item item = {.used = false};
    (void)pthread_mutex_lock(&storm->stall_lock);
    for (uint32_t i = 0; i < STALLS && !item.used; ++i) {
        struct item* stall = &storm->stalls[(from + i) % STALLS];
        item = *stall;
        stall->used = false;
    }
    (void)pthread_mutex_unlock(&storm->stall_lock);
    return item;
}

static void inherit_item(struct worker* worker)
{
    struct storm* storm = worker->storm;
    struct item item = find_item(storm, rig_below(&worker->random, STALLS));
    if (item.used) {
        end_item(worker, &item);
        (void)atomic_fetch_add(&storm->inherited, 1);
    }
}

/* The out-of-memory observer: frees, in the midst of a request, what somebody left. */
static VkBool32 VKAPI_PTR spare_item(void* user, const MaarOutOfMemoryInfo* info)
{
    struct storm* storm = user;
    EXPECT(storm, info->attempt < MAAR_MAX_OUT_OF_MEMORY_ATTEMPTS);
    const struct item item = find_item(storm, info->attempt);
    if (item.used) {
        end_now(storm->rig.allocator, &item);
        (void)atomic_fetch_add(&storm->spared, 1);
    }
    return item.used ? VK_TRUE : VK_FALSE;
}

static void VKAPI_PTR count_allocated(void* user, uint32_t type, VkDeviceMemory memory,
                                      VkDeviceSize size)
{
    struct storm* storm = user;
    EXPECT(storm, type < VK_MAX_MEMORY_TYPES && memory != VK_NULL_HANDLE && size > 0);
    (void)atomic_fetch_add(&storm->reported_live, 1);
}

static void VKAPI_PTR count_freed(void* user, uint32_t type, VkDeviceMemory memory,
                                  VkDeviceSize size)
{
    struct storm* storm = user;
    EXPECT(storm, type < VK_MAX_MEMORY_TYPES && memory != VK_NULL_HANDLE && size > 0);
    EXPECT(storm, atomic_fetch_sub(&storm->reported_live, 1) > 0);
}

static void use_shared(struct worker* worker)
{
    struct storm* storm = worker->storm;
    MaarAllocator allocator = storm->rig.allocator;
    uint32_t which = rig_below(&worker->random, SHARED);
    MaarAllocation memory = storm->shared[which];
    void* data = storm;
    VkResult result = maarMapMemory(allocator, memory, &data);
    MADE(storm, result, data == NULL);
    if (result == VK_SUCCESS) {
        const VkDeviceSize offset = 64 * rig_below(&worker->random, 8);
        result = maarFlushAllocation(allocator, memory, offset, 64);
        EXPECT(storm, result != VK_ERROR_VALIDATION_FAILED_EXT);
        maarUnmapMemory(allocator, memory);
    }
    (void)pthread_mutex_lock(&storm->shared_name[which]);
    result = maarSetAllocationName(allocator, memory, "renamed in the storm");
    (void)pthread_mutex_unlock(&storm->shared_name[which]);
    EXPECT(storm, result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
}

static void use_pool(struct worker* worker)
{
    struct storm* storm = worker->storm;
    MaarAllocator allocator = storm->rig.allocator;
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = 256 * KIB,
        .minBlockCount = rig_below(&worker->random, 3),
        .strategy = (MaarPlacementStrategy)rig_below(&worker->random, 3),
    };
    MaarPool pool = (MaarPool)(uintptr_t)1;
    VkResult result = maarCreatePool(allocator, &info, &pool);
    MADE(storm, result, pool == VK_NULL_HANDLE);
    if (result != VK_SUCCESS) {
        return;
    }
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    MaarMemoryRequest requests[5];
    MaarAllocation memory[5];
    how.pool = pool;
    for (uint32_t i = 0; i < 5; ++i) {
        requests[i] = rig_request(60000, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
        memory[i] = (MaarAllocation)(uintptr_t)1;
    }
    result = maarAllocateMemories(allocator, 5, requests, &how, memory);
    for (uint32_t i = 0; i < 5; ++i) {
        EXPECT(storm, (result == VK_SUCCESS) == (memory[i] != VK_NULL_HANDLE));
    }
    maarFreeMemories(allocator, 5, memory);
    maarDestroyPool(allocator, pool);
}

static void collect(struct storm* storm)
{
    uint32_t freed = 0;
    VkResult result = maarCollect(storm->rig.allocator, &freed);
    EXPECT(storm, result != VK_ERROR_VALIDATION_FAILED_EXT);
    EXPECT(storm, result != VK_ERROR_DEVICE_LOST || storm->may_lose);
    if (result == VK_ERROR_DEVICE_LOST) {
        atomic_store(&storm->lost, true);
    }
}

/* ---- a thread's life ---- */

static void* work(void* argument)
{
    struct worker* worker = argument;
    struct storm* storm = worker->storm;
    for (uint32_t round = 0; round < storm->rounds; ++round) {
        struct item* item = &worker->items[rig_below(&worker->random, ITEMS)];
        uint32_t dice = rig_below(&worker->random, 100);
        if (dice < 70) {
            if (item->used) {
                end_item(worker, item);
            } else {
                make_item(worker, item);
            }
        } else if (dice < 78) {
            inherit_item(worker);
        } else if (dice < 84) {
            if (item->used) {
                (void)leave_item(storm, item);
            }
        } else if (dice < 92) {
            use_shared(worker);
        } else if (dice < 95) {
            use_pool(worker);
        } else {
            collect(storm);
        }
    }
    for (uint32_t i = 0; i < ITEMS; ++i) { /* half of it outlives the thread */
        struct item* item = &worker->items[i];
        if (item->used && (worker->inherits || i % 2 == 0 || !leave_item(storm, item))) {
            end_item(worker, item);
        }
    }
    (void)atomic_fetch_sub(&storm->working, 1);
    return NULL;
}

/* Looks and trims until nobody works. */
static void* watch(void* argument)
{
    struct storm* storm = argument;
    MaarAllocator allocator = storm->rig.allocator;
    enum { ROOM = 1 << 18 };
    char* text = malloc(ROOM);
    EXPECT(storm, text != NULL);
    for (uint32_t turn = 0; text != NULL && atomic_load(&storm->working) > 0; ++turn) {
        MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
        EXPECT(storm, maarGetStatistics(allocator, VK_NULL_HANDLE, &statistics) == VK_SUCCESS);
        EXPECT(storm, statistics.allocationBytes + statistics.pendingBytes +
                              statistics.paddingBytes + statistics.freeBytes ==
                          statistics.blockBytes);
        MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
        EXPECT(storm, maarGetDetailedStatistics(allocator, VK_NULL_HANDLE, &details) == VK_SUCCESS);
        const MaarDumpInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
            .format = turn % 2 == 0 ? MAAR_DUMP_FORMAT_MAAR : MAAR_DUMP_FORMAT_VMA,
            .detailed = VK_TRUE,
        };
        size_t size = ROOM;
        VkResult result = maarWriteDump(allocator, &info, &size, text);
        EXPECT(storm, result == VK_SUCCESS || result == VK_INCOMPLETE ||
                          result == VK_ERROR_OUT_OF_HOST_MEMORY);
        EXPECT(storm, result != VK_SUCCESS || strlen(text) + 1 == size);
        const char* broken = NULL;
        EXPECT(storm, maarCheckAllocator(allocator, &broken) == VK_SUCCESS && broken == NULL);
        EXPECT(storm, maarTrim(allocator, VK_NULL_HANDLE, NULL) == VK_SUCCESS);
        result = maarWaitPending(allocator, 0);
        EXPECT(storm, result != VK_ERROR_VALIDATION_FAILED_EXT);
        (void)sched_yield();
    }
    free(text);
    return NULL;
}

/* ---- the weather ---- */

static void move_time(struct storm* storm)
{
    uint64_t now = atomic_load(&storm->clock) + 1;
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = storm->timeline,
        .value = now,
    };
    /* It may be the call that fails. */
    while (vkSignalSemaphore(storm->rig.device, &info) != VK_SUCCESS) {
    }
    EXPECT(storm, maarAdvanceHostTimeline(storm->rig.allocator, now) == VK_SUCCESS);
    atomic_store(&storm->clock, now);
}

static void let_loose(struct storm* storm, struct rig_random* random)
{
    static const char* const functions[] = {
        "vkAllocateMemory",
        "vkMapMemory",
        "vkCreateBuffer",
        "vkCreateImage",
        "vkBindBufferMemory2",
        "vkBindImageMemory2",
        "vkGetSemaphoreCounterValue",
    };
    const char* function = functions[rig_below(random, 7)];
    VkResult codes[FAULT_MOST_CODES];
    VkResult code = codes[rig_below(random, fault_codes_of(function, codes))];
    const MaarSimulatedFault fault = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
        .pFunctionName = function,
        .nth = 1 + rig_below(random, 6),
        .count = 1 + rig_below(random, 3),
        .result = code == VK_ERROR_DEVICE_LOST ? VK_ERROR_OUT_OF_DEVICE_MEMORY : code,
    };
    VkResult result = maarSimulatedSetFault(storm->rig.physical, &fault);
    EXPECT(storm, result == VK_SUCCESS || result == VK_ERROR_TOO_MANY_OBJECTS);
}

static void change_budget(struct storm* storm, struct rig_random* random)
{
    static const VkDeviceSize budgets[] = {
        0, 1, 4 * MIB, 64 * MIB, 256 * MIB, 8 * GIB, (VkDeviceSize)1 << 60, UINT64_MAX,
    };
    EXPECT(storm,
           maarSimulatedSetHeapBudget(storm->rig.physical, rig_below(random, storm->heap_count),
                                      budgets[rig_below(random, 8)], 0) == VK_SUCCESS);
}

static void* blow(void* argument)
{
    struct storm* storm = argument;
    struct rig_random random = {.state = 4711};
    const uint64_t loss = 20 + rig_below(&random, 30);
    for (uint64_t turn = 0; atomic_load(&storm->working) > 0; ++turn) {
        move_time(storm);
        let_loose(storm, &random);
        if (turn % 4 == 0) {
            change_budget(storm, &random);
        }
        /* Now and then nothing of the host's fails, now and then one in sixteen; so at the start,
         * when threads meet for the first time. */
        const uint32_t phase = (uint32_t)((turn + 7) % 8);
        atomic_store(&storm->host.chance, phase < 4 ? 0 : 600 * phase);
        if (storm->may_lose && turn == loss) {
            const MaarSimulatedFault fault = {
                .sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
                .result = VK_ERROR_DEVICE_LOST,
            };
            (void)maarSimulatedSetFault(storm->rig.physical, NULL);
            EXPECT(storm, maarSimulatedSetFault(storm->rig.physical, &fault) == VK_SUCCESS);
            atomic_store(&storm->lost, true);
        }
        (void)sched_yield();
    }
    atomic_store(&storm->host.chance, 0);
    return NULL;
}

/* ---- the whole ---- */

static uint32_t rounds_of_each(void)
{
    const char* text = getenv("MAAR_STRESS_ROUNDS");
    uint32_t rounds = text != NULL ? (uint32_t)strtoul(text, NULL, 0) : 0;
    return rounds != 0 ? rounds : 6000;
}

static void open_storm(struct storm* storm, const MaarSimulatedProfile* profile, bool may_lose)
{
    const struct rig_setup setup = {.profile = profile, .count_host = true};
    memset(storm, 0, sizeof *storm);
    storm->heap_count = profile->heapCount;
    rig_open(&storm->rig, &setup);
    fault_host_init(&storm->host, &storm->rig.host_callbacks);
    storm->rig.create_info.pAllocationCallbacks = &storm->host.callbacks;
    fault_use_rubbish(&storm->rig.create_info);
    storm->rig.create_info.preferredBlockSize = 4 * MIB;
    storm->rig.create_info.pfnOutOfMemory = spare_item;
    storm->rig.create_info.pOutOfMemoryUserData = storm;
    storm->rig.create_info.pfnDeviceAllocate = count_allocated;
    storm->rig.create_info.pfnDeviceFree = count_freed;
    storm->rig.create_info.pDeviceMemoryUserData = storm;
    rig_make_allocator(&storm->rig);
    storm->timeline = rig_create_timeline(&storm->rig, 0);
    storm->may_lose = may_lose;
    storm->rounds = rounds_of_each();
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1, .blockSize = MIB};
    storm->pool = rig_create_pool(&storm->rig, &info);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    for (uint32_t i = 0; i < SHARED; ++i) {
        storm->shared[i] = rig_allocate(&storm->rig, 4096, &how);
        assert_int_equal(pthread_mutex_init(&storm->shared_name[i], NULL), 0);
    }
    assert_int_equal(pthread_mutex_init(&storm->stall_lock, NULL), 0);
}

/* Each place is taken by one thread after another: threads come and go all the time. */
static void run_generations(struct storm* storm, struct worker* workers)
{
    const uint64_t seed = rig_seed(31);
    for (uint32_t i = 0; i < WORKERS * GENERATIONS; ++i) {
        struct worker* worker = &workers[i % WORKERS];
        if (i >= WORKERS) {
            assert_int_equal(pthread_join(worker->thread, NULL), 0);
        }
        *worker = (struct worker){
            .storm = storm,
            .random = {.state = seed + i},
            .inherits = i >= WORKERS * (GENERATIONS - 1),
        };
        (void)atomic_fetch_add(&storm->working, 1);
        assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
    }
    for (uint32_t i = 0; i < WORKERS; ++i) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
}

static void close_storm(struct storm* storm)
{
    struct rig* rig = &storm->rig;
    (void)fault_host_disarm(&storm->host);
    rig_clear_faults(rig);
    for (uint32_t i = 0; i < STALLS; ++i) {
        if (storm->stalls[i].used) {
            end_now(rig->allocator, &storm->stalls[i]);
        }
    }
    for (uint32_t i = 0; i < SHARED; ++i) {
        maarFreeMemory(rig->allocator, storm->shared[i]);
        (void)pthread_mutex_destroy(&storm->shared_name[i]);
    }
    (void)pthread_mutex_destroy(&storm->stall_lock);
    const uint64_t end = atomic_load(&storm->clock) + 10;
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, end), VK_SUCCESS);
    rig_signal(rig, storm->timeline, end);
    VkResult result = maarWaitPending(rig->allocator, UINT64_MAX);
    assert_true(result == VK_SUCCESS ||
                (atomic_load(&storm->lost) && result == VK_ERROR_DEVICE_LOST));
    maarDestroyPool(rig->allocator, storm->pool);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    fault_expect_empty(rig);
    assert_int_equal(atomic_load(&storm->reported_live), 0);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_FATAL], 0);
    vkDestroySemaphore(rig->device, storm->timeline, NULL);
    rig_close(rig);
}

static void run_storm(const MaarSimulatedProfile* profile, bool may_lose)
{
    static struct storm storm;
    static struct worker workers[WORKERS];
    pthread_t watcher;
    pthread_t blower;
    open_storm(&storm, profile, may_lose);
    (void)atomic_fetch_add(&storm.working, 1); /* until all generations have lived */
    assert_int_equal(pthread_create(&watcher, NULL, watch, &storm), 0);
    assert_int_equal(pthread_create(&blower, NULL, blow, &storm), 0);
    run_generations(&storm, workers);
    (void)atomic_fetch_sub(&storm.working, 1);
    assert_int_equal(pthread_join(watcher, NULL), 0);
    assert_int_equal(pthread_join(blower, NULL), 0);
    print_message(
        "%u calls worked, %u failed; %u resources were ended by others, %u of them to make "
        "room; %u driver calls and %u host allocations were made to fail\n",
        (unsigned)atomic_load(&storm.made), (unsigned)atomic_load(&storm.failed),
        (unsigned)(atomic_load(&storm.inherited) + atomic_load(&storm.spared)),
        (unsigned)atomic_load(&storm.spared), (unsigned)rig_counters(&storm.rig).faultCount,
        (unsigned)atomic_load(&storm.host.struck));
    if (atomic_load(&storm.errors.count) != 0) {
        fail_msg("%u expectations failed, the first in line %u",
                 (unsigned)atomic_load(&storm.errors.count),
                 (unsigned)atomic_load(&storm.errors.first));
    }
    assert_true(atomic_load(&storm.made) > storm.rounds);
    assert_true(atomic_load(&storm.failed) > 0);
    assert_true(atomic_load(&storm.inherited) > 0);
    assert_true(atomic_load(&storm.lost) == may_lose);
    close_storm(&storm);
}

static void threads_survive_random_failures(void** state)
{
    (void)state;
    run_storm(rig_profile_discrete(), false);
}

static void threads_survive_the_loss_of_the_device(void** state)
{
    (void)state;
    run_storm(rig_profile_discrete(), true);
}

/* 16 objects, heaps of 64 MiB: much fails of itself. */
static void threads_survive_failures_at_the_limits(void** state)
{
    (void)state;
    run_storm(rig_profile_tiny(), false);
}

static void threads_survive_failures_of_incoherent_memory(void** state)
{
    (void)state;
    run_storm(rig_profile_noncoherent(), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_survive_random_failures),
        cmocka_unit_test(threads_survive_the_loss_of_the_device),
        cmocka_unit_test(threads_survive_failures_at_the_limits),
        cmocka_unit_test(threads_survive_failures_of_incoherent_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
