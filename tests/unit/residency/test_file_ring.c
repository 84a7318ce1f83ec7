/*
 * Files of the system whose transfers the kernel makes by itself (io_uring), below a manager of
 * residents: who makes the transfers, and every call of the kernel and every transfer that fails.
 * Contents are kept, nothing stays pinned, and no descriptor is left open.
 */
#include "tests/unit/residency/residency_fixture.h"
#include "tests/unit/residency/wrapped_kernel.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/port_ring.h"
#include "core/residency/store_ring.h"
#include "support/sample_bytes.h"

enum { RESIDENTS = 6, SIDE = 16 * UNIT, STORE_SIZE = 64 << 20, COPY = 700001 };

static const struct wrapped_faults no_faults;
static const char path[] = "maar_test_file_ring.tmp";
static MaarFileStore table;
static MaarResident residents[RESIDENTS];
static uint8_t source[COPY];
static uint8_t found[COPY];

static bool has_rings(void)
{
    struct maar_ring ring;
    wrap_faults(&no_faults);
    const bool is_open = maar_ring_open(&ring, 8);
    maar_ring_close(&ring);
    return is_open;
}

static void need_rings(void)
{
    if (!has_rings()) {
        print_message("skipped: the kernel or the sandbox has no io_uring\n");
        skip();
    }
}

static uint32_t count_descriptors(void)
{
    uint32_t count = 0;
    DIR* folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        ++count;
    }
    (void)closedir(folder);
    return count;
}

static void open_table(MaarFileStoreOpenFlags flags)
{
    const MaarFileStoreOpenInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO,
        .pPath = path,
        .flags = flags,
        .size = STORE_SIZE,
    };
    (void)remove(path);
    table = (MaarFileStore){.sType = MAAR_STRUCTURE_TYPE_FILE_STORE};
    assert_int_equal(maarOpenFileStore(&info, &table), VK_SUCCESS);
}

static struct maar_store* open_store(MaarFileStoreOpenFlags flags)
{
    struct maar_store* store = NULL;
    open_table(flags);
    const struct maar_store_info info = {.file = &table, .synchronized = true};
    assert_int_equal(maar_store_create(&info, &store), VK_SUCCESS);
    sample_fill(SAMPLE_RANDOM, 3, source, sizeof source);
    return store;
}

static void close_store(struct maar_store* store)
{
    assert_null(maar_store_check(store));
    maar_store_destroy(store);
    maarCloseFileStore(&table);
    (void)remove(path);
}

static enum maar_store_outcome finish(struct maar_store* store, struct maar_store_request* request,
                                      struct maar_extent* extent)
{
    assert_non_null(request);
    (void)maar_store_start(store, request);
    return maar_store_wait(store, request, extent);
}

static struct maar_extent put(struct maar_store* store, size_t length)
{
    struct maar_store_request* request = NULL;
    struct maar_extent extent = {.node = MAAR_STORE_NO_NODE};
    assert_int_equal(maar_store_begin_write(store, 7, source, length, &request),
                     MAAR_STORE_PENDING);
    assert_int_equal(finish(store, request, &extent), MAAR_STORE_DONE);
    return extent;
}

static enum maar_store_outcome get(struct maar_store* store, const struct maar_extent* extent)
{
    struct maar_store_request* request = NULL;
    memset(found, 0, sizeof found);
    assert_int_equal(maar_store_begin_read(store, extent, found, &request), MAAR_STORE_PENDING);
    return finish(store, request, NULL);
}

/* ---- stores ---- */

/* The kernel makes all transfers of a file, cached or not, unless the program wants it otherwise.
 */
static void kernel_makes_all_transfers(void** state)
{
    static const MaarFileStoreOpenFlags ways[] = {0, MAAR_FILE_STORE_OPEN_CACHED_BIT,
                                                  MAAR_FILE_STORE_OPEN_THREADS_BIT};
    (void)state;
    need_rings();
    for (uint32_t way = 0; way < 3; ++way) {
        wrap_faults(&no_faults);
        struct maar_store* store = open_store(ways[way]);
        assert_true(maar_store_has_ring(store) == (way < 2));
        const struct maar_extent extent = put(store, COPY);
        assert_int_equal(get(store, &extent), MAAR_STORE_DONE);
        assert_memory_equal(found, source, COPY);
        const struct maar_file_counts counts = maar_store_get_counts(store);
        assert_true(way < 2 ? counts.thread_count == 0 && counts.ring_count == 6
                            : counts.ring_count == 0 && counts.thread_count == 2);
        assert_true(counts.ring_size + counts.thread_size == 2 * 700416ull);
        assert_true((wrapped.setups > 0) == (way < 2));
        maar_store_free(store, &extent);
        close_store(store);
    }
}

