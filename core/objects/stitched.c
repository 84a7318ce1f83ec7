/*
 * Buffers and images made of pages: the object, its page table, its pages and its slot. The object
 * is created with VK_*_CREATE_SPARSE_BINDING_BIT, without sparse residency, since all of it is
 * bound. After the pages are taken, no step can fail. So a failing call leaves no page block
 * behind.
 *
 * The driver gives the page size of each object. The pool remembers the smallest page size so far.
 * So small buffers are not created twice.
 */
#include "core/objects/stitched.h"

#include "core/chain.h"
#include "core/device_calls.h"
#include "core/memory/allocation_check.h"
#include "core/memory/export_types.h"
#include "core/memory/stitched_block.h"
#include "core/objects/captured_object.h"
#include "core/objects/object.h"
#include "core/paging/address_space.h"
#include "core/paging/page_commit.h"
#include "core/paging/paged_object.h"

/* The least size that is stitched, in pages. Rounding up to whole pages costs half a page on
 * average, which is a sixteenth of an object of this size. */
enum { THRESHOLD_PAGES = 8 };

/* An object that is being made. */
struct stitch_job {
    MaarAllocator allocator;
    const char* call;
    const MaarAllocationCreateInfo* info;
    struct maar_pool* pool;
    VkDeviceSize taken; /* address space that is held for the object */
    VkResult result;    /* the result for the caller, once a step has failed */
};

enum stitch_step {
    STITCH_STEP_DONE,
    STITCH_STEP_FAILED,  /* the call fails */
    STITCH_STEP_NO_SPACE /* the object goes to the pool's other blocks */
};

static enum stitch_step fail_step(struct stitch_job* job, VkResult result)
{
    job->result = result;
    return STITCH_STEP_FAILED;
}

static enum maar_stitch_end end_after(enum stitch_step step)
{
    return step == STITCH_STEP_NO_SPACE ? MAAR_STITCH_NO_SPACE : MAAR_STITCH_ENDED;
}

/* Returns VK_SUCCESS when the pool has what pCreateInfo requires. Otherwise reports misuse. */
static VkResult check_pool(const struct stitch_job* job)
{
    MaarAllocator allocator = job->allocator;
    const struct maar_pool* pool = job->pool;
    const MaarAllocationCreateInfo* info = job->info;
    const VkResult result = maar_check_create_info(allocator, job->call, "pCreateInfo", info);
    if (result != VK_SUCCESS) {
        return result;
    }
    const char* fault = NULL;
    if ((info->requiredFlags & ~maar_type_flags(allocator, pool->type_index)) != 0) {
        fault = "the pool's memory type lacks some of pCreateInfo->requiredFlags";
    } else if (info->memoryTypeBits != 0 &&
               (info->memoryTypeBits & (1u << pool->type_index)) == 0) {
        fault = "the pool's memory type is not among pCreateInfo->memoryTypeBits";
    } else if ((maar_export_types(allocator, info) & ~pool->export_types) != 0) {
        fault = "MaarExportInfo names handle types that the pool was not made for";
    }
    return fault == NULL ? VK_SUCCESS
                         : maar_misuse(allocator, MAAR_MESSAGE_ID_POOL_MISMATCH, job->call, fault);
}

/* Returns VK_SUCCESS when the pool can serve the request. Otherwise reports misuse. object_info:
 * the name of the argument whose pNext chain is `chain`. external: the type of the structure for
 * external memory, which the chain must not contain. */
