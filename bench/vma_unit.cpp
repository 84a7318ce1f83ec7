// VulkanMemoryAllocator's implementation: the one unit of C++ that the benchmarks have, compiled
// where the header was found.
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
