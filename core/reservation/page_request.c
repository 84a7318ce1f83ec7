/*
 * Lists of pages that one call commits: see page_request.h.
 */
#include "core/reservation/page_request.h"

#include "core/memory/allocator_state.h"

#include <string.h>

void maar_page_request_begin(struct maar_page_request* request, MaarAllocator allocator,
                             const char* call)
{
    request->allocator = allocator;
    request->call = call;
    request->count = 0;
    request->capacity = MAAR_REQUEST_RANGES;
    request->pages = NULL;
}

static struct maar_page_range* pages_of(struct maar_page_request* request)
{
    return request->pages != NULL ? request->pages : request->few;
}

/* Doubles the room of a list. */
static bool grow_request(struct maar_page_request* request)
{
    const VkAllocationCallbacks* callbacks = request->allocator->callbacks;
    const uint32_t capacity = request->capacity * 2;
    struct maar_page_range* pages =
        capacity > request->capacity ? maar_host_calloc(callbacks, capacity, sizeof request->few[0])
                                     : NULL;
    if (pages == NULL) {
        return false;
    }
    memcpy(pages, pages_of(request), request->count * sizeof pages[0]);
    maar_host_free(callbacks, request->pages);
    request->pages = pages;
    request->capacity = capacity;
    return true;
}

bool maar_page_request_add(struct maar_page_request* request,
                           const struct maar_reservation* reservation, VkDeviceSize offset,
                           VkDeviceSize end)
{
    if (offset >= end) {
        return true;
    }
    if (request->count == request->capacity && !grow_request(request)) {
        return false;
    }
    const uint64_t first = offset / reservation->page_size;
    pages_of(request)[request->count++] = (struct maar_page_range){
        .table = reservation->table,
        .first = first,
        .count = (end - 1) / reservation->page_size + 1 - first,
    };
    return true;
}

VkResult maar_page_request_commit(const struct maar_page_request* request,
                                  struct maar_new_pages* taken)
{
    const struct maar_page_range* pages = request->pages != NULL ? request->pages : request->few;
    return taken == NULL
               ? maar_pages_commit(request->allocator, request->call, request->count, pages)
               : maar_pages_commit_listed(request->allocator, request->call, request->count, pages,
                                          taken);
}

void maar_page_request_end(struct maar_page_request* request)
{
    maar_host_free(request->allocator->callbacks, request->pages);
    request->pages = NULL;
}
