/*
 * Takes pass after pass through the stages of the model; see model_run.h.
 */
#include "model_run.h"

#include "model_virtual.h"

#include <stdlib.h>
#include <string.h>

#define STAGES_AHEAD 3u /* that are prefetched while the host waits for a token */

struct model_runner {
    const struct model_run_info* info;
    struct model_shape shape;
    struct sample_work work;
    struct model_memory memory;
    struct model_result* result;
};

/* ---- what a stage uses ---- */

static MaarAccessFlags weights_access(const struct model_runner* runner)
{
    return runner->info->mistake == MODEL_MISTAKE_RESTORE ? MAAR_ACCESS_OVERWRITE_BIT
                                                          : MAAR_ACCESS_READ_BIT;
}

static MaarAccessFlags last_part_access(const struct model_runner* runner,
                                        const struct model_pass* pass)
{
    const bool is_new = pass->first % MODEL_PART == 0;
    return runner->info->mistake == MODEL_MISTAKE_ACCESS && !is_new ? MAAR_ACCESS_READ_BIT
                                                                    : MAAR_ACCESS_WRITE_BIT;
}

/* Lists what a stage of a pass uses: weights, and the KV cache of a layer up to the tokens of the
 * pass. Only the last part of it is written; the others are full. Returns their number. */
static uint32_t find_uses(const struct model_runner* runner, uint32_t stage,
                          const struct model_pass* pass, struct model_use* uses)
{
    const struct model_shape* const shape = &runner->shape;
    uint32_t count = 0;
    if (stage == 0 || stage > shape->layers) {
        uses[count++] = (struct model_use){0, MAAR_ACCESS_READ_BIT};
        return count;
    }
    const uint32_t last = pass->first / MODEL_PART;
    uses[count++] = (struct model_use){stage, weights_access(runner)};
    for (uint32_t part = 0; part <= last; ++part) {
        uses[count++] = (struct model_use){model_part_of(shape, stage - 1, part),
                                           part == last ? last_part_access(runner, pass)
                                                        : MAAR_ACCESS_READ_BIT};
    }
    return count;
}

/* Names to the manager what the first stages of the next pass use. Within a pass, Maar copies ahead
 * of the device by itself, since this program submits ahead of it. */
static bool look_ahead_from(struct model_runner* runner, const struct model_pass* pass)
{
    struct model_use uses[1 + MODEL_MOST_PARTS];
    uint32_t upcoming[MODEL_MOST_UPCOMING];
    uint32_t count = 0;
    const struct model_pass next = model_pass_from(&runner->shape, pass->first + pass->count);
    for (uint32_t stage = 0; stage < STAGES_AHEAD; ++stage) {
        const uint32_t use_count = find_uses(runner, stage, &next, uses);
        for (uint32_t i = 0; i < use_count; ++i) {
            upcoming[count++] = uses[i].number;
        }
    }
    return model_memory_look_ahead(&runner->memory, count, upcoming);
}

/* ---- a stage ---- */

static void record_stage(const struct model_runner* runner, uint32_t stage,
                         const struct model_pass* pass, const MaarResidentObject* objects,
                         VkCommandBuffer commands)
{
    if (runner->info->compute != NULL) {
        model_compute_record(runner->info->compute, runner->work.slot, stage, pass, objects,
                             commands);
    } else {
        model_virtual_record(&runner->shape, stage, pass, objects, commands);
    }
}

static bool run_stage(struct model_runner* runner, uint32_t stage, const struct model_pass* pass)
{
    struct model_use uses[1 + MODEL_MOST_PARTS];
    MaarResidentObject objects[1 + MODEL_MOST_PARTS];
    MaarUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    MaarUse use = VK_NULL_HANDLE;
    const uint32_t count = find_uses(runner, stage, pass, uses);
    const VkCommandBuffer commands = sample_work_begin(&runner->work);
    if (commands == NULL ||
        !model_memory_begin(&runner->memory, count, uses, objects, &info, &use)) {
        return false;
    }
    model_trace_note(&runner->result->trace, &runner->memory, count, uses);
    record_stage(runner, stage, pass, objects, commands);
    const bool must_wait = info.mustWait == VK_TRUE && runner->info->mistake != MODEL_MISTAKE_WAIT;
    if (!sample_work_submit(&runner->work, must_wait ? &info.wait : NULL, NULL)) {
        model_memory_cancel(&runner->memory, use);
        return false;
    }
    const MaarPoint done = {runner->work.timeline, runner->work.value};
    return model_memory_end(&runner->memory, use, &done);
}

