/*
 * maar fit: parses the arguments, plays the input on each chosen device, prints the results.
 */
#include "tool_fit.h"

#include "support/gguf.h"
#include "tool_commands.h"
#include "tool_data.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 64
#define MAX_TRAINING_NUMBER ((uint64_t)1 << 32)
#define MAX_PARALLEL 65536u

static const char help_text[] =
    "Usage: maar fit INPUT [OPTION...]\n"
    "       maar fit --parameters N --training mixed-adam [OPTION...]\n"
    "\n"
    "Finds out on which devices the memory of a program, a frame or a model fits. Each device is\n"
    "simulated from a profile, and Maar places the resources on it. INPUT is\n"
    "\n"
    "  a trace          maar-trace/1 or 2, a capture, or a name from maar replay --list-traces:\n"
    "                   its traffic is replayed\n"
    "  a frame graph    a file for maar plan, or a name from maar plan --list-frames: its plan is\n"
    "                   one allocation\n"
    "  a GGUF file      a language model, of which only the header is read: weights and KV cache\n"
    "\n"
    "  --device D       a profile, a file or a name from maar info --list-profiles; may be given\n"
    "                   several times. The default is all: each installed profile\n"
    "  --heap N=SIZE    size of heap N, with one --device. SIZE takes KiB, MiB, GiB, TiB\n"
    "  --least          also find the least size of the first heap with which it fits, for each\n"
    "                   --device\n"
    "  --limit NAME=V   another limit of the devices; see maar replay --help\n"
    "  --allow-host     accept that resources of a device with memory of its own go to host\n"
    "                   memory\n"
    "  --reserve SIZE   add bytes in device memory, for what the input does not name\n"
    "  --json           print one JSON object per device and line on standard output, and nothing\n"
    "                   else there\n"
    "\n"
    "Of a GGUF file:\n"
    "  --context N      tokens of each sequence in the KV cache. The default is 4096, or less if\n"
    "                   the model was made for less\n"
    "  --parallel N     sequences, each with its own context. The default is 1\n"
    "  --kv-type T      type of keys and values: f16 (the default), f32, bf16, q8_0, q5_1, q5_0,\n"
    "                   q4_1, q4_0, iq4_nl\n"
    "\n"
    "Of training:\n"
    "  --parameters N   parameters of the model; takes K, M, B, T for thousands, millions, ...\n"
    "  --training M     mixed-adam: mixed precision with the optimizer Adam\n"
    "  --gpus N         devices that share the training\n"
    "  --zero S         ZeRO stage: 0 (the default), 1, 2 or 3\n"
    "  --layers N       layers of a transformer. This and the next four add its activations\n"
    "  --hidden N       values of its hidden state\n"
    "  --heads N        attention heads\n"
    "  --batch N        sequences at a time on one device\n"
    "  --sequence N     tokens of a sequence\n"
    "  --recompute R    activations computed again: none (the default), selective or full\n"
    "\n"
    "The table: heap is where resources of the device go first; Maar holds is the most bytes of\n"
    "VkDeviceMemory in it; left is what remains of the heap, or of its budget (of all heaps, if\n"
    "the device has no memory of its own); missing is what finds no place there.\n"
    "docs/fitting.md explains the rest, with all formulas.\n"
    "\n"
    "Exit codes: 0 it fits on all chosen devices, without --device on any; 1 it does not fit, or\n"
    "that is not proved; 2 bad arguments, malformed input, no such profile.\n";

enum fit_option {
    FIT_DEVICE = 256,
    FIT_HEAP,
    FIT_LEAST,
    FIT_LIMIT,
    FIT_ALLOW_HOST,
    FIT_RESERVE,
    FIT_JSON,
    FIT_CONTEXT,
    FIT_PARALLEL,
    FIT_KV_TYPE,
    FIT_PARAMETERS,
    FIT_TRAINING,
    FIT_GPUS,
    FIT_ZERO,
    FIT_LAYERS,
    FIT_HIDDEN,
    FIT_HEADS,
    FIT_BATCH,
    FIT_SEQUENCE,
    FIT_RECOMPUTE,
    FIT_HELP,
};

