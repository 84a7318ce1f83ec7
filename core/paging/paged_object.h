/*
 * The live objects that are made of pages: found by their addresses, so that a stale handle is
 * noticed, and named and freed when the program forgets them. Paging is open for every function
 * here, but for the two that look up.
 */
#ifndef MAAR_CORE_PAGING_PAGED_OBJECT_H
#define MAAR_CORE_PAGING_PAGED_OBJECT_H

#include <stdbool.h>

#include "maar/allocator.h"

/* Embedded in each object that a program destroys itself. */
struct maar_paged_object {
    struct maar_paged_object* next; /* under the paging lock */
    struct maar_paged_object* previous;
    struct maar_paged_object* next_alike; /* of objects whose addresses hash alike */
    const char* what;                     /* "reservation", "sparse image" */
    const char* name;                     /* may be NULL; as long as the object is listed */
    /* Frees all of the object at once: maarDestroyAllocator found it alive and has reported that.
     * The device is idle, nothing is pending, and the object is off the list. */
    void (*end_leaked)(MaarAllocator allocator, struct maar_paged_object* object);
};

void maar_paging_list(MaarAllocator allocator, struct maar_paged_object* object);
void maar_paging_unlist(MaarAllocator allocator, struct maar_paged_object* object);
/* Reports each object that is still listed as a leak and ends it. */
void maar_paging_end_objects(MaarAllocator allocator);
/* Returns whether a handle is a listed object of this kind. Reads nothing of the object before that
 * is known. */
bool maar_paging_is_listed(MaarAllocator allocator, const char* what, const void* object);
/* Returns VK_SUCCESS if calls on the allocator may go on and the handle is a listed object of this
 * kind; else the error, having reported misuse. A new object at the address of a destroyed one is
 * taken for it. */
VkResult maar_paging_check_handle(MaarAllocator allocator, const char* call, const char* argument,
                                  const char* what, const void* object);
/* Reports that an object ends with committed pages although no submission ever named it. A program
 * that forgets maarSubmitBinds looks like that. All its tables are sealed. The name may be NULL. No
 * lock may be held. */
void maar_paging_report_unsubmitted(MaarAllocator allocator, const char* what, const char* name,
                                    uint64_t pages);

/* Numbers of objects, for the statistics. */
enum maar_paging_count {
    MAAR_COUNT_RESERVATION,
    MAAR_COUNT_STITCHED,
    MAAR_COUNT_STITCHED_MADE,
    MAAR_PAGED_COUNTS
};
void maar_paging_add_count(MaarAllocator allocator, enum maar_paging_count which, int change);

#endif
