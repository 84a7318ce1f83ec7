/*
 * Timelines and handoffs under their public names.
 */
#include "interop/cuda/cuda_internal.h"

static const MaarCudaTimelineCreateInfo default_cuda_timeline = {
    .sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
};

static struct maar_peer_timeline* timeline_of(MaarCudaTimeline timeline)
{
    return (struct maar_peer_timeline*)(void*)timeline;
}

static struct maar_peer* peer_of(MaarCudaTimeline timeline)
{
    return timeline != VK_NULL_HANDLE ? timeline_of(timeline)->peer : NULL;
}

/* Returns VK_SUCCESS for a timeline that may be used. */
static VkResult enter_cuda_timeline(MaarCudaTimeline timeline)
{
    return timeline == VK_NULL_HANDLE ? VK_ERROR_VALIDATION_FAILED_EXT
                                      : maar_enter(timeline_of(timeline)->peer->allocator);
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
        return maar_misuse(cuda->peer.allocator, MAAR_MESSAGE_ID_INVALID_ENUM, __func__,
                           "pCreateInfo->mode is not a MaarHandoffMode");
    }
    struct maar_peer_timeline* made = NULL;
    result =
        maar_peer_timeline_create(&cuda->peer, __func__, info->mode, info->initialValue, &made);
    *pTimeline = (MaarCudaTimeline)(void*)made;
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyCudaTimeline(MaarCudaTimeline timeline)
{
    if (timeline != VK_NULL_HANDLE) {
        maar_peer_timeline_destroy(timeline_of(timeline), __func__);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaTimelineInfo(MaarCudaTimeline timeline,
                                                       MaarCudaTimelineInfo* pInfo)
{
    VkResult result = maar_peer_enter(peer_of(timeline), __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO);
    if (result == VK_SUCCESS) {
        const struct maar_peer_timeline* known = timeline_of(timeline);
        pInfo->mode = known->mode;
        pInfo->semaphore =
            known->mode != MAAR_HANDOFF_MODE_BINARY ? known->semaphore : VK_NULL_HANDLE;
    }
    return result;
}

typedef VkResult (*point_fn)(struct maar_peer_timeline* timeline, const char* call, uint64_t value,
                             MaarPoint* point);

static VkResult get_point(MaarCudaTimeline timeline, const char* call, uint64_t value,
                          MaarPoint* point, point_fn get)
{
    const struct maar_output outputs[] = {{"pPoint", point, sizeof *point}, {0}};
    VkResult result = maar_peer_enter_outputs(peer_of(timeline), call, outputs);
    return result == VK_SUCCESS ? get(timeline_of(timeline), call, value, point) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaTimelineSignal(MaarCudaTimeline timeline, uint64_t value,
                                                         MaarPoint* pPoint)
{
    return get_point(timeline, __func__, value, pPoint, maar_peer_point_to_signal);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaTimelineWait(MaarCudaTimeline timeline, uint64_t value,
                                                       MaarPoint* pPoint)
{
    return get_point(timeline, __func__, value, pPoint, maar_peer_point_to_wait);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCudaWait(MaarCudaTimeline timeline, uint64_t value,
                                            MaarCudaStream stream)
{
    VkResult result = enter_cuda_timeline(timeline);
    return result == VK_SUCCESS ? maar_peer_wait(timeline_of(timeline), __func__, value, stream)
                                : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCudaSignal(MaarCudaTimeline timeline, uint64_t value,
                                              MaarCudaStream stream)
{
    VkResult result = enter_cuda_timeline(timeline);
    return result == VK_SUCCESS ? maar_peer_signal(timeline_of(timeline), __func__, value, stream)
                                : result;
}

static VkResult hand_over(MaarCudaTimeline timeline, const char* call,
                          const MaarCudaHandoffInfo* info, maar_peer_hand_fn hand)
{
    VkResult result = maar_peer_enter(peer_of(timeline), call, "pInfo", info,
                                      MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO);
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
    return hand(timeline_of(timeline), call, &handoff);
}

VKAPI_ATTR VkResult VKAPI_CALL maarReleaseToCuda(MaarCudaTimeline timeline,
                                                 const MaarCudaHandoffInfo* pInfo)
{
    return hand_over(timeline, __func__, pInfo, maar_peer_release);
}

VKAPI_ATTR VkResult VKAPI_CALL maarAcquireFromCuda(MaarCudaTimeline timeline,
                                                   const MaarCudaHandoffInfo* pInfo)
{
    return hand_over(timeline, __func__, pInfo, maar_peer_acquire);
}
