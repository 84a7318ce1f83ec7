/*
 * Records what each side of a shared timeline has signalled, and whether the other side has waited
 * for it. These functions make no calls and take no locks: the owner guards both sides.
 *
 * The values of a timeline semaphore must rise on each side. Binary semaphores come in pairs, one
 * for each direction, and take turns: the side that has waited signals next. A binary semaphore may
 * be signalled again only after the wait for its last signal. The turns ensure this order on both
 * devices.
 *
 * A step that needs a call of a driver is begun before the call and ended after it. If two threads
 * begin the same step of a binary semaphore, one of them receives VK_NOT_READY. A call that fails
 * leaves both sides as they were.
 */
#ifndef MAAR_INTEROP_PEER_HANDOFF_SIDE_H
#define MAAR_INTEROP_PEER_HANDOFF_SIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

/* The states of a side. They matter for binary semaphores only. */
enum maar_side_state {
    MAAR_SIDE_IDLE,      /* there is no signal, or the other side has waited for it */
    MAAR_SIDE_SIGNALLED, /* a signal was submitted, and nobody has waited for it */
    MAAR_SIDE_MOVING     /* a call of the driver was begun and has not ended */
};

struct maar_handoff_side {
    struct maar_handoff_side* opposite;
    bool alternates; /* a binary semaphore */
    bool has_turn;   /* a binary semaphore may be signalled next */
    enum maar_side_state state;
    uint64_t last; /* the highest value that was signalled, or whose signal was begun */
};

/* A signal that was begun. */
struct maar_side_step {
    uint64_t value;
    uint64_t previous;
};

/* Starts both sides at `value`. Either side may signal first. Both structures must keep their
 * addresses. */
void maar_sides_start(struct maar_handoff_side* one, struct maar_handoff_side* other,
                      bool alternates, uint64_t value);

/* Returns VK_NOT_READY when a binary semaphore must not be signalled now: it is the other side's
 * turn, or a signal of either side is under way or has not been waited for. Returns
 * VK_ERROR_VALIDATION_FAILED_EXT with the reason in *fault. */
VkResult maar_side_begin_signal(struct maar_handoff_side* side, uint64_t value,
                                struct maar_side_step* step, const char** fault);
void maar_side_end_signal(struct maar_handoff_side* side, const struct maar_side_step* step,
                          bool success);

/* Begins a wait for a value that `side` signals. Returns VK_NOT_READY when the signal of a binary
 * semaphore was not submitted yet, or when another thread has begun the wait. Returns
 * VK_ERROR_VALIDATION_FAILED_EXT with the reason in *fault. */
VkResult maar_side_begin_wait(struct maar_handoff_side* side, uint64_t value, const char** fault);
void maar_side_end_wait(struct maar_handoff_side* side, bool success);

#endif
