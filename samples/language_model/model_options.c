/*
 * Parses the command line; see model_options.h.
 */
#include "model_options.h"

#include <string.h>

const char sample_name[] = "language_model";

static const char usage[] =
    "Usage: language_model [options]\n"
    "\n"
    "Generates text with a small transformer of random weights, on compute shaders. The weights "
    "and\n"
    "the KV cache are three times as large as the device memory that they may use: the others lie\n"
    "in host memory. The text is generated with room for everything, with that budget, and once\n"
    "more with the program's own LRU instead of Maar's choice. All tokens and logits must be "
    "equal.\n"
    "\n"
    "On a simulated device, which executes no shaders, the same uses are played with many "
    "budgets,\n"
    "and the program prints tokens a second in virtual time.\n"
    "\n"
    "  --layers N          layers of the model, 8 to 64; 16 by default\n"
    "  --width N           floats of a token's vector, a multiple of 32; 192 by default "
    "(simulated:\n"
    "                      64)\n"
    "  --prompt N          tokens of the prompt, 1 to 128; 24 by default\n"
    "  --tokens N          tokens to generate, 8 to 128; 64 by default (simulated: 24)\n"
    "  --times N           the budget of the device is the model's bytes divided by N, 1 to 4; 3 "
    "by\n"
    "                      default; not for simulated devices\n"
    "  --picture FILE.svg  write a picture of what was where over time to this file; on a "
    "simulated\n"
    "                      device one of tokens a second\n"
    "  --device NAME       auto, vulkan:N, lavapipe, uuid:HEX, a part of a device's name, or\n"
    "                      simulated:PROFILE\n"
    "  --validate          use the validation layer with synchronization checks\n"
    "  --json              print one line of JSON\n"
    "  --plant MISTAKE     make a mistake, which the checks must notice (exit code 1):\n"
    "                        access   the KV cache is written, and declared as only read\n"
    "                        restore  weights that are read are declared as overwritten\n"
    "                        wait     on a simulated device: submissions do not wait until what "
    "they\n"
    "                                 use is there\n"
    "\n"
    "Exit codes: 0 all is well; 1 it is not; 2 wrong arguments; 77 no suitable device or layer.\n";

static bool parse_model_mistake(const char* name, const char* value, enum model_mistake* mistake)
{
    if (strcmp(value, "access") == 0) {
        *mistake = MODEL_MISTAKE_ACCESS;
    } else if (strcmp(value, "restore") == 0) {
        *mistake = MODEL_MISTAKE_RESTORE;
    } else if (strcmp(value, "wait") == 0) {
        *mistake = MODEL_MISTAKE_WAIT;
    } else {
        sample_complain("%s %s: expected access, restore or wait", name, value);
        return false;
    }
    return true;
}

static bool parse_width(const char* name, const char* value, uint32_t* width)
{
    if (!sample_parse_count(name, value, MODEL_HEAD, 512, width)) {
        return false;
    }
    if (*width % MODEL_HEAD != 0) {
        sample_complain("%s %s: expected a multiple of %u", name, value, MODEL_HEAD);
        return false;
    }
    return true;
}

/* What the options say of the model; 0: not given. */
struct wanted {
    struct model_options* options;
    uint32_t layers, width, prompt, tokens;
};

static bool parse_model_value(void* opaque, const char* name, const char* value)
{
    struct wanted* const wanted = opaque;
    if (strcmp(name, "--device") == 0) {
        wanted->options->device = value;
    } else if (strcmp(name, "--picture") == 0) {
        wanted->options->picture = value;
    } else if (strcmp(name, "--plant") == 0) {
        return parse_model_mistake(name, value, &wanted->options->mistake);
    } else if (strcmp(name, "--layers") == 0) {
        return sample_parse_count(name, value, 8, MODEL_MOST_LAYERS, &wanted->layers);
    } else if (strcmp(name, "--width") == 0) {
        return parse_width(name, value, &wanted->width);
    } else if (strcmp(name, "--prompt") == 0) {
        return sample_parse_count(name, value, 1, MODEL_MOST_POSITIONS / 2, &wanted->prompt);
    } else if (strcmp(name, "--tokens") == 0) {
        return sample_parse_count(name, value, 8, MODEL_MOST_POSITIONS / 2, &wanted->tokens);
    } else if (strcmp(name, "--times") == 0) {
        return sample_parse_count(name, value, 1, 4, &wanted->options->times);
    } else {
        return sample_reject_option(name);
    }
    return true;
}

static bool options_agree(const struct model_options* options)
{
    if (options->is_simulated && options->times != 0) {
        sample_complain("--times: a simulated device plays many budgets");
        return false;
    }
    if (options->is_simulated && options->mistake != MODEL_MISTAKE_NONE &&
        options->mistake != MODEL_MISTAKE_WAIT) {
        sample_complain("--plant: a simulated device computes nothing; only \"wait\" shows there");
        return false;
    }
    if (!options->is_simulated && options->mistake == MODEL_MISTAKE_WAIT) {
        sample_complain("--plant wait: only a simulated device notices for sure");
        return false;
    }
    return true;
}

bool model_options_parse(struct model_options* options, int argc, char** argv, int* exit_code)
{
    *options = (struct model_options){.device = "auto"};
    struct wanted wanted = {.options = options, .layers = 16, .prompt = 24};
    const struct sample_switch switches[] = {
        {"--validate", &options->validate},
        {"--json", &options->json},
    };
    const struct sample_command_line line = {
        .usage = usage,
        .switches = switches,
        .switch_count = sizeof(switches) / sizeof(switches[0]),
        .parse = parse_model_value,
        .options = &wanted,
    };
    if (!sample_parse_command_line(&line, argc, argv, exit_code)) {
        return false;
    }
    options->is_simulated = sample_is_simulated(options->device);
    if (!options_agree(options)) {
        *exit_code = SAMPLE_EXIT_USAGE;
        return false;
    }
    const uint32_t width = options->is_simulated ? 64 : 160;
    const uint32_t tokens = options->is_simulated ? 24 : 64;
    options->shape = model_shape_of(wanted.layers, wanted.width != 0 ? wanted.width : width,
                                    wanted.prompt, wanted.tokens != 0 ? wanted.tokens : tokens);
    options->times = options->times != 0 ? options->times : 3;
    return true;
}
