/*
 * Handles through sockets: what arrives whole is taken; whatever else comes is refused, consumed,
 * and leaves no file descriptor behind. Runs on a simulated device; POSIX only.
 */
#define _GNU_SOURCE /* SO_PASSCRED */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/interop/descriptor_samples.h"

static struct rig rig;
static int ends[2]; /* of the socket: ends[0] is sent to, ends[1] received from */
static int sent_fd; /* no socket: those in flight are a burden on the system */

/* What Linux lets pass in one message. */
enum { MOST_FDS = 253 };

/* How long nothing is waited for; and what comes at once has on a busy machine. */
enum { WITHIN_NS = 50000000 };
#define SOON_NS UINT64_C(20000000000)

static void open_ends(void)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
}

static void close_ends(void)
{
    for (int i = 0; i < 2; ++i) {
        if (ends[i] >= 0) {
            (void)close(ends[i]);
        }
        ends[i] = -1;
    }
}

static int start(void** state)
{
    static uint32_t before;
    const struct rig_setup setup = {.count_host = true};
    before = rig_count_fds();
    *state = &before;
    rig_start(&rig, &setup);
    open_ends();
    sent_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_true(sent_fd >= 0);
    return 0;
}

/* Every case ends with as many file descriptors as it began with. */
static int stop(void** state)
{
    const uint32_t* before = *state;
    close_ends();
    (void)close(sent_fd);
    rig_close(&rig);
    assert_int_equal(rig_count_fds(), *before);
    return 0;
}

static MaarExternalHandle wrap_new_fd(void)
{
    MaarExternalHandle handle = VK_NULL_HANDLE;
    const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(maarWrapFd(rig.allocator, fd, &handle), VK_SUCCESS);
    return handle;
}

/* Bytes and file descriptors as another program might send them: the descriptors with the first
 * byte. */
static void send_raw(const uint8_t* bytes, size_t size, uint32_t fd_count)
{
    union {
        char bytes[CMSG_SPACE(MOST_FDS * sizeof(int))];
        struct cmsghdr alignment;
    } control;
    struct iovec part = {.iov_base = (void*)(uintptr_t)bytes, .iov_len = size};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    int fds[MOST_FDS];
    assert_true(fd_count <= MOST_FDS);
    memset(&control, 0, sizeof control);
    if (fd_count != 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr* beside = CMSG_FIRSTHDR(&header);
        beside->cmsg_level = SOL_SOCKET;
        beside->cmsg_type = SCM_RIGHTS;
        beside->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        for (uint32_t i = 0; i < fd_count; ++i) {
            fds[i] = sent_fd;
        }
        memcpy(CMSG_DATA(beside), fds, fd_count * sizeof(int));
    }
    assert_int_equal(sendmsg(ends[0], &header, MSG_NOSIGNAL), size);
}

static void write_bytes(uint8_t* bytes)
{
    const MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    assert_int_equal(maarWriteDescriptor(rig.allocator, &sample, bytes), VK_SUCCESS);
}

static VkResult receive(uint64_t timeout_ns, MaarExternalHandle* handle)
{
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    const MaarDescriptor before = descriptor;
    const VkResult result =
        maarReceiveHandle(rig.allocator, ends[1], timeout_ns, &descriptor, handle);
    assert_true((result == VK_SUCCESS) == (*handle != VK_NULL_HANDLE));
    if (result != VK_SUCCESS) {
        assert_memory_equal(&descriptor, &before, sizeof before);
    }
    return result;
}

static void expect_rejection(VkResult wanted, uint64_t timeout_ns, MaarMessageId id,
                             const char* culprit)
{
    MaarExternalHandle handle = (MaarExternalHandle)&rig;
    const uint32_t before = rig_count_fds();
    assert_int_equal(receive(timeout_ns, &handle), wanted);
    assert_int_equal(rig_count_fds(), before);
    rig_expect_message_naming(&rig, id, culprit);
}

