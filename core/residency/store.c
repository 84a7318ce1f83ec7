/*
 * Copies in a file: see store.h.
 *
 * An extent begins with a head of 64 bytes. It is transferred in pieces of a buffer's size. The
 * piece with the head is written last and read last.
 */
#include "core/residency/store.h"

#include "core/bits.h"
#include "core/check.h"
#include "core/host_memory.h"
#include "core/placement/placement.h"
#include "core/port_thread.h"
#include "core/residency/checksum.h"

#include <string.h>

enum {
    DEFAULT_REQUESTS = 64,
    DEFAULT_BUFFERS = 2,
    /* Drives reach their full rate with transfers of 1 MiB. */
    DEFAULT_BUFFER_SIZE = 1 << 20,
    MOST_FILE_ALIGNMENT = 65536
};

#define EXTENT_MAGIC 0x31544E455852414Dull /* MARXENT1 */

struct extent_head {
    uint64_t magic;
    uint64_t offset; /* in the file */
    uint64_t length;
    uint64_t identity;
    uint64_t serial;
    uint64_t contents; /* the checksum of the copy */
    uint64_t reserved; /* 0 */
    uint64_t checksum; /* of the members above */
};

_Static_assert(sizeof(struct extent_head) == 64, "heads are the same on every machine");

enum request_state { REQUEST_FREE, REQUEST_QUEUED, REQUEST_RUNNING, REQUEST_ENDED };

struct maar_store_request {
    struct maar_store_request* next; /* in the queue or in the list of free requests */
    struct maar_extent extent;
    const void* source; /* of a write, else NULL */
    void* target;       /* of a read */
    enum request_state state;
    enum maar_store_outcome outcome;
};

struct maar_store {
    MaarFileStore file;
    const VkAllocationCallbacks* callbacks;
    size_t buffer_size;
    struct maar_mutex lock;        /* guards the members below */
    struct maar_condition changed; /* a request has ended: it and its buffer can be taken */
    struct maar_placement* space;
    struct maar_store_request* requests;
    struct maar_store_request* free_requests;
    struct maar_store_request* first; /* of the queue */
    struct maar_store_request* last;
    void** buffers; /* those that no request uses */
    uint32_t request_count;
    uint32_t buffer_count; /* in buffers */
    uint32_t all_buffers;
    uint64_t serial; /* of the last write */
    void* memory;    /* of the buffers */
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
    const size_t unit = (size_t)maar_align_up(sizeof(struct extent_head), store->file.alignment);
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
        maar_condition_destroy(&store->changed);
        goto undo;
    }
    *created = store;
    return VK_SUCCESS;
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
    maar_mutex_destroy(&store->lock);
    maar_condition_destroy(&store->changed);
    free_all(store);
}

/* ---- room in the file ---- */

/* The bytes of the file that a copy takes. 0 if there cannot be so many. */
static uint64_t extent_size(const struct maar_store* store, uint64_t length)
{
    return length > store->file.size
               ? 0
               : maar_align_up(length + sizeof(struct extent_head), store->file.alignment);
}

