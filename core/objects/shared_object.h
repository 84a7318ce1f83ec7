/*
 * Buffers and images whose memory others have too: the external structure that Vulkan wants chained
 * to them, and what the driver says of it, asked with the same structures as the creation.
 */
#ifndef MAAR_CORE_OBJECTS_SHARED_OBJECT_H
#define MAAR_CORE_OBJECTS_SHARED_OBJECT_H

#include "core/memory/memory_internal.h"

/* What the driver says of a resource and one handle type; all zero where it knows none. */
VkExternalMemoryProperties maar_buffer_sharing(MaarAllocator allocator,
                                               const VkBufferCreateInfo* info,
                                               VkExternalMemoryHandleTypeFlagBits type);
VkResult maar_image_sharing(MaarAllocator allocator, const VkImageCreateInfo* info,
                            VkExternalMemoryHandleTypeFlagBits type,
                            VkExternalMemoryProperties* properties);

/* A create info with the structure added. Must stay where it is as long as `use` is used. */
struct maar_shared_buffer {
    const VkBufferCreateInfo* use;
    VkBufferCreateInfo info;
    VkExternalMemoryBufferCreateInfo external;
    bool dedicated; /* it must have memory of its own */
};

struct maar_shared_image {
    const VkImageCreateInfo* use;
    VkImageCreateInfo info;
    VkExternalMemoryImageCreateInfo external;
    bool dedicated;
};

/*
 * Makes ready for memory of these handle types, 0 for ordinary memory. need: the feature that every
 * one of them must have, exportable or importable. VK_ERROR_FEATURE_NOT_PRESENT when the driver
 * cannot share it so, VK_ERROR_VALIDATION_FAILED_EXT when the chain has the structure for fewer
 * types; both told.
 */
VkResult maar_extend_buffer(MaarAllocator allocator, const char* call,
                            const VkBufferCreateInfo* info, VkExternalMemoryHandleTypeFlags types,
                            VkExternalMemoryFeatureFlags need, struct maar_shared_buffer* out);
VkResult maar_extend_image(MaarAllocator allocator, const char* call, const VkImageCreateInfo* info,
                           VkExternalMemoryHandleTypeFlags types, VkExternalMemoryFeatureFlags need,
                           struct maar_shared_image* out);

static inline VkResult maar_share_buffer(MaarAllocator allocator, const char* call,
                                         const VkBufferCreateInfo* info,
                                         VkExternalMemoryHandleTypeFlags types,
                                         VkExternalMemoryFeatureFlags need,
                                         struct maar_shared_buffer* out)
{
    out->use = info;
    out->dedicated = false;
    return types == 0 ? VK_SUCCESS : maar_extend_buffer(allocator, call, info, types, need, out);
}

static inline VkResult maar_share_image(MaarAllocator allocator, const char* call,
                                        const VkImageCreateInfo* info,
                                        VkExternalMemoryHandleTypeFlags types,
                                        VkExternalMemoryFeatureFlags need,
                                        struct maar_shared_image* out)
{
    out->use = info;
    out->dedicated = false;
    return types == 0 ? VK_SUCCESS : maar_extend_image(allocator, call, info, types, need, out);
}

/* The same for objects on a block that is there already. */
static inline VkExternalMemoryFeatureFlags maar_block_sharing(const struct maar_block* block)
{
    return block->imported
               ? (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT
               : (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT;
}

#endif
