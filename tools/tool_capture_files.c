/*
 * The captures of a prefix, and what they hold, in one line each.
 */
#include "tool_capture.h"

#include "support/history.h"
#include "tool_text.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CAPTURE_SUFFIX ".maarcap"
/* Captures above this size are not read for the summary: it would take seconds and much memory. */
#define MOST_SUMMED ((off_t)1 << 30)

struct tool_capture_files {
    char** names; /* sorted, without the folder */
    size_t count, room;
};

void tool_capture_release(struct tool_capture_files* files)
{
    for (size_t i = 0; files != NULL && i < files->count; ++i) {
        free(files->names[i]);
    }
    if (files != NULL) {
        free(files->names);
    }
    free(files);
}

static bool add_file(struct tool_capture_files* files, const char* name)
{
    if (files->count == files->room) {
        const size_t room = files->room == 0 ? 16 : 2 * files->room;
        char** const names = realloc(files->names, room * sizeof(*names));
        if (names == NULL) {
            return false;
        }
        files->names = names;
        files->room = room;
    }
    files->names[files->count] = strdup(name);
    files->count += files->names[files->count] != NULL ? 1 : 0;
    return true;
}

static int compare_names(const void* left, const void* right)
{
    return strcmp(*(char* const*)left, *(char* const*)right);
}

/* Whether a file's name is one of a capture whose name begins with the prefix and a dot. */
static bool is_capture_name(const char* name, const char* prefix)
{
    const size_t length = strlen(name);
    const size_t start = strlen(prefix);
    const size_t end = strlen(CAPTURE_SUFFIX);
    return length > start + 1 + end && strncmp(name, prefix, start) == 0 && name[start] == '.' &&
           strcmp(name + length - end, CAPTURE_SUFFIX) == 0;
}

static void split_path(const char* path, char folder[TOOL_CAPTURE_PATH_SIZE], const char** prefix)
{
    snprintf(folder, TOOL_CAPTURE_PATH_SIZE, "%s", path);
    char* const slash = strrchr(folder, '/');
    *prefix = path + (slash - folder) + 1;
    slash[slash == folder ? 1 : 0] = '\0';
}

struct tool_capture_files* tool_capture_list(const char* path)
{
    char folder[TOOL_CAPTURE_PATH_SIZE];
    const char* prefix = NULL;
    const struct dirent* entry = NULL;
    bool complete = true;
    struct tool_capture_files* const files = calloc(1, sizeof(*files));
    split_path(path, folder, &prefix);
    DIR* const directory = files != NULL ? opendir(folder) : NULL;
    while (directory != NULL && complete && (entry = readdir(directory)) != NULL) {
        if (is_capture_name(entry->d_name, prefix)) {
            complete = add_file(files, entry->d_name);
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    if (files != NULL && files->count > 0) {
        qsort(files->names, files->count, sizeof(*files->names), compare_names);
    }
    return files;
}

static bool has_file(const struct tool_capture_files* files, const char* name)
{
    return files->count > 0 &&
           bsearch(&name, files->names, files->count, sizeof(*files->names), compare_names) != NULL;
}

/* Returns the most bytes of device memory that lived at once, imports not counted. */
static uint64_t peak_bytes(const struct support_history* history)
{
    uint64_t live = 0;
    uint64_t peak = 0;
    for (size_t i = 0; i < history->events.count; ++i) {
        const struct support_history_event* const event = &history->events.items[i];
        if (event->index >= history->memories.count) {
            continue;
        }
        const struct support_history_memory* const memory = &history->memories.items[event->index];
        if ((memory->flags & MAAR_CAPTURE_MEMORY_IMPORT_BIT) != 0) {
            continue;
        }
        if (event->kind == MAAR_CAPTURE_KIND_MEMORY) {
            live += memory->size;
            peak = live > peak ? live : peak;
        } else if (event->kind == MAAR_CAPTURE_KIND_MEMORY_END) {
            live -= memory->size;
        }
    }
    return peak;
}

static void report_file(const char* path)
{
    struct stat status;
    struct support_history history;
    struct support_error error;
    char bytes[32];
    char peak[32];
    if (stat(path, &status) != 0) {
        return;
    }
    tool_format_size((uint64_t)status.st_size, bytes, sizeof(bytes));
    if (status.st_size > MOST_SUMMED) {
        tool_complain("%s: %s", path, bytes);
        return;
    }
    if (!support_history_load(path, &history, &error)) {
        tool_complain("%s", error.text);
        return;
    }
    const char* const cut = support_history_cut(&history);
    tool_complain("%s: %s, process %" PRIu64 ", %zu events, peak %s%s%s", path, bytes,
                  history.header.process, history.events.count,
                  tool_format_size(peak_bytes(&history), peak, sizeof(peak)),
                  cut != NULL ? "; " : "", cut != NULL ? cut : "");
    support_history_release(&history);
}

size_t tool_capture_report(const char* path, const struct tool_capture_files* before)
{
    char folder[TOOL_CAPTURE_PATH_SIZE];
    char file[2 * TOOL_CAPTURE_PATH_SIZE];
    const char* prefix = NULL;
    size_t count = 0;
    struct tool_capture_files* const files = tool_capture_list(path);
    split_path(path, folder, &prefix);
    for (size_t i = 0; files != NULL && i < files->count; ++i) {
        if (!has_file(before, files->names[i])) {
            snprintf(file, sizeof(file), "%s%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/",
                     files->names[i]);
            report_file(file);
            ++count;
        }
    }
    tool_capture_release(files);
    return count;
}
