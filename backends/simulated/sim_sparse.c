/*
 * Divides sparse images into tiles, mip tails and metadata, and answers the queries about them.
 *
 * Tiles have Vulkan's standard shapes. Each dimension gets an equal number of the powers of two of
 * the texels in a page; the first dimensions get the remainder. The number of samples halves the
 * dimensions in turn.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_format.h"
#include "backends/simulated/sim_resource.h"

#include <string.h>

enum { SIM_DEFAULT_PAGE = 65536 };

VkDeviceSize sim_sparse_page(const struct sim_gpu* gpu)
{
    const MaarSimulatedRequirements* r = &gpu->profile.requirements;
    return sim_or(r->sparseImageAlignment, sim_or(r->sparseAlignment, SIM_DEFAULT_PAGE));
}

/* Finds the texels of a standard tile. Returns false when no texel fits. */
static bool sim_standard_tile(VkDeviceSize page, const struct sim_format_plane* plane,
                              VkImageType type, uint32_t samples, VkExtent3D* tile)
{
    const VkDeviceSize texels = page / plane->block_bytes;
    if (texels == 0 || !maar_is_power_of_two_or_zero(texels) ||
        texels * plane->block_bytes != page) {
        return false;
    }
    const uint32_t bits = maar_top_bit(texels);
    const uint32_t across = type == VK_IMAGE_TYPE_3D ? 3 : 2;
    const uint32_t x = (bits + across - 1) / across;
    const uint32_t y = across == 3 ? (bits - x + 1) / 2 : bits - x;
    const uint32_t z = bits - x - y;
    const uint32_t halvings = maar_top_bit(samples);
    if (bits < 4 && samples > 1) {
        return false;
    }
    *tile = (VkExtent3D){
        (1u << x >> (halvings + 1) / 2) * plane->block_width,
        (1u << y >> halvings / 2) * plane->block_height,
        1u << z,
    };
    return true;
}

/* Returns whether such images can be partially resident. */
static bool sim_sparse_is_offered(const struct sim_gpu* gpu, VkFormat format, VkImageType type,
                                  VkSampleCountFlagBits samples)
{
    const struct sim_format f = sim_format_of(format);
    const MaarSimulatedSparse* offered = &gpu->profile.sparse;
    const bool shaped = type == VK_IMAGE_TYPE_3D   ? offered->residencyImage3D == VK_TRUE
                        : type == VK_IMAGE_TYPE_2D ? offered->residencyImage2D == VK_TRUE
                                                   : false;
    const bool sampled = samples == VK_SAMPLE_COUNT_1_BIT ||
                         (type == VK_IMAGE_TYPE_2D &&
                          ((samples == VK_SAMPLE_COUNT_2_BIT && offered->residency2Samples) ||
                           (samples == VK_SAMPLE_COUNT_4_BIT && offered->residency4Samples) ||
                           (samples == VK_SAMPLE_COUNT_8_BIT && offered->residency8Samples) ||
                           (samples == VK_SAMPLE_COUNT_16_BIT && offered->residency16Samples)));
    return offered->sparseBinding == VK_TRUE && shaped && sampled &&
           sim_format_is_supported(gpu, format) && f.plane_count == 1 &&
           !((f.depth || f.stencil) && gpu->profile.requirements.sparseDepthUnsupported == VK_TRUE);
}

/* Finds the aspects of a format and the size of a block of each. Depth and stencil are separate. */
static uint32_t sim_sparse_aspects(VkFormat format, VkImageAspectFlags aspects[SIM_MAX_CUTS],
                                   struct sim_format_plane planes[SIM_MAX_CUTS])
{
    const struct sim_format f = sim_format_of(format);
    planes[0] = f.planes[0];
    planes[1] = f.planes[0];
    planes[1].block_bytes = 1;
    if (!f.depth && !f.stencil) {
        aspects[0] = VK_IMAGE_ASPECT_COLOR_BIT;
        return 1;
    }
    aspects[0] = f.depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_STENCIL_BIT;
    aspects[1] = VK_IMAGE_ASPECT_STENCIL_BIT;
    if (!f.depth || !f.stencil) {
        return 1;
    }
    planes[0].block_bytes = format == VK_FORMAT_D16_UNORM_S8_UINT ? 2 : 4;
    return 2;
}

