/*
 * Growable arrays, as the calls on one array and on many see them.
 *
 * Invariant: count * element_size <= ready <= committed bytes from the start. ready is a number of
 * whole pages, the size of the reservation, or the size of the buffer that grows by copies.
 */
#ifndef MAAR_CORE_RESERVATION_ARRAY_H
#define MAAR_CORE_RESERVATION_ARRAY_H

#include "core/reservation/reservation.h"

/* An array is a reservation with more members after it. */
struct maar_array {
    struct maar_reservation reservation;
    VkDeviceSize element_size;
    VkDeviceSize grow_size;
    uint64_t count;
    bool is_resized; /* named by the call under way that resizes many */
};

/* Finds the array of a handle, as maar_object_enter does. argument: the caller's name of it. */
VkResult maar_array_check(MaarAllocator allocator, const char* call, const char* argument,
                          MaarArray array, struct maar_array** found);
/* Reports an array that is a resident: the manager of residents changes its memory. */
VkResult maar_array_expect_own(const struct maar_array* array, const char* call);
/* Returns the bytes that so many elements take. Reports an array whose reservation is too small. */
VkResult maar_array_needs(const struct maar_array* array, const char* call, uint64_t count,
                          VkDeviceSize* bytes);
/* Returns up to which byte an array takes memory that needs `least` bytes, which are more than it
 * has: some more, for later appends. */
VkDeviceSize maar_array_ample_end(const struct maar_array* array, VkDeviceSize least);
/* Notes that a sparse array has memory up to a byte. */
void maar_array_set_ready(struct maar_array* array, VkDeviceSize end);
/* Gives back the pages behind the last element of a sparse array. Blocks that are empty then stay
 * until a call of maar_pages_decommit. */
void maar_array_release(struct maar_array* array);

#endif
