/*
 * The timeline that orders Maar's submissions of binds and copies: value n is the end of the n-th.
 */
#ifndef MAAR_CORE_PAGING_PAGING_TIMELINE_H
#define MAAR_CORE_PAGING_PAGING_TIMELINE_H

#include <stdbool.h>

#include "maar/allocator.h"

struct maar_paging;

/* Returns a value of the timeline as a point. Paging is open. */
MaarPoint maar_paging_point(MaarAllocator allocator, uint64_t value);
/* Waits until the submission that signals `value` has been executed, and notes when the device is
 * lost. No lock may be held. */
VkResult maar_paging_wait(struct maar_paging* paging, uint64_t value, uint64_t timeout_ns);
/* Waits until a submission has been executed, but not beyond a deadline, and reports a missed
 * deadline. Returns whether the submission was executed. No lock may be held. */
bool maar_paging_wait_executed(struct maar_paging* paging, uint64_t value, uint64_t deadline_ns);
/* Reads the present value of the timeline from the device. No lock may be held. */
void maar_paging_look(struct maar_paging* paging);

#endif
