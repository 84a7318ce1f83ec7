/*
 * Asks the driver whether it can share an object, and adds the external structure to its create
 * info.
 */
#include "core/objects/shared_object.h"

#include "core/chain.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocator_state.h"
#include "core/objects/captured_object.h"

VkExternalMemoryProperties maar_buffer_sharing(MaarAllocator allocator,
                                               const VkBufferCreateInfo* info,
                                               VkExternalMemoryHandleTypeFlagBits type)
{
    const struct maar_device* device = &allocator->device;
    VkExternalBufferProperties properties = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES,
    };
    const VkPhysicalDeviceExternalBufferInfo question = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .flags = info->flags,
        .usage = info->usage,
        .handleType = type,
    };
    maar_lock_rank_expect_none();
    if (device->vkGetPhysicalDeviceExternalBufferProperties != NULL) {
        device->vkGetPhysicalDeviceExternalBufferProperties(device->physical, &question,
                                                            &properties);
    }
    return properties.externalMemoryProperties;
}

/* The question about an image's format, and the structures of the image's chain that belong to the
 * question. */
struct image_question {
    VkPhysicalDeviceImageFormatInfo2 format;
    VkPhysicalDeviceExternalImageFormatInfo external;
    VkPhysicalDeviceImageDrmFormatModifierInfoEXT modifier;
    VkImageFormatListCreateInfo formats;
    VkImageStencilUsageCreateInfo stencil;
};

static VkResult ask_image(const struct maar_device* device, const struct image_question* question,
                          VkExternalMemoryProperties* answer)
{
    VkExternalImageFormatProperties external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES,
    };
    VkImageFormatProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
        .pNext = &external,
    };
    const VkResult result = device->vkGetPhysicalDeviceImageFormatProperties2(
        device->physical, &question->format, &properties);
    const VkExternalMemoryProperties none = {0};
    *answer = result == VK_SUCCESS ? external.externalMemoryProperties : none;
    return result == VK_ERROR_FORMAT_NOT_SUPPORTED ? VK_SUCCESS : result;
}

/* Returns the modifiers that an image may have; the driver chooses one of them. */
static const uint64_t* find_modifiers(const VkImageCreateInfo* info, uint32_t* count)
{
    const VkImageDrmFormatModifierExplicitCreateInfoEXT* given = maar_chain_find(
        info->pNext, VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT);
    if (given != NULL) {
        *count = 1;
        return &given->drmFormatModifier;
    }
    const VkImageDrmFormatModifierListCreateInfoEXT* list = maar_chain_find(
        info->pNext, VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT);
    *count = list != NULL ? list->drmFormatModifierCount : 0;
    return list != NULL ? list->pDrmFormatModifiers : NULL;
}

/* Asks about every modifier that an image may have. The driver chooses one of them, so the answer
 * contains only what holds for all of them. It requires a dedicated allocation if one modifier
 * does. */
static VkResult ask_modifiers(const struct maar_device* device, const VkImageCreateInfo* info,
                              struct image_question* question, VkExternalMemoryProperties* answer)
{
    uint32_t count = 0;
    const uint64_t* modifiers = find_modifiers(info, &count);
    question->modifier.pNext = question->format.pNext;
    question->format.pNext = &question->modifier;
    VkExternalMemoryProperties common = {0};
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        VkExternalMemoryProperties one;
        question->modifier.drmFormatModifier = modifiers[i];
        result = ask_image(device, question, &one);
        const VkExternalMemoryFeatureFlags dedicated =
            (common.externalMemoryFeatures | one.externalMemoryFeatures) &
            (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
        if (i == 0) {
            common = one;
        }
        common.externalMemoryFeatures &= one.externalMemoryFeatures;
        common.externalMemoryFeatures |= dedicated;
        common.compatibleHandleTypes &= one.compatibleHandleTypes;
        common.exportFromImportedHandleTypes &= one.exportFromImportedHandleTypes;
    }
    *answer = common;
    return result;
}

VkResult maar_image_sharing(MaarAllocator allocator, const VkImageCreateInfo* info,
                            VkExternalMemoryHandleTypeFlagBits type,
                            VkExternalMemoryProperties* properties)
{
    const struct maar_device* device = &allocator->device;
    struct image_question question = {
        .format = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
                   .pNext = &question.external,
                   .format = info->format,
                   .type = info->imageType,
                   .tiling = info->tiling,
                   .usage = info->usage,
                   .flags = info->flags},
        .external = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
                     .handleType = type},
        .modifier = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT,
                     .sharingMode = info->sharingMode,
                     .queueFamilyIndexCount = info->queueFamilyIndexCount,
                     .pQueueFamilyIndices = info->pQueueFamilyIndices},
    };
    const VkImageFormatListCreateInfo* formats =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO);
    if (formats != NULL) {
        question.formats = *formats;
        question.formats.pNext = question.format.pNext;
        question.format.pNext = &question.formats;
    }
    const VkImageStencilUsageCreateInfo* stencil =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO);
    if (stencil != NULL) {
        question.stencil = *stencil;
        question.stencil.pNext = question.format.pNext;
        question.format.pNext = &question.stencil;
    }
    maar_lock_rank_expect_none();
    if (info->tiling != VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT) {
        return ask_image(device, &question, properties);
    }
    return ask_modifiers(device, info, &question, properties);
}

