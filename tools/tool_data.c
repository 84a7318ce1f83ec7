/*
 * Profiles and traces by name; see tool_data.h.
 */
#include "tool_data.h"

#include "tool_guess.h"
#include "tool_text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096
#define MAX_SUFFIXES 2

struct data_kind {
    const char* folder;
    const char* one;
    const char* listed_by;
    const char* suffixes[MAX_SUFFIXES]; /* suffixes of the files, which names omit */
};

static const struct data_kind data_kinds[] = {
    [TOOL_DATA_PROFILES] = {"profiles", "profile", "maar info --list-profiles", {".json", NULL}},
    [TOOL_DATA_TRACES] = {"traces", "trace", "maar replay --list-traces", {".csv", ".csv.gz"}},
    [TOOL_DATA_FRAMES] = {"frames", "frame graph", "maar plan --list-frames", {".csv", NULL}},
    [TOOL_DATA_QUEUES] = {"frames/dag",
                          "frame graph",
                          "maar plan --list-frames",
                          {".resources.csv", NULL}},
};

static const char* program_argument = "";

void tool_data_set_program(const char* argument)
{
    program_argument = argument;
}

/* Finds a program by its bare name, as a shell does. */
static bool search_path(const char* name, char* out, size_t size)
{
    const char* at = getenv("PATH");
    while (at != NULL && *at != '\0') {
        const size_t length = strcspn(at, ":");
        const int written = snprintf(out, size, "%.*s/%s", (int)length, at, name);
        if (written > 0 && (size_t)written < size && access(out, X_OK) == 0) {
            return true;
        }
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return false;
}

bool tool_data_program_folder(char* out, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", out, size - 1);
    if (length > 0) {
        out[length] = '\0';
    } else if (strchr(program_argument, '/') != NULL) {
        snprintf(out, size, "%s", program_argument);
    } else if (!search_path(program_argument, out, size)) {
        return false;
    }
    char* const slash = strrchr(out, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    return slash != NULL;
}

/* Fills in the path of a folder that may hold data. Returns false after the last folder. The caller
 * skips an empty path. */
static bool data_folder(size_t index, enum tool_data_kind kind, char* out, size_t size)
{
    char program[PATH_SIZE];
    const char* root = NULL;
    const char* below = "";
    switch (index) {
    case 0:
        root = getenv("MAAR_DATA_DIR");
        break;
    case 1:
        root = tool_data_program_folder(program, sizeof(program)) ? program : NULL;
        below = "/" MAAR_TOOL_DATA_FROM_PROGRAM;
        break;
    case 2:
        root = MAAR_TOOL_SOURCE_DATA;
        break;
    case 3:
        root = MAAR_TOOL_INSTALLED_DATA;
        break;
    default:
        return false;
    }
    out[0] = '\0';
    if (root == NULL || root[0] == '\0') {
        return true;
    }
    char joined[2 * PATH_SIZE];
    char resolved[PATH_SIZE];
    snprintf(joined, sizeof(joined), "%s%s/%s", root, below, data_kinds[kind].folder);
    /* Messages show the shortest form of the path of an existing folder. */
    const char* const shown = realpath(joined, resolved) != NULL ? resolved : joined;
    if (strlen(shown) < size) {
        memcpy(out, shown, strlen(shown) + 1);
    }
    return true;
}

static bool is_file(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode) && access(path, R_OK) == 0;
}

bool tool_data_find(enum tool_data_kind kind, const char* name, char* out, size_t size)
{
    if (is_file(name)) {
        return strlen(name) < size && snprintf(out, size, "%s", name) > 0;
    }
    char folder[PATH_SIZE];
    for (size_t i = 0; data_folder(i, kind, folder, sizeof(folder)); ++i) {
        for (size_t j = 0; j <= MAX_SUFFIXES && folder[0] != '\0'; ++j) {
            const char* const suffix = j == 0 ? "" : data_kinds[kind].suffixes[j - 1];
            const int written =
                suffix == NULL ? 0 : snprintf(out, size, "%s/%s%s", folder, name, suffix);
            if (written > 0 && (size_t)written < size && is_file(out)) {
                return true;
            }
        }
    }
    return false;
}

/* A sorted list of distinct names. */
struct name_list {
    char** names;
    size_t count, room;
};

/* Adds a copy of a file's name without its suffix, if the suffix is one of the kind. */
static void add_name(struct name_list* list, enum tool_data_kind kind, const char* file)
{
    size_t length = 0;
    for (size_t i = 0; i < MAX_SUFFIXES; ++i) {
        const char* const suffix = data_kinds[kind].suffixes[i];
        const size_t cut = suffix == NULL ? 0 : strlen(suffix);
        if (cut != 0 && strlen(file) > cut && strcmp(file + strlen(file) - cut, suffix) == 0) {
            length = strlen(file) - cut;
        }
    }
    size_t at = 0;
    while (at < list->count && (strncmp(list->names[at], file, length) < 0)) {
        ++at;
    }
    if (length == 0 || (at < list->count && strncmp(list->names[at], file, length) == 0 &&
                        list->names[at][length] == '\0')) {
        return;
    }
    if (list->count == list->room) {
        const size_t room = list->room == 0 ? 64 : 2 * list->room;
        char** const names = realloc(list->names, room * sizeof(*names));
        if (names == NULL) {
            return;
        }
        list->names = names;
        list->room = room;
    }
    char* const copy = strndup(file, length);
    if (copy != NULL) {
        memmove(list->names + at + 1, list->names + at, (list->count - at) * sizeof(*list->names));
        list->names[at] = copy;
        ++list->count;
    }
}

static void list_names(enum tool_data_kind kind, struct name_list* list)
{
    char folder[PATH_SIZE];
    for (size_t i = 0; data_folder(i, kind, folder, sizeof(folder)); ++i) {
        DIR* const directory = folder[0] == '\0' ? NULL : opendir(folder);
        const struct dirent* entry = NULL;
        while (directory != NULL && (entry = readdir(directory)) != NULL) {
            add_name(list, kind, entry->d_name);
        }
        if (directory != NULL) {
            closedir(directory);
        }
    }
}

static void free_names(struct name_list* list)
{
    for (size_t i = 0; i < list->count; ++i) {
        free(list->names[i]);
    }
    free(list->names);
}

void tool_data_guess(enum tool_data_kind kind, struct tool_guess* guess)
{
    struct name_list list = {NULL, 0, 0};
    list_names(kind, &list);
    for (size_t i = 0; i < list.count; ++i) {
        tool_guess_offer(guess, list.names[i]);
    }
    free_names(&list);
}

void tool_data_complain(enum tool_data_kind kind, const char* name)
{
    const struct data_kind* const what = &data_kinds[kind];
    char folder[PATH_SIZE];
    char places[2 * PATH_SIZE] = "";
    size_t used = 0;
    for (size_t i = 0; data_folder(i, kind, folder, sizeof(folder)); ++i) {
        const bool wanted = folder[0] != '\0' && access(folder, R_OK) == 0 &&
                            used + strlen(folder) + 3 < sizeof(places);
        if (wanted && strstr(places, folder) == NULL) {
            used += (size_t)snprintf(places + used, sizeof(places) - used, "%s%s",
                                     used == 0 ? "" : ", ", folder);
        }
    }
    if (used == 0) {
        tool_complain("%s: no such %s; looked for the file \"%s\", and none is installed", name,
                      what->one, name);
        return;
    }
    struct name_list list = {NULL, 0, 0};
    list_names(kind, &list);
    struct tool_guess guess = {.typed = name};
    char meant[160];
    tool_data_guess(kind, &guess);
    tool_guess_text(&guess, "", meant, sizeof(meant));
    tool_complain("%s: no such %s; looked for the file \"%s\" and in %s (%zu %s%s; see %s)%s", name,
                  what->one, name, places, list.count, what->one, list.count == 1 ? "" : "s",
                  what->listed_by, meant);
    free_names(&list);
}

const char* tool_data_beside(const char* path, const char* suffix, char* out, size_t size)
{
    static const char own[] = ".resources.csv";
    const size_t length = strlen(path);
    if (length < sizeof(own) || strcmp(path + length - (sizeof(own) - 1), own) != 0) {
        return NULL;
    }
    const int stem = (int)(length - (sizeof(own) - 1));
    const int written = snprintf(out, size, "%.*s%s", stem, path, suffix);
    return written > 0 && (size_t)written < size && access(out, R_OK) == 0 ? out : NULL;
}

bool tool_data_for_each(enum tool_data_kind kind, tool_data_visit visit, void* context)
{
    struct name_list list = {NULL, 0, 0};
    list_names(kind, &list);
    bool good = list.count != 0;
    if (!good) {
        tool_complain("no %s is installed", data_kinds[kind].one);
    }
    for (size_t i = 0; i < list.count && good; ++i) {
        good = visit(context, list.names[i]);
    }
    free_names(&list);
    return good;
}

static bool print_name(void* context, const char* name)
{
    (void)context;
    puts(name);
    return true;
}

bool tool_data_print_names(enum tool_data_kind kind)
{
    return tool_data_for_each(kind, print_name, NULL);
}
