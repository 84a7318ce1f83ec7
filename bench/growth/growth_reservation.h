/*
 * Reservations for the cases of paging.
 */
#ifndef MAAR_BENCH_GROWTH_RESERVATION_H
#define MAAR_BENCH_GROWTH_RESERVATION_H

#include "growth.h"

#define GROWTH_PAGE ((VkDeviceSize)65536)

/* Creates a sparse reservation of that many pages, which may be aliased. */
MaarReservation growth_create_reservation(struct growth* growth, uint32_t page_count);
/* Commit pages, and give them back. */
void growth_commit(struct growth* growth, MaarReservation reservation, uint32_t page,
                   uint32_t count);
void growth_decommit(struct growth* growth, MaarReservation reservation, uint32_t page,
                     uint32_t count);

#endif
