/*
 * Records the stages of the model; see model_compute.h.
 */
#include "model_compute.h"

#include <string.h>

#define LANES 64u /* of a group */

/* Where the activations lie in the scratch buffer, each with a row for each token of a pass. */
struct rows {
    uint32_t stream; /* what the layers add to */
    uint32_t input;  /* of a matrix */
    uint32_t output; /* of a matrix */
    uint32_t hidden; /* inside a layer's second half */
    uint32_t size;
};

static struct rows rows_of(const struct model_shape* shape)
{
    const uint32_t one = MODEL_PART * shape->width;
    struct rows rows = {.stream = 0, .input = one, .output = 2 * one};
    rows.hidden = rows.output + MODEL_PART * 2 * shape->hidden;
    rows.size = rows.hidden + MODEL_PART * shape->hidden;
    return rows;
}

size_t model_compute_text_size(const struct model_shape* shape)
{
    const size_t chosen = shape->positions - shape->prompt;
    return sizeof(struct model_text) + chosen * MODEL_WORDS * sizeof(float);
}

/* ---- buffers ---- */

static bool create_model_buffer(const struct sample_device* device, VkDeviceSize size,
                                bool is_for_host, VkBuffer* buffer, MaarAllocation* memory)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = is_for_host ? (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_MAPPED_BIT : 0,
        .usage = is_for_host ? MAAR_MEMORY_USAGE_READBACK : MAAR_MEMORY_USAGE_DEVICE_LOCAL};
    return sample_succeeded(maarCreateBuffer(device->allocator, &info, &how, buffer, memory),
                            "maarCreateBuffer");
}

bool model_compute_create(struct model_compute* compute, const struct sample_device* device,
                          const struct model_shape* shape)
{
    memset(compute, 0, sizeof(*compute));
    compute->device = device;
    compute->shape = *shape;
    return model_kernels_create(&compute->kernels, device->device) &&
           create_model_buffer(device, rows_of(shape).size * sizeof(float), false,
                               &compute->scratch, &compute->scratch_memory) &&
           create_model_buffer(device, model_compute_text_size(shape), true, &compute->text,
                               &compute->text_memory);
}

void model_compute_destroy(struct model_compute* compute)
{
    if (compute->device == NULL) {
        return;
    }
    model_kernels_destroy(&compute->kernels);
    maarDestroyBuffer(compute->device->allocator, compute->scratch, compute->scratch_memory);
    maarDestroyBuffer(compute->device->allocator, compute->text, compute->text_memory);
    memset(compute, 0, sizeof(*compute));
}

bool model_compute_begin(struct model_compute* compute)
{
    struct model_text* const text =
        maarGetMappedData(compute->device->allocator, compute->text_memory);
    memset(text, 0, model_compute_text_size(&compute->shape));
    for (uint32_t i = 0; i < compute->shape.prompt; ++i) {
        text->tokens[i] = (97 + 211 * i) % MODEL_WORDS;
    }
    return sample_succeeded(
        maarFlushAllocation(compute->device->allocator, compute->text_memory, 0, VK_WHOLE_SIZE),
        "maarFlushAllocation");
}

const struct model_text* model_compute_text(const struct model_compute* compute)
{
    MaarAllocator const allocator = compute->device->allocator;
    return sample_succeeded(
               maarInvalidateAllocation(allocator, compute->text_memory, 0, VK_WHOLE_SIZE),
               "maarInvalidateAllocation")
               ? maarGetMappedData(allocator, compute->text_memory)
               : NULL;
}

/* ---- commands ---- */

/* What the commands of a stage have in common. */
struct stage {
    const struct model_compute* compute;
    VkCommandBuffer commands;
    struct rows rows;
    uint32_t position; /* of the first token */
    uint32_t count;    /* tokens */
};

static uint32_t groups_for(uint32_t invocations)
{
    return (invocations + LANES - 1) / LANES;
}

void model_compute_prepare(uint32_t part_count, const MaarResidentObject* parts,
                           VkCommandBuffer commands)
{
    static const VkPipelineStageFlags both =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask =
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    vkCmdPipelineBarrier(commands, both, both, 0, 1, &barrier, 0, NULL, 0, NULL);
    for (uint32_t i = 0; i < part_count; ++i) {
        if (parts[i].isFresh == VK_TRUE) {
            vkCmdFillBuffer(commands, parts[i].buffer, 0, VK_WHOLE_SIZE, 0);
            vkCmdPipelineBarrier(commands, both, both, 0, 1, &barrier, 0, NULL, 0, NULL);
        }
    }
}

static void run_kernel(const struct stage* stage, enum model_kernel kernel, uint32_t groups,
                       struct model_job job)
{
    job.position = stage->position;
    model_kernels_run(&stage->compute->kernels, kernel, &job, groups, stage->count,
                      stage->commands);
}

static void normalize(const struct stage* stage, uint32_t gains)
{
    run_kernel(stage, MODEL_KERNEL_NORM, 1,
               (struct model_job){.weights = gains,
                                  .from = stage->rows.stream,
                                  .to = stage->rows.input,
                                  .wide = stage->compute->shape.width});
}

