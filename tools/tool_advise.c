/*
 * maar advise: what a captured program wastes, as text or JSON, with an exit code for automated
 * checks.
 */
#include "support/findings.h"
#include "support/history.h"
#include "tool_commands.h"
#include "tool_peer.h"
#include "tool_text.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char advise_help[] =
    "Usage: maar advise CAPTURE|FOLDER... [--json] [--names N] [--fail-on VERDICT]\n"
    "\n"
    "Says what a program wastes, from captures that maar capture wrote. Each finding has a\n"
    "verdict, the arithmetic, the resources by name, and a remedy. Of a folder, all captures in\n"
    "it are taken.\n"
    "\n"
    "  proved     a run with all objects of the finding mended holds exactly so many bytes less\n"
    "             at its peak\n"
    "  bounded    the saving lies between two figures\n"
    "  suspected  a person has to look\n"
    "\n"
    "  --json             print one JSON object for each capture, of the schema\n"
    "                     maar-findings/1\n"
    "  --names N          name at most N resources of each finding; 5 by default\n"
    "  --fail-on VERDICT  exit with 1 if there is a finding of this verdict or a surer one:\n"
    "                     proved, bounded or suspected; never, the default, exits with 0\n"
    "\n"
    "docs/findings.md explains each finding with a small program that has the mistake.\n";

enum advise_option {
    OPTION_HELP = 256,
    OPTION_JSON,
    OPTION_NAMES,
    OPTION_FAIL_ON,
};

static const struct option advise_options[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"json", no_argument, NULL, OPTION_JSON},
    {"names", required_argument, NULL, OPTION_NAMES},
    {"fail-on", required_argument, NULL, OPTION_FAIL_ON},
    {NULL, 0, NULL, 0},
};

struct advise_settings {
    bool json;
    bool help;
    uint32_t names;
    int worst; /* the last verdict that fails, or -1 */
};

static bool read_verdict(const char* text, int* worst)
{
    if (strcmp(text, "never") == 0) {
        *worst = -1;
        return true;
    }
    for (int i = SUPPORT_VERDICT_PROVED; i <= SUPPORT_VERDICT_SUSPECTED; ++i) {
        if (strcmp(text, support_verdict_word((enum support_verdict)i)) == 0) {
            *worst = i;
            return true;
        }
    }
    static const char* const words[] = {"proved", "bounded", "suspected", "never"};
    tool_complain_word("--fail-on", text, "proved, bounded, suspected or never", words, 4);
    return false;
}

static bool read_options(int argc, char** argv, struct advise_settings* settings)
{
    int result;
    opterr = 0;
    optind = 1;
    while ((result = getopt_long(argc, argv, ":", advise_options, NULL)) != -1) {
        switch (result) {
        case OPTION_HELP:
            settings->help = true;
            return true;
        case OPTION_JSON:
            settings->json = true;
            break;
        case OPTION_NAMES:
            if (!tool_parse_number(optarg, &settings->names)) {
                tool_complain("--names %s: expected a number", optarg);
                return false;
            }
            break;
        case OPTION_FAIL_ON:
            if (!read_verdict(optarg, &settings->worst)) {
                return false;
            }
            break;
        default:
            tool_complain_option("advise", result, argv, advise_options);
            return false;
        }
    }
    if (optind == argc) {
        tool_complain("advise: no capture named; maar advise --help explains");
        return false;
    }
    return true;
}

/* The replay through Maar takes at most so long. */
static const uint64_t replay_budget_ns = 1000000000;

/* Adds what Maar would hold, of heaps whose binds could be replayed to the end. */
static void add_peers(const struct support_history* history, struct support_heap_peak* peaks,
                      size_t count)
{
    struct tool_peers peers;
    if (tool_peers_find(history, replay_budget_ns, &peers)) {
        for (size_t i = 0; i < count * peers.count; ++i) {
            struct support_heap_peak* const peak = &peaks[i / peers.count];
            const struct support_report_peer* const row = &peers.rows[i % peers.count];
            if (!row->is_maar || !row->is_whole || row->device != peak->device ||
                row->heap != peak->heap) {
                continue;
            }
            if (row->block_size == 0) {
                peak->maar = row->peak_bytes;
            } else if (peak->size_count < SUPPORT_PEAK_SIZES) {
                peak->sizes[peak->size_count] = (struct support_block_peak){
                    .block_size = row->block_size, .maar = row->peak_bytes};
                peak->size_count += 1;
            }
        }
    }
    tool_peers_release(&peers);
}

/* Prints what was bound in the second before the peak. */
static void print_recent(const struct support_history* history,
                         const struct support_heap_peak* peak)
{
    char label[192];
    char name[4 * sizeof label + 1];
    char bytes[32];
    if (peak->recent_count == 0) {
        return;
    }
    printf("  bound in the second before: %zu resource%s of %s\n", peak->recent_count,
           peak->recent_count == 1 ? "" : "s",
           tool_format_size(peak->recent_bytes, bytes, sizeof bytes));
    for (size_t i = 0; i < support_peak_recent_count(peak); ++i) {
        support_history_label(history, peak->recent[i], label, sizeof label);
        printf(
            "    %10s  %s\n",
            tool_format_size(history->resources.items[peak->recent[i]].size, bytes, sizeof bytes),
            tool_printable(label, name, sizeof name));
    }
}

