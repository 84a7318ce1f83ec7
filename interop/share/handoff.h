/*
 * Handoffs for those who build on them: the same as maarSubmitHandoff, told of under another name.
 */
#ifndef MAAR_INTEROP_SHARE_HANDOFF_H
#define MAAR_INTEROP_SHARE_HANDOFF_H

#include "core/memory/allocator_state.h"
#include "maar/share.h"

struct handoff_commands;

/* One that is checked and recorded: all that is left is vkQueueSubmit. */
struct maar_handoff {
    MaarAllocator allocator;
    const MaarHandoffInfo* info; /* the caller's, which stays where it is */
    struct handoff_commands* commands;
};

/* call: the public function. No lock may be held. On success it is to be committed or cancelled. */
VkResult maar_handoff_prepare(MaarAllocator allocator, const char* call,
                              const MaarHandoffInfo* info, struct maar_handoff* handoff);
VkResult maar_handoff_commit(struct maar_handoff* handoff);
void maar_handoff_cancel(struct maar_handoff* handoff);

/* Both at once. On failure nothing was submitted. */
VkResult maar_handoff_submit(MaarAllocator allocator, const char* call,
                             const MaarHandoffInfo* info);

#endif
