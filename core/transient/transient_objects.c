/*
 * Makes the memory, buffers, images and views of a state. An update keeps what it can of the old
 * state and creates the rest. When a step fails, all steps are undone in reverse. The old state is
 * unchanged until the new one is complete.
 */
#include <string.h>

#include "core/device_calls.h"
#include "core/memory/allocate.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/slot_home.h"
#include "core/objects/captured_object.h"
#include "core/transient/transient_objects.h"
#include "core/transient/transient_plan.h"

/* A creation or an update under way. */
struct making {
    const struct maar_transient_heap* heap;
    MaarAllocator allocator;
    const char* call;
    const MaarTransientGraph* info;
    const uint32_t* previous; /* index of each resource in the old graph; NULL if there is none */
    const struct maar_transient_state* old;
    struct maar_transient_state* state;
};

/* ---- memory ---- */

/* Returns the resource of the old state that has the same create info; NULL if there is none. */
static const struct maar_transient_resource* find_same(const struct making* m, uint32_t index)
{
    const struct maar_transient_resource* resource = &m->state->graph.resources[index];
    if (m->previous == NULL || m->previous[index] == MAAR_TRANSIENT_NONE) {
        return NULL;
    }
    const struct maar_transient_resource* old = &m->old->graph.resources[m->previous[index]];
    return maar_transient_same_key(resource, old) ? old : NULL;
}

/* Whether old memory is suitable for a class, and is at most twice as large as the class. */
static bool memory_serves(const struct making* m, uint32_t copy, uint32_t old_class,
                          const struct maar_transient_class* class)
{
    const struct maar_transient_class* old = &m->old->classes[old_class];
    uint32_t index = 0;
    const struct maar_slot* slot = maar_slot_resolve(
        &m->allocator->slots,
        MAAR_TO_BITS(maar_transient_memory_at(m->old, copy, old_class)->allocation), &index);
    if (slot == NULL) {
        return false;
    }
    const struct maar_span span = maar_slot_find_bytes(m->allocator, slot);
    const uint32_t type = maar_slot_block(m->allocator, slot)->pool->type_index;
    return old->lazy == class->lazy && old->dedicated == MAAR_TRANSIENT_NONE &&
           class->dedicated == MAAR_TRANSIENT_NONE && span.size >= class->size &&
           span.size / 2 <= class->size && (class->type_bits & (1u << type)) != 0 &&
           span.offset % class->alignment == 0;
}

static bool is_taken(const struct making* m, uint32_t copy, uint32_t old_class)
{
    for (uint32_t i = 0; i < m->state->class_count; ++i) {
        if (maar_transient_memory_at(m->state, copy, i)->kept_from == old_class) {
            return true;
        }
    }
    return false;
}

/* Finds old memory for a class: the memory of a resource that may stay where it is, or any other
 * that is suitable for the class. */
static uint32_t find_memory(const struct making* m, uint32_t copy, uint32_t class_index)
{
    const struct maar_transient_class* class = &m->state->classes[class_index];
    const struct maar_transient_graph* graph = &m->state->graph;
    if (m->old == NULL) {
        return MAAR_TRANSIENT_NONE;
    }
    if (class->dedicated != MAAR_TRANSIENT_NONE) {
        const struct maar_transient_resource* old = find_same(m, class->dedicated);
        return old != NULL && old->needs_dedicated ? old->class_index : MAAR_TRANSIENT_NONE;
    }
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        const struct maar_transient_resource* old =
            graph->resources[i].class_index == class_index ? find_same(m, i) : NULL;
        if (old != NULL && old->offset == graph->resources[i].offset &&
            memory_serves(m, copy, old->class_index, class) &&
            !is_taken(m, copy, old->class_index)) {
            return old->class_index;
        }
    }
    for (uint32_t i = 0; i < m->old->class_count; ++i) {
        if (memory_serves(m, copy, i, class) && !is_taken(m, copy, i)) {
            return i;
        }
    }
    return MAAR_TRANSIENT_NONE;
}

/* Allocates memory for a class. object: the only member of a class that the driver requires
 * dedicated memory for, else 0. */
