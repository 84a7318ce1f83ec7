/*
 * Timelines that a queue and a stream share, in one of three ways: as a timeline semaphore that
 * both sides use, as two binary semaphores, or as a timeline semaphore of Vulkan alone. In the
 * third way, the host waits and signals on behalf of the stream.
 *
 * A signal that the host carries from a stream to Vulkan runs on a thread of the peer. The thread
 * signals, marks its carrier as free, and leaves the gate of the timeline as its last step.
 * Carriers live as long as their timeline, so the peer's thread allocates no host memory.
 */
#include "core/memory/allocator_state.h"
#include "interop/peer/peer.h"

#include "core/port_time.h"
#include "core/time/timeline.h"
#include "interop/share/share_internal.h"

/* Nanoseconds that a thread waits for a signal before it is reported: far above a frame. */
#define LONG_WAIT_NS ((uint64_t)5000000000)

/* One signal on its way from a stream to Vulkan. */
struct maar_carrier {
    struct maar_carrier* next;
    struct maar_peer_timeline* timeline;
    uint64_t value;
    maar_atomic32 busy;
};

MaarHandoffMode maar_peer_best_mode(const struct maar_peer* peer)
{
    if (peer->shares_timelines) {
        return MAAR_HANDOFF_MODE_TIMELINE;
    }
    if (peer->shares_binaries) {
        return MAAR_HANDOFF_MODE_BINARY;
    }
    return peer->calls_host ? MAAR_HANDOFF_MODE_HOST : MAAR_HANDOFF_MODE_AUTO;
}

/* ---- making and ending ---- */

/* Returns VK_SUCCESS if the mode is available. Otherwise reports what is missing and returns an
 * error. */
static VkResult require_mode(const struct maar_peer* peer, const char* call, MaarHandoffMode mode)
{
    bool there = false;
    const char* name = "a timeline of any mode";
    switch (mode) {
    case MAAR_HANDOFF_MODE_TIMELINE:
        there = peer->shares_timelines;
        name = "a timeline of MAAR_HANDOFF_MODE_TIMELINE";
        break;
    case MAAR_HANDOFF_MODE_BINARY:
        there = peer->shares_binaries;
        name = "a timeline of MAAR_HANDOFF_MODE_BINARY";
        break;
    case MAAR_HANDOFF_MODE_HOST:
        there = peer->calls_host;
        name = "a timeline of MAAR_HANDOFF_MODE_HOST";
        break;
    default:
        break;
    }
    if (there) {
        return VK_SUCCESS;
    }
    maar_report(peer->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED,
                call,
                "%s cannot be made: %s, Vulkan, or the extensions and features that were enabled "
                "do not support it",
                name, peer->driver->name);
    return VK_ERROR_FEATURE_NOT_PRESENT;
}

/* Creates a Vulkan semaphore and imports it into the peer. */
static VkResult make_shared(struct maar_peer* peer, const char* call, bool timeline,
                            uint64_t initial, VkSemaphore* semaphore, void** imported)
{
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = timeline ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY,
        .initialValue = timeline ? initial : 0,
        .handleType = peer->semaphore_type,
    };
    MaarExternalHandle handle = VK_NULL_HANDLE;
    struct maar_handle_import import;
    VkResult result = maar_create_shared_semaphore(peer->allocator, call, &info, semaphore);
    if (result == VK_SUCCESS) {
        result =
            maar_export_semaphore(peer->allocator, call, *semaphore, peer->semaphore_type, &handle);
    }
    if (result == VK_SUCCESS) {
        result = maar_handle_import_begin(peer->allocator, call, handle, MAAR_PORT_HAS_FDS != 0,
                                          &import);
    }
    if (result == VK_SUCCESS) {
        int previous = 0;
        result = peer->driver->enter(peer, call, &previous);
        if (result == VK_SUCCESS) {
            result =
                peer->driver->import_semaphore(peer, call, import.duplicate, timeline, imported);
            peer->driver->leave(peer, previous);
        }
        maar_handle_import_end(&import, result == VK_SUCCESS);
    }
    maar_external_handle_destroy(handle);
    return result;
}

