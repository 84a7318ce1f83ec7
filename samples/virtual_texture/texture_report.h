/*
 * The final report: figures, and the results of the checks.
 */
#ifndef MAAR_SAMPLE_TEXTURE_REPORT_H
#define MAAR_SAMPLE_TEXTURE_REPORT_H

#include "texture_flight.h"

/* The sums over all frames that the report and the pictures show. */
struct texture_totals {
    VkDeviceSize peak_resident, peak_blocks;
    uint64_t binds, bind_submissions, submissions, uploads, evictions;
    uint32_t most_binds, most_uploads;
    double asked, satisfied; /* pixels */
    double median_seconds;   /* of a frame, on the host */
};

struct texture_totals texture_report_sum(const struct texture_flight* flight);

/* Prints the figures. `last` is the comparison of the last frame, `all` that of all pictures. */
void texture_report_print(const struct texture_flight* flight,
                          const struct texture_comparison* last,
                          const struct texture_comparison* all);

/* Prints the failed checks on stderr. */
bool texture_report_is_well(const struct texture_flight* flight,
                            const struct texture_comparison* all);

#endif
