/*
 * The implementation unit of the program on Maar's header.
 */
#define VMA_ASSERT(expression)
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
