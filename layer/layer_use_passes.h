/*
 * Framebuffers and render passes, as the uses keep them.
 */
#ifndef MAAR_LAYER_USE_PASSES_H
#define MAAR_LAYER_USE_PASSES_H

#include "layer/layer_use_internal.h"

struct layer_use_framebuffer {
    struct layer_use_link link;
    uint32_t layers;
    uint32_t view_count; /* 0 if each render pass brings its own */
    struct layer_use_view views[];
};

/* What a render pass does with an attachment. */
struct layer_use_attachment {
    VkAttachmentLoadOp load, stencil_load;
    VkAttachmentStoreOp store, stencil_store;
    bool is_undefined; /* the first layout */
};

struct layer_use_pass {
    struct layer_use_link link;
    uint32_t attachment_count;
    struct layer_use_attachment attachments[];
};

#endif
