/*
 * Lists of pages that one call commits: see page_request.h.
 */
#include "core/reservation/page_request.h"

#include "core/memory/allocator_state.h"
#include "core/reservation/page_uses.h"

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

static struct maar_page_range* pages_of_range(struct maar_page_request* request)
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
    memcpy(pages, pages_of_range(request), request->count * sizeof pages[0]);
    maar_host_free(callbacks, request->pages);
    request->pages = pages;
    request->capacity = capacity;
    return true;
}

/* Adds a range. stays: its new pages come from the preferred memory type alone. */
static bool add_listed_pages(struct maar_page_request* request,
                             const struct maar_reservation* reservation, VkDeviceSize offset,
                             VkDeviceSize end, bool stays)
{
    if (request->count == request->capacity && !grow_request(request)) {
        return false;
    }
    const uint64_t first = offset / reservation->page_size;
    pages_of_range(request)[request->count++] = (struct maar_page_range){
        .table = reservation->table,
        .first = first,
        .count = (end - 1) / reservation->page_size + 1 - first,
        .stays = stays,
    };
    return true;
}

bool maar_page_request_add(struct maar_page_request* request, struct maar_reservation* reservation,
                           VkDeviceSize offset, VkDeviceSize end)
{
    const struct maar_touch_notes* notes = reservation->notes;
    if (offset >= end) {
        return true;
    }
    reservation->has_untouched = true;
    if (notes == NULL || !reservation->has_staying) {
        return add_listed_pages(request, reservation, offset, end, false);
    }
    bool has_memory = true;
    uint32_t run = maar_touch_notes_find(notes, maar_units_around(reservation, offset, end).first);
    while (offset < end && has_memory) {
        const VkDeviceSize stop = maar_unit_begin(reservation, run + notes->units[run].length);
        has_memory = add_listed_pages(request, reservation, offset, stop < end ? stop : end,
                                      notes->units[run].stays);
        run += notes->units[run].length;
        offset = stop;
    }
    return has_memory;
}

bool maar_page_request_add_units(struct maar_page_request* request,
                                 const struct maar_reservation* reservation, VkDeviceSize offset,
                                 VkDeviceSize end)
{
    const struct maar_touch_notes* notes = reservation->notes;
    const struct maar_unit_range units = maar_units_around(reservation, offset, end);
    const uint32_t past = units.first + units.count;
    bool has_memory = true;
    uint32_t run = maar_touch_notes_find(notes, units.first);
    for (uint32_t next; run < past && has_memory; run = next) {
        next = run + notes->units[run].length;
        const uint32_t from = run > units.first ? run : units.first;
        const uint32_t to = next < past ? next : past;
        has_memory = notes->units[run].whole ||
                     add_listed_pages(request, reservation, maar_unit_begin(reservation, from),
                                      maar_unit_begin(reservation, to), notes->units[run].stays);
    }
    return has_memory;
}

static const struct maar_page_range* listed_pages(const struct maar_page_request* request)
{
    return request->pages != NULL ? request->pages : request->few;
}

VkResult maar_page_request_try_commit(const struct maar_page_request* request)
{
    return maar_pages_try_commit(request->allocator, request->call, request->count,
                                 listed_pages(request));
}

VkResult maar_page_request_commit(const struct maar_page_request* request,
                                  struct maar_new_pages* taken)
{
    const struct maar_page_range* pages = listed_pages(request);
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
