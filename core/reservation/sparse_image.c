/*
 * Partially resident images: the driver's requirements, how they are made, and how they end, after
 * the last submission that names them. The driver's opaque offsets are passed on unchanged.
 */
#include "core/reservation/sparse_image.h"

#include <stdio.h>

#include "core/chain.h"
#include "core/device_calls.h"
#include "core/host_stack.h"
#include "core/memory/allocation_check.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "core/objects/captured_object.h"
#include "core/objects/object.h"
#include "core/paging/address_space.h"
#include "core/paging/paging_open.h"
#include "core/paging/paging_timeline.h"
#include "core/time/retire_collect.h"

/* The largest number of entries in the driver's requirements: one for each aspect, and metadata. */
enum { REQUIREMENTS = 6 };

/* ---- checks ---- */

static VkResult check_image_info(MaarAllocator allocator, const char* call,
                                 const VkImageCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo->pImageInfo", info,
                                           VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkExternalMemoryImageCreateInfo* external =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO);
    const struct maar_rule rules[] = {
        {info->imageType != VK_IMAGE_TYPE_2D && info->imageType != VK_IMAGE_TYPE_3D,
         MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, "pImageInfo->imageType is neither 2D nor 3D"},
        {info->tiling != VK_IMAGE_TILING_OPTIMAL, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
         "pImageInfo->tiling is not optimal"},
        {info->samples != VK_SAMPLE_COUNT_1_BIT, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
         "pImageInfo->samples is not 1"},
        {(info->flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
         "pImageInfo is disjoint, which no sparse image can be"},
        {(info->flags & VK_IMAGE_CREATE_SPARSE_ALIASED_BIT) != 0,
         MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
         "pImageInfo->flags has SPARSE_ALIASED; tiles cannot share pages"},
        {external != NULL && external->handleTypes != 0, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
         "pImageInfo names external memory; pages cannot be exported"},
        {0},
    };
    const struct maar_bound bounds[] = {
        {info->mipLevels > MAAR_TILE_MAX_LEVELS, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pImageInfo->mipLevels is more than a sparse image may have",
         MAAR_SHOW_LIMIT(info->mipLevels, MAAR_TILE_MAX_LEVELS)},
        {0},
    };
    result = maar_check_rules_and_bounds(allocator, call, rules, bounds);
    return result == VK_SUCCESS ? maar_refuse_impossible_image(allocator, call, info) : result;
}

static VkResult check_support(MaarAllocator allocator, const char* call,
                              const VkImageCreateInfo* info)
{
    const struct maar_device* device = &allocator->device;
    const bool flat = info->imageType == VK_IMAGE_TYPE_2D;
    VkResult result = maar_paging_require(allocator, call, true);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (flat ? !device->facts.sparse_images_2d : !device->facts.sparse_images_3d) {
        return maar_fail(
            allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, NULL,
            "%s needs sparseResidencyImage%s among MaarAllocatorCreateInfo::pEnabledFeatures; the "
            "device must have it enabled",
            call, flat ? "2D" : "3D");
    }
    const VkPhysicalDeviceSparseImageFormatInfo2 format = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SPARSE_IMAGE_FORMAT_INFO_2,
        .format = info->format,
        .type = info->imageType,
        .samples = info->samples,
        .usage = info->usage,
        .tiling = info->tiling,
    };
    uint32_t count = 0;
    maar_lock_rank_expect_none();
    device->vkGetPhysicalDeviceSparseImageFormatProperties2(device->physical, &format, &count,
                                                            NULL);
    if (count == 0) {
        return maar_fail(
            allocator, VK_ERROR_FORMAT_NOT_SUPPORTED, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, call,
            "the driver has no partially resident images of format %d with this type and "
            "usage",
            (int)info->format);
    }
    return VK_SUCCESS;
}

/* ---- the driver's requirements ---- */

static void note_tail(struct maar_sparse_aspect* aspect, const VkSparseImageMemoryRequirements* of,
                      uint32_t layers)
{
    const bool single =
        (of->formatProperties.flags & VK_SPARSE_IMAGE_FORMAT_SINGLE_MIPTAIL_BIT) != 0;
    aspect->aspect = of->formatProperties.aspectMask;
    aspect->tail_size = of->imageMipTailSize;
    aspect->tail_offset = of->imageMipTailOffset;
    aspect->tail_stride = of->imageMipTailStride;
    aspect->tail_count = single ? 1 : layers;
}

