/*
 * Makes default pools: see default_pool.h. Exportable memory has pools of its own, for two reasons:
 * resources that are bound to this memory must be created for export, and drivers may place this
 * memory elsewhere.
 */
#include "core/memory/default_pool.h"

#include "core/memory/captured_arena.h"
#include "core/memory/pool_create.h"
#include "core/memory/pool_list.h"
#include "maar/share.h"

static MaarPoolCreateInfo default_info(MaarAllocator allocator, uint32_t type,
                                       MaarResourceKind kind)
{
    return (MaarPoolCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = type,
        .strategy = allocator->strategy,
        .retainedEmptySize = allocator->retained_size,
        .singleKind = allocator->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY &&
                      kind != MAAR_RESOURCE_KIND_UNKNOWN,
    };
}

/* Finds a default pool by its memory type, its number and its handle types for export. Returns NULL
 * if there is no such pool. Called under the list lock. */
static struct maar_pool* find_default(MaarAllocator allocator, uint32_t type, uint32_t number,
                                      VkExternalMemoryHandleTypeFlags types)
{
    struct maar_pool* pool = allocator->default_list;
    while (pool != NULL &&
           (pool->export_types != types || pool->type_index != type || pool->number != number)) {
        pool = pool->next_default;
    }
    return pool;
}

/* Makes a default pool. If another thread was faster, returns that thread's pool. */
static VkResult make_default(MaarAllocator allocator, const MaarPoolCreateInfo* info,
                             uint32_t number, struct maar_pool** pool)
{
    struct maar_pool* made = NULL;
    VkResult result = maar_pool_create(allocator, info, false, &made);
    if (result != VK_SUCCESS) {
        return result;
    }
    made->number = number;
    maar_mutex_lock(&allocator->list_lock);
    *pool = find_default(allocator, made->type_index, number, made->export_types);
    if (*pool == NULL) {
        maar_pool_link(allocator, made);
        made->next_default = allocator->default_list;
        allocator->default_list = made;
        *pool = made;
        made = NULL;
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (made != NULL) {
        maar_pool_destroy(made); /* another thread was faster */
    } else if (maar_may_capture(allocator)) {
        maar_capture_new_pool(*pool);
    }
    return VK_SUCCESS;
}

VkResult maar_pool_default(MaarAllocator allocator, uint32_t type, MaarResourceKind kind,
                           uint32_t number, struct maar_pool** pool)
{
    const MaarPoolCreateInfo info = default_info(allocator, type, kind);
    VkResult result = make_default(allocator, &info, number, pool);
    if (result == VK_SUCCESS) {
        maar_atomic_pointer_store(&allocator->default_pools[type][number], *pool);
    }
    return result;
}

VkResult maar_pool_exporting(MaarAllocator allocator, uint32_t type, MaarResourceKind kind,
                             VkExternalMemoryHandleTypeFlags types, struct maar_pool** pool)
{
    const uint32_t number = maar_default_pool_number(allocator, kind);
    maar_mutex_lock(&allocator->list_lock);
    *pool = find_default(allocator, type, number, types);
    maar_mutex_unlock(&allocator->list_lock);
    if (*pool != NULL) {
        return VK_SUCCESS;
    }
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = types,
    };
    MaarPoolCreateInfo info = default_info(allocator, type, kind);
    info.pNext = &export;
    return make_default(allocator, &info, number, pool);
}
