/*
 * The heavy check of buffer caches: every sum is counted anew.
 */
#include "core/buffer_cache/buffer_cache_check.h"

#include "core/memory/allocator_state.h"
#include "core/paging/page_table.h"

/* Sums over all items. */
struct item_sums {
    uint32_t items;
    uint32_t resident;
    uint32_t queued;
    uint64_t uses;
    uint64_t committed;
    uint64_t pinned;
    uint64_t open;
};

static const char* check_item(const struct maar_buffer_cache* cache, uint32_t number,
                              struct item_sums* sums)
{
    const struct maar_cache_item* item = &cache->items[number];
    if (item->state == MAAR_ITEM_NONE) {
        return NULL;
    }
    ++sums->items;
    sums->uses += item->use_count;
    sums->open += item->open_count;
    sums->queued += item->is_queued ? 1 : 0;
    sums->resident += item->state == MAAR_ITEM_RESIDENT ? 1 : 0;
    const bool has_pages = maar_item_has_pages(item);
    sums->committed += has_pages ? item->page_count : 0;
    sums->pinned += has_pages && maar_item_is_pinned(item) ? item->page_count : 0;
    for (uint64_t page = 0; page < item->page_count; ++page) {
        if (maar_page_is_committed(cache->reservation->table, item->first_page + page) !=
            has_pages) {
            return "an item of a buffer cache has not the pages that it should have";
        }
    }
    const bool uploads = item->is_queued || item->open_count > 0;
    if (uploads != (item->state == MAAR_ITEM_UPLOADING) || item->submitted > item->begun ||
        item->begun > item->item.size) {
        return "an item of a buffer cache is in a wrong state";
    }
    return NULL;
}

static const char* check_item_queues(const struct maar_buffer_cache* cache, uint32_t queued)
{
    uint32_t listed = 0;
    for (uint32_t queue = 0; queue < MAAR_ITEM_QUEUES; ++queue) {
        uint32_t before = MAAR_NO_ITEM;
        for (uint32_t i = cache->queues[queue].first; i != MAAR_NO_ITEM;
             before = i, i = cache->items[i].next) {
            const struct maar_cache_item* item = &cache->items[i];
            if (!item->is_queued || item->queue != queue || item->previous != before ||
                ++listed > queued) {
                return "a list of a buffer cache is torn";
            }
        }
        if (cache->queues[queue].last != before) {
            return "a list of a buffer cache has another end";
        }
    }
    return listed != queued ? "an item of a buffer cache is in no list" : NULL;
}

static const char* check_staging(const struct maar_buffer_cache* cache, uint64_t open)
{
    const struct maar_upload_slots* staging = &cache->staging;
    const uint32_t free_count = maar_upload_count(staging, staging->first_free, MAAR_UPLOAD_FREE);
    const uint32_t ending = maar_upload_count(staging, cache->ending_slot, MAAR_UPLOAD_ENDING);
    return free_count != staging->count - staging->used || ending + open != staging->used
               ? "a buffer cache counts its staging memory wrong"
               : NULL;
}

const char* maar_buffer_cache_check(const struct maar_buffer_cache* cache)
{
    struct item_sums sums = {.items = 0};
    const char* broken = maar_policy_check(cache->policy);
    for (uint32_t i = 0; i < cache->item_count && broken == NULL; ++i) {
        broken = check_item(cache, i, &sums);
    }
    if (broken == NULL && (sums.committed != cache->committed_pages ||
                           sums.committed != maar_page_table_committed(cache->reservation->table) ||
                           sums.pinned != cache->pinned_pages)) {
        broken = "a buffer cache counts its pages wrong";
    }
    if (broken == NULL &&
        (sums.items != cache->info.itemCount || sums.resident != cache->info.residentCount ||
         sums.uses != cache->info.pinCount)) {
        broken = "a buffer cache counts its items wrong";
    }
    if (broken == NULL) {
        broken = check_item_queues(cache, sums.queued);
    }
    return broken == NULL ? check_staging(cache, sums.open) : broken;
}

void maar_buffer_cache_verify(struct maar_buffer_cache* cache)
{
    if ((cache->allocator->flags & MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT) != 0) {
        const char* broken = maar_buffer_cache_check(cache);
        if (broken != NULL) {
            maar_broken(cache->allocator, broken);
        }
    }
}
