/*
 * Gives back what reservations have not used for long: the units that were touched longest ago, of
 * all the reservations of a call.
 *
 * The reservations form a heap, by the touch of their coldest run.
 */
#include "core/memory/allocator_state.h"
#include "core/paging/page_commit.h"
#include "core/paging/paging_state.h"
#include "core/paging/paging_timeline.h"
#include "core/reservation/page_uses.h"
#include "core/reservation/reservation_list.h"
#include "maar/touch.h"

/* A call that trims. */
struct page_trim {
    const MaarPageTrimInfo* info;
    struct maar_reservation_list list; /* a heap */
    uint64_t before;                   /* what was touched before this one may go */
    VkDeviceSize committed;            /* of all the reservations together */
    struct maar_new_pages given;       /* what has gone, as a list */
    bool has_waits;                    /* the next submission waits for the points */
};

/* ---- the coldest run ---- */

/* Returns the number of the touch of the coldest run; UINT64_MAX if nothing was touched. */
static uint64_t coldest_touch(const struct maar_reservation* reservation)
{
    const struct maar_touch_notes* notes = reservation->notes;
    const uint32_t anchor = notes != NULL ? maar_touched_anchor(notes) : 0;
    const uint32_t coldest = notes != NULL ? notes->units[anchor].newer : anchor;
    return coldest != anchor ? notes->units[coldest].touch : UINT64_MAX;
}

/* Restores the order of the heap below an element whose coldest run may have gone. */
static void sink_reservation(struct maar_reservation_list* heap, uint32_t at)
{
    for (uint32_t child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count &&
            coldest_touch(heap->all[child + 1]) < coldest_touch(heap->all[child])) {
            ++child;
        }
        if (coldest_touch(heap->all[at]) <= coldest_touch(heap->all[child])) {
            return;
        }
        struct maar_reservation* other = heap->all[at];
        heap->all[at] = heap->all[child];
        heap->all[child] = other;
        at = child;
    }
}

/* ---- giving back ---- */

/* Returns the bytes that may still go. */
static VkDeviceSize bytes_to_go(const struct page_trim* trim)
{
    const VkDeviceSize kept = trim->info->keptSize;
    const VkDeviceSize most = trim->info->maxSize;
    const VkDeviceSize above = trim->committed > kept ? trim->committed - kept : 0;
    const VkDeviceSize left = most == 0                 ? UINT64_MAX
                              : most > trim->given.size ? most - trim->given.size
                                                        : 0;
    return above < left ? above : left;
}

/* Makes the next submission of binds wait for the points, once. */
static bool delay_for_points(struct page_trim* trim)
{
    if (!trim->has_waits) {
        trim->has_waits = maar_paging_delay(maar_paging_of(trim->list.allocator),
                                            trim->info->pointCount, trim->info->pPoints);
    }
    return trim->has_waits;
}

/* Whether the list has room for a range. */
static bool has_list_room(const struct page_trim* trim, const struct maar_reservation* reservation,
                          VkDeviceSize offset)
{
    const struct maar_new_pages* given = &trim->given;
    const bool follows =
        given->count > 0 && given->last == reservation->listed.handle && given->end == offset;
    return given->listed == NULL || given->count < given->capacity || follows;
}

/* Gives back the coldest run of the first reservation, or as many of its last units as are to go.
 */
static VkResult trim_run(struct page_trim* trim, VkDeviceSize to_go)
{
    struct maar_reservation* reservation = trim->list.all[0];
    struct maar_touch_notes* notes = reservation->notes;
    uint32_t first = notes->units[maar_touched_anchor(notes)].newer;
    const uint32_t past = first + notes->units[first].length;
    const VkDeviceSize end = maar_unit_begin(reservation, past);
    const VkDeviceSize units = ((to_go - 1) >> reservation->unit_shift) + 1;
    if (units < past - first) {
        first = past - (uint32_t)units;
    }
    const VkDeviceSize offset = maar_unit_begin(reservation, first);
    if (!has_list_room(trim, reservation, offset)) {
        return VK_INCOMPLETE;
    }
    if (!delay_for_points(trim)) {
        return VK_ERROR_TOO_MANY_OBJECTS;
    }
    const uint64_t page = offset / reservation->page_size;
    const struct maar_page_range range = {
        .table = reservation->table,
        .first = page,
        .count = (end - 1) / reservation->page_size + 1 - page,
    };
    const VkDeviceSize bytes = maar_pages_decommit_range(&range) * reservation->page_size;
    maar_touch_notes_lose(notes, first, past - first, true);
    if (bytes > 0) {
        const VkDeviceSize before = trim->given.size;
        maar_new_pages_add(&trim->given, reservation->listed.handle, offset, end - offset);
        trim->given.size = before + bytes;
    }
    trim->committed -= bytes;
    return VK_SUCCESS;
}

/* Gives back what is cold. */
static VkResult trim_all(struct page_trim* trim)
{
    struct maar_reservation_list* heap = &trim->list;
    VkResult result = VK_SUCCESS;
    uint64_t latest = 0;
    for (uint32_t i = 0; i < heap->count; ++i) {
        const struct maar_reservation* reservation = heap->all[i];
        trim->committed += maar_reservation_committed(reservation);
        latest = reservation->last_touch > latest ? reservation->last_touch : latest;
    }
    trim->before = trim->info->touchedBefore != 0 ? trim->info->touchedBefore : latest;
    for (uint32_t i = heap->count / 2; i-- > 0;) {
        sink_reservation(heap, i);
    }
    while (result == VK_SUCCESS && heap->count > 0 && coldest_touch(heap->all[0]) < trim->before) {
        const VkDeviceSize to_go = bytes_to_go(trim);
        if (to_go == 0) {
            break;
        }
        result = trim_run(trim, to_go);
        sink_reservation(heap, 0);
    }
    if (trim->given.size > 0) {
        maar_pages_decommit(heap->allocator, 0, NULL);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarTrimPages(MaarAllocator allocator, const MaarPageTrimInfo* pInfo,
                                             MaarPageTrimResult* pResult)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_PAGE_TRIM_INFO);
    }
    if (result == VK_SUCCESS && pResult != NULL) {
        result = maar_check_structure(allocator, __func__, "pResult", pResult,
                                      MAAR_STRUCTURE_TYPE_PAGE_TRIM_RESULT);
    }
    if (result == VK_SUCCESS) {
        result = maar_paging_check_waits(allocator, __func__, pInfo->pointCount, pInfo->pPoints);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct page_trim trim = {.info = pInfo};
    if (pResult != NULL) {
        trim.given.capacity = pResult->rangeCapacity;
        trim.given.listed = pResult->pRanges;
    }
    result = maar_reservation_list_begin(&trim.list, allocator, __func__, true,
                                         pInfo->reservationCount, pInfo->pReservations);
    if (result == VK_SUCCESS) {
        result = trim_all(&trim);
        maar_reservation_list_end(&trim.list);
    }
    if (pResult != NULL) {
        pResult->rangeCount = trim.given.count;
        pResult->size = trim.given.size;
    }
    return result;
}
