/*
 * What the program has to say in the end: figures, and whether all is well.
 */
#ifndef MAAR_SAMPLE_TEXTURE_REPORT_H
#define MAAR_SAMPLE_TEXTURE_REPORT_H

#include "texture_flight.h"

/* Sums over all frames that both the report and the pictures show. */
struct texture_totals {
    VkDeviceSize peak_resident, peak_blocks;
    uint64_t binds, bind_submissions, submissions, uploads, evictions;
    uint32_t most_binds, most_uploads;
    double asked, satisfied; /* pixels */
    double median_seconds;   /* of a frame, on the host */
};

struct texture_totals texture_report_sum(const struct texture_flight* flight);

/* Prints them. last: what comparing the last frame found; all: all pictures. */
void texture_report_print(const struct texture_flight* flight,
                          const struct texture_comparison* last,
                          const struct texture_comparison* all);

/* Says on stderr which checks have failed. */
bool texture_report_is_well(const struct texture_flight* flight,
                            const struct texture_comparison* all);

#endif
