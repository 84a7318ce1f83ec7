/*
 * The state of paging: made when it is first needed, with the timeline that orders submissions;
 * what the device can do; address space; totals.
 */
#include "core/memory/queue_lock.h"
#include "core/paging/page_state.h"
#include "core/port_time.h"
#include "core/time/timeline.h"

#include <string.h>

/* ---- capabilities ---- */

static VkQueueFlags queue_flags(MaarAllocator allocator, uint32_t index)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const uint32_t family = allocator->queues[index].familyIndex;
    return family < facts->queue_family_count ? facts->queue_flags[family] : 0;
}

/* The first queue that can do it and is Maar's alone, else the first that can. */
static uint32_t pick_queue(MaarAllocator allocator, VkQueueFlags any_of)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < allocator->queue_count; ++i) {
        if ((queue_flags(allocator, i) & any_of) == 0) {
            continue;
        }
        if (allocator->queues[i].pfnLock == NULL) {
            return i;
        }
        found = found == UINT32_MAX ? i : found;
    }
    return found;
}

static uint32_t pick_bind_queue(MaarAllocator allocator)
{
    return allocator->device.facts.sparse_binding
               ? pick_queue(allocator, VK_QUEUE_SPARSE_BINDING_BIT)
               : UINT32_MAX;
}

static uint32_t pick_copy_queue(MaarAllocator allocator)
{
    return pick_queue(allocator,
                      VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT);
}

static VkBool32 as_bool32(bool value)
{
    return value ? VK_TRUE : VK_FALSE;
}

void maar_paging_capabilities(MaarAllocator allocator, MaarPagingInfo* info)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const uint32_t bind_queue = pick_bind_queue(allocator);
    const uint32_t copy_queue = pick_copy_queue(allocator);
    const bool binds = facts->timeline_semaphore && bind_queue != UINT32_MAX;
    const bool copies = facts->timeline_semaphore && copy_queue != UINT32_MAX;
    const VkDeviceSize space = facts->properties.limits.sparseAddressSpaceSize;
    info->stitching = as_bool32(binds);
    info->sparseReservations = as_bool32(binds && facts->sparse_buffers);
    info->reservations = as_bool32((binds && facts->sparse_buffers) || copies);
    info->aliasing = as_bool32(binds && facts->sparse_buffers && facts->sparse_aliased);
    info->sparseImages2D = as_bool32(binds && facts->sparse_images_2d);
    info->sparseImages3D = as_bool32(binds && facts->sparse_images_3d);
    info->nonResidentStrict = facts->properties.sparseProperties.residencyNonResidentStrict;
    info->queueIndex = binds ? bind_queue : (copies ? copy_queue : UINT32_MAX);
    info->addressSpaceSize = binds ? space : 0;
    info->maxBufferSize =
        facts->max_buffer_size != UINT64_MAX || space == 0 ? facts->max_buffer_size : space;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPagingInfo(MaarAllocator allocator, MaarPagingInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_PAGING_INFO);
    }
    if (result == VK_SUCCESS) {
        maar_paging_capabilities(allocator, pInfo);
    }
    return result;
}

/* ---- the state ---- */

/* Those that the program forgot. */
static void end_objects(struct maar_paging* paging)
{
    MaarAllocator allocator = paging->allocator;
    while (paging->objects != NULL) {
        struct maar_paged_object* object = paging->objects;
        maar_paging_unlist(allocator, object);
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                    "leak: %s %s was never destroyed", object->what, maar_quote(object->name).text);
        object->end(allocator, object);
    }
}

/* Until the submission that signals `value` has been executed; notes when the device is lost. */
VkResult maar_paging_wait(struct maar_paging* paging, uint64_t value, uint64_t timeout_ns)
{
    const struct maar_device* device = &paging->allocator->device;
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &paging->timeline,
        .pValues = &value,
    };
    maar_lock_rank_expect_none();
    const VkResult result = device->vkWaitSemaphores(device->handle, &wait, timeout_ns);
    if (result == VK_ERROR_DEVICE_LOST) {
        maar_atomic32_store(&paging->allocator->retire.lost, 1);
    }
    return result;
}

