/*
 * Handoffs for the other rooms of interop: maarSubmitHandoff in two steps. Reports name `call` as
 * the public call.
 */
#ifndef MAAR_INTEROP_SHARE_HANDOFF_H
#define MAAR_INTEROP_SHARE_HANDOFF_H

#include "core/memory/allocator_state.h"
#include "maar/share.h"

struct handoff_commands;

/* A handoff that is checked and recorded. Only vkQueueSubmit is left to do. */
struct maar_handoff {
    MaarAllocator allocator;
    const MaarHandoffInfo* info; /* belongs to the caller, and must keep its address */
    struct handoff_commands* commands;
};

/* Checks and records a handoff. `call` is the public function. No lock may be held. After success,
 * the caller commits or cancels the handoff. */
VkResult maar_handoff_prepare(MaarAllocator allocator, const char* call,
                              const MaarHandoffInfo* info, struct maar_handoff* handoff);
VkResult maar_handoff_commit(struct maar_handoff* handoff);
void maar_handoff_cancel(struct maar_handoff* handoff);

/* Prepares and commits a handoff. On failure, nothing was submitted. */
VkResult maar_handoff_submit(MaarAllocator allocator, const char* call,
                             const MaarHandoffInfo* info);

#endif
