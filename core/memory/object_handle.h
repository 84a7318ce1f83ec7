/*
 * The handles of pools, reservations and the other objects that a program makes from an allocator.
 * Allocations and slices have tables of their own. A handle is a slot number and a key, like an
 * allocation's handle. Stale handles, handles of another kind and handles of another allocator are
 * detected, and nothing behind them is read. Finding an object needs no lock.
 */
#ifndef MAAR_CORE_MEMORY_OBJECT_HANDLE_H
#define MAAR_CORE_MEMORY_OBJECT_HANDLE_H

#include "core/handle.h"
#include "core/memory/allocator_state.h"

/* The kinds of objects. object_handle.c has their names. */
enum maar_object_kind {
    MAAR_OBJECT_POOL = 1,
    MAAR_OBJECT_RESERVATION,
    MAAR_OBJECT_ARRAY,
    MAAR_OBJECT_SPARSE_IMAGE,
    MAAR_OBJECT_TILE_CACHE,
    MAAR_OBJECT_BUFFER_CACHE,
    MAAR_OBJECT_TRANSIENT_HEAP,
    MAAR_OBJECT_MOVE_BATCH,
    MAAR_OBJECT_DEFRAGMENTATION,
    MAAR_OBJECT_RESIDENCY,
    MAAR_OBJECT_HOST_BUFFER,
    MAAR_OBJECT_CUDA_TIMELINE,
    MAAR_OBJECT_CUDA_IMAGE,
    MAAR_OBJECT_CUDA_RANGE,
    MAAR_OBJECT_CUDA_MIRROR,
    MAAR_OBJECT_HIP_TIMELINE,
    MAAR_OBJECT_KINDS
};

struct maar_pool;

/* Returns the object that a handle names, or NULL when it names no object of this kind. The bits
 * are those of a handle: see core/handle.h. */
static inline void* maar_object_of(MaarAllocator allocator, enum maar_object_kind kind,
                                   uint64_t handle)
{
    uint32_t index = 0;
    const struct maar_slot* slot = maar_slot_resolve(&allocator->object_slots, handle, &index);
    if (slot == NULL) {
        return NULL;
    }
    void* object = maar_atomic_pointer_load(&slot->object);
    const struct maar_slot_extra* extra = maar_slot_extra(slot, index);
    const bool is_kind = maar_atomic32_load_acquire(&extra->object_kind) == (uint32_t)kind;
    /* The key is checked again: another thread may have ended the object and put a new one into the
     * slot while this thread read the object and its kind. */
    return is_kind && maar_key_read(&slot->key) == (uint32_t)(handle >> 32) ? object : NULL;
}

/* Returns the pool that a handle names, or NULL when it names no pool of this allocator. */
static inline struct maar_pool* maar_pool_of(MaarAllocator allocator, MaarPool pool)
{
    return maar_object_of(allocator, MAAR_OBJECT_POOL, MAAR_TO_BITS(pool));
}

/* Returns the name of a kind, such as "pool". */
const char* maar_object_kind_name(enum maar_object_kind kind);
/* Makes a handle of an object. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_object_open(MaarAllocator allocator, enum maar_object_kind kind, void* object,
                          uint64_t* handle);
/* Invalidates a handle. Accepts 0. Its slot is used again. Returns false when the handle was
 * invalid already. */
bool maar_object_close(MaarAllocator allocator, uint64_t handle);
/* Does the same under the list lock, which the caller holds. So the object cannot end between a
 * check of the object and this call. */
bool maar_object_close_held(MaarAllocator allocator, uint64_t handle);
/* Invalidates the handle that a call to destroy an object was given, before that call changes the
 * object. Of two threads that destroy one object, one gets VK_SUCCESS. The other one reports the
 * mistake and leaves the object alone. argument: the caller's name of the handle. */
VkResult maar_object_claim(MaarAllocator allocator, const char* call, const char* argument,
                           uint64_t handle);
/* Does the same for a call that may fail later, but keeps the slot. maar_object_unclaim makes the
 * handle valid again, and maar_object_end_claim gives the slot back. */
VkResult maar_object_begin_claim(MaarAllocator allocator, const char* call, const char* argument,
                                 uint64_t handle);
void maar_object_unclaim(MaarAllocator allocator, uint64_t handle);
void maar_object_end_claim(MaarAllocator allocator, uint64_t handle);
/* Enters a call that uses an object, as maar_enter does, and finds the object. Otherwise reports
 * what is wrong with the handle, sets *object to NULL and returns the error. argument: the caller's
 * name of the handle. */
VkResult maar_object_enter(MaarAllocator allocator, const char* call, const char* argument,
                           enum maar_object_kind kind, uint64_t handle, void** object);
/* Reports why a handle names no object of a kind. Returns VK_ERROR_VALIDATION_FAILED_EXT. */
VkResult maar_object_report(MaarAllocator allocator, const char* call, const char* argument,
                            enum maar_object_kind kind, uint64_t handle);
/* Returns VK_SUCCESS for a pool of this allocator and for VK_NULL_HANDLE. Otherwise reports what is
 * wrong with the handle. */
VkResult maar_pool_require_own(MaarAllocator allocator, const char* call, const char* argument,
                               MaarPool pool);

#endif