static VkResult allocate_class(const struct making* m, uint32_t class_index, uint64_t object,
                               MaarAllocation* allocation)
{
    const struct maar_transient_class* class = &m->state->classes[class_index];
    MaarAllocationCreateInfo how = maar_transient_how(m->heap, class->lazy);
    MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = class->size,
                         .alignment = class->alignment,
                         .memoryTypeBits = class->type_bits},
        .kind = class->kind,
    };
    if (class->dedicated == MAAR_TRANSIENT_NONE) {
        how.flags |= (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    } else {
        request.requiresDedicated = VK_TRUE;
        if (m->state->graph.resources[class->dedicated].is_image) {
            request.dedicatedImage = MAAR_FROM_BITS(VkImage, object);
        } else {
            request.dedicatedBuffer = MAAR_FROM_BITS(VkBuffer, object);
        }
    }
    const VkResult result =
        maar_allocate_for_object(m->allocator, m->call, &request, &how, allocation, NULL);
    if (result == VK_SUCCESS) {
        maar_allocation_own(m->allocator, *allocation);
        if (maar_may_capture(m->allocator)) {
            maar_capture_parted(m->allocator, *allocation);
        }
    }
    return result;
}

static VkResult make_memory(const struct making* m)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t copy = 0; copy < m->state->copy_count; ++copy) {
        for (uint32_t i = 0; i < m->state->class_count && result == VK_SUCCESS; ++i) {
            struct maar_transient_memory* memory = maar_transient_memory_at(m->state, copy, i);
            memory->kept_from = find_memory(m, copy, i);
            if (m->old != NULL && memory->kept_from != MAAR_TRANSIENT_NONE) {
                memory->allocation =
                    maar_transient_memory_at(m->old, copy, memory->kept_from)->allocation;
            } else if (m->state->classes[i].dedicated == MAAR_TRANSIENT_NONE) {
                result = allocate_class(m, i, 0, &memory->allocation);
            }
        }
    }
    return result;
}

/* ---- objects ---- */

/* Returns the object of a handle. */
static struct maar_object object_of(bool image, uint64_t handle)
{
    return (struct maar_object){
        .buffer = image ? VK_NULL_HANDLE : MAAR_FROM_BITS(VkBuffer, handle),
        .image = image ? MAAR_FROM_BITS(VkImage, handle) : VK_NULL_HANDLE,
    };
}

void maar_transient_destroy_resource(MaarAllocator allocator, bool image, uint64_t handle)
{
    maar_discard_object(allocator, object_of(image, handle));
}

/* Records a resource that was just created, with its name. */
static void capture_resource(MaarAllocator allocator, const MaarTransientResource* info,
                             uint64_t handle)
{
    MaarMemoryRequest needs;
    if (info->pImageInfo != NULL) {
        const VkImage image = MAAR_FROM_BITS(VkImage, handle);
        maar_image_request(allocator, image, MAAR_RESOURCE_KIND_UNKNOWN, 0, &needs);
        maar_capture_image(allocator, image, info->pImageInfo, &needs);
    } else {
        const VkBuffer buffer = MAAR_FROM_BITS(VkBuffer, handle);
        maar_buffer_request(allocator, buffer, &needs);
        maar_capture_buffer(allocator, buffer, info->pBufferInfo, &needs);
    }
    maar_capture_object_name(allocator, object_of(info->pImageInfo != NULL, handle), info->pName);
}

static VkResult create_resource(const struct making* m, uint32_t index, uint64_t* handle)
{
    const struct maar_device* device = &m->allocator->device;
    const MaarTransientResource* info = &m->info->pResources[index];
    VkImage image = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkResult result = VK_SUCCESS;
    maar_lock_rank_expect_none();
    if (info->pImageInfo != NULL) {
        result = device->vkCreateImage(device->handle, info->pImageInfo, device->callbacks, &image);
        *handle = result == VK_SUCCESS ? MAAR_TO_BITS(image) : 0;
    } else {
        result =
            device->vkCreateBuffer(device->handle, info->pBufferInfo, device->callbacks, &buffer);
        *handle = result == VK_SUCCESS ? MAAR_TO_BITS(buffer) : 0;
    }
    if (result == VK_SUCCESS && maar_may_capture(m->allocator)) {
        capture_resource(m->allocator, info, *handle);
    }
    return result;
}