static void expect_timeout(uint64_t timeout_ns)
{
    MaarExternalHandle handle = (MaarExternalHandle)&rig;
    const uint32_t before = rig_count_fds();
    assert_int_equal(receive(timeout_ns, &handle), VK_TIMEOUT);
    assert_int_equal(rig_count_fds(), before);
    rig_expect_silence(&rig);
}

/* A whole message arrives: the socket is in step. */
static void expect_message_passes(void)
{
    const MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_MEMORY);
    MaarExternalHandle sent = wrap_new_fd();
    MaarExternalHandle got = VK_NULL_HANDLE;
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, sent), VK_SUCCESS);
    assert_int_equal(receive(SOON_NS, &got), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, sent);
    maarDestroyExternalHandle(rig.allocator, got);
}

static void handle_sent_arrives(void** state)
{
    (void)state;
    const MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    MaarDescriptor copy = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle sent = VK_NULL_HANDLE;
    MaarExternalHandle got = VK_NULL_HANDLE;
    int pipe_ends[2];
    char word[4] = "";
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(maarWrapFd(rig.allocator, pipe_ends[1], &sent), VK_SUCCESS);
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, sent), VK_SUCCESS);
    assert_int_equal(maarPeekFd(sent), pipe_ends[1]);
    maarDestroyExternalHandle(rig.allocator, sent);
    assert_int_equal(maarReceiveHandle(rig.allocator, ends[1], UINT64_MAX, &copy, &got),
                     VK_SUCCESS);
    assert_string_equal(copy.name, sample.name);
    assert_true(copy.blockSize == sample.blockSize && copy.userValue == sample.userValue);
    int fd = -1;
    assert_int_equal(maarTakeFd(rig.allocator, got, &fd), VK_SUCCESS);
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    assert_int_equal(write(fd, "abc", 4), 4);
    assert_int_equal(copy.kind, MAAR_DESCRIPTOR_KIND_BUFFER);
    (void)close(fd);
    assert_int_equal(read(pipe_ends[0], word, sizeof word), 4);
    assert_string_equal(word, "abc");
    (void)close(pipe_ends[0]);
    maarDestroyExternalHandle(rig.allocator, got);
    rig_expect_silence(&rig);
}

/* Programs, and drivers, take 0, 1 and 2 for something else. */
static void handle_received_is_never_a_standard_one(void** state)
{
    (void)state;
    const MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    MaarExternalHandle sent = wrap_new_fd();
    MaarExternalHandle got = VK_NULL_HANDLE;
    int kept[2];
    bool is_free = true;
    for (int i = 0; i < 2; ++i) {
        kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
        (void)close(i);
    }
    const VkResult sending = maarSendHandle(rig.allocator, ends[0], &sample, sent);
    const VkResult result = receive(SOON_NS, &got);
    const int fd = maarPeekFd(got);
    for (int i = 0; i < 2; ++i) {
        is_free = is_free && fcntl(i, F_GETFD) == -1;
        if (kept[i] >= 0) {
            (void)dup2(kept[i], i);
            (void)close(kept[i]);
        }
    }
    assert_int_equal(sending, VK_SUCCESS);
    assert_int_equal(result, VK_SUCCESS);
    assert_true(fd > 2);
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    assert_true(is_free);
    maarDestroyExternalHandle(rig.allocator, sent);
    maarDestroyExternalHandle(rig.allocator, got);
}

static void message_in_pieces_arrives(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    write_bytes(bytes);
    for (uint32_t with = 0; with < 4; ++with) {
        MaarExternalHandle got = VK_NULL_HANDLE;
        for (uint32_t i = 0; i < 4; ++i) {
            send_raw(bytes + (size_t)64 * i, 64, i == with ? 1 : 0);
        }
        assert_int_equal(receive(SOON_NS, &got), VK_SUCCESS);
        maarDestroyExternalHandle(rig.allocator, got);
    }
    for (uint32_t i = 0; i < MAAR_DESCRIPTOR_SIZE; ++i) {
        send_raw(bytes + i, 1, i == 200 ? 1 : 0);
    }
    MaarExternalHandle got = VK_NULL_HANDLE;
    assert_int_equal(receive(SOON_NS, &got), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, got);
    rig_expect_silence(&rig);
}

