/*
 * Copies in a real file whose transfers the kernel makes (io_uring), cut at each byte: writes that
 * the system cuts off, since the process may write no more; writes of which only a part has reached
 * the disk, though all was said to have succeeded; bytes that were altered; and a file that was cut
 * off. Each read afterwards gives what was written, or says that it is lost.
 *
 * A copy has three pieces. The one with the head is written last.
 */
#include "core/residency/residency_state.h"
#include "tests/unit/residency/residency_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/residency/store_ring.h"
#include "support/sample_bytes.h"

enum {
    PIECE = 4096,
    EXTENT = 3 * PIECE,
    HEAD = 64,
    COPY = 9000, /* what follows in the extent is nobody's */
    STORE_SIZE = 1 << 20,
    RESIDENTS = 6,
    RESIDENT_EXTENT = UNIT + PIECE,
    SKIPPED = 77
};

static const char path[] = "maar_test_file_ring_cut.tmp";
static MaarFileStore table;
static struct maar_store* store;
static int raw = -1; /* the same file, as somebody else sees it */
static uint8_t source[COPY];
static uint8_t older[COPY];
static uint8_t found[COPY];
static struct maar_extent neighbour; /* a copy before the one that is cut */
static uint64_t writes;              /* since the neighbour */

static void open_table(MaarFileStoreOpenFlags flags)
{
    const MaarFileStoreOpenInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO,
        .pPath = path,
        .flags = flags | MAAR_FILE_STORE_OPEN_KEEP_BIT,
        .size = STORE_SIZE,
    };
    (void)remove(path);
    table = (MaarFileStore){.sType = MAAR_STRUCTURE_TYPE_FILE_STORE};
    assert_int_equal(maarOpenFileStore(&info, &table), VK_SUCCESS);
    raw = open(path, O_RDWR | O_CLOEXEC);
    assert_true(raw >= 0);
}

static void close_table(void)
{
    (void)close(raw);
    maarCloseFileStore(&table);
    (void)remove(path);
}

/* ---- copies ---- */

/* Writes by the kernel. */
static enum maar_store_outcome put(const uint8_t* bytes, struct maar_extent* extent)
{
    struct maar_store_request* request = NULL;
    ++writes;
    assert_int_equal(maar_store_begin_write(store, 7, bytes, COPY, &request), MAAR_STORE_PENDING);
    assert_true(maar_store_start(store, request));
    return maar_store_wait(store, request, extent);
}

/* Reads by the kernel. */
static enum maar_store_outcome get(const struct maar_extent* extent)
{
    struct maar_store_request* request = NULL;
    memset(found, 0, sizeof found);
    assert_int_equal(maar_store_begin_read(store, extent, found, &request), MAAR_STORE_PENDING);
    assert_true(maar_store_start(store, request));
    return maar_store_wait(store, request, NULL);
}

static void expect_copy(const struct maar_extent* extent, const uint8_t* bytes)
{
    assert_int_equal(get(extent), MAAR_STORE_DONE);
    assert_memory_equal(found, bytes, COPY);
}

/* A copy is right, or is said to be damaged. */
static void expect_right_or_damaged(const struct maar_extent* extent, bool is_right)
{
    assert_int_equal(get(extent), is_right ? MAAR_STORE_DONE : MAAR_STORE_DAMAGED);
    assert_true(!is_right || memcmp(found, source, COPY) == 0);
}

static void open_store(MaarFileStoreOpenFlags flags)
{
    open_table(flags);
    const struct maar_store_info info = {
        .file = &table, .buffer_size = PIECE, .synchronized = true};
    assert_int_equal(maar_store_create(&info, &store), VK_SUCCESS);
    assert_true(maar_store_has_ring(store));
    sample_fill(SAMPLE_RANDOM, 3, source, sizeof source);
    sample_fill(SAMPLE_RANDOM, 4, older, sizeof older);
    assert_int_equal(put(older, &neighbour), MAAR_STORE_DONE);
    writes = 0;
}

