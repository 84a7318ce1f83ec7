/*
 * Helpers for every part of the command: sizes as text, time, and messages on standard error. Safe
 * from any thread.
 */
#ifndef MAAR_TOOL_TEXT_H
#define MAAR_TOOL_TEXT_H

#include "support/svg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The exit codes of the process. */
enum tool_exit {
    TOOL_EXIT_OK = 0,
    TOOL_EXIT_FAILED = 1, /* a mismatch, a failure or a message */
    TOOL_EXIT_USAGE = 2,  /* wrong arguments, malformed input, no such device or layer */
};

/* The bytes of an input's name, including the terminating zero. */
#define TOOL_NAME_SIZE 256u

/* What is found in the text of a number. */
enum tool_number {
    TOOL_NUMBER_GOOD,
    TOOL_NUMBER_MALFORMED,
    TOOL_NUMBER_TOO_LARGE, /* a number, and above the allowed range */
};

/* Reads a decimal number with an optional suffix: B, KiB, MiB, GiB, TiB, or K, M, G, T with the
 * same meaning. Numbers with a suffix above B may have a fraction, of which whole bytes count. Sets
 * *out to a good number, or else to 0. */
enum tool_number tool_read_size(const char* text, uint64_t* out);

/* Reads a decimal number of at most `most`. Sets *out to a good number, or else to 0. */
enum tool_number tool_read_number(const char* text, uint64_t most, uint64_t* out);

/* Prints an error for the number of an option: "expected" and what is expected, or the most that is
 * allowed. */
void tool_complain_number(const char* option, const char* text, enum tool_number number,
                          const char* expected, uint64_t most);

/* Prints an error for an option that expects one of some words, with the nearest word. */
void tool_complain_word(const char* option, const char* text, const char* expected,
                        const char* const* words, size_t count);

/* Parse a size, and a number that fits 32 bits. Return false for a malformed or too large one. */
bool tool_parse_size(const char* text, uint64_t* out);
bool tool_parse_number(const char* text, uint32_t* out);

/* Writes a number of bytes with three significant digits and a unit. Returns `buffer`. */
const char* tool_format_size(uint64_t bytes, char* buffer, size_t size);

/* Writes a file's name with "-PART" before its suffix, or unchanged when the part is empty. */
void tool_name_file(const char* path, const char* part, char* out, size_t size);

/* Parses the argument of --theme. Prints an error and returns false for an unknown one. */
bool tool_parse_theme(const char* text, enum support_svg_theme* theme);

/* Returns whether an option names a file, and prints an error if not. `path` is NULL if the option
 * is absent. */
bool tool_check_named(const char* option, const char* path);

/* Writes the name of an input without its folder and suffixes. */
typedef void (*tool_take_name)(const char* path, char name[TOOL_NAME_SIZE]);

/* Returns whether the inputs' names distinguish the files that are written for each input, and
 * prints an error if not. `path` is the option's argument, or NULL. */
bool tool_check_apart(const char* option, const char* path, char** inputs, int count,
                      tool_take_name take_name);

/* Returns whether an output is another file than an input, and prints an error if not. Each path
 * may be NULL. */
bool tool_check_not_input(const char* option, const char* path, const char* input);

/* Returns whether two outputs are different files, however their paths are spelled, and prints an
 * error if not. Each path may be NULL or empty. A device, for example /dev/null, may serve both. */
bool tool_check_two_outputs(const char* option, const char* path, const char* other_option,
                            const char* other);

/* Returns whether a file can probably be written at a path, and prints an error if not. Does not
 * write. */
bool tool_check_path(const char* path);

/* Returns monotonic time. */
uint64_t tool_now_ns(void);

struct json_t;

/* Convert a 64-bit number, which the JSON library does not support, for tool_print_json() and
 * back. */
struct json_t* tool_json_number(uint64_t value);
uint64_t tool_json_value(const struct json_t* number);
bool tool_json_is_number(const struct json_t* value);

/* Prints an object as one line on standard output and releases it. Returns false on failure. */
bool tool_print_json(struct json_t* object);

struct option;

/*
 * Prints an error for a wrong option. `result` is the '?' or ':' of getopt_long(), whose options
 * have values above 255. Requires `opterr` 0 and short options that begin with a colon.
 */
void tool_complain_option(const char* command, int result, char** argv,
                          const struct option* options);

/* Returns a copy of a text for a terminal, in `buffer`: control characters become "\xNN". */
const char* tool_printable(const char* text, char* buffer, size_t size);

/* Prints "maar: " and a line on standard error, with control characters as "\xNN". */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void tool_complain(const char* format, ...);

#endif
