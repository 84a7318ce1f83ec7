/** @file
 * maar/volk.h: for programs that load Vulkan with volk. Include volk.h first.
 *
 * The program compiles all code of this header. The library neither links nor includes volk, so the
 * two never conflict.
 */
#ifndef MAAR_VOLK_H
#define MAAR_VOLK_H

#ifndef VOLK_H_
#error "include volk.h before maar/volk.h"
#endif

#include "maar/allocator.h"

/**
 * Puts volk's entry points into an allocator's create info. volkInitialize and volkLoadInstance (or
 * volkLoadInstanceOnly) must have been called.
 *
 * @param pCreateInfo  the create info; its pfnGetInstanceProcAddr and pfnGetDeviceProcAddr are set
 * @threadsafety `pCreateInfo` externally synchronized
 * @since 0.1.0
 */
static inline void maarUseVolk(MaarAllocatorCreateInfo* pCreateInfo)
{
    pCreateInfo->pfnGetInstanceProcAddr = vkGetInstanceProcAddr;
    pCreateInfo->pfnGetDeviceProcAddr = vkGetDeviceProcAddr;
}

#endif
