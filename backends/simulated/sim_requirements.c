/*
 * The memory requirements of buffers and images, computed from the profile.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_format.h"
#include "backends/simulated/sim_resource.h"
#include "backends/simulated/sim_share.h"

#include <string.h>

enum {
    SIM_DEFAULT_BUFFER_ALIGNMENT = 16,
    SIM_DEFAULT_SMALL_ALIGNMENT = 4096,
    SIM_DEFAULT_ALIGNMENT = 65536,
    SIM_SMALL_IMAGE = 65536,
    SIM_LEVEL_ALIGNMENT = 256,
};

/* Returns the memory types that have none of the unwanted flags. */
static uint32_t sim_type_mask(const struct sim_gpu* gpu, VkMemoryPropertyFlags unwanted)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < gpu->profile.typeCount; i++) {
        if ((gpu->profile.types[i].flags & unwanted) == 0) {
            mask |= 1u << i;
        }
    }
    return mask;
}

static const VkMemoryPropertyFlags sim_special_types =
    VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT;

static uint32_t sim_image_types(const struct sim_gpu* gpu, VkImageUsageFlags usage)
{
    const MaarSimulatedRequirements* r = &gpu->profile.requirements;
    const uint32_t plain =
        r->imageTypeBits != 0 ? r->imageTypeBits : sim_type_mask(gpu, sim_special_types);
    if ((usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) == 0) {
        return plain;
    }
    const uint32_t lazy =
        ~sim_type_mask(gpu, VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT) & sim_type_mask(gpu, 0);
    return r->transientTypeBits != 0 ? r->transientTypeBits : plain | lazy;
}

