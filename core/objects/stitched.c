/*
 * Buffers and images made of pages: the object with VK_*_CREATE_SPARSE_BINDING_BIT alone, since all
 * of it is bound, its page table, its pages, its slot. Nothing fails after the pages have been
 * taken, so that a call that fails leaves no page block behind that it made.
 *
 * How large the pages are the driver says of each object. So that small buffers are not made twice,
 * the pool remembers the smallest page seen.
 */
#include "core/objects/stitched.h"

#include "core/objects/requirements.h"
#include "core/paging/pages.h"

/* Least size that is stitched, in pages. Rounding up to whole pages takes half a page on average,
 * a sixteenth of that. */
enum { THRESHOLD_PAGES = 8 };

static bool has_external_link(const void* chain, VkStructureType type)
{
    const VkBaseInStructure* link = chain;
    while (link != NULL && link->sType != type) {
        link = link->pNext;
    }
    return link != NULL;
}

/* The pool, and that it can serve what is asked for; misuse is told. */
static VkResult check_pool(MaarAllocator allocator, const char* call,
                           const MaarAllocationCreateInfo* info)
{
    const struct maar_pool* pool = maar_pool_of(info->pool);
    if (pool->allocator != allocator) {
        return maar_misuse(allocator, call, "pCreateInfo->pool is not a pool of this allocator");
    }
    const VkResult result = maar_check_create_info(allocator, call, "pCreateInfo", info);
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((maar_type_flags(allocator, pool->type_index) & info->requiredFlags) !=
        info->requiredFlags) {
        return maar_misuse(allocator, call,
                           "the pool's memory type lacks some of pCreateInfo->requiredFlags");
    }
    if (info->memoryTypeBits != 0 && (info->memoryTypeBits & (1u << pool->type_index)) == 0) {
        return maar_misuse(allocator, call,
                           "the pool's memory type is not among pCreateInfo->memoryTypeBits");
    }
    if ((maar_export_types(info) & ~pool->export_types) != 0) {
        return maar_misuse(allocator, call,
                           "MaarExportInfo names handle types that the pool was not made for");
    }
    return VK_SUCCESS;
}

static VkDeviceSize threshold_of(const struct maar_pool* pool, VkDeviceSize page_size)
{
    return pool->stitch_threshold != 0 ? pool->stitch_threshold : page_size * THRESHOLD_PAGES;
}

/* By what is known of pages so far; 0: nothing. */
static bool is_surely_small(struct maar_pool* pool, VkDeviceSize size)
{
    return size < threshold_of(pool, maar_atomic64_load(&pool->least_page));
}

/* Whether what the driver says of an object is for pages of this pool. */
static bool is_for_pages(struct maar_pool* pool, const VkMemoryRequirements* needs)
{
    const uint64_t least = maar_atomic64_load(&pool->least_page);
    if (least == 0 || needs->alignment < least) {
        maar_atomic64_store(&pool->least_page, needs->alignment);
    }
    return needs->size >= threshold_of(pool, needs->alignment) &&
           (needs->memoryTypeBits & (1u << pool->type_index)) != 0 &&
           needs->size < MAAR_RANGE_MAX_SIZE;
}

/* Address space for an object; VK_NOT_READY: there is none left, told, and the object goes to the
 * pool's other blocks. */
static VkResult take_page_space(MaarAllocator allocator, const char* call,
                                const MaarAllocationCreateInfo* info, VkDeviceSize size)
{
    const bool strict = (info->flags & MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT) != 0;
    const VkResult result = maar_paging_take_space(
        allocator, call, size, strict ? NULL : "; the object goes to the pool's other blocks");
    return result == VK_SUCCESS || strict ? result : VK_NOT_READY;
}

/* Everything but the object: slot, table, pages, and the rest of the address space, of which so
 * much was taken already. The table's info says which object. */
static VkResult stitch(MaarAllocator allocator, const char* call, const MaarMemoryRequest* request,
                       const MaarAllocationCreateInfo* info, VkDeviceSize taken,
                       struct maar_page_table_info* table_info, MaarAllocation* allocation)
{
    const VkMemoryRequirements* needs = &request->requirements;
    const VkDeviceSize page_bytes = maar_align_up(needs->size, needs->alignment);
    struct maar_stitched stitched;
    struct maar_page_table* table = NULL;
    table_info->call = call;
    table_info->page_size = needs->alignment;
    table_info->type_bits = needs->memoryTypeBits;
    table_info->kind = request->kind;
    table_info->memory = info;
    table_info->size = needs->size;
    const VkDeviceSize rest = page_bytes > taken ? page_bytes - taken : 0;
    VkResult result = take_page_space(allocator, call, info, rest);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_stitched_prepare(maar_pool_of(info->pool), request, info, &stitched);
    if (result != VK_SUCCESS) {
        goto return_space;
    }
    result = maar_page_table_create(allocator, table_info, &table);
    if (result != VK_SUCCESS) {
        goto discard;
    }
    const struct maar_page_range all = {.table = table, .count = maar_page_table_count(table)};
    result = maar_pages_commit(allocator, call, 1, &all);
    if (result != VK_SUCCESS) {
        goto destroy_table;
    }
    maar_paging_add_count(allocator, MAAR_COUNT_STITCHED, 1);
    if (maar_page_table_runs(table, 0, NULL) > 1) {
        maar_paging_add_count(allocator, MAAR_COUNT_STITCHED_MADE, 1);
    }
    *allocation = maar_stitched_publish(&stitched, table, page_bytes);
    return VK_SUCCESS;

destroy_table:
    (void)maar_page_table_seal(table);
    maar_page_table_destroy(table);
discard:
    maar_stitched_discard(&stitched);
return_space:
    maar_paging_return_space(allocator, rest);
    return result;
}

