/*
 * Parses the command line; see frame_options.h.
 */
#include "frame_options.h"

#include <string.h>

const char sample_name[] = "deferred_frame";

static const char usage[] =
    "Usage: deferred_frame [options]\n"
    "\n"
    "Renders a deferred frame whose render targets share memory, and prints the saved memory.\n"
    "\n"
    "  --output FILE.png  write the picture to this file\n"
    "  --picture FILE.svg write a picture of the plan to this file\n"
    "  --size WxH         size of the picture; 960x540 by default\n"
    "  --frames N         frames to render, 1 to 256; 8 by default. The picture shows the last\n"
    "  --device NAME      auto, vulkan:N, lavapipe, a part of a device's name, or\n"
    "                     simulated:PROFILE with --memory-only\n"
    "  --no-aliasing      give every resource its own bytes\n"
    "  --compare          render with and without aliasing, and compare the images byte by byte\n"
    "  --async            run occlusion and light tiles on a second queue, beside the haze\n"
    "  --poison           fill every transient with garbage right before its first use in a frame\n"
    "  --validate         use the validation layer with synchronization checks\n"
    "  --check            check the recorded barriers with Maar's own checker, then omit each\n"
    "                     barrier in turn, which the checker must notice\n"
    "  --memory-only      plan and print the figures, but render nothing\n"
    "  --json             print one line of JSON\n"
    "\n"
    "Exit codes: 0 success; 1 failure; 2 wrong arguments; 77 no suitable device or layer.\n";

static bool parse_value(void* opaque, const char* name, const char* value)
{
    struct frame_options* options = opaque;
    if (strcmp(name, "--output") == 0) {
        options->output = value;
    } else if (strcmp(name, "--picture") == 0) {
        options->picture = value;
    } else if (strcmp(name, "--device") == 0) {
        options->device = value;
    } else if (strcmp(name, "--size") == 0) {
        return sample_parse_extent(name, value, &options->width, &options->height);
    } else if (strcmp(name, "--frames") == 0) {
        return sample_parse_count(name, value, 1, 256, &options->frames);
    } else {
        return sample_reject_option(name);
    }
    return true;
}

/* Returns whether the options are compatible. */
static bool agree(const struct frame_options* options)
{
    if (options->memory_only && (options->output != NULL || options->compare || options->check)) {
        sample_complain("--memory-only renders nothing: --output, --compare and --check need a "
                        "frame");
        return false;
    }
    if (!options->memory_only && sample_is_simulated(options->device)) {
        sample_complain("a simulated device executes nothing: use --memory-only");
        return false;
    }
    if (!options->aliasing && options->compare) {
        sample_complain("--compare renders both ways: it needs no --no-aliasing");
        return false;
    }
    return true;
}

bool frame_options_parse(struct frame_options* options, int argc, char** argv, int* exit_code)
{
    *options = (struct frame_options){.device = "auto", .width = 960, .height = 540, .frames = 8};
    bool apart = false;
    const struct sample_switch switches[] = {
        {"--compare", &options->compare},
        {"--poison", &options->poison},
        {"--validate", &options->validate},
        {"--check", &options->check},
        {"--json", &options->json},
        {"--async", &options->async},
        {"--memory-only", &options->memory_only},
        {"--no-aliasing", &apart},
    };
    const struct sample_command_line line = {
        .usage = usage,
        .switches = switches,
        .switch_count = sizeof(switches) / sizeof(switches[0]),
        .parse = parse_value,
        .options = options,
    };
    if (!sample_parse_command_line(&line, argc, argv, exit_code)) {
        return false;
    }
    options->aliasing = !apart;
    *exit_code = agree(options) ? SAMPLE_EXIT_OK : SAMPLE_EXIT_USAGE;
    return *exit_code == SAMPLE_EXIT_OK;
}