static VkResult create_views(const struct making* m, uint32_t index,
                             struct maar_transient_object* object)
{
    const struct maar_device* device = &m->allocator->device;
    const MaarTransientResource* info = &m->info->pResources[index];
    if (info->viewCount > 0) {
        const VkResult known = maar_require_functions(
            m->allocator, device, "a view of a transient image", MAAR_FUNCTIONS_VIEWS);
        if (known != VK_SUCCESS) {
            return known;
        }
    }
    for (uint32_t i = 0; i < info->viewCount; ++i) {
        VkImageViewCreateInfo view = info->pViewInfos[i];
        view.image = MAAR_FROM_BITS(VkImage, object->handle);
        VkResult result =
            device->vkCreateImageView(device->handle, &view, device->callbacks, &object->views[i]);
        if (result != VK_SUCCESS) {
            object->views[i] = VK_NULL_HANDLE;
            return result;
        }
        ++m->state->created_count;
    }
    return VK_SUCCESS;
}

static VkResult create_object(const struct making* m, uint32_t copy, uint32_t index)
{
    struct maar_transient_object* object = maar_transient_object_at(m->state, copy, index);
    const struct maar_transient_resource* resource = &m->state->graph.resources[index];
    struct maar_transient_memory* memory =
        maar_transient_memory_at(m->state, copy, resource->class_index);
    VkResult result = create_resource(m, index, &object->handle);
    if (result == VK_SUCCESS && memory->allocation == VK_NULL_HANDLE) {
        result = allocate_class(m, resource->class_index, object->handle, &memory->allocation);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    ++m->state->created_count;
    const struct maar_object bound = object_of(resource->is_image, object->handle);
    /* The program may have freed memory that an update is to keep. */
    struct maar_span span;
    const struct maar_slot* slot =
        maar_bind_target(m->allocator, m->call, memory->allocation, resource->offset, &span);
    const VkDeviceSize place = span.offset + resource->offset;
    result = slot == NULL ? VK_ERROR_VALIDATION_FAILED_EXT
                          : maar_bind_object(m->allocator, slot, place, bound, NULL);
    if (result == VK_SUCCESS) {
        maar_capture_sharing(m->allocator, bound, slot, place);
    }
    return result == VK_SUCCESS ? create_views(m, index, object) : result;
}

/* Finds the object of the old state that stays: it has the same create info, place and memory. */
static uint32_t find_object(const struct making* m, uint32_t copy, uint32_t index)
{
    const struct maar_transient_resource* resource = &m->state->graph.resources[index];
    const struct maar_transient_resource* old = find_same(m, index);
    return old != NULL && old->offset == resource->offset &&
                   maar_transient_memory_at(m->state, copy, resource->class_index)->kept_from ==
                       old->class_index
               ? m->previous[index]
               : MAAR_TRANSIENT_NONE;
}

static VkResult keep_object(const struct making* m, uint32_t copy, uint32_t index)
{
    struct maar_transient_object* object = maar_transient_object_at(m->state, copy, index);
    const struct maar_transient_resource* resource = &m->state->graph.resources[index];
    const struct maar_transient_resource* old = &m->old->graph.resources[object->kept_from];
    const struct maar_transient_object* before =
        maar_transient_object_at(m->old, copy, object->kept_from);
    object->handle = before->handle;
    object->generation = before->generation;
    object->views_kept = !resource->view_opaque && !old->view_opaque &&
                         resource->view_key_size == old->view_key_size &&
                         memcmp(resource->view_key, old->view_key, old->view_key_size) == 0;
    ++m->state->kept_count;
    if (resource->view_count == 0) {
        return VK_SUCCESS;
    }
    if (!object->views_kept) {
        object->generation = m->heap->generation + 1;
        return create_views(m, index, object);
    }
    memcpy(object->views, before->views, resource->view_count * sizeof *object->views);
    return VK_SUCCESS;
}

/* Notes the contents that an update carries over. Such contents are kept from frame to frame, in an
 * object that stays, and their owner does not change between the graphs. */
static void note_contents(const struct making* m, uint32_t copy, uint32_t index)
{
    const struct maar_transient_resource* resource = &m->state->graph.resources[index];
    struct maar_transient_object* object = maar_transient_object_at(m->state, copy, index);
    if (object->kept_from == MAAR_TRANSIENT_NONE || !resource->keep) {
        return;
    }
    const struct maar_transient_resource* old = &m->old->graph.resources[object->kept_from];
    const struct maar_transient_object* before =
        maar_transient_object_at(m->old, copy, object->kept_from);
    const struct maar_transient_group* last = &old->groups[old->group_count - 1];
    const bool was_used = (m->heap->copies_used & (1u << copy)) != 0;
    object->has_contents = old->keep && (was_used || before->has_contents) && !last->released &&
                           (!resource->exclusive || last->family == resource->groups[0].family);
    object->old_layout = was_used ? last->layout : before->old_layout;
}

static VkResult make_objects(const struct making* m)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t copy = 0; copy < m->state->copy_count; ++copy) {
        for (uint32_t i = 0; i < m->state->graph.resource_count && result == VK_SUCCESS; ++i) {
            struct maar_transient_object* object = maar_transient_object_at(m->state, copy, i);
            object->kept_from = find_object(m, copy, i);
            object->generation = m->heap->generation + 1;
            if (object->kept_from != MAAR_TRANSIENT_NONE) {
                note_contents(m, copy, i);
                result = keep_object(m, copy, i);
            } else {
                result = create_object(m, copy, i);
            }
        }
    }
    return result;
}

