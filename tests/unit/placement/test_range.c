/*
 * The public range allocator: arguments, handles, messages, host memory and its failures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/placement/placement_space.h"
#include "maar/range.h"

struct messages {
    uint32_t count;
    MaarMessageId last_id;
    char last[256];
};

static void VKAPI_PTR keep_message(void* user_data, const MaarMessage* report)
{
    struct messages* messages = user_data;
    assert_int_equal(report->severity, MAAR_MESSAGE_SEVERITY_ERROR);
    assert_true(report->pText[0] != '\0' &&
                report->pText[strlen(report->pText) - 1] != '.'); /* as all of Maar's end */
    messages->count += 1;
    messages->last_id = report->id;
    strncpy(messages->last, report->pText, sizeof(messages->last) - 1);
}

/* Host memory that is counted and fails at a chosen call. */
struct host {
    uint32_t calls;
    uint32_t fail_at; /* 1 is the first call; 0: none */
    uint32_t live;
};

static void* VKAPI_PTR host_allocate(void* user_data, size_t size, size_t alignment,
                                     VkSystemAllocationScope scope)
{
    struct host* host = user_data;
    assert_int_equal(scope, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
    assert_true(alignment <= 16);
    host->calls += 1;
    if (host->calls == host->fail_at) {
        return NULL;
    }
    void* memory = malloc(size);
    assert_non_null(memory);
    host->live += 1;
    return memory;
}

static void* VKAPI_PTR host_reallocate(void* user_data, void* original, size_t size,
                                       size_t alignment, VkSystemAllocationScope scope)
{
    (void)user_data;
    (void)original;
    (void)size;
    (void)alignment;
    (void)scope;
    fail_msg("reallocation was not expected");
    return NULL;
}

static void VKAPI_PTR host_release(void* user_data, void* memory)
{
    struct host* host = user_data;
    if (memory != NULL) {
        host->live -= 1;
        free(memory);
    }
}

static VkAllocationCallbacks host_callbacks(struct host* host)
{
    return (VkAllocationCallbacks){
        .pUserData = host,
        .pfnAllocation = host_allocate,
        .pfnReallocation = host_reallocate,
        .pfnFree = host_release,
    };
}

static const MaarPlacementStrategy strategies[] = {
    MAAR_PLACEMENT_STRATEGY_TLSF,
    MAAR_PLACEMENT_STRATEGY_BUDDY,
    MAAR_PLACEMENT_STRATEGY_LINEAR,
};

static MaarRangeAllocator create(MaarPlacementStrategy strategy, VkDeviceSize size,
                                 struct messages* messages)
{
    const MaarRangeAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .strategy = strategy,
        .size = size,
        .pfnMessage = messages != NULL ? keep_message : NULL,
        .pMessageUserData = messages,
    };
    MaarRangeAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(maarCreateRangeAllocator(&info, &allocator), VK_SUCCESS);
    assert_non_null(allocator);
    return allocator;
}

static VkResult allocate(MaarRangeAllocator allocator, VkDeviceSize size, MaarRange* range)
{
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO, .size = size, .userData = size * 3};
    const VkResult result = maarAllocateRange(allocator, &info, range, NULL);
    assert_null(maarCheckRangeAllocator(allocator));
    return result;
}