/* ---- a text ---- */

/* The figures when the prompt has been read. */
struct milestone {
    uint64_t restored;
    uint64_t nanoseconds;
};

static bool look_at_figures(const struct model_runner* runner, struct milestone* milestone)
{
    MaarResidencyInfo info;
    if (!model_memory_look(&runner->memory, &info)) {
        return false;
    }
    milestone->restored = info.tiers[MAAR_TIER_DEVICE].restoredSize;
    milestone->nanoseconds =
        runner->info->compute == NULL ? model_virtual_clock(runner->info->device) : 0;
    return true;
}

static bool generate(struct model_runner* runner)
{
    const struct model_shape* const shape = &runner->shape;
    struct milestone begun = {0, 0};
    struct milestone ended = {0, 0};
    bool done = true;
    for (uint32_t first = 0; done && first + 1 < shape->positions;) {
        const struct model_pass pass = model_pass_from(shape, first);
        for (uint32_t stage = 0; done && stage < model_stage_count(shape); ++stage) {
            done = run_stage(runner, stage, &pass);
        }
        first += pass.count;
        if (done && first + 1 < shape->positions) {
            done = look_ahead_from(runner, &pass);
        }
        /* A program that prints the token, or looks whether it is the last one, waits here. */
        done = done && sample_work_wait(&runner->work);
        if (done && first == shape->prompt) {
            done = look_at_figures(runner, &begun);
        }
    }
    done = done && look_at_figures(runner, &ended);
    runner->result->restored = ended.restored - begun.restored;
    runner->result->nanoseconds = ended.nanoseconds - begun.nanoseconds;
    return done && model_memory_look(&runner->memory, &runner->result->info);
}

static bool keep_text(struct model_runner* runner)
{
    struct model_compute* const compute = runner->info->compute;
    const size_t size = model_compute_text_size(&runner->shape);
    const struct model_text* const text = model_compute_text(compute);
    runner->result->text = text != NULL ? malloc(size) : NULL;
    if (text == NULL || !sample_has_memory(runner->result->text)) {
        return false;
    }
    memcpy(runner->result->text, text, size);
    return true;
}

bool model_run(const struct model_run_info* info, struct model_result* result)
{
    static struct model_runner runner; /* large: not on the stack */
    memset(&runner, 0, sizeof(runner));
    memset(result, 0, sizeof(*result));
    runner.info = info;
    runner.shape = info->weights->shape;
    runner.result = result;
    bool done =
        model_trace_create(&result->trace, &runner.shape) &&
        sample_work_create(&runner.work, info->device) &&
        model_memory_create(&runner.memory, info->device, info->weights, info->way, info->budget) &&
        (info->compute == NULL || model_compute_begin(info->compute)) && generate(&runner) &&
        (info->compute == NULL || keep_text(&runner));
    /* Some drivers use a semaphore for a moment after what waited for it has signalled. */
    done = sample_succeeded(vkDeviceWaitIdle(info->device->device), "vkDeviceWaitIdle") && done;
    model_memory_destroy(&runner.memory);
    /* Maar may hold memory until points of the timeline have passed. */
    (void)maarWaitPending(info->device->allocator, UINT64_MAX);
    sample_work_destroy(&runner.work);
    return done;
}

void model_result_destroy(struct model_result* result)
{
    free(result->text);
    model_trace_destroy(&result->trace);
    memset(result, 0, sizeof(*result));
}
