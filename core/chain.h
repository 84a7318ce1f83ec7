/*
 * Chains of structures by pNext, of Vulkan and of Maar.
 */
#ifndef MAAR_CORE_CHAIN_H
#define MAAR_CORE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include <vulkan/vulkan_core.h>

/* Returns the first structure of a chain with this sType (a VkStructureType or a
 * MaarStructureType), or NULL. */
static inline const void* maar_chain_find(const void* chain, int type)
{
    const VkBaseInStructure* link = chain;
    while (link != NULL && (int)link->sType != type) {
        link = link->pNext;
    }
    return link;
}

/* Returns the first structure of a chain of outputs with this sType, or NULL. */
static inline void* maar_chain_find_output(void* chain, int type)
{
    VkBaseOutStructure* link = chain;
    while (link != NULL && (int)link->sType != type) {
        link = link->pNext;
    }
    return link;
}

/* Whether a structure of a chain has an sType of 0: nobody has set it, since the structure of
 * Vulkan that has this number is never in a chain. */
static inline bool maar_chain_has_untyped(const void* chain)
{
    return maar_chain_find(chain, VK_STRUCTURE_TYPE_APPLICATION_INFO) != NULL;
}

#endif
