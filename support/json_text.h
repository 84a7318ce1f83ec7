/*
 * Texts of any bytes as JSON strings. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_JSON_TEXT_H
#define MAAR_SUPPORT_JSON_TEXT_H

struct json_t;

/* Returns a JSON string for any text: bytes that are not UTF-8 become U+FFFD. NULL without memory.
 */
struct json_t* support_json_text(const char* text);

#endif
