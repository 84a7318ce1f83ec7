/*
 * Copies in a file: every cut, failure and alteration is noticed, a full file changes nothing, and
 * threads share a store. All of it with threads that make the transfers, and with a ring.
 */
#include "tests/unit/residency/fake_ring.h"
#include "tests/unit/residency/fake_store.h"

#include <pthread.h>

#include "core/residency/checksum.h"
#include "core/residency/store.h"
#include "support/sample_bytes.h"

enum { FILE_SIZE = 256 * 1024, ALIGNMENT = 512, BUFFER = 4096, MOST_LENGTH = 40000 };

static struct fake_store fake;
static struct fake_ring ring;
static bool has_ring; /* in this case */
static struct maar_store* store;
static uint8_t source[MOST_LENGTH];
static uint8_t target[MOST_LENGTH];

static struct maar_store_info info_of_fake(void)
{
    struct maar_store_info info = {
        .file = &fake.table, .request_count = 8, .buffer_size = BUFFER, .synchronized = true};
    if (has_ring) {
        ring = (struct fake_ring){.file = fake.table, .random = 5};
        info.ring_calls = &fake_ring_calls;
        info.ring_user = &ring;
    }
    return info;
}

static enum maar_store_outcome put(uint64_t identity, const void* bytes, size_t length,
                                   struct maar_extent* extent)
{
    return has_ring ? ring_write(store, identity, bytes, length, extent)
                    : maar_store_write(store, identity, bytes, length, extent);
}

static enum maar_store_outcome get(const struct maar_extent* extent, void* bytes)
{
    return has_ring ? ring_read(store, extent, bytes) : maar_store_read(store, extent, bytes);
}

static void open_store(VkDeviceSize size, VkDeviceSize alignment)
{
    fake_open(&fake, size, alignment);
    const struct maar_store_info info = info_of_fake();
    assert_int_equal(maar_store_create(&info, &store), VK_SUCCESS);
    sample_fill(SAMPLE_RANDOM, 11, source, sizeof source);
}

static void check_store(void)
{
    const char* broken = maar_store_check(store);
    if (broken != NULL) {
        fail_msg("%s", broken);
    }
}

static int close_store(void** state)
{
    (void)state;
    if (store != NULL) {
        check_store();
    }
    maar_store_destroy(store);
    store = NULL;
    fake_close(&fake);
    return 0;
}

static int take_the_ring(void** state)
{
    (void)state;
    has_ring = true;
    return 0;
}

static int close_ringed(void** state)
{
    (void)close_store(state);
    has_ring = false;
    return 0;
}

static struct maar_extent write_one(uint64_t identity, size_t length)
{
    struct maar_extent extent = {.node = MAAR_STORE_NO_NODE};
    assert_int_equal(put(identity, source, length, &extent), MAAR_STORE_DONE);
    assert_int_equal(extent.length, length);
    assert_int_equal(extent.identity, identity);
    return extent;
}

static enum maar_store_outcome read_one(const struct maar_extent* extent)
{
    memset(target, 0, sizeof target);
    return get(extent, target);
}

static void require_good(const struct maar_extent* extent)
{
    assert_int_equal(read_one(extent), MAAR_STORE_DONE);
    assert_memory_equal(target, source, (size_t)extent->length);
}

/* ---- the checksum ---- */