/* Decides whether an object's memory can have all of `types`. `properties` is the driver's answer
 * for one of them, `type`. */
static VkResult judge_sharing(MaarAllocator allocator, const char* call, const char* object,
                              const VkExternalMemoryProperties* properties,
                              VkExternalMemoryHandleTypeFlags types, uint32_t type,
                              VkExternalMemoryFeatureFlags need)
{
    const bool import = need == VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
    const MaarMessageId id =
        import ? MAAR_MESSAGE_ID_NOT_IMPORTABLE : MAAR_MESSAGE_ID_NOT_EXPORTABLE;
    if ((properties->externalMemoryFeatures & need) != need) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, id, call,
                         "the driver cannot %s the memory of this %s as handle type 0x%x",
                         import ? "import" : "export", object, (unsigned)type);
    }
    if ((types & ~(properties->compatibleHandleTypes | type)) != 0) {
        return maar_fail(
            allocator, VK_ERROR_FEATURE_NOT_PRESENT, id, call,
            "the driver shares this %s as handle type 0x%x, but not together with 0x%x", object,
            (unsigned)type, (unsigned)(types & ~(properties->compatibleHandleTypes | type)));
    }
    return VK_SUCCESS;
}

/* The object that the driver is asked about: a buffer or an image. */
struct shared_subject {
    const VkBufferCreateInfo* buffer;
    const VkImageCreateInfo* image;
};

/* Asks the driver about each handle type. */
static VkResult judge_all(MaarAllocator allocator, const char* call,
                          const struct shared_subject* subject,
                          VkExternalMemoryHandleTypeFlags types, VkExternalMemoryFeatureFlags need,
                          bool* dedicated)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t bits = types; bits != 0 && result == VK_SUCCESS; bits &= bits - 1) {
        const uint32_t type = bits & (0u - bits);
        const VkExternalMemoryHandleTypeFlagBits bit = (VkExternalMemoryHandleTypeFlagBits)type;
        VkExternalMemoryProperties properties;
        if (subject->buffer != NULL) {
            properties = maar_buffer_sharing(allocator, subject->buffer, bit);
        } else {
            result = maar_image_sharing(allocator, subject->image, bit, &properties);
        }
        if (result == VK_SUCCESS) {
            result = judge_sharing(allocator, call, subject->buffer != NULL ? "buffer" : "image",
                                   &properties, types, type, need);
            *dedicated |= (properties.externalMemoryFeatures &
                           VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0;
        }
    }
    return result;
}

/* Checks that a structure which the caller has chained names all of the types. */
static VkResult check_given(MaarAllocator allocator, const char* call,
                            VkExternalMemoryHandleTypeFlags has,
                            VkExternalMemoryHandleTypeFlags types)
{
    return (types & ~has) == 0
               ? VK_SUCCESS
               : maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                             "VkExternalMemory...CreateInfo in the object's chain lacks handle "
                             "types of the memory");
}

VkResult maar_extend_buffer(MaarAllocator allocator, const char* call,
                            const VkBufferCreateInfo* info, VkExternalMemoryHandleTypeFlags types,
                            VkExternalMemoryFeatureFlags need, struct maar_shared_buffer* out)
{
    const struct shared_subject subject = {.buffer = info};
    VkResult result = judge_all(allocator, call, &subject, types, need, &out->dedicated);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkExternalMemoryBufferCreateInfo* given =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    if (given != NULL) {
        return check_given(allocator, call, given->handleTypes, types);
    }
    out->external = (VkExternalMemoryBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .pNext = info->pNext,
        .handleTypes = types,
    };
    out->info = *info;
    out->info.pNext = &out->external;
    out->use = &out->info;
    return VK_SUCCESS;
}

VkResult maar_extend_image(MaarAllocator allocator, const char* call, const VkImageCreateInfo* info,
                           VkExternalMemoryHandleTypeFlags types, VkExternalMemoryFeatureFlags need,
                           struct maar_shared_image* out)
{
    const struct shared_subject subject = {.image = info};
    if (info->initialLayout != VK_IMAGE_LAYOUT_UNDEFINED) {
        return maar_misuse(
            allocator, MAAR_MESSAGE_ID_INVALID_LAYOUT, call,
            "pImageInfo->initialLayout is not VK_IMAGE_LAYOUT_UNDEFINED, which an image on shared "
            "memory requires");
    }
    VkResult result = judge_all(allocator, call, &subject, types, need, &out->dedicated);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkExternalMemoryImageCreateInfo* given =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO);
    if (given != NULL) {
        return check_given(allocator, call, given->handleTypes, types);
    }
    out->external = (VkExternalMemoryImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .pNext = info->pNext,
        .handleTypes = types,
    };
    out->info = *info;
    out->info.pNext = &out->external;
    out->use = &out->info;
    return VK_SUCCESS;
}

VkResult maar_finish_shared(MaarAllocator allocator, VkResult result, struct maar_object object,
                            MaarAllocation allocation)
{
    if (result == VK_SUCCESS) {
        maar_capture_held(allocator, object, allocation, 0);
    } else {
        maar_discard_object(allocator, object);
        maar_undo_allocation(allocator, allocation);
    }
    return result;
}
