/*
 * The table of functions through which interop/peer calls HIP. HIP shares no semaphores, and does
 * not close the descriptors of the memory that it imports.
 */
#include "interop/hip/hip_internal.h"

static VkResult set_hip_device(struct maar_peer* peer, const char* call, int* previous)
{
    MaarHip hip = maar_hip_of(peer);
    VkResult result = maar_hip_report(hip, call, "hipGetDevice",
                                      hip->runtime.hipGetDevice(previous), MAAR_HIP_CALL_PLAIN);
    if (result == VK_SUCCESS && *previous != hip->ordinal) {
        result = maar_hip_report(hip, call, "hipSetDevice", hip->runtime.hipSetDevice(hip->ordinal),
                                 MAAR_HIP_CALL_PLAIN);
    }
    return result;
}

static void put_hip_device_back(struct maar_peer* peer, int previous)
{
    MaarHip hip = maar_hip_of(peer);
    if (previous != hip->ordinal) {
        (void)maar_hip_report(hip, "leaving HIP", "hipSetDevice",
                              hip->runtime.hipSetDevice(previous), MAAR_HIP_CALL_PLAIN);
    }
}

static VkResult import_hip_block(struct maar_peer* peer, const char* call,
                                 const struct maar_peer_import* import, void** memory)
{
    MaarHip hip = maar_hip_of(peer);
    struct maar_hip_memory_handle info = {
        .type = MAAR_PORT_HAS_FDS ? MAAR_HIP_MEMORY_OPAQUE_FD : MAAR_HIP_MEMORY_OPAQUE_WIN32,
        .size = import->size,
        .flags = import->dedicated ? (unsigned int)MAAR_HIP_MEMORY_DEDICATED : 0u,
    };
    if (MAAR_PORT_HAS_FDS) {
        info.handle.fd = (int)import->handle;
    } else {
        info.handle.win32.handle = maar_port_win32_handle(import->handle);
    }
    void* imported = NULL;
    VkResult result = maar_hip_report(hip, call, "hipImportExternalMemory",
                                      hip->runtime.hipImportExternalMemory(&imported, &info),
                                      MAAR_HIP_CALL_IMPORT);
    *memory = result == VK_SUCCESS ? imported : NULL;
    return result;
}

static VkResult map_hip_block(struct maar_peer* peer, const char* call, void* memory,
                              VkDeviceSize size, uint64_t* pointer)
{
    MaarHip hip = maar_hip_of(peer);
    const struct maar_hip_memory_range range = {.offset = 0, .size = size};
    void* mapped = NULL;
    VkResult result = maar_hip_report(
        hip, call, "hipExternalMemoryGetMappedBuffer",
        hip->runtime.hipExternalMemoryGetMappedBuffer(&mapped, memory, &range), MAAR_HIP_CALL_MAP);
    *pointer = (uintptr_t)mapped;
    return result;
}

static void unmap_hip_block(struct maar_peer* peer, uint64_t pointer)
{
    MaarHip hip = maar_hip_of(peer);
    (void)maar_hip_report(hip, "the end of a shared block", "hipFree",
                          hip->runtime.hipFree((void*)(uintptr_t)pointer), MAAR_HIP_CALL_PLAIN);
}

static void destroy_hip_block(struct maar_peer* peer, void* memory)
{
    MaarHip hip = maar_hip_of(peer);
    (void)maar_hip_report(hip, "the end of a shared block", "hipDestroyExternalMemory",
                          hip->runtime.hipDestroyExternalMemory(memory), MAAR_HIP_CALL_PLAIN);
}

static VkResult call_host_from_hip(struct maar_peer* peer, const char* call, void* stream,
                                   maar_peer_host_fn function, void* data)
{
    MaarHip hip = maar_hip_of(peer);
    return maar_hip_report(hip, call, "hipLaunchHostFunc",
                           hip->runtime.hipLaunchHostFunc(stream, function, data),
                           MAAR_HIP_CALL_PLAIN);
}

const struct maar_peer_driver maar_hip_peer_driver = {
    .name = "HIP",
    .timeline_kind = MAAR_OBJECT_HIP_TIMELINE,
    .takes_descriptors = false,
    .enter = set_hip_device,
    .leave = put_hip_device_back,
    .import_block = import_hip_block,
    .map_block = map_hip_block,
    .unmap_block = unmap_hip_block,
    .destroy_block = destroy_hip_block,
    .call_host = call_host_from_hip,
};
