/*
 * Sends and receives messages; see mover_messages.h.
 */
#include "mover_messages.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

bool mover_send(int socket_fd, const void* bytes, size_t size)
{
    const char* at = bytes;
    while (size > 0) {
        const ssize_t sent = send(socket_fd, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return false;
        }
        at += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static bool await_bytes(int socket_fd)
{
    struct pollfd wait = {.fd = socket_fd, .events = POLLIN};
    int ready = 0;
    do {
        ready = poll(&wait, 1, (int)(MOVER_PATIENCE_NS / 1000000));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

bool mover_receive(int socket_fd, void* bytes, size_t size)
{
    char* at = bytes;
    while (size > 0) {
        if (!await_bytes(socket_fd)) {
            return false;
        }
        const ssize_t got = recv(socket_fd, at, size, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        at += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}
