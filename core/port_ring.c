/*
 * Transfers that the system carries out by itself: see port_ring.h.
 *
 * The two queues are memory that the kernel shares. Each has one writer: of the transfers that are
 * sent this side writes the tail, of those that are returned the head.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dl_iterate_phdr, syscall, O_DIRECT */
#endif

#include "core/port_ring.h"

#include "core/port_atomic.h"

#if defined(__linux__)
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#endif
#endif
#endif

/* The first macro is defined since the kernel has IORING_OP_READ. */
#if defined(IORING_FEAT_RW_CUR_POS) && defined(__NR_io_uring_setup) && defined(__NR_io_uring_enter)

/* Kernels from 5.6 on have them: one mapping of both queues, no result that is dropped, and
 * transfers without vectors. */
#define NEEDED_FEATURES                                                                            \
    ((uint32_t)IORING_FEAT_SINGLE_MMAP | (uint32_t)IORING_FEAT_NODROP |                            \
     (uint32_t)IORING_FEAT_RW_CUR_POS)

_Static_assert(sizeof(maar_atomic32) == sizeof(uint32_t), "words of the shared queues");

static maar_atomic32* ring_word(const struct maar_ring* ring, uint32_t offset)
{
    return (maar_atomic32*)(void*)((uint8_t*)ring->rings + offset);
}

static uint32_t plain_word(const struct maar_ring* ring, uint32_t offset)
{
    return maar_atomic32_load(ring_word(ring, offset));
}

static void* map_part(int descriptor, size_t size, uint64_t part)
{
    void* const mapped =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)part);
    return mapped != MAP_FAILED ? mapped : NULL;
}

/* Maps both queues and the entries. */
static bool map_ring(struct maar_ring* ring, const struct io_uring_params* made)
{
    const size_t sent = made->sq_off.array + made->sq_entries * sizeof(uint32_t);
    const size_t returned = made->cq_off.cqes + made->cq_entries * sizeof(struct io_uring_cqe);
    ring->rings_size = sent > returned ? sent : returned;
    ring->rings = map_part(ring->descriptor, ring->rings_size, IORING_OFF_SQ_RING);
    if (ring->rings == NULL) {
        return false;
    }
    ring->entries_size = made->sq_entries * sizeof(struct io_uring_sqe);
    ring->entries = map_part(ring->descriptor, ring->entries_size, IORING_OFF_SQES);
    return ring->entries != NULL;
}

bool maar_ring_open(struct maar_ring* ring, uint32_t entry_count)
{
    struct io_uring_params made;
    memset(&made, 0, sizeof made);
    *ring = (struct maar_ring){.descriptor = -1};
    const long opened = syscall(__NR_io_uring_setup, entry_count, &made);
    if (opened < 0) {
        return false;
    }
    ring->descriptor = (int)opened; /* is closed by exec */
    ring->owner = (int64_t)getpid();
    if ((made.features & NEEDED_FEATURES) != NEEDED_FEATURES || !map_ring(ring, &made)) {
        maar_ring_close(ring);
        return false;
    }
    ring->entry_count = made.sq_entries;
    ring->sent.head = made.sq_off.head;
    ring->sent.tail = made.sq_off.tail;
    ring->sent.mask = made.sq_off.ring_mask;
    ring->returned.head = made.cq_off.head;
    ring->returned.tail = made.cq_off.tail;
    ring->returned.mask = made.cq_off.ring_mask;
    ring->results = made.cq_off.cqes;
    for (uint32_t i = 0; i < made.sq_entries; ++i) {
        maar_atomic32_store(ring_word(ring, made.sq_off.array + i * (uint32_t)sizeof i), i);
    }
    return true;
}

void maar_ring_close(struct maar_ring* ring)
{
    if (ring->descriptor < 0) {
        return;
    }
    if (ring->entries != NULL) {
        (void)munmap(ring->entries, ring->entries_size);
    }
    if (ring->rings != NULL) {
        (void)munmap(ring->rings, ring->rings_size);
    }
    (void)close(ring->descriptor);
    *ring = (struct maar_ring){.descriptor = -1};
}

bool maar_ring_is_own(const struct maar_ring* ring)
{
    return ring->descriptor >= 0 && ring->owner == (int64_t)getpid();
}

/* Transfers that were added, and which the kernel has not looked at. */
static uint32_t waiting_count(const struct maar_ring* ring)
{
    return plain_word(ring, ring->sent.tail) -
           maar_atomic32_load_acquire(ring_word(ring, ring->sent.head));
}

/* Transfers that the kernel has taken and not returned. */
static uint32_t kernel_count(const struct maar_ring* ring)
{
    return maar_atomic32_load_acquire(ring_word(ring, ring->sent.head)) - ring->taken;
}

