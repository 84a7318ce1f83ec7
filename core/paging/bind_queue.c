/*
 * Submissions of binds: what tables have recorded becomes as few elements as can be, in one call of
 * vkQueueBindSparse on the one queue that paging uses.
 *
 * vkQueueBindSparse is ordered by semaphores alone. Each submission waits for the one before it and
 * for the caller's points, and moves Maar's own timeline by one. The turnstile lets one thread at a
 * time through; only the caller's queue lock is held across the call. What goes along is marked
 * meanwhile, since owners may change their minds: afterwards each marked entry becomes what it is.
 */
#include "core/memory/queue_lock.h"
#include "core/paging/page_state.h"

#include <string.h>

/* ---- the batch ---- */

static bool grow_array(const VkAllocationCallbacks* callbacks, void** array, uint32_t count,
                       size_t size)
{
    /* What is in it need not be kept: it is filled anew. */
    void* made = maar_host_calloc(callbacks, count, size);
    if (made == NULL) {
        return false;
    }
    maar_host_free(callbacks, *array);
    *array = made;
    return true;
}

void maar_bind_batch_free(struct maar_paging* paging)
{
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    struct maar_bind_batch* batch = &paging->batch;
    maar_host_free(callbacks, batch->binds);
    maar_host_free(callbacks, batch->tile_binds);
    maar_host_free(callbacks, batch->spans);
    maar_host_free(callbacks, batch->buffers);
    maar_host_free(callbacks, batch->opaques);
    maar_host_free(callbacks, batch->images);
    maar_host_free(callbacks, batch->tables);
    memset(batch, 0, sizeof *batch);
}