static bool take_arrays(struct maar_transient_state* state)
{
    struct maar_host_stack* stack = &state->stack;
    const struct maar_transient_graph* graph = &state->graph;
    const size_t copies = state->copy_count;
    state->objects = maar_stack_take(stack, copies * graph->resource_count, sizeof *state->objects);
    state->memories = maar_stack_take(stack, copies * state->class_count, sizeof *state->memories);
    for (size_t i = 0; !stack->failed && i < copies * graph->resource_count; ++i) {
        const struct maar_transient_resource* resource =
            &graph->resources[i % graph->resource_count];
        state->objects[i].kept_from = MAAR_TRANSIENT_NONE;
        state->objects[i].views =
            maar_stack_take(stack, resource->view_count, sizeof *state->objects[i].views);
    }
    for (size_t i = 0; !stack->failed && i < copies * state->class_count; ++i) {
        state->memories[i].kept_from = MAAR_TRANSIENT_NONE;
    }
    return !stack->failed;
}

VkResult maar_transient_make_objects(const struct maar_transient_heap* heap, const char* call,
                                     const MaarTransientGraph* info, const uint32_t* previous,
                                     struct maar_transient_state* state)
{
    const struct making making = {
        .heap = heap,
        .allocator = heap->allocator,
        .call = call,
        .info = info,
        .previous = previous,
        .old = previous != NULL ? heap->state : NULL,
        .state = state,
    };
    if (!take_arrays(state)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if ((heap->flags & MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT) != 0) {
        return VK_SUCCESS;
    }
    VkResult result = make_memory(&making);
    if (result == VK_SUCCESS) {
        result = make_objects(&making);
    }
    if (result != VK_SUCCESS) {
        maar_transient_undo_objects(heap->allocator, state);
    }
    return result;
}

void maar_transient_destroy_views(const struct maar_device* device,
                                  const struct maar_transient_resource* resource,
                                  const struct maar_transient_object* object)
{
    for (uint32_t i = 0; i < resource->view_count; ++i) {
        if (object->views[i] != VK_NULL_HANDLE) {
            device->vkDestroyImageView(device->handle, object->views[i], device->callbacks);
        }
    }
}

void maar_transient_undo_objects(MaarAllocator allocator, struct maar_transient_state* state)
{
    const struct maar_device* device = &allocator->device;
    for (uint32_t copy = 0; state->objects != NULL && copy < state->copy_count; ++copy) {
        for (uint32_t i = 0; i < state->graph.resource_count; ++i) {
            const struct maar_transient_resource* resource = &state->graph.resources[i];
            struct maar_transient_object* object = maar_transient_object_at(state, copy, i);
            if (!object->views_kept) {
                maar_transient_destroy_views(device, resource, object);
            }
            if (object->kept_from == MAAR_TRANSIENT_NONE && object->handle != 0) {
                maar_transient_destroy_resource(allocator, resource->is_image, object->handle);
            }
        }
    }
    /* The last allocation is freed first, since a block is released with the allocation that it was
     * made for. */
    for (size_t i = state->memories != NULL ? (size_t)state->copy_count * state->class_count : 0;
         i-- > 0;) {
        const struct maar_transient_memory* memory = &state->memories[i];
        if (memory->kept_from == MAAR_TRANSIENT_NONE && memory->allocation != VK_NULL_HANDLE) {
            maar_undo_allocation(allocator, memory->allocation);
        }
    }
}
