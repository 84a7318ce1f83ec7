/*
 * The items of buffer caches: adding, removing, locking and describing them.
 */
#include "core/bound_check.h"
#include "core/buffer_cache/buffer_room.h"
#include "core/host_stack.h"

/* ---- checks ---- */

/* Returns the bits of pages [*page, end) that lie in one word, and moves *page behind them. */
static uint64_t next_page_bits(uint64_t* page, uint64_t end)
{
    const uint64_t shift = *page % 64;
    const uint64_t count = end - *page < 64 - shift ? end - *page : 64 - shift;
    *page += count;
    return (count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1) << shift;
}

static bool are_pages_free(const struct maar_buffer_cache* cache, uint64_t first, uint64_t count)
{
    for (uint64_t page = first; page < first + count;) {
        const uint64_t word = page / 64;
        if ((cache->taken_pages[word] & next_page_bits(&page, first + count)) != 0) {
            return false;
        }
    }
    return true;
}

static void mark_pages(struct maar_buffer_cache* cache, uint64_t first, uint64_t count, bool taken)
{
    for (uint64_t page = first; page < first + count;) {
        uint64_t* word = &cache->taken_pages[page / 64];
        const uint64_t bits = next_page_bits(&page, first + count);
        *word = taken ? *word | bits : *word & ~bits;
    }
}

static VkResult check_new_item(const struct maar_buffer_cache* cache, const char* call,
                               const MaarBufferItem* item)
{
    const VkDeviceSize size = cache->reservation->size;
    const VkDeviceSize page = cache->reservation->page_size;
    if (item->size == 0) {
        return maar_misuse(cache->allocator, MAAR_MESSAGE_ID_ZERO_SIZE, call,
                           "the size of an item is 0");
    }
    if (item->offset > size || item->size > size - item->offset) {
        return maar_refuse_range(cache->allocator, call, "offset and size of an item", item->offset,
                                 item->size, "the reservation", size);
    }
    const struct maar_bound bounds[] = {
        {item->offset % page != 0, MAAR_MESSAGE_ID_INVALID_ALIGNMENT,
         "the offset of an item does not begin a page of the reservation",
         MAAR_SHOW_MULTIPLE(item->offset, page)},
        {item->priorityClass > 7, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "the priorityClass of an item is above 7", MAAR_SHOW_LIMIT(item->priorityClass, 7)},
        {0},
    };
    return maar_check_bounds(cache->allocator, call, bounds);
}

/* ---- adding and removing ---- */

/* Adds an item. There is room in the table. */
static VkResult add_item(struct maar_buffer_cache* cache, const char* call,
                         const MaarBufferItem* info, uint32_t* number)
{
    const VkDeviceSize page = cache->reservation->page_size;
    VkResult result = check_new_item(cache, call, info);
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint64_t first = info->offset / page;
    const uint64_t count = (info->size - 1) / page + 1;
    if (!are_pages_free(cache, first, count)) {
        return maar_fail(cache->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                         MAAR_MESSAGE_ID_ITEMS_OVERLAP, call,
                         "the item at byte %llu, of %s, shares a page of %s with another one",
                         (unsigned long long)info->offset, maar_show_bytes(info->size).text,
                         maar_show_bytes(page).text);
    }
    *number = maar_policy_add(cache->policy, count * page, info->priorityClass);
    if (*number == MAAR_NO_OBJECT) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    MAAR_DEBUG_ASSERT(*number < cache->item_capacity);
    cache->items[*number] = (struct maar_cache_item){
        .item = *info,
        .first_page = first,
        .page_count = count,
        .state = MAAR_ITEM_ABSENT,
        .next = MAAR_NO_ITEM,
        .previous = MAAR_NO_ITEM,
    };
    cache->item_count = *number < cache->item_count ? cache->item_count : *number + 1;
    mark_pages(cache, first, count, true);
    ++cache->info.itemCount;
    return VK_SUCCESS;
}

/* Forgets an item without pages. */
static void forget_item(struct maar_buffer_cache* cache, uint32_t number)
{
    const struct maar_cache_item* item = &cache->items[number];
    mark_pages(cache, item->first_page, item->page_count, false);
    maar_policy_remove(cache->policy, number);
    cache->items[number] = (struct maar_cache_item){.state = MAAR_ITEM_NONE};
    --cache->info.itemCount;
}

