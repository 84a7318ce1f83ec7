/*
 * UNIX stream sockets that carry handles of the system beside their bytes. On Windows all functions
 * fail.
 *
 * Each received handle is either returned or closed, even when the message is malformed. The
 * functions of this file keep no state.
 */
#ifndef MAAR_CORE_PORT_SOCKET_H
#define MAAR_CORE_PORT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/port_handle.h"

enum maar_socket_outcome {
    MAAR_SOCKET_DONE,
    MAAR_SOCKET_TIMED_OUT, /* before the first byte */
    MAAR_SOCKET_CLOSED,    /* the other side closed the socket before the first byte */
    MAAR_SOCKET_CUT,       /* some bytes came; the others came too late or never will */
    MAAR_SOCKET_FULL,      /* this process has no handle left */
    MAAR_SOCKET_FAILED     /* `error` is the errno value */
};

/* A message: bytes, and a handle that travels with them. */
struct maar_socket_message {
    void* bytes;
    size_t size;
    size_t moved;            /* bytes sent or received */
    maar_port_handle handle; /* to send; or received, if exactly one came */
    uint32_t handle_count;   /* number of received handles; if not 1, all are closed already */
    bool lost_some;          /* the system dropped handles because there was no room for them */
    int error;
};

/* Returns whether fd is a stream socket of the UNIX domain. If not, sets *what to a text for a
 * message, which says what fd is. */
bool maar_socket_is_usable(int fd, const char** what);
/* Sends the bytes and the handle. The caller still owns the handle. Blocks if the socket blocks.
 * Once the first byte is sent, sends the whole message. Returns DONE, TIMED_OUT or FAILED. */
enum maar_socket_outcome maar_socket_send(int fd, struct maar_socket_message* message);
/* Receives `size` bytes and never more, and the handles that come with them. Sets handle only when
 * it returns DONE. FULL: nothing was received, or a message came whose handle the system could not
 * open (then handle_count is 0 and lost_some is true). */
enum maar_socket_outcome maar_socket_receive(int fd, uint64_t deadline_ns,
                                             struct maar_socket_message* message);
/* Writes the system's description of an error. */
void maar_socket_describe(int error, char* text, size_t size);

#endif
