/*
 * The command line of the shared particles.
 */
#ifndef MAAR_SAMPLE_PARTICLE_OPTIONS_H
#define MAAR_SAMPLE_PARTICLE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The kinds of movers. */
enum particle_route { PARTICLE_ROUTE_AUTO, PARTICLE_ROUTE_CUDA, PARTICLE_ROUTE_PROCESS };

/* The mistakes that the comparison must notice. */
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
    uint32_t mover_socket; /* socket of the second process; UINT32_MAX in the first */
};

/* Parses the command line. Returns false if the program must end with *exit_code. */
bool particle_options_parse(struct particle_options* options, int argc, char** argv,
                            int* exit_code);

#endif
