/*
 * Keeps the usages of objects: see vma_usages.h.
 */
#include "vma/vma_usages.h"

typedef _Atomic uint64_t usage_item;

/* An item has 40 bits of a usage and 24 of a generation. */
enum { GENERATION_BITS = 24 };
#define GENERATION_MASK (((uint64_t)1 << GENERATION_BITS) - 1)

/* Where the item of a handle is. */
struct usage_place {
    uint32_t segment;
    uint32_t at;
    uint64_t generation;
};

/* The segment of a number: how often 2^8 can be doubled until it exceeds half the number. */
static inline uint32_t segment_of_usage(uint32_t number)
{
#if defined(__GNUC__)
    return 31u - (uint32_t)__builtin_clz(number | (uint32_t)MAAR_VMA_FIRST_USAGES) - 8u;
#else
    uint32_t segment = 0;
    while (number >> segment >= 2 * MAAR_VMA_FIRST_USAGES) {
        ++segment;
    }
    return segment;
#endif
}

static inline struct usage_place place_of_usage(MaarAllocation allocation)
{
    const uint64_t bits = (uint64_t)allocation;
    const uint32_t number = (uint32_t)bits + MAAR_VMA_FIRST_USAGES - 1;
    struct usage_place place = {.segment = segment_of_usage(number),
                                .generation = bits >> 32 & GENERATION_MASK};
    place.at = number - ((uint32_t)MAAR_VMA_FIRST_USAGES << place.segment);
    return place;
}

/* Makes a segment. If another thread was faster, returns that thread's. */
static usage_item* make_segment(VmaAllocator allocator, uint32_t segment)
{
    void* expected = NULL;
    const size_t count = (size_t)MAAR_VMA_FIRST_USAGES << segment;
    void* made = maar_vma_host_allocate(allocator->callbacks, count * sizeof(usage_item));
    if (made != NULL &&
        !atomic_compare_exchange_strong(&allocator->usages->segments[segment], &expected, made)) {
        maar_vma_host_free(allocator->callbacks, made);
        return expected;
    }
    return made;
}

void maar_vma_keep_usage(VmaAllocator allocator, MaarAllocation made, uint64_t usage)
{
    const struct usage_place place = place_of_usage(made);
    usage_item* items = atomic_load(&allocator->usages->segments[place.segment]);
    items = items != NULL ? items : make_segment(allocator, place.segment);
    if (items != NULL) {
        atomic_store_explicit(&items[place.at], usage << GENERATION_BITS | place.generation,
                              memory_order_relaxed);
    }
}

uint64_t VKAPI_PTR maar_vma_usage_of(void* user_data, MaarAllocation allocation)
{
    const VmaAllocator allocator = user_data;
    const struct usage_place place = place_of_usage(allocation);
    usage_item* items = atomic_load(&allocator->usages->segments[place.segment]);
    const uint64_t item =
        items != NULL ? atomic_load_explicit(&items[place.at], memory_order_relaxed) : 0;
    return (item & GENERATION_MASK) == place.generation ? item >> GENERATION_BITS : 0;
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
        maar_vma_host_free(callbacks, atomic_load(&usages->segments[i]));
    }
    maar_vma_host_free(callbacks, usages);
}
