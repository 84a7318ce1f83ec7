/*
 * How sparse images are cut into tiles, mip tails and metadata, and the functions that say so.
 *
 * Tiles are Vulkan's standard ones: of the texels that fit into a page, an equal share of powers of
 * two for each dimension, the first ones getting what is left over. Samples halve them in turn.
 */
#include "backends/simulated/sim_format.h"

#include <string.h>

enum { SIM_DEFAULT_PAGE = 65536 };

static uint32_t sim_log2(uint64_t value)
{
    uint32_t log = 0;
    while (value > 1) {
        value >>= 1;
        log++;
    }
    return log;
}

VkDeviceSize sim_sparse_page(const struct sim_gpu* gpu)
{
    const MaarSimulatedRequirements* r = &gpu->profile.requirements;
    return sim_or(r->sparseImageAlignment, sim_or(r->sparseAlignment, SIM_DEFAULT_PAGE));
}

/* Texels of a standard tile; false when none fits. */
static bool sim_standard_tile(VkDeviceSize page, const struct sim_format_plane* plane,
                              VkImageType type, uint32_t samples, VkExtent3D* tile)
{
    const VkDeviceSize texels = page / plane->block_bytes;
    if (texels == 0 || (texels & (texels - 1)) != 0 || texels * plane->block_bytes != page) {
        return false;
    }
    const uint32_t bits = sim_log2(texels);
    const uint32_t across = type == VK_IMAGE_TYPE_3D ? 3 : 2;
    const uint32_t x = (bits + across - 1) / across;
    const uint32_t y = across == 3 ? (bits - x + 1) / 2 : bits - x;
    const uint32_t z = bits - x - y;
    const uint32_t halvings = sim_log2(samples);
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

bool sim_sparse_tile(const struct sim_gpu* gpu, VkFormat format, VkImageType type,
                     VkSampleCountFlagBits samples, VkSparseImageFormatProperties* properties)
{
    const struct sim_format f = sim_format_of(format);
    const MaarSimulatedSparse* offered = &gpu->profile.sparse;
    const bool shaped = type == VK_IMAGE_TYPE_3D ? offered->residencyImage3D == VK_TRUE
                                                 : offered->residencyImage2D == VK_TRUE;
    const bool sampled = samples == VK_SAMPLE_COUNT_1_BIT ||
                         (type == VK_IMAGE_TYPE_2D &&
                          ((samples == VK_SAMPLE_COUNT_2_BIT && offered->residency2Samples) ||
                           (samples == VK_SAMPLE_COUNT_4_BIT && offered->residency4Samples) ||
                           (samples == VK_SAMPLE_COUNT_8_BIT && offered->residency8Samples) ||
                           (samples == VK_SAMPLE_COUNT_16_BIT && offered->residency16Samples)));
    const bool deep = f.depth || f.stencil;
    memset(properties, 0, sizeof(*properties));
    if (!offered->sparseBinding || !shaped || !sampled || type == VK_IMAGE_TYPE_1D ||
        !sim_format_is_supported(gpu, format) || f.plane_count != 1 ||
        (deep && gpu->profile.requirements.sparseDepthUnsupported == VK_TRUE)) {
        return false;
    }
    properties->aspectMask =
        !deep ? (VkImageAspectFlags)VK_IMAGE_ASPECT_COLOR_BIT
              : (f.depth ? (VkImageAspectFlags)VK_IMAGE_ASPECT_DEPTH_BIT : 0) |
                    (f.stencil ? (VkImageAspectFlags)VK_IMAGE_ASPECT_STENCIL_BIT : 0);
    properties->flags = (gpu->profile.requirements.mipTail == MAAR_SIMULATED_MIP_TAIL_SINGLE
                             ? (VkSparseImageFormatFlags)VK_SPARSE_IMAGE_FORMAT_SINGLE_MIPTAIL_BIT
                             : 0) |
                        (offered->properties.residencyAlignedMipSize == VK_TRUE
                             ? (VkSparseImageFormatFlags)VK_SPARSE_IMAGE_FORMAT_ALIGNED_MIP_SIZE_BIT
                             : 0);
    return sim_standard_tile(sim_sparse_page(gpu), &f.planes[0], type, (uint32_t)samples,
                             &properties->imageGranularity);
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

/* The first level that does not fill a tile, or, with aligned levels, whole tiles. */
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
        const bool small = width < tile.width || height < tile.height || depth < tile.depth;
        const bool cut =
            width % tile.width != 0 || height % tile.height != 0 || depth % tile.depth != 0;
        if (small || (aligned && cut)) {
            break;
        }
    }
    return level;
}

