/*
 * Tells in one sentence why there was no memory: what was asked for, what there is, what would
 * help. Only when a request has failed, so nothing here is in the way of those that succeed.
 *
 * A program that probes, or that tries again and again, is not flooded: what it forbids itself by a
 * flag or a pool's limit is worth INFO at most, and of refusals of one kind that follow each other
 * in a heap, with no VkDeviceMemory made there in between, the 1st, 2nd, 4th, 8th and so on are
 * told.
 */
#include <stdio.h>

#include "core/memory/memory_internal.h"

enum { TEXT_SIZE = 320 };

/* The numbers of a heap; "here": in blocks of this allocator. */
static void describe_heap(MaarAllocator allocator, uint32_t heap, char* text, size_t size)
{
    const struct maar_budget budget = maar_budget_read(allocator, heap);
    (void)snprintf(text, size,
                   "heap %u has %llu, a budget of %llu%s, %llu in use, %llu of them here", heap,
                   (unsigned long long)allocator->device.facts.memory.memoryHeaps[heap].size,
                   (unsigned long long)budget.budget, budget.from_driver ? "" : " (assumed)",
                   (unsigned long long)budget.usage,
                   (unsigned long long)maar_atomic64_load(&allocator->heaps[heap].block_bytes));
}

/* What the pool, or the request alone, would ask the driver for. */
static VkDeviceSize size_of_block(const struct maar_refusal* refusal)
{
    const VkDeviceSize fixed = refusal->pool != NULL ? refusal->pool->fixed_size : 0;
    return fixed > refusal->size ? fixed : refusal->size;
}

/* Whether the caller's limit of the heap stands in the way: of a whole block, as a rule. */
static bool is_above_limit(const struct maar_heap_account* account,
                           const struct maar_refusal* refusal)
{
    const VkDeviceSize held = maar_atomic64_load(&account->block_bytes);
    const bool is_exact =
        refusal->in_pieces || (refusal->pool != NULL && refusal->pool->fixed_size != 0);
    VkDeviceSize size = refusal->in_pieces ? refusal->size : size_of_block(refusal);
    size = is_exact ? size : maar_align_up(size, MAAR_BLOCK_ROUNDING);
    return account->limit != 0 && (held > account->limit || size > account->limit - held);
}

static enum maar_refusal_reason find_reason(MaarAllocator allocator,
                                            const struct maar_refusal* refusal)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const uint32_t heap = maar_type_heap(allocator, refusal->type_index);
    const struct maar_heap_account* account = &allocator->heaps[heap];
    const VkDeviceSize size = refusal->in_pieces ? 0 : size_of_block(refusal);
    const bool fits = refusal->pool == NULL || refusal->pool->fixed_size == 0 ||
                      refusal->size <= refusal->pool->fixed_size;
    if (refusal->result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        return fits ? MAAR_REFUSAL_POOL_IS_FULL : MAAR_REFUSAL_ABOVE_BLOCK;
    }
    if (refusal->result == VK_ERROR_TOO_MANY_OBJECTS) {
        return MAAR_REFUSAL_TOO_MANY;
    }
    if (size > facts->max_allocation_size) {
        return MAAR_REFUSAL_ABOVE_LARGEST;
    }
    if (size > facts->memory.memoryHeaps[heap].size) {
        return MAAR_REFUSAL_ABOVE_HEAP;
    }
    if (is_above_limit(account, refusal)) {
        return MAAR_REFUSAL_ABOVE_LIMIT;
    }
    return refusal->only_budget ? MAAR_REFUSAL_OVER_BUDGET : MAAR_REFUSAL_BY_DRIVER;
}

