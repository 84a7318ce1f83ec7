/*
 * Room in a buffer cache: see buffer_room.h. New pages are taken while the budget allows. After
 * that, pages pass from victims to items in one submission. A device that is short of memory is
 * asked without a report first, and again, as any program asks, when there are no victims left.
 */
#include "core/buffer_cache/buffer_room.h"

#include "core/paging/bind_submit.h"
#include "core/paging/page_commit.h"

/* The victims of a call. They count as absent, and their pages are still there. */
struct victims {
    uint32_t first;
    uint32_t last;
    uint64_t page_count;
    uint64_t values[MAAR_ITEM_TIMELINES]; /* of the points of their last uses */
    uint32_t at;                          /* the next page that moves is in this victim */
    uint64_t at_page;
};

static struct maar_page_range pages_of(const struct maar_buffer_cache* cache, uint32_t number)
{
    const struct maar_cache_item* item = &cache->items[number];
    return (struct maar_page_range){
        .table = cache->reservation->table, .first = item->first_page, .count = item->page_count};
}

static VkDeviceSize bytes_of_pages(const struct maar_buffer_cache* cache, uint64_t count)
{
    return count * cache->reservation->page_size;
}

static void merge_values(uint64_t* into, const uint64_t* values)
{
    for (uint32_t i = 0; i < MAAR_ITEM_TIMELINES; ++i) {
        into[i] = values[i] > into[i] ? values[i] : into[i];
    }
}

/* Makes the next submission of binds wait for the last uses of what makes room. */
static VkResult delay_binds(struct maar_buffer_cache* cache, const char* call,
                            const uint64_t* values)
{
    MaarPoint points[MAAR_ITEM_TIMELINES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < cache->timeline_count; ++i) {
        if (values[i] > 0) {
            points[count++] = (MaarPoint){cache->timelines[i], values[i]};
        }
    }
    return count > 0 ? maar_binds_delay(cache->allocator, call, count, points) : VK_SUCCESS;
}

VkResult maar_room_submit(struct maar_buffer_cache* cache, const char* call)
{
    VkResult result = VK_SUCCESS;
    if (cache->has_binds) {
        result = maar_binds_submit(cache->allocator, call, 0, NULL, &cache->bound);
    }
    if (result == VK_SUCCESS) {
        cache->has_binds = false;
        cache->held_pages = 0;
    }
    return result;
}

/* ---- victims ---- */

static void add_victim(struct maar_buffer_cache* cache, struct victims* victims, uint32_t number)
{
    struct maar_cache_item* item = &cache->items[number];
    item->next = MAAR_NO_ITEM;
    if (victims->last != MAAR_NO_ITEM) {
        cache->items[victims->last].next = number;
    } else {
        victims->first = number;
        victims->at = number;
    }
    victims->last = number;
    victims->page_count += item->page_count;
    merge_values(victims->values, item->values);
    item->old_state = item->state;
    maar_item_set_state(cache, number, MAAR_ITEM_ABSENT);
}

/* Chooses victims for some pages. hinted: an item, or MAAR_NO_ITEM; stops when this is needed later
 * than all that is left. Returns whether enough was found. */
static bool choose_victims(struct maar_buffer_cache* cache, struct victims* victims, uint64_t pages,
                           uint32_t hinted)
{
    while (victims->page_count < pages) {
        const uint32_t victim = maar_policy_victim(cache->policy);
        if (victim == MAAR_NO_OBJECT || victim == hinted) {
            return false;
        }
        add_victim(cache, victims, victim);
    }
    return true;
}

static void put_victims_back(struct maar_buffer_cache* cache, const struct victims* victims)
{
    for (uint32_t i = victims->first; i != MAAR_NO_ITEM; i = cache->items[i].next) {
        maar_item_set_state(cache, i, cache->items[i].old_state);
    }
}