/* Room for what was counted, and some more. */
static VkResult reserve_batch(struct maar_paging* paging)
{
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    struct maar_bind_batch* batch = &paging->batch;
    bool good = true;
    if (batch->bind_count > batch->capacity) {
        const uint32_t count = batch->bind_count + batch->bind_count / 2 + 64;
        batch->capacity = 0;
        good =
            grow_array(callbacks, (void**)&batch->binds, count, sizeof batch->binds[0]) &&
            grow_array(callbacks, (void**)&batch->tile_binds, count, sizeof batch->tile_binds[0]) &&
            grow_array(callbacks, (void**)&batch->spans, count, sizeof batch->spans[0]);
        batch->capacity = good ? count : 0;
    }
    if (good && batch->table_count > batch->table_capacity) {
        const uint32_t count = batch->table_count + batch->table_count / 2 + 16;
        batch->table_capacity = 0;
        good = grow_array(callbacks, (void**)&batch->buffers, count, sizeof batch->buffers[0]) &&
               grow_array(callbacks, (void**)&batch->opaques, count, sizeof batch->opaques[0]) &&
               grow_array(callbacks, (void**)&batch->images, count, sizeof batch->images[0]) &&
               grow_array(callbacks, (void**)&batch->tables, count, sizeof(void*));
        batch->table_capacity = good ? count : 0;
    }
    return good ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* A run of changed pages that one element can say. */
struct run_walk {
    struct maar_page_table* table;
    struct maar_page_leaf* leaf; /* where the next page is */
    uint32_t at;
    uint64_t first;
    uint64_t count;
    uint64_t entry; /* of the first page */
    bool unbinds;
};

static bool entry_unbinds(uint64_t entry)
{
    return !maar_entry_has_page(entry) || (entry & MAAR_ENTRY_HELD) != 0;
}

/* Whether the page after a run belongs to it: next to it in memory, or unbound like it; tiles of
 * one row, since only these lie in memory as they do in the level. */
static bool continues(const struct run_walk* walk, uint64_t page, uint64_t entry)
{
    if (walk->count == 0 || page != walk->first + walk->count ||
        entry_unbinds(entry) != walk->unbinds) {
        return false;
    }
    if (walk->table->target == MAAR_PAGES_TILES && page % walk->table->tiles.width == 0) {
        return false;
    }
    return walk->unbinds ||
           (entry & MAAR_ENTRY_PAGE) == (walk->entry & MAAR_ENTRY_PAGE) + walk->count;
}

/* The next run of a table's dirty leaves, which are sorted; false at the end. */
static bool next_run(struct run_walk* walk)
{
    walk->count = 0;
    while (walk->leaf != NULL) {
        for (; walk->at < maar_leaf_size(walk->table, walk->leaf->number); ++walk->at) {
            const uint64_t entry = walk->leaf->entries[walk->at];
            const uint64_t page = (uint64_t)walk->leaf->number * MAAR_LEAF_PAGES + walk->at;
            if ((entry & MAAR_ENTRY_DIRTY) == 0) {
                if (walk->count > 0) {
                    return true;
                }
                continue;
            }
            if (walk->count > 0 && !continues(walk, page, entry)) {
                return true;
            }
            if (walk->count == 0) {
                walk->first = page;
                walk->entry = entry;
                walk->unbinds = entry_unbinds(entry);
            }
            ++walk->count;
        }
        walk->leaf = walk->leaf->next_dirty;
        walk->at = 0;
    }
    return walk->count > 0;
}

static void begin_walk(struct maar_page_table* table, struct run_walk* walk)
{
    memset(walk, 0, sizeof *walk);
    walk->table = table;
    walk->leaf = table->first_dirty;
}

/* Under the lock: how much there is to say. */
static void count_recorded(struct maar_paging* paging)
{
    struct maar_bind_batch* batch = &paging->batch;
    batch->bind_count = 0;
    batch->table_count = 0;
    for (struct maar_page_table* table = paging->first_dirty; table != NULL;
         table = table->next_dirty) {
        struct run_walk walk;
        maar_page_table_sort(table);
        begin_walk(table, &walk);
        while (next_run(&walk)) {
            ++batch->bind_count;
        }
        ++batch->table_count;
    }
}

static void write_plain_bind(const struct run_walk* walk, VkSparseMemoryBind* bind)
{
    const struct maar_page_table* table = walk->table;
    const VkDeviceSize offset = walk->first * table->page_size;
    VkDeviceSize size = walk->count * table->page_size;
    size = size < table->size - offset ? size : table->size - offset;
    *bind = (VkSparseMemoryBind){
        .resourceOffset = table->resource_offset + offset,
        .size = size,
        .flags = table->bind_flags,
    };
    if (!walk->unbinds) {
        bind->memory = maar_entry_block(table, walk->entry)->block->memory;
        bind->memoryOffset = maar_entry_page(walk->entry) * table->page_size;
    }
}

static uint32_t clip_tiles(uint64_t first, uint64_t count, uint32_t tile, uint32_t extent)
{
    const uint64_t begin = first * tile;
    const uint64_t end = (first + count) * tile;
    return (uint32_t)((end < extent ? end : extent) - begin);
}

static void write_tile_bind(const struct run_walk* walk, VkSparseImageMemoryBind* bind)
{
    const struct maar_page_table* table = walk->table;
    const uint64_t x = walk->first % table->tiles.width;
    const uint64_t y = walk->first / table->tiles.width % table->tiles.height;
    const uint64_t z = walk->first / table->tiles.width / table->tiles.height;
    *bind = (VkSparseImageMemoryBind){
        .subresource = table->subresource,
        .offset = {.x = (int32_t)(x * table->tile.width),
                   .y = (int32_t)(y * table->tile.height),
                   .z = (int32_t)(z * table->tile.depth)},
        .extent = {.width = clip_tiles(x, walk->count, table->tile.width, table->extent.width),
                   .height = clip_tiles(y, 1, table->tile.height, table->extent.height),
                   .depth = clip_tiles(z, 1, table->tile.depth, table->extent.depth)},
    };
    if (!walk->unbinds) {
        bind->memory = maar_entry_block(table, walk->entry)->block->memory;
        bind->memoryOffset = maar_entry_page(walk->entry) * table->page_size;
    }
}

/* Marks the pages of a run as under way, and their blocks as named by this submission. */
static void take_run(struct maar_paging* paging, const struct run_walk* walk)
{
    struct maar_bind_batch* batch = &paging->batch;
    for (uint64_t i = 0; i < walk->count; ++i) {
        uint64_t* entry = maar_page_entry(walk->table, walk->first + i);
        *entry = (*entry & ~MAAR_ENTRY_DIRTY) | MAAR_ENTRY_INFLIGHT;
        struct maar_page_block* block = maar_entry_block(walk->table, *entry);
        if (block != NULL && block->last_value != paging->recorded_value) {
            block->value_before = block->last_value;
            block->last_value = paging->recorded_value;
        }
    }
    paging->recorded_pages -= walk->count;
    batch->spans[batch->span_count++] = (struct maar_bind_span){
        .table = walk->table,
        .first = walk->first,
        .count = walk->count,
        .unbinds = walk->unbinds,
    };
    *(walk->unbinds ? &batch->pages_unbound : &batch->pages_bound) += walk->count;
}

/* Under the lock: what one table has recorded. */
static void take_table(struct maar_paging* paging, struct maar_page_table* table)
{
    struct maar_bind_batch* batch = &paging->batch;
    const uint32_t first_plain = batch->plain_count;
    const uint32_t first_tile = batch->tile_count;
    struct run_walk walk;
    begin_walk(table, &walk);
    while (next_run(&walk)) {
        if (table->target == MAAR_PAGES_TILES) {
            write_tile_bind(&walk, &batch->tile_binds[batch->tile_count++]);
        } else {
            write_plain_bind(&walk, &batch->binds[batch->plain_count++]);
        }
        take_run(paging, &walk);
    }
    for (struct maar_page_leaf *leaf = table->first_dirty, *next; leaf != NULL; leaf = next) {
        next = leaf->next_dirty;
        leaf->dirty = false;
        leaf->next_dirty = NULL;
    }
    table->first_dirty = NULL;
    const uint32_t plain = batch->plain_count - first_plain;
    const uint32_t tiles = batch->tile_count - first_tile;
    if (plain + tiles == 0) {
        return;
    }
    table->submitting = true;
    table->value_before = table->last_value;
    table->last_value = paging->recorded_value;
    batch->tables[batch->table_count++] = table;
    if (table->target == MAAR_PAGES_TILES) {
        batch->images[batch->image_count++] = (VkSparseImageMemoryBindInfo){
            .image = table->image, .bindCount = tiles, .pBinds = &batch->tile_binds[first_tile]};
    } else if (table->target == MAAR_PAGES_OPAQUE) {
        batch->opaques[batch->opaque_count++] = (VkSparseImageOpaqueMemoryBindInfo){
            .image = table->image, .bindCount = plain, .pBinds = &batch->binds[first_plain]};
    } else {
        batch->buffers[batch->buffer_count++] = (VkSparseBufferMemoryBindInfo){
            .buffer = table->buffer, .bindCount = plain, .pBinds = &batch->binds[first_plain]};
    }
}

/* Everything that is recorded; nothing of it is recorded afterwards. */
static VkResult take_recorded_binds(struct maar_paging* paging)
{
    struct maar_bind_batch* batch = &paging->batch;
    for (;;) {
        maar_mutex_lock(&paging->lock);
        count_recorded(paging);
        if (batch->bind_count <= batch->capacity && batch->table_count <= batch->table_capacity) {
            break;
        }
        maar_mutex_unlock(&paging->lock);
        VkResult result = reserve_batch(paging);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    batch->table_count = 0;
    batch->span_count = 0;
    batch->plain_count = 0;
    batch->tile_count = 0;
    batch->buffer_count = 0;
    batch->opaque_count = 0;
    batch->image_count = 0;
    batch->pages_bound = 0;
    batch->pages_unbound = 0;
    while (paging->first_dirty != NULL) {
        struct maar_page_table* table = paging->first_dirty;
        maar_page_table_unlist(table);
        take_table(paging, table);
    }
    if (batch->span_count > 0) {
        ++paging->recorded_value;
    }
    maar_mutex_unlock(&paging->lock);
    /* Debian 12's validation layer (1.3.239) reads as many opaque binds as there are buffers: what
     * it finds behind the last one must be none. */
    if (batch->buffer_count > batch->opaque_count) {
        memset(&batch->opaques[batch->opaque_count], 0,
               (batch->buffer_count - batch->opaque_count) * sizeof batch->opaques[0]);
    }
    return VK_SUCCESS;
}

/* What an entry has become, once its submission was made or failed. */
static void settle_entry(const struct maar_bind_span* span, uint64_t page, bool succeeded)
{
    struct maar_page_table* table = span->table;
    uint64_t* entry = maar_page_entry(table, page);
    const bool changed_since = (*entry & MAAR_ENTRY_DIRTY) != 0;
    *entry &= ~MAAR_ENTRY_INFLIGHT;
    if (succeeded) {
        *entry &= ~MAAR_ENTRY_BOUND;
        *entry |= span->unbinds ? 0 : MAAR_ENTRY_BOUND;
        *entry &= changed_since ? UINT64_MAX : ~MAAR_ENTRY_MOVED;
    }
    const bool held = (*entry & MAAR_ENTRY_HELD) != 0;
    const bool bound = (*entry & MAAR_ENTRY_BOUND) != 0;
    if (held && !bound && (*entry & MAAR_ENTRY_MOVED) == 0) {
        /* Given back, and the device does not have it (any more). */
        maar_page_drop(maar_entry_block(table, *entry), maar_entry_page(*entry), 1, false);
        table->paging->recorded_pages -= changed_since ? 1 : 0;
        *entry = 0;
        return;
    }
    if (!succeeded) {
        maar_page_mark_dirty(table, page, entry);
    }
}

/* Under the lock: nobody waits for a submission that was not made. */
static void take_value_back(struct maar_paging* paging)
{
    const uint64_t value = --paging->recorded_value;
    for (uint32_t i = 0; i < paging->batch.table_count; ++i) {
        struct maar_page_table* table = paging->batch.tables[i];
        table->last_value = table->last_value == value ? table->value_before : table->last_value;
    }
    for (uint32_t i = 0; i < paging->block_end; ++i) {
        struct maar_page_block* block = paging->blocks[i];
        if (block != NULL && block->last_value == value) {
            block->last_value = block->value_before;
        }
    }
}

static void settle_batch(struct maar_paging* paging, bool succeeded)
{
    struct maar_bind_batch* batch = &paging->batch;
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < batch->span_count; ++i) {
        const struct maar_bind_span* span = &batch->spans[i];
        for (uint64_t page = span->first; page < span->first + span->count; ++page) {
            settle_entry(span, page, succeeded);
        }
    }
    for (uint32_t i = 0; i < batch->table_count; ++i) {
        batch->tables[i]->submitting = false;
    }
    if (succeeded) {
        paging->pages_bound += batch->pages_bound;
        paging->pages_unbound += batch->pages_unbound;
        paging->bind_count += (uint64_t)batch->plain_count + batch->tile_count;
        ++paging->submission_count;
    } else {
        take_value_back(paging);
    }
    maar_mutex_unlock(&paging->lock);
}

/* ---- submitting ---- */

/* What a submission waits for. */
struct bind_waits {
    uint32_t count;
    VkSemaphore semaphores[MAAR_MOST_SUBMISSION_WAITS];
    uint64_t values[MAAR_MOST_SUBMISSION_WAITS];
};

static void add_bind_wait(struct bind_waits* waits, VkSemaphore semaphore, uint64_t value)
{
    uint32_t i = 0;
    while (i < waits->count && waits->semaphores[i] != semaphore) {
        ++i;
    }
    if (i == waits->count) {
        waits->semaphores[i] = semaphore;
        waits->values[waits->count++] = 0;
    }
    waits->values[i] = value > waits->values[i] ? value : waits->values[i];
}

static void list_waits(struct maar_paging* paging, uint32_t point_count, const MaarPoint* points,
                       struct bind_waits* waits)
{
    waits->count = 0;
    const uint64_t before = maar_atomic64_load(&paging->submitted);
    if (before > 0) {
        add_bind_wait(waits, paging->timeline, before);
    }
    for (uint32_t i = 0; i < point_count; ++i) {
        if (points[i].semaphore != VK_NULL_HANDLE) {
            add_bind_wait(waits, points[i].semaphore, points[i].value);
        }
    }
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < paging->delay_count; ++i) {
        add_bind_wait(waits, paging->delays[i].semaphore, paging->delays[i].value);
    }
    maar_mutex_unlock(&paging->lock);
}

