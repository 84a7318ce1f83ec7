/*
 * What else takes device memory: acceleration structures, which lie in buffers, and objects with
 * memory of their own (video sessions, acceleration structures of VK_NV_ray_tracing).
 */
#include "core/host_memory.h"
#include "layer/layer_capture.h"

static void record_other(const struct layer_device* device, VkObjectType type, uint64_t object,
                         uint64_t size)
{
    const MaarCaptureOther record = {
        .device = device->number, .objectType = (uint32_t)type, .object = object, .size = size};
    maar_layer_write(device, MAAR_CAPTURE_KIND_OTHER, &record, sizeof record);
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_structure(VkDevice device, const VkAccelerationStructureCreateInfoKHR* info,
                 const VkAllocationCallbacks* callbacks, VkAccelerationStructureKHR* structure)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result =
        state->next.CreateAccelerationStructureKHR(device, info, callbacks, structure);
    if (result == VK_SUCCESS) {
        const MaarCaptureStructure record = {
            .device = state->number,
            .type = (uint32_t)info->type,
            .structure = MAAR_TO_BITS(*structure),
            .buffer = MAAR_TO_BITS(info->buffer),
            .offset = info->offset,
            .size = info->size,
        };
        maar_layer_write(state, MAAR_CAPTURE_KIND_STRUCTURE, &record, sizeof record);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_structure(VkDevice device,
                                                    VkAccelerationStructureKHR structure,
                                                    const VkAllocationCallbacks* callbacks)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    if (structure != VK_NULL_HANDLE) {
        maar_layer_write_end(state, MAAR_CAPTURE_KIND_STRUCTURE_END, MAAR_TO_BITS(structure));
    }
    state->next.DestroyAccelerationStructureKHR(device, structure, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_older_structure(VkDevice device, const VkAccelerationStructureCreateInfoNV* info,
                       const VkAllocationCallbacks* callbacks, VkAccelerationStructureNV* structure)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result =
        state->next.CreateAccelerationStructureNV(device, info, callbacks, structure);
    if (result == VK_SUCCESS && state->number != 0) {
        const VkAccelerationStructureMemoryRequirementsInfoNV question = {
            .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_MEMORY_REQUIREMENTS_INFO_NV,
            .type = VK_ACCELERATION_STRUCTURE_MEMORY_REQUIREMENTS_TYPE_OBJECT_NV,
            .accelerationStructure = *structure};
        VkMemoryRequirements2KHR wanted = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
        state->next.GetAccelerationStructureMemoryRequirementsNV(device, &question, &wanted);
        record_other(state, VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_NV, MAAR_TO_BITS(*structure),
                     wanted.memoryRequirements.size);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_older_structure(VkDevice device,
                                                          VkAccelerationStructureNV structure,
                                                          const VkAllocationCallbacks* callbacks)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    if (structure != VK_NULL_HANDLE) {
        maar_layer_write_end(state, MAAR_CAPTURE_KIND_OTHER_END, MAAR_TO_BITS(structure));
    }
    state->next.DestroyAccelerationStructureNV(device, structure, callbacks);
}

static void record_other_bind(const struct layer_device* device, uint64_t object,
                              VkDeviceMemory memory, uint64_t offset, uint64_t size,
                              VkResult result)
{
    const MaarCaptureBind record = {
        .device = device->number,
        .objectKind = MAAR_CAPTURE_OBJECT_OTHER,
        .object = object,
        .memory = MAAR_TO_BITS(memory),
        .offset = offset,
        .size = size,
        .result = result,
    };
    maar_layer_write(device, MAAR_CAPTURE_KIND_BIND, &record, sizeof record);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_older_structures(
    VkDevice device, uint32_t count, const VkBindAccelerationStructureMemoryInfoNV* infos)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.BindAccelerationStructureMemoryNV(device, count, infos);
    for (uint32_t i = 0; i < count; ++i) {
        record_other_bind(state, MAAR_TO_BITS(infos[i].accelerationStructure), infos[i].memory,
                          infos[i].memoryOffset, 0, result);
    }
    return result;
}

/* Adds up what a video session wants. */
static uint64_t size_of_session(const struct layer_device* device, VkVideoSessionKHR session)
{
    const PFN_vkGetVideoSessionMemoryRequirementsKHR ask =
        device->next.GetVideoSessionMemoryRequirementsKHR;
    uint32_t count = 0;
    uint64_t size = 0;
    if (ask(device->handle, session, &count, NULL) != VK_SUCCESS || count == 0) {
        return 0;
    }
    VkVideoSessionMemoryRequirementsKHR* const wanted =
        maar_host_calloc(NULL, count, sizeof *wanted);
    for (uint32_t i = 0; wanted != NULL && i < count; ++i) {
        wanted[i].sType = VK_STRUCTURE_TYPE_VIDEO_SESSION_MEMORY_REQUIREMENTS_KHR;
    }
    if (wanted != NULL && ask(device->handle, session, &count, wanted) >= 0) {
        for (uint32_t i = 0; i < count; ++i) {
            size += wanted[i].memoryRequirements.size;
        }
    }
    maar_host_free(NULL, wanted);
    return size;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_session(VkDevice device,
                                                     const VkVideoSessionCreateInfoKHR* info,
                                                     const VkAllocationCallbacks* callbacks,
                                                     VkVideoSessionKHR* session)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.CreateVideoSessionKHR(device, info, callbacks, session);
    if (result == VK_SUCCESS && state->number != 0) {
        record_other(state, VK_OBJECT_TYPE_VIDEO_SESSION_KHR, MAAR_TO_BITS(*session),
                     size_of_session(state, *session));
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_session(VkDevice device, VkVideoSessionKHR session,
                                                  const VkAllocationCallbacks* callbacks)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    if (session != VK_NULL_HANDLE) {
        maar_layer_write_end(state, MAAR_CAPTURE_KIND_OTHER_END, MAAR_TO_BITS(session));
    }
    state->next.DestroyVideoSessionKHR(device, session, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_session(VkDevice device, VkVideoSessionKHR session,
                                                   uint32_t count,
                                                   const VkBindVideoSessionMemoryInfoKHR* infos)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.BindVideoSessionMemoryKHR(device, session, count, infos);
    for (uint32_t i = 0; i < count; ++i) {
        record_other_bind(state, MAAR_TO_BITS(session), infos[i].memory, infos[i].memoryOffset,
                          infos[i].memorySize, result);
    }
    return result;
}

const struct layer_hook maar_layer_other_hooks[] = {
    LAYER_HOOK(CreateAccelerationStructureKHR, create_structure),
    LAYER_HOOK(DestroyAccelerationStructureKHR, destroy_structure),
    LAYER_HOOK(CreateAccelerationStructureNV, create_older_structure),
    LAYER_HOOK(DestroyAccelerationStructureNV, destroy_older_structure),
    LAYER_HOOK(BindAccelerationStructureMemoryNV, bind_older_structures),
    LAYER_HOOK(CreateVideoSessionKHR, create_session),
    LAYER_HOOK(DestroyVideoSessionKHR, destroy_session),
    LAYER_HOOK(BindVideoSessionMemoryKHR, bind_session),
    {NULL, NULL},
};
