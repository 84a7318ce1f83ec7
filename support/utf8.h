/*
 * UTF-8 in texts of any bytes. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_UTF8_H
#define MAAR_SUPPORT_UTF8_H

#include <stddef.h>

/* Returns the length of the UTF-8 sequence at a text that is not empty, or 0 if the bytes are none.
 */
size_t support_utf8_length(const char* text);

#endif