static void wait_ns(long ns)
{
    const struct timespec time = {.tv_nsec = ns};
    (void)nanosleep(&time, NULL);
}

static void* send_slowly(void* data)
{
    const uint8_t* bytes = data;
    for (uint32_t i = 0; i < 8; ++i) {
        wait_ns(5000000);
        send_raw(bytes + (size_t)32 * i, 32, i == 3 ? 1 : 0);
    }
    return NULL;
}

static void slow_message_is_waited_for(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    pthread_t thread;
    MaarExternalHandle got = VK_NULL_HANDLE;
    write_bytes(bytes);
    assert_int_equal(pthread_create(&thread, NULL, send_slowly, bytes), 0);
    const VkResult result = receive(UINT64_MAX, &got);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(result, VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, got);
}

static void two_messages_stay_apart(void** state)
{
    (void)state;
    uint8_t bytes[2 * MAAR_DESCRIPTOR_SIZE];
    write_bytes(bytes);
    write_bytes(bytes + MAAR_DESCRIPTOR_SIZE);
    /* The first without a descriptor of its own, in one piece with half of the second. */
    send_raw(bytes, 384, 0);
    send_raw(bytes + 384, 128, 1);
    expect_rejection(VK_ERROR_INVALID_EXTERNAL_HANDLE, SOON_NS, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                     "0");
    MaarExternalHandle got = VK_NULL_HANDLE;
    assert_int_equal(receive(SOON_NS, &got), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, got);
    /* The rest of the first in one piece with the second. */
    send_raw(bytes, 100, 1);
    send_raw(bytes + 100, 412, 0);
    assert_int_equal(receive(SOON_NS, &got), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, got);
    expect_rejection(VK_ERROR_INVALID_EXTERNAL_HANDLE, SOON_NS, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                     "0");
    expect_message_passes();
}

static void wrong_number_of_handles_is_refused(void** state)
{
    (void)state;
    static const uint32_t counts[] = {0, 2, 3, 17, 64};
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    write_bytes(bytes);
    for (uint32_t i = 0; i < 5; ++i) {
        char count[8];
        send_raw(bytes, sizeof bytes, counts[i]);
        (void)snprintf(count, sizeof count, "%u", (unsigned)counts[i]);
        expect_rejection(VK_ERROR_INVALID_EXTERNAL_HANDLE, SOON_NS,
                         MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, count);
        expect_message_passes();
    }
    for (uint32_t i = 0; i < 4; ++i) { /* one with each of two pieces */
        send_raw(bytes + (size_t)64 * i, 64, i % 2);
    }
    expect_rejection(VK_ERROR_INVALID_EXTERNAL_HANDLE, SOON_NS, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                     "2");
    expect_message_passes();
    rig_expect_silence(&rig);
}

/* The version follows the first eight bytes; no checksum of another version is known. */
static void message_of_another_version_is_refused(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    write_bytes(bytes);
    ++bytes[8];
    send_raw(bytes, sizeof bytes, 1);
    expect_rejection(VK_ERROR_FORMAT_NOT_SUPPORTED, SOON_NS, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                     NULL);
    expect_message_passes();
}

/* More than there is room for beside the bytes: the system closes those that are left. */
static void flood_of_handles_is_closed(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    write_bytes(bytes);
    send_raw(bytes, sizeof bytes, MOST_FDS);
    expect_rejection(VK_ERROR_INVALID_EXTERNAL_HANDLE, SOON_NS, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                     NULL);
    expect_message_passes();
    /* Of a user without privileges, Linux lets as many be in flight as one process may open. */
    struct rlimit open_files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &open_files), 0);
    const uint32_t each = open_files.rlim_cur > 8192 ? 64 : 8;
    char count[16];
    snprintf(count, sizeof count, "%u", MAAR_DESCRIPTOR_SIZE / 4 * each);
    for (uint32_t i = 0; i < MAAR_DESCRIPTOR_SIZE; i += 4) {
        send_raw(bytes + i, 4, each);
    }
    expect_rejection(VK_ERROR_INVALID_EXTERNAL_HANDLE, SOON_NS, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                     count);
    expect_message_passes();
}

