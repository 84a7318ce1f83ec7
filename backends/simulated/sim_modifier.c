/*
 * VK_EXT_image_drm_format_modifier with the one modifier that every driver has: linear, in one
 * plane. Such an image is laid out row by row, with the program's layout or that of linear images.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_format.h"
#include "backends/simulated/sim_resource.h"

#include <string.h>

/* DRM_FORMAT_MOD_LINEAR */
static const uint64_t sim_modifier_linear = 0;

bool sim_tiling_is_linear(VkImageTiling tiling)
{
    return tiling == VK_IMAGE_TILING_LINEAR || tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
}

bool sim_modifier_is_offered(const struct sim_gpu* gpu, VkFormat format, VkImageType type)
{
    const struct sim_format f = sim_format_of(format);
    return (gpu->extensions >> SIM_EXT_DRM_MODIFIER & 1u) != 0 && type == VK_IMAGE_TYPE_2D &&
           f.plane_count == 1 && !f.depth && !f.stencil;
}

bool sim_modifier_is_known(const void* chain)
{
    const VkPhysicalDeviceImageDrmFormatModifierInfoEXT* info =
        sim_chain_find(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT);
    return info != NULL && info->drmFormatModifier == sim_modifier_linear;
}

static const VkImageDrmFormatModifierExplicitCreateInfoEXT* sim_modifier_explicit(const void* chain)
{
    return sim_chain_find(chain,
                          VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT);
}

VkDeviceSize sim_modifier_row_pitch(const VkImageCreateInfo* info,
                                    const struct sim_format_plane* plane)
{
    const VkImageDrmFormatModifierExplicitCreateInfoEXT* given =
        info->tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT ? sim_modifier_explicit(info->pNext)
                                                                : NULL;
    const VkDeviceSize wanted = given != NULL && given->drmFormatModifierPlaneCount == 1
                                    ? given->pPlaneLayouts[0].rowPitch
                                    : 0;
    return sim_or(wanted, sim_row_pitch(plane, info->extent.width));
}

/* Returns whether a list of modifiers contains the offered modifier. */
static bool sim_modifier_is_listed(const void* chain)
{
    const VkImageDrmFormatModifierListCreateInfoEXT* list =
        sim_chain_find(chain, VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT);
    for (uint32_t i = 0; list != NULL && i < list->drmFormatModifierCount; i++) {
        if (list->pDrmFormatModifiers[i] == sim_modifier_linear) {
            return true;
        }
    }
    return false;
}

VkResult sim_modifier_check(struct sim_device* device, const VkImageCreateInfo* info)
{
    if (info->tiling != VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT) {
        return VK_SUCCESS;
    }
    if ((device->extensions >> SIM_EXT_DRM_MODIFIER & 1u) == 0) {
        sim_violate(device->gpu, SIM_FN_vkCreateImage, MAAR_SIMULATED_VIOLATION_FEATURE,
                    "%s is not enabled", sim_extension_name(SIM_EXT_DRM_MODIFIER));
    }
    const VkImageDrmFormatModifierExplicitCreateInfoEXT* given = sim_modifier_explicit(info->pNext);
    if (given == NULL && sim_modifier_is_listed(info->pNext)) {
        return VK_SUCCESS;
    }
    if (given == NULL || given->drmFormatModifier != sim_modifier_linear ||
        given->drmFormatModifierPlaneCount != 1) {
        sim_violate(device->gpu, SIM_FN_vkCreateImage, MAAR_SIMULATED_VIOLATION_SHARING,
                    "the chain does not give the offered modifier: linear, in one plane");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct sim_format format = sim_format_of(info->format);
    const VkSubresourceLayout* layout = &given->pPlaneLayouts[0];
    const struct sim_format_plane* plane = &format.planes[0];
    const VkDeviceSize least =
        (VkDeviceSize)((info->extent.width + plane->block_width - 1u) / plane->block_width) *
        plane->block_bytes;
    if (layout->size != 0 || layout->arrayPitch != 0 || layout->depthPitch != 0) {
        sim_violate(device->gpu, SIM_FN_vkCreateImage, MAAR_SIMULATED_VIOLATION_SHARING,
                    "in a plane's layout, size, arrayPitch and depthPitch must be zero");
    }
    /* This driver accepts its own pitch and every larger one. */
    return layout->offset == 0 && layout->rowPitch >= least
               ? VK_SUCCESS
               : VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT;
}

void sim_modifier_list(const struct sim_gpu* gpu, VkFormat format, VkFormatFeatureFlags features,
                       VkDrmFormatModifierPropertiesListEXT* list)
{
    const bool offered = sim_modifier_is_offered(gpu, format, VK_IMAGE_TYPE_2D) && features != 0;
    if (list->pDrmFormatModifierProperties == NULL) {
        list->drmFormatModifierCount = offered ? 1 : 0;
        return;
    }
    list->drmFormatModifierCount = offered && list->drmFormatModifierCount != 0 ? 1 : 0;
    if (list->drmFormatModifierCount != 0) {
        list->pDrmFormatModifierProperties[0] = (VkDrmFormatModifierPropertiesEXT){
            .drmFormatModifier = sim_modifier_linear,
            .drmFormatModifierPlaneCount = 1,
            .drmFormatModifierTilingFeatures = features,
        };
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_get_image_modifier(
    VkDevice device, VkImage image, VkImageDrmFormatModifierPropertiesEXT* pProperties)
{
    struct sim_device* d = SIM_DEVICE(device);
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkGetImageDrmFormatModifierPropertiesEXT);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_lock_gpu(d->gpu);
    const struct sim_resource* resource = sim_object_get(
        d, SIM_FN_vkGetImageDrmFormatModifierPropertiesEXT, SIM_HANDLE(image), SIM_KIND_IMAGE);
    if (resource != NULL && !resource->has_modifier) {
        sim_violate(d->gpu, SIM_FN_vkGetImageDrmFormatModifierPropertiesEXT,
                    MAAR_SIMULATED_VIOLATION_SHARING, "the image was created without a modifier");
    }
    if (resource == NULL || !resource->has_modifier) {
        result = VK_ERROR_VALIDATION_FAILED_EXT;
    }
    sim_unlock_gpu(d->gpu);
    pProperties->drmFormatModifier = sim_modifier_linear;
    return result;
}

const struct sim_entry sim_modifier_entries[] = {
    SIM_ENTRY(vkGetImageDrmFormatModifierPropertiesEXT, sim_get_image_modifier),
    {SIM_FN_COUNT, NULL},
};
