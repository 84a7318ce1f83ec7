/*
 * Buffer caches: beside other items, most of which are in memory.
 */
#include "growth_cases.h"
#include "growth_reservation.h"
#include "growth_steps.h"

#include <stdlib.h>
#include <string.h>

/* Items of a use, and those beside the n of a world that come and go. */
enum { USED = 16, SPARE = 64 };

struct buffers {
    MaarReservation reservation;
    MaarBufferCache cache;
    VkSemaphore timeline;
    uint32_t next;
    uint64_t use;
    MaarBufferUpload uploads[USED];
    uint32_t upload_count;
};

static VkResult VKAPI_CALL fill(void* user, uint32_t item, void* item_user, VkDeviceSize offset,
                                VkDeviceSize size, void* data)
{
    (void)user;
    (void)item;
    (void)item_user;
    (void)offset;
    memset(data, 1, (size_t)size);
    return VK_SUCCESS;
}

static MaarReservation reserve(struct growth* growth, uint32_t pages)
{
    VkBufferCreateInfo buffer = growth_buffer(pages * GROWTH_PAGE);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
        .pBufferInfo = &buffer,
    };
    MaarReservation made = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateReservation(growth->allocator, &info, &made));
    return made;
}

static MaarBufferCache create_cache(struct growth* growth, MaarReservation reservation,
                                    uint32_t room, PFN_maarFillBufferItem filled)
{
    const MaarBufferCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO,
        .reservation = reservation,
        .budget = room * GROWTH_PAGE,
        .stagingSize = 4 * SPARE * GROWTH_PAGE,
        .uploadSize = GROWTH_PAGE,
        .pfnFill = filled,
    };
    MaarBufferCache cache = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateBufferCache(growth->allocator, &info, &cache));
    return cache;
}

static void add_item(struct growth* growth, uint32_t number)
{
    const struct buffers* buffers = growth->state;
    const MaarBufferItem item = {.offset = number * GROWTH_PAGE, .size = GROWTH_PAGE};
    GROWTH_EXPECT(maarAddBufferItems(growth->allocator, buffers->cache, 1, &item, NULL));
}

/* Begins a use of items from `first` on, of which there are n and the spare ones. */
static void begin_use(struct growth* growth, uint32_t first, uint32_t count)
{
    struct buffers* buffers = growth->state;
    uint32_t items[USED];
    for (uint32_t i = 0; i < count; ++i) {
        items[i] = (first + i) % (growth->n + SPARE);
    }
    const MaarBufferUseBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO,
        .flags = MAAR_BUFFER_USE_WAIT_BIT,
        .itemCount = count,
        .pItems = items,
    };
    GROWTH_EXPECT(
        maarBeginBufferUse(growth->allocator, buffers->cache, &begin, NULL, &buffers->use));
}

static void cancel_use(struct growth* growth)
{
    const struct buffers* buffers = growth->state;
    maarCancelBufferUse(growth->allocator, buffers->cache, buffers->use);
}

/* n items in memory, as many as fit, and some others. */
static void open_world(struct growth* growth, PFN_maarFillBufferItem filled)
{
    struct buffers* buffers = growth_create_state(growth, 1, sizeof *buffers);
    buffers->reservation = reserve(growth, growth->n + SPARE);
    buffers->cache = create_cache(growth, buffers->reservation, growth->n, filled);
    buffers->timeline = growth_create_timeline(growth);
    for (uint32_t i = 0; i < growth->n + SPARE; ++i) {
        add_item(growth, i);
    }
}

static void open_full(struct growth* growth)
{
    open_world(growth, fill);
    for (uint32_t i = 0; i < growth->n; i += USED) {
        begin_use(growth, i, USED);
        cancel_use(growth);
    }
}

static void open_by_hand(struct growth* growth)
{
    open_world(growth, NULL);
}

static void close_world(struct growth* growth)
{
    struct buffers* buffers = growth->state;
    maarDestroyBufferCache(growth->allocator, buffers->cache);
    maarDestroyReservation(growth->allocator, buffers->reservation);
    vkDestroySemaphore(growth->device, buffers->timeline, NULL);
}

/* ---- operations ---- */

static void do_use_hot(struct growth* growth, uint32_t index)
{
    struct buffers* buffers = growth->state;
    const MaarPoint point = {buffers->timeline, 1};
    (void)index;
    begin_use(growth, 0, USED);
    GROWTH_EXPECT(maarEndBufferUse(growth->allocator, buffers->cache, buffers->use, 1, &point));
}

static void do_use_rotating(struct growth* growth, uint32_t index)
{
    struct buffers* buffers = growth->state;
    (void)index;
    begin_use(growth, buffers->next++, 1);
    cancel_use(growth);
}