VkResult maar_create_stitched_buffer(MaarAllocator allocator, const char* call,
                                     const VkBufferCreateInfo* buffer_info,
                                     const MaarAllocationCreateInfo* info, VkBuffer* buffer,
                                     MaarAllocation* allocation)
{
    const struct maar_device* device = &allocator->device;
    struct maar_pool* pool = maar_pool_of(info->pool);
    VkResult result = check_pool(allocator, call, info);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (has_external_link(buffer_info->pNext,
                          VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO)) {
        return maar_misuse(allocator, call,
                           "pBufferInfo is for external memory, and the pool is one of pages, "
                           "which are never exported");
    }
    if (is_surely_small(pool, buffer_info->size) ||
        (buffer_info->flags & VK_BUFFER_CREATE_PROTECTED_BIT) != 0) {
        return VK_INCOMPLETE;
    }
    VkBufferCreateInfo sparse = *buffer_info;
    sparse.flags |= VK_BUFFER_CREATE_SPARSE_BINDING_BIT;
    /* Before it is made: that alone may exceed what there is. */
    result = take_page_space(allocator, call, info, sparse.size);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_lock_rank_expect_none();
    result = device->vkCreateBuffer(device->handle, &sparse, device->callbacks, buffer);
    if (result != VK_SUCCESS) {
        *buffer = VK_NULL_HANDLE;
        maar_paging_return_space(allocator, sparse.size);
        return result;
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, *buffer, &request);
    result = VK_INCOMPLETE;
    if (is_for_pages(pool, &request.requirements)) {
        struct maar_page_table_info table = {.target = MAAR_PAGES_BUFFER, .buffer = *buffer};
        result = stitch(allocator, call, &request, info, sparse.size, &table, allocation);
    }
    if (result != VK_SUCCESS) {
        device->vkDestroyBuffer(device->handle, *buffer, device->callbacks);
        maar_paging_return_space(allocator, sparse.size);
        *buffer = VK_NULL_HANDLE;
    }
    return result;
}

/* Whether the device makes such an image with VK_IMAGE_CREATE_SPARSE_BINDING_BIT. */
static bool can_be_sparse(MaarAllocator allocator, const VkImageCreateInfo* info)
{
    const struct maar_device* device = &allocator->device;
    const VkPhysicalDeviceImageFormatInfo2 question = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .format = info->format,
        .type = info->imageType,
        .tiling = info->tiling,
        .usage = info->usage,
        .flags = info->flags,
    };
    VkImageFormatProperties2 answer = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
    maar_lock_rank_expect_none();
    if (device->vkGetPhysicalDeviceImageFormatProperties2(device->physical, &question, &answer) !=
        VK_SUCCESS) {
        return false;
    }
    const VkImageFormatProperties* most = &answer.imageFormatProperties;
    return info->extent.width <= most->maxExtent.width &&
           info->extent.height <= most->maxExtent.height &&
           info->extent.depth <= most->maxExtent.depth && info->mipLevels <= most->maxMipLevels &&
           info->arrayLayers <= most->maxArrayLayers &&
           (most->sampleCounts & (VkSampleCountFlags)info->samples) != 0;
}

static bool is_image_for_pages(MaarAllocator allocator, const VkImageCreateInfo* sparse)
{
    if (sparse->tiling != VK_IMAGE_TILING_OPTIMAL ||
        (sparse->usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) != 0 ||
        (sparse->flags & VK_IMAGE_CREATE_PROTECTED_BIT) != 0) {
        return false;
    }
    return can_be_sparse(allocator, sparse);
}

VkResult maar_create_stitched_image(MaarAllocator allocator, const char* call,
                                    const VkImageCreateInfo* image_info,
                                    const MaarAllocationCreateInfo* info, VkImage* image,
                                    MaarAllocation* allocation)
{
    const struct maar_device* device = &allocator->device;
    struct maar_pool* pool = maar_pool_of(info->pool);
    VkResult result = check_pool(allocator, call, info);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (has_external_link(image_info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO)) {
        return maar_misuse(allocator, call,
                           "pImageInfo is for external memory, and the pool is one of pages, "
                           "which are never exported");
    }
    VkImageCreateInfo sparse = *image_info;
    sparse.flags |= VK_IMAGE_CREATE_SPARSE_BINDING_BIT;
    MaarMemoryRequest request;
    VkDeviceSize taken = 0;
    if (!is_image_for_pages(allocator, &sparse)) {
        return VK_INCOMPLETE;
    }
    /* Where that takes no object, ask before one is made. */
    if (device->facts.maintenance4) {
        if (maar_image_info_request(allocator, &sparse, &request) != VK_SUCCESS ||
            !is_for_pages(pool, &request.requirements)) {
            return VK_INCOMPLETE;
        }
        taken = request.requirements.size;
        result = take_page_space(allocator, call, info, taken);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    maar_lock_rank_expect_none();
    result = device->vkCreateImage(device->handle, &sparse, device->callbacks, image);
    if (result != VK_SUCCESS) {
        *image = VK_NULL_HANDLE;
        maar_paging_return_space(allocator, taken);
        return result;
    }
    maar_image_request(allocator, *image, MAAR_RESOURCE_KIND_OPTIMAL, 0, &request);
    result = VK_INCOMPLETE;
    if (is_for_pages(pool, &request.requirements)) {
        struct maar_page_table_info table = {.target = MAAR_PAGES_OPAQUE, .image = *image};
        result = stitch(allocator, call, &request, info, taken, &table, allocation);
    }
    if (result != VK_SUCCESS) {
        device->vkDestroyImage(device->handle, *image, device->callbacks);
        maar_paging_return_space(allocator, taken);
        *image = VK_NULL_HANDLE;
    }
    return result;
}