static const struct option fit_options[] = {
    {"device", required_argument, NULL, FIT_DEVICE},
    {"heap", required_argument, NULL, FIT_HEAP},
    {"least", no_argument, NULL, FIT_LEAST},
    {"limit", required_argument, NULL, FIT_LIMIT},
    {"allow-host", no_argument, NULL, FIT_ALLOW_HOST},
    {"reserve", required_argument, NULL, FIT_RESERVE},
    {"json", no_argument, NULL, FIT_JSON},
    {"context", required_argument, NULL, FIT_CONTEXT},
    {"parallel", required_argument, NULL, FIT_PARALLEL},
    {"kv-type", required_argument, NULL, FIT_KV_TYPE},
    {"parameters", required_argument, NULL, FIT_PARAMETERS},
    {"training", required_argument, NULL, FIT_TRAINING},
    {"gpus", required_argument, NULL, FIT_GPUS},
    {"zero", required_argument, NULL, FIT_ZERO},
    {"layers", required_argument, NULL, FIT_LAYERS},
    {"hidden", required_argument, NULL, FIT_HIDDEN},
    {"heads", required_argument, NULL, FIT_HEADS},
    {"batch", required_argument, NULL, FIT_BATCH},
    {"sequence", required_argument, NULL, FIT_SEQUENCE},
    {"recompute", required_argument, NULL, FIT_RECOMPUTE},
    {"help", no_argument, NULL, FIT_HELP},
    {NULL, 0, NULL, 0},
};

struct fit_settings {
    struct tool_fit_options input;
    struct tool_device_options device; /* --heap and --limit */
    const char* devices[MAX_DEVICES];
    int device_count; /* 0: all */
    const char* name; /* of the input; NULL for training */
    bool any_training_option;
    bool allow_host, json, help, least;
};

static bool parse_device(struct fit_settings* settings, const char* text)
{
    if (strcmp(text, "capture") == 0) {
        tool_complain("fit: --device capture: the captured card is only for maar replay; name a "
                      "profile");
        return false;
    }
    static const char simulated[] = "simulated:";
    if (settings->device_count == MAX_DEVICES) {
        tool_complain("--device: too many options");
        return false;
    }
    if (strncmp(text, simulated, sizeof(simulated) - 1) == 0) {
        text += sizeof(simulated) - 1;
    }
    settings->devices[settings->device_count++] = text;
    return true;
}

/* Reads a number of 1 to `most`. */
static bool parse_count(const char* option, const char* text, uint64_t most, uint64_t* out)
{
    char expected[64];
    const enum tool_number number = tool_read_number(text, most, out);
    if (*out == 0) {
        snprintf(expected, sizeof(expected), "1 to %" PRIu64, most);
        tool_complain_number(option, text, number, expected, most);
    }
    return *out != 0;
}

static bool parse_kv_type(struct fit_settings* settings, const char* text)
{
    static const char* const names[] = {"f16",  "f32",  "bf16", "q8_0",  "q5_1",
                                        "q5_0", "q4_1", "q4_0", "iq4_nl"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (strcmp(text, names[i]) == 0) {
            settings->input.cache.type = support_gguf_type_by_name(text);
            return true;
        }
    }
    tool_complain("--kv-type %s: expected f16, f32, bf16, q8_0, q5_1, q5_0, q4_1, q4_0 or iq4_nl",
                  text);
    return false;
}

/* Reads a number with a fraction and a suffix, as in 7.5B. */
static bool parse_parameters(struct fit_settings* settings, const char* text)
{
    static const struct {
        char suffix;
        uint64_t unit;
    } units[] = {
        {'\0', 1}, {'K', 1000}, {'M', 1000000}, {'B', 1000000000}, {'T', 1000000000000},
    };
    const size_t whole = strspn(text, "0123456789");
    const size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
    const char* const end = text + whole + (fraction != 0 ? fraction + 1 : 0);
    uint64_t unit = 0;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); ++i) {
        const bool is_last = *end == '\0' || end[1] == '\0';
        unit = is_last && *end == units[i].suffix ? units[i].unit : unit;
    }
    uint64_t number = 0;
    bool good = whole != 0 && whole <= 15 && unit != 0;
    for (size_t i = 0; good && i < whole; ++i) {
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    good = good && number <= UINT64_MAX / 2 / (unit != 0 ? unit : 1);
    number = good ? number * unit : 0;
    for (size_t i = 0; good && i < fraction; ++i) {
        const uint64_t digit = (uint64_t)(text[whole + 1 + i] - '0');
        good = unit % 10 == 0 || digit == 0; /* no part of a parameter */
        unit /= 10;
        number += digit * unit;
    }
    if (!good || number == 0) {
        tool_complain("--parameters %s: expected a number above 0, as in 7500000000 or 7.5B", text);
        return false;
    }
    settings->input.training.parameters = number;
    return true;
}

static bool parse_word(const char* option, const char* text, const char* const* words,
                       const char* expected, const char** out)
{
    for (; *words != NULL; ++words) {
        if (strcmp(text, *words) == 0) {
            *out = *words;
            return true;
        }
    }
    tool_complain("%s %s: expected %s", option, text, expected);
    return false;
}

static bool parse_zero(struct fit_settings* settings, const char* text)
{
    const enum tool_number number = tool_read_number(text, 3, &settings->input.training.zero_stage);
    if (number != TOOL_NUMBER_GOOD) {
        tool_complain("--zero %s: expected 0, 1, 2 or 3", text);
    }
    return number == TOOL_NUMBER_GOOD;
}

