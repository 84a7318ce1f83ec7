/*
 * Opens paging when it is first needed. Also ends the page pools of one MaarPool, and all paging
 * with the allocator.
 */
#include "core/paging/paging_open.h"

#include "core/memory/pool.h"
#include "core/paging/page_allocation.h"

#include "core/paging/page_entry.h"
#include "core/paging/page_move.h"
#include "core/paging/paging_info.h"
#include "core/paging/paging_timeline.h"
#include "core/port_time.h"
#include "core/time/retire_collect.h"
#include "core/time/timeline.h"

/* Returns the timeline's value of the last submission that named a page of a MaarPool. Pages that a
 * later submission would have unbound elsewhere do not count: the objects that had them are gone.
 */
static uint64_t last_value_of(struct maar_paging* paging, const struct maar_pool* owner)
{
    uint64_t last = 0;
    maar_mutex_lock(&paging->lock);
    while (paging->submitting) {
        maar_condition_wait(&paging->changed, &paging->lock);
    }
    const uint64_t submitted = maar_atomic64_load(&paging->submitted);
    for (const struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        for (uint32_t i = 0; pool->owner == owner && i < pool->block_count; ++i) {
            const uint64_t value = pool->blocks[i]->last_value;
            last = value > last && value <= submitted ? value : last;
        }
    }
    maar_mutex_unlock(&paging->lock);
    return last;
}

/* Waits until the driver no longer uses a timeline that submissions to a queue waited for: Maar's
 * own, or the program's. */
static void wait_let_go(struct maar_paging* paging, bool was_used, uint32_t queue,
                        uint64_t deadline_ns)
{
    MaarAllocator allocator = paging->allocator;
    if (!was_used || maar_atomic32_load(&allocator->retire.lost) != 0) {
        return;
    }
    const VkResult result =
        maar_timeline_let_go(&allocator->device, &allocator->queues[queue], deadline_ns);
    maar_note_loss(allocator, result);
    if (result == VK_TIMEOUT) {
        maar_report(
            allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_BINDS_NOT_EXECUTED, NULL,
            "pQueues[%u] did not execute its submissions in five seconds, and the timeline of its "
            "binds is destroyed all the same; was what they wait for ever submitted?",
            queue);
    }
}

void maar_paging_let_go(MaarAllocator allocator, VkSemaphore timeline)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    uint32_t kept = 0;
    if (paging == NULL) {
        return;
    }
    maar_mutex_lock(&paging->lock);
    while (paging->submitting) {
        maar_condition_wait(&paging->changed, &paging->lock);
    }
    for (uint32_t i = 0; i < paging->delay_count; ++i) {
        if (paging->delays[i].semaphore != timeline) {
            paging->delays[kept++] = paging->delays[i];
        }
    }
    paging->delay_count = kept;
    const bool has_bound = paging->has_bound;
    maar_mutex_unlock(&paging->lock);
    wait_let_go(paging, has_bound, paging->bind_queue, maar_deadline_ns(MAAR_DESTROY_TIMEOUT_NS));
}

static void free_paging(MaarAllocator allocator, struct maar_paging* paging)
{
    const struct maar_device* device = &allocator->device;
    if (paging->timeline != VK_NULL_HANDLE) {
        device->vkDestroySemaphore(device->handle, paging->timeline, device->callbacks);
    }
    maar_host_free(allocator->callbacks, paging->blocks);
    maar_host_free(allocator->callbacks, paging);
}

static void destroy_paging(MaarAllocator allocator, void* opaque)
{
    struct maar_paging* paging = opaque;
    const uint64_t deadline_ns = maar_deadline_ns(MAAR_DESTROY_TIMEOUT_NS);
    const bool executed =
        maar_paging_wait_executed(paging, maar_atomic64_load(&paging->submitted), deadline_ns);
    maar_paging_end_objects(allocator);
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
    for (uint32_t i = 0; i < allocator->queue_count; ++i) {
        wait_let_go(paging, (paging->waiting_queues >> (i % 64) & 1u) != 0, i, deadline_ns);
    }
    maar_atomic_pointer_store(&allocator->retire.submitted_value, NULL);
    maar_condition_destroy(&paging->changed);
    maar_mutex_destroy(&paging->lock);
    free_paging(allocator, paging);
}

static VkDeviceSize trim_paging(MaarAllocator allocator, void* opaque, const struct maar_pool* pool,
                                uint32_t heaps, uint64_t emptied_by)
{
    (void)allocator;
    return maar_page_pools_release_aged(opaque, pool, heaps, emptied_by);
}

