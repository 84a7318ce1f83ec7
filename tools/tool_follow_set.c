/*
 * The captures that are followed: named ones, those of a folder, and those that any process of the
 * machine writes; see tool_follow.h.
 */
#include "tool_follow.h"

#include "tool_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char* text, const char* end)
{
    const size_t length = strlen(text);
    const size_t size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

static bool knows_file(const struct tool_follow_set* set, const struct stat* status)
{
    for (size_t i = 0; i < set->count; ++i) {
        if (set->items[i]->volume == status->st_dev && set->items[i]->file == status->st_ino) {
            return true;
        }
    }
    return false;
}

/* Adds a capture unless it is known. */
static bool add(struct tool_follow_set* set, const char* path, struct support_error* error)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        support_error_set(error, path, 0, "%s", strerror(errno));
        return false;
    }
    if (knows_file(set, &status)) {
        return true;
    }
    if (S_ISDIR(status.st_mode)) {
        support_error_set(error, path, 0, "is a folder; --folder takes one");
        return false;
    }
    if (set->count == set->capacity) {
        const size_t larger = set->capacity == 0 ? 8 : set->capacity * 2;
        struct tool_follow** const grown =
            (struct tool_follow**)realloc((void*)set->items, larger * sizeof *grown);
        if (grown == NULL) {
            support_error_set(error, path, 0, "out of memory");
            return false;
        }
        set->items = grown;
        set->capacity = larger;
    }
    struct tool_follow* const follow = tool_follow_create(path, error);
    if (follow == NULL) {
        return false;
    }
    set->items[set->count++] = follow;
    return true;
}

bool tool_follow_check_folder(const char* option, const char* folder)
{
    struct stat status;
    if (stat(folder, &status) != 0) {
        tool_complain("%s %s: %s", option, folder, strerror(errno));
        return false;
    }
    if (!S_ISDIR(status.st_mode)) {
        tool_complain("%s %s: is no folder", option, folder);
        return false;
    }
    return true;
}

bool tool_follow_choose_folder(struct tool_follow_choice* choice, const char* folder)
{
    choice->folder = folder;
    return tool_follow_check_folder("--folder", folder);
}

bool tool_follow_read_interval(const char* text, uint64_t* interval_ns)
{
    char* end = NULL;
    const double seconds = strtod(text, &end);
    const bool is_number = (text[0] >= '0' && text[0] <= '9') || text[0] == '.';
    if (!is_number || *end != '\0' || !(seconds >= 0.1 && seconds <= 3600)) {
        tool_complain("--interval %s: expected seconds, 0.1 to 3600", text);
        return false;
    }
    *interval_ns = (uint64_t)(seconds * 1e9);
    return true;
}

bool tool_follow_set_begin(struct tool_follow_set* set, const struct tool_follow_choice* choice)
{
    set->folder = choice->folder;
    set->proc = choice->proc;
    set->is_all = choice->is_all || (choice->path_count == 0 && choice->folder == NULL);
    for (int i = 0; i < choice->path_count; ++i) {
        struct support_error error = {.text = ""};
        if (!add(set, choice->paths[i], &error)) {
            tool_complain("%s", error.text);
            return false;
        }
    }
    return true;
}

static int compare_names(const void* left, const void* right)
{
    return strcmp(*(char* const*)left, *(char* const*)right);
}

/* Adds the captures of a folder, by name. What is not readable yet is looked at again later. */
static void look_in_folder(struct tool_follow_set* set)
{
    char** names = NULL;
    size_t count = 0;
    size_t capacity = 0;
    DIR* const folder = opendir(set->folder);
    for (struct dirent* entry = folder != NULL ? readdir(folder) : NULL; entry != NULL;
         entry = readdir(folder)) {
        if (!ends_with(entry->d_name, ".maarcap") && !ends_with(entry->d_name, ".maarcap.gz")) {
            continue;
        }
        if (count == capacity) {
            const size_t larger = capacity == 0 ? 32 : capacity * 2;
            char** const grown = (char**)realloc((void*)names, larger * sizeof *grown);
            if (grown == NULL) {
                break;
            }
            names = grown;
            capacity = larger;
        }
        names[count] = strdup(entry->d_name);
        count += names[count] != NULL ? 1u : 0u;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    if (count > 0) {
        qsort((void*)names, count, sizeof *names, compare_names);
    }
    for (size_t i = 0; i < count; ++i) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", set->folder, names[i]);
        (void)add(set, path, NULL);
        free(names[i]);
    }
    free((void*)names);
}

