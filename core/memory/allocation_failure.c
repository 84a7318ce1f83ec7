/*
 * Reports in one sentence why there was no memory: the request, the memory that exists, and what
 * would help. Only a failed request calls this file, so requests that succeed pay nothing.
 *
 * Some programs probe for memory or repeat a request, so reports are limited. A failure that a flag
 * of the request or the limits of a pool cause is reported as INFO, not as WARNING. Failures for
 * the same reason in the same heap are counted until a VkDeviceMemory is made there. Of these
 * failures the 1st, 2nd, 4th, 8th and so on are reported. So are memory of another type than the
 * preferred one, and memory above a budget, which are successes with a warning.
 */
#include "core/memory/allocation_failure.h"

#include <stdio.h>

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"
#include "core/memory/pool_room.h"

enum { TEXT_SIZE = 560, ROOM_SIZE = 320 };

static const MaarMessageId failure_ids[MAAR_FAILURE_REASONS] = {
    [MAAR_FAILURE_BY_DRIVER] = MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY,
    [MAAR_FAILURE_OVER_BUDGET] = MAAR_MESSAGE_ID_BUDGET_REACHED,
    [MAAR_FAILURE_ABOVE_LIMIT] = MAAR_MESSAGE_ID_HEAP_LIMIT_REACHED,
    [MAAR_FAILURE_ABOVE_HEAP] = MAAR_MESSAGE_ID_TOO_LARGE_FOR_HEAP,
    [MAAR_FAILURE_ABOVE_LARGEST] = MAAR_MESSAGE_ID_TOO_LARGE_FOR_DEVICE,
    [MAAR_FAILURE_TOO_MANY] = MAAR_MESSAGE_ID_TOO_MANY_ALLOCATIONS,
    [MAAR_FAILURE_POOL_IS_FULL] = MAAR_MESSAGE_ID_POOL_FULL,
    [MAAR_FAILURE_ABOVE_BLOCK] = MAAR_MESSAGE_ID_TOO_LARGE_FOR_POOL,
};

/* Describes the size, the budget and the use of a heap. */
static void describe_heap(MaarAllocator allocator, uint32_t heap, char* text, size_t size)
{
    const struct maar_budget budget = maar_budget_read(allocator, heap);
    (void)snprintf(text, size, "heap %u has %s, a budget of %s%s, %s in use, %s by this allocator",
                   heap,
                   maar_show_bytes(allocator->device.facts.memory.memoryHeaps[heap].size).text,
                   maar_show_bytes(budget.budget).text, budget.from_driver ? "" : " (assumed)",
                   maar_show_bytes(budget.usage).text,
                   maar_show_bytes(maar_atomic64_load(&allocator->heaps[heap].block_bytes)).text);
}

static VkDeviceSize size_of_block(const struct maar_allocation_failure* failure)
{
    return failure->block_size > failure->size ? failure->block_size : failure->size;
}

/* Whether the caller's limit of the heap prevents a new VkDeviceMemory for the request. */
static bool is_above_limit(const struct maar_heap_account* account,
                           const struct maar_allocation_failure* failure)
{
    const VkDeviceSize held = maar_atomic64_load(&account->block_bytes);
    const VkDeviceSize size = failure->in_pieces ? failure->lacking : size_of_block(failure);
    return account->limit != 0 && (held > account->limit || size > account->limit - held);
}

enum maar_failure_reason maar_find_failure_reason(MaarAllocator allocator,
                                                  const struct maar_allocation_failure* failure)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const uint32_t heap = maar_type_heap(allocator, failure->type_index);
    const struct maar_heap_account* account = &allocator->heaps[heap];
    const VkDeviceSize size = failure->in_pieces ? failure->size : size_of_block(failure);
    const bool fits = failure->pool == NULL || failure->pool->fixed_size == 0 ||
                      failure->size <= failure->pool->fixed_size;
    if (failure->result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        return fits ? MAAR_FAILURE_POOL_IS_FULL : MAAR_FAILURE_ABOVE_BLOCK;
    }
    if (failure->result == VK_ERROR_TOO_MANY_OBJECTS) {
        return MAAR_FAILURE_TOO_MANY;
    }
    if (size > facts->max_allocation_size && !failure->in_pieces) {
        return MAAR_FAILURE_ABOVE_LARGEST;
    }
    if (size > facts->memory.memoryHeaps[heap].size) {
        return MAAR_FAILURE_ABOVE_HEAP;
    }
    if (is_above_limit(account, failure)) {
        return MAAR_FAILURE_ABOVE_LIMIT;
    }
    return failure->only_budget ? MAAR_FAILURE_OVER_BUDGET : MAAR_FAILURE_BY_DRIVER;
}

