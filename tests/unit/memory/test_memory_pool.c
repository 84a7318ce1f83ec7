/*
 * Custom pools: strategies, block counts and sizes, retention, trimming, priorities, kinds, leaks.
 */
#include "core/handle.h"
#include "tests/rig/rig.h"

#include <stdio.h>

static MaarAllocationCreateInfo in_pool(MaarPool pool)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    return how;
}

static MaarAllocation take(struct rig* rig, MaarPool pool, VkDeviceSize size)
{
    MaarAllocationCreateInfo how = in_pool(pool);
    MaarAllocation allocation = rig_allocate(rig, size, &how);
    assert_true(rig_info(rig, allocation).pool == pool);
    return allocation;
}

static VkResult try_take(struct rig* rig, MaarPool pool, VkDeviceSize size)
{
    MaarAllocationCreateInfo how = in_pool(pool);
    MaarMemoryRequest request = rig_request(size, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateMemory(rig->allocator, &request, &how, &allocation);
    if (result == VK_SUCCESS) {
        maarFreeMemory(rig->allocator, allocation);
    } else {
        assert_true(allocation == VK_NULL_HANDLE);
    }
    return result;
}

static void pool_misuse_names_the_field(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    const MaarPoolCreateInfo good = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO};
    MaarPool pool = MAAR_FROM_BITS(MaarPool, (uintptr_t)rig);
    assert_int_equal(maarCreatePool(rig->allocator, NULL, &pool), invalid);
    assert_null(pool);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCreateInfo");
    assert_int_equal(maarCreatePool(rig->allocator, &good, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPool");
    static const struct {
        MaarPoolCreateInfo info;
        MaarMessageId id;
        const char* culprit;
    } rows[] = {
        {{.sType = MAAR_STRUCTURE_TYPE_STATISTICS}, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "sType"},
        {{.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .memoryTypeIndex = 4},
         MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "memoryTypeIndex"},
        {{.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .strategy = (MaarPlacementStrategy)7},
         MAAR_MESSAGE_ID_INVALID_ENUM,
         "strategy"},
        {{.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .minBlockCount = 2, .maxBlockCount = 1},
         MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "minBlockCount"},
        {{.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .priority = -1.0F},
         MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "priority"},
        {{.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .blockSize = (VkDeviceSize)5 << 30},
         MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "blockSize"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        assert_int_equal(maarCreatePool(rig->allocator, &rows[i].info, &pool), invalid);
        assert_null(pool);
        rig_expect_message_naming(rig, rows[i].id, rows[i].culprit);
    }
    maarDestroyPool(rig->allocator, VK_NULL_HANDLE);
    rig_expect_silence(rig);
    maarDestroyPool(rig->allocator, MAAR_FROM_BITS(MaarPool, (uintptr_t)rig));
    rig_expect_message(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
}

static void expect_pool_id(struct rig* rig, MaarPool pool, MaarMessageId id)
{
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    MaarAllocation memory = VK_NULL_HANDLE;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const MaarMemoryRequest request = rig_request(4096, 16, 2, MAAR_RESOURCE_KIND_LINEAR);
    how.pool = pool;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &memory), invalid);
    assert_int_equal(rig->messages.last_id, id);
    assert_int_equal(maarTrim(rig->allocator, pool, NULL), invalid);
    assert_int_equal(rig->messages.last_id, id);
    assert_int_equal(maarSetPoolPriority(rig->allocator, pool, 0.5F), invalid);
    assert_int_equal(rig->messages.last_id, id);
    assert_int_equal(maarGetStatistics(rig->allocator, pool, &statistics), invalid);
    assert_int_equal(rig->messages.last_id, id);
    rig->messages.last_id = MAAR_MESSAGE_ID_MAX_ENUM;
    maarDestroyPool(rig->allocator, pool);
    assert_int_equal(rig->messages.last_id, id);
}

/* Another pool may stand where the destroyed one stood: its handle still differs. */
static void a_destroyed_pools_handle_is_noticed(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
    };
    MaarPool gone = rig_create_pool(rig, &info);
    maarDestroyPool(rig->allocator, gone);
    MaarPool next = rig_create_pool(rig, &info);
    assert_true(gone != next);
    expect_pool_id(rig, gone, MAAR_MESSAGE_ID_STALE_HANDLE);
    maarDestroyPool(rig->allocator, next);
}

/* Pools and allocations of two allocators have the same numbers, and other keys. */
static void handles_of_another_allocator_are_noticed(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    struct rig* const other = rig_new();
    rig_start(rig, NULL);
    rig_start(other, NULL);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
    };
    MaarPool own = rig_create_pool(rig, &info);
    MaarPool foreign = rig_create_pool(other, &info);
    expect_pool_id(rig, foreign, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    MaarAllocation memory = rig_allocate(rig, 4096, &how);
    MaarAllocation strange = rig_allocate(other, 4096, &how);
    MaarAllocationInfo of = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    assert_true(memory != strange);
    assert_int_equal(maarGetAllocationInfo(rig->allocator, strange, &of),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(rig->messages.last_id, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    maarFreeMemory(rig->allocator, memory);
    maarFreeMemory(other->allocator, strange);
    maarDestroyPool(rig->allocator, own);
    maarDestroyPool(other->allocator, foreign);
}

static void pool_every_strategy_places_and_frees(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    for (int strategy = MAAR_PLACEMENT_STRATEGY_TLSF; strategy <= MAAR_PLACEMENT_STRATEGY_LINEAR;
         ++strategy) {
        const MaarPoolCreateInfo info = {
            .strategy = (MaarPlacementStrategy)strategy,
            .blockSize = 3 * MIB,
            .pName = "pool",
        };
        MaarPool pool = rig_create_pool(rig, &info);
        MaarAllocation made[40];
        for (uint32_t i = 0; i < 40; ++i) {
            made[i] = take(rig, pool, 64 * KIB + i * 1000);
        }
        MaarStatistics statistics = rig_statistics(rig, pool);
        assert_int_equal(statistics.allocationCount, 40);
        assert_true(statistics.blockCount >= 2);
        assert_true(statistics.blockBytes == statistics.blockCount * 3 * MIB);
        rig_check(rig);
        maarFreeMemories(rig->allocator, 40, made);
        rig_check(rig);
        statistics = rig_statistics(rig, pool);
        assert_int_equal(statistics.allocationCount, 0);
        assert_int_equal(statistics.blockCount, 1); /* the largest empty one is kept */
        maarDestroyPool(rig->allocator, pool);
    }
    rig_expect_silence(rig);
}

static void pool_linear_places_from_both_ends(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .strategy = MAAR_PLACEMENT_STRATEGY_LINEAR,
        .blockSize = MIB,
        .maxBlockCount = 1,
    };
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = in_pool(pool);
    MaarAllocation lower = rig_allocate(rig, 1000, &how);
    how.flags = MAAR_ALLOCATION_CREATE_UPPER_BIT;
    MaarAllocation upper = rig_allocate(rig, 1000, &how);
    assert_int_equal(rig_info(rig, lower).offset, 0);
    assert_true(rig_info(rig, upper).offset == MIB - 1000);
    maarFreeMemory(rig->allocator, upper);
    maarFreeMemory(rig->allocator, lower);
    maarDestroyPool(rig->allocator, pool);
}

static void pool_block_counts_are_kept(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .blockSize = MIB,
        .minBlockCount = 2,
        .maxBlockCount = 3,
        .pName = "counted",
    };
    MaarPool pool = rig_create_pool(rig, &info);
    assert_int_equal(rig_statistics(rig, pool).blockCount, 2);
    MaarAllocation made[3];
    for (uint32_t i = 0; i < 3; ++i) {
        made[i] = take(rig, pool, MIB);
    }
    assert_int_equal(rig_statistics(rig, pool).blockCount, 3);
    assert_int_equal(try_take(rig, pool, 1), VK_ERROR_OUT_OF_POOL_MEMORY);
    maarFreeMemories(rig->allocator, 3, made);
    VkDeviceSize released = 0;
    assert_int_equal(maarTrim(rig->allocator, pool, &released), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, pool).blockCount, 2);
    assert_int_equal(maarTrim(rig->allocator, pool, &released), VK_SUCCESS);
    assert_int_equal(released, 0);
    maarDestroyPool(rig->allocator, pool);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
}

