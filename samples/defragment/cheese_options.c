/*
 * Parses the command line; see cheese_options.h.
 */
#include "cheese_options.h"

#include <string.h>

const char sample_name[] = "defragment";

static const char usage[] =
    "Usage: defragment [options]\n"
    "\n"
    "Renders planets whose images and buffers lie in a heap like Swiss cheese, and meanwhile "
    "moves\n"
    "them together, so that most blocks are given back. Then compares every frame with those of a\n"
    "heap that is left as it is.\n"
    "\n"
    "  --planets N        planets to create, of which a third remains; 600 by default\n"
    "  --frames N         number of frames; 48 by default\n"
    "  --size WxH         size of the frames; 960x540 by default\n"
    "  --step N           KiB to move in a frame, at most; 512 by default\n"
    "  --moves N          moves in a frame, at most; 32 by default\n"
    "  --picture FILE.svg write a picture of the blocks before, during and after to this file\n"
    "  --out FILE.png     write the last frame to this file\n"
    "  --device NAME      auto, vulkan:N, lavapipe, uuid:HEX or a part of a device's name\n"
    "  --poison           overwrite what was moved, at its old place\n"
    "  --validate         use the validation layer with synchronization checks\n"
    "  --json             print one line of JSON\n"
    "  --plant MISTAKE    make a mistake, which the checks must notice (exit code 1):\n"
    "                       descriptor  a planet's descriptors still name the old objects\n"
    "                       copy        an image is not copied\n"
    "                       barrier     a frame does not wait for a copy; with --validate\n"
    "\n"
    "Exit codes: 0 all is well; 1 it is not; 2 wrong arguments; 77 no suitable device or layer.\n";

static bool parse_mistake(const char* name, const char* value, enum cheese_mistake* mistake)
{
    static const char* const words[CHEESE_MISTAKE_COUNT] = {
        [CHEESE_MISTAKE_NONE] = "none",
        [CHEESE_MISTAKE_DESCRIPTOR] = "descriptor",
        [CHEESE_MISTAKE_COPY] = "copy",
        [CHEESE_MISTAKE_BARRIER] = "barrier",
    };
    for (uint32_t i = 0; i < CHEESE_MISTAKE_COUNT; ++i) {
        if (strcmp(words[i], value) == 0) {
            *mistake = (enum cheese_mistake)i;
            return true;
        }
    }
    sample_complain("%s %s: expected descriptor, copy or barrier", name, value);
    return false;
}

static bool parse_cheese_value(void* opaque, const char* name, const char* value)
{
    struct cheese_options* options = opaque;
    if (strcmp(name, "--device") == 0) {
        options->device = value;
    } else if (strcmp(name, "--picture") == 0) {
        options->picture = value;
    } else if (strcmp(name, "--out") == 0) {
        options->out = value;
    } else if (strcmp(name, "--plant") == 0) {
        return parse_mistake(name, value, &options->mistake);
    } else if (strcmp(name, "--planets") == 0) {
        return sample_parse_count(name, value, 30, 10000, &options->planets);
    } else if (strcmp(name, "--frames") == 0) {
        return sample_parse_count(name, value, 8, 10000, &options->frames);
    } else if (strcmp(name, "--step") == 0) {
        return sample_parse_count(name, value, 1, 1u << 20, &options->step_kib);
    } else if (strcmp(name, "--moves") == 0) {
        return sample_parse_count(name, value, 1, 100000, &options->moves);
    } else if (strcmp(name, "--size") == 0) {
        return sample_parse_extent(name, value, &options->width, &options->height);
    } else {
        return sample_reject_option(name);
    }
    return true;
}

bool cheese_options_parse(struct cheese_options* options, int argc, char** argv, int* exit_code)
{
    *options = (struct cheese_options){
        .device = "auto",
        .width = 960,
        .height = 540,
        .planets = 600,
        .frames = 48,
        .moves = 32,
        .step_kib = 512,
    };
    const struct sample_switch switches[] = {
        {"--poison", &options->poison},
        {"--validate", &options->validate},
        {"--json", &options->json},
    };
    const struct sample_command_line line = {
        .usage = usage,
        .switches = switches,
        .switch_count = sizeof(switches) / sizeof(switches[0]),
        .parse = parse_cheese_value,
        .options = options,
    };
    if (!sample_parse_command_line(&line, argc, argv, exit_code)) {
        return false;
    }
    if (sample_is_simulated(options->device)) {
        sample_complain("--device %s: a simulated device draws nothing", options->device);
        *exit_code = SAMPLE_EXIT_USAGE;
    }
    if (options->mistake == CHEESE_MISTAKE_BARRIER && !options->validate) {
        sample_complain("--plant barrier: only the layer notices this: use --validate");
        *exit_code = SAMPLE_EXIT_USAGE;
    }
    return *exit_code == SAMPLE_EXIT_OK;
}
