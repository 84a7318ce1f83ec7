/*
 * Touches: ranges of reservations that a submission uses get memory, and their use is noted.
 *
 * A touch of ranges that have memory takes the short way: it looks at one note for each range, and
 * changes it. All other touches check every range, then get everything that can fail, and only then
 * change what the program sees.
 */
#include "maar/touch.h"

#include <stdio.h>

#include "core/bound_check.h"
#include "core/memory/allocator_state.h"
#include "core/memory/device_memory.h"
#include "core/paging/page_table.h"
#include "core/reservation/page_request.h"
#include "core/reservation/page_uses.h"
#include "core/reservation/reservation_copy.h"

/* ---- the short way ---- */

/* Whether a range is not empty, lies within its reservation, has memory, and was touched as one
 * before, so that its touch changes one note. Reservations that grow by copies have no notes. */
MAAR_INLINE bool is_hot(const struct maar_reservation* reservation,
                        const MaarReservationRange* range, struct maar_unit_range* units)
{
    if (range->offset >= reservation->size) {
        return false;
    }
    const VkDeviceSize rest = reservation->size - range->offset;
    const VkDeviceSize size = range->size == VK_WHOLE_SIZE ? rest : range->size;
    const VkDeviceSize end = range->offset + size;
    if (size == 0 || size > rest) {
        return false;
    }
    if (reservation->notes == NULL) {
        return reservation->table == NULL && end <= reservation->ready;
    }
    *units = maar_units_around(reservation, range->offset, end);
    const struct maar_touch_note* note = &reservation->notes->units[units->first];
    return note->length == units->count && note->touch != 0 &&
           (note->whole || end <= reservation->ready) &&
           reservation->losses == maar_page_table_losses(reservation->table);
}

MAAR_INLINE void note_hot(struct maar_reservation* reservation, uint32_t first, uint64_t touch)
{
    reservation->last_touch = touch;
    if (reservation->notes != NULL) {
        maar_touch_notes_renew(reservation->notes, first, touch);
    }
}

MAAR_INLINE struct maar_reservation* reservation_of(MaarAllocator allocator,
                                                    const MaarReservationRange* range)
{
    return maar_object_of(allocator, MAAR_OBJECT_RESERVATION, MAAR_TO_BITS(range->reservation));
}

/* ---- the long way ---- */

/* Returns the end of a range that was checked. */
static VkDeviceSize end_of_touch(const struct maar_reservation* reservation,
                                 const MaarReservationRange* range)
{
    return range->size == VK_WHOLE_SIZE ? reservation->size : range->offset + range->size;
}

/* Finds the reservation of a range, and reports what is wrong with the range. */
static VkResult check_touch(MaarAllocator allocator, const char* call, uint32_t at,
                            const MaarReservationRange* range)
{
    struct maar_reservation* reservation = NULL;
    const VkResult result = maar_reservation_check(allocator, call, "pInfo->pRanges->reservation",
                                                   range->reservation, false, &reservation);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDeviceSize size = reservation->size;
    if (range->offset > size ||
        (range->size != VK_WHOLE_SIZE && range->size > size - range->offset)) {
        char name[32];
        (void)snprintf(name, sizeof name, "pRanges[%u]", at);
        return maar_refuse_range(allocator, call, name, range->offset, range->size,
                                 "the reservation", size);
    }
    if (reservation->array_handle != 0 && end_of_touch(reservation, range) > reservation->ready) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         call,
                         "pRanges[%u] ends beyond the memory of a growable array, which has %s", at,
                         maar_show_bytes(reservation->ready).text);
    }
    return VK_SUCCESS;
}

/* Notes how large the buffer of a reservation that grows by copies must be, or lists the pages that
 * a sparse one lacks. Arrays lack none. */
