/*
 * The particles: their beginning and their rules of motion. The shader move.comp and the CUDA
 * kernel in move_particles.cu follow the same rules. Their results are compared with the reference
 * in this file, which runs on the host.
 */
#ifndef MAAR_SAMPLE_PARTICLE_GALAXY_H
#define MAAR_SAMPLE_PARTICLE_GALAXY_H

#include <stdint.h>

/* A particle as stored in the shared buffer. */
struct particle {
    float place[3];
    float glow; /* brightness */
    float velocity[3];
    float number; /* the particle's own, in [0, 1) */
};

/* The push constants of the shader, and an argument of the kernel. */
struct particle_rules {
    uint32_t count;
    float step;
    float mass;       /* in the centre */
    float softening;  /* squared */
    float halo;       /* around the centre */
    float halo_core;  /* squared */
    float flattening; /* towards the plane */
};

struct particle_rules particle_rules_make(uint32_t count);

/* Fills in the particles, which are equal on every machine: a turning bar with four spokes, a disc
 * and a bulge. */
void particle_galaxy_fill(const struct particle_rules* rules, struct particle* particles);

/* Moves one particle by `steps` steps. */
void particle_move(const struct particle_rules* rules, struct particle* particle, uint32_t steps);

/* The result of a comparison: the greatest distance between a particle and its reference after a
 * number of steps, and the least distance that any particle moves in its last step. */
struct particle_comparison {
    double furthest_off;
    double shortest_step;
    uint32_t lost; /* particles whose position is not a number */
};
void particle_galaxy_compare(const struct particle_rules* rules, struct particle* reference,
                             const struct particle* moved, uint32_t steps,
                             struct particle_comparison* comparison);

#endif
