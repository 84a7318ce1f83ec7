/*
 * Turns memory that was made elsewhere into an allocation: see foreign_memory.h.
 */
#include "core/memory/foreign_memory.h"

#include "core/memory/allocate.h"
#include "core/memory/allocation_failure.h"
#include "core/memory/allocator_state.h"
#include "core/memory/dedicated.h"
#include "core/memory/default_pool.h"

static VkResult place_foreign(MaarAllocator allocator, const struct maar_foreign_memory* memory,
                              char* name, struct maar_made* made)
{
    struct maar_pool* pool = NULL;
    VkResult result = maar_pool_of_type(allocator, memory->type_index, memory->kind, &pool);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_place_request place = {
        .size = memory->size,
        .alignment = 1,
        .kind = memory->kind,
        .shown_kind = memory->kind,
        .can_alias = true,
        .user_data = memory->user_data,
        .name = name,
    };
    const struct maar_device_memory_info info = {
        .type_index = memory->type_index,
        .size = memory->size,
        .cap = UINT64_MAX,
        .priority = 0.5F,
        .dedicated_buffer = memory->dedicated_buffer,
        .dedicated_image = memory->dedicated_image,
        .next = memory->next,
        .import_types = memory->types,
    };
    return maar_pool_result(maar_pool_place_dedicated(pool, &place, &info, made), made);
}

/* Reports that as many device memory objects exist as the device allows. */
static void report_too_many(MaarAllocator allocator, const struct maar_foreign_memory* memory)
{
    const struct maar_allocation_failure failure = {
        .call = memory->call,
        .name = memory->name,
        .size = memory->size,
        .result = VK_ERROR_TOO_MANY_OBJECTS,
        .type_index = memory->type_index,
        .reason = MAAR_FAILURE_REASONS,
    };
    maar_report_allocation_failure(allocator, &failure);
}

VkResult maar_allocate_foreign(MaarAllocator allocator, const struct maar_foreign_memory* memory,
                               MaarAllocation* allocation)
{
    struct maar_made made;
    char* name = NULL;
    VkResult result =
        memory->size < MAAR_RANGE_MAX_SIZE ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
    *allocation = VK_NULL_HANDLE;
    if (result == VK_SUCCESS && memory->name != NULL) {
        name = maar_copy_string(allocator->callbacks, memory->name);
        result = name != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == VK_SUCCESS) {
        /* Before the driver is asked: a driver that refuses an import may close the handle. */
        if (maar_object_count(allocator) >= maar_object_count_limit(allocator)) {
            struct maar_patience patience = maar_patience_begin();
            (void)maar_make_room(allocator, UINT32_MAX, &patience);
        }
        result = place_foreign(allocator, memory, name, &made);
        if (result == VK_ERROR_TOO_MANY_OBJECTS) {
            report_too_many(allocator, memory);
        }
    }
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, name);
        (void)maar_atomic64_add(&allocator->failures, 1);
        return result;
    }
    *allocation = maar_made_publish(&made);
    return VK_SUCCESS;
}
