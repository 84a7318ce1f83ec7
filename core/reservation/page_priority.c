/*
 * Priorities of ranges of reservations: which pages spill first, and which never do.
 */
#include "core/memory/allocator_state.h"
#include "core/reservation/commit_pages.h"
#include "core/reservation/page_uses.h"
#include "maar/touch.h"

/* Notes a priority for bytes [offset, end). */
static void note_priority(struct maar_reservation* reservation, VkDeviceSize offset,
                          VkDeviceSize end, const MaarPagePriority* priority)
{
    if (offset < end) {
        const struct maar_unit_range units = maar_units_around(reservation, offset, end);
        maar_touch_notes_set(reservation->notes, units.first, units.count,
                             (int8_t)priority->priority, priority->neverSpills == VK_TRUE);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarSetPagePriority(MaarAllocator allocator,
                                                   MaarReservation reservation, uint32_t rangeCount,
                                                   const MaarPageRange* pRanges,
                                                   const MaarPagePriority* pPriority)
{
    struct maar_reservation* it = NULL;
    VkResult result =
        maar_reservation_check(allocator, __func__, "reservation", reservation, false, &it);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pPriority", pPriority,
                                      MAAR_STRUCTURE_TYPE_PAGE_PRIORITY);
    }
    if (result == VK_SUCCESS) {
        result = maar_reservation_check_ranges(it, __func__, rangeCount, pRanges);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pPriority->priority < MAAR_PAGE_PRIORITY_MIN ||
        pPriority->priority > MAAR_PAGE_PRIORITY_MAX) {
        return maar_fail(
            allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE, __func__,
            "pPriority->priority is %d, not within MAAR_PAGE_PRIORITY_MIN (%d) and "
            "MAAR_PAGE_PRIORITY_MAX (%d)",
            (int)pPriority->priority, (int)MAAR_PAGE_PRIORITY_MIN, (int)MAAR_PAGE_PRIORITY_MAX);
    }
    if (it->table == NULL) {
        return VK_SUCCESS;
    }
    if (maar_uses_open(it) != VK_SUCCESS) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < rangeCount; ++i) {
        const bool is_rest = pRanges[i].size == VK_WHOLE_SIZE;
        note_priority(it, pRanges[i].offset,
                      is_rest ? it->size : pRanges[i].offset + pRanges[i].size, pPriority);
    }
    it->priorities |= (uint8_t)(1u << (pPriority->priority - MAAR_PAGE_PRIORITY_MIN));
    it->has_staying = it->has_staying || pPriority->neverSpills == VK_TRUE;
    return VK_SUCCESS;
}