static VkDeviceSize sim_buffer_alignment(const struct sim_gpu* gpu, const VkBufferCreateInfo* info)
{
    const MaarSimulatedRequirements* r = &gpu->profile.requirements;
    const MaarSimulatedLimits* limits = &gpu->profile.limits;
    if ((info->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0) {
        return sim_or(r->sparseAlignment, SIM_DEFAULT_ALIGNMENT);
    }
    const VkDeviceSize plain = sim_or(r->bufferAlignment, SIM_DEFAULT_BUFFER_ALIGNMENT);
    VkDeviceSize needed[3] = {0, 0, 0};
    if ((info->usage & VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT) != 0) {
        needed[0] = sim_or(r->uniformAlignment, limits->minUniformBufferOffsetAlignment);
    }
    if ((info->usage & VK_BUFFER_USAGE_STORAGE_BUFFER_BIT) != 0) {
        needed[1] = sim_or(r->storageAlignment, limits->minStorageBufferOffsetAlignment);
    }
    if ((info->usage & (VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                        VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT)) != 0) {
        needed[2] = limits->minTexelBufferOffsetAlignment;
    }
    VkDeviceSize alignment = plain;
    for (int i = 0; i < 3; i++) {
        alignment = needed[i] > alignment ? needed[i] : alignment;
    }
    return alignment;
}

/* Returns whether the handle types for a resource's shared memory require a dedicated
 * allocation. */
static bool sim_sharing_requires_dedicated(const struct sim_gpu* gpu, bool image, const void* chain)
{
    const VkExternalMemoryBufferCreateInfo* buffers =
        sim_chain_find(chain, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    const VkExternalMemoryImageCreateInfo* images =
        sim_chain_find(chain, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO);
    const VkFlags types = image ? (images != NULL ? images->handleTypes : 0)
                                : (buffers != NULL ? buffers->handleTypes : 0);
    return sim_external_needs_dedicated(gpu, image, types);
}

void sim_requirements_of_buffer(const struct sim_gpu* gpu, const VkBufferCreateInfo* info,
                                struct sim_requirements* requirements)
{
    const MaarSimulatedRequirements* r = &gpu->profile.requirements;
    const VkDeviceSize alignment = sim_buffer_alignment(gpu, info);
    const bool sparse = (info->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0;
    const bool required = gpu->dedicated.buffersRequire == VK_TRUE ||
                          (!sparse && sim_sharing_requires_dedicated(gpu, false, info->pNext));
    *requirements = (struct sim_requirements){
        .size = maar_align_up(info->size,
                              sparse ? alignment : sim_or(r->bufferSizeRounding, alignment)),
        .alignment = alignment,
        .type_bits =
            r->bufferTypeBits != 0 ? r->bufferTypeBits : sim_type_mask(gpu, sim_special_types),
        .prefers_dedicated = gpu->dedicated.buffersPrefer || required,
        .requires_dedicated = required,
    };
}

static VkDeviceSize sim_image_alignment(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                                        const struct sim_format* format, VkDeviceSize size)
{
    const MaarSimulatedRequirements* r = &gpu->profile.requirements;
    const VkDeviceSize plain = sim_or(r->imageAlignment, SIM_DEFAULT_ALIGNMENT);
    if ((info->flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT) != 0) {
        return sim_sparse_page(gpu);
    }
    if (sim_tiling_is_linear(info->tiling)) {
        return sim_or(r->linearImageAlignment,
                      sim_or(r->bufferAlignment, SIM_DEFAULT_BUFFER_ALIGNMENT));
    }
    if (info->samples > VK_SAMPLE_COUNT_1_BIT) {
        return sim_or(r->multisampleImageAlignment, plain);
    }
    if (format->depth || format->stencil) {
        return sim_or(r->depthImageAlignment, plain);
    }
    return size < SIM_SMALL_IMAGE ? sim_or(r->smallImageAlignment, SIM_DEFAULT_SMALL_ALIGNMENT)
                                  : plain;
}

static VkDeviceSize sim_plane_bytes(const VkImageCreateInfo* info,
                                    const struct sim_format_plane* plane)
{
    if (sim_tiling_is_linear(info->tiling)) {
        const uint32_t rows = (info->extent.height + plane->divide_y - 1u) / plane->divide_y;
        return sim_modifier_row_pitch(info, plane) *
               ((rows + plane->block_height - 1u) / plane->block_height) * info->extent.depth *
               info->arrayLayers;
    }
    VkDeviceSize size = 0;
    for (uint32_t level = 0; level < info->mipLevels; level++) {
        size += maar_align_up(sim_level_bytes(plane, info->extent, level) * info->arrayLayers *
                                  (VkDeviceSize)info->samples,
                              SIM_LEVEL_ALIGNMENT);
    }
    return size;
}

uint32_t sim_requirements_of_image(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                                   struct sim_requirements requirements[SIM_MAX_PLANES])
{
    const struct sim_format format = sim_format_of(info->format);
    const bool disjoint =
        (info->flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0 && format.plane_count > 1;
    const bool sparse = (info->flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT) != 0;
    const uint32_t parts = disjoint ? format.plane_count : 1;
    const bool required = gpu->dedicated.imagesRequire == VK_TRUE ||
                          (!sparse && sim_sharing_requires_dedicated(gpu, true, info->pNext));
    memset(requirements, 0, sizeof(*requirements) * SIM_MAX_PLANES);
    for (uint32_t plane = 0; plane < format.plane_count; plane++) {
        requirements[disjoint ? plane : 0].size += sim_plane_bytes(info, &format.planes[plane]);
    }
    for (uint32_t part = 0; part < parts; part++) {
        struct sim_requirements* r = &requirements[part];
        r->alignment = sim_image_alignment(gpu, info, &format, r->size);
        if (sparse) {
            struct sim_sparse cut;
            r->size = maar_align_up(r->size, r->alignment);
            sim_sparse_describe(gpu, info, &cut, r);
        }
        r->type_bits = sim_image_types(gpu, info->usage);
        r->requires_dedicated = required && !disjoint;
        r->prefers_dedicated =
            r->requires_dedicated || (gpu->dedicated.imagesPrefer == VK_TRUE && !disjoint);
    }
    return parts;
}

static void sim_requirements_answer(const struct sim_requirements* from, VkMemoryRequirements* to)
{
    to->size = from->size;
    to->alignment = from->alignment;
    to->memoryTypeBits = from->type_bits;
}

static void sim_requirements_answer2(const struct sim_requirements* from, VkMemoryRequirements2* to)
{
    sim_requirements_answer(from, &to->memoryRequirements);
    for (VkBaseOutStructure* s = to->pNext; s != NULL; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS) {
            VkMemoryDedicatedRequirements* dedicated = (VkMemoryDedicatedRequirements*)(void*)s;
            dedicated->prefersDedicatedAllocation = from->prefers_dedicated ? VK_TRUE : VK_FALSE;
            dedicated->requiresDedicatedAllocation = from->requires_dedicated ? VK_TRUE : VK_FALSE;
        }
    }
}

/* Returns the requirements of a part of a live resource; all zero after a violation. */
static struct sim_requirements sim_lookup(struct sim_device* device, enum sim_function function,
                                          uint64_t handle, enum sim_kind kind, uint32_t part,
                                          bool part_known)
{
    struct sim_requirements found = {0};
    sim_lock_gpu(device->gpu);
    const struct sim_resource* resource = sim_object_get(device, function, handle, kind);
    if (resource != NULL && (resource->plane_count > 1) != part_known) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "a query of a disjoint image must name a plane, and no other query may");
    } else if (resource != NULL && part >= resource->plane_count) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the image does not have this plane");
    } else if (resource != NULL) {
        found = resource->requirements[part];
    }
    sim_unlock_gpu(device->gpu);
    return found;
}

