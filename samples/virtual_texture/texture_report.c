/*
 * Prints the figures; see texture_report.h.
 */
#include "texture_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB 1048576.0

static int compare_seconds(const void* a, const void* b)
{
    const double left = *(const double*)a;
    const double right = *(const double*)b;
    return (left > right) - (left < right);
}

static double median_of(const struct texture_flight* flight)
{
    double* const seconds = malloc(flight->frame_count * sizeof(seconds[0]));
    if (seconds == NULL) {
        return 0.0;
    }
    for (uint32_t i = 0; i < flight->frame_count; ++i) {
        seconds[i] = flight->frames[i].seconds;
    }
    qsort(seconds, flight->frame_count, sizeof(seconds[0]), compare_seconds);
    const double median = seconds[flight->frame_count / 2];
    free(seconds);
    return median;
}

struct texture_totals texture_report_sum(const struct texture_flight* flight)
{
    struct texture_totals totals = {.median_seconds = median_of(flight)};
    for (uint32_t i = 0; i < flight->frame_count; ++i) {
        const struct texture_frame* const frame = &flight->frames[i];
        const VkDeviceSize resident = frame->resident + frame->held;
        totals.peak_resident = resident > totals.peak_resident ? resident : totals.peak_resident;
        totals.peak_blocks =
            frame->blocks > totals.peak_blocks ? frame->blocks : totals.peak_blocks;
        totals.binds += frame->binds;
        totals.bind_submissions += frame->bind_submissions;
        totals.submissions += frame->submissions;
        totals.uploads += frame->uploads;
        totals.evictions += frame->evictions;
        totals.most_binds = frame->binds > totals.most_binds ? frame->binds : totals.most_binds;
        totals.most_uploads =
            frame->uploads > totals.most_uploads ? frame->uploads : totals.most_uploads;
        totals.asked += frame->asked;
        totals.satisfied += frame->satisfied;
    }
    return totals;
}

