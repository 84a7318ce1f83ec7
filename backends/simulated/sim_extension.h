/*
 * The extensions and features of the simulated driver: sim_extension.c and sim_feature.c.
 */
#ifndef MAAR_SIM_EXTENSION_H
#define MAAR_SIM_EXTENSION_H

#include "backends/simulated/sim.h"

/* Extensions that the driver knows. An enumerator is a bit's number in a set of extensions. */
enum sim_extension {
    SIM_EXT_NONE,
    /* of the instance */
    SIM_EXT_PROPERTIES2,
    SIM_EXT_EXTERNAL_CAPABILITIES,
    SIM_EXT_SEMAPHORE_CAPABILITIES,
    /* of a device, with functions or structures */
    SIM_EXT_REQUIREMENTS2,
    SIM_EXT_BIND_MEMORY2,
    SIM_EXT_DEDICATED,
    SIM_EXT_MAINTENANCE1,
    SIM_EXT_MAINTENANCE3,
    SIM_EXT_YCBCR,
    SIM_EXT_EXTERNAL_MEMORY,
    SIM_EXT_EXTERNAL_SEMAPHORE,
    SIM_EXT_TIMELINE,
    SIM_EXT_BUFFER_ADDRESS,
    SIM_EXT_DRIVER_PROPERTIES,
    SIM_EXT_SYNCHRONIZATION2,
    SIM_EXT_MAINTENANCE4,
    SIM_EXT_MEMORY_BUDGET,
    SIM_EXT_MEMORY_PRIORITY,
    SIM_EXT_PAGEABLE_MEMORY,
    SIM_EXT_MEMORY_HOST,
    SIM_EXT_COHERENT_AMD,
    SIM_EXT_OVERALLOCATION_AMD,
    /* of a device that can share; see sim_external.c */
    SIM_EXT_MEMORY_FD,
    SIM_EXT_DMA_BUF,
    SIM_EXT_DRM_MODIFIER,
    SIM_EXT_SEMAPHORE_FD,
    SIM_EXT_QUEUE_FOREIGN,
    SIM_EXT_PCI_BUS,
    /* of a device, for shaders only */
    SIM_EXT_MEMORY_MODEL,
    SIM_EXT_ZERO_WORKGROUP,
    SIM_EXT_WORKGROUP_LAYOUT,
    SIM_EXT_COUNT
};

/* Features whose use is checked. An enumerator is a bit's number in a set of features. */
enum sim_feature {
    SIM_FEATURE_TIMELINE,
    SIM_FEATURE_BUFFER_ADDRESS,
    SIM_FEATURE_SYNCHRONIZATION2,
    SIM_FEATURE_MAINTENANCE4,
    SIM_FEATURE_MEMORY_PRIORITY,
    SIM_FEATURE_PAGEABLE,
    SIM_FEATURE_COHERENT_AMD,
    SIM_FEATURE_YCBCR,
    SIM_FEATURE_SPARSE_BINDING,
    SIM_FEATURE_SPARSE_BUFFER,
    SIM_FEATURE_SPARSE_IMAGE_2D,
    SIM_FEATURE_SPARSE_IMAGE_3D,
    SIM_FEATURE_SPARSE_2_SAMPLES,
    SIM_FEATURE_SPARSE_4_SAMPLES,
    SIM_FEATURE_SPARSE_8_SAMPLES,
    SIM_FEATURE_SPARSE_16_SAMPLES,
    SIM_FEATURE_SPARSE_ALIASED,
    SIM_FEATURE_COUNT
};

const char* sim_extension_name(enum sim_extension extension);
/* Returns the extension of a name; SIM_EXT_NONE when the name is unknown. */
enum sim_extension sim_extension_find(const char* name);
bool sim_extension_is_of_instance(enum sim_extension extension);
/* Whether a heap of a profile reports a budget of its own, and not its size. */
bool sim_heap_has_budget(const MaarSimulatedHeap* heap);
/* Returns the set of extensions that a profile's device reports. */
uint64_t sim_extensions_of_profile(const MaarSimulatedProfile* profile);
/* Makes a set from a list of names. Returns VK_ERROR_EXTENSION_NOT_PRESENT when a name is not in
 * the allowed set. */
VkResult sim_extensions_parse(uint32_t count, const char* const* names, uint64_t allowed,
                              uint64_t* set);
/* Lists a set by the two-call idiom. */
VkResult sim_extensions_enumerate(uint64_t set, uint32_t* count, VkExtensionProperties* properties);
/* Returns the minor version of Vulkan 1 that a profile reports. */
uint32_t sim_profile_minor(const MaarSimulatedProfile* profile);

uint32_t sim_features_of_gpu(const struct sim_gpu* gpu);
void sim_features_core(const struct sim_gpu* gpu, VkPhysicalDeviceFeatures* features);
void sim_features_fill_chain(const struct sim_gpu* gpu, void* chain);
/* Finds the features that a device's creation enables. Returns VK_ERROR_FEATURE_NOT_PRESENT when
 * the device does not offer one of them. */
VkResult sim_features_parse(const struct sim_gpu* gpu, const VkDeviceCreateInfo* info,
                            uint32_t* features);

#endif