/* Places an extent. The lock is held, and left only to allocate storage for the placement. */
static enum maar_store_outcome place_extent(struct maar_store* store, struct maar_extent* extent)
{
    const struct maar_placement_request request = {
        .size = extent_size(store, extent->length),
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

/* ---- transfers ---- */

/* A part of an extent that goes through a buffer at once. */
struct piece {
    uint64_t offset; /* in the extent */
    size_t size;     /* a multiple of the file's alignment */
    uint64_t copied; /* bytes of the copy before the piece */
    size_t head;     /* bytes of the head in it */
    size_t bytes;    /* of the copy */
};

static struct piece piece_at(const struct maar_store* store, uint64_t length, uint64_t offset)
{
    const uint64_t left = extent_size(store, length) - offset;
    struct piece piece = {.offset = offset};
    piece.size = left < store->buffer_size ? (size_t)left : store->buffer_size;
    piece.head = offset == 0 ? sizeof(struct extent_head) : 0;
    piece.copied = offset == 0 ? 0 : offset - sizeof(struct extent_head);
    const uint64_t rest = length - (piece.copied < length ? piece.copied : length);
    const size_t room = piece.size - piece.head;
    piece.bytes = rest < room ? (size_t)rest : room;
    return piece;
}

static uint64_t head_checksum(const struct extent_head* head)
{
    return maar_checksum(head, offsetof(struct extent_head, checksum));
}

static bool write_piece(const struct maar_store* store, const struct maar_store_request* request,
                        const struct extent_head* head, uint64_t offset, uint8_t* buffer)
{
    const struct piece piece = piece_at(store, request->extent.length, offset);
    if (piece.head != 0) {
        memcpy(buffer, head, sizeof *head);
    }
    memcpy(buffer + piece.head, (const uint8_t*)request->source + piece.copied, piece.bytes);
    memset(buffer + piece.head + piece.bytes, 0, piece.size - piece.head - piece.bytes);
    return store->file.pfnWrite(store->file.pUserData, request->extent.offset + offset, piece.size,
                                buffer) == VK_SUCCESS;
}

static enum maar_store_outcome write_copy(const struct maar_store* store,
                                          const struct maar_store_request* request, uint8_t* buffer)
{
    const struct maar_extent* extent = &request->extent;
    struct extent_head head = {
        .magic = EXTENT_MAGIC,
        .offset = extent->offset,
        .length = extent->length,
        .identity = extent->identity,
        .serial = extent->serial,
        .contents = maar_checksum(request->source, (size_t)extent->length),
    };
    head.checksum = head_checksum(&head);
    const uint64_t size = extent_size(store, extent->length);
    for (uint64_t at = store->buffer_size; at < size; at += store->buffer_size) {
        if (!write_piece(store, request, &head, at, buffer)) {
            return MAAR_STORE_FAILED;
        }
    }
    return write_piece(store, request, &head, 0, buffer) ? MAAR_STORE_DONE : MAAR_STORE_FAILED;
}

static bool read_piece(const struct maar_store* store, const struct maar_store_request* request,
                       struct extent_head* head, uint64_t offset, uint8_t* buffer)
{
    const struct piece piece = piece_at(store, request->extent.length, offset);
    if (store->file.pfnRead(store->file.pUserData, request->extent.offset + offset, piece.size,
                            buffer) != VK_SUCCESS) {
        return false;
    }
    if (piece.head != 0) {
        memcpy(head, buffer, sizeof *head);
    }
    memcpy((uint8_t*)request->target + piece.copied, buffer + piece.head, piece.bytes);
    return true;
}

static bool is_head_of(const struct extent_head* head, const struct maar_extent* extent)
{
    return head->magic == EXTENT_MAGIC && head->checksum == head_checksum(head) &&
           head->offset == extent->offset && head->length == extent->length &&
           head->identity == extent->identity && head->serial == extent->serial;
}

static enum maar_store_outcome read_copy(const struct maar_store* store,
                                         const struct maar_store_request* request, uint8_t* buffer)
{
    const struct maar_extent* extent = &request->extent;
    const uint64_t size = extent_size(store, extent->length);
    struct extent_head head = {.magic = 0};
    for (uint64_t at = store->buffer_size; at < size; at += store->buffer_size) {
        if (!read_piece(store, request, &head, at, buffer)) {
            return MAAR_STORE_FAILED;
        }
    }
    if (!read_piece(store, request, &head, 0, buffer)) {
        return MAAR_STORE_FAILED;
    }
    const bool is_right = is_head_of(&head, extent) &&
                          head.contents == maar_checksum(request->target, (size_t)extent->length);
    return is_right ? MAAR_STORE_DONE : MAAR_STORE_DAMAGED;
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
    request->state = REQUEST_FREE;
    request->next = store->free_requests;
    store->free_requests = request;
}

static void queue_request(struct maar_store* store, struct maar_store_request* request)
{
    request->state = REQUEST_QUEUED;
    if (store->first == NULL) {
        store->first = request;
    } else {
        store->last->next = request;
    }
    store->last = request;
}

/* Takes a request out of the queue, which is short. */
static void unqueue_request(struct maar_store* store, struct maar_store_request* request)
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
    const uint64_t size = extent_size(store, extent->length);
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

/* Carries out a request that waits. The lock is held, and left meanwhile. */
static void carry_out(struct maar_store* store, struct maar_store_request* request)
{
    unqueue_request(store, request);
    request->state = REQUEST_RUNNING;
    while (store->buffer_count == 0) {
        maar_condition_wait(&store->changed, &store->lock);
    }
    uint8_t* buffer = store->buffers[--store->buffer_count];
    maar_mutex_unlock(&store->lock);
    maar_lock_rank_expect_none();
    const enum maar_store_outcome outcome = request->source != NULL
                                                ? write_copy(store, request, buffer)
                                                : read_copy(store, request, buffer);
    maar_mutex_lock(&store->lock);
    store->buffers[store->buffer_count++] = buffer;
    if (request->source != NULL && outcome != MAAR_STORE_DONE) {
        free_extent(store, &request->extent);
    }
    request->outcome = outcome;
    request->state = REQUEST_ENDED;
    maar_condition_wake(&store->changed);
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
    MAAR_DEBUG_ASSERT(request->state != REQUEST_FREE);
    if (request->state != REQUEST_ENDED) {
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
    if (request->state == REQUEST_QUEUED) {
        carry_out(store, request);
    }
    while (request->state == REQUEST_RUNNING) {
        maar_condition_wait(&store->changed, &store->lock);
    }
    const enum maar_store_outcome outcome = end_request(store, request, extent);
    maar_mutex_unlock(&store->lock);
    return outcome;
}

bool maar_store_cancel(struct maar_store* store, struct maar_store_request* request)
{
    maar_mutex_lock(&store->lock);
    const bool is_queued = request->state == REQUEST_QUEUED;
    if (is_queued) {
        unqueue_request(store, request);
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
    const size_t head = sizeof(struct extent_head);
    return (struct maar_store_totals){
        .used = totals.used_size + totals.padding_size,
        .free = totals.free_size,
        .largest = largest > head ? largest - head : 0,
        .extent_count = totals.range_count,
    };
}

const char* maar_store_check(struct maar_store* store)
{
    uint32_t listed = 0;
    maar_mutex_lock(&store->lock);
    const char* broken = maar_placement_check(store->space);
    for (const struct maar_store_request* request = store->free_requests; request != NULL;
         request = request->next) {
        broken = request->state != REQUEST_FREE ? "a request in use is listed as free" : broken;
        ++listed;
    }
    if (store->first != NULL || listed != store->request_count) {
        broken = broken != NULL ? broken : "a request was never given back";
    }
    if (store->buffer_count != store->all_buffers) {
        broken = broken != NULL ? broken : "a buffer was never given back";
    }
    maar_mutex_unlock(&store->lock);
    return broken;
}
