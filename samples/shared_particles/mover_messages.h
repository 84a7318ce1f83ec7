/*
 * What the two processes tell each other over their socket, beside the handles. Both are the same
 * program on the same machine, so structs go as they are.
 */
#ifndef MAAR_SAMPLE_MOVER_MESSAGES_H
#define MAAR_SAMPLE_MOVER_MESSAGES_H

#include "particle_galaxy.h"

#include <stdbool.h>
#include <stddef.h>

/* How long one waits for the other, ns. */
#define MOVER_PATIENCE_NS UINT64_C(60000000000)

/* To the mover, after the buffer's handle; with a timeline its handle follows. */
struct mover_task {
    struct particle_rules rules;
    uint32_t steps; /* with a timeline: so many, and no word about them */
    uint32_t has_timeline;
    uint32_t mistake; /* enum particle_mistake */
};

/* From the mover, when it is ready, and when it has finished. */
struct mover_answer {
    char side[160];
    uint32_t steps;
    uint32_t complaints;
    uint64_t shared_memory;
    uint64_t own_memory;
};

/* Without a timeline each step is a word to the mover and one back; a word too many ends it. */
struct mover_word {
    uint64_t step; /* 1 for the first; 0: no more */
};

/* Whole messages, or false: the other side has gone, or takes longer than patience allows. */
bool mover_send(int socket_fd, const void* bytes, size_t size);
bool mover_receive(int socket_fd, void* bytes, size_t size);

#endif
