/*
 * A queue of transfers of files that the system carries out by itself: io_uring of Linux. Other
 * systems, older kernels and sandboxes have none.
 *
 * The system has a transfer from maar_ring_submit until maar_ring_take returns it: its bytes stay
 * where they are meanwhile. One thread at a time calls the functions of a ring.
 */
#ifndef MAAR_CORE_PORT_RING_H
#define MAAR_CORE_PORT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maar_ring {
    int descriptor; /* -1: there is no ring */
    int64_t owner;  /* the process that has opened it */
    bool is_broken; /* the system takes no more transfers */
    uint32_t entry_count;
    uint32_t taken; /* transfers that have come back */
    void* rings;
    size_t rings_size;
    void* entries;
    size_t entries_size;
    struct {
        uint32_t head;
        uint32_t tail;
        uint32_t mask;
    } sent, returned; /* offsets in rings */
    uint32_t results; /* offset of the results in rings */
};

struct maar_ring_transfer {
    intptr_t file;
    uint64_t offset;
    void* bytes;
    uint32_t size;
    bool writes;
    uint64_t tag; /* is returned with the result */
};

enum maar_ring_outcome {
    MAAR_RING_DONE,
    MAAR_RING_BUSY,  /* the system took nothing and has nothing; later it may */
    MAAR_RING_BROKEN /* it takes nothing from now on, but returns what it has */
};

/* Returns false if there is no such thing here, and then nothing is open. */
bool maar_ring_open(struct maar_ring* ring, uint32_t entry_count);
/* Closes it, and in a child process its copy alone. The system has no transfer of it. */
void maar_ring_close(struct maar_ring* ring);
/* Returns whether this process has opened the ring: a child has a copy, which it must not use. */
bool maar_ring_is_own(const struct maar_ring* ring);

/* Adds a transfer. Returns false if there is no room. */
bool maar_ring_add(struct maar_ring* ring, const struct maar_ring_transfer* transfer);
/* Hands over what was added. If it waits, it returns when a transfer has come back, or when the
 * system has none. A broken ring is looked at a millisecond later. */
enum maar_ring_outcome maar_ring_submit(struct maar_ring* ring, bool waits);
/* Takes a transfer that has come back. The result is a number of bytes, or negative. */
bool maar_ring_take(struct maar_ring* ring, uint64_t* tag, int32_t* result);
/* Takes back the newest transfer that the system does not have yet. */
bool maar_ring_withdraw(struct maar_ring* ring, uint64_t* tag);

#endif
