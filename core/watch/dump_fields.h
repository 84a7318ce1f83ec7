/*
 * The members of objects that both schemas of a dump write: a key and its value.
 */
#ifndef MAAR_CORE_WATCH_DUMP_FIELDS_H
#define MAAR_CORE_WATCH_DUMP_FIELDS_H

#include <vulkan/vulkan_core.h>

#include "core/watch/json_writer.h"

/* A key and its number. */
struct maar_dump_field {
    const char* key;
    uint64_t number;
};

void maar_dump_begin_object(struct maar_json* json, const char* key);
void maar_dump_begin_array(struct maar_json* json, const char* key);
void maar_dump_uint(struct maar_json* json, const char* key, uint64_t number);
/* Writes several numbers. A field whose key is NULL ends the list. */
void maar_dump_uints(struct maar_json* json, const struct maar_dump_field* fields);
void maar_dump_real(struct maar_json* json, const char* key, double number);
void maar_dump_hex(struct maar_json* json, const char* key, uint64_t number);
void maar_dump_bool(struct maar_json* json, const char* key, bool truth);
void maar_dump_string(struct maar_json* json, const char* key, const char* text);
/* Write an array of the names of flags, without their prefixes and without BIT. Bits that have no
 * name become one hexadecimal string. */
void maar_dump_heap_flags(struct maar_json* json, const char* key, VkMemoryHeapFlags flags);
void maar_dump_type_flags(struct maar_json* json, const char* key, VkMemoryPropertyFlags flags);
/* Writes the string "major.minor.patch". */
void maar_dump_version(struct maar_json* json, const char* key, uint32_t version);

#endif