uint32_t sim_sparse_formats(const struct sim_gpu* gpu, VkFormat format, VkImageType type,
                            VkSampleCountFlagBits samples,
                            VkSparseImageFormatProperties properties[SIM_MAX_CUTS])
{
    VkImageAspectFlags aspects[SIM_MAX_CUTS];
    struct sim_format_plane planes[SIM_MAX_CUTS];
    memset(properties, 0, SIM_MAX_CUTS * sizeof(*properties));
    if (!sim_sparse_is_offered(gpu, format, type, samples)) {
        return 0;
    }
    const uint32_t count = sim_sparse_aspects(format, aspects, planes);
    for (uint32_t i = 0; i < count; i++) {
        properties[i].aspectMask = aspects[i];
        if (gpu->profile.requirements.mipTail == MAAR_SIMULATED_MIP_TAIL_SINGLE) {
            properties[i].flags |= VK_SPARSE_IMAGE_FORMAT_SINGLE_MIPTAIL_BIT;
        }
        if (gpu->profile.sparse.properties.residencyAlignedMipSize == VK_TRUE) {
            properties[i].flags |= VK_SPARSE_IMAGE_FORMAT_ALIGNED_MIP_SIZE_BIT;
        }
        if (!sim_standard_tile(sim_sparse_page(gpu), &planes[i], type, (uint32_t)samples,
                               &properties[i].imageGranularity)) {
            return 0;
        }
    }
    return count;
}

static uint32_t sim_tiles_across(uint32_t extent, uint32_t level, uint32_t tile)
{
    return (sim_level_extent(extent, level) + tile - 1u) / tile;
}

static VkDeviceSize sim_level_pages(VkExtent3D extent, uint32_t level, VkExtent3D tile)
{
    return (VkDeviceSize)sim_tiles_across(extent.width, level, tile.width) *
           sim_tiles_across(extent.height, level, tile.height) *
           sim_tiles_across(extent.depth, level, tile.depth);
}

/* Returns the first level that does not fill a tile, or, with aligned levels, does not fill whole
 * tiles. */
static uint32_t sim_find_tail(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                              VkExtent3D tile)
{
    const bool aligned = gpu->profile.sparse.properties.residencyAlignedMipSize == VK_TRUE;
    uint32_t level = 0;
    if (gpu->profile.requirements.mipTail == MAAR_SIMULATED_MIP_TAIL_NONE) {
        return info->mipLevels;
    }
    for (; level < info->mipLevels; level++) {
        const uint32_t width = sim_level_extent(info->extent.width, level);
        const uint32_t height = sim_level_extent(info->extent.height, level);
        const uint32_t depth = sim_level_extent(info->extent.depth, level);
        const bool is_small = width < tile.width || height < tile.height || depth < tile.depth;
        const bool cut =
            width % tile.width != 0 || height % tile.height != 0 || depth % tile.depth != 0;
        if (is_small || (aligned && cut)) {
            break;
        }
    }
    return level;
}

static VkDeviceSize sim_tail_bytes(const VkImageCreateInfo* info,
                                   const struct sim_format_plane* plane, uint32_t first)
{
    VkDeviceSize bytes = 0;
    for (uint32_t level = first; level < info->mipLevels; level++) {
        bytes += sim_level_bytes(plane, info->extent, level) * (VkDeviceSize)info->samples;
    }
    return bytes;
}

/* Lays out one aspect from a place on. Returns the place where the aspect ends. */
static VkDeviceSize sim_sparse_lay_out(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                                       const struct sim_format_plane* plane, VkDeviceSize at,
                                       struct sim_cut* cut)
{
    const VkDeviceSize page = sim_sparse_page(gpu);
    const bool single = gpu->profile.requirements.mipTail == MAAR_SIMULATED_MIP_TAIL_SINGLE;
    const uint32_t layers = info->arrayLayers;
    const VkExtent3D tile = cut->format.imageGranularity;
    VkDeviceSize tiles = 0;
    cut->tail_first = sim_find_tail(gpu, info, tile);
    for (uint32_t level = 0; level < cut->tail_first; level++) {
        tiles += sim_level_pages(info->extent, level, tile) * page;
    }
    struct sim_tail* tail = &cut->tail;
    tail->size =
        maar_align_up(sim_tail_bytes(info, plane, cut->tail_first) * (single ? layers : 1u), page);
    tail->count = tail->size == 0 ? 0 : single ? 1 : layers;
    cut->at = at;
    cut->layer_stride = tiles + (single ? 0 : tail->size);
    tail->at = at + (single ? cut->layer_stride * layers : tiles);
    tail->at_stride = single ? 0 : cut->layer_stride;
    tail->offset = tail->at;
    tail->stride = tail->at_stride;
    return at + cut->layer_stride * layers + (single ? tail->size : 0);
}

