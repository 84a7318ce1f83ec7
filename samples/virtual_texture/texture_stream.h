/*
 * The texture and its resident tiles: a partially resident image, the cache that chooses its tiles,
 * a loader that fills them, and the submissions that bind and upload them. Only
 * texture_stream_destroy() waits, for the loader. No other function waits for the device or the
 * loader.
 *
 * A frame calls texture_stream_update(), then submits its own work, then calls
 * texture_stream_upload().
 */
#ifndef MAAR_SAMPLE_TEXTURE_STREAM_H
#define MAAR_SAMPLE_TEXTURE_STREAM_H

#include "maar/tile_cache.h"
#include "sample_device.h"
#include "texture_loader.h"
#include "texture_options.h"

#include <stddef.h>

/* The command buffers of uploads: one more than frames in flight, since the uploads of a frame are
 * submitted after the frame itself. */
#define TEXTURE_UPLOAD_SLOTS 4u
#define TEXTURE_MAX_UPLOADS 64u /* most uploads that an update starts and a frame records */

struct texture_stream {
    struct sample_device* device;
    uint32_t texture; /* texels in x and in y */
    MaarPool pool;    /* for its pages */
    MaarSparseImage image;
    MaarSparseImageInfo info;
    VkImageView view;
    VkDeviceSize texture_bytes; /* of all levels, if all were resident */
    VkDeviceSize budget;        /* the budget of the checks */
    MaarTileCache cache;
    struct texture_loader* loader;
    uint32_t loading; /* tiles in the loader */
    uint8_t* levels;  /* the levels that may be sampled, for each tile of level 0 */
    uint32_t level_count;
    MaarPoint bound; /* point of the last binds */
    VkCommandPool command_pool;
    VkCommandBuffer commands[TEXTURE_UPLOAD_SLOTS];
    uint64_t values[TEXTURE_UPLOAD_SLOTS]; /* the timeline's value at which the slot becomes free */
    VkQueryPool queries; /* two timestamps for each upload submission; null if unsupported. They are
                            read at the end, since reading one may wait for the device. */
    VkSemaphore timeline;
    uint64_t value;        /* value that the last uploads signal */
    uint64_t late_uploads; /* times that a slot was still in use one frame too late */
    double longest_upload; /* seconds on the device */
};

/* Creates a stream without tiles. Returns SAMPLE_EXIT_OK, or prints an error and returns another
 * exit code. */
int texture_stream_create(struct texture_stream* stream, struct sample_device* device,
                          const struct texture_options* options);

/* Destroys a stream. Returns its timeline, which must outlive the allocator. */
VkSemaphore texture_stream_destroy(struct texture_stream* stream);

/* Passes requests to the cache, and submits the binds that the cache decides, after `last_frame`.
 * With `budget` 0 the budget stays. Afterwards stream->levels contains the levels that frames may
 * sample. */
bool texture_stream_update(struct texture_stream* stream, uint32_t request_count,
                           const uint32_t* requests, VkDeviceSize budget,
                           const MaarPoint* last_frame);

/* Uploads the filled tiles. The point of the upload is {stream->timeline, stream->value}. */
bool texture_stream_upload(struct texture_stream* stream);

/* Computes longest_upload. The device must be idle. */
void texture_stream_measure(struct texture_stream* stream);

/* Returns the seconds between two timestamps of a pool; 0 if they are not available. */
double texture_seconds_between(const struct sample_device* device, VkQueryPool queries,
                               uint32_t first);

#endif