VKAPI_ATTR VkResult VKAPI_CALL maarAddBufferItems(MaarAllocator allocator, MaarBufferCache cache,
                                                  uint32_t itemCount, const MaarBufferItem* pItems,
                                                  uint32_t* pNumbers)
{
    struct maar_buffer_cache* it = NULL;
    VkResult result = maar_check_buffer_cache(allocator, __func__, cache, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_rule rules[] = {
        {itemCount > 0 && pItems == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pItems is NULL"},
        {0},
    };
    const uint32_t most = UINT32_MAX - 1 - it->item_count;
    const struct maar_bound bounds[] = {
        {itemCount > most, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "itemCount is above the number of items that the cache can still have",
         MAAR_SHOW_LIMIT(itemCount, most)},
        {0},
    };
    result = maar_check_rules_and_bounds(allocator, __func__, rules, bounds);
    if (result != VK_SUCCESS || itemCount == 0) {
        return result;
    }
    struct maar_host_stack scratch = {.callbacks = allocator->callbacks};
    uint32_t* numbers = maar_stack_grab(&scratch, itemCount, sizeof *numbers);
    struct maar_cache_item* items =
        maar_host_grow(allocator->callbacks, it->items, &it->item_capacity,
                       it->item_count + itemCount, sizeof *items);
    it->items = items != NULL ? items : it->items;
    uint32_t added = 0;
    result = numbers == NULL || items == NULL ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
    for (uint32_t i = 0; i < itemCount && result == VK_SUCCESS; ++i) {
        result = add_item(it, __func__, &pItems[i], &numbers[i]);
        added += result == VK_SUCCESS ? 1 : 0;
    }
    for (uint32_t i = 0; i < added && result == VK_SUCCESS && pNumbers != NULL; ++i) {
        pNumbers[i] = numbers[i];
    }
    while (result != VK_SUCCESS && added > 0) {
        forget_item(it, numbers[--added]);
    }
    maar_stack_reset(&scratch);
    maar_buffer_cache_verify(it);
    return result;
}

/* Checks that items can be removed, each named once. */
static VkResult check_removal(struct maar_buffer_cache* cache, const char* call, uint32_t count,
                              const uint32_t* numbers)
{
    VkResult result = maar_check_items(cache, call, count, numbers);
    ++cache->stamp;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        struct maar_cache_item* item = &cache->items[numbers[i]];
        if (maar_item_is_pinned(item) || item->stamp == cache->stamp) {
            return maar_fail(
                cache->allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_ITEM_IN_USE, call,
                "the item %u is in a use, locked, being uploaded or named twice", numbers[i]);
        }
        item->stamp = cache->stamp;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarRemoveBufferItems(MaarAllocator allocator, MaarBufferCache cache,
                                                     uint32_t itemCount, const uint32_t* pNumbers)
{
    struct maar_buffer_cache* it = NULL;
    VkResult result = maar_check_buffer_cache(allocator, __func__, cache, &it);
    if (result == VK_SUCCESS) {
        result = check_removal(it, __func__, itemCount, pNumbers);
    }
    if (result == VK_SUCCESS) {
        result = maar_room_give_back(it, __func__, itemCount, pNumbers);
    }
    for (uint32_t i = 0; i < itemCount && result == VK_SUCCESS; ++i) {
        forget_item(it, pNumbers[i]);
    }
    if (result == VK_SUCCESS) {
        maar_buffer_cache_verify(it);
    }
    return result;
}

/* ---- questions and locks ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarGetBufferItemInfo(MaarAllocator allocator, MaarBufferCache cache,
                                                     uint32_t item, MaarBufferItemInfo* pInfo)
{
    struct maar_buffer_cache* it = NULL;
    VkResult result = maar_check_buffer_cache(allocator, __func__, cache, &it);
    if (result == VK_SUCCESS) {
        result = maar_check_items(it, __func__, 1, &item);
    }
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_BUFFER_ITEM_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_cache_item* known = &it->items[item];
    *pInfo = (MaarBufferItemInfo){
        .sType = pInfo->sType,
        .pNext = pInfo->pNext,
        .item = known->item,
        .pageBytes = known->page_count * it->reservation->page_size,
        .committed = maar_item_has_pages(known) ? VK_TRUE : VK_FALSE,
        .resident = known->state == MAAR_ITEM_RESIDENT ? VK_TRUE : VK_FALSE,
        .ready = {known->values[0] > 0 ? it->copies.timeline : VK_NULL_HANDLE, known->values[0]},
        .pinCount = known->use_count,
        .lockCount = known->lock_count,
    };
    return VK_SUCCESS;
}

/* Adds to the locks of an item. UINT32_MAX takes one back. */
static void change_locks(struct maar_buffer_cache* cache, uint32_t number, uint32_t change)
{
    struct maar_cache_item* item = &cache->items[number];
    const struct maar_item_standing before = maar_item_before(item);
    item->lock_count += change;
    maar_item_after(cache, number, before);
}

VKAPI_ATTR VkResult VKAPI_CALL maarLockBufferItems(MaarAllocator allocator, MaarBufferCache cache,
                                                   uint32_t itemCount, const uint32_t* pNumbers)
{
    struct maar_buffer_cache* it = NULL;
    VkResult result = maar_check_buffer_cache(allocator, __func__, cache, &it);
    if (result == VK_SUCCESS) {
        result = maar_check_items(it, __func__, itemCount, pNumbers);
    }
    for (uint32_t i = 0; i < itemCount && result == VK_SUCCESS; ++i) {
        change_locks(it, pNumbers[i], 1);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarUnlockBufferItems(MaarAllocator allocator, MaarBufferCache cache,
                                                     uint32_t itemCount, const uint32_t* pNumbers)
{
    struct maar_buffer_cache* it = NULL;
    VkResult result = maar_check_buffer_cache(allocator, __func__, cache, &it);
    if (result == VK_SUCCESS) {
        result = maar_check_items(it, __func__, itemCount, pNumbers);
    }
    for (uint32_t i = 0; i < itemCount && result == VK_SUCCESS; ++i) {
        if (it->items[pNumbers[i]].lock_count > 0) {
            change_locks(it, pNumbers[i], UINT32_MAX);
            continue;
        }
        result = maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                           MAAR_MESSAGE_ID_ITEM_NOT_LOCKED, __func__,
                           "pNumbers[%u] is item %u, which is not locked so often", i, pNumbers[i]);
        while (i-- > 0) {
            change_locks(it, pNumbers[i], 1);
        }
        break;
    }
    return result;
}
