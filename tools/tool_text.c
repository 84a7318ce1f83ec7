/*
 * Sizes, time and messages; see tool_text.h.
 */
#include "tool_text.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool tool_parse_size(const char* text, uint64_t* out)
{
    static const struct {
        const char* suffix;
        unsigned shift;
    } units[] = {
        {"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40},
    };
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    char* end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); ++i) {
        if (strcmp(end, units[i].suffix) == 0) {
            if (number > (UINT64_MAX >> units[i].shift)) {
                return false;
            }
            *out = (uint64_t)number << units[i].shift;
            return true;
        }
    }
    return false;
}

bool tool_parse_number(const char* text, uint32_t* out)
{
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    char* end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || number > UINT32_MAX) {
        return false;
    }
    *out = (uint32_t)number;
    return true;
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

void tool_complain(const char* format, ...)
{
    char line[12288]; /* a message may name several paths */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, "maar: %s\n", line);
}

/* How many long options begin so. */
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
