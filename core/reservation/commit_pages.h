/*
 * Committing memory to reservations, for arrays; maarCommitPages is beside it.
 */
#ifndef MAAR_CORE_RESERVATION_COMMIT_PAGES_H
#define MAAR_CORE_RESERVATION_COMMIT_PAGES_H

#include "core/reservation/reservation.h"

/* Commits bytes [offset, end), which lie within the reservation. within_budget: pages within
 * budgets alone, and no report of a shortage. */
VkResult maar_reservation_commit(struct maar_reservation* reservation, const char* call,
                                 VkDeviceSize offset, VkDeviceSize end, bool within_budget);
/* Gives back the whole pages of [offset, end). */
void maar_reservation_decommit(struct maar_reservation* reservation, VkDeviceSize offset,
                               VkDeviceSize end);

#endif
