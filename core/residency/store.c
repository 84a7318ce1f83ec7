/*
 * Copies in a file, transferred by threads: see store.h.
 */
#include "core/residency/store_copy.h"

#include "core/bits.h"
#include "core/check.h"
#include "core/host_memory.h"

enum {
    DEFAULT_REQUESTS = 64,
    DEFAULT_BUFFERS = 2,
    /* Drives reach their full rate with transfers of 1 MiB. */
    DEFAULT_BUFFER_SIZE = 1 << 20,
    MOST_FILE_ALIGNMENT = 65536
};

VkResult maar_store_result(enum maar_store_outcome outcome)
{
    switch (outcome) {
    case MAAR_STORE_DONE:
        return VK_SUCCESS;
    case MAAR_STORE_PENDING:
    case MAAR_STORE_BUSY:
        return VK_NOT_READY;
    case MAAR_STORE_FULL:
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    case MAAR_STORE_NO_HOST_MEMORY:
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    default:
        return VK_ERROR_UNKNOWN;
    }
}

/* ---- creation ---- */

static bool is_table_right(const MaarFileStore* file)
{
    return file->pfnRead != NULL && file->pfnWrite != NULL && file->size != 0 &&
           file->size <= MAAR_RANGE_MAX_SIZE && maar_is_power_of_two_or_zero(file->alignment) &&
           file->alignment <= MOST_FILE_ALIGNMENT;
}

/* Allocates requests and buffers. */
static bool allocate_all(struct maar_store* store)
{
    const size_t alignment = (size_t)store->file.alignment;
    store->requests =
        maar_host_calloc(store->callbacks, store->request_count, sizeof store->requests[0]);
    store->buffers =
        maar_host_calloc(store->callbacks, store->all_buffers, sizeof store->buffers[0]);
    if (store->buffer_size > (SIZE_MAX - alignment) / store->all_buffers) {
        return false;
    }
    store->memory =
        maar_host_alloc(store->callbacks, store->buffer_size * store->all_buffers + alignment);
    if (store->requests == NULL || store->buffers == NULL || store->memory == NULL) {
        return false;
    }
    uint8_t* at = store->memory;
    at += (alignment - (uintptr_t)at % alignment) % alignment;
    for (uint32_t i = 0; i < store->all_buffers; ++i) {
        store->buffers[i] = at + i * store->buffer_size;
    }
    store->buffer_count = store->all_buffers;
    for (uint32_t i = store->request_count; i-- != 0;) {
        store->requests[i].next = store->free_requests;
        store->free_requests = &store->requests[i];
    }
    return true;
}

static void free_all(struct maar_store* store)
{
    maar_placement_destroy(store->space, store->callbacks);
    maar_host_free(store->callbacks, store->memory);
    maar_host_free(store->callbacks, store->buffers);
    maar_host_free(store->callbacks, store->requests);
    maar_host_free(store->callbacks, store);
}

