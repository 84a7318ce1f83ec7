/*
 * The public calls on timelines of CUDA, and for handoffs.
 */
#include "core/bound_check.h"
#include "interop/cuda/cuda_internal.h"

static const MaarCudaTimelineCreateInfo default_cuda_timeline = {
    .sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
};

/* Begins a public call that uses a timeline. */
static VkResult enter_cuda_timeline(MaarCuda cuda, const char* call, MaarCudaTimeline timeline,
                                    struct maar_peer_timeline** own)
{
    return maar_peer_timeline_enter(maar_peer_of_cuda(cuda), call, MAAR_TO_BITS(timeline), own);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateCudaTimeline(MaarCuda cuda,
                                                      const MaarCudaTimelineCreateInfo* pCreateInfo,
                                                      MaarCudaTimeline* pTimeline)
{
    const MaarCudaTimelineCreateInfo* info =
        pCreateInfo != NULL ? pCreateInfo : &default_cuda_timeline;
    if (pTimeline != NULL) {
        *pTimeline = VK_NULL_HANDLE;
    }
    VkResult result = maar_peer_enter(maar_peer_of_cuda(cuda), __func__, "pCreateInfo", info,
                                      MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pTimeline == NULL) {
        return maar_misuse(cuda->peer.allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "pTimeline is NULL");
    }
    if ((uint32_t)info->mode > MAAR_HANDOFF_MODE_HOST) {
        return maar_refuse_enum(cuda->peer.allocator, __func__, "pCreateInfo->mode",
                                "MaarHandoffMode", (int)info->mode);
    }
    uint64_t handle = 0;
    result =
        maar_peer_timeline_create(&cuda->peer, __func__, info->mode, info->initialValue, &handle);
    *pTimeline = MAAR_FROM_BITS(MaarCudaTimeline, handle);
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyCudaTimeline(MaarCuda cuda, MaarCudaTimeline timeline)
{
    maar_peer_timeline_destroy(maar_peer_of_cuda(cuda), __func__, MAAR_TO_BITS(timeline));
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaTimelineInfo(MaarCuda cuda, MaarCudaTimeline timeline,
                                                       MaarCudaTimelineInfo* pInfo)
{
    struct maar_peer_timeline* own = NULL;
    VkResult result = enter_cuda_timeline(cuda, __func__, timeline, &own);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(cuda->peer.allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO);
    }
    if (result == VK_SUCCESS) {
        pInfo->mode = own->mode;
        pInfo->semaphore = own->mode != MAAR_HANDOFF_MODE_BINARY ? own->semaphore : VK_NULL_HANDLE;
    }
    return result;
}

typedef VkResult (*point_fn)(struct maar_peer_timeline* timeline, const char* call, uint64_t value,
                             MaarPoint* point);

static VkResult get_point(MaarCuda cuda, const char* call, MaarCudaTimeline timeline,
                          uint64_t value, MaarPoint* point, point_fn get)
{
    const struct maar_output outputs[] = {{"pPoint", point, sizeof *point}, {0}};
    struct maar_peer_timeline* own = NULL;
    VkResult result = maar_peer_enter_outputs(maar_peer_of_cuda(cuda), call, outputs);
    if (result == VK_SUCCESS) {
        result = enter_cuda_timeline(cuda, call, timeline, &own);
    }
    return result == VK_SUCCESS ? get(own, call, value, point) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaTimelineSignal(MaarCuda cuda, MaarCudaTimeline timeline,
                                                         uint64_t value, MaarPoint* pPoint)
{
    return get_point(cuda, __func__, timeline, value, pPoint, maar_peer_point_to_signal);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaTimelineWait(MaarCuda cuda, MaarCudaTimeline timeline,
                                                       uint64_t value, MaarPoint* pPoint)
{
    return get_point(cuda, __func__, timeline, value, pPoint, maar_peer_point_to_wait);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCudaWait(MaarCuda cuda, MaarCudaTimeline timeline,
                                            uint64_t value, MaarCudaStream stream)
{
    struct maar_peer_timeline* own = NULL;
    VkResult result = enter_cuda_timeline(cuda, __func__, timeline, &own);
    return result == VK_SUCCESS ? maar_peer_wait(own, __func__, value, stream) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCudaSignal(MaarCuda cuda, MaarCudaTimeline timeline,
                                              uint64_t value, MaarCudaStream stream)
{
    struct maar_peer_timeline* own = NULL;
    VkResult result = enter_cuda_timeline(cuda, __func__, timeline, &own);
    return result == VK_SUCCESS ? maar_peer_signal(own, __func__, value, stream) : result;
}

static VkResult hand_over(MaarCuda cuda, const char* call, MaarCudaTimeline timeline,
                          const MaarCudaHandoffInfo* info, maar_peer_hand_fn hand)
{
    struct maar_peer_timeline* own = NULL;
    VkResult result = enter_cuda_timeline(cuda, call, timeline, &own);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(cuda->peer.allocator, call, "pInfo", info,
                                      MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO);
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

VKAPI_ATTR VkResult VKAPI_CALL maarReleaseToCuda(MaarCuda cuda, MaarCudaTimeline timeline,
                                                 const MaarCudaHandoffInfo* pInfo)
{
    return hand_over(cuda, __func__, timeline, pInfo, maar_peer_release);
}

VKAPI_ATTR VkResult VKAPI_CALL maarAcquireFromCuda(MaarCuda cuda, MaarCudaTimeline timeline,
                                                   const MaarCudaHandoffInfo* pInfo)
{
    return hand_over(cuda, __func__, timeline, pInfo, maar_peer_acquire);
}
