/*
 * Sockets with handles, for POSIX; stubs for Windows.
 */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE /* CMSG_SPACE */
#endif

#include "core/port_socket.h"

#include <string.h>

#if defined(_WIN32)

bool maar_socket_is_usable(int fd, const char** what)
{
    (void)fd;
    *what = "not supported on this system";
    return false;
}

enum maar_socket_outcome maar_socket_send(int fd, struct maar_socket_message* message)
{
    (void)fd;
    message->error = 0;
    return MAAR_SOCKET_FAILED;
}

enum maar_socket_outcome maar_socket_receive(int fd, uint64_t deadline_ns,
                                             struct maar_socket_message* message)
{
    (void)fd;
    (void)deadline_ns;
    message->error = 0;
    return MAAR_SOCKET_FAILED;
}

void maar_socket_describe(int error, char* text, size_t size)
{
    (void)error;
    if (size != 0) {
        text[0] = '\0';
    }
}

#else
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/port_time.h"

/* Without MSG_CMSG_CLOEXEC, maar_port_handle_keep_private sets the flag. Without MSG_NOSIGNAL, a
 * closed socket raises SIGPIPE. */
#if defined(MSG_NOSIGNAL)
#define SEND_FLAGS MSG_NOSIGNAL
#else
#define SEND_FLAGS 0
#endif
#if defined(MSG_CMSG_CLOEXEC)
#define RECEIVE_FLAGS (MSG_DONTWAIT | MSG_CMSG_CLOEXEC)
#else
#define RECEIVE_FLAGS MSG_DONTWAIT
#endif

#define NS_PER_MS ((uint64_t)1000000)

/* Bytes for the control messages of one receive call. Maar needs one handle. The rest is for extra
 * handles, which Maar counts and closes, and for credentials if the program has enabled them. */
enum { CONTROL_SIZE = 512 };

/* SCM_PIDFD: a handle that refers to the sender's process. Linux adds it if SO_PASSPIDFD is set. */
enum { PIDFD_MESSAGE = 4 };

union control_space {
    char bytes[CONTROL_SIZE];
    struct cmsghdr alignment;
};

bool maar_socket_is_usable(int fd, const char** what)
{
    struct sockaddr_storage address;
    socklen_t address_size = sizeof address;
    int type = 0;
    socklen_t type_size = sizeof type;
    *what = "";
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) != 0) {
        *what = errno == EBADF ? "not open" : "no socket";
        return false;
    }
    memset(&address, 0, sizeof address);
    if (getsockname(fd, (struct sockaddr*)&address, &address_size) != 0 ||
        address.ss_family != AF_UNIX) {
        *what = "a socket, but not of the UNIX domain";
        return false;
    }
    if (type != SOCK_STREAM) {
        *what = "a UNIX socket, but not a stream";
        return false;
    }
    return true;
}

void maar_socket_describe(int error, char* text, size_t size)
{
    if (size == 0) {
        return;
    }
    text[0] = '\0';
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    const char* words = strerror_r(error, text, size);
    if (words != text) {
        const size_t length = strlen(words) < size ? strlen(words) : size - 1;
        memcpy(text, words, length);
        text[length] = '\0';
    }
#else
    (void)strerror_r(error, text, size);
#endif
}

/* Waits until the socket is ready for the events, or until the deadline. Returns 0, ETIMEDOUT or
 * another errno value. */
static int await_socket(int fd, short events, uint64_t deadline_ns)
{
    for (;;) {
        const uint64_t left = maar_time_left_ns(deadline_ns);
        uint64_t timeout = left / NS_PER_MS + (left % NS_PER_MS != 0 ? 1 : 0);
        timeout = timeout < INT_MAX ? timeout : INT_MAX;
        struct pollfd asked = {.fd = fd, .events = events};
        const int ready = poll(&asked, 1, deadline_ns == UINT64_MAX ? -1 : (int)timeout);
        if (ready > 0) {
            return (asked.revents & POLLNVAL) != 0 ? EBADF : 0;
        }
        if (ready < 0 && errno != EINTR && errno != EAGAIN) {
            return errno;
        }
        if (ready == 0 && left == 0) {
            return ETIMEDOUT;
        }
    }
}

static bool is_blocked(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK;
}

enum maar_socket_outcome maar_socket_send(int fd, struct maar_socket_message* message)
{
    union control_space control;
    const int own = (int)message->handle;
    memset(&control, 0, sizeof control);
    message->moved = 0;
    message->error = 0;
    while (message->moved < message->size) {
        struct iovec part = {
            .iov_base = (char*)message->bytes + message->moved,
            .iov_len = message->size - message->moved,
        };
        struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
        if (message->moved == 0) { /* the handle travels with the first byte */
            header.msg_control = control.bytes;
            header.msg_controllen = CMSG_SPACE(sizeof own);
            struct cmsghdr* beside = CMSG_FIRSTHDR(&header);
            beside->cmsg_level = SOL_SOCKET;
            beside->cmsg_type = SCM_RIGHTS;
            beside->cmsg_len = CMSG_LEN(sizeof own);
            memcpy(CMSG_DATA(beside), &own, sizeof own);
        }
        const ssize_t sent = sendmsg(fd, &header, SEND_FLAGS);
        int error = sent < 0 ? errno : 0;
        message->moved += sent > 0 ? (size_t)sent : 0;
        if (is_blocked(error) && message->moved == 0) {
            return MAAR_SOCKET_TIMED_OUT;
        }
        if (is_blocked(error)) {
            error = await_socket(fd, POLLOUT, UINT64_MAX);
        }
        if (error != 0 && error != EINTR) {
            message->error = error;
            return MAAR_SOCKET_FAILED;
        }
    }
    return MAAR_SOCKET_DONE;
}

