// VulkanMemoryAllocator's implementation: the one unit of C++ of the benchmarks, samples and command, compiled
// where the header was found.
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
