/*
 * Growable arrays: reservations that are filled from their start. Memory is committed in steps that
 * grow with the array, so that few appends need a submission.
 */
#include "core/reservation/array.h"

#include "core/memory/allocator_state.h"
#include "core/memory/device_memory.h"
#include "core/paging/page_commit.h"
#include "core/reservation/commit_pages.h"
#include "core/reservation/reservation_copy.h"

/* The least and the largest step of growth, bytes. In between, a step is an eighth of the array.
 * Waste and the number of submissions are then both small: 1 GiB takes 76 steps. A smaller least
 * step would make submissions frequent. A larger largest step would waste noticeable memory. */
#define LEAST_STEP ((VkDeviceSize)1 << 20)
#define MOST_STEP ((VkDeviceSize)64 << 20)

VkResult maar_array_check(MaarAllocator allocator, const char* call, const char* argument,
                          MaarArray array, struct maar_array** found)
{
    void* object = NULL;
    const VkResult result = maar_object_enter(allocator, call, argument, MAAR_OBJECT_ARRAY,
                                              MAAR_TO_BITS(array), &object);
    *found = object;
    return result;
}

static VkResult check_array(MaarAllocator allocator, const char* call, MaarArray array,
                            struct maar_array** found)
{
    return maar_array_check(allocator, call, "array", array, found);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateArray(MaarAllocator allocator,
                                               const MaarArrayCreateInfo* pCreateInfo,
                                               MaarArray* pArray)
{
    const struct maar_output outputs[] = {
        {"pArray", pArray, sizeof *pArray},
        {0},
    };
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pCreateInfo", pCreateInfo,
                                  MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pCreateInfo->elementSize == 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_ZERO_SIZE, __func__,
                           "pCreateInfo->elementSize is 0");
    }
    struct maar_reservation* reservation = NULL;
    result = maar_reservation_create(allocator, __func__, &pCreateInfo->reservation,
                                     MAAR_OBJECT_ARRAY, sizeof(struct maar_array), &reservation);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_array* array = (struct maar_array*)(void*)reservation;
    array->element_size = pCreateInfo->elementSize;
    array->grow_size = pCreateInfo->growSize;
    *pArray = MAAR_FROM_BITS(MaarArray, reservation->array_handle);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyArray(MaarAllocator allocator, MaarArray array)
{
    struct maar_array* it = NULL;
    if (array != VK_NULL_HANDLE && check_array(allocator, __func__, array, &it) == VK_SUCCESS &&
        maar_array_expect_own(it, __func__) == VK_SUCCESS &&
        maar_object_claim(allocator, __func__, "array", MAAR_TO_BITS(array)) == VK_SUCCESS) {
        maar_reservation_end(&it->reservation, 0, NULL);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroyArrayAfter(MaarAllocator allocator, MaarArray array,
                                                     uint32_t pointCount, const MaarPoint* pPoints)
{
    struct maar_array* it = NULL;
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_retire_check_points(&allocator->retire, __func__, pointCount, pPoints);
    }
    if (result != VK_SUCCESS || array == VK_NULL_HANDLE) {
        return result;
    }
    result = check_array(allocator, __func__, array, &it);
    if (result == VK_SUCCESS) {
        result = maar_array_expect_own(it, __func__);
    }
    if (result == VK_SUCCESS) {
        result = maar_object_claim(allocator, __func__, "array", MAAR_TO_BITS(array));
    }
    if (result == VK_SUCCESS) {
        maar_reservation_end(&it->reservation, pointCount, pPoints);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetArrayInfo(MaarAllocator allocator, MaarArray array,
                                                MaarArrayInfo* pInfo)
{
    struct maar_array* it = NULL;
    VkResult result = check_array(allocator, __func__, array, &it);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_ARRAY_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    *pInfo = (MaarArrayInfo){
        .sType = pInfo->sType,
        .pNext = pInfo->pNext,
        .count = it->count,
        .capacity = it->reservation.ready / it->element_size,
        .maxCount = it->reservation.size / it->element_size,
        .elementSize = it->element_size,
        .reservation = MAAR_FROM_BITS(MaarReservation, it->reservation.listed.handle),
        .buffer = it->reservation.buffer,
        .address = it->reservation.address,
        .moveCount = it->reservation.move_count,
    };
    return VK_SUCCESS;
}

/* ---- growing and shrinking ---- */

VkResult maar_array_expect_own(const struct maar_array* array, const char* call)
{
    return array->reservation.in_cache
               ? maar_misuse(array->reservation.allocator,
                             MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION, call,
                             "array is a resident, whose memory maarResizeResident changes; "
                             "maarDestroyResident ends that")
               : VK_SUCCESS;
}

void maar_array_set_ready(struct maar_array* array, VkDeviceSize end)
{
    struct maar_reservation* reservation = &array->reservation;
    end = maar_align_up(end, reservation->page_size);
    reservation->ready = end < reservation->size ? end : reservation->size;
}

/* Commits memory up to the byte `end`, which lies within the reservation. */
static VkResult commit_up_to(struct maar_array* array, const char* call, VkDeviceSize end,
                             bool within_budget)
{
    struct maar_reservation* reservation = &array->reservation;
    const VkResult result =
        maar_reservation_commit(reservation, call, reservation->ready, end, within_budget);
    if (result == VK_SUCCESS && reservation->copying == NULL) {
        maar_array_set_ready(array, end);
    }
    return result;
}

static VkDeviceSize step_of(const struct maar_array* array)
{
    VkDeviceSize step = array->grow_size;
    if (step == 0) {
        step = array->reservation.ready / 8;
        step = step > LEAST_STEP ? step : LEAST_STEP;
        step = step < MOST_STEP ? step : MOST_STEP;
    }
    return step;
}

static VkResult report_full(const struct maar_array* array, const char* call, uint64_t count)
{
    const struct maar_reservation* reservation = &array->reservation;
    const char* name = reservation->name;
    return maar_fail(
        reservation->allocator, VK_ERROR_OUT_OF_POOL_MEMORY, MAAR_MESSAGE_ID_ARRAY_FULL, call,
        "array%s%s%s: %llu elements are requested, %llu fit: the reservation has %s, an "
        "element %s",
        name != NULL ? " \"" : "", name != NULL ? name : "", name != NULL ? "\"" : "",
        (unsigned long long)count, (unsigned long long)(reservation->size / array->element_size),
        maar_show_bytes(reservation->size).text, maar_show_bytes(array->element_size).text);
}

VkResult maar_array_needs(const struct maar_array* array, const char* call, uint64_t count,
                          VkDeviceSize* bytes)
{
    if (count > array->reservation.size / array->element_size) {
        return report_full(array, call, count);
    }
    *bytes = count * array->element_size;
    return VK_SUCCESS;
}

VkDeviceSize maar_array_ample_end(const struct maar_array* array, VkDeviceSize least)
{
    const VkDeviceSize size = array->reservation.size;
    const VkDeviceSize ready = array->reservation.ready;
    const VkDeviceSize step = step_of(array);
    const VkDeviceSize end = step < size - ready ? ready + step : size;
    return end > least ? end : least;
}

/* Ensures that `count` elements have memory. ample: and some more elements, for later appends. */
static VkResult make_array_room(struct maar_array* array, const char* call, uint64_t count,
                                bool ample)
{
    VkDeviceSize least = 0;
    VkResult result = maar_array_needs(array, call, count, &least);
    if (result != VK_SUCCESS || least <= array->reservation.ready) {
        return result;
    }
    result = maar_array_expect_own(array, call);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDeviceSize end = ample ? maar_array_ample_end(array, least) : least;
    /* The step beyond the request stays within budgets, and its failure is not reported. */
    result = commit_up_to(array, call, end, end > least);
    if (end > least && (maar_driver_had_no_memory(result) || result == VK_ERROR_TOO_MANY_OBJECTS)) {
        result = commit_up_to(array, call, least, false);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarReserveArray(MaarAllocator allocator, MaarArray array,
                                                uint64_t count)
{
    struct maar_array* it = NULL;
    VkResult result = check_array(allocator, __func__, array, &it);
    return result == VK_SUCCESS ? make_array_room(it, __func__, count, false) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarAppendArray(MaarAllocator allocator, MaarArray array,
                                               uint64_t count, uint64_t* pFirst)
{
    struct maar_array* it = NULL;
    if (pFirst != NULL) {
        *pFirst = 0;
    }
    VkResult result = check_array(allocator, __func__, array, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint64_t most = UINT64_MAX - it->count;
    result = make_array_room(it, __func__, it->count + (count < most ? count : most), true);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pFirst != NULL) {
        *pFirst = it->count;
    }
    it->count += count;
    return VK_SUCCESS;
}

void maar_array_release(struct maar_array* array)
{
    struct maar_reservation* reservation = &array->reservation;
    const VkDeviceSize used = array->count * array->element_size;
    if (reservation->in_cache) {
        return; /* a resident keeps its capacity */
    }
    maar_reservation_decommit(reservation, used, reservation->size);
    const VkDeviceSize rounded = maar_align_up(used, reservation->page_size);
    reservation->ready = rounded < reservation->ready ? rounded : reservation->ready;
}

VKAPI_ATTR VkResult VKAPI_CALL maarTruncateArray(MaarAllocator allocator, MaarArray array,
                                                 uint64_t count, VkBool32 release)
{
    struct maar_array* it = NULL;
    VkResult result = check_array(allocator, __func__, array, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (count > it->count) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         __func__, "count is %llu, above the number of elements (%llu)",
                         (unsigned long long)count, (unsigned long long)it->count);
    }
    it->count = count;
    if (release == VK_TRUE && it->reservation.table != NULL) {
        maar_array_release(it);
        maar_pages_decommit(allocator, 0, NULL);
    }
    return VK_SUCCESS;
}
