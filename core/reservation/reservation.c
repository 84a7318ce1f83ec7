/*
 * The common part of both kinds of reservations: the check of a handle, sizes, and freeing host
 * memory.
 */
#include "core/reservation/reservation.h"

#include "core/memory/allocator_state.h"
#include "core/paging/page_table.h"
#include "core/reservation/reservation_copy.h"

VkBufferCreateFlags maar_without_sparse_bits(VkBufferCreateFlags flags)
{
    return flags & ~((VkBufferCreateFlags)VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                     (VkBufferCreateFlags)VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT |
                     (VkBufferCreateFlags)VK_BUFFER_CREATE_SPARSE_ALIASED_BIT);
}

VkDeviceSize maar_reservation_committed(const struct maar_reservation* reservation)
{
    return reservation->table != NULL
               ? maar_page_table_committed(reservation->table) * reservation->page_size
               : reservation->copying->present_size;
}

void maar_reservation_free(struct maar_reservation* reservation)
{
    const VkAllocationCallbacks* callbacks = reservation->allocator->callbacks;
    maar_host_free(callbacks, reservation->notes);
    maar_host_free(callbacks, reservation->name);
    maar_host_free(callbacks, reservation);
}

VkResult maar_reservation_check(MaarAllocator allocator, const char* call, const char* argument,
                                MaarReservation reservation, bool changes,
                                struct maar_reservation** found)
{
    void* object = NULL;
    const VkResult result = maar_object_enter(allocator, call, argument, MAAR_OBJECT_RESERVATION,
                                              MAAR_TO_BITS(reservation), &object);
    *found = object;
    if (result != VK_SUCCESS || !changes) {
        return result;
    }
    const struct maar_rule rules[] = {
        {(*found)->array_handle != 0, MAAR_MESSAGE_ID_ARRAY_OWNS_RESERVATION,
         "reservation belongs to a growable array; use maarAppendArray, maarReserveArray, "
         "maarTruncateArray or maarDestroyArray"},
        {(*found)->in_cache, MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION,
         "reservation belongs to a buffer cache; destroy the cache first"},
        {0},
    };
    return maar_check_rules(allocator, call, rules);
}
