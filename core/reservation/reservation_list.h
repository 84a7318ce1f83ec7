/*
 * Lists of reservations that one call names.
 */
#ifndef MAAR_CORE_RESERVATION_RESERVATION_LIST_H
#define MAAR_CORE_RESERVATION_RESERVATION_LIST_H

#include "core/reservation/reservation.h"

/* The reservations of a list that takes no host memory. */
enum { MAAR_LISTED_RESERVATIONS = 16 };

struct maar_reservation_list {
    MaarAllocator allocator;
    uint32_t count;
    struct maar_reservation** all;
    struct maar_reservation* few[MAAR_LISTED_RESERVATIONS];
};

/* Finds the reservations of a call, which names them pInfo->pReservations. changes: as
 * maar_reservation_check. On failure there is no list. The list must not move. */
VkResult maar_reservation_list_begin(struct maar_reservation_list* list, MaarAllocator allocator,
                                     const char* call, bool changes, uint32_t count,
                                     const MaarReservation* reservations);
/* Frees the list. */
void maar_reservation_list_end(struct maar_reservation_list* list);

#endif
