/*
 * The state of reservations and arrays, and the common functions of both kinds. A reservation is
 * sparse, with a page table (reservation_sparse.h), or grows by copies (reservation_copy.h).
 *
 * A reservation belongs to one caller at a time, so it has no lock.
 */
#ifndef MAAR_CORE_RESERVATION_RESERVATION_H
#define MAAR_CORE_RESERVATION_RESERVATION_H

#include <stdbool.h>

#include "core/paging/paged_object.h"
#include "maar/paging.h"

struct maar_copying;
struct maar_touch_notes;
struct maar_page_table;

/* The common state of both kinds. */
struct maar_reservation {
    struct maar_paged_object listed;
    MaarAllocator allocator;
    MaarReservationCreateFlags flags;
    uint64_t array_handle; /* 0: no array */
    bool in_cache;         /* a buffer cache owns its pages, or a manager of residents an array's */
    VkBuffer buffer;
    VkDeviceAddress address;
    VkBufferUsageFlags usage; /* of all its buffers */
    VkDeviceSize size;
    VkDeviceSize page_size;
    VkDeviceSize space; /* sparse: bytes of address space taken, mostly whole pages */
    /* Bytes from the start that have memory, of an array or of a reservation that grows by copies;
     * else 0. */
    VkDeviceSize ready;
    uint32_t move_count;
    struct maar_page_table* table; /* NULL: grows by copies */
    struct maar_copying* copying;  /* NULL: sparse */
    /* Of a sparse one: see page_uses.h. */
    uint32_t unit_shift;            /* the binary logarithm of a unit's bytes */
    struct maar_touch_notes* notes; /* NULL before the first touch */
    bool has_untouched;             /* pages may have been committed without a touch */
    bool has_staying;               /* units may have been set to stay */
    uint8_t priorities;             /* bits: priorities that units may have */
    uint64_t losses;                /* maar_page_table_losses, when the notes were last right */
    uint64_t last_touch;            /* number of the last touch that named the reservation */
    /* Made with the reservation, so that destroying the reservation cannot fail. */
    struct maar_retire_item* item;
    void* user_data;
    char* name;
};

/* Finds the reservation of a handle, as maar_object_enter does. changes: the call changes the
 * reservation, so the reservation must not belong to an array. */
VkResult maar_reservation_check(MaarAllocator allocator, const char* call, const char* argument,
                                MaarReservation reservation, bool changes,
                                struct maar_reservation** found);
/* Returns the bytes of the reservation's pages, or of its present buffer. */
VkDeviceSize maar_reservation_committed(const struct maar_reservation* reservation);
/* Frees the host memory of any reservation, except its item. */
void maar_reservation_free(struct maar_reservation* reservation);
/* Returns the flags without those of sparse buffers. */
VkBufferCreateFlags maar_without_sparse_bits(VkBufferCreateFlags flags);

/* ---- reservation_create.c ---- */

/* Makes a reservation, or an array: a structure of `bytes` that begins with a reservation and is
 * otherwise zero. kind: which of them. */
VkResult maar_reservation_create(MaarAllocator allocator, const char* call,
                                 const MaarReservationCreateInfo* info, enum maar_object_kind kind,
                                 size_t bytes, struct maar_reservation** made);
/* Ends a reservation once the points have passed. The caller has checked the points. Cannot
 * fail. */
void maar_reservation_end(struct maar_reservation* reservation, uint32_t point_count,
                          const MaarPoint* points);

#endif
