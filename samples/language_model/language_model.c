/*
 * A language model that is larger than its memory, headless: a transformer of random weights on
 * compute shaders. Its text must be, bit for bit, that of a run with room for everything. README.md
 * explains how to read the sample; model_memory.c and model_run.c contain the lesson.
 */
#include "model_checks.h"
#include "model_speed.h"
#include "model_strip.h"
#include "model_virtual.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB(bytes) ((double)(bytes) / 1048576.0)

enum { RUN_ROOMY, RUN_TIGHT, RUN_LRU, RUN_COUNT };

/* All state that lives as long as the program. */
struct program {
    struct model_options options;
    struct sample_device device;
    struct model_weights weights;
    struct model_compute compute;
    struct model_result runs[RUN_COUNT];
    uint32_t different[RUN_COUNT]; /* tokens, from those of the run with room */
    double distance;               /* of the first logits from those of the host */
    struct model_speed speed;
};

static const char* name_missing(struct sample_device* device, void* user_data)
{
    const struct model_options* const options = user_data;
    const VkPhysicalDeviceLimits* const limits = &device->properties.limits;
    VkPhysicalDeviceFeatures found;
    const char* const missing = sample_require_timelines(device);
    if (missing != NULL || options->is_simulated) {
        return missing;
    }
    vkGetPhysicalDeviceFeatures(device->physical, &found);
    if (found.shaderStorageBufferArrayDynamicIndexing == VK_FALSE) {
        return "shaderStorageBufferArrayDynamicIndexing";
    }
    device->advice->features.features.shaderStorageBufferArrayDynamicIndexing = VK_TRUE;
    return limits->maxPerStageDescriptorStorageBuffers < 3 + MODEL_MOST_PARTS
               ? "enough storage buffers in a shader"
               : NULL;
}

/* ---- on a device ---- */

static bool run_all(struct program* program)
{
    const struct model_shape* const shape = &program->options.shape;
    const uint64_t size = model_size(shape);
    const uint64_t tight = size / program->options.times;
    const struct {
        enum model_way way;
        uint64_t budget;
        const char* name;
    } ways[RUN_COUNT] = {{MODEL_WAY_UNHINTED, 2 * size, "with room"},
                         {MODEL_WAY_HINTED, tight, "Maar"},
                         {MODEL_WAY_LRU, tight, "LRU"}};
    bool done = model_compute_create(&program->compute, &program->device, shape);
    for (uint32_t i = 0; done && i < RUN_COUNT; ++i) {
        const struct model_run_info info = {
            .device = &program->device,
            .weights = &program->weights,
            .compute = &program->compute,
            .way = ways[i].way,
            .budget = ways[i].budget,
            .mistake = i == RUN_TIGHT ? program->options.mistake : MODEL_MISTAKE_NONE,
        };
        done = model_run(&info, &program->runs[i]) &&
               model_checks_manager(&program->runs[i], ways[i].name);
        if (done) {
            program->different[i] = model_checks_differences(shape, program->runs[i].text,
                                                             program->runs[RUN_ROOMY].text);
        }
    }
    return done && model_checks_reference(&program->weights, program->runs[RUN_ROOMY].text,
                                          &program->distance);
}

static void print_run(const struct model_result* run, const char* name, uint32_t tokens)
{
    const MaarTierInfo* const device = &run->info.tiers[MAAR_TIER_DEVICE];
    const MaarTierInfo* const host = &run->info.tiers[MAAR_TIER_HOST];
    printf("  %-10s  %8.2f MiB  %8.2f MiB  %8.2f MiB  %8.1f MiB  %8.1f MiB\n", name,
           MIB(device->budget), MIB(device->peakSize), MIB(run->restored) / tokens,
           MIB(device->cleanSize), MIB(host->savedSize));
}

