/*
 * Computes on the host; see model_reference.h.
 */
#include "model_reference.h"

#include <math.h>
#include <stdlib.h>

/* The state between tokens, and room for one token's vectors. */
struct reference {
    struct model_shape shape;
    double* keys; /* layer by layer, a row for each token */
    double* values;
    double* stream;
    double* input;
    double* output;
    double* hidden;
};

static void normalize_row(uint32_t count, const double* from, const float* gains, double* to)
{
    double squares = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        squares += from[i] * from[i];
    }
    const double scale = 1.0 / sqrt(squares / count + 1e-5);
    for (uint32_t i = 0; i < count; ++i) {
        to[i] = from[i] * scale * (double)gains[i];
    }
}

/* Adds to `to` the product of a row and a matrix. */
static void add_product(uint32_t wide, uint32_t narrow, const double* from, const float* matrix,
                        double* to)
{
    for (uint32_t i = 0; i < wide; ++i) {
        for (uint32_t k = 0; k < narrow; ++k) {
            to[k] += from[i] * (double)matrix[(size_t)i * narrow + k];
        }
    }
}

static void clear_row(uint32_t count, double* row)
{
    for (uint32_t i = 0; i < count; ++i) {
        row[i] = 0.0;
    }
}

/* Rotates the pairs of a query or a key by the position of its token. */
static void rotate_row(uint32_t width, uint32_t position, double* row)
{
    for (uint32_t i = 0; i < width; i += 2) {
        const double angle = position * exp2(-13.0 * (i % MODEL_HEAD) / MODEL_HEAD);
        const double x = row[i];
        const double y = row[i + 1];
        row[i] = x * cos(angle) - y * sin(angle);
        row[i + 1] = x * sin(angle) + y * cos(angle);
    }
}

static void attend_head(const struct reference* reference, uint32_t position, const double* query,
                        const double* keys, const double* values, double* mixed)
{
    const uint32_t width = reference->shape.width;
    double shares[MODEL_MOST_POSITIONS];
    double most = -INFINITY;
    double sum = 0.0;
    for (uint32_t at = 0; at <= position; ++at) {
        shares[at] = 0.0;
        for (uint32_t i = 0; i < MODEL_HEAD; ++i) {
            shares[at] += query[i] * keys[(size_t)at * width + i] / sqrt(MODEL_HEAD);
        }
        most = fmax(most, shares[at]);
    }
    clear_row(MODEL_HEAD, mixed);
    for (uint32_t at = 0; at <= position; ++at) {
        const double share = exp(shares[at] - most);
        sum += share;
        for (uint32_t i = 0; i < MODEL_HEAD; ++i) {
            mixed[i] += share * values[(size_t)at * width + i];
        }
    }
    for (uint32_t i = 0; i < MODEL_HEAD; ++i) {
        mixed[i] /= sum;
    }
}

static void run_layer(struct reference* it, const float* weights, uint32_t number,
                      uint32_t position)
{
    const struct model_layer layer = model_layer_of(&it->shape);
    const uint32_t width = it->shape.width;
    const uint32_t hidden = it->shape.hidden;
    double* const keys = it->keys + (size_t)number * MODEL_MOST_POSITIONS * width;
    double* const values = it->values + (size_t)number * MODEL_MOST_POSITIONS * width;
    normalize_row(width, it->stream, weights + layer.norm, it->input);
    clear_row(3 * width, it->output);
    add_product(width, 3 * width, it->input, weights + layer.mix, it->output);
    rotate_row(width, position, it->output);
    rotate_row(width, position, it->output + width);
    for (uint32_t i = 0; i < width; ++i) {
        keys[(size_t)position * width + i] = it->output[width + i];
        values[(size_t)position * width + i] = it->output[2 * width + i];
    }
    for (uint32_t head = 0; head < width; head += MODEL_HEAD) {
        attend_head(it, position, it->output + head, keys + head, values + head, it->input + head);
    }
    add_product(width, width, it->input, weights + layer.out, it->stream);
    normalize_row(width, it->stream, weights + layer.second_norm, it->input);
    clear_row(2 * hidden, it->output);
    add_product(width, 2 * hidden, it->input, weights + layer.up, it->output);
    for (uint32_t i = 0; i < hidden; ++i) {
        const double gate = it->output[i];
        it->hidden[i] = it->output[hidden + i] * gate / (1.0 + exp(-gate));
    }
    add_product(hidden, width, it->hidden, weights + layer.down, it->stream);
}

static void run_token(struct reference* it, const struct model_weights* weights, uint32_t token,
                      uint32_t position)
{
    const struct model_vocabulary vocabulary = model_vocabulary_of(&it->shape);
    const float* const words = model_weights_of(weights, 0) + vocabulary.words;
    for (uint32_t i = 0; i < it->shape.width; ++i) {
        it->stream[i] = (double)words[(size_t)token * it->shape.width + i];
    }
    for (uint32_t i = 0; i < it->shape.layers; ++i) {
        run_layer(it, model_weights_of(weights, 1 + i), i, position);
    }
}

bool model_reference_logits(const struct model_weights* weights, const uint32_t* tokens,
                            uint32_t first, uint32_t count, double* logits)
{
    const struct model_shape* const shape = &weights->shape;
    const struct model_vocabulary vocabulary = model_vocabulary_of(shape);
    const size_t cache = (size_t)shape->layers * MODEL_MOST_POSITIONS * shape->width;
    const size_t vectors = 2 * shape->width + 3 * shape->hidden;
    double* const memory = calloc(2 * cache + vectors, sizeof(*memory));
    if (!sample_has_memory(memory)) {
        return false;
    }
    struct reference it = {.shape = *shape, .keys = memory, .values = memory + cache};
    it.stream = it.values + cache;
    it.input = it.stream + shape->width;
    it.output = it.input + shape->width;
    it.hidden = it.output + 2 * shape->hidden;
    for (uint32_t i = 0; i < count; ++i) {
        run_token(&it, weights, tokens[i], i);
        if (i < first) {
            continue;
        }
        double* const to = logits + (size_t)(i - first) * MODEL_WORDS;
        clear_row(MODEL_WORDS, to);
        normalize_row(shape->width, it.stream, model_weights_of(weights, 0) + vocabulary.norm,
                      it.input);
        add_product(shape->width, MODEL_WORDS, it.input,
                    model_weights_of(weights, 0) + vocabulary.logits, to);
    }
    free(memory);
    return true;
}
