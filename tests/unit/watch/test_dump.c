/*
 * Dumps: the calls themselves, and Maar's own schema against what statistics and lists say.
 */
#include "tests/unit/watch/dump_fixture.h"

#include <pthread.h>

/* ---- maar-dump/1 ---- */

/* Members that every object of totals has, against the statistics of the same thing. */
static void expect_totals(const json_t* object, const MaarStatistics* wanted)
{
    assert_true(dump_uint(object, "blockCount") == wanted->blockCount);
    assert_true(dump_uint(object, "dedicatedCount") == wanted->dedicatedCount);
    assert_true(dump_uint(object, "allocationCount") == wanted->allocationCount);
    assert_true(dump_uint(object, "pendingCount") == wanted->pendingCount);
    assert_true(dump_uint(object, "blockBytes") == wanted->blockBytes);
    assert_true(dump_uint(object, "dedicatedBytes") == wanted->dedicatedBytes);
    assert_true(dump_uint(object, "allocationBytes") == wanted->allocationBytes);
    assert_true(dump_uint(object, "pendingBytes") == wanted->pendingBytes);
    assert_true(dump_uint(object, "paddingBytes") == wanted->paddingBytes);
    assert_true(dump_uint(object, "freeBytes") == wanted->freeBytes);
}

static void expect_details(const json_t* object, const MaarDetailedStatistics* wanted)
{
    assert_true(dump_uint(object, "allocationSizeMin") == wanted->allocationSizeMin);
    assert_true(dump_uint(object, "allocationSizeMax") == wanted->allocationSizeMax);
    assert_true(dump_uint(object, "freeRangeCount") == wanted->freeRangeCount);
    assert_true(dump_uint(object, "freeRangeSizeMin") == wanted->freeRangeSizeMin);
    assert_true(dump_uint(object, "freeRangeSizeMax") == wanted->freeRangeSizeMax);
    double fragmentation = json_number_value(dump_get(object, "fragmentation"));
    assert_memory_equal(&fragmentation, &wanted->fragmentation, sizeof fragmentation);
}

static void totals_equal_statistics(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    struct rig* rig = &scene.rig;
    MaarStatistics all = rig_statistics(rig, VK_NULL_HANDLE);
    MaarDetailedStatistics details = rig_details(rig, VK_NULL_HANDLE);
    for (uint32_t detailed = 0; detailed < 2; ++detailed) {
        json_t* root = dump_read(rig->allocator, MAAR_DUMP_FORMAT_MAAR, detailed == 1);
        const json_t* total = dump_get(root, "total");
        assert_string_equal(dump_string(root, "schema"), "maar-dump/1");
        expect_totals(total, &all);
        expect_details(total, &details);
        assert_true(dump_uint(total, "peakBlockBytes") == all.peakBlockBytes);
        assert_true(dump_uint(total, "peakAllocationBytes") == all.peakAllocationBytes);
        assert_true(dump_uint(total, "peakBlockCount") == all.peakBlockCount);
        assert_true(dump_uint(total, "deviceAllocationCalls") == all.deviceAllocationCalls);
        assert_true(dump_uint(total, "deviceFreeCalls") == all.deviceFreeCalls);
        assert_true(dump_uint(total, "allocationsMade") == all.allocationsMade);
        assert_true(dump_uint(total, "failureCount") == all.failureCount);
        assert_true(dump_uint(total, "fallbackCount") == all.fallbackCount);
        assert_true(dump_uint(total, "overBudgetCount") == all.overBudgetCount);
        json_decref(root);
    }
    scene_close(&scene);
}

