/*
 * The implementation unit of the program on Maar's header.
 */
#ifndef VMA_CONFIGURATION_USER_INCLUDES_H
#define VMA_ASSERT(expression)
#endif
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