static void print_text(const struct program* program)
{
    const struct model_shape* const shape = &program->options.shape;
    const uint32_t tokens = shape->positions - shape->prompt - 1;
    const uint32_t shown =
        shape->prompt + 12 < shape->positions ? shape->prompt + 12 : shape->positions;
    printf("language_model: %s\n\n", program->device.properties.deviceName);
    printf("  model             %u layers, %.1f MiB of weights, %.1f MiB of KV cache\n",
           shape->layers, MIB(model_weights_offset(shape, model_weights_count(shape))),
           MIB(model_size(shape) - model_weights_offset(shape, model_weights_count(shape))));
    printf("  text              %u tokens of prompt, then", shape->prompt);
    for (uint32_t i = shape->prompt; i < shown; ++i) {
        printf(" %u", program->runs[RUN_ROOMY].text->tokens[i]);
    }
    printf(" ...\n\n");
    printf("  %-10s  %12s  %12s  %12s  %12s  %12s\n", "", "budget", "most held", "restored",
           "left clean", "saved");
    printf("  %-10s  %12s  %12s  %12s  %12s  %12s\n", "", "", "", "a token", "", "to the host");
    print_run(&program->runs[RUN_ROOMY], "with room", tokens);
    print_run(&program->runs[RUN_TIGHT], "Maar", tokens);
    print_run(&program->runs[RUN_LRU], "LRU", tokens);
    printf("\n  compared          %u of %u tokens and their logits differ from those with room"
           " (LRU: %u)\n",
           program->different[RUN_TIGHT], shape->positions - shape->prompt,
           program->different[RUN_LRU]);
    printf(
        "  on the host       the first logits differ from the host's by %.1e of the greatest\n\n",
        program->distance);
}

static void print_text_json(const struct program* program)
{
    static const char* const names[RUN_COUNT] = {"roomy", "tight", "lru"};
    const struct model_shape* const shape = &program->options.shape;
    printf("{\"device_name\":\"%s\",\"size\":%" PRIu64 ",\"residents\":%u,\"tokens\":%u"
           ",\"distance\":%.3e",
           program->device.properties.deviceName, model_size(shape), model_resident_count(shape),
           shape->positions - shape->prompt, program->distance);
    for (uint32_t i = 0; i < RUN_COUNT; ++i) {
        const struct model_result* const run = &program->runs[i];
        const MaarTierInfo* const device = &run->info.tiers[MAAR_TIER_DEVICE];
        printf(",\"%s\":{\"different\":%u,\"budget\":%" PRIu64 ",\"peak\":%" PRIu64
               ",\"restored\":%" PRIu64 ",\"clean\":%" PRIu64 ",\"saved\":%" PRIu64
               ",\"pins\":%u,\"lost\":%" PRIu64 "}",
               names[i], program->different[i], device->budget, device->peakSize, run->restored,
               device->cleanSize, run->info.tiers[MAAR_TIER_HOST].savedSize, run->info.pinCount,
               run->info.lostCount);
    }
    printf(",\"text\":[");
    for (uint32_t i = shape->prompt; i < shape->positions; ++i) {
        printf("%s%u", i == shape->prompt ? "" : ",", program->runs[RUN_ROOMY].text->tokens[i]);
    }
    printf("]}\n");
}

static bool check_text(const struct program* program)
{
    if (!(program->distance <= MODEL_CHECKS_MOST_DISTANCE)) {
        sample_complain("the first logits differ from the host's by %g of the greatest",
                        program->distance);
        return false;
    }
    if (program->different[RUN_TIGHT] + program->different[RUN_LRU] > 0) {
        sample_complain("%u tokens differ from those with room; with LRU %u",
                        program->different[RUN_TIGHT], program->different[RUN_LRU]);
        return false;
    }
    return true;
}

static bool generate_texts(struct program* program)
{
    const struct model_options* const options = &program->options;
    if (!run_all(program)) {
        return false;
    }
    (options->json ? print_text_json : print_text)(program);
    return check_text(program) && (options->picture == NULL ||
                                   model_strip_write(&options->shape, &program->runs[RUN_TIGHT],
                                                     &program->runs[RUN_LRU], options->picture));
}

/* ---- in virtual time ---- */