/* A table of the program's own that calls Maar's functions keeps being called. */
static void tables_around_the_file_are_asked(void** state)
{
    struct maar_store* store = NULL;
    (void)state;
    open_table(0);
    MaarFileStore own = table;
    own.pfnWrite = table.pfnRead; /* some function of the program */
    const struct maar_store_info info = {.file = &own};
    assert_int_equal(maar_store_create(&info, &store), VK_SUCCESS);
    assert_false(maar_store_has_ring(store));
    close_store(store);
}

/* Without a ring all is as if there were none in the system, and nothing stays open. */
static void rings_that_cannot_be_opened_leave_threads(void** state)
{
    static const struct wrapped_faults faults[] = {
        {.setup_error = ENOSYS},
        {.setup_error = EPERM},
        {.setup_error = ENOMEM},
        {.setup_error = EMFILE},
        {.map_at = 1},
        {.map_at = 2},
        {.removed_features = IORING_FEAT_SINGLE_MMAP},
        {.removed_features = IORING_FEAT_NODROP},
        {.removed_features = IORING_FEAT_RW_CUR_POS},
    };
    (void)state;
    need_rings();
    const uint32_t before = count_descriptors();
    for (uint32_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        struct maar_ring ring;
        wrap_faults(&faults[i]);
        assert_false(maar_ring_open(&ring, 8));
        assert_int_equal(ring.descriptor, -1);
        assert_int_equal(count_descriptors(), before);
        wrap_faults(&faults[i]);
        struct maar_store* store = open_store(0);
        assert_false(maar_store_has_ring(store));
        const struct maar_extent extent = put(store, COPY);
        assert_int_equal(get(store, &extent), MAAR_STORE_DONE);
        assert_memory_equal(found, source, COPY);
        assert_int_equal(maar_store_get_counts(store).ring_count, 0);
        assert_int_equal(wrapped.enters, 0);
        maar_store_free(store, &extent);
        close_store(store);
        assert_int_equal(count_descriptors(), before);
    }
}

/* A file that was cut off or altered by somebody else. */
static void altered_files_are_noticed(void** state)
{
    (void)state;
    need_rings();
    struct maar_store* store =
        open_store(MAAR_FILE_STORE_OPEN_KEEP_BIT | MAAR_FILE_STORE_OPEN_CACHED_BIT);
    const struct maar_extent extent = put(store, COPY);
    for (uint32_t at = 0; at < COPY; at += 50000) {
        uint8_t byte = 0;
        FILE* file = fopen(path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, (long)extent.offset + 64 + (long)at, SEEK_SET), 0);
        byte = source[at] ^ 4u;
        assert_int_equal(fwrite(&byte, 1, 1, file), 1);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(get(store, &extent), MAAR_STORE_DAMAGED);
        file = fopen(path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, (long)extent.offset + 64 + (long)at, SEEK_SET), 0);
        assert_int_equal(fwrite(&source[at], 1, 1, file), 1);
        assert_int_equal(fclose(file), 0);
    }
    assert_int_equal(get(store, &extent), MAAR_STORE_DONE);
    for (uint32_t left = 600000; left > 0; left /= 3) {
        assert_int_equal(truncate(path, (off_t)extent.offset + (off_t)left), 0);
        assert_int_equal(get(store, &extent), MAAR_STORE_FAILED);
    }
    maar_store_free(store, &extent);
    close_store(store);
}