static void close_store(void)
{
    expect_copy(&neighbour, older);
    assert_true(maar_store_has_ring(store));
    maar_store_free(store, &neighbour);
    assert_null(maar_store_check(store));
    maar_store_destroy(store);
    close_table();
}

/* The bytes of an extent as somebody else sees them. */
static void look(const struct maar_extent* extent, uint8_t* bytes)
{
    assert_int_equal(pread(raw, bytes, EXTENT, (off_t)extent->offset), EXTENT);
}

static void alter(const struct maar_extent* extent, size_t at, const uint8_t* bytes, size_t size)
{
    assert_int_equal(pwrite(raw, bytes, size, (off_t)(extent->offset + at)), size);
}

/* Beyond this byte of the file the process may write nothing; RLIM_INFINITY: anywhere. */
static void limit_file(rlim_t size)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* ---- stores ---- */

/* The write fails, its room is given back, and what it has left in the file is no copy. */
static void writes_that_are_cut_leave_nothing(void** state)
{
    struct maar_extent extent;
    (void)state;
    open_store(MAAR_FILE_STORE_OPEN_CACHED_BIT);
    assert_int_equal(put(source, &extent), MAAR_STORE_DONE);
    maar_store_free(store, &extent);
    for (uint32_t left = 0; left < EXTENT; ++left) {
        const struct maar_store_totals before = maar_store_get_totals(store);
        limit_file(extent.offset + left);
        const enum maar_store_outcome outcome = put(source, &extent);
        limit_file(RLIM_INFINITY);
        assert_int_equal(outcome, MAAR_STORE_FAILED);
        assert_int_equal(maar_store_get_totals(store).used, before.used);
        struct maar_extent never = extent;
        never.node = MAAR_STORE_NO_NODE;
        never.serial = neighbour.serial + writes;
        expect_right_or_damaged(&never, false);
        if (left % 256 == 0) {
            expect_copy(&neighbour, older);
        }
    }
    assert_int_equal(put(source, &extent), MAAR_STORE_DONE);
    expect_copy(&extent, source);
    maar_store_free(store, &extent);
    close_store();
}

/* Where the file goes past the system's cache, whole blocks are missing. */
static void direct_writes_that_are_cut_leave_nothing(void** state)
{
    struct maar_extent extent;
    (void)state;
    open_store(0);
    assert_int_equal(put(source, &extent), MAAR_STORE_DONE);
    maar_store_free(store, &extent);
    for (uint32_t left = 0; left < EXTENT; left += PIECE) {
        limit_file(extent.offset + left);
        const enum maar_store_outcome outcome = put(source, &extent);
        limit_file(RLIM_INFINITY);
        assert_int_equal(outcome, MAAR_STORE_FAILED);
        expect_copy(&neighbour, older);
    }
    assert_int_equal(put(source, &extent), MAAR_STORE_DONE);
    expect_copy(&extent, source);
    maar_store_free(store, &extent);
    close_store();
}

/* The first bytes have reached the disk and the others not, or the other way round, step by step.
 * Before, an older copy of the same number and length was there. */
static void compare_parts(MaarFileStoreOpenFlags flags, uint32_t step)
{
    static uint8_t before[EXTENT];
    static uint8_t after[EXTENT];
    static uint8_t disk[EXTENT];
    struct maar_extent first;
    struct maar_extent extent;
    uint32_t right = 0;
    open_store(flags);
    assert_int_equal(put(older, &first), MAAR_STORE_DONE);
    look(&first, before);
    maar_store_free(store, &first);
    assert_int_equal(put(source, &extent), MAAR_STORE_DONE);
    assert_int_equal(extent.offset, first.offset);
    look(&extent, after);
    for (uint32_t way = 0; way < 2; ++way) {
        const uint8_t* begins = way == 0 ? before : after; /* what is there first */
        const uint8_t* comes = way == 0 ? after : before;
        memcpy(disk, begins, EXTENT);
        alter(&extent, 0, disk, EXTENT);
        for (uint32_t at = 0; at < EXTENT; at += step) {
            const uint32_t size = at + step < EXTENT ? step : EXTENT - at;
            const bool is_right = memcmp(disk, after, HEAD + COPY) == 0;
            right += is_right ? 1 : 0;
            expect_right_or_damaged(&extent, is_right);
            memcpy(&disk[at], &comes[at], size);
            alter(&extent, at, &disk[at], size);
        }
        expect_right_or_damaged(&extent, way == 0);
        expect_copy(&neighbour, older);
    }
    assert_true(right > 0);
    maar_store_free(store, &extent);
    close_store();
}