VkResult maar_store_create(const struct maar_store_info* info, struct maar_store** created)
{
    *created = NULL;
    if (!is_table_right(info->file)) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct maar_store* store = maar_host_calloc(info->callbacks, 1, sizeof *store);
    if (store == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    store->file = *info->file;
    store->callbacks = info->callbacks;
    store->file.alignment = store->file.alignment != 0 ? store->file.alignment : 1;
    store->request_count = info->request_count != 0 ? info->request_count : DEFAULT_REQUESTS;
    store->all_buffers = info->buffer_count != 0 ? info->buffer_count : DEFAULT_BUFFERS;
    /* A buffer holds a head at least. */
    const size_t unit =
        (size_t)maar_align_up(sizeof(struct maar_extent_head), store->file.alignment);
    store->buffer_size = info->buffer_size != 0 ? info->buffer_size : DEFAULT_BUFFER_SIZE;
    store->buffer_size = (size_t)maar_align_up(store->buffer_size, unit);
    const struct maar_placement_info space = {
        .strategy = MAAR_PLACEMENT_STRATEGY_TLSF,
        .size = store->file.size,
    };
    if (!allocate_all(store) ||
        maar_placement_create(&space, store->callbacks, &store->space) != VK_SUCCESS) {
        goto undo;
    }
    if (!maar_condition_init(&store->changed)) {
        goto undo;
    }
    if (!maar_mutex_init(&store->lock, MAAR_LOCK_STORE, info->synchronized)) {
        goto destroy_condition;
    }
    if (!maar_store_ring_open(store, info)) {
        goto destroy_lock;
    }
    *created = store;
    return VK_SUCCESS;

destroy_lock:
    maar_mutex_destroy(&store->lock);
destroy_condition:
    maar_condition_destroy(&store->changed);
undo:
    free_all(store);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

void maar_store_destroy(struct maar_store* store)
{
    if (store == NULL) {
        return;
    }
    MAAR_DEBUG_ASSERT(store->buffer_count == store->all_buffers);
    maar_store_ring_close(store);
    maar_mutex_destroy(&store->lock);
    maar_condition_destroy(&store->changed);
    free_all(store);
}

/* ---- room in the file ---- */

/* Places an extent. The lock is held, and left only to allocate storage for the placement. */
static enum maar_store_outcome place_extent(struct maar_store* store, struct maar_extent* extent)
{
    const struct maar_placement_request request = {
        .size = maar_copy_extent_size(store, extent->length),
        .alignment = store->file.alignment,
        .user = extent->serial,
    };
    struct maar_placement_range range;
    for (;;) {
        switch (request.size != 0 ? maar_placement_allocate(store->space, &request, &range)
                                  : MAAR_PLACE_NO_ROOM) {
        case MAAR_PLACED:
            extent->offset = range.offset;
            extent->node = range.node;
            return MAAR_STORE_DONE;
        case MAAR_PLACE_NO_ROOM:
            return MAAR_STORE_FULL;
        default:
            break;
        }
        const size_t wanted = maar_placement_storage_wanted(store->space);
        maar_mutex_unlock(&store->lock);
        void* memory = maar_host_alloc(store->callbacks, wanted);
        maar_mutex_lock(&store->lock);
        if (memory == NULL) {
            return MAAR_STORE_NO_HOST_MEMORY;
        }
        void* left = maar_placement_storage_give(store->space, memory, wanted);
        maar_mutex_unlock(&store->lock);
        maar_host_free(store->callbacks, left);
        maar_mutex_lock(&store->lock);
    }
}

/* Frees an extent. The lock is held. */
static void free_extent(struct maar_store* store, const struct maar_extent* extent)
{
    struct maar_placement_range range;
    uint64_t serial = 0;
    uint32_t kind = 0;
    /* A node that now belongs to another copy is left alone. */
    const bool is_owned = extent->node != MAAR_STORE_NO_NODE &&
                          maar_placement_get(store->space, extent->node, &range, &serial, &kind) &&
                          serial == extent->serial;
    MAAR_DEBUG_ASSERT(is_owned || extent->node == MAAR_STORE_NO_NODE);
    if (is_owned) {
        (void)maar_placement_free(store->space, extent->node);
    }
}

void maar_store_free(struct maar_store* store, const struct maar_extent* extent)
{
    maar_mutex_lock(&store->lock);
    free_extent(store, extent);
    maar_mutex_unlock(&store->lock);
}

/* ---- requests ---- */

static struct maar_store_request* take_request(struct maar_store* store)
{
    struct maar_store_request* request = store->free_requests;
    if (request != NULL) {
        store->free_requests = request->next;
        *request = (struct maar_store_request){.outcome = MAAR_STORE_PENDING};
    }
    return request;
}

static void give_request(struct maar_store* store, struct maar_store_request* request)
{
    request->state = MAAR_REQUEST_FREE;
    request->next = store->free_requests;
    store->free_requests = request;
}

static void queue_request(struct maar_store* store, struct maar_store_request* request)
{
    request->state = MAAR_REQUEST_QUEUED;
    if (store->first == NULL) {
        store->first = request;
    } else {
        store->last->next = request;
    }
    store->last = request;
}

void maar_store_unqueue(struct maar_store* store, struct maar_store_request* request)
{
    struct maar_store_request* before = NULL;
    if (request != store->first) {
        for (before = store->first; before->next != request; before = before->next) {
        }
        before->next = request->next;
    } else {
        store->first = request->next;
    }
    if (store->last == request) {
        store->last = before;
    }
    request->next = NULL;
}

enum maar_store_outcome maar_store_begin_write(struct maar_store* store, uint64_t identity,
                                               const void* bytes, size_t length,
                                               struct maar_store_request** begun)
{
    enum maar_store_outcome outcome = MAAR_STORE_BUSY;
    MAAR_DEBUG_ASSERT(length != 0);
    *begun = NULL;
    maar_mutex_lock(&store->lock);
    struct maar_store_request* request = take_request(store);
    if (request != NULL) {
        request->source = bytes;
        request->extent =
            (struct maar_extent){.length = length, .identity = identity, .serial = ++store->serial};
        outcome = place_extent(store, &request->extent);
        if (outcome == MAAR_STORE_DONE) {
            queue_request(store, request);
            *begun = request;
            outcome = MAAR_STORE_PENDING;
        } else {
            give_request(store, request);
        }
    }
    maar_mutex_unlock(&store->lock);
    return outcome;
}

enum maar_store_outcome maar_store_begin_read(struct maar_store* store,
                                              const struct maar_extent* extent, void* bytes,
                                              struct maar_store_request** begun)
{
    const uint64_t size = maar_copy_extent_size(store, extent->length);
    *begun = NULL;
    if (extent->length == 0 || size == 0 || size > store->file.size ||
        extent->offset > store->file.size - size || extent->length > SIZE_MAX ||
        extent->offset % store->file.alignment != 0) {
        return MAAR_STORE_DAMAGED;
    }
    maar_mutex_lock(&store->lock);
    struct maar_store_request* request = take_request(store);
    if (request != NULL) {
        request->target = bytes;
        request->extent = *extent;
        queue_request(store, request);
        *begun = request;
    }
    maar_mutex_unlock(&store->lock);
    return request != NULL ? MAAR_STORE_PENDING : MAAR_STORE_BUSY;
}

void maar_store_end(struct maar_store* store, struct maar_store_request* request,
                    enum maar_store_outcome outcome)
{
    if (request->source != NULL && outcome != MAAR_STORE_DONE) {
        free_extent(store, &request->extent);
    }
    request->outcome = outcome;
    request->state = MAAR_REQUEST_ENDED;
    maar_condition_wake(&store->changed);
}

static bool transfer_piece(const struct maar_store* store, struct maar_store_request* request,
                           uint64_t offset, uint8_t* buffer, struct maar_file_counts* counts)
{
    const struct maar_piece piece =
        maar_copy_piece(store, request->extent.length, offset, store->buffer_size);
    if (request->source != NULL) {
        maar_copy_fill(request, &piece, buffer);
    }
    if (!maar_copy_transfer(store, request, &piece, buffer)) {
        return false;
    }
    if (request->source == NULL) {
        maar_copy_take(request, &piece, buffer);
    }
    ++counts->thread_count;
    counts->thread_size += piece.size;
    return true;
}

/* Transfers a whole copy, the head last. */
static enum maar_store_outcome transfer_copy(const struct maar_store* store,
                                             struct maar_store_request* request, uint8_t* buffer,
                                             struct maar_file_counts* counts)
{
    const uint64_t size = maar_copy_extent_size(store, request->extent.length);
    if (request->source != NULL) {
        maar_copy_make_head(request);
    }
    for (uint64_t at = store->buffer_size; at < size; at += store->buffer_size) {
        if (!transfer_piece(store, request, at, buffer, counts)) {
            return MAAR_STORE_FAILED;
        }
    }
    if (!transfer_piece(store, request, 0, buffer, counts)) {
        return MAAR_STORE_FAILED;
    }
    return request->source != NULL || maar_copy_is_right(request) ? MAAR_STORE_DONE
                                                                  : MAAR_STORE_DAMAGED;
}

/* Carries out a request that waits. The lock is held, and left meanwhile. */
static void carry_out(struct maar_store* store, struct maar_store_request* request)
{
    struct maar_file_counts counts = {.thread_count = 0};
    maar_store_unqueue(store, request);
    request->state = MAAR_REQUEST_RUNNING;
    while (store->buffer_count == 0) {
        maar_condition_wait(&store->changed, &store->lock);
    }
    uint8_t* buffer = store->buffers[--store->buffer_count];
    maar_mutex_unlock(&store->lock);
    maar_lock_rank_expect_none();
    const enum maar_store_outcome outcome = transfer_copy(store, request, buffer, &counts);
    maar_mutex_lock(&store->lock);
    store->buffers[store->buffer_count++] = buffer;
    store->ring.counts.thread_count += counts.thread_count;
    store->ring.counts.thread_size += counts.thread_size;
    maar_store_end(store, request, outcome);
}

bool maar_store_run(struct maar_store* store)
{
    maar_mutex_lock(&store->lock);
    struct maar_store_request* request = store->first;
    if (request != NULL) {
        carry_out(store, request);
    }
    maar_mutex_unlock(&store->lock);
    return request != NULL;
}

/* Gives a request back if it has ended. The lock is held. */
static enum maar_store_outcome end_request(struct maar_store* store,
                                           struct maar_store_request* request,
                                           struct maar_extent* extent)
{
    MAAR_DEBUG_ASSERT(request->state != MAAR_REQUEST_FREE);
    if (request->state != MAAR_REQUEST_ENDED) {
        return MAAR_STORE_PENDING;
    }
    if (request->source != NULL && request->outcome == MAAR_STORE_DONE) {
        *extent = request->extent;
    }
    give_request(store, request);
    return request->outcome;
}

enum maar_store_outcome maar_store_poll(struct maar_store* store,
                                        struct maar_store_request* request,
                                        struct maar_extent* extent)
{
    maar_mutex_lock(&store->lock);
    const enum maar_store_outcome outcome = end_request(store, request, extent);
    maar_mutex_unlock(&store->lock);
    return outcome;
}

enum maar_store_outcome maar_store_wait(struct maar_store* store,
                                        struct maar_store_request* request,
                                        struct maar_extent* extent)
{
    maar_mutex_lock(&store->lock);
    if (request->state == MAAR_REQUEST_QUEUED) {
        carry_out(store, request);
    }
    maar_store_ring_wait(store, request);
    const enum maar_store_outcome outcome = end_request(store, request, extent);
    maar_mutex_unlock(&store->lock);
    return outcome;
}

bool maar_store_cancel(struct maar_store* store, struct maar_store_request* request)
{
    maar_mutex_lock(&store->lock);
    const bool is_queued = request->state == MAAR_REQUEST_QUEUED;
    if (is_queued) {
        maar_store_unqueue(store, request);
        if (request->source != NULL) {
            free_extent(store, &request->extent);
        }
        give_request(store, request);
    }
    maar_mutex_unlock(&store->lock);
    return is_queued;
}

enum maar_store_outcome maar_store_write(struct maar_store* store, uint64_t identity,
                                         const void* bytes, size_t length,
                                         struct maar_extent* extent)
{
    struct maar_store_request* request = NULL;
    const enum maar_store_outcome begun =
        maar_store_begin_write(store, identity, bytes, length, &request);
    return request != NULL ? maar_store_wait(store, request, extent) : begun;
}

enum maar_store_outcome maar_store_read(struct maar_store* store, const struct maar_extent* extent,
                                        void* bytes)
{
    struct maar_store_request* request = NULL;
    const enum maar_store_outcome begun = maar_store_begin_read(store, extent, bytes, &request);
    return request != NULL ? maar_store_wait(store, request, NULL) : begun;
}

enum maar_store_outcome maar_store_sync(struct maar_store* store)
{
    maar_lock_rank_expect_none();
    return store->file.pfnSync == NULL || store->file.pfnSync(store->file.pUserData) == VK_SUCCESS
               ? MAAR_STORE_DONE
               : MAAR_STORE_FAILED;
}

/* ---- looking ---- */

struct maar_store_totals maar_store_get_totals(struct maar_store* store)
{
    struct maar_placement_totals totals;
    maar_mutex_lock(&store->lock);
    maar_placement_totals(store->space, &totals);
    const uint64_t largest = maar_placement_largest_free_bound(store->space);
    maar_mutex_unlock(&store->lock);
    const size_t head = sizeof(struct maar_extent_head);
    return (struct maar_store_totals){
        .used = totals.used_size + totals.padding_size,
        .free = totals.free_size,
        .largest = largest > head ? largest - head : 0,
        .extent_count = totals.range_count,
    };
}

struct maar_file_counts maar_store_get_counts(struct maar_store* store)
{
    maar_mutex_lock(&store->lock);
    const struct maar_file_counts counts = store->ring.counts;
    maar_mutex_unlock(&store->lock);
    return counts;
}

const char* maar_store_check(struct maar_store* store)
{
    uint32_t listed = 0;
    maar_mutex_lock(&store->lock);
    const char* broken = maar_placement_check(store->space);
    for (const struct maar_store_request* request = store->free_requests; request != NULL;
         request = request->next) {
        broken =
            request->state != MAAR_REQUEST_FREE ? "a request in use is listed as free" : broken;
        ++listed;
    }
    if (store->first != NULL || listed != store->request_count) {
        broken = broken != NULL ? broken : "a request was never given back";
    }
    if (store->buffer_count != store->all_buffers) {
        broken = broken != NULL ? broken : "a buffer was never given back";
    }
    const struct maar_store_ring* ring = &store->ring;
    if (ring->under_way != 0 || ring->in_flight != 0 || ring->active != NULL ||
        ring->started != NULL || ring->is_driven) {
        broken = broken != NULL ? broken : "the ring has a request";
    }
    for (uint32_t i = 0; i < MAAR_RING_BUFFERS; ++i) {
        broken = broken == NULL && ring->buffers[i].request != NULL ? "a buffer of the ring is used"
                                                                    : broken;
    }
    maar_mutex_unlock(&store->lock);
    return broken;
}
