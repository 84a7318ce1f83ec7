/*
 * maar plan: arguments, one plan for each file, results.
 */
#include "tool_plan.h"

#include "tool_commands.h"
#include "tool_data.h"
#include "tool_guess.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The default node limit with --capacity. Such a search takes minutes; the library's default limit
 * takes seconds. */
#define CAPACITY_NODE_LIMIT 400000000u

/* A time limit that nobody waits for. */
#define MAX_SECONDS 1000000000u

static const char help_text[] =
    "Usage: maar plan FILE.csv... [OPTION...]\n"
    "       maar plan FILE.csv --passes PASSES.csv --edges EDGES.csv [OPTION...]\n"
    "       maar plan --list-frames\n"
    "\n"
    "Places the transient resources of a frame so that they share bytes, proves how good the\n"
    "plan is, and finds the aliasing edges (which resource takes over the bytes of which other).\n"
    "A file has a header and one row for each resource: id,size, and one of first,last (passes,\n"
    "both included), lower,upper (times, upper excluded) or uses (passes, with --passes and\n"
    "--edges). The columns alignment, name, memory_types, kind and fixed_offset are optional.\n"
    "FILE may be a name that --list-frames prints. With NAME.resources.csv, the command also\n"
    "reads NAME.passes.csv and NAME.edges.csv from the same folder.\n"
    "\n"
    "  --passes FILE     passes: pass,queue,name. The passes of one queue run in order\n"
    "  --edges FILE      orders between passes: from,to\n"
    "  --capacity SIZE   find out whether all resources fit into SIZE bytes, then stop. SIZE\n"
    "                    takes K, M, G, T or KiB, MiB, GiB, TiB\n"
    "  --time-limit S    search for at most S seconds; the node limit then applies only if it is\n"
    "                    given too\n"
    "  --node-limit N    search at most N nodes, which gives the same result on every machine.\n"
    "                    Default: 500000, less with more than 4,096 resources; with\n"
    "                    --capacity 400000000\n"
    "  --granularity G   bufferImageGranularity: a power of two that keeps kinds apart\n"
    "  --greedy          use the best greedy order and do not search for a better plan\n"
    "  --keep-edges      do not look for fewer aliasing edges at the same peak\n"
    "  --output FILE     write the input's columns and the offset of each resource as CSV, and\n"
    "                    the class where there are several; - for standard output. A file is\n"
    "                    not written for resources that do not fit\n"
    "  --picture FILE    draw the plan as SVG: time to the right, offsets upwards\n"
    "  --theme T         the picture's colours: auto (the default: the viewer's choice), light or\n"
    "                    dark\n"
    "  --json            print one JSON object per file and line on standard output, and nothing\n"
    "                    else there\n"
    "  --list-frames     print the names of the installed frame graphs and nothing else\n"
    "\n"
    "With several files, their names become part of those of --output and --picture, and must\n"
    "differ. The output keeps a column that the command does not know; a message on standard\n"
    "error names the column.\n"
    "\n"
    "The table: without sharing is the sum of sizes; peak is the size of the plan; proof says\n"
    "whether the peak is proved optimal, or what ended the search; above bound is the excess of\n"
    "the peak over the proved lower bound. Lines below count the aliasing edges between queues\n"
    "and say what the search did, if there is anything to say.\n"
    "\n"
    "Exit codes: 0 planned, or the resources fit; 1 they do not fit, a limit was reached before\n"
    "the answer, or a file could not be written; 2 bad arguments, malformed input.\n";

enum plan_option {
    PLAN_OPTION_PASSES = 256,
    PLAN_OPTION_EDGES,
    PLAN_OPTION_CAPACITY,
    PLAN_OPTION_TIME_LIMIT,
    PLAN_OPTION_NODE_LIMIT,
    PLAN_OPTION_GRANULARITY,
    PLAN_OPTION_GREEDY,
    PLAN_OPTION_KEEP_EDGES,
    PLAN_OPTION_OUTPUT,
    PLAN_OPTION_PICTURE,
    PLAN_OPTION_THEME,
    PLAN_OPTION_JSON,
    PLAN_OPTION_FRAMES,
    PLAN_OPTION_HELP,
};

