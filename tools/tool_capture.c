/*
 * maar capture: runs a program with the layer VK_LAYER_MAAR_capture, which records what the program
 * does with device memory.
 */
#include "tool_capture.h"

#include "tool_commands.h"
#include "tool_text.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char capture_help[] =
    "Usage: maar capture [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs a program and records what it does with device memory: one file\n"
    "PREFIX.PROGRAM.PROCESS.maarcap for each process that uses Vulkan. The program runs as it "
    "does\n"
    "without. The exit code is the program's. docs/captures.md explains the files.\n"
    "\n"
    "  --output PREFIX  beginning of the files' names, or a folder; \"maar\" by default (-o).\n"
    "                   A folder whose name ends in / is made\n"
    "  --limit SIZE     most bytes of a file (KiB, MiB, GiB). The capture ends there, the program\n"
    "                   goes on\n"
    "  --driver-memory  also record what drivers allocate for themselves, by\n"
    "                   VK_EXT_device_memory_report; some drivers crash with it\n"
    "  --uses           also record which submission uses which buffers and images; costs time\n"
    "                   for each command that names one\n";

enum capture_option { OPTION_LIMIT = 256, OPTION_DRIVER_MEMORY, OPTION_USES };

static const struct option capture_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"driver-memory", no_argument, NULL, OPTION_DRIVER_MEMORY},
    {"uses", no_argument, NULL, OPTION_USES},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* A file has a header of 64 KiB and grows by 1 MiB. */
#define LEAST_LIMIT ((uint64_t)2 << 20)

static bool parse_limit(const char* text, uint64_t* limit)
{
    const enum tool_number number = tool_read_size(text, limit);
    if (number != TOOL_NUMBER_GOOD || *limit < LEAST_LIMIT) {
        tool_complain_number("--limit", text,
                             number == TOOL_NUMBER_GOOD ? TOOL_NUMBER_MALFORMED : number,
                             "a size of at least 2 MiB, such as 512MiB", UINT64_MAX);
        return false;
    }
    return true;
}

static bool parse_arguments(struct tool_capture* settings, int argc, char** argv)
{
    int option = 0;
    optind = 1;
    opterr = 0;
    /* The plus sign: the first argument that is no option is the program. */
    while ((option = getopt_long(argc, argv, "+:ho:", capture_options, NULL)) != -1) {
        switch (option) {
        case 'h':
            settings->help = true;
            break;
        case 'o':
            settings->prefix = optarg;
            break;
        case OPTION_LIMIT:
            if (!parse_limit(optarg, &settings->limit)) {
                return false;
            }
            break;
        case OPTION_DRIVER_MEMORY:
            settings->driver_memory = true;
            break;
        case OPTION_USES:
            settings->uses = true;
            break;
        default:
            tool_complain_option("capture", option, argv, capture_options);
            return false;
        }
    }
    settings->program = argv + optind;
    if (!settings->help && optind >= argc) {
        tool_complain("capture: no program; maar capture --help explains");
        return false;
    }
    return true;
}