/* Gives back pages of an item. */
static void return_pages(struct maar_buffer_cache* cache, uint64_t first, uint64_t count)
{
    const struct maar_page_range range = {
        .table = cache->reservation->table, .first = first, .count = count};
    if (count > 0) {
        maar_pages_decommit(cache->allocator, 1, &range);
        cache->held_pages += count;
        cache->has_binds = true;
    }
}

/* Gives back the pages of victims that nobody has taken, and counts the evictions. */
static VkDeviceSize end_victims(struct maar_buffer_cache* cache, const struct victims* victims)
{
    bool is_taken = victims->at != victims->first;
    for (uint32_t i = victims->first; i != MAAR_NO_ITEM; i = cache->items[i].next) {
        const struct maar_cache_item* item = &cache->items[i];
        uint64_t begin = is_taken ? item->page_count : 0;
        if (i == victims->at) {
            begin = victims->at_page;
            is_taken = false;
        }
        return_pages(cache, item->first_page + begin, item->page_count - begin);
        ++cache->info.evictionCount;
    }
    const VkDeviceSize size = bytes_of_pages(cache, victims->page_count);
    cache->info.evictedSize += size;
    return size;
}

static struct victims no_victims(void)
{
    return (struct victims){.first = MAAR_NO_ITEM, .last = MAAR_NO_ITEM, .at = MAAR_NO_ITEM};
}

VkResult maar_room_shrink(struct maar_buffer_cache* cache, const char* call,
                          VkDeviceSize* evicted_size)
{
    struct victims victims = no_victims();
    if (cache->committed_pages <= cache->budget_pages) {
        return VK_SUCCESS;
    }
    (void)choose_victims(cache, &victims, cache->committed_pages - cache->budget_pages,
                         MAAR_NO_ITEM);
    const VkResult result = delay_binds(cache, call, victims.values);
    if (result != VK_SUCCESS) {
        put_victims_back(cache, &victims);
        return result;
    }
    *evicted_size += end_victims(cache, &victims);
    return VK_SUCCESS;
}

VkResult maar_room_give_back(struct maar_buffer_cache* cache, const char* call, uint32_t count,
                             const uint32_t* numbers)
{
    uint64_t values[MAAR_ITEM_TIMELINES] = {0};
    for (uint32_t i = 0; i < count; ++i) {
        if (maar_item_has_pages(&cache->items[numbers[i]])) {
            merge_values(values, cache->items[numbers[i]].values);
        }
    }
    const VkResult result = delay_binds(cache, call, values);
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        const struct maar_cache_item* item = &cache->items[numbers[i]];
        if (maar_item_has_pages(item)) {
            return_pages(cache, item->first_page, item->page_count);
            maar_item_set_state(cache, numbers[i], MAAR_ITEM_ABSENT);
        }
    }
    return result;
}

/* ---- pages for items ---- */

/* Takes new pages for the first pages of items, as far as the budget and the device allow. Returns
 * how many pages must be moved. */
static uint64_t take_fresh_pages(struct maar_buffer_cache* cache, const char* call,
                                 const struct maar_room_request* request)
{
    const uint64_t taken = cache->committed_pages + cache->held_pages;
    uint64_t allowed = cache->budget_pages > taken ? cache->budget_pages - taken : 0;
    uint64_t rest = 0;
    for (uint32_t i = 0; i < request->count; ++i) {
        struct maar_cache_item* item = &cache->items[request->numbers[i]];
        if (maar_item_has_pages(item)) {
            continue;
        }
        struct maar_page_range range = pages_of(cache, request->numbers[i]);
        range.count = range.count < allowed ? range.count : allowed;
        if (range.count > 0 &&
            maar_pages_try_commit(cache->allocator, call, 1, &range) != VK_SUCCESS) {
            ++cache->info.shortageCount;
            range.count = 0;
            allowed = 0;
        }
        cache->has_binds = cache->has_binds || range.count > 0;
        allowed -= range.count;
        item->fresh_pages = range.count;
        rest += item->page_count - range.count;
    }
    return rest;
}

