/*
 * Sizes, time and messages; see tool_text.h.
 */
#include "tool_text.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Reads digits. *end receives the text behind them. */
static enum tool_number read_digits(const char* text, uint64_t* out, const char** end)
{
    char* rest = NULL;
    *out = 0;
    if (text[0] < '0' || text[0] > '9') {
        return TOOL_NUMBER_MALFORMED;
    }
    errno = 0;
    *out = strtoull(text, &rest, 10);
    *end = rest;
    return errno != 0 ? TOOL_NUMBER_TOO_LARGE : TOOL_NUMBER_GOOD;
}

enum tool_number tool_read_size(const char* text, uint64_t* out)
{
    static const struct {
        const char* suffix;
        unsigned shift;
    } units[] = {
        {"", 0},     {"B", 0},  {"KiB", 10}, {"MiB", 20}, {"GiB", 30},
        {"TiB", 40}, {"K", 10}, {"M", 20},   {"G", 30},   {"T", 40},
    };
    const char* end = NULL;
    uint64_t number = 0;
    *out = 0;
    const enum tool_number digits = read_digits(text, &number, &end);
    if (digits == TOOL_NUMBER_MALFORMED) {
        return digits;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); ++i) {
        if (strcmp(end, units[i].suffix) == 0) {
            if (digits == TOOL_NUMBER_TOO_LARGE || number > (UINT64_MAX >> units[i].shift)) {
                return TOOL_NUMBER_TOO_LARGE;
            }
            *out = number << units[i].shift;
            return TOOL_NUMBER_GOOD;
        }
    }
    return TOOL_NUMBER_MALFORMED;
}

enum tool_number tool_read_number(const char* text, uint64_t most, uint64_t* out)
{
    const char* end = "";
    uint64_t number = 0;
    enum tool_number outcome = read_digits(text, &number, &end);
    if (*end != '\0') {
        outcome = TOOL_NUMBER_MALFORMED;
    } else if (outcome == TOOL_NUMBER_GOOD && number > most) {
        outcome = TOOL_NUMBER_TOO_LARGE;
    }
    *out = outcome == TOOL_NUMBER_GOOD ? number : 0;
    return outcome;
}

void tool_complain_number(const char* option, const char* text, enum tool_number number,
                          const char* expected, uint64_t most)
{
    if (number == TOOL_NUMBER_TOO_LARGE) {
        tool_complain("%s %s: too large; at most %" PRIu64 " is allowed", option, text, most);
    } else {
        tool_complain("%s %s: expected %s", option, text, expected);
    }
}

bool tool_parse_size(const char* text, uint64_t* out)
{
    uint64_t size = 0;
    const bool good = tool_read_size(text, &size) == TOOL_NUMBER_GOOD;
    *out = good ? size : *out;
    return good;
}

bool tool_parse_number(const char* text, uint32_t* out)
{
    uint64_t number = 0;
    const bool good = tool_read_number(text, UINT32_MAX, &number) == TOOL_NUMBER_GOOD;
    *out = good ? (uint32_t)number : *out;
    return good;
}

void tool_name_file(const char* path, const char* part, char* out, size_t size)
{
    const char* const slash = strrchr(path, '/');
    const char* const dot = strrchr(path, '.');
    const bool has_suffix = dot != NULL && (slash == NULL || dot > slash);
    const int stem = (int)(has_suffix ? dot - path : (long)strlen(path));
    snprintf(out, size, "%.*s%s%s%s", stem, path, part[0] != '\0' ? "-" : "", part,
             has_suffix ? dot : "");
}

bool tool_check_named(const char* option, const char* path)
{
    const bool named = path == NULL || path[0] != '\0';
    if (!named) {
        tool_complain("%s needs the name of a file", option);
    }
    return named;
}

bool tool_check_apart(const char* option, const char* path, char** inputs, int count,
                      tool_take_name take_name)
{
    char names[2][TOOL_NAME_SIZE];
    for (int i = 0; path != NULL && i < count; ++i) {
        take_name(inputs[i], names[0]);
        for (int j = 0; j < i; ++j) {
            take_name(inputs[j], names[1]);
            if (strcmp(names[0], names[1]) == 0) {
                char written[4096];
                tool_name_file(path, names[0], written, sizeof(written));
                tool_complain("%s %s: \"%s\" and \"%s\" would both be written to \"%s\"", option,
                              path, inputs[j], inputs[i], written);
                return false;
            }
        }
    }
    return true;
}

