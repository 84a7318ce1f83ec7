/*
 * Shared particles, headless: one side moves the particles, the other renders them, in the same
 * memory. The mover is a CUDA kernel, or a second process with its own Vulkan device. README.md
 * explains how to read the sample.
 */
#include "particle_mover.h"
#include "particle_picture.h"
#include "particle_view.h"
#include "support/seconds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tolerated distance between a particle and its reference, due to rounding. One step is much
 * longer. */
#define TOLERANCE 1.0e-4

/* All state that lives as long as the program. */
struct program {
    struct particle_options options;
    struct sample_device device;
    struct particle_rules rules;
    struct particle*
        beginning; /* the particles at the beginning; after the comparison, the reference */
    struct particle* ending;
    struct particle_share share;
    struct sample_work work;
    struct particle_view view;
    struct particle_picture picture;
    struct particle_mover* mover;
    const char* route;
    struct particle_reason reason; /* reason for not using CUDA */
    struct particle_account account;
    struct particle_comparison comparison;
    VkPhysicalDeviceDynamicRenderingFeatures rendering;
    double seconds;
};

/* ---- the device ---- */

static const char* require_rendering(struct sample_device* device, void* user_data)
{
    struct program* const program = user_data;
    VkPhysicalDeviceFeatures found;
    const char* const missing = sample_require_rendering(device, &program->rendering, &found);
    if (missing != NULL) {
        return missing;
    }
    if (found.largePoints == VK_FALSE) {
        return "largePoints";
    }
    device->advice->features.features.largePoints = VK_TRUE;
    return NULL;
}

/* ---- who moves ---- */

static int choose_mover(struct program* program)
{
    const struct particle_options* const options = &program->options;
    if (options->route != PARTICLE_ROUTE_PROCESS) {
        program->route = "CUDA";
        program->mover =
            particle_mover_cuda(&program->share, options, &program->rules, &program->reason);
        if (program->mover == NULL && options->route == PARTICLE_ROUTE_CUDA) {
            sample_complain("CUDA is not available: %s", program->reason.text);
            return SAMPLE_EXIT_SKIPPED;
        }
    }
    if (program->mover == NULL) {
        struct particle_reason why = {""};
        program->route = "another process";
        program->mover = particle_mover_process(&program->share, options, &program->rules, &why);
        if (program->mover == NULL) {
            sample_complain("%s", why.text);
            return SAMPLE_EXIT_FAILED;
        }
    }
    return SAMPLE_EXIT_OK;
}

/* ---- frames ---- */

static bool take_picture(struct program* program)
{
    const VkCommandBuffer commands = sample_work_begin(&program->work);
    if (commands == NULL) {
        return false;
    }
    particle_view_shoot(&program->view, commands);
    return sample_work_submit(&program->work, NULL, NULL) && sample_work_wait(&program->work) &&
           particle_view_read(&program->view, program->picture.pixels);
}

static bool draw_frame(struct program* program)
{
    const VkCommandBuffer commands = sample_work_begin(&program->work);
    if (commands == NULL) {
        return false;
    }
    particle_view_draw(&program->view, commands, program->share.buffer, program->rules.count);
    return sample_work_submit(&program->work, NULL, NULL);
}

/* Returns whether a frame is a stage of the picture. The first stages show the beginning. */
static bool is_stage(const struct program* program, uint32_t frame)
{
    const uint32_t stage = program->picture.stage_count;
    return program->options.out != NULL && stage < PARTICLE_STAGES &&
           frame >= (uint64_t)program->options.frames * stage / (PARTICLE_STAGES - 1);
}

static bool run_frames(struct program* program)
{
    bool done = true;
    for (uint32_t frame = 0; done && frame <= program->options.frames; ++frame) {
        done = draw_frame(program);
        if (done && is_stage(program, frame)) {
            done = take_picture(program);
            particle_picture_keep(&program->picture);
        }
        if (done && frame < program->options.frames) {
            done = program->mover->move(program->mover);
        }
    }
    return done && program->mover->finish(program->mover, &program->account);
}

/* ---- figures ---- */

/* For CUDA, only the decrease of the card's free memory is known. Other programs may have
 * contributed to it, so that the check ignores it. */
static bool is_well(const struct program* program)
{
    const struct particle_comparison* const found = &program->comparison;
    const bool exact = program->account.memory_is_exact;
    return (!exact || program->account.own_memory == 0) && found->lost == 0 &&
           found->furthest_off <= TOLERANCE && program->account.steps == program->options.frames &&
           program->account.complaints == 0 && program->device.messages.count == 0;
}

static void print_account(const struct program* program)
{
    const struct particle_account* const account = &program->account;
    printf("shared_particles: %s\n\n", program->device.properties.deviceName);
    printf("  route                       %s%s%s\n", program->route,
           program->reason.text[0] != '\0' ? "; no CUDA here: " : "", program->reason.text);
    printf("  moved by                    %s\n", account->side);
    printf("  turns pass by               %s\n", account->turns);
    printf("  shared                      %.1f MiB of particles, in a block of %.1f MiB\n",
           (double)program->share.info.size / 1048576.0,
           (double)program->share.block_size / 1048576.0);
    printf("  the mover's device memory   %.1f MiB that it shares, %.1f MiB of its own%s\n",
           (double)account->shared_memory / 1048576.0, (double)account->own_memory / 1048576.0,
           account->own_memory == 0 ? ": there is nowhere to copy to" : "");
    if (account->messages > 0) {
        printf("  words between the sides     %.1f bytes a frame\n",
               (double)account->message_bytes / program->options.frames);
    }
    printf("  frames                      %u of %u particles in %.2f s\n", program->options.frames,
           program->rules.count, program->seconds);
    printf("  compared with a reference   %u particles; furthest off %.2g, where the last step of "
           "the slowest is %.2g\n",
           program->rules.count, program->comparison.furthest_off,
           program->comparison.shortest_step);
    if (program->comparison.lost > 0) {
        printf("  lost                        %u particles\n", program->comparison.lost);
    }
}