static VkResult note_requirement(MaarAllocator allocator, const char* call,
                                 struct maar_sparse_image* image,
                                 const VkSparseImageMemoryRequirements* of)
{
    if ((of->formatProperties.aspectMask & VK_IMAGE_ASPECT_METADATA_BIT) != 0) {
        note_tail(&image->metadata, of, image->layers);
        image->metadata.bind_flags = VK_SPARSE_MEMORY_BIND_METADATA_BIT;
        image->metadata.tail_count =
            image->metadata.tail_size == 0 ? 0 : image->metadata.tail_count;
        return VK_SUCCESS;
    }
    const VkExtent3D tile = of->formatProperties.imageGranularity;
    if (image->aspect_count == MAAR_SPARSE_ASPECTS || tile.width == 0 || tile.height == 0 ||
        tile.depth == 0) {
        return maar_fail(allocator, VK_ERROR_FORMAT_NOT_SUPPORTED,
                         MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, call,
                         "the driver binds this image in a way that Maar does not know");
    }
    struct maar_sparse_aspect* aspect = &image->aspects[image->aspect_count++];
    const uint32_t levels =
        of->imageMipTailFirstLod < image->mip_levels ? of->imageMipTailFirstLod : image->mip_levels;
    note_tail(aspect, of, image->layers);
    if (levels == image->mip_levels || aspect->tail_size == 0) {
        aspect->tail_count = 0;
    }
    if (!maar_tile_grid_init(&aspect->grid, image->extent, tile, image->mip_levels, levels)) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         call,
                         "pImageInfo has more than 2^32 tiles: its extent is %u x %u x %u, and a "
                         "tile has %u x %u x %u",
                         image->extent.width, image->extent.height, image->extent.depth, tile.width,
                         tile.height, tile.depth);
    }
    return VK_SUCCESS;
}

static VkResult read_requirements(MaarAllocator allocator, const char* call,
                                  struct maar_sparse_image* image)
{
    const struct maar_device* device = &allocator->device;
    const VkImageMemoryRequirementsInfo2 whole = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2,
        .image = image->image,
    };
    VkMemoryRequirements2 memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    maar_device_image_needs(device, &whole, &memory);
    image->size = memory.memoryRequirements.size;
    image->page_size = memory.memoryRequirements.alignment;
    image->type_bits = memory.memoryRequirements.memoryTypeBits;

    const VkImageSparseMemoryRequirementsInfo2 sparse = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_SPARSE_MEMORY_REQUIREMENTS_INFO_2,
        .image = image->image,
    };
    VkSparseImageMemoryRequirements2 entries[REQUIREMENTS];
    uint32_t count = 0;
    device->vkGetImageSparseMemoryRequirements2(device->handle, &sparse, &count, NULL);
    count = count < REQUIREMENTS ? count : (uint32_t)REQUIREMENTS;
    for (uint32_t i = 0; i < count; ++i) {
        entries[i] = (VkSparseImageMemoryRequirements2){
            .sType = VK_STRUCTURE_TYPE_SPARSE_IMAGE_MEMORY_REQUIREMENTS_2,
        };
    }
    device->vkGetImageSparseMemoryRequirements2(device->handle, &sparse, &count, entries);
    for (uint32_t i = 0; i < count; ++i) {
        const VkResult result =
            note_requirement(allocator, call, image, &entries[i].memoryRequirements);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    if (image->aspect_count == 0) {
        return maar_fail(allocator, VK_ERROR_FORMAT_NOT_SUPPORTED,
                         MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, call,
                         "the driver names no tiles of this image");
    }
    image->tile = (VkExtent3D){image->aspects[0].grid.tile[0], image->aspects[0].grid.tile[1],
                               image->aspects[0].grid.tile[2]};
    return VK_SUCCESS;
}

/* ---- page tables ---- */

static VkResult make_arrays(MaarAllocator allocator, struct maar_sparse_aspect* aspect,
                            uint32_t layers)
{
    const size_t table_count = (size_t)layers * aspect->grid.level_count;
    if (table_count > 0) {
        aspect->tables =
            maar_host_calloc(allocator->callbacks, table_count, sizeof(struct maar_page_table*));
    }
    if (aspect->tail_count > 0) {
        aspect->tails = maar_host_calloc(allocator->callbacks, aspect->tail_count,
                                         sizeof(struct maar_page_table*));
    }
    return (table_count > 0 && aspect->tables == NULL) ||
                   (aspect->tail_count > 0 && aspect->tails == NULL)
               ? VK_ERROR_OUT_OF_HOST_MEMORY
               : VK_SUCCESS;
}