static void pool_minimum_blocks_are_all_or_nothing(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = MIB,
        .minBlockCount = 4,
        .pName = "never",
    };
    uint64_t live = 0;
    for (int round = 0; round < 2; ++round) {
        MaarPool pool = MAAR_FROM_BITS(MaarPool, (uintptr_t)rig);
        rig_set_fault(rig, "vkAllocateMemory", 3, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_int_equal(maarCreatePool(rig->allocator, &info, &pool),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_null(pool);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
        assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_MEMORY], 0);
        /* The headers of the arena and of three blocks are kept and used again. */
        live = round == 0 ? atomic_load(&rig->host.live) : live;
        assert_int_equal(atomic_load(&rig->host.live), live);
    }
}

static void pool_fixed_size_bounds_requests(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = MIB + 4096};
    MaarPool pool = rig_create_pool(rig, &info);
    assert_int_equal(try_take(rig, pool, MIB + 4097), VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
    MaarAllocation all = take(rig, pool, MIB + 4096);
    assert_true(rig_info(rig, all).blockSize == MIB + 4096);
    assert_int_equal(rig_statistics(rig, pool).freeBytes, 0);
    maarFreeMemory(rig->allocator, all);
    maarDestroyPool(rig->allocator, pool);
}

static uint32_t blocks_left_after(struct rig* rig, VkDeviceSize retained)
{
    const MaarPoolCreateInfo info = {.blockSize = MIB, .retainedEmptySize = retained};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocation made[5];
    for (uint32_t i = 0; i < 5; ++i) {
        made[i] = take(rig, pool, MIB);
    }
    assert_int_equal(rig_statistics(rig, pool).blockCount, 5);
    maarFreeMemories(rig->allocator, 5, made);
    uint32_t left = rig_statistics(rig, pool).blockCount;
    VkDeviceSize released = 0;
    assert_int_equal(maarTrim(rig->allocator, pool, &released), VK_SUCCESS);
    assert_true(released == left * MIB);
    assert_int_equal(rig_statistics(rig, pool).blockCount, 0);
    maarDestroyPool(rig->allocator, pool);
    return left;
}