static bool parse_training_option(struct fit_settings* settings, int option, const char* text)
{
    static const char* const methods[] = {"mixed-adam", NULL};
    static const char* const recomputations[] = {"none", "selective", "full", NULL};
    struct tool_fit_training* const training = &settings->input.training;
    settings->any_training_option = true;
    switch (option) {
    case FIT_PARAMETERS:
        return parse_parameters(settings, text);
    case FIT_TRAINING:
        return parse_word("--training", text, methods, "mixed-adam", &training->method);
    case FIT_GPUS:
        return parse_count("--gpus", text, MAX_TRAINING_NUMBER, &training->gpus);
    case FIT_ZERO:
        return parse_zero(settings, text);
    case FIT_LAYERS:
        return parse_count("--layers", text, MAX_TRAINING_NUMBER, &training->layers);
    case FIT_HIDDEN:
        return parse_count("--hidden", text, MAX_TRAINING_NUMBER, &training->hidden);
    case FIT_HEADS:
        return parse_count("--heads", text, MAX_TRAINING_NUMBER, &training->heads);
    case FIT_BATCH:
        return parse_count("--batch", text, MAX_TRAINING_NUMBER, &training->batch);
    case FIT_SEQUENCE:
        return parse_count("--sequence", text, MAX_TRAINING_NUMBER, &training->sequence);
    default:
        return parse_word("--recompute", text, recomputations, "none, selective or full",
                          &training->recompute);
    }
}

static bool parse_reserve(struct fit_settings* settings, const char* text)
{
    const enum tool_number number = tool_read_size(text, &settings->input.reserve);
    if (settings->input.reserve == 0) {
        tool_complain_number("--reserve", text, number, "bytes above 0, as in 512MiB", UINT64_MAX);
    }
    return settings->input.reserve != 0;
}

static bool parse_fit_option(struct fit_settings* settings, int option, const char* text)
{
    struct tool_fit_cache_options* const cache = &settings->input.cache;
    switch (option) {
    case FIT_DEVICE:
        return parse_device(settings, text);
    case FIT_HEAP:
        return tool_device_add_heap(&settings->device, text);
    case FIT_LEAST:
        settings->least = true;
        return true;
    case FIT_LIMIT:
        return tool_device_add_limit(&settings->device, text);
    case FIT_ALLOW_HOST:
        settings->allow_host = true;
        return true;
    case FIT_RESERVE:
        return parse_reserve(settings, text);
    case FIT_JSON:
        settings->json = true;
        return true;
    case FIT_CONTEXT:
        settings->input.any_cache_option = true;
        return parse_count("--context", text, UINT32_MAX, &cache->context);
    case FIT_PARALLEL:
        settings->input.any_cache_option = true;
        return parse_count("--parallel", text, MAX_PARALLEL, &cache->parallel);
    case FIT_KV_TYPE:
        settings->input.any_cache_option = true;
        return parse_kv_type(settings, text);
    case FIT_HELP:
    case 'h':
        settings->help = true;
        return true;
    default:
        return parse_training_option(settings, option, text);
    }
}

/* Returns whether the options of training go together. */
static bool check_training(const struct tool_fit_training* training)
{
    const uint64_t shape[] = {training->layers, training->hidden, training->heads, training->batch,
                              training->sequence};
    size_t given = 0;
    for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); ++i) {
        given += shape[i] != 0 ? 1 : 0;
    }
    if (training->parameters == 0 || training->method[0] == '\0') {
        tool_complain("fit: training needs --parameters N and --training mixed-adam");
    } else if (given != 0 && given != sizeof(shape) / sizeof(shape[0])) {
        tool_complain("fit: activations need all of --layers, --hidden, --heads, --batch and "
                      "--sequence");
    } else if (given == 0 && strcmp(training->recompute, "none") != 0) {
        tool_complain("--recompute needs --layers, --hidden, --heads, --batch and --sequence");
    } else if (training->zero_stage != 0 && training->gpus == 1) {
        tool_complain("--zero needs --gpus N, with N above 1");
    } else {
        return true;
    }
    return false;
}

static bool check_settings(const struct fit_settings* settings)
{
    if (settings->name == NULL && !settings->any_training_option) {
        tool_complain("fit: no input given; see maar fit --help");
    } else if (settings->name != NULL && settings->any_training_option) {
        tool_complain("fit: options of training take no input: %s", settings->name);
    } else if (settings->name == NULL && settings->input.any_cache_option) {
        tool_complain("--context, --parallel and --kv-type need a GGUF file");
    } else if (settings->device.heap_count != 0 && settings->device_count != 1) {
        tool_complain("fit: --heap needs one --device");
    } else if (settings->least && settings->device_count == 0) {
        tool_complain("fit: --least needs --device");
    } else {
        return settings->name != NULL || check_training(&settings->input.training);
    }
    return false;
}

