/*
 * A deferred frame, headless: shadow cascades, G-buffer, occlusion, lights in tiles, haze,
 * reflections, bloom, temporal antialiasing, tone mapping, and a PNG as the result. Its render
 * targets are Maar's transients: planned together, they share memory. README.md explains how to
 * read the sample.
 */
#include "frame_picture.h"
#include "frame_render.h"
#include "frame_report.h"
#include "frame_walk.h"
#include "support/png_file.h"
#include "support/seconds.h"

#include <stdlib.h>
#include <string.h>

/* All state that lives as long as the program. */
struct program {
    struct frame_options options;
    struct sample_device device;
    struct frame_scene scene;
    struct frame_assets assets;
    struct frame_pipelines pipelines;
    struct frame_target target;
    struct frame_report report;
};

static uint64_t hash_of(const uint8_t* bytes, size_t count)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < count; ++i) {
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    }
    return hash;
}

static uint64_t count_differences(const uint8_t* a, const uint8_t* b, size_t pixel_count)
{
    uint64_t count = 0;
    for (size_t i = 0; i < pixel_count; ++i) {
        count += memcmp(a + 4 * i, b + 4 * i, 4) != 0;
    }
    return count;
}

/* Fills in the report about the heap alone. */
static bool report_plan(struct program* program)
{
    const struct frame_target* const target = &program->target;
    MaarPlanInfo plan = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    if (!sample_succeeded(maarGetPlanInfo(target->info.plan, &plan), "maarGetPlanInfo")) {
        return false;
    }
    program->report.heap = target->info;
    program->report.proved_bound = plan.provedBound;
    program->report.passes = target->graph.step_count;
    return program->options.picture == NULL ||
           frame_picture_write(target, &program->options, program->device.properties.deviceName);
}

/* Renders in one way, from the heap to the pixels. With aliasing, the report receives the figures
 * and the walk. */
static bool render_way(struct program* program, bool aliasing, uint8_t* pixels)
{
    struct frame_target* const target = &program->target;
    struct frame_walk* walk = NULL;
    const bool reported = aliasing || !program->options.compare;
    bool done =
        frame_target_create(target, &program->device, &program->options,
                            aliasing ? 0 : MAAR_TRANSIENT_HEAP_CREATE_NO_ALIASING_BIT) &&
        frame_target_describe(target, &program->device, &program->pipelines, &program->assets);
    done = done && (!reported || report_plan(program));
    if (done && reported && program->options.check) {
        walk = frame_walk_start(&program->device, target, &program->assets);
        done = sample_has_memory(walk);
    }
    if (done) {
        const struct frame_recording recording = {.device = &program->device,
                                                  .options = &program->options,
                                                  .scene = &program->scene,
                                                  .pipelines = &program->pipelines,
                                                  .assets = &program->assets,
                                                  .target = target,
                                                  .walk = walk};
        const double before = support_seconds_now();
        done = frame_render(&recording, pixels);
        program->report.seconds += support_seconds_now() - before;
    }
    frame_walk_stop(walk);
    if (done && walk != NULL) {
        frame_walk_check(walk, &program->report.walk);
    }
    frame_walk_destroy(walk);
    frame_target_destroy(target, &program->device);
    return done;
}

static bool render_ways(struct program* program, uint8_t* pixels, uint8_t* others)
{
    const struct frame_options* const options = &program->options;
    const size_t pixel_count = (size_t)options->width * options->height;
    if (!frame_scene_create(&program->scene) ||
        !frame_assets_create(&program->assets, &program->device, &program->scene, options) ||
        !frame_pipelines_create(&program->pipelines, &program->device) ||
        !render_way(program, options->compare || options->aliasing, pixels)) {
        return false;
    }
    if (options->compare) {
        if (!render_way(program, false, others)) {
            return false;
        }
        program->report.differing_pixels = count_differences(pixels, others, pixel_count);
    }
    program->report.picture_hash = hash_of(pixels, 4 * pixel_count);
    struct support_error error = {{0}};
    if (options->output != NULL &&
        !support_png_write(options->output, options->width, options->height, pixels, &error)) {
        sample_complain("%s", error.text);
        return false;
    }
    return true;
}