void sim_sparse_describe(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                         struct sim_sparse* sparse, struct sim_requirements* requirements)
{
    const MaarSimulatedRequirements* r = &gpu->profile.requirements;
    VkSparseImageFormatProperties formats[SIM_MAX_CUTS];
    VkImageAspectFlags aspects[SIM_MAX_CUTS];
    struct sim_format_plane planes[SIM_MAX_CUTS];
    memset(sparse, 0, sizeof(*sparse));
    sparse->page = sim_sparse_page(gpu);
    sparse->aliased = (info->flags & VK_IMAGE_CREATE_SPARSE_ALIASED_BIT) != 0;
    if ((info->flags & VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT) != 0) {
        sparse->cut_count =
            sim_sparse_formats(gpu, info->format, info->imageType, info->samples, formats);
    }
    sparse->residency = sparse->cut_count != 0;
    if (!sparse->residency) {
        return;
    }
    VkDeviceSize at = 0;
    VkDeviceSize secret = r->mipTailOffset;
    sim_sparse_aspects(info->format, aspects, planes);
    for (uint32_t i = 0; i < sparse->cut_count; i++) {
        struct sim_cut* cut = &sparse->cuts[i];
        cut->format = formats[i];
        at = sim_sparse_lay_out(gpu, info, &planes[i], at, cut);
        if (secret != 0) {
            cut->tail.offset = secret;
            cut->tail.stride = cut->tail.at_stride != 0 ? cut->tail.size : 0;
            secret += cut->tail.size * cut->tail.count;
        }
    }
    struct sim_tail* metadata = &sparse->metadata;
    metadata->size = maar_align_up(r->metadataSize, sparse->page);
    metadata->count = metadata->size == 0 ? 0 : 1;
    metadata->at = at;
    metadata->offset = at;
    requirements->size = at + metadata->size;
}

const struct sim_cut* sim_sparse_cut(const struct sim_resource* image, VkImageAspectFlags aspect)
{
    for (uint32_t i = 0; i < image->pages.cut_count; i++) {
        if (image->pages.cuts[i].format.aspectMask == aspect) {
            return &image->pages.cuts[i];
        }
    }
    return NULL;
}

VkExtent3D sim_sparse_tiles(const struct sim_resource* image, const struct sim_cut* cut,
                            uint32_t level)
{
    const VkExtent3D* tile = &cut->format.imageGranularity;
    return (VkExtent3D){
        sim_tiles_across(image->extent.width, level, tile->width),
        sim_tiles_across(image->extent.height, level, tile->height),
        sim_tiles_across(image->extent.depth, level, tile->depth),
    };
}

VkDeviceSize sim_sparse_level_at(const struct sim_resource* image, const struct sim_cut* cut,
                                 uint32_t layer, uint32_t level)
{
    VkDeviceSize at = cut->at + cut->layer_stride * layer;
    for (uint32_t i = 0; i < level; i++) {
        at += sim_level_pages(image->extent, i, cut->format.imageGranularity) * image->pages.page;
    }
    return at;
}

void sim_sparse_check_features(struct sim_device* device, enum sim_function function, VkFlags flags,
                               const VkImageCreateInfo* image)
{
    const VkFlags residency = VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT;
    const VkFlags aliased = VK_BUFFER_CREATE_SPARSE_ALIASED_BIT;
    if ((flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0) {
        sim_need_feature(device, function, SIM_FEATURE_SPARSE_BINDING, "sparseBinding");
    } else if ((flags & (residency | aliased)) != 0) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "residency and aliasing require the flag for sparse binding");
    }
    if ((flags & aliased) != 0) {
        sim_need_feature(device, function, SIM_FEATURE_SPARSE_ALIASED, "sparseResidencyAliased");
    }
    if ((flags & residency) == 0) {
        return;
    }
    if (image == NULL) {
        sim_need_feature(device, function, SIM_FEATURE_SPARSE_BUFFER, "sparseResidencyBuffer");
    } else if (image->imageType == VK_IMAGE_TYPE_3D) {
        sim_need_feature(device, function, SIM_FEATURE_SPARSE_IMAGE_3D, "sparseResidencyImage3D");
    } else {
        sim_need_feature(device, function, SIM_FEATURE_SPARSE_IMAGE_2D, "sparseResidencyImage2D");
    }
    if (image != NULL && image->samples > VK_SAMPLE_COUNT_1_BIT) {
        const uint32_t log = maar_top_bit((uint64_t)image->samples);
        sim_need_feature(device, function,
                         (enum sim_feature)(SIM_FEATURE_SPARSE_2_SAMPLES + log - 1),
                         "sparseResidencySamples");
    }
}