/* Takes the handles out of one control message. end: the end of all control data. Keeps the first
 * handle of the whole receive and closes all others. */
static void take_handles(const struct cmsghdr* beside, const unsigned char* end,
                         struct maar_socket_message* message)
{
    const unsigned char* at = CMSG_DATA(beside);
    const size_t head = (size_t)(at - (const unsigned char*)beside);
    size_t size = beside->cmsg_len > head ? (size_t)beside->cmsg_len - head : 0;
    size = size < (size_t)(end - at) ? size : (size_t)(end - at);
    const size_t count = size / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
        int got = -1;
        memcpy(&got, at + i * sizeof got, sizeof got);
        message->handle_count += 1;
        if (message->handle == MAAR_PORT_NO_HANDLE) {
            message->handle = got;
        } else {
            maar_port_handle_close(got);
        }
    }
}

static void take_control(struct msghdr* header, struct maar_socket_message* message)
{
    const unsigned char* end = (const unsigned char*)header->msg_control + header->msg_controllen;
    message->lost_some = message->lost_some || (header->msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr* beside = CMSG_FIRSTHDR(header); beside != NULL;
         beside = CMSG_NXTHDR(header, beside)) {
        if (beside->cmsg_level != SOL_SOCKET) {
            continue;
        }
        if (beside->cmsg_type == SCM_RIGHTS) {
            take_handles(beside, end, message);
        }
#if defined(__linux__)
        if (beside->cmsg_type == PIDFD_MESSAGE && beside->cmsg_len == CMSG_LEN(sizeof(int))) {
            int process = -1;
            memcpy(&process, CMSG_DATA(beside), sizeof process);
            maar_port_handle_close(process);
        }
#endif
    }
}

/* Closes the received handle. */
static void drop_handle(struct maar_socket_message* message)
{
    maar_port_handle_close(message->handle);
    message->handle = MAAR_PORT_NO_HANDLE;
}

/* Receives once, without waiting. Returns 0 or an errno value. Sets *ended if the other side will
 * send no more. */
static int receive_part(int fd, struct maar_socket_message* message, bool* ended)
{
    union control_space control;
    struct iovec part = {
        .iov_base = (char*)message->bytes + message->moved,
        .iov_len = message->size - message->moved,
    };
    memset(&control, 0, sizeof control);
    struct msghdr header = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes,
    };
    const ssize_t got = recvmsg(fd, &header, RECEIVE_FLAGS);
    if (got < 0) {
        return errno;
    }
    take_control(&header, message);
    message->moved += (size_t)got;
    *ended = got == 0;
    return 0;
}

/* Returns whether the process can open one more handle. */
static bool has_room_for_handle(int fd)
{
    const maar_port_handle probe = maar_port_handle_duplicate(fd);
    maar_port_handle_close(probe);
    return probe != MAAR_PORT_NO_HANDLE;
}

/* Checks the handles of a message whose bytes have all come, and returns the outcome. */
static enum maar_socket_outcome finish_receiving(int fd, struct maar_socket_message* message)
{
    if (message->handle_count != 1 || message->lost_some) {
        drop_handle(message);
        const bool full =
            message->handle_count == 0 && message->lost_some && !has_room_for_handle(fd);
        return full ? MAAR_SOCKET_FULL : MAAR_SOCKET_DONE;
    }
    /* The handle may be 0, 1 or 2 if one of those was free. Other code takes them for the standard
     * streams. */
    if (message->handle <= STDERR_FILENO) {
        const maar_port_handle higher = maar_port_handle_duplicate(message->handle);
        drop_handle(message);
        message->handle = higher;
    }
    if (message->handle == MAAR_PORT_NO_HANDLE) {
        return MAAR_SOCKET_FULL;
    }
    maar_port_handle_keep_private(message->handle);
    return MAAR_SOCKET_DONE;
}

enum maar_socket_outcome maar_socket_receive(int fd, uint64_t deadline_ns,
                                             struct maar_socket_message* message)
{
    message->moved = 0;
    message->handle = MAAR_PORT_NO_HANDLE;
    message->handle_count = 0;
    message->lost_some = false;
    message->error = 0;
    bool ended = false;
    int error = 0;
    while (message->moved < message->size && !ended) {
        error = await_socket(fd, POLLIN, deadline_ns);
        if (error == 0 && message->moved == 0 && !has_room_for_handle(fd)) {
            return MAAR_SOCKET_FULL;
        }
        if (error == 0) {
            error = receive_part(fd, message, &ended);
        }
        if (error != 0 && error != EINTR && !is_blocked(error)) {
            break;
        }
        error = 0;
    }
    if (message->moved == message->size) {
        return finish_receiving(fd, message);
    }
    drop_handle(message);
    if (error != 0 && error != ETIMEDOUT) {
        message->error = error;
        return MAAR_SOCKET_FAILED;
    }
    if (message->moved != 0) {
        return MAAR_SOCKET_CUT;
    }
    return error == ETIMEDOUT ? MAAR_SOCKET_TIMED_OUT : MAAR_SOCKET_CLOSED;
}
#endif
