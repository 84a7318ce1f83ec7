/*
 * What the samples' command lines have in common: exit codes, complaints, options, numbers.
 */
#ifndef MAAR_SAMPLE_TEXT_H
#define MAAR_SAMPLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes. */
enum {
    SAMPLE_EXIT_OK = 0,
    SAMPLE_EXIT_FAILED = 1,  /* something is wrong: a check has failed, or a layer has spoken */
    SAMPLE_EXIT_USAGE = 2,   /* arguments */
    SAMPLE_EXIT_SKIPPED = 77 /* this machine has no device or layer that can do it */
};

/* The program's name, which begins its messages; each program defines it. */
extern const char sample_name[];

/* One line to stderr. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void sample_complain(const char* format, ...);

/* What a program returns that ends with this code: another one if its output cannot be written. */
int sample_end(int code);

/* An option without a value, which becomes true. */
struct sample_switch {
    const char* name;
    bool* value;
};

/* What a program understands, beside --help. */
struct sample_command_line {
    const char* usage;
    const struct sample_switch* switches;
    size_t switch_count;
    /* An option with its value. False when that is wrong, having said why. */
    bool (*parse)(void* options, const char* name, const char* value);
    void* options;
};

/* False when the program is to end now with *exit_code, having said why. */
bool sample_parse_command_line(const struct sample_command_line* line, int argc, char** argv,
                               int* exit_code);

/* What a parse function returns of a name that it does not know: false. */
bool sample_refuse_option(const char* name);

/* The value of an option: a number in [least, most], or WIDTHxHEIGHT. */
bool sample_parse_count(const char* name, const char* text, uint32_t least, uint32_t most,
                        uint32_t* value);
bool sample_parse_extent(const char* name, const char* text, uint32_t* width, uint32_t* height);

/* Reads digits from *text, which is moved behind them. False when there are none, or when the
 * number is not in [least, most]. */
bool sample_parse_number(const char** text, uint32_t least, uint32_t most, uint32_t* value);

#endif
