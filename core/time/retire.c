/*
 * The retire queue. Items are kept in the order in which they came; a collection takes the whole
 * list, sorts out what has passed, and puts the rest back in front of what came meanwhile.
 */
#include "core/time/retire.h"

#include <string.h>

#include "core/memory/allocator_state.h"
#include "core/port_time.h"

/* Semaphores' values read in one collection, so that each is read once as long as they fit; then
 * the oldest makes room. */
enum { VALUE_CACHE = 16 };

struct value_cache {
    uint32_t count; /* values ever written */
    VkSemaphore semaphores[VALUE_CACHE];
    uint64_t values[VALUE_CACHE];
};

/* A wait in slices of this length, so that items that others finish meanwhile are noticed, ns. */
#define WAIT_SLICE_NS ((uint64_t)10000000)

bool maar_retire_init(struct maar_retire* retire, const struct maar_device* device,
                      bool synchronized)
{
    memset(retire, 0, sizeof *retire);
    retire->device = device;
    return maar_mutex_init(&retire->lock, MAAR_LOCK_RETIRE, synchronized);
}

void maar_retire_destroy(struct maar_retire* retire)
{
    maar_mutex_destroy(&retire->lock);
}

VkResult maar_retire_check_points(MaarAllocator allocator, const char* call, uint32_t point_count,
                                  const MaarPoint* points)
{
    if (point_count > MAAR_MAX_POINTS) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                           "pointCount is above MAAR_MAX_POINTS");
    }
    if (point_count > 0 && points == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pPoints is NULL");
    }
    for (uint32_t i = 0; i < point_count; ++i) {
        if (points[i].semaphore != VK_NULL_HANDLE && !allocator->device.facts.timeline_semaphore) {
            maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                        call,
                        "pPoints[%u] names a semaphore, but the timelineSemaphore feature was "
                        "not enabled; use the host timeline instead",
                        i);
            return VK_ERROR_FEATURE_NOT_PRESENT;
        }
    }
    return VK_SUCCESS;
}

struct maar_retire_item* maar_retire_prepare(MaarAllocator allocator, uint32_t point_count,
                                             const MaarPoint* points)
{
    size_t unused = (MAAR_MAX_POINTS + 1 - (size_t)point_count) * sizeof(MaarPoint);
    struct maar_retire_item* item =
        maar_host_alloc(allocator->callbacks, sizeof(struct maar_retire_item) - unused);
    if (item == NULL) {
        return NULL;
    }
    item->next = NULL;
    item->action = NULL;
    item->object = 0;
    item->slot_index = MAAR_SLOT_NONE;
    item->pool = NULL;
    item->point_count = point_count;
    if (points != NULL) {
        memcpy(item->points, points, point_count * sizeof(MaarPoint));
    }
    return item;
}

void maar_retire_discard(MaarAllocator allocator, struct maar_retire_item* item)
{
    maar_host_free(allocator->callbacks, item);
}

void maar_retire_run(MaarAllocator allocator, struct maar_retire_item* item)
{
    item->action(allocator, item);
    maar_retire_discard(allocator, item);
}

void maar_retire_queue(struct maar_retire* retire, struct maar_retire_item* item)
{
    (void)maar_atomic64_add(&retire->item_count, 1);
    maar_mutex_lock(&retire->lock);
    if (retire->last != NULL) {
        retire->last->next = item;
    } else {
        retire->first = item;
    }
    retire->last = item;
    maar_mutex_unlock(&retire->lock);
}

/* Counts the caller among those with items in hand, until put_back. */
static struct maar_retire_item* take_all(struct maar_retire* retire)
{
    maar_atomic32_add_release(&retire->sweepers, 1);
    maar_mutex_lock(&retire->lock);
    struct maar_retire_item* items = retire->first;
    retire->first = NULL;
    retire->last = NULL;
    maar_mutex_unlock(&retire->lock);
    return items;
}

/* Items that a sweep found not done yet, in their order. */
struct kept_list {
    struct maar_retire_item* first;
    struct maar_retire_item* last;
};

static void keep(struct kept_list* kept, struct maar_retire_item* item)
{
    item->next = NULL;
    if (kept->last != NULL) {
        kept->last->next = item;
    } else {
        kept->first = item;
    }
    kept->last = item;
}

