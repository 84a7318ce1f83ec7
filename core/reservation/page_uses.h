/*
 * The notes of a sparse reservation about its use (touch_notes.h), and numbers of touches.
 *
 * A unit is a power of two of pages; the last one of a reservation may have fewer. The notes are
 * made at the first touch. Like the reservation, they belong to one caller at a time.
 */
#ifndef MAAR_CORE_RESERVATION_PAGE_USES_H
#define MAAR_CORE_RESERVATION_PAGE_USES_H

#include "core/reservation/reservation.h"
#include "core/reservation/touch_notes.h"
#include "maar/touch.h"

/* Units of a reservation. */
struct maar_unit_range {
    uint32_t first;
    uint32_t count;
};

/* Returns the units that bytes [offset, end) touch, at least one byte. */
static inline struct maar_unit_range maar_units_around(const struct maar_reservation* reservation,
                                                       VkDeviceSize offset, VkDeviceSize end)
{
    const uint32_t first = (uint32_t)(offset >> reservation->unit_shift);
    const uint32_t last = (uint32_t)((end - 1) >> reservation->unit_shift);
    return (struct maar_unit_range){first, last - first + 1};
}

/* Returns the first byte of a unit, or, for the number of units, the end of the reservation. */
static inline VkDeviceSize maar_unit_begin(const struct maar_reservation* reservation,
                                           uint32_t unit)
{
    const VkDeviceSize begin = (VkDeviceSize)unit << reservation->unit_shift;
    return begin < reservation->size ? begin : reservation->size;
}

/* Chooses the unit of a reservation, whose page size is known. wanted: bytes, or 0. */
void maar_uses_begin(struct maar_reservation* reservation, VkDeviceSize wanted);
/* Ensures that a sparse reservation has notes. Returns VK_SUCCESS or VK_ERROR_OUT_OF_HOST_MEMORY.
 */
VkResult maar_uses_open(struct maar_reservation* reservation);
/* Frees notes that were made by a call which has failed: those without a touch or a priority. */
void maar_uses_close_unused(struct maar_reservation* reservation);
/* Notes that pages of bytes [offset, end) were given back: all pages that lie within. */
void maar_uses_lose(struct maar_reservation* reservation, VkDeviceSize offset, VkDeviceSize end);
/* Forgets which units have memory, if pages were taken from the reservation since the last call:
 * the pool that they came from has ended. */
void maar_uses_renew(struct maar_reservation* reservation);
/* Describes the notes for the program. */
void maar_uses_describe(const struct maar_reservation* reservation, MaarReservationUseInfo* out);

#endif
