/*
 * Drives the ring of a store: see store_ring.h.
 */
#include "core/residency/store_copy.h"

#include "core/check.h"
#include "core/host_memory.h"
#include "core/residency/file_store.h"

/* A drive has enough to do with eight transfers of this size at once. */
#define RING_BUFFER_SIZE ((size_t)256 << 10)

/* ---- the system's ring ---- */

static bool is_own_system(void* user)
{
    return maar_ring_is_own(user);
}

static bool add_to_system(void* user, const struct maar_ring_transfer* transfer)
{
    return maar_ring_add(user, transfer);
}

static enum maar_ring_outcome submit_to_system(void* user, bool waits)
{
    return maar_ring_submit(user, waits);
}

static bool take_from_system(void* user, uint64_t* tag, int32_t* result)
{
    return maar_ring_take(user, tag, result);
}

static bool withdraw_from_system(void* user, uint64_t* tag)
{
    return maar_ring_withdraw(user, tag);
}

static const struct maar_ring_calls system_calls = {is_own_system, add_to_system, submit_to_system,
                                                    take_from_system, withdraw_from_system};

bool maar_store_ring_open(struct maar_store* store, const struct maar_store_info* info)
{
    struct maar_store_ring* ring = &store->ring;
    ring->system.descriptor = -1;
    if (info->ring_calls == NULL && (!maar_file_store_has_ring(info->file, &ring->file) ||
                                     !maar_ring_open(&ring->system, MAAR_RING_BUFFERS))) {
        return true;
    }
    const size_t alignment = (size_t)store->file.alignment;
    ring->buffer_size =
        store->buffer_size < RING_BUFFER_SIZE ? store->buffer_size : RING_BUFFER_SIZE;
    /* Cleared: tools that look for undefined bytes do not see what the system writes. */
    ring->memory =
        maar_host_calloc(store->callbacks, 1, ring->buffer_size * MAAR_RING_BUFFERS + alignment);
    if (ring->memory == NULL) {
        maar_ring_close(&ring->system);
        return false;
    }
    uint8_t* at = ring->memory;
    at += (alignment - (uintptr_t)at % alignment) % alignment;
    for (uint32_t i = 0; i < MAAR_RING_BUFFERS; ++i) {
        ring->buffers[i].bytes = at + i * ring->buffer_size;
    }
    ring->calls = info->ring_calls != NULL ? info->ring_calls : &system_calls;
    ring->user = info->ring_calls != NULL ? info->ring_user : &ring->system;
    return true;
}

void maar_store_ring_close(struct maar_store* store)
{
    struct maar_store_ring* ring = &store->ring;
    while (ring->calls != NULL && maar_store_await(store, maar_store_ended(store))) {
    }
    maar_ring_close(&ring->system);
    maar_host_free(store->callbacks, ring->memory);
    ring->calls = NULL;
}

/* ---- pieces ---- */

/* Takes a request off the list and ends it. Its owner may give it back at once. */
static void end_active(struct maar_store* store, struct maar_store_request* request)
{
    struct maar_store_request** link = &store->ring.active;
    enum maar_store_outcome outcome = request->has_failed ? MAAR_STORE_FAILED : MAAR_STORE_DONE;
    if (outcome == MAAR_STORE_DONE && request->source == NULL && !maar_copy_is_right(request)) {
        outcome = MAAR_STORE_DAMAGED;
    }
    while (*link != request) {
        link = &(*link)->next;
    }
    *link = request->next;
    request->next = NULL;
    maar_mutex_lock(&store->lock);
    --store->ring.under_way;
    ++store->ring.ended;
    maar_store_end(store, request, outcome);
    maar_mutex_unlock(&store->lock);
}

static bool has_all(const struct maar_store* store, const struct maar_store_request* request)
{
    return request->in_flight == 0 &&
           (request->has_failed ||
            (request->has_head &&
             request->begun >= maar_copy_extent_size(store, request->extent.length)));
}

static void count_transfer(struct maar_store* store, size_t size, bool by_ring)
{
    struct maar_file_counts* counts = &store->ring.counts;
    maar_mutex_lock(&store->lock);
    *(by_ring ? &counts->ring_count : &counts->thread_count) += 1;
    *(by_ring ? &counts->ring_size : &counts->thread_size) += size;
    maar_mutex_unlock(&store->lock);
}

/* A piece was transferred, or cannot be. Returns whether its request goes on. */
static bool finish_piece(struct maar_store* store, struct maar_ring_buffer* buffer, bool by_ring,
                         bool is_done)
{
    struct maar_store_request* request = buffer->request;
    buffer->request = NULL;
    --request->in_flight;
    if (is_done) {
        count_transfer(store, buffer->piece.size, by_ring);
    }
    if (is_done && request->source == NULL) {
        maar_copy_take(request, &buffer->piece, buffer->bytes);
    }
    request->has_failed = request->has_failed || !is_done;
    if (has_all(store, request)) {
        end_active(store, request);
        return false;
    }
    return true;
}