static void put_back(struct maar_retire* retire, const struct kept_list* kept)
{
    if (kept->first != NULL) {
        maar_mutex_lock(&retire->lock);
        kept->last->next = retire->first;
        retire->first = kept->first;
        if (retire->last == NULL) {
            retire->last = kept->last;
        }
        maar_mutex_unlock(&retire->lock);
    }
    maar_atomic32_add_release(&retire->sweepers, UINT32_MAX);
}

static void cache_value(struct value_cache* cache, VkSemaphore semaphore, uint64_t value)
{
    uint32_t at = cache->count++ % VALUE_CACHE;
    cache->semaphores[at] = semaphore;
    cache->values[at] = value;
}

static VkResult read_value(struct maar_retire* retire, struct value_cache* cache,
                           VkSemaphore semaphore, uint64_t* value)
{
    for (uint32_t i = 0; i < cache->count && i < VALUE_CACHE; ++i) {
        if (cache->semaphores[i] == semaphore) {
            *value = cache->values[i];
            return VK_SUCCESS;
        }
    }
    const struct maar_device* device = retire->device;
    VkResult result = device->vkGetSemaphoreCounterValue(device->handle, semaphore, value);
    if (result == VK_SUCCESS) {
        cache_value(cache, semaphore, *value);
    }
    return result;
}

/* VK_SUCCESS: all passed; VK_NOT_READY: not yet; else the driver's error. */
static VkResult item_state(struct maar_retire* retire, struct value_cache* cache,
                           const struct maar_retire_item* item)
{
    for (uint32_t i = 0; i < item->point_count; ++i) {
        const MaarPoint* point = &item->points[i];
        uint64_t value = maar_atomic64_load(&retire->host_value);
        if (point->semaphore != VK_NULL_HANDLE) {
            VkResult result = read_value(retire, cache, point->semaphore, &value);
            if (result != VK_SUCCESS) {
                return result;
            }
        }
        if (value < point->value) {
            return VK_NOT_READY;
        }
    }
    return VK_SUCCESS;
}

static void finish_item(MaarAllocator allocator, struct maar_retire_item* item)
{
    item->action(allocator, item);
    maar_host_free(allocator->callbacks, item);
    (void)maar_atomic64_sub(&allocator->retire.item_count, 1);
}

/* Takes every item, runs those that are done by now, and keeps the rest: VK_NOT_READY then. Never
 * waits. The cache may hold values that are known already. */
static VkResult sweep(MaarAllocator allocator, struct value_cache* cache, uint32_t* done_count)
{
    struct maar_retire* retire = &allocator->retire;
    struct kept_list kept = {NULL, NULL};
    VkResult result = VK_SUCCESS;

    maar_lock_rank_expect_none();
    *done_count = 0;
    for (struct maar_retire_item *item = take_all(retire), *next; item != NULL; item = next) {
        next = item->next;
        VkResult state = VK_SUCCESS;
        if (maar_atomic32_load(&retire->lost) == 0) {
            state = item_state(retire, cache, item);
        }
        if (state == VK_ERROR_DEVICE_LOST) {
            maar_atomic32_store(&retire->lost, 1);
            state = VK_SUCCESS;
        }
        if (state == VK_SUCCESS) {
            ++*done_count;
            finish_item(allocator, item);
            continue;
        }
        if (result == VK_SUCCESS || result == VK_NOT_READY) {
            result = state;
        }
        keep(&kept, item);
    }
    /* A loss that was noticed late ends what had been kept before. */
    while (maar_atomic32_load(&retire->lost) != 0 && kept.first != NULL) {
        struct maar_retire_item* item = kept.first;
        kept.first = item->next;
        ++*done_count;
        finish_item(allocator, item);
    }
    put_back(retire, &kept);
    return maar_atomic32_load(&retire->lost) != 0 ? VK_ERROR_DEVICE_LOST : result;
}

VkResult maar_retire_collect(MaarAllocator allocator, uint32_t* done_count)
{
    uint32_t done = 0;
    VkResult result = VK_SUCCESS;
    if (!maar_retire_is_empty(&allocator->retire)) {
        struct value_cache cache = {.count = 0};
        result = sweep(allocator, &cache, &done);
    }
    if (done_count != NULL) {
        *done_count = done;
    }
    return result == VK_NOT_READY ? VK_SUCCESS : result;
}

/* The semaphores that one queued item waits for. */
struct wait_points {
    uint32_t count;
    VkSemaphore semaphores[MAAR_MAX_POINTS + 1];
    uint64_t values[MAAR_MAX_POINTS + 1];
};

