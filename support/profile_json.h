/*
 * Typed access to the JSON of a profile. A failing function names the field in its message and
 * leaves its output unchanged.
 */
#ifndef MAAR_SUPPORT_PROFILE_JSON_H
#define MAAR_SUPPORT_PROFILE_JSON_H

#include "support/readfile.h"

#include <jansson.h>
#include <stdint.h>

/* The place that messages name. */
struct profile_source {
    const char* name;
    struct support_error* error;
};

enum profile_presence {
    PROFILE_OPTIONAL,
    PROFILE_REQUIRED,
};

struct profile_word {
    const char* word;
    uint32_t value;
};

/* Parses text. Integers of up to 64 bits without a sign stay exact. Returns NULL after an error. */
json_t* profile_json_parse(struct profile_source* source, const char* text, size_t size);

/* Sets the error "name: path.key reason" and returns false. */
bool profile_fail(const struct profile_source* source, const char* path, const char* key,
                  const char* reason);

/* Returns a member that is an object, or an array; NULL when absent. Sets *good to false if the
 * type is wrong or a required member is absent. */
json_t* profile_object(const struct profile_source* source, const char* path, const json_t* parent,
                       const char* key, enum profile_presence presence, bool* good);
json_t* profile_array(const struct profile_source* source, const char* path, const json_t* parent,
                      const char* key, enum profile_presence presence, bool* good);

/* Reads an unsigned number up to `max`. If `found` is not NULL, *found becomes whether the number
 * is present. */
bool profile_u64(const struct profile_source* source, const char* path, const json_t* parent,
                 const char* key, enum profile_presence presence, uint64_t max, uint64_t* value,
                 bool* found);
/* Reads zero or a power of two. */
bool profile_power(const struct profile_source* source, const char* path, const json_t* parent,
                   const char* key, uint64_t max, uint64_t* value);
bool profile_u32(const struct profile_source* source, const char* path, const json_t* parent,
                 const char* key, enum profile_presence presence, uint32_t* value);
/* Reads a number in a string, such as "0x1002". */
bool profile_hex(const struct profile_source* source, const char* path, const json_t* parent,
                 const char* key, uint32_t* value);
/* Reads true, false, 1 or 0. */
bool profile_bool(const struct profile_source* source, const char* path, const json_t* parent,
                  const char* key, uint32_t* value);
/* Reads a string that fits `room` bytes, including its final zero. */
bool profile_string(const struct profile_source* source, const char* path, const json_t* parent,
                    const char* key, enum profile_presence presence, char* value, size_t room);
/* Reads an array of words and combines their bits. */
bool profile_flags(const struct profile_source* source, const char* path, const json_t* parent,
                   const char* key, const struct profile_word* words, size_t word_count,
                   uint32_t* value);

#endif
