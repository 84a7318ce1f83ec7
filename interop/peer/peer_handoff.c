/*
 * Handoffs in both directions. Each direction submits the signal before the wait, because a signal
 * that nobody waits for does no harm. Towards the peer, Vulkan's queue signals, and then the stream
 * waits. Back from the peer, the stream signals, and then a submission waits. So neither side ever
 * waits for a signal that does not come. If the wait cannot be submitted, the caller can submit it
 * later.
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
                    "the stream does not wait for it: wait for value %llu to complete the handoff",
                    (unsigned long long)handoff->value);
    }
    return result;
}

/* Signals in the stream, and then submits the wait. After the signal, only two things can go wrong:
 * the submission fails, or another thread has waited for the value. */
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
        maar_handoff_cancel(prepared); /* another thread has waited for the value */
    }
    if (result != VK_SUCCESS) {
        maar_report(timeline->object.peer->allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                    MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE, call,
                    "the stream signals the timeline, but Vulkan has not taken the resources "
                    "back: submit a handoff that waits for value %llu to complete it",
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