static VkDeviceSize sim_tail_bytes(const VkImageCreateInfo* info, uint32_t first)
{
    const struct sim_format format = sim_format_of(info->format);
    VkDeviceSize bytes = 0;
    for (uint32_t level = first; level < info->mipLevels; level++) {
        bytes +=
            sim_level_bytes(&format.planes[0], info->extent, level) * (VkDeviceSize)info->samples;
    }
    return bytes;
}

void sim_sparse_describe(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                         struct sim_sparse* sparse, struct sim_requirements* requirements)
{
    const MaarSimulatedRequirements* r = &gpu->profile.requirements;
    VkSparseImageFormatProperties properties;
    memset(sparse, 0, sizeof(*sparse));
    sparse->page = sim_sparse_page(gpu);
    sparse->residency =
        (info->flags & VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT) != 0 &&
        sim_sparse_tile(gpu, info->format, info->imageType, info->samples, &properties);
    sparse->aliased = (info->flags & VK_IMAGE_CREATE_SPARSE_ALIASED_BIT) != 0;
    if (!sparse->residency) {
        return;
    }
    sparse->tile = properties.imageGranularity;
    sparse->tail_first = sim_find_tail(gpu, info, sparse->tile);
    const bool single = r->mipTail == MAAR_SIMULATED_MIP_TAIL_SINGLE;
    const uint32_t layers = info->arrayLayers;
    VkDeviceSize tiles = 0;
    for (uint32_t level = 0; level < sparse->tail_first; level++) {
        tiles += sim_level_pages(info->extent, level, sparse->tile) * sparse->page;
    }
    struct sim_tail* tail = &sparse->tail;
    tail->size = sim_align_up(sim_tail_bytes(info, sparse->tail_first) * (single ? layers : 1u),
                              sparse->page);
    tail->count = tail->size == 0 ? 0 : single ? 1 : layers;
    sparse->layer_stride = tiles + (single ? 0 : tail->size);
    tail->at = single ? sparse->layer_stride * layers : tiles;
    tail->at_stride = single ? 0 : sparse->layer_stride;
    tail->offset = sim_or(r->mipTailOffset, tail->at);
    tail->stride = r->mipTailOffset != 0 && !single ? tail->size : tail->at_stride;
    struct sim_tail* metadata = &sparse->metadata;
    metadata->size = sim_align_up(r->metadataSize, sparse->page);
    metadata->count = metadata->size == 0 ? 0 : 1;
    metadata->at = sparse->layer_stride * layers + (single ? tail->size : 0);
    metadata->offset = metadata->at;
    requirements->size = metadata->at + metadata->size;
}

VkExtent3D sim_sparse_tiles(const struct sim_resource* image, uint32_t level)
{
    const VkExtent3D* tile = &image->pages.tile;
    return (VkExtent3D){
        sim_tiles_across(image->extent.width, level, tile->width),
        sim_tiles_across(image->extent.height, level, tile->height),
        sim_tiles_across(image->extent.depth, level, tile->depth),
    };
}

VkDeviceSize sim_sparse_level_at(const struct sim_resource* image, uint32_t layer, uint32_t level)
{
    VkDeviceSize at = image->pages.layer_stride * layer;
    for (uint32_t i = 0; i < level; i++) {
        at += sim_level_pages(image->extent, i, image->pages.tile) * image->pages.page;
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
                    "residency and aliasing need the flag for sparse binding");
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
        const uint32_t log = sim_log2((uint64_t)image->samples);
        sim_need_feature(device, function,
                         (enum sim_feature)(SIM_FEATURE_SPARSE_2_SAMPLES + log - 1),
                         "sparseResidencySamples");
    }
}

/* What an image answers: one for its texels, one for metadata. Returns how many. */
static uint32_t sim_sparse_answers(const struct sim_sparse* sparse,
                                   const VkSparseImageFormatProperties* properties,
                                   VkSparseImageMemoryRequirements answers[2])
{
    uint32_t count = 0;
    memset(answers, 0, 2 * sizeof(*answers));
    if (!sparse->residency) {
        return 0;
    }
    answers[count++] = (VkSparseImageMemoryRequirements){
        .formatProperties = *properties,
        .imageMipTailFirstLod = sparse->tail_first,
        .imageMipTailSize = sparse->tail.size,
        .imageMipTailOffset = sparse->tail.size != 0 ? sparse->tail.offset : 0,
        .imageMipTailStride = sparse->tail.size != 0 ? sparse->tail.stride : 0,
    };
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
                                   VkImage image, VkSparseImageMemoryRequirements answers[2])
{
    uint32_t count = 0;
    sim_lock_gpu(device->gpu);
    const struct sim_resource* resource =
        sim_object_get(device, function, SIM_HANDLE(image), SIM_KIND_IMAGE);
    if (resource != NULL) {
        VkSparseImageFormatProperties properties;
        sim_sparse_tile(device->gpu, resource->format, resource->type,
                        (VkSampleCountFlagBits)resource->samples, &properties);
        count = sim_sparse_answers(&resource->pages, &properties, answers);
    }
    sim_unlock_gpu(device->gpu);
    return count;
}

