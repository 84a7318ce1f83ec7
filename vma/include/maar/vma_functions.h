/** @file
 * maar/vma_functions.h: collects the program's Vulkan functions into a table: those that it gives,
 * and those that it is linked with. maar/vma_unit.h includes this file, and nobody else does.
 */
#ifndef MAAR_VMA_FUNCTIONS_H
#define MAAR_VMA_FUNCTIONS_H

/* The most functions of a table, and room for each under two names. */
#define MAAR_VMA_MOST_FUNCTIONS 80

/* A table that is being filled. */
typedef struct MaarVmaTable {
    uint32_t count;
    MaarNamedFunction functions[MAAR_VMA_MOST_FUNCTIONS];
} MaarVmaTable;

static void maarVmaUnitGive(MaarVmaTable* pTable, const char* pName, PFN_vkVoidFunction function)
{
    if (function != NULL && pTable->count < MAAR_VMA_MOST_FUNCTIONS) {
        pTable->functions[pTable->count].pName = pName;
        pTable->functions[pTable->count].pfnFunction = function;
        ++pTable->count;
    }
}

#define MAAR_VMA_GIVE(table, name, function)                                                       \
    maarVmaUnitGive((table), #name, (PFN_vkVoidFunction)(function))
/* A function whose core name and extension's name the program does not distinguish. */
#define MAAR_VMA_GIVE_BOTH(table, name, function)                                                  \
    do {                                                                                           \
        maarVmaUnitGive((table), #name, (PFN_vkVoidFunction)(function));                           \
        maarVmaUnitGive((table), #name "KHR", (PFN_vkVoidFunction)(function));                     \
    } while (0)

/* The functions of Vulkan 1.0 that the library calls, each by MAAR_VMA_TAKE. */
#define MAAR_VMA_TAKE_CORE()                                                                       \
    MAAR_VMA_TAKE(vkGetPhysicalDeviceProperties);                                                  \
    MAAR_VMA_TAKE(vkGetPhysicalDeviceMemoryProperties);                                            \
    MAAR_VMA_TAKE(vkAllocateMemory);                                                               \
    MAAR_VMA_TAKE(vkFreeMemory);                                                                   \
    MAAR_VMA_TAKE(vkMapMemory);                                                                    \
    MAAR_VMA_TAKE(vkUnmapMemory);                                                                  \
    MAAR_VMA_TAKE(vkFlushMappedMemoryRanges);                                                      \
    MAAR_VMA_TAKE(vkInvalidateMappedMemoryRanges);                                                 \
    MAAR_VMA_TAKE(vkBindBufferMemory);                                                             \
    MAAR_VMA_TAKE(vkBindImageMemory);                                                              \
    MAAR_VMA_TAKE(vkGetBufferMemoryRequirements);                                                  \
    MAAR_VMA_TAKE(vkGetImageMemoryRequirements);                                                   \
    MAAR_VMA_TAKE(vkCreateBuffer);                                                                 \
    MAAR_VMA_TAKE(vkDestroyBuffer);                                                                \
    MAAR_VMA_TAKE(vkCreateImage);                                                                  \
    MAAR_VMA_TAKE(vkDestroyImage);                                                                 \
    MAAR_VMA_TAKE(vkCmdCopyBuffer)

/* Takes the members that the program has set. */
static void maarVmaUnitTakeGiven(const VmaVulkanFunctions* pGiven, MaarVmaTable* pTable)
{
#define MAAR_VMA_TAKE(name) MAAR_VMA_GIVE(pTable, name, pGiven->name)
    MAAR_VMA_TAKE_CORE();
#undef MAAR_VMA_TAKE
#if VMA_DEDICATED_ALLOCATION || VMA_VULKAN_VERSION >= 1001000
    MAAR_VMA_GIVE_BOTH(pTable, vkGetBufferMemoryRequirements2,
                       pGiven->vkGetBufferMemoryRequirements2KHR);
    MAAR_VMA_GIVE_BOTH(pTable, vkGetImageMemoryRequirements2,
                       pGiven->vkGetImageMemoryRequirements2KHR);
#endif
#if VMA_BIND_MEMORY2 || VMA_VULKAN_VERSION >= 1001000
    MAAR_VMA_GIVE_BOTH(pTable, vkBindBufferMemory2, pGiven->vkBindBufferMemory2KHR);
    MAAR_VMA_GIVE_BOTH(pTable, vkBindImageMemory2, pGiven->vkBindImageMemory2KHR);
#endif
#if VMA_GET_PHYSICAL_DEVICE_PROPERTIES2
    MAAR_VMA_GIVE_BOTH(pTable, vkGetPhysicalDeviceMemoryProperties2,
                       pGiven->vkGetPhysicalDeviceMemoryProperties2KHR);
#if MAAR_VMA_VERSION >= 3004000
    MAAR_VMA_GIVE_BOTH(pTable, vkGetPhysicalDeviceProperties2,
                       pGiven->vkGetPhysicalDeviceProperties2KHR);
#endif
#endif
#if VMA_KHR_MAINTENANCE4 || VMA_VULKAN_VERSION >= 1003000
    MAAR_VMA_GIVE_BOTH(pTable, vkGetDeviceBufferMemoryRequirements,
                       pGiven->vkGetDeviceBufferMemoryRequirements);
    MAAR_VMA_GIVE_BOTH(pTable, vkGetDeviceImageMemoryRequirements,
                       pGiven->vkGetDeviceImageMemoryRequirements);
#endif
#if VMA_EXTERNAL_MEMORY_WIN32 && MAAR_VMA_VERSION >= 3002000
    MAAR_VMA_GIVE(pTable, vkGetMemoryWin32HandleKHR, pGiven->vkGetMemoryWin32HandleKHR);
#endif
}

#if VMA_STATIC_VULKAN_FUNCTIONS == 1
/* Takes the functions that the program is linked with, or that volk has loaded. */
static void maarVmaUnitTakeStatic(uint32_t version, MaarVmaTable* pTable)
{
#define MAAR_VMA_TAKE(name) MAAR_VMA_GIVE(pTable, name, name)
    MAAR_VMA_TAKE_CORE();
#if VMA_VULKAN_VERSION >= 1001000
    if (version >= VK_API_VERSION_1_1) {
        MAAR_VMA_TAKE(vkGetBufferMemoryRequirements2);
        MAAR_VMA_TAKE(vkGetImageMemoryRequirements2);
        MAAR_VMA_TAKE(vkBindBufferMemory2);
        MAAR_VMA_TAKE(vkBindImageMemory2);
        MAAR_VMA_TAKE(vkGetPhysicalDeviceMemoryProperties2);
        MAAR_VMA_TAKE(vkGetPhysicalDeviceProperties2);
    }
#endif
#if VMA_VULKAN_VERSION >= 1003000
    if (version >= VK_API_VERSION_1_3) {
        MAAR_VMA_TAKE(vkGetDeviceBufferMemoryRequirements);
        MAAR_VMA_TAKE(vkGetDeviceImageMemoryRequirements);
    }
#endif
    (void)version;
#undef MAAR_VMA_TAKE
}
#endif

#endif