static void types_and_heaps_equal_statistics(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    struct rig* rig = &scene.rig;
    json_t* root = dump_read(rig->allocator, MAAR_DUMP_FORMAT_MAAR, false);
    const json_t* types = dump_get(root, "types");
    assert_int_equal(json_array_size(types), 4);
    for (uint32_t i = 0; i < 4; ++i) {
        const json_t* type = json_array_get(types, i);
        MaarStatistics wanted = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
        assert_int_equal(maarGetMemoryTypeStatistics(rig->allocator, i, &wanted), VK_SUCCESS);
        expect_totals(type, &wanted);
        assert_int_equal(dump_uint(type, "index"), i);
    }
    assert_string_equal(
        json_string_value(json_array_get(dump_get(json_array_get(types, 0), "flags"), 0)),
        "DEVICE_LOCAL");
    assert_int_equal(json_array_size(dump_get(json_array_get(types, 2), "flags")), 3);
    const json_t* heaps = dump_get(root, "heaps");
    assert_int_equal(json_array_size(heaps), 3);
    for (uint32_t i = 0; i < 3; ++i) {
        const json_t* heap = json_array_get(heaps, i);
        MaarHeapBudget budget = rig_budget(rig, i);
        assert_true(dump_uint(heap, "size") == budget.size);
        assert_true(dump_uint(heap, "budget") == budget.budget);
        assert_true(dump_uint(heap, "usage") == budget.usage);
        assert_true(dump_uint(heap, "limit") == budget.limit);
        assert_true(json_is_true(dump_get(heap, "fromDriver")) == (budget.fromDriver == VK_TRUE));
        assert_true(dump_uint(heap, "blockBytes") == budget.blockBytes);
        assert_true(dump_uint(heap, "blockCount") == budget.blockCount);
    }
    json_decref(root);
    scene_close(&scene);
}

static void device_facts_equal_info(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocatorInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &info), VK_SUCCESS);
    json_t* root = dump_read(rig->allocator, MAAR_DUMP_FORMAT_MAAR, false);
    assert_string_equal(dump_string(dump_get(root, "device"), "name"), info.deviceName);
    assert_string_equal(dump_string(dump_get(root, "device"), "type"), "DISCRETE_GPU");
    assert_string_equal(dump_string(dump_get(root, "device"), "usedApiVersion"), "1.3.0");
    const json_t* limits = dump_get(root, "limits");
    assert_true(dump_uint(limits, "bufferImageGranularity") == info.bufferImageGranularity);
    assert_true(dump_uint(limits, "nonCoherentAtomSize") == info.nonCoherentAtomSize);
    assert_true(dump_uint(limits, "maxMemoryAllocationSize") == info.maxMemoryAllocationSize);
    assert_true(dump_uint(limits, "maxMemoryAllocationCount") == info.maxMemoryAllocationCount);
    const json_t* able = dump_get(root, "capabilities");
    assert_true(json_is_true(dump_get(able, "memoryBudget")) == (info.memoryBudget == VK_TRUE));
    assert_true(json_is_true(dump_get(able, "memoryPriority")) == (info.memoryPriority == VK_TRUE));
    assert_true(json_is_true(dump_get(able, "maintenance4")) == (info.maintenance4 == VK_TRUE));
    json_decref(root);
}

static const char* const state_names[] = {"free", "live", "pending", "padding"};
static const char* const kind_names[] = {"unknown", "linear", "optimal"};

static void expect_range(const json_t* object, const MaarBlockRange* wanted)
{
    assert_true(dump_uint(object, "offset") == wanted->offset);
    assert_true(dump_uint(object, "size") == wanted->size);
    assert_string_equal(dump_string(object, "state"), state_names[wanted->state]);
    if (wanted->state == MAAR_BLOCK_RANGE_STATE_LIVE ||
        wanted->state == MAAR_BLOCK_RANGE_STATE_PENDING) {
        assert_string_equal(dump_string(object, "kind"), kind_names[wanted->kind]);
    } else {
        assert_null(json_object_get(object, "kind"));
    }
    assert_true((json_object_get(object, "name") != NULL) == (wanted->name[0] != '\0'));
    assert_true((json_object_get(object, "userData") != NULL) == (wanted->pUserData != NULL));
}