/* Transfers the whole piece on this thread. */
static bool transfer_here(struct maar_store* store, struct maar_ring_buffer* buffer)
{
    const bool is_done = maar_copy_transfer(store, buffer->request, &buffer->piece, buffer->bytes);
    return finish_piece(store, buffer, false, is_done);
}

/* Adds what is left of a piece. */
static bool add_piece(struct maar_store* store, struct maar_ring_buffer* buffer)
{
    struct maar_store_ring* ring = &store->ring;
    const struct maar_ring_transfer transfer = {
        .file = ring->file,
        .offset = buffer->request->extent.offset + buffer->piece.offset + buffer->done,
        .bytes = buffer->bytes + buffer->done,
        .size = (uint32_t)(buffer->piece.size - buffer->done),
        .writes = buffer->request->source != NULL,
        .tag = (uint64_t)(buffer - ring->buffers),
    };
    const bool is_added = ring->calls->add(ring->user, &transfer);
    ring->in_flight += is_added ? 1 : 0;
    return is_added;
}

/* Finds the next piece of a request that can begin: of a write the one with the head when all
 * others are done. */
static bool next_piece(const struct maar_store* store, struct maar_store_request* request,
                       struct maar_piece* piece)
{
    const size_t most = store->ring.buffer_size;
    const uint64_t length = request->extent.length;
    if (request->has_failed) {
        return false;
    }
    if (request->begun < maar_copy_extent_size(store, length)) {
        *piece = maar_copy_piece(store, length, request->begun, most);
        request->begun += most;
        return true;
    }
    if (request->has_head || (request->source != NULL && request->in_flight > 0)) {
        return false;
    }
    request->has_head = true;
    *piece = maar_copy_piece(store, length, 0, most);
    return true;
}

static struct maar_ring_buffer* free_buffer(struct maar_store_ring* ring)
{
    for (uint32_t i = 0; i < MAAR_RING_BUFFERS; ++i) {
        if (ring->buffers[i].request == NULL) {
            return &ring->buffers[i];
        }
    }
    return NULL;
}

/* Begins pieces of all requests, the oldest first, as long as there are buffers. */
static void begin_pieces(struct maar_store* store)
{
    struct maar_store_ring* ring = &store->ring;
    struct maar_ring_buffer* buffer = free_buffer(ring);
    struct maar_store_request* next = NULL;
    for (struct maar_store_request* at = ring->active; at != NULL; at = next) {
        bool goes_on = true;
        next = at->next;
        while (goes_on && buffer != NULL && next_piece(store, at, &buffer->piece)) {
            buffer->request = at;
            buffer->done = 0;
            ++at->in_flight;
            if (at->source != NULL) {
                maar_copy_fill(at, &buffer->piece, buffer->bytes);
            }
            goes_on = add_piece(store, buffer) || transfer_here(store, buffer);
            buffer = free_buffer(ring);
        }
    }
}

/* Goes on with all transfers that have come back. */
static void take_results(struct maar_store* store)
{
    struct maar_store_ring* ring = &store->ring;
    uint64_t tag = 0;
    int32_t result = 0;
    while (ring->calls->take(ring->user, &tag, &result)) {
        struct maar_ring_buffer* buffer = &ring->buffers[tag];
        const size_t left = buffer->piece.size - buffer->done;
        const bool is_some = result > 0 && (size_t)result <= left;
        --ring->in_flight;
        buffer->done += is_some ? (size_t)result : 0;
        if (is_some && buffer->done == buffer->piece.size) {
            (void)finish_piece(store, buffer, true, true);
        } else if (!is_some || !add_piece(store, buffer)) {
            (void)transfer_here(store, buffer);
        }
    }
}

/* ---- driving ---- */

/* Hands over what was added. What the system does not take, this thread transfers. */
static void submit_added(struct maar_store* store, bool sleeps)
{
    struct maar_store_ring* ring = &store->ring;
    uint64_t tag = 0;
    if (ring->in_flight == 0) {
        return;
    }
    const enum maar_ring_outcome outcome = ring->calls->submit(ring->user, sleeps);
    if (outcome == MAAR_RING_BROKEN) {
        maar_mutex_lock(&store->lock);
        ring->is_closed = true;
        maar_mutex_unlock(&store->lock);
    }
    while (outcome != MAAR_RING_DONE && ring->calls->withdraw(ring->user, &tag)) {
        --ring->in_flight;
        (void)transfer_here(store, &ring->buffers[tag]);
    }
}

/* Appends the requests that were started meanwhile. */
static void take_started(struct maar_store* store)
{
    struct maar_store_request** link = &store->ring.active;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    maar_mutex_lock(&store->lock);
    *link = store->ring.started;
    store->ring.started = NULL;
    maar_mutex_unlock(&store->lock);
}