/* Returns the largest size of blocks with which Maar would hold nearly the least: smaller ones cost
 * more calls. */
static const struct support_block_peak* choose_size(const struct support_heap_peak* peak)
{
    uint64_t least = UINT64_MAX;
    size_t best = 0;
    for (size_t i = 0; i < peak->size_count; ++i) {
        least = peak->sizes[i].maar < least ? peak->sizes[i].maar : least;
    }
    while (peak->sizes[best].maar > least + least / 20) {
        best += 1;
    }
    return &peak->sizes[best];
}

/* Prints what of a difference is by the size of blocks: what Maar would hold with the program's own
 * and with smaller ones. */
static void print_block_sizes(const struct support_heap_peak* peak)
{
    const struct support_block_peak* const own = &peak->sizes[0];
    char size[32];
    char bytes[32];
    if (peak->size_count == 0) {
        return;
    }
    printf("  Maar with blocks of up to %s, as the program's largest: %s",
           tool_format_size(own->block_size, size, sizeof size),
           tool_format_size(own->maar, bytes, sizeof bytes));
    for (size_t i = 1; i < peak->size_count; ++i) {
        printf("; %s: %s", tool_format_size(peak->sizes[i].block_size, size, sizeof size),
               tool_format_size(peak->sizes[i].maar, bytes, sizeof bytes));
    }
    putchar('\n');
    const struct support_block_peak* const best = choose_size(peak);
    const uint64_t by_size = own->maar - best->maar;
    const uint64_t by_placement = peak->held > own->maar ? peak->held - own->maar : 0;
    if (best != own && by_size > by_placement) {
        printf("  Most of the difference is the size of blocks. The program's own allocator can do "
               "that, too:\n  try %s (VulkanMemoryAllocator: preferredLargeHeapBlockSize = %" PRIu64
               ")\n",
               tool_format_size(best->block_size, size, sizeof size), best->block_size);
    }
}

/* Prints the answer to "how much is wasted", a line for each heap. */
static void print_peaks(const struct support_history* history,
                        const struct support_heap_peak* peaks, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const struct support_heap_peak* const peak = &peaks[i];
        char held[32];
        char bound[32];
        char idle[32];
        char never[32];
        char maar[32];
        if (history->devices.count > 1) {
            printf("device %" PRIu32 ", ", history->devices.items[peak->device].facts.device);
        }
        if (count > 1) {
            printf("heap %" PRIu32 ": ", peak->heap);
        }
        printf("peak %s at %.1f s: %s bound, %s idle",
               tool_format_size(peak->held, held, sizeof held), (double)peak->time_ns * 1e-9,
               tool_format_size(peak->bound, bound, sizeof bound),
               tool_format_size(peak->held - peak->bound, idle, sizeof idle));
        if (peak->never > 0) {
            printf(", of which %s never used", tool_format_size(peak->never, never, sizeof never));
        }
        if (peak->maar != SUPPORT_PEAK_UNKNOWN) {
            printf("; Maar's default would hold %s",
                   tool_format_size(peak->maar, maar, sizeof maar));
        }
        putchar('\n');
        print_recent(history, peak);
        print_block_sizes(peak);
    }
}

/* A capture without memory says nothing about the program, which is no praise for it. */
static void print_absence(const struct support_history* history)
{
    char name[512];
    const size_t count = history->failures.count;
    printf("%s: no device memory: the program created ",
           tool_printable(history->name, name, sizeof name));
    if (history->devices.count == 0) {
        printf("no device\n");
    } else if (count == 0) {
        printf("a device and allocated nothing on it\n");
    } else {
        printf("a device, which refused %zu allocation%s\n", count, count == 1 ? "" : "s");
    }
    printf("Check whether\n"
           "  - another capture of the run has the memory: a process that opens Vulkan several\n"
           "    times writes several, and programs often look for devices first;\n"
           "  - the program draws with OpenGL, and has a Vulkan renderer as an option;\n"
           "  - it refused the device. Some take a CPU driver only by name (mpv:\n"
           "    --vulkan-device=NAME), and OpenGL on Mesa's zink takes one only with\n"
           "    LIBGL_ALWAYS_SOFTWARE=1.\n"
           "docs/captures.md says how programs are made to use Vulkan.\n");
}

static void print_text(const struct support_history* history,
                       const struct support_findings* findings,
                       const struct support_heap_peak* peaks, size_t peak_count, uint32_t names)
{
    char name[512];
    const char* const cut = support_history_cut(history);
    if (history->memories.count == 0 && findings->count == 0) {
        print_absence(history);
        return;
    }
    printf("%s: %zu finding%s in %zu memories and %zu resources\n",
           tool_printable(history->name, name, sizeof name), findings->count,
           findings->count == 1 ? "" : "s", history->memories.count, history->resources.count);
    print_peaks(history, peaks, peak_count);
    if (cut != NULL) {
        printf("(not a whole capture; %s)\n", cut);
    }
    if (history->strays > 0 || history->unfinished > 0) {
        printf("(%" PRIu64 " entries about objects that the capture does not know, %" PRIu64
               " unfinished records)\n",
               history->strays, history->unfinished);
    }
    if (findings->count > 0) {
        putchar('\n');
        support_findings_write(history, findings, names, stdout);
    }
}