static VkResult make_semaphores(struct maar_peer_timeline* timeline, const char* call,
                                uint64_t initial)
{
    struct maar_peer* peer = timeline->object.peer;
    if (timeline->mode == MAAR_HANDOFF_MODE_HOST) {
        return maar_timeline_create(&peer->allocator->device, initial, &timeline->semaphore);
    }
    const bool one = timeline->mode == MAAR_HANDOFF_MODE_TIMELINE;
    VkResult result =
        make_shared(peer, call, one, initial, &timeline->semaphore, &timeline->imported);
    if (result == VK_SUCCESS && !one) {
        result = make_shared(peer, call, false, initial, &timeline->returning,
                             &timeline->imported_returning);
    }
    return result;
}

/* Releases a timeline that nobody uses any more. */
static void discard_timeline(struct maar_peer_timeline* timeline)
{
    struct maar_peer* peer = timeline->object.peer;
    MaarAllocator allocator = peer->allocator;
    const struct maar_device* device = &allocator->device;
    void* const imported[] = {timeline->imported, timeline->imported_returning};
    int previous = 0;
    maar_lock_rank_expect_none();
    if ((imported[0] != NULL || imported[1] != NULL) &&
        peer->driver->enter(peer, "the end of a timeline", &previous) == VK_SUCCESS) {
        for (size_t i = 0; i < 2; ++i) {
            if (imported[i] != NULL) {
                peer->driver->destroy_semaphore(peer, imported[i]);
            }
        }
        peer->driver->leave(peer, previous);
    }
    device->vkDestroySemaphore(device->handle, timeline->semaphore, allocator->callbacks);
    device->vkDestroySemaphore(device->handle, timeline->returning, allocator->callbacks);
    while (timeline->carriers != NULL) {
        struct maar_carrier* next = timeline->carriers->next;
        maar_host_free(allocator->callbacks, timeline->carriers);
        timeline->carriers = next;
    }
    maar_gate_destroy(&timeline->carrying);
    maar_mutex_destroy(&timeline->lock);
    maar_host_free(allocator->callbacks, timeline);
}

VkResult maar_peer_timeline_create(struct maar_peer* peer, const char* call, MaarHandoffMode mode,
                                   uint64_t initial, uint64_t* handle)
{
    MaarAllocator allocator = peer->allocator;
    const MaarHandoffMode chosen =
        mode == MAAR_HANDOFF_MODE_AUTO ? maar_peer_best_mode(peer) : mode;
    VkResult result = require_mode(peer, call, chosen);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_peer_timeline* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!maar_mutex_init(&made->lock, MAAR_LOCK_SHARE, maar_is_synchronized(allocator))) {
        maar_host_free(allocator->callbacks, made);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!maar_gate_init(&made->carrying)) {
        maar_mutex_destroy(&made->lock);
        maar_host_free(allocator->callbacks, made);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const bool alternates = chosen == MAAR_HANDOFF_MODE_BINARY;
    made->object.peer = peer;
    made->mode = chosen;
    made->carried = initial;
    maar_sides_start(&made->vulkan, &made->other, alternates, initial);
    result = make_semaphores(made, call, initial);
    if (result == VK_SUCCESS) {
        result = maar_peer_object_open(&made->object, peer->driver->timeline_kind);
    }
    if (result != VK_SUCCESS) {
        discard_timeline(made);
        return result;
    }
    (void)maar_atomic32_add(&peer->object_count, 1);
    *handle = made->object.handle;
    return VK_SUCCESS;
}