static void pool_retention_keeps_what_was_asked(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    assert_int_equal(blocks_left_after(rig, 0), 1);
    assert_int_equal(blocks_left_after(rig, 1), 0);
    assert_int_equal(blocks_left_after(rig, MIB), 1);
    assert_int_equal(blocks_left_after(rig, 3 * MIB + 1), 3);
    assert_int_equal(blocks_left_after(rig, UINT64_MAX), 5);
}

static void pool_keeps_the_largest_empty_block(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.pName = "growing"};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocation made[6];
    VkDeviceSize largest = 0;
    for (uint32_t i = 0; i < 6; ++i) {
        made[i] = take(rig, pool, (VkDeviceSize)5 * MIB << i);
        VkDeviceSize size = rig_info(rig, made[i]).blockSize;
        largest = size > largest ? size : largest;
    }
    for (uint32_t i = 6; i-- > 0;) { /* the largest is empty first */
        maarFreeMemory(rig->allocator, made[i]);
    }
    assert_int_equal(rig_statistics(rig, pool).blockCount, 1);
    assert_true(rig_statistics(rig, pool).blockBytes == largest);
    maarDestroyPool(rig->allocator, pool);
}

static void trim_all_pools_returns_every_empty_block(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = MIB, .minBlockCount = 1};
    MaarPool pool = rig_create_pool(rig, &info);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 100, NULL));
    MaarAllocation live = rig_allocate(rig, 20 * MIB, NULL);
    maarFreeMemory(rig->allocator, take(rig, pool, 100));
    VkDeviceSize before = rig_statistics(rig, VK_NULL_HANDLE).blockBytes;
    VkDeviceSize released = 0;
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, &released), VK_SUCCESS);
    assert_true(before - released == rig_statistics(rig, VK_NULL_HANDLE).blockBytes);
    assert_true(before - released == MIB + rig_info(rig, live).blockSize);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    maarFreeMemory(rig->allocator, live);
    maarDestroyPool(rig->allocator, pool);
}

static void pool_alignment_holds_for_all(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = MIB, .minAlignment = 384};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocation made[30];
    for (uint32_t i = 0; i < 30; ++i) {
        made[i] = take(rig, pool, 100 + i);
        assert_int_equal(rig_info(rig, made[i]).offset % 384, 0);
    }
    maarFreeMemories(rig->allocator, 30, made);
    maarDestroyPool(rig->allocator, pool);
}

