/*
 * Handoffs in both directions. The half that is harmless alone comes first. Towards the peer,
 * Vulkan signals before the stream is made to wait. Back, the stream signals before a submission is
 * made to wait. So neither side ever waits for a signal that does not come, and the caller can make
 * up for the missing half.
 */
#include "interop/peer/peer.h"

#include "interop/share/handoff.h"

static MaarHandoffInfo handoff_info(const struct maar_peer_handoff* handoff,
                                    MaarHandoffDirection direction)
{
    return (MaarHandoffInfo){
        .sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
        .direction = direction,
        .peer = MAAR_HANDOFF_PEER_EXTERNAL,
        .queue = handoff->queue,
        .resourceCount = handoff->resource_count,
        .pResources = handoff->resources,
    };
}

VkResult maar_peer_release(struct maar_peer_timeline* timeline, const char* call,
                           const struct maar_peer_handoff* handoff)
{
    MaarAllocator allocator = timeline->object.peer->allocator;
    struct maar_side_step step;
    VkResult result =
        maar_peer_begin_signal(timeline, call, &timeline->vulkan, handoff->value, &step);
    if (result != VK_SUCCESS) {
        return result;
    }
    const MaarPoint signal = maar_peer_signal_point(timeline, handoff->value);
    MaarHandoffInfo info = handoff_info(handoff, MAAR_HANDOFF_DIRECTION_RELEASE);
    info.signalCount = 1;
    info.pSignals = &signal;
    result = maar_handoff_submit(allocator, call, &info);
    maar_peer_end_signal(timeline, &timeline->vulkan, &step, result == VK_SUCCESS);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_peer_wait(timeline, call, handoff->value, handoff->stream);
    if (result != VK_SUCCESS) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE,
                    call,
                    "the resources have been released and the queue signals the timeline, but "
                    "the stream does not wait for it: wait for value %llu to make up for it",
                    (unsigned long long)handoff->value);
    }
    return result;
}

/* Does both halves. The second half can fail in the submission alone. */
static VkResult signal_and_commit(struct maar_peer_timeline* timeline, const char* call,
                                  const struct maar_peer_handoff* handoff,
                                  struct maar_handoff* prepared)
{
    VkResult result = maar_peer_signal(timeline, call, handoff->value, handoff->stream);
    if (result != VK_SUCCESS) {
        maar_handoff_cancel(prepared);
        return result;
    }
    result = maar_peer_begin_wait(timeline, call, &timeline->other, handoff->value);
    if (result == VK_SUCCESS) {
        result = maar_handoff_commit(prepared);
        maar_peer_end_wait(timeline, &timeline->other, result == VK_SUCCESS);
    } else {
        maar_handoff_cancel(prepared); /* another thread waited for the value in between */
    }
    if (result != VK_SUCCESS) {
        maar_report(timeline->object.peer->allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                    MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE, call,
                    "the stream signals the timeline, but Vulkan has not taken the resources "
                    "back: submit a handoff that waits for value %llu to make up for it",
                    (unsigned long long)handoff->value);
    }
    return result;
}

VkResult maar_peer_acquire(struct maar_peer_timeline* timeline, const char* call,
                           const struct maar_peer_handoff* handoff)
{
    const MaarPoint wait = maar_peer_wait_point(timeline, handoff->value);
    MaarHandoffInfo info = handoff_info(handoff, MAAR_HANDOFF_DIRECTION_ACQUIRE);
    info.waitCount = 1;
    info.pWaits = &wait;
    struct maar_handoff prepared;
    VkResult result =
        maar_handoff_prepare(timeline->object.peer->allocator, call, &info, &prepared);
    return result == VK_SUCCESS ? signal_and_commit(timeline, call, handoff, &prepared) : result;
}