static void multiply(const struct stage* stage, const struct model_job* job)
{
    run_kernel(stage, MODEL_KERNEL_MULTIPLY, groups_for(job->narrow), *job);
}

/* Adds attention to the stream: what the tokens before say. */
static void record_attention(const struct stage* stage, const struct model_layer* layer)
{
    const uint32_t width = stage->compute->shape.width;
    const struct rows* const rows = &stage->rows;
    const struct model_job heads = {.from = rows->output, .to = rows->input, .narrow = width};
    normalize(stage, layer->norm);
    multiply(stage, &(struct model_job){.weights = layer->mix,
                                        .from = rows->input,
                                        .to = rows->output,
                                        .wide = width,
                                        .narrow = 3 * width});
    run_kernel(stage, MODEL_KERNEL_REMEMBER, groups_for(width / 2), heads);
    run_kernel(stage, MODEL_KERNEL_ATTEND, width / MODEL_HEAD, heads);
    multiply(stage, &(struct model_job){.weights = layer->out,
                                        .from = rows->input,
                                        .to = rows->stream,
                                        .wide = width,
                                        .narrow = width,
                                        .mode = MODEL_MODE_ADD});
}

/* Adds to the stream what the layer makes of each token alone. */
static void record_thought(const struct stage* stage, const struct model_layer* layer)
{
    const struct model_shape* const shape = &stage->compute->shape;
    const struct rows* const rows = &stage->rows;
    normalize(stage, layer->second_norm);
    multiply(stage, &(struct model_job){.weights = layer->up,
                                        .from = rows->input,
                                        .to = rows->output,
                                        .wide = shape->width,
                                        .narrow = 2 * shape->hidden});
    run_kernel(
        stage, MODEL_KERNEL_GATE, groups_for(shape->hidden),
        (struct model_job){.from = rows->output, .to = rows->hidden, .narrow = shape->hidden});
    multiply(stage, &(struct model_job){.weights = layer->down,
                                        .from = rows->hidden,
                                        .to = rows->stream,
                                        .wide = shape->hidden,
                                        .narrow = shape->width,
                                        .mode = MODEL_MODE_ADD});
}

/* Looks up the vectors of the tokens. */
static void record_words(const struct stage* stage, const struct model_vocabulary* vocabulary)
{
    const uint32_t width = stage->compute->shape.width;
    run_kernel(stage, MODEL_KERNEL_EMBED, groups_for(width),
               (struct model_job){
                   .weights = vocabulary->words, .to = stage->rows.stream, .narrow = width});
}

/* Chooses the token after the last one of the pass. A pass within the prompt chooses nothing. */
static void record_choice(struct stage* stage, const struct model_vocabulary* vocabulary)
{
    const struct model_shape* const shape = &stage->compute->shape;
    const uint32_t next = stage->position + stage->count;
    if (next < shape->prompt) {
        return;
    }
    const uint32_t logits = (next - shape->prompt) * MODEL_WORDS;
    normalize(stage, vocabulary->norm);
    const uint32_t last = stage->rows.input + (stage->count - 1) * shape->width;
    stage->count = 1;
    stage->position = next;
    multiply(stage, &(struct model_job){.weights = vocabulary->logits,
                                        .from = last,
                                        .to = logits,
                                        .wide = shape->width,
                                        .narrow = MODEL_WORDS,
                                        .mode = MODEL_MODE_LOGITS});
    run_kernel(stage, MODEL_KERNEL_CHOOSE, 1,
               (struct model_job){.from = logits, .wide = MODEL_WORDS});
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(stage->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

void model_compute_record(const struct model_compute* compute, uint32_t slot, uint32_t stage_number,
                          const struct model_pass* pass, const MaarResidentObject* objects,
                          VkCommandBuffer commands)
{
    const struct model_shape* const shape = &compute->shape;
    const bool is_layer = stage_number > 0 && stage_number <= shape->layers;
    const uint32_t part_count = is_layer ? pass->first / MODEL_PART + 1 : 0;
    const struct model_layer layer = model_layer_of(shape);
    const struct model_vocabulary vocabulary = model_vocabulary_of(shape);
    struct stage stage = {.compute = compute,
                          .commands = commands,
                          .rows = rows_of(shape),
                          .position = pass->first,
                          .count = pass->count};
    struct model_buffers buffers = {
        .weights = objects[0].buffer, .scratch = compute->scratch, .text = compute->text};
    for (uint32_t i = 0; i < MODEL_MOST_PARTS; ++i) {
        /* Descriptors that no shader reads need a buffer, too. */
        buffers.parts[i] = i < part_count ? objects[1 + i].buffer : compute->scratch;
    }
    model_compute_prepare(part_count, objects + 1, commands);
    model_kernels_bind(&compute->kernels, slot, &buffers, commands);
    if (stage_number == 0) {
        record_words(&stage, &vocabulary);
    } else if (is_layer) {
        record_attention(&stage, &layer);
        record_thought(&stage, &layer);
    } else {
        record_choice(&stage, &vocabulary);
    }
}