static void create_misuse_is_reported_and_refused(void** state)
{
    (void)state;
    struct messages messages = {0};
    const MaarRangeAllocatorCreateInfo good = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .size = 100,
        .pfnMessage = keep_message,
        .pMessageUserData = &messages,
    };
    struct host host = {0};
    VkAllocationCallbacks without_free = host_callbacks(&host);
    VkAllocationCallbacks without_allocation = host_callbacks(&host);
    without_free.pfnFree = NULL;
    without_allocation.pfnAllocation = NULL;
    MaarRangeAllocatorCreateInfo bad[8] = {good, good, good, good, good, good, good, good};
    bad[0].sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO;
    bad[1].size = 0;
    bad[2].size = MAAR_RANGE_MAX_SIZE + 1;
    bad[3].granularity = 48;
    bad[4].strategy = (MaarPlacementStrategy)3;
    bad[5].strategy = MAAR_PLACEMENT_STRATEGY_MAX_ENUM;
    bad[6].pAllocationCallbacks = &without_free;
    bad[7].pAllocationCallbacks = &without_allocation;
    const MaarMessageId ids[8] = {
        MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, MAAR_MESSAGE_ID_ZERO_SIZE,
        MAAR_MESSAGE_ID_OUT_OF_RANGE,         MAAR_MESSAGE_ID_INVALID_ALIGNMENT,
        MAAR_MESSAGE_ID_INVALID_ENUM,         MAAR_MESSAGE_ID_INVALID_ENUM,
        MAAR_MESSAGE_ID_NULL_ARGUMENT,        MAAR_MESSAGE_ID_NULL_ARGUMENT,
    };
    for (uint32_t i = 0; i < 8; ++i) {
        MaarRangeAllocator allocator = (MaarRangeAllocator)&messages;
        assert_int_equal(maarCreateRangeAllocator(&bad[i], &allocator),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        assert_null(allocator);
        assert_int_equal(messages.count, i + 1);
        assert_int_equal(messages.last_id, ids[i]);
        assert_non_null(strstr(messages.last, "pCreateInfo->"));
        assert_true(i != 0 ||
                    strstr(messages.last, "MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO"));
    }
    MaarRangeAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(maarCreateRangeAllocator(&good, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarCreateRangeAllocator(NULL, &allocator), VK_ERROR_VALIDATION_FAILED_EXT);
    maarDestroyRangeAllocator(VK_NULL_HANDLE);
}

static void null_allocator_is_refused(void** state)
{
    (void)state;
    MaarRange range = VK_NULL_HANDLE;
    MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO};
    MaarRangeStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
    const MaarRangeAllocateInfo request = {.sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
                                           .size = 1};
    const VkResult refused = VK_ERROR_VALIDATION_FAILED_EXT;
    assert_int_equal(maarAllocateRange(VK_NULL_HANDLE, &request, &range, NULL), refused);
    assert_int_equal(maarFreeRange(VK_NULL_HANDLE, VK_NULL_HANDLE), refused);
    assert_int_equal(maarResetRangeAllocator(VK_NULL_HANDLE), refused);
    assert_int_equal(maarResizeRangeAllocator(VK_NULL_HANDLE, 10), refused);
    assert_int_equal(maarGetRangeInfo(VK_NULL_HANDLE, range, &info), refused);
    assert_int_equal(maarGetRangeStatistics(VK_NULL_HANDLE, &statistics), refused);
    assert_int_equal(maarWalkRanges(VK_NULL_HANDLE, NULL, NULL), refused);
    assert_non_null(maarCheckRangeAllocator(VK_NULL_HANDLE));
}

