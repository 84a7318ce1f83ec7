/*
 * The pages of reservations: commits, gives back, shares and lists them. A call checks all its
 * ranges before it changes anything.
 */
#include "core/reservation/commit_pages.h"

#include <stdio.h>

#include "core/bound_check.h"
#include "core/memory/allocator_state.h"
#include "core/reservation/page_request.h"
#include "core/reservation/page_uses.h"
#include "core/reservation/reservation_copy.h"

/* The number of ranges that are turned into pages on the stack. More ranges take host memory. */
enum { RANGES_AT_ONCE = 16 };

/* Returns the pages that bytes [offset, end) touch. */
static struct maar_page_range pages_around(const struct maar_reservation* reservation,
                                           VkDeviceSize offset, VkDeviceSize end)
{
    const VkDeviceSize page = reservation->page_size;
    struct maar_page_range range = {.table = reservation->table, .first = offset / page};
    range.count = offset < end ? (end - 1) / page + 1 - range.first : 0;
    return range;
}

/* Returns the pages that lie within bytes [offset, end). The last page of a reservation may be
 * shorter. */
static struct maar_page_range pages_within(const struct maar_reservation* reservation,
                                           VkDeviceSize offset, VkDeviceSize end)
{
    const VkDeviceSize page = reservation->page_size;
    struct maar_page_range range = {.table = reservation->table};
    range.first = offset / page + (offset % page != 0 ? 1 : 0);
    const uint64_t past =
        end == reservation->size ? maar_page_table_count(reservation->table) : end / page;
    range.count = past > range.first ? past - range.first : 0;
    return range;
}

static VkDeviceSize end_of(const struct maar_reservation* reservation, const MaarPageRange* range)
{
    return range->size == VK_WHOLE_SIZE ? reservation->size : range->offset + range->size;
}

VkResult maar_reservation_check_ranges(const struct maar_reservation* reservation, const char* call,
                                       uint32_t count, const MaarPageRange* ranges)
{
    const VkDeviceSize size = reservation->size;
    if (count > 0 && ranges == NULL) {
        return maar_misuse(reservation->allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call,
                           "pRanges is NULL");
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (ranges[i].offset > size ||
            (ranges[i].size != VK_WHOLE_SIZE && ranges[i].size > size - ranges[i].offset)) {
            char name[32];
            (void)snprintf(name, sizeof name, "pRanges[%u]", i);
            return maar_refuse_range(reservation->allocator, call, name, ranges[i].offset,
                                     ranges[i].size, "the reservation", size);
        }
    }
    return VK_SUCCESS;
}

/* ---- committing ---- */

VkResult maar_reservation_commit(struct maar_reservation* reservation, const char* call,
                                 VkDeviceSize offset, VkDeviceSize end, bool within_budget)
{
    if (reservation->table == NULL) {
        return maar_copying_grow(reservation, call, end);
    }
    struct maar_page_request request;
    maar_page_request_begin(&request, reservation->allocator, call);
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (maar_page_request_add(&request, reservation, offset, end)) {
        result = within_budget ? maar_page_request_try_commit(&request)
                               : maar_page_request_commit(&request, NULL);
    }
    maar_page_request_end(&request);
    return result;
}

/* Commits ranges of pages. taken: NULL, or receives which pages are new. */
static VkResult commit_sparse(struct maar_reservation* reservation, const char* call,
                              uint32_t count, const MaarPageRange* ranges,
                              struct maar_new_pages* taken)
{
    struct maar_page_request request;
    bool has_memory = true;
    maar_page_request_begin(&request, reservation->allocator, call);
    for (uint32_t i = 0; i < count && has_memory; ++i) {
        has_memory = maar_page_request_add(&request, reservation, ranges[i].offset,
                                           end_of(reservation, &ranges[i]));
    }
    const VkResult result =
        has_memory ? maar_page_request_commit(&request, taken) : VK_ERROR_OUT_OF_HOST_MEMORY;
    maar_page_request_end(&request);
    return result;
}