static bool parse_fit_arguments(int argc, char** argv, struct fit_settings* settings)
{
    *settings = (struct fit_settings){
        .input = {.cache = {.parallel = 1, .type = support_gguf_type_by_name("F16")},
                  .training = {.method = "", .gpus = 1, .recompute = "none"}},
    };
    int option = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", fit_options, NULL)) != -1) {
        if (option == '?' || option == ':') {
            tool_complain_option("fit", option, argv, fit_options);
            return false;
        }
        if (!parse_fit_option(settings, option, optarg)) {
            return false;
        }
    }
    if (settings->help) {
        return true;
    }
    if (optind + 1 < argc) {
        tool_complain("fit: unexpected argument: %s; see maar fit --help", argv[optind + 1]);
        return false;
    }
    settings->name = optind < argc ? argv[optind] : NULL;
    if (settings->device_count == 1 && strcmp(settings->devices[0], "all") == 0) {
        settings->device_count = 0;
    }
    return check_settings(settings);
}

/* The run over all devices. */
struct fit_run {
    const struct fit_settings* settings;
    struct tool_fit_input* input;
    uint32_t fit_count, device_count, unmeasured_count;
    int code; /* of an error */
};

/* Prints the needs once. All devices share one table; a device that was named has its own, and its
 * heaps below. */
static void print_device(struct fit_run* run, const struct tool_fit_demand* demand,
                         const struct tool_fit_result* result)
{
    const bool named = run->settings->device_count != 0;
    if (run->device_count == 1) {
        tool_fit_print_needs(demand);
    }
    if (named && run->device_count > 1) {
        printf("\n");
    }
    if (named || run->device_count == 1) {
        tool_fit_print_head();
    }
    tool_fit_print_row(demand, result);
    if (named) {
        tool_fit_print_heaps(demand, result);
    }
}

static bool run_device(void* context, const char* profile)
{
    struct fit_run* const run = context;
    const struct fit_settings* const settings = run->settings;
    const struct tool_fit_play_options options = {.device = &settings->device,
                                                  .allow_host = settings->allow_host};
    struct tool_fit_result* const result = calloc(1, sizeof(*result));
    const struct tool_fit_demand* demand = NULL;
    if (result == NULL) {
        tool_complain("out of memory");
        run->code = TOOL_EXIT_FAILED;
        return false;
    }
    run->code = tool_fit_play(run->input, profile, &options, &demand, result);
    if (run->code == TOOL_EXIT_OK && settings->least) {
        result->has_least = true;
        run->code = tool_fit_find_least(run->input, profile, &options, result, &result->least_heap);
    }
    if (run->code == TOOL_EXIT_OK) {
        ++run->device_count;
        run->fit_count += result->verdict == TOOL_FIT_YES ? 1 : 0;
        for (uint32_t i = 0; i < result->heap_count; ++i) {
            run->unmeasured_count += result->heaps[i].is_unmeasured ? 1 : 0;
        }
        if (settings->json) {
            run->code = tool_fit_print_json(demand, result) ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
        } else {
            print_device(run, demand, result);
        }
    }
    free(result);
    return run->code == TOOL_EXIT_OK;
}

static int run_devices(const struct fit_settings* settings, struct tool_fit_input* input)
{
    struct fit_run run = {.settings = settings, .input = input};
    const bool all = settings->device_count == 0;
    bool good = true;
    if (all) {
        good = tool_data_for_each(TOOL_DATA_PROFILES, run_device, &run);
    }
    for (int i = 0; i < settings->device_count && good; ++i) {
        good = run_device(&run, settings->devices[i]);
    }
    if (!good) {
        return run.code != TOOL_EXIT_OK ? run.code : TOOL_EXIT_USAGE;
    }
    if (!settings->json && all) {
        printf("\nIt fits on %" PRIu32 " of %" PRIu32 " devices.\n", run.fit_count,
               run.device_count);
    }
    if (!settings->json && run.unmeasured_count != 0) {
        printf("\n* No device reported this size: the profile assumes it, or took it from the "
               "machine\n  that recorded it. --device and --heap N=SIZE set it.\n");
    }
    const bool fits = all ? run.fit_count != 0 : run.fit_count == run.device_count;
    return fits ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
}

int tool_command_fit(int argc, char** argv)
{
    struct fit_settings settings;
    if (!parse_fit_arguments(argc, argv, &settings)) {
        return TOOL_EXIT_USAGE;
    }
    if (settings.help) {
        fputs(help_text, stdout);
        return TOOL_EXIT_OK;
    }
    struct tool_fit_input* input = NULL;
    int code = tool_fit_open(settings.name, &settings.input, &input);
    if (code == TOOL_EXIT_OK) {
        code = run_devices(&settings, input);
    }
    tool_fit_close(input);
    return code;
}