/* A submission was made that waits for these: no later one needs to, as it waits for that one. */
static void forget_delays(struct maar_paging* paging, const struct bind_waits* waits)
{
    uint32_t kept = 0;
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < paging->delay_count; ++i) {
        const MaarPoint point = paging->delays[i];
        bool waited = false;
        for (uint32_t w = 0; w < waits->count && !waited; ++w) {
            waited = waits->semaphores[w] == point.semaphore && waits->values[w] >= point.value;
        }
        if (!waited) {
            paging->delays[kept++] = point;
        }
    }
    paging->delay_count = kept;
    maar_mutex_unlock(&paging->lock);
}

static VkResult call_bind(struct maar_paging* paging, const struct bind_waits* waits)
{
    const struct maar_device* device = &paging->allocator->device;
    const struct maar_bind_batch* batch = &paging->batch;
    const MaarQueue* queue = &paging->allocator->queues[paging->bind_queue];
    const uint64_t value = maar_atomic64_load(&paging->submitted) + 1;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits->count,
        .pWaitSemaphoreValues = waits->values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = waits->count,
        .pWaitSemaphores = waits->semaphores,
        .bufferBindCount = batch->buffer_count,
        .pBufferBinds = batch->buffers,
        .imageOpaqueBindCount = batch->opaque_count,
        .pImageOpaqueBinds = batch->opaque_count > 0 ? batch->opaques : NULL,
        .imageBindCount = batch->image_count,
        .pImageBinds = batch->images,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &paging->timeline,
    };
    maar_queue_lock(queue);
    const VkResult result = device->vkQueueBindSparse(queue->queue, 1, &info, VK_NULL_HANDLE);
    maar_queue_unlock(queue);
    if (result == VK_SUCCESS) {
        maar_atomic64_store(&paging->submitted, value);
    }
    return result;
}