enum { SIM_MAX_ANSWERS = SIM_MAX_CUTS + 1 };

/* Fills in an image's sparse requirements: one element for each aspect, the metadata last. Returns
 * the number of elements. */
static uint32_t sim_sparse_answers(const struct sim_sparse* sparse,
                                   VkSparseImageMemoryRequirements answers[SIM_MAX_ANSWERS])
{
    uint32_t count = 0;
    memset(answers, 0, SIM_MAX_ANSWERS * sizeof(*answers));
    for (; count < sparse->cut_count; count++) {
        const struct sim_cut* cut = &sparse->cuts[count];
        answers[count] = (VkSparseImageMemoryRequirements){
            .formatProperties = cut->format,
            .imageMipTailFirstLod = cut->tail_first,
            .imageMipTailSize = cut->tail.size,
            .imageMipTailOffset = cut->tail.size != 0 ? cut->tail.offset : 0,
            .imageMipTailStride = cut->tail.size != 0 ? cut->tail.stride : 0,
        };
    }
    if (sparse->metadata.size != 0) {
        answers[count++] = (VkSparseImageMemoryRequirements){
            .formatProperties = {.aspectMask = VK_IMAGE_ASPECT_METADATA_BIT,
                                 .flags = VK_SPARSE_IMAGE_FORMAT_SINGLE_MIPTAIL_BIT},
            .imageMipTailSize = sparse->metadata.size,
            .imageMipTailOffset = sparse->metadata.offset,
        };
    }
    return count;
}

static uint32_t sim_sparse_look_up(struct sim_device* device, enum sim_function function,
                                   VkImage image,
                                   VkSparseImageMemoryRequirements answers[SIM_MAX_ANSWERS])
{
    uint32_t count = 0;
    sim_lock_gpu(device->gpu);
    const struct sim_resource* resource =
        sim_object_get(device, function, SIM_HANDLE(image), SIM_KIND_IMAGE);
    if (resource != NULL) {
        count = sim_sparse_answers(&resource->pages, answers);
    }
    sim_unlock_gpu(device->gpu);
    return count;
}

/* Returns the number of elements for which the caller has room, and sets the caller's count. */
static uint32_t sim_sparse_room(uint32_t found, const void* out, uint32_t* count)
{
    const uint32_t written = out == NULL ? 0 : *count < found ? *count : found;
    *count = out == NULL ? found : written;
    return written;
}

static VKAPI_ATTR void VKAPI_CALL sim_get_sparse_requirements(VkDevice device, VkImage image,
                                                              uint32_t* pCount,
                                                              VkSparseImageMemoryRequirements* pOut)
{
    struct sim_device* d = SIM_DEVICE(device);
    VkSparseImageMemoryRequirements answers[SIM_MAX_ANSWERS];
    sim_enter(d->gpu, d, SIM_FN_vkGetImageSparseMemoryRequirements);
    const uint32_t found =
        sim_sparse_look_up(d, SIM_FN_vkGetImageSparseMemoryRequirements, image, answers);
    const uint32_t written = sim_sparse_room(found, pOut, pCount);
    for (uint32_t i = 0; i < written; i++) {
        pOut[i] = answers[i];
    }
}

static VKAPI_ATTR void VKAPI_CALL
sim_get_sparse_requirements2(VkDevice device, const VkImageSparseMemoryRequirementsInfo2* pInfo,
                             uint32_t* pCount, VkSparseImageMemoryRequirements2* pOut)
{
    struct sim_device* d = SIM_DEVICE(device);
    VkSparseImageMemoryRequirements answers[SIM_MAX_ANSWERS];
    sim_enter(d->gpu, d, SIM_FN_vkGetImageSparseMemoryRequirements2);
    const uint32_t found =
        sim_sparse_look_up(d, SIM_FN_vkGetImageSparseMemoryRequirements2, pInfo->image, answers);
    const uint32_t written = sim_sparse_room(found, pOut, pCount);
    for (uint32_t i = 0; i < written; i++) {
        pOut[i].memoryRequirements = answers[i];
    }
}