uint32_t sim_plane_of_aspect(VkFlags aspect)
{
    return aspect == VK_IMAGE_ASPECT_PLANE_0_BIT   ? 0
           : aspect == VK_IMAGE_ASPECT_PLANE_1_BIT ? 1
           : aspect == VK_IMAGE_ASPECT_PLANE_2_BIT ? 2
                                                   : SIM_MAX_PLANES;
}

static VKAPI_ATTR void VKAPI_CALL sim_get_buffer_requirements(
    VkDevice device, VkBuffer buffer, VkMemoryRequirements* pMemoryRequirements)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, SIM_FN_vkGetBufferMemoryRequirements);
    const struct sim_requirements found = sim_lookup(d, SIM_FN_vkGetBufferMemoryRequirements,
                                                     SIM_HANDLE(buffer), SIM_KIND_BUFFER, 0, false);
    sim_requirements_answer(&found, pMemoryRequirements);
}

static VKAPI_ATTR void VKAPI_CALL sim_get_image_requirements(
    VkDevice device, VkImage image, VkMemoryRequirements* pMemoryRequirements)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, SIM_FN_vkGetImageMemoryRequirements);
    const struct sim_requirements found = sim_lookup(d, SIM_FN_vkGetImageMemoryRequirements,
                                                     SIM_HANDLE(image), SIM_KIND_IMAGE, 0, false);
    sim_requirements_answer(&found, pMemoryRequirements);
}

static VKAPI_ATTR void VKAPI_CALL
sim_get_buffer_requirements2(VkDevice device, const VkBufferMemoryRequirementsInfo2* pInfo,
                             VkMemoryRequirements2* pMemoryRequirements)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, SIM_FN_vkGetBufferMemoryRequirements2);
    const struct sim_requirements found =
        sim_lookup(d, SIM_FN_vkGetBufferMemoryRequirements2, SIM_HANDLE(pInfo->buffer),
                   SIM_KIND_BUFFER, 0, false);
    sim_requirements_answer2(&found, pMemoryRequirements);
}