static void print_json(const struct program* program)
{
    const struct particle_account* const account = &program->account;
    printf("{\"device\":\"%s\",\"route\":\"%s\",\"moved_by\":\"%s\",\"turns\":\"%s\","
           "\"particles\":%u,\"frames\":%u,\"steps\":%u,\"shared_bytes\":%" PRIu64
           ",\"block_bytes\":%" PRIu64 ",\"mover_shared_memory\":%" PRIu64
           ",\"mover_own_memory\":%" PRIu64 ",\"words\":%" PRIu64
           ",\"furthest_off\":%.9g,\"shortest_step\":%.9g,\"lost\":%u,\"seconds\":%.3f,"
           "\"well\":%s}\n",
           program->device.properties.deviceName, program->route, account->side, account->turns,
           program->rules.count, program->options.frames, account->steps,
           (uint64_t)program->share.info.size, (uint64_t)program->share.block_size,
           account->shared_memory, account->own_memory, account->messages,
           program->comparison.furthest_off, program->comparison.shortest_step,
           program->comparison.lost, program->seconds, is_well(program) ? "true" : "false");
}

/* ---- the whole ---- */

static int prepare(struct program* program)
{
    const struct particle_options* const options = &program->options;
    const struct sample_device_options wanted = {.device = options->device,
                                                 .validate = options->validate,
                                                 .lend_main_queue = true,
                                                 .require = require_rendering,
                                                 .user_data = program};
    int code = sample_device_open(&program->device, &wanted);
    if (code == SAMPLE_EXIT_OK) {
        code = particle_share_create(&program->share, &program->device, program->rules.count);
    }
    if (code != SAMPLE_EXIT_OK) {
        return code;
    }
    particle_galaxy_fill(&program->rules, program->beginning);
    const bool done =
        sample_work_create(&program->work, &program->device) &&
        particle_view_create(&program->view, &program->device, options->width, options->height) &&
        particle_picture_create(&program->picture, options->width, options->height) &&
        particle_share_fill(&program->share, &program->work, program->beginning);
    return done ? choose_mover(program) : SAMPLE_EXIT_FAILED;
}

static int run(struct program* program)
{
    int code = prepare(program);
    if (code != SAMPLE_EXIT_OK) {
        return code;
    }
    const double before = support_seconds_now();
    if (!run_frames(program) || !take_picture(program)) {
        return SAMPLE_EXIT_FAILED;
    }
    program->seconds = support_seconds_now() - before;
    if (!particle_share_read(&program->share, &program->work, program->ending) ||
        (program->options.out != NULL &&
         !particle_picture_write(&program->picture, program->options.out))) {
        return SAMPLE_EXIT_FAILED;
    }
    particle_galaxy_compare(&program->rules, program->beginning, program->ending,
                            program->options.frames, &program->comparison);
    if (program->options.json) {
        print_json(program);
    } else {
        print_account(program);
    }
    if (!is_well(program)) {
        sample_complain("not all promises were kept");
        return SAMPLE_EXIT_FAILED;
    }
    return SAMPLE_EXIT_OK;
}

static int clean_up(struct program* program, int code)
{
    const uint32_t messages = program->device.messages.count;
    if (program->mover != NULL) {
        program->mover->destroy(program->mover);
    }
    sample_work_destroy(&program->work);
    particle_picture_destroy(&program->picture);
    particle_view_destroy(&program->view);
    particle_share_destroy(&program->share);
    sample_device_close(&program->device);
    free(program->beginning);
    free(program->ending);
    if (program->device.messages.count != messages) {
        sample_complain("messages arrived at the end");
        code = code == SAMPLE_EXIT_OK ? SAMPLE_EXIT_FAILED : code;
    }
    return code;
}

int main(int argc, char** argv)
{
    struct program* const program = calloc(1, sizeof(*program));
    int code = SAMPLE_EXIT_FAILED;
    if (program == NULL) {
        return code;
    }
    if (!particle_options_parse(&program->options, argc, argv, &code)) {
        free(program);
        return sample_end(code);
    }
    if (program->options.mover_socket != UINT32_MAX) {
        code = particle_mover_main(&program->options);
        free(program);
        return code;
    }
    program->rules = particle_rules_make(program->options.particles);
    program->beginning = calloc(program->rules.count, sizeof(*program->beginning));
    program->ending = calloc(program->rules.count, sizeof(*program->ending));
    if (program->beginning == NULL || program->ending == NULL) {
        sample_complain("out of memory");
    } else {
        code = run(program);
    }
    code = clean_up(program, code);
    free(program);
    return sample_end(code);
}
