/*
 * Parses the command line; see texture_options.h.
 */
#include "texture_options.h"

#include <string.h>

const char sample_name[] = "virtual_texture";

static const char usage[] =
    "Usage: virtual_texture [options]\n"
    "\n"
    "Flies over a map of 16384 x 16384 texels with a fiftieth of it in memory at a time.\n"
    "\n"
    "  --out DIR          write pictures to this folder: some frames, the resident tiles,\n"
    "                     figures over time\n"
    "  --size WxH         size of a frame; 640x360 by default\n"
    "  --frames N         number of frames, 8 to 4096; 240 by default\n"
    "  --rate N           most frames in a second, as for a screen; 60 by default\n"
    "  --texture N        texels in x and in y, a power of two from 256 to 16384; by default the\n"
    "                     largest that the device supports\n"
    "  --budget 1/N       bytes of pages as a part of the texture's; 1/50 by default;\n"
    "  --budget N         or in KiB\n"
    "  --tint             colour each level differently\n"
    "  --device NAME      auto, vulkan:N, lavapipe, or a part of a device's name\n"
    "  --validate         use the validation layer with synchronization checks\n"
    "  --json             print one line of JSON\n"
    "  --plant MISTAKE    make a mistake, which the checks must find (exit code 1):\n"
    "                     stale: the last frame samples tiles that were evicted before it\n"
    "                     skipped: every third tile is not filled\n"
    "                     overrun: the cache gets twice the budget\n"
    "                     wait: each frame waits for uploads\n"
    "\n"
    "Exit codes: 0 success; 1 failure; 2 wrong arguments; 77 no suitable device or layer.\n";

static bool parse_plant(struct texture_options* options, const char* value)
{
    static const char* const names[] = {"", "stale", "skipped", "overrun", "wait"};
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (strcmp(value, names[i]) == 0) {
            options->plant = (enum texture_plant)i;
            return true;
        }
    }
    sample_complain("--plant %s: expected stale, skipped, overrun or wait", value);
    return false;
}

static bool parse_budget(struct texture_options* options, const char* value)
{
    const char* rest = value;
    bool parsed = false;
    if (strncmp(value, "1/", 2) == 0) {
        rest += 2;
        options->budget_kib = 0;
        parsed = sample_parse_number(&rest, 1, 65536, &options->budget_part);
    } else {
        parsed = sample_parse_number(&rest, 64, 1u << 22, &options->budget_kib);
    }
    if (!parsed || *rest != '\0') {
        sample_complain(
            "--budget %s: expected 1/N with N from 1 to 65536, or KiB from 64 to 4194304", value);
        return false;
    }
    return true;
}

static bool parse_texture(struct texture_options* options, const char* value)
{
    const char* rest = value;
    if (!sample_parse_number(&rest, 256, 16384, &options->texture) || *rest != '\0' ||
        (options->texture & (options->texture - 1)) != 0) {
        sample_complain("--texture %s: expected a power of two from 256 to 16384", value);
        return false;
    }
    return true;
}

static bool parse_value(void* opaque, const char* name, const char* value)
{
    struct texture_options* options = opaque;
    if (strcmp(name, "--out") == 0) {
        options->out = value;
    } else if (strcmp(name, "--device") == 0) {
        options->device = value;
    } else if (strcmp(name, "--budget") == 0) {
        return parse_budget(options, value);
    } else if (strcmp(name, "--texture") == 0) {
        return parse_texture(options, value);
    } else if (strcmp(name, "--plant") == 0) {
        return parse_plant(options, value);
    } else if (strcmp(name, "--size") == 0) {
        return sample_parse_extent(name, value, &options->width, &options->height);
    } else if (strcmp(name, "--frames") == 0) {
        return sample_parse_count(name, value, 8, 4096, &options->frames);
    } else if (strcmp(name, "--rate") == 0) {
        return sample_parse_count(name, value, 1, 1000, &options->rate);
    } else {
        return sample_reject_option(name);
    }
    return true;
}

bool texture_options_parse(struct texture_options* options, int argc, char** argv, int* exit_code)
{
    *options = (struct texture_options){.device = "auto",
                                        .width = 640,
                                        .height = 360,
                                        .frames = 240,
                                        .rate = 60,
                                        .budget_part = 50};
    const struct sample_switch switches[] = {
        {"--tint", &options->tint},
        {"--validate", &options->validate},
        {"--json", &options->json},
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
    if (sample_is_simulated(options->device)) {
        sample_complain("--device %s: a simulated device executes nothing", options->device);
        *exit_code = SAMPLE_EXIT_USAGE;
        return false;
    }
    return true;
}
