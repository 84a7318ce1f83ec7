/*
 * Parses the command line; see grow_options.h.
 */
#include "grow_options.h"

#include "sample_text.h"

#include <stdlib.h>
#include <string.h>

const char sample_name[] = "growing_array";

static const char usage[] =
    "Usage: growing_array [options]\n"
    "\n"
    "Appends elements to an array in device memory. Shaders write the elements and finally verify\n"
    "them. The array grows in place: its address never changes and nothing is copied.\n"
    "\n"
    "  --size N           final size in bytes, with K, M or G; 1G by default, or as much as fits\n"
    "  --batch N          bytes to append at a time; 16M by default\n"
    "  --copying          instead grow by copies into larger buffers\n"
    "  --compare          grow in both ways, one after the other\n"
    "  --picture FILE.svg write a picture of sizes over time to this file\n"
    "  --device NAME      auto, vulkan:N, lavapipe, a part of a device's name, or\n"
    "                     simulated:PROFILE with --memory-only\n"
    "  --windows          access elements by descriptors even if addresses are available\n"
    "  --memory-only      grow and print the figures, but write and verify nothing\n"
    "  --validate         use the validation layer with synchronization checks\n"
    "  --json             print one line of JSON for each way\n"
    "\n"
    "Exit codes: 0 success; 1 failure; 2 wrong arguments; 77 no suitable device or layer.\n";

/* Parses a number of bytes, 64K to 64G. */
static bool parse_bytes(const char* name, const char* text, uint64_t* bytes)
{
    const uint64_t most = (uint64_t)64 << 30;
    char* rest = NULL;
    unsigned shift = 0;
    const unsigned long long number = strtoull(text, &rest, 10);
    bool good = text[0] >= '0' && text[0] <= '9' && number <= most;
    if (good && *rest != '\0') {
        const char* const letters = "KMG";
        const char* const letter = strchr(letters, *rest);
        good = letter != NULL && rest[1] == '\0';
        shift = good ? 10u * (unsigned)(letter - letters + 1) : 0;
    }
    *bytes = (uint64_t)number << shift;
    if (!good || *bytes < (uint64_t)64 << 10 || number > most >> shift) {
        sample_complain("%s %s: expected 64K to 64G", name, text);
        return false;
    }
    return true;
}

static bool parse_value(void* opaque, const char* name, const char* value)
{
    struct grow_options* options = opaque;
    if (strcmp(name, "--device") == 0) {
        options->device = value;
    } else if (strcmp(name, "--picture") == 0) {
        options->picture = value;
    } else if (strcmp(name, "--size") == 0) {
        return parse_bytes(name, value, &options->size);
    } else if (strcmp(name, "--batch") == 0) {
        return parse_bytes(name, value, &options->batch);
    } else {
        return sample_reject_option(name);
    }
    return true;
}

static bool agree(const struct grow_options* options)
{
    if (options->copying && options->compare) {
        sample_complain("--compare grows both ways: it needs no --copying");
        return false;
    }
    if (!options->memory_only && sample_is_simulated(options->device)) {
        sample_complain("a simulated device executes nothing: use --memory-only");
        return false;
    }
    return true;
}

bool grow_options_parse(struct grow_options* options, int argc, char** argv, int* exit_code)
{
    *options = (struct grow_options){
        .device = "auto", .size = (uint64_t)1 << 30, .batch = (uint64_t)16 << 20};
    const struct sample_switch switches[] = {
        {"--copying", &options->copying},   {"--compare", &options->compare},
        {"--validate", &options->validate}, {"--memory-only", &options->memory_only},
        {"--windows", &options->windows},   {"--json", &options->json},
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
    *exit_code = agree(options) ? SAMPLE_EXIT_OK : SAMPLE_EXIT_USAGE;
    return *exit_code == SAMPLE_EXIT_OK;
}
