/*
 * The images that a device can create: vkGetPhysicalDevice{,Image}FormatProperties.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_format.h"
#include "backends/simulated/sim_share.h"
#include "backends/simulated/sim_sparse.h"

#include <string.h>

enum {
    SIM_MAX_EXTENT = 16384,
    SIM_MAX_EXTENT_3D = 2048,
    SIM_MAX_LEVELS = 15,
    SIM_MAX_LEVELS_3D = 12,
    SIM_MAX_LAYERS = 2048,
};

static VkFormatFeatureFlags sim_format_features(const struct sim_gpu* gpu, VkFormat format,
                                                bool linear)
{
    if (!sim_format_is_supported(gpu, format)) {
        return 0;
    }
    const struct sim_format f = sim_format_of(format);
    VkFormatFeatureFlags features =
        VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_TRANSFER_SRC_BIT |
        VK_FORMAT_FEATURE_TRANSFER_DST_BIT | VK_FORMAT_FEATURE_BLIT_SRC_BIT;
    if (f.depth || f.stencil) {
        return linear ? 0 : features | VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT;
    }
    if (f.plane_count > 1) {
        return features | VK_FORMAT_FEATURE_DISJOINT_BIT |
               VK_FORMAT_FEATURE_MIDPOINT_CHROMA_SAMPLES_BIT;
    }
    features |= VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
    if (f.planes[0].block_width == 1) {
        features |= VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT |
                    VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT |
                    VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT | VK_FORMAT_FEATURE_BLIT_DST_BIT;
    }
    return features;
}

static VkFormatProperties sim_format_properties(const struct sim_gpu* gpu, VkFormat format)
{
    const VkFormatFeatureFlags optimal = sim_format_features(gpu, format, false);
    const VkFormatFeatureFlags buffer = (optimal & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT) != 0
                                            ? VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT |
                                                  VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT |
                                                  VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT
                                            : 0;
    return (VkFormatProperties){
        .linearTilingFeatures = sim_format_features(gpu, format, true),
        .optimalTilingFeatures = optimal,
        .bufferFeatures = buffer,
    };
}

static VkFormatFeatureFlags sim_features_for_usage(VkImageUsageFlags usage)
{
    static const struct {
        VkImageUsageFlags usage;
        VkFormatFeatureFlags features;
    } rows[] = {
        {VK_IMAGE_USAGE_TRANSFER_SRC_BIT, VK_FORMAT_FEATURE_TRANSFER_SRC_BIT},
        {VK_IMAGE_USAGE_TRANSFER_DST_BIT, VK_FORMAT_FEATURE_TRANSFER_DST_BIT},
        {VK_IMAGE_USAGE_SAMPLED_BIT, VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT},
        {VK_IMAGE_USAGE_STORAGE_BIT, VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT},
        {VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT},
        {VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
         VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT},
    };
    VkFormatFeatureFlags features = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((usage & rows[i].usage) != 0) {
            features |= rows[i].features;
        }
    }
    return features;
}

/* Returns the sample counts of sparse images; none where the device offers no such images. */
static VkSampleCountFlags sim_sparse_samples(const struct sim_gpu* gpu, VkFormat format,
                                             VkImageType type, VkImageCreateFlags flags)
{
    VkSampleCountFlags samples = 0;
    if (gpu->profile.sparse.sparseBinding != VK_TRUE) {
        return 0;
    }
    if ((flags & VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT) == 0) {
        return ~0u;
    }
    for (uint32_t bit = VK_SAMPLE_COUNT_1_BIT; bit <= VK_SAMPLE_COUNT_16_BIT; bit <<= 1) {
        VkSparseImageFormatProperties properties[SIM_MAX_CUTS];
        if (sim_sparse_formats(gpu, format, type, (VkSampleCountFlagBits)bit, properties) != 0) {
            samples |= bit;
        }
    }
    return samples;
}

bool sim_image_limits(const struct sim_gpu* gpu, VkFormat format, VkImageType type,
                      VkImageTiling tiling, VkImageUsageFlags usage, VkImageCreateFlags flags,
                      VkImageFormatProperties* properties)
{
    memset(properties, 0, sizeof(*properties));
    const bool linear = sim_tiling_is_linear(tiling);
    const bool modifier = tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
    const VkFormatFeatureFlags features = sim_format_features(gpu, format, linear);
    const VkFormatFeatureFlags needed = sim_features_for_usage(usage);
    const VkImageCreateFlags sparse_flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT |
                                            VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT |
                                            VK_IMAGE_CREATE_SPARSE_ALIASED_BIT;
    const bool sparse = (flags & sparse_flags) != 0;
    const VkSampleCountFlags samples =
        sparse ? sim_sparse_samples(gpu, format, type, flags) : ~(VkSampleCountFlags)0;
    if ((tiling != VK_IMAGE_TILING_OPTIMAL && !linear) || features == 0 ||
        (features & needed) != needed || samples == 0 || (linear && sparse) ||
        (modifier && !sim_modifier_is_offered(gpu, format, type))) {
        return false;
    }
    const bool planar = sim_format_of(format).plane_count > 1;
    const bool flat = linear || planar;
    const uint32_t side = type == VK_IMAGE_TYPE_3D ? SIM_MAX_EXTENT_3D : SIM_MAX_EXTENT;
    properties->maxExtent.width = side;
    properties->maxExtent.height = type == VK_IMAGE_TYPE_1D ? 1 : side;
    properties->maxExtent.depth = type == VK_IMAGE_TYPE_3D ? side : 1;
    properties->maxMipLevels = flat                       ? 1
                               : type == VK_IMAGE_TYPE_3D ? SIM_MAX_LEVELS_3D
                                                          : SIM_MAX_LEVELS;
    properties->maxArrayLayers = type == VK_IMAGE_TYPE_3D || modifier ? 1 : SIM_MAX_LAYERS;
    const bool one_sample = flat || type != VK_IMAGE_TYPE_2D ||
                            sim_format_of(format).planes[0].block_width > 1 ||
                            (flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) != 0;
    properties->sampleCounts =
        one_sample ? (VkSampleCountFlags)VK_SAMPLE_COUNT_1_BIT
                   : (VkSampleCountFlags)(VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_2_BIT |
                                          VK_SAMPLE_COUNT_4_BIT | VK_SAMPLE_COUNT_8_BIT);
    properties->sampleCounts &= samples;
    properties->maxResourceSize = (VkDeviceSize)1 << 40;
    return properties->sampleCounts != 0;
}

