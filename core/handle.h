/*
 * Converts between handles and 64-bit integers. A non-dispatchable handle is a pointer on 64-bit
 * systems, and a 64-bit integer on others.
 */
#ifndef MAAR_CORE_HANDLE_H
#define MAAR_CORE_HANDLE_H

#include <stdint.h>
#include <vulkan/vulkan_core.h>

#if defined(VK_USE_64_BIT_PTR_DEFINES) && VK_USE_64_BIT_PTR_DEFINES == 1
#define MAAR_TO_BITS(handle) ((uint64_t)(uintptr_t)(handle))
#define MAAR_FROM_BITS(type, bits) ((type)(uintptr_t)(bits))
#else
#define MAAR_TO_BITS(handle) ((uint64_t)(handle))
#define MAAR_FROM_BITS(type, bits) ((type)(bits))
#endif

#endif
