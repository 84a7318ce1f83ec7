/*
 * The writers of a dump: each turns a snapshot into JSON of one schema.
 */
#ifndef MAAR_CORE_WATCH_DUMP_H
#define MAAR_CORE_WATCH_DUMP_H

#include "core/watch/dump_snapshot.h"
#include "core/watch/json_writer.h"

/* VulkanMemoryAllocator's schema. */
void maar_dump_write_vma(const struct maar_dump_snapshot* snapshot, struct maar_json* json);

/* An array of the flags' names without their prefixes; unknown bits as one hexadecimal number. */
void maar_dump_heap_flags(struct maar_json* json, VkMemoryHeapFlags flags);
void maar_dump_type_flags(struct maar_json* json, VkMemoryPropertyFlags flags);
/* The string "major.minor.patch". */
void maar_dump_version(struct maar_json* json, uint32_t version);

#endif
