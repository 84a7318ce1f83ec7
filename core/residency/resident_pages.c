/*
 * Residents made of pages: see resident_pages.h.
 *
 * Pages that are given back are free for others only after a submission of binds, which waits for
 * their last uses. So each call that gives pages back submits what was recorded before it returns.
 */
#include "core/residency/resident_pages.h"

#include "core/bound_check.h"
#include "core/memory/allocator_state.h"
#include "core/paging/page_commit.h"
#include "core/reservation/array.h"
#include "core/reservation/commit_pages.h"
#include "core/reservation/sparse_image.h"
#include "core/residency/resident_copy.h"
#include "core/residency/resident_valid.h"

/* ---- creation ---- */

/* Returns the field that has the object of pages. */
static const char* name_of_object(const MaarResidentCreateInfo* info)
{
    return info->array != VK_NULL_HANDLE         ? "array"
           : info->reservation != VK_NULL_HANDLE ? "reservation"
                                                 : "sparseImage";
}

static VkResult refuse_copies(struct maar_residency* it, const char* call,
                              const MaarResidentCreateInfo* info)
{
    return maar_fail(it->allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE, call,
                     "pCreateInfo->%s lacks TRANSFER_SRC or TRANSFER_DST usage, which copies of "
                     "its contents need",
                     name_of_object(info));
}