static void expect_block(struct rig* rig, const json_t* object, const MaarBlockInfo* wanted)
{
    MaarBlockRange ranges[64];
    uint32_t count = 64;
    assert_true(dump_uint(object, "id") == wanted->blockId);
    assert_true(dump_uint(object, "size") == wanted->size);
    assert_true(json_is_true(dump_get(object, "dedicated")) == (wanted->dedicated == VK_TRUE));
    assert_int_equal(maarEnumerateBlockRanges(rig->allocator, wanted->blockId, &count, ranges),
                     VK_SUCCESS);
    const json_t* list = dump_get(object, "ranges");
    assert_int_equal(json_array_size(list), count);
    for (uint32_t i = 0; i < count; ++i) {
        expect_range(json_array_get(list, i), &ranges[i]);
    }
}

/* Pools in the order of their creation: default ones first seen, then ours. */
static void details_equal_lists(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    struct rig* rig = &scene.rig;
    json_t* root = dump_read(rig->allocator, MAAR_DUMP_FORMAT_MAAR, true);
    const json_t* pools = dump_get(root, "pools");
    const MaarPool own[3] = {scene.ring, scene.twins[0], scene.twins[1]};
    static const char* const names[3] = {"upload \"ring\"", "twin", "twin"};
    static const char* const strategies[3] = {"linear", "buddy", "buddy"};
    assert_int_equal(json_array_size(pools), 5);
    for (uint32_t i = 0; i < 3; ++i) {
        const json_t* pool = json_array_get(pools, i);
        MaarStatistics statistics = rig_statistics(rig, own[i]);
        MaarDetailedStatistics details = rig_details(rig, own[i]);
        assert_true(json_is_true(dump_get(pool, "custom")));
        assert_string_equal(dump_string(pool, "name"), names[i]);
        assert_string_equal(dump_string(pool, "strategy"), strategies[i]);
        assert_true(json_number_value(dump_get(pool, "priority")) == (i == 0 ? 0.5 : 0.25));
        expect_totals(pool, &statistics);
        expect_details(pool, &details);
        MaarBlockInfo blocks[4];
        uint32_t count = 4;
        for (uint32_t j = 0; j < 4; ++j) {
            blocks[j] = (MaarBlockInfo){.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
        }
        assert_int_equal(maarEnumerateBlocks(rig->allocator, own[i], &count, blocks), VK_SUCCESS);
        const json_t* list = dump_get(pool, "blocks");
        assert_int_equal(json_array_size(list), count);
        for (uint32_t j = 0; j < count; ++j) {
            expect_block(rig, json_array_get(list, j), &blocks[j]);
        }
    }
    assert_true(json_is_false(dump_get(json_array_get(pools, 3), "custom")));
    assert_int_equal(json_array_size(dump_get(json_array_get(pools, 3), "blocks")), 3);
    json_decref(root);
    scene_close(&scene);
}

static void names_come_whole_and_escaped(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    json_t* root = dump_read(scene.rig.allocator, MAAR_DUMP_FORMAT_MAAR, true);
    const json_t* pool = json_array_get(dump_get(root, "pools"), 3);
    const json_t* ranges = dump_get(json_array_get(dump_get(pool, "blocks"), 0), "ranges");
    uint32_t found = 0;
    for (size_t i = 0; i < json_array_size(ranges); ++i) {
        const json_t* range = json_array_get(ranges, i);
        const char* name = json_string_value(json_object_get(range, "name"));
        if (name != NULL) {
            assert_string_equal(name, scene_nasty_read);
            assert_true(dump_uint(range, "size") == 3400);
            ++found;
        }
    }
    assert_int_equal(found, 1);
    json_decref(root);
    scene_close(&scene);
}

static void slices_are_named_and_marked(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 256,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
    };
    MaarSlice slice = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSlice(rig->allocator, &info, &slice), VK_SUCCESS);
    char* text = dump_text(rig->allocator, MAAR_DUMP_FORMAT_MAAR, true);
    assert_non_null(strstr(text, "\"name\": \"slices\""));
    assert_non_null(strstr(text, "\"internal\": true"));
    json_decref(dump_parse(text));
    free(text);
    maarDestroySlice(rig->allocator, slice);
}