static VkResult request_range(struct maar_page_request* request, const MaarReservationRange* range)
{
    struct maar_reservation* reservation = reservation_of(request->allocator, range);
    const VkDeviceSize end = end_of_touch(reservation, range);
    if (end == range->offset) {
        return VK_SUCCESS;
    }
    if (reservation->copying != NULL) {
        VkDeviceSize* wanted = &reservation->copying->wanted;
        *wanted = end > *wanted ? end : *wanted;
        return VK_SUCCESS;
    }
    if (maar_uses_open(reservation) != VK_SUCCESS) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_uses_renew(reservation);
    return reservation->array_handle != 0 ||
                   maar_page_request_add_units(request, reservation, range->offset, end)
               ? VK_SUCCESS
               : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* Makes the larger buffer of a reservation that grows by copies, once in a touch. */
static VkResult prepare_growth(struct maar_reservation* reservation, const char* call,
                               struct maar_new_pages* taken)
{
    struct maar_copying* copying = reservation->copying;
    if (copying == NULL || copying->wanted <= reservation->ready || copying->growth.size != 0) {
        return VK_SUCCESS;
    }
    const VkResult result = maar_copying_prepare(reservation, call, copying->wanted);
    if (result == VK_SUCCESS) {
        maar_new_pages_add(taken, reservation->listed.handle, reservation->ready,
                           copying->growth.size - reservation->ready);
    } else if (maar_driver_had_no_memory(result)) {
        taken->missing = copying->wanted;
    }
    return result;
}

/* Ends the growth of a reservation by copies, if it grows. */
static void end_growth(struct maar_reservation* reservation, bool adopts)
{
    struct maar_copying* copying = reservation->copying;
    if (copying == NULL) {
        return;
    }
    if (copying->growth.size != 0 && adopts) {
        maar_copying_adopt(reservation);
    } else if (copying->growth.size != 0) {
        maar_copying_discard(reservation);
    }
    copying->wanted = 0;
}

static void note_range(struct maar_reservation* reservation, const MaarReservationRange* range,
                       uint64_t touch)
{
    const VkDeviceSize end = end_of_touch(reservation, range);
    reservation->last_touch = touch;
    if (reservation->notes != NULL && end > range->offset) {
        const struct maar_unit_range units = maar_units_around(reservation, range->offset, end);
        maar_touch_notes_touch(reservation->notes, units.first, units.count, touch,
                               reservation->array_handle == 0);
    }
}

/* Gets memory for ranges that were checked, for all or none. */
static VkResult get_memory(MaarAllocator allocator, const char* call, uint32_t count,
                           const MaarReservationRange* ranges, struct maar_new_pages* taken)
{
    struct maar_page_request request;
    VkResult result = VK_SUCCESS;
    maar_page_request_begin(&request, allocator, call);
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        result = request_range(&request, &ranges[i]);
    }
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        result = prepare_growth(reservation_of(allocator, &ranges[i]), call, taken);
    }
    if (result == VK_SUCCESS) {
        result = maar_page_request_commit(&request, taken);
    }
    for (uint32_t i = 0; i < count; ++i) {
        struct maar_reservation* reservation = reservation_of(allocator, &ranges[i]);
        end_growth(reservation, result == VK_SUCCESS);
        if (result != VK_SUCCESS) {
            maar_uses_close_unused(reservation);
        }
    }
    maar_page_request_end(&request);
    return result;
}

static VkResult touch_checked(MaarAllocator allocator, const char* call, uint32_t count,
                              const MaarReservationRange* ranges, struct maar_new_pages* taken,
                              uint64_t* touch)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        result = check_touch(allocator, call, i, &ranges[i]);
    }
    if (result == VK_SUCCESS) {
        result = get_memory(allocator, call, count, ranges, taken);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    *touch = maar_atomic64_add(&allocator->touches, 1);
    for (uint32_t i = 0; i < count; ++i) {
        note_range(reservation_of(allocator, &ranges[i]), &ranges[i], *touch);
    }
    return VK_SUCCESS;
}

/* Touches ranges of which one is not hot. A function of its own, so that the short way saves few
 * registers. */
MAAR_NOINLINE VkResult touch_cold(MaarAllocator allocator, const char* call,
                                  const MaarTouchInfo* info, MaarTouchResult* out)
{
    if (info->rangeCount > 0 && info->pRanges == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call,
                           "pInfo->pRanges is NULL");
    }
    struct maar_new_pages taken = {.capacity = 0};
    uint64_t touch = 0;
    if (out != NULL) {
        taken.capacity = out->freshCapacity;
        taken.listed = out->pFresh;
    }
    const VkResult result =
        touch_checked(allocator, call, info->rangeCount, info->pRanges, &taken, &touch);
    if (out != NULL) {
        out->freshCount = result >= 0 ? taken.count : 0;
        out->freshSize = result == VK_SUCCESS ? taken.size : 0;
        out->missingSize = result < 0 ? taken.missing : 0;
        out->touch = touch;
    }
    return result;
}

