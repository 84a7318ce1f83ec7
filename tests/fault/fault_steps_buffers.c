/*
 * Steps: buffer caches.
 */
#include "tests/fault/fault_steps.h"

enum { ITEMS = 8, ITEM_BYTES = 131072 };

static VkResult VKAPI_CALL fill_item(void* user, uint32_t item, void* item_user,
                                     VkDeviceSize offset, VkDeviceSize size, void* data)
{
    (void)user;
    (void)item;
    (void)item_user;
    (void)offset;
    memset(data, 1, (size_t)size);
    return VK_SUCCESS;
}

/* ---- the cache ---- */

static void prepare_reservation(struct fault_context* c)
{
    VkBufferCreateInfo buffer = rig_buffer_info(ITEMS * ITEM_BYTES);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
    };
    buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    fault_warm_paging(c);
    assert_int_equal(maarCreateReservation(c->rig.allocator, &info, &c->reservation), VK_SUCCESS);
}

static VkResult create_cache(struct fault_context* c, PFN_maarFillBufferItem fill)
{
    const MaarBufferCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO,
        .reservation = c->reservation,
        .budget = (VkDeviceSize)4 * ITEM_BYTES,
        .stagingSize = (VkDeviceSize)8 * ITEM_BYTES,
        .uploadSize = ITEM_BYTES,
        .pfnFill = fill,
    };
    c->buffer_cache = (MaarBufferCache)(uintptr_t)1;
    const VkResult result = maarCreateBufferCache(c->rig.allocator, &info, &c->buffer_cache);
    assert_true((result == VK_SUCCESS) == (c->buffer_cache != VK_NULL_HANDLE));
    return result;
}

static VkResult run_create(struct fault_context* c)
{
    return create_cache(c, fill_item);
}

static void undo_create(struct fault_context* c)
{
    maarDestroyBufferCache(c->rig.allocator, c->buffer_cache);
}

static void finish_reservation(struct fault_context* c)
{
    maarDestroyReservation(c->rig.allocator, c->reservation);
    (void)maarCollect(c->rig.allocator, NULL);
}

static void finish_cache(struct fault_context* c)
{
    undo_create(c);
    finish_reservation(c);
}

static VkResult run_destroy(struct fault_context* c)
{
    undo_create(c);
    return VK_SUCCESS;
}

static void prepare_cache(struct fault_context* c)
{
    prepare_reservation(c);
    assert_int_equal(create_cache(c, fill_item), VK_SUCCESS);
}

static VkResult run_info(struct fault_context* c)
{
    MaarBufferCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO};
    return maarGetBufferCacheInfo(c->rig.allocator, c->buffer_cache, &info);
}

/* ---- items ---- */

static VkResult run_add(struct fault_context* c)
{
    MaarBufferItem items[ITEMS];
    MaarBufferCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO};
    for (uint32_t i = 0; i < ITEMS; ++i) {
        items[i] = (MaarBufferItem){.offset = i * ITEM_BYTES, .size = ITEM_BYTES};
    }
    const VkResult result =
        maarAddBufferItems(c->rig.allocator, c->buffer_cache, ITEMS, items, NULL);
    assert_int_equal(maarGetBufferCacheInfo(c->rig.allocator, c->buffer_cache, &info), VK_SUCCESS);
    assert_int_equal(info.itemCount, result == VK_SUCCESS ? ITEMS : 0);
    return result;
}

static void prepare_items(struct fault_context* c)
{
    prepare_cache(c);
    assert_int_equal(run_add(c), VK_SUCCESS);
}

static void prepare_items_by_hand(struct fault_context* c)
{
    prepare_reservation(c);
    assert_int_equal(create_cache(c, NULL), VK_SUCCESS);
    assert_int_equal(run_add(c), VK_SUCCESS);
}