static void silence_ends_with_the_time(void** state)
{
    (void)state;
    expect_timeout(0);
    expect_timeout(WITHIN_NS);
    expect_message_passes();
}

static void message_cut_by_the_time_is_refused(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    write_bytes(bytes);
    send_raw(bytes, 100, 1);
    expect_rejection(VK_ERROR_INVALID_EXTERNAL_HANDLE, WITHIN_NS,
                     MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, "100");
}

static void message_cut_by_the_end_is_refused(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    write_bytes(bytes);
    for (size_t size = 1; size < sizeof bytes; size += 51) {
        send_raw(bytes, size, 1);
        (void)close(ends[0]);
        ends[0] = -1;
        expect_rejection(VK_ERROR_INVALID_EXTERNAL_HANDLE, SOON_NS,
                         MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, NULL);
        expect_rejection(VK_ERROR_INITIALIZATION_FAILED, SOON_NS, MAAR_MESSAGE_ID_SOCKET_FAILED,
                         NULL);
        close_ends();
        open_ends();
    }
}

static void dead_socket_fails(void** state)
{
    (void)state;
    MaarExternalHandle handle = wrap_new_fd();
    const MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    (void)close(ends[1]);
    ends[1] = -1;
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, handle),
                     VK_ERROR_INITIALIZATION_FAILED);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_SOCKET_FAILED, strerror(EPIPE));
    close_ends();
    open_ends();
    /* Closed with bytes unread, which the other side hears of. */
    send_raw((const uint8_t*)"x", 1, 1);
    const int other = ends[1];
    ends[1] = ends[0];
    ends[0] = -1;
    (void)close(other);
    expect_rejection(VK_ERROR_INITIALIZATION_FAILED, SOON_NS, MAAR_MESSAGE_ID_SOCKET_FAILED,
                     strerror(ECONNRESET));
    maarDestroyExternalHandle(rig.allocator, handle);
}

static void expect_no_socket(int fd, MaarMessageId id, const char* culprit)
{
    const MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    MaarDescriptor read = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle handle = wrap_new_fd();
    MaarExternalHandle got = VK_NULL_HANDLE;
    assert_int_equal(maarSendHandle(rig.allocator, fd, &sample, handle),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&rig, id, culprit);
    assert_int_equal(maarReceiveHandle(rig.allocator, fd, UINT64_MAX, &read, &got),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&rig, id, culprit);
    maarDestroyExternalHandle(rig.allocator, handle);
}

static void what_is_no_such_socket_is_refused(void** state)
{
    (void)state;
    int pipe_ends[2];
    int datagrams[2];
    const int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int internet = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams), 0);
    expect_no_socket(-1, MAAR_MESSAGE_ID_SOCKET_FAILED, "socketFd");
    expect_no_socket(file, MAAR_MESSAGE_ID_SOCKET_FAILED, NULL);
    expect_no_socket(pipe_ends[0], MAAR_MESSAGE_ID_SOCKET_FAILED, NULL);
    expect_no_socket(datagrams[0], MAAR_MESSAGE_ID_SOCKET_FAILED, NULL);
    if (internet >= 0) {
        expect_no_socket(internet, MAAR_MESSAGE_ID_SOCKET_FAILED, NULL);
    }
    (void)close(file);
    (void)close(internet);
    for (int i = 0; i < 2; ++i) {
        (void)close(pipe_ends[i]);
        (void)close(datagrams[i]);
    }
    expect_no_socket(9999, MAAR_MESSAGE_ID_SOCKET_FAILED, NULL);
    close_ends();
    ends[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ends[1] = dup(ends[0]);
    MaarExternalHandle handle = wrap_new_fd();
    const MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, handle),
                     VK_ERROR_INITIALIZATION_FAILED);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_SOCKET_FAILED, strerror(ENOTCONN));
    maarDestroyExternalHandle(rig.allocator, handle);
    MaarExternalHandle got = VK_NULL_HANDLE;
    assert_int_equal(receive(SOON_NS, &got), VK_ERROR_INITIALIZATION_FAILED);
    rig_forget_messages(&rig);
}

