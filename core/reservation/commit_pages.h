/*
 * Commits memory to reservations. Arrays call these functions; maarCommitPages is in the same file.
 */
#ifndef MAAR_CORE_RESERVATION_COMMIT_PAGES_H
#define MAAR_CORE_RESERVATION_COMMIT_PAGES_H

#include "core/reservation/reservation.h"

/* Checks ranges that a call names pRanges, and reports one that ends beyond the reservation. */
VkResult maar_reservation_check_ranges(const struct maar_reservation* reservation, const char* call,
                                       uint32_t count, const MaarPageRange* ranges);
/* Commits bytes [offset, end), which lie within the reservation. within_budget: takes only pages
 * within budgets, and reports no shortage. */
VkResult maar_reservation_commit(struct maar_reservation* reservation, const char* call,
                                 VkDeviceSize offset, VkDeviceSize end, bool within_budget);
/* Gives back the whole pages of [offset, end). Blocks that are empty then stay until a call of
 * maar_pages_decommit. */
void maar_reservation_decommit(struct maar_reservation* reservation, VkDeviceSize offset,
                               VkDeviceSize end);

#endif
