/*
 * The layer between VulkanMemoryAllocator's interface and Maar's: what its files share.
 *
 * A VmaAllocation is Maar's handle, or, with the highest bit set, the address of a new place of a
 * pass of defragmentation. Where a pointer has 32 bits, it holds what vma_number.h packs into them,
 * and the lowest bit distinguishes the two. A VmaPool and a VmaAllocator are the addresses of the
 * structures here. Maar synchronizes everything; the layer's own structures do not change while
 * they live, but for what the comments say.
 */
#ifndef MAAR_VMA_LAYER_H
#define MAAR_VMA_LAYER_H

#include <stdbool.h>
#include <string.h>

#include "maar/vma.h"
#include "vma/vma_number.h"
#include "vma/vma_report.h"

enum {
    MAAR_VMA_USAGES = 10,
    /* Stands for a usage that vma_how.c translates, and for all of them where create infos need
     * something of the allocator. */
    MAAR_VMA_NOT_SIMPLE = 0xFF
};

struct VmaAllocator_T {
    MaarAllocator maar;
    VmaAllocatorInfo info;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory; /* the sizes of heaps are the limits, where set */
    VkAllocationCallbacks callback_storage;
    const VkAllocationCallbacks* callbacks; /* NULL for the C library's heap */
    VmaDeviceMemoryCallbacks device_memory;
    VkDeviceSize min_alignment;
    bool always_dedicated;
    bool has_addresses; /* VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT */
    bool has_priorities;
    struct maar_vma_usages* usages; /* NULL if the unit has no JSON: vma_usages.h */
    bool ranks;        /* types are ranked as VulkanMemoryAllocator does: vma_types.c */
    bool maintenance5; /* VMA_ALLOCATOR_CREATE_KHR_MAINTENANCE5_BIT */
    /* Maar's usage for each one of the interface's without any flag: see vma_fast.h. */
    uint8_t simple_usages[MAAR_VMA_USAGES];
    /* What memory of each type can be exported as. */
    VkExternalMemoryHandleTypeFlags exports[VK_MAX_MEMORY_TYPES];
    PFN_vkCreateBuffer create_buffer;
    PFN_vkDestroyBuffer destroy_buffer;
    PFN_vkCreateImage create_image;
    PFN_vkDestroyImage destroy_image;
    struct maar_vma_usages* marks; /* NULL without MAAR_VMA_OPTION_CHECKS_BIT: vma_checks.c */
    struct maar_vma_listener listener;
    PFN_maarMessage message; /* of maarVmaCreateAllocatorWith, or NULL */
    void* message_user_data;
};

struct VmaPool_T {
    MaarPool maar;
    uint32_t type_index;
    uint32_t max_block_count; /* 0: no limit */
    bool linear;
    bool has_block_size; /* blockSize was given */
    char* name;          /* externally synchronized, as the calls that set and return it are */
};

/* A new place of a pass of defragmentation. */
struct maar_vma_place;

/* ---- handles ---- */

#if UINTPTR_MAX > 0xFFFFFFFFu

/* No handle of Maar and no address of a program has this bit. */
#define MAAR_VMA_PLACE_BIT ((uintptr_t)1 << 63)

static inline struct maar_vma_place* maar_vma_place_of(VmaAllocation allocation)
{
    const uintptr_t bits = (uintptr_t)allocation;
    return (bits & MAAR_VMA_PLACE_BIT) != 0 ? (struct maar_vma_place*)(bits & ~MAAR_VMA_PLACE_BIT)
                                            : NULL;
}

static inline VmaAllocation maar_vma_from_place(struct maar_vma_place* place)
{
    return (VmaAllocation)((uintptr_t)place | MAAR_VMA_PLACE_BIT);
}

/* Returns Maar's handle. The caller knows that the allocation is no place of a pass. */
static inline MaarAllocation maar_vma_own(VmaAllocator allocator, VmaAllocation allocation)
{
    (void)allocator;
    return (MaarAllocation)(uintptr_t)allocation;
}

static inline VmaAllocation maar_vma_handle(MaarAllocation allocation)
{
    return (VmaAllocation)(uintptr_t)allocation;
}

#else

