/*
 * Handoffs for the rooms above: maarSubmitHandoff in two steps, which report under the name of
 * another call.
 */
#ifndef MAAR_INTEROP_SHARE_HANDOFF_H
#define MAAR_INTEROP_SHARE_HANDOFF_H

#include "core/memory/allocator_state.h"
#include "maar/share.h"

struct handoff_commands;

/* A handoff that is checked and recorded: only vkQueueSubmit is left. */
struct maar_handoff {
    MaarAllocator allocator;
    const MaarHandoffInfo* info; /* the caller's, which keeps its address */
    struct handoff_commands* commands;
};

/* call: the public function. No lock may be held. After success the caller commits or cancels. */
VkResult maar_handoff_prepare(MaarAllocator allocator, const char* call,
                              const MaarHandoffInfo* info, struct maar_handoff* handoff);
VkResult maar_handoff_commit(struct maar_handoff* handoff);
void maar_handoff_cancel(struct maar_handoff* handoff);

/* Prepares and commits. On failure nothing was submitted. */
VkResult maar_handoff_submit(MaarAllocator allocator, const char* call,
                             const MaarHandoffInfo* info);

#endif