static void allocate_misuse_is_reported_and_changes_nothing(void** state)
{
    (void)state;
    struct messages messages = {0};
    MaarRangeAllocator allocator = create(MAAR_PLACEMENT_STRATEGY_TLSF, 1000, &messages);
    const MaarRangeAllocateInfo good = {.sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
                                        .size = 10};
    MaarRangeAllocateInfo bad[4] = {good, good, good, good};
    bad[0].sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO;
    bad[1].size = 0;
    bad[2].kind = MAAR_RANGE_MAX_KIND + 1;
    bad[3].flags = 4;
    const MaarMessageId ids[4] = {
        MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE,
        MAAR_MESSAGE_ID_ZERO_SIZE,
        MAAR_MESSAGE_ID_OUT_OF_RANGE,
        MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
    };
    for (uint32_t i = 0; i < 4; ++i) {
        VkDeviceSize offset = 77;
        MaarRange range = VK_NULL_HANDLE;
        assert_int_equal(maarAllocateRange(allocator, &bad[i], &range, &offset),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        assert_true(range == VK_NULL_HANDLE);
        assert_true(offset == 0);
        assert_int_equal(messages.count, i + 1);
        assert_int_equal(messages.last_id, ids[i]);
        assert_non_null(strstr(messages.last, "pInfo->"));
    }
    assert_int_equal(maarAllocateRange(allocator, NULL, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarAllocateRange(allocator, &good, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(messages.count, 6);
    MaarRangeStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
    assert_int_equal(maarGetRangeStatistics(allocator, &statistics), VK_SUCCESS);
    assert_int_equal(statistics.rangeCount, 0);
    assert_true(statistics.freeSize == 1000);
    maarDestroyRangeAllocator(allocator);
}

static void range_freed_twice_is_reported(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct messages messages = {0};
        MaarRangeAllocator allocator = create(strategies[i], 1000, &messages);
        MaarRange stale = VK_NULL_HANDLE;
        MaarRange fresh = VK_NULL_HANDLE;
        assert_int_equal(allocate(allocator, 10, &stale), VK_SUCCESS);
        assert_int_equal(maarFreeRange(allocator, stale), VK_SUCCESS);
        assert_int_equal(maarFreeRange(allocator, stale), VK_ERROR_VALIDATION_FAILED_EXT);
        assert_int_equal(messages.count, 1);
        assert_int_equal(messages.last_id, MAAR_MESSAGE_ID_STALE_HANDLE);
        assert_non_null(strstr(messages.last, "maarFreeRange"));
        assert_int_equal(allocate(allocator, 10, &fresh), VK_SUCCESS);
        assert_true(fresh != stale);
        assert_int_equal(maarFreeRange(allocator, stale), VK_ERROR_VALIDATION_FAILED_EXT);
        assert_int_equal(messages.count, 2);
        MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO};
        assert_int_equal(maarGetRangeInfo(allocator, stale, &info), VK_ERROR_VALIDATION_FAILED_EXT);
        assert_int_equal(maarGetRangeInfo(allocator, VK_NULL_HANDLE, &info),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        assert_int_equal(maarFreeRange(allocator, VK_NULL_HANDLE), VK_SUCCESS);
        assert_int_equal(maarFreeRange(allocator, fresh), VK_SUCCESS);
        maarDestroyRangeAllocator(allocator);
    }
}

static void range_outlived_by_reset_is_reported(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct messages messages = {0};
        MaarRangeAllocator allocator = create(strategies[i], 1000, &messages);
        MaarRange ranges[3];
        for (uint32_t j = 0; j < 3; ++j) {
            assert_int_equal(allocate(allocator, 10, &ranges[j]), VK_SUCCESS);
        }
        assert_int_equal(maarResetRangeAllocator(allocator), VK_SUCCESS);
        assert_null(maarCheckRangeAllocator(allocator));
        assert_int_equal(maarFreeRange(allocator, ranges[0]), VK_ERROR_VALIDATION_FAILED_EXT);
        MaarRange again[3];
        for (uint32_t j = 0; j < 3; ++j) {
            assert_int_equal(allocate(allocator, 10, &again[j]), VK_SUCCESS);
        }
        for (uint32_t j = 0; j < 3; ++j) {
            assert_int_equal(maarFreeRange(allocator, ranges[j]), VK_ERROR_VALIDATION_FAILED_EXT);
            assert_int_equal(maarFreeRange(allocator, again[j]), VK_SUCCESS);
        }
        assert_int_equal(messages.count, 4);
        maarDestroyRangeAllocator(allocator);
    }
}

static void info_describes_a_live_range(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        MaarRangeAllocator allocator = create(strategies[i], 1 << 20, NULL);
        const MaarRangeAllocateInfo request = {.sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
                                               .size = 100,
                                               .alignment = 48,
                                               .kind = 5,
                                               .userData = UINT64_MAX};
        MaarRange range = VK_NULL_HANDLE;
        VkDeviceSize offset = 0;
        assert_int_equal(allocate(allocator, 1, &range), VK_SUCCESS);
        assert_int_equal(maarAllocateRange(allocator, &request, &range, &offset), VK_SUCCESS);
        MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO, .pNext = &offset};
        assert_int_equal(maarGetRangeInfo(allocator, range, &info), VK_SUCCESS);
        assert_int_equal(info.state, MAAR_RANGE_STATE_LIVE);
        assert_true(info.offset == offset && offset % 48 == 0 && offset != 0);
        assert_true(info.size == 100);
        assert_int_equal(info.kind, 5);
        assert_true(info.userData == UINT64_MAX);
        assert_true(info.range == range);
        assert_ptr_equal(info.pNext, &offset);
        info.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS;
        assert_int_equal(maarGetRangeInfo(allocator, range, &info), VK_ERROR_VALIDATION_FAILED_EXT);
        assert_int_equal(maarGetRangeInfo(allocator, range, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
        maarDestroyRangeAllocator(allocator);
    }
}

static void user_data_of_a_live_range_changes(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        MaarRangeAllocator allocator = create(strategies[i], 1 << 20, NULL);
        MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO};
        MaarRange ranges[2];
        assert_int_equal(allocate(allocator, 100, &ranges[0]), VK_SUCCESS);
        assert_int_equal(allocate(allocator, 100, &ranges[1]), VK_SUCCESS);
        assert_int_equal(maarSetRangeUserData(allocator, ranges[0], UINT64_MAX - 1), VK_SUCCESS);
        assert_int_equal(maarGetRangeInfo(allocator, ranges[0], &info), VK_SUCCESS);
        assert_true(info.userData == UINT64_MAX - 1 && info.size == 100);
        assert_int_equal(maarGetRangeInfo(allocator, ranges[1], &info), VK_SUCCESS);
        assert_true(info.userData == 300); /* as it was allocated with */
        assert_int_equal(maarFreeRange(allocator, ranges[0]), VK_SUCCESS);
        assert_int_equal(maarSetRangeUserData(allocator, ranges[0], 1),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        assert_int_equal(maarSetRangeUserData(allocator, VK_NULL_HANDLE, 1),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        assert_null(maarCheckRangeAllocator(allocator));
        maarDestroyRangeAllocator(allocator);
    }
}

static void statistics_follow_every_call(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        MaarRangeAllocator allocator = create(strategies[i], 4096, NULL);
        MaarRangeStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
        MaarRange range = VK_NULL_HANDLE;
        assert_int_equal(allocate(allocator, 1000, &range), VK_SUCCESS);
        assert_int_equal(maarGetRangeStatistics(allocator, &statistics), VK_SUCCESS);
        assert_true(statistics.size == 4096);
        assert_true(statistics.usedSize == 1000);
        assert_int_equal(statistics.rangeCount, 1);
        assert_true(statistics.usedSize + statistics.paddingSize + statistics.freeSize == 4096);
        assert_true(statistics.largestFreeBound <= 3096 && statistics.largestFreeBound >= 2048);
        assert_int_equal(allocate(allocator, 5000, &range), VK_ERROR_OUT_OF_POOL_MEMORY);
        assert_true(range == VK_NULL_HANDLE);
        assert_int_equal(maarResizeRangeAllocator(allocator, 16384), VK_SUCCESS);
        assert_null(maarCheckRangeAllocator(allocator));
        assert_int_equal(allocate(allocator, 5000, &range), VK_SUCCESS);
        assert_int_equal(maarGetRangeStatistics(allocator, &statistics), VK_SUCCESS);
        assert_true(statistics.size == 16384);
        assert_true(statistics.usedSize == 6000);
        statistics.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO;
        assert_int_equal(maarGetRangeStatistics(allocator, &statistics),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        assert_int_equal(maarGetRangeStatistics(allocator, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
        maarDestroyRangeAllocator(allocator);
    }
}

static void resize_out_of_limits_is_refused(void** state)
{
    (void)state;
    struct messages messages = {0};
    for (uint32_t i = 0; i < 3; ++i) {
        MaarRangeAllocator allocator = create(strategies[i], 1000, &messages);
        assert_int_equal(maarResizeRangeAllocator(allocator, 999), VK_ERROR_VALIDATION_FAILED_EXT);
        assert_int_equal(maarResizeRangeAllocator(allocator, MAAR_RANGE_MAX_SIZE + 1),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        assert_int_equal(maarResizeRangeAllocator(allocator, 1000), VK_SUCCESS);
        assert_int_equal(maarResizeRangeAllocator(allocator, MAAR_RANGE_MAX_SIZE), VK_SUCCESS);
        assert_null(maarCheckRangeAllocator(allocator));
        maarDestroyRangeAllocator(allocator);
    }
    assert_int_equal(messages.count, 6);
}

struct walked {
    VkDeviceSize cursor;
    VkDeviceSize sizes[3]; /* by state */
    uint32_t stop_after;
};

static VkBool32 VKAPI_PTR visit(void* user_data, const MaarRangeInfo* info)
{
    struct walked* walked = user_data;
    assert_int_equal(info->sType, MAAR_STRUCTURE_TYPE_RANGE_INFO);
    assert_true(info->offset == walked->cursor);
    assert_true(info->size != 0);
    walked->cursor += info->size;
    walked->sizes[info->state] += info->size;
    if (info->state == MAAR_RANGE_STATE_LIVE) {
        assert_true(info->userData == info->size * 3);
        assert_true(info->range != VK_NULL_HANDLE);
    } else {
        assert_true(info->userData == 0 && info->range == VK_NULL_HANDLE && info->kind == 0);
    }
    walked->stop_after -= 1;
    return walked->stop_after != 0 ? VK_TRUE : VK_FALSE;
}

static void walk_agrees_with_statistics(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        MaarRangeAllocator allocator = create(strategies[i], 10007, NULL);
        MaarRange ranges[20];
        for (uint32_t j = 0; j < 20; ++j) {
            assert_int_equal(allocate(allocator, 100 + j, &ranges[j]), VK_SUCCESS);
        }
        for (uint32_t j = 0; j < 20; j += 3) {
            assert_int_equal(maarFreeRange(allocator, ranges[j]), VK_SUCCESS);
        }
        struct walked walked = {.stop_after = UINT32_MAX};
        MaarRangeStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
        assert_int_equal(maarWalkRanges(allocator, visit, &walked), VK_SUCCESS);
        assert_int_equal(maarGetRangeStatistics(allocator, &statistics), VK_SUCCESS);
        assert_true(walked.cursor == 10007);
        assert_true(walked.sizes[MAAR_RANGE_STATE_LIVE] == statistics.usedSize);
        assert_true(walked.sizes[MAAR_RANGE_STATE_FREE] == statistics.freeSize);
        assert_true(walked.sizes[MAAR_RANGE_STATE_PADDING] == statistics.paddingSize);
        walked = (struct walked){.stop_after = 2};
        assert_int_equal(maarWalkRanges(allocator, visit, &walked), VK_SUCCESS);
        assert_int_equal(walked.stop_after, 0);
        assert_int_equal(maarWalkRanges(allocator, NULL, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
        maarDestroyRangeAllocator(allocator);
    }
}

/* A session of calls; returns the first failure that is not one of space. */
static VkResult session(MaarRangeAllocator allocator, uint32_t* live)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < 300 && result == VK_SUCCESS; ++i) {
        MaarRange range = VK_NULL_HANDLE;
        MaarRangeStatistics before = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
        MaarRangeStatistics after = before;
        assert_int_equal(maarGetRangeStatistics(allocator, &before), VK_SUCCESS);
        result = i == 150 ? maarResizeRangeAllocator(allocator, 1 << 24)
                          : allocate(allocator, 16 + i % 5, &range);
        assert_int_equal(maarGetRangeStatistics(allocator, &after), VK_SUCCESS);
        if (result != VK_SUCCESS) {
            assert_true(range == VK_NULL_HANDLE);
            assert_true(before.size == after.size && before.usedSize == after.usedSize);
            assert_true(before.paddingSize == after.paddingSize);
            assert_true(before.freeSize == after.freeSize);
            assert_true(before.largestFreeBound == after.largestFreeBound);
            assert_int_equal(before.rangeCount, after.rangeCount);
            assert_null(maarCheckRangeAllocator(allocator));
        } else {
            *live += i == 150 ? 0 : 1;
        }
    }
    return result;
}

static void host_failure_anywhere_leaks_and_changes_nothing(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        uint32_t points = 0;
        for (bool failed = true; failed; ++points) {
            struct host host = {.fail_at = points + 1};
            const VkAllocationCallbacks callbacks = host_callbacks(&host);
            const MaarRangeAllocatorCreateInfo info = {
                .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
                .strategy = strategies[i],
                .size = 1 << 16,
                .pAllocationCallbacks = &callbacks,
            };
            MaarRangeAllocator allocator = VK_NULL_HANDLE;
            VkResult result = maarCreateRangeAllocator(&info, &allocator);
            uint32_t live = 0;
            if (result == VK_SUCCESS) {
                result = session(allocator, &live);
            } else {
                assert_null(allocator);
                assert_int_equal(host.live, 0);
            }
            failed = result != VK_SUCCESS;
            if (failed) {
                assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
            }
            if (failed && allocator != VK_NULL_HANDLE) {
                /* The same calls succeed once there is memory again. */
                assert_int_equal(session(allocator, &live), VK_SUCCESS);
            }
            maarDestroyRangeAllocator(allocator);
            assert_int_equal(host.live, 0);
        }
        assert_true(points > 6);
    }
}

static void freeing_takes_no_host_memory(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct host host = {0};
        const VkAllocationCallbacks callbacks = host_callbacks(&host);
        const MaarRangeAllocatorCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
            .strategy = strategies[i],
            .size = 1 << 20,
            .pAllocationCallbacks = &callbacks,
        };
        MaarRangeAllocator allocator = VK_NULL_HANDLE;
        MaarRange ranges[500];
        assert_int_equal(maarCreateRangeAllocator(&info, &allocator), VK_SUCCESS);
        for (uint32_t j = 0; j < 500; ++j) {
            assert_int_equal(allocate(allocator, 64, &ranges[j]), VK_SUCCESS);
        }
        const uint32_t calls = host.calls;
        for (uint32_t j = 0; j < 500; ++j) {
            assert_int_equal(maarFreeRange(allocator, ranges[(j * 7) % 500]), VK_SUCCESS);
        }
        assert_int_equal(host.calls, calls);
        maarDestroyRangeAllocator(allocator);
    }
}

static void warm_allocator_takes_no_host_memory(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct host host = {0};
        const VkAllocationCallbacks callbacks = host_callbacks(&host);
        const MaarRangeAllocatorCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
            .strategy = strategies[i],
            .size = 1 << 20,
            .pAllocationCallbacks = &callbacks,
        };
        MaarRangeAllocator allocator = VK_NULL_HANDLE;
        assert_int_equal(maarCreateRangeAllocator(&info, &allocator), VK_SUCCESS);
        MaarRange ranges[500];
        uint32_t calls = 0;
        for (uint32_t round = 0; round < 3; ++round) {
            for (uint32_t j = 0; j < 500; ++j) {
                assert_int_equal(allocate(allocator, 64, &ranges[j]), VK_SUCCESS);
            }
            for (uint32_t j = 0; j < 500; ++j) {
                assert_int_equal(maarFreeRange(allocator, ranges[(j * 7) % 500]), VK_SUCCESS);
            }
            if (round == 0) {
                calls = host.calls;
            }
        }
        assert_int_equal(host.calls, calls);
        maarDestroyRangeAllocator(allocator);
        assert_int_equal(host.live, 0);
    }
}

