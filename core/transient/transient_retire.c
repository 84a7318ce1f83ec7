/*
 * Ends objects and memory: at once, or when points have passed. Each piece of memory is one item of
 * the retire queue, and the objects that lie in it go with it. The objects whose memory stays share
 * one item. Everything that can fail happens before the first item is queued.
 */
#include <string.h>

#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/transient/transient_objects.h"

#include "core/memory/range_free.h"

enum garbage_kind { GARBAGE_VIEW, GARBAGE_IMAGE, GARBAGE_BUFFER };

/* Objects that are destroyed together, in this order: views are destroyed before their images. */
struct garbage {
    uint32_t count;
    struct {
        uint64_t handle;
        enum garbage_kind kind;
    } entries[];
};

/* The parts of a state that are destroyed. */
struct ending {
    MaarAllocator allocator;
    const struct maar_transient_state* state;
    uint32_t point_count;
    const MaarPoint* points;
    uint32_t item_count;
    struct maar_retire_item** items;
    MaarAllocation* allocations; /* of each item, or VK_NULL_HANDLE */
};

static void destroy_garbage(MaarAllocator allocator, const struct garbage* garbage)
{
    const struct maar_device* device = &allocator->device;
    maar_lock_rank_expect_none();
    for (uint32_t i = 0; i < garbage->count; ++i) {
        const uint64_t handle = garbage->entries[i].handle;
        switch (garbage->entries[i].kind) {
        case GARBAGE_VIEW:
            device->vkDestroyImageView(device->handle, MAAR_FROM_BITS(VkImageView, handle),
                                       device->callbacks);
            break;
        case GARBAGE_IMAGE:
            maar_transient_destroy_resource(allocator, true, handle);
            break;
        case GARBAGE_BUFFER:
            maar_transient_destroy_resource(allocator, false, handle);
            break;
        }
    }
}

static void end_garbage(MaarAllocator allocator, const struct maar_retire_item* item)
{
    struct garbage* garbage = (struct garbage*)(uintptr_t)item->object;
    destroy_garbage(allocator, garbage);
    maar_host_free(allocator->callbacks, garbage);
}

/* Marks the parts that a newer state has taken over; none if there is no newer state. */
static void mark_passed_on(struct maar_transient_state* state,
                           const struct maar_transient_state* next)
{
    for (uint32_t copy = 0; copy < state->copy_count; ++copy) {
        for (uint32_t i = 0; i < state->graph.resource_count; ++i) {
            struct maar_transient_object* object = maar_transient_object_at(state, copy, i);
            object->passed_on = false;
            object->views_passed_on = false;
        }
        for (uint32_t i = 0; i < state->class_count; ++i) {
            maar_transient_memory_at(state, copy, i)->passed_on = false;
        }
        for (uint32_t i = 0; next != NULL && i < next->graph.resource_count; ++i) {
            const struct maar_transient_object* heir = maar_transient_object_at(next, copy, i);
            if (heir->kept_from != MAAR_TRANSIENT_NONE) {
                struct maar_transient_object* object =
                    maar_transient_object_at(state, copy, heir->kept_from);
                object->passed_on = true;
                object->views_passed_on = heir->views_kept;
            }
        }
        for (uint32_t i = 0; next != NULL && i < next->class_count; ++i) {
            const uint32_t from = maar_transient_memory_at(next, copy, i)->kept_from;
            if (from != MAAR_TRANSIENT_NONE) {
                maar_transient_memory_at(state, copy, from)->passed_on = true;
            }
        }
    }
}

static bool memory_stays(const struct ending* e, uint32_t copy, uint32_t class_index)
{
    return maar_transient_memory_at(e->state, copy, class_index)->passed_on;
}

/* ---- what goes ---- */

/* Lists the parts of one object that are destroyed. Only counts them while `garbage` is NULL. */
static uint32_t list_object(const struct ending* e, uint32_t copy, uint32_t index,
                            struct garbage* garbage)
{
    const struct maar_transient_resource* resource = &e->state->graph.resources[index];
    const struct maar_transient_object* object = maar_transient_object_at(e->state, copy, index);
    uint32_t count = 0;
    for (uint32_t i = 0; i < resource->view_count && !object->views_passed_on; ++i) {
        if (object->views[i] == VK_NULL_HANDLE) {
            continue;
        }
        if (garbage != NULL) {
            garbage->entries[garbage->count].handle = MAAR_TO_BITS(object->views[i]);
            garbage->entries[garbage->count++].kind = GARBAGE_VIEW;
        }
        ++count;
    }
    if (!object->passed_on && object->handle != 0) {
        if (garbage != NULL) {
            garbage->entries[garbage->count].handle = object->handle;
            garbage->entries[garbage->count++].kind =
                resource->is_image ? GARBAGE_IMAGE : GARBAGE_BUFFER;
        }
        ++count;
    }
    return count;
}

/* Lists the objects of one class of one copy. MAAR_TRANSIENT_NONE stands for all classes whose
 * memory stays. */
static uint32_t list_class(const struct ending* e, uint32_t copy, uint32_t class_index,
                           struct garbage* garbage)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->state->graph.resource_count; ++i) {
        const uint32_t own = e->state->graph.resources[i].class_index;
        if (class_index == MAAR_TRANSIENT_NONE ? memory_stays(e, copy, own) : own == class_index) {
            count += list_object(e, copy, i, garbage);
        }
    }
    return count;
}

