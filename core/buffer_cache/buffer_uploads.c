/*
 * Uploads of a buffer cache: see buffer_uploads.h. Slots that are about to be submitted are in a
 * list of their own, in the order in which they were filled.
 */
#include "core/buffer_cache/buffer_uploads.h"

#include "core/buffer_cache/buffer_room.h"
#include "core/memory_order.h"

/* The number of copies in one command. They are on the stack. */
enum { COPIES_AT_ONCE = 16 };

/* Uploads for one submission. */
struct upload_batch {
    uint32_t first;
    uint32_t last;
};

static struct upload_batch no_uploads(void)
{
    return (struct upload_batch){MAAR_NO_UPLOAD, MAAR_NO_UPLOAD};
}

static struct maar_upload_slot* upload_at(struct maar_buffer_cache* cache, uint32_t index)
{
    return &cache->staging.slots[index];
}

static void add_to_batch(struct maar_buffer_cache* cache, struct upload_batch* batch,
                         struct maar_upload_slot* slot)
{
    const uint32_t index = maar_upload_index(&cache->staging, slot);
    slot->next = MAAR_NO_UPLOAD;
    if (batch->last != MAAR_NO_UPLOAD) {
        upload_at(cache, batch->last)->next = index;
    } else {
        batch->first = index;
    }
    batch->last = index;
}

/* ---- items that wait ---- */

static void enqueue_item(struct maar_buffer_cache* cache, uint32_t number,
                         enum maar_item_queue queue)
{
    struct maar_cache_item* item = &cache->items[number];
    struct maar_item_list* list = &cache->queues[queue];
    item->queue = queue;
    item->is_queued = true;
    item->previous = list->last;
    item->next = MAAR_NO_ITEM;
    if (list->last != MAAR_NO_ITEM) {
        cache->items[list->last].next = number;
    } else {
        list->first = number;
    }
    list->last = number;
}

static void dequeue_item(struct maar_buffer_cache* cache, uint32_t number)
{
    struct maar_cache_item* item = &cache->items[number];
    struct maar_item_list* list = &cache->queues[item->queue];
    if (item->previous != MAAR_NO_ITEM) {
        cache->items[item->previous].next = item->next;
    } else {
        list->first = item->next;
    }
    if (item->next != MAAR_NO_ITEM) {
        cache->items[item->next].previous = item->previous;
    } else {
        list->last = item->previous;
    }
    item->is_queued = false;
}

uint64_t maar_item_upload_count(const struct maar_buffer_cache* cache, uint32_t number)
{
    const struct maar_cache_item* item = &cache->items[number];
    const VkDeviceSize begun = item->state == MAAR_ITEM_UPLOADING ? item->begun : 0;
    const VkDeviceSize rest = item->item.size - begun;
    return rest / cache->staging.size + (rest % cache->staging.size != 0 ? 1 : 0);
}

void maar_uploads_want(struct maar_buffer_cache* cache, uint32_t number, enum maar_item_queue queue)
{
    struct maar_cache_item* item = &cache->items[number];
    if (item->state == MAAR_ITEM_UPLOADING) {
        if (item->is_queued && item->queue != queue) {
            dequeue_item(cache, number);
            enqueue_item(cache, number, queue);
        }
        return;
    }
    MAAR_DEBUG_ASSERT(item->state == MAAR_ITEM_UNFILLED);
    item->begun = 0;
    item->submitted = 0;
    item->is_broken = false;
    item->is_prefetched = queue == MAAR_QUEUE_OF_PREFETCHES;
    maar_item_set_state(cache, number, MAAR_ITEM_UPLOADING);
    enqueue_item(cache, number, queue);
}

/* Ends the uploading of an item of which no upload is left: it has its contents, or none. */
static void settle_upload(struct maar_buffer_cache* cache, uint32_t number)
{
    struct maar_cache_item* item = &cache->items[number];
    if (item->open_count > 0 || item->is_queued) {
        return;
    }
    if (item->is_broken) {
        maar_item_set_state(cache, number, MAAR_ITEM_UNFILLED);
        return;
    }
    const VkDeviceSize size = item->item.size;
    cache->info.restoredSize += item->had_contents ? size : 0;
    cache->info.prefetchedSize += item->is_prefetched ? size : 0;
    item->had_contents = true;
    maar_item_set_state(cache, number, MAAR_ITEM_RESIDENT);
}

/* Gives up the uploading of an item. */
static void break_item(struct maar_buffer_cache* cache, uint32_t number)
{
    cache->items[number].is_broken = true;
    if (cache->items[number].is_queued) {
        dequeue_item(cache, number);
    }
    settle_upload(cache, number);
}