/* ---- handles for ever ---- */

enum { REUSES = 1 << 20 };

static uint64_t names[REUSES];

static int compare_names(const void* a, const void* b)
{
    const uint64_t x = *(const uint64_t*)a;
    const uint64_t y = *(const uint64_t*)b;
    return x < y ? -1 : x > y;
}

/* No two handles of `count` are the same, and none of a sample names a live range. */
static void expect_all_stale(MaarRangeAllocator allocator, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 61) {
        MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO};
        MaarRange range = VK_NULL_HANDLE;
        memcpy(&range, &names[i], sizeof range);
        if (maarGetRangeInfo(allocator, range, &info) != VK_ERROR_VALIDATION_FAILED_EXT) {
            fail_msg("the handle of use %u is accepted again", i);
        }
    }
    qsort(names, count, sizeof names[0], compare_names);
    for (uint32_t i = 1; i < count; ++i) {
        assert_true(names[i] != names[i - 1]);
    }
}

/* A space of one range, of a range between two others, and of a range beside free bytes: a node is
 * freed alone, and freed into each of its neighbours. */
static void node_used_a_million_times_repeats_no_handle(void** state)
{
    (void)state;
    for (uint32_t way = 0; way < 9; ++way) {
        if (way == 7) {
            continue; /* linear placement does not use the room between two ranges again */
        }
        struct host host = {.live = 0};
        const VkAllocationCallbacks callbacks = host_callbacks(&host);
        const MaarRangeAllocatorCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
            .strategy = (MaarPlacementStrategy)(way / 3),
            .size = 64 * (way % 3 == 1 ? 3 : 1 + way % 3),
            .pAllocationCallbacks = &callbacks,
        };
        MaarRangeAllocator allocator = VK_NULL_HANDLE;
        MaarRange sides[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
        assert_int_equal(maarCreateRangeAllocator(&info, &allocator), VK_SUCCESS);
        for (uint32_t i = 0; i < REUSES; ++i) {
            MaarRange range = VK_NULL_HANDLE;
            if (way % 3 == 1 && i == 0) {
                assert_int_equal(allocate(allocator, 64, &sides[0]), VK_SUCCESS);
            }
            assert_int_equal(allocate(allocator, 64, &range), VK_SUCCESS);
            if (way % 3 == 1 && i == 0) {
                assert_int_equal(allocate(allocator, 64, &sides[1]), VK_SUCCESS);
            }
            memcpy(&names[i], &range, sizeof range);
            assert_int_equal(maarFreeRange(allocator, range), VK_SUCCESS);
            if (i % 100000 == 0) {
                assert_null(maarCheckRangeAllocator(allocator));
            }
        }
        assert_null(maarCheckRangeAllocator(allocator));
        expect_all_stale(allocator, REUSES);
        maarDestroyRangeAllocator(allocator);
        assert_int_equal(host.live, 0);
    }
}