/* Each call and each transfer fails in turn, of a write and of a read. */
static void copies_survive_each_failing_call(void** state)
{
    static const int errors[] = {EAGAIN, EBUSY, EINTR, EBADF, ENOSYS, EPERM};
    uint32_t lost_rings = 0;
    (void)state;
    need_rings();
    const uint32_t before = count_descriptors();
    for (uint32_t nth = 1; nth <= 8; ++nth) {
        for (uint32_t kind = 0; kind < 14; ++kind) {
            struct wrapped_faults faults = no_faults;
            faults.cut_at = kind == 0 ? nth : 0;
            faults.fail_at = kind == 1 ? nth : 0;
            faults.enter_at = kind >= 2 ? nth : 0;
            faults.enter_error = kind >= 2 ? errors[(kind - 2) % 6] : 0;
            /* A kernel that takes nothing for ever, or only this time. */
            faults.enter_count = kind < 8 || faults.enter_error == EINTR ? 1 : UINT32_MAX;
            wrap_faults(&faults);
            struct maar_store* store = open_store(0);
            const struct maar_extent extent = put(store, COPY);
            assert_int_equal(get(store, &extent), MAAR_STORE_DONE);
            assert_memory_equal(found, source, COPY);
            const struct maar_file_counts counts = maar_store_get_counts(store);
            assert_true(kind != 0 || counts.thread_count == 0);
            assert_true(kind != 1 || counts.thread_count == (nth <= 6 ? 1u : 0u));
            lost_rings += maar_store_has_ring(store) ? 0 : 1;
            /* What passes breaks no ring. */
            assert_true(maar_store_has_ring(store) || (kind >= 2 && (kind - 2) % 6 >= 3));
            maar_store_free(store, &extent);
            close_store(store);
        }
    }
    assert_true(lost_rings > 10);
    assert_int_equal(count_descriptors(), before);
}

/* Waits until the kernel has returned a transfer that nobody has taken. */
static void await_result(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    uint32_t head = 0;
    uint32_t tail = 0;
    while (head == tail) {
        (void)nanosleep(&moment, NULL);
        memcpy(&head, wrapped.queues + wrapped.made.cq_off.head, sizeof head);
        memcpy(&tail, wrapped.queues + wrapped.made.cq_off.tail, sizeof tail);
    }
}

/* A child has no transfers, and leaves those of its parent alone, those that came back too. */
static void children_do_without_the_ring(void** state)
{
    struct maar_store_request* request = NULL;
    struct maar_extent second;
    int status = 1;
    (void)state;
    need_rings();
    struct maar_store* store = open_store(0);
    const struct maar_extent extent = put(store, COPY);
    assert_int_equal(maar_store_begin_write(store, 8, source, COPY, &request), MAAR_STORE_PENDING);
    assert_true(maar_store_start(store, request));
    maar_store_drive(store);
    await_result();
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const uint32_t enters = wrapped.enters;
        const bool is_right = !maar_store_has_ring(store) &&
                              maar_store_wait(store, request, &second) == MAAR_STORE_FAILED &&
                              maar_store_read(store, &extent, found) == MAAR_STORE_DONE &&
                              memcmp(found, source, COPY) == 0 && wrapped.enters == enters;
        maar_store_destroy(store);
        _exit(is_right ? 0 : 1);
    }
    assert_int_equal(maar_store_wait(store, request, &second), MAAR_STORE_DONE);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(get(store, &second), MAAR_STORE_DONE);
    assert_memory_equal(found, source, COPY);
    assert_true(maar_store_has_ring(store));
    maar_store_free(store, &extent);
    maar_store_free(store, &second);
    close_store(store);
}

/* ---- managers ---- */

/* Room for one resident on the device and for two in host memory; the others are in the file. */
static void open_residents(MaarFileStoreOpenFlags flags)
{
    open_table(flags);
    MaarResidencyCreateInfo info = manager_info(SIDE, 2 * SIDE);
    info.pFileStore = &table;
    info.pfnEvent = NULL;
    open_device();
    open_manager(&info);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        residents[i] = create_buffer(SIDE, MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT);
        write_buffer(residents[i], 50 + i);
        update();
        do_work();
    }
}

static void close_residents(void)
{
    rig_forget_messages(rig);
    close_scene();
    (void)rig_end_case(NULL);
    maarCloseFileStore(&table);
    (void)remove(path);
}

