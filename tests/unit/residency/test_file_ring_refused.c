/*
 * Sandboxes that refuse the kernel's transfers of files (io_uring) below a manager of residents:
 * from the beginning, after a ring was opened, while the kernel has a transfer, and in one thread
 * alone. Each case is a process of its own, whose seccomp filter stays to its end. Threads make the
 * transfers then, all contents are kept, and nothing is reported but
 * MaarResidencyInfo::fileTransfers.
 */
#include "tests/unit/residency/residency_fixture.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RESIDENTS = 6, SIDE = 16 * UNIT, STORE_SIZE = 64 << 20, SKIPPED = 77 };

/* When the calls are refused. */
enum refusal { BEFORE_ALL, WITH_A_RING, WITH_A_TRANSFER, IN_A_THREAD };

struct refused_case {
    const char* name;
    enum refusal when;
    uint32_t call;
    uint32_t error;
};

static const struct refused_case cases[] = {
    {"setup, EPERM", BEFORE_ALL, __NR_io_uring_setup, EPERM},
    {"setup, ENOSYS", BEFORE_ALL, __NR_io_uring_setup, ENOSYS},
    {"enter from the beginning, EPERM", BEFORE_ALL, __NR_io_uring_enter, EPERM},
    {"enter after setup, EPERM", WITH_A_RING, __NR_io_uring_enter, EPERM},
    {"enter after setup, ENOSYS", WITH_A_RING, __NR_io_uring_enter, ENOSYS},
    {"enter with a transfer under way, EPERM", WITH_A_TRANSFER, __NR_io_uring_enter, EPERM},
    {"enter in one thread, EPERM", IN_A_THREAD, __NR_io_uring_enter, EPERM},
};

static const char path[] = "maar_test_file_ring_refused.tmp";
static const struct refused_case* now;
static MaarFileStore table;
static MaarResident residents[RESIDENTS];

/* Lets a call of the kernel fail in this thread, and in those that it starts, from now on. */
static bool refuse_call(uint32_t call, uint32_t error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ---- what a sandboxed program does ---- */

static void write_all(uint32_t word)
{
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        write_buffer(residents[i], word + i);
        update();
        do_work();
    }
}

static void expect_all(uint32_t word)
{
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        expect_buffer(residents[i], word + i);
        expect_no_pins();
    }
}

/* Room for one resident on the device and for two in host memory; the others are in the file. */
static void open_residents(void)
{
    const MaarFileStoreOpenInfo opening = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO,
        .pPath = path,
        .size = STORE_SIZE,
    };
    MaarResidencyCreateInfo info = manager_info(SIDE, 2 * SIDE);
    (void)remove(path);
    table = (MaarFileStore){.sType = MAAR_STRUCTURE_TYPE_FILE_STORE};
    assert_int_equal(maarOpenFileStore(&opening, &table), VK_SUCCESS);
    info.pFileStore = &table;
    info.pfnEvent = NULL;
    open_device();
    open_manager(&info);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        residents[i] = create_buffer(SIDE, MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT);
    }
}

static void* work_in_a_sandbox(void* data)
{
    if (refuse_call(now->call, now->error)) {
        (void)maarWorkResidency(rig->allocator, manager, 0, NULL);
    }
    return data;
}

/* The manager has a ring and has used it. Refuses the kernel's calls. */
static void close_sandbox(void)
{
    MaarUse use = VK_NULL_HANDLE;
    uint32_t done = 1;
    assert_int_equal(manager_state().fileTransfers.path, MAAR_FILE_TRANSFER_PATH_IO_URING);
    assert_true(manager_state().fileTransfers.systemCount > 0);
    assert_int_equal(manager_state().fileTransfers.threadCount, 0);
    if (now->when == WITH_A_RING) {
        assert_true(refuse_call(now->call, now->error));
        return;
    }
    assert_int_equal(try_use(residents[0], MAAR_ACCESS_READ_BIT, 0, &use), VK_NOT_READY);
    if (now->when == IN_A_THREAD) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, work_in_a_sandbox, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        return;
    }
    /* A limit: the call begins a piece and does not wait for it. */
    while (done != 0) {
        (void)maarWorkResidency(rig->allocator, manager, 1, &done);
    }
    assert_true(manager_state().workCount > 0);
    assert_true(refuse_call(now->call, now->error));
}

static void contents_are_kept(void** state)
{
    (void)state;
    if (now->when == BEFORE_ALL) {
        assert_true(refuse_call(now->call, now->error));
    }
    open_residents();
    write_all(50);
    if (now->when != BEFORE_ALL) {
        close_sandbox();
    }
    expect_all(50);
    write_all(70);
    expect_all(70);
    do_work();
    const MaarResidencyInfo info = manager_state();
    assert_int_equal(info.lostCount, 0);
    assert_true(info.tiers[MAAR_TIER_FILE].savedCount >= 6);
    assert_int_equal(info.fileTransfers.path, MAAR_FILE_TRANSFER_PATH_THREADS);
    assert_true(info.fileTransfers.threadCount > 0);
    assert_true((info.fileTransfers.systemCount > 0) == (now->when != BEFORE_ALL));
    close_scene(); /* expects that nothing was reported */
    (void)rig_end_case(NULL);
    maarCloseFileStore(&table);
    (void)remove(path);
}

/* ---- processes ---- */

/* Whether a process can have a ring and a filter: 0, or SKIPPED having said what is missing. */
static int look_at_system(void)
{
    char made[256] = {0};
    const long ring = syscall(__NR_io_uring_setup, 8, made);
    if (ring < 0) {
        print_message("skipped: the kernel or the sandbox has no io_uring\n");
        return SKIPPED;
    }
    (void)close((int)ring);
    if (!refuse_call(__NR_io_uring_setup, EPERM)) {
        print_message("skipped: the kernel has no seccomp filters\n");
        return SKIPPED;
    }
    return syscall(__NR_io_uring_setup, 8, made) == -1 && errno == EPERM ? 0 : 1;
}

static int run_case(void)
{
    const struct CMUnitTest tests[] = {rig_unit_test(contents_are_kept)};
    print_message("%s\n", now->name);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Runs a function in a child. Returns its exit code, or -1 if it ended otherwise. */
static int run_in_child(int (*run)(void))
{
    int status = 0;
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        exit(run());
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

int main(void)
{
    int failed = 0;
    const int system_code = run_in_child(look_at_system);
    if (system_code != 0) {
        return system_code;
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        now = &cases[i];
        failed += run_in_child(run_case) == 0 ? 0 : 1;
    }
    return failed;
}