/* Finds the name of a file in the folder of a link's target. A file that was created without a name
 * keeps that look in /proc when it has got one. */
static bool find_name(const struct stat* status, const char* target, char* path, size_t size)
{
    char folder[4096];
    (void)snprintf(folder, sizeof folder, "%s", target);
    char* const slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder) {
        return false;
    }
    *slash = '\0';
    bool found = false;
    DIR* const opened = opendir(folder);
    for (struct dirent* entry = opened != NULL ? readdir(opened) : NULL; entry != NULL && !found;
         entry = readdir(opened)) {
        struct stat other;
        if (entry->d_ino == status->st_ino && ends_with(entry->d_name, ".maarcap")) {
            (void)snprintf(path, size, "%s/%s", folder, entry->d_name);
            found = stat(path, &other) == 0 && other.st_ino == status->st_ino &&
                    other.st_dev == status->st_dev;
        }
    }
    if (opened != NULL) {
        (void)closedir(opened);
    }
    return found;
}

/* Returns whether a file begins as a capture does. */
static bool begins_as_capture(const char* path)
{
    char head[sizeof MAAR_CAPTURE_MAGIC] = "";
    FILE* const file = fopen(path, "rb");
    const size_t size = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return support_is_capture(head, size);
}

/* Adds the capture that a process has open, if it is one. */
static void look_at_file(struct tool_follow_set* set, const char* link)
{
    char target[4096] = "";
    char path[8200];
    struct stat status;
    const ssize_t length = readlink(link, target, sizeof target - 1);
    const bool is_candidate =
        length > 0 && (ends_with(target, ".maarcap") ||
                       (strstr(target, "/#") != NULL && ends_with(target, " (deleted)")));
    if (!is_candidate || stat(link, &status) != 0 || !S_ISREG(status.st_mode) ||
        knows_file(set, &status) || !begins_as_capture(link)) {
        return;
    }
    if (!find_name(&status, target, path, sizeof path) || !add(set, path, NULL)) {
        /* The folder may be out of reach; the file itself is not. */
        (void)add(set, link, NULL);
    }
}

/* Adds the captures that a process has open. */
static void look_in_files(struct tool_follow_set* set, const char* process)
{
    char path[4400];
    (void)snprintf(path, sizeof path, "%s/%.20s/fd", set->proc, process);
    DIR* const folder = opendir(path);
    for (struct dirent* entry = folder != NULL ? readdir(folder) : NULL; entry != NULL;
         entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "%s/%.20s/fd/%.20s", set->proc, process,
                           entry->d_name);
            look_at_file(set, path);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

static void look_in_processes(struct tool_follow_set* set)
{
    DIR* const folder = opendir(set->proc);
    for (struct dirent* entry = folder != NULL ? readdir(folder) : NULL; entry != NULL;
         entry = readdir(folder)) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
            look_in_files(set, entry->d_name);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

void tool_follow_set_update(struct tool_follow_set* set)
{
    if (set->folder != NULL) {
        look_in_folder(set);
    }
    if (set->is_all) {
        look_in_processes(set);
    }
    for (size_t i = 0; i < set->count; ++i) {
        tool_follow_update(set->items[i], set->proc);
    }
}

bool tool_follow_set_runs(const struct tool_follow_set* set)
{
    for (size_t i = 0; i < set->count; ++i) {
        if (set->items[i]->state == TOOL_FOLLOW_RUNNING) {
            return true;
        }
    }
    return false;
}

bool tool_follow_set_complain(const struct tool_follow_set* set)
{
    bool is_wrong = false;
    for (size_t i = 0; i < set->count; ++i) {
        if (set->items[i]->state == TOOL_FOLLOW_WRONG) {
            tool_complain("%s", set->items[i]->fault);
            is_wrong = true;
        }
    }
    return is_wrong;
}

void tool_follow_set_release(struct tool_follow_set* set)
{
    for (size_t i = 0; i < set->count; ++i) {
        tool_follow_destroy(set->items[i]);
    }
    free((void*)set->items);
    memset(set, 0, sizeof *set);
}
