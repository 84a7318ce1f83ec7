/*
 * Keeps the usages of objects: see vma_usages.h.
 */
#include "vma/vma_usages.h"

/* The bytes by which the base of a segment lies before its memory. */
static uintptr_t bias_of_segment(uint32_t segment)
{
    return ((uintptr_t)1 << segment) * sizeof(maar_vma_usage_item);
}

uintptr_t maar_vma_usage_base(VmaAllocator allocator, struct maar_vma_usages* table,
                              MaarAllocation allocation)
{
    const uint32_t segment = maar_vma_usage_segment(maar_vma_usage_at(allocation));
    uintptr_t expected = atomic_load_explicit(&table->bases[segment], memory_order_acquire);
    if (expected != 0) {
        return expected;
    }
    void* made = maar_vma_host_allocate(allocator->callbacks, bias_of_segment(segment));
    const uintptr_t base = (uintptr_t)made - bias_of_segment(segment);
    if (made == NULL) {
        return 0;
    }
    /* Another thread may have been faster. */
    if (!atomic_compare_exchange_strong(&table->bases[segment], &expected, base)) {
        maar_vma_host_free(allocator->callbacks, made);
        return expected;
    }
    return base;
}

void maar_vma_keep_usage_slowly(VmaAllocator allocator, MaarAllocation made, uint64_t usage)
{
    const uintptr_t base = maar_vma_usage_base(allocator, allocator->usages, made);
    if (base != 0) {
        maar_vma_set_usage(base, made, usage);
    }
}

uint64_t maar_vma_usage_read(struct maar_vma_usages* table, MaarAllocation allocation)
{
    const uint32_t at = maar_vma_usage_at(allocation);
    const uintptr_t base = atomic_load(&table->bases[maar_vma_usage_segment(at)]);
    const uint64_t item =
        base != 0 ? atomic_load_explicit(maar_vma_usage_item_at(base, at), memory_order_relaxed)
                  : 0;
    const uint64_t generation = item & (((uint64_t)1 << MAAR_VMA_GENERATION_BITS) - 1);
    return generation == maar_vma_usage_generation(allocation) ? item >> MAAR_VMA_GENERATION_BITS
                                                               : 0;
}

uint64_t VKAPI_PTR maar_vma_usage_of(void* user_data, MaarAllocation allocation)
{
    const VmaAllocator allocator = user_data;
    return maar_vma_usage_read(allocator->usages, allocation);
}

VkResult maar_vma_usages_create(const VkAllocationCallbacks* callbacks,
                                struct maar_vma_usages** usages)
{
    *usages = maar_vma_host_allocate(callbacks, sizeof **usages);
    return *usages != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

void maar_vma_usages_destroy(const VkAllocationCallbacks* callbacks, struct maar_vma_usages* usages)
{
    for (uint32_t i = 0; usages != NULL && i < MAAR_VMA_USAGE_SEGMENTS; ++i) {
        const uintptr_t base = atomic_load(&usages->bases[i]);
        if (base != 0) {
            maar_vma_host_free(callbacks, (void*)(base + bias_of_segment(i)));
        }
    }
    maar_vma_host_free(callbacks, usages);
}