/* Why, and what would help. */
static void explain_refusal(MaarAllocator allocator, const struct maar_refusal* refusal,
                            enum maar_refusal_reason reason, char* text, size_t size)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const uint32_t type = refusal->type_index;
    const uint32_t heap = maar_type_heap(allocator, type);
    const struct maar_pool* pool = refusal->pool;
    const struct maar_quoted name = maar_quote(pool != NULL ? pool->name : NULL);
    char room[TEXT_SIZE / 2];
    describe_heap(allocator, heap, room, sizeof room);
    switch (reason) {
    case MAAR_REFUSAL_POOL_IS_FULL:
        (void)snprintf(text, size,
                       "pool %s has no room in its %u blocks and may have no more; raise "
                       "maxBlockCount, or free something",
                       name.text, pool != NULL ? maar_atomic32_load(&pool->block_count) : 0);
        break;
    case MAAR_REFUSAL_ABOVE_BLOCK:
        (void)snprintf(text, size, "the blocks of pool %s have %llu; raise its blockSize",
                       name.text, pool != NULL ? (unsigned long long)pool->fixed_size : 0);
        break;
    case MAAR_REFUSAL_TOO_MANY:
        (void)snprintf(text, size,
                       "%llu of %u device memory objects (maxMemoryAllocationCount) exist; fewer "
                       "dedicated allocations, or larger blocks, take fewer",
                       (unsigned long long)maar_atomic64_load(&allocator->device_count),
                       facts->max_allocation_count);
        break;
    case MAAR_REFUSAL_ABOVE_LARGEST:
        (void)snprintf(
            text, size,
            "one allocation may have %llu (maxMemoryAllocationSize); divide it, or make it "
            "of pages (maar/paging.h)",
            (unsigned long long)facts->max_allocation_size);
        break;
    case MAAR_REFUSAL_ABOVE_HEAP:
        (void)snprintf(text, size,
                       "%s, and memory type %u lies there; divide it, or allow other "
                       "types",
                       room, type);
        break;
    case MAAR_REFUSAL_ABOVE_LIMIT:
        (void)snprintf(text, size,
                       "pHeapSizeLimits allows %llu, and %s; free something, or raise it",
                       (unsigned long long)allocator->heaps[heap].limit, room);
        break;
    case MAAR_REFUSAL_OVER_BUDGET:
        (void)snprintf(text, size, "%s, and the budget is not to be exceeded; free something",
                       room);
        break;
    default:
        (void)snprintf(text, size,
                       "the driver has none of memory type %u (%s); %s; free something, or ask for "
                       "less",
                       type,
                       refusal->result == VK_ERROR_UNKNOWN ? "VK_ERROR_UNKNOWN"
                                                           : "VK_ERROR_OUT_OF_DEVICE_MEMORY",
                       room);
        break;
    }
}

/* The 1st, 2nd, 4th, 8th ... */
static bool is_told_at(uint32_t number)
{
    return (number & (number - 1)) == 0;
}

void maar_tell_refusal(MaarAllocator allocator, const struct maar_refusal* refusal)
{
    if (allocator->message == NULL) {
        return;
    }
    const enum maar_refusal_reason reason = find_reason(allocator, refusal);
    struct maar_heap_account* account =
        &allocator->heaps[maar_type_heap(allocator, refusal->type_index)];
    const uint32_t count = maar_atomic32_add(&account->refusals[reason], 1);
    maar_atomic32_store(&account->refused, 1);
    if (!is_told_at(count)) {
        return;
    }
    char why[TEXT_SIZE];
    char others[32] = "";
    char times[32] = "";
    char of[90] = "";
    explain_refusal(allocator, refusal, reason, why, sizeof why);
    const uint32_t tried = refusal->type_bits & ~(1u << refusal->type_index);
    if (tried != 0) {
        (void)snprintf(others, sizeof others, " (nor in types 0x%X)", tried);
    }
    if (count > 1) {
        (void)snprintf(times, sizeof times, " (%u times now)", count);
    }
    if (refusal->name != NULL) {
        (void)snprintf(of, sizeof of, " of %s", maar_quote(refusal->name).text);
    }
    const bool expected = reason == MAAR_REFUSAL_OVER_BUDGET ||
                          reason == MAAR_REFUSAL_POOL_IS_FULL || reason == MAAR_REFUSAL_ABOVE_BLOCK;
    maar_tell(allocator, expected ? MAAR_MESSAGE_SEVERITY_INFO : MAAR_MESSAGE_SEVERITY_WARNING,
              "%s: no memory for %llu bytes%s%s%s: %s", refusal->call,
              (unsigned long long)refusal->size, of, others, times, why);
}

void maar_forget_refusals(struct maar_heap_account* account)
{
    maar_atomic32_store(&account->refused, 0);
    for (uint32_t i = 0; i < MAAR_REFUSAL_REASONS; ++i) {
        maar_atomic32_store(&account->refusals[i], 0);
    }
}