static VkResult use_items(struct fault_context* c, uint32_t first)
{
    const uint32_t items[2] = {first, first + 1};
    const MaarBufferUseBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO, .itemCount = 2, .pItems = items};
    MaarBufferCacheInfo after = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO};
    c->buffer_use = 1;
    const VkResult result =
        maarBeginBufferUse(c->rig.allocator, c->buffer_cache, &info, NULL, &c->buffer_use);
    assert_true((result == VK_SUCCESS) == (c->buffer_use != 0));
    assert_int_equal(maarGetBufferCacheInfo(c->rig.allocator, c->buffer_cache, &after), VK_SUCCESS);
    assert_int_equal(after.pinCount, result == VK_SUCCESS ? 2 : 0);
    return result;
}

static VkResult run_use(struct fault_context* c)
{
    return use_items(c, 4);
}

static void undo_use(struct fault_context* c)
{
    maarCancelBufferUse(c->rig.allocator, c->buffer_cache, c->buffer_use);
}

static void prepare_use(struct fault_context* c)
{
    prepare_items(c);
    assert_int_equal(use_items(c, 0), VK_SUCCESS);
    c->timeline = rig_create_timeline(&c->rig, 1);
}

static VkResult run_end(struct fault_context* c)
{
    const MaarPoint point = {c->timeline, 1};
    return maarEndBufferUse(c->rig.allocator, c->buffer_cache, c->buffer_use, 1, &point);
}

static VkResult run_cancel_use(struct fault_context* c)
{
    undo_use(c);
    return VK_SUCCESS;
}

static void finish_use(struct fault_context* c)
{
    finish_cache(c);
    vkDestroySemaphore(c->rig.device, c->timeline, NULL);
}

/* The cache is full, and all of it makes room. */
static void prepare_full(struct fault_context* c)
{
    prepare_items(c);
    for (uint32_t i = 0; i < 4; i += 2) {
        assert_int_equal(use_items(c, i), VK_SUCCESS);
        undo_use(c);
    }
}

static VkResult run_budget(struct fault_context* c)
{
    return maarSetBufferCacheBudget(c->rig.allocator, c->buffer_cache, ITEM_BYTES);
}

static VkResult run_remove(struct fault_context* c)
{
    const uint32_t items[2] = {0, 3};
    return maarRemoveBufferItems(c->rig.allocator, c->buffer_cache, 2, items);
}

static VkResult run_item_info(struct fault_context* c)
{
    MaarBufferItemInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_ITEM_INFO};
    return maarGetBufferItemInfo(c->rig.allocator, c->buffer_cache, 3, &info);
}

static VkResult run_lock(struct fault_context* c)
{
    const uint32_t item = 2;
    return maarLockBufferItems(c->rig.allocator, c->buffer_cache, 1, &item);
}

static void prepare_locked(struct fault_context* c)
{
    prepare_full(c);
    assert_int_equal(run_lock(c), VK_SUCCESS);
}

static VkResult run_unlock(struct fault_context* c)
{
    const uint32_t item = 2;
    return maarUnlockBufferItems(c->rig.allocator, c->buffer_cache, 1, &item);
}

static VkResult run_prefetch(struct fault_context* c)
{
    const uint32_t items[2] = {5, 6};
    const MaarBufferPrefetch info = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_PREFETCH, .itemCount = 2, .pItems = items};
    return maarPrefetchBufferItems(c->rig.allocator, c->buffer_cache, &info, NULL);
}

/* ---- uploads ---- */

static VkResult run_take(struct fault_context* c)
{
    c->buffer_upload_count = FAULT_BUFFER_UPLOADS;
    return maarTakeBufferUploads(c->rig.allocator, c->buffer_cache, &c->buffer_upload_count,
                                 c->buffer_uploads);
}

static void prepare_wanted(struct fault_context* c)
{
    prepare_items_by_hand(c);
    assert_int_equal(use_items(c, 0), VK_SUCCESS);
    undo_use(c);
}

