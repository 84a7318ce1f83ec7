/*
 * What residents wait for, and what is done ahead of need.
 */
#ifndef MAAR_CORE_RESIDENCY_RESIDENCY_UPDATE_H
#define MAAR_CORE_RESIDENCY_RESIDENCY_UPDATE_H

#include "core/residency/residency_tiers.h"

/* Takes a resident off the list of those to be prefetched, in a time that grows with that list. */
void maar_prefetch_forget(struct maar_residency* it, struct maar_resident* resident);

#endif