static void print_speed(const struct program* program)
{
    const struct model_speed* const speed = &program->speed;
    const double size = (double)model_size(&program->options.shape) * MODEL_BYTE_STANDS_FOR;
    printf("language_model: a simulated %s, in virtual time; no shader is executed\n\n",
           program->device.properties.deviceName);
    printf("  model             %u layers, %.1f GiB (each byte stands for %u)\n",
           program->options.shape.layers, size / 1073741824.0, MODEL_BYTE_STANDS_FOR);
    printf("  bandwidth         %.0f GB/s on the device, %.0f GB/s between it and the host\n",
           (double)MODEL_DEVICE_BANDWIDTH / 1e9, (double)MODEL_HOST_BANDWIDTH / 1e9);
    printf("  with room         %.2f tokens a second\n\n", speed->roomy);
    printf("  %8s  %30s    %30s\n", "", "tokens a second", "restored a token, of the model");
    printf("  %8s  %10s%10s%10s    %10s%10s%10s\n", "budget", "Maar", "no hints", "LRU", "Maar",
           "no hints", "LRU");
    for (uint32_t i = 0; i < MODEL_SPEED_POINTS; ++i) {
        const struct model_speed_point* const point = &speed->points[i];
        printf("  %6u %%", point->percent);
        for (uint32_t way = 0; way < MODEL_WAY_COUNT; ++way) {
            printf("%s%10.2f", way == 0 ? "  " : "", point->tokens_per_second[way]);
        }
        for (uint32_t way = 0; way < MODEL_WAY_COUNT; ++way) {
            printf("%s%9.0f%%", way == 0 ? "    " : "", 100.0 * point->restored[way]);
        }
        printf("\n");
    }
    printf("%s\n", speed->is_unified
                       ? "\n  This device has one memory for itself and the host, and no "
                         "bus: LRU costs little.\n"
                       : "");
}

static void print_speed_json(const struct program* program)
{
    static const char* const names[MODEL_WAY_COUNT] = {"hinted", "unhinted", "lru"};
    const struct model_speed* const speed = &program->speed;
    printf("{\"device_name\":\"%s\",\"roomy\":%.4f,\"points\":[",
           program->device.properties.deviceName, speed->roomy);
    for (uint32_t i = 0; i < MODEL_SPEED_POINTS; ++i) {
        const struct model_speed_point* const point = &speed->points[i];
        printf("%s{\"percent\":%u", i == 0 ? "" : ",", point->percent);
        for (uint32_t way = 0; way < MODEL_WAY_COUNT; ++way) {
            printf(",\"%s\":{\"speed\":%.4f,\"restored\":%.4f}", names[way],
                   point->tokens_per_second[way], point->restored[way]);
        }
        printf("}");
    }
    printf("]}\n");
}

static bool play_uses(struct program* program)
{
    const struct model_options* const options = &program->options;
    if (!model_speed_measure(&program->device, &program->weights, options->mistake,
                             &program->speed)) {
        return false;
    }
    (options->json ? print_speed_json : print_speed)(program);
    return model_speed_check(&program->speed) &&
           (options->picture == NULL ||
            model_speed_draw(&program->speed, &options->shape,
                             program->device.properties.deviceName, options->picture));
}

int main(int argc, char** argv)
{
    static struct program program;
    struct model_options* const options = &program.options;
    int exit_code = SAMPLE_EXIT_OK;
    if (!model_options_parse(options, argc, argv, &exit_code)) {
        return sample_end(exit_code);
    }
    const struct sample_device_options wanted = {
        .device = options->device,
        .validate = options->validate,
        .second_queue = true, /* copies go on while shaders compute */
        .lend_second_queue = true,
        .require = name_missing,
        .user_data = options,
    };
    exit_code = sample_device_open(&program.device, &wanted);
    if (exit_code == SAMPLE_EXIT_OK &&
        (!model_weights_open(&program.weights, &options->shape) ||
         !(options->is_simulated ? play_uses : generate_texts)(&program))) {
        exit_code = SAMPLE_EXIT_FAILED;
    }
    for (uint32_t i = 0; i < RUN_COUNT; ++i) {
        model_result_destroy(&program.runs[i]);
    }
    model_compute_destroy(&program.compute);
    model_weights_close(&program.weights);
    sample_device_close(&program.device);
    const uint32_t messages = program.device.messages.count;
    if (exit_code == SAMPLE_EXIT_OK && messages > 0) {
        sample_complain("%u messages", messages);
        exit_code = SAMPLE_EXIT_FAILED;
    }
    return sample_end(exit_code);
}