/* Waits until a submission has been executed, but not beyond a deadline; whether it was. */
static bool wait_executed(struct maar_paging* paging, uint64_t value, uint64_t deadline_ns)
{
    if (value == 0 || maar_atomic32_load(&paging->allocator->retire.lost) != 0) {
        return value == 0;
    }
    const VkResult result = maar_paging_wait(paging, value, maar_time_left_ns(deadline_ns));
    if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST) {
        maar_report(paging->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_UNSORTED, NULL,
                    "pages are freed that a submission of binds may still name, since it was not "
                    "executed in five seconds; was what it waits for ever submitted?");
    }
    return result == VK_SUCCESS;
}

/* The last submission that named a page of what a pool owns. */
static uint64_t last_value_of(struct maar_paging* paging, const struct maar_pool* owner)
{
    uint64_t last = 0;
    maar_mutex_lock(&paging->lock);
    for (const struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        for (uint32_t i = 0; pool->owner == owner && i < pool->block_count; ++i) {
            const uint64_t value = pool->blocks[i]->last_value;
            last = value > last ? value : last;
        }
    }
    maar_mutex_unlock(&paging->lock);
    return last;
}

/* Signals after all that was submitted to a queue, and waits for that until a deadline. */
static VkResult pass_through(MaarAllocator allocator, uint32_t index, VkSemaphore signal,
                             uint64_t deadline_ns)
{
    const struct maar_device* device = &allocator->device;
    const MaarQueue* queue = &allocator->queues[index];
    const uint64_t value = 1;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &signal,
    };
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &signal,
        .pValues = &value,
    };
    maar_queue_lock(queue);
    const VkResult result = device->vkQueueSubmit(queue->queue, 1, &submit, VK_NULL_HANDLE);
    maar_queue_unlock(queue);
    return result == VK_SUCCESS
               ? device->vkWaitSemaphores(device->handle, &wait, maar_time_left_ns(deadline_ns))
               : result;
}

/* Until the driver has let go of the timeline, which submissions to a queue waited for, Maar's or
 * the program's. That their own signals were seen is not enough: lavapipe's thread of the queue
 * touches what a submission waited for once more after it has signalled. Once a later signal is
 * seen it is past that, and no submission waits for that one's semaphore. */
static void wait_let_go(struct maar_paging* paging, bool was_used, uint32_t queue,
                        uint64_t deadline_ns)
{
    MaarAllocator allocator = paging->allocator;
    const struct maar_device* device = &allocator->device;
    VkSemaphore last = VK_NULL_HANDLE;
    if (!was_used || maar_atomic32_load(&allocator->retire.lost) != 0) {
        return;
    }
    VkResult result = maar_timeline_create(device, 0, &last);
    if (result == VK_SUCCESS) {
        result = pass_through(allocator, queue, last, deadline_ns);
    }
    maar_note_loss(allocator, result);
    if (result == VK_TIMEOUT) {
        maar_report(
            allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_UNSORTED, NULL,
            "pQueues[%u] was not done with what it was given in five seconds, and the timeline "
            "of its binds goes all the same; was what it waits for ever submitted?",
            queue);
    }
    device->vkDestroySemaphore(device->handle, last, device->callbacks);
}

static void destroy_paging(MaarAllocator allocator, void* opaque)
{
    struct maar_paging* paging = opaque;
    const struct maar_device* device = &allocator->device;
    const uint64_t deadline_ns = maar_deadline_ns(MAAR_DESTROY_TIMEOUT_NS);
    const bool executed =
        wait_executed(paging, maar_atomic64_load(&paging->submitted), deadline_ns);
    end_objects(paging);
    while (paging->tables != NULL) {
        maar_page_table_destroy(paging->tables);
    }
    while (paging->pools != NULL) {
        struct maar_page_pool* pool = paging->pools;
        paging->pools = pool->next;
        maar_page_pool_destroy(paging, pool);
    }
    maar_copy_queue_destroy(&paging->copies, allocator);
    maar_bind_batch_free(paging);
    wait_let_go(paging, executed && paging->has_bound, paging->bind_queue, deadline_ns);
    wait_let_go(paging, executed && paging->has_copied, paging->copy_queue, deadline_ns);
    device->vkDestroySemaphore(device->handle, paging->timeline, device->callbacks);
    maar_host_free(allocator->callbacks, paging->blocks);
    maar_mutex_destroy(&paging->lock);
    maar_host_free(allocator->callbacks, paging);
}

static VkDeviceSize trim_paging(MaarAllocator allocator, void* opaque, const struct maar_pool* pool)
{
    (void)allocator;
    return maar_page_pools_release(opaque, pool, false);
}

