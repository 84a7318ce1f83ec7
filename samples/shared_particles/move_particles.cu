/*
 * Moves particles by one step, if the mover is CUDA. The shader move.comp in
 * shaders/shared_particles and the reference in particle_galaxy.c do the same. nvcc compiles this
 * kernel into the program, which does not link CUDA.
 */
#include "particle_galaxy.h"

extern "C" __global__ void move_particles(particle* particles, particle_rules rules)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rules.count) {
        return;
    }
    particle p = particles[i];
    const float squared =
        p.place[0] * p.place[0] + p.place[1] * p.place[1] + p.place[2] * p.place[2];
    const float near = squared + rules.softening;
    const float pull =
        rules.mass / (near * sqrtf(near)) + rules.halo / (squared + rules.halo_core);
    for (int axis = 0; axis < 3; ++axis) {
        const float down = axis == 2 ? rules.flattening * p.place[2] : 0.0f;
        p.velocity[axis] -= rules.step * (pull * p.place[axis] + down);
    }
    for (int axis = 0; axis < 3; ++axis) {
        p.place[axis] += rules.step * p.velocity[axis];
    }
    particles[i] = p;
}