/* False when the item waits for the host, which no driver call can wait for. */
static bool list_points(const struct maar_retire* retire, const struct maar_retire_item* item,
                        struct wait_points* points)
{
    points->count = 0;
    for (uint32_t i = 0; i < item->point_count; ++i) {
        if (item->points[i].semaphore != VK_NULL_HANDLE) {
            points->semaphores[points->count] = item->points[i].semaphore;
            points->values[points->count++] = item->points[i].value;
        } else if (maar_atomic64_load(&retire->host_value) < item->points[i].value) {
            return false;
        }
    }
    return points->count > 0;
}

/* Copies the points of the first queued item that matches and can be waited for. VK_SUCCESS: none
 * matches; VK_INCOMPLETE: copied; VK_NOT_READY: all that match wait for the host. *in_hand: others
 * may match that another thread has taken and not put back yet; read under the lock, so that none
 * comes back between the two looks. */
static VkResult peek(MaarAllocator allocator, maar_retire_match match, void* context,
                     struct wait_points* points, bool* in_hand)
{
    struct maar_retire* retire = &allocator->retire;
    VkResult result = VK_SUCCESS;
    maar_mutex_lock(&retire->lock);
    for (const struct maar_retire_item* item = retire->first;
         item != NULL && result != VK_INCOMPLETE; item = item->next) {
        if (match == NULL || match(allocator, item, context)) {
            result = list_points(retire, item, points) ? VK_INCOMPLETE : VK_NOT_READY;
        }
    }
    *in_hand = maar_atomic32_load_acquire(&retire->sweepers) != 0;
    maar_mutex_unlock(&retire->lock);
    return result;
}

/* Waits for copied points, with no item in hand, so that others may collect meanwhile. What passed
 * goes into the cache: a wait that succeeded is as good as a value that was read. */
static VkResult wait_points(struct maar_retire* retire, const struct wait_points* points,
                            uint64_t timeout_ns, struct value_cache* cache)
{
    const struct maar_device* device = retire->device;
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = points->count,
        .pSemaphores = points->semaphores,
        .pValues = points->values,
    };
    maar_lock_rank_expect_none();
    VkResult result = device->vkWaitSemaphores(device->handle, &wait, timeout_ns);
    for (uint32_t i = 0; result == VK_SUCCESS && i < points->count; ++i) {
        cache_value(cache, points->semaphores[i], points->values[i]);
    }
    return result;
}

VkResult maar_retire_wait(MaarAllocator allocator, maar_retire_match match, void* context,
                          uint64_t timeout_ns)
{
    struct maar_retire* retire = &allocator->retire;
    uint64_t deadline = maar_deadline_ns(timeout_ns);
    struct value_cache cache = {.count = 0};
    for (;;) {
        uint32_t done = 0;
        bool in_hand = false;
        struct wait_points points = {.count = 0};
        VkResult result = sweep(allocator, &cache, &done);
        if (result != VK_SUCCESS && result != VK_NOT_READY) {
            return result;
        }
        cache.count = 0;
        uint64_t left = maar_time_left_ns(deadline);
        result = peek(allocator, match, context, &points, &in_hand);
        if (result == VK_INCOMPLETE) {
            uint64_t slice = left < WAIT_SLICE_NS ? left : WAIT_SLICE_NS;
            result = wait_points(retire, &points, slice, &cache);
            if (result == VK_ERROR_DEVICE_LOST) {
                maar_atomic32_store(&retire->lost, 1);
            } else if (result != VK_SUCCESS && result != VK_TIMEOUT) {
                return result;
            } else if (result == VK_TIMEOUT && left == 0) {
                return result;
            }
        } else if (!in_hand) {
            return result;
        } else if (left == 0) {
            return VK_TIMEOUT;
        } else {
            /* They are not done yet, and may come back. */
            maar_thread_yield();
        }
    }
}

uint32_t maar_retire_flush(MaarAllocator allocator, maar_retire_match match, void* context)
{
    struct kept_list kept = {NULL, NULL};
    uint32_t count = 0;
    for (struct maar_retire_item *item = take_all(&allocator->retire), *next; item != NULL;
         item = next) {
        next = item->next;
        if (match == NULL || match(allocator, item, context)) {
            finish_item(allocator, item);
            ++count;
        } else {
            keep(&kept, item);
        }
    }
    put_back(&allocator->retire, &kept);
    return count;
}