static void end_page_pools(MaarAllocator allocator, struct maar_pool* owner)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    struct maar_page_pool* ended = NULL;
    VkDeviceSize used = 0;
    (void)wait_executed(paging, last_value_of(paging, owner),
                        maar_deadline_ns(MAAR_DESTROY_TIMEOUT_NS));
    maar_mutex_lock(&paging->lock);
    for (struct maar_page_pool** link = &paging->pools; *link != NULL;) {
        struct maar_page_pool* pool = *link;
        if (pool->owner == owner) {
            *link = pool->next;
            pool->next = ended;
            ended = pool;
            if (pool->free_count < pool->page_count) {
                used += (pool->page_count - pool->free_count) * pool->page_size;
                maar_page_tables_forget(paging, pool);
            }
        } else {
            link = &pool->next;
        }
    }
    maar_mutex_unlock(&paging->lock);
    if (used > 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                    "leak: %llu bytes of pages of a pool that is destroyed were still in use",
                    (unsigned long long)used);
    }
    while (ended != NULL) {
        struct maar_page_pool* pool = ended;
        ended = pool->next;
        maar_page_pool_destroy(paging, pool);
    }
}

static VkResult open_paging(MaarAllocator allocator)
{
    struct maar_paging* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->allocator = allocator;
    made->bind_queue = pick_bind_queue(allocator);
    made->copy_queue = pick_copy_queue(allocator);
    made->recorded_value = 1;
    VkResult result = maar_timeline_create(&allocator->device, 0, &made->timeline);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, made);
        return result;
    }
    if (!maar_mutex_init(&made->lock, MAAR_LOCK_PAGING, maar_is_synchronized(allocator))) {
        allocator->device.vkDestroySemaphore(allocator->device.handle, made->timeline,
                                             allocator->device.callbacks);
        maar_host_free(allocator->callbacks, made);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_copy_queue_init(&made->copies, &made->lock);
    maar_mutex_lock(&allocator->list_lock);
    if (maar_atomic_pointer_load(&allocator->paging.state) == NULL) {
        allocator->paging.destroy = destroy_paging;
        allocator->paging.trim = trim_paging;
        allocator->paging.end_pool = end_page_pools;
        maar_atomic_pointer_store(&allocator->paging.state, made);
        made = NULL;
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (made != NULL) {
        destroy_paging(allocator, made); /* another thread was faster */
    }
    return VK_SUCCESS;
}

VkResult maar_paging_require(MaarAllocator allocator, const char* call, bool sparse)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const char* missing = NULL;
    if (!facts->timeline_semaphore) {
        missing = "the feature timelineSemaphore, which is not there or was not enabled";
    } else if (sparse && !facts->sparse_binding) {
        missing = "the feature sparseBinding, which is not there or was not enabled";
    } else if (sparse && pick_bind_queue(allocator) == UINT32_MAX) {
        missing = "a queue of a family with SPARSE_BINDING, of which there is none in "
                  "MaarAllocatorCreateInfo::pQueues";
    } else if (pick_bind_queue(allocator) == UINT32_MAX &&
               pick_copy_queue(allocator) == UINT32_MAX) {
        missing = "a queue in MaarAllocatorCreateInfo::pQueues";
    }
    if (missing != NULL) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                    NULL, "%s needs %s", call, missing);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    return maar_paging_of(allocator) != NULL ? VK_SUCCESS : open_paging(allocator);
}

void maar_paging_look(struct maar_paging* paging)
{
    const struct maar_device* device = &paging->allocator->device;
    const uint64_t submitted = maar_atomic64_load(&paging->submitted);
    if (maar_atomic64_load(&paging->completed) == submitted) {
        return;
    }
    if (maar_atomic32_load(&paging->allocator->retire.lost) != 0) {
        maar_atomic64_max(&paging->completed, submitted);
        return;
    }
    /* Waiting for no time tells more than the value: there are drivers that never report one. */
    uint64_t value = submitted;
    VkResult result = maar_paging_wait(paging, submitted, 0);
    if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST) {
        result = device->vkGetSemaphoreCounterValue(device->handle, paging->timeline, &value);
    }
    if (result == VK_ERROR_DEVICE_LOST) {
        maar_atomic32_store(&paging->allocator->retire.lost, 1);
        value = submitted; /* nothing is executed any more */
    }
    if (result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST) {
        maar_atomic64_max(&paging->completed, value < submitted ? value : submitted);
    }
}

MaarPoint maar_paging_point(MaarAllocator allocator, uint64_t value)
{
    return (MaarPoint){.semaphore = maar_paging_of(allocator)->timeline, .value = value};
}

