/*
 * Transfers of a store that the system carries out by itself, several at once (core/port_ring.h).
 *
 * A thread starts a request and goes on. From then on the request needs a thread only to fill
 * buffers, to empty them and to compute checksums. That is what driving the ring is: one thread at
 * a time does it for all requests. It sleeps only in maar_store_await and maar_store_wait, in the
 * system until a transfer has come back; others that wait sleep until it wakes them, and one of
 * them drives when it stops.
 *
 * The system reads and writes buffers of the store's own alone. A transfer that it cuts off is
 * continued; one that it fails is made once more by the thread that drives, whose outcome counts.
 */
#ifndef MAAR_CORE_RESIDENCY_STORE_RING_H
#define MAAR_CORE_RESIDENCY_STORE_RING_H

#include "core/port_ring.h"
#include "core/residency/store.h"

/* The functions of a ring, by which tests have one of their own. As in core/port_ring.h. */
struct maar_ring_calls {
    bool (*belongs_here)(void* user);
    bool (*add)(void* user, const struct maar_ring_transfer* transfer);
    enum maar_ring_outcome (*submit)(void* user, bool waits);
    bool (*take)(void* user, uint64_t* tag, int32_t* result);
    bool (*withdraw)(void* user, uint64_t* tag);
};

/* ---- for store.c ---- */

/* Sleeps until a request does not run. The lock is held, and left meanwhile. */
void maar_store_ring_wait(struct maar_store* store, const struct maar_store_request* request);
/* Opens a ring if there can be one. Returns false without host memory. */
bool maar_store_ring_open(struct maar_store* store, const struct maar_store_info* info);
/* Waits until the system has no transfer, and closes the ring. */
void maar_store_ring_close(struct maar_store* store);

/* ---- for users of a store ---- */

/* Whether requests can be started. */
bool maar_store_has_ring(struct maar_store* store);
/* Hands a request that waits for a thread to the ring. Reads all bytes of a write for the checksum.
 * Returns false if there is no ring, or a thread has the request: then nothing has changed. */
bool maar_store_start(struct maar_store* store, struct maar_store_request* request);
/* Goes on with what has come back. Never sleeps. */
void maar_store_drive(struct maar_store* store);
/* Returns the number of requests that were started and have ended. */
uint64_t maar_store_ended(struct maar_store* store);
/* Returns the number of those that have not. */
uint32_t maar_store_under_way(struct maar_store* store);
/* Sleeps until the number of those that have ended is another one than `ended`. Returns false if
 * it is not, and none is under way. */
bool maar_store_await(struct maar_store* store, uint64_t ended);

#endif
