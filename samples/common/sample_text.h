/*
 * Common parts of the samples' command lines: exit codes, error messages, options, numbers.
 */
#ifndef MAAR_SAMPLE_TEXT_H
#define MAAR_SAMPLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exit codes. */
enum {
    SAMPLE_EXIT_OK = 0,
    SAMPLE_EXIT_FAILED = 1,  /* a failure: a check failed, or a layer reported a message */
    SAMPLE_EXIT_USAGE = 2,   /* wrong arguments */
    SAMPLE_EXIT_SKIPPED = 77 /* this machine has no suitable device or layer */
};

/* The program's name, with which its messages begin. Each program defines it. */
extern const char sample_name[];

/* Prints one line on stderr. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void sample_complain(const char* format, ...);
/* Returns whether memory was allocated, and complains if not. */
bool sample_has_memory(const void* memory);

/* Returns the exit code of the program: `code`, or another one if the output cannot be written. */
int sample_end(int code);

/* An option without a value. It sets a flag to true. */
struct sample_switch {
    const char* name;
    bool* value;
};

/* The options of a program, beside --help. */
struct sample_command_line {
    const char* usage;
    const struct sample_switch* switches;
    size_t switch_count;
    /* Parses an option with its value. Prints an error and returns false if the value is wrong. */
    bool (*parse)(void* options, const char* name, const char* value);
    void* options;
};

/* Parses a command line. Returns false if the program must end with *exit_code; an error has then
 * been printed. */
bool sample_parse_command_line(const struct sample_command_line* line, int argc, char** argv,
                               int* exit_code);

/* Prints an error about an unknown option. Returns false, so that a parse function can return the
 * result. */
bool sample_reject_option(const char* name);

/* Parse the value of an option: a number in [least, most], or WIDTHxHEIGHT. */
bool sample_parse_count(const char* name, const char* text, uint32_t least, uint32_t most,
                        uint32_t* value);
bool sample_parse_extent(const char* name, const char* text, uint32_t* width, uint32_t* height);

/* Returns whether the value of --device names a simulated device: SAMPLE_SIMULATED with a profile.
 */
#define SAMPLE_SIMULATED "simulated:"
bool sample_is_simulated(const char* device);

/* Reads digits from *text and moves it behind them. Returns false if no digit exists or the number
 * is not in [least, most]. */
bool sample_parse_number(const char** text, uint32_t least, uint32_t most, uint32_t* value);

#endif
