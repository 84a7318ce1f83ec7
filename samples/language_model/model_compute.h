/*
 * The model on the device: its activations, its text, and the commands of each stage.
 */
#ifndef MAAR_SAMPLE_MODEL_COMPUTE_H
#define MAAR_SAMPLE_MODEL_COMPUTE_H

#include "model_kernels.h"

struct model_compute {
    const struct sample_device* device;
    struct model_shape shape;
    struct model_kernels kernels;
    VkBuffer scratch; /* the activations of a pass */
    MaarAllocation scratch_memory;
    VkBuffer text; /* the host reads it */
    MaarAllocation text_memory;
};

/* The text of a run, and all logits, which the host can read. */
struct model_text {
    uint32_t tokens[MODEL_MOST_POSITIONS];
    float logits[]; /* MODEL_WORDS for each token after the prompt */
};

/* Creates the objects. Prints an error and returns false on failure. The caller destroys them in
 * every case. */
bool model_compute_create(struct model_compute* compute, const struct sample_device* device,
                          const struct model_shape* shape);
void model_compute_destroy(struct model_compute* compute);

/* Begins a text with a prompt. The device is idle. */
bool model_compute_begin(struct model_compute* compute);
/* Returns the text, or NULL on failure. The passes that wrote it are done. */
const struct model_text* model_compute_text(const struct model_compute* compute);
/* Returns the bytes of the text. */
size_t model_compute_text_size(const struct model_shape* shape);

/* Orders the commands of a stage after those of the submissions before it, and clears the parts of
 * the KV cache that have no contents yet. */
void model_compute_prepare(uint32_t part_count, const MaarResidentObject* parts,
                           VkCommandBuffer commands);
/* Records a stage of a pass. `objects` are those of its residents: weights first, then the parts of
 * the KV cache up to the one that the pass writes. */
void model_compute_record(const struct model_compute* compute, uint32_t slot, uint32_t stage,
                          const struct model_pass* pass, const MaarResidentObject* objects,
                          VkCommandBuffer commands);

#endif