static bool render(struct program* program)
{
    const size_t size = (size_t)4 * program->options.width * program->options.height;
    uint8_t* const pixels = calloc(1, size);
    uint8_t* const others = calloc(1, size);
    bool done = sample_has_memory(pixels) && sample_has_memory(others) &&
                render_ways(program, pixels, others);
    free(pixels);
    free(others);
    frame_pipelines_destroy(&program->pipelines, &program->device);
    frame_assets_destroy(&program->assets, &program->device);
    frame_scene_destroy(&program->scene);
    return done;
}

static bool plan_only(struct program* program)
{
    const MaarTransientHeapCreateFlags flags =
        MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT |
        (program->options.aliasing ? 0 : MAAR_TRANSIENT_HEAP_CREATE_NO_ALIASING_BIT);
    const bool done =
        frame_target_create(&program->target, &program->device, &program->options, flags) &&
        report_plan(program);
    frame_target_destroy(&program->target, &program->device);
    return done;
}

/* Requests the features that rendering needs beside Maar's recommendations. */
static const char* require_rendering(struct sample_device* device, void* user_data)
{
    VkPhysicalDeviceDynamicRenderingFeatures* const rendering = user_data;
    VkPhysicalDeviceFeatures2 found = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                       .pNext = rendering};
    if (device->properties.apiVersion < SAMPLE_API_VERSION) {
        return "Vulkan 1.3; --memory-only works without it";
    }
    vkGetPhysicalDeviceFeatures2(device->physical, &found);
    if (device->advice->synchronization2.synchronization2 == VK_FALSE) {
        return "synchronization2; --memory-only works without it";
    }
    if (rendering->dynamicRendering == VK_FALSE) {
        return "dynamicRendering; --memory-only works without it";
    }
    if (found.features.shaderStorageImageExtendedFormats == VK_FALSE) {
        return "shaderStorageImageExtendedFormats; --memory-only works without it";
    }
    device->advice->features.features.shaderStorageImageExtendedFormats = VK_TRUE;
    rendering->pNext = device->features;
    device->features = rendering;
    return NULL;
}

static int open_device(struct program* program)
{
    const struct frame_options* const options = &program->options;
    VkPhysicalDeviceDynamicRenderingFeatures rendering = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES};
    const struct sample_device_options device_options = {
        .device = options->device,
        .validate = options->validate,
        .second_queue = options->async,
        .require = options->memory_only ? NULL : require_rendering,
        .user_data = &rendering};
    return sample_device_open(&program->device, &device_options);
}

static int run(struct program* program)
{
    program->report.options = &program->options;
    program->report.device = &program->device;
    program->report.resources = FRAME_RESOURCE_COUNT;
    int code = open_device(program);
    if (code == SAMPLE_EXIT_OK) {
        const bool done = program->options.memory_only ? plan_only(program) : render(program);
        code = done ? SAMPLE_EXIT_OK : SAMPLE_EXIT_FAILED;
    }
    sample_device_close(&program->device);
    if (code == SAMPLE_EXIT_OK) {
        frame_report_print(&program->report);
    }
    const bool wrong = program->device.messages.count != 0 ||
                       program->report.differing_pixels != 0 ||
                       program->report.walk.findings != 0 || program->report.walk.unnoticed != 0;
    return code == SAMPLE_EXIT_OK && wrong ? SAMPLE_EXIT_FAILED : code;
}

int main(int argc, char** argv)
{
    struct program* const program = calloc(1, sizeof(*program));
    if (!sample_has_memory(program)) {
        return SAMPLE_EXIT_FAILED;
    }
    int code = SAMPLE_EXIT_USAGE;
    if (frame_options_parse(&program->options, argc, argv, &code)) {
        code = run(program);
    }
    free(program);
    return sample_end(code);
}
