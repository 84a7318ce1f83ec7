/*
 * Creates and destroys buffer caches.
 */
#include "core/bound_check.h"
#include "core/buffer_cache/buffer_room.h"
#include "core/buffer_cache/buffer_uploads.h"
#include "core/device_calls.h"
#include "core/memory/queue_index.h"
#include "core/objects/buffer.h"
#include "core/paging/page_table.h"
#include "core/paging/paging_open.h"

/* The default size of uploads: long enough that a copy of one costs no more than its bytes take on
 * the bus (4 MiB at 16 GB/s are 0.25 ms), and a file is read at its full rate. */
#define DEFAULT_UPLOAD_SIZE ((VkDeviceSize)4 << 20)
/* The default size of staging memory, and the part of the budget that it never exceeds. */
#define DEFAULT_STAGING_SIZE ((VkDeviceSize)64 << 20)
enum { STAGING_PART = 8 };
/* A multiple of this serves every copy between buffers. */
enum { UPLOAD_UNIT = 256 };

/* ---- checks ---- */

static VkResult check_cache_info(MaarAllocator allocator, const char* call,
                                 const MaarBufferCacheCreateInfo* info,
                                 struct maar_reservation** found)
{
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO);
    if (result == VK_SUCCESS) {
        result = maar_reservation_check(allocator, call, "pCreateInfo->reservation",
                                        info->reservation, true, found);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_reservation* reservation = *found;
    if (reservation->table == NULL) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT,
                         MAAR_MESSAGE_ID_RESERVATION_NOT_CACHEABLE, call,
                         "pCreateInfo->reservation grows by copies, and so has no pages that come "
                         "and go: the device or the allocator lacks sparseResidencyBuffer or a "
                         "queue that binds, or the reservation asked for copies");
    }
    const struct maar_rule rules[] = {
        {(reservation->usage & VK_BUFFER_USAGE_TRANSFER_DST_BIT) == 0,
         MAAR_MESSAGE_ID_RESERVATION_NOT_CACHEABLE,
         "pCreateInfo->reservation lacks TRANSFER_DST usage"},
        {(reservation->flags & MAAR_RESERVATION_CREATE_ALIASED_BIT) != 0,
         MAAR_MESSAGE_ID_RESERVATION_NOT_CACHEABLE, "pCreateInfo->reservation may share its pages"},
        {maar_page_table_committed(reservation->table) != 0,
         MAAR_MESSAGE_ID_RESERVATION_NOT_CACHEABLE, "pCreateInfo->reservation has committed pages"},
        {0},
    };
    const struct maar_bound bounds[] = {
        {info->budget < reservation->page_size, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->budget is less than a page",
         MAAR_SHOW_BYTES(info->budget, reservation->page_size)},
        {0},
    };
    result = maar_check_rules_and_bounds(allocator, call, rules, bounds);
    if (result == VK_SUCCESS) {
        result =
            maar_check_queue_index(allocator, call, "pCreateInfo->queueIndex", info->queueIndex);
    }
    if (result == VK_SUCCESS) {
        result =
            maar_require_functions(allocator, &allocator->device, call, MAAR_FUNCTIONS_COMMANDS);
    }
    return result == VK_SUCCESS ? maar_require_functions(allocator, &allocator->device, call,
                                                         MAAR_FUNCTIONS_SUBMISSIONS)
                                : result;
}

/* ---- making ---- */

static void note_staging_sizes(struct maar_buffer_cache* cache,
                               const MaarBufferCacheCreateInfo* info)
{
    struct maar_upload_slots* staging = &cache->staging;
    VkDeviceSize whole = info->stagingSize;
    if (whole == 0) {
        whole = info->budget / STAGING_PART;
        whole = whole < DEFAULT_STAGING_SIZE ? whole : DEFAULT_STAGING_SIZE;
    }
    whole = whole < MAAR_RANGE_MAX_SIZE ? whole : MAAR_RANGE_MAX_SIZE;
    staging->size = info->uploadSize != 0 ? info->uploadSize : DEFAULT_UPLOAD_SIZE;
    staging->size = staging->size < whole / 2 ? staging->size : whole / 2;
    staging->size = maar_align_up(staging->size > 0 ? staging->size : 1, UPLOAD_UNIT);
    staging->stride = maar_upload_stride(cache->allocator, staging->size, UPLOAD_UNIT);
    const VkDeviceSize count = whole / staging->stride;
    staging->count = count < UINT32_MAX - 1 ? (uint32_t)count : UINT32_MAX - 1;
    staging->count = staging->count < 2 ? 2 : staging->count;
}

