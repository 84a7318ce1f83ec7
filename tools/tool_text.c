/*
 * Sizes, time and messages; see tool_text.h.
 */
#include "tool_text.h"

#include "support/readfile.h"
#include "tool_guess.h"

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

/* Reads the digits behind a point, if there is one, as millionths. Further digits do not matter. */
static enum tool_number read_fraction(const char* text, uint64_t* millionths, const char** end)
{
    uint64_t unit = 100000;
    *millionths = 0;
    *end = text;
    if (text[0] != '.') {
        return TOOL_NUMBER_GOOD;
    }
    for (++text; *text >= '0' && *text <= '9'; ++text) {
        *millionths += unit * (uint64_t)(*text - '0');
        unit /= 10;
    }
    const bool has_digits = text != *end + 1;
    *end = text;
    return has_digits ? TOOL_NUMBER_GOOD : TOOL_NUMBER_MALFORMED;
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
    const char* const point = end;
    uint64_t millionths = 0;
    if (digits == TOOL_NUMBER_MALFORMED ||
        read_fraction(point, &millionths, &end) != TOOL_NUMBER_GOOD) {
        return TOOL_NUMBER_MALFORMED;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); ++i) {
        const bool can_divide = end == point || units[i].shift > 0; /* bytes have no parts */
        if (can_divide && strcmp(end, units[i].suffix) == 0) {
            if (digits == TOOL_NUMBER_TOO_LARGE || number > (UINT64_MAX >> units[i].shift)) {
                return TOOL_NUMBER_TOO_LARGE;
            }
            *out = (number << units[i].shift) + (millionths << units[i].shift) / 1000000;
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

void tool_complain_word(const char* option, const char* text, const char* expected,
                        const char* const* words, size_t count)
{
    struct tool_guess guess = {.typed = text};
    char meant[160];
    for (size_t i = 0; i < count; ++i) {
        tool_guess_offer(&guess, words[i]);
    }
    tool_complain("%s %s: expected %s%s", option, text, expected,
                  tool_guess_text(&guess, "", meant, sizeof(meant)));
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

bool tool_parse_theme(const char* text, enum support_svg_theme* theme)
{
    const bool good = support_svg_find_theme(text, theme);
    if (!good) {
        tool_complain_word("--theme", text, "auto, light or dark", support_svg_theme_names,
                           SUPPORT_SVG_THEME_COUNT);
    }
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

/* Returns whether two paths name one plain file that exists. */
static bool is_same_file(const char* path, const char* other)
{
    struct stat own;
    struct stat another;
    return stat(path, &own) == 0 && stat(other, &another) == 0 && S_ISREG(own.st_mode) &&
           own.st_dev == another.st_dev && own.st_ino == another.st_ino;
}

bool tool_check_not_input(const char* option, const char* path, const char* input)
{
    if (path == NULL || input == NULL || !is_same_file(path, input)) {
        return true;
    }
    tool_complain("%s %s: is the input %s, which would be lost; name another file", option, path,
                  input);
    return false;
}

bool tool_check_two_outputs(const char* option, const char* path, const char* other_option,
                            const char* other)
{
    if (path == NULL || other == NULL || path[0] == '\0' || other[0] == '\0') {
        return true;
    }
    struct stat status;
    char* const resolved = support_resolve_path(path);
    char* const other_resolved = support_resolve_path(other);
    const bool exists = stat(path, &status) == 0;
    const bool same =
        (resolved != NULL && other_resolved != NULL && strcmp(resolved, other_resolved) == 0) ||
        is_same_file(path, other);
    free(resolved);
    free(other_resolved);
    if (!same || (exists && !S_ISREG(status.st_mode))) {
        return true;
    }
    tool_complain("%s %s and %s %s name the same file", option, path, other_option, other);
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

/* The JSON library cannot represent numbers above INT64_MAX. An object of this one member, whose
 * value is a string of digits, stands for such a number. No text of a user can look like that in
 * the output, because a quote within a string has a backslash before it. */
static const char number_key[] = "#u64";
static const char number_mark[] = "{\"#u64\": \"";

json_t* tool_json_number(uint64_t value)
{
    char text[32];
    if (value <= INT64_MAX) {
        return json_integer((json_int_t)value);
    }
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return json_pack("{s:s}", number_key, text);
}

bool tool_json_is_number(const json_t* value)
{
    return json_is_integer(value) || json_object_get(value, number_key) != NULL;
}

uint64_t tool_json_value(const json_t* number)
{
    const char* const text = json_string_value(json_object_get(number, number_key));
    return text != NULL ? strtoull(text, NULL, 10) : (uint64_t)json_integer_value(number);
}

/* Turns the objects that stand for numbers into numbers. */
static void unmark_numbers(char* text)
{
    const size_t length = sizeof(number_mark) - 1;
    char* to = text;
    while (*text != '\0') {
        if (strncmp(text, number_mark, length) == 0) {
            text += length;
            while (*text != '"') {
                *to++ = *text++;
            }
            text += 2; /* the quote and the brace */
        } else {
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
    char printable[16384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, "maar: %s\n", tool_printable(line, printable, sizeof(printable)));
}

const char* tool_printable(const char* text, char* buffer, size_t size)
{
    size_t used = 0;
    for (; *text != '\0' && used + 5 < size; ++text) {
        const unsigned char byte = (unsigned char)*text;
        if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
            used += (size_t)snprintf(buffer + used, size - used, "\\x%02X", byte);
        } else {
            buffer[used++] = *text;
        }
    }
    buffer[used] = '\0';
    return buffer;
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

/* Writes the nearest long option. */
static const char* guess_option(const char* text, const struct option* options, char* buffer,
                                size_t size)
{
    char typed[TOOL_GUESS_LENGTH + 1];
    snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(text, "="), text);
    struct tool_guess guess = {.typed = typed + strspn(typed, "-")};
    for (; options->name != NULL; ++options) {
        tool_guess_offer(&guess, options->name);
    }
    return tool_guess_text(&guess, "--", buffer, size);
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
        char meant[160];
        tool_complain("%s: unrecognized option '%s'%s; see maar %s --help", command, text,
                      guess_option(text, options, meant, sizeof(meant)), command);
    } else {
        tool_complain("%s: option '%s' %s; see maar %s --help", command, text, problem, command);
    }
}
