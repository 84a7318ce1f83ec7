/*
 * Small things that every part of the command uses: sizes as people write and read them, time, and
 * messages to standard error. Safe from any thread.
 */
#ifndef MAAR_TOOL_TEXT_H
#define MAAR_TOOL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What the process returns. */
enum tool_exit {
    TOOL_EXIT_OK = 0,
    TOOL_EXIT_FAILED = 1, /* something did not match, failed, or was complained about */
    TOOL_EXIT_USAGE = 2,  /* wrong arguments, malformed input, no such device or layer */
};

/* Bytes of an input's name, its end included. */
#define TOOL_NAME_SIZE 256u

/* Parses a decimal number with an optional suffix: B, KiB, MiB, GiB, TiB, or K, M, G, T alike. */
bool tool_parse_size(const char* text, uint64_t* out);

/* Parses a decimal number that fits 32 bits. */
bool tool_parse_number(const char* text, uint32_t* out);

/* Writes bytes with three significant digits and a unit; returns buffer. */
const char* tool_format_size(uint64_t bytes, char* buffer, size_t size);

/* A file's name with "-PART" before its suffix; as it is when the part is empty. */
void tool_name_file(const char* path, const char* part, char* out, size_t size);

/* Whether an option names a file at all; complains if not. path may be NULL: not given. */
bool tool_check_named(const char* option, const char* path);

/* Writes the name of an input without its folder and suffixes. */
typedef void (*tool_take_name)(const char* path, char name[TOOL_NAME_SIZE]);

/* Whether the inputs' names keep files apart that are written for each of them; complains if not.
 * path is what the option says, or NULL. */
bool tool_check_apart(const char* option, const char* path, char** inputs, int count,
                      tool_take_name take_name);

/* Whether a file could be written there, as far as can be told without trying; complains if not. */
bool tool_check_path(const char* path);

/* Monotonic time. */
uint64_t tool_now_ns(void);

struct json_t;

/* A number of 64 bits, which the JSON library has not, for tool_print_json; and back. */
struct json_t* tool_json_number(uint64_t value);
uint64_t tool_json_value(const struct json_t* number);
bool tool_json_is_number(const struct json_t* value);

/* Prints an object as one line of standard output, and releases it; false when that fails. */
bool tool_print_json(struct json_t* object);

struct option;

/*
 * Complains about what getopt_long refused: result is '?' or ':' of a command's own options, whose
 * values are above 255. Needs opterr 0 and short options that begin with a colon.
 */
void tool_complain_option(const char* command, int result, char** argv,
                          const struct option* options);

/* "maar: " and a line to standard error. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void tool_complain(const char* format, ...);

#endif
