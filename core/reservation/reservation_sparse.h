/*
 * Sparse reservations: one buffer that is never replaced, and a page table.
 */
#ifndef MAAR_CORE_RESERVATION_RESERVATION_SPARSE_H
#define MAAR_CORE_RESERVATION_RESERVATION_SPARSE_H

#include <stdbool.h>

#include "core/reservation/reservation.h"

/* Fills in the buffer, its address, its table and its page size. */
VkResult maar_reservation_create_sparse(struct maar_reservation* reservation, const char* call,
                                        const MaarReservationCreateInfo* info);
/* Destroys the reservation: at once with `at_once`, else when the points of its item and its last
 * submission have passed. */
void maar_reservation_end_sparse(struct maar_reservation* reservation, bool at_once);
/* Names the reservation of the item that ends it. */
void maar_reservation_describe(const struct maar_retire_item* item, char* text, size_t size);

#endif
