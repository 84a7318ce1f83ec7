/*
 * What the sides of a shared timeline have signalled, and whether the other has waited for it. No
 * calls and no locks: the owner guards it.
 *
 * A timeline semaphore needs no more than that each side's values rise. Two binary semaphores take
 * turns: who has waited signals next. Nothing less orders a signal after the wait for the one
 * before it on both devices' clocks. A step that takes a call is begun before it and ended after
 * it, so that of two threads one is told to come back, and a call that fails leaves everything as
 * it was.
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

/* Either may begin. Both must stay where they are. */
void maar_sides_start(struct maar_handoff_side* one, struct maar_handoff_side* other,
                      bool alternates, uint64_t value);

/* VK_NOT_READY: it is the other side's turn, to wait or to signal. VK_ERROR_VALIDATION_FAILED_EXT:
 * *fault says why. */
VkResult maar_side_begin_signal(struct maar_handoff_side* side, uint64_t value,
                                struct maar_side_step* step, const char** fault);
void maar_side_end_signal(struct maar_handoff_side* side, const struct maar_side_step* step,
                          bool success);

/* VK_NOT_READY: not signalled yet. VK_ERROR_VALIDATION_FAILED_EXT: *fault says why. */
VkResult maar_side_begin_wait(struct maar_handoff_side* side, uint64_t value, const char** fault);
void maar_side_end_wait(struct maar_handoff_side* side, bool success);

#endif
