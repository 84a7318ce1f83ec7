/*
 * The mover: the side that moves the particles between two frames. Each kind of mover has its own
 * file.
 */
#ifndef MAAR_SAMPLE_PARTICLE_MOVER_H
#define MAAR_SAMPLE_PARTICLE_MOVER_H

#include "particle_options.h"
#include "particle_share.h"

/* The final account of a mover. */
struct particle_account {
    char side[160];         /* name of the side that moved the particles */
    const char* turns;      /* the way of passing turns */
    uint32_t steps;         /* steps of the mover */
    uint64_t messages;      /* messages between the sides, and their bytes, */
    uint64_t message_bytes; /* after the set-up */
    uint64_t shared_memory; /* bytes of device memory that both sides share, */
    uint64_t own_memory;    /* and bytes of the mover's own, which a copy would need */
    bool memory_is_exact;   /* else it is the decrease of the card's free memory */
    uint32_t complaints;    /* messages of the mover's layers */
};

struct particle_mover {
    /* Makes one step, after all earlier and before all later submissions to the main queue. Does
     * not wait on the host, unless the host passes turns. */
    bool (*move)(struct particle_mover* mover);
    /* Waits until all steps are done, and fills in the account. */
    bool (*finish)(struct particle_mover* mover, struct particle_account* account);
    void (*destroy)(struct particle_mover* mover); /* also frees the mover */
};

/* The reason why a mover does not exist. */
struct particle_reason {
    char text[400];
};

/* Creates a mover that is a CUDA kernel on the same card. On failure returns NULL without an error
 * message and fills in the reason. */
struct particle_mover* particle_mover_cuda(const struct particle_share* share,
                                           const struct particle_options* options,
                                           const struct particle_rules* rules,
                                           struct particle_reason* reason);

/* Creates a mover that is another process: this program again, with its own instance and device. */
struct particle_mover* particle_mover_process(const struct particle_share* share,
                                              const struct particle_options* options,
                                              const struct particle_rules* rules,
                                              struct particle_reason* reason);

/* The main function of the second process. Returns its exit code. */
int particle_mover_main(const struct particle_options* options);

#endif