static VKAPI_ATTR void VKAPI_CALL
sim_get_image_requirements2(VkDevice device, const VkImageMemoryRequirementsInfo2* pInfo,
                            VkMemoryRequirements2* pMemoryRequirements)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, SIM_FN_vkGetImageMemoryRequirements2);
    const VkImagePlaneMemoryRequirementsInfo* plane =
        sim_chain_find(pInfo->pNext, VK_STRUCTURE_TYPE_IMAGE_PLANE_MEMORY_REQUIREMENTS_INFO);
    const struct sim_requirements found = sim_lookup(
        d, SIM_FN_vkGetImageMemoryRequirements2, SIM_HANDLE(pInfo->image), SIM_KIND_IMAGE,
        plane != NULL ? sim_plane_of_aspect(plane->planeAspect) : 0, plane != NULL);
    sim_requirements_answer2(&found, pMemoryRequirements);
}

static VKAPI_ATTR void VKAPI_CALL
sim_get_device_buffer_requirements(VkDevice device, const VkDeviceBufferMemoryRequirements* pInfo,
                                   VkMemoryRequirements2* pMemoryRequirements)
{
    struct sim_device* d = SIM_DEVICE(device);
    struct sim_requirements found;
    sim_enter(d->gpu, d, SIM_FN_vkGetDeviceBufferMemoryRequirements);
    sim_lock_gpu(d->gpu);
    sim_need_feature(d, SIM_FN_vkGetDeviceBufferMemoryRequirements, SIM_FEATURE_MAINTENANCE4,
                     "maintenance4");
    sim_requirements_of_buffer(d->gpu, pInfo->pCreateInfo, &found);
    sim_unlock_gpu(d->gpu);
    sim_requirements_answer2(&found, pMemoryRequirements);
}

static VKAPI_ATTR void VKAPI_CALL
sim_get_device_image_requirements(VkDevice device, const VkDeviceImageMemoryRequirements* pInfo,
                                  VkMemoryRequirements2* pMemoryRequirements)
{
    struct sim_device* d = SIM_DEVICE(device);
    struct sim_requirements found[SIM_MAX_PLANES];
    sim_enter(d->gpu, d, SIM_FN_vkGetDeviceImageMemoryRequirements);
    sim_lock_gpu(d->gpu);
    sim_need_feature(d, SIM_FN_vkGetDeviceImageMemoryRequirements, SIM_FEATURE_MAINTENANCE4,
                     "maintenance4");
    uint32_t part = 0;
    memset(found, 0, sizeof(found));
    if (!sim_image_is_possible(d->gpu, pInfo->pCreateInfo)) {
        sim_violate(d->gpu, SIM_FN_vkGetDeviceImageMemoryRequirements,
                    MAAR_SIMULATED_VIOLATION_ARGUMENT, "the device cannot create such an image");
    } else {
        const uint32_t parts = sim_requirements_of_image(d->gpu, pInfo->pCreateInfo, found);
        part = parts > 1 ? sim_plane_of_aspect(pInfo->planeAspect) : 0;
        if (part >= parts) {
            sim_violate(d->gpu, SIM_FN_vkGetDeviceImageMemoryRequirements,
                        MAAR_SIMULATED_VIOLATION_ARGUMENT,
                        "the disjoint image does not have this plane");
            part = 0;
        }
    }
    sim_unlock_gpu(d->gpu);
    sim_requirements_answer2(&found[part], pMemoryRequirements);
}

const struct sim_entry sim_requirements_entries[] = {
    SIM_ENTRY(vkGetBufferMemoryRequirements, sim_get_buffer_requirements),
    SIM_ENTRY(vkGetImageMemoryRequirements, sim_get_image_requirements),
    SIM_ENTRY(vkGetBufferMemoryRequirements2, sim_get_buffer_requirements2),
    SIM_ENTRY(vkGetImageMemoryRequirements2, sim_get_image_requirements2),
    SIM_ENTRY(vkGetDeviceBufferMemoryRequirements, sim_get_device_buffer_requirements),
    SIM_ENTRY(vkGetDeviceImageMemoryRequirements, sim_get_device_image_requirements),
    {SIM_FN_COUNT, NULL},
};