VkResult maar_peer_timeline_enter(const struct maar_peer* peer, const char* call, uint64_t handle,
                                  struct maar_peer_timeline** timeline)
{
    if (peer == NULL) {
        *timeline = NULL;
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    void* object = NULL;
    const VkResult result = maar_peer_object_enter(peer, call, "timeline",
                                                   peer->driver->timeline_kind, handle, &object);
    *timeline = object;
    return result;
}

static bool is_carrying(struct maar_peer_timeline* timeline)
{
    return maar_gate_count(&timeline->carrying) > 0;
}

/* Waits for the signals that the host still has to carry over. Returns false if one does not arrive
 * in time: a peer whose context has failed drops signals without a report. */
static bool await_carriers(struct maar_peer_timeline* timeline)
{
    const struct maar_device* device = &timeline->object.peer->allocator->device;
    if (!is_carrying(timeline)) {
        return true;
    }
    const uint64_t deadline = maar_deadline_ns(MAAR_DESTROY_TIMEOUT_NS);
    (void)maar_timeline_wait(device, timeline->semaphore, timeline->carried,
                             MAAR_DESTROY_TIMEOUT_NS);
    return maar_gate_wait(&timeline->carrying, maar_time_left_ns(deadline));
}

static void end_timeline(struct maar_peer_timeline* timeline)
{
    struct maar_peer* peer = timeline->object.peer;
    discard_timeline(timeline);
    (void)maar_atomic32_drop(&peer->object_count);
}

/* Keeps a timeline. It counts as alive while a thread of the peer may use it. */
static void keep_timeline(struct maar_peer_timeline* timeline)
{
    struct maar_peer* peer = timeline->object.peer;
    maar_mutex_lock(&peer->allocator->share_lock);
    timeline->next_kept = peer->kept;
    peer->kept = timeline;
    maar_mutex_unlock(&peer->allocator->share_lock);
}

void maar_peer_timeline_destroy(const struct maar_peer* peer, const char* call, uint64_t handle)
{
    if (peer == NULL || handle == 0) {
        return;
    }
    struct maar_peer_timeline* timeline =
        maar_peer_object_claim(peer, call, "timeline", peer->driver->timeline_kind, handle);
    if (timeline == NULL) {
        return;
    }
    if (await_carriers(timeline)) {
        end_timeline(timeline);
        return;
    }
    maar_report(peer->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE,
                call,
                "a signal that %s was to carry over has not arrived within %u seconds; the "
                "timeline and its owner are kept, because the signal may still arrive",
                peer->driver->name, (unsigned)(MAAR_DESTROY_TIMEOUT_NS / 1000000000u));
    keep_timeline(timeline);
}

void maar_peer_timelines_end_kept(struct maar_peer* peer)
{
    maar_mutex_lock(&peer->allocator->share_lock);
    struct maar_peer_timeline* timeline = peer->kept;
    peer->kept = NULL;
    maar_mutex_unlock(&peer->allocator->share_lock);
    while (timeline != NULL) {
        struct maar_peer_timeline* next = timeline->next_kept;
        if (is_carrying(timeline)) {
            keep_timeline(timeline);
        } else {
            end_timeline(timeline);
        }
        timeline = next;
    }
}

/* ---- Vulkan's side ---- */

/* last: the last value of the side that signals. */
static VkResult report_step(struct maar_peer_timeline* timeline, const char* call, VkResult result,
                            const char* fault, uint64_t value, uint64_t last)
{
    if (result == VK_ERROR_VALIDATION_FAILED_EXT) {
        maar_report(timeline->object.peer->allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                    MAAR_MESSAGE_ID_HANDOFF_VALUE, call, "%s; value is %llu, the last one was %llu",
                    fault, (unsigned long long)value, (unsigned long long)last);
    }
    return result;
}

VkResult maar_peer_begin_signal(struct maar_peer_timeline* timeline, const char* call,
                                struct maar_handoff_side* side, uint64_t value,
                                struct maar_side_step* step)
{
    const char* fault = NULL;
    maar_mutex_lock(&timeline->lock);
    VkResult result = maar_side_begin_signal(side, value, step, &fault);
    const uint64_t last = side->last;
    maar_mutex_unlock(&timeline->lock);
    return report_step(timeline, call, result, fault, value, last);
}

void maar_peer_end_signal(struct maar_peer_timeline* timeline, struct maar_handoff_side* side,
                          const struct maar_side_step* step, bool success)
{
    maar_mutex_lock(&timeline->lock);
    maar_side_end_signal(side, step, success);
    maar_mutex_unlock(&timeline->lock);
}

VkResult maar_peer_begin_wait(struct maar_peer_timeline* timeline, const char* call,
                              struct maar_handoff_side* side, uint64_t value)
{
    const char* fault = NULL;
    maar_mutex_lock(&timeline->lock);
    VkResult result = maar_side_begin_wait(side, value, &fault);
    const uint64_t last = side->last;
    maar_mutex_unlock(&timeline->lock);
    return report_step(timeline, call, result, fault, value, last);
}

void maar_peer_end_wait(struct maar_peer_timeline* timeline, struct maar_handoff_side* side,
                        bool success)
{
    maar_mutex_lock(&timeline->lock);
    maar_side_end_wait(side, success);
    maar_mutex_unlock(&timeline->lock);
}

MaarPoint maar_peer_signal_point(const struct maar_peer_timeline* timeline, uint64_t value)
{
    return (MaarPoint){.semaphore = timeline->semaphore, .value = value};
}

MaarPoint maar_peer_wait_point(const struct maar_peer_timeline* timeline, uint64_t value)
{
    const bool binary = timeline->mode == MAAR_HANDOFF_MODE_BINARY;
    return (MaarPoint){.semaphore = binary ? timeline->returning : timeline->semaphore,
                       .value = value};
}

VkResult maar_peer_point_to_signal(struct maar_peer_timeline* timeline, const char* call,
                                   uint64_t value, MaarPoint* point)
{
    struct maar_side_step step;
    VkResult result = maar_peer_begin_signal(timeline, call, &timeline->vulkan, value, &step);
    if (result == VK_SUCCESS) {
        maar_peer_end_signal(timeline, &timeline->vulkan, &step, true);
        *point = maar_peer_signal_point(timeline, value);
    }
    return result;
}

VkResult maar_peer_point_to_wait(struct maar_peer_timeline* timeline, const char* call,
                                 uint64_t value, MaarPoint* point)
{
    VkResult result = maar_peer_begin_wait(timeline, call, &timeline->other, value);
    if (result == VK_SUCCESS) {
        maar_peer_end_wait(timeline, &timeline->other, true);
        *point = maar_peer_wait_point(timeline, value);
    }
    return result;
}

/* ---- the peer's side ---- */

/* Waits without a limit: what follows must not begin before the signal. A program that has not
 * submitted the signal would wait for ever without a word, so the wait is reported once. */
static VkResult wait_on_host(struct maar_peer_timeline* timeline, const char* call, uint64_t value)
{
    MaarAllocator allocator = timeline->object.peer->allocator;
    const struct maar_device* device = &allocator->device;
    VkResult result = maar_timeline_wait(device, timeline->semaphore, value, LONG_WAIT_NS);
    if (result == VK_TIMEOUT) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_HANDOFF_WAITS_LONG,
                    call,
                    "the thread has waited 5 seconds for value %llu and goes on; with "
                    "MAAR_HANDOFF_MODE_HOST the submission that signals it comes before the wait",
                    (unsigned long long)value);
        result = maar_timeline_wait(device, timeline->semaphore, value, UINT64_MAX);
    }
    maar_note_loss(allocator, result);
    return result;
}