struct maar_copy_queue* maar_paging_copy_queue(MaarAllocator allocator)
{
    return &maar_paging_of(allocator)->copies;
}

void maar_paging_report_held(MaarAllocator allocator, const char* call)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    VkDeviceSize held = 0;
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < paging->block_end; ++i) {
        const struct maar_page_block* block = paging->blocks[i];
        if (block != NULL) {
            held += (uint64_t)(block->used_count - block->live_count) * block->pool->page_size;
        }
    }
    maar_mutex_unlock(&paging->lock);
    if (held > 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_UNSORTED, NULL,
                    "%s finds no pages, while %llu bytes that were given back wait for "
                    "maarSubmitBinds",
                    call, (unsigned long long)held);
    }
}

void maar_paging_report_unsubmitted(MaarAllocator allocator, const char* what, const char* name,
                                    uint64_t pages)
{
    if (pages == 0 || maar_atomic32_load(&allocator->retire.lost) != 0) {
        return;
    }
    const char* quote = name != NULL ? "\"" : "";
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_UNSORTED, NULL,
                "%s%s%s%s%s: %llu pages were never handed to the device by maarSubmitBinds", what,
                name != NULL ? " " : "", quote, name != NULL ? name : "", quote,
                (unsigned long long)pages);
}

/* ---- address space and live objects ---- */

VkResult maar_paging_take_space(MaarAllocator allocator, const char* call, VkDeviceSize size,
                                const char* forgiven)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    const VkDeviceSize limit = allocator->device.facts.properties.limits.sparseAddressSpaceSize;
    if (maar_atomic64_add_below(&paging->space, size, limit != 0 ? limit : UINT64_MAX)) {
        return VK_SUCCESS;
    }
    maar_report(
        allocator, forgiven != NULL ? MAAR_MESSAGE_SEVERITY_WARNING : MAAR_MESSAGE_SEVERITY_ERROR,
        MAAR_MESSAGE_ID_UNSORTED, call,
        "%llu bytes of address space are asked for; of sparseAddressSpaceSize (%llu) "
        "sparse objects have %llu already%s",
        (unsigned long long)size, (unsigned long long)limit,
        (unsigned long long)maar_atomic64_load(&paging->space), forgiven != NULL ? forgiven : "");
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

void maar_paging_return_space(MaarAllocator allocator, VkDeviceSize size)
{
    (void)maar_atomic64_sub(&maar_paging_of(allocator)->space, size);
}

void maar_paging_add_count(MaarAllocator allocator, enum maar_paging_count which, int change)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    maar_mutex_lock(&paging->lock);
    paging->counts[which] += (uint64_t)(int64_t)change;
    maar_mutex_unlock(&paging->lock);
}

static struct maar_paged_object** chain_of(struct maar_paging* paging, const void* object)
{
    /* What objects have in common is in the lowest bits; a multiplication mixes the rest upward. */
    const uint64_t mixed = (uint64_t)(uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15);
    return &paging->alike[(mixed >> 32) % MAAR_PAGED_CHAINS];
}

void maar_paging_list(MaarAllocator allocator, struct maar_paged_object* object)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    maar_mutex_lock(&paging->lock);
    struct maar_paged_object** chain = chain_of(paging, object);
    object->next_alike = *chain;
    *chain = object;
    object->previous = NULL;
    object->next = paging->objects;
    if (paging->objects != NULL) {
        paging->objects->previous = object;
    }
    paging->objects = object;
    maar_mutex_unlock(&paging->lock);
}

void maar_paging_unlist(MaarAllocator allocator, struct maar_paged_object* object)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    maar_mutex_lock(&paging->lock);
    struct maar_paged_object** link = chain_of(paging, object);
    while (*link != object) {
        link = &(*link)->next_alike;
    }
    *link = object->next_alike;
    if (object->previous != NULL) {
        object->previous->next = object->next;
    } else {
        paging->objects = object->next;
    }
    if (object->next != NULL) {
        object->next->previous = object->previous;
    }
    maar_mutex_unlock(&paging->lock);
}

bool maar_paging_is_listed(MaarAllocator allocator, const char* what, const void* object)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    if (paging == NULL) {
        return false;
    }
    maar_mutex_lock(&paging->lock);
    const struct maar_paged_object* at = *chain_of(paging, object);
    while (at != NULL && at != object) {
        at = at->next_alike;
    }
    const bool listed = at != NULL && strcmp(at->what, what) == 0;
    maar_mutex_unlock(&paging->lock);
    return listed;
}