/* Of the reference implementation (xxh64sum). */
static void checksum_is_that_of_xxh64(void** state)
{
    uint8_t bytes[101];
    (void)state;
    assert_true(maar_checksum("", 0) == 0xEF46DB3751D8E999ull);
    assert_true(maar_checksum("a", 1) == 0xD24EC4F1A98C6E5Bull);
    assert_true(maar_checksum("abc", 3) == 0x44BC2CF5AD770999ull);
    for (uint32_t i = 0; i < sizeof bytes; ++i) {
        bytes[i] = (uint8_t)(i * 7);
    }
    assert_true(maar_checksum(bytes, sizeof bytes) == 0x42312F4D55D9BD17ull);
    assert_true(maar_checksum(bytes, 32) == 0x91B0CB0931A8C629ull);
    assert_true(maar_checksum(bytes, 45) == 0x9364E111A6602F43ull);
    const uint64_t sum = maar_checksum(bytes, sizeof bytes);
    for (uint32_t bit = 0; bit < 8 * sizeof bytes; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_true(maar_checksum(bytes, sizeof bytes) != sum);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* ---- what comes back ---- */

static void copies_of_all_lengths_come_back(void** state)
{
    static const VkDeviceSize alignments[] = {1, 8, 64, 512, 4096};
    static const size_t lengths[] = {1,    63,   64,   448,  449,   4031,       4032,
                                     4033, 4096, 8128, 8129, 12345, MOST_LENGTH};
    (void)state;
    for (uint32_t i = 0; i < 5; ++i) {
        open_store(FILE_SIZE, alignments[i]);
        struct maar_extent extents[13];
        for (uint32_t k = 0; k < 13; ++k) {
            extents[k] = write_one(k, lengths[k]);
        }
        for (uint32_t k = 13; k-- != 0;) {
            require_good(&extents[k]);
            maar_store_free(store, &extents[k]);
            check_store();
        }
        const struct maar_store_totals totals = maar_store_get_totals(store);
        assert_true(totals.extent_count == 0 && totals.used == 0 && totals.free == FILE_SIZE);
        (void)close_store(state);
    }
}

static void store_without_an_alignment_has_one_of_1(void** state)
{
    (void)state;
    fake_open(&fake, FILE_SIZE, 1);
    MaarFileStore table = fake.table;
    table.alignment = 0;
    table.pfnSync = NULL;
    struct maar_store_info info = info_of_fake();
    info.file = &table;
    info.request_count = 0;
    info.buffer_size = 0;
    assert_int_equal(maar_store_create(&info, &store), VK_SUCCESS);
    const struct maar_extent extent = write_one(1, 1001);
    require_good(&extent);
    assert_int_equal(maar_store_sync(store), MAAR_STORE_DONE);
    assert_int_equal(fake.syncs, 0);
    maar_store_free(store, &extent);
}

/* A copy may be read by a store of another process, which opens the same file. */
static void copy_outlives_its_store(void** state)
{
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    struct maar_extent extent = write_one(7, 5000);
    const struct maar_store_info info = info_of_fake();
    assert_int_equal(maar_store_sync(store), MAAR_STORE_DONE);
    assert_int_equal(fake.syncs, 1);
    maar_store_destroy(store);
    assert_int_equal(maar_store_create(&info, &store), VK_SUCCESS);
    extent.node = MAAR_STORE_NO_NODE;
    require_good(&extent);
    maar_store_free(store, &extent);
    assert_int_equal(maar_store_get_totals(store).used, 0);
}

static void wrong_tables_are_refused(void** state)
{
    (void)state;
    fake_open(&fake, FILE_SIZE, ALIGNMENT);
    for (uint32_t wrong = 0; wrong < 6; ++wrong) {
        MaarFileStore table = fake.table;
        table.pfnRead = wrong == 0 ? NULL : table.pfnRead;
        table.pfnWrite = wrong == 1 ? NULL : table.pfnWrite;
        table.size = wrong == 2 ? 0 : table.size;
        table.size = wrong == 3 ? ((VkDeviceSize)1 << 48) + 1 : table.size;
        table.alignment = wrong == 4 ? 513 : table.alignment;
        table.alignment = wrong == 5 ? 131072 : table.alignment;
        struct maar_store_info info = info_of_fake();
        info.file = &table;
        assert_int_equal(maar_store_create(&info, &store), VK_ERROR_VALIDATION_FAILED_EXT);
        assert_null(store);
    }
    maar_store_destroy(NULL);
}

/* ---- what is full ---- */

static void full_file_changes_nothing(void** state)
{
    struct maar_extent extents[64];
    struct maar_extent extra = {.node = 4242};
    uint32_t count = 0;
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    while (count < 64 && put(count, source, 20000, &extents[count]) == MAAR_STORE_DONE) {
        ++count;
    }
    assert_true(count >= 10 && count < 64);
    const struct maar_store_totals totals = maar_store_get_totals(store);
    const uint64_t calls = fake.calls;
    assert_int_equal(put(99, source, 20000, &extra), MAAR_STORE_FULL);
    assert_int_equal(put(99, source, SIZE_MAX, &extra), MAAR_STORE_FULL);
    assert_true(fake.calls == calls && extra.node == 4242);
    assert_int_equal(maar_store_get_totals(store).used, totals.used);
    assert_true(maar_store_get_totals(store).largest < 20000);
    assert_int_equal(maar_store_result(MAAR_STORE_FULL), VK_ERROR_OUT_OF_POOL_MEMORY);
    for (uint32_t i = 0; i < count; ++i) {
        require_good(&extents[i]);
    }
    maar_store_free(store, &extents[3]);
    extents[3] = write_one(3, 20000);
    for (uint32_t i = 0; i < count; ++i) {
        require_good(&extents[i]);
        maar_store_free(store, &extents[i]);
    }
}

static void requests_run_out(void** state)
{
    struct maar_store_request* requests[8];
    struct maar_store_request* extra = NULL;
    struct maar_extent extents[8];
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    for (uint32_t i = 0; i < 8; ++i) {
        assert_int_equal(maar_store_begin_write(store, i, source, 1000, &requests[i]),
                         MAAR_STORE_PENDING);
        assert_int_equal(maar_store_poll(store, requests[i], &extents[i]), MAAR_STORE_PENDING);
    }
    assert_int_equal(maar_store_begin_write(store, 9, source, 1000, &extra), MAAR_STORE_BUSY);
    assert_null(extra);
    assert_int_equal(maar_store_result(MAAR_STORE_BUSY), VK_NOT_READY);
    assert_int_equal(fake.calls, 0);
    /* The first and the last are taken back, one in the middle is waited for, the others run. */
    assert_true(maar_store_cancel(store, requests[0]));
    assert_true(maar_store_cancel(store, requests[7]));
    assert_int_equal(maar_store_wait(store, requests[3], &extents[3]), MAAR_STORE_DONE);
    assert_int_equal(maar_store_begin_write(store, 7, source, 1000, &requests[7]),
                     MAAR_STORE_PENDING);
    uint32_t runs = 0;
    while (maar_store_run(store)) {
        ++runs;
    }
    assert_int_equal(runs, 6);
    assert_false(maar_store_cancel(store, requests[1]));
    for (uint32_t i = 1; i < 8; ++i) {
        assert_true(i == 3 || maar_store_poll(store, requests[i], &extents[i]) == MAAR_STORE_DONE);
        require_good(&extents[i]);
        maar_store_free(store, &extents[i]);
    }
    assert_int_equal(maar_store_get_totals(store).extent_count, 0);
}

static void queued_requests_end_with_the_store(void** state)
{
    struct maar_store_request* request = NULL;
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    assert_int_equal(maar_store_begin_write(store, 1, source, 1000, &request), MAAR_STORE_PENDING);
    maar_store_destroy(store);
    store = NULL;
}

/* ---- what fails ---- */

static void every_failing_call_is_reported(void** state)
{
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    const struct maar_extent kept = write_one(1, 3 * BUFFER);
    const uint64_t used = maar_store_get_totals(store).used;
    struct maar_extent extent = {.node = MAAR_STORE_NO_NODE};
    enum maar_store_outcome outcome = MAAR_STORE_FAILED;
    uint32_t failures = 0;
    for (uint64_t nth = 1; outcome == MAAR_STORE_FAILED; ++nth) {
        fake.fail_at = fake.calls + nth;
        outcome = put(2, source, 3 * BUFFER, &extent);
        assert_true(outcome == MAAR_STORE_DONE || maar_store_get_totals(store).used == used);
        failures += outcome == MAAR_STORE_FAILED ? 1 : 0;
    }
    assert_int_equal(outcome, MAAR_STORE_DONE);
    assert_int_equal(failures, 4);
    outcome = MAAR_STORE_FAILED;
    for (uint64_t nth = 1; outcome == MAAR_STORE_FAILED; ++nth) {
        fake.fail_at = fake.calls + nth;
        outcome = read_one(&extent);
    }
    assert_int_equal(outcome, MAAR_STORE_DONE);
    fake.fail_at = fake.calls + 1;
    assert_int_equal(maar_store_sync(store), MAAR_STORE_FAILED);
    assert_int_equal(maar_store_result(MAAR_STORE_FAILED), VK_ERROR_UNKNOWN);
    require_good(&kept);
    maar_store_free(store, &kept);
    maar_store_free(store, &extent);
}

/* A write is cut at every byte, and fails, or seems to succeed. The copy that was there before, and
 * its neighbours, stay as they are. */
static void write_cut_at_any_byte_is_noticed(void** state)
{
    const size_t length = BUFFER + 300; /* two pieces */
    const uint64_t size = BUFFER + 512;
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    const struct maar_extent before = write_one(1, length);
    for (uint64_t cut = 0; cut <= size; ++cut) {
        for (int lies = 0; lies < 2; ++lies) {
            struct maar_extent extent = {.node = MAAR_STORE_NO_NODE};
            memset(fake.bytes + size, 0xCD, (size_t)size); /* where the next copy goes */
            fake.bytes_left = cut;
            fake.lies = lies;
            const enum maar_store_outcome outcome = put(2, source, length, &extent);
            fake.bytes_left = UINT64_MAX;
            assert_int_equal(outcome, lies || cut == size ? MAAR_STORE_DONE : MAAR_STORE_FAILED);
            if (outcome == MAAR_STORE_DONE) {
                /* The rest of an extent behind its copy does not matter. */
                const enum maar_store_outcome found = read_one(&extent);
                assert_true(found == MAAR_STORE_DAMAGED ||
                            (found == MAAR_STORE_DONE && memcmp(target, source, length) == 0));
                assert_true(found == MAAR_STORE_DONE || cut < size);
                maar_store_free(store, &extent);
            }
        }
    }
    require_good(&before);
    maar_store_free(store, &before);
}

static void byte_altered_anywhere_is_noticed(void** state)
{
    const size_t length = BUFFER + 300;
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    const struct maar_extent extent = write_one(5, length);
    for (uint64_t at = 0; at < 64 + length; ++at) {
        uint8_t* byte = fake.bytes + extent.offset + at;
        *byte ^= (uint8_t)(1u << at % 8);
        assert_int_equal(read_one(&extent), MAAR_STORE_DAMAGED);
        *byte ^= (uint8_t)(1u << at % 8);
    }
    require_good(&extent);
    maar_store_free(store, &extent);
}

static void file_cut_off_is_noticed(void** state)
{
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    const struct maar_extent extent = write_one(5, 3 * BUFFER);
    for (uint64_t left = 0; left < 3 * BUFFER + 64; left += 100) {
        fake.size_now = extent.offset + left;
        assert_int_equal(read_one(&extent), MAAR_STORE_FAILED);
    }
    fake.size_now = FILE_SIZE;
    require_good(&extent);
    maar_store_free(store, &extent);
}

/* An extent that was freed, and belongs to another copy of the same length now. */
static void other_copies_are_not_handed_out(void** state)
{
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    const struct maar_extent old = write_one(5, 5000);
    maar_store_free(store, &old);
    const struct maar_extent new = write_one(5, 5000);
    assert_int_equal(new.offset, old.offset);
    assert_int_equal(read_one(&old), MAAR_STORE_DAMAGED);
    struct maar_extent wrong = new;
    wrong.identity = 6;
    assert_int_equal(read_one(&wrong), MAAR_STORE_DAMAGED);
    wrong = new;
    wrong.length -= 1;
    assert_int_equal(read_one(&wrong), MAAR_STORE_DAMAGED);
    /* The same bytes at another place are another copy. */
    memcpy(fake.bytes + new.offset + 8192, fake.bytes + new.offset, 5632);
    wrong = new;
    wrong.offset += 8192;
    assert_int_equal(read_one(&wrong), MAAR_STORE_DAMAGED);
    require_good(&new);
    maar_store_free(store, &new);
}

static void impossible_extents_are_damaged(void** state)
{
    static const struct maar_extent wrong[] = {
        {.offset = 0, .length = 0},
        {.offset = 0, .length = UINT64_MAX},
        {.offset = 0, .length = UINT64_MAX - 63},
        {.offset = 0, .length = FILE_SIZE},
        {.offset = FILE_SIZE, .length = 1},
        {.offset = UINT64_MAX - 511, .length = 1},
        {.offset = 7, .length = 1},
    };
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(read_one(&wrong[i]), MAAR_STORE_DAMAGED);
    }
    assert_int_equal(fake.calls, 0);
}

/* ---- host memory ---- */

struct scarce_host {
    uint32_t left;
    uint32_t live;
};

static void* VKAPI_CALL scarce_allocate(void* user, size_t size, size_t alignment,
                                        VkSystemAllocationScope scope)
{
    struct scarce_host* host = user;
    (void)alignment;
    (void)scope;
    if (host->left == 0) {
        return NULL;
    }
    --host->left;
    ++host->live;
    return malloc(size);
}

static void VKAPI_CALL scarce_free(void* user, void* memory)
{
    struct scarce_host* host = user;
    host->live -= memory != NULL ? 1u : 0u;
    free(memory);
}

/* The nth allocation fails, and all later ones: of creation, and of writes that divide the file
 * more than ever before. */
static void nothing_is_lost_without_host_memory(void** state)
{
    (void)state;
    for (uint32_t nth = 0; nth < 40; ++nth) {
        struct scarce_host host = {.left = nth};
        const VkAllocationCallbacks callbacks = {
            .pUserData = &host, .pfnAllocation = scarce_allocate, .pfnFree = scarce_free};
        fake_open(&fake, 4 * FILE_SIZE, ALIGNMENT);
        struct maar_store_info info = info_of_fake();
        info.callbacks = &callbacks;
        const VkResult result = maar_store_create(&info, &store);
        assert_true(result == (store != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY));
        static struct maar_extent extents[1500];
        uint32_t count = 0;
        while (store != NULL && count < 1500) {
            const enum maar_store_outcome outcome = put(count, source, 100, &extents[count]);
            if (outcome != MAAR_STORE_DONE) {
                assert_int_equal(outcome, MAAR_STORE_NO_HOST_MEMORY);
                check_store();
                break;
            }
            ++count;
        }
        for (uint32_t i = 0; i < count; ++i) {
            require_good(&extents[i]);
            maar_store_free(store, &extents[i]);
        }
        (void)close_store(state);
        assert_int_equal(host.live, 0);
        assert_true(nth != 39 || count == 1500);
    }
}

/* ---- threads ---- */

enum { THREADS = 4, TURNS = 300, OWN_COPIES = 6 };

struct worker {
    pthread_t thread;
    uint32_t number;
    uint8_t bytes[OWN_COPIES][6000];
    struct maar_extent extents[OWN_COPIES];
};

static void turn_copy(struct worker* worker, uint32_t which, uint64_t random)
{
    struct maar_extent* extent = &worker->extents[which];
    uint8_t back[6000];
    if (extent->serial != 0) {
        if (get(extent, back) != MAAR_STORE_DONE ||
            memcmp(back, worker->bytes[which], (size_t)extent->length) != 0) {
            abort();
        }
        maar_store_free(store, extent);
        *extent = (struct maar_extent){.serial = 0};
    }
    const size_t length = 1 + (size_t)(random % 6000);
    struct maar_store_request* request = NULL;
    sample_fill(SAMPLE_RANDOM, random, worker->bytes[which], length);
    if (maar_store_begin_write(store, random, worker->bytes[which], length, &request) ==
        MAAR_STORE_PENDING) {
        if (has_ring && random % 7 < 4) {
            (void)maar_store_start(store, request);
            maar_store_drive(store);
        }
        if (random % 3 == 0) {
            (void)maar_store_run(store); /* another thread's, perhaps */
        }
        if ((random % 5 != 0 || !maar_store_cancel(store, request)) &&
            maar_store_wait(store, request, extent) != MAAR_STORE_DONE) {
            abort();
        }
    }
}

static void* work(void* data)
{
    struct worker* worker = data;
    uint64_t random = worker->number + 1;
    for (uint32_t turn = 0; turn < TURNS; ++turn) {
        const uint64_t number = sample_next(&random);
        turn_copy(worker, (uint32_t)(number >> 32) % OWN_COPIES, number);
    }
    for (uint32_t i = 0; i < OWN_COPIES; ++i) {
        if (worker->extents[i].serial != 0) {
            maar_store_free(store, &worker->extents[i]);
        }
    }
    return NULL;
}

static void threads_share_a_store(void** state)
{
    static struct worker workers[THREADS];
    (void)state;
    fake_open(&fake, FILE_SIZE, ALIGNMENT);
    struct maar_store_info info = info_of_fake();
    info.buffer_count = 2; /* fewer than threads */
    assert_int_equal(maar_store_create(&info, &store), VK_SUCCESS);
    for (uint32_t i = 0; i < THREADS; ++i) {
        workers[i] = (struct worker){.number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; ++i) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
    assert_int_equal(maar_store_get_totals(store).extent_count, 0);
}

/* ---- the ring ---- */

/* What the ring cuts off is continued, and what it fails is made by the thread that drives it, at
 * each call in turn. */
static void ring_that_fails_changes_nothing(void** state)
{
    (void)state;
    for (uint64_t nth = 0; nth < 4 * 60; ++nth) {
        struct maar_store_request* requests[4];
        struct maar_extent extents[4];
        uint8_t* found = malloc(4 * (size_t)MOST_LENGTH);
        assert_non_null(found);
        open_store(FILE_SIZE, ALIGNMENT);
        ring.random = nth + 1;
        ring.cuts = 1 + (uint32_t)nth % 5;
        ring.fails = nth % 3 == 0 && nth % 4 != 3 ? 3 : 0; /* no call fails twice */
        uint64_t* const turns[] = {&ring.busy_at, &ring.breaks_at, &ring.full_at, &fake.fail_at};
        *turns[nth % 4] = 1 + nth / 4;
        for (uint32_t i = 0; i < 4; ++i) {
            const size_t length = MOST_LENGTH / (i + 1);
            assert_int_equal(maar_store_begin_write(store, i, source + i, length - i, &requests[i]),
                             MAAR_STORE_PENDING);
            (void)maar_store_start(store, requests[i]);
        }
        for (uint32_t i = 4; i-- != 0;) {
            assert_int_equal(maar_store_wait(store, requests[i], &extents[i]), MAAR_STORE_DONE);
        }
        for (uint32_t i = 0; i < 4; ++i) {
            assert_int_equal(
                maar_store_begin_read(store, &extents[i], found + i * MOST_LENGTH, &requests[i]),
                MAAR_STORE_PENDING);
            (void)maar_store_start(store, requests[i]);
        }
        for (uint32_t i = 0; i < 4; ++i) {
            assert_int_equal(maar_store_wait(store, requests[i], NULL), MAAR_STORE_DONE);
            assert_memory_equal(found + i * MOST_LENGTH, source + i, (size_t)extents[i].length);
            maar_store_free(store, &extents[i]);
        }
        /* A ring that was broken is used no more. */
        assert_true(maar_store_has_ring(store) ==
                    (ring.breaks_at == 0 || ring.submits < ring.breaks_at));
        free(found);
        (void)close_store(state);
        fake.fail_at = 0;
    }
}

/* A piece that neither the ring nor the thread can transfer fails the request, and nothing else. */
static void piece_that_cannot_be_had_fails_its_request(void** state)
{
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    const struct maar_extent kept = write_one(1, 5 * BUFFER);
    const uint64_t used = maar_store_get_totals(store).used;
    struct maar_extent extent = {.node = MAAR_STORE_NO_NODE};
    uint32_t failures = 0;
    for (uint64_t left = 0; left < 6 * BUFFER; left += 512) {
        fake.bytes_left = left;
        const enum maar_store_outcome outcome = put(2, source, 5 * BUFFER, &extent);
        fake.bytes_left = UINT64_MAX;
        failures += outcome == MAAR_STORE_FAILED ? 1 : 0;
        assert_true(outcome == MAAR_STORE_FAILED || outcome == MAAR_STORE_DONE);
        if (outcome == MAAR_STORE_DONE) {
            require_good(&extent);
            maar_store_free(store, &extent);
        }
        assert_int_equal(maar_store_get_totals(store).used, used);
        require_good(&kept);
    }
    assert_true(failures > 10 && failures < 48);
    fake.size_now = kept.offset + 2 * BUFFER;
    assert_int_equal(read_one(&kept), MAAR_STORE_FAILED);
    fake.size_now = FILE_SIZE;
    require_good(&kept);
    maar_store_free(store, &kept);
}

/* A thread goes on after it has started a request, and what it does not wait for ends all the
 * same. */
static void requests_go_on_without_a_thread(void** state)
{
    struct maar_store_request* request = NULL;
    struct maar_extent extent;
    uint32_t drives = 0;
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    assert_int_equal(maar_store_begin_write(store, 1, source, MOST_LENGTH, &request),
                     MAAR_STORE_PENDING);
    assert_true(maar_store_start(store, request));
    assert_false(maar_store_cancel(store, request));
    assert_false(maar_store_run(store));
    assert_int_equal(maar_store_under_way(store), 1);
    assert_int_equal(fake.calls, 0);
    while (maar_store_poll(store, request, &extent) == MAAR_STORE_PENDING) {
        maar_store_drive(store);
        assert_true(++drives < 1000);
    }
    assert_int_equal(maar_store_under_way(store), 0);
    assert_int_equal(maar_store_ended(store), 1);
    const struct maar_file_counts counts = maar_store_get_counts(store);
    assert_true(counts.ring_count == 10 && counts.thread_count == 0);
    assert_true(counts.ring_size == 40448);
    assert_true(maar_store_await(store, 0));
    assert_false(maar_store_await(store, 1)); /* nothing is under way */
    require_good(&extent);
    maar_store_free(store, &extent);
}

/* Nothing of a store that is destroyed is with the system any more. */
static void started_requests_end_before_the_store(void** state)
{
    struct maar_store_request* request = NULL;
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(maar_store_begin_write(store, i, source, MOST_LENGTH, &request),
                         MAAR_STORE_PENDING);
        assert_true(maar_store_start(store, request));
        maar_store_drive(store);
    }
    maar_store_destroy(store);
    store = NULL;
    assert_true(ring.count == 0 && ring.done_count == 0);
}

/* The head is the mark of a whole copy. */
static void head_is_written_when_all_else_is(void** state)
{
    struct maar_store_request* request = NULL;
    struct maar_extent extent;
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    assert_int_equal(maar_store_begin_write(store, 1, source, MOST_LENGTH, &request),
                     MAAR_STORE_PENDING);
    assert_true(maar_store_start(store, request));
    while (fake.bytes[0] == 0xCD) {
        assert_int_equal(maar_store_poll(store, request, &extent), MAAR_STORE_PENDING);
        if (ring.count > 0 && ring.entries[ring.count - 1].offset == 0) {
            assert_int_equal(ring.count, 1);
            assert_memory_equal(fake.bytes + BUFFER, source + BUFFER - 64,
                                MOST_LENGTH - BUFFER + 64);
        }
        maar_store_drive(store);
    }
    assert_int_equal(maar_store_wait(store, request, &extent), MAAR_STORE_DONE);
    maar_store_free(store, &extent);
}

/* A child process has a copy of the ring and none of its transfers. */
static void ring_of_another_process_is_left_alone(void** state)
{
    struct maar_store_request* requests[2] = {NULL, NULL};
    struct maar_extent extent = {.node = MAAR_STORE_NO_NODE};
    (void)state;
    open_store(FILE_SIZE, ALIGNMENT);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maar_store_begin_write(store, i, source, MOST_LENGTH, &requests[i]),
                         MAAR_STORE_PENDING);
        assert_true(maar_store_start(store, requests[i]));
    }
    maar_store_drive(store);
    while (ring.submitted > 0) {
        fake_ring_make(&ring, 0);
    }
    const uint64_t adds = ring.adds;
    const uint64_t submits = ring.submits;
    const uint64_t taken = ring.taken;
    const uint32_t done = ring.done_count; /* for the parent */
    assert_true(done > 0);
    ring.is_foreign = true;
    assert_false(maar_store_has_ring(store));
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maar_store_wait(store, requests[i], &extent), MAAR_STORE_FAILED);
    }
    assert_int_equal(maar_store_get_totals(store).extent_count, 0);
    extent = write_one(3, MOST_LENGTH);
    require_good(&extent);
    assert_true(ring.adds == adds && ring.submits == submits);
    assert_true(ring.taken == taken && ring.done_count == done);
    assert_true(maar_store_get_counts(store).thread_count == 20);
    maar_store_free(store, &extent);
}