/* Whether the explanation of a failure describes the heap, about which the driver is asked. */
static bool mentions_heap(enum maar_failure_reason reason)
{
    return reason != MAAR_FAILURE_POOL_IS_FULL && reason != MAAR_FAILURE_ABOVE_BLOCK &&
           reason != MAAR_FAILURE_TOO_MANY && reason != MAAR_FAILURE_ABOVE_LARGEST;
}

/* Describes why a pool has no room, and what would make some. */
static void explain_full_pool(const struct maar_pool* pool, const char* name, char* text,
                              size_t size)
{
    const struct maar_pool_room room =
        pool != NULL ? maar_pool_find_room(pool) : (struct maar_pool_room){.size = 0};
    const uint32_t blocks = pool != NULL ? maar_atomic32_load(&pool->block_count) : 0;
    const bool waits = room.pending > 0;
    (void)snprintf(text, size,
                   "pool %s has %s in %u block%s and may not add one; %s are free, but not where "
                   "the request fits%s%s%s; raise maxBlockCount, or free something",
                   name, maar_show_bytes(room.size).text, blocks, blocks == 1 ? "" : "s",
                   maar_show_bytes(room.free).text, waits ? ", and " : "",
                   waits ? maar_show_bytes(room.pending).text : "",
                   waits
                       ? " wait for points of a timeline (maarWaitPoints for the oldest, then try "
                         "again)"
                       : "");
}

/* Describes the reason and the remedy. */
static void explain_failure(MaarAllocator allocator, const struct maar_allocation_failure* failure,
                            enum maar_failure_reason reason, char* text, size_t size)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const uint32_t type = failure->type_index;
    const uint32_t heap = maar_type_heap(allocator, type);
    const struct maar_pool* pool = failure->pool;
    const struct maar_quoted name = maar_quote(pool != NULL ? pool->name : NULL);
    char room[ROOM_SIZE] = "";
    if (mentions_heap(reason)) {
        describe_heap(allocator, heap, room, sizeof room);
    }
    switch (reason) {
    case MAAR_FAILURE_POOL_IS_FULL:
        explain_full_pool(pool, name.text, text, size);
        break;
    case MAAR_FAILURE_ABOVE_BLOCK:
        (void)snprintf(text, size,
                       "the blocks of pool %s have %s; raise its blockSize, or ask for "
                       "MAAR_DEDICATED_ALWAYS",
                       name.text, maar_show_bytes(pool != NULL ? pool->fixed_size : 0).text);
        break;
    case MAAR_FAILURE_TOO_MANY:
        (void)snprintf(text, size,
                       "%u device memory objects of this allocator exist (maxMemoryAllocationCount "
                       "is %u)%s; make fewer dedicated allocations, or use larger blocks",
                       maar_object_count(allocator), facts->max_allocation_count,
                       maar_object_count(allocator) != facts->max_allocation_count
                           ? ", and the driver makes no other one"
                           : "");
        break;
    case MAAR_FAILURE_ABOVE_LARGEST:
        (void)snprintf(
            text, size,
            "one allocation may have %s (maxMemoryAllocationSize); divide the request, or "
            "use pages (maar/paging.h)",
            maar_show_bytes(facts->max_allocation_size).text);
        break;
    case MAAR_FAILURE_ABOVE_HEAP:
        (void)snprintf(text, size,
                       "%s, and memory type %u is in this heap; divide the request, or allow other "
                       "types",
                       room, type);
        break;
    case MAAR_FAILURE_ABOVE_LIMIT:
        (void)snprintf(text, size,
                       "pHeapSizeLimits allows %s, and %s; free something, or raise the limit",
                       maar_show_bytes(allocator->heaps[heap].limit).text, room);
        break;
    case MAAR_FAILURE_OVER_BUDGET:
        (void)snprintf(text, size, "%s, and this request may not exceed the budget; free something",
                       room);
        break;
    default:
        (void)snprintf(
            text, size,
            "the driver has no memory of type %u (%s); %s; free something, or ask for less", type,
            maarGetResultName(failure->result == VK_ERROR_UNKNOWN ? VK_ERROR_UNKNOWN
                                                                  : VK_ERROR_OUT_OF_DEVICE_MEMORY),
            room);
        break;
    }
}

