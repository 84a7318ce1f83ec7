/*
 * Makes a picture of an allocator's present state.
 */
#ifndef MAAR_TOOL_SNAPSHOT_H
#define MAAR_TOOL_SNAPSHOT_H

#include "tool_device.h"

#include "support/picture.h"

/*
 * Returns the kind of a live allocation by its user data, and writes a short label. Called for each
 * live range.
 */
typedef enum support_picture_kind (*tool_snapshot_describe)(void* context, void* user_data,
                                                            char* label, size_t size);

/* A page run of an allocation. The lists of blocks show pages without their owners. */
struct tool_snapshot_run {
    uint64_t block_id;
    VkDeviceSize offset;
    VkDeviceSize size;
    void* user_data;
};

struct tool_snapshot_runs {
    struct tool_snapshot_run* runs; /* sorted by tool_snapshot_take */
    size_t count;
};

/* Fills in the blocks of a picture and leaves the title and the subtitle. `runs` may be NULL.
 * Returns false when out of memory. */
bool tool_snapshot_take(const struct tool_device* tool, MaarAllocator allocator,
                        tool_snapshot_describe describe, void* context,
                        struct tool_snapshot_runs* runs, struct support_picture* picture);

#endif