static VkResult make_buffer_cache(struct maar_buffer_cache* cache, const char* call,
                                  const MaarBufferCacheCreateInfo* info)
{
    const VkAllocationCallbacks* callbacks = cache->allocator->callbacks;
    const uint64_t pages = maar_page_table_count(cache->reservation->table);
    const struct maar_policy_info policy = {
        .callbacks = callbacks,
        .capacity = info->budget,
    };
    note_staging_sizes(cache, info);
    cache->taken_pages =
        maar_host_calloc(callbacks, (size_t)(pages / 64 + 1), sizeof cache->taken_pages[0]);
    cache->policy = maar_policy_create(&policy);
    if (cache->taken_pages == NULL || cache->policy == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = maar_copy_stream_open(&cache->copies);
    if (result == VK_SUCCESS) {
        result = maar_upload_slots_create(&cache->staging, call, "buffer cache staging");
    }
    cache->timelines[0] = cache->copies.timeline;
    cache->timeline_count = 1;
    return result;
}

static void free_buffer_cache(struct maar_buffer_cache* cache)
{
    const VkAllocationCallbacks* callbacks = cache->allocator->callbacks;
    for (uint32_t i = 0; i < cache->use_count; ++i) {
        maar_host_free(callbacks, cache->uses[i].items);
    }
    if (cache->policy != NULL) {
        maar_policy_destroy(cache->policy);
    }
    maar_copy_stream_close(&cache->copies);
    maar_upload_slots_free(&cache->staging);
    maar_host_free(callbacks, cache->uses);
    maar_host_free(callbacks, cache->items);
    maar_host_free(callbacks, cache->taken_pages);
    maar_host_free(callbacks, cache);
}

static void end_buffer_cache(struct maar_buffer_cache* cache, const char* call)
{
    (void)maar_destroy_buffer(cache->allocator, call, cache->staging.buffer, cache->staging.memory);
    free_buffer_cache(cache);
}

static void end_leaked_buffer_cache(MaarAllocator allocator, struct maar_paged_object* object)
{
    (void)allocator;
    end_buffer_cache((struct maar_buffer_cache*)(void*)object, "maarDestroyAllocator");
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateBufferCache(MaarAllocator allocator,
                                                     const MaarBufferCacheCreateInfo* pCreateInfo,
                                                     MaarBufferCache* pCache)
{
    const struct maar_output outputs[] = {
        {"pCache", pCache, sizeof *pCache},
        {0},
    };
    struct maar_reservation* reservation = NULL;
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = check_cache_info(allocator, __func__, pCreateInfo, &reservation);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_buffer_cache* cache = maar_host_calloc(allocator->callbacks, 1, sizeof *cache);
    if (cache == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *cache = (struct maar_buffer_cache){
        .allocator = allocator,
        .reservation = reservation,
        .fill = pCreateInfo->pfnFill,
        .user_data = pCreateInfo->pUserData,
        .budget_pages = pCreateInfo->budget / reservation->page_size,
        .free_use = UINT32_MAX,
        .queues = {{MAAR_NO_ITEM, MAAR_NO_ITEM}, {MAAR_NO_ITEM, MAAR_NO_ITEM}},
        .staging = {.allocator = allocator},
        .copies = {.allocator = allocator, .queue_index = pCreateInfo->queueIndex},
        .ending_slot = MAAR_NO_UPLOAD,
        .info = {.reservation = pCreateInfo->reservation, .budget = pCreateInfo->budget},
    };
    result = maar_object_open(allocator, MAAR_OBJECT_BUFFER_CACHE, cache, &cache->listed.handle);
    if (result == VK_SUCCESS) {
        result = make_buffer_cache(cache, __func__, pCreateInfo);
    }
    if (result != VK_SUCCESS) {
        (void)maar_object_close(allocator, cache->listed.handle);
        free_buffer_cache(cache);
        return result;
    }
    reservation->in_cache = true;
    cache->listed.kind = MAAR_OBJECT_BUFFER_CACHE;
    cache->listed.end_leaked = end_leaked_buffer_cache;
    maar_paging_list(allocator, &cache->listed);
    *pCache = MAAR_FROM_BITS(MaarBufferCache, cache->listed.handle);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyBufferCache(MaarAllocator allocator, MaarBufferCache cache)
{
    struct maar_buffer_cache* it = NULL;
    if (allocator == NULL || cache == VK_NULL_HANDLE ||
        maar_check_buffer_cache(allocator, __func__, cache, &it) != VK_SUCCESS ||
        maar_object_claim(allocator, __func__, "cache", MAAR_TO_BITS(cache)) != VK_SUCCESS) {
        return;
    }
    if (it->info.useCount > 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_USE_NOT_ENDED, __func__,
                    "%u uses of the cache have neither ended nor been cancelled",
                    (unsigned)it->info.useCount);
    }
    maar_paging_unlist(allocator, &it->listed);
    it->reservation->in_cache = false;
    /* A lost device executes nothing more. */
    (void)maar_copy_stream_wait(&it->copies, it->copies.submitted);
    maar_paging_let_go(allocator, it->copies.timeline);
    end_buffer_cache(it, __func__);
}

/* ---- questions and the budget ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarGetBufferCacheInfo(MaarAllocator allocator,
                                                      MaarBufferCache cache,
                                                      MaarBufferCacheInfo* pInfo)
{
    struct maar_buffer_cache* it = NULL;
    VkResult result = maar_check_buffer_cache(allocator, __func__, cache, &it);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const MaarStructureType type = pInfo->sType;
    void* next = pInfo->pNext;
    const VkDeviceSize page = it->reservation->page_size;
    *pInfo = it->info;
    pInfo->sType = type;
    pInfo->pNext = next;
    pInfo->committedSize = it->committed_pages * page;
    pInfo->pinnedSize = it->pinned_pages * page;
    pInfo->stagingSize = it->staging.count * it->staging.size;
    pInfo->usedStagingSize = it->staging.used * it->staging.size;
    pInfo->uploadSize = it->staging.size;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSetBufferCacheBudget(MaarAllocator allocator,
                                                        MaarBufferCache cache, VkDeviceSize budget)
{
    struct maar_buffer_cache* it = NULL;
    VkResult result = maar_check_buffer_cache(allocator, __func__, cache, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (budget < it->reservation->page_size) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         __func__, "budget is %s, less than a page, which has %s",
                         maar_show_bytes(budget).text,
                         maar_show_bytes(it->reservation->page_size).text);
    }
    VkDeviceSize evicted_size = 0;
    it->info.budget = budget;
    it->budget_pages = budget / it->reservation->page_size;
    maar_policy_set_capacity(it->policy, budget);
    result = maar_room_shrink(it, __func__, &evicted_size);
    if (result == VK_SUCCESS) {
        result = maar_room_submit(it, __func__);
    }
    maar_buffer_cache_verify(it);
    return result;
}
