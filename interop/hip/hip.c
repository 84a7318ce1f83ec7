/*
 * Makes and destroys a MaarHip, returns the addresses of allocations in HIP, and hands resources
 * over through the host.
 */
#include <string.h>

#include "core/memory/allocator_state.h"
#include "core/memory/export_types.h"
#include "core/memory/slot_home.h"
#include "interop/hip/hip_internal.h"
#include "interop/share/share_internal.h"

static const MaarHipCreateInfo default_hip_info = {
    .sType = MAAR_STRUCTURE_TYPE_HIP_CREATE_INFO,
};

static struct maar_peer* peer_of_hip(MaarHip hip)
{
    return hip != VK_NULL_HANDLE ? &hip->peer : NULL;
}

/* ---- the device ---- */

static VkResult check_hip_info(MaarAllocator allocator, const char* call,
                               const MaarHipCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_HIP_CREATE_INFO);
    return result == VK_SUCCESS ? maar_shared_types_require(allocator, call, MAAR_OPAQUE_MEMORY)
                                : result;
}

static void discard_hip(MaarHip hip)
{
    maar_library_close(&hip->library);
    maar_peer_discard(&hip->peer);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateHip(MaarAllocator allocator,
                                             const MaarHipCreateInfo* pCreateInfo, MaarHip* pHip)
{
    const MaarHipCreateInfo* info = pCreateInfo != NULL ? pCreateInfo : &default_hip_info;
    const struct maar_output outputs[] = {{"pHip", pHip, sizeof *pHip}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = check_hip_info(allocator, __func__, info);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_peer* peer =
        maar_peer_make(allocator, sizeof(struct MaarHip_T), &maar_hip_peer_driver);
    if (peer == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    MaarHip hip = maar_hip_of(peer);
    result = maar_hip_load(hip, __func__, info->pLibraryPath);
    if (result == VK_SUCCESS) {
        result = maar_hip_find_device(hip, __func__, info->deviceOrdinalPlusOne);
    }
    if (result != VK_SUCCESS) {
        discard_hip(hip);
        return result;
    }
    hip->peer.calls_host =
        allocator->device.facts.timeline_semaphore && hip->runtime.hipLaunchHostFunc != NULL;
    *pHip = hip;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyHip(MaarHip hip)
{
    if (hip != VK_NULL_HANDLE && maar_peer_end(&hip->peer, __func__)) {
        discard_hip(hip);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetHipInfo(MaarHip hip, MaarHipInfo* pInfo)
{
    VkResult result =
        maar_peer_enter(peer_of_hip(hip), __func__, "pInfo", pInfo, MAAR_STRUCTURE_TYPE_HIP_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    memcpy(pInfo->deviceName, hip->name, sizeof pInfo->deviceName);
    pInfo->deviceOrdinal = hip->ordinal;
    pInfo->runtimeVersion = hip->version;
    pInfo->memoryHandleType = hip->peer.memory_type;
    pInfo->handoffMode = maar_peer_best_mode(&hip->peer);
    pInfo->importedBlockCount = maar_gate_count(&hip->peer.imported);
    pInfo->importedBytes = maar_atomic64_load(&hip->peer.block_bytes);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetHipMemory(MaarHip hip, MaarAllocation allocation,
                                                MaarHipMemory* pMemory)
{
    struct maar_slot* slot = NULL;
    struct maar_peer_block* block = NULL;
    VkResult result = maar_peer_enter(peer_of_hip(hip), __func__, "pMemory", pMemory,
                                      MAAR_STRUCTURE_TYPE_HIP_MEMORY);
    if (result != VK_SUCCESS) {
        return result;
    }
    pMemory->pDevice = NULL;
    pMemory->size = 0;
    pMemory->pBlock = NULL;
    pMemory->blockSize = 0;
    result = maar_peer_map(&hip->peer, __func__, allocation, &slot, &block);
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint64_t start = maar_atomic64_load(&block->pointer);
    const struct maar_span span = maar_slot_find_bytes(hip->peer.allocator, slot);
    pMemory->pBlock = (void*)(uintptr_t)start;
    pMemory->blockSize = block->size;
    pMemory->pDevice = (void*)(uintptr_t)(start + span.offset);
    pMemory->size = span.size;
    return VK_SUCCESS;
}

/* ---- timelines ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarCreateHipTimeline(MaarHip hip, uint64_t initialValue,
                                                     MaarHipTimeline* pTimeline)
{
    const struct maar_output outputs[] = {{"pTimeline", pTimeline, sizeof *pTimeline}, {0}};
    VkResult result = maar_peer_enter_outputs(peer_of_hip(hip), __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    uint64_t handle = 0;
    result = maar_peer_timeline_create(&hip->peer, __func__, MAAR_HANDOFF_MODE_HOST, initialValue,
                                       &handle);
    *pTimeline = MAAR_FROM_BITS(MaarHipTimeline, handle);
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyHipTimeline(MaarHip hip, MaarHipTimeline timeline)
{
    maar_peer_timeline_destroy(peer_of_hip(hip), __func__, MAAR_TO_BITS(timeline));
}

/* Begins a public call that uses a timeline. */
static VkResult enter_hip_timeline(MaarHip hip, const char* call, MaarHipTimeline timeline,
                                   struct maar_peer_timeline** own)
{
    return maar_peer_timeline_enter(peer_of_hip(hip), call, MAAR_TO_BITS(timeline), own);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetHipTimelineSemaphore(MaarHip hip, MaarHipTimeline timeline,
                                                           VkSemaphore* pSemaphore)
{
    const struct maar_output outputs[] = {{"pSemaphore", pSemaphore, sizeof *pSemaphore}, {0}};
    struct maar_peer_timeline* own = NULL;
    VkResult result = maar_peer_enter_outputs(peer_of_hip(hip), __func__, outputs);
    if (result == VK_SUCCESS) {
        result = enter_hip_timeline(hip, __func__, timeline, &own);
    }
    if (result == VK_SUCCESS) {
        *pSemaphore = own->semaphore;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarHipWait(MaarHip hip, MaarHipTimeline timeline, uint64_t value,
                                           MaarHipStream stream)
{
    struct maar_peer_timeline* own = NULL;
    VkResult result = enter_hip_timeline(hip, __func__, timeline, &own);
    return result == VK_SUCCESS ? maar_peer_wait(own, __func__, value, stream) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarHipSignal(MaarHip hip, MaarHipTimeline timeline, uint64_t value,
                                             MaarHipStream stream)
{
    struct maar_peer_timeline* own = NULL;
    VkResult result = enter_hip_timeline(hip, __func__, timeline, &own);
    return result == VK_SUCCESS ? maar_peer_signal(own, __func__, value, stream) : result;
}

static VkResult hand_over_hip(MaarHip hip, const char* call, MaarHipTimeline timeline,
                              const MaarHipHandoffInfo* info, maar_peer_hand_fn hand)
{
    struct maar_peer_timeline* own = NULL;
    VkResult result = enter_hip_timeline(hip, call, timeline, &own);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(hip->peer.allocator, call, "pInfo", info,
                                      MAAR_STRUCTURE_TYPE_HIP_HANDOFF_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_peer_handoff handoff = {
        .value = info->value,
        .stream = info->stream,
        .queue = info->queue,
        .resource_count = info->resourceCount,
        .resources = info->pResources,
    };
    return hand(own, call, &handoff);
}

VKAPI_ATTR VkResult VKAPI_CALL maarReleaseToHip(MaarHip hip, MaarHipTimeline timeline,
                                                const MaarHipHandoffInfo* pInfo)
{
    return hand_over_hip(hip, __func__, timeline, pInfo, maar_peer_release);
}

VKAPI_ATTR VkResult VKAPI_CALL maarAcquireFromHip(MaarHip hip, MaarHipTimeline timeline,
                                                  const MaarHipHandoffInfo* pInfo)
{
    return hand_over_hip(hip, __func__, timeline, pInfo, maar_peer_acquire);
}