static void pool_of_one_kind_ignores_granularity(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    for (int single = 0; single < 2; ++single) {
        const MaarPoolCreateInfo info = {
            .blockSize = MIB,
            .singleKind = single != 0 ? VK_TRUE : VK_FALSE,
        };
        MaarPool pool = rig_create_pool(rig, &info);
        MaarAllocationCreateInfo how = in_pool(pool);
        MaarMemoryRequest linear = rig_request(100, 4, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
        /* Elsewhere one of unknown kind would begin a granule of its own. */
        MaarMemoryRequest other = rig_request(100, 4, UINT32_MAX, MAAR_RESOURCE_KIND_UNKNOWN);
        MaarAllocation a;
        MaarAllocation b;
        assert_int_equal(maarAllocateMemory(rig->allocator, &linear, &how, &a), VK_SUCCESS);
        assert_int_equal(maarAllocateMemory(rig->allocator, &other, &how, &b), VK_SUCCESS);
        VkDeviceSize x = rig_info(rig, a).offset / 1024;
        VkDeviceSize y = rig_info(rig, b).offset / 1024;
        assert_int_equal(x == y, single != 0);
        maarFreeMemory(rig->allocator, a);
        maarFreeMemory(rig->allocator, b);
        maarDestroyPool(rig->allocator, pool);
    }
}

static MaarAllocation take_kind(struct rig* rig, MaarPool pool, MaarResourceKind kind,
                                VkResult wanted)
{
    const MaarAllocationCreateInfo how = in_pool(pool);
    const MaarMemoryRequest request = rig_request(100, 4, UINT32_MAX, kind);
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &allocation), wanted);
    return allocation;
}

static void pool_of_one_kind_is_not_decided_by_failures(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = MIB, .singleKind = VK_TRUE, .pName = "level"};
    MaarPool pool = rig_create_pool(rig, &info);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    take_kind(rig, pool, MAAR_RESOURCE_KIND_LINEAR, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    /* A buffer that is made, but cannot be bound. */
    const VkBufferCreateInfo buffer_info = rig_buffer_info(256);
    const MaarAllocationCreateInfo how = in_pool(pool);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkBindBufferMemory2", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
    MaarAllocation made = take_kind(rig, pool, MAAR_RESOURCE_KIND_OPTIMAL, VK_SUCCESS);
    take_kind(rig, pool, MAAR_RESOURCE_KIND_LINEAR, VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names(rig, "\"level\""));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_POOL_MISMATCH, "singleKind");
    /* One that fails later opens nothing, nor does a free. */
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const MaarMemoryRequest large = rig_request(MIB, 4, UINT32_MAX, MAAR_RESOURCE_KIND_OPTIMAL);
    assert_int_equal(maarAllocateMemory(rig->allocator, &large, &how, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    maarFreeMemory(rig->allocator, made);
    take_kind(rig, pool, MAAR_RESOURCE_KIND_LINEAR, VK_ERROR_VALIDATION_FAILED_EXT);
    maarFreeMemory(rig->allocator, take_kind(rig, pool, MAAR_RESOURCE_KIND_OPTIMAL, VK_SUCCESS));
    maarDestroyPool(rig->allocator, pool);
}

static void pool_wrong_type_or_mapping_is_reported(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = MIB, .pName = "level"};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = in_pool(pool);
    MaarMemoryRequest request = rig_request(100, 4, 0xE, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &allocation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names(rig, "0xE"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_POOL_MISMATCH, "\"level\"");
    request.requirements.memoryTypeBits = UINT32_MAX;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &allocation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPABLE, "HOST_VISIBLE");
    maarDestroyPool(rig->allocator, pool);
}

static void pool_dedicated_only_on_demand(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = 64 * MIB, .maxBlockCount = 1}; /* of blocks */
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocation shared = take(rig, pool, 60 * MIB);
    assert_int_equal(rig_info(rig, shared).dedicated, VK_FALSE);
    MaarAllocationCreateInfo how = in_pool(pool);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    MaarAllocation own = rig_allocate(rig, 100, &how);
    assert_int_equal(rig_info(rig, own).dedicated, VK_TRUE);
    assert_true(rig_info(rig, own).pool == pool);
    assert_int_equal(rig_statistics(rig, pool).dedicatedCount, 1);
    maarFreeMemory(rig->allocator, own);
    maarFreeMemory(rig->allocator, shared);
    maarDestroyPool(rig->allocator, pool);
}