/* ---- the call ---- */

static const MaarDumpFormat formats[2] = {MAAR_DUMP_FORMAT_MAAR, MAAR_DUMP_FORMAT_VMA};

static MaarDumpInfo detailed_info(MaarDumpFormat format)
{
    return (MaarDumpInfo){
        .sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
        .format = format,
        .detailed = VK_TRUE,
    };
}

static void room_too_small_is_incomplete_and_leaves_an_empty_text(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    for (uint32_t i = 0; i < 2; ++i) {
        const MaarDumpInfo info = detailed_info(formats[i]);
        size_t asked = 0;
        assert_int_equal(maarWriteDump(scene.rig.allocator, &info, &asked, NULL), VK_SUCCESS);
        assert_true(asked > 1000);
        char* text = malloc(asked + 1);
        assert_non_null(text);
        size_t needed = asked;
        assert_int_equal(maarWriteDump(scene.rig.allocator, &info, &needed, text), VK_SUCCESS);
        assert_true(needed <= asked);
        for (size_t room = 0; room < needed; room += room < 8 ? 1 : 997) {
            size_t size = room;
            memset(text, 0x7e, needed + 1);
            assert_int_equal(maarWriteDump(scene.rig.allocator, &info, &size, text), VK_INCOMPLETE);
            assert_true(size == asked);
            assert_int_equal(text[0], room > 0 ? '\0' : 0x7e);
            for (size_t j = 1; j <= needed; ++j) {
                assert_int_equal(text[j], 0x7e);
            }
        }
        /* Exactly enough, and one more, suffice. */
        for (size_t room = needed; room <= needed + 1; ++room) {
            size_t size = room;
            memset(text, 0x7e, needed + 1);
            assert_int_equal(maarWriteDump(scene.rig.allocator, &info, &size, text), VK_SUCCESS);
            assert_true(size == needed);
            assert_int_equal(text[needed - 1], '\0');
            assert_int_equal(text[needed], 0x7e);
        }
        free(text);
    }
    scene_close(&scene);
}

/* The driver's figures change by themselves: what was asked for suffices. */
static void budgets_that_change_need_no_further_room(void** state)
{
    static const VkDeviceSize budgets[] = {0, 999999999, 1000000001, UINT64_MAX};
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    for (uint32_t i = 0; i < 2 * 3; ++i) {
        const MaarDumpInfo info = detailed_info(formats[i % 2]);
        VkPhysicalDevice device = scene.rig.physical;
        size_t size = 0;
        assert_int_equal(maarSimulatedSetHeapBudget(device, 0, budgets[i / 2], 0), VK_SUCCESS);
        assert_int_equal(maarWriteDump(scene.rig.allocator, &info, &size, NULL), VK_SUCCESS);
        char* text = malloc(size);
        assert_non_null(text);
        assert_int_equal(maarSimulatedSetHeapBudget(device, 0, budgets[i / 2 + 1], 0), VK_SUCCESS);
        assert_int_equal(maarWriteDump(scene.rig.allocator, &info, &size, text), VK_SUCCESS);
        assert_int_equal(strlen(text) + 1, size);
        free(text);
    }
    scene_close(&scene);
}

static void growth_between_the_calls_is_incomplete(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    const MaarDumpInfo info = detailed_info(MAAR_DUMP_FORMAT_MAAR);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    size_t size = 0;
    assert_int_equal(maarWriteDump(scene.rig.allocator, &info, &size, NULL), VK_SUCCESS);
    char* text = malloc(size);
    assert_non_null(text);
    size_t before = size;
    MaarAllocation more[3]; /* each takes a line */
    for (uint32_t i = 0; i < 3; ++i) {
        more[i] = rig_allocate(&scene.rig, 12345, &how);
    }
    assert_int_equal(maarWriteDump(scene.rig.allocator, &info, &size, text), VK_INCOMPLETE);
    assert_true(size > before);
    free(text);
    for (uint32_t i = 0; i < 3; ++i) {
        maarFreeMemory(scene.rig.allocator, more[i]);
    }
    scene_close(&scene);
}