static const struct option plan_options[] = {
    {"passes", required_argument, NULL, PLAN_OPTION_PASSES},
    {"edges", required_argument, NULL, PLAN_OPTION_EDGES},
    {"capacity", required_argument, NULL, PLAN_OPTION_CAPACITY},
    {"time-limit", required_argument, NULL, PLAN_OPTION_TIME_LIMIT},
    {"node-limit", required_argument, NULL, PLAN_OPTION_NODE_LIMIT},
    {"granularity", required_argument, NULL, PLAN_OPTION_GRANULARITY},
    {"greedy", no_argument, NULL, PLAN_OPTION_GREEDY},
    {"keep-edges", no_argument, NULL, PLAN_OPTION_KEEP_EDGES},
    {"output", required_argument, NULL, PLAN_OPTION_OUTPUT},
    {"picture", required_argument, NULL, PLAN_OPTION_PICTURE},
    {"theme", required_argument, NULL, PLAN_OPTION_THEME},
    {"json", no_argument, NULL, PLAN_OPTION_JSON},
    {"list-frames", no_argument, NULL, PLAN_OPTION_FRAMES},
    {"help", no_argument, NULL, PLAN_OPTION_HELP},
    {NULL, 0, NULL, 0},
};

struct plan_settings {
    const char* passes;
    const char* edges;
    const char* output;
    const char* picture;
    enum support_svg_theme theme;
    MaarPlanCreateInfo info; /* limits and flags */
    char** files;
    int file_count;
    bool json, help, list_frames;
    bool head_printed;
};

static bool parse_capacity(struct plan_settings* settings, const char* text)
{
    const enum tool_number number = tool_read_size(text, &settings->info.capacity);
    if (settings->info.capacity == 0) {
        tool_complain_number("--capacity", text, number, "bytes above 0, as in 1048576 or 64MiB",
                             UINT64_MAX);
        return false;
    }
    return true;
}

static bool parse_granularity(struct plan_settings* settings, const char* text)
{
    const enum tool_number number = tool_read_size(text, &settings->info.granularity);
    const VkDeviceSize size = settings->info.granularity;
    if (size == 0 || (size & (size - 1)) != 0) {
        tool_complain_number("--granularity", text, number, "a power of two", (uint64_t)1 << 63);
        return false;
    }
    return true;
}

static bool parse_time_limit(struct plan_settings* settings, const char* text)
{
    char* end = NULL;
    const bool digits = strspn(text, "0123456789.") == strlen(text) && text[0] != '\0';
    const double seconds = digits ? strtod(text, &end) : 0.0;
    if (!digits || *end != '\0' || seconds <= 0.0 || seconds > (double)MAX_SECONDS) {
        const bool is_number = digits && *end == '\0' && seconds > 0.0;
        tool_complain_number("--time-limit", text,
                             is_number ? TOOL_NUMBER_TOO_LARGE : TOOL_NUMBER_MALFORMED,
                             "seconds above 0, as in 2.5", MAX_SECONDS);
        return false;
    }
    const double ns = seconds * 1e9;
    settings->info.timeLimit_ns = ns >= 1.0 ? (uint64_t)ns : 1;
    return true;
}

static bool parse_node_limit(struct plan_settings* settings, const char* text)
{
    const enum tool_number number = tool_read_number(text, UINT64_MAX, &settings->info.nodeLimit);
    if (settings->info.nodeLimit == 0) {
        tool_complain_number("--node-limit", text, number, "a number above 0", UINT64_MAX);
        return false;
    }
    return true;
}

