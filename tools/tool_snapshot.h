/*
 * What an allocator holds now, as a picture.
 */
#ifndef MAAR_TOOL_SNAPSHOT_H
#define MAAR_TOOL_SNAPSHOT_H

#include "tool_device.h"

#include "support/picture.h"

/*
 * Says what a live allocation is, by its user data, and writes a short label. Called for each live
 * range.
 */
typedef enum support_picture_kind (*tool_snapshot_describe)(void* context, void* user_data,
                                                            char* label, size_t size);

/* Fills the blocks of a picture; title and subtitle stay. False when out of memory. */
bool tool_snapshot_take(const struct tool_device* tool, MaarAllocator allocator,
                        tool_snapshot_describe describe, void* context,
                        struct support_picture* picture);

#endif
