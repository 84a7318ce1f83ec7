/*
 * The live objects that are made of pages: a list for leaks, and chains by address for stale
 * handles.
 */
#include "core/paging/paged_object.h"

#include "core/paging/paging_state.h"

#include <string.h>

static struct maar_paged_object** chain_of(struct maar_paging* paging, const void* object)
{
    /* The lowest bits of addresses are alike. A multiplication mixes the others upward. */
    const uint64_t mixed = (uint64_t)(uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15);
    return &paging->alike[(mixed >> 32) % MAAR_PAGED_CHAINS];
}

void maar_paging_list(MaarAllocator allocator, struct maar_paged_object* object)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    maar_mutex_lock(&paging->lock);
    struct maar_paged_object** chain = chain_of(paging, object);
    object->next_alike = *chain;
    *chain = object;
    object->previous = NULL;
    object->next = paging->objects;
    if (paging->objects != NULL) {
        paging->objects->previous = object;
    }
    paging->objects = object;
    maar_mutex_unlock(&paging->lock);
}

void maar_paging_unlist(MaarAllocator allocator, struct maar_paged_object* object)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    maar_mutex_lock(&paging->lock);
    struct maar_paged_object** link = chain_of(paging, object);
    while (*link != object) {
        link = &(*link)->next_alike;
    }
    *link = object->next_alike;
    if (object->previous != NULL) {
        object->previous->next = object->next;
    } else {
        paging->objects = object->next;
    }
    if (object->next != NULL) {
        object->next->previous = object->previous;
    }
    maar_mutex_unlock(&paging->lock);
}

void maar_paging_end_objects(MaarAllocator allocator)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    while (paging->objects != NULL) {
        struct maar_paged_object* object = paging->objects;
        maar_paging_unlist(allocator, object);
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                    "leak: %s %s was never destroyed", object->what, maar_quote(object->name).text);
        object->end_leaked(allocator, object);
    }
}

bool maar_paging_is_listed(MaarAllocator allocator, const char* what, const void* object)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    if (paging == NULL) {
        return false;
    }
    maar_mutex_lock(&paging->lock);
    const struct maar_paged_object* at = *chain_of(paging, object);
    while (at != NULL && at != object) {
        at = at->next_alike;
    }
    const bool listed = at != NULL && strcmp(at->what, what) == 0;
    maar_mutex_unlock(&paging->lock);
    return listed;
}

VkResult maar_paging_check_handle(MaarAllocator allocator, const char* call, const char* argument,
                                  const char* what, const void* object)
{
    const VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS || maar_paging_is_listed(allocator, what, object)) {
        return result;
    }
    if (object == NULL) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NULL_HANDLE, call,
                    "%s is VK_NULL_HANDLE", argument);
    } else {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FOREIGN_HANDLE, call,
                    "%s is not a %s of this allocator (was it destroyed already?)", argument, what);
    }
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

void maar_paging_report_unsubmitted(MaarAllocator allocator, const char* what, const char* name,
                                    uint64_t pages)
{
    if (pages == 0 || maar_atomic32_load(&allocator->retire.lost) != 0) {
        return;
    }
    const char* quote = name != NULL ? "\"" : "";
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED, NULL,
                "%s%s%s%s%s: %llu pages were never handed to the device by maarSubmitBinds", what,
                name != NULL ? " " : "", quote, name != NULL ? name : "", quote,
                (unsigned long long)pages);
}

void maar_paging_add_count(MaarAllocator allocator, enum maar_paging_count which, int change)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    maar_mutex_lock(&paging->lock);
    paging->counts[which] += (uint64_t)(int64_t)change;
    maar_mutex_unlock(&paging->lock);
}