static void pool_destroyed_with_live_ones_reports_leaks(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    const MaarPoolCreateInfo info = {.blockSize = MIB, .pName = "level_3"};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = in_pool(pool);
    how.pName = "left over";
    MaarAllocation leaked = rig_allocate(rig, 100, &how);
    maarDestroyPool(rig->allocator, pool);
    assert_true(rig_message_names(rig, "\"level_3\""));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_LEAK, "100");
    maarFreeMemory(rig->allocator, leaked);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationBytes, 0);
    assert_int_equal(statistics.blockCount, 0);
}

static void pool_destroyed_with_pending_ones_ends_them(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = MIB};
    MaarPool pool = rig_create_pool(rig, &info);
    const MaarPoint point = {.value = 1};
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, take(rig, pool, 100), 1, &point),
                     VK_SUCCESS);
    MaarAllocation other = rig_allocate(rig, 100, NULL);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, other, 1, &point), VK_SUCCESS);
    maarDestroyPool(rig->allocator, pool);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PENDING_AT_DESTROY, "1");
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 1);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
}

/* Whatever lacks host memory: the one block that the pool may have can be made afterwards. */
static void pool_block_counts_survive_host_failures(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    const MaarPoolCreateInfo info = {.blockSize = MIB, .maxBlockCount = 1};
    MaarPool pool = rig_create_pool(rig, &info);
    uint64_t failures = 0;
    for (;; ++failures) {
        rig->host.fail_at = rig->host.calls + 1 + failures;
        const VkResult result = try_take(rig, pool, 1000);
        rig->host.fail_at = 0;
        if (result == VK_SUCCESS) {
            break;
        }
        assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(rig_statistics(rig, pool).blockCount, 0);
    }
    assert_true(failures >= 3);
    assert_int_equal(rig_statistics(rig, pool).blockCount, 1);
    maarDestroyPool(rig->allocator, pool);
}

static void pool_block_counts_may_be_equal(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = MIB, .minBlockCount = 2, .maxBlockCount = 2};
    MaarPool pool = rig_create_pool(rig, &info);
    assert_int_equal(rig_statistics(rig, pool).blockCount, 2);
    MaarAllocation made[2] = {take(rig, pool, MIB), take(rig, pool, MIB)};
    assert_int_equal(try_take(rig, pool, 1), VK_ERROR_OUT_OF_POOL_MEMORY);
    maarFreeMemories(rig->allocator, 2, made);
    maarDestroyPool(rig->allocator, pool);
}

/* ---- priorities ---- */

static void priority_of_blocks_follows_the_extensions(void** state)
{
    (void)state;
    static const struct {
        VkFlags off;
        VkResult result;
        uint64_t calls;
    } rows[] = {
        {0, VK_SUCCESS, 2},
        {RIG_OFF_PAGEABLE, VK_INCOMPLETE, 0},
        {RIG_OFF_PRIORITY, VK_ERROR_FEATURE_NOT_PRESENT, 0},
    };
    for (size_t i = 0; i < 3; ++i) {
        const struct rig_setup setup = {.off = rows[i].off};
        struct rig* const rig = rig_begin(&setup);
        const MaarPoolCreateInfo info = {
            .blockSize = MIB,
            .minBlockCount = 2,
            .priority = 0.75F,
        };
        MaarPool pool = rig_create_pool(rig, &info);
        uint64_t calls = rig_calls(rig, "vkSetDeviceMemoryPriorityEXT");
        assert_int_equal(maarSetPoolPriority(rig->allocator, pool, 0.25F), rows[i].result);
        assert_int_equal(rig_calls(rig, "vkSetDeviceMemoryPriorityEXT") - calls, rows[i].calls);
        maarDestroyPool(rig->allocator, pool);
        rig_close(rig);
    }
}

