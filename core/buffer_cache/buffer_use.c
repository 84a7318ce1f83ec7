/*
 * Uses of a buffer cache: around a submission, its items are present and pinned.
 */
#include "core/buffer_cache/buffer_use.h"

#include "core/bound_check.h"
#include "core/buffer_cache/buffer_room.h"
#include "core/buffer_cache/buffer_uploads.h"
#include "core/time/retire.h"

/* ---- answers ---- */

VkResult maar_use_answer_begin(const struct maar_buffer_cache* cache, const char* call,
                               MaarBufferUseInfo* answer)
{
    if (answer == NULL) {
        return VK_SUCCESS;
    }
    const VkResult result = maar_check_structure(cache->allocator, call, "pInfo", answer,
                                                 MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO);
    if (result == VK_SUCCESS) {
        *answer = (MaarBufferUseInfo){.sType = answer->sType, .pNext = answer->pNext};
    }
    return result;
}

void maar_use_answer_item(const struct maar_buffer_cache* cache, uint32_t number,
                          MaarBufferUseInfo* answer)
{
    const struct maar_cache_item* item = &cache->items[number];
    if (item->state == MAAR_ITEM_UPLOADING) {
        answer->pendingSize += item->item.size - item->submitted;
    }
    if (item->values[0] > answer->wait.value) {
        answer->mustWait = VK_TRUE;
        answer->wait = (MaarPoint){cache->copies.timeline, item->values[0]};
    }
}

/* ---- the list of uses ---- */

/* Takes a free use with room for some items. Returns NULL if there is no host memory. */
static struct maar_item_use* open_use(struct maar_buffer_cache* cache, uint32_t capacity)
{
    const VkAllocationCallbacks* callbacks = cache->allocator->callbacks;
    if (cache->free_use == UINT32_MAX) {
        struct maar_item_use* grown = maar_host_grow(callbacks, cache->uses, &cache->use_capacity,
                                                     cache->use_count + 1, sizeof grown[0]);
        if (grown == NULL) {
            return NULL;
        }
        cache->uses = grown;
        cache->uses[cache->use_count].next_free = UINT32_MAX;
        cache->free_use = cache->use_count++;
    }
    struct maar_item_use* use = &cache->uses[cache->free_use];
    uint32_t* items =
        maar_host_grow(callbacks, use->items, &use->capacity, capacity, sizeof items[0]);
    if (items == NULL) {
        return NULL;
    }
    use->items = items;
    cache->free_use = use->next_free;
    ++use->generation;
    return use;
}

/* Unpins the items of a use, and gives it back. */
static void close_use(struct maar_buffer_cache* cache, struct maar_item_use* use)
{
    for (uint32_t i = 0; i < use->count; ++i) {
        struct maar_cache_item* item = &cache->items[use->items[i]];
        const struct maar_item_standing before = maar_item_before(item);
        --item->use_count;
        maar_item_after(cache, use->items[i], before);
    }
    cache->info.pinCount -= use->count;
    use->count = 0;
    use->next_free = cache->free_use;
    cache->free_use = (uint32_t)(use - cache->uses);
}

/* Pins the items of a use, each once. */
static void pin_items(struct maar_buffer_cache* cache, struct maar_item_use* use, uint32_t count,
                      const uint32_t* numbers)
{
    ++cache->stamp;
    for (uint32_t i = 0; i < count; ++i) {
        struct maar_cache_item* item = &cache->items[numbers[i]];
        if (item->stamp == cache->stamp) {
            continue;
        }
        const struct maar_item_standing before = maar_item_before(item);
        item->stamp = cache->stamp;
        ++item->use_count;
        maar_item_after(cache, numbers[i], before);
        use->items[use->count++] = numbers[i];
    }
    cache->info.pinCount += use->count;
}

/* Returns the use that a number names, or NULL after a report. */
static struct maar_item_use* find_use(struct maar_buffer_cache* cache, const char* call,
                                      uint64_t number)
{
    const uint32_t index = (uint32_t)number;
    if (index >= cache->use_count || cache->uses[index].generation != number >> 32 ||
        cache->uses[index].count == 0) {
        (void)maar_fail(cache->allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_STALE_USE,
                        call, "use %llu has ended already, or never began",
                        (unsigned long long)number);
        return NULL;
    }
    return &cache->uses[index];
}

/* ---- begin ---- */

/* What the items of a use need. */
struct use_needs {
    uint64_t pages;
    uint64_t uploads;
    VkDeviceSize bytes;
    uint32_t missing;
    bool waits; /* for the end of cancelled uploads */
};

static struct use_needs sum_needs(const struct maar_buffer_cache* cache,
                                  const struct maar_item_use* use)
{
    struct use_needs needs = {.pages = 0};
    for (uint32_t i = 0; i < use->count; ++i) {
        const struct maar_cache_item* item = &cache->items[use->items[i]];
        if (item->state != MAAR_ITEM_RESIDENT) {
            needs.uploads += maar_item_upload_count(cache, use->items[i]);
        }
        if (item->state == MAAR_ITEM_ABSENT || item->state == MAAR_ITEM_UNFILLED) {
            needs.pages += item->state == MAAR_ITEM_ABSENT ? item->page_count : 0;
            needs.bytes += item->item.size;
            ++needs.missing;
        }
        needs.waits = needs.waits || (item->state == MAAR_ITEM_UPLOADING && item->is_broken);
    }
    return needs;
}

