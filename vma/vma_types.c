/*
 * VulkanMemoryAllocator's own choice of memory types, for programs that ask for it
 * (MAAR_VMA_RANKING). A type without a required flag is out. Each preferred flag that a type lacks,
 * and each unwanted one that it has, counts one; of equal types the first one wins. The order goes
 * to Maar with the request.
 */
#include "vma/vma_layer.h"

#define FLAG(name) ((VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_HOST_ACCESS_##name##_BIT)
#define DEVICE_LOCAL ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
#define HOST_VISIBLE ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
#define HOST_COHERENT ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define HOST_CACHED ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
#define LAZILY ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT)
#define AMD_UNCACHED ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD)
#define AMD_COHERENT ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD)

/* What a request wants of a type. */
struct wanted {
    VkMemoryPropertyFlags required;
    VkMemoryPropertyFlags preferred;
    VkMemoryPropertyFlags unwanted;
};

/* Adds what AUTO and its variants want. */
static void want_for_auto(const VmaAllocationCreateInfo* from, struct maar_vma_subject subject,
                          bool integrated, struct wanted* wanted)
{
    const bool random = (from->flags & FLAG(RANDOM)) != 0;
    const bool writes = !random && (from->flags & FLAG(SEQUENTIAL_WRITE)) != 0;
    const bool instead = (from->flags & FLAG(ALLOW_TRANSFER_INSTEAD)) != 0;
    const bool prefers_host = from->usage == VMA_MEMORY_USAGE_AUTO_PREFER_HOST;
    const bool prefers_device = from->usage == VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE;
    const bool direct = !subject.for_transfers;
    /* The host may fill such memory by a transfer, so the device's own is as good. */
    const bool far = instead && direct && !integrated && !prefers_host;
    bool local = !prefers_host;
    if (random || writes) {
        const bool may_be_hidden = random && far;
        wanted->preferred |= random ? HOST_CACHED : 0;
        wanted->unwanted |= writes ? HOST_CACHED : 0;
        wanted->preferred |= instead && !may_be_hidden ? HOST_VISIBLE : 0;
        wanted->required |= instead ? 0 : HOST_VISIBLE;
        local = far || (writes && (direct ? !prefers_host : prefers_device));
    }
    wanted->preferred |= local ? DEVICE_LOCAL : 0;
    wanted->unwanted |= !local && !random ? DEVICE_LOCAL : 0;
}

static struct wanted find_wanted(const VmaAllocationCreateInfo* from,
                                 struct maar_vma_subject subject, bool integrated)
{
    struct wanted wanted = {.required = from->requiredFlags, .preferred = from->preferredFlags};
    const bool sees = integrated && (from->preferredFlags & HOST_VISIBLE) != 0;
    switch (from->usage) {
    case VMA_MEMORY_USAGE_GPU_ONLY:
        wanted.preferred |= sees ? 0 : DEVICE_LOCAL;
        break;
    case VMA_MEMORY_USAGE_CPU_ONLY:
        wanted.required |= HOST_VISIBLE | HOST_COHERENT;
        break;
    case VMA_MEMORY_USAGE_CPU_TO_GPU:
        wanted.required |= HOST_VISIBLE;
        wanted.preferred |= sees ? 0 : DEVICE_LOCAL;
        break;
    case VMA_MEMORY_USAGE_GPU_TO_CPU:
        wanted.required |= HOST_VISIBLE;
        wanted.preferred |= HOST_CACHED;
        break;
    case VMA_MEMORY_USAGE_CPU_COPY:
        wanted.unwanted |= DEVICE_LOCAL;
        break;
    case VMA_MEMORY_USAGE_GPU_LAZILY_ALLOCATED:
        wanted.required |= LAZILY;
        break;
    case VMA_MEMORY_USAGE_UNKNOWN:
        break;
    default:
        want_for_auto(from, subject, integrated, &wanted);
        break;
    }
    if (((from->requiredFlags | from->preferredFlags) & (AMD_COHERENT | AMD_UNCACHED)) == 0) {
        wanted.unwanted |= AMD_UNCACHED;
    }
    return wanted;
}

static uint32_t count_bits(VkMemoryPropertyFlags bits)
{
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1) {
        ++count;
    }
    return count;
}

VkResult maar_vma_rank(const struct VmaAllocator_T* allocator, const VmaAllocationCreateInfo* from,
                       struct maar_vma_subject subject, struct maar_vma_how* how)
{
    const VkPhysicalDeviceMemoryProperties* memory = &allocator->memory;
    const bool integrated =
        allocator->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    const struct wanted wanted = find_wanted(from, subject, integrated);
    uint32_t costs[VK_MAX_MEMORY_TYPES];
    uint32_t count = 0;
    for (uint32_t type = 0; type < memory->memoryTypeCount; ++type) {
        const VkMemoryPropertyFlags flags = memory->memoryTypes[type].propertyFlags;
        if ((wanted.required & ~flags) != 0) {
            continue;
        }
        const uint32_t cost =
            count_bits(wanted.preferred & ~flags) + count_bits(wanted.unwanted & flags);
        uint32_t at = count++;
        for (; at > 0 && costs[at - 1] > cost; --at) {
            costs[at] = costs[at - 1];
            how->types[at] = how->types[at - 1];
        }
        costs[at] = cost;
        how->types[at] = type;
    }
    how->order = (MaarMemoryTypeOrderInfo){
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_ORDER_INFO,
        .memoryTypeCount = count,
        .pMemoryTypeIndices = how->types,
    };
    how->info.pNext = &how->order;
    how->info.usage = MAAR_MEMORY_USAGE_FLAGS_ONLY;
    how->info.requiredFlags = wanted.required;
    how->info.preferredFlags = 0;
    return count > 0 ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT;
}
