/*
 * The flight: all frames, with the counts, times and pictures of each.
 */
#ifndef MAAR_SAMPLE_TEXTURE_FLIGHT_H
#define MAAR_SAMPLE_TEXTURE_FLIGHT_H

#include "texture_reference.h"

#define TEXTURE_MAX_PICTURES 10u

/* One frame. */
struct texture_frame {
    VkDeviceSize resident;  /* bytes of pages that are bound or about to be bound, at submission */
    VkDeviceSize held;      /* bytes of pages whose unbinding has not been submitted */
    VkDeviceSize blocks;    /* bytes of page blocks */
    uint32_t wanted_tiles;  /* by the cache's count */
    uint32_t visible_tiles; /* the resident ones of these */
    uint32_t asked;         /* pixels that requested a tile in this frame */
    uint32_t satisfied;     /* those of them whose own level was resident */
    uint32_t uploads;       /* started uploads */
    uint32_t evictions;
    uint32_t binds; /* bound and unbound pages */
    uint32_t bind_submissions;
    uint32_t submissions;  /* of all kinds */
    double tile_seconds;   /* host time in calls that concern tiles */
    double device_seconds; /* device time of drawing; 0 if unknown */
    double seconds;        /* host time from the previous frame to this one */
    bool waited;           /* its submission waited for unfinished tile work */
};

/* A whole flight. */
struct texture_flight {
    struct sample_device* device;
    const struct texture_options* options;
    struct texture_stream stream;
    struct texture_view view;
    struct texture_frame* frames;
    uint32_t frame_count;
    struct texture_picture pictures[TEXTURE_MAX_PICTURES]; /* the last two show the last frame; the
                                                              second of them is coloured by level */
    uint32_t picture_count;
    /* Sums and extremes of the completed flight. */
    MaarTileCacheInfo cache;
    MaarPagingStatistics paging;
    uint64_t over_budget; /* frames */
    uint64_t waits;       /* frames that waited for tile work */
    uint64_t late;        /* uploads that ended after the next frame */
    uint64_t stalls;      /* frames whose tile work took longer than the drawing of any frame */
    double longest_tile_seconds;
    double longest_device_seconds;
    double seconds;
};

/* Creates the objects. Returns SAMPLE_EXIT_OK, or prints an error and returns another exit code. */
int texture_flight_prepare(struct texture_flight* flight, struct sample_device* device,
                           const struct texture_options* options);

/* Draws all frames. */
bool texture_flight_fly(struct texture_flight* flight);

/* Frees everything, including the device's allocator. */
void texture_flight_end(struct texture_flight* flight);

#endif
