/*
 * Textures larger than memory, headless: a walk through a hall whose textures take three times the
 * device memory that they may use. Every frame must be, byte for byte, that of a walk with room for
 * all of them. README.md explains how to read the sample; hall_textures.c contains the lesson.
 */
#include "hall_scene.h"
#include "hall_show.h"
#include "hall_texels.h"
#include "sample_work.h"

#include "support/png_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB(bytes) ((double)(bytes) / 1048576.0)

/* All state that lives as long as the program. */
struct program {
    struct hall_options options;
    struct sample_device device;
    struct hall_film film;
    struct hall_result result;
    VkPhysicalDeviceDynamicRenderingFeatures rendering;
};

static const char* name_missing(struct sample_device* device, void* rendering)
{
    VkPhysicalDeviceFeatures found;
    return sample_require_rendering(device, rendering, &found);
}

/* ---- figures ---- */

static void print_hall(const struct program* program)
{
    const struct hall_options* const options = &program->options;
    const struct hall_result* const result = &program->result;
    const MaarResidencyInfo* const info = &result->info;
    const MaarTierInfo* const device = &info->tiers[MAAR_TIER_DEVICE];
    const MaarTierInfo* const host = &info->tiers[MAAR_TIER_HOST];
    const MaarTierInfo* const packed = &info->tiers[MAAR_TIER_COMPRESSED];
    const MaarTierInfo* const file = &info->tiers[MAAR_TIER_FILE];
    printf("larger_than_memory: %s\n\n", program->device.properties.deviceName);
    printf("  textures          %u of %.1f MiB together\n", info->residentCount,
           MIB(hall_texels_size(options->side) * info->residentCount));
    printf("  device            %.2f MiB at most, budget %.2f MiB\n", MIB(device->peakSize),
           MIB(device->budget));
    printf("  host              %.2f MiB at most, budget %.2f MiB\n", MIB(host->peakSize),
           MIB(host->budget));
    printf("  compressed        %.2f MiB at most, budget %.2f MiB\n", MIB(packed->peakSize),
           MIB(packed->budget));
    printf("  file              %.2f MiB at the end\n", MIB(file->size));
    printf("  restored          %.1f MiB in %" PRIu64 " textures\n", MIB(device->restoredSize),
           device->restoredCount);
    printf("  evicted clean     %" PRIu64 " textures, %.1f MiB that were not copied\n",
           device->cleanCount, MIB(device->cleanSize));
    printf(
        "  saved             %.1f MiB to host memory, %.1f MiB compressed, %.1f MiB to the file\n",
        MIB(host->savedSize), MIB(packed->savedSize), MIB(file->savedSize));
    printf("  not ready         %" PRIu64 " calls of maarBeginUse, after which the frame waited\n",
           result->not_ready);
    printf("  frames            %u, up to %u in flight\n", options->frames, SAMPLE_WORK_SLOTS);
    printf("  compared          %u frames differ from those of a walk with room for all\n\n",
           result->different);
}

static void print_hall_json(const struct program* program)
{
    static const char* const names[MAAR_TIER_COUNT] = {"none", "device", "host", "compressed",
                                                       "file"};
    const struct hall_result* const result = &program->result;
    printf("{\"device_name\":\"%s\",\"textures\":%u,\"frames\":%u,\"different\":%u"
           ",\"not_ready\":%" PRIu64 ",\"pins\":%u,\"lost\":%" PRIu64,
           program->device.properties.deviceName, result->info.residentCount,
           program->options.frames, result->different, result->not_ready, result->info.pinCount,
           result->info.lostCount);
    for (uint32_t i = MAAR_TIER_DEVICE; i < MAAR_TIER_COUNT; ++i) {
        const MaarTierInfo* const tier = &result->info.tiers[i];
        printf(",\"%s\":{\"budget\":%" PRIu64 ",\"peak\":%" PRIu64 ",\"restored\":%" PRIu64
               ",\"saved\":%" PRIu64 ",\"clean\":%" PRIu64 ",\"seen\":%u}",
               names[i], tier->budget, tier->peakSize, tier->restoredSize, tier->savedSize,
               tier->cleanSize, hall_strip_count(&result->strip, (MaarTier)i));
    }
    printf("}\n");
}

/* ---- checks ---- */

static bool check_walk(const struct program* program)
{
    const struct hall_result* const result = &program->result;
    const struct hall_film* const film = &program->film;
    const uint32_t frames = program->options.frames;
    const MaarTierInfo* const device = &result->info.tiers[MAAR_TIER_DEVICE];
    /* A driver that executes nothing must not pass. */
    if (memcmp(film->pixels, film->pixels + film->frame_size * (frames / 2), film->frame_size) ==
        0) {
        sample_complain("nothing was drawn");
        return false;
    }
    if (result->different > 0) {
        sample_complain("%u of %u frames differ; the first is %u", result->different, frames,
                        result->first_different);
        return false;
    }
    if (device->peakSize > device->budget) {
        sample_complain("the device held %" PRIu64 " bytes, with a budget of %" PRIu64,
                        device->peakSize, device->budget);
        return false;
    }
    if (result->info.pinCount > 0 || result->info.lostCount > 0) {
        sample_complain("%u pins are left, %" PRIu64 " textures were lost", result->info.pinCount,
                        result->info.lostCount);
        return false;
    }
    return true;
}

static bool write_hall_pictures(const struct program* program)
{
    const struct hall_options* const options = &program->options;
    const struct hall_film* const film = &program->film;
    const uint32_t shown = options->frames * 7 / 10; /* on the way back */
    struct support_error error = {{0}};
    if (options->out != NULL &&
        !support_png_write(options->out, options->width, options->height,
                           film->pixels + film->frame_size * shown, &error)) {
        sample_complain("%s", error.text);
        return false;
    }
    return options->strip == NULL || hall_strip_write(&program->result.strip, options->strip);
}

static bool run(struct program* program)
{
    const struct hall_options* const options = &program->options;
    struct hall_film* const film = &program->film;
    film->frame_size = (size_t)4 * options->width * options->height;
    film->pixels = calloc(options->frames, film->frame_size);
    bool done = sample_has_memory(film->pixels) &&
                hall_show_roomy(&program->device, options, film) &&
                hall_show_tight(&program->device, options, film, &program->result);
    if (done) {
        (options->json ? print_hall_json : print_hall)(program);
        done = check_walk(program) && write_hall_pictures(program);
    }
    hall_strip_destroy(&program->result.strip);
    free(film->pixels);
    return done;
}

int main(int argc, char** argv)
{
    static struct program program;
    int exit_code = SAMPLE_EXIT_OK;
    if (!hall_options_parse(&program.options, argc, argv, &exit_code)) {
        return sample_end(exit_code);
    }
    const struct sample_device_options wanted = {
        .device = program.options.device,
        .validate = program.options.validate,
        .lend_main_queue = true,
        .require = name_missing,
        .user_data = &program.rendering,
    };
    exit_code = sample_device_open(&program.device, &wanted);
    if (exit_code == SAMPLE_EXIT_OK && !run(&program)) {
        exit_code = SAMPLE_EXIT_FAILED;
    }
    sample_device_close(&program.device);
    const uint32_t messages = program.device.messages.count;
    if (exit_code == SAMPLE_EXIT_OK && messages > 0) {
        sample_complain("%u messages", messages);
        exit_code = SAMPLE_EXIT_FAILED;
    }
    return sample_end(exit_code);
}