/* Makes the arrays of tables, the tables of the metadata, and one more table: making it shows
 * whether any memory type serves. */
static VkResult make_tables(MaarAllocator allocator, const char* call,
                            struct maar_sparse_image* image)
{
    struct maar_page_table* table = NULL;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < image->aspect_count && result == VK_SUCCESS; ++i) {
        result = make_arrays(allocator, &image->aspects[i], image->layers);
    }
    if (result == VK_SUCCESS) {
        result = make_arrays(allocator, &image->metadata, image->layers);
    }
    if (result == VK_SUCCESS && image->aspects[0].tables != NULL) {
        result = maar_sparse_bring_table(allocator, call, image, 0, 0, 0, &table);
    } else if (result == VK_SUCCESS && image->aspects[0].tails != NULL) {
        result = maar_sparse_bring_tail(allocator, call, image, &image->aspects[0], 0, &table);
    }
    for (uint32_t i = 0; result == VK_SUCCESS && i < image->metadata.tail_count; ++i) {
        result = maar_sparse_bring_tail(allocator, call, image, &image->metadata, i, &table);
    }
    return result;
}

/* Commits the driver's metadata, which must have memory at all times. */
static VkResult commit_metadata(MaarAllocator allocator, const char* call,
                                struct maar_sparse_image* image)
{
    const uint32_t count = image->metadata.tail_count;
    if (count == 0) {
        return VK_SUCCESS;
    }
    struct maar_host_stack scratch = {.callbacks = allocator->callbacks};
    struct maar_page_range* ranges = maar_stack_grab(&scratch, count, sizeof *ranges);
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (ranges != NULL) {
        for (uint32_t i = 0; i < count; ++i) {
            struct maar_page_table* table = image->metadata.tails[i];
            ranges[i] =
                (struct maar_page_range){.table = table, .count = maar_page_table_count(table)};
        }
        result = maar_pages_commit(allocator, call, count, ranges);
    }
    maar_stack_reset(&scratch);
    return result;
}

/* ---- life ---- */

/* Seals all tables and returns the value of the last submission that names one, or 0. 0 is reported
 * if the image was made completely and has pages that its program committed. */
static uint64_t seal_image(MaarAllocator allocator, struct maar_sparse_image* image)
{
    struct maar_sparse_walk walk = {0, 0};
    uint64_t value = 0;
    for (struct maar_page_table* table = NULL;
         (table = maar_sparse_next_table(image, &walk)) != NULL;) {
        const uint64_t last = maar_page_table_seal(table);
        value = last > value ? last : value;
    }
    if (value == 0 && image->listed.end_leaked != NULL) {
        const VkDeviceSize asked = maar_sparse_committed(image) - maar_sparse_metadata_size(image);
        maar_paging_report_unsubmitted(allocator, maar_object_kind_name(MAAR_OBJECT_SPARSE_IMAGE),
                                       image->name, asked / image->page_size);
    }
    return value;
}

static void free_arrays(MaarAllocator allocator, struct maar_sparse_aspect* aspect)
{
    maar_host_free(allocator->callbacks, aspect->tables);
    maar_host_free(allocator->callbacks, aspect->tails);
}

/* Frees an image that the device no longer uses and whose tables are sealed. The VkImage is
 * destroyed first, so that no page is free while the image is bound to it. */
static void dispose(MaarAllocator allocator, struct maar_sparse_image* image)
{
    maar_discard_object(allocator, (struct maar_object){.image = image->image});
    struct maar_sparse_walk walk = {0, 0};
    for (struct maar_page_table* table = NULL;
         (table = maar_sparse_next_table(image, &walk)) != NULL;) {
        maar_page_table_destroy(table);
    }
    if (image->space != 0) {
        maar_paging_return_space(allocator, image->space);
    }
    for (uint32_t i = 0; i < MAAR_SPARSE_ASPECTS; ++i) {
        free_arrays(allocator, &image->aspects[i]);
    }
    free_arrays(allocator, &image->metadata);
    if (image->ending != NULL) {
        maar_retire_discard(&allocator->retire, image->ending);
    }
    maar_host_free(allocator->callbacks, image->name);
    maar_host_free(allocator->callbacks, image);
}

static void finish_image(MaarAllocator allocator, const struct maar_retire_item* item)
{
    dispose(allocator, (struct maar_sparse_image*)(uintptr_t)item->object);
}