static void priority_misuse_is_reported(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    const MaarPoolCreateInfo info = {.blockSize = MIB};
    MaarPool pool = rig_create_pool(rig, &info);
    assert_int_equal(maarSetPoolPriority(rig->allocator, VK_NULL_HANDLE, 0.5F), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "pool");
    assert_int_equal(maarSetPoolPriority(rig->allocator, pool, 2.0F), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "priority");
    MaarAllocation placed = take(rig, pool, 100);
    assert_int_equal(maarSetAllocationPriority(rig->allocator, placed, 0.5F), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_DEDICATED);
    MaarAllocationCreateInfo how = in_pool(pool);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.priority = 1.0F;
    MaarAllocation own = rig_allocate(rig, 100, &how);
    assert_int_equal(maarSetAllocationPriority(rig->allocator, own, 0.5F), VK_SUCCESS);
    assert_int_equal(maarSetAllocationPriority(rig->allocator, own, -0.5F), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "priority");
    maarFreeMemory(rig->allocator, own);
    maarFreeMemory(rig->allocator, placed);
    assert_int_equal(maarSetAllocationPriority(rig->allocator, own, 0.5F), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    maarDestroyPool(rig->allocator, pool);
}

/* The name of a pool in the dump; empty for none. */
static bool dump_has_name(struct rig* rig, const char* name)
{
    static char text[65536];
    const MaarDumpInfo info = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO, .detailed = VK_TRUE};
    size_t size = sizeof text;
    char quoted[64];
    assert_int_equal(maarWriteDump(rig->allocator, &info, &size, text), VK_SUCCESS);
    (void)snprintf(quoted, sizeof quoted, "\"%s\"", name);
    return strstr(text, quoted) != NULL;
}

static void pool_is_renamed(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    const MaarPoolCreateInfo info = {.pName = "before"};
    const MaarPool pool = rig_create_pool(rig, &info);
    char name[] = "after";
    assert_true(dump_has_name(rig, "before"));
    assert_int_equal(maarSetPoolName(rig->allocator, pool, name), VK_SUCCESS);
    memset(name, 'x', sizeof name - 1); /* it was copied */
    assert_true(dump_has_name(rig, "after") && !dump_has_name(rig, "before"));
    atomic_store(&rig->host.fail_at, atomic_load(&rig->host.calls) + 1);
    assert_int_equal(maarSetPoolName(rig->allocator, pool, "none"), VK_ERROR_OUT_OF_HOST_MEMORY);
    atomic_store(&rig->host.fail_at, 0);
    assert_true(dump_has_name(rig, "after"));
    assert_int_equal(maarSetPoolName(rig->allocator, pool, NULL), VK_SUCCESS);
    assert_false(dump_has_name(rig, "after"));
    assert_int_equal(maarSetPoolName(rig->allocator, VK_NULL_HANDLE, "none"),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "pool");
    maarDestroyPool(rig->allocator, pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(pool_is_renamed),
        rig_unit_test(pool_misuse_names_the_field),
        rig_unit_test(a_destroyed_pools_handle_is_noticed),
        rig_unit_test(handles_of_another_allocator_are_noticed),
        rig_unit_test(pool_every_strategy_places_and_frees),
        rig_unit_test(pool_linear_places_from_both_ends),
        rig_unit_test(pool_block_counts_are_kept),
        rig_unit_test(pool_minimum_blocks_are_all_or_nothing),
        rig_unit_test(pool_fixed_size_bounds_requests),
        rig_unit_test(pool_retention_keeps_what_was_asked),
        rig_unit_test(pool_keeps_the_largest_empty_block),
        rig_unit_test(trim_all_pools_returns_every_empty_block),
        rig_unit_test(pool_alignment_holds_for_all),
        rig_unit_test(pool_of_one_kind_ignores_granularity),
        rig_unit_test(pool_of_one_kind_is_not_decided_by_failures),
        rig_unit_test(pool_wrong_type_or_mapping_is_reported),
        rig_unit_test(pool_dedicated_only_on_demand),
        rig_unit_test(pool_destroyed_with_live_ones_reports_leaks),
        rig_unit_test(pool_destroyed_with_pending_ones_ends_them),
        rig_unit_test(priority_of_blocks_follows_the_extensions),
        rig_unit_test(priority_misuse_is_reported),
        rig_unit_test(pool_block_counts_survive_host_failures),
        rig_unit_test(pool_block_counts_may_be_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
