/*
 * The common functions of buffer caches: the checks of handles and numbers, and what the sums and
 * the policy know of items.
 */
#include "core/buffer_cache/buffer_cache_state.h"

#include "core/memory/allocator_state.h"

VkResult maar_check_buffer_cache(MaarAllocator allocator, const char* call, MaarBufferCache cache,
                                 struct maar_buffer_cache** found)
{
    void* object = NULL;
    const VkResult result = maar_object_enter(allocator, call, "cache", MAAR_OBJECT_BUFFER_CACHE,
                                              MAAR_TO_BITS(cache), &object);
    *found = object;
    return result;
}

struct maar_item_standing maar_item_before(const struct maar_cache_item* item)
{
    return (struct maar_item_standing){maar_item_has_pages(item), maar_item_is_pinned(item)};
}

void maar_item_after(struct maar_buffer_cache* cache, uint32_t number,
                     struct maar_item_standing before)
{
    const struct maar_cache_item* item = &cache->items[number];
    const struct maar_item_standing now = maar_item_before(item);
    if (now.is_pinned && !before.is_pinned) {
        maar_policy_pin(cache->policy, number);
    }
    if (now.has_pages != before.has_pages) {
        maar_policy_set_resident(cache->policy, number, now.has_pages);
        cache->committed_pages += now.has_pages ? item->page_count : 0;
        cache->committed_pages -= now.has_pages ? 0 : item->page_count;
    }
    if (!now.is_pinned && before.is_pinned) {
        maar_policy_unpin(cache->policy, number);
    }
    cache->pinned_pages += now.has_pages && now.is_pinned ? item->page_count : 0;
    cache->pinned_pages -= before.has_pages && before.is_pinned ? item->page_count : 0;
}

void maar_item_set_state(struct maar_buffer_cache* cache, uint32_t number,
                         enum maar_item_state state)
{
    struct maar_cache_item* item = &cache->items[number];
    const struct maar_item_standing before = maar_item_before(item);
    cache->info.residentCount += state == MAAR_ITEM_RESIDENT ? 1 : 0;
    cache->info.residentCount -= item->state == MAAR_ITEM_RESIDENT ? 1 : 0;
    item->state = state;
    maar_item_after(cache, number, before);
}

VkResult maar_check_items(const struct maar_buffer_cache* cache, const char* call, uint32_t count,
                          const uint32_t* numbers)
{
    if (count > 0 && numbers == NULL) {
        return maar_misuse(cache->allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call,
                           "the array of items is NULL");
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (numbers[i] >= cache->item_count || cache->items[numbers[i]].state == MAAR_ITEM_NONE) {
            return maar_fail(cache->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                             MAAR_MESSAGE_ID_UNKNOWN_ITEM, call,
                             "the item with index %u in the array has the number %u, which no item "
                             "of the cache has",
                             i, numbers[i]);
        }
    }
    return VK_SUCCESS;
}
