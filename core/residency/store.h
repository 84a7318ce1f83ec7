/*
 * A store: copies of objects' bytes in one file, or in whatever a program's MaarFileStore is.
 *
 * A copy has an extent of the file: a head, and the bytes. The head names the copy (the caller's
 * number and the number of the write) and has checksums of itself and of the bytes. It is written
 * last. So a write that was cut off, a file that was cut off or altered, and an extent that now
 * belongs to another copy are noticed, and their bytes are never handed out as good.
 *
 * Requests are begun by any thread, and carried out by the threads that call maar_store_run or
 * maar_store_wait, or by the system (store_ring.h). All memory for that is allocated at creation.
 * Only a write that finds the file more divided than ever allocates, and fails cleanly if it
 * cannot.
 *
 * Internally synchronized. The store's lock is not held while the file's functions or allocation
 * callbacks run.
 */
#ifndef MAAR_CORE_RESIDENCY_STORE_H
#define MAAR_CORE_RESIDENCY_STORE_H

#include "maar/stores.h"

#include <stdbool.h>

struct maar_store;
struct maar_store_request;
struct maar_ring_calls;

enum maar_store_outcome {
    MAAR_STORE_DONE,
    MAAR_STORE_PENDING,        /* not done yet */
    MAAR_STORE_BUSY,           /* all requests are taken: nothing was begun */
    MAAR_STORE_FULL,           /* the file has no room: nothing was begun */
    MAAR_STORE_NO_HOST_MEMORY, /* nothing was begun */
    MAAR_STORE_FAILED,         /* a function of the file failed; a copy that was written is gone */
    MAAR_STORE_DAMAGED         /* the file does not have the bytes that were written */
};

/* What a store is created with. */
struct maar_store_info {
    const MaarFileStore* file; /* the table is copied */
    const VkAllocationCallbacks* callbacks;
    uint32_t request_count; /* that may be under way; 0: 64 */
    /* Buffers for transfers, each used by one request at a time; 0: 2. A thread that finds none
     * sleeps until another one gives its buffer back. */
    uint32_t buffer_count;
    size_t buffer_size; /* 0: 1 MiB; rounded up to the file's alignment */
    bool synchronized;  /* whether several threads use the store */
    /* NULL: the system's ring, if the file is Maar's own and there is one. Else those of a test,
     * with what they are given; the file is any. */
    const struct maar_ring_calls* ring_calls;
    void* ring_user;
};

/* Where a copy is. Callers keep it, also for another process that opens the same file. */
struct maar_extent {
    uint64_t offset;   /* in the file */
    uint64_t length;   /* of the copy; its extent is longer */
    uint64_t identity; /* the caller's number */
    uint64_t serial;   /* of the write, never 0 */
    uint32_t node;     /* of the file's placement; MAAR_STORE_NO_NODE: of another process */
};

#define MAAR_STORE_NO_NODE UINT32_MAX

/* The bytes of a file. */
struct maar_store_totals {
    uint64_t used; /* by extents, with their heads */
    uint64_t free;
    uint64_t largest; /* an upper bound of the longest copy that fits */
    uint32_t extent_count;
};

/* Who has transferred pieces of copies, and how many. */
struct maar_file_counts {
    uint64_t thread_count;
    uint64_t thread_size;
    uint64_t ring_count;
    uint64_t ring_size;
};

/* Returns the VkResult with which a public function reports an outcome: VK_NOT_READY if it is
 * pending or busy, VK_ERROR_OUT_OF_POOL_MEMORY if the file is full, VK_ERROR_UNKNOWN if it failed
 * or is damaged. */
VkResult maar_store_result(enum maar_store_outcome outcome);

/* Creates a store in a file whose contents do not matter. Returns VK_SUCCESS,
 * VK_ERROR_OUT_OF_HOST_MEMORY, or VK_ERROR_VALIDATION_FAILED_EXT if the table lacks a function or
 * has a size or an alignment that cannot be. */
VkResult maar_store_create(const struct maar_store_info* info, struct maar_store** store);
/* Destroys a store. Requests that were not begun to be carried out are dropped; no thread carries
 * out one, and those that were started are waited for. The file is the caller's. store may be
 * NULL. */
void maar_store_destroy(struct maar_store* store);

/* Takes room for a copy of length bytes, at least 1, and begins to write them. The bytes do not
 * change before the request has ended. Returns MAAR_STORE_PENDING, or why nothing was begun. */
enum maar_store_outcome maar_store_begin_write(struct maar_store* store, uint64_t identity,
                                               const void* bytes, size_t length,
                                               struct maar_store_request** request);
/* Begins to read a whole copy. Nobody frees its extent, or uses the bytes, before the request has
 * ended. Returns MAAR_STORE_PENDING, or why nothing was begun; MAAR_STORE_DAMAGED if the extent
 * does not lie in the file. */
enum maar_store_outcome maar_store_begin_read(struct maar_store* store,
                                              const struct maar_extent* extent, void* bytes,
                                              struct maar_store_request** request);
/* Carries out the oldest request that waits for a thread. Returns false if there is none. */
bool maar_store_run(struct maar_store* store);
/* Returns MAAR_STORE_PENDING, or how the request ended: then the request is given back. The extent
 * of a write is set if it is done; of a read it is left as it is, and may be NULL. */
enum maar_store_outcome maar_store_poll(struct maar_store* store,
                                        struct maar_store_request* request,
                                        struct maar_extent* extent);
/* Does the same, but carries the request out, or waits for the thread that does. */
enum maar_store_outcome maar_store_wait(struct maar_store* store,
                                        struct maar_store_request* request,
                                        struct maar_extent* extent);
/* Takes back a request that no thread has begun to carry out, and the extent of a write. Returns
 * false if a thread has: the request must be polled. */
bool maar_store_cancel(struct maar_store* store, struct maar_store_request* request);

/* Write and read at once, on this thread. */
enum maar_store_outcome maar_store_write(struct maar_store* store, uint64_t identity,
                                         const void* bytes, size_t length,
                                         struct maar_extent* extent);
enum maar_store_outcome maar_store_read(struct maar_store* store, const struct maar_extent* extent,
                                        void* bytes);

/* Frees the extent of a copy; its node may be MAAR_STORE_NO_NODE, which does nothing. Never fails
 * and never touches the file. */
void maar_store_free(struct maar_store* store, const struct maar_extent* extent);
/* Waits until all copies that are done are on the disk. Returns MAAR_STORE_DONE or
 * MAAR_STORE_FAILED. */
enum maar_store_outcome maar_store_sync(struct maar_store* store);

struct maar_store_totals maar_store_get_totals(struct maar_store* store);
struct maar_file_counts maar_store_get_counts(struct maar_store* store);
/* Walks every structure. Returns NULL, or the first broken invariant. No request is under way. */
const char* maar_store_check(struct maar_store* store);

#endif