/* Moves pages of victims to the rest of an item, or takes new ones where there are no victims. */
static VkResult complete_pages(struct maar_buffer_cache* cache, const char* call,
                               struct victims* victims, uint32_t number)
{
    const struct maar_cache_item* item = &cache->items[number];
    struct maar_page_range rest = pages_of(cache, number);
    rest.first += item->fresh_pages;
    rest.count -= item->fresh_pages;
    while (rest.count > 0 && victims->at != MAAR_NO_ITEM) {
        const struct maar_cache_item* from = &cache->items[victims->at];
        if (!maar_page_move(rest.table, rest.first, rest.table,
                            from->first_page + victims->at_page)) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        cache->has_binds = true;
        ++rest.first;
        --rest.count;
        if (++victims->at_page == from->page_count) {
            victims->at = from->next;
            victims->at_page = 0;
        }
    }
    if (rest.count == 0) {
        return VK_SUCCESS;
    }
    cache->has_binds = true;
    return maar_pages_commit(cache->allocator, call, 1, &rest);
}

/* Gives back what the items of a request have got: their new pages, or also those that were moved
 * to them. */
static void give_request_back(struct maar_buffer_cache* cache,
                              const struct maar_room_request* request, bool were_moved)
{
    for (uint32_t i = 0; i < request->count; ++i) {
        const struct maar_cache_item* item = &cache->items[request->numbers[i]];
        if (!maar_item_has_pages(item)) {
            return_pages(cache, item->first_page,
                         were_moved ? item->page_count : item->fresh_pages);
        }
    }
}

/* Chooses what makes room for some pages, and delays the binds until its last uses have ended.
 * Sets request->is_refused if a hint has no room. */
static VkResult find_victims(struct maar_buffer_cache* cache, const char* call,
                             struct maar_room_request* request, uint64_t pages,
                             struct victims* victims)
{
    const uint32_t hinted = request->is_hint ? request->numbers[0] : MAAR_NO_ITEM;
    if (pages > 0 && hinted != MAAR_NO_ITEM) {
        /* It takes part in the choice: if it is itself the victim, it is needed last. */
        maar_policy_set_resident(cache->policy, hinted, true);
    }
    const bool is_enough = choose_victims(cache, victims, pages, hinted);
    if (pages > 0 && hinted != MAAR_NO_ITEM) {
        maar_policy_set_resident(cache->policy, hinted, false);
    }
    request->is_refused = request->is_hint && !is_enough;
    return request->is_refused ? VK_SUCCESS : delay_binds(cache, call, victims->values);
}

VkResult maar_room_make(struct maar_buffer_cache* cache, const char* call,
                        struct maar_room_request* request)
{
    struct victims victims = no_victims();
    const uint64_t rest = take_fresh_pages(cache, call, request);
    VkResult result = find_victims(cache, call, request, rest, &victims);
    if (result != VK_SUCCESS || request->is_refused) {
        put_victims_back(cache, &victims);
        give_request_back(cache, request, false);
        return result;
    }
    for (uint32_t i = 0; i < request->count && result == VK_SUCCESS; ++i) {
        if (!maar_item_has_pages(&cache->items[request->numbers[i]])) {
            result = complete_pages(cache, call, &victims, request->numbers[i]);
        }
    }
    request->evicted_size += end_victims(cache, &victims);
    if (result != VK_SUCCESS) {
        give_request_back(cache, request, true);
        return result;
    }
    for (uint32_t i = 0; i < request->count; ++i) {
        if (!maar_item_has_pages(&cache->items[request->numbers[i]])) {
            maar_item_set_state(cache, request->numbers[i], MAAR_ITEM_UNFILLED);
        }
    }
    const VkDeviceSize committed = bytes_of_pages(cache, cache->committed_pages);
    cache->info.peakCommittedSize =
        committed > cache->info.peakCommittedSize ? committed : cache->info.peakCommittedSize;
    return VK_SUCCESS;
}
