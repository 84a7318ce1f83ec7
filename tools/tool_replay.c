/*
 * maar replay: parses the arguments, runs each trace with each strategy, and prints the results.
 */
#include "maar/base.h"
#include "tool_baseline.h"
#include "tool_commands.h"
#include "tool_data.h"
#include "tool_player.h"
#include "tool_report.h"
#include "tool_residents.h"
#include "tool_sparse.h"
#include "tool_traffic.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 256u

static const char help_text[] =
    "Usage: maar replay TRACE... [OPTION...]\n"
    "       maar replay --list-traces\n"
    "\n"
    "Replays the memory traffic of programs from traces (maar-trace/1 and 2, plain or gzip) and\n"
    "captures. A trace is a file or a name that --list-traces prints. A row whose usage is known\n"
    "becomes a real buffer or image; any other row becomes a plain memory requirement.\n"
    "\n"
    "  --device D       auto (the default: discrete, integrated, virtual, CPU), vulkan:N,\n"
    "                   simulated:PROFILE, a file or a name from maar info --list-profiles, or\n"
    "                   capture: the captured card, simulated, with what its driver demanded\n"
    "  --heap N=SIZE    size of heap N of a simulated device; on a real device, the most bytes of\n"
    "                   heap N that Maar may use. SIZE takes KiB, MiB, GiB, TiB\n"
    "  --limit NAME=V   another limit of a simulated device: maxMemoryAllocationCount,\n"
    "                   maxMemoryAllocationSize, maxBufferSize, bufferImageGranularity,\n"
    "                   nonCoherentAtomSize, ...; 0 means that the driver reports no limit\n"
    "  --strategy S     auto (the default: Maar's own choice, with dedicated allocations),\n"
    "                   linear, buddy or tlsf (dedicated allocations only where the driver\n"
    "                   requires them), dedicated (only dedicated allocations), sparse (large\n"
    "                   resources are made of pages), or all: each strategy in turn\n"
    "  --block-size N   the size that Maar's blocks grow to, instead of its default: bytes, or\n"
    "                   KiB, MiB, GiB; also for VulkanMemoryAllocator\n"
    "  --threads N      replay with N threads; the id of a resource decides its thread\n"
    "  --verify         write every allocation and check it before it is freed. A device that\n"
    "                   executes commands checks bytes (verification: gpu); for any other\n"
    "                   device the intervals are compared (verification: bookkeeping)\n"
    "  --validate       use the validation layer, with synchronization checks; a message fails\n"
    "                   the run\n"
    "  --picture FILE   draw all blocks at the peak as SVG; with several traces or strategies\n"
    "                   their names become part of the file's name\n"
    "  --theme T        the picture's colours: auto (the default: the viewer's choice), light or\n"
    "                   dark\n"
    "  --json           print one JSON object per run and line on standard output, and nothing\n"
    "                   else there\n"
    "  --baseline FILE  compare with an earlier output of --json: the run of the same trace (or\n"
    "                   program), device, strategy and threads\n"
    "  --tolerance P    with --baseline: how many percent worse a run may be; 0 by default.\n"
    "                   Bytes reserved, calls and failures count, times do not\n"
    "  --budget B       play the uses of submissions (maar capture --uses) through a manager of\n"
    "                   residents with so much device memory: bytes, percent of the most in use,\n"
    "                   or least: nothing is left out\n"
    "  --list-traces    print the names of the installed traces\n"
    "  --verbose        also print the allocator's warnings\n"
    "  --verify-copies  self-test: verify by copies of the resources wherever possible\n"
    "  --plant FAULT    self-test: make a fault, overlap or offset, that --verify must notice,\n"
    "                   or barrier, that --validate must notice on a device that verifies\n"
    "\n"
    "The table: most alive is the most bytes that are alive at one time; reserved and blocks are\n"
    "the largest total of VkDeviceMemory; unused is the share of reserved that the bytes alive\n"
    "leave empty; vkAllocateMemory is the number of its calls; time per event is the mean of the\n"
    "calls that create and free, including the driver's share. Where the command was built with\n"
    "VulkanMemoryAllocator, the row VMA shows what that takes for the same traffic.\n"
    "\n"
    "Exit codes: 0 success; 1 a failed allocation, a mismatch, a byte that was not verified, an\n"
    "error, a message, or a run that is worse than the baseline or missing there; 2 bad arguments, "
    "malformed input, no such device or layer. With the\n"
    "strategies linear and dedicated, the order of frees or a limit may make allocations fail.\n"
    "Such failures are counted and are not errors.\n";

