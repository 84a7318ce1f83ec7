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

/* Parses a decimal number with an optional suffix: B, KiB, MiB, GiB, TiB, or K, M, G, T alike. */
bool tool_parse_size(const char* text, uint64_t* out);

/* Parses a decimal number that fits 32 bits. */
bool tool_parse_number(const char* text, uint32_t* out);

/* Writes bytes with three significant digits and a unit; returns buffer. */
const char* tool_format_size(uint64_t bytes, char* buffer, size_t size);

/* A file's name with "-PART" before its suffix; as it is when the part is empty. */
void tool_name_file(const char* path, const char* part, char* out, size_t size);

/* Whether a file could be written there, as far as can be told without trying; complains if not. */
bool tool_check_path(const char* path);

/* Monotonic time. */
uint64_t tool_now_ns(void);

struct json_t;

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