/* Returns the exit code for one capture. */
static int advise(const char* path, const struct advise_settings* settings, bool is_first)
{
    struct support_history history;
    struct support_findings findings;
    struct support_error error = {.text = ""};
    int code = TOOL_EXIT_OK;
    if (!support_history_load(path, &history, &error)) {
        tool_complain("%s", error.text);
        return TOOL_EXIT_USAGE;
    }
    if (!support_findings_find(&history, &findings, &error)) {
        tool_complain("%s", error.text);
        support_history_release(&history);
        return TOOL_EXIT_FAILED;
    }
    size_t peak_count = 0;
    struct support_heap_peak* const peaks =
        support_findings_peaks(&history, &findings, &peak_count);
    if (peaks != NULL) {
        add_peers(&history, peaks, peak_count);
    }
    if (history.is_truncated) {
        tool_complain("%s: %s", path, support_history_cut(&history));
    }
    if (settings->json) {
        char* const text = support_findings_json(&history, &findings, peaks, peak_count);
        if (text != NULL) {
            puts(text);
        } else {
            tool_complain("%s: out of memory", path);
            code = TOOL_EXIT_FAILED;
        }
        free(text);
    } else {
        if (!is_first) {
            putchar('\n');
        }
        print_text(&history, &findings, peaks, peak_count, settings->names);
    }
    free(peaks);
    for (size_t i = 0; i < findings.count; ++i) {
        if ((int)findings.items[i].verdict <= settings->worst) {
            code = TOOL_EXIT_FAILED;
        }
    }
    support_findings_release(&findings);
    support_history_release(&history);
    return code;
}

static int compare_paths(const void* left, const void* right)
{
    return strcmp(*(char* const*)left, *(char* const*)right);
}

static bool is_capture(const char* name)
{
    static const char* const suffixes[] = {".maarcap", ".maarcap.gz"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; ++i) {
        const size_t tail = strlen(suffixes[i]);
        if (length > tail && strcmp(name + length - tail, suffixes[i]) == 0) {
            return true;
        }
    }
    return false;
}

struct advise_paths {
    char** items;
    size_t count, capacity;
};

static bool add_path(struct advise_paths* paths, const char* folder, const char* name)
{
    if (paths->count == paths->capacity) {
        const size_t larger = paths->capacity * 2 + 16;
        char** const grown = realloc(paths->items, larger * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        paths->items = grown;
        paths->capacity = larger;
    }
    const size_t size = strlen(folder) + strlen(name) + 2;
    char* const path = malloc(size);
    if (path != NULL) {
        const bool has_slash = folder[0] != '\0' && folder[strlen(folder) - 1] == '/';
        (void)snprintf(path, size, "%s%s%s", folder, has_slash ? "" : "/", name);
        paths->items[paths->count++] = path;
    }
    return path != NULL;
}

/* Gives advice about all captures of a folder, in the order of their names. */
static int advise_folder(const char* folder, const struct advise_settings* settings, bool is_first)
{
    struct advise_paths paths = {.items = NULL};
    struct dirent* entry = NULL;
    int worst = TOOL_EXIT_OK;
    bool good = true;
    DIR* const directory = opendir(folder);
    if (directory == NULL) {
        tool_complain("%s: %s", folder, strerror(errno));
        return TOOL_EXIT_USAGE;
    }
    while (good && (entry = readdir(directory)) != NULL) {
        good = !is_capture(entry->d_name) || add_path(&paths, folder, entry->d_name);
    }
    (void)closedir(directory);
    if (!good) {
        tool_complain("out of memory");
        worst = TOOL_EXIT_FAILED;
    } else if (paths.count == 0) {
        tool_complain("%s: the folder has no capture", folder);
        worst = TOOL_EXIT_USAGE;
    } else {
        qsort(paths.items, paths.count, sizeof *paths.items, compare_paths);
    }
    for (size_t i = 0; i < paths.count; ++i) {
        if (good) {
            const int code = advise(paths.items[i], settings, is_first && i == 0);
            worst = code > worst ? code : worst;
        }
        free(paths.items[i]);
    }
    free(paths.items);
    return worst;
}

static bool is_folder(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int tool_command_advise(int argc, char** argv)
{
    struct advise_settings settings = {.names = 5, .worst = -1};
    if (!read_options(argc, argv, &settings)) {
        return TOOL_EXIT_USAGE;
    }
    if (settings.help) {
        fputs(advise_help, stdout);
        return TOOL_EXIT_OK;
    }
    int worst = TOOL_EXIT_OK;
    for (int i = optind; i < argc; ++i) {
        const int code = is_folder(argv[i]) ? advise_folder(argv[i], &settings, i == optind)
                                            : advise(argv[i], &settings, i == optind);
        worst = code > worst ? code : worst;
    }
    return worst;
}