/* A child process has none of the transfers that were under way, and leaves what has come back to
 * its parent: both see the same ring. */
static void fail_all(struct maar_store* store)
{
    struct maar_store_ring* ring = &store->ring;
    ring->in_flight = 0;
    for (uint32_t i = 0; i < MAAR_RING_BUFFERS; ++i) {
        ring->buffers[i].request = NULL;
    }
    while (ring->active != NULL) {
        ring->active->in_flight = 0;
        ring->active->has_failed = true;
        end_active(store, ring->active);
    }
}

/* Goes on with all requests as far as that takes no sleep. */
static void drive_once(struct maar_store* store)
{
    const struct maar_store_ring* ring = &store->ring;
    take_started(store);
    if (!ring->calls->belongs_here(ring->user)) {
        fail_all(store);
        return;
    }
    take_results(store);
    begin_pieces(store);
    submit_added(store, false);
}

/* Whether a thread drives the ring. The lock is held. A child process has no thread of its parent:
 * the one that drove there does not wake anybody here. */
static bool has_driver(struct maar_store_ring* ring)
{
    if (ring->is_driven && !ring->is_left && !ring->calls->belongs_here(ring->user)) {
        ring->is_driven = false;
    }
    return ring->is_driven;
}

/* Goes on with all requests; if it sleeps, until one has ended. The lock is held, and left
 * meanwhile. No other thread drives. */
static void drive(struct maar_store* store, bool sleeps)
{
    struct maar_store_ring* ring = &store->ring;
    const uint64_t ended = ring->ended;
    MAAR_DEBUG_ASSERT(!ring->is_driven);
    ring->is_driven = true;
    ring->is_left = !ring->calls->belongs_here(ring->user);
    maar_mutex_unlock(&store->lock);
    maar_lock_rank_expect_none();
    drive_once(store);
    while (sleeps && ring->ended == ended && ring->active != NULL) {
        submit_added(store, true);
        drive_once(store);
    }
    maar_mutex_lock(&store->lock);
    ring->is_driven = false;
    maar_condition_wake(&store->changed);
}

void maar_store_drive(struct maar_store* store)
{
    maar_mutex_lock(&store->lock);
    if (store->ring.under_way > 0 && !has_driver(&store->ring)) {
        drive(store, false);
    }
    maar_mutex_unlock(&store->lock);
}

bool maar_store_await(struct maar_store* store, uint64_t ended)
{
    struct maar_store_ring* ring = &store->ring;
    maar_mutex_lock(&store->lock);
    while (ring->ended == ended && ring->under_way > 0) {
        if (has_driver(ring)) {
            maar_condition_wait(&store->changed, &store->lock);
        } else {
            drive(store, true);
        }
    }
    const bool has_ended = ring->ended != ended;
    maar_mutex_unlock(&store->lock);
    return has_ended;
}

void maar_store_ring_wait(struct maar_store* store, const struct maar_store_request* request)
{
    while (request->state == MAAR_REQUEST_RUNNING) {
        if (request->is_ringed && !has_driver(&store->ring)) {
            drive(store, true);
        } else {
            maar_condition_wait(&store->changed, &store->lock);
        }
    }
}

/* ---- requests ---- */

bool maar_store_has_ring(struct maar_store* store)
{
    maar_mutex_lock(&store->lock);
    const bool has_ring = store->ring.calls != NULL && !store->ring.is_closed &&
                          store->ring.calls->belongs_here(store->ring.user);
    maar_mutex_unlock(&store->lock);
    return has_ring;
}

bool maar_store_start(struct maar_store* store, struct maar_store_request* request)
{
    if (!maar_store_has_ring(store)) {
        return false;
    }
    maar_mutex_lock(&store->lock);
    const bool is_queued = request->state == MAAR_REQUEST_QUEUED;
    if (is_queued) {
        maar_store_unqueue(store, request);
        request->state = MAAR_REQUEST_RUNNING;
        request->begun = store->ring.buffer_size;
    }
    maar_mutex_unlock(&store->lock);
    if (!is_queued) {
        return false;
    }
    if (request->source != NULL) {
        maar_copy_make_head(request);
    }
    maar_mutex_lock(&store->lock);
    struct maar_store_request** link = &store->ring.started;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = request;
    request->is_ringed = true;
    ++store->ring.under_way;
    maar_condition_wake(&store->changed); /* who waits for the request drives from now on */
    maar_mutex_unlock(&store->lock);
    return true;
}

uint64_t maar_store_ended(struct maar_store* store)
{
    maar_mutex_lock(&store->lock);
    const uint64_t ended = store->ring.ended;
    maar_mutex_unlock(&store->lock);
    return ended;
}

uint32_t maar_store_under_way(struct maar_store* store)
{
    maar_mutex_lock(&store->lock);
    const uint32_t count = store->ring.under_way;
    maar_mutex_unlock(&store->lock);
    return count;
}