static void handles_of_a_reset_are_stale(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        MaarRange ranges[300];
        struct messages messages = {0};
        MaarRangeAllocator allocator = create(strategies[i], 1 << 20, &messages);
        for (uint32_t j = 0; j < 300; ++j) {
            assert_int_equal(allocate(allocator, 256, &ranges[j]), VK_SUCCESS);
        }
        assert_int_equal(maarResetRangeAllocator(allocator), VK_SUCCESS);
        for (uint32_t j = 0; j < 300; ++j) {
            assert_int_equal(maarFreeRange(allocator, ranges[j]), VK_ERROR_VALIDATION_FAILED_EXT);
        }
        assert_null(maarCheckRangeAllocator(allocator));
        maarDestroyRangeAllocator(allocator);
    }
}

/* The names of free, unused and other nodes are no handles either. A handle has a generation of 30
 * bits on top; below it are four bits that say nothing, and the number of a node. */
static void handles_that_were_never_given_are_refused(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        struct messages messages = {0};
        MaarRange kept[3];
        MaarRangeAllocator allocator = create(strategies[i], 1 << 16, &messages);
        for (uint32_t j = 0; j < 3; ++j) {
            assert_int_equal(allocate(allocator, 256, &kept[j]), VK_SUCCESS);
        }
        assert_int_equal(maarFreeRange(allocator, kept[1]), VK_SUCCESS);
        assert_int_equal(maarFreeRange(allocator, kept[2]), VK_SUCCESS);
        for (uint64_t name = 0; name < 4 * 8 * 16 * 64; ++name) {
            const uint64_t era_bits = name & 3;
            const uint64_t generation = (name >> 2 & 7) | (name >> 5 & 1) << 15;
            const uint64_t index = name >> 6 & 7;
            const uint64_t tag = name >> 9 & 63;
            const uint64_t handle = era_bits << 62 | tag << 50 | generation << 34 | index;
            if (handle != (uint64_t)kept[0] && handle != 0) {
                assert_int_equal(maarFreeRange(allocator, MAAR_FROM_BITS(MaarRange, handle)),
                                 VK_ERROR_VALIDATION_FAILED_EXT);
            }
        }
        assert_int_equal(maarFreeRange(allocator, kept[0]), VK_SUCCESS);
        assert_null(maarCheckRangeAllocator(allocator));
        maarDestroyRangeAllocator(allocator);
    }
}

