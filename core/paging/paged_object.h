/*
 * The live objects that are made of pages. They are found by their addresses, so that a stale
 * handle is detected. Objects that the program never destroyed are reported and freed. The paging
 * lock guards the list. Paging is open for every function here, except for the two that look up.
 */
#ifndef MAAR_CORE_PAGING_PAGED_OBJECT_H
#define MAAR_CORE_PAGING_PAGED_OBJECT_H

#include <stdbool.h>

#include "maar/allocator.h"

/* Embedded in each object that a program destroys itself. */
struct maar_paged_object {
    struct maar_paged_object* next; /* under the paging lock */
    struct maar_paged_object* previous;
    struct maar_paged_object* next_alike; /* the next object whose address has the same hash */
    const char* what;                     /* "reservation", "sparse image" */
    const char* name;                     /* may be NULL; as long as the object is listed */
    /* Frees the object at once. maarDestroyAllocator found it alive and has reported that. The
     * device is idle, nothing is pending, and the object is off the list. */
    void (*end_leaked)(MaarAllocator allocator, struct maar_paged_object* object);
};

/* Put an object on the list, and take it off. */
void maar_paging_list(MaarAllocator allocator, struct maar_paged_object* object);
void maar_paging_unlist(MaarAllocator allocator, struct maar_paged_object* object);
/* Reports each object that is still listed as a leak and ends it. */
void maar_paging_end_objects(MaarAllocator allocator);
/* Returns whether a handle is a listed object of this kind. Reads nothing of the object before the
 * handle is found. */
bool maar_paging_is_listed(MaarAllocator allocator, const char* what, const void* object);
/* Returns VK_SUCCESS if calls on the allocator may continue and the handle is a listed object of
 * this kind. Otherwise reports misuse and returns the error. A new object at the address of a
 * destroyed one is accepted. */
VkResult maar_paging_check_handle(MaarAllocator allocator, const char* call, const char* argument,
                                  const char* what, const void* object);
/* Reports that an object with committed pages ends although no submission ever named it, as in a
 * program that forgets maarSubmitBinds. All tables of the object are sealed. The name may be NULL.
 * No lock may be held. */
void maar_paging_report_unsubmitted(MaarAllocator allocator, const char* what, const char* name,
                                    uint64_t pages);

/* Numbers of objects, for the statistics. */
enum maar_paging_count {
    MAAR_COUNT_RESERVATION,
    MAAR_COUNT_STITCHED,
    MAAR_COUNT_STITCHED_MADE,
    MAAR_PAGED_COUNTS
};
/* Adds to one of these numbers. */
void maar_paging_add_count(MaarAllocator allocator, enum maar_paging_count which, int change);

#endif
