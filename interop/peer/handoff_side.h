/*
 * What each side of a shared timeline has signalled, and whether the other side has waited for it.
 * These functions make no calls and take no locks: the owner guards both sides.
 *
 * The values of a timeline semaphore must rise on each side. Binary semaphores come in pairs, one
 * for each direction, and take turns: the side that has waited signals next. A binary semaphore may
 * be signalled again only after the wait for its last signal, and turns ensure this on both
 * devices.
 *
 * A step that needs a call of a driver is begun before the call and ended after it. Of two threads
 * that begin one step of a binary semaphore, one receives VK_NOT_READY. A call that fails leaves
 * both sides as they were.
 */
#ifndef MAAR_INTEROP_PEER_HANDOFF_SIDE_H
#define MAAR_INTEROP_PEER_HANDOFF_SIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

enum maar_side_state {
    MAAR_SIDE_IDLE,      /* the other side has waited for the last signal */
    MAAR_SIDE_SIGNALLED, /* a signal was submitted, and nobody has waited for it */
    MAAR_SIDE_MOVING     /* a call is under way */
};

struct maar_handoff_side {
    struct maar_handoff_side* opposite;
    bool alternates; /* a binary semaphore */
    bool has_turn;   /* a binary semaphore that may be signalled */
    enum maar_side_state state;
    uint64_t last; /* the highest value that was signalled or is about to be */
};

/* A signal that was begun. */
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