/* Returns the reservation of a range. `last` is that of the range before it, mostly the same. */
MAAR_INLINE struct maar_reservation* next_reservation(MaarAllocator allocator,
                                                      const MaarReservationRange* ranges,
                                                      uint32_t at, struct maar_reservation* last)
{
    return at > 0 && ranges[at].reservation == ranges[at - 1].reservation
               ? last
               : reservation_of(allocator, &ranges[at]);
}

/* Touches several ranges that may all be hot: see touch_one. */
MAAR_NOINLINE uint64_t touch_several(MaarAllocator allocator, uint32_t count,
                                     const MaarReservationRange* ranges)
{
    struct maar_reservation* reservation = NULL;
    struct maar_unit_range units;
    for (uint32_t i = 0; i < count; ++i) {
        reservation = ranges != NULL ? next_reservation(allocator, ranges, i, reservation) : NULL;
        if (reservation == NULL || !is_hot(reservation, &ranges[i], &units)) {
            return 0;
        }
    }
    const uint64_t touch = maar_atomic64_add(&allocator->touches, 1);
    for (uint32_t i = 0; i < count; ++i) {
        reservation = next_reservation(allocator, ranges, i, reservation);
        note_hot(reservation, (uint32_t)(ranges[i].offset >> reservation->unit_shift), touch);
    }
    return touch;
}

/* Touches a range. Returns the number of the touch, or 0 if the range is not hot. */
MAAR_INLINE uint64_t touch_one(MaarAllocator allocator, const MaarReservationRange* range)
{
    struct maar_unit_range units = {0, 0};
    struct maar_reservation* reservation = reservation_of(allocator, range);
    if (reservation == NULL || !is_hot(reservation, range, &units)) {
        return 0;
    }
    const uint64_t touch = maar_atomic64_add(&allocator->touches, 1);
    note_hot(reservation, units.first, touch);
    return touch;
}

VKAPI_ATTR VkResult VKAPI_CALL maarTouchPages(MaarAllocator allocator, const MaarTouchInfo* pInfo,
                                              MaarTouchResult* pResult)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_TOUCH_INFO);
    }
    if (result == VK_SUCCESS && pResult != NULL) {
        result = maar_check_structure(allocator, __func__, "pResult", pResult,
                                      MAAR_STRUCTURE_TYPE_TOUCH_RESULT);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint64_t touch = pInfo->rangeCount == 1 && pInfo->pRanges != NULL
                               ? touch_one(allocator, pInfo->pRanges)
                               : touch_several(allocator, pInfo->rangeCount, pInfo->pRanges);
    if (touch == 0) {
        return touch_cold(allocator, __func__, pInfo, pResult);
    }
    if (pResult != NULL) {
        pResult->freshCount = 0;
        pResult->freshSize = 0;
        pResult->missingSize = 0;
        pResult->touch = touch;
    }
    return VK_SUCCESS;
}

/* ---- listing ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarEnumerateTouchedRuns(MaarAllocator allocator,
                                                        MaarReservation reservation,
                                                        uint32_t* pCount, MaarTouchedRun* pRuns)
{
    struct maar_reservation* it = NULL;
    const VkResult result =
        maar_reservation_check(allocator, __func__, "reservation", reservation, false, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pCount == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pCount is NULL");
    }
    const struct maar_touch_notes* notes = it->notes;
    const uint32_t capacity = pRuns != NULL ? *pCount : 0;
    uint32_t count = 0;
    const uint32_t anchor = notes != NULL ? maar_touched_anchor(notes) : 0;
    for (uint32_t run = notes != NULL ? notes->units[anchor].newer : anchor; run != anchor;
         run = notes->units[run].newer) {
        if (count < capacity) {
            const VkDeviceSize offset = maar_unit_begin(it, run);
            pRuns[count] = (MaarTouchedRun){
                .offset = offset,
                .size = maar_unit_begin(it, run + notes->units[run].length) - offset,
                .touch = notes->units[run].touch,
                .priority = notes->units[run].priority,
                .neverSpills = notes->units[run].stays ? VK_TRUE : VK_FALSE,
            };
        }
        ++count;
    }
    *pCount = pRuns == NULL || count < capacity ? count : capacity;
    return pRuns != NULL && count > capacity ? VK_INCOMPLETE : VK_SUCCESS;
}
