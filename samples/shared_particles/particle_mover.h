/*
 * The other side: whoever moves the particles between two frames. Each way to do it has a file of
 * its own.
 */
#ifndef MAAR_SAMPLE_PARTICLE_MOVER_H
#define MAAR_SAMPLE_PARTICLE_MOVER_H

#include "particle_options.h"
#include "particle_share.h"

/* What is known of it in the end. */
struct particle_account {
    char side[160];         /* who moved them */
    const char* turns;      /* how turns are passed on */
    uint32_t steps;         /* that it made */
    uint64_t messages;      /* that passed between the sides for it, and their bytes, */
    uint64_t message_bytes; /* once everything was set up */
    uint64_t shared_memory; /* bytes of device memory that both sides have, */
    uint64_t own_memory;    /* and of its own: what a copy would lie in */
    bool memory_is_exact;   /* else it is what the card's free memory fell by */
    uint32_t complaints;    /* of its layers */
};

struct particle_mover {
    /* After all that was submitted to the main queue before, and before all that is submitted
     * afterwards: one step. Does not wait, unless turns are passed on by the host. */
    bool (*move)(struct particle_mover* mover);
    /* Until all is done. */
    bool (*finish)(struct particle_mover* mover, struct particle_account* account);
    void (*destroy)(struct particle_mover* mover); /* frees it too */
};

/* Why there is no mover. */
struct particle_reason {
    char text[400];
};

/* A CUDA kernel on the same card. NULL, without a complaint, when there is none: the reason says
 * why. */
struct particle_mover* particle_mover_cuda(const struct particle_share* share,
                                           const struct particle_options* options,
                                           const struct particle_rules* rules,
                                           struct particle_reason* reason);

/* Another process, this program once more, with an instance and a device of its own. */
struct particle_mover* particle_mover_process(const struct particle_share* share,
                                              const struct particle_options* options,
                                              const struct particle_rules* rules,
                                              struct particle_reason* reason);

/* What the other process does; its exit code. */
int particle_mover_main(const struct particle_options* options);

#endif
