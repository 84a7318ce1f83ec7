/*
 * Creates a pool. The function is in this room because a pool that stitches needs paging.
 */
#include "core/memory/export_types.h"
#include "core/memory/leaks.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool_create.h"
#include "core/memory/pool_first_blocks.h"
#include "core/memory/pool_list.h"
#include "core/paging/paging_open.h"

VKAPI_ATTR VkResult VKAPI_CALL maarCreatePool(MaarAllocator allocator,
                                              const MaarPoolCreateInfo* pCreateInfo,
                                              MaarPool* pPool)
{
    const struct maar_output outputs[] = {
        {"pPool", pPool, sizeof *pPool},
        {0},
    };
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pCreateInfo", pCreateInfo,
                                      MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_bound_text text;
    const struct maar_fault fault = maar_pool_find_fault(allocator, pCreateInfo, &text);
    if (fault.sentence != NULL) {
        return maar_misuse(allocator, fault.id, __func__, fault.sentence);
    }
    const MaarExportInfo* export = maar_export_find(pCreateInfo->pNext);
    if (export != NULL) {
        result = maar_shared_types_require(allocator, __func__, export->handleTypes);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    const MaarPoolPagingInfo* paging = maar_pool_find_paging(pCreateInfo);
    if (paging != NULL && paging->stitch == VK_TRUE) {
        result = maar_paging_require(allocator, __func__, true);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    struct maar_pool* pool = NULL;
    result = maar_pool_create(allocator, pCreateInfo, true, &pool);
    if (result == VK_SUCCESS) {
        uint64_t handle = 0;
        result = maar_pool_make_first_blocks(pool);
        if (result == VK_SUCCESS) {
            result = maar_object_open(allocator, MAAR_OBJECT_POOL, pool, &handle);
        }
        if (result != VK_SUCCESS) {
            /* A thread that looks for a block by its id may have found one of the first blocks and
             * hold the pool. */
            maar_pool_list(allocator, pool);
            maar_pool_empty(pool);
            maar_pool_retire(pool);
            return result;
        }
        pool->handle = MAAR_FROM_BITS(MaarPool, handle);
        maar_pool_list(allocator, pool);
        *pPool = pool->handle;
    }
    return result;
}
