/*
 * Parses the command line; see particle_options.h.
 */
#include "particle_options.h"

#include "sample_text.h"

#include <string.h>

const char sample_name[] = "shared_particles";

static const char usage[] =
    "Usage: shared_particles [options]\n"
    "\n"
    "Renders particles that another side moves: a CUDA kernel, or another process with its own\n"
    "Vulkan device. Both sides work in the same memory; nothing is copied.\n"
    "\n"
    "  --route ROUTE      auto, cuda or process; auto uses CUDA if possible\n"
    "  --particles N      number of particles; 100000 by default\n"
    "  --frames N         number of frames; 240 by default\n"
    "  --size WxH         size of the picture; 1280x720 by default\n"
    "  --out FILE.png     write a picture of the last frame to this file\n"
    "  --device NAME      auto, vulkan:N, lavapipe, uuid:HEX or a part of a device's name\n"
    "  --cuda-library FILE\n"
    "                     the CUDA driver's library; libcuda.so.1 by default\n"
    "  --validate         use the validation layer with synchronization checks on both sides\n"
    "  --json             print one line of JSON\n"
    "  --plant MISTAKE    make a mistake, which the checks must notice (exit code 1):\n"
    "                       skip     the mover omits one step\n"
    "                       stray    the mover works in its own memory; with --route process\n"
    "\n"
    "Exit codes: 0 all is well; 1 it is not; 2 wrong arguments; 77 no such device, route or layer\n"
    "here.\n";

/* Returns the index of a value among three words. */
static bool parse_word(const char* name, const char* value, const char* const words[3],
                       uint32_t* index)
{
    for (*index = 0; *index < 3; ++*index) {
        if (strcmp(words[*index], value) == 0) {
            return true;
        }
    }
    sample_complain("%s %s: expected %s, %s or %s", name, value, words[0], words[1], words[2]);
    return false;
}

static bool parse_route(const char* name, const char* value, enum particle_route* route)
{
    static const char* const words[3] = {
        [PARTICLE_ROUTE_AUTO] = "auto",
        [PARTICLE_ROUTE_CUDA] = "cuda",
        [PARTICLE_ROUTE_PROCESS] = "process",
    };
    uint32_t index = 0;
    const bool done = parse_word(name, value, words, &index);
    *route = done ? (enum particle_route)index : PARTICLE_ROUTE_AUTO;
    return done;
}

static bool parse_mistake(const char* name, const char* value, enum particle_mistake* mistake)
{
    static const char* const words[3] = {
        [PARTICLE_MISTAKE_NONE] = "none",
        [PARTICLE_MISTAKE_SKIP] = "skip",
        [PARTICLE_MISTAKE_STRAY] = "stray",
    };
    uint32_t index = 0;
    const bool done = parse_word(name, value, words, &index);
    *mistake = done ? (enum particle_mistake)index : PARTICLE_MISTAKE_NONE;
    return done;
}

static bool parse_particle_value(void* opaque, const char* name, const char* value)
{
    struct particle_options* options = opaque;
    if (strcmp(name, "--device") == 0) {
        options->device = value;
    } else if (strcmp(name, "--out") == 0) {
        options->out = value;
    } else if (strcmp(name, "--cuda-library") == 0) {
        options->cuda_library = value;
    } else if (strcmp(name, "--route") == 0) {
        return parse_route(name, value, &options->route);
    } else if (strcmp(name, "--plant") == 0) {
        return parse_mistake(name, value, &options->mistake);
    } else if (strcmp(name, "--particles") == 0) {
        return sample_parse_count(name, value, 1, 50000000, &options->particles);
    } else if (strcmp(name, "--frames") == 0) {
        return sample_parse_count(name, value, 1, 100000, &options->frames);
    } else if (strcmp(name, "--size") == 0) {
        return sample_parse_extent(name, value, &options->width, &options->height);
    } else if (strcmp(name, "--mover") == 0) { /* the option by which the program starts itself */
        return sample_parse_count(name, value, 3, 1u << 20, &options->mover_socket);
    } else {
        return sample_reject_option(name);
    }
    return true;
}

bool particle_options_parse(struct particle_options* options, int argc, char** argv, int* exit_code)
{
    *options = (struct particle_options){.device = "auto",
                                         .particles = 100000,
                                         .frames = 240,
                                         .width = 1280,
                                         .height = 720,
                                         .mover_socket = UINT32_MAX};
    const struct sample_switch switches[] = {
        {"--validate", &options->validate},
        {"--json", &options->json},
    };
    const struct sample_command_line line = {
        .usage = usage,
        .switches = switches,
        .switch_count = sizeof(switches) / sizeof(switches[0]),
        .parse = parse_particle_value,
        .options = options,
    };
    if (!sample_parse_command_line(&line, argc, argv, exit_code)) {
        return false;
    }
    if (options->mistake == PARTICLE_MISTAKE_STRAY && options->route != PARTICLE_ROUTE_PROCESS) {
        sample_complain("--plant stray needs --route process");
        *exit_code = SAMPLE_EXIT_USAGE;
        return false;
    }
    return true;
}
