/*
 * The texture and the tiles of it that are there: a partially resident image, the cache that
 * decides about its tiles, a loader that fills them, and the submissions that bind and upload them.
 * Nothing here waits for the device or the loader, but texture_stream_destroy for the loader.
 *
 * A frame: texture_stream_update, then the frame's own submission, then texture_stream_upload.
 */
#ifndef MAAR_SAMPLE_TEXTURE_STREAM_H
#define MAAR_SAMPLE_TEXTURE_STREAM_H

#include "maar/tile_cache.h"
#include "sample_device.h"
#include "texture_loader.h"
#include "texture_options.h"

#include <stddef.h>

/* Command buffers of uploads. One more than frames in flight: uploads of a frame are submitted
 * after the frame itself. */
#define TEXTURE_UPLOAD_SLOTS 4u
#define TEXTURE_MAX_UPLOADS 64u /* that an update may start, and that a frame records */

struct texture_stream {
    struct sample_device* device;
    uint32_t texture; /* texels in x and in y */
    MaarPool pool;    /* of its pages */
    MaarSparseImage image;
    MaarSparseImageInfo info;
    VkImageView view;
    VkDeviceSize texture_bytes; /* of all levels, were they all there */
    VkDeviceSize budget;        /* that the checks know */
    MaarTileCache cache;
    struct texture_loader* loader;
    uint32_t loading; /* tiles that the loader has */
    uint8_t* levels;  /* what may be sampled, tile by tile of level 0 */
    uint32_t level_count;
    MaarPoint bound; /* of the last binds */
    VkCommandPool command_pool;
    VkCommandBuffer commands[TEXTURE_UPLOAD_SLOTS];
    uint64_t values[TEXTURE_UPLOAD_SLOTS]; /* of the timeline, when the slot is free again */
    VkQueryPool queries; /* two timestamps an upload submission; null without any. Read in the end:
                            drivers may wait for the device to read one. */
    VkSemaphore timeline;
    uint64_t value;        /* that the last uploads signal */
    uint64_t late_uploads; /* a slot was still in use: it should have been free for a frame */
    double longest_upload; /* seconds on the device */
};

/* Makes it, without any tile. Complains and returns an exit code unless all is well. */
int texture_stream_create(struct texture_stream* stream, struct sample_device* device,
                          const struct texture_options* options);

/* Returns its timeline, which must outlive the allocator. */
VkSemaphore texture_stream_destroy(struct texture_stream* stream);

/* Tells the cache what was asked for, and binds what it decides after `last_frame`. budget: 0: as
 * before. Afterwards stream->levels says what frames may sample. */
bool texture_stream_update(struct texture_stream* stream, uint32_t request_count,
                           const uint32_t* requests, VkDeviceSize budget,
                           const MaarPoint* last_frame);

/* Uploads what has been filled. Its point is {stream->timeline, stream->value}. */
bool texture_stream_upload(struct texture_stream* stream);

/* Finds longest_upload, once the device is idle. */
void texture_stream_measure(struct texture_stream* stream);

/* Seconds between two timestamps of a pool; 0 when they are not there. */
double texture_seconds_between(const struct sample_device* device, VkQueryPool queries,
                               uint32_t first);

#endif
