/*
 * Rigs on Vulkan 1.0, and allocators on a table of functions alone. MAAR_RIG_FUNCTIONS in the
 * environment makes every simulated rig of a program one of these:
 *   1.0     instance and device of Vulkan 1.0; each function of a later version ends the program
 *   table   the entry points are not given; a table has the functions for memory and objects alone
 */
#include "tests/rig/rig_internal.h"

#include <stdio.h>

static bool functions_are(const char* wanted)
{
    const char* name = getenv("MAAR_RIG_FUNCTIONS");
    return name != NULL && strcmp(name, wanted) == 0;
}

uint32_t rig_api_version(const struct rig_setup* setup)
{
    if (setup->api_version != 0) {
        return setup->api_version;
    }
    return functions_are("1.0") ? VK_API_VERSION_1_0 : VK_API_VERSION_1_3;
}

/* What is called in the place of a function that Vulkan 1.0 does not have. */
static void VKAPI_PTR trap(void)
{
    (void)fprintf(stderr, "a function of a later version than Vulkan 1.0 was called\n");
    abort();
}

/* Whether a function is of a later version: of those that Maar knows, the names that end in 2. */
static bool is_newer(const char* name)
{
    return strstr(name, "2KHR") != NULL || name[strlen(name) - 1] == '2';
}

static PFN_vkVoidFunction VKAPI_PTR find_first(VkInstance instance, const char* name)
{
    return is_newer(name) ? (PFN_vkVoidFunction)trap : vkGetInstanceProcAddr(instance, name);
}

static PFN_vkVoidFunction VKAPI_PTR find_first_of_device(VkDevice device, const char* name)
{
    return is_newer(name) ? (PFN_vkVoidFunction)trap : vkGetDeviceProcAddr(device, name);
}

void rig_use_first_functions(struct rig* rig)
{
    rig->create_info.pfnGetInstanceProcAddr = find_first;
    rig->create_info.pfnGetDeviceProcAddr = find_first_of_device;
}

void rig_use_table(struct rig* rig)
{
    static const char* const of_instance[] = {
        "vkGetPhysicalDeviceProperties",
        "vkGetPhysicalDeviceMemoryProperties",
        "vkGetPhysicalDeviceProperties2",
        "vkGetPhysicalDeviceMemoryProperties2",
    };
    static const char* const of_device[] = {
        "vkAllocateMemory",
        "vkFreeMemory",
        "vkMapMemory",
        "vkUnmapMemory",
        "vkFlushMappedMemoryRanges",
        "vkInvalidateMappedMemoryRanges",
        "vkBindBufferMemory",
        "vkBindImageMemory",
        "vkGetBufferMemoryRequirements",
        "vkGetImageMemoryRequirements",
        "vkCreateBuffer",
        "vkDestroyBuffer",
        "vkCreateImage",
        "vkDestroyImage",
        "vkGetBufferMemoryRequirements2",
        "vkGetImageMemoryRequirements2",
        "vkBindBufferMemory2",
        "vkBindImageMemory2",
        "vkGetDeviceBufferMemoryRequirements",
        "vkGetDeviceImageMemoryRequirements",
        "vkGetBufferDeviceAddress",
    };
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof of_instance / sizeof of_instance[0]; ++i) {
        rig->table[count++] = (MaarNamedFunction){
            of_instance[i], vkGetInstanceProcAddr(rig->instance, of_instance[i])};
    }
    for (size_t i = 0; i < sizeof of_device / sizeof of_device[0]; ++i) {
        rig->table[count++] =
            (MaarNamedFunction){of_device[i], vkGetDeviceProcAddr(rig->device, of_device[i])};
    }
    assert_true(count <= RIG_TABLE_FUNCTIONS);
    rig->entry_points = (MaarEntryPointsInfo){
        .sType = MAAR_STRUCTURE_TYPE_ENTRY_POINTS_INFO,
        .pNext = rig->create_info.pNext,
        .functionCount = count,
        .pFunctions = rig->table,
    };
    rig->create_info.pNext = &rig->entry_points;
    rig->create_info.pfnGetInstanceProcAddr = NULL;
    rig->create_info.pfnGetDeviceProcAddr = NULL;
}

void rig_use_asked_functions(struct rig* rig)
{
    if (rig->create_info.apiVersion < VK_API_VERSION_1_1) {
        rig_use_first_functions(rig);
    } else if (functions_are("table")) {
        rig_use_table(rig);
    }
}

void rig_need_all_functions(void)
{
    if (getenv("MAAR_RIG_FUNCTIONS") != NULL) {
        print_message("skipped: needs more functions than those of Vulkan 1.0 or of a table\n");
        skip();
    }
}