/* Requests of the alignment that the ranges before them had, which differ in one thing. */
static void similar_requests_are_told_apart(void** state)
{
    (void)state;
    static const VkDeviceSize alignments[] = {256, 1};
    for (uint32_t i = 0; i < 2; ++i) {
        struct messages messages = {0};
        MaarRangeAllocator allocator = create(MAAR_PLACEMENT_STRATEGY_TLSF, 1 << 20, &messages);
        MaarRangeAllocateInfo request = {.sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
                                         .size = 100,
                                         .alignment = alignments[i],
                                         .userData = 7};
        MaarRange range = VK_NULL_HANDLE;
        VkDeviceSize offset = 0;
        assert_int_equal(maarAllocateRange(allocator, &request, &range, NULL), VK_SUCCESS);
        assert_int_equal(maarAllocateRange(allocator, &request, &range, NULL), VK_SUCCESS);
        request.kind = 3;
        assert_int_equal(maarAllocateRange(allocator, &request, &range, &offset), VK_SUCCESS);
        MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO};
        assert_int_equal(maarGetRangeInfo(allocator, range, &info), VK_SUCCESS);
        assert_true(info.kind == 3 && info.userData == 7 && info.offset == offset);
        request.kind = 0;
        request.flags = 0x40000000;
        assert_int_equal(maarAllocateRange(allocator, &request, &range, NULL),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        request.flags = 0;
        request.alignment = 0;
        assert_int_equal(maarAllocateRange(allocator, &request, &range, &offset), VK_SUCCESS);
        request.alignment = 3;
        assert_int_equal(maarAllocateRange(allocator, &request, &range, &offset), VK_SUCCESS);
        assert_true(offset % 3 == 0);
        request.alignment = 2;
        assert_int_equal(maarAllocateRange(allocator, &request, &range, &offset), VK_SUCCESS);
        assert_true(offset % 2 == 0);
        assert_null(maarCheckRangeAllocator(allocator));
        maarDestroyRangeAllocator(allocator);
    }
}

