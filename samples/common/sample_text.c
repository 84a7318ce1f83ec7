/*
 * Parses the samples' command lines; see sample_text.h.
 */
#include "sample_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sample_complain(const char* format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", sample_name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
}

bool sample_has_memory(const void* memory)
{
    if (memory == NULL) {
        sample_complain("out of memory");
    }
    return memory != NULL;
}

int sample_end(int code)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return code;
    }
    sample_complain("standard output cannot be written");
    return code == SAMPLE_EXIT_OK ? SAMPLE_EXIT_FAILED : code;
}

static bool* find_switch(const struct sample_command_line* line, const char* name)
{
    for (size_t i = 0; i < line->switch_count; ++i) {
        if (strcmp(line->switches[i].name, name) == 0) {
            return line->switches[i].value;
        }
    }
    return NULL;
}

bool sample_parse_command_line(const struct sample_command_line* line, int argc, char** argv,
                               int* exit_code)
{
    *exit_code = SAMPLE_EXIT_USAGE;
    for (int i = 1; i < argc; ++i) {
        bool* const value = find_switch(line, argv[i]);
        if (strcmp(argv[i], "--help") == 0) {
            printf("%s", line->usage);
            *exit_code = SAMPLE_EXIT_OK;
            return false;
        }
        if (value != NULL) {
            *value = true;
        } else if (i + 1 == argc) {
            sample_complain("%s: no such option, or its value is missing; see %s --help", argv[i],
                            sample_name);
            return false;
        } else if (!line->parse(line->options, argv[i], argv[i + 1])) {
            return false;
        } else {
            ++i;
        }
    }
    *exit_code = SAMPLE_EXIT_OK;
    return true;
}

bool sample_reject_option(const char* name)
{
    sample_complain("no such option: %s; see %s --help", name, sample_name);
    return false;
}

bool sample_is_simulated(const char* device)
{
    return strncmp(device, SAMPLE_SIMULATED, strlen(SAMPLE_SIMULATED)) == 0;
}

bool sample_parse_number(const char** text, uint32_t least, uint32_t most, uint32_t* value)
{
    char* end = NULL;
    if (**text < '0' || **text > '9') {
        return false;
    }
    const unsigned long number = strtoul(*text, &end, 10);
    *text = end;
    *value = (uint32_t)number;
    return number >= least && number <= most;
}

bool sample_parse_count(const char* name, const char* text, uint32_t least, uint32_t most,
                        uint32_t* value)
{
    const char* rest = text;
    if (!sample_parse_number(&rest, least, most, value) || *rest != '\0') {
        sample_complain("%s %s: expected %u to %u", name, text, least, most);
        return false;
    }
    return true;
}

bool sample_parse_extent(const char* name, const char* text, uint32_t* width, uint32_t* height)
{
    const char* rest = text;
    if (!sample_parse_number(&rest, 64, 16384, width) || *rest++ != 'x' ||
        !sample_parse_number(&rest, 64, 16384, height) || *rest != '\0') {
        sample_complain("%s %s: expected WIDTHxHEIGHT, each from 64 to 16384", name, text);
        return false;
    }
    return true;
}
