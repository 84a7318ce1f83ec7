/*
 * A dump in VulkanMemoryAllocator's schema. maarWriteDump calls this file.
 */
#ifndef MAAR_CORE_WATCH_DUMP_VMA_H
#define MAAR_CORE_WATCH_DUMP_VMA_H

#include "core/watch/dump_snapshot.h"
#include "core/watch/json_writer.h"

/* Writes a detailed snapshot as one JSON object. */
void maar_dump_write_vma(const struct maar_dump_snapshot* snapshot, struct maar_json* json);

#endif
