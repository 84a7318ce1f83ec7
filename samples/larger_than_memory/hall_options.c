/*
 * Parses the command line; see hall_options.h.
 */
#include "hall_options.h"

#include <string.h>

const char sample_name[] = "larger_than_memory";

static const char usage[] =
    "Usage: larger_than_memory [options]\n"
    "\n"
    "Renders a walk through a hall whose textures are three times as large as the device memory\n"
    "that they may use: the others lie in host memory, compressed, or in a file. Then compares\n"
    "every frame with those of a walk that has room for all textures.\n"
    "\n"
    "  --bays N           parts of the hall, with three textures each; 24 by default\n"
    "  --side N           texels of a texture in x and in y; 256 by default\n"
    "  --times N          the budget of the device is the textures' bytes divided by N; 3 by "
    "default\n"
    "  --frames N         number of frames; 120 by default\n"
    "  --size WxH         size of the frames; 480x270 by default\n"
    "  --strip FILE.png   write a picture of where each texture was in each frame to this file\n"
    "  --out FILE.png     write a frame to this file\n"
    "  --device NAME      auto, vulkan:N, lavapipe, uuid:HEX or a part of a device's name\n"
    "  --no-thread        compress and read files on the thread that draws\n"
    "  --validate         use the validation layer with synchronization checks\n"
    "  --json             print one line of JSON\n"
    "  --plant MISTAKE    make a mistake, which the checks must notice (exit code 1):\n"
    "                       access      textures that a frame changes are declared as only read\n"
    "                       restore     textures that a frame reads are declared as overwritten\n"
    "                       epoch       views are kept although their textures have other images\n"
    "\n"
    "Exit codes: 0 all is well; 1 it is not; 2 wrong arguments; 77 no suitable device or layer.\n";

static bool parse_hall_mistake(const char* name, const char* value, enum hall_mistake* mistake)
{
    if (strcmp(value, "access") == 0) {
        *mistake = HALL_MISTAKE_ACCESS;
    } else if (strcmp(value, "restore") == 0) {
        *mistake = HALL_MISTAKE_RESTORE;
    } else if (strcmp(value, "epoch") == 0) {
        *mistake = HALL_MISTAKE_EPOCH;
    } else {
        sample_complain("%s %s: expected access, restore or epoch", name, value);
        return false;
    }
    return true;
}

static bool parse_hall_value(void* opaque, const char* name, const char* value)
{
    struct hall_options* options = opaque;
    if (strcmp(name, "--device") == 0) {
        options->device = value;
    } else if (strcmp(name, "--strip") == 0) {
        options->strip = value;
    } else if (strcmp(name, "--out") == 0) {
        options->out = value;
    } else if (strcmp(name, "--plant") == 0) {
        return parse_hall_mistake(name, value, &options->mistake);
    } else if (strcmp(name, "--bays") == 0) {
        return sample_parse_count(name, value, 20, 400, &options->bays);
    } else if (strcmp(name, "--side") == 0) {
        return sample_parse_count(name, value, 128, 2048, &options->side);
    } else if (strcmp(name, "--times") == 0) {
        return sample_parse_count(name, value, 1, 16, &options->times);
    } else if (strcmp(name, "--frames") == 0) {
        return sample_parse_count(name, value, 16, 10000, &options->frames);
    } else if (strcmp(name, "--size") == 0) {
        return sample_parse_extent(name, value, &options->width, &options->height);
    } else {
        return sample_reject_option(name);
    }
    return true;
}

bool hall_options_parse(struct hall_options* options, int argc, char** argv, int* exit_code)
{
    *options = (struct hall_options){
        .device = "auto",
        .width = 480,
        .height = 270,
        .frames = 120,
        .bays = 24,
        .side = 256,
        .times = 3,
    };
    const struct sample_switch switches[] = {
        {"--no-thread", &options->no_thread},
        {"--validate", &options->validate},
        {"--json", &options->json},
    };
    const struct sample_command_line line = {
        .usage = usage,
        .switches = switches,
        .switch_count = sizeof(switches) / sizeof(switches[0]),
        .parse = parse_hall_value,
        .options = options,
    };
    if (!sample_parse_command_line(&line, argc, argv, exit_code)) {
        return false;
    }
    if (sample_is_simulated(options->device)) {
        sample_complain("--device %s: a simulated device draws nothing", options->device);
        *exit_code = SAMPLE_EXIT_USAGE;
    }
    return *exit_code == SAMPLE_EXIT_OK;
}