/* Checks that the contents of a reservation can come and go. */
static VkResult check_reservation(struct maar_residency* it, const char* call,
                                  const MaarResidentCreateInfo* info,
                                  const struct maar_reservation* reservation)
{
    const VkBufferUsageFlags copies = (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                      (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (reservation->table == NULL) {
        return maar_fail(it->allocator, VK_ERROR_FEATURE_NOT_PRESENT,
                         MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED, call,
                         "pCreateInfo->%s grows by copies, and has no pages that could go",
                         name_of_object(info));
    }
    return (reservation->usage & copies) != copies &&
                   (info->flags & MAAR_RESIDENT_CREATE_DISCARDABLE_BIT) == 0
               ? refuse_copies(it, call, info)
               : VK_SUCCESS;
}

/* Writes which pages the resident has. */
static void keep_pages(struct maar_resident* resident, const struct maar_reservation* reservation,
                       VkDeviceSize offset, VkDeviceSize size)
{
    resident->kind = MAAR_RESIDENT_RANGE;
    resident->reservation = MAAR_FROM_BITS(MaarReservation, reservation->listed.handle);
    resident->offset = offset;
    resident->content_size = size;
    resident->pages_buffer = reservation->buffer;
    resident->pages_address = reservation->address != 0 ? reservation->address + offset : 0;
    resident->request.requirements.size = maar_align_up(size, reservation->page_size);
}

VkResult maar_pages_keep_range(struct maar_residency* it, const char* call,
                               const MaarResidentCreateInfo* info, struct maar_resident* resident)
{
    struct maar_reservation* reservation = NULL;
    VkResult result = maar_reservation_check(it->allocator, call, "pCreateInfo->reservation",
                                             info->reservation, true, &reservation);
    if (result == VK_SUCCESS) {
        result = check_reservation(it, call, info, reservation);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDeviceSize page = reservation->page_size;
    const VkDeviceSize left =
        info->offset < reservation->size ? reservation->size - info->offset : 0;
    const VkDeviceSize size = info->size == VK_WHOLE_SIZE ? left : info->size;
    if (size == 0 || size > left) {
        return maar_refuse_range(it->allocator, call, "pCreateInfo->offset and size", info->offset,
                                 info->size, "the reservation", reservation->size);
    }
    if (info->offset % page != 0 || (size % page != 0 && size != left)) {
        return maar_fail(it->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                         MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                         "pCreateInfo->offset, %llu, or size, %s, is not a whole number of pages, "
                         "of %s each",
                         (unsigned long long)info->offset, maar_show_bytes(size).text,
                         maar_show_bytes(page).text);
    }
    keep_pages(resident, reservation, info->offset, size);
    return VK_SUCCESS;
}

VkResult maar_pages_keep_array(struct maar_residency* it, const char* call,
                               const MaarResidentCreateInfo* info, struct maar_resident* resident)
{
    struct maar_array* array = NULL;
    VkResult result =
        maar_array_check(it->allocator, call, "pCreateInfo->array", info->array, &array);
    if (result == VK_SUCCESS) {
        result = check_reservation(it, call, info, &array->reservation);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDeviceSize most = array->reservation.size;
    const VkDeviceSize size = info->size == VK_WHOLE_SIZE ? most : info->size;
    const struct maar_rule rules[] = {
        {array->reservation.in_cache, MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION,
         "pCreateInfo->array is a resident already"},
        {array->count != 0 || array->reservation.ready != 0, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "pCreateInfo->array has elements or memory"},
        {0},
    };
    const struct maar_bound bounds[] = {
        {info->offset != 0, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->offset is not 0, and a resident is all of an array",
         MAAR_SHOW_NUMBER(info->offset)},
        {size == 0 || size > most, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->size is 0, or above that of the array's reservation",
         MAAR_SHOW_BYTES(size, most)},
        {0},
    };
    result = maar_check_rules_and_bounds(it->allocator, call, rules, bounds);
    if (result == VK_SUCCESS) {
        const VkDeviceSize pages = maar_align_up(size, array->reservation.page_size);
        keep_pages(resident, &array->reservation, 0, pages < most ? pages : most);
        resident->array = info->array;
    }
    return result;
}

VkResult maar_pages_keep_stitched(struct maar_residency* it, const char* call,
                                  const MaarResidentCreateInfo* info,
                                  struct maar_resident* resident)
{
    VkBufferCreateInfo buffer = *info->pBufferInfo;
    struct maar_reservation* reservation = NULL;
    buffer.usage |= (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                    (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const MaarAllocationCreateInfo memory = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pName = info->pName,
    };
    const MaarReservationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &memory,
    };
    const VkResult result =
        maar_reservation_create(it->allocator, call, &how, MAAR_OBJECT_RESERVATION,
                                sizeof(struct maar_reservation), &reservation);
    if (result == VK_SUCCESS) {
        keep_pages(resident, reservation, 0, buffer.size);
        resident->is_stitched = true;
    }
    return result;
}

void maar_pages_discard(struct maar_residency* it, const struct maar_resident* resident)
{
    if (resident->is_stitched) {
        maarDestroyReservation(it->allocator, resident->reservation);
    }
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

/* Says whose an array is. While it is the manager's, it takes no pages by itself. */
static struct maar_array* give_array(struct maar_residency* it,
                                     const struct maar_resident* resident, bool is_own)
{
    const uint64_t handle = MAAR_TO_BITS(resident->array);
    struct maar_array* array =
        handle != 0 ? maar_object_of(it->allocator, MAAR_OBJECT_ARRAY, handle) : NULL;
    if (array != NULL) {
        array->reservation.in_cache = is_own;
        array->reservation.ready = is_own ? resident->content_size : 0;
        array->count = is_own ? array->count : 0;
    }
    return array;
}

void maar_pages_own(struct maar_residency* it, const struct maar_resident* resident)
{
    (void)give_image(it, resident, true);
    (void)give_array(it, resident, true);
}

void maar_pages_leave(struct maar_residency* it, const struct maar_resident* resident)
{
    MaarPoint points[MAAR_MAX_POINTS];
    (void)give_image(it, resident, false);
    (void)give_array(it, resident, false);
    if (resident->is_stitched) {
        const uint32_t count = maar_resident_points(it, resident, points);
        /* What is recorded for its pages is submitted first. */
        (void)maar_pages_submit(it, NULL);
        (void)maarDestroyReservationAfter(it->allocator, resident->reservation, count, points);
    }
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

VkResult maar_pages_make(struct maar_residency* it, const char* call,
                         struct maar_resident* resident)
{
    const VkDeviceSize size = resident->request.requirements.size;
    const VkDeviceSize held = maar_tier_memory_bytes(&it->device);
    VkResult result = VK_SUCCESS;
    if (held > it->device.budget || size > it->device.budget - held) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    it->has_binds = true;
    if (resident->kind == MAAR_RESIDENT_RANGE) {
        struct maar_reservation* reservation = NULL;
        result = maar_reservation_check(it->allocator, call, "reservation", resident->reservation,
                                        false, &reservation);
        if (result == VK_SUCCESS) {
            result = maar_reservation_commit(reservation, call, resident->offset,
                                             resident->offset + resident->content_size, false);
        }
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

VkResult maar_pages_end(struct maar_residency* it, const char* call,
                        const struct maar_resident* resident, uint32_t point_count,
                        const MaarPoint* points)
{
    VkResult result =
        point_count > 0 ? maarDelayBinds(it->allocator, point_count, points) : VK_SUCCESS;
    if (result != VK_SUCCESS) {
        return result;
    }
    it->has_binds = true;
    if (resident->kind == MAAR_RESIDENT_RANGE) {
        struct maar_reservation* reservation = NULL;
        result = maar_reservation_check(it->allocator, call, "reservation", resident->reservation,
                                        false, &reservation);
        if (result == VK_SUCCESS) {
            maar_reservation_decommit(reservation, resident->offset,
                                      resident->offset + resident->content_size);
            maar_pages_decommit(it->allocator, 0, NULL);
        }
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

/* Notes how many bytes a resident has. */
static void set_pages(struct maar_resident* resident, const struct maar_reservation* reservation,
                      VkDeviceSize size)
{
    resident->content_size = size;
    resident->request.requirements.size = maar_align_up(size, reservation->page_size);
    resident->array_size = resident->array_size < size ? resident->array_size : size;
}

VkResult maar_pages_grow(struct maar_residency* it, const char* call,
                         struct maar_resident* resident, VkDeviceSize size)
{
    struct maar_array* array =
        maar_object_of(it->allocator, MAAR_OBJECT_ARRAY, MAAR_TO_BITS(resident->array));
    const VkDeviceSize old = resident->request.requirements.size;
    const VkDeviceSize more = maar_align_up(size, array->reservation.page_size) - old;
    const VkDeviceSize held = maar_tier_memory_bytes(&it->device);
    if (held > it->device.budget || more > it->device.budget - held) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    const VkResult result = maar_reservation_commit(&array->reservation, call, old, size, false);
    if (result == VK_SUCCESS) {
        it->has_binds = true;
        array->reservation.ready = size;
        set_pages(resident, &array->reservation, size);
        maar_tier_memory_count(&it->device, more, true);
    }
    return result;
}

VkResult maar_pages_shrink(struct maar_residency* it, struct maar_resident* resident,
                           VkDeviceSize size)
{
    MaarPoint points[MAAR_MAX_POINTS];
    struct maar_array* array =
        maar_object_of(it->allocator, MAAR_OBJECT_ARRAY, MAAR_TO_BITS(resident->array));
    const VkDeviceSize old = resident->request.requirements.size;
    const uint32_t count = maar_resident_points(it, resident, points);
    const VkResult result = count > 0 ? maarDelayBinds(it->allocator, count, points) : VK_SUCCESS;
    if (result == VK_SUCCESS) {
        it->has_binds = true;
        maar_reservation_decommit(&array->reservation, size, resident->content_size);
        maar_pages_decommit(it->allocator, 0, NULL);
        array->reservation.ready = size;
        set_pages(resident, &array->reservation, size);
        maar_tier_memory_count(&it->device, old - resident->request.requirements.size, false);
    }
    return result;
}

void maar_pages_note_size(struct maar_residency* it, struct maar_resident* resident)
{
    const uint64_t handle = MAAR_TO_BITS(resident->array);
    const struct maar_array* array =
        handle != 0 ? maar_object_of(it->allocator, MAAR_OBJECT_ARRAY, handle) : NULL;
    if (array != NULL) {
        resident->array_size = array->count * array->element_size;
    }
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
