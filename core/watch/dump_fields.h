/*
 * The values that both schemas of a dump have.
 */
#ifndef MAAR_CORE_WATCH_DUMP_FIELDS_H
#define MAAR_CORE_WATCH_DUMP_FIELDS_H

#include <vulkan/vulkan_core.h>

#include "core/watch/json_writer.h"

/* Write an array of the flags' names without their prefixes, and unknown bits as one hexadecimal
 * number. */
void maar_dump_heap_flags(struct maar_json* json, VkMemoryHeapFlags flags);
void maar_dump_type_flags(struct maar_json* json, VkMemoryPropertyFlags flags);
/* Writes the string "major.minor.patch". */
void maar_dump_version(struct maar_json* json, uint32_t version);

#endif
