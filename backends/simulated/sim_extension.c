/*
 * The extensions that the driver knows, and which of them a profile's device reports: those of the
 * profile's list that are implemented here, and those that its version of Vulkan has made core. A
 * device reports the extensions for sharing if its options enable sharing, whatever the profile's
 * list says.
 */
#include "backends/simulated/sim_extension.h"

#include <string.h>

enum { NEVER_CORE = 99 };

struct sim_extension_row {
    const char* name;
    uint32_t core_minor;
    uint32_t revision;
};

static const struct sim_extension_row sim_extension_rows[SIM_EXT_COUNT] = {
    [SIM_EXT_NONE] = {"", NEVER_CORE, 0},
    [SIM_EXT_PROPERTIES2] = {VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME, 1, 2},
    [SIM_EXT_EXTERNAL_CAPABILITIES] = {VK_KHR_EXTERNAL_MEMORY_CAPABILITIES_EXTENSION_NAME, 1, 1},
    [SIM_EXT_SEMAPHORE_CAPABILITIES] = {VK_KHR_EXTERNAL_SEMAPHORE_CAPABILITIES_EXTENSION_NAME, 1,
                                        1},
    [SIM_EXT_REQUIREMENTS2] = {VK_KHR_GET_MEMORY_REQUIREMENTS_2_EXTENSION_NAME, 1, 1},
    [SIM_EXT_BIND_MEMORY2] = {VK_KHR_BIND_MEMORY_2_EXTENSION_NAME, 1, 1},
    [SIM_EXT_DEDICATED] = {VK_KHR_DEDICATED_ALLOCATION_EXTENSION_NAME, 1, 3},
    [SIM_EXT_MAINTENANCE1] = {VK_KHR_MAINTENANCE_1_EXTENSION_NAME, 1, 2},
    [SIM_EXT_MAINTENANCE3] = {VK_KHR_MAINTENANCE_3_EXTENSION_NAME, 1, 1},
    [SIM_EXT_YCBCR] = {VK_KHR_SAMPLER_YCBCR_CONVERSION_EXTENSION_NAME, 1, 14},
    [SIM_EXT_EXTERNAL_MEMORY] = {VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME, 1, 1},
    [SIM_EXT_EXTERNAL_SEMAPHORE] = {VK_KHR_EXTERNAL_SEMAPHORE_EXTENSION_NAME, 1, 1},
    [SIM_EXT_TIMELINE] = {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, 2, 2},
    [SIM_EXT_BUFFER_ADDRESS] = {VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, 2, 1},
    [SIM_EXT_DRIVER_PROPERTIES] = {VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME, 2, 1},
    [SIM_EXT_SYNCHRONIZATION2] = {VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME, 3, 1},
    [SIM_EXT_MAINTENANCE4] = {VK_KHR_MAINTENANCE_4_EXTENSION_NAME, 3, 2},
    [SIM_EXT_MEMORY_BUDGET] = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, NEVER_CORE, 1},
    [SIM_EXT_MEMORY_PRIORITY] = {VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME, NEVER_CORE, 1},
    [SIM_EXT_PAGEABLE_MEMORY] = {VK_EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_EXTENSION_NAME, NEVER_CORE, 1},
    [SIM_EXT_MEMORY_HOST] = {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, NEVER_CORE, 1},
    [SIM_EXT_COHERENT_AMD] = {VK_AMD_DEVICE_COHERENT_MEMORY_EXTENSION_NAME, NEVER_CORE, 1},
    [SIM_EXT_OVERALLOCATION_AMD] = {VK_AMD_MEMORY_OVERALLOCATION_BEHAVIOR_EXTENSION_NAME,
                                    NEVER_CORE, 1},
    [SIM_EXT_MEMORY_FD] = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, NEVER_CORE, 1},
    [SIM_EXT_DMA_BUF] = {VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME, NEVER_CORE, 1},
    [SIM_EXT_DRM_MODIFIER] = {VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME, NEVER_CORE, 2},
    [SIM_EXT_SEMAPHORE_FD] = {VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME, NEVER_CORE, 1},
    [SIM_EXT_QUEUE_FOREIGN] = {VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME, NEVER_CORE, 1},
    [SIM_EXT_PCI_BUS] = {VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, NEVER_CORE, 2},
    [SIM_EXT_MEMORY_MODEL] = {VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME, 2, 3},
    [SIM_EXT_ZERO_WORKGROUP] = {VK_KHR_ZERO_INITIALIZE_WORKGROUP_MEMORY_EXTENSION_NAME, 3, 1},
    [SIM_EXT_WORKGROUP_LAYOUT] = {VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME,
                                  NEVER_CORE, 1},
};