bool sim_image_is_possible(const struct sim_gpu* gpu, const VkImageCreateInfo* info)
{
    VkImageFormatProperties limits;
    return sim_image_limits(gpu, info->format, info->imageType, info->tiling, info->usage,
                            info->flags, &limits) &&
           info->extent.width - 1u < limits.maxExtent.width &&
           info->extent.height - 1u < limits.maxExtent.height &&
           info->extent.depth - 1u < limits.maxExtent.depth &&
           info->mipLevels - 1u < limits.maxMipLevels &&
           info->arrayLayers - 1u < limits.maxArrayLayers &&
           (info->samples & limits.sampleCounts) != 0 && (info->samples & (info->samples - 1)) == 0;
}

static VKAPI_ATTR void VKAPI_CALL sim_get_format_properties(VkPhysicalDevice physicalDevice,
                                                            VkFormat format,
                                                            VkFormatProperties* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceFormatProperties);
    *pProperties = sim_format_properties(gpu, format);
}

static VKAPI_ATTR void VKAPI_CALL sim_get_format_properties2(VkPhysicalDevice physicalDevice,
                                                             VkFormat format,
                                                             VkFormatProperties2* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceFormatProperties2);
    pProperties->formatProperties = sim_format_properties(gpu, format);
    for (VkBaseOutStructure* s = pProperties->pNext; s != NULL; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT) {
            sim_modifier_list(gpu, format, pProperties->formatProperties.linearTilingFeatures,
                              (VkDrmFormatModifierPropertiesListEXT*)(void*)s);
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_get_image_format_properties(
    VkPhysicalDevice physicalDevice, VkFormat format, VkImageType type, VkImageTiling tiling,
    VkImageUsageFlags usage, VkImageCreateFlags flags, VkImageFormatProperties* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    memset(pProperties, 0, sizeof(*pProperties));
    const VkResult result = sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceImageFormatProperties);
    if (result != VK_SUCCESS) {
        return result;
    }
    return sim_image_limits(gpu, format, type, tiling, usage, flags, pProperties)
               ? VK_SUCCESS
               : VK_ERROR_FORMAT_NOT_SUPPORTED;
}

/* Returns false when the query names a handle type that the device does not offer. */
static bool sim_answer_external_image(const struct sim_gpu* gpu,
                                      const VkPhysicalDeviceImageFormatInfo2* info,
                                      VkImageFormatProperties2* properties)
{
    const VkPhysicalDeviceExternalImageFormatInfo* external =
        sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO);
    VkExternalMemoryProperties found = {0};
    if (external != NULL && external->handleType != 0) {
        found = sim_external_memory(gpu, true, info->flags, external->handleType);
        if (found.externalMemoryFeatures == 0) {
            return false;
        }
    }
    for (VkBaseOutStructure* s = properties->pNext; s != NULL; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES) {
            ((VkExternalImageFormatProperties*)(void*)s)->externalMemoryProperties = found;
        }
    }
    return true;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_get_image_format_properties2(
    VkPhysicalDevice physicalDevice, const VkPhysicalDeviceImageFormatInfo2* pInfo,
    VkImageFormatProperties2* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    memset(&pProperties->imageFormatProperties, 0, sizeof(pProperties->imageFormatProperties));
    const VkResult result = sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceImageFormatProperties2);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (!sim_answer_external_image(gpu, pInfo, pProperties) ||
        (pInfo->tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT &&
         !sim_modifier_is_known(pInfo->pNext))) {
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    return sim_image_limits(gpu, pInfo->format, pInfo->type, pInfo->tiling, pInfo->usage,
                            pInfo->flags, &pProperties->imageFormatProperties)
               ? VK_SUCCESS
               : VK_ERROR_FORMAT_NOT_SUPPORTED;
}

const struct sim_entry sim_image_format_entries[] = {
    SIM_ENTRY(vkGetPhysicalDeviceFormatProperties, sim_get_format_properties),
    SIM_ENTRY(vkGetPhysicalDeviceFormatProperties2, sim_get_format_properties2),
    SIM_ENTRY(vkGetPhysicalDeviceImageFormatProperties, sim_get_image_format_properties),
    SIM_ENTRY(vkGetPhysicalDeviceImageFormatProperties2, sim_get_image_format_properties2),
    {SIM_FN_COUNT, NULL},
};
