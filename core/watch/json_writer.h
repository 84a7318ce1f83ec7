/*
 * Writes JSON text into a buffer, or only counts its bytes. Containers, keys and values are written
 * in order. A call out of order (a value without a key in an object, an end that does not fit,
 * nesting too deep) marks the text as malformed, and everything after it is dropped. A writer needs
 * no host memory and takes no lock. Its text does not depend on the locale. One thread uses a
 * writer at a time.
 */
#ifndef MAAR_CORE_WATCH_JSON_WRITER_H
#define MAAR_CORE_WATCH_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Deepest nesting of containers. */
enum { MAAR_JSON_MAX_DEPTH = 16 };

/* A writer. */
struct maar_json {
    char* out;       /* NULL: count only */
    size_t capacity; /* bytes at out */
    size_t length;   /* bytes of the text so far, written or not */
    uint32_t depth;
    uint32_t object_bits; /* for each depth: an object, not an array */
    uint32_t inline_bits; /* for each depth: on one line */
    uint32_t filled_bits; /* for each depth: has a value already */
    bool has_key;         /* a key waits for its value */
    bool done;            /* the one value of the text is complete */
    bool malformed;
};

/* Begins a text. */
void maar_json_begin(struct maar_json* json, char* out, size_t capacity);
/* Ends the text with a newline and a terminating zero byte. Returns its size with the zero byte, or
 * 0 if the text is malformed or unfinished. At most capacity bytes were written: if the size is
 * above the capacity, the text is incomplete. */
size_t maar_json_end(struct maar_json* json);

/* Begin and end containers. is_inline: writes the container, and all containers in it, on one
 * line. */
void maar_json_begin_object(struct maar_json* json, bool is_inline);
void maar_json_end_object(struct maar_json* json);
void maar_json_begin_array(struct maar_json* json, bool is_inline);
void maar_json_end_array(struct maar_json* json);

/* Writes a key. */
void maar_json_key(struct maar_json* json, const char* key);
/* Writes the key "<prefix><number>". */
void maar_json_key_number(struct maar_json* json, const char* prefix, uint64_t number);

/* Writes a string. Bytes that are not UTF-8 become U+FFFD. NULL becomes the empty string. */
void maar_json_string(struct maar_json* json, const char* text);
/* Writes the string "<number><separator><text>", or "<number>" when text is NULL. */
void maar_json_numbered_string(struct maar_json* json, uint64_t number, const char* separator,
                               const char* text);
/* Writes the string "0x<digits>". */
void maar_json_hex_string(struct maar_json* json, uint64_t number);
/* Writes a number. */
void maar_json_uint(struct maar_json* json, uint64_t number);
/* Writes the shortest text that reads back as the same number, or null for a number that is not
 * finite. */
void maar_json_real(struct maar_json* json, double number);
/* Writes true or false. */
void maar_json_bool(struct maar_json* json, bool truth);

/* Turns a number that the C library printed into JSON: the decimal separator of the locale becomes
 * a point. Works in place and returns the length. Does not write a terminating zero byte. */
size_t maar_json_neutral_number(char* text);

#endif