static void do_prefetch(struct growth* growth, uint32_t index)
{
    struct buffers* buffers = growth->state;
    const uint32_t item = buffers->next++ % (growth->n + SPARE);
    const MaarBufferPrefetch info = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_PREFETCH, .itemCount = 1, .pItems = &item};
    (void)index;
    GROWTH_EXPECT(maarPrefetchBufferItems(growth->allocator, buffers->cache, &info, NULL));
}

static void do_read(struct growth* growth, uint32_t index)
{
    const struct buffers* buffers = growth->state;
    const uint32_t item = growth_pick(growth);
    MaarBufferCacheInfo cache = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO};
    MaarBufferItemInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_ITEM_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetBufferCacheInfo(growth->allocator, buffers->cache, &cache));
    GROWTH_EXPECT(maarGetBufferItemInfo(growth->allocator, buffers->cache, item, &info));
}

static void do_lock(struct growth* growth, uint32_t index)
{
    const struct buffers* buffers = growth->state;
    const uint32_t item = growth_pick(growth);
    (void)index;
    GROWTH_EXPECT(maarLockBufferItems(growth->allocator, buffers->cache, 1, &item));
    GROWTH_EXPECT(maarUnlockBufferItems(growth->allocator, buffers->cache, 1, &item));
}

static void do_remove_and_add(struct growth* growth, uint32_t index)
{
    const struct buffers* buffers = growth->state;
    const uint32_t item = growth->n + SPARE - 1; /* it has no pages */
    (void)index;
    GROWTH_EXPECT(maarRemoveBufferItems(growth->allocator, buffers->cache, 1, &item));
    add_item(growth, item);
}

static void do_budget(struct growth* growth, uint32_t index)
{
    const struct buffers* buffers = growth->state;
    GROWTH_EXPECT(maarSetBufferCacheBudget(growth->allocator, buffers->cache,
                                           (growth->n + index % 2) * GROWTH_PAGE));
}

static void do_upload(struct growth* growth, uint32_t index)
{
    struct buffers* buffers = growth->state;
    (void)index;
    begin_use(growth, buffers->next++, 1);
    cancel_use(growth);
    buffers->upload_count = USED;
    GROWTH_EXPECT(maarTakeBufferUploads(growth->allocator, buffers->cache, &buffers->upload_count,
                                        buffers->uploads));
    GROWTH_EXPECT(maarSubmitBufferUploads(growth->allocator, buffers->cache, buffers->upload_count,
                                          buffers->uploads, NULL));
}

static void do_cancel(struct growth* growth, uint32_t index)
{
    struct buffers* buffers = growth->state;
    (void)index;
    begin_use(growth, 0, 1);
    cancel_use(growth);
    buffers->upload_count = USED;
    GROWTH_EXPECT(maarTakeBufferUploads(growth->allocator, buffers->cache, &buffers->upload_count,
                                        buffers->uploads));
    GROWTH_EXPECT(maarCancelBufferUploads(growth->allocator, buffers->cache, buffers->upload_count,
                                          buffers->uploads));
}

/* Another cache, with a reservation of its own. */
static void do_create(struct growth* growth, uint32_t index)
{
    const MaarReservation reservation = reserve(growth, USED);
    (void)index;
    maarDestroyBufferCache(growth->allocator, create_cache(growth, reservation, USED, fill));
    maarDestroyReservation(growth->allocator, reservation);
}

#define BUFFERS(case_name, function, world, does)                                                  \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = "items in memory", .n = 512,        \
        .count = 128, .open = open_##world, .operation = does, .close = close_world                \
    }

const struct growth_case growth_buffer_cache_cases[] = {
    BUFFERS("use-items-hot", "maarBeginBufferUse maarEndBufferUse", full, do_use_hot),
    BUFFERS("use-items-rotating", "maarBeginBufferUse maarCancelBufferUse", full, do_use_rotating),
    BUFFERS("prefetch-items", "maarPrefetchBufferItems", full, do_prefetch),
    BUFFERS("buffer-cache-info", "maarGetBufferCacheInfo maarGetBufferItemInfo", full, do_read),
    BUFFERS("lock-items", "maarLockBufferItems maarUnlockBufferItems", full, do_lock),
    BUFFERS("remove-items", "maarRemoveBufferItems maarAddBufferItems", full, do_remove_and_add),
    BUFFERS("buffer-cache-budget", "maarSetBufferCacheBudget", full, do_budget),
    BUFFERS("upload-items", "maarTakeBufferUploads maarSubmitBufferUploads", by_hand, do_upload),
    BUFFERS("cancel-item-uploads", "maarTakeBufferUploads maarCancelBufferUploads", by_hand,
            do_cancel),
    BUFFERS("create-buffer-cache", "maarCreateBufferCache maarDestroyBufferCache", full, do_create),
    {.name = NULL},
};