/* A socket that does not block takes so many, then none, and loses nothing. */
static void full_socket_takes_nothing(void** state)
{
    (void)state;
    const MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    MaarExternalHandle handle = wrap_new_fd();
    MaarExternalHandle got = VK_NULL_HANDLE;
    uint32_t sent = 0;
    VkResult result = VK_SUCCESS;
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    while (sent < 10000 && result == VK_SUCCESS) {
        result = maarSendHandle(rig.allocator, ends[0], &sample, handle);
        sent += result == VK_SUCCESS ? 1 : 0;
    }
    assert_int_equal(result, VK_TIMEOUT);
    assert_true(sent > 1);
    for (uint32_t i = 0; i < sent; ++i) {
        assert_int_equal(receive(0, &got), VK_SUCCESS);
        maarDestroyExternalHandle(rig.allocator, got);
    }
    expect_timeout(0);
    expect_message_passes();
    maarDestroyExternalHandle(rig.allocator, handle);
    rig_expect_silence(&rig);
}

static void handle_signal(int number)
{
    (void)number;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Signals neither end a wait nor prolong it. */
static void signals_change_nothing(void** state)
{
    (void)state;
    struct sigaction before;
    const struct sigaction action = {.sa_handler = handle_signal};
    const struct itimerval every_ms = {{0, 1000}, {0, 1000}};
    const struct itimerval off = {{0, 0}, {0, 0}};
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &every_ms, NULL), 0);
    const uint64_t begin = now_ns();
    MaarExternalHandle got = VK_NULL_HANDLE;
    const VkResult timeout = receive(WITHIN_NS, &got);
    const uint64_t took = now_ns() - begin;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    pthread_t thread;
    write_bytes(bytes);
    assert_int_equal(pthread_create(&thread, NULL, send_slowly, bytes), 0);
    const VkResult result = receive(SOON_NS, &got);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_int_equal(timeout, VK_TIMEOUT);
    assert_true(took >= WITHIN_NS && took < SOON_NS);
    assert_int_equal(result, VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, got);
}

/* Without room for one more nothing is received, so that nothing is lost. */
static void want_of_descriptors_loses_nothing(void** state)
{
    (void)state;
    struct rlimit before;
    struct rlimit tight;
    const MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    MaarExternalHandle handle = wrap_new_fd();
    MaarExternalHandle got = VK_NULL_HANDLE;
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, handle), VK_SUCCESS);
    const int next = dup(0); /* the lowest that is free */
    assert_true(next >= 0);
    (void)close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    const VkResult result = receive(SOON_NS, &got);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(result, VK_ERROR_TOO_MANY_OBJECTS);
    rig_expect_message(&rig, MAAR_MESSAGE_ID_TOO_MANY_HANDLES);
    assert_int_equal(receive(0, &got), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, got);
    maarDestroyExternalHandle(rig.allocator, handle);
}

static void want_of_host_memory_loses_nothing(void** state)
{
    (void)state;
    const MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    MaarExternalHandle handle = wrap_new_fd();
    MaarExternalHandle got = VK_NULL_HANDLE;
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, handle), VK_SUCCESS);
    atomic_store(&rig.host.fail_at, atomic_load(&rig.host.calls) + 1);
    assert_int_equal(receive(0, &got), VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(receive(0, &got), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, got);
    maarDestroyExternalHandle(rig.allocator, handle);
    rig_expect_silence(&rig);
}

