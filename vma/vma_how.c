/*
 * Translates the create infos of allocations. docs/from-vma.md has the table of usages.
 */
#include "vma/vma_layer.h"

#include <float.h>

#define FLAG(name) ((VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_##name##_BIT)
#define DEVICE_LOCAL ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
#define HOST_VISIBLE ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
#define HOST_CACHED ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
#define HOST_COHERENT ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define LAZILY ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT)

/* VkBufferUsageFlags2CreateInfo, which older headers of Vulkan do not have. */
struct usages_of_64_bits {
    VkStructureType sType;
    const void* pNext;
    VkFlags64 usage;
};
enum { TYPE_OF_USAGES = 1000470006 };

uint64_t maar_vma_buffer_usage(const struct VmaAllocator_T* allocator,
                               const VkBufferCreateInfo* info)
{
    const VkBaseInStructure* link = allocator->maintenance5 ? info->pNext : NULL;
    while (link != NULL && (int)link->sType != TYPE_OF_USAGES) {
        link = link->pNext;
    }
    return link != NULL ? ((const struct usages_of_64_bits*)(const void*)link)->usage : info->usage;
}

struct maar_vma_subject maar_vma_of_buffer(const struct VmaAllocator_T* allocator,
                                           const VkBufferCreateInfo* info)
{
    const uint64_t transfers =
        (uint64_t)VK_BUFFER_USAGE_TRANSFER_SRC_BIT | (uint64_t)VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    return (struct maar_vma_subject){
        .known = true, .for_transfers = (maar_vma_buffer_usage(allocator, info) & ~transfers) == 0};
}

struct maar_vma_subject maar_vma_of_image(const VkImageCreateInfo* info)
{
    const VkImageUsageFlags transfers = (VkImageUsageFlags)VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                        (VkImageUsageFlags)VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    return (struct maar_vma_subject){.known = true,
                                     .for_transfers = (info->usage & ~transfers) == 0};
}

void maar_vma_fill_simple(VmaAllocator allocator, bool any)
{
    static const uint8_t usages[MAAR_VMA_USAGES] = {
        MAAR_MEMORY_USAGE_FLAGS_ONLY,
        MAAR_MEMORY_USAGE_DEVICE_LOCAL,
        MAAR_VMA_NOT_SIMPLE,
        MAAR_MEMORY_USAGE_DEVICE_UPLOAD,
        MAAR_MEMORY_USAGE_READBACK,
        MAAR_MEMORY_USAGE_UPLOAD,
        MAAR_VMA_NOT_SIMPLE,
        MAAR_MEMORY_USAGE_DEVICE_LOCAL,
        MAAR_MEMORY_USAGE_DEVICE_LOCAL,
        MAAR_MEMORY_USAGE_UPLOAD,
    };
    for (uint32_t i = 0; i < MAAR_VMA_USAGES; ++i) {
        allocator->simple_usages[i] = any ? usages[i] : MAAR_VMA_NOT_SIMPLE;
    }
}

/* Chooses for AUTO and its variants, by the host's way of access. */
static void choose_auto(const VmaAllocationCreateInfo* from, struct maar_vma_subject subject,
                        MaarAllocationCreateInfo* to)
{
    const VmaAllocationCreateFlags flags = from->flags;
    const bool prefers_host = from->usage == VMA_MEMORY_USAGE_AUTO_PREFER_HOST;
    const bool prefers_device = from->usage == VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE;
    const bool reads = (flags & FLAG(HOST_ACCESS_RANDOM)) != 0;
    const bool writes = (flags & FLAG(HOST_ACCESS_SEQUENTIAL_WRITE)) != 0;
    if (!reads && !writes) {
        to->usage = prefers_host ? MAAR_MEMORY_USAGE_UPLOAD : MAAR_MEMORY_USAGE_DEVICE_LOCAL;
    } else if ((flags & FLAG(HOST_ACCESS_ALLOW_TRANSFER_INSTEAD)) != 0 && !prefers_host &&
               !subject.for_transfers) {
        to->usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL;
        /* The host reads memory that is not cached too slowly to gain by seeing it. */
        to->preferredFlags |= DEVICE_LOCAL | (reads ? HOST_CACHED : HOST_VISIBLE);
    } else if (reads) {
        to->usage = MAAR_MEMORY_USAGE_READBACK;
    } else if (prefers_host || (subject.for_transfers && !prefers_device)) {
        to->usage = MAAR_MEMORY_USAGE_UPLOAD;
    } else {
        to->usage = MAAR_MEMORY_USAGE_DEVICE_UPLOAD;
    }
}

