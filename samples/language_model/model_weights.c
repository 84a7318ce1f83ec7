/*
 * Writes the weights; see model_weights.h.
 */
#include "model_weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A matrix whose products have about the variance of the vectors that it is multiplied with. */
static void fill_matrix(float* at, uint32_t rows, uint32_t columns, float scale, uint64_t* state)
{
    const float most = scale * sqrtf(3.0f / (float)rows);
    for (uint64_t i = 0; i < (uint64_t)rows * columns; ++i) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        at[i] = most * ((float)(*state >> 40) / 8388608.0f - 1.0f);
    }
}

static void fill_gains(float* at, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        at[i] = 1.0f + 0.125f * (float)(i % 3) - 0.125f;
    }
}

static void fill_vocabulary(const struct model_shape* shape, float* at, uint64_t* state)
{
    const struct model_vocabulary vocabulary = model_vocabulary_of(shape);
    /* A word's vector is a row, and not a column: its numbers have the variance 1. */
    fill_matrix(at + vocabulary.words, MODEL_WORDS, shape->width, sqrtf((float)MODEL_WORDS), state);
    fill_gains(at + vocabulary.norm, shape->width);
    fill_matrix(at + vocabulary.logits, shape->width, MODEL_WORDS, 1.0f, state);
}

static void fill_layer(const struct model_shape* shape, float* at, uint64_t* state)
{
    const struct model_layer layer = model_layer_of(shape);
    fill_gains(at + layer.norm, shape->width);
    /* Attention that prefers some tokens to others. */
    fill_matrix(at + layer.mix, shape->width, 3 * shape->width, 1.5f, state);
    fill_matrix(at + layer.out, shape->width, shape->width, 1.0f, state);
    fill_gains(at + layer.second_norm, shape->width);
    fill_matrix(at + layer.up, shape->width, 2 * shape->hidden, 1.5f, state);
    fill_matrix(at + layer.down, shape->hidden, shape->width, 1.0f, state);
}

static bool write_weights(const struct model_shape* shape, FILE* file)
{
    uint64_t state = 1;
    bool done = true;
    for (uint32_t i = 0; done && i < model_weights_count(shape); ++i) {
        const size_t size = (size_t)model_resident_size(shape, i);
        float* const floats = malloc(size);
        done = sample_has_memory(floats);
        if (!done) {
            break;
        }
        if (i == 0) {
            fill_vocabulary(shape, floats, &state);
        } else {
            fill_layer(shape, floats, &state);
        }
        done = fwrite(floats, 1, size, file) == size;
        free(floats);
    }
    return done;
}

/* Creates the file and opens it as a source. It has no name from then on, so that nothing is left
 * of it when the process ends. */
bool model_weights_open(struct model_weights* weights, const struct model_shape* shape)
{
    *weights = (struct model_weights){.shape = *shape,
                                      .source = {.sType = MAAR_STRUCTURE_TYPE_FILE_SOURCE}};
    const char* const parent = getenv("TMPDIR");
    char path[1024];
    const int length =
        snprintf(path, sizeof(path), "%s/weights-XXXXXX", parent != NULL ? parent : "/tmp");
    const int descriptor = length > 0 && (size_t)length < sizeof(path) ? mkstemp(path) : -1;
    FILE* const file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file == NULL) {
        sample_complain("no temporary file can be created: see TMPDIR");
        return false;
    }
    bool done = write_weights(shape, file);
    done = fclose(file) == 0 && done;
    if (!done) {
        sample_complain("%s cannot be written", path);
    }
    done = done &&
           sample_succeeded(maarOpenFileSource(path, NULL, &weights->source), "maarOpenFileSource");
    (void)unlink(path);
    if (done && weights->source.pBytes == NULL) {
        sample_complain("the address space has no room for the weights");
        done = false;
    }
    return done;
}

void model_weights_close(struct model_weights* weights)
{
    maarCloseFileSource(&weights->source);
}

uint64_t model_weights_offset(const struct model_shape* shape, uint32_t resident)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < resident; ++i) {
        offset += model_resident_size(shape, i);
    }
    return offset;
}

const float* model_weights_of(const struct model_weights* weights, uint32_t resident)
{
    const uint64_t offset = model_weights_offset(&weights->shape, resident);
    return (const float*)(const void*)((const uint8_t*)weights->source.pBytes + offset);
}
