/*
 * The handles of a program's objects: see object_handle.h.
 */
#include "core/memory/object_handle.h"

static const char* const object_kind_names[MAAR_OBJECT_KINDS] = {
    [MAAR_OBJECT_POOL] = "pool",
    [MAAR_OBJECT_RESERVATION] = "reservation",
    [MAAR_OBJECT_ARRAY] = "growable array",
    [MAAR_OBJECT_SPARSE_IMAGE] = "sparse image",
    [MAAR_OBJECT_TILE_CACHE] = "tile cache",
    [MAAR_OBJECT_BUFFER_CACHE] = "buffer cache",
    [MAAR_OBJECT_TRANSIENT_HEAP] = "transient heap",
    [MAAR_OBJECT_MOVE_BATCH] = "batch of moves",
    [MAAR_OBJECT_DEFRAGMENTATION] = "run of defragmentation",
    [MAAR_OBJECT_RESIDENCY] = "manager of residents",
    [MAAR_OBJECT_HOST_BUFFER] = "host buffer",
    [MAAR_OBJECT_CUDA_TIMELINE] = "CUDA timeline",
    [MAAR_OBJECT_CUDA_IMAGE] = "CUDA image",
    [MAAR_OBJECT_CUDA_RANGE] = "CUDA range",
    [MAAR_OBJECT_CUDA_MIRROR] = "CUDA mirror",
    [MAAR_OBJECT_HIP_TIMELINE] = "HIP timeline",
};

const char* maar_object_kind_name(enum maar_object_kind kind)
{
    return object_kind_names[kind];
}

VkResult maar_object_open(MaarAllocator allocator, enum maar_object_kind kind, void* object,
                          uint64_t* handle)
{
    struct maar_slot_list* list = &allocator->free_object_slots;
    maar_mutex_lock(&allocator->list_lock);
    const VkResult result =
        maar_slots_refill(&allocator->object_slots, &allocator->list_lock, list);
    if (result == VK_SUCCESS) {
        const uint32_t index = maar_slots_pop(&allocator->object_slots, list);
        struct maar_slot* slot = maar_slot_at(&allocator->object_slots, index);
        const uint32_t key = maar_atomic32_load(&slot->key) + 1u;
        maar_atomic_pointer_store(&slot->object, object);
        maar_atomic32_store_release(&maar_slot_extra(slot, index)->object_kind, (uint32_t)kind);
        maar_atomic32_store_release(&slot->key, key);
        *handle = maar_handle_make(index, key);
    }
    maar_mutex_unlock(&allocator->list_lock);
    return result;
}

bool maar_object_close_held(MaarAllocator allocator, uint64_t handle)
{
    uint32_t index = 0;
    maar_assert_held(&allocator->list_lock);
    struct maar_slot* slot = maar_slot_resolve(&allocator->object_slots, handle, &index);
    const bool is_claimed = slot != NULL && maar_slot_claim(slot, handle);
    if (is_claimed) {
        maar_slots_push(&allocator->free_object_slots, slot, index);
    }
    return is_claimed;
}

bool maar_object_close(MaarAllocator allocator, uint64_t handle)
{
    maar_mutex_lock(&allocator->list_lock);
    const bool is_claimed = maar_object_close_held(allocator, handle);
    maar_mutex_unlock(&allocator->list_lock);
    return is_claimed;
}

static VkResult expect_claimed(MaarAllocator allocator, const char* call, const char* argument,
                               bool is_claimed)
{
    return is_claimed ? VK_SUCCESS
                      : maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                                  MAAR_MESSAGE_ID_FREED_CONCURRENTLY, call,
                                  "%s was destroyed by another thread meanwhile", argument);
}

VkResult maar_object_claim(MaarAllocator allocator, const char* call, const char* argument,
                           uint64_t handle)
{
    return expect_claimed(allocator, call, argument, maar_object_close(allocator, handle));
}

VkResult maar_object_begin_claim(MaarAllocator allocator, const char* call, const char* argument,
                                 uint64_t handle)
{
    uint32_t index = 0;
    struct maar_slot* slot = maar_slot_resolve(&allocator->object_slots, handle, &index);
    return expect_claimed(allocator, call, argument, slot != NULL && maar_slot_claim(slot, handle));
}

void maar_object_unclaim(MaarAllocator allocator, uint64_t handle)
{
    uint32_t index = 0;
    struct maar_slot* slot = maar_slot_find(&allocator->object_slots, handle, &index);
    maar_atomic32_store_release(&slot->key, (uint32_t)(handle >> 32));
}

void maar_object_end_claim(MaarAllocator allocator, uint64_t handle)
{
    uint32_t index = 0;
    maar_mutex_lock(&allocator->list_lock);
    struct maar_slot* slot = maar_slot_find(&allocator->object_slots, handle, &index);
    maar_slots_push(&allocator->free_object_slots, slot, index);
    maar_mutex_unlock(&allocator->list_lock);
}

VkResult maar_object_report(MaarAllocator allocator, const char* call, const char* argument,
                            enum maar_object_kind kind, uint64_t handle)
{
    if (handle == 0) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_NULL_HANDLE,
                         call, "%s is VK_NULL_HANDLE", argument);
    }
    if (maar_slot_was_used(&allocator->object_slots, handle)) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_STALE_HANDLE,
                         call, "%s was destroyed already", argument);
    }
    return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_FOREIGN_HANDLE,
                     call, "%s is not a %s of this allocator", argument, object_kind_names[kind]);
}

VkResult maar_object_enter(MaarAllocator allocator, const char* call, const char* argument,
                           enum maar_object_kind kind, uint64_t handle, void** object)
{
    *object = NULL;
    const VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    *object = maar_object_of(allocator, kind, handle);
    return *object != NULL ? VK_SUCCESS
                           : maar_object_report(allocator, call, argument, kind, handle);
}

VkResult maar_pool_require_own(MaarAllocator allocator, const char* call, const char* argument,
                               MaarPool pool)
{
    return pool == VK_NULL_HANDLE || maar_pool_of(allocator, pool) != NULL
               ? VK_SUCCESS
               : maar_object_report(allocator, call, argument, MAAR_OBJECT_POOL,
                                    MAAR_TO_BITS(pool));
}