static VkResult check_request(const struct stitch_job* job, const char* object_info,
                              const void* chain, VkStructureType external)
{
    const VkResult result = check_pool(job);
    if (result == VK_SUCCESS && maar_chain_find(chain, (int)external) != NULL) {
        maar_report(
            job->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_POOL_MISMATCH, job->call,
            "%s is for external memory, but the pool makes objects of pages, and pages are never "
            "exported",
            object_info);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return result;
}

static VkDeviceSize threshold_of(const struct maar_pool* pool, VkDeviceSize page_size)
{
    return pool->stitch_threshold != 0 ? pool->stitch_threshold : page_size * THRESHOLD_PAGES;
}

/* Returns whether a buffer is below the threshold for pages of every size seen so far. If the pool
 * has no threshold of its own, returns false as long as no page size is known. */
static bool is_surely_small(struct maar_pool* pool, VkDeviceSize size)
{
    return size < threshold_of(pool, maar_atomic64_load(&pool->least_page));
}

/* Returns whether an object with these requirements is to be made of pages of this pool. Records
 * the page size if it is the smallest so far. */
static bool is_for_pages(struct maar_pool* pool, const VkMemoryRequirements* needs)
{
    const VkDeviceSize page_size = maar_page_size(needs);
    const uint64_t least = maar_atomic64_load(&pool->least_page);
    if (least == 0 || page_size < least) {
        maar_atomic64_store(&pool->least_page, page_size);
    }
    return needs->size >= threshold_of(pool, page_size) &&
           (needs->memoryTypeBits & (1u << pool->type_index)) != 0 &&
           needs->size < MAAR_RANGE_MAX_SIZE;
}

/* Takes address space for the object. If the address space is used up, reports this. The object
 * then goes to the pool's other blocks, unless the caller forbids a fallback. */
static enum stitch_step take_page_space(struct stitch_job* job, VkDeviceSize size)
{
    const bool strict = (job->info->flags & MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT) != 0;
    const VkResult result =
        maar_paging_take_space(job->allocator, job->call, size,
                               strict ? NULL : "; the object goes to the pool's other blocks");
    if (result != VK_SUCCESS) {
        return strict ? fail_step(job, result) : STITCH_STEP_NO_SPACE;
    }
    job->taken += size;
    return STITCH_STEP_DONE;
}

/* Makes everything except the object: slot, page table and pages. Also takes the rest of the
 * address space. */
static enum stitch_step stitch(struct stitch_job* job, const MaarMemoryRequest* request,
                               struct maar_object object, MaarAllocation* allocation)
{
    MaarAllocator allocator = job->allocator;
    const VkMemoryRequirements* needs = &request->requirements;
    const VkDeviceSize page_size = maar_page_size(needs);
    const VkDeviceSize page_bytes = maar_align_up(needs->size, page_size);
    const struct maar_page_table_info table_info = {
        .target = object.image != VK_NULL_HANDLE ? MAAR_PAGES_OPAQUE : MAAR_PAGES_BUFFER,
        .buffer = object.buffer,
        .image = object.image,
        .call = job->call,
        .page_size = page_size,
        .type_bits = needs->memoryTypeBits,
        .kind = request->kind,
        .memory = job->info,
        .size = needs->size,
    };
    struct maar_stitched stitched;
    struct maar_page_table* table = NULL;
    const enum stitch_step step =
        take_page_space(job, page_bytes > job->taken ? page_bytes - job->taken : 0);
    if (step != STITCH_STEP_DONE) {
        return step;
    }
    VkResult result = maar_stitched_prepare(job->pool, request, job->info, &stitched);
    if (result != VK_SUCCESS) {
        return fail_step(job, result);
    }
    result = maar_page_table_create(allocator, &table_info, &table);
    if (result != VK_SUCCESS) {
        goto discard;
    }
    const struct maar_page_range all = {.table = table, .count = maar_page_table_count(table)};
    result = maar_pages_commit(allocator, job->call, 1, &all);
    if (result != VK_SUCCESS) {
        goto destroy_table;
    }
    maar_paging_add_count(allocator, MAAR_COUNT_STITCHED, 1);
    if (maar_page_table_runs(table, 0, NULL) > 1) {
        maar_paging_add_count(allocator, MAAR_COUNT_STITCHED_MADE, 1);
    }
    *allocation = maar_stitched_publish(&stitched, table, page_bytes);
    maar_page_table_set_allocation(table, *allocation);
    return STITCH_STEP_DONE;

destroy_table:
    (void)maar_page_table_seal(table);
    maar_page_table_destroy(table);
discard:
    maar_stitched_discard(&stitched);
    return fail_step(job, result);
}

/* Stitches an object that was just created, or destroys it. */
static enum maar_stitch_end stitch_or_discard(struct stitch_job* job,
                                              const MaarMemoryRequest* request,
                                              struct maar_object object, MaarAllocation* allocation)
{
    enum maar_stitch_end end = MAAR_STITCH_OTHERWISE;
    if (is_for_pages(job->pool, &request->requirements)) {
        const enum stitch_step step = stitch(job, request, object, allocation);
        if (step == STITCH_STEP_DONE) {
            return MAAR_STITCH_ENDED;
        }
        end = end_after(step);
    }
    maar_discard_object(job->allocator, object);
    maar_paging_return_space(job->allocator, job->taken);
    return end;
}

enum maar_stitch_end maar_create_stitched_buffer(MaarAllocator allocator, const char* call,
                                                 const VkBufferCreateInfo* buffer_info,
                                                 const MaarAllocationCreateInfo* info,
                                                 VkResult* result, VkBuffer* buffer,
                                                 MaarAllocation* allocation)
{
    const struct maar_device* device = &allocator->device;
    struct stitch_job job = {
        .allocator = allocator,
        .call = call,
        .info = info,
        .pool = maar_pool_of(allocator, info->pool),
    };
    *result = check_request(&job, "pBufferInfo", buffer_info->pNext,
                            VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    if (*result != VK_SUCCESS) {
        return MAAR_STITCH_ENDED;
    }
    if (is_surely_small(job.pool, buffer_info->size) ||
        (buffer_info->flags & VK_BUFFER_CREATE_PROTECTED_BIT) != 0) {
        return MAAR_STITCH_OTHERWISE;
    }
    VkBufferCreateInfo sparse = *buffer_info;
    sparse.flags |= VK_BUFFER_CREATE_SPARSE_BINDING_BIT;
    /* The address space is taken before the buffer is created, since the buffer alone may need more
     * than is left. */
    const enum stitch_step step = take_page_space(&job, sparse.size);
    if (step != STITCH_STEP_DONE) {
        *result = job.result;
        return end_after(step);
    }
    struct maar_object object = {0};
    maar_lock_rank_expect_none();
    *result = device->vkCreateBuffer(device->handle, &sparse, device->callbacks, &object.buffer);
    if (*result != VK_SUCCESS) {
        maar_paging_return_space(allocator, job.taken);
        return MAAR_STITCH_ENDED;
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, object.buffer, &request);
    maar_capture_buffer(allocator, object.buffer, &sparse, &request);
    const enum maar_stitch_end end = stitch_or_discard(&job, &request, object, allocation);
    *result = job.result;
    *buffer = *allocation != VK_NULL_HANDLE ? object.buffer : VK_NULL_HANDLE;
    return end;
}

/* Returns whether the device supports an image with this create info, which has
 * VK_IMAGE_CREATE_SPARSE_BINDING_BIT. */
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
    if (device->facts.missing[MAAR_FUNCTIONS_FORMATS] != NULL ||
        maar_device_image_format(device, &question, &answer) != VK_SUCCESS) {
        return false;
    }
    const VkImageFormatProperties* most = &answer.imageFormatProperties;
    return info->extent.width <= most->maxExtent.width &&
           info->extent.height <= most->maxExtent.height &&
           info->extent.depth <= most->maxExtent.depth && info->mipLevels <= most->maxMipLevels &&
           info->arrayLayers <= most->maxArrayLayers &&
           (most->sampleCounts & (VkSampleCountFlags)info->samples) != 0;
}

/* Returns whether an image may be made of pages. With VK_KHR_maintenance4, writes the image's
 * requirements to *request if the image has passed the other checks. Without this extension,
 * *request stays unchanged. */
static bool is_image_for_pages(const struct stitch_job* job, const VkImageCreateInfo* sparse,
                               MaarMemoryRequest* request)
{
    if (sparse->tiling != VK_IMAGE_TILING_OPTIMAL ||
        (sparse->usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) != 0 ||
        (sparse->flags & VK_IMAGE_CREATE_PROTECTED_BIT) != 0 ||
        !can_be_sparse(job->allocator, sparse)) {
        return false;
    }
    return !job->allocator->device.facts.maintenance4 ||
           (maar_image_info_request(job->allocator, sparse, request) == VK_SUCCESS &&
            is_for_pages(job->pool, &request->requirements));
}

enum maar_stitch_end maar_create_stitched_image(MaarAllocator allocator, const char* call,
                                                const VkImageCreateInfo* image_info,
                                                const MaarAllocationCreateInfo* info,
                                                VkResult* result, VkImage* image,
                                                MaarAllocation* allocation)
{
    const struct maar_device* device = &allocator->device;
    struct stitch_job job = {
        .allocator = allocator,
        .call = call,
        .info = info,
        .pool = maar_pool_of(allocator, info->pool),
    };
    *result = check_request(&job, "pImageInfo", image_info->pNext,
                            VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO);
    if (*result != VK_SUCCESS) {
        return MAAR_STITCH_ENDED;
    }
    VkImageCreateInfo sparse = *image_info;
    sparse.flags |= VK_IMAGE_CREATE_SPARSE_BINDING_BIT;
    MaarMemoryRequest request = {0};
    if (!is_image_for_pages(&job, &sparse, &request)) {
        return MAAR_STITCH_OTHERWISE;
    }
    const enum stitch_step step = take_page_space(&job, request.requirements.size);
    if (step != STITCH_STEP_DONE) {
        *result = job.result;
        return end_after(step);
    }
    struct maar_object object = {0};
    maar_lock_rank_expect_none();
    *result = device->vkCreateImage(device->handle, &sparse, device->callbacks, &object.image);
    if (*result != VK_SUCCESS) {
        maar_paging_return_space(allocator, job.taken);
        return MAAR_STITCH_ENDED;
    }
    maar_image_request(allocator, object.image, MAAR_RESOURCE_KIND_OPTIMAL, 0, &request);
    maar_capture_image(allocator, object.image, &sparse, &request);
    const enum maar_stitch_end end = stitch_or_discard(&job, &request, object, allocation);
    *result = job.result;
    *image = *allocation != VK_NULL_HANDLE ? object.image : VK_NULL_HANDLE;
    return end;
}
