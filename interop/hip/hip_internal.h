/*
 * Functions that the files of interop/hip offer to each other. HIP has no contexts. Instead, each
 * thread has a current device: maar_peer_driver's enter sets it, and leave restores the previous
 * device.
 */
#ifndef MAAR_INTEROP_HIP_HIP_INTERNAL_H
#define MAAR_INTEROP_HIP_HIP_INTERNAL_H

#include "core/port_library.h"
#include "interop/hip/hip_runtime.h"
#include "interop/peer/peer.h"
#include "maar/hip.h"

struct MaarHip_T {
    struct maar_peer peer; /* first */
    struct maar_library library;
    struct maar_hip_runtime runtime;
    int ordinal;
    int version;
    char name[256];
};

static inline struct MaarHip_T* maar_hip_of(struct maar_peer* peer)
{
    return (struct MaarHip_T*)(void*)peer;
}

/* ---- hip_load.c ---- */

/* Opens the runtime and starts it; reports a failure. */
VkResult maar_hip_load(MaarHip hip, const char* call, const char* path);

/* What a call of HIP is about, which decides what its errors mean. */
enum maar_hip_kind {
    MAAR_HIP_CALL_PLAIN,
    MAAR_HIP_CALL_IMPORT, /* HIP has one error, out of memory, for every import that it refuses */
    MAAR_HIP_CALL_MAP
};

VkResult maar_hip_vulkan_result(enum maar_hip_result result, enum maar_hip_kind kind);
/* Returns VK_SUCCESS for success. Otherwise reports HIP's error and returns the error of Vulkan
 * that it means. */
VkResult maar_hip_report(MaarHip hip, const char* call, const char* function,
                         enum maar_hip_result result, enum maar_hip_kind kind);

/* ---- hip_device.c ---- */

/* Finds the allocator's device, or takes the device that the caller names. Reports all of HIP's
 * devices if the allocator's is not among them. */
VkResult maar_hip_find_device(MaarHip hip, const char* call, uint32_t ordinal_plus_one);

/* ---- hip_driver_table.c ---- */

extern const struct maar_peer_driver maar_hip_peer_driver;

#endif
