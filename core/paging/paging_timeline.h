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
/* Returns whether a submission of binds can wait for points, and reports why not. */
VkResult maar_paging_check_waits(MaarAllocator allocator, const char* call, uint32_t point_count,
                                 const MaarPoint* points);
/* Makes the next submission of binds wait for points, for all or for none. Returns false if these
 * would be too many. */
bool maar_paging_delay(struct maar_paging* paging, uint32_t point_count, const MaarPoint* points);
/* Reads the present value of the timeline from the device. No lock may be held. */
void maar_paging_look(struct maar_paging* paging);

#endif
