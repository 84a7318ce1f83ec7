/*
 * Lists of reservations that one call names.
 */
#include "core/reservation/reservation_list.h"

#include "core/memory/allocator_state.h"

VkResult maar_reservation_list_begin(struct maar_reservation_list* list, MaarAllocator allocator,
                                     const char* call, bool changes, uint32_t count,
                                     const MaarReservation* reservations)
{
    list->allocator = allocator;
    list->count = 0;
    list->all = list->few;
    if (count > 0 && reservations == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call,
                           "pInfo->pReservations is NULL");
    }
    if (count > MAAR_LISTED_RESERVATIONS) {
        list->all = maar_host_calloc(allocator->callbacks, count, sizeof list->all[0]);
        if (list->all == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    VkResult result = VK_SUCCESS;
    for (; list->count < count && result == VK_SUCCESS; ++list->count) {
        result =
            maar_reservation_check(allocator, call, "a reservation of pInfo->pReservations",
                                   reservations[list->count], changes, &list->all[list->count]);
    }
    if (result != VK_SUCCESS) {
        maar_reservation_list_end(list);
    }
    return result;
}

void maar_reservation_list_end(struct maar_reservation_list* list)
{
    if (list->all != list->few) {
        maar_host_free(list->allocator->callbacks, list->all);
    }
}