enum replay_option {
    OPTION_DEVICE = 256,
    OPTION_HEAP,
    OPTION_LIMIT,
    OPTION_STRATEGY,
    OPTION_BLOCK_SIZE,
    OPTION_THREADS,
    OPTION_VERIFY,
    OPTION_VALIDATE,
    OPTION_PICTURE,
    OPTION_THEME,
    OPTION_JSON,
    OPTION_VERBOSE,
    OPTION_COPIES,
    OPTION_PLANT,
    OPTION_BASELINE,
    OPTION_TOLERANCE,
    OPTION_BUDGET,
    OPTION_TRACES,
    OPTION_HELP,
};

static const struct option replay_options[] = {
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"heap", required_argument, NULL, OPTION_HEAP},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"strategy", required_argument, NULL, OPTION_STRATEGY},
    {"block-size", required_argument, NULL, OPTION_BLOCK_SIZE},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"verify", no_argument, NULL, OPTION_VERIFY},
    {"validate", no_argument, NULL, OPTION_VALIDATE},
    {"picture", required_argument, NULL, OPTION_PICTURE},
    {"theme", required_argument, NULL, OPTION_THEME},
    {"json", no_argument, NULL, OPTION_JSON},
    {"verbose", no_argument, NULL, OPTION_VERBOSE},
    {"verify-copies", no_argument, NULL, OPTION_COPIES},
    {"plant", required_argument, NULL, OPTION_PLANT},
    {"baseline", required_argument, NULL, OPTION_BASELINE},
    {"tolerance", required_argument, NULL, OPTION_TOLERANCE},
    {"budget", required_argument, NULL, OPTION_BUDGET},
    {"list-traces", no_argument, NULL, OPTION_TRACES},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

struct replay_settings {
    struct tool_device_options device;
    struct tool_player_options player;
    bool all_strategies;
    bool json;
    bool help;
    bool list_traces;
    const char* picture;
    enum support_svg_theme theme;
    char** traces;
    int trace_count;
    const char* baseline_path;
    struct tool_baseline* baseline; /* NULL for none */
    double tolerance;               /* percent */
    bool has_budget;
    struct tool_budget budget;
    bool has_tolerance;
    bool device_missing; /* the error is printed; the other traces would repeat it */
    bool head_printed, trace_printed;
};

static bool parse_strategy(struct replay_settings* settings, const char* text)
{
    settings->all_strategies = strcmp(text, "all") == 0;
    for (int i = 0; i < TOOL_STRATEGY_COUNT; ++i) {
        if (strcmp(text, tool_strategy_names[i]) == 0) {
            settings->player.strategy = (enum tool_strategy)i;
            return true;
        }
    }
    if (!settings->all_strategies) {
        tool_complain_word("--strategy", text,
                           "auto, linear, buddy, tlsf, dedicated, sparse or all",
                           tool_strategy_names, TOOL_STRATEGY_COUNT);
    }
    return settings->all_strategies;
}

static bool parse_plant(struct replay_settings* settings, const char* text)
{
    static const char* const faults[] = {"overlap", "offset", "barrier"};
    if (strcmp(text, "overlap") == 0) {
        settings->player.plant = TOOL_PLANT_OVERLAP;
    } else if (strcmp(text, "offset") == 0) {
        settings->player.plant = TOOL_PLANT_OFFSET;
    } else if (strcmp(text, "barrier") == 0) {
        settings->player.plant = TOOL_PLANT_BARRIER;
    } else {
        tool_complain_word("--plant", text, "overlap, offset or barrier", faults, 3);
        return false;
    }
    return true;
}