VkResult maar_peer_wait(struct maar_peer_timeline* timeline, const char* call, uint64_t value,
                        void* stream)
{
    struct maar_peer* peer = timeline->object.peer;
    if (timeline->mode == MAAR_HANDOFF_MODE_HOST) {
        return wait_on_host(timeline, call, value);
    }
    VkResult result = maar_peer_begin_wait(timeline, call, &timeline->vulkan, value);
    if (result != VK_SUCCESS) {
        return result;
    }
    const bool binary = timeline->mode == MAAR_HANDOFF_MODE_BINARY;
    int previous = 0;
    maar_lock_rank_expect_none();
    result = peer->driver->enter(peer, call, &previous);
    if (result == VK_SUCCESS) {
        result = peer->driver->wait(peer, call, timeline->imported, binary ? 0 : value, stream);
        peer->driver->leave(peer, previous);
    }
    maar_peer_end_wait(timeline, &timeline->vulkan, result == VK_SUCCESS);
    return result;
}

/* Runs on a thread of the peer, outside of any call of Maar. A later call reports a failure. */
static void VKAPI_CALL carry_over(void* data)
{
    struct maar_carrier* carrier = data;
    struct maar_peer_timeline* timeline = carrier->timeline;
    const struct maar_device* device = &timeline->object.peer->allocator->device;
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = timeline->semaphore,
        .value = carrier->value,
    };
    const VkResult result = device->vkSignalSemaphore(device->handle, &signal);
    if (result != VK_SUCCESS) {
        maar_atomic32_store(&timeline->carry_result, (uint32_t)result);
    }
    maar_atomic32_store_release(&carrier->busy, 0);
    maar_gate_leave(&timeline->carrying);
}