static void describe_sparse_image(const struct maar_retire_item* item, char* text, size_t size)
{
    const struct maar_sparse_image* image =
        (const struct maar_sparse_image*)(uintptr_t)item->object;
    (void)snprintf(text, size, "the %s %s and its pages", maar_object_kind_name(image->listed.kind),
                   maar_quote(image->listed.name).text);
}

/* Ends an image that the program never destroyed. */
static void end_leaked(MaarAllocator allocator, struct maar_paged_object* object)
{
    struct maar_sparse_image* image = (struct maar_sparse_image*)(void*)object;
    (void)seal_image(allocator, image);
    maar_paging_add_count(allocator, MAAR_COUNT_RESERVATION, -1);
    dispose(allocator, image);
}

/* Ensures that the image has `size` bytes of address space. */
static VkResult take_space(MaarAllocator allocator, const char* call,
                           struct maar_sparse_image* image, VkDeviceSize size)
{
    VkResult result = VK_SUCCESS;
    if (size > image->space) {
        result = maar_paging_take_space(allocator, call, size - image->space, NULL);
        image->space = result == VK_SUCCESS ? size : image->space;
    }
    return result;
}

static VkResult make_parts(MaarAllocator allocator, const char* call, const VkImageCreateInfo* info,
                           struct maar_sparse_image* image)
{
    const struct maar_device* device = &allocator->device;
    VkImageCreateInfo sparse = *info;
    VkResult result = VK_SUCCESS;
    sparse.flags |= (VkImageCreateFlags)VK_IMAGE_CREATE_SPARSE_BINDING_BIT |
                    (VkImageCreateFlags)VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT;
    maar_lock_rank_expect_none();
    /* Creating the image may exceed the address space. Where the requirements need no image, they
     * are asked for first. */
    if (device->facts.maintenance4) {
        MaarMemoryRequest request;
        result = maar_image_info_request(allocator, &sparse, &request);
        if (result == VK_SUCCESS) {
            result = take_space(allocator, call, image, request.requirements.size);
        }
    }
    if (result == VK_SUCCESS) {
        result = device->vkCreateImage(device->handle, &sparse, device->callbacks, &image->image);
        image->image = result == VK_SUCCESS ? image->image : VK_NULL_HANDLE;
    }
    if (result == VK_SUCCESS) {
        result = read_requirements(allocator, call, image);
        const MaarMemoryRequest needs = {
            .requirements = {image->size, image->page_size, image->type_bits}};
        maar_capture_image(allocator, image->image, &sparse, &needs);
    }
    if (result == VK_SUCCESS) {
        result = take_space(allocator, call, image, image->size);
    }
    if (result == VK_SUCCESS) {
        result = make_tables(allocator, call, image);
    }
    return result == VK_SUCCESS ? commit_metadata(allocator, call, image) : result;
}

/* Ends an image that is not listed, or that was made only in part: another thread's submission may
 * have bound its metadata. Cannot fail. item: an item with room for one more point, or NULL for the
 * prepared item. */
static void end_image(MaarAllocator allocator, struct maar_sparse_image* image,
                      struct maar_retire_item* item)
{
    const uint64_t value = seal_image(allocator, image);
    if (item == NULL && value == 0) {
        dispose(allocator, image);
        return;
    }
    if (item == NULL) {
        item = image->ending;
        image->ending = NULL;
    }
    if (value != 0) {
        maar_retire_add_point(item, maar_paging_point(allocator, value));
    }
    item->action = finish_image;
    item->describe = describe_sparse_image;
    item->pool = maar_pool_pending(maar_pool_of(allocator, image->memory.pool));
    item->object = (uint64_t)(uintptr_t)image;
    maar_retire_queue(&allocator->retire, item);
}