/* How many of the answers the caller has room for; its count is set. */
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
    VkSparseImageMemoryRequirements answers[2];
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
    VkSparseImageMemoryRequirements answers[2];
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
    VkSparseImageMemoryRequirements answers[2];
    uint32_t found = 0;
    sim_enter(d->gpu, d, function);
    sim_lock_gpu(d->gpu);
    sim_need_feature(d, function, SIM_FEATURE_MAINTENANCE4, "maintenance4");
    if (!sim_image_is_possible(d->gpu, info)) {
        sim_violate(d->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the device cannot make such an image");
    } else {
        struct sim_sparse sparse;
        struct sim_requirements requirements;
        VkSparseImageFormatProperties properties;
        sim_sparse_describe(d->gpu, info, &sparse, &requirements);
        sim_sparse_tile(d->gpu, info->format, info->imageType, info->samples, &properties);
        found = sim_sparse_answers(&sparse, &properties, answers);
    }
    sim_unlock_gpu(d->gpu);
    const uint32_t written = sim_sparse_room(found, pOut, pCount);
    for (uint32_t i = 0; i < written; i++) {
        pOut[i].memoryRequirements = answers[i];
    }
}

/* One answer, or none. */
static uint32_t sim_sparse_format(const struct sim_gpu* gpu,
                                  const VkPhysicalDeviceSparseImageFormatInfo2* info,
                                  VkSparseImageFormatProperties* properties)
{
    VkImageFormatProperties limits;
    return info->tiling == VK_IMAGE_TILING_OPTIMAL &&
                   sim_image_limits(gpu, info->format, info->type, info->tiling, info->usage,
                                    VK_IMAGE_CREATE_SPARSE_BINDING_BIT |
                                        VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT,
                                    &limits) &&
                   (limits.sampleCounts & (VkSampleCountFlags)info->samples) != 0 &&
                   sim_sparse_tile(gpu, info->format, info->type, info->samples, properties)
               ? 1
               : 0;
}

static VKAPI_ATTR void VKAPI_CALL sim_get_sparse_format_properties(
    VkPhysicalDevice physicalDevice, VkFormat format, VkImageType type,
    VkSampleCountFlagBits samples, VkImageUsageFlags usage, VkImageTiling tiling,
    uint32_t* pPropertyCount, VkSparseImageFormatProperties* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    VkSparseImageFormatProperties properties;
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceSparseImageFormatProperties);
    const VkPhysicalDeviceSparseImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SPARSE_IMAGE_FORMAT_INFO_2,
        .format = format,
        .type = type,
        .samples = samples,
        .usage = usage,
        .tiling = tiling,
    };
    const uint32_t found = sim_sparse_format(gpu, &info, &properties);
    if (sim_sparse_room(found, pProperties, pPropertyCount) != 0) {
        pProperties[0] = properties;
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_get_sparse_format_properties2(
    VkPhysicalDevice physicalDevice, const VkPhysicalDeviceSparseImageFormatInfo2* pInfo,
    uint32_t* pPropertyCount, VkSparseImageFormatProperties2* pProperties)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    VkSparseImageFormatProperties properties;
    sim_enter(gpu, NULL, SIM_FN_vkGetPhysicalDeviceSparseImageFormatProperties2);
    const uint32_t found = sim_sparse_format(gpu, pInfo, &properties);
    if (sim_sparse_room(found, pProperties, pPropertyCount) != 0) {
        pProperties[0].properties = properties;
    }
}

/* Of the device, and of the physical device. */
const struct sim_entry sim_sparse_entries[] = {
    SIM_ENTRY(vkGetImageSparseMemoryRequirements, sim_get_sparse_requirements),
    SIM_ENTRY(vkGetImageSparseMemoryRequirements2, sim_get_sparse_requirements2),
    SIM_ENTRY(vkGetDeviceImageSparseMemoryRequirements, sim_get_device_sparse_requirements),
    SIM_ENTRY(vkGetPhysicalDeviceSparseImageFormatProperties, sim_get_sparse_format_properties),
    SIM_ENTRY(vkGetPhysicalDeviceSparseImageFormatProperties2, sim_get_sparse_format_properties2),
    {SIM_FN_COUNT, NULL},
};