static void parts_of_a_write_are_no_copy(void** state)
{
    (void)state;
    compare_parts(MAAR_FILE_STORE_OPEN_CACHED_BIT, 1);
}

static void parts_of_a_direct_write_are_no_copy(void** state)
{
    (void)state;
    compare_parts(0, 61);
}

/* Each byte that is altered is noticed, but for those behind the copy. */
static void altered_bytes_are_noticed(void** state)
{
    static uint8_t disk[EXTENT];
    struct maar_extent extent;
    (void)state;
    open_store(MAAR_FILE_STORE_OPEN_CACHED_BIT);
    assert_int_equal(put(source, &extent), MAAR_STORE_DONE);
    look(&extent, disk);
    for (uint32_t at = 0; at < EXTENT; ++at) {
        const uint8_t altered = disk[at] ^ (uint8_t)(1u << at % 8);
        alter(&extent, at, &altered, 1);
        expect_right_or_damaged(&extent, at >= HEAD + COPY);
        alter(&extent, at, &disk[at], 1);
    }
    expect_copy(&extent, source);
    maar_store_free(store, &extent);
    close_store();
}

/* A file that was cut off has no copy, and one that has its length again may have any bytes. */
static void files_that_are_cut_off_are_noticed(void** state)
{
    static uint8_t disk[EXTENT];
    struct maar_extent extent;
    (void)state;
    open_store(MAAR_FILE_STORE_OPEN_CACHED_BIT);
    assert_int_equal(put(source, &extent), MAAR_STORE_DONE);
    look(&extent, disk);
    for (uint32_t left = 0; left < EXTENT; ++left) {
        assert_int_equal(ftruncate(raw, (off_t)(extent.offset + left)), 0);
        assert_int_equal(get(&extent), MAAR_STORE_FAILED);
        assert_int_equal(ftruncate(raw, STORE_SIZE), 0);
        expect_right_or_damaged(&extent, left >= HEAD + COPY);
        alter(&extent, 0, disk, EXTENT);
    }
    expect_copy(&extent, source);
    maar_store_free(store, &extent);
    close_store();
}

/* ---- managers ---- */

static MaarResident residents[RESIDENTS];
static uint32_t words[RESIDENTS];

static struct maar_residency* residency_state(void)
{
    return maar_object_of(rig->allocator, MAAR_OBJECT_RESIDENCY, MAAR_TO_BITS(manager));
}

static void write_resident(uint32_t at)
{
    static uint32_t word = 0x1000;
    words[at] = ++word;
    write_buffer(residents[at], words[at]);
}

/* Room for one resident on the device and for two in host memory; the others are in the file. */
static void open_residents(void)
{
    MaarResidencyCreateInfo info = manager_info(UNIT, 2 * UNIT);
    open_table(MAAR_FILE_STORE_OPEN_CACHED_BIT);
    info.pFileStore = &table;
    info.pfnEvent = NULL;
    open_device();
    open_manager(&info);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        residents[i] = create_buffer(UNIT, MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT);
        write_resident(i);
        settle();
        do_work();
    }
}

static void close_residents(void)
{
    const MaarFileTransfers transfers = manager_state().fileTransfers;
    assert_int_equal(transfers.path, MAAR_FILE_TRANSFER_PATH_IO_URING);
    assert_true(transfers.systemCount > RESIDENTS);
    rig_forget_messages(rig);
    close_scene();
    (void)rig_end_case(NULL);
    close_table();
}

