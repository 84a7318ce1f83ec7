/*
 * The host's access to reservations whose pages are mapped: where the host finds a range, and
 * flushes and invalidations of ranges. Page blocks of such reservations are mapped as long as they
 * exist, and so are the buffers of those that grow by copies.
 */
#include "core/bound_check.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/allocator_state.h"
#include "core/memory/mapping.h"
#include "core/paging/page_table.h"
#include "core/reservation/reservation_copy.h"

/* The number of ranges that are given to the driver in one call. */
enum { SYNC_BATCH = 16 };

/* Finds the reservation of a handle, and checks that its pages are mapped. */
static VkResult enter_mapped(MaarAllocator allocator, const char* call, MaarReservation handle,
                             struct maar_reservation** found)
{
    const VkResult result =
        maar_reservation_check(allocator, call, "reservation", handle, false, found);
    return result == VK_SUCCESS && ((*found)->flags & MAAR_RESERVATION_CREATE_MAPPED_BIT) == 0
               ? maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_MAPPABLE, call,
                             "reservation was made without MAAR_RESERVATION_CREATE_MAPPED_BIT")
               : result;
}

/* Sets the first and the past byte of a range. Returns false if it ends beyond the reservation. */
static bool bound_range(const struct maar_reservation* reservation, const MaarPageRange* range,
                        VkDeviceSize* begin, VkDeviceSize* end)
{
    const VkDeviceSize size = reservation->size;
    if (range->offset > size ||
        (range->size != VK_WHOLE_SIZE && range->size > size - range->offset)) {
        return false;
    }
    *begin = range->offset;
    *end = range->size == VK_WHOLE_SIZE ? size : range->offset + range->size;
    return true;
}

/* Finds the run at a byte, up to `end`. Returns false if the byte is not committed. */
static bool find_run(const struct maar_reservation* reservation, VkDeviceSize begin,
                     VkDeviceSize end, struct maar_mapped_run* run)
{
    if (reservation->table != NULL) {
        return maar_page_table_mapped_run(reservation->table, begin, end, run);
    }
    const struct maar_copying* copying = reservation->copying;
    if (end > copying->present_size) {
        return false;
    }
    const struct maar_slot* slot =
        maar_slot_of_own(reservation->allocator, copying->present.allocation);
    *run = (struct maar_mapped_run){
        .size = end - begin,
        .data = (char*)maar_slot_address(reservation->allocator, slot) + begin,
    };
    return true;
}