static bool parse_threads(struct replay_settings* settings, const char* text)
{
    uint64_t count = 0;
    const enum tool_number number = tool_read_number(text, MAX_THREADS, &count);
    if (count == 0) {
        tool_complain_number("--threads", text, number, "1 to 256", MAX_THREADS);
        return false;
    }
    settings->player.thread_count = (uint32_t)count;
    return true;
}

static bool parse_block_size(struct replay_settings* settings, const char* text)
{
    const enum tool_number number = tool_read_size(text, &settings->device.block_size);
    if (settings->device.block_size == 0) {
        tool_complain_number("--block-size", text, number, "bytes above 0, as in 64MiB",
                             UINT64_MAX);
        return false;
    }
    return true;
}

static bool parse_tolerance(struct replay_settings* settings, const char* text)
{
    char* end = NULL;
    const bool digits = strspn(text, "0123456789.") == strlen(text) && text[0] != '\0';
    settings->tolerance = digits ? strtod(text, &end) : 0.0;
    settings->has_tolerance = true;
    if (!digits || *end != '\0') {
        tool_complain("--tolerance %s: expected percent, as in 2.5", text);
        return false;
    }
    return true;
}

static bool parse_option(struct replay_settings* settings, int option, const char* text)
{
    switch (option) {
    case OPTION_DEVICE:
        settings->device.device = text;
        return true;
    case OPTION_HEAP:
        return tool_device_add_heap(&settings->device, text);
    case OPTION_LIMIT:
        return tool_device_add_limit(&settings->device, text);
    case OPTION_STRATEGY:
        return parse_strategy(settings, text);
    case OPTION_BLOCK_SIZE:
        return parse_block_size(settings, text);
    case OPTION_THREADS:
        return parse_threads(settings, text);
    case OPTION_VERIFY:
        settings->player.verify = true;
        return true;
    case OPTION_VALIDATE:
        settings->device.validate = true;
        return true;
    case OPTION_PICTURE:
        settings->picture = text;
        settings->player.picture = true;
        return true;
    case OPTION_THEME:
        return tool_parse_theme(text, &settings->theme);
    case OPTION_JSON:
        settings->json = true;
        return true;
    case OPTION_VERBOSE:
        settings->device.verbose = true;
        return true;
    case OPTION_COPIES:
        settings->player.copies = true;
        return true;
    case OPTION_PLANT:
        return parse_plant(settings, text);
    case OPTION_BASELINE:
        settings->baseline_path = text;
        return true;
    case OPTION_TOLERANCE:
        return parse_tolerance(settings, text);
    case OPTION_BUDGET:
        settings->has_budget = true;
        return tool_budget_parse(text, &settings->budget);
    case OPTION_TRACES:
        settings->list_traces = true;
        return true;
    default:
        settings->help = true;
        return true;
    }
}

/* Returns whether no option was given that concerns allocations alone. */
static bool is_only_budget(const struct replay_settings* settings)
{
    const struct tool_player_options* const player = &settings->player;
    return !settings->all_strategies && player->strategy == TOOL_STRATEGY_AUTO &&
           player->thread_count == 1 && !player->verify && !player->copies &&
           player->plant == TOOL_PLANT_NONE && settings->picture == NULL &&
           settings->baseline_path == NULL && settings->device.block_size == 0;
}