static VkResult submit_binds(struct maar_paging* paging, uint32_t point_count,
                             const MaarPoint* points)
{
    VkResult result = take_recorded_binds(paging);
    if (result == VK_SUCCESS && paging->batch.span_count > 0) {
        struct bind_waits waits;
        list_waits(paging, point_count, points, &waits);
        result = call_bind(paging, &waits);
        settle_batch(paging, result == VK_SUCCESS);
        if (result == VK_SUCCESS) {
            paging->has_bound = true;
            forget_delays(paging, &waits);
        }
    }
    return result;
}

static VkResult submit_copies(struct maar_paging* paging, uint32_t point_count,
                              const MaarPoint* points)
{
    maar_mutex_lock(&paging->lock);
    const bool is_empty = maar_copy_queue_is_empty(&paging->copies);
    maar_mutex_unlock(&paging->lock);
    if (is_empty) {
        return VK_SUCCESS;
    }
    struct bind_waits waits;
    list_waits(paging, point_count, points, &waits);
    const struct maar_submission submission = {
        .queue = &paging->allocator->queues[paging->copy_queue],
        .wait_count = waits.count,
        .waits = waits.semaphores,
        .wait_values = waits.values,
        .signal = paging->timeline,
        .signal_value = maar_atomic64_load(&paging->submitted) + 1,
    };
    maar_mutex_lock(&paging->lock);
    ++paging->recorded_value;
    maar_mutex_unlock(&paging->lock);
    const VkResult result = maar_copy_queue_submit(&paging->copies, paging->allocator, &submission);
    if (result == VK_SUCCESS) {
        maar_atomic64_store(&paging->submitted, submission.signal_value);
        paging->has_copied = true;
        forget_delays(paging, &waits);
        return result;
    }
    maar_mutex_lock(&paging->lock);
    --paging->recorded_value;
    maar_mutex_unlock(&paging->lock);
    return result;
}