/* Chooses the usage and adds the flags that belong to it. Returns false if it is none. */
static bool choose_usage(const VmaAllocationCreateInfo* from, struct maar_vma_subject subject,
                         MaarAllocationCreateInfo* to)
{
    switch (from->usage) {
    case VMA_MEMORY_USAGE_UNKNOWN:
        to->usage = MAAR_MEMORY_USAGE_FLAGS_ONLY;
        return true;
    case VMA_MEMORY_USAGE_GPU_ONLY:
        to->usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL;
        return true;
    case VMA_MEMORY_USAGE_CPU_ONLY:
        to->usage = MAAR_MEMORY_USAGE_UPLOAD;
        to->requiredFlags |= HOST_VISIBLE | HOST_COHERENT;
        return true;
    case VMA_MEMORY_USAGE_CPU_TO_GPU:
        to->usage = MAAR_MEMORY_USAGE_DEVICE_UPLOAD;
        return true;
    case VMA_MEMORY_USAGE_GPU_TO_CPU:
        to->usage = MAAR_MEMORY_USAGE_READBACK;
        return true;
    case VMA_MEMORY_USAGE_CPU_COPY:
        to->usage = MAAR_MEMORY_USAGE_UPLOAD;
        return true;
    case VMA_MEMORY_USAGE_GPU_LAZILY_ALLOCATED:
        to->usage = MAAR_MEMORY_USAGE_TRANSIENT;
        to->requiredFlags |= LAZILY;
        return true;
    case VMA_MEMORY_USAGE_AUTO:
    case VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE:
    case VMA_MEMORY_USAGE_AUTO_PREFER_HOST:
        choose_auto(from, subject, to);
        return true;
    default:
        return false;
    }
}

/* Reports a create info that cannot be served. Returns the result of the call. */
static VkResult refuse_how(VmaAllocator allocator, MaarMessageId id, const char* sentence)
{
    maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_ERROR, id,
                    "VmaAllocationCreateInfo: %s", sentence);
    return VK_ERROR_FEATURE_NOT_PRESENT;
}

/* Says how flags contradict one another or the pool; NULL if they do not. */
static const char* find_contradiction(const VmaAllocationCreateInfo* from,
                                      const struct VmaPool_T* pool)
{
    const bool dedicated = (from->flags & FLAG(DEDICATED_MEMORY)) != 0;
    const bool upper = (from->flags & FLAG(UPPER_ADDRESS)) != 0;
    const bool never = (from->flags & FLAG(NEVER_ALLOCATE)) != 0;
    if (dedicated && never) {
        return "flags has VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT and "
               "VMA_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT, and dedicated memory is always allocated";
    }
    if (dedicated && pool != NULL && pool->has_block_size) {
        return "flags has VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT, and the pool, which was "
               "created with a blockSize, has no dedicated memory";
    }
    if (upper && (pool == NULL || !pool->linear || pool->max_block_count != 1)) {
        return "flags has VMA_ALLOCATION_CREATE_UPPER_ADDRESS_BIT, which needs a pool with "
               "VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT and a maxBlockCount of 1";
    }
    return NULL;
}

