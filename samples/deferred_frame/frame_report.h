/*
 * Prints the results of the program, as text or as one line of JSON.
 */
#ifndef MAAR_SAMPLE_FRAME_REPORT_H
#define MAAR_SAMPLE_FRAME_REPORT_H

#include "frame_target.h"
#include "frame_walk.h"

struct frame_report {
    const struct frame_options* options;
    const struct sample_device* device;
    MaarTransientHeapInfo heap; /* of the rendering with aliasing, if any */
    VkDeviceSize proved_bound;  /* no placement needs less than this */
    uint32_t passes, resources;
    double seconds;                /* of all rendering; 0 without rendering */
    uint64_t picture_hash;         /* FNV-1a of the picture's bytes */
    uint64_t differing_pixels;     /* with --compare */
    struct frame_walk_result walk; /* with --check */
};

void frame_report_print(const struct frame_report* report);

#endif