/* Uses the others, until the file alone has a resident. Returns where. */
static struct maar_extent push_to_file(uint32_t at)
{
    for (uint32_t i = 1; i < 4 * RESIDENTS; ++i) {
        const uint32_t other = (at + i) % RESIDENTS;
        const struct maar_resident* resident = maar_resident_of(residency_state(), residents[at]);
        if (resident->valid == MAAR_VALID_IN(MAAR_TIER_FILE) && resident->work == NULL) {
            return resident->extent;
        }
        if (other != at) {
            expect_buffer(residents[other], words[other]);
            settle();
            do_work();
        }
    }
    fail_msg("resident %u never was in the file alone", at);
    return (struct maar_extent){.length = 0};
}

/* Of each copy the bytes from some place on are others, and one byte alone is another one. */
static void uses_get_what_was_written_or_the_loss(void** state)
{
    enum { STEP = 1021 };
    static uint8_t disk[RESIDENT_EXTENT];
    uint32_t lost = 0;
    uint32_t kept = 0;
    (void)state;
    open_residents();
    for (uint32_t cut = 0; cut < RESIDENT_EXTENT; cut += STEP) {
        const uint32_t at = cut / STEP % RESIDENTS;
        const struct maar_extent extent = push_to_file(at);
        const size_t size = cut / STEP % 2 == 0 ? RESIDENT_EXTENT - cut : 1;
        MaarUse use = VK_NULL_HANDLE;
        assert_int_equal(pread(raw, disk, size, (off_t)(extent.offset + cut)), size);
        for (size_t i = 0; i < size; ++i) {
            disk[i] ^= 0x55;
        }
        alter(&extent, cut, disk, size);
        rig_forget_messages(rig);
        const VkResult result =
            try_use(residents[at], MAAR_ACCESS_READ_BIT, MAAR_USE_WAIT_BIT, &use);
        assert_int_equal(result, cut < HEAD + UNIT ? VK_ERROR_INITIALIZATION_FAILED : VK_SUCCESS);
        if (result == VK_SUCCESS) {
            compare_and_end(use, residents[at], words[at]);
            ++kept;
        } else {
            rig_expect_message(rig, MAAR_MESSAGE_ID_CONTENTS_LOST);
            ++lost;
            write_resident(at);
        }
        expect_no_pins();
        assert_int_equal(manager_state().lostCount, lost);
    }
    assert_true(lost > 50 && kept > 0);
    close_residents();
}

/* What cannot be written stays where it is, and comes back. */
static void uses_get_all_where_writes_are_cut(void** state)
{
    enum { STEP = 4099 };
    uint32_t cut_writes = 0;
    (void)state;
    open_residents();
    for (uint32_t left = 0; left < RESIDENTS * RESIDENT_EXTENT; left += STEP) {
        rig_forget_messages(rig);
        write_resident(left / STEP % RESIDENTS);
        settle();
        limit_file(left);
        do_work();
        limit_file(RLIM_INFINITY);
        settle();
        cut_writes += rig->messages.last_id == MAAR_MESSAGE_ID_STORE_WRITE_FAILED ? 1 : 0;
        for (uint32_t i = 0; i < RESIDENTS; ++i) {
            expect_buffer(residents[i], words[i]);
            expect_no_pins();
        }
    }
    assert_true(cut_writes > 10);
    assert_int_equal(manager_state().lostCount, 0);
    close_residents();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(writes_that_are_cut_leave_nothing),
        rig_unit_test(direct_writes_that_are_cut_leave_nothing),
        rig_unit_test(parts_of_a_write_are_no_copy),
        rig_unit_test(parts_of_a_direct_write_are_no_copy),
        rig_unit_test(altered_bytes_are_noticed),
        rig_unit_test(files_that_are_cut_off_are_noticed),
        rig_unit_test(uses_get_what_was_written_or_the_loss),
        rig_unit_test(uses_get_all_where_writes_are_cut),
    };
    struct maar_ring ring;
    if (!maar_ring_open(&ring, 8)) {
        print_message("skipped: the kernel or the sandbox has no io_uring\n");
        return SKIPPED;
    }
    maar_ring_close(&ring);
    /* A write beyond the limit would end the process. */
    (void)signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
