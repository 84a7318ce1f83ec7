/*
 * Buffers and images on memory that is shared outside the allocator. Vulkan requires an external
 * structure in the chain of their create infos. Before an object is created, the driver is asked
 * whether it can share an object with this create info. No lock may be held.
 */
#ifndef MAAR_CORE_OBJECTS_SHARED_OBJECT_H
#define MAAR_CORE_OBJECTS_SHARED_OBJECT_H

#include <stdbool.h>

#include "core/memory/block.h"
#include "core/objects/object.h"
#include "maar/allocator.h"

/* Returns what the driver can do with a buffer and one handle type. All members are zero where the
 * driver does not support the type. */
VkExternalMemoryProperties maar_buffer_sharing(MaarAllocator allocator,
                                               const VkBufferCreateInfo* info,
                                               VkExternalMemoryHandleTypeFlagBits type);
/* Does the same for an image. All members are zero if the driver does not support the image.
 * Returns other errors of the driver. */
VkResult maar_image_sharing(MaarAllocator allocator, const VkImageCreateInfo* info,
                            VkExternalMemoryHandleTypeFlagBits type,
                            VkExternalMemoryProperties* properties);

/* A create info with the external structure added. The structure must not be moved as long as `use`
 * is needed, since `use` may point into it. */
struct maar_shared_buffer {
    const VkBufferCreateInfo* use;
    VkBufferCreateInfo info;
    VkExternalMemoryBufferCreateInfo external;
    bool dedicated; /* the object requires dedicated memory */
};

struct maar_shared_image {
    const VkImageCreateInfo* use;
    VkImageCreateInfo info;
    VkExternalMemoryImageCreateInfo external;
    bool dedicated;
};

/*
 * Prepare a create info for memory of one or more handle types. need: the feature that each of the
 * types must have, exportable or importable. Return VK_ERROR_FEATURE_NOT_PRESENT when the driver
 * cannot share the object in this way. Return VK_ERROR_VALIDATION_FAILED_EXT when the external
 * structure in the chain lacks some of the types, or an image's initialLayout is not
 * VK_IMAGE_LAYOUT_UNDEFINED. Both errors are reported.
 */
VkResult maar_extend_buffer(MaarAllocator allocator, const char* call,
                            const VkBufferCreateInfo* info, VkExternalMemoryHandleTypeFlags types,
                            VkExternalMemoryFeatureFlags need, struct maar_shared_buffer* out);
VkResult maar_extend_image(MaarAllocator allocator, const char* call, const VkImageCreateInfo* info,
                           VkExternalMemoryHandleTypeFlags types, VkExternalMemoryFeatureFlags need,
                           struct maar_shared_image* out);

/* Prepare a create info in the same way, or for ordinary memory if `types` is 0. Ordinary memory
 * needs no call of the driver. */
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

/* Returns the feature that objects on an existing block need: importable or exportable. */
static inline VkExternalMemoryFeatureFlags maar_block_sharing(const struct maar_block* block)
{
    return block->imported
               ? (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT
               : (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT;
}

/* Ends the making of an object on shared memory. After a failure destroys the object and gives the
 * allocation back; both may be null. Returns the result. */
VkResult maar_finish_shared(MaarAllocator allocator, VkResult result, struct maar_object object,
                            MaarAllocation allocation);

#endif