/* Enlarges a buffer that grows by copies. taken: NULL, or receives the bytes beyond the old one. */
static VkResult commit_copying(struct maar_reservation* reservation, const char* call,
                               uint32_t count, const MaarPageRange* ranges,
                               struct maar_new_pages* taken)
{
    const VkDeviceSize present = reservation->ready;
    VkDeviceSize furthest = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const VkDeviceSize end = end_of(reservation, &ranges[i]);
        furthest = end > furthest && end > ranges[i].offset ? end : furthest;
    }
    if (furthest <= present) {
        return VK_SUCCESS;
    }
    VkResult result = maar_copying_prepare(reservation, call, furthest);
    if (result == VK_SUCCESS && taken != NULL) {
        maar_new_pages_add(taken, reservation->listed.handle, present,
                           reservation->copying->growth.size - present);
        result = maar_new_pages_overflow(taken) ? VK_INCOMPLETE : VK_SUCCESS;
    }
    if (result == VK_SUCCESS) {
        maar_copying_adopt(reservation);
    } else if (reservation->copying->growth.size != 0) {
        maar_copying_discard(reservation);
    }
    return result;
}

/* Commits ranges of a reservation of either kind. */
static VkResult commit_ranges(MaarAllocator allocator, const char* call,
                              MaarReservation reservation, uint32_t count,
                              const MaarPageRange* ranges, struct maar_new_pages* taken)
{
    struct maar_reservation* it = NULL;
    VkResult result =
        maar_reservation_check(allocator, call, "reservation", reservation, true, &it);
    if (result == VK_SUCCESS) {
        result = maar_reservation_check_ranges(it, call, count, ranges);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    return it->table != NULL ? commit_sparse(it, call, count, ranges, taken)
                             : commit_copying(it, call, count, ranges, taken);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCommitPages(MaarAllocator allocator, MaarReservation reservation,
                                               uint32_t rangeCount, const MaarPageRange* pRanges)
{
    return commit_ranges(allocator, __func__, reservation, rangeCount, pRanges, NULL);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCommitNewPages(MaarAllocator allocator,
                                                  MaarReservation reservation, uint32_t rangeCount,
                                                  const MaarPageRange* pRanges,
                                                  MaarNewPages* pNewPages)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pNewPages", pNewPages,
                                      MAAR_STRUCTURE_TYPE_NEW_PAGES);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_new_pages taken = {.capacity = pNewPages->rangeCapacity,
                                   .ranges = pNewPages->pRanges};
    result = commit_ranges(allocator, __func__, reservation, rangeCount, pRanges, &taken);
    pNewPages->rangeCount = result >= 0 ? taken.count : 0;
    pNewPages->size = result == VK_SUCCESS ? taken.size : 0;
    return result;
}

/* ---- giving back ---- */

/* Notes that pages are given back. */
static void lose_pages(struct maar_reservation* reservation, const struct maar_page_range* range)
{
    const VkDeviceSize end = (range->first + range->count) * reservation->page_size;
    maar_uses_lose(reservation, range->first * reservation->page_size,
                   end < reservation->size ? end : reservation->size);
}

void maar_reservation_decommit(struct maar_reservation* reservation, VkDeviceSize offset,
                               VkDeviceSize end)
{
    if (reservation->table != NULL) {
        const struct maar_page_range range = pages_within(reservation, offset, end);
        (void)maar_pages_decommit_range(&range);
        lose_pages(reservation, &range);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarDecommitPages(MaarAllocator allocator,
                                                 MaarReservation reservation, uint32_t rangeCount,
                                                 const MaarPageRange* pRanges)
{
    struct maar_reservation* it = NULL;
    VkResult result =
        maar_reservation_check(allocator, __func__, "reservation", reservation, true, &it);
    if (result == VK_SUCCESS) {
        result = maar_reservation_check_ranges(it, __func__, rangeCount, pRanges);
    }
    if (result != VK_SUCCESS || it->table == NULL) {
        return result;
    }
    struct maar_page_range pages[RANGES_AT_ONCE];
    for (uint32_t done = 0; done < rangeCount;) {
        uint32_t count = 0;
        for (; count < RANGES_AT_ONCE && done < rangeCount; ++count, ++done) {
            pages[count] = pages_within(it, pRanges[done].offset, end_of(it, &pRanges[done]));
            lose_pages(it, &pages[count]);
        }
        maar_pages_decommit(allocator, count, pages);
    }
    return VK_SUCCESS;
}

/* ---- sharing ---- */

/* Checks what the arguments alone show. */
static VkResult check_alias(MaarAllocator allocator, const char* call,
                            const struct maar_reservation* to, VkDeviceSize offset,
                            VkDeviceSize size, const struct maar_reservation* from,
                            VkDeviceSize source_offset)
{
    const VkDeviceSize page = to->page_size;
    const struct maar_rule rules[] = {
        {(to->flags & from->flags & MAAR_RESERVATION_CREATE_ALIASED_BIT) == 0,
         MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE,
         "reservation or source was made without MAAR_RESERVATION_CREATE_ALIASED_BIT"},
        {((to->flags ^ from->flags) & MAAR_RESERVATION_CREATE_MAPPED_BIT) != 0,
         MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE,
         "one of reservation and source was made with MAAR_RESERVATION_CREATE_MAPPED_BIT, the "
         "other "
         "without"},
        {from->page_size != page ||
             maar_page_table_types(to->table) != maar_page_table_types(from->table),
         MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE,
         "reservation and source have other page sizes or memory types"},
        {0},
    };
    const struct maar_bound bounds[] = {
        {offset % page != 0, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, "offset does not begin a page",
         MAAR_SHOW_MULTIPLE(offset, page)},
        {size % page != 0 && offset + size != to->size, MAAR_MESSAGE_ID_INVALID_ALIGNMENT,
         "size is not a whole number of pages", MAAR_SHOW_MULTIPLE(size, page)},
        {source_offset % page != 0, MAAR_MESSAGE_ID_INVALID_ALIGNMENT,
         "sourceOffset does not begin a page", MAAR_SHOW_MULTIPLE(source_offset, page)},
        {0},
    };
    const VkResult result = maar_check_rules(allocator, call, rules);
    if (result == VK_SUCCESS && (offset > to->size || size > to->size - offset)) {
        return maar_refuse_range(allocator, call, "offset and size", offset, size,
                                 "the reservation", to->size);
    }
    return result == VK_SUCCESS ? maar_check_bounds(allocator, call, bounds) : result;
}

/* Returns what is wrong with the pages of both ranges. */
static struct maar_fault find_alias_fault(const struct maar_reservation* to,
                                          const struct maar_page_range* range,
                                          const struct maar_reservation* from, uint64_t first)
{
    if (!maar_pages_are_committed(from->table, first, range->count)) {
        return maar_fault(MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE,
                          "not all of the source's range is committed");
    }
    for (uint64_t i = 0; i < range->count; ++i) {
        if (maar_page_is_committed(to->table, range->first + i)) {
            return maar_fault(MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE,
                              "a page of the target's range is committed already");
        }
    }
    return MAAR_NO_FAULT;
}

VKAPI_ATTR VkResult VKAPI_CALL maarAliasPages(MaarAllocator allocator, MaarReservation reservation,
                                              VkDeviceSize offset, VkDeviceSize size,
                                              MaarReservation source, VkDeviceSize sourceOffset)
{
    struct maar_reservation* to = NULL;
    struct maar_reservation* from = NULL;
    VkResult result =
        maar_reservation_check(allocator, __func__, "reservation", reservation, true, &to);
    if (result == VK_SUCCESS) {
        result = maar_reservation_check(allocator, __func__, "source", source, false, &from);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if (to->table == NULL || from->table == NULL) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT,
                         MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, __func__,
                         "reservation or source grows by copies, and has no pages to share");
    }
    result = check_alias(allocator, __func__, to, offset, size, from, sourceOffset);
    if (result != VK_SUCCESS) {
        return result;
    }
    to->has_untouched = true;
    const struct maar_page_range range = pages_around(to, offset, offset + size);
    const uint64_t first = sourceOffset / to->page_size;
    const uint64_t there = maar_page_table_count(from->table);
    if (first > there || range.count > there - first) {
        return maar_refuse_range(allocator, __func__, "sourceOffset and size", sourceOffset, size,
                                 "the source", from->size);
    }
    const struct maar_fault fault = find_alias_fault(to, &range, from, first);
    return fault.sentence == NULL
               ? maar_pages_alias(allocator, __func__, &range, from->table, first)
               : maar_misuse(allocator, fault.id, __func__, fault.sentence);
}

/* ---- listing ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarEnumerateReservationPages(MaarAllocator allocator,
                                                             MaarReservation reservation,
                                                             uint32_t* pCount, MaarPageRun* pRuns)
{
    struct maar_reservation* it = NULL;
    VkResult result =
        maar_reservation_check(allocator, __func__, "reservation", reservation, false, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pCount == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pCount is NULL");
    }
    const uint32_t capacity = pRuns != NULL ? *pCount : 0;
    MaarPageRun run;
    uint32_t count = 0;
    if (it->table != NULL) {
        count = maar_page_table_runs(it->table, capacity, pRuns);
    } else if (maar_copying_run(it, &run)) {
        count = 1;
        if (capacity > 0) {
            pRuns[0] = run;
        }
    }
    *pCount = pRuns == NULL || count < capacity ? count : capacity;
    return pRuns != NULL && count > capacity ? VK_INCOMPLETE : VK_SUCCESS;
}
