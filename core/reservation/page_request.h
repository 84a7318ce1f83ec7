/*
 * Lists of pages that one call commits, of any number of reservations: all or none.
 */
#ifndef MAAR_CORE_RESERVATION_PAGE_REQUEST_H
#define MAAR_CORE_RESERVATION_PAGE_REQUEST_H

#include <stdbool.h>

#include "core/paging/page_commit.h"
#include "core/reservation/reservation.h"

/* The ranges of a list that take no host memory. */
enum { MAAR_REQUEST_RANGES = 16 };

struct maar_page_request {
    MaarAllocator allocator;
    const char* call;
    uint32_t count;
    uint32_t capacity;
    struct maar_page_range* pages; /* NULL: `few` */
    struct maar_page_range few[MAAR_REQUEST_RANGES];
};

/* Begins an empty list. call: the public function, for messages. */
void maar_page_request_begin(struct maar_page_request* request, MaarAllocator allocator,
                             const char* call);
/* Adds the pages around bytes [offset, end) of a sparse reservation. Returns false if host memory
 * is short. */
bool maar_page_request_add(struct maar_page_request* request, struct maar_reservation* reservation,
                           VkDeviceSize offset, VkDeviceSize end);
/* Adds the whole units around these bytes, except for those that are known to have memory. The
 * reservation has notes. */
bool maar_page_request_add_units(struct maar_page_request* request,
                                 const struct maar_reservation* reservation, VkDeviceSize offset,
                                 VkDeviceSize end);
/* Commits the pages of the list: see maar_pages_commit_listed. taken: NULL, or what receives which
 * pages are new. */
VkResult maar_page_request_commit(const struct maar_page_request* request,
                                  struct maar_new_pages* taken);
/* Does so within budgets: see maar_pages_try_commit. */
VkResult maar_page_request_try_commit(const struct maar_page_request* request);
/* Frees the list. */
void maar_page_request_end(struct maar_page_request* request);

#endif
