/*
 * Which copies of a resident are valid, what uses them, and how those below host memory end.
 */
#ifndef MAAR_CORE_RESIDENCY_RESIDENT_VALID_H
#define MAAR_CORE_RESIDENCY_RESIDENT_VALID_H

#include "core/residency/residency_state.h"

/* Counts a change of tiers, and passes it to the program. */
void maar_residency_note(struct maar_residency* it, const struct maar_resident* resident,
                         MaarTier from, MaarTier to, MaarResidencyReason reason, VkDeviceSize size);

/* Returns the points after which nothing uses the objects of a resident, at most MAAR_MAX_POINTS.
 */
uint32_t maar_resident_points(const struct maar_residency* it, const struct maar_resident* resident,
                              MaarPoint* points);

/* Waits until nothing uses the objects of a resident. */
void maar_resident_wait(struct maar_residency* it, const struct maar_resident* resident);

/* Sets in which tiers a resident has valid copies. */
void maar_resident_set_valid(struct maar_residency* it, struct maar_resident* resident,
                             uint32_t valid);

/* Frees the compressed copy. The second one leaves its bytes to the caller, who frees them. */
void maar_packed_end(struct maar_residency* it, struct maar_resident* resident);

void* maar_packed_leave(struct maar_residency* it, struct maar_resident* resident);

/* Frees the copy in the file. */
void maar_file_end(struct maar_residency* it, struct maar_resident* resident);

#endif