/* What a program may have asked its socket for comes beside the handle, and does not hurt. */
static void credentials_beside_the_handle_do_no_harm(void** state)
{
    (void)state;
#if defined(SO_PASSCRED)
    const int on = 1;
    assert_int_equal(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
    expect_message_passes();
    /* Linux 6.5 adds a handle of the sender's process. */
    const int pass_pidfd = 76;
    if (setsockopt(ends[1], SOL_SOCKET, pass_pidfd, &on, sizeof on) == 0) {
        expect_message_passes();
    } else {
        print_message("this system has no SO_PASSPIDFD\n");
    }
#endif
}

static void device_elsewhere_is_refused_by_name(void** state)
{
    (void)state;
    MaarExternalHandle handle = wrap_new_fd();
    MaarExternalHandle got = VK_NULL_HANDLE;
    MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    char own[2 * VK_UUID_SIZE + 1];
    char theirs[2 * VK_UUID_SIZE + 1];
    for (uint32_t round = 0; round < 4; ++round) {
        sample = descriptor_sample(&rig, round < 2 ? MAAR_DESCRIPTOR_KIND_BUFFER
                                                   : MAAR_DESCRIPTOR_KIND_TIMELINE);
        uint8_t* uuid = round % 2 == 0 ? sample.deviceUUID : sample.driverUUID;
        for (uint32_t i = 0; i < VK_UUID_SIZE; ++i) {
            (void)snprintf(own + (size_t)2 * i, 3, "%02x", uuid[i]);
            uuid[i] = (uint8_t)(uuid[i] + 17);
            (void)snprintf(theirs + (size_t)2 * i, 3, "%02x", uuid[i]);
        }
        assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, handle), VK_SUCCESS);
        const uint32_t before = rig_count_fds();
        assert_int_equal(receive(SOON_NS, &got), VK_ERROR_INCOMPATIBLE_DRIVER);
        assert_int_equal(rig_count_fds(), before);
        assert_true(rig_message_names(&rig, own));
        assert_true(rig_message_names(&rig, round % 2 == 0 ? "deviceUUID" : "driverUUID"));
        rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_OTHER_DEVICE, theirs);
    }
    /* A dma-buf is anybody's. */
    sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    sample.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    sample.deviceUUID[0] ^= 1;
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, handle), VK_SUCCESS);
    assert_int_equal(receive(SOON_NS, &got), VK_SUCCESS);
    maarDestroyExternalHandle(rig.allocator, got);
    maarDestroyExternalHandle(rig.allocator, handle);
    rig_expect_silence(&rig);
}

static void misuse_is_reported(void** state)
{
    (void)state;
    const VkResult wrong = VK_ERROR_VALIDATION_FAILED_EXT;
    MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    MaarExternalHandle handle = wrap_new_fd();
    MaarExternalHandle got = VK_NULL_HANDLE;
    assert_int_equal(maarSendHandle(NULL, ends[0], &sample, handle), wrong);
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, VK_NULL_HANDLE), wrong);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NULL_HANDLE, "handle");
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], NULL, handle), wrong);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pDescriptor");
    sample.size = 0;
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, handle), wrong);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, "pDescriptor->size");
    int fd = -1;
    sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
    assert_int_equal(maarTakeFd(rig.allocator, handle, &fd), VK_SUCCESS);
    (void)close(fd);
    assert_int_equal(maarSendHandle(rig.allocator, ends[0], &sample, handle),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_HANDLE_EMPTY, "handle");
    assert_int_equal(maarReceiveHandle(NULL, ends[1], 0, &sample, &got), wrong);
    assert_int_equal(maarReceiveHandle(rig.allocator, ends[1], 0, NULL, &got), wrong);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pDescriptor");
    assert_int_equal(maarReceiveHandle(rig.allocator, ends[1], 0, &sample, NULL), wrong);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pHandle");
    maarDestroyExternalHandle(rig.allocator, handle);
    expect_timeout(0);
}

/* Sends a mutated message in random pieces with a random number of descriptors, perhaps not all of
 * it; returns how many bytes. */