static bool has_result(const struct maar_ring* ring)
{
    return plain_word(ring, ring->returned.head) !=
           maar_atomic32_load_acquire(ring_word(ring, ring->returned.tail));
}

bool maar_ring_add(struct maar_ring* ring, const struct maar_ring_transfer* transfer)
{
    /* What the kernel has must find room when it comes back. */
    if (waiting_count(ring) + kernel_count(ring) >= ring->entry_count) {
        return false;
    }
    const uint32_t tail = plain_word(ring, ring->sent.tail);
    struct io_uring_sqe* entry =
        (struct io_uring_sqe*)ring->entries + (tail & plain_word(ring, ring->sent.mask));
    memset(entry, 0, sizeof *entry);
    entry->opcode = transfer->writes ? IORING_OP_WRITE : IORING_OP_READ;
    entry->fd = (int32_t)transfer->file;
    entry->off = transfer->offset;
    entry->addr = (uint64_t)(uintptr_t)transfer->bytes;
    entry->len = transfer->size;
    entry->user_data = transfer->tag;
    (void)maar_atomic32_exchange(ring_word(ring, ring->sent.tail), tail + 1);
    return true;
}

static long enter_kernel(const struct maar_ring* ring, uint32_t count, bool waits)
{
    const unsigned flags = waits ? (unsigned)IORING_ENTER_GETEVENTS : 0u;
    return syscall(__NR_io_uring_enter, ring->descriptor, count, waits ? 1u : 0u, flags, NULL,
                   (size_t)0);
}

static void sleep_a_moment(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    (void)nanosleep(&moment, NULL);
}

enum maar_ring_outcome maar_ring_submit(struct maar_ring* ring, bool waits)
{
    while (!ring->is_broken) {
        const uint32_t count = waiting_count(ring);
        const bool sleeps = waits && count + kernel_count(ring) > 0 && !has_result(ring);
        if ((count == 0 && !sleeps) || enter_kernel(ring, count, sleeps) >= 0) {
            return MAAR_RING_DONE;
        }
        if (errno == EINTR) {
            continue;
        }
        if (errno != EAGAIN && errno != EBUSY) {
            ring->is_broken = true;
        } else if (kernel_count(ring) == 0) {
            return MAAR_RING_BUSY;
        } else if (!sleeps || enter_kernel(ring, 0, true) >= 0) {
            return MAAR_RING_DONE;
        } else {
            ring->is_broken = errno != EINTR && errno != EAGAIN && errno != EBUSY;
        }
    }
    if (waits && kernel_count(ring) > 0 && !has_result(ring)) {
        sleep_a_moment();
    }
    return MAAR_RING_BROKEN;
}

bool maar_ring_take(struct maar_ring* ring, uint64_t* tag, int32_t* result)
{
    if (!has_result(ring)) {
        return false;
    }
    const uint32_t head = plain_word(ring, ring->returned.head);
    const struct io_uring_cqe* results =
        (const struct io_uring_cqe*)(const void*)((const uint8_t*)ring->rings + ring->results);
    const struct io_uring_cqe* found = &results[head & plain_word(ring, ring->returned.mask)];
    *tag = found->user_data;
    *result = found->res;
    (void)maar_atomic32_exchange(ring_word(ring, ring->returned.head), head + 1);
    ++ring->taken;
    return true;
}

bool maar_ring_withdraw(struct maar_ring* ring, uint64_t* tag)
{
    if (waiting_count(ring) == 0) {
        return false;
    }
    /* The kernel looks at the tail only while a thread is in it. */
    const uint32_t tail = plain_word(ring, ring->sent.tail) - 1;
    const struct io_uring_sqe* entries = ring->entries;
    *tag = entries[tail & plain_word(ring, ring->sent.mask)].user_data;
    (void)maar_atomic32_exchange(ring_word(ring, ring->sent.tail), tail);
    return true;
}

#else

bool maar_ring_open(struct maar_ring* ring, uint32_t entry_count)
{
    (void)entry_count;
    *ring = (struct maar_ring){.descriptor = -1};
    return false;
}

void maar_ring_close(struct maar_ring* ring)
{
    (void)ring;
}

bool maar_ring_is_own(const struct maar_ring* ring)
{
    (void)ring;
    return false;
}

bool maar_ring_add(struct maar_ring* ring, const struct maar_ring_transfer* transfer)
{
    (void)ring;
    (void)transfer;
    return false;
}

enum maar_ring_outcome maar_ring_submit(struct maar_ring* ring, bool waits)
{
    (void)ring;
    (void)waits;
    return MAAR_RING_BROKEN;
}

bool maar_ring_take(struct maar_ring* ring, uint64_t* tag, int32_t* result)
{
    (void)ring;
    (void)tag;
    (void)result;
    return false;
}

bool maar_ring_withdraw(struct maar_ring* ring, uint64_t* tag)
{
    (void)ring;
    (void)tag;
    return false;
}
#endif