static double share(double part, double whole)
{
    return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

static void print_json(const struct texture_flight* flight, const struct texture_totals* totals,
                       const struct texture_comparison* last, const struct texture_comparison* all)
{
    const struct texture_stream* const stream = &flight->stream;
    printf("{\"device\": \"%s\", \"texture\": %u, \"texture_bytes\": %" PRIu64
           ", \"budget\": %" PRIu64 ", \"peak_resident\": %" PRIu64 ", \"page_blocks\": %" PRIu64
           ", \"frames\": %u, \"frames_over_budget\": %" PRIu64 ", ",
           flight->device->properties.deviceName, stream->texture, stream->texture_bytes,
           stream->budget, totals->peak_resident, totals->peak_blocks, flight->frame_count,
           flight->over_budget);
    printf("\"waits\": %" PRIu64 ", \"late_uploads\": %" PRIu64 ", \"stalls\": %" PRIu64
           ", \"uploads\": %" PRIu64 ", \"evictions\": %" PRIu64 ", \"binds\": %" PRIu64
           ", \"bind_submissions\": %" PRIu64 ", \"submissions\": %" PRIu64 ", ",
           flight->waits, flight->late, flight->stalls, totals->uploads, totals->evictions,
           totals->binds, totals->bind_submissions, totals->submissions);
    printf("\"hit_rate\": %.4f, \"tile_hit_rate\": %.4f, \"compared_pixels\": %" PRIu64
           ", \"differing_pixels\": %" PRIu64 ", \"misplaced_pixels\": %" PRIu64
           ", \"map_pixels\": %" PRIu64 ", \"requested_pixels\": %" PRIu64
           ", \"messages\": %u, \"longest_tile_ms\": %.3f, \"longest_upload_ms\": %.3f, "
           "\"median_frame_ms\": %.3f, \"seconds\": %.3f}\n",
           0.01 * share(totals->satisfied, totals->asked),
           0.01 * share((double)flight->cache.hitCount,
                        (double)(flight->cache.hitCount + flight->cache.missCount)),
           all->pixels, all->differing, all->misplaced, last->on_map, last->at_wanted_level,
           flight->device->messages.count, 1e3 * flight->longest_tile_seconds,
           1e3 * flight->stream.longest_upload, 1e3 * totals->median_seconds, flight->seconds);
}

static void print_text(const struct texture_flight* flight, const struct texture_totals* totals,
                       const struct texture_comparison* last, const struct texture_comparison* all)
{
    const struct texture_stream* const stream = &flight->stream;
    const double frames = (double)flight->frame_count;
    printf("A map of %u x %u texels on %s\n\n", stream->texture, stream->texture,
           flight->device->properties.deviceName);
    printf("texture                 %10.1f MiB, %" PRIu64 " tiles of %u x %u texels\n",
           (double)stream->texture_bytes / MIB, stream->info.tileCount,
           stream->info.tileExtent.width, stream->info.tileExtent.height);
    printf("budget                  %10.1f MiB, %.2f %% of it\n", (double)stream->budget / MIB,
           share((double)stream->budget, (double)stream->texture_bytes));
    printf("resident at most        %10.1f MiB; frames over budget: %" PRIu64 " of %u\n",
           (double)totals->peak_resident / MIB, flight->over_budget, flight->frame_count);
    printf("page blocks             %10.1f MiB at most\n", (double)totals->peak_blocks / MIB);
    printf("pixels at their level   %10.1f %% of those that asked, over all frames\n",
           share(totals->satisfied, totals->asked));
    printf("tiles there when wanted %10.1f %%\n",
           share((double)flight->cache.hitCount,
                 (double)(flight->cache.hitCount + flight->cache.missCount)));
    printf("uploads                 %10" PRIu64 ", %.1f a frame, at most %u\n", totals->uploads,
           (double)totals->uploads / frames, totals->most_uploads);
    printf("evictions               %10" PRIu64 "\n", totals->evictions);
    printf("pages bound or unbound  %10.1f a frame, at most %u, in %.2f submissions\n",
           (double)totals->binds / frames, totals->most_binds,
           (double)totals->bind_submissions / frames);
    printf("submissions             %10.2f a frame, with uploads and binds\n",
           (double)totals->submissions / frames);
    printf("a frame                 %10.1f ms (median); drawing took at most %.1f ms\n",
           1e3 * totals->median_seconds, 1e3 * flight->longest_device_seconds);
    printf(
        "tile calls in a frame   %10.1f ms at most; uploads of a frame, on the device, %.1f ms\n",
        1e3 * flight->longest_tile_seconds, 1e3 * stream->longest_upload);
    printf("frames that waited      %10" PRIu64 " for tiles; late uploads: %" PRIu64
           ", stalls: %" PRIu64 "\n",
           flight->waits, flight->late, flight->stalls);
    printf("the last frame          %10.1f %% of its map at the wanted level, %.1f %% one coarser, "
           "%.1f %% more\n",
           share((double)last->at_wanted_level, (double)last->on_map),
           share((double)last->coarser[0], (double)last->on_map),
           share((double)(last->on_map - last->at_wanted_level - last->coarser[0]),
                 (double)last->on_map));
    printf("compared                %10" PRIu64
           " pixels of %u pictures with the reference: %" PRIu64 " differ\n",
           all->pixels, flight->picture_count, all->differing);
    if (flight->device->validate) {
        printf("messages                %10u of the validation layer\n",
               flight->device->messages.count);
    }
}

void texture_report_print(const struct texture_flight* flight,
                          const struct texture_comparison* last,
                          const struct texture_comparison* all)
{
    const struct texture_totals totals = texture_report_sum(flight);
    if (flight->options->json) {
        print_json(flight, &totals, last, all);
    } else {
        print_text(flight, &totals, last, all);
    }
}

bool texture_report_is_well(const struct texture_flight* flight,
                            const struct texture_comparison* all)
{
    const struct {
        uint64_t count;
        const char* what;
    } checks[] = {
        {flight->over_budget, "frames are over budget"},
        {flight->waits, "frames waited for tiles"},
        {flight->late, "uploads ended after the next frame"},
        {flight->stalls, "frames spent more time on tiles than the drawing of any frame took"},
        {all->differing, "pixels differ from the reference"},
        {all->misplaced, "pixels show a place at which the camera does not look"},
        {flight->device->messages.count, "messages"},
        {all->at_wanted_level == 0, "the last frame has no pixel at its wanted level"},
    };
    bool well = true;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); ++i) {
        if (checks[i].count != 0) {
            sample_complain("%" PRIu64 " %s", checks[i].count, checks[i].what);
            well = false;
        }
    }
    return well;
}