static MaarAllocationCreateFlags translate_flags(VmaAllocationCreateFlags flags)
{
    MaarAllocationCreateFlags to = 0;
    to |= (flags & FLAG(MAPPED)) != 0 ? MAAR_ALLOCATION_CREATE_MAPPED_IF_VISIBLE_BIT : 0u;
    to |= (flags & FLAG(NEVER_ALLOCATE)) != 0 ? MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT : 0u;
    to |= (flags & FLAG(UPPER_ADDRESS)) != 0 ? MAAR_ALLOCATION_CREATE_UPPER_BIT : 0u;
    to |= (flags & FLAG(WITHIN_BUDGET)) != 0 ? MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT : 0u;
    to |= (flags & FLAG(CAN_ALIAS)) != 0 ? MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT : 0u;
    to |= (flags & FLAG(STRATEGY_MIN_MEMORY)) != 0 ? MAAR_ALLOCATION_CREATE_TIGHTEST_BIT : 0u;
    to |= (flags & FLAG(STRATEGY_MIN_OFFSET)) != 0 ? MAAR_ALLOCATION_CREATE_LOWEST_BIT : 0u;
    return to;
}

VkResult maar_vma_translate(VmaAllocator allocator, const VmaAllocationCreateInfo* from,
                            struct maar_vma_subject subject, struct maar_vma_how* how)
{
    const struct VmaPool_T* pool = from->pool;
    MaarAllocationCreateInfo* to = &how->info;
    how->info = (MaarAllocationCreateInfo){.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                           .pUserData = from->pUserData};
    if (from->flags != 0) {
        const char* contradiction = find_contradiction(from, pool);
        if (contradiction != NULL) {
            return refuse_how(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, contradiction);
        }
    }
    if (pool == NULL) {
        to->requiredFlags = from->requiredFlags;
        to->preferredFlags = from->preferredFlags;
        to->memoryTypeBits = from->memoryTypeBits;
        if (!choose_usage(from, subject, to)) {
            return refuse_how(allocator, MAAR_MESSAGE_ID_INVALID_ENUM,
                              "usage is no VmaMemoryUsage");
        }
        if (allocator->ranks && maar_vma_rank(allocator, from, subject, how) != VK_SUCCESS) {
            return refuse_how(allocator, MAAR_MESSAGE_ID_NO_MEMORY_TYPE,
                              "no memory type has the properties that usage and requiredFlags ask "
                              "for");
        }
    } else {
        to->pool = pool->maar;
    }
    if (from->flags != 0) {
        to->flags = translate_flags(from->flags);
        if ((from->flags & FLAG(USER_DATA_COPY_STRING)) != 0) {
            to->pName = from->pUserData;
            to->pUserData = NULL;
        }
    }
    if ((from->flags & FLAG(DEDICATED_MEMORY)) != 0 || allocator->always_dedicated ||
        (from->usage == VMA_MEMORY_USAGE_GPU_LAZILY_ALLOCATED && pool == NULL)) {
        to->dedicated = MAAR_DEDICATED_ALWAYS;
    }
    if (allocator->has_priorities &&
        (from->priority > 0.0F || to->dedicated == MAAR_DEDICATED_ALWAYS)) {
        /* 0 is the lowest priority here, and the default one in Maar. */
        to->priority = from->priority > 0.0F ? from->priority : FLT_MIN;
    }
    to->minAlignment = from->minAlignment > allocator->min_alignment ? from->minAlignment
                                                                     : allocator->min_alignment;
    return VK_SUCCESS;
}

void maar_vma_dedicate(struct maar_vma_how* how, const void* next)
{
    how->info.dedicated = MAAR_DEDICATED_ALWAYS;
    if (next != NULL) {
        how->next =
            (MaarMemoryAllocateNextInfo){.sType = MAAR_STRUCTURE_TYPE_MEMORY_ALLOCATE_NEXT_INFO,
                                         .pNext = how->info.pNext,
                                         .pMemoryAllocateNext = next};
        how->info.pNext = &how->next;
    }
}

VkResult maar_vma_result(VkResult result)
{
    switch (result) {
    case VK_ERROR_OUT_OF_POOL_MEMORY:
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    case VK_ERROR_VALIDATION_FAILED_EXT:
        return VK_ERROR_INITIALIZATION_FAILED;
    default:
        return result;
    }
}