/* What is in the file comes back, with each call and each transfer failing in turn. */
static void contents_survive_each_failing_call(void** state)
{
    (void)state;
    need_rings();
    for (uint32_t nth = 0; nth < 40; ++nth) {
        struct wrapped_faults faults = no_faults;
        faults.cut_at = nth % 5 == 0 ? 1 + nth : 0;
        faults.fail_at = nth % 5 == 1 ? 1 + nth : 0;
        faults.enter_at = nth % 5 > 1 ? 1 + nth / 2 : 0;
        faults.enter_error = nth % 5 == 2 ? EAGAIN : nth % 5 == 3 ? EINTR : EBADF;
        faults.enter_count = 1;
        faults.setup_error = nth == 39 ? EPERM : 0;
        wrap_faults(&faults);
        open_residents(0);
        for (uint32_t i = 0; i < RESIDENTS; ++i) {
            expect_buffer(residents[i], 50 + i);
            expect_no_pins();
        }
        do_work(); /* what is under way ends */
        const MaarResidencyInfo info = manager_state();
        assert_int_equal(info.lostCount, 0);
        assert_true(info.tiers[MAAR_TIER_FILE].savedCount >= 3);
        assert_true(nth == 39 || info.fileTransfers.systemCount > 0);
        assert_true(nth % 5 != 1 ||
                    (info.fileTransfers.threadCount > 0) == (wrapped.transfers >= faults.fail_at));
        assert_true(nth != 39 || info.fileTransfers.path == MAAR_FILE_TRANSFER_PATH_THREADS);
        close_residents();
    }
}

/* Updates end transfers that nobody waits for: no thread does, after it has begun them. */
static void updates_end_transfers(void** state)
{
    uint32_t updates = 0;
    (void)state;
    need_rings();
    open_residents(0);
    MaarResidencyInfo info = manager_state();
    assert_int_equal(info.fileTransfers.path, MAAR_FILE_TRANSFER_PATH_IO_URING);
    const uint64_t before = info.tiers[MAAR_TIER_HOST].restoredCount;
    assert_true(!is_in(residents[0], MAAR_TIER_HOST) && is_in(residents[0], MAAR_TIER_FILE));
    MaarUse use = VK_NULL_HANDLE;
    while (try_use(residents[0], MAAR_ACCESS_READ_BIT, 0, &use) == VK_NOT_READY) {
        uint32_t done = 0;
        /* A limit: the call begins a piece and does not wait for it. */
        (void)maarWorkResidency(rig->allocator, manager, 1, &done);
        update();
        assert_true(++updates < 100000);
    }
    cancel_use(use);
    info = manager_state();
    assert_true(info.tiers[MAAR_TIER_HOST].restoredCount > before);
    assert_int_equal(info.fileTransfers.threadCount, 0);
    expect_no_pins();
    close_residents();
}

/* Residents that are written or destroyed, and a manager that is destroyed, while the kernel has
 * their transfers. */
static void transfers_outlive_what_they_were_for(void** state)
{
    (void)state;
    need_rings();
    for (uint32_t way = 0; way < 3; ++way) {
        MaarUse use = VK_NULL_HANDLE;
        uint32_t done = 1;
        open_residents(0);
        assert_int_equal(try_use(residents[0], MAAR_ACCESS_READ_BIT, 0, &use), VK_NOT_READY);
        while (done != 0) {
            (void)maarWorkResidency(rig->allocator, manager, 1, &done);
        }
        assert_true(manager_state().workCount > 0);
        if (way == 0) {
            destroy_resident(residents[0]);
        } else if (way == 1) {
            write_buffer(residents[0], 99);
            expect_buffer(residents[0], 99);
        }
        expect_no_pins();
        close_residents();
    }
}

static void threads_alone_are_said(void** state)
{
    (void)state;
    open_residents(MAAR_FILE_STORE_OPEN_THREADS_BIT);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        expect_buffer(residents[i], 50 + i);
    }
    const MaarFileTransfers transfers = manager_state().fileTransfers;
    assert_int_equal(transfers.path, MAAR_FILE_TRANSFER_PATH_THREADS);
    assert_true(transfers.systemCount == 0 && transfers.systemSize == 0);
    assert_true(transfers.threadCount > 5 && transfers.threadSize >= 5 * SIDE);
    close_residents();
    open_scene(4);
    assert_int_equal(manager_state().fileTransfers.path, MAAR_FILE_TRANSFER_PATH_NONE);
    close_scene();
    (void)rig_end_case(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(kernel_makes_all_transfers),
        rig_unit_test(tables_around_the_file_are_asked),
        rig_unit_test(rings_that_cannot_be_opened_leave_threads),
        rig_unit_test(altered_files_are_noticed),
        rig_unit_test(copies_survive_each_failing_call),
        rig_unit_test(children_do_without_the_ring),
        rig_unit_test(contents_survive_each_failing_call),
        rig_unit_test(updates_end_transfers),
        rig_unit_test(transfers_outlive_what_they_were_for),
        rig_unit_test(threads_alone_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
