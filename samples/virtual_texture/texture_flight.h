/*
 * The flight: frame after frame, with what is counted, measured and kept of each.
 */
#ifndef MAAR_SAMPLE_TEXTURE_FLIGHT_H
#define MAAR_SAMPLE_TEXTURE_FLIGHT_H

#include "texture_reference.h"

#define TEXTURE_MAX_PICTURES 10u

/* One frame. */
struct texture_frame {
    VkDeviceSize resident;  /* bytes of pages, bound or about to be, when it was submitted */
    VkDeviceSize held;      /* of pages whose unbinding was not submitted yet */
    VkDeviceSize blocks;    /* bytes of page blocks */
    uint32_t wanted_tiles;  /* by the cache's count, */
    uint32_t visible_tiles; /* and those of them that were there */
    uint32_t asked;         /* pixels that asked for a tile in this frame, */
    uint32_t satisfied;     /* and whose own level was there */
    uint32_t uploads;       /* started */
    uint32_t evictions;
    uint32_t binds; /* pages bound and unbound */
    uint32_t bind_submissions;
    uint32_t submissions;  /* of all kinds */
    double tile_seconds;   /* on the host, in calls that concern tiles */
    double device_seconds; /* that drawing took on the device; 0 when nobody knows */
    double seconds;        /* from the frame before to this one, on the host */
    bool waited;           /* its submission waited for tile work that was not done */
};

/* A whole flight. */
struct texture_flight {
    struct sample_device* device;
    const struct texture_options* options;
    struct texture_stream stream;
    struct texture_view view;
    struct texture_frame* frames;
    uint32_t frame_count;
    struct texture_picture pictures[TEXTURE_MAX_PICTURES]; /* the last two are the last frame, the
                                                              second time coloured by level */
    uint32_t picture_count;
    /* Sums and extremes, once it has been flown. */
    MaarTileCacheInfo cache;
    MaarPagingStatistics paging;
    uint64_t over_budget; /* frames */
    uint64_t waits;       /* frames that waited for tile work */
    uint64_t late;        /* uploads not done when the frame after them was */
    uint64_t stalls;      /* frames in which tiles took longer than any frame takes to draw */
    double longest_tile_seconds;
    double longest_device_seconds;
    double seconds;
};

/* Creates what is needed. Complains and returns an exit code unless all is well. */
int texture_flight_prepare(struct texture_flight* flight, struct sample_device* device,
                           const struct texture_options* options);

/* Draws all frames. */
bool texture_flight_fly(struct texture_flight* flight);

/* Frees everything, the device's allocator as well. */
void texture_flight_end(struct texture_flight* flight);

#endif