static bool parse_plan_option(struct plan_settings* settings, int option, const char* text)
{
    switch (option) {
    case PLAN_OPTION_PASSES:
        settings->passes = text;
        return true;
    case PLAN_OPTION_EDGES:
        settings->edges = text;
        return true;
    case PLAN_OPTION_CAPACITY:
        return parse_capacity(settings, text);
    case PLAN_OPTION_TIME_LIMIT:
        return parse_time_limit(settings, text);
    case PLAN_OPTION_NODE_LIMIT:
        return parse_node_limit(settings, text);
    case PLAN_OPTION_GRANULARITY:
        return parse_granularity(settings, text);
    case PLAN_OPTION_GREEDY:
        settings->info.flags |= MAAR_PLAN_CREATE_GREEDY_BIT;
        return true;
    case PLAN_OPTION_KEEP_EDGES:
        settings->info.flags |= MAAR_PLAN_CREATE_KEEP_EDGES_BIT;
        return true;
    case PLAN_OPTION_OUTPUT:
        settings->output = text;
        return true;
    case PLAN_OPTION_PICTURE:
        settings->picture = text;
        return true;
    case PLAN_OPTION_THEME:
        return tool_parse_theme(text, &settings->theme);
    case PLAN_OPTION_JSON:
        settings->json = true;
        return true;
    case PLAN_OPTION_FRAMES:
        settings->list_frames = true;
        return true;
    default:
        settings->help = true;
        return true;
    }
}

/* Returns whether the arguments are compatible. */
static bool check_plan_settings(const struct plan_settings* settings)
{
    const bool to_stdout = settings->output != NULL && strcmp(settings->output, "-") == 0;
    if (settings->file_count == 0) {
        tool_complain("plan: no file given; see maar plan --help");
    } else if (settings->edges != NULL && settings->passes == NULL) {
        tool_complain("--edges needs --passes");
    } else if (settings->passes != NULL && settings->file_count > 1) {
        tool_complain("--passes belongs to one file, and there are %d", settings->file_count);
    } else if (settings->output != NULL && settings->picture != NULL &&
               strcmp(settings->output, settings->picture) == 0) {
        tool_complain("--output and --picture name the same file: %s", settings->output);
    } else if (to_stdout && settings->json) {
        tool_complain("--output - and --json both use standard output");
    } else if (to_stdout && settings->file_count > 1) {
        tool_complain("--output - takes one file, and there are %d", settings->file_count);
    } else {
        return tool_check_named("--output", settings->output) &&
               tool_check_named("--picture", settings->picture) &&
               tool_check_apart("--output", settings->output, settings->files, settings->file_count,
                                support_frame_graph_take_name) &&
               tool_check_apart("--picture", settings->picture, settings->files,
                                settings->file_count, support_frame_graph_take_name);
    }
    return false;
}

static bool parse_plan_arguments(int argc, char** argv, struct plan_settings* settings)
{
    *settings = (struct plan_settings){
        .info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO},
    };
    int option = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", plan_options, NULL)) != -1) {
        if (option == '?' || option == ':') {
            tool_complain_option("plan", option, argv, plan_options);
            return false;
        }
        if (!parse_plan_option(settings, option, optarg)) {
            return false;
        }
    }
    settings->files = argv + optind;
    settings->file_count = argc - optind;
    if (settings->info.nodeLimit == 0) {
        settings->info.nodeLimit = settings->info.timeLimit_ns != 0 ? UINT64_MAX
                                   : settings->info.capacity != 0   ? CAPACITY_NODE_LIMIT
                                                                    : 0;
    }
    return settings->help || settings->list_frames || check_plan_settings(settings);
}

/* Warns of unknown columns, which may be misspelt. The columns that the tool adds to its output are
 * known too, since an output may be used as an input. */
static void warn_of_columns(const struct support_table* table, const char* path)
{
    for (size_t i = 0; i < table->column_count; ++i) {
        const char* const column = support_table_column(table, i);
        if (!support_frame_column_is_known(column) && strcmp(column, "offset") != 0 &&
            strcmp(column, "class") != 0) {
            tool_complain("%s:%zu: the column '%.200s' is unknown; the output keeps it", path,
                          table->lines[0], column);
        }
    }
}

/* The files of a frame graph. Paths may point into the buffers. */
struct graph_paths {
    const char* passes; /* NULL for none */
    const char* edges;
    char own[4096];
    char passes_beside[4096];
    char edges_beside[4096];
};

static bool find_graph(const struct plan_settings* settings, const char* name,
                       struct graph_paths* paths)
{
    if (!tool_data_find(TOOL_DATA_FRAMES, name, paths->own, sizeof(paths->own)) &&
        !tool_data_find(TOOL_DATA_QUEUES, name, paths->own, sizeof(paths->own))) {
        return false;
    }
    paths->passes = settings->passes;
    paths->edges = settings->edges;
    if (paths->passes == NULL) {
        paths->passes = tool_data_beside(paths->own, ".passes.csv", paths->passes_beside,
                                         sizeof(paths->passes_beside));
        paths->edges = paths->passes == NULL
                           ? NULL
                           : tool_data_beside(paths->own, ".edges.csv", paths->edges_beside,
                                              sizeof(paths->edges_beside));
    }
    return true;
}

