/*
 * What the files of reservations and arrays ask of one another. A reservation is sparse, with a
 * page table, or copies: a plain buffer that a larger one replaces.
 */
#ifndef MAAR_CORE_OBJECTS_RESERVATION_H
#define MAAR_CORE_OBJECTS_RESERVATION_H

#include "core/objects/object.h"
#include "core/paging/copy_queue.h"
#include "core/paging/page_commit.h"
#include "core/paging/paged_object.h"

/* A buffer on its way out. */
struct maar_leaving_buffer {
    VkBuffer buffer;
    MaarAllocation allocation;
    uint32_t slot; /* of an allocation that is pending; else MAAR_SLOT_NONE */
};

/* How a copying reservation makes its buffers, and what becomes of them. */
struct maar_copying {
    struct maar_copy_owner owner; /* first: an owner is turned back into this */
    struct maar_reservation* reservation;
    VkBufferCreateInfo buffer_info; /* without a chain */
    MaarAllocationCreateInfo memory_info;
    struct maar_leaving_buffer present;
    VkDeviceSize present_size;
    struct maar_page_copy* undone; /* once it is destroyed: copies that are never carried out */
    bool at_once;                  /* likewise: nothing is in use, so nothing is waited for */
    uint32_t families[];           /* of the allocator's queues, and those the program named */
};

struct maar_reservation {
    struct maar_paged_object listed;
    MaarAllocator allocator;
    MaarReservationCreateFlags flags;
    bool is_array;
    VkBuffer buffer;
    VkDeviceAddress address;
    VkDeviceSize size;
    VkDeviceSize page_size;
    VkDeviceSize space; /* sparse: address space that it has, whole pages as a rule */
    uint32_t move_count;
    struct maar_page_table* table; /* NULL: copying */
    struct maar_copying* copying;  /* NULL: sparse */
    /* Made with the reservation, so that destroying it cannot fail. */
    struct maar_retire_item* item;
    void* user_data;
    char* name;
};

/* An array is a reservation with a tail. */
struct maar_array {
    struct maar_reservation reservation;
    VkDeviceSize element_size;
    VkDeviceSize grow_size;
    uint64_t count;
    VkDeviceSize ready; /* bytes from the start that have memory */
};

/* What an array is listed as. */
#define MAAR_ARRAY_KIND "growable array"

static inline struct maar_reservation* maar_reservation_of(MaarReservation reservation)
{
    return (struct maar_reservation*)(void*)reservation;
}

/* ---- reservation.c ---- */

/* Makes a reservation, or what begins with one and has so many bytes; the rest is zero. */
VkResult maar_reservation_create(MaarAllocator allocator, const char* call,
                                 const MaarReservationCreateInfo* info, size_t bytes,
                                 struct maar_reservation** made);
/* Ends it once the points have passed; cannot fail. They must have been checked. */
void maar_reservation_end(struct maar_reservation* reservation, uint32_t point_count,
                          const MaarPoint* points);
/* Whether a call on it may go on; changes: and it is not an array's. Tells if not. */
VkResult maar_reservation_check(MaarAllocator allocator, const char* call,
                                const struct maar_reservation* reservation, bool changes);
/* 0 without the usage for it. */
VkDeviceAddress maar_buffer_address(MaarAllocator allocator, VkBuffer buffer,
                                    VkBufferUsageFlags usage);
VkBufferCreateFlags maar_without_sparse_bits(VkBufferCreateFlags flags);
/* Frees what every reservation has on the host, but for its item. */
void maar_reservation_free(struct maar_reservation* reservation);

/* ---- reservation_pages.c ---- */

/* Memory for bytes [offset, end), which must lie within it. quietly: pages within budgets alone,
 * and nothing is told where there are none. */
VkResult maar_reservation_commit(struct maar_reservation* reservation, const char* call,
                                 VkDeviceSize offset, VkDeviceSize end, bool quietly);
/* Gives back the whole pages of [offset, end). */
void maar_reservation_decommit(struct maar_reservation* reservation, VkDeviceSize offset,
                               VkDeviceSize end);
/* Bytes of pages, or of the present buffer. */
VkDeviceSize maar_reservation_committed(const struct maar_reservation* reservation);

/* ---- reservation_copy.c ---- */

/* Fills page_size, copying; the driver is asked whether any memory serves. */
VkResult maar_copying_create(struct maar_reservation* reservation, const char* call,
                             const MaarReservationCreateInfo* info);
/* A buffer of at least so many bytes. */
VkResult maar_copying_grow(struct maar_reservation* reservation, const char* call,
                           VkDeviceSize least);
/* Destroys it: with `at_once` now, else once the points of the reservation's item and the copies
 * have passed. */
void maar_copying_end(struct maar_reservation* reservation, bool at_once);
/* Its buffer as a run; false while there is none. */
bool maar_copying_run(const struct maar_reservation* reservation, MaarPageRun* run);

#endif
