/*
 * UNIX stream sockets that carry handles of the system beside their bytes. On Windows all functions
 * fail.
 *
 * Each handle that the system installs in this process is returned or closed, even when the message
 * is malformed. Nothing here keeps state.
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
    MAAR_SOCKET_CLOSED,    /* by the other side, before the first byte */
    MAAR_SOCKET_CUT,       /* some bytes came, the others did not in time or never will */
    MAAR_SOCKET_FULL,      /* this process has no handle left */
    MAAR_SOCKET_FAILED     /* `error` is the system's */
};

/* A message: bytes, and a handle with them. */
struct maar_socket_message {
    void* bytes;
    size_t size;
    size_t moved;            /* bytes sent or received */
    maar_port_handle handle; /* to send; or received, if exactly one came */
    uint32_t handle_count;   /* received; all but a single one are closed already */
    bool lost_some;          /* more came than there was room for; the system has closed those */
    int error;
};

/* Returns whether fd is a stream socket of the UNIX domain. If not, *what says what fd is, for a
 * message. */
bool maar_socket_is_usable(int fd, const char** what);
/* Sends the bytes and the handle; the caller still owns the handle. Blocks if the socket blocks. A
 * message that has begun is sent to its end. Returns DONE, TIMED_OUT or FAILED. */
enum maar_socket_outcome maar_socket_send(int fd, struct maar_socket_message* message);
/* Receives `size` bytes and never more, and the handles that come with them. handle is set only
 * when DONE. FULL: nothing was received, or (handle_count 0, lost_some) a message whose handle
 * could not be installed. */
enum maar_socket_outcome maar_socket_receive(int fd, uint64_t deadline_ns,
                                             struct maar_socket_message* message);
/* Writes the system's description of an error. */
void maar_socket_describe(int error, char* text, size_t size);

#endif