static void end_page_pools(MaarAllocator allocator, struct maar_pool* owner)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    struct maar_page_pool* ended = NULL;
    VkDeviceSize used = 0;
    (void)maar_paging_wait_executed(paging, last_value_of(paging, owner),
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
                    "leak: %s of pages of a pool that is destroyed were still in use",
                    maar_show_bytes(used).text);
    }
    while (ended != NULL) {
        struct maar_page_pool* pool = ended;
        ended = pool->next;
        maar_page_pool_destroy(paging, pool);
    }
}

static void settle_paging(MaarAllocator allocator, struct maar_pool* owner)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    maar_lock_rank_expect_none();
    maar_mutex_lock(&paging->lock);
    while (paging->submitting) {
        maar_condition_wait(&paging->changed, &paging->lock);
    }
    for (struct maar_page_table *table = paging->first_dirty, *next; table != NULL; table = next) {
        next = table->next_dirty;
        if (table->sealed && (owner == NULL || maar_page_table_owner(table) == owner ||
                              maar_page_table_spill_owner(table) == owner)) {
            maar_page_table_forget(table);
        }
    }
    for (struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        if (owner == NULL || pool->owner == owner) {
            (void)maar_page_pool_revive(pool, 0);
        }
    }
    struct maar_page_moves* unsubmitted = maar_page_moves_leave(paging, owner);
    const uint64_t submitted = maar_atomic64_load(&paging->submitted);
    maar_mutex_unlock(&paging->lock);
    maar_page_moves_drop(unsubmitted);
    maar_retire_settle(&allocator->retire, maar_pool_pending(owner), paging->timeline, submitted);
}

static void end_pool_step(MaarAllocator allocator, struct maar_pool* owner, enum maar_end_step step)
{
    if (step == MAAR_END_RECORDED) {
        settle_paging(allocator, owner);
    } else {
        end_page_pools(allocator, owner);
    }
}

static VkResult open_paging(MaarAllocator allocator)
{
    struct maar_paging* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->allocator = allocator;
    made->bind_queue = maar_pick_bind_queue(allocator);
    made->copy_queue = maar_pick_copy_queue(allocator);
    made->recorded_value = 1;
    VkResult result = maar_timeline_create(&allocator->device, 0, &made->timeline);
    if (result != VK_SUCCESS) {
        made->timeline = VK_NULL_HANDLE;
        goto free;
    }
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!maar_mutex_init(&made->lock, MAAR_LOCK_PAGING, maar_is_synchronized(allocator))) {
        goto free;
    }
    if (!maar_condition_init(&made->changed)) {
        goto destroy_lock;
    }
    maar_copy_queue_init(&made->copies, &made->lock);
    maar_mutex_lock(&allocator->list_lock);
    const bool is_first = maar_atomic_pointer_load(&allocator->paging.state) == NULL;
    if (is_first) {
        allocator->paging.destroy = destroy_paging;
        allocator->paging.trim = trim_paging;
        allocator->paging.end_pool = end_pool_step;
        allocator->paging.seal = maar_stitched_seal;
        allocator->paging.release_pages = maar_stitched_release_pages;
        allocator->retire.submissions = made->timeline;
        maar_atomic_pointer_store(&allocator->retire.submitted_value, &made->submitted);
        maar_atomic_pointer_store(&allocator->paging.state, made);
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (is_first) {
        return VK_SUCCESS;
    }
    result = VK_SUCCESS; /* another thread has made it */
    maar_condition_destroy(&made->changed);
destroy_lock:
    maar_mutex_destroy(&made->lock);
free:
    free_paging(allocator, made);
    return result;
}

VkResult maar_paging_require(MaarAllocator allocator, const char* call, bool sparse)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    MaarMessageId id = MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED;
    const char* missing = NULL;
    if (!facts->timeline_semaphore) {
        missing =
            "timelineSemaphore among MaarAllocatorCreateInfo::pEnabledFeatures; the device must "
            "have it enabled";
    } else if (sparse && !facts->sparse_binding) {
        missing =
            "sparseBinding among MaarAllocatorCreateInfo::pEnabledFeatures; the device must have "
            "it enabled";
    } else if (sparse && maar_pick_bind_queue(allocator) == UINT32_MAX) {
        id = MAAR_MESSAGE_ID_NO_QUEUE;
        missing = "a queue of a family with SPARSE_BINDING, of which there is none in "
                  "MaarAllocatorCreateInfo::pQueues";
    } else if (maar_pick_bind_queue(allocator) == UINT32_MAX &&
               maar_pick_copy_queue(allocator) == UINT32_MAX) {
        id = MAAR_MESSAGE_ID_NO_QUEUE;
        missing = "a queue in MaarAllocatorCreateInfo::pQueues";
    }
    if (missing != NULL) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, id, NULL, "%s needs %s", call,
                         missing);
    }
    return maar_paging_of(allocator) != NULL ? VK_SUCCESS : open_paging(allocator);
}
