/*
 * Handoffs for those who build on them: the same as maarSubmitHandoff, told of under another name.
 */
#ifndef MAAR_INTEROP_SHARE_HANDOFF_H
#define MAAR_INTEROP_SHARE_HANDOFF_H

#include "core/memory/allocator_state.h"
#include "maar/share.h"

/* call: the public function. No lock may be held. On failure nothing was submitted. */
VkResult maar_handoff_submit(MaarAllocator allocator, const char* call,
                             const MaarHandoffInfo* info);

#endif