#define ring_unit_test(function)                                                                   \
    {                                                                                              \
#function " with a ring", function, take_the_ring, close_ringed, NULL                      \
    }
#define store_unit_test(function) cmocka_unit_test_teardown(function, close_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum_is_that_of_xxh64),
        store_unit_test(copies_of_all_lengths_come_back),
        store_unit_test(store_without_an_alignment_has_one_of_1),
        store_unit_test(copy_outlives_its_store),
        store_unit_test(wrong_tables_are_refused),
        store_unit_test(full_file_changes_nothing),
        store_unit_test(requests_run_out),
        store_unit_test(queued_requests_end_with_the_store),
        store_unit_test(every_failing_call_is_reported),
        store_unit_test(write_cut_at_any_byte_is_noticed),
        store_unit_test(byte_altered_anywhere_is_noticed),
        store_unit_test(file_cut_off_is_noticed),
        store_unit_test(other_copies_are_not_handed_out),
        store_unit_test(impossible_extents_are_damaged),
        store_unit_test(nothing_is_lost_without_host_memory),
        store_unit_test(threads_share_a_store),
        ring_unit_test(copies_of_all_lengths_come_back),
        ring_unit_test(store_without_an_alignment_has_one_of_1),
        ring_unit_test(copy_outlives_its_store),
        ring_unit_test(full_file_changes_nothing),
        ring_unit_test(queued_requests_end_with_the_store),
        ring_unit_test(write_cut_at_any_byte_is_noticed),
        ring_unit_test(byte_altered_anywhere_is_noticed),
        ring_unit_test(file_cut_off_is_noticed),
        ring_unit_test(other_copies_are_not_handed_out),
        ring_unit_test(impossible_extents_are_damaged),
        ring_unit_test(nothing_is_lost_without_host_memory),
        ring_unit_test(threads_share_a_store),
        ring_unit_test(ring_that_fails_changes_nothing),
        ring_unit_test(piece_that_cannot_be_had_fails_its_request),
        ring_unit_test(requests_go_on_without_a_thread),
        ring_unit_test(started_requests_end_before_the_store),
        ring_unit_test(head_is_written_when_all_else_is),
        ring_unit_test(ring_of_another_process_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
