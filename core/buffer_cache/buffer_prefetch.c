/*
 * Prefetches of a buffer cache: items that will be used are brought into memory early, as far as
 * that costs nothing which is needed sooner.
 */
#include "core/buffer_cache/buffer_room.h"
#include "core/buffer_cache/buffer_uploads.h"
#include "core/buffer_cache/buffer_use.h"

/* Returns whether the staging memory has room for the begin of an item, and the limit of the call
 * for all of it. uploads: that wait already. */
static bool has_upload_room(const struct maar_buffer_cache* cache, uint32_t number,
                            VkDeviceSize most, uint64_t uploads, const MaarBufferUseInfo* answer)
{
    const struct maar_upload_slots* staging = &cache->staging;
    const VkDeviceSize size = cache->items[number].item.size;
    if (most > 0 && (answer->uploadSize > most || size > most - answer->uploadSize)) {
        return false;
    }
    return cache->fill == NULL || uploads < staging->count - staging->used;
}

/* Brings items into memory, one after another, until one has no room. */
static VkResult bring_early(struct maar_buffer_cache* cache, const char* call,
                            const MaarBufferPrefetch* info, MaarBufferUseInfo* answer)
{
    VkResult result = VK_SUCCESS;
    uint64_t uploads = 0;
    for (uint32_t i = cache->queues[MAAR_QUEUE_OF_PREFETCHES].first; i != MAAR_NO_ITEM;
         i = cache->items[i].next) {
        uploads += maar_item_upload_count(cache, i);
    }
    for (uint32_t i = 0; i < info->itemCount && result == VK_SUCCESS; ++i) {
        const uint32_t number = info->pItems[i];
        const struct maar_cache_item* item = &cache->items[number];
        if (item->state == MAAR_ITEM_RESIDENT || item->state == MAAR_ITEM_UPLOADING) {
            ++answer->hitCount;
            continue;
        }
        if (!has_upload_room(cache, number, info->maxSize, uploads, answer)) {
            break;
        }
        struct maar_room_request request = {.count = 1, .numbers = &number, .is_hint = true};
        if (!maar_item_has_pages(item)) {
            /* It may itself have given pages back in this call: these must be free first. */
            result = cache->held_pages > 0 ? maar_room_submit(cache, call) : VK_SUCCESS;
        }
        if (result == VK_SUCCESS && !maar_item_has_pages(item)) {
            result = maar_room_make(cache, call, &request);
            answer->evictedSize += request.evicted_size;
        }
        if (request.is_refused) {
            break;
        }
        if (result == VK_SUCCESS) {
            maar_uploads_want(cache, number, MAAR_QUEUE_OF_PREFETCHES);
            uploads += maar_item_upload_count(cache, number);
            answer->uploadSize += item->item.size;
            ++answer->missCount;
        }
    }
    return result;
}

static VkResult check_prefetch(struct maar_buffer_cache* cache, const char* call,
                               const MaarBufferPrefetch* info)
{
    const VkResult result = maar_check_structure(cache->allocator, call, "pPrefetch", info,
                                                 MAAR_STRUCTURE_TYPE_BUFFER_PREFETCH);
    return result == VK_SUCCESS ? maar_check_items(cache, call, info->itemCount, info->pItems)
                                : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarPrefetchBufferItems(MaarAllocator allocator,
                                                       MaarBufferCache cache,
                                                       const MaarBufferPrefetch* pPrefetch,
                                                       MaarBufferUseInfo* pInfo)
{
    struct maar_buffer_cache* it = NULL;
    VkResult result = maar_check_buffer_cache(allocator, __func__, cache, &it);
    if (result == VK_SUCCESS) {
        result = maar_use_answer_begin(it, __func__, pInfo);
    }
    if (result == VK_SUCCESS) {
        result = check_prefetch(it, __func__, pPrefetch);
    }
    if (result == VK_SUCCESS) {
        result = maar_uploads_complete(it);
    }
    if (result == VK_SUCCESS) {
        result = maar_room_submit(it, __func__);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarBufferUseInfo unwanted = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO};
    MaarBufferUseInfo* answer = pInfo != NULL ? pInfo : &unwanted;
    for (uint32_t i = 0; i < pPrefetch->itemCount; ++i) {
        const uint64_t distance = pPrefetch->distance;
        maar_policy_expect(it->policy, pPrefetch->pItems[i],
                           distance < UINT64_MAX - i ? distance + i : UINT64_MAX);
    }
    result = bring_early(it, __func__, pPrefetch, answer);
    /* What was listed before a failure is filled too. */
    VkResult rest = maar_room_submit(it, __func__);
    if (rest == VK_SUCCESS && it->fill != NULL) {
        rest = maar_uploads_fill(it, __func__, false);
    } else if (rest != VK_SUCCESS && it->fill != NULL) {
        maar_uploads_give_up(it);
    }
    result = result == VK_SUCCESS ? rest : result;
    for (uint32_t i = 0; i < pPrefetch->itemCount && result == VK_SUCCESS; ++i) {
        maar_use_answer_item(it, pPrefetch->pItems[i], answer);
    }
    maar_buffer_cache_verify(it);
    return result;
}
