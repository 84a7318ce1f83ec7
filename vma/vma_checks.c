/*
 * What a program does that VulkanMemoryAllocator asserts and Maar serves all the same. A unit calls
 * these functions where MAAR_VMA_CHECKS is set, around its own; no other call pays for them.
 *
 * A table beside Maar's handles has a mark for each allocation: whether the host may access it, and
 * how often vmaMapMemory has mapped it. Any thread may read and change marks.
 */
#include "vma/vma_layer.h"
#include "vma/vma_usages.h"

#define FLAG(name) ((VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_##name##_BIT)
#define HOST_ACCESS (FLAG(HOST_ACCESS_SEQUENTIAL_WRITE) | FLAG(HOST_ACCESS_RANDOM))
#define KNOWN_FLAGS                                                                                \
    (HOST_ACCESS | FLAG(DEDICATED_MEMORY) | FLAG(NEVER_ALLOCATE) | FLAG(MAPPED) |                  \
     FLAG(USER_DATA_COPY_STRING) | FLAG(UPPER_ADDRESS) | FLAG(DONT_BIND) | FLAG(WITHIN_BUDGET) |   \
     FLAG(CAN_ALIAS) | FLAG(HOST_ACCESS_ALLOW_TRANSFER_INSTEAD) | FLAG(STRATEGY_MIN_MEMORY) |      \
     FLAG(STRATEGY_MIN_TIME) | FLAG(STRATEGY_MIN_OFFSET))

/* A mark: this bit, and above it the count of mappings. */
#define NO_ACCESS ((uint64_t)1)
#define ONE_MAPPING ((uint64_t)2)

static bool is_auto(const VmaAllocationCreateInfo* info)
{
    return info->usage == VMA_MEMORY_USAGE_AUTO ||
           info->usage == VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE ||
           info->usage == VMA_MEMORY_USAGE_AUTO_PREFER_HOST;
}

/* Whether the host may access what is made so. The other usages imply it. */
static bool allows_access(const VmaAllocationCreateInfo* info)
{
    return !is_auto(info) || (info->flags & HOST_ACCESS) != 0;
}

struct rule {
    bool broken;
    MaarMessageId id;
    const char* sentence;
};

static void report_broken(VmaAllocator allocator, const char* function, const struct rule* rules,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (rules[i].broken) {
            maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_WARNING, rules[i].id,
                            "%s: %s", function, rules[i].sentence);
        }
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaCheckRequest(VmaAllocator allocator, const char* pFunction,
                                               const VmaAllocationCreateInfo* pCreateInfo,
                                               const VkBufferCreateInfo* pBufferInfo,
                                               const VkImageCreateInfo* pImageInfo)
{
    if (allocator->marks == NULL) {
        return;
    }
    const VmaAllocationCreateFlags flags = pCreateInfo->flags;
    const struct rule rules[] = {
        {(flags & HOST_ACCESS) == HOST_ACCESS, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "flags has both VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT and "
         "VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT; Maar takes the second one"},
        {(flags & FLAG(HOST_ACCESS_ALLOW_TRANSFER_INSTEAD)) != 0 && (flags & HOST_ACCESS) == 0,
         MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "flags has VMA_ALLOCATION_CREATE_HOST_ACCESS_ALLOW_TRANSFER_INSTEAD_BIT without "
         "VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT or "
         "VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT"},
        {(flags & FLAG(MAPPED)) != 0 && !allows_access(pCreateInfo),
         MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "flags has VMA_ALLOCATION_CREATE_MAPPED_BIT, and with VMA_MEMORY_USAGE_AUTO it needs "
         "VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT or "
         "VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT; pMappedData is NULL on devices whose own "
         "memory the host does not see"},
        {(flags & ~KNOWN_FLAGS) != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "flags has bits that are no VMA_ALLOCATION_CREATE flags"},
        {pCreateInfo->pool == VK_NULL_HANDLE && pCreateInfo->usage == VMA_MEMORY_USAGE_UNKNOWN &&
             (pCreateInfo->requiredFlags | pCreateInfo->preferredFlags |
              pCreateInfo->memoryTypeBits) == 0,
         MAAR_MESSAGE_ID_EMPTY_FLAGS,
         "the create info names neither a usage, a pool, memory properties nor memory types, so "
         "any memory will do; VMA_MEMORY_USAGE_AUTO serves most requests"},
        {(pCreateInfo->minAlignment & (pCreateInfo->minAlignment - 1)) != 0,
         MAAR_MESSAGE_ID_INVALID_ALIGNMENT,
         "minAlignment is not a power of two; the offset is a multiple of it"},
        {allocator->has_priorities && !(pCreateInfo->priority >= 0.0F),
         MAAR_MESSAGE_ID_OUT_OF_RANGE, "priority is below 0; the lowest priority is taken"},
        {pBufferInfo != NULL && maar_vma_buffer_usage(allocator, pBufferInfo) == 0,
         MAAR_MESSAGE_ID_EMPTY_FLAGS,
         "the buffer's usage is 0; one in VkBufferUsageFlags2CreateInfo counts with "
         "VMA_ALLOCATOR_CREATE_KHR_MAINTENANCE5_BIT alone"},
        {pImageInfo != NULL && pImageInfo->usage == 0, MAAR_MESSAGE_ID_EMPTY_FLAGS,
         "the image's usage is 0"},
    };
    report_broken(allocator, pFunction, rules, sizeof rules / sizeof rules[0]);
}