static void broken_invariant_is_named(void** state)
{
    (void)state;
    MaarRangeAllocator allocator = create(MAAR_PLACEMENT_STRATEGY_TLSF, 4096, NULL);
    struct maar_placement* placement = (void*)allocator; /* its first field */
    assert_null(maarCheckRangeAllocator(allocator));
    placement->used_size += 16;
    const char* const broken = maarCheckRangeAllocator(allocator);
    assert_non_null(broken);
    assert_true(strlen(broken) > 10);
    placement->used_size -= 16;
    assert_null(maarCheckRangeAllocator(allocator));
    maarDestroyRangeAllocator(allocator);
}

/* No memory has this size; offsets are numbers. */
static void managed_space_is_never_touched(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        MaarRangeAllocator allocator = create(strategies[i], MAAR_RANGE_MAX_SIZE, NULL);
        MaarRange ranges[2];
        for (uint32_t j = 0; j < 2; ++j) {
            assert_int_equal(allocate(allocator, MAAR_RANGE_MAX_SIZE / 4, &ranges[j]), VK_SUCCESS);
        }
        assert_int_equal(maarFreeRange(allocator, ranges[0]), VK_SUCCESS);
        assert_null(maarCheckRangeAllocator(allocator));
        maarDestroyRangeAllocator(allocator);
    }
}

/* A range that is freed last joins both neighbours, also when its node was used too often. */
static void nodes_wear_out_between_free_neighbours(void** state)
{
    (void)state;
    for (uint32_t strategy = 0; strategy < 3; ++strategy) {
        MaarRangeAllocator allocator =
            create((MaarPlacementStrategy)strategy, (VkDeviceSize)256, NULL);
        for (uint32_t i = 0; i < REUSES / 3; ++i) {
            MaarRange ranges[4];
            for (uint32_t k = 0; k < 4; ++k) {
                assert_int_equal(allocate(allocator, 64, &ranges[k]), VK_SUCCESS);
            }
            assert_int_equal(maarFreeRange(allocator, ranges[i % 2]), VK_SUCCESS);
            assert_int_equal(maarFreeRange(allocator, ranges[2 + i % 2]), VK_SUCCESS);
            assert_int_equal(maarFreeRange(allocator, ranges[1 - i % 2]), VK_SUCCESS);
            assert_int_equal(maarFreeRange(allocator, ranges[3 - i % 2]), VK_SUCCESS);
            if (i % 50000 == 0) {
                assert_null(maarCheckRangeAllocator(allocator));
            }
        }
        assert_null(maarCheckRangeAllocator(allocator));
        maarDestroyRangeAllocator(allocator);
    }
}