static bool load_graph(const struct plan_settings* settings, const char* name,
                       struct support_frame_graph* graph)
{
    struct graph_paths paths;
    struct support_error error = {{0}};
    if (!find_graph(settings, name, &paths)) {
        struct tool_guess guess = {.typed = name};
        char meant[160];
        tool_data_guess(TOOL_DATA_FRAMES, &guess);
        tool_data_guess(TOOL_DATA_QUEUES, &guess);
        tool_complain("%s: no such frame graph: it is neither a file nor a name that maar plan "
                      "--list-frames prints%s",
                      name, tool_guess_text(&guess, "", meant, sizeof(meant)));
        return false;
    }
    if (!support_frame_graph_load(paths.own, paths.passes, paths.edges, graph, &error)) {
        tool_complain("%s", error.text);
        return false;
    }
    warn_of_columns(&graph->table, paths.own);
    return true;
}

/* Returns whether an output replaces no input of any file, and prints an error if it does. */
static bool check_not_inputs(const struct plan_settings* settings, const char* option,
                             const char* path)
{
    struct graph_paths paths;
    bool good = true;
    for (int i = 0; i < settings->file_count && good; ++i) {
        good = !find_graph(settings, settings->files[i], &paths) ||
               (tool_check_not_input(option, path, paths.own) &&
                tool_check_not_input(option, path, paths.passes) &&
                tool_check_not_input(option, path, paths.edges));
    }
    return good;
}

static void VKAPI_PTR report_plan(void* user_data, const MaarMessage* report)
{
    tool_complain("%s: %s", (const char*)user_data, report->pText);
}

