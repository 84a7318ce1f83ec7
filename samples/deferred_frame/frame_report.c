/*
 * Prints the figures; see frame_report.h.
 */
#include "frame_report.h"

#include <inttypes.h>
#include <stdio.h>

static void print_size(const char* what, VkDeviceSize size, VkDeviceSize total)
{
    printf("  %-22s %10.2f MiB  %5.1f %%\n", what, (double)size / 1048576.0,
           total == 0 ? 0.0 : 100.0 * (double)size / (double)total);
}

static void print_text(const struct frame_report* report)
{
    const MaarTransientHeapInfo* const heap = &report->heap;
    const struct frame_options* const options = report->options;
    printf("deferred frame %ux%u on %s: %u passes, %u transients\n", options->width,
           options->height, report->device->properties.deviceName, report->passes,
           report->resources);
    if (options->async && report->device->queues[0] == report->device->queues[1]) {
        printf("  the two queues of the graph run on one queue of this device\n");
    }
    print_size("without aliasing", heap->totalSize, heap->totalSize);
    print_size("reusing whole objects", heap->objectReuseSize, heap->totalSize);
    print_size("planned", heap->peakSize, heap->totalSize);
    print_size("lower bound", heap->lowerBound, heap->totalSize);
    if (heap->provedOptimal) {
        printf("  no placement takes less: proved\n");
    } else {
        /* The figure is rounded up, so that the statement is true. */
        printf("  no placement can save more than %.1f %% of that\n",
               100.0 * (1.0 - (double)report->proved_bound / (double)heap->peakSize) + 0.05);
    }
    if (options->memory_only) {
        return;
    }
    printf("  %u frames rendered in %.1f s", options->frames, report->seconds);
    if (options->poison) {
        printf(", every transient poisoned before its first use in each");
    }
    printf("\n");
    if (options->compare) {
        printf("  with and without aliasing: %s\n", report->differing_pixels == 0
                                                        ? "the images are the same, byte for byte"
                                                        : "THE IMAGES DIFFER");
    }
    if (options->check) {
        const struct frame_walk_result* const walk = &report->walk;
        printf("  checker: %" PRIu64 " pairs of accesses compared, %u hazards; %u barriers and %u "
               "waits, %s\n",
               walk->pairs, walk->findings, walk->barriers, walk->waits,
               walk->unnoticed == 0 ? "each of them missed when it is left out"
                                    : "SOME OF WHICH NOBODY MISSES");
    }
    if (options->validate) {
        printf("  validation with synchronization checks: %u messages\n",
               report->device->messages.count);
    }
}

static void print_json(const struct frame_report* report)
{
    const MaarTransientHeapInfo* const heap = &report->heap;
    const struct frame_options* const options = report->options;
    printf("{\"device\":\"%s\",\"width\":%u,\"height\":%u,\"passes\":%u,\"resources\":%u,"
           "\"total\":%" PRIu64 ",\"object_reuse\":%" PRIu64 ",\"planned\":%" PRIu64
           ",\"lower_bound\":%" PRIu64 ",\"proved\":%s",
           report->device->properties.deviceName, options->width, options->height, report->passes,
           report->resources, (uint64_t)heap->totalSize, (uint64_t)heap->objectReuseSize,
           (uint64_t)heap->peakSize, (uint64_t)heap->lowerBound,
           heap->provedOptimal ? "true" : "false");
    if (!options->memory_only) {
        printf(",\"frames\":%u,\"seconds\":%.3f,\"picture\":\"%016" PRIx64 "\",\"messages\":%u",
               options->frames, report->seconds, report->picture_hash,
               report->device->messages.count);
    }
    if (options->compare) {
        printf(",\"differing_pixels\":%" PRIu64, report->differing_pixels);
    }
    if (options->check) {
        printf(",\"hazards\":%u,\"pairs\":%" PRIu64 ",\"barriers\":%u,\"waits\":%u,"
               "\"unnoticed\":%u",
               report->walk.findings, report->walk.pairs, report->walk.barriers, report->walk.waits,
               report->walk.unnoticed);
    }
    printf("}\n");
}

void frame_report_print(const struct frame_report* report)
{
    if (report->options->json) {
        print_json(report);
    } else {
        print_text(report);
    }
}
