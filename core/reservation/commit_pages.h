/*
 * Commits memory to reservations. Arrays call these functions; maarCommitPages is in the same file.
 */
#ifndef MAAR_CORE_RESERVATION_COMMIT_PAGES_H
#define MAAR_CORE_RESERVATION_COMMIT_PAGES_H

#include "core/reservation/reservation.h"

/* Commits bytes [offset, end), which lie within the reservation. within_budget: takes only pages
 * within budgets, and reports no shortage. */
VkResult maar_reservation_commit(struct maar_reservation* reservation, const char* call,
                                 VkDeviceSize offset, VkDeviceSize end, bool within_budget);
/* Gives back the whole pages of [offset, end). */
void maar_reservation_decommit(struct maar_reservation* reservation, VkDeviceSize offset,
                               VkDeviceSize end);

#endif