/* ---- slots ---- */

/* Starts the next upload of a queue, or returns NULL if no item waits there or no slot is free. */
static struct maar_upload_slot* start_from(struct maar_buffer_cache* cache,
                                           enum maar_item_queue queue)
{
    const uint32_t number = cache->queues[queue].first;
    if (number == MAAR_NO_ITEM || cache->staging.first_free == MAAR_NO_UPLOAD) {
        return NULL;
    }
    struct maar_cache_item* item = &cache->items[number];
    struct maar_upload_slot* slot = maar_upload_start(&cache->staging, number);
    const VkDeviceSize rest = item->item.size - item->begun;
    slot->offset = item->begun;
    slot->size = rest < cache->staging.size ? rest : cache->staging.size;
    item->begun += slot->size;
    ++item->open_count;
    if (item->begun == item->item.size) {
        dequeue_item(cache, number);
    }
    return slot;
}

static struct maar_upload_slot* start_next(struct maar_buffer_cache* cache)
{
    struct maar_upload_slot* slot = start_from(cache, MAAR_QUEUE_OF_USES);
    return slot != NULL || cache->queues[MAAR_QUEUE_OF_USES].first != MAAR_NO_ITEM
               ? slot
               : start_from(cache, MAAR_QUEUE_OF_PREFETCHES);
}

static bool is_item_waiting(const struct maar_buffer_cache* cache)
{
    return cache->queues[MAAR_QUEUE_OF_USES].first != MAAR_NO_ITEM ||
           cache->queues[MAAR_QUEUE_OF_PREFETCHES].first != MAAR_NO_ITEM;
}

/* Gives a slot back whose upload is not submitted. */
static void cancel_slot(struct maar_buffer_cache* cache, struct maar_upload_slot* slot)
{
    const uint32_t number = slot->owner;
    maar_upload_end(&cache->staging, slot);
    --cache->items[number].open_count;
    break_item(cache, number);
}

VkResult maar_uploads_complete(struct maar_buffer_cache* cache)
{
    const VkResult result = maar_copy_stream_poll(&cache->copies);
    uint32_t* link = &cache->ending_slot;
    while (result == VK_SUCCESS && *link != MAAR_NO_UPLOAD) {
        struct maar_upload_slot* slot = upload_at(cache, *link);
        if (slot->point.value > cache->copies.completed) {
            link = &slot->next;
            continue;
        }
        *link = slot->next;
        maar_upload_end(&cache->staging, slot);
    }
    return result;
}

/* Waits for the oldest submission whose slots are not free yet. */
static VkResult wait_for_slots(struct maar_buffer_cache* cache)
{
    uint64_t oldest = cache->copies.submitted;
    for (uint32_t i = cache->ending_slot; i != MAAR_NO_UPLOAD; i = upload_at(cache, i)->next) {
        const uint64_t value = upload_at(cache, i)->point.value;
        oldest = value < oldest ? value : oldest;
    }
    ++cache->info.stagingWaitCount;
    const VkResult result = maar_copy_stream_wait(&cache->copies, oldest);
    return result == VK_SUCCESS ? maar_uploads_complete(cache) : result;
}

/* ---- submitting ---- */

static void record_buffer_copies(struct maar_buffer_cache* cache, VkCommandBuffer commands,
                                 const struct upload_batch* batch)
{
    const struct maar_device* device = &cache->allocator->device;
    VkBufferCopy copies[COPIES_AT_ONCE];
    uint32_t count = 0;
    for (uint32_t i = batch->first; i != MAAR_NO_UPLOAD; i = upload_at(cache, i)->next) {
        const struct maar_upload_slot* slot = upload_at(cache, i);
        copies[count++] = (VkBufferCopy){
            .srcOffset = maar_upload_place(&cache->staging, slot),
            .dstOffset = cache->items[slot->owner].item.offset + slot->offset,
            .size = slot->size,
        };
        if (count == COPIES_AT_ONCE || slot->next == MAAR_NO_UPLOAD) {
            device->vkCmdCopyBuffer(commands, cache->staging.buffer, cache->reservation->buffer,
                                    count, copies);
            count = 0;
        }
    }
}

