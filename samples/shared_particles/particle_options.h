/*
 * The command line of the shared particles.
 */
#ifndef MAAR_SAMPLE_PARTICLE_OPTIONS_H
#define MAAR_SAMPLE_PARTICLE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Who moves the particles. */
enum particle_route { PARTICLE_ROUTE_AUTO, PARTICLE_ROUTE_CUDA, PARTICLE_ROUTE_PROCESS };

/* A mistake that the comparison must notice. */
enum particle_mistake { PARTICLE_MISTAKE_NONE, PARTICLE_MISTAKE_SKIP, PARTICLE_MISTAKE_STRAY };

struct particle_options {
    const char* device;
    const char* out;          /* NULL: no picture */
    const char* cuda_library; /* NULL: the driver's */
    uint32_t particles, frames;
    uint32_t width, height;
    enum particle_route route;
    enum particle_mistake mistake;
    bool validate;
    bool json;
    uint32_t mover_socket; /* this is the other process; UINT32_MAX: it is not */
};

/* False when the program is to end now with *exit_code. */
bool particle_options_parse(struct particle_options* options, int argc, char** argv,
                            int* exit_code);

#endif
