/*
 * A virtual texture, headless: a flight over a map that is fifty times larger than its memory.
 * Shaders request tiles, and Maar's tile cache brings them into a partially resident image.
 * README.md explains how to read the sample.
 */
#include "texture_pictures.h"

#include <stdlib.h>

/* All state that lives as long as the program. */
struct program {
    struct texture_options options;
    struct sample_device device;
    struct texture_flight flight;
    struct texture_comparison last, all;
};

static const char* require_features(struct sample_device* device, void* user_data)
{
    (void)user_data;
    const char* const missing = sample_require_timelines(device);
    if (missing != NULL) {
        return missing;
    }
    if (device->advice->features.features.sparseResidencyImage2D == VK_FALSE) {
        return "sparseResidencyImage2D";
    }
    return NULL;
}

static bool compare_pictures(struct program* program)
{
    struct texture_flight* const flight = &program->flight;
    struct texture_reference* const reference = texture_reference_create(&flight->stream);
    bool done = reference != NULL;
    for (uint32_t i = 0; done && i < flight->picture_count; ++i) {
        done = texture_reference_compare(reference, &flight->pictures[i], &program->all);
    }
    done = done && texture_reference_compare(
                       reference, &flight->pictures[flight->picture_count - 2], &program->last);
    texture_reference_destroy(reference);
    if (!done) {
        sample_complain("out of memory");
    }
    return done;
}

static int run(struct program* program)
{
    const struct texture_options* const options = &program->options;
    /* The layer advises against copies to images in VK_IMAGE_LAYOUT_GENERAL. But the program fills
     * tiles while frames sample other tiles of the same level, and a level has one layout. */
    const struct sample_device_options device_options = {.device = options->device,
                                                         .validate = options->validate,
                                                         .quiet_advice = true,
                                                         .paging = true,
                                                         .require = require_features};
    struct texture_flight* const flight = &program->flight;
    int code = sample_device_open(&program->device, &device_options);
    if (code == SAMPLE_EXIT_OK) {
        code = texture_flight_prepare(flight, &program->device, options);
    }
    if (code == SAMPLE_EXIT_OK) {
        const bool done = texture_flight_fly(flight) && compare_pictures(program) &&
                          (options->out == NULL || texture_pictures_write(flight, options->out));
        code = done ? SAMPLE_EXIT_OK : SAMPLE_EXIT_FAILED;
    }
    if (code == SAMPLE_EXIT_OK) {
        texture_report_print(flight, &program->last, &program->all);
        code = texture_report_is_well(flight, &program->all) ? SAMPLE_EXIT_OK : SAMPLE_EXIT_FAILED;
    }
    const uint32_t messages = program->device.messages.count;
    texture_flight_end(flight);
    sample_device_close(&program->device);
    if (program->device.messages.count != messages) {
        sample_complain("messages arrived at the end");
        code = code == SAMPLE_EXIT_OK ? SAMPLE_EXIT_FAILED : code;
    }
    return code;
}

int main(int argc, char** argv)
{
    struct program* const program = calloc(1, sizeof(*program));
    if (program == NULL) {
        sample_complain("out of memory");
        return SAMPLE_EXIT_FAILED;
    }
    int code = SAMPLE_EXIT_USAGE;
    if (texture_options_parse(&program->options, argc, argv, &code)) {
        code = run(program);
    }
    free(program);
    return sample_end(code);
}
