/*
 * The number of VkDeviceMemory objects, and the limit of it: see object_count.h.
 */
#include "core/memory/object_count.h"

#include "core/memory/allocator_state.h"

/* The count is high from three quarters of the known limit on. A learned limit is enforced down to
 * the same share of it. */
enum { HIGH_NUMERATOR = 3, HIGH_DENOMINATOR = 4 };

static bool may_exceed(MaarAllocator allocator)
{
    return (allocator->flags & MAAR_ALLOCATOR_CREATE_EXCEED_ALLOCATION_COUNT_BIT) != 0;
}

static uint64_t high_share(uint64_t limit)
{
    return limit / HIGH_DENOMINATOR * HIGH_NUMERATOR;
}

uint32_t maar_object_count(MaarAllocator allocator)
{
    return (uint32_t)maar_atomic64_load(&allocator->object_count.count);
}

uint32_t maar_object_count_limit(MaarAllocator allocator)
{
    struct maar_object_count* const objects = &allocator->object_count;
    if (!may_exceed(allocator)) {
        return allocator->device.facts.max_allocation_count;
    }
    return maar_atomic32_load(&objects->enforced) != 0
               ? (uint32_t)maar_atomic64_load(&objects->learned)
               : UINT32_MAX;
}

bool maar_object_count_is_high(MaarAllocator allocator)
{
    struct maar_object_count* const objects = &allocator->object_count;
    const uint64_t learned = maar_atomic64_load(&objects->learned);
    const uint64_t known = learned != 0 ? learned : allocator->device.facts.max_allocation_count;
    return maar_atomic64_load(&objects->count) >= high_share(known);
}

bool maar_object_count_add(MaarAllocator allocator)
{
    return maar_atomic64_add_below(&allocator->object_count.count, 1,
                                   maar_object_count_limit(allocator));
}

void maar_object_count_subtract(MaarAllocator allocator)
{
    struct maar_object_count* const objects = &allocator->object_count;
    const uint64_t count = maar_atomic64_sub(&objects->count, 1);
    if (maar_atomic32_load(&objects->enforced) != 0 &&
        count < high_share(maar_atomic64_load(&objects->learned))) {
        maar_atomic32_store(&objects->enforced, 0);
    }
}

static void learn_limit(MaarAllocator allocator)
{
    struct maar_object_count* const objects = &allocator->object_count;
    const uint64_t count = maar_atomic64_load(&objects->count);
    /* With a limit of 0 the driver would never be asked again. */
    const uint64_t limit = count > 0 ? count : 1;
    const bool is_new = maar_atomic64_load(&objects->learned) != limit;
    maar_atomic64_store(&objects->learned, limit);
    maar_atomic32_store(&objects->enforced, 1);
    if (is_new) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_INFO, MAAR_MESSAGE_ID_ALLOCATION_COUNT_LEARNED,
                    NULL,
                    "the driver refused a device memory object beside %llu of this allocator, and "
                    "its maxMemoryAllocationCount is %u; Maar makes no more than %llu now",
                    (unsigned long long)count, allocator->device.facts.max_allocation_count,
                    (unsigned long long)limit);
    }
}

void maar_object_count_note(MaarAllocator allocator, VkResult result)
{
    struct maar_object_count* const objects = &allocator->object_count;
    const uint32_t reported = allocator->device.facts.max_allocation_count;
    if (!may_exceed(allocator)) {
        return;
    }
    if (result == VK_ERROR_TOO_MANY_OBJECTS) {
        learn_limit(allocator);
    } else if (result == VK_SUCCESS && maar_object_count(allocator) > reported &&
               maar_atomic32_exchange(&objects->is_warned, 1) == 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING,
                    MAAR_MESSAGE_ID_ALLOCATION_COUNT_EXCEEDED, NULL,
                    "more than %u device memory objects exist (maxMemoryAllocationCount), as "
                    "MAAR_ALLOCATOR_CREATE_EXCEED_ALLOCATION_COUNT_BIT allows; other drivers may "
                    "refuse them",
                    reported);
    }
}