static void misuse_is_reported_and_refused(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarDumpInfo info = detailed_info(MAAR_DUMP_FORMAT_MAAR);
    size_t size = 5;
    const VkResult refused = VK_ERROR_VALIDATION_FAILED_EXT;
    assert_int_equal(maarWriteDump(VK_NULL_HANDLE, &info, &size, NULL), refused);
    assert_int_equal(maarWriteDump(rig->allocator, NULL, &size, NULL), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pDumpInfo");
    assert_int_equal(maarWriteDump(rig->allocator, &info, NULL, NULL), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pSize");
    info.format = (MaarDumpFormat)2;
    assert_int_equal(maarWriteDump(rig->allocator, &info, &size, NULL), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "format");
    info = detailed_info(MAAR_DUMP_FORMAT_MAAR);
    info.sType = MAAR_STRUCTURE_TYPE_STATISTICS;
    assert_int_equal(maarWriteDump(rig->allocator, &info, &size, NULL), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "sType");
}

static void host_failure_anywhere_leaks_and_changes_nothing(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct scene scene;
    scene_open(&scene, &setup, MAAR_PLACEMENT_STRATEGY_TLSF);
    struct rig_host* host = &scene.rig.host;
    for (uint32_t i = 0; i < 2; ++i) {
        const MaarDumpInfo info = detailed_info(formats[i]);
        uint32_t points = 0;
        VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
        for (; result != VK_SUCCESS; ++points) {
            uint64_t live = atomic_load(&host->live);
            char text[8] = "before";
            size_t size = sizeof text;
            atomic_store(&host->fail_at, atomic_load(&host->calls) + points + 1);
            result = maarWriteDump(scene.rig.allocator, &info, &size, text);
            atomic_store(&host->fail_at, 0);
            assert_true(atomic_load(&host->live) == live);
            if (result == VK_INCOMPLETE) {
                break;
            }
            assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
            assert_string_equal(text, "before");
            assert_int_equal(size, sizeof text);
            rig_check(&scene.rig);
        }
        /* Each of the five pools is measured, then copied. */
        assert_true(points >= 5);
    }
    scene_close(&scene);
}

/* ---- locks and threads ---- */

struct nosy_host {
    MaarAllocator allocator; /* asked from within host allocations; NULL: not */
    uint32_t asked;
};

static void* VKAPI_PTR nosy_allocate(void* user, size_t size, size_t alignment,
                                     VkSystemAllocationScope scope)
{
    struct nosy_host* host = user;
    (void)alignment;
    (void)scope;
    if (host->allocator != VK_NULL_HANDLE) {
        MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
        assert_int_equal(maarGetDetailedStatistics(host->allocator, VK_NULL_HANDLE, &details),
                         VK_SUCCESS);
        ++host->asked;
    }
    return malloc(size);
}

/* A lock that were held across a host allocation would never be got here. */
static void host_memory_is_taken_without_a_lock(void** state)
{
    (void)state;
    struct nosy_host host = {0};
    const VkAllocationCallbacks callbacks = {
        .pUserData = &host,
        .pfnAllocation = nosy_allocate,
        .pfnReallocation = rig_plain_reallocate,
        .pfnFree = rig_plain_free,
    };
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pAllocationCallbacks = &callbacks;
    rig_make_allocator(rig);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocation allocation = rig_allocate(rig, 5000, &how);
    host.allocator = rig->allocator;
    json_decref(dump_read(rig->allocator, MAAR_DUMP_FORMAT_MAAR, true));
    host.allocator = VK_NULL_HANDLE;
    assert_true(host.asked >= 4);
    maarFreeMemory(rig->allocator, allocation);
}

struct worker {
    struct rig* rig;
    _Atomic uint32_t* stop;
    uint32_t number;
    uint32_t failures;
};

/* Allocates, renames and frees, makes and destroys pools, until asked to stop. */
static void* churn(void* argument)
{
    struct worker* worker = argument;
    struct rig_random random = {.state = worker->number + 1};
    MaarAllocator allocator = worker->rig->allocator;
    MaarAllocation held[16] = {0};
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 0,
        .blockSize = 65536,
        .pName = "short-lived",
    };
    while (atomic_load(worker->stop) == 0) {
        uint32_t at = rig_below(&random, 16);
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.pName = "a name that goes";
        const MaarMemoryRequest request =
            rig_request(1 + rig_below(&random, 9000), 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
        maarFreeMemory(allocator, held[at]);
        held[at] = VK_NULL_HANDLE;
        worker->failures +=
            maarAllocateMemory(allocator, &request, &how, &held[at]) != VK_SUCCESS ? 1 : 0;
        (void)maarSetAllocationName(allocator, held[at], "another name");
        if (rig_below(&random, 8) == 0) {
            MaarPool pool = VK_NULL_HANDLE;
            worker->failures += maarCreatePool(allocator, &pool_info, &pool) != VK_SUCCESS ? 1 : 0;
            maarDestroyPool(allocator, pool);
        }
    }
    maarFreeMemories(allocator, 16, held);
    return NULL;
}

/* Each pool of a dump is one moment's state: its blocks add up. */
static void expect_consistent(const json_t* root)
{
    size_t i = 0;
    size_t j = 0;
    size_t k = 0;
    json_t* pool = NULL;
    json_t* block = NULL;
    json_t* range = NULL;
    json_array_foreach(dump_get(root, "pools"), i, pool)
    {
        uint64_t live = 0;
        uint64_t bytes = 0;
        json_array_foreach(dump_get(pool, "blocks"), j, block)
        {
            uint64_t cursor = 0;
            json_array_foreach(dump_get(block, "ranges"), k, range)
            {
                assert_true(dump_uint(range, "offset") == cursor);
                cursor += dump_uint(range, "size");
                live += strcmp(dump_string(range, "state"), "live") == 0 ? 1 : 0;
            }
            assert_true(cursor == dump_uint(block, "size"));
            bytes += cursor;
        }
        assert_true(live == dump_uint(pool, "allocationCount"));
        assert_true(bytes == dump_uint(pool, "blockBytes"));
    }
}

static void dumps_beside_other_threads_are_consistent(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    _Atomic uint32_t stop = 0;
    struct worker workers[2];
    pthread_t threads[2];
    for (uint32_t i = 0; i < 2; ++i) {
        workers[i] = (struct worker){.rig = rig, .stop = &stop, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < 40; ++i) {
        json_t* root = dump_read(rig->allocator, MAAR_DUMP_FORMAT_MAAR, true);
        expect_consistent(root);
        json_decref(root);
        json_decref(dump_read(rig->allocator, MAAR_DUMP_FORMAT_VMA, true));
    }
    atomic_store(&stop, 1);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].failures, 0);
    }
    rig_expect_silence(rig);
    rig_check(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_equal_statistics),
        cmocka_unit_test(types_and_heaps_equal_statistics),
        rig_unit_test(device_facts_equal_info),
        cmocka_unit_test(details_equal_lists),
        cmocka_unit_test(names_come_whole_and_escaped),
        rig_unit_test(slices_are_named_and_marked),
        cmocka_unit_test(room_too_small_is_incomplete_and_leaves_an_empty_text),
        cmocka_unit_test(budgets_that_change_need_no_further_room),
        cmocka_unit_test(growth_between_the_calls_is_incomplete),
        rig_unit_test(misuse_is_reported_and_refused),
        cmocka_unit_test(host_failure_anywhere_leaks_and_changes_nothing),
        rig_unit_test(host_memory_is_taken_without_a_lock),
        rig_unit_test(dumps_beside_other_threads_are_consistent),
    };
    return cmocka_run_group_tests_name("dump", tests, NULL, NULL);
}