bool tool_check_not_input(const char* option, const char* path, const char* input)
{
    struct stat own;
    struct stat other;
    if (path == NULL || input == NULL || stat(path, &own) != 0 || stat(input, &other) != 0 ||
        !S_ISREG(own.st_mode) || own.st_dev != other.st_dev || own.st_ino != other.st_ino) {
        return true;
    }
    tool_complain("%s %s: is the input %s, which would be lost; name another file", option, path,
                  input);
    return false;
}

bool tool_check_path(const char* path)
{
    char folder[4096];
    snprintf(folder, sizeof(folder), "%s", path);
    char* const slash = strrchr(folder, '/');
    if (slash == NULL) {
        snprintf(folder, sizeof(folder), ".");
    } else {
        slash[slash == folder ? 1 : 0] = '\0';
    }
    struct stat status;
    int problem = 0;
    if (stat(path, &status) == 0) {
        problem = S_ISDIR(status.st_mode) ? EISDIR : access(path, W_OK) != 0 ? errno : 0;
    } else {
        problem = access(folder, W_OK | X_OK) != 0 ? errno : 0;
    }
    if (problem != 0) {
        tool_complain("%s: cannot be written: %s", path, strerror(problem));
    }
    return problem == 0;
}

const char* tool_format_size(uint64_t bytes, char* buffer, size_t size)
{
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024.0;
        ++unit;
    }
    const int digits = unit == 0 || value >= 100.0 ? 0 : value >= 10.0 ? 1 : 2;
    snprintf(buffer, size, "%.*f %s", digits, value, units[unit]);
    return buffer;
}

uint64_t tool_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The beginning of strings that stand for numbers which the JSON library cannot represent. */
static const char number_mark[] = "#u64:";

json_t* tool_json_number(uint64_t value)
{
    char text[32];
    if (value <= INT64_MAX) {
        return json_integer((json_int_t)value);
    }
    snprintf(text, sizeof(text), "%s%" PRIu64, number_mark, value);
    return json_string(text);
}

bool tool_json_is_number(const json_t* value)
{
    const char* const text = json_string_value(value);
    return json_is_integer(value) ||
           (text != NULL && strncmp(text, number_mark, sizeof(number_mark) - 1) == 0);
}

uint64_t tool_json_value(const json_t* number)
{
    const char* const text = json_string_value(number);
    return text != NULL ? strtoull(text + sizeof(number_mark) - 1, NULL, 10)
                        : (uint64_t)json_integer_value(number);
}

/* Turns the marked strings into numbers. A quote within a string has a backslash before it. */
static void unmark_numbers(char* text)
{
    const size_t length = sizeof(number_mark) - 1;
    char* to = text;
    char before = '\0';
    while (*text != '\0') {
        if (*text == '"' && before != '\\' && strncmp(text + 1, number_mark, length) == 0) {
            text += 1 + length;
            while (*text != '"') {
                *to++ = *text++;
            }
            ++text;
        } else {
            before = *text;
            *to++ = *text++;
        }
    }
    *to = '\0';
}

bool tool_print_json(struct json_t* object)
{
    char* const text = json_dumps(object, JSON_REAL_PRECISION(6));
    json_decref(object);
    if (text != NULL) {
        unmark_numbers(text);
    }
    const bool good = text != NULL && puts(text) >= 0 && fflush(stdout) == 0;
    free(text);
    return good;
}

void tool_complain(const char* format, ...)
{
    char line[12288]; /* a message may contain several paths */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, "maar: %s\n", line);
}

/* Returns the number of long options that begin with a text. */
static unsigned count_matches(const char* text, const struct option* options)
{
    const size_t length = strcspn(text + 2, "=");
    unsigned count = 0;
    for (; options->name != NULL; ++options) {
        count += strncmp(options->name, text + 2, length) == 0 ? 1u : 0u;
    }
    return count;
}

void tool_complain_option(const char* command, int result, char** argv,
                          const struct option* options)
{
    const char* const text = argv[optind - 1];
    if (optopt > 0 && optopt < 256) {
        tool_complain("%s: unrecognized option '-%c'; see maar %s --help", command, optopt,
                      command);
        return;
    }
    const char* problem = "takes no argument";
    if (result == ':') {
        problem = "needs an argument";
    } else if (optopt == 0) {
        problem = count_matches(text, options) > 1 ? "is ambiguous" : NULL;
    }
    if (problem == NULL) {
        tool_complain("%s: unrecognized option '%s'; see maar %s --help", command, text, command);
    } else {
        tool_complain("%s: option '%s' %s; see maar %s --help", command, text, problem, command);
    }
}
