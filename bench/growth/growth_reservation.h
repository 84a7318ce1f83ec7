/*
 * Reservations for the cases of paging.
 */
#ifndef MAAR_BENCH_GROWTH_RESERVATION_H
#define MAAR_BENCH_GROWTH_RESERVATION_H

#include "growth.h"

#define GROWTH_PAGE ((VkDeviceSize)65536)
/* Texels of a tile in each direction. */
enum { GROWTH_TILE = 128 };

/* Creates a sparse reservation of that many pages, which may be aliased. */
MaarReservation growth_create_reservation(struct growth* growth, uint32_t page_count);
/* Creates a sparse image of this many tiles in each direction and layer, with all its levels. */
MaarSparseImage growth_create_sparse_image(struct growth* growth, uint32_t width, uint32_t height,
                                           uint32_t layers);
/* Commit pages, and give them back. */
void growth_commit(struct growth* growth, MaarReservation reservation, uint32_t page,
                   uint32_t count);
void growth_decommit(struct growth* growth, MaarReservation reservation, uint32_t page,
                     uint32_t count);

#endif
