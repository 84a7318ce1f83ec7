/*
 * Reads and writes whole files, and sets the messages of this library.
 */
#include "support/readfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
        used += got;
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

bool support_write_file(const char* path, const void* data, size_t size,
                        struct support_error* error)
{
    FILE* const file = fopen(path, "wb");
    bool good = file != NULL && fwrite(data, 1, size, file) == size;
    int problem = good ? 0 : errno;
    if (file != NULL && fclose(file) != 0 && good) {
        good = false;
        problem = errno;
    }
    if (good) {
        return true;
    }
    struct stat status;
    if (file != NULL && stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        (void)remove(path);
    }
    support_error_set(error, path, 0, "cannot be written: %s", strerror(problem));
    return false;
}
