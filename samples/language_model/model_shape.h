/*
 * The sizes of the model, and which resident is what. Offsets and sizes are in floats where nothing
 * else is said.
 *
 * A pass takes some tokens through all stages. Stage 0 looks up the vectors of the tokens, then
 * comes a stage for each layer, and the last stage chooses the next token. Each stage is one
 * submission.
 */
#ifndef MAAR_SAMPLE_MODEL_SHAPE_H
#define MAAR_SAMPLE_MODEL_SHAPE_H

#include <stdint.h>

/* The shaders have these numbers, too. */
#define MODEL_HEAD 32u /* of an attention head */
#define MODEL_PART 64u /* tokens of a part of the KV cache */
#define MODEL_MOST_PARTS 4u
#define MODEL_MOST_POSITIONS (MODEL_MOST_PARTS * MODEL_PART)

#define MODEL_WORDS 512u /* of the vocabulary */
#define MODEL_MOST_LAYERS 64u
#define MODEL_MOST_RESIDENTS (1u + MODEL_MOST_LAYERS * (1u + MODEL_MOST_PARTS))

struct model_shape {
    uint32_t layers;
    uint32_t width;     /* of the vector of a token */
    uint32_t hidden;    /* of the vector inside a layer's second half */
    uint32_t prompt;    /* tokens that are given */
    uint32_t positions; /* tokens of the whole text; the last one is only chosen */
    uint32_t parts;     /* of the KV cache of a layer */
};

/* Fills in what follows from the numbers of layers, floats and tokens. */
struct model_shape model_shape_of(uint32_t layers, uint32_t width, uint32_t prompt,
                                  uint32_t tokens);

/* Where the matrices of a layer begin, each one row after another. */
struct model_layer {
    uint32_t norm, mix, out;        /* gains; queries, keys and values; what attention gives */
    uint32_t second_norm, up, down; /* gains; gate and value; back */
    uint32_t size;
};
struct model_layer model_layer_of(const struct model_shape* shape);

/* The same for the vocabulary: a row for each word, gains, a column for each word. */
struct model_vocabulary {
    uint32_t words, norm, logits, size;
};
struct model_vocabulary model_vocabulary_of(const struct model_shape* shape);

/* The residents: the vocabulary, the layers, and the parts of the KV cache, layer by layer. */
uint32_t model_resident_count(const struct model_shape* shape);
uint32_t model_weights_count(const struct model_shape* shape); /* the first ones */
uint32_t model_part_of(const struct model_shape* shape, uint32_t layer, uint32_t part);
/* Returns the bytes of a resident. */
uint64_t model_resident_size(const struct model_shape* shape, uint32_t resident);
/* Returns the bytes of all residents. */
uint64_t model_size(const struct model_shape* shape);

uint32_t model_stage_count(const struct model_shape* shape);

/* The tokens of a pass: a run of the text that lies in one part of the KV cache. */
struct model_pass {
    uint32_t first, count;
};
/* Returns the pass after the one that ended before token `first`. The prompt needs as many passes
 * as it has parts, each later token one. */
struct model_pass model_pass_from(const struct model_shape* shape, uint32_t first);

#endif
