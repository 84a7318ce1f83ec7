/*
 * The live objects that are made of pages. Objects that the program never destroyed are reported
 * and freed. The paging lock guards the list. Paging is open for every function here.
 */
#ifndef MAAR_CORE_PAGING_PAGED_OBJECT_H
#define MAAR_CORE_PAGING_PAGED_OBJECT_H

#include <stdbool.h>

#include "core/memory/object_handle.h"

/* Embedded in each object that a program destroys itself. */
struct maar_paged_object {
    struct maar_paged_object* next; /* under the paging lock */
    struct maar_paged_object* previous;
    uint64_t handle;
    enum maar_object_kind kind;
    const char* name; /* may be NULL; as long as the object is listed */
    /* Frees the object at once. maarDestroyAllocator found it alive and has reported that. The
     * device is idle, nothing is pending, and the object is off the list. */
    void (*end_leaked)(MaarAllocator allocator, struct maar_paged_object* object);
};

/* Put an object on the list; take it off and close its handle. */
void maar_paging_list(MaarAllocator allocator, struct maar_paged_object* object);
void maar_paging_unlist(MaarAllocator allocator, struct maar_paged_object* object);
/* Reports each object that is still listed as a leak and ends it. */
void maar_paging_end_objects(MaarAllocator allocator);
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