static void prepare_uploads(struct fault_context* c)
{
    prepare_wanted(c);
    assert_int_equal(run_take(c), VK_SUCCESS);
    assert_int_equal(c->buffer_upload_count, 2);
}

static VkResult run_submit(struct fault_context* c)
{
    return maarSubmitBufferUploads(c->rig.allocator, c->buffer_cache, c->buffer_upload_count,
                                   c->buffer_uploads, NULL);
}

static VkResult run_cancel(struct fault_context* c)
{
    return maarCancelBufferUploads(c->rig.allocator, c->buffer_cache, c->buffer_upload_count,
                                   c->buffer_uploads);
}

static const char buffers_are_notes[] = "takes notes in what was made with the items";

static const struct fault_step steps[] = {
    {.function = "maarCreateBufferCache",
     .prepare = prepare_reservation,
     .run = run_create,
     .undo = undo_create,
     .finish = finish_reservation,
     FAULT_PAGED},
    {.function = "maarDestroyBufferCache",
     .prepare = prepare_items,
     .run = run_destroy,
     .finish = finish_reservation,
     FAULT_PAGED},
    {.function = "maarGetBufferCacheInfo",
     .never = buffers_are_notes,
     .prepare = prepare_cache,
     .run = run_info,
     .finish = finish_cache,
     FAULT_PAGED},
    {.function = "maarSetBufferCacheBudget",
     .prepare = prepare_full,
     .run = run_budget,
     .finish = finish_cache,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarAddBufferItems",
     .prepare = prepare_cache,
     .run = run_add,
     .finish = finish_cache,
     FAULT_PAGED},
    {.function = "maarRemoveBufferItems",
     .never = buffers_are_notes,
     .prepare = prepare_full,
     .run = run_remove,
     .finish = finish_cache,
     FAULT_PAGED},
    {.function = "maarGetBufferItemInfo",
     .never = buffers_are_notes,
     .prepare = prepare_items,
     .run = run_item_info,
     .finish = finish_cache,
     FAULT_PAGED},
    {.function = "maarLockBufferItems",
     .never = buffers_are_notes,
     .prepare = prepare_full,
     .run = run_lock,
     .finish = finish_cache,
     FAULT_PAGED},
    {.function = "maarUnlockBufferItems",
     .never = buffers_are_notes,
     .prepare = prepare_locked,
     .run = run_unlock,
     .finish = finish_cache,
     FAULT_PAGED},
    {.function = "maarBeginBufferUse",
     .prepare = prepare_items,
     .run = run_use,
     .undo = undo_use,
     .finish = finish_cache,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarBeginBufferUse",
     .variant = "others make room",
     .prepare = prepare_full,
     .run = run_use,
     .undo = undo_use,
     .finish = finish_cache,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarEndBufferUse",
     .never = "keeps points in lists of fixed length",
     .prepare = prepare_use,
     .run = run_end,
     .finish = finish_use,
     FAULT_PAGED},
    {.function = "maarCancelBufferUse",
     .never = buffers_are_notes,
     .prepare = prepare_use,
     .run = run_cancel_use,
     .finish = finish_use,
     FAULT_PAGED},
    {.function = "maarPrefetchBufferItems",
     .prepare = prepare_items,
     .run = run_prefetch,
     .finish = finish_cache,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarTakeBufferUploads",
     .never = "no copy is under way whose end it would look for",
     .prepare = prepare_wanted,
     .run = run_take,
     .finish = finish_cache,
     FAULT_PAGED},
    {.function = "maarSubmitBufferUploads",
     .prepare = prepare_uploads,
     .run = run_submit,
     .finish = finish_cache,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarCancelBufferUploads",
     .never = buffers_are_notes,
     .prepare = prepare_uploads,
     .run = run_cancel,
     .finish = finish_cache,
     FAULT_PAGED},
};

const struct fault_table fault_buffer_steps = {steps, sizeof steps / sizeof steps[0]};