/* A node that was used too often is retired by a reset, which makes room for others in time. */
static void reset_without_host_memory_changes_nothing(void** state)
{
    (void)state;
    struct host host = {0};
    const VkAllocationCallbacks callbacks = host_callbacks(&host);
    const MaarRangeAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .size = 4096,
        .pAllocationCallbacks = &callbacks,
    };
    MaarRangeAllocator allocator = VK_NULL_HANDLE;
    MaarRangeStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
    MaarRange range = VK_NULL_HANDLE;
    VkResult result = VK_SUCCESS;
    assert_int_equal(maarCreateRangeAllocator(&info, &allocator), VK_SUCCESS);
    for (uint32_t i = 0; i < REUSES && result == VK_SUCCESS; ++i) {
        assert_int_equal(allocate(allocator, 64, &range), VK_SUCCESS);
        host.fail_at = host.calls + 1;
        result = maarResetRangeAllocator(allocator);
        host.fail_at = 0;
    }
    assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarGetRangeStatistics(allocator, &statistics), VK_SUCCESS);
    assert_int_equal(statistics.rangeCount, 1);
    assert_null(maarCheckRangeAllocator(allocator));
    assert_int_equal(maarResetRangeAllocator(allocator), VK_SUCCESS);
    maarDestroyRangeAllocator(allocator);
    assert_int_equal(host.live, 0);
}

/* The same by resets, which free all ranges at once. Nodes that are given up cost more of them. */
static void resets_repeat_no_handle(void** state)
{
    (void)state;
    for (uint32_t strategy = 0; strategy < 3; ++strategy) {
        struct host host = {.live = 0};
        const VkAllocationCallbacks callbacks = host_callbacks(&host);
        const MaarRangeAllocatorCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
            .strategy = (MaarPlacementStrategy)strategy,
            .size = 4096,
            .pAllocationCallbacks = &callbacks,
        };
        MaarRangeAllocator allocator = VK_NULL_HANDLE;
        assert_int_equal(maarCreateRangeAllocator(&info, &allocator), VK_SUCCESS);
        for (uint32_t i = 0; i < REUSES; ++i) {
            MaarRange range = VK_NULL_HANDLE;
            assert_int_equal(allocate(allocator, 64, &range), VK_SUCCESS);
            memcpy(&names[i], &range, sizeof range);
            if (i % 2 != 0 || i % 100000 == 0) {
                assert_int_equal(maarFreeRange(allocator, range), VK_SUCCESS);
            }
            assert_int_equal(maarResetRangeAllocator(allocator), VK_SUCCESS);
            if (i % 50000 == 0) {
                assert_null(maarCheckRangeAllocator(allocator));
            }
        }
        assert_null(maarCheckRangeAllocator(allocator));
        expect_all_stale(allocator, REUSES);
        maarDestroyRangeAllocator(allocator);
        assert_int_equal(host.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_misuse_is_reported_and_refused),
        cmocka_unit_test(null_allocator_is_refused),
        cmocka_unit_test(allocate_misuse_is_reported_and_changes_nothing),
        cmocka_unit_test(range_freed_twice_is_reported),
        cmocka_unit_test(range_outlived_by_reset_is_reported),
        cmocka_unit_test(info_describes_a_live_range),
        cmocka_unit_test(user_data_of_a_live_range_changes),
        cmocka_unit_test(statistics_follow_every_call),
        cmocka_unit_test(resize_out_of_limits_is_refused),
        cmocka_unit_test(walk_agrees_with_statistics),
        cmocka_unit_test(host_failure_anywhere_leaks_and_changes_nothing),
        cmocka_unit_test(handles_of_a_reset_are_stale),
        cmocka_unit_test(handles_that_were_never_given_are_refused),
        cmocka_unit_test(broken_invariant_is_named),
        cmocka_unit_test(managed_space_is_never_touched),
        cmocka_unit_test(nodes_wear_out_between_free_neighbours),
        cmocka_unit_test(reset_without_host_memory_changes_nothing),
        cmocka_unit_test(freeing_takes_no_host_memory),
        cmocka_unit_test(warm_allocator_takes_no_host_memory),
        cmocka_unit_test(node_used_a_million_times_repeats_no_handle),
        cmocka_unit_test(similar_requests_are_told_apart),
        cmocka_unit_test(resets_repeat_no_handle),
    };
    return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}