/* Returns VK_SUCCESS if the items of a use fit, or else the reason why not. */
static VkResult check_needs(struct maar_buffer_cache* cache, const char* call,
                            const struct use_needs* needs, bool may_wait, MaarBufferUseInfo* answer)
{
    if (needs->pages > 0 && needs->pages <= cache->budget_pages) {
        maar_uploads_make_room(cache, cache->budget_pages - needs->pages);
    }
    const uint64_t pages = cache->pinned_pages + needs->pages;
    if (needs->pages > 0 && pages > cache->budget_pages) {
        answer->missingSize = (pages - cache->budget_pages) * cache->reservation->page_size;
        return maar_fail(
            cache->allocator, VK_ERROR_OUT_OF_POOL_MEMORY, MAAR_MESSAGE_ID_ITEMS_TOO_LARGE, call,
            "the budget, %s, lacks %s for the items of the use and what else is pinned",
            maar_show_bytes(cache->info.budget).text, maar_show_bytes(answer->missingSize).text);
    }
    const struct maar_upload_slots* staging = &cache->staging;
    if (cache->fill != NULL && !may_wait && needs->uploads > staging->count) {
        answer->missingSize = (needs->uploads - staging->count) * staging->size;
        return maar_fail(cache->allocator, VK_ERROR_OUT_OF_POOL_MEMORY,
                         MAAR_MESSAGE_ID_ITEMS_TOO_LARGE, call,
                         "the staging memory, %s, lacks %s for the items that are missing; "
                         "MAAR_BUFFER_USE_WAIT_BIT uses it several times",
                         maar_show_bytes((uint64_t)staging->count * staging->size).text,
                         maar_show_bytes(answer->missingSize).text);
    }
    if (needs->waits ||
        (cache->fill != NULL && !may_wait && needs->uploads > staging->count - staging->used)) {
        ++cache->info.stagingWaitCount;
        return VK_NOT_READY;
    }
    return VK_SUCCESS;
}

/* Brings the items of a use into memory. They are pinned. */
static VkResult bring_items(struct maar_buffer_cache* cache, const char* call,
                            const struct maar_item_use* use, bool may_wait,
                            MaarBufferUseInfo* answer)
{
    struct maar_room_request request = {.count = use->count, .numbers = use->items};
    const struct use_needs needs = sum_needs(cache, use);
    VkResult result = check_needs(cache, call, &needs, may_wait, answer);
    if (result != VK_SUCCESS) {
        return result;
    }
    answer->missCount = needs.missing;
    answer->hitCount = use->count - needs.missing;
    answer->uploadSize = needs.bytes;
    maar_policy_use(cache->policy, use->count, use->items);
    result = maar_room_shrink(cache, call, &request.evicted_size);
    if (result == VK_SUCCESS) {
        result = maar_room_submit(cache, call);
    }
    if (result == VK_SUCCESS && needs.pages > 0) {
        result = maar_room_make(cache, call, &request);
    }
    answer->evictedSize = request.evicted_size;
    if (result == VK_SUCCESS) {
        result = maar_room_submit(cache, call);
    }
    for (uint32_t i = 0; i < use->count && result == VK_SUCCESS; ++i) {
        if (cache->items[use->items[i]].state != MAAR_ITEM_RESIDENT) {
            maar_uploads_want(cache, use->items[i], MAAR_QUEUE_OF_USES);
        }
    }
    if (result == VK_SUCCESS && cache->fill != NULL) {
        result = maar_uploads_fill(cache, call, may_wait);
    }
    return result;
}

