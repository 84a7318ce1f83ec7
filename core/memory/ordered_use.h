/*
 * The MaarOrderedUseInfo of a request, and its array of waits. No lock is needed.
 */
#ifndef MAAR_CORE_MEMORY_ORDERED_USE_H
#define MAAR_CORE_MEMORY_ORDERED_USE_H

#include "core/bound_check.h"
#include "maar/ordered.h"

/* Returns the MaarOrderedUseInfo in a chain, or NULL. */
const MaarOrderedUseInfo* maar_ordered_use_find(const void* chain);
/* Returns the first mistake in it. use may be NULL. text: may have the sentence, as long as the
 * fault is used. */
struct maar_fault maar_ordered_use_fault(const MaarOrderedUseInfo* use,
                                         struct maar_bound_text* text);
/* Return and set the number of its waits; 0 without the flag for waits. */
uint32_t maar_ordered_wait_count(const MaarOrderedUseInfo* use);
void maar_ordered_set_wait_count(const MaarOrderedUseInfo* use, uint32_t count);
/* Returns the number of waits in a chain, which may be wrong. */
uint32_t maar_ordered_waits_in_chain(const void* chain);
/* Does the same for the chain of a create info, which may be NULL. */
static inline uint32_t maar_ordered_count_waits(const MaarAllocationCreateInfo* info)
{
    return info != NULL && info->pNext != NULL ? maar_ordered_waits_in_chain(info->pNext) : 0;
}
/* Sets the number again after a call that failed. */
void maar_ordered_restore_waits(const MaarAllocationCreateInfo* info, uint32_t count);

#endif
