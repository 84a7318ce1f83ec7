/*
 * What the samples' command lines have in common: exit codes, complaints, numbers.
 */
#ifndef MAAR_SAMPLE_TEXT_H
#define MAAR_SAMPLE_TEXT_H

#include <stdbool.h>
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

/* Reads digits from *text, which is moved behind them. False when there are none, or when the
 * number is not in [least, most]. */
bool sample_parse_number(const char** text, uint32_t least, uint32_t most, uint32_t* value);

/* WIDTHxHEIGHT, each from 64 to 16384. */
bool sample_parse_size(const char* text, uint32_t* width, uint32_t* height);

#endif