static VkResult check_begin(struct maar_buffer_cache* cache, const char* call,
                            const MaarBufferUseBeginInfo* info)
{
    VkResult result = maar_check_structure(cache->allocator, call, "pBeginInfo", info,
                                           MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const MaarBufferUseFlags unknown = info->flags & ~(MaarBufferUseFlags)MAAR_BUFFER_USE_WAIT_BIT;
    if (unknown != 0) {
        return maar_refuse_flags(cache->allocator, call, "pBeginInfo->flags",
                                 "MaarBufferUseFlagBits", unknown);
    }
    if (info->itemCount == 0) {
        return maar_misuse(cache->allocator, MAAR_MESSAGE_ID_ZERO_SIZE, call,
                           "pBeginInfo->itemCount is 0");
    }
    return maar_check_items(cache, call, info->itemCount, info->pItems);
}

VKAPI_ATTR VkResult VKAPI_CALL maarBeginBufferUse(MaarAllocator allocator, MaarBufferCache cache,
                                                  const MaarBufferUseBeginInfo* pBeginInfo,
                                                  MaarBufferUseInfo* pInfo, uint64_t* pUse)
{
    struct maar_buffer_cache* it = NULL;
    const struct maar_output outputs[] = {
        {"pUse", pUse, sizeof *pUse},
        {0},
    };
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = maar_check_buffer_cache(allocator, __func__, cache, &it);
    }
    if (result == VK_SUCCESS) {
        result = maar_use_answer_begin(it, __func__, pInfo);
    }
    if (result == VK_SUCCESS) {
        result = check_begin(it, __func__, pBeginInfo);
    }
    if (result == VK_SUCCESS) {
        result = maar_uploads_complete(it);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarBufferUseInfo unwanted = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO};
    MaarBufferUseInfo* answer = pInfo != NULL ? pInfo : &unwanted;
    struct maar_item_use* use = open_use(it, pBeginInfo->itemCount);
    if (use == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    pin_items(it, use, pBeginInfo->itemCount, pBeginInfo->pItems);
    result = bring_items(it, __func__, use,
                         (pBeginInfo->flags & (MaarBufferUseFlags)MAAR_BUFFER_USE_WAIT_BIT) != 0,
                         answer);
    if (result != VK_SUCCESS) {
        close_use(it, use);
        maar_buffer_cache_verify(it);
        return result;
    }
    for (uint32_t i = 0; i < use->count; ++i) {
        maar_use_answer_item(it, use->items[i], answer);
    }
    it->info.hitCount += answer->hitCount;
    it->info.missCount += answer->missCount;
    ++it->info.begunCount;
    ++it->info.useCount;
    *pUse = (uint64_t)use->generation << 32 | (uint32_t)(use - it->uses);
    maar_buffer_cache_verify(it);
    return VK_SUCCESS;
}

/* ---- end ---- */

/* Finds the number of each point's timeline, adding those that are new. Returns false, and adds
 * none, if these are too many. */
static bool find_timelines(struct maar_buffer_cache* cache, uint32_t count, const MaarPoint* points,
                           uint32_t* numbers)
{
    const uint32_t known = cache->timeline_count;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t at = 0;
        while (at < cache->timeline_count && cache->timelines[at] != points[i].semaphore) {
            ++at;
        }
        if (at == MAAR_ITEM_TIMELINES) {
            cache->timeline_count = known;
            return false;
        }
        if (at == cache->timeline_count) {
            cache->timelines[cache->timeline_count++] = points[i].semaphore;
        }
        numbers[i] = at;
    }
    return true;
}

static VkResult check_end_points(struct maar_buffer_cache* cache, const char* call, uint32_t count,
                                 const MaarPoint* points)
{
    VkResult result = maar_retire_check_points(&cache->allocator->retire, call, count, points);
    if (result == VK_SUCCESS && count == 0) {
        return maar_misuse(cache->allocator, MAAR_MESSAGE_ID_ZERO_SIZE, call,
                           "pointCount is 0; maarCancelBufferUse ends a use without a submission");
    }
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        if (points[i].semaphore == VK_NULL_HANDLE) {
            return maar_misuse(cache->allocator, MAAR_MESSAGE_ID_POINT_NOT_USABLE, call,
                               "a point is of the host timeline, for which no queue can wait");
        }
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarEndBufferUse(MaarAllocator allocator, MaarBufferCache cache,
                                                uint64_t use, uint32_t pointCount,
                                                const MaarPoint* pPoints)
{
    struct maar_buffer_cache* it = NULL;
    struct maar_item_use* ended = NULL;
    uint32_t timelines[MAAR_MAX_POINTS];
    VkResult result = maar_check_buffer_cache(allocator, __func__, cache, &it);
    if (result == VK_SUCCESS) {
        result = check_end_points(it, __func__, pointCount, pPoints);
    }
    if (result == VK_SUCCESS) {
        ended = find_use(it, __func__, use);
        result = ended != NULL ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if (!find_timelines(it, pointCount, pPoints, timelines)) {
        return maar_fail(allocator, VK_ERROR_TOO_MANY_OBJECTS, MAAR_MESSAGE_ID_TOO_MANY_TIMELINES,
                         __func__, "uses of the cache ended on %u other timelines already",
                         MAAR_BUFFER_CACHE_MAX_TIMELINES);
    }
    for (uint32_t i = 0; i < ended->count; ++i) {
        struct maar_cache_item* item = &it->items[ended->items[i]];
        for (uint32_t p = 0; p < pointCount; ++p) {
            uint64_t* value = &item->values[timelines[p]];
            *value = pPoints[p].value > *value ? pPoints[p].value : *value;
        }
    }
    close_use(it, ended);
    --it->info.useCount;
    maar_buffer_cache_verify(it);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarCancelBufferUse(MaarAllocator allocator, MaarBufferCache cache,
                                               uint64_t use)
{
    struct maar_buffer_cache* it = NULL;
    if (use == 0 || maar_check_buffer_cache(allocator, __func__, cache, &it) != VK_SUCCESS) {
        return;
    }
    struct maar_item_use* ended = find_use(it, __func__, use);
    if (ended != NULL) {
        close_use(it, ended);
        --it->info.useCount;
        maar_buffer_cache_verify(it);
    }
}
