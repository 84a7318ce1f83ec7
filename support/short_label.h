/*
 * Shortens names so that they fit and still differ from one another.
 */
#ifndef MAAR_SUPPORT_SHORT_LABEL_H
#define MAAR_SUPPORT_SHORT_LABEL_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the name with this index. */
typedef const char* (*support_name_of)(const void* context, size_t index);

/*
 * Writes a name, or a part of it with an ellipsis, that is at most `room` wide in a font of this
 * size. No other name of the list could be shortened to the same text. Returns false, and writes an
 * empty text, if this is impossible.
 */
bool support_shorten_label(const char* name, double room, double font_size, support_name_of name_of,
                           const void* context, size_t count, char* out, size_t size);

#endif
