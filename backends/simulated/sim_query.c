/*
 * Query pools. Timestamps are virtual, and zero where no virtual time is kept.
 */
#include "backends/simulated/sim_query.h"

#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"

#include <string.h>

static VKAPI_ATTR VkResult VKAPI_CALL
sim_create_query_pool(VkDevice device, const VkQueryPoolCreateInfo* pCreateInfo,
                      const VkAllocationCallbacks* pAllocator, VkQueryPool* pQueryPool)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pQueryPool = VK_NULL_HANDLE;
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkCreateQueryPool);
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint32_t count = pCreateInfo != NULL ? pCreateInfo->queryCount : 0;
    struct sim_query_pool* pool = sim_object_create(
        d, SIM_KIND_QUERY_POOL, sizeof(*pool) + count * sizeof(pool->values[0]), pAllocator);
    if (pool == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    pool->count = count;
    *pQueryPool = (VkQueryPool)pool->object.handle;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL sim_destroy_query_pool(VkDevice device, VkQueryPool queryPool,
                                                         const VkAllocationCallbacks* pAllocator)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, SIM_FN_vkDestroyQueryPool);
    sim_lock_gpu(d->gpu);
    struct sim_object* object = sim_object_retire(
        d, SIM_FN_vkDestroyQueryPool, SIM_HANDLE(queryPool), SIM_KIND_QUERY_POOL, pAllocator);
    sim_unlock_gpu(d->gpu);
    sim_object_release(object);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_get_query_results(VkDevice device, VkQueryPool queryPool,
                                                            uint32_t firstQuery,
                                                            uint32_t queryCount, size_t dataSize,
                                                            void* pData, VkDeviceSize stride,
                                                            VkQueryResultFlags flags)
{
    struct sim_device* d = SIM_DEVICE(device);
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkGetQueryPoolResults);
    if (result != VK_SUCCESS) {
        return result;
    }
    const size_t size = (flags & VK_QUERY_RESULT_64_BIT) != 0 ? sizeof(uint64_t) : sizeof(uint32_t);
    memset(pData, 0, dataSize);
    sim_lock_gpu(d->gpu);
    const struct sim_query_pool* pool =
        sim_object_peek(d, SIM_HANDLE(queryPool), SIM_KIND_QUERY_POOL);
    for (uint32_t i = 0; pool != NULL && i < queryCount && firstQuery + i < pool->count; i++) {
        const uint64_t value = pool->values[firstQuery + i];
        const uint32_t low = (uint32_t)value;
        const size_t at = (size_t)stride * i;
        if (at > dataSize || size > dataSize - at) {
            break;
        }
        memcpy((uint8_t*)pData + at, size == sizeof(value) ? (const void*)&value : &low, size);
    }
    sim_unlock_gpu(d->gpu);
    return VK_SUCCESS;
}

const struct sim_entry sim_query_entries[] = {
    SIM_ENTRY(vkCreateQueryPool, sim_create_query_pool),
    SIM_ENTRY(vkDestroyQueryPool, sim_destroy_query_pool),
    SIM_ENTRY(vkGetQueryPoolResults, sim_get_query_results),
    {SIM_FN_COUNT, NULL},
};