/* Notes that the uploads of a batch are submitted. */
static void note_submission(struct maar_buffer_cache* cache, const struct upload_batch* batch)
{
    const MaarPoint point = {cache->copies.timeline, cache->copies.submitted};
    ++cache->info.submissionCount;
    for (uint32_t i = batch->first, next; i != MAAR_NO_UPLOAD; i = next) {
        struct maar_upload_slot* slot = upload_at(cache, i);
        struct maar_cache_item* item = &cache->items[slot->owner];
        next = slot->next;
        slot->state = MAAR_UPLOAD_ENDING;
        slot->point = point;
        maar_upload_push(&cache->staging, &cache->ending_slot, slot);
        item->values[0] = point.value;
        item->submitted += slot->size;
        cache->info.uploadedSize += slot->size;
        --item->open_count;
        settle_upload(cache, slot->owner);
    }
}

/* Submits the copies of a batch. They wait for the binds. On failure the uploads stay as they
 * are. */
static VkResult submit_batch(struct maar_buffer_cache* cache, const char* call,
                             const struct upload_batch* batch)
{
    VkResult result = maar_room_submit(cache, call);
    for (uint32_t i = batch->first; i != MAAR_NO_UPLOAD && result == VK_SUCCESS;
         i = upload_at(cache, i)->next) {
        result = maar_upload_flush(&cache->staging, call, upload_at(cache, i),
                                   upload_at(cache, i)->size);
    }
    struct maar_stream_commands* commands = NULL;
    if (result == VK_SUCCESS) {
        result = maar_copy_stream_begin(&cache->copies, &commands);
    }
    if (result == VK_SUCCESS) {
        record_buffer_copies(cache, commands->buffer, batch);
        maar_order_commands(&cache->allocator->device, commands->buffer,
                            VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
        const uint32_t wait_count = cache->bound.semaphore != VK_NULL_HANDLE ? 1 : 0;
        result = maar_copy_stream_submit(&cache->copies, commands, wait_count, &cache->bound);
    }
    if (result == VK_SUCCESS) {
        note_submission(cache, batch);
    }
    return result;
}

/* ---- filling by the program's function ---- */

static VkResult fill_upload(struct maar_buffer_cache* cache, const struct maar_upload_slot* slot)
{
    const struct maar_cache_item* item = &cache->items[slot->owner];
    maar_lock_rank_expect_none();
    return cache->fill(cache->user_data, slot->owner, item->item.pUserData, slot->offset,
                       slot->size, cache->staging.data + maar_upload_place(&cache->staging, slot));
}

void maar_uploads_make_room(struct maar_buffer_cache* cache, uint64_t pages)
{
    uint32_t number = cache->queues[MAAR_QUEUE_OF_PREFETCHES].last;
    while (number != MAAR_NO_ITEM && cache->pinned_pages > pages) {
        const struct maar_cache_item* item = &cache->items[number];
        const uint32_t previous = item->previous;
        if (item->use_count == 0 && item->lock_count == 0 && item->open_count == 0) {
            break_item(cache, number);
        }
        number = previous;
    }
}

void maar_uploads_give_up(struct maar_buffer_cache* cache)
{
    for (uint32_t i = 0; i < MAAR_ITEM_QUEUES; ++i) {
        while (cache->queues[i].first != MAAR_NO_ITEM) {
            break_item(cache, cache->queues[i].first);
        }
    }
}

static void give_up_batch(struct maar_buffer_cache* cache, const struct upload_batch* batch)
{
    for (uint32_t i = batch->first, next; i != MAAR_NO_UPLOAD; i = next) {
        next = upload_at(cache, i)->next;
        cancel_slot(cache, upload_at(cache, i));
    }
}

/* Submits a batch and waits until a slot is free. */
static VkResult make_slot_free(struct maar_buffer_cache* cache, const char* call, bool may_wait,
                               struct upload_batch* batch)
{
    VkResult result = VK_SUCCESS;
    if (batch->first != MAAR_NO_UPLOAD) {
        result = submit_batch(cache, call, batch);
        *batch = result == VK_SUCCESS ? no_uploads() : *batch;
    }
    MAAR_DEBUG_ASSERT(may_wait);
    if (result == VK_SUCCESS) {
        result = may_wait ? wait_for_slots(cache) : VK_NOT_READY;
    }
    return result;
}

VkResult maar_uploads_fill(struct maar_buffer_cache* cache, const char* call, bool may_wait)
{
    struct upload_batch batch = no_uploads();
    VkResult result = VK_SUCCESS;
    while (result == VK_SUCCESS && is_item_waiting(cache)) {
        struct maar_upload_slot* slot = start_next(cache);
        if (slot != NULL) {
            add_to_batch(cache, &batch, slot);
            result = fill_upload(cache, slot);
        } else if (cache->queues[MAAR_QUEUE_OF_USES].first != MAAR_NO_ITEM) {
            result = make_slot_free(cache, call, may_wait, &batch);
        } else {
            break;
        }
    }
    if (result == VK_SUCCESS && batch.first != MAAR_NO_UPLOAD) {
        result = submit_batch(cache, call, &batch);
    }
    if (result != VK_SUCCESS) {
        give_up_batch(cache, &batch);
        maar_uploads_give_up(cache);
    }
    return result;
}

/* ---- filling by the program ---- */

/* Checks that the program fills the uploads of a cache itself. */
static VkResult enter_uploads(MaarAllocator allocator, const char* call, MaarBufferCache cache,
                              struct maar_buffer_cache** found)
{
    const VkResult result = maar_check_buffer_cache(allocator, call, cache, found);
    return result == VK_SUCCESS && (*found)->fill != NULL
               ? maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                             "cache was created with pfnFill, which fills its uploads")
               : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarTakeBufferUploads(MaarAllocator allocator, MaarBufferCache cache,
                                                     uint32_t* pUploadCount,
                                                     MaarBufferUpload* pUploads)
{
    struct maar_buffer_cache* it = NULL;
    const uint32_t room = pUploadCount != NULL ? *pUploadCount : 0;
    VkResult result = enter_uploads(allocator, __func__, cache, &it);
    if (pUploadCount != NULL) {
        *pUploadCount = 0;
    }
    if (result == VK_SUCCESS) {
        const struct maar_rule rules[] = {
            {pUploadCount == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pUploadCount is NULL"},
            {room > 0 && pUploads == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pUploads is NULL"},
            {0},
        };
        result = maar_check_rules(allocator, __func__, rules);
    }
    if (result == VK_SUCCESS) {
        result = maar_uploads_complete(it);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    uint32_t count = 0;
    while (count < room) {
        const struct maar_upload_slot* slot = start_next(it);
        if (slot == NULL) {
            break;
        }
        pUploads[count++] = (MaarBufferUpload){
            .id = maar_upload_id(&it->staging, slot),
            .item = slot->owner,
            .pItemUserData = it->items[slot->owner].item.pUserData,
            .offset = slot->offset,
            .size = slot->size,
            .pData = it->staging.data + maar_upload_place(&it->staging, slot),
        };
    }
    *pUploadCount = count;
    maar_buffer_cache_verify(it);
    return is_item_waiting(it) ? VK_INCOMPLETE : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSubmitBufferUploads(MaarAllocator allocator,
                                                       MaarBufferCache cache, uint32_t uploadCount,
                                                       const MaarBufferUpload* pUploads,
                                                       MaarPoint* pPoint)
{
    struct maar_buffer_cache* it = NULL;
    if (pPoint != NULL) {
        *pPoint = (MaarPoint){.value = 0};
    }
    VkResult result = enter_uploads(allocator, __func__, cache, &it);
    const uint64_t* ids = pUploads != NULL ? &pUploads->id : NULL;
    if (result == VK_SUCCESS) {
        result = maar_upload_move(&it->staging, __func__, uploadCount, ids, sizeof *pUploads,
                                  MAAR_UPLOAD_RECORDED);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct upload_batch batch = no_uploads();
    for (uint32_t i = 0; i < uploadCount; ++i) {
        add_to_batch(it, &batch, upload_at(it, (uint32_t)pUploads[i].id));
    }
    if (uploadCount > 0) {
        result = submit_batch(it, __func__, &batch);
    }
    for (uint32_t i = 0; i < uploadCount && result != VK_SUCCESS; ++i) {
        upload_at(it, (uint32_t)pUploads[i].id)->state = MAAR_UPLOAD_STARTED;
    }
    if (result == VK_SUCCESS && pPoint != NULL) {
        *pPoint = (MaarPoint){it->copies.timeline, it->copies.submitted};
    }
    maar_buffer_cache_verify(it);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCancelBufferUploads(MaarAllocator allocator,
                                                       MaarBufferCache cache, uint32_t uploadCount,
                                                       const MaarBufferUpload* pUploads)
{
    struct maar_buffer_cache* it = NULL;
    VkResult result = enter_uploads(allocator, __func__, cache, &it);
    const uint64_t* ids = pUploads != NULL ? &pUploads->id : NULL;
    if (result == VK_SUCCESS) {
        result = maar_upload_move(&it->staging, __func__, uploadCount, ids, sizeof *pUploads,
                                  MAAR_UPLOAD_FREE);
    }
    for (uint32_t i = 0; i < uploadCount && result == VK_SUCCESS; ++i) {
        cancel_slot(it, upload_at(it, (uint32_t)pUploads[i].id));
    }
    if (result == VK_SUCCESS) {
        maar_buffer_cache_verify(it);
    }
    return result;
}