/* Returns Maar's handle of an allocation whose mark counts, else VK_NULL_HANDLE. */
static MaarAllocation marked(VmaAllocator allocator, VmaAllocation allocation)
{
    return allocator->marks != NULL && allocation != VK_NULL_HANDLE &&
                   maar_vma_place_of(allocation) == NULL
               ? maar_vma_own(allocator, allocation)
               : VK_NULL_HANDLE;
}

VKAPI_ATTR void VKAPI_CALL maarVmaCheckMade(VmaAllocator allocator, VmaAllocation allocation,
                                            const VmaAllocationCreateInfo* pCreateInfo)
{
    const MaarAllocation own = marked(allocator, allocation);
    const uintptr_t base =
        own != VK_NULL_HANDLE ? maar_vma_usage_base(allocator, allocator->marks, own) : 0;
    if (base != 0) {
        maar_vma_set_usage(base, own, allows_access(pCreateInfo) ? 0 : NO_ACCESS);
    }
}

/* Counts a mapping of an allocation, or one less. What Maar's own functions have mapped was not
 * counted. */
static void count_mapping_of(VmaAllocator allocator, MaarAllocation own, bool maps)
{
    const uintptr_t base = maar_vma_usage_base(allocator, allocator->marks, own);
    if (base == 0) {
        return;
    }
    maar_vma_usage_item* item = maar_vma_usage_item_at(base, maar_vma_usage_at(own));
    uint64_t before = atomic_load_explicit(item, memory_order_relaxed);
    uint64_t after = 0;
    do {
        const uint64_t generation = maar_vma_usage_generation(own);
        const bool is_own =
            (before & (((uint64_t)1 << MAAR_VMA_GENERATION_BITS) - 1)) == generation;
        uint64_t mark = is_own ? before >> MAAR_VMA_GENERATION_BITS : 0;
        if (maps) {
            mark += ONE_MAPPING;
        } else if (mark >= ONE_MAPPING) {
            mark -= ONE_MAPPING;
        }
        after = mark << MAAR_VMA_GENERATION_BITS | generation;
    } while (!atomic_compare_exchange_weak(item, &before, after));
}

/* Reports a sentence about an allocation, which names it. */
static void report_use(VmaAllocator allocator, MaarAllocation own, MaarMessageId id,
                       const char* sentence)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    if (maarGetAllocationInfo(allocator->maar, own, &info) == VK_SUCCESS) {
        maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_WARNING, id,
                        "allocation \"%.80s\" of size %llu %s",
                        info.pName != NULL ? info.pName : "", (unsigned long long)info.size,
                        sentence);
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaCheckUse(VmaAllocator allocator, VmaAllocation allocation,
                                           MaarVmaUse use)
{
    const MaarAllocation own = marked(allocator, allocation);
    if (own == VK_NULL_HANDLE) {
        return;
    }
    const uint64_t mark = maar_vma_usage_read(allocator->marks, own);
    if ((use == MAAR_VMA_USE_ACCESS || use == MAAR_VMA_USE_MAP) && (mark & NO_ACCESS) != 0) {
        report_use(allocator, own, MAAR_MESSAGE_ID_NOT_MAPPABLE,
                   "is accessed by the host and was made without "
                   "VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT or "
                   "VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT; this fails on devices whose own "
                   "memory the host does not see");
    }
    if (use == MAAR_VMA_USE_MAP || use == MAAR_VMA_USE_UNMAP) {
        count_mapping_of(allocator, own, use == MAAR_VMA_USE_MAP);
    } else if (use == MAAR_VMA_USE_FREE && mark >= ONE_MAPPING) {
        report_use(allocator, own, MAAR_MESSAGE_ID_LEAK,
                   "is freed while vmaMapMemory maps it; a call of vmaUnmapMemory is missing");
    }
}
