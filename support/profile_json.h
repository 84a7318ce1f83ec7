/*
 * Typed access to the JSON of a profile. Every function names the field in its message when it
 * fails, and leaves what it should have filled as it was.
 */
#ifndef MAAR_SUPPORT_PROFILE_JSON_H
#define MAAR_SUPPORT_PROFILE_JSON_H

#include "support/readfile.h"

#include <jansson.h>
#include <stdint.h>

/* Where a message says that it happened. */
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

/* Parses text; integers of up to 64 bits without a sign are kept exact. NULL after an error. */
json_t* profile_json_parse(struct profile_source* source, const char* text, size_t size);

/* Says "name: path.key reason" and returns false. */
bool profile_fail(const struct profile_source* source, const char* path, const char* key,
                  const char* reason);

/* A member that is an object, or an array; NULL when absent. *good turns false on a wrong type or
 * when a required one is absent. */
json_t* profile_object(const struct profile_source* source, const char* path, const json_t* parent,
                       const char* key, enum profile_presence presence, bool* good);
json_t* profile_array(const struct profile_source* source, const char* path, const json_t* parent,
                      const char* key, enum profile_presence presence, bool* good);

/* An unsigned number up to max. *found, if not NULL, says whether it was there. */
bool profile_u64(const struct profile_source* source, const char* path, const json_t* parent,
                 const char* key, enum profile_presence presence, uint64_t max, uint64_t* value,
                 bool* found);
/* Zero or a power of two. */
bool profile_power(const struct profile_source* source, const char* path, const json_t* parent,
                   const char* key, uint64_t max, uint64_t* value);
bool profile_u32(const struct profile_source* source, const char* path, const json_t* parent,
                 const char* key, enum profile_presence presence, uint32_t* value);
/* A number in a string, as 0x1002. */
bool profile_hex(const struct profile_source* source, const char* path, const json_t* parent,
                 const char* key, uint32_t* value);
/* true, false, 1 or 0. */
bool profile_bool(const struct profile_source* source, const char* path, const json_t* parent,
                  const char* key, uint32_t* value);
/* A string that fits room bytes, its final zero included. */
bool profile_string(const struct profile_source* source, const char* path, const json_t* parent,
                    const char* key, enum profile_presence presence, char* value, size_t room);
/* An array of words, or-ed together. */
bool profile_flags(const struct profile_source* source, const char* path, const json_t* parent,
                   const char* key, const struct profile_word* words, size_t word_count,
                   uint32_t* value);

#endif
