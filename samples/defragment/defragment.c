/*
 * Defragmentation, headless: frames are rendered while the images and buffers that they use move
 * together. Every frame must be, byte for byte, that of a program that moves nothing. README.md
 * explains how to read the sample; cheese_moves.c contains the lesson.
 */
#include "cheese_picture.h"

#include "support/png_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MIB(bytes) ((double)(bytes) / 1048576.0)

/* All state that lives as long as the program. */
struct program {
    struct cheese_options options;
    struct sample_device device;
    struct cheese_film film;
    struct cheese_result result;
    VkPhysicalDeviceDynamicRenderingFeatures rendering;
};

static const char* require_features(struct sample_device* device, void* user_data)
{
    struct program* const program = user_data;
    VkPhysicalDeviceFeatures found;
    return sample_require_rendering(device, &program->rendering, &found);
}

/* ---- figures ---- */

static void print_figures(const struct program* program)
{
    const struct cheese_result* const result = &program->result;
    const struct cheese_account* const account = &result->account;
    const struct cheese_blocks* const before = &result->blocks[CHEESE_BEFORE];
    const struct cheese_blocks* const after = &result->blocks[CHEESE_AFTER];
    const double block = MIB(CHEESE_BLOCK_SIZE);
    printf("defragment: %s\n\n", program->device.properties.deviceName);
    printf("  the heap          %u planets, %u images and buffers of %.1f MiB\n", result->planets,
           before->count, MIB(before->live));
    printf("  the dry run said  %u blocks can be given back for %.1f MiB in %u moves\n",
           account->forecast.blockCount, MIB(account->forecast.moveBytes),
           account->forecast.moveCount);
    printf("  blocks            %u before, %u after: %.0f MiB, now %.0f MiB\n", before->pool_count,
           after->pool_count, block * before->pool_count, block * after->pool_count);
    printf("  moved             %.1f MiB in %u moves, some in each of %u frames\n",
           MIB(account->bytes), account->moves, account->steps);
    printf("  the longest step  %u moves; the most bytes of a step: %.2f MiB\n",
           account->most_moves, MIB(account->most_bytes));
    printf("  frames            %u, up to %u in flight%s\n", program->options.frames,
           SAMPLE_WORK_SLOTS,
           program->options.poison ? ", what was moved overwritten at its old place" : "");
    printf("  compared          %u frames differ from those of a heap that is left as it is\n\n",
           result->different);
}

static void print_json(const struct program* program)
{
    const struct cheese_result* const result = &program->result;
    const struct cheese_account* const account = &result->account;
    printf(
        "{\"device\":\"%s\",\"planets\":%u,\"objects\":%u,\"live\":%" PRIu64
        ",\"block_size\":%" PRIu64 ",\"blocks_before\":%u,\"blocks_after\":%u"
        ",\"forecast_blocks\":%u,\"forecast_moves\":%u,\"forecast_bytes\":%" PRIu64
        ",\"moves\":%u,\"bytes\":%" PRIu64 ",\"steps\":%u,\"most_moves\":%u,\"most_bytes\":%" PRIu64
        ",\"frames\":%u,\"different\":%u}\n",
        program->device.properties.deviceName, result->planets, result->blocks[CHEESE_BEFORE].count,
        result->blocks[CHEESE_BEFORE].live, CHEESE_BLOCK_SIZE,
        result->blocks[CHEESE_BEFORE].pool_count, result->blocks[CHEESE_AFTER].pool_count,
        account->forecast.blockCount, account->forecast.moveCount, account->forecast.moveBytes,
        account->moves, account->bytes, account->steps, account->most_moves, account->most_bytes,
        program->options.frames, result->different);
}

/* ---- checks ---- */

/* Returns whether a frame is one picture and not one colour: a driver that executes nothing must
 * not pass. */
static bool is_drawn(const struct cheese_film* film, uint32_t frame)
{
    const uint8_t* const pixels = cheese_film_frame(film, frame);
    const size_t count = (size_t)film->width * film->height;
    size_t differing = 0;
    for (size_t i = 1; i < count; ++i) {
        differing += memcmp(pixels + 4 * i, pixels, 3) != 0;
    }
    return differing > count / 10;
}

static bool check(const struct program* program)
{
    const struct cheese_result* const result = &program->result;
    const struct cheese_account* const account = &result->account;
    const uint32_t before = result->blocks[CHEESE_BEFORE].pool_count;
    const uint32_t after = result->blocks[CHEESE_AFTER].pool_count;
    const uint32_t frames = program->options.frames;
    if (!is_drawn(&program->film, 0) || !is_drawn(&program->film, frames - 1)) {
        sample_complain("nothing was drawn");
        return false;
    }
    if (result->different > 0) {
        sample_complain("%u of %u frames differ; the first is %u", result->different, frames,
                        result->first_different);
        return false;
    }
    if (after + account->forecast.blockCount != before || after >= before) {
        sample_complain("%u of %u blocks are left, where the dry run said that %u can be given "
                        "back",
                        after, before, account->forecast.blockCount);
        return false;
    }
    return true;
}

static bool write_pictures(const struct program* program)
{
    const struct cheese_options* const options = &program->options;
    struct support_error error = {{0}};
    if (options->out != NULL &&
        !support_png_write(options->out, options->width, options->height,
                           cheese_film_frame(&program->film, options->frames - 1), &error)) {
        sample_complain("%s", error.text);
        return false;
    }
    return options->picture == NULL ||
           cheese_picture_write(&program->result, program->device.properties.deviceName,
                                options->picture);
}

static bool run(struct program* program)
{
    const struct cheese_options* const options = &program->options;
    bool done =
        cheese_film_create(&program->film, options->width, options->height, options->frames) &&
        cheese_show_still(&program->device, options, &program->film) &&
        cheese_show_moving(&program->device, options, &program->film, &program->result);
    if (done) {
        (options->json ? print_json : print_figures)(program);
        done = check(program) && write_pictures(program);
    }
    cheese_result_release(&program->result);
    cheese_film_destroy(&program->film);
    return done;
}

int main(int argc, char** argv)
{
    static struct program program;
    int exit_code = SAMPLE_EXIT_OK;
    if (!cheese_options_parse(&program.options, argc, argv, &exit_code)) {
        return sample_end(exit_code);
    }
    const struct sample_device_options wanted = {
        .device = program.options.device,
        .validate = program.options.validate,
        .require = require_features,
        .user_data = &program,
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
