/*
 * Computes sizes; see model_shape.h.
 */
#include "model_shape.h"

struct model_shape model_shape_of(uint32_t layers, uint32_t width, uint32_t prompt, uint32_t tokens)
{
    const uint32_t positions = prompt + tokens;
    return (struct model_shape){
        .layers = layers,
        .width = width,
        .hidden = 3 * width,
        .prompt = prompt,
        .positions = positions,
        .parts = (positions + MODEL_PART - 1) / MODEL_PART,
    };
}

struct model_layer model_layer_of(const struct model_shape* shape)
{
    const uint32_t width = shape->width;
    struct model_layer layer = {.norm = 0, .mix = width};
    layer.out = layer.mix + 3 * width * width;
    layer.second_norm = layer.out + width * width;
    layer.up = layer.second_norm + width;
    layer.down = layer.up + 2 * width * shape->hidden;
    layer.size = layer.down + shape->hidden * width;
    return layer;
}

struct model_vocabulary model_vocabulary_of(const struct model_shape* shape)
{
    const uint32_t matrix = MODEL_WORDS * shape->width;
    return (struct model_vocabulary){
        .words = 0,
        .norm = matrix,
        .logits = matrix + shape->width,
        .size = 2 * matrix + shape->width,
    };
}

uint32_t model_weights_count(const struct model_shape* shape)
{
    return 1 + shape->layers;
}

uint32_t model_resident_count(const struct model_shape* shape)
{
    return model_weights_count(shape) + shape->layers * shape->parts;
}

uint32_t model_part_of(const struct model_shape* shape, uint32_t layer, uint32_t part)
{
    return model_weights_count(shape) + layer * shape->parts + part;
}

uint64_t model_resident_size(const struct model_shape* shape, uint32_t resident)
{
    uint32_t floats = 2 * MODEL_PART * shape->width; /* keys and values */
    if (resident == 0) {
        floats = model_vocabulary_of(shape).size;
    } else if (resident < model_weights_count(shape)) {
        floats = model_layer_of(shape).size;
    }
    return (uint64_t)floats * sizeof(float);
}

uint64_t model_size(const struct model_shape* shape)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < model_resident_count(shape); ++i) {
        size += model_resident_size(shape, i);
    }
    return size;
}

uint32_t model_stage_count(const struct model_shape* shape)
{
    return shape->layers + 2;
}

struct model_pass model_pass_from(const struct model_shape* shape, uint32_t first)
{
    const uint32_t in_part = MODEL_PART - first % MODEL_PART;
    const uint32_t in_prompt = first < shape->prompt ? shape->prompt - first : 1;
    return (struct model_pass){first, in_part < in_prompt ? in_part : in_prompt};
}
