/*
 * An array in device memory that grows to a gibibyte while shaders fill it. The array grows in
 * place, page by page, or by copies into larger buffers. Finally the device verifies every element.
 *
 * grow_run.c contains the lesson, grow_work.c the shaders.
 */
#include "grow_options.h"
#include "grow_picture.h"
#include "grow_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char* find_missing(struct sample_device* device, void* user_data)
{
    (void)user_data;
    return device->advice->timelineSemaphore.timelineSemaphore == VK_TRUE ? NULL
                                                                          : "timeline semaphores";
}

/* ---- figures ---- */

static void print_bytes(uint64_t bytes)
{
    const double mib = (double)bytes / 1048576.0;
    if (mib >= 1024.0) {
        printf(" %9.3f GiB", mib / 1024.0);
    } else {
        printf(" %9.2f MiB", mib);
    }
}

/* Prints the first append, each doubling, and the last append. */
static void print_marks(const struct grow_figures* figures)
{
    printf("  %12s  %12s  %12s  %12s  %8s  %11s\n", "appended", "committed", "memory", "copied",
           "binds", "submissions");
    uint64_t next = 0;
    for (uint32_t i = 0; i < figures->mark_count; ++i) {
        const struct grow_mark* const mark = &figures->marks[i];
        if (mark->appended < next && i + 1 != figures->mark_count) {
            continue;
        }
        next = mark->appended * 2;
        const uint64_t bytes[] = {mark->appended, mark->committed, mark->memory, mark->copied};
        for (size_t at = 0; at < 4; ++at) {
            print_bytes(bytes[at]);
        }
        printf("  %8" PRIu64 "  %11" PRIu64 "\n", mark->binds, mark->submissions);
    }
}

static void print_figures(const struct grow_figures* figures, const struct grow_options* options)
{
    const bool unchanged = figures->last_address == figures->first_address && figures->moves == 0;
    const char* const reach = figures->by_address ? "the device address" : "descriptors of windows";
    if (figures->copying) {
        printf("growing by copies%s%s, elements reached through %s\n",
               figures->why != NULL ? ", since " : "", figures->why != NULL ? figures->why : "",
               reach);
    } else {
        printf("growing by pages of %" PRIu64 " KiB, elements reached through %s\n",
               figures->page_size >> 10, reach);
    }
    print_marks(figures);
    printf("  address: 0x%" PRIx64 " at first, 0x%" PRIx64 " in the end; unchanged: %s\n",
           figures->first_address, figures->last_address, unchanged ? "yes" : "no");
    printf("  bytes copied: %" PRIu64 "; the buffer was replaced %u times\n", figures->copied,
           figures->moves);
    if (!figures->copying) {
        printf("  pages bound: %" PRIu64 ", in %" PRIu64 " binds and %" PRIu64 " submissions\n",
               figures->pages, figures->binds, figures->submissions);
    }
    if (options->memory_only) {
        printf("  nothing was written or verified (--memory-only)\n");
    } else {
        printf("  verified on the device: %" PRIu64 " of %" PRIu64 " elements\n", figures->matching,
               figures->elements);
    }
    if (figures->out_of_reach) {
        printf("  memory was short: it was to reach %" PRIu64 " bytes\n", figures->size);
    }
    printf("  %.2f seconds\n\n", figures->seconds);
}

static void print_json(const struct grow_figures* figures, const struct sample_device* device)
{
    printf("{\"way\":\"%s\",\"device\":\"%s\",\"by_address\":%s,\"page_size\":%" PRIu64
           ",\"size\":%" PRIu64 ",\"appended\":%" PRIu64 ",\"committed\":%" PRIu64
           ",\"appends\":%u,\"pages\":%" PRIu64 ",\"binds\":%" PRIu64 ",\"submissions\":%" PRIu64
           ",\"copied\":%" PRIu64 ",\"moves\":%u,\"address_unchanged\":%s,\"most_memory\":%" PRIu64
           ",\"elements\":%" PRIu64 ",\"verified\":%" PRIu64 ",\"seconds\":%.3f}\n",
           figures->copying ? "copies" : "pages", device->properties.deviceName,
           figures->by_address ? "true" : "false", figures->page_size, figures->size,
           figures->appended, figures->committed, figures->mark_count, figures->pages,
           figures->binds, figures->submissions, figures->copied, figures->moves,
           figures->last_address == figures->first_address && figures->moves == 0 ? "true"
                                                                                  : "false",
           figures->most_memory, figures->elements, figures->matching, figures->seconds);
}

/* ---- ways ---- */

static bool run_way(const struct sample_device* device, const struct grow_options* options,
                    bool copying, struct grow_figures* figures)
{
    const char* why = NULL;
    figures->size = grow_fitting_size(device, options->size, copying, &why);
    if (figures->size < (uint64_t)1 << 16) {
        sample_complain("no room for an array: %s", why);
        return false;
    }
    if (why != NULL && !options->json) {
        printf("%s of this device allows at most %" PRIu64 " of %" PRIu64 " bytes\n", why,
               figures->size, options->size);
    }
    if (!grow_run(device, options, copying, figures)) {
        return false;
    }
    if (options->json) {
        print_json(figures, device);
    } else {
        print_figures(figures, options);
    }
    if (!grow_is_well(figures, options)) {
        sample_complain("not all promises were kept");
        return false;
    }
    return true;
}

static bool run_ways(const struct sample_device* device, const struct grow_options* options)
{
    struct grow_figures* const figures = calloc(2, sizeof(*figures));
    const struct grow_figures* const ways[2] = {figures, figures + 1};
    uint32_t count = 0;
    bool done = sample_has_memory(figures);
    if (done && !options->json) {
        printf("growing_array: %s\n\n", device->properties.deviceName);
    }
    if (done) {
        done = run_way(device, options, options->copying, &figures[0]);
        ++count;
    }
    if (done && options->compare && figures[0].copying) {
        printf("this device has no sparse buffers, so the array grows by copies\n");
    } else if (done && options->compare) {
        done = run_way(device, options, true, &figures[1]);
        ++count;
    }
    if (done && options->picture != NULL) {
        done = grow_picture_write(ways, count, device->properties.deviceName, options->picture);
    }
    free(figures);
    return done;
}

int main(int argc, char** argv)
{
    struct grow_options options;
    struct sample_device device;
    int exit_code = SAMPLE_EXIT_OK;
    if (!grow_options_parse(&options, argc, argv, &exit_code)) {
        return sample_end(exit_code);
    }
    const struct sample_device_options wanted = {
        .device = options.device,
        .validate = options.validate,
        .paging = true,
        .require = find_missing,
    };
    exit_code = sample_device_open(&device, &wanted);
    if (exit_code == SAMPLE_EXIT_OK && !run_ways(&device, &options)) {
        exit_code = SAMPLE_EXIT_FAILED;
    }
    sample_device_close(&device);
    const uint32_t messages = device.messages.count;
    if (exit_code == SAMPLE_EXIT_OK && messages > 0) {
        sample_complain("%u messages", messages);
        exit_code = SAMPLE_EXIT_FAILED;
    }
    return sample_end(exit_code);
}
