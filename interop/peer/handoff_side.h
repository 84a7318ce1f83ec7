/*
 * What each side of a shared timeline has signalled, and whether the other side has waited for it.
 * Makes no calls and takes no locks: the owner guards it.
 *
 * The values of a timeline semaphore must rise on each side. Two binary semaphores take turns: the
 * side that has waited signals next. Only turns order a signal after the wait for the signal before
 * it on the clocks of both devices. A step that needs a call is begun before the call and ended
 * after it. So one of two threads is asked to come back, and a call that fails leaves everything as
 * before.
 */
#ifndef MAAR_INTEROP_PEER_HANDOFF_SIDE_H
#define MAAR_INTEROP_PEER_HANDOFF_SIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

enum maar_side_state {
    MAAR_SIDE_IDLE,      /* what was signalled was waited for */
    MAAR_SIDE_SIGNALLED, /* or asked for */
    MAAR_SIDE_MOVING     /* a call is under way */
};

struct maar_handoff_side {
    struct maar_handoff_side* opposite;
    bool alternates; /* a binary semaphore */
    bool has_turn;   /* which then may be signalled */
    enum maar_side_state state;
    uint64_t last; /* the highest value asked for */
};

/* A signal on its way. */
struct maar_side_step {
    uint64_t value;
    uint64_t previous;
};

/* Each side may begin. Both must keep their addresses. */
void maar_sides_start(struct maar_handoff_side* one, struct maar_handoff_side* other,
                      bool alternates, uint64_t value);

/* Returns VK_NOT_READY when it is the other side's turn to wait or to signal, and
 * VK_ERROR_VALIDATION_FAILED_EXT with the reason in *fault. */
VkResult maar_side_begin_signal(struct maar_handoff_side* side, uint64_t value,
                                struct maar_side_step* step, const char** fault);
void maar_side_end_signal(struct maar_handoff_side* side, const struct maar_side_step* step,
                          bool success);

/* Returns VK_NOT_READY when the value is not signalled yet, and VK_ERROR_VALIDATION_FAILED_EXT with
 * the reason in *fault. */
VkResult maar_side_begin_wait(struct maar_handoff_side* side, uint64_t value, const char** fault);
void maar_side_end_wait(struct maar_handoff_side* side, bool success);

#endif