static bool parse_arguments(int argc, char** argv, struct replay_settings* settings)
{
    *settings = (struct replay_settings){
        .device = {.device = "auto"},
        .player = {.strategy = TOOL_STRATEGY_AUTO, .thread_count = 1},
    };
    int option = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", replay_options, NULL)) != -1) {
        if (option == '?' || option == ':') {
            tool_complain_option("replay", option, argv, replay_options);
            return false;
        }
        if (!parse_option(settings, option, optarg)) {
            return false;
        }
    }
    settings->traces = argv + optind;
    settings->trace_count = argc - optind;
    if (settings->help || settings->list_traces) {
        return true;
    }
    if (settings->trace_count == 0) {
        tool_complain("replay: no trace given; see maar replay --help");
        return false;
    }
    if (settings->has_tolerance && settings->baseline_path == NULL) {
        tool_complain("--tolerance needs --baseline");
        return false;
    }
    if (settings->has_budget && !is_only_budget(settings)) {
        tool_complain("--budget plays residents: of the other options it allows --device, --heap, "
                      "--limit, --validate, --json and --verbose");
        return false;
    }
    if (!settings->player.verify &&
        (settings->player.plant != TOOL_PLANT_NONE || settings->player.copies)) {
        tool_complain("--plant and --verify-copies need --verify");
        return false;
    }
    if (settings->player.strategy == TOOL_STRATEGY_SPARSE &&
        (settings->player.plant == TOOL_PLANT_OVERLAP ||
         settings->player.plant == TOOL_PLANT_OFFSET)) {
        tool_complain("--plant overlap and --plant offset need another strategy than sparse");
        return false;
    }
    return tool_check_named("--picture", settings->picture) &&
           tool_check_apart("--picture", settings->picture, settings->traces, settings->trace_count,
                            support_trace_take_name);
}

/* Fills in the path of the picture: FILE, with names before its suffix if there are several
 * pictures. */
static void name_picture(const struct replay_settings* settings, const char* trace,
                         enum tool_strategy strategy, char* out, size_t size)
{
    char part[320];
    snprintf(part, sizeof(part), "%s%s%s", settings->trace_count > 1 ? trace : "",
             settings->trace_count > 1 && settings->all_strategies ? "-" : "",
             settings->all_strategies ? tool_strategy_names[strategy] : "");
    tool_name_file(settings->picture, part, out, size);
}

/* Returns whether the picture replaces neither a trace nor the profile, and prints an error if it
 * does. */
static bool check_not_inputs(const struct replay_settings* settings, const char* picture)
{
    static const char simulated[] = "simulated:";
    const char* const device = settings->device.device;
    char path[4096];
    bool good = true;
    for (int i = 0; i < settings->trace_count && good; ++i) {
        good = !tool_data_find(TOOL_DATA_TRACES, settings->traces[i], path, sizeof(path)) ||
               tool_check_not_input("--picture", picture, path);
    }
    if (good && strncmp(device, simulated, sizeof(simulated) - 1) == 0 &&
        tool_data_find(TOOL_DATA_PROFILES, device + sizeof(simulated) - 1, path, sizeof(path))) {
        good = tool_check_not_input("--picture", picture, path);
    }
    return good;
}

static void title_picture(const struct tool_report* report, struct support_picture* picture)
{
    uint64_t live = 0;
    uint64_t reserved = 0;
    for (size_t i = 0; i < picture->block_count; ++i) {
        live += picture->blocks[i].live;
        reserved += picture->blocks[i].size;
    }
    char live_text[32];
    char reserved_text[32];
    snprintf(picture->title, sizeof(picture->title), "%s", report->trace);
    snprintf(picture->subtitle, sizeof(picture->subtitle),
             "%s%s, strategy %s, at the peak: %s live in %s of %zu block%s, %.1f %% used",
             report->device, report->simulated ? " (simulated)" : "",
             tool_strategy_names[report->strategy],
             tool_format_size(live, live_text, sizeof(live_text)),
             tool_format_size(reserved, reserved_text, sizeof(reserved_text)), picture->block_count,
             picture->block_count == 1 ? "" : "s",
             reserved == 0 ? 0.0 : 100.0 * (double)live / (double)reserved);
}

static bool draw_picture(const char* path, enum support_svg_theme theme,
                         const struct tool_report* report, struct support_picture* picture)
{
    struct support_error error = {{0}};
    picture->theme = theme;
    title_picture(report, picture);
    if (!support_picture_write(picture, path, &error)) {
        tool_complain("%s", error.text);
        return false;
    }
    return true;
}

