/*
 * The live objects that are made of pages.
 */
#include "core/paging/paged_object.h"

#include "core/paging/paging_state.h"

void maar_paging_list(MaarAllocator allocator, struct maar_paged_object* object)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    maar_mutex_lock(&paging->lock);
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
    (void)maar_object_close(allocator, object->handle);
    maar_mutex_lock(&paging->lock);
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
                    "leak: %s %s was never destroyed", maar_object_kind_name(object->kind),
                    maar_quote(object->name).text);
        object->end_leaked(allocator, object);
    }
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