static VkResult create(MaarAllocator allocator, const char* call,
                       const MaarSparseImageCreateInfo* info, MaarSparseImage* made)
{
    const VkImageCreateInfo* image_info = info->pImageInfo;
    const MaarAllocationCreateInfo* memory =
        info->pMemoryInfo != NULL ? info->pMemoryInfo : &maar_default_create_info;
    struct maar_sparse_image* image = maar_host_calloc(allocator->callbacks, 1, sizeof *image);
    if (image == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    image->allocator = allocator;
    image->format = image_info->format;
    image->type = image_info->imageType;
    image->usage = image_info->usage;
    image->extent = image_info->extent;
    image->mip_levels = image_info->mipLevels;
    image->layers = image_info->arrayLayers;
    image->memory = *memory;
    image->memory.pNext = NULL;
    if (memory->pName != NULL) {
        image->name = maar_copy_string(allocator->callbacks, memory->pName);
    }
    image->memory.pName = image->name;
    image->ending = maar_retire_prepare(&allocator->retire, 1, NULL);
    VkResult result =
        maar_object_open(allocator, MAAR_OBJECT_SPARSE_IMAGE, image, &image->listed.handle);
    if (result == VK_SUCCESS &&
        (image->ending == NULL || (image->name == NULL && memory->pName != NULL))) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == VK_SUCCESS) {
        result = make_parts(allocator, call, image_info, image);
    }
    if (result != VK_SUCCESS) {
        (void)maar_object_close(allocator, image->listed.handle);
        end_image(allocator, image, NULL);
        return result;
    }
    image->listed.kind = MAAR_OBJECT_SPARSE_IMAGE;
    image->listed.name = image->name;
    image->listed.end_leaked = end_leaked;
    maar_paging_add_count(allocator, MAAR_COUNT_RESERVATION, 1);
    maar_paging_list(allocator, &image->listed);
    *made = MAAR_FROM_BITS(MaarSparseImage, image->listed.handle);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateSparseImage(MaarAllocator allocator,
                                                     const MaarSparseImageCreateInfo* pCreateInfo,
                                                     MaarSparseImage* pImage)
{
    const struct maar_output outputs[] = {
        {"pImage", pImage, sizeof *pImage},
        {0},
    };
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pCreateInfo", pCreateInfo,
                                  MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO);
    if (result == VK_SUCCESS) {
        result = maar_pages_check_memory(allocator, __func__, "pCreateInfo->pMemoryInfo",
                                         pCreateInfo->pMemoryInfo);
    }
    if (result == VK_SUCCESS) {
        result = check_image_info(allocator, __func__, pCreateInfo->pImageInfo);
    }
    if (result == VK_SUCCESS) {
        result = check_support(allocator, __func__, pCreateInfo->pImageInfo);
    }
    return result != VK_SUCCESS ? result : create(allocator, __func__, pCreateInfo, pImage);
}

static void retire_image(MaarAllocator allocator, struct maar_sparse_image* image,
                         struct maar_retire_item* item)
{
    maar_paging_unlist(allocator, &image->listed);
    maar_paging_add_count(allocator, MAAR_COUNT_RESERVATION, -1);
    end_image(allocator, image, item);
}

static VkResult check_free(MaarAllocator allocator, const char* call, MaarSparseImage image,
                           struct maar_sparse_image** found)
{
    const VkResult result = maar_check_sparse_image(allocator, call, "image", image, found);
    if (result != VK_SUCCESS) {
        return result;
    }
    return (*found)->in_cache ? maar_misuse(allocator, MAAR_MESSAGE_ID_TILE_CACHE_OWNS_IMAGE, call,
                                            "image belongs to a tile cache that is still there")
                              : VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarDestroySparseImage(MaarAllocator allocator, MaarSparseImage image)
{
    struct maar_sparse_image* it = NULL;
    if (allocator != NULL && image != VK_NULL_HANDLE &&
        check_free(allocator, __func__, image, &it) == VK_SUCCESS &&
        maar_object_claim(allocator, __func__, "image", MAAR_TO_BITS(image)) == VK_SUCCESS) {
        retire_image(allocator, it, NULL);
        /* As a rule the last binds were executed long ago. */
        (void)maar_retire_collect(&allocator->retire, NULL);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroySparseImageAfter(MaarAllocator allocator,
                                                           MaarSparseImage image,
                                                           uint32_t pointCount,
                                                           const MaarPoint* pPoints)
{
    struct maar_sparse_image* it = NULL;
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_retire_check_points(&allocator->retire, __func__, pointCount, pPoints);
    }
    if (result != VK_SUCCESS || image == VK_NULL_HANDLE) {
        return result;
    }
    result = check_free(allocator, __func__, image, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_retire_item* item = NULL;
    if (pointCount > 0) {
        item = maar_retire_prepare(&allocator->retire, pointCount + 1, NULL);
        if (item == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        maar_retire_set_points(item, pointCount, pPoints);
    }
    result = maar_object_claim(allocator, __func__, "image", MAAR_TO_BITS(image));
    if (result == VK_SUCCESS) {
        retire_image(allocator, it, item);
    } else if (item != NULL) {
        maar_retire_discard(&allocator->retire, item);
    }
    return result;
}
