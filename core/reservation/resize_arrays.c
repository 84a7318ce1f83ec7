/*
 * Resizes many arrays, all or none: everything that can fail comes before the first change.
 */
#include "core/memory/allocator_state.h"
#include "core/memory/device_memory.h"
#include "core/reservation/array.h"
#include "core/reservation/page_request.h"
#include "core/reservation/reservation_copy.h"

/* A call that resizes arrays. */
struct array_resize {
    MaarAllocator allocator;
    const char* call;
    uint32_t count;
    const MaarArrayResize* resizes;
    VkDeviceSize missing;
};

static struct maar_array* array_of(const struct array_resize* resize, uint32_t at)
{
    return maar_object_of(resize->allocator, MAAR_OBJECT_ARRAY,
                          MAAR_TO_BITS(resize->resizes[at].array));
}

/* Returns the bytes that an array shall have, which fit. */
static VkDeviceSize bytes_of(const struct maar_array* array, const MaarArrayResize* resize)
{
    return resize->count * array->element_size;
}

/* Checks all arrays, and marks them. *marked: how many were. *grows: whether one has to grow. */
static VkResult check_arrays(const struct array_resize* resize, uint32_t* marked, bool* grows)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < resize->count && result == VK_SUCCESS; ++i) {
        const MaarArrayResize* one = &resize->resizes[i];
        struct maar_array* array = NULL;
        VkDeviceSize bytes = 0;
        result = maar_array_check(resize->allocator, resize->call, "pResizes->array", one->array,
                                  &array);
        if (result == VK_SUCCESS && array->is_resized) {
            result = maar_fail(resize->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                               MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, resize->call,
                               "pResizes[%u] names an array that an element before it names", i);
        }
        if (result == VK_SUCCESS) {
            array->is_resized = true;
            *marked = i + 1;
            result = maar_array_needs(array, resize->call, one->count, &bytes);
            if (result == VK_SUCCESS && bytes > array->reservation.ready) {
                *grows = true;
                result = maar_array_expect_own(array, resize->call);
            }
        }
    }
    return result;
}

/* Makes larger buffers for the arrays that grow by copies. */
static VkResult prepare_buffers(struct array_resize* resize)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < resize->count && result == VK_SUCCESS; ++i) {
        struct maar_array* array = array_of(resize, i);
        const VkDeviceSize bytes = bytes_of(array, &resize->resizes[i]);
        if (array->reservation.copying != NULL && bytes > array->reservation.ready) {
            result = maar_copying_prepare(&array->reservation, resize->call, bytes);
            resize->missing = maar_driver_had_no_memory(result) ? bytes : 0;
        }
    }
    return result;
}

/* Adopts these buffers, or discards them. */
static void end_buffers(const struct array_resize* resize, bool adopts)
{
    for (uint32_t i = 0; i < resize->count; ++i) {
        struct maar_reservation* reservation = &array_of(resize, i)->reservation;
        if (reservation->copying == NULL || reservation->copying->growth.size == 0) {
            continue;
        }
        if (adopts) {
            maar_copying_adopt(reservation);
        } else {
            maar_copying_discard(reservation);
        }
    }
}

/* Returns up to which byte an array that grows takes pages. */
static VkDeviceSize end_of_growth(const struct maar_array* array, VkDeviceSize bytes, bool ample)
{
    return ample ? maar_array_ample_end(array, bytes) : bytes;
}

/* Commits pages for the sparse arrays that grow. ample: and some more, within budgets. */
static VkResult commit_arrays(struct array_resize* resize, bool ample)
{
    struct maar_page_request request;
    struct maar_new_pages taken = {.capacity = 0};
    bool has_memory = true;
    maar_page_request_begin(&request, resize->allocator, resize->call);
    for (uint32_t i = 0; i < resize->count && has_memory; ++i) {
        struct maar_array* array = array_of(resize, i);
        const VkDeviceSize bytes = bytes_of(array, &resize->resizes[i]);
        if (array->reservation.table != NULL && bytes > array->reservation.ready) {
            has_memory =
                maar_page_request_add(&request, &array->reservation, array->reservation.ready,
                                      end_of_growth(array, bytes, ample));
        }
    }
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (has_memory) {
        result = ample ? maar_page_request_try_commit(&request)
                       : maar_page_request_commit(&request, &taken);
    }
    resize->missing = taken.missing;
    maar_page_request_end(&request);
    return result;
}

/* Gets memory for the arrays that grow. *ample: whether they have got some more. */
static VkResult grow_arrays(struct array_resize* resize, bool* ample)
{
    VkResult result = prepare_buffers(resize);
    if (result == VK_SUCCESS) {
        *ample = true;
        result = commit_arrays(resize, true);
        if (maar_driver_had_no_memory(result) || result == VK_ERROR_TOO_MANY_OBJECTS) {
            *ample = false;
            result = commit_arrays(resize, false);
        }
    }
    end_buffers(resize, result == VK_SUCCESS);
    return result;
}

/* Gives an array its new number of elements. Its memory is there. Returns whether it has given
 * pages back. */
static bool change_array(struct maar_array* array, const MaarArrayResize* resize, bool ample)
{
    const VkDeviceSize bytes = bytes_of(array, resize);
    const bool shrinks = resize->count < array->count;
    array->count = resize->count;
    if (array->reservation.table == NULL) {
        return false;
    }
    if (bytes > array->reservation.ready) {
        maar_array_set_ready(array, end_of_growth(array, bytes, ample));
    }
    if (shrinks && resize->release == VK_TRUE) {
        maar_array_release(array);
        return true;
    }
    return false;
}

VKAPI_ATTR VkResult VKAPI_CALL maarResizeArrays(MaarAllocator allocator, uint32_t resizeCount,
                                                const MaarArrayResize* pResizes,
                                                VkDeviceSize* pMissingSize)
{
    struct array_resize resize = {
        .allocator = allocator, .call = __func__, .count = resizeCount, .resizes = pResizes};
    uint32_t marked = 0;
    bool grows = false;
    bool ample = false;
    bool released = false;
    if (pMissingSize != NULL) {
        *pMissingSize = 0;
    }
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS && resizeCount > 0 && pResizes == NULL) {
        result =
            maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pResizes is NULL");
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    result = check_arrays(&resize, &marked, &grows);
    if (result == VK_SUCCESS && grows) {
        result = grow_arrays(&resize, &ample);
    }
    for (uint32_t i = 0; i < marked; ++i) {
        struct maar_array* array = array_of(&resize, i);
        array->is_resized = false;
        released |= result == VK_SUCCESS && change_array(array, &pResizes[i], ample);
    }
    if (released) {
        maar_pages_decommit(allocator, 0, NULL);
    }
    if (pMissingSize != NULL && result != VK_SUCCESS) {
        *pMissingSize = resize.missing;
    }
    return result;
}
