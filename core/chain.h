/*
 * pNext chains, in which Vulkan's structures and Maar's extend one another.
 */
#ifndef MAAR_CORE_CHAIN_H
#define MAAR_CORE_CHAIN_H

#include <stddef.h>

#include <vulkan/vulkan_core.h>

/* Returns the first structure of a chain that has this sType, a VkStructureType or a
 * MaarStructureType; NULL if none has. */
static inline const void* maar_chain_find(const void* chain, int type)
{
    const VkBaseInStructure* link = chain;
    while (link != NULL && (int)link->sType != type) {
        link = link->pNext;
    }
    return link;
}

#endif
