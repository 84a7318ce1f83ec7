/*
 * What the particles are: where they begin, and how they move. The shader move.comp and the CUDA
 * kernel in move_particles.cu follow the same rules; the reference here, on the host, is what their
 * result is compared with.
 */
#ifndef MAAR_SAMPLE_PARTICLE_GALAXY_H
#define MAAR_SAMPLE_PARTICLE_GALAXY_H

#include <stdint.h>

/* As it lies in the shared buffer. */
struct particle {
    float place[3];
    float glow; /* how bright it is */
    float velocity[3];
    float number; /* of its own, in [0, 1) */
};

/* Push constants of the shader, an argument of the kernel. */
struct particle_rules {
    uint32_t count;
    float step;
    float mass;       /* in the middle, */
    float softening;  /* squared */
    float halo;       /* around it, */
    float halo_core;  /* squared */
    float flattening; /* towards the plane */
};

struct particle_rules particle_rules_make(uint32_t count);

/* The same particles on every machine: a bar with four spokes, a disc and a bulge, which turn. */
void particle_galaxy_fill(const struct particle_rules* rules, struct particle* particles);

/* Moves one particle by so many steps. */
void particle_move(const struct particle_rules* rules, struct particle* particle, uint32_t steps);

/* The greatest distance between a particle and where the reference has it after so many steps from
 * its beginning; and the least distance that any particle goes in its last step. */
struct particle_comparison {
    double furthest_off;
    double shortest_step;
    uint32_t lost; /* that are nowhere: not a number */
};
void particle_galaxy_compare(const struct particle_rules* rules, struct particle* reference,
                             const struct particle* moved, uint32_t steps,
                             struct particle_comparison* comparison);

#endif