/* Makes the item of one class. Returns false without host memory. */
static bool prepare_item(struct ending* e, uint32_t copy, uint32_t class_index)
{
    const MaarAllocation allocation =
        class_index == MAAR_TRANSIENT_NONE
            ? VK_NULL_HANDLE
            : maar_transient_memory_at(e->state, copy, class_index)->allocation;
    const uint32_t count = list_class(e, copy, class_index, NULL);
    if (count == 0 && allocation == VK_NULL_HANDLE) {
        return true;
    }
    struct garbage* garbage = maar_host_alloc(
        e->allocator->callbacks, sizeof *garbage + (size_t)count * sizeof garbage->entries[0]);
    struct maar_retire_item* item =
        garbage == NULL ? NULL
                        : maar_retire_prepare(&e->allocator->retire, e->point_count, e->points);
    if (item == NULL) {
        maar_host_free(e->allocator->callbacks, garbage);
        return false;
    }
    garbage->count = 0;
    (void)list_class(e, copy, class_index, garbage);
    item->action = end_garbage;
    item->object = (uint64_t)(uintptr_t)garbage;
    e->allocations[e->item_count] = allocation;
    e->items[e->item_count++] = item;
    return true;
}

static bool prepare_all(struct ending* e)
{
    for (uint32_t copy = 0; copy < e->state->copy_count; ++copy) {
        if (!prepare_item(e, copy, MAAR_TRANSIENT_NONE)) {
            return false;
        }
        for (uint32_t i = 0; i < e->state->class_count; ++i) {
            if (!memory_stays(e, copy, i) && !prepare_item(e, copy, i)) {
                return false;
            }
        }
    }
    return true;
}

static void discard_all(struct ending* e)
{
    for (uint32_t i = 0; i < e->item_count; ++i) {
        maar_host_free(e->allocator->callbacks, (void*)(uintptr_t)e->items[i]->object);
        maar_retire_discard(&e->allocator->retire, e->items[i]);
    }
}

/* Claims the memory that an item ends. Memory that the program has freed without the heap is
 * reported and left alone. */
static void claim(const struct ending* e, MaarAllocation allocation, struct maar_retire_item* item)
{
    uint32_t index = MAAR_SLOT_NONE;
    struct maar_slot* slot = maar_resolve(e->allocator, "a transient heap", allocation, &index);
    if (slot != NULL && maar_slot_claim(slot, MAAR_TO_BITS(allocation))) {
        maar_slot_retire(e->allocator, slot, index, item);
    }
}

static void queue_all(const struct ending* e)
{
    for (uint32_t i = 0; i < e->item_count; ++i) {
        if (e->allocations[i] != VK_NULL_HANDLE) {
            claim(e, e->allocations[i], e->items[i]);
        }
        maar_retire_queue(&e->allocator->retire, e->items[i]);
    }
}

/* Ends everything at once: the device no longer uses it. Nothing can fail. */
static void end_now(const struct ending* e)
{
    const struct maar_device* device = &e->allocator->device;
    for (uint32_t copy = 0; copy < e->state->copy_count; ++copy) {
        for (uint32_t i = 0; i < e->state->graph.resource_count; ++i) {
            const struct maar_transient_resource* resource = &e->state->graph.resources[i];
            const struct maar_transient_object* object =
                maar_transient_object_at(e->state, copy, i);
            if (!object->views_passed_on) {
                maar_transient_destroy_views(device, resource, object);
            }
            if (!object->passed_on && object->handle != 0) {
                maar_transient_destroy_resource(e->allocator, resource->is_image, object->handle);
            }
        }
        for (uint32_t i = 0; i < e->state->class_count; ++i) {
            if (!memory_stays(e, copy, i)) {
                const MaarAllocation memory =
                    maar_transient_memory_at(e->state, copy, i)->allocation;
                if (memory != VK_NULL_HANDLE) {
                    (void)maar_free_allocation(e->allocator, "the end of a transient heap", memory);
                }
            }
        }
    }
}

VkResult maar_transient_retire(MaarAllocator allocator, struct maar_transient_state* state,
                               const struct maar_transient_state* next, uint32_t point_count,
                               const MaarPoint* points)
{
    struct ending e = {
        .allocator = allocator,
        .state = state,
        .point_count = point_count,
        .points = points,
    };
    if (state->objects == NULL) {
        return VK_SUCCESS;
    }
    mark_passed_on(state, next);
    if (point_count == 0) {
        end_now(&e);
        return VK_SUCCESS;
    }
    struct maar_host_stack scratch = {.callbacks = allocator->callbacks};
    const size_t most = (size_t)state->copy_count * (state->class_count + 1);
    e.items = maar_stack_take(&scratch, most, sizeof *e.items);
    e.allocations = maar_stack_take(&scratch, most, sizeof *e.allocations);
    const bool prepared = !scratch.failed && prepare_all(&e);
    if (prepared) {
        queue_all(&e);
    } else {
        discard_all(&e);
    }
    maar_stack_reset(&scratch);
    return prepared ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}
