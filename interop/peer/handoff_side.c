/*
 * Applies the two rules: values rise, and binary semaphores take turns.
 */
#include "interop/peer/handoff_side.h"

void maar_sides_start(struct maar_handoff_side* one, struct maar_handoff_side* other,
                      bool alternates, uint64_t value)
{
    *one = (struct maar_handoff_side){
        .opposite = other,
        .alternates = alternates,
        .has_turn = true,
        .state = MAAR_SIDE_IDLE,
        .last = value,
    };
    *other = *one;
    other->opposite = one;
}

VkResult maar_side_begin_signal(struct maar_handoff_side* side, uint64_t value,
                                struct maar_side_step* step, const char** fault)
{
    if (value <= side->last) {
        *fault = "value is not above every value that this side has signalled or begun to signal";
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (side->alternates && (!side->has_turn || side->state != MAAR_SIDE_IDLE ||
                             side->opposite->state != MAAR_SIDE_IDLE)) {
        return VK_NOT_READY;
    }
    step->value = value;
    step->previous = side->last;
    side->last = value;
    side->state = MAAR_SIDE_MOVING;
    return VK_SUCCESS;
}

void maar_side_end_signal(struct maar_handoff_side* side, const struct maar_side_step* step,
                          bool success)
{
    side->state = success ? MAAR_SIDE_SIGNALLED : MAAR_SIDE_IDLE;
    if (success) {
        side->has_turn = false;
        side->opposite->has_turn = false;
    }
    /* Without turns, another thread may have signalled a higher value in the meantime. */
    if (!success && side->last == step->value) {
        side->last = step->previous;
    }
}

VkResult maar_side_begin_wait(struct maar_handoff_side* side, uint64_t value, const char** fault)
{
    if (!side->alternates) {
        return VK_SUCCESS;
    }
    if (value < side->last || (value == side->last && side->state == MAAR_SIDE_IDLE)) {
        *fault = "value has been waited for already, or is the timeline's first: a signal of a "
                 "binary semaphore allows one wait";
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (value > side->last || side->state != MAAR_SIDE_SIGNALLED) {
        return VK_NOT_READY;
    }
    side->state = MAAR_SIDE_MOVING;
    return VK_SUCCESS;
}

void maar_side_end_wait(struct maar_handoff_side* side, bool success)
{
    if (side->alternates) {
        side->state = success ? MAAR_SIDE_IDLE : MAAR_SIDE_SIGNALLED;
        side->opposite->has_turn = success;
    }
}