static inline struct maar_vma_place* maar_vma_place_of(VmaAllocation allocation)
{
    const uintptr_t bits = (uintptr_t)allocation;
    return (bits & MAAR_VMA_NUMBER_BIT) == 0 ? (struct maar_vma_place*)bits : NULL;
}

static inline VmaAllocation maar_vma_from_place(struct maar_vma_place* place)
{
    return (VmaAllocation)place;
}

static inline MaarAllocation maar_vma_own(VmaAllocator allocator, VmaAllocation allocation)
{
    const uint32_t bits = (uint32_t)(uintptr_t)allocation;
    return bits != 0 ? (MaarAllocation)maar_vma_unpack(
                           bits, (uint64_t)maarFindAllocation(allocator->maar,
                                                              maar_vma_packed_number(bits)))
                     : VK_NULL_HANDLE;
}

static inline VmaAllocation maar_vma_handle(MaarAllocation allocation)
{
    return allocation != VK_NULL_HANDLE
               ? (VmaAllocation)(uintptr_t)maar_vma_pack((uint64_t)allocation)
               : NULL;
}

#endif

/* ---- host memory: vma_host.c ---- */

/* Returns zeroed memory, or NULL. callbacks may be NULL. */
void* maar_vma_host_allocate(const VkAllocationCallbacks* callbacks, size_t size);
void maar_vma_host_free(const VkAllocationCallbacks* callbacks, void* memory);
/* Returns a copy, or NULL. */
char* maar_vma_host_copy(const VkAllocationCallbacks* callbacks, const char* text);

/* ---- create infos: vma_how.c ---- */

/* What an allocation is for, as far as the caller knows. */
struct maar_vma_subject {
    bool known;         /* a buffer or an image */
    bool for_transfers; /* its usages are transfers alone */
};

/* Returns the usages of a buffer. With maintenance5, they may be in its chain. */
uint64_t maar_vma_buffer_usage(const struct VmaAllocator_T* allocator,
                               const VkBufferCreateInfo* info);

/* Room for the structures that a create info points to. */
struct maar_vma_how {
    MaarAllocationCreateInfo info;
    MaarMemoryAllocateNextInfo next;
    MaarMemoryTypeOrderInfo order;
    uint32_t types[VK_MAX_MEMORY_TYPES];
};

/* Fills the table of simple usages. any: create infos need nothing of the allocator. */
void maar_vma_fill_simple(VmaAllocator allocator, bool any);
/* Translates a create info, which then points into *how. Returns VK_ERROR_FEATURE_NOT_PRESENT for
 * what cannot be together. */
VkResult maar_vma_translate(VmaAllocator allocator, const VmaAllocationCreateInfo* from,
                            struct maar_vma_subject subject, struct maar_vma_how* how);
/* Makes it dedicated, with a chain for vkAllocateMemory. */
void maar_vma_dedicate(struct maar_vma_how* how, const void* next);
struct maar_vma_subject maar_vma_of_buffer(const struct VmaAllocator_T* allocator,
                                           const VkBufferCreateInfo* info);
struct maar_vma_subject maar_vma_of_image(const VkImageCreateInfo* info);
/* Ranks the types as VulkanMemoryAllocator does: vma_types.c. */
VkResult maar_vma_rank(const struct VmaAllocator_T* allocator, const VmaAllocationCreateInfo* from,
                       struct maar_vma_subject subject, struct maar_vma_how* how);
/* The result that VulkanMemoryAllocator gives where Maar gives another one. */
VkResult maar_vma_result(VkResult result);

/* Reads an allocation of Maar's, not a place of a pass. */
void maar_vma_read(VmaAllocator allocator, VmaAllocation allocation, VmaAllocationInfo* info);
/* Finishes a call that has allocated: returns the handle, and the information if it is wanted. */
static inline void maar_vma_finish(VmaAllocator allocator, MaarAllocation made,
                                   VmaAllocation* allocation, VmaAllocationInfo* info)
{
    *allocation = maar_vma_handle(made);
    if (info != NULL) {
        maar_vma_read(allocator, *allocation, info);
    }
}
void maar_vma_fill_info(const MaarAllocationInfo* from, VmaAllocationInfo* info);

#endif