/* Reports a range that ends beyond the reservation, or has pages that are not committed. */
static VkResult report_range(const struct maar_reservation* reservation, const char* call,
                             const char* name, const MaarPageRange* range, bool is_outside)
{
    if (is_outside) {
        return maar_refuse_range(reservation->allocator, call, name, range->offset, range->size,
                                 "the reservation", reservation->size);
    }
    return maar_fail(reservation->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                     MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                     "%s, which begins at byte %llu, has pages that are not committed", name,
                     (unsigned long long)range->offset);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetHostPages(MaarAllocator allocator,
                                                MaarReservation reservation,
                                                const MaarPageRange* pRange, uint32_t* pCount,
                                                MaarHostRun* pRuns)
{
    struct maar_reservation* it = NULL;
    VkDeviceSize at = 0;
    VkDeviceSize end = 0;
    const VkResult result = enter_mapped(allocator, __func__, reservation, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_rule rules[] = {
        {pRange == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRange is NULL"},
        {pCount == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount is NULL"},
        {0},
    };
    if (maar_check_rules(allocator, __func__, rules) != VK_SUCCESS) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const uint32_t capacity = pRuns != NULL ? *pCount : 0;
    uint32_t count = 0;
    *pCount = 0;
    if (!bound_range(it, pRange, &at, &end)) {
        return report_range(it, __func__, "pRange", pRange, true);
    }
    while (at < end) {
        struct maar_mapped_run run;
        if (!find_run(it, at, end, &run)) {
            return report_range(it, __func__, "pRange", pRange, false);
        }
        if (count < capacity) {
            pRuns[count] = (MaarHostRun){.offset = at, .size = run.size, .pData = run.data};
        }
        ++count;
        at += run.size;
    }
    *pCount = pRuns == NULL || count < capacity ? count : capacity;
    return pRuns != NULL && count > capacity ? VK_INCOMPLETE : VK_SUCCESS;
}

/* Ranges of blocks that are to be flushed or invalidated. */
struct sync_job {
    bool flushes;
    uint32_t count;
    VkMappedMemoryRange ranges[SYNC_BATCH];
};

static VkResult sync_ranges(const struct maar_device* device, struct sync_job* job)
{
    const uint32_t count = job->count;
    job->count = 0;
    maar_lock_rank_expect_none();
    if (count == 0) {
        return VK_SUCCESS;
    }
    return job->flushes
               ? device->vkFlushMappedMemoryRanges(device->handle, count, job->ranges)
               : device->vkInvalidateMappedMemoryRanges(device->handle, count, job->ranges);
}

/* Adds the range of a run, widened to whole atoms. Pages consist of whole atoms. */
static VkResult add_run(MaarAllocator allocator, struct sync_job* job,
                        const struct maar_mapped_run* run)
{
    const VkDeviceSize atom = allocator->device.facts.atom;
    const VkDeviceSize begin = run->memory_offset / atom * atom;
    if (!maar_type_is_noncoherent(allocator, run->type_index)) {
        return VK_SUCCESS;
    }
    job->ranges[job->count++] = (VkMappedMemoryRange){
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
        .memory = run->memory,
        .offset = begin,
        .size = maar_align_up(run->memory_offset + run->size, atom) - begin,
    };
    return job->count == SYNC_BATCH ? sync_ranges(&allocator->device, job) : VK_SUCCESS;
}

/* Flushes or invalidates a range of the present buffer of a reservation that grows by copies. */
static VkResult sync_copying(const struct maar_reservation* reservation, const char* call,
                             bool flushes, VkDeviceSize begin, VkDeviceSize size)
{
    MaarAllocator allocator = reservation->allocator;
    uint32_t index = 0;
    struct maar_slot* slot = maar_slot_resolve(
        &allocator->slots, MAAR_TO_BITS(reservation->copying->present.allocation), &index);
    return flushes ? maar_slot_flush(allocator, call, slot, begin, size)
                   : maar_slot_invalidate(allocator, call, slot, begin, size);
}

/* Flushes or invalidates bytes [begin, end), which lie within the reservation. */
static VkResult sync_range(const struct maar_reservation* reservation, const char* call,
                           VkDeviceSize begin, VkDeviceSize end, struct sync_job* job)
{
    VkResult result = VK_SUCCESS;
    for (VkDeviceSize at = begin; at < end && result == VK_SUCCESS;) {
        struct maar_mapped_run run;
        if (!find_run(reservation, at, end, &run)) {
            const MaarPageRange range = {begin, end - begin};
            return report_range(reservation, call, "an element of pRanges", &range, false);
        }
        result = reservation->table != NULL
                     ? add_run(reservation->allocator, job, &run)
                     : sync_copying(reservation, call, job->flushes, at, run.size);
        at += run.size;
    }
    return result;
}

static VkResult sync_pages(MaarAllocator allocator, const char* call, MaarReservation reservation,
                           uint32_t count, const MaarPageRange* ranges, bool flushes)
{
    struct maar_reservation* it = NULL;
    struct sync_job job = {.flushes = flushes};
    VkResult result = enter_mapped(allocator, call, reservation, &it);
    if (result == VK_SUCCESS && count > 0 && ranges == NULL) {
        result = maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pRanges is NULL");
    }
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        VkDeviceSize begin = 0;
        VkDeviceSize end = 0;
        result = bound_range(it, &ranges[i], &begin, &end)
                     ? sync_range(it, call, begin, end, &job)
                     : report_range(it, call, "an element of pRanges", &ranges[i], true);
    }
    return result == VK_SUCCESS ? sync_ranges(&allocator->device, &job) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarFlushPages(MaarAllocator allocator, MaarReservation reservation,
                                              uint32_t rangeCount, const MaarPageRange* pRanges)
{
    return sync_pages(allocator, __func__, reservation, rangeCount, pRanges, true);
}

VKAPI_ATTR VkResult VKAPI_CALL maarInvalidatePages(MaarAllocator allocator,
                                                   MaarReservation reservation, uint32_t rangeCount,
                                                   const MaarPageRange* pRanges)
{
    return sync_pages(allocator, __func__, reservation, rangeCount, pRanges, false);
}