const char* sim_extension_name(enum sim_extension extension)
{
    return sim_extension_rows[extension].name;
}

enum sim_extension sim_extension_find(const char* name)
{
    for (int i = SIM_EXT_NONE + 1; i < SIM_EXT_COUNT; i++) {
        if (strcmp(sim_extension_rows[i].name, name) == 0) {
            return (enum sim_extension)i;
        }
    }
    return SIM_EXT_NONE;
}

bool sim_extension_is_of_instance(enum sim_extension extension)
{
    return extension == SIM_EXT_PROPERTIES2 || extension == SIM_EXT_EXTERNAL_CAPABILITIES ||
           extension == SIM_EXT_SEMAPHORE_CAPABILITIES;
}

static bool sim_extension_shares(enum sim_extension extension)
{
    return extension >= SIM_EXT_MEMORY_FD && extension <= SIM_EXT_PCI_BUS;
}

uint32_t sim_profile_minor(const MaarSimulatedProfile* profile)
{
    return profile->apiVersion == 0 ? 3 : VK_API_VERSION_MINOR(profile->apiVersion);
}

bool sim_heap_has_budget(const MaarSimulatedHeap* heap)
{
    return heap->budgetKnown == VK_TRUE || heap->budget != 0;
}

uint64_t sim_extensions_of_profile(const MaarSimulatedProfile* profile)
{
    const uint32_t minor = sim_profile_minor(profile);
    uint64_t set = 0;
    for (int i = SIM_EXT_NONE + 1; i < SIM_EXT_COUNT; i++) {
        if (!sim_extension_is_of_instance((enum sim_extension)i) &&
            sim_extension_rows[i].core_minor <= minor) {
            set |= (uint64_t)1 << i;
        }
    }
    for (uint32_t i = 0; i < profile->extensionCount; i++) {
        const enum sim_extension found = sim_extension_find(profile->extensions[i]);
        if (found != SIM_EXT_NONE && !sim_extension_is_of_instance(found) &&
            !sim_extension_shares(found)) {
            set |= (uint64_t)1 << found;
        }
    }
    for (uint32_t i = 0; i < profile->heapCount; i++) {
        if (sim_heap_has_budget(&profile->heaps[i])) {
            set |= (uint64_t)1 << SIM_EXT_MEMORY_BUDGET;
        }
    }
    return set;
}

VkResult sim_extensions_parse(uint32_t count, const char* const* names, uint64_t allowed,
                              uint64_t* set)
{
    *set = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bit = (uint64_t)1 << sim_extension_find(names[i]);
        if ((allowed & bit) == 0) {
            return VK_ERROR_EXTENSION_NOT_PRESENT;
        }
        *set |= bit;
    }
    return VK_SUCCESS;
}

VkResult sim_extensions_enumerate(uint64_t set, uint32_t* count, VkExtensionProperties* properties)
{
    uint32_t found = 0;
    for (uint32_t i = SIM_EXT_NONE + 1; i < SIM_EXT_COUNT; i++) {
        if ((set >> i & 1u) == 0) {
            continue;
        }
        if (properties != NULL) {
            if (found == *count) {
                return VK_INCOMPLETE;
            }
            memset(&properties[found], 0, sizeof(properties[found]));
            memcpy(properties[found].extensionName, sim_extension_rows[i].name,
                   strlen(sim_extension_rows[i].name) + 1);
            properties[found].specVersion = sim_extension_rows[i].revision;
        }
        found++;
    }
    *count = found;
    return VK_SUCCESS;
}