/* Returns a free carrier, or a new one. Returns NULL if host memory runs out. */
static struct maar_carrier* take_carrier(struct maar_peer_timeline* timeline)
{
    maar_mutex_lock(&timeline->lock);
    struct maar_carrier* carrier = timeline->carriers;
    while (carrier != NULL && !maar_atomic32_take(&carrier->busy)) {
        carrier = carrier->next;
    }
    maar_mutex_unlock(&timeline->lock);
    if (carrier != NULL) {
        return carrier;
    }
    carrier = maar_host_calloc(timeline->object.peer->allocator->callbacks, 1, sizeof *carrier);
    if (carrier != NULL) {
        carrier->timeline = timeline;
        maar_atomic32_store(&carrier->busy, 1);
        maar_mutex_lock(&timeline->lock);
        carrier->next = timeline->carriers;
        timeline->carriers = carrier;
        maar_mutex_unlock(&timeline->lock);
    }
    return carrier;
}

static VkResult signal_by_host(struct maar_peer_timeline* timeline, const char* call,
                               uint64_t value, void* stream)
{
    struct maar_peer* peer = timeline->object.peer;
    const VkResult failed = (VkResult)(int32_t)maar_atomic32_load(&timeline->carry_result);
    if (failed != VK_SUCCESS) {
        maar_report(peer->allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                    MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE, call,
                    "an earlier signal could not be carried over: vkSignalSemaphore returned %s",
                    maarGetResultName(failed));
        return failed;
    }
    struct maar_carrier* carrier = take_carrier(timeline);
    if (carrier == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    carrier->value = value;
    maar_gate_enter(&timeline->carrying);
    int previous = 0;
    maar_lock_rank_expect_none();
    VkResult result = peer->driver->enter(peer, call, &previous);
    if (result == VK_SUCCESS) {
        result = peer->driver->call_host(peer, call, stream, carry_over, carrier);
        peer->driver->leave(peer, previous);
    }
    if (result != VK_SUCCESS) {
        maar_atomic32_store_release(&carrier->busy, 0);
        maar_gate_leave(&timeline->carrying);
        return result;
    }
    maar_mutex_lock(&timeline->lock);
    timeline->carried = value > timeline->carried ? value : timeline->carried;
    maar_mutex_unlock(&timeline->lock);
    return VK_SUCCESS;
}

VkResult maar_peer_signal(struct maar_peer_timeline* timeline, const char* call, uint64_t value,
                          void* stream)
{
    struct maar_peer* peer = timeline->object.peer;
    struct maar_side_step step;
    VkResult result = maar_peer_begin_signal(timeline, call, &timeline->other, value, &step);
    if (result != VK_SUCCESS) {
        return result;
    }
    int previous = 0;
    if (timeline->mode == MAAR_HANDOFF_MODE_HOST) {
        result = signal_by_host(timeline, call, value, stream);
    } else {
        void* semaphore = timeline->mode == MAAR_HANDOFF_MODE_BINARY ? timeline->imported_returning
                                                                     : timeline->imported;
        const bool binary = timeline->mode == MAAR_HANDOFF_MODE_BINARY;
        maar_lock_rank_expect_none();
        result = peer->driver->enter(peer, call, &previous);
        if (result == VK_SUCCESS) {
            result = peer->driver->signal(peer, call, semaphore, binary ? 0 : value, stream);
            peer->driver->leave(peer, previous);
        }
    }
    maar_peer_end_signal(timeline, &timeline->other, &step, result == VK_SUCCESS);
    return result;
}