static VkResult check_waits(MaarAllocator allocator, const char* call, uint32_t point_count,
                            const MaarPoint* points)
{
    VkResult result = maar_retire_check_points(allocator, call, point_count, points);
    for (uint32_t i = 0; i < point_count && result == VK_SUCCESS; ++i) {
        if (points[i].semaphore == VK_NULL_HANDLE &&
            points[i].value > maar_atomic64_load(&allocator->retire.host_value)) {
            result = maar_misuse(allocator, call,
                                 "a point of the host timeline has not passed; the device cannot "
                                 "wait for it");
        }
    }
    return result;
}

VkResult maar_paging_submit(MaarAllocator allocator, const char* call, uint32_t point_count,
                            const MaarPoint* points, MaarPoint* point)
{
    VkResult result = check_waits(allocator, call, point_count, points);
    if (result == VK_SUCCESS) {
        result = maar_paging_require(allocator, call, false);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_paging* paging = maar_paging_of(allocator);
    while (!maar_atomic32_take(&paging->submitting)) {
        maar_thread_yield();
    }
    result = submit_binds(paging, point_count, points);
    if (result == VK_SUCCESS) {
        result = submit_copies(paging, point_count, points);
    }
    const uint64_t value = maar_atomic64_load(&paging->submitted);
    maar_atomic32_store_release(&paging->submitting, 0);
    if (result == VK_ERROR_DEVICE_LOST) {
        maar_atomic32_store(&allocator->retire.lost, 1);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    (void)maar_page_pools_release(paging, NULL, true);
    if (point != NULL) {
        *point = maar_paging_point(allocator, value);
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSubmitBinds(MaarAllocator allocator, uint32_t pointCount,
                                               const MaarPoint* pPoints, MaarPoint* pPoint)
{
    if (pPoint != NULL) {
        *pPoint = (MaarPoint){.value = 0};
    }
    VkResult result = maar_enter(allocator);
    return result == VK_SUCCESS
               ? maar_paging_submit(allocator, __func__, pointCount, pPoints, pPoint)
               : result;
}

/* Adds points to what the coming submission waits for, all or none. */
static bool add_delays(struct maar_paging* paging, uint32_t point_count, const MaarPoint* points)
{
    MaarPoint merged[MAAR_MAX_POINTS];
    maar_mutex_lock(&paging->lock);
    uint32_t count = paging->delay_count;
    memcpy(merged, paging->delays, count * sizeof merged[0]);
    bool fits = true;
    for (uint32_t i = 0; i < point_count && fits; ++i) {
        uint32_t at = 0;
        while (at < count && merged[at].semaphore != points[i].semaphore) {
            ++at;
        }
        if (points[i].semaphore == VK_NULL_HANDLE) {
            continue; /* of the host timeline, and passed */
        }
        fits = at < MAAR_MAX_POINTS;
        if (at == count && fits) {
            merged[count++] = points[i];
        } else if (fits && merged[at].value < points[i].value) {
            merged[at].value = points[i].value;
        }
    }
    if (fits) {
        memcpy(paging->delays, merged, count * sizeof merged[0]);
        paging->delay_count = count;
    }
    maar_mutex_unlock(&paging->lock);
    return fits;
}

VKAPI_ATTR VkResult VKAPI_CALL maarDelayBinds(MaarAllocator allocator, uint32_t pointCount,
                                              const MaarPoint* pPoints)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = check_waits(allocator, __func__, pointCount, pPoints);
    }
    if (result == VK_SUCCESS) {
        result = maar_paging_require(allocator, __func__, false);
    }
    if (result == VK_SUCCESS && !add_delays(maar_paging_of(allocator), pointCount, pPoints)) {
        result = VK_ERROR_TOO_MANY_OBJECTS;
    }
    return result;
}