static VKAPI_ATTR void VKAPI_CALL
sim_get_device_sparse_requirements(VkDevice device, const VkDeviceImageMemoryRequirements* pInfo,
                                   uint32_t* pCount, VkSparseImageMemoryRequirements2* pOut)
{
    const enum sim_function function = SIM_FN_vkGetDeviceImageSparseMemoryRequirements;
    struct sim_device* d = SIM_DEVICE(device);
    const VkImageCreateInfo* info = pInfo->pCreateInfo;
    VkSparseImageMemoryRequirements answers[SIM_MAX_ANSWERS];
    uint32_t found = 0;
    sim_enter(d->gpu, d, function);
    sim_lock_gpu(d->gpu);
    sim_need_feature(d, function, SIM_FEATURE_MAINTENANCE4, "maintenance4");
    if (!sim_image_is_possible(d->gpu, info)) {
        sim_violate(d->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the device cannot create such an image");
    } else {
        struct sim_sparse sparse;
        struct sim_requirements requirements;
        sim_sparse_describe(d->gpu, info, &sparse, &requirements);
        found = sim_sparse_answers(&sparse, answers);
    }
    sim_unlock_gpu(d->gpu);
    const uint32_t written = sim_sparse_room(found, pOut, pCount);
    for (uint32_t i = 0; i < written; i++) {
        pOut[i].memoryRequirements = answers[i];
    }
}

static uint32_t sim_sparse_look_up_format(const struct sim_gpu* gpu,
                                          const VkPhysicalDeviceSparseImageFormatInfo2* info,
                                          VkSparseImageFormatProperties properties[SIM_MAX_CUTS])
{
    const VkImageCreateFlags flags =
        VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT;
    VkImageFormatProperties limits;
    if (info->tiling != VK_IMAGE_TILING_OPTIMAL ||
        !sim_image_limits(gpu, info->format, info->type, info->tiling, info->usage, flags,
                          &limits) ||
        (limits.sampleCounts & (VkSampleCountFlags)info->samples) == 0) {
        return 0;
    }
    return sim_sparse_formats(gpu, info->format, info->type, info->samples, properties);
}

static VKAPI_ATTR void VKAPI_CALL sim_get_sparse_format_properties(
    VkPhysicalDevice physicalDevice, VkFormat format, VkImageType type,
    VkSampleCountFlagBits samples, VkImageUsageFlags usage, VkImageTiling tiling,
    uint32_t* pPropertyCount, VkSparseImageFormatProperties* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    VkSparseImageFormatProperties answers[SIM_MAX_CUTS];
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceSparseImageFormatProperties);
    const VkPhysicalDeviceSparseImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SPARSE_IMAGE_FORMAT_INFO_2,
        .format = format,
        .type = type,
        .samples = samples,
        .usage = usage,
        .tiling = tiling,
    };
    const uint32_t found = sim_sparse_look_up_format(gpu, &info, answers);
    const uint32_t written = sim_sparse_room(found, pProperties, pPropertyCount);
    for (uint32_t i = 0; i < written; i++) {
        pProperties[i] = answers[i];
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_get_sparse_format_properties2(
    VkPhysicalDevice physicalDevice, const VkPhysicalDeviceSparseImageFormatInfo2* pInfo,
    uint32_t* pPropertyCount, VkSparseImageFormatProperties2* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    VkSparseImageFormatProperties answers[SIM_MAX_CUTS];
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceSparseImageFormatProperties2);
    const uint32_t found = sim_sparse_look_up_format(gpu, pInfo, answers);
    const uint32_t written = sim_sparse_room(found, pProperties, pPropertyCount);
    for (uint32_t i = 0; i < written; i++) {
        pProperties[i].properties = answers[i];
    }
}

/* The entries of devices and of physical devices. */
const struct sim_entry sim_sparse_entries[] = {
    SIM_ENTRY(vkGetImageSparseMemoryRequirements, sim_get_sparse_requirements),
    SIM_ENTRY(vkGetImageSparseMemoryRequirements2, sim_get_sparse_requirements2),
    SIM_ENTRY(vkGetDeviceImageSparseMemoryRequirements, sim_get_device_sparse_requirements),
    SIM_ENTRY(vkGetPhysicalDeviceSparseImageFormatProperties, sim_get_sparse_format_properties),
    SIM_ENTRY(vkGetPhysicalDeviceSparseImageFormatProperties2, sim_get_sparse_format_properties2),
    {SIM_FN_COUNT, NULL},
};