/* Returns whether a run succeeded. */
static bool is_good(const struct tool_report* report)
{
    const struct tool_outcome* const outcome = &report->outcome;
    const bool may_fail =
        report->strategy == TOOL_STRATEGY_LINEAR || report->strategy == TOOL_STRATEGY_DEDICATED;
    const bool verified =
        outcome->verification[0] == 'o' || outcome->verified_bytes == outcome->allocated_bytes;
    if (!verified && outcome->mismatches == 0) {
        tool_complain("%s: %" PRIu64 " of %" PRIu64 " bytes verified; %" PRIu64
                      " could not be reached",
                      report->trace, outcome->verified_bytes, outcome->allocated_bytes,
                      outcome->unverified_bytes);
    }
    return !outcome->broken && verified && outcome->mismatches == 0 &&
           outcome->allocator_errors == 0 && outcome->messages == 0 &&
           (outcome->failures == 0 || may_fail);
}

/* Ends a run of the sparse strategy on a device without it. With "all", the strategy is skipped; by
 * its own name, it is an error. */
static int skip_or_reject_sparse(const struct replay_settings* settings,
                                 const struct tool_device* tool)
{
    if (settings->all_strategies) {
        return TOOL_EXIT_OK;
    }
    tool_complain("--strategy sparse: %s has no sparse binding, no queue for it or no timeline "
                  "semaphores",
                  tool->properties.deviceName);
    return TOOL_EXIT_USAGE;
}

/* Opens the device of a run. The caller closes it in every case. */
static int open_device(struct replay_settings* settings, struct tool_device* tool)
{
    int code = tool_device_open_instance(tool, &settings->device);
    if (code == TOOL_EXIT_OK) {
        code = tool_device_open(tool, VK_NULL_HANDLE);
    }
    settings->device_missing = code != TOOL_EXIT_OK;
    return code;
}

/* Replays a trace with VulkanMemoryAllocator, without the validation layer, whose messages would
 * count for Maar. */
