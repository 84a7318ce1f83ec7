/*
 * The copies of a manager: what its stream of copies (core/staging/copy_stream.h) waits for, and
 * the barriers around them.
 */
#ifndef MAAR_CORE_RESIDENCY_RESIDENCY_COPIES_H
#define MAAR_CORE_RESIDENCY_RESIDENCY_COPIES_H

#include "core/residency/residency_state.h"

/* Waits of a submission: the program's timelines, and the manager's. */
struct maar_copy_waits {
    uint32_t count;
    MaarPoint points[MAAR_MAX_POINTS + 1];
};

/* Reads the values of the manager's timeline and of those of the program. */
VkResult maar_copies_poll(struct maar_residency* it);
/* Whether the device has been lost. Then what the host has read of device memory may be anything.
 */
bool maar_copies_are_lost(struct maar_residency* it);
/* Waits until all copies have been executed. */
VkResult maar_copies_wait(struct maar_residency* it);

/* Begins to record into a command buffer that the device does not use. */
VkResult maar_copies_begin(struct maar_residency* it, struct maar_stream_commands** commands);
/* Submits what was recorded. On success it->copies.submitted is the value that the end signals. */
VkResult maar_copies_submit(struct maar_residency* it, struct maar_stream_commands* commands,
                            const struct maar_copy_waits* waits);
/* Notes that a submission was made: what it used may make room before its points have passed. */
void maar_copies_note_use(struct maar_residency* it, uint32_t count, const MaarPoint* points);
/* Adds a point, or raises the value of its timeline. There is room: see
 * MAAR_RESIDENCY_TIMELINES. */
void maar_copies_add_wait(struct maar_copy_waits* waits, MaarPoint point);

#endif
