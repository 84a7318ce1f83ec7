/*
 * The shaders of the model, and the descriptors of what they read and write.
 */
#ifndef MAAR_SAMPLE_MODEL_KERNELS_H
#define MAAR_SAMPLE_MODEL_KERNELS_H

#include "model_shape.h"
#include "sample_work.h"

enum model_kernel {
    MODEL_KERNEL_EMBED,    /* tokens -> vectors */
    MODEL_KERNEL_NORM,     /* vectors -> vectors of length 1, times gains */
    MODEL_KERNEL_MULTIPLY, /* vectors -> vectors, by a matrix */
    MODEL_KERNEL_REMEMBER, /* keys and values -> KV cache */
    MODEL_KERNEL_ATTEND,   /* queries, KV cache -> vectors */
    MODEL_KERNEL_GATE,     /* gates and values -> vectors */
    MODEL_KERNEL_CHOOSE,   /* logits -> a token */
    MODEL_KERNEL_COUNT
};

/* What a dispatch does. The layout is that of shaders/language_model/model.glsl, which explains the
 * fields. */
struct model_job {
    uint32_t weights, from, to, wide, narrow, position, mode;
};
enum { MODEL_MODE_STORE, MODEL_MODE_ADD, MODEL_MODE_LOGITS };

struct model_kernels {
    VkDevice device;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipelines[MODEL_KERNEL_COUNT];
    VkDescriptorPool descriptors;
    VkDescriptorSet sets[SAMPLE_WORK_SLOTS];
};

/* Creates the objects. Prints an error and returns false on failure. The caller destroys them in
 * every case. */
bool model_kernels_create(struct model_kernels* kernels, VkDevice device);
void model_kernels_destroy(struct model_kernels* kernels);

/* The buffers of a stage. */
struct model_buffers {
    VkBuffer weights, scratch, text;
    VkBuffer parts[MODEL_MOST_PARTS];
};

/* Binds the buffers of a stage. The last commands of the slot are done. */
void model_kernels_bind(const struct model_kernels* kernels, uint32_t slot,
                        const struct model_buffers* buffers, VkCommandBuffer commands);
/* Records a dispatch of groups in x and in y, and a barrier after it. */
void model_kernels_run(const struct model_kernels* kernels, enum model_kernel kernel,
                       const struct model_job* job, uint32_t x, uint32_t y,
                       VkCommandBuffer commands);

#endif