static size_t send_mutated(struct rig_random* random, uint32_t* fd_count)
{
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    write_bytes(bytes);
    if (rig_below(random, 8) != 0) {
        descriptor_mutate(random, bytes);
    }
    const size_t size = rig_below(random, 16) == 0 ? rig_below(random, sizeof bytes) : sizeof bytes;
    const uint32_t pieces = rig_below(random, 4) == 0 ? 1 + rig_below(random, 4) : 1;
    size_t sent = 0;
    *fd_count = 0;
    for (uint32_t i = 0; i < pieces && sent < size; ++i) {
        const size_t left = size - sent;
        const size_t piece = i + 1 == pieces ? left : 1 + rig_below(random, (uint32_t)left);
        const uint32_t dice = rig_below(random, 8);
        const uint32_t fds = dice < 5 ? (i == 0 ? 1 : 0) : dice == 7 ? rig_below(random, 30) : 0;
        send_raw(bytes + sent, piece, fds);
        *fd_count += fds;
        sent += piece;
    }
    return size;
}

enum { MESSAGES = 100000 };

static void mutated_messages_leak_nothing(void** state)
{
    (void)state;
    struct rig_random random = {.state = rig_seed(62)};
    uint32_t taken = 0;
    uint32_t cut = 0;
    const uint32_t before = rig_count_fds();
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        uint32_t fd_count = 0;
        MaarExternalHandle got = VK_NULL_HANDLE;
        const size_t size = send_mutated(&random, &fd_count);
        if (size != MAAR_DESCRIPTOR_SIZE) {
            assert_int_equal(shutdown(ends[0], SHUT_WR), 0);
            cut += 1;
        }
        const VkResult result = receive(SOON_NS, &got);
        assert_true(result != VK_TIMEOUT && result != VK_ERROR_VALIDATION_FAILED_EXT);
        assert_true(result != VK_SUCCESS || (fd_count == 1 && size == MAAR_DESCRIPTOR_SIZE));
        assert_true(result != VK_ERROR_INITIALIZATION_FAILED || size == 0);
        taken += result == VK_SUCCESS ? 1 : 0;
        maarDestroyExternalHandle(rig.allocator, got);
        if (size != MAAR_DESCRIPTOR_SIZE) {
            close_ends();
            open_ends();
        }
        if (i % 1000 == 999) {
            assert_int_equal(rig_count_fds(), before);
        }
    }
    rig_forget_messages(&rig);
    expect_message_passes();
    assert_int_equal(rig_count_fds(), before);
    print_message("%d mutated messages: %u taken, %u cut short, no descriptor left\n", MESSAGES,
                  (unsigned)taken, (unsigned)cut);
    assert_true(taken > MESSAGES / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(handle_sent_arrives, start, stop),
        cmocka_unit_test_setup_teardown(handle_received_is_never_a_standard_one, start, stop),
        cmocka_unit_test_setup_teardown(message_in_pieces_arrives, start, stop),
        cmocka_unit_test_setup_teardown(slow_message_is_waited_for, start, stop),
        cmocka_unit_test_setup_teardown(two_messages_stay_apart, start, stop),
        cmocka_unit_test_setup_teardown(wrong_number_of_handles_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(message_of_another_version_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(flood_of_handles_is_closed, start, stop),
        cmocka_unit_test_setup_teardown(silence_ends_with_the_time, start, stop),
        cmocka_unit_test_setup_teardown(message_cut_by_the_time_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(message_cut_by_the_end_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(dead_socket_fails, start, stop),
        cmocka_unit_test_setup_teardown(what_is_no_such_socket_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(full_socket_takes_nothing, start, stop),
        cmocka_unit_test_setup_teardown(signals_change_nothing, start, stop),
        cmocka_unit_test_setup_teardown(want_of_descriptors_loses_nothing, start, stop),
        cmocka_unit_test_setup_teardown(want_of_host_memory_loses_nothing, start, stop),
        cmocka_unit_test_setup_teardown(credentials_beside_the_handle_do_no_harm, start, stop),
        cmocka_unit_test_setup_teardown(device_elsewhere_is_refused_by_name, start, stop),
        cmocka_unit_test_setup_teardown(misuse_is_reported, start, stop),
        cmocka_unit_test_setup_teardown(mutated_messages_leak_nothing, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
