/*
 * Residents made of pages: see resident_pages.h.
 *
 * Pages that are given back are free for others only after a submission of binds, which waits for
 * their last uses. So each call that gives pages back submits what was recorded before it returns.
 */
#include "core/residency/resident_pages.h"

#include "core/memory/allocator_state.h"
#include "core/reservation/reservation.h"
#include "core/reservation/sparse_image.h"
#include "core/residency/resident_copy.h"

/* ---- creation ---- */

static VkResult refuse_range(struct maar_residency* it, const char* call, const char* why)
{
    return maar_misuse(it->allocator, MAAR_MESSAGE_ID_OUT_OF_RANGE, call, why);
}

static VkResult refuse_copies(struct maar_residency* it, const char* call,
                              const MaarResidentCreateInfo* info)
{
    return maar_fail(it->allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE, call,
                     "pCreateInfo->%s lacks TRANSFER_SRC or TRANSFER_DST usage, which copies of "
                     "its contents need",
                     info->reservation != VK_NULL_HANDLE ? "reservation" : "sparseImage");
}

VkResult maar_pages_keep_range(struct maar_residency* it, const char* call,
                               const MaarResidentCreateInfo* info, struct maar_resident* resident)
{
    const VkBufferUsageFlags copies = (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                      (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    struct maar_reservation* reservation = NULL;
    const VkResult result = maar_reservation_check(it->allocator, call, "pCreateInfo->reservation",
                                                   info->reservation, true, &reservation);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDeviceSize page = reservation->page_size;
    const VkDeviceSize left =
        info->offset < reservation->size ? reservation->size - info->offset : 0;
    const VkDeviceSize size = info->size == VK_WHOLE_SIZE ? left : info->size;
    if (reservation->table == NULL) {
        return maar_fail(
            it->allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED, call,
            "pCreateInfo->reservation grows by copies, and has no pages that could go");
    }
    if (size == 0 || size > left) {
        return refuse_range(it, call,
                            "pCreateInfo->offset and size are not a range of the reservation");
    }
    if (info->offset % page != 0 || (size % page != 0 && size != left)) {
        return refuse_range(it, call, "pCreateInfo->offset or size is not a whole number of pages");
    }
    if ((reservation->usage & copies) != copies &&
        (info->flags & MAAR_RESIDENT_CREATE_DISCARDABLE_BIT) == 0) {
        return refuse_copies(it, call, info);
    }
    resident->kind = MAAR_RESIDENT_RANGE;
    resident->reservation = info->reservation;
    resident->offset = info->offset;
    resident->content_size = size;
    resident->pages_buffer = reservation->buffer;
    resident->pages_address = reservation->address != 0 ? reservation->address + info->offset : 0;
    resident->request.requirements.size = maar_align_up(size, page);
    return VK_SUCCESS;
}

/* Returns the bytes of all tiles and tails. */
static VkDeviceSize bytes_of_image(const struct maar_sparse_image* image)
{
    const struct maar_sparse_aspect* aspect = &image->aspects[0];
    return (VkDeviceSize)aspect->grid.total * image->layers * image->page_size +
           aspect->tail_count * maar_align_up(aspect->tail_size, image->page_size);
}

VkResult maar_pages_keep_image(struct maar_residency* it, const char* call,
                               const MaarResidentCreateInfo* info, struct maar_resident* resident)
{
    const VkImageUsageFlags copies = (VkImageUsageFlags)VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                     (VkImageUsageFlags)VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    struct maar_sparse_image* image = NULL;
    VkResult result = maar_check_sparse_image(it->allocator, call, "pCreateInfo->sparseImage",
                                              info->sparseImage, &image);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_rule rules[] = {
        {image->in_cache, MAAR_MESSAGE_ID_TILE_CACHE_OWNS_IMAGE,
         "pCreateInfo->sparseImage has a tile cache or is a resident already"},
        {maar_sparse_committed(image) != maar_sparse_metadata_size(image),
         MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE, "pCreateInfo->sparseImage has committed tiles"},
        {0},
    };
    result = maar_check_rules(it->allocator, call, rules);
    if (result == VK_SUCCESS && (image->usage & copies) != copies) {
        result = refuse_copies(it, call, info);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    resident->record = maar_host_calloc(it->allocator->callbacks, 1, sizeof *resident->record);
    if (resident->record == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkImageCreateInfo* shape = &resident->record->image;
    shape->sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    shape->format = image->format;
    shape->extent = image->extent;
    shape->mipLevels = image->mip_levels;
    shape->arrayLayers = image->layers;
    shape->samples = VK_SAMPLE_COUNT_1_BIT;
    if (image->aspect_count != 1 || !maar_is_copied_image(shape)) {
        return maar_fail(it->allocator, VK_ERROR_FORMAT_NOT_SUPPORTED, MAAR_MESSAGE_ID_CANNOT_MOVE,
                         call,
                         "pCreateInfo->sparseImage has several aspects, or a format whose texels "
                         "Maar does not know");
    }
    resident->kind = MAAR_RESIDENT_TILES;
    resident->sparse_image = info->sparseImage;
    resident->pages_image = image->image;
    resident->content_size = maar_content_size(shape);
    resident->request.requirements.size = bytes_of_image(image);
    return VK_SUCCESS;
}

/* Says whose a sparse image is. While it is the manager's, nobody else changes its tiles. */
static struct maar_sparse_image* give_image(struct maar_residency* it,
                                            const struct maar_resident* resident, bool is_own)
{
    const uint64_t handle = MAAR_TO_BITS(resident->sparse_image);
    struct maar_sparse_image* image =
        handle != 0 ? maar_object_of(it->allocator, MAAR_OBJECT_SPARSE_IMAGE, handle) : NULL;
    if (image != NULL) {
        image->in_cache = is_own;
    }
    return image;
}

void maar_pages_own(struct maar_residency* it, const struct maar_resident* resident)
{
    (void)give_image(it, resident, true);
}

void maar_pages_leave(struct maar_residency* it, const struct maar_resident* resident)
{
    (void)give_image(it, resident, false);
}

/* ---- pages ---- */

static MaarTileRegion region_of_level(const struct maar_sparse_image* image, uint32_t level,
                                      uint32_t layer)
{
    const VkExtent3D extent = image->extent;
    return (MaarTileRegion){
        .mipLevel = level,
        .arrayLayer = layer,
        .extent = {extent.width >> level != 0 ? extent.width >> level : 1,
                   extent.height >> level != 0 ? extent.height >> level : 1,
                   extent.depth >> level != 0 ? extent.depth >> level : 1},
    };
}

static VkResult evict_image(struct maar_residency* it, const struct maar_sparse_image* image,
                            MaarSparseImage handle)
{
    VkResult result = maarEvictMipTail(it->allocator, handle, 0, VK_REMAINING_ARRAY_LAYERS);
    const uint32_t levels = image->aspects[0].grid.level_count;
    for (uint32_t i = 0; i < levels * image->layers && result == VK_SUCCESS; ++i) {
        const MaarTileRegion region = region_of_level(image, i % levels, i / levels);
        result = maarEvictTiles(it->allocator, handle, 1, &region);
    }
    return result;
}

static VkResult commit_image(struct maar_residency* it, const struct maar_sparse_image* image,
                             MaarSparseImage handle)
{
    VkResult result = maarCommitMipTail(it->allocator, handle, 0, VK_REMAINING_ARRAY_LAYERS);
    const uint32_t levels = image->aspects[0].grid.level_count;
    for (uint32_t i = 0; i < levels * image->layers && result == VK_SUCCESS; ++i) {
        const MaarTileRegion region = region_of_level(image, i % levels, i / levels);
        result = maarCommitTiles(it->allocator, handle, 1, &region);
    }
    if (result != VK_SUCCESS) {
        (void)evict_image(it, image, handle);
    }
    return result;
}

VkResult maar_pages_make(struct maar_residency* it, struct maar_resident* resident)
{
    const VkDeviceSize size = resident->request.requirements.size;
    const VkDeviceSize held = maar_tier_memory_bytes(&it->device);
    VkResult result = VK_SUCCESS;
    if (held > it->device.budget || size > it->device.budget - held) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    it->has_binds = true;
    if (resident->kind == MAAR_RESIDENT_RANGE) {
        const MaarPageRange range = {resident->offset, resident->content_size};
        result = maarCommitPages(it->allocator, resident->reservation, 1, &range);
        resident->object.buffer = resident->pages_buffer;
        resident->address = resident->pages_address;
    } else {
        struct maar_sparse_image* image = give_image(it, resident, false);
        result = image != NULL ? commit_image(it, image, resident->sparse_image)
                               : VK_ERROR_VALIDATION_FAILED_EXT;
        (void)give_image(it, resident, true);
        resident->object.image = resident->pages_image;
    }
    if (result != VK_SUCCESS) {
        resident->object = (struct maar_object){.buffer = VK_NULL_HANDLE};
        return result;
    }
    maar_tier_memory_count(&it->device, size, true);
    return VK_SUCCESS;
}

VkResult maar_pages_end(struct maar_residency* it, const struct maar_resident* resident,
                        uint32_t point_count, const MaarPoint* points)
{
    VkResult result =
        point_count > 0 ? maarDelayBinds(it->allocator, point_count, points) : VK_SUCCESS;
    if (result != VK_SUCCESS) {
        return result;
    }
    it->has_binds = true;
    if (resident->kind == MAAR_RESIDENT_RANGE) {
        const MaarPageRange range = {resident->offset, resident->content_size};
        result = maarDecommitPages(it->allocator, resident->reservation, 1, &range);
    } else {
        struct maar_sparse_image* image = give_image(it, resident, false);
        result = image != NULL ? evict_image(it, image, resident->sparse_image)
                               : VK_ERROR_VALIDATION_FAILED_EXT;
        (void)give_image(it, resident, true);
    }
    if (result == VK_SUCCESS) {
        maar_tier_memory_count(&it->device, resident->request.requirements.size, false);
    }
    return result;
}

VkResult maar_pages_submit(struct maar_residency* it, struct maar_copy_waits* waits)
{
    VkResult result = VK_SUCCESS;
    if (it->has_binds) {
        MaarPoint point = {VK_NULL_HANDLE, 0};
        result = maarSubmitBinds(it->allocator, 0, NULL, &point);
        if (result == VK_SUCCESS) {
            it->has_binds = false;
            it->bound = point;
        }
    }
    /* The binds of pages may have been submitted by an eviction that came later. */
    if (waits != NULL && it->bound.value != 0) {
        maar_copies_add_wait(waits, it->bound);
    }
    return result;
}
