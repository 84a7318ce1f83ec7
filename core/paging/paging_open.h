/*
 * Opens paging for an allocator.
 */
#ifndef MAAR_CORE_PAGING_PAGING_OPEN_H
#define MAAR_CORE_PAGING_PAGING_OPEN_H

#include <stdbool.h>

#include "maar/allocator.h"

/* Makes the state of paging unless it exists. VK_SUCCESS: submitting works (there are a queue and
 * timelines), and with `sparse` binding too. VK_ERROR_FEATURE_NOT_PRESENT: something is missing,
 * and was reported. Internally synchronized. */
VkResult maar_paging_require(MaarAllocator allocator, const char* call, bool sparse);
/* Makes binds wait for a timeline no more, whose values have all been reached, and waits until the
 * driver uses it for none: then it can be destroyed. No lock may be held. */
void maar_paging_let_go(MaarAllocator allocator, VkSemaphore timeline);

#endif
