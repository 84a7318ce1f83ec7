/*
 * The messages that the two processes exchange over their socket, beside the handles. Both
 * processes run the same program on the same machine, so that structs are sent as they are.
 */
#ifndef MAAR_SAMPLE_MOVER_MESSAGES_H
#define MAAR_SAMPLE_MOVER_MESSAGES_H

#include "particle_galaxy.h"

#include <stdbool.h>
#include <stddef.h>

/* The longest wait of one process for the other, ns. */
#define MOVER_PATIENCE_NS UINT64_C(60000000000)

/* The task: sent to the mover after the buffer's handle. With a timeline, the timeline's handle
 * follows. */
struct mover_task {
    struct particle_rules rules;
    uint32_t steps; /* with a timeline: the number of steps, without a word for each */
    uint32_t has_timeline;
    uint32_t mistake; /* enum particle_mistake */
};

/* The mover's answer, which it sends when it is ready and when it has finished. */
struct mover_answer {
    char side[160];
    uint32_t steps;
    uint32_t complaints;
    uint64_t shared_memory;
    uint64_t own_memory;
};

/* Without a timeline, each step needs a word to the mover and a word back. */
struct mover_word {
    uint64_t step; /* 1 for the first step; 0 ends the work */
};

/* Send and receive whole messages. They return false if the other side has exited or exceeds the
 * longest wait. */
bool mover_send(int socket_fd, const void* bytes, size_t size);
bool mover_receive(int socket_fd, void* bytes, size_t size);

#endif
