/*
 * Host memory that fails on demand.
 */
#include "tests/fault/fault_host.h"

static bool strikes_at_random(struct fault_host* host)
{
    uint32_t chance = atomic_load(&host->chance);
    if (chance == 0) {
        return false;
    }
    /* Which thread draws which number depends on the moment; that is no loss here. */
    uint64_t drawn = atomic_fetch_add(&host->random, UINT64_C(0x9E3779B97F4A7C15));
    drawn = (drawn ^ (drawn >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    drawn = (drawn ^ (drawn >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (drawn >> 48) < chance;
}

static bool refuse_call(struct fault_host* host)
{
    uint64_t call = atomic_fetch_add(&host->calls, 1) + 1;
    uint64_t first = atomic_load(&host->first);
    bool chosen = first != 0 && call >= first && call - first < atomic_load(&host->count);
    if (!chosen && !strikes_at_random(host)) {
        return false;
    }
    (void)atomic_fetch_add(&host->struck, 1);
    return true;
}

static void* VKAPI_PTR fault_host_allocate(void* user, size_t size, size_t alignment,
                                           VkSystemAllocationScope scope)
{
    struct fault_host* host = user;
    if (refuse_call(host)) {
        return NULL;
    }
    return host->under->pfnAllocation(host->under->pUserData, size, alignment, scope);
}

static void* VKAPI_PTR fault_host_reallocate(void* user, void* original, size_t size,
                                             size_t alignment, VkSystemAllocationScope scope)
{
    struct fault_host* host = user;
    if (size != 0 && refuse_call(host)) {
        return NULL;
    }
    return host->under->pfnReallocation(host->under->pUserData, original, size, alignment, scope);
}

static void VKAPI_PTR fault_host_free(void* user, void* memory)
{
    struct fault_host* host = user;
    host->under->pfnFree(host->under->pUserData, memory);
}

void fault_host_init(struct fault_host* host, const VkAllocationCallbacks* under)
{
    memset(host, 0, sizeof *host);
    host->under = under;
    host->callbacks = (VkAllocationCallbacks){
        .pUserData = host,
        .pfnAllocation = fault_host_allocate,
        .pfnReallocation = fault_host_reallocate,
        .pfnFree = fault_host_free,
    };
}

void fault_host_arm(struct fault_host* host, uint64_t first, uint64_t count)
{
    atomic_store(&host->first, 0);
    atomic_store(&host->calls, 0);
    atomic_store(&host->struck, 0);
    atomic_store(&host->count, count);
    atomic_store(&host->first, first);
}

uint64_t fault_host_disarm(struct fault_host* host)
{
    atomic_store(&host->first, 0);
    atomic_store(&host->chance, 0);
    return atomic_load(&host->struck);
}