static double process_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Reads the results of the plan. Returns false when out of memory. */
static bool read_plan(MaarPlan plan, struct tool_plan_result* result)
{
    result->info = (MaarPlanInfo){.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    if (maarGetPlanInfo(plan, &result->info) != VK_SUCCESS) {
        return false;
    }
    uint32_t classes = result->info.classCount;
    uint32_t placements = result->info.resourceCount;
    uint32_t edges = result->info.edgeCount;
    result->classes = calloc((size_t)classes + 1, sizeof(*result->classes));
    result->placements = calloc((size_t)placements + 1, sizeof(*result->placements));
    result->edges = calloc((size_t)edges + 1, sizeof(*result->edges));
    return result->classes != NULL && result->placements != NULL && result->edges != NULL &&
           maarGetPlanEdges(plan, &edges, result->edges) == VK_SUCCESS &&
           maarGetPlanClasses(plan, &classes, result->classes) == VK_SUCCESS &&
           maarGetPlanPlacements(plan, &placements, result->placements) == VK_SUCCESS;
}

static int make_plan(const struct plan_settings* settings, const char* name,
                     struct tool_plan_result* result)
{
    MaarPlanCreateInfo info = settings->info;
    support_frame_graph_describe(&result->graph, &info);
    info.pfnMessage = report_plan;
    info.pMessageUserData = (void*)(uintptr_t)name;
    MaarPlan plan = VK_NULL_HANDLE;
    const double start = process_ms();
    const VkResult made = maarCreatePlan(&info, &plan);
    result->cpu_ms = process_ms() - start;
    result->capacity = info.capacity;
    if (made == VK_ERROR_VALIDATION_FAILED_EXT) {
        return TOOL_EXIT_USAGE;
    }
    const bool good = made == VK_SUCCESS && read_plan(plan, result);
    maarDestroyPlan(plan);
    if (!good) {
        tool_complain("%s: out of memory", name);
    }
    return good ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
}

/* Returns whether the resources fit into the capacity, and prints the reason if they do not. */
static bool check_fit(const struct tool_plan_result* result)
{
    static const char* const reasons[] = {
        [MAAR_PLAN_STOP_DONE] = "the search ended",
        [MAAR_PLAN_STOP_NODE_LIMIT] = "the node limit was reached",
        [MAAR_PLAN_STOP_TIME_LIMIT] = "the time limit was reached",
        [MAAR_PLAN_STOP_CANCELLED] = "the search was cancelled",
        [MAAR_PLAN_STOP_HOST_MEMORY] = "host memory ran out",
        [MAAR_PLAN_STOP_GREEDY] = "only greedy orders were tried",
    };
    const MaarPlanInfo* const info = &result->info;
    if (info->fit == MAAR_PLAN_FIT_NO) {
        tool_complain("%s: does not fit into %" PRIu64 " bytes: at least %" PRIu64 " are needed",
                      result->graph.name, result->capacity, info->provedBound);
    } else if (info->fit == MAAR_PLAN_FIT_UNDECIDED) {
        tool_complain("%s: it is undecided whether it fits into %" PRIu64
                      " bytes: %s; between %" PRIu64 " and %" PRIu64 " are needed",
                      result->graph.name, result->capacity, reasons[info->stop], info->provedBound,
                      info->peakSize);
    }
    return info->fit == MAAR_PLAN_FIT_NOT_ASKED || info->fit == MAAR_PLAN_FIT_YES;
}

static bool print_result(struct plan_settings* settings, const struct tool_plan_result* result)
{
    if (settings->json) {
        return tool_plan_print_json(result);
    }
    if (settings->output != NULL && strcmp(settings->output, "-") == 0) {
        return true;
    }
    if (!settings->head_printed) {
        tool_plan_print_head();
        settings->head_printed = true;
    }
    tool_plan_print_row(result);
    return true;
}

/* Plans a graph and writes the requested outputs. */
static int plan_graph(struct plan_settings* settings, const char* name,
                      struct tool_plan_result* result)
{
    const char* const part = settings->file_count > 1 ? result->graph.name : "";
    char picture[4096] = "";
    char output[4096] = "";
    if (settings->picture != NULL) {
        tool_name_file(settings->picture, part, picture, sizeof(picture));
    }
    if (settings->output != NULL) {
        tool_name_file(settings->output, part, output, sizeof(output));
    }
    if ((picture[0] != '\0' &&
         !(tool_check_path(picture) && check_not_inputs(settings, "--picture", picture))) ||
        (output[0] != '\0' && strcmp(output, "-") != 0 &&
         !(tool_check_path(output) && check_not_inputs(settings, "--output", output))) ||
        !tool_check_two_outputs("--output", output, "--picture", picture)) {
        return TOOL_EXIT_USAGE;
    }
    const int code = make_plan(settings, name, result);
    if (code != TOOL_EXIT_OK) {
        return code;
    }
    bool good = check_fit(result);
    if (output[0] != '\0' && good) {
        good = tool_plan_write_placement(result, output);
    }
    if (picture[0] != '\0') {
        good = tool_plan_draw(result, picture, settings->theme) && good;
    }
    good = print_result(settings, result) && good;
    return good ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
}

static int plan_file(struct plan_settings* settings, const char* name)
{
    struct tool_plan_result result = {.capacity = 0};
    if (!load_graph(settings, name, &result.graph)) {
        return TOOL_EXIT_USAGE;
    }
    const int code = plan_graph(settings, name, &result);
    free(result.classes);
    free(result.placements);
    free(result.edges);
    support_frame_graph_release(&result.graph);
    return code;
}

int tool_command_plan(int argc, char** argv)
{
    struct plan_settings settings;
    if (!parse_plan_arguments(argc, argv, &settings)) {
        return TOOL_EXIT_USAGE;
    }
    if (settings.help) {
        fputs(help_text, stdout);
        return TOOL_EXIT_OK;
    }
    if (settings.list_frames) {
        const bool frames = tool_data_print_names(TOOL_DATA_FRAMES);
        const bool queues = frames && tool_data_print_names(TOOL_DATA_QUEUES);
        return queues ? TOOL_EXIT_OK : TOOL_EXIT_USAGE;
    }
    int worst = TOOL_EXIT_OK;
    for (int i = 0; i < settings.file_count; ++i) {
        const int code = plan_file(&settings, settings.files[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}
