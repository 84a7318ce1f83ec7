/*
 * The notes of a reservation about its use: see page_uses.h.
 */
#include "core/reservation/page_uses.h"

#include "core/bits.h"
#include "core/memory/allocator_state.h"
#include "core/paging/page_table.h"

/* The most units of a reservation whose program does not choose: their notes take 1.6 MB. */
#define DEFAULT_MOST_UNITS ((VkDeviceSize)1 << 16)

/* Returns how many units of so many bytes a reservation has. */
static VkDeviceSize units_of(const struct maar_reservation* reservation, uint32_t shift)
{
    return ((reservation->size - 1) >> shift) + 1;
}

void maar_uses_begin(struct maar_reservation* reservation, VkDeviceSize wanted)
{
    const VkDeviceSize most = wanted != 0 ? MAAR_MOST_UNITS : DEFAULT_MOST_UNITS;
    uint32_t shift = maar_top_bit(reservation->page_size);
    MAAR_DEBUG_ASSERT(maar_is_power_of_two(reservation->page_size));
    while (((VkDeviceSize)1 << shift) < wanted && units_of(reservation, shift) > 1) {
        ++shift;
    }
    while (units_of(reservation, shift) > most) {
        ++shift;
    }
    reservation->unit_shift = shift;
}

VkResult maar_uses_open(struct maar_reservation* reservation)
{
    if (reservation->notes != NULL) {
        return VK_SUCCESS;
    }
    const uint32_t units = (uint32_t)units_of(reservation, reservation->unit_shift);
    struct maar_touch_notes* notes =
        maar_host_calloc(reservation->allocator->callbacks, 1, maar_touch_notes_size(units));
    if (notes == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_touch_notes_begin(notes, units);
    reservation->notes = notes;
    return VK_SUCCESS;
}

void maar_uses_close_unused(struct maar_reservation* reservation)
{
    if (reservation->last_touch == 0 && reservation->priorities == 0) {
        maar_host_free(reservation->allocator->callbacks, reservation->notes);
        reservation->notes = NULL;
    }
}

void maar_uses_lose(struct maar_reservation* reservation, VkDeviceSize offset, VkDeviceSize end)
{
    if (reservation->notes == NULL || offset >= end) {
        return;
    }
    const struct maar_unit_range around = maar_units_around(reservation, offset, end);
    maar_touch_notes_lose(reservation->notes, around.first, around.count, false);
    /* Units of which all pages were given back count as never touched. */
    uint32_t first = around.first;
    uint32_t past = around.first + around.count;
    first += maar_unit_begin(reservation, first) < offset ? 1 : 0;
    past -= maar_unit_begin(reservation, past) > end ? 1 : 0;
    if (past > first) {
        maar_touch_notes_lose(reservation->notes, first, past - first, true);
    }
}

void maar_uses_renew(struct maar_reservation* reservation)
{
    const uint64_t losses = maar_page_table_losses(reservation->table);
    if (reservation->notes != NULL && reservation->losses != losses) {
        maar_touch_notes_lose(reservation->notes, 0, reservation->notes->unit_count, true);
    }
    reservation->losses = losses;
}

void maar_uses_describe(const struct maar_reservation* reservation, MaarReservationUseInfo* out)
{
    const struct maar_touch_notes* notes = reservation->notes;
    out->unitSize = reservation->table != NULL ? (VkDeviceSize)1 << reservation->unit_shift : 0;
    out->noteSize = notes != NULL ? maar_touch_notes_size(notes->unit_count) : 0;
    out->lastTouch = reservation->last_touch;
    out->spilledSize = reservation->table != NULL
                           ? maar_page_table_away(reservation->table) * reservation->page_size
                           : 0;
}
