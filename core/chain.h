/*
 * Chains of structures by pNext, of Vulkan and of Maar.
 */
#ifndef MAAR_CORE_CHAIN_H
#define MAAR_CORE_CHAIN_H

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

#endif
