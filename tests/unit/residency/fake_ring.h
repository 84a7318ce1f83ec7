/*
 * A ring in memory, which makes the transfers of a store by the functions of its file: in any
 * order, late, in parts, failing, or not at all, as a test wants it.
 */
#ifndef MAAR_TESTS_UNIT_RESIDENCY_FAKE_RING_H
#define MAAR_TESTS_UNIT_RESIDENCY_FAKE_RING_H

#include "core/residency/store_ring.h"
#include "support/sample_bytes.h"

#include <string.h>

enum { FAKE_RING_ENTRIES = 8 };

struct fake_ring {
    MaarFileStore file;
    uint64_t random;
    /* One transfer of so many is cut off, fails, and is half made and fails; 0: none. */
    uint32_t cuts;
    uint32_t fails;
    /* The call of submit or add that fails, 1 being the first; 0: none. From `breaks_at` on all
     * calls of submit fail. */
    uint64_t busy_at;
    uint64_t breaks_at;
    uint64_t full_at;
    bool is_foreign;
    void (*before)(void* data); /* each wait; or NULL */
    void* data;
    uint64_t submits;
    uint64_t adds;
    uint64_t taken;
    uint32_t count; /* the first `submitted` ones are the system's */
    uint32_t submitted;
    struct maar_ring_transfer entries[FAKE_RING_ENTRIES];
    uint32_t done_count;
    struct {
        uint64_t tag;
        int32_t result;
    } done[FAKE_RING_ENTRIES];
};

static inline bool fake_ring_is_own(void* user)
{
    return !((const struct fake_ring*)user)->is_foreign;
}

static inline bool fake_ring_add(void* user, const struct maar_ring_transfer* transfer)
{
    struct fake_ring* ring = user;
    if (++ring->adds == ring->full_at || ring->count + ring->done_count == FAKE_RING_ENTRIES) {
        return false;
    }
    ring->entries[ring->count++] = *transfer;
    return true;
}

static inline bool fake_ring_happens(struct fake_ring* ring, uint32_t part)
{
    return part != 0 && sample_next(&ring->random) % part == 0;
}

/* Makes one of the transfers that the system has. */
static inline void fake_ring_make(struct fake_ring* ring, uint32_t at)
{
    const struct maar_ring_transfer made = ring->entries[at];
    size_t size = made.size;
    const bool fails = fake_ring_happens(ring, ring->fails);
    if (fails || fake_ring_happens(ring, ring->cuts)) {
        const size_t unit = ring->file.alignment != 0 ? (size_t)ring->file.alignment : 1;
        const size_t part = size / 2 / unit * unit;
        size = part != 0 ? part : size;
    }
    const PFN_maarFileTransfer transfer = made.writes ? ring->file.pfnWrite : ring->file.pfnRead;
    const VkResult result = transfer(ring->file.pUserData, made.offset, size, made.bytes);
    ring->done[ring->done_count].tag = made.tag;
    ring->done[ring->done_count++].result = fails || result != VK_SUCCESS ? -5 : (int32_t)size;
    --ring->count;
    --ring->submitted;
    memmove(&ring->entries[at], &ring->entries[at + 1],
            (ring->count - at) * sizeof ring->entries[0]);
}

static inline enum maar_ring_outcome fake_ring_submit(void* user, bool waits)
{
    struct fake_ring* ring = user;
    ++ring->submits;
    const bool is_broken = ring->breaks_at != 0 && ring->submits >= ring->breaks_at;
    const bool is_busy = ring->submits == ring->busy_at && ring->submitted == 0;
    if (!is_broken && !is_busy) {
        ring->submitted = ring->count;
    }
    if (waits && ring->before != NULL) {
        ring->before(ring->data);
    }
    while (ring->submitted > 0 &&
           ((waits && ring->done_count == 0) || sample_next(&ring->random) % 3 == 0)) {
        fake_ring_make(ring, (uint32_t)(sample_next(&ring->random) % ring->submitted));
    }
    return is_broken ? MAAR_RING_BROKEN : is_busy ? MAAR_RING_BUSY : MAAR_RING_DONE;
}

static inline bool fake_ring_take(void* user, uint64_t* tag, int32_t* result)
{
    struct fake_ring* ring = user;
    if (ring->done_count == 0) {
        return false;
    }
    --ring->done_count;
    ++ring->taken;
    *tag = ring->done[ring->done_count].tag;
    *result = ring->done[ring->done_count].result;
    return true;
}

static inline bool fake_ring_withdraw(void* user, uint64_t* tag)
{
    struct fake_ring* ring = user;
    if (ring->count == ring->submitted) {
        return false;
    }
    *tag = ring->entries[--ring->count].tag;
    return true;
}

static const struct maar_ring_calls fake_ring_calls = {
    fake_ring_is_own, fake_ring_add, fake_ring_submit, fake_ring_take, fake_ring_withdraw};

/* Write and read by the ring. */
static inline enum maar_store_outcome ring_write(struct maar_store* store, uint64_t identity,
                                                 const void* bytes, size_t length,
                                                 struct maar_extent* extent)
{
    struct maar_store_request* request = NULL;
    const enum maar_store_outcome begun =
        maar_store_begin_write(store, identity, bytes, length, &request);
    if (request == NULL) {
        return begun;
    }
    (void)maar_store_start(store, request);
    return maar_store_wait(store, request, extent);
}

static inline enum maar_store_outcome ring_read(struct maar_store* store,
                                                const struct maar_extent* extent, void* bytes)
{
    struct maar_store_request* request = NULL;
    const enum maar_store_outcome begun = maar_store_begin_read(store, extent, bytes, &request);
    if (request == NULL) {
        return begun;
    }
    (void)maar_store_start(store, request);
    return maar_store_wait(store, request, NULL);
}

#endif
