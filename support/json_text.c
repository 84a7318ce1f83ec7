/*
 * Texts of any bytes as JSON strings.
 */
#include "support/json_text.h"
#include "support/utf8.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

json_t* support_json_text(const char* text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    char* const clean = malloc(3 * strlen(text) + 1);
    if (clean == NULL) {
        return NULL;
    }
    char* to = clean;
    while (*text != '\0') {
        const size_t length = support_utf8_length(text);
        memcpy(to, length != 0 ? text : replacement, length != 0 ? length : 3);
        to += length != 0 ? length : 3;
        text += length != 0 ? length : 1;
    }
    *to = '\0';
    json_t* const string = json_string(clean);
    free(clean);
    return string;
}
