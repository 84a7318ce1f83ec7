/*
 * Reads and writes whole files, and sets the messages of this library.
 */
#if !defined(_WIN32) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700 /* realpath */
#endif

#include "support/readfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if !defined(_WIN32)
#include <unistd.h>
#endif

enum { READ_FIRST_CAPACITY = 65536 };

void support_error_set(struct support_error* error, const char* file, size_t line,
                       const char* format, ...)
{
    if (error == NULL) {
        return;
    }
    const size_t room = sizeof(error->text);
    const int length = line != 0 ? snprintf(error->text, room, "%s:%zu: ", file, line)
                                 : snprintf(error->text, room, "%s: ", file);
    if (length < 0 || (size_t)length >= room) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text + length, room - (size_t)length, format, arguments);
    va_end(arguments);
}

/* Grows a buffer to more than `used` + 1 bytes. */
static bool read_file_grow(char** data, size_t* capacity, size_t used)
{
    if (used + 1 < *capacity) {
        return true;
    }
    const size_t larger = *capacity == 0 ? READ_FIRST_CAPACITY : *capacity * 2;
    char* grown = larger > *capacity ? realloc(*data, larger) : NULL;
    if (grown == NULL) {
        return false;
    }
    *data = grown;
    *capacity = larger;
    return true;
}

bool support_read_file(const char* path, size_t max_size, char** data, size_t* size,
                       struct support_error* error)
{
    return support_read_checked_file(path, max_size, NULL, data, size, error);
}

bool support_read_checked_file(const char* path, size_t max_size, support_check_head check,
                               char** data, size_t* size, struct support_error* error)
{
    *data = NULL;
    *size = 0;
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        support_error_set(error, path, 0, "%s", strerror(errno));
        return false;
    }
    char* bytes = NULL;
    size_t capacity = 0;
    size_t used = 0;
    bool good = false;
    for (;;) {
        if (!read_file_grow(&bytes, &capacity, used)) {
            support_error_set(error, path, 0, "out of memory beyond %zu bytes", used);
            break;
        }
        const size_t got = fread(bytes + used, 1, capacity - used - 1, file);
        const char* const wrong = used == 0 && check != NULL ? check(bytes, got) : NULL;
        used += got;
        if (wrong != NULL) {
            support_error_set(error, path, 1, "%s", wrong);
            break;
        }
        if (max_size != 0 && used > max_size) {
            support_error_set(error, path, 0, "larger than %zu bytes", max_size);
            break;
        }
        if (got == 0) {
            good = ferror(file) == 0;
            if (!good) {
                support_error_set(error, path, 0, "cannot be read: %s", strerror(errno));
            }
            break;
        }
    }
    fclose(file);
    if (!good) {
        free(bytes);
        return false;
    }
    bytes[used] = 0;
    *data = bytes;
    *size = used;
    return true;
}

/* Writes a file in place. Removes an incomplete plain file. Returns 0 or the error's number. */
static int write_in_place(const char* path, const void* data, size_t size)
{
    FILE* const file = fopen(path, "wb");
    bool good = file != NULL && fwrite(data, 1, size, file) == size;
    int problem = good ? 0 : errno;
    if (file != NULL && fclose(file) != 0 && good) {
        good = false;
        problem = errno;
    }
    struct stat status;
    if (!good && file != NULL && stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        (void)remove(path);
    }
    return problem;
}

#if !defined(_WIN32)
/* Returns the path of a name in the folder of another path, or the name if it is absolute. */
static char* join_to_folder(const char* path, const char* name)
{
    const char* const slash = name[0] != '/' ? strrchr(path, '/') : NULL;
    const size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char* const joined = malloc(folder + strlen(name) + 1);
    if (joined != NULL) {
        memcpy(joined, path, folder);
        strcpy(joined + folder, name);
    }
    return joined;
}

/* Returns the target of a symbolic link, as a path from here, or NULL. */
static char* read_link(const char* path)
{
    char target[4096];
    const ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length <= 0) {
        return NULL;
    }
    target[length] = '\0';
    return join_to_folder(path, target);
}

/* Does what support_resolve_path does for a path that names nothing, and no link. */
static char* resolve_folder(const char* path)
{
    const char* const slash = strrchr(path, '/');
    const char* const name = slash != NULL ? slash + 1 : path;
    char* const folder = join_to_folder(path, ".");
    char* const resolved = folder != NULL ? realpath(folder, NULL) : NULL;
    const size_t size = resolved != NULL ? strlen(resolved) + strlen(name) + 2 : 0;
    char* const whole = size != 0 ? malloc(size) : NULL;
    if (whole != NULL) {
        (void)snprintf(whole, size, "%s/%s", strcmp(resolved, "/") != 0 ? resolved : "", name);
    }
    free(folder);
    free(resolved);
    return whole;
}

char* support_resolve_path(const char* path)
{
    enum { MOST_LINKS = 40 };
    char* link = NULL; /* the path so far, if it is not the first one */
    for (int count = 0; count < MOST_LINKS; ++count) {
        const char* const now = link != NULL ? link : path;
        char* const whole = realpath(now, NULL);
        char* const next = whole == NULL ? read_link(now) : NULL;
        if (next == NULL) {
            char* const resolved = whole != NULL ? whole : resolve_folder(now);
            free(link);
            return resolved;
        }
        free(link);
        link = next;
    }
    free(link);
    return NULL;
}

/* Writes a file beside the path and renames it, so that a failure loses nothing. A symbolic link
 * stays a link, and a file keeps its mode. Returns 0 or the error's number. */
static int write_beside(const char* path, const struct stat* old, const void* data, size_t size)
{
    char beside[4200];
    char* const resolved = support_resolve_path(path);
    const char* const target = resolved != NULL ? resolved : path;
    int problem = ENAMETOOLONG;
    if (snprintf(beside, sizeof(beside), "%s.XXXXXX", target) < (int)sizeof(beside)) {
        const int descriptor = mkstemp(beside);
        const mode_t mask = umask(0);
        umask(mask);
        const mode_t mode = old != NULL ? old->st_mode & 0777 : 0666 & ~mask;
        problem = descriptor < 0 || fchmod(descriptor, mode) != 0 ? errno : 0;
        if (descriptor >= 0) {
            (void)close(descriptor);
            problem = problem == 0 ? write_in_place(beside, data, size) : problem;
            problem = problem == 0 && rename(beside, target) != 0 ? errno : problem;
            if (problem != 0) {
                (void)remove(beside);
            }
        }
    }
    free(resolved);
    return problem;
}
#endif

bool support_write_file(const char* path, const void* data, size_t size,
                        struct support_error* error)
{
    int problem = 0;
#if defined(_WIN32)
    problem = write_in_place(path, data, size);
#else
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
        problem = write_in_place(path, data, size);
    } else {
        problem = write_beside(path, exists ? &status : NULL, data, size);
        if (problem == EACCES && exists) {
            problem = write_in_place(path, data, size); /* its folder takes no other file */
        }
    }
#endif
    if (problem != 0) {
        support_error_set(error, path, 0, "cannot be written: %s", strerror(problem));
    }
    return problem == 0;
}