/* Whether a failure is reported: the 1st, 2nd, 4th, 8th and so on. */
static bool is_reported_at(uint64_t number)
{
    return maar_is_power_of_two_or_zero(number);
}

/* The parts of a sentence that name the allocation and say how often this has happened. */
struct occurrence {
    char of[90];
    char times[40];
};

static struct occurrence describe_occurrence(const char* name, uint64_t count)
{
    struct occurrence made = {.of = ""};
    if (name != NULL) {
        (void)snprintf(made.of, sizeof made.of, " of %s", maar_quote(name).text);
    }
    if (count > 1) {
        (void)snprintf(made.times, sizeof made.times, " (%llu such cases now)",
                       (unsigned long long)count);
    }
    return made;
}

void maar_report_allocation_failure(MaarAllocator allocator,
                                    const struct maar_allocation_failure* failure)
{
    if (allocator->reporter.message == NULL) {
        return;
    }
    const enum maar_failure_reason reason = failure->reason != MAAR_FAILURE_REASONS
                                                ? failure->reason
                                                : maar_find_failure_reason(allocator, failure);
    struct maar_heap_account* account =
        &allocator->heaps[maar_type_heap(allocator, failure->type_index)];
    const uint32_t count = maar_atomic32_add(&account->failures.by_reason[reason], 1);
    maar_atomic32_store(&account->failures.any, 1);
    if (!is_reported_at(count)) {
        return;
    }
    char why[TEXT_SIZE];
    char others[32] = "";
    const struct occurrence o = describe_occurrence(failure->name, count);
    explain_failure(allocator, failure, reason, why, sizeof why);
    const uint32_t tried = failure->type_bits & ~(1u << failure->type_index);
    if (tried != 0) {
        (void)snprintf(others, sizeof others, " (nor in types 0x%X)", tried);
    }
    const bool expected = reason == MAAR_FAILURE_OVER_BUDGET ||
                          reason == MAAR_FAILURE_POOL_IS_FULL || reason == MAAR_FAILURE_ABOVE_BLOCK;
    maar_report(allocator, expected ? MAAR_MESSAGE_SEVERITY_INFO : MAAR_MESSAGE_SEVERITY_WARNING,
                failure_ids[reason], failure->call, "no memory for %s%s%s%s: %s",
                maar_show_bytes(failure->size).text, o.of, others, o.times, why);
}

/* Describes why the preferred memory type of a fallback did not serve. */
static const char* explain_fallback(MaarAllocator allocator, const struct maar_fallback* fallback,
                                    uint32_t heap)
{
    const struct maar_budget budget = maar_budget_read(allocator, heap);
    const struct maar_allocation_failure request = {.size = fallback->size};
    if (is_above_limit(&allocator->heaps[heap], &request)) {
        return "is at the limit that pHeapSizeLimits sets";
    }
    if (fallback->size > budget.budget) {
        return "cannot hold so many bytes within its budget";
    }
    return maar_budget_holds(&budget, fallback->size) ? "has no room" : "is at its budget";
}

void maar_report_fallback(MaarAllocator allocator, const struct maar_fallback* fallback)
{
    const uint64_t count = maar_atomic64_add(&allocator->fallbacks, fallback->counted ? 0 : 1);
    if (allocator->reporter.message == NULL || !is_reported_at(count)) {
        return;
    }
    const uint32_t heap = maar_type_heap(allocator, fallback->preferred);
    const struct occurrence o = describe_occurrence(fallback->name, count);
    char room[ROOM_SIZE];
    describe_heap(allocator, heap, room, sizeof room);
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_FALLBACK_TYPE,
                fallback->call,
                "%s%s went to memory type %u%s: heap %u, of the preferred type %u, %s; %s",
                maar_show_bytes(fallback->size).text, o.of, fallback->type, o.times, heap,
                fallback->preferred, explain_fallback(allocator, fallback, heap), room);
}

void maar_report_over_budget(MaarAllocator allocator, const char* call, const char* name,
                             uint32_t heap, VkDeviceSize size)
{
    const uint64_t count = maar_atomic64_add(&allocator->over_budget, 1);
    if (allocator->reporter.message == NULL || !is_reported_at(count)) {
        return;
    }
    const struct occurrence o = describe_occurrence(name, count);
    char room[ROOM_SIZE];
    describe_heap(allocator, heap, room, sizeof room);
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_OVER_BUDGET, call,
                "%s%s exceed the budget of heap %u%s; %s", maar_show_bytes(size).text, o.of, heap,
                o.times, room);
}
