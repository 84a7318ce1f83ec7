/*
 * The state of a store: see store.h.
 *
 * An extent begins with a head of 64 bytes. It is transferred in pieces of a buffer's size. The
 * piece with the head is written last.
 */
#ifndef MAAR_CORE_RESIDENCY_STORE_STATE_H
#define MAAR_CORE_RESIDENCY_STORE_STATE_H

#include "core/placement/placement.h"
#include "core/port_ring.h"
#include "core/port_thread.h"
#include "core/residency/store.h"
#include "core/residency/store_ring.h"

struct maar_extent_head {
    uint64_t magic;
    uint64_t offset; /* in the file */
    uint64_t length;
    uint64_t identity;
    uint64_t serial;
    uint64_t contents; /* the checksum of the copy */
    uint64_t reserved; /* 0 */
    uint64_t checksum; /* of the members above */
};

_Static_assert(sizeof(struct maar_extent_head) == 64, "heads are the same on every machine");

enum maar_request_state {
    MAAR_REQUEST_FREE,
    MAAR_REQUEST_QUEUED,
    MAAR_REQUEST_RUNNING, /* a thread carries it out, or the ring does */
    MAAR_REQUEST_ENDED
};

struct maar_store_request {
    struct maar_store_request* next; /* in the queue, the ring's, or the list of free requests */
    struct maar_extent extent;
    const void* source; /* of a write, else NULL */
    void* target;       /* of a read */
    enum maar_request_state state;
    enum maar_store_outcome outcome;
    bool is_ringed; /* started with the ring */
    /* what follows belongs to the thread that drives the ring */
    struct maar_extent_head head; /* what is written, or was read */
    uint64_t begun;               /* bytes of the extent whose transfers have begun, in order */
    uint32_t in_flight;           /* pieces */
    bool has_head;                /* the transfer of the piece with the head has begun */
    bool has_failed;
};

/* A part of an extent that goes through a buffer at once. */
struct maar_piece {
    uint64_t offset; /* in the extent */
    size_t size;     /* a multiple of the file's alignment */
    uint64_t copied; /* bytes of the copy before the piece */
    size_t head;     /* bytes of the head in it */
    size_t bytes;    /* of the copy */
};

enum { MAAR_RING_BUFFERS = 8 };

/* A buffer of the ring. */
struct maar_ring_buffer {
    uint8_t* bytes;
    struct maar_store_request* request; /* NULL: free */
    struct maar_piece piece;
    size_t done; /* bytes that were transferred */
};

/* The ring's part of a store. */
struct maar_store_ring {
    const struct maar_ring_calls* calls; /* NULL: there is no ring */
    void* user;
    struct maar_ring system; /* what user points to, unless a test has its own */
    intptr_t file;
    size_t buffer_size;
    void* memory; /* of the buffers */
    /* guarded by the store's lock */
    bool is_closed; /* nothing is started any more: transfers have failed that threads can do */
    bool is_driven; /* by a thread: the members below belong to it */
    bool is_left;   /* that thread is one of a child process, which has opened no ring */
    struct maar_store_request* started; /* since a thread has driven it; the oldest first */
    uint32_t under_way;                 /* requests that were started and have not ended */
    uint64_t ended;                     /* requests, so far */
    struct maar_file_counts counts;
    /* of the thread that drives */
    struct maar_store_request* active; /* the oldest first */
    struct maar_ring_buffer buffers[MAAR_RING_BUFFERS];
    uint32_t in_flight; /* buffers that the system has or gets */
};

struct maar_store {
    MaarFileStore file;
    const VkAllocationCallbacks* callbacks;
    size_t buffer_size;
    struct maar_mutex lock;        /* guards the members below */
    struct maar_condition changed; /* a request has ended, or a thread drives the ring no more */
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
    struct maar_store_ring ring;
};

/* Takes a request out of the queue. The lock is held. */
void maar_store_unqueue(struct maar_store* store, struct maar_store_request* request);
/* Ends a request that runs. The lock is held. */
void maar_store_end(struct maar_store* store, struct maar_store_request* request,
                    enum maar_store_outcome outcome);

#endif
