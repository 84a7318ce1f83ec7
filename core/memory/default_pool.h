/*
 * Default pools. Each memory type has one, or one for each kind of resource where an allocator
 * keeps kinds apart. Each set of handle types for export has default pools of its own, made by the
 * same rule. A pool is made when it is first needed. The allocator's list lock guards the list of
 * pools. Entries of default_pools are atomic. The caller may hold no lock.
 */
#ifndef MAAR_CORE_MEMORY_DEFAULT_POOL_H
#define MAAR_CORE_MEMORY_DEFAULT_POOL_H

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"

/* Makes the default pool of a type and kind. If another thread was faster, *pool is that thread's
 * pool. number: the index of the default pool of this memory type; see maar_default_pool_number. */
VkResult maar_pool_default(MaarAllocator allocator, uint32_t type, MaarResourceKind kind,
                           uint32_t number, struct maar_pool** pool);
/* Returns the default pool of a type, kind and set of handle types, and makes it when it is first
 * needed. */
VkResult maar_pool_exporting(MaarAllocator allocator, uint32_t type, MaarResourceKind kind,
                             VkExternalMemoryHandleTypeFlags types, struct maar_pool** pool);

/* Returns which of a type's default pools serves a kind. */
static inline uint32_t maar_default_pool_number(MaarAllocator allocator, MaarResourceKind kind)
{
    return allocator->kinds_apart ? (uint32_t)kind : 0;
}

/* Returns the default pool of a type and kind, and makes it when it is first needed. */
static inline VkResult maar_pool_of_type(MaarAllocator allocator, uint32_t type,
                                         MaarResourceKind kind, struct maar_pool** pool)
{
    const uint32_t number = maar_default_pool_number(allocator, kind);
    *pool = maar_atomic_pointer_load(&allocator->default_pools[type][number]);
    return *pool != NULL ? VK_SUCCESS : maar_pool_default(allocator, type, kind, number, pool);
}

#endif
