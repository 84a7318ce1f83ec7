/*
 * Command lines of samples; see sample_text.h.
 */
#include "sample_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sample_complain(const char* format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", sample_name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
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

bool sample_parse_size(const char* text, uint32_t* width, uint32_t* height)
{
    return sample_parse_number(&text, 64, 16384, width) && *text++ == 'x' &&
           sample_parse_number(&text, 64, 16384, height) && *text == '\0';
}
