/*
 * Reservations that grow by copies, where buffers cannot be sparse: larger buffers replace plain
 * ones.
 */
#ifndef MAAR_CORE_RESERVATION_RESERVATION_COPY_H
#define MAAR_CORE_RESERVATION_RESERVATION_COPY_H

#include <stdbool.h>

#include "core/paging/copy_queue.h"
#include "core/reservation/reservation.h"

/* A buffer that is destroyed later. */
struct maar_leaving_buffer {
    VkBuffer buffer;
    MaarAllocation allocation;
    uint32_t slot; /* of a pending allocation; else MAAR_SLOT_NONE */
};

struct outgrown_buffer;

/* A larger buffer that a call has made, and does not use before nothing can fail. */
struct maar_growth {
    VkDeviceSize size; /* 0: none */
    struct maar_leaving_buffer larger;
    struct outgrown_buffer* outgrown; /* for the copy out of the present buffer, or NULL */
};

/* How the buffers are made, and the state of their end. */
struct maar_copying {
    struct maar_copy_owner
        owner; /* the first member: a pointer to it is cast back to this structure */
    struct maar_reservation* reservation;
    VkBufferCreateInfo buffer_info; /* without a chain */
    MaarAllocationCreateInfo memory_info;
    struct maar_leaving_buffer present;
    VkDeviceSize present_size;
    struct maar_growth growth;
    VkDeviceSize wanted;           /* of a call that grows several reservations: bytes; else 0 */
    struct maar_page_copy* undone; /* at the end: copies that are never carried out */
    bool at_once;        /* at the end: the device uses nothing, so nothing is waited for */
    uint32_t families[]; /* of the allocator's queues, and those that the program named */
};

/* Fills in page_size and copying. Returns an error if no memory type serves. */
VkResult maar_copying_create(struct maar_reservation* reservation, const char* call,
                             const MaarReservationCreateInfo* info);
/* Ensures that the present buffer has at least `least` bytes. */
VkResult maar_copying_grow(struct maar_reservation* reservation, const char* call,
                           VkDeviceSize least);
/* Makes a buffer of at least `least` bytes, which are more than the present one has. It is adopted
 * or discarded by the same call of the program; neither can fail. */
VkResult maar_copying_prepare(struct maar_reservation* reservation, const char* call,
                              VkDeviceSize least);
void maar_copying_adopt(struct maar_reservation* reservation);
void maar_copying_discard(struct maar_reservation* reservation);
/* Destroys the reservation: at once with `at_once`, else when the points of its item and its copies
 * have passed. */
void maar_copying_end(struct maar_reservation* reservation, bool at_once);
/* Writes the present buffer as a run. Returns false while there is none. */
bool maar_copying_run(const struct maar_reservation* reservation, MaarPageRun* run);

#endif