static int measure_vma(struct replay_settings* settings, const struct support_trace* trace,
                       struct tool_vma_outcome* outcome)
{
    struct tool_device* const tool = calloc(1, sizeof(*tool));
    if (tool == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    const bool validate = settings->device.validate;
    settings->device.validate = false;
    settings->device.pages = false;
    const int code = open_device(settings, tool);
    if (code == TOOL_EXIT_OK) {
        tool_vma_run(tool, trace, settings->device.block_size, outcome);
    }
    tool_device_close(tool);
    free(tool);
    settings->device.validate = validate;
    return code;
}

/* Prints a run, with the device before the first and the trace before each trace's first. */
static bool print_run(struct replay_settings* settings, const struct tool_report* report)
{
    if (settings->json) {
        return tool_report_print_json(report);
    }
    if (!settings->head_printed) {
        tool_report_print_head(report);
        settings->head_printed = true;
    }
    if (!settings->trace_printed) {
        tool_report_print_trace(report);
        settings->trace_printed = true;
    }
    tool_report_print_row(report);
    return true;
}

static int run_once(struct replay_settings* settings, const struct support_trace* trace,
                    enum tool_strategy strategy, const struct tool_vma_outcome* vma)
{
    char path[4096];
    if (settings->picture != NULL) {
        name_picture(settings, trace->name, strategy, path, sizeof(path));
        if (!tool_check_path(path) || !check_not_inputs(settings, path)) {
            return TOOL_EXIT_USAGE;
        }
    }
    struct tool_device* const tool = calloc(1, sizeof(*tool));
    struct support_picture picture = {.blocks = NULL};
    if (tool == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    settings->device.pages = strategy == TOOL_STRATEGY_SPARSE;
    int code = open_device(settings, tool);
    if (code != TOOL_EXIT_OK) {
        tool_device_close(tool);
        free(tool);
        return code;
    }
    if (strategy == TOOL_STRATEGY_SPARSE && !tool_sparse_is_possible(tool)) {
        code = skip_or_reject_sparse(settings, tool);
        tool_device_close(tool);
        free(tool);
        return code;
    }
    struct tool_player_options options = settings->player;
    options.strategy = strategy;
    struct tool_report report = {
        .trace = trace->name,
        .device = tool->properties.deviceName,
        .driver = tool->driver,
        .strategy = strategy,
        .threads = options.thread_count,
        .validated = settings->device.validate,
        .simulated = tool->simulated,
        .trace_peak_live_bytes = trace->peak_live_bytes,
        .block_size = settings->device.block_size,
        .vma = *vma,
    };
    tool_player_run(tool, trace, &options, &report.outcome, &picture);
    tool_device_close(tool);
    report.outcome.messages = atomic_load(&tool->messages.count);
    report.outcome.allocator_errors = atomic_load(&tool->allocator_errors.count);
    bool good = is_good(&report);
    if (settings->picture != NULL && !report.outcome.broken) {
        good = draw_picture(path, settings->theme, &report, &picture) && good;
    }
    if (settings->baseline != NULL && !report.outcome.broken) {
        good = tool_baseline_compare(settings->baseline, settings->tolerance, &report) && good;
    }
    good = print_run(settings, &report) && good;
    support_picture_release(&picture);
    free(tool);
    return good ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
}

/* Notes the device of a trace, for --device capture. */
static void use_card(struct replay_settings* settings, const struct support_trace* trace)
{
    const uint32_t device = support_trace_main_device(trace);
    settings->device.card = NULL;
    if (device != SUPPORT_TRACE_NONE) {
        settings->device.card = &trace->devices[device].card;
        settings->device.card_name = support_trace_text(trace, trace->devices[device].name);
        settings->device.card_index = device;
    }
}

static int replay_file(struct replay_settings* settings, const char* name)
{
    char path[4096];
    if (!tool_data_find(TOOL_DATA_TRACES, name, path, sizeof(path))) {
        tool_data_complain(TOOL_DATA_TRACES, name);
        return TOOL_EXIT_USAGE;
    }
    struct support_trace* const trace = calloc(1, sizeof(*trace));
    struct support_error error = {{0}};
    if (trace == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    int worst = TOOL_EXIT_OK;
    struct tool_vma_outcome vma = {.measured = false};
    settings->trace_printed = false;
    if (!tool_traffic_load(path, trace, &error)) {
        tool_complain("%s", error.text);
        worst = TOOL_EXIT_USAGE;
    } else {
        use_card(settings, trace);
    }
    if (worst == TOOL_EXIT_OK && settings->has_budget) {
        worst = tool_budget_replay(&settings->device, trace, &settings->budget, settings->json,
                                   &settings->head_printed);
        support_trace_release(trace);
    } else if (worst == TOOL_EXIT_OK) {
        worst = MAAR_TOOL_VMA ? measure_vma(settings, trace, &vma) : TOOL_EXIT_OK;
        for (int i = 0; i < TOOL_STRATEGY_COUNT && worst != TOOL_EXIT_USAGE; ++i) {
            if (settings->all_strategies || settings->player.strategy == (enum tool_strategy)i) {
                const int code = run_once(settings, trace, (enum tool_strategy)i, &vma);
                worst = code > worst ? code : worst;
            }
        }
        if (settings->trace_printed && vma.measured) {
            tool_report_print_vma(&vma);
        }
        support_trace_release(trace);
    }
    free(trace);
    return worst;
}

int tool_command_replay(int argc, char** argv)
{
    struct replay_settings settings;
    if (!parse_arguments(argc, argv, &settings)) {
        return TOOL_EXIT_USAGE;
    }
    if (settings.help) {
        fputs(help_text, stdout);
        return TOOL_EXIT_OK;
    }
    if (settings.list_traces) {
        return tool_data_print_names(TOOL_DATA_TRACES) ? TOOL_EXIT_OK : TOOL_EXIT_USAGE;
    }
    if (settings.picture != NULL && settings.trace_count == 1 && !settings.all_strategies &&
        !tool_check_path(settings.picture)) {
        return TOOL_EXIT_USAGE;
    }
    if (settings.baseline_path != NULL) {
        settings.baseline = tool_baseline_open(settings.baseline_path);
        if (settings.baseline == NULL) {
            return TOOL_EXIT_USAGE;
        }
    }
    int worst = TOOL_EXIT_OK;
    for (int i = 0; i < settings.trace_count && !settings.device_missing; ++i) {
        const int code = replay_file(&settings, settings.traces[i]);
        worst = code > worst ? code : worst;
    }
    tool_baseline_close(settings.baseline);
    return worst;
}