VkResult maar_paging_check_listed(MaarAllocator allocator, const char* call, const char* argument,
                                  const char* what, const void* object)
{
    if (maar_paging_is_listed(allocator, what, object)) {
        return VK_SUCCESS;
    }
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FOREIGN_HANDLE, call,
                "%s is not a %s of this allocator (was it destroyed already?)", argument, what);
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

/* ---- looking ---- */

void maar_paging_walk_block(MaarAllocator allocator, uint64_t block_id, maar_page_visit visit,
                            void* context)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    if (paging == NULL) {
        return;
    }
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < paging->block_end; ++i) {
        const struct maar_page_block* block = paging->blocks[i];
        if (block == NULL || block->block->id != block_id) {
            continue;
        }
        for (uint32_t page = 0, count = 0; page < block->page_count; page += count) {
            const bool is_free = block->marks[page].run != 0;
            const bool is_live = !is_free && block->marks[page].live != 0;
            count = is_free ? block->marks[page].run : 1;
            while (!is_free && page + count < block->page_count &&
                   block->marks[page + count].run == 0 &&
                   (block->marks[page + count].live != 0) == is_live) {
                ++count;
            }
            const VkDeviceSize size = block->pool->page_size;
            visit(context,
                  is_free
                      ? MAAR_BLOCK_RANGE_STATE_FREE
                      : (is_live ? MAAR_BLOCK_RANGE_STATE_LIVE : MAAR_BLOCK_RANGE_STATE_PENDING),
                  page * size, count * size);
        }
    }
    maar_mutex_unlock(&paging->lock);
}

const char* maar_paging_check(MaarAllocator allocator)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    if (paging == NULL) {
        return NULL;
    }
    maar_mutex_lock(&paging->lock);
    const char* broken = NULL;
    for (const struct maar_page_pool* pool = paging->pools; pool != NULL && broken == NULL;
         pool = pool->next) {
        broken = maar_page_pool_check(pool);
    }
    if (broken == NULL) {
        broken = maar_page_tables_check(paging);
    }
    maar_mutex_unlock(&paging->lock);
    return broken;
}

void maar_paging_reset_peak(MaarAllocator allocator)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    if (paging != NULL) {
        maar_mutex_lock(&paging->lock);
        paging->peak_block_bytes = paging->block_bytes;
        maar_mutex_unlock(&paging->lock);
    }
}

static void read_statistics(struct maar_paging* paging, MaarPagingStatistics* out)
{
    out->reservedBytes = maar_atomic64_load(&paging->space);
    for (const struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        out->freeBytes += pool->free_count * pool->page_size;
        for (uint32_t i = 0; i < pool->block_count; ++i) {
            const struct maar_page_block* block = pool->blocks[i];
            out->committedBytes += block->live_count * pool->page_size;
            out->heldBytes += (uint64_t)(block->used_count - block->live_count) * pool->page_size;
        }
    }
    out->blockCount = paging->block_count;
    out->blockBytes = paging->block_bytes;
    out->peakBlockBytes = paging->peak_block_bytes;
    out->reservationCount = (uint32_t)paging->counts[MAAR_COUNT_RESERVATION];
    out->stitchedCount = (uint32_t)paging->counts[MAAR_COUNT_STITCHED];
    out->stitchedMade = paging->counts[MAAR_COUNT_STITCHED_MADE];
    out->pagesBound = paging->pages_bound;
    out->pagesUnbound = paging->pages_unbound;
    out->bindCount = paging->bind_count;
    out->submissionCount = paging->submission_count;
    out->copiedBytes = paging->copies.copied_bytes;
    out->recordedPages = paging->recorded_pages;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPagingStatistics(MaarAllocator allocator,
                                                       MaarPagingStatistics* pStatistics)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pStatistics", pStatistics,
                                      MAAR_STRUCTURE_TYPE_PAGING_STATISTICS);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    void* next = pStatistics->pNext;
    memset(pStatistics, 0, sizeof *pStatistics);
    pStatistics->sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS;
    pStatistics->pNext = next;
    struct maar_paging* paging = maar_paging_of(allocator);
    if (paging != NULL) {
        maar_mutex_lock(&paging->lock);
        read_statistics(paging, pStatistics);
        maar_mutex_unlock(&paging->lock);
    }
    return VK_SUCCESS;
}