static bool is_directory(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Makes the prefix absolute, since programs change their folder, and checks its folder. */
static bool place_files(struct tool_capture* settings)
{
    char* const path = settings->path;
    char folder[TOOL_CAPTURE_PATH_SIZE / 2] = "";
    const char* const prefix = settings->prefix;
    if (prefix[0] == '\0') {
        tool_complain("--output: an empty name");
        return false;
    }
    if (prefix[0] != '/' && getcwd(folder, sizeof(folder)) == NULL) {
        tool_complain("%s: %s", prefix, strerror(errno));
        return false;
    }
    const char* more = is_directory(prefix) ? "/maar" : "";
    if (prefix[strlen(prefix) - 1] == '/') {
        more = "maar";
        /* A name that ends so can only mean a folder. Whether it is one is examined below. */
        (void)mkdir(prefix, 0777);
    }
    const int length = snprintf(path, sizeof(settings->path), "%s%s%s%s", folder,
                                prefix[0] != '/' ? "/" : "", prefix, more);
    /* The layer adds the program's name and its number. */
    if (length < 0 || (size_t)length + 128 > sizeof(settings->path)) {
        tool_complain("%s: the name is too long", prefix);
        return false;
    }
    char* const slash = strrchr(path, '/');
    *slash = '\0';
    const char* const parent = slash == path ? "/" : path;
    const bool usable = is_directory(parent) && access(parent, W_OK | X_OK) == 0;
    if (!usable) {
        tool_complain("%s: captures cannot be written there: %s", parent,
                      strerror(is_directory(parent) || errno == 0 ? EACCES : errno));
    }
    *slash = '/';
    return usable;
}

/* Names a file for what the layer says, unless the user has named one. */
static bool place_log(struct tool_capture* settings)
{
    const char* const named = getenv("MAAR_CAPTURE_LOG");
    const char* const folder = getenv("TMPDIR");
    settings->owns_log = named == NULL || named[0] == '\0';
    if (!settings->owns_log) {
        snprintf(settings->log, sizeof(settings->log), "%s", named);
        return true;
    }
    snprintf(settings->log, sizeof(settings->log), "%s/maar-capture-XXXXXX",
             folder != NULL && folder[0] == '/' ? folder : "/tmp");
    const int number = mkstemp(settings->log);
    if (number < 0) {
        settings->owns_log = false;
        settings->log[0] = '\0'; /* nobody reads what the layer says */
        return true;
    }
    close(number);
    return true;
}

/* Prints what the layer could not do. Returns whether there was anything. */
static bool print_failures(const struct tool_capture* settings)
{
    static const char mark[] = " cannot write ";
    char line[2 * TOOL_CAPTURE_PATH_SIZE];
    bool found = false;
    FILE* const file = settings->owns_log ? fopen(settings->log, "r") : NULL;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        char* const at = strstr(line, mark);
        if (at != NULL) {
            line[strcspn(line, "\n")] = '\0';
            *at = '\0';
            tool_complain("process %s could not write its capture: %s", line, at + strlen(mark));
            found = true;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

static void explain_nothing(const char* program)
{
    tool_complain("no process of %s opened Vulkan, so there is no capture", program);
    fprintf(
        stderr,
        "Possible reasons:\n"
        "  - it draws with OpenGL or not at all, or ended before it created an instance. A game\n"
        "    may have a Vulkan renderer (SuperTuxKart: --render-driver=vulkan), and OpenGL runs "
        "on\n"
        "    Vulkan by Mesa's zink: MESA_LOADER_DRIVER_OVERRIDE=zink GALLIUM_DRIVER=zink, and on "
        "a\n"
        "    CPU driver LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=zink;\n"
        "  - a process that was running already did the work (browsers, launchers);\n"
        "  - it runs in a sandbox (Flatpak, Snap, Steam's) that does not see the layer;\n"
        "  - it has more rights than its user (setuid, capabilities), so the Vulkan loader\n"
        "    ignores the layer's path;\n"
        "  - it brings a Vulkan loader of its own, is a 32-bit program while the layer is for\n"
        "    64 bits, or the reverse. VK_LOADER_DEBUG=layer shows what the loader does.\n");
}

int tool_command_capture(int argc, char** argv)
{
    struct tool_capture* const settings = calloc(1, sizeof(*settings));
    struct tool_capture_files* before = NULL;
    int code = TOOL_EXIT_USAGE;
    if (settings == NULL) {
        tool_complain("no host memory");
        return TOOL_EXIT_FAILED;
    }
    settings->prefix = "maar";
    if (!parse_arguments(settings, argc, argv)) {
        goto end;
    }
    if (settings->help) {
        fputs(capture_help, stdout);
        code = TOOL_EXIT_OK;
        goto end;
    }
    if (!place_files(settings) || !place_log(settings) || !tool_capture_set_environment(settings)) {
        goto end;
    }
    before = tool_capture_list(settings->path);
    if (before == NULL) {
        tool_complain("no host memory");
        code = TOOL_EXIT_FAILED;
        goto end;
    }
    code = tool_capture_run(settings->program);
    const bool has_failures = print_failures(settings);
    if (tool_capture_report(settings->path, before) == 0 && !has_failures && code != 127 &&
        code != 126) {
        explain_nothing(settings->program[0]);
    }

end:
    if (settings->owns_log) {
        unlink(settings->log);
    }
    tool_capture_release(before);
    free(settings);
    return code;
}
