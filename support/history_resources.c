/*
 * Resources in the history: buffers, images, swapchains and other objects, and their ends.
 */
#include "support/history_internal.h"

struct support_history_resource* history_add_resource(struct history_work* work, uint32_t device,
                                                      enum support_history_kind kind,
                                                      uint32_t object_kind, uint64_t handle)
{
    struct support_history* const history = work->history;
    HISTORY_PUSH(history->resources, work->index);
    if (work->index == SUPPORT_HISTORY_NONE ||
        !history_map_set(history->live, history->devices.items[device].facts.device, object_kind,
                         handle, work->index)) {
        return NULL;
    }
    struct support_history_resource* const resource = &history->resources.items[work->index];
    *resource = (struct support_history_resource){
        .handle = handle,
        .begin_ns = work->time_ns,
        .end_ns = SUPPORT_HISTORY_FOREVER,
        .bind_ns = SUPPORT_HISTORY_FOREVER,
        .device = device,
        .memory = SUPPORT_HISTORY_NONE,
        .begin_event = history_event_number(history),
        .end_event = SUPPORT_HISTORY_NONE,
        .bind_event = SUPPORT_HISTORY_NONE,
        .first_bind = SUPPORT_HISTORY_NONE,
        .image = SUPPORT_HISTORY_NONE,
        .kind = (uint8_t)kind,
    };
    return resource;
}

const char* history_take_buffer(struct history_work* work)
{
    MaarCaptureBuffer facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    if (facts.needsSize > HISTORY_MOST_BYTES) {
        return "the buffer's size is impossible";
    }
    struct support_history_resource* const resource = history_add_resource(
        work, device, SUPPORT_HISTORY_BUFFER, MAAR_CAPTURE_OBJECT_BUFFER, facts.buffer);
    if (resource == NULL) {
        return history_no_memory;
    }
    resource->size = facts.needsSize;
    resource->alignment = facts.needsAlignment;
    resource->asked = facts.size;
    resource->usage = facts.usage;
    resource->caller = facts.caller;
    resource->type_bits = facts.typeBits;
    resource->create_flags = facts.createFlags;
    resource->needs_flags = facts.needsFlags;
    resource->handle_types = facts.handleTypes;
    resource->tiling_is_linear = 1;
    return NULL;
}

const char* history_take_image(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureImage facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    if (facts.needsSize > HISTORY_MOST_BYTES) {
        return "the image's size is impossible";
    }
    uint32_t image = SUPPORT_HISTORY_NONE;
    HISTORY_PUSH(history->images, image);
    struct support_history_resource* const resource =
        image == SUPPORT_HISTORY_NONE
            ? NULL
            : history_add_resource(work, device, SUPPORT_HISTORY_IMAGE, MAAR_CAPTURE_OBJECT_IMAGE,
                                   facts.image);
    if (resource == NULL) {
        return history_no_memory;
    }
    history->images.items[image] = facts;
    resource->image = image;
    resource->size = facts.needsSize;
    resource->alignment = facts.needsAlignment;
    resource->asked = facts.needsSize;
    resource->usage = facts.usage;
    resource->caller = facts.caller;
    resource->type_bits = facts.typeBits;
    resource->create_flags = facts.createFlags;
    resource->needs_flags = facts.needsFlags;
    resource->handle_types = facts.handleTypes;
    resource->tiling_is_linear = facts.tiling == 1;
    return NULL;
}

const char* history_take_swapchain(struct history_work* work)
{
    MaarCaptureSwapchain facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    if (facts.estimatedSize > HISTORY_MOST_BYTES) {
        return "the swapchain's size is impossible";
    }
    struct support_history_resource* const resource = history_add_resource(
        work, device, SUPPORT_HISTORY_SWAPCHAIN, MAAR_CAPTURE_OBJECT_SWAPCHAIN, facts.swapchain);
    if (resource == NULL) {
        return history_no_memory;
    }
    resource->size = facts.estimatedSize;
    resource->asked = facts.estimatedSize;
    resource->usage = facts.usage;
    resource->needs_flags = MAAR_CAPTURE_NEEDS_SWAPCHAIN_BIT;
    return NULL;
}

/* Names and binds of the image find the swapchain. */
const char* history_take_swapchain_image(struct history_work* work)
{
    MaarCaptureSwapchainImage facts;
    history_take(work, &facts, sizeof facts);
    work->index =
        history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_SWAPCHAIN, facts.swapchain);
    if (work->index == SUPPORT_HISTORY_NONE) {
        history_stray(work);
        return NULL;
    }
    work->no_event = true;
    return history_map_set(work->history->live, facts.device, MAAR_CAPTURE_OBJECT_IMAGE,
                           facts.image, work->index)
               ? NULL
               : history_no_memory;
}

const char* history_take_other(struct history_work* work)
{
    MaarCaptureOther facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    if (facts.size > HISTORY_MOST_BYTES) {
        return "the object's size is impossible";
    }
    struct support_history_resource* const resource = history_add_resource(
        work, device, SUPPORT_HISTORY_OTHER, MAAR_CAPTURE_OBJECT_OTHER, facts.object);
    if (resource == NULL) {
        return history_no_memory;
    }
    resource->size = facts.size;
    resource->asked = facts.size;
    resource->detail = facts.objectType;
    return NULL;
}

/* Takes back what a resource's binds have added to their memories. */
static void end_binds(struct support_history* history,
                      const struct support_history_resource* resource)
{
    for (uint32_t i = resource->first_bind; i != SUPPORT_HISTORY_NONE;
         i = history->binds.items[i].next) {
        const struct support_history_bind* const bind = &history->binds.items[i];
        if (bind->memory != SUPPORT_HISTORY_NONE) {
            history->memories.items[bind->memory].bound -= bind->size;
        }
    }
}

const char* history_take_resource_end(struct history_work* work)
{
    static const uint8_t kinds[][2] = {
        {MAAR_CAPTURE_KIND_BUFFER_END, MAAR_CAPTURE_OBJECT_BUFFER},
        {MAAR_CAPTURE_KIND_IMAGE_END, MAAR_CAPTURE_OBJECT_IMAGE},
        {MAAR_CAPTURE_KIND_RANGE_END, MAAR_CAPTURE_OBJECT_RANGE},
        {MAAR_CAPTURE_KIND_SWAPCHAIN_END, MAAR_CAPTURE_OBJECT_SWAPCHAIN},
        {MAAR_CAPTURE_KIND_OTHER_END, MAAR_CAPTURE_OBJECT_OTHER},
    };
    MaarCaptureEnd facts;
    history_take(work, &facts, sizeof facts);
    uint32_t object_kind = MAAR_CAPTURE_OBJECT_NONE;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
        object_kind = kinds[i][0] == work->entry->kind ? kinds[i][1] : object_kind;
    }
    work->index = history_find_live(work, facts.device, object_kind, facts.handle);
    /* The images of a swapchain end with it. */
    if (work->index == SUPPORT_HISTORY_NONE ||
        (object_kind == MAAR_CAPTURE_OBJECT_IMAGE &&
         work->history->resources.items[work->index].kind == SUPPORT_HISTORY_SWAPCHAIN)) {
        history_stray(work);
        return NULL;
    }
    history_map_remove(work->history->live, facts.device, object_kind, facts.handle);
    struct support_history_resource* const resource = &work->history->resources.items[work->index];
    resource->end_ns = work->time_ns;
    resource->end_event = history_event_number(work->history);
    end_binds(work->history, resource);
    return NULL;
}
