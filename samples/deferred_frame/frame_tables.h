/*
 * The declaration of the frame: its resources, its passes, and their uses of resources. Barriers,
 * descriptors, attachments and memory all follow from these two tables.
 */
#ifndef MAAR_SAMPLE_FRAME_TABLES_H
#define MAAR_SAMPLE_FRAME_TABLES_H

#include "volk.h"

#include "frame_shaders.h"

#include <stdbool.h>
#include <stdint.h>

#define FRAME_SHADOW_SIZE 1024u
#define FRAME_MAX_USES 11

enum frame_resource {
    FRAME_SHADOW_0 = 0,
    FRAME_SHADOW_1,
    FRAME_SHADOW_2,
    FRAME_SHADOW_3,
    FRAME_DEPTH,
    FRAME_ALBEDO,
    FRAME_NORMAL,
    FRAME_MATERIAL,
    FRAME_VELOCITY,
    FRAME_EMISSIVE,
    FRAME_DEPTH_LINEAR,
    FRAME_DEPTH_HALF,
    FRAME_DEPTH_QUARTER,
    FRAME_DEPTH_EIGHTH,
    FRAME_LIGHT_TILES,
    FRAME_SSAO_RAW,
    FRAME_SSAO_BLURRED_X,
    FRAME_SSAO,
    FRAME_SHADOW_MASK,
    FRAME_FOG_RAW,
    FRAME_FOG,
    FRAME_LIT,
    FRAME_REFLECTIONS_RAW,
    FRAME_REFLECTIONS,
    FRAME_SCENE,
    FRAME_RESOLVED,
    FRAME_HISTORY,
    FRAME_HISTOGRAM,
    FRAME_EXPOSURE,
    FRAME_BLOOM_1,
    FRAME_BLOOM_2,
    FRAME_BLOOM_3,
    FRAME_BLOOM_4,
    FRAME_BLOOM_5,
    FRAME_BLOOM_6,
    FRAME_BLOOM_UP_5,
    FRAME_BLOOM_UP_4,
    FRAME_BLOOM_UP_3,
    FRAME_BLOOM_UP_2,
    FRAME_BLOOM_UP_1,
    FRAME_DISPLAY,
    FRAME_FINAL,
    FRAME_RESOURCE_COUNT,
};

struct frame_resource_info {
    const char* name;
    VkFormat format;     /* VK_FORMAT_UNDEFINED: a buffer */
    uint32_t shift;      /* its sides are the frame's, halved `shift` times */
    uint32_t fixed_size; /* images: both sides, independent of the frame; buffers: bytes */
    bool tiles;          /* a buffer with 8 bytes for each tile of 16 x 16 pixels */
    bool keeps_contents; /* from frame to frame */
};

/* The ways in which a pass uses a resource. */
enum frame_use_kind {
    FRAME_USE_NONE = 0,  /* ends the list */
    FRAME_USE_COLOR,     /* rendered to as a whole */
    FRAME_USE_COLOR_ADD, /* rendered to, on top of the previous contents */
    FRAME_USE_DEPTH,     /* rendered to, cleared first */
    FRAME_USE_FETCH,     /* sampled, unfiltered */
    FRAME_USE_SAMPLE,    /* sampled, filtered */
    FRAME_USE_COMPARE,   /* a shadow map, sampled with comparison */
    FRAME_USE_STORE,     /* a storage image, written as a whole */
    FRAME_USE_READ,      /* a storage buffer */
    FRAME_USE_WRITE,     /* a storage buffer, written as a whole */
    FRAME_USE_CHANGE,    /* a storage buffer, read and written */
    FRAME_USE_COPY_FROM,
    FRAME_USE_COPY_TO, /* as a whole */
};

struct frame_use {
    enum frame_use_kind kind;
    enum frame_resource resource;
};

enum frame_pass_kind {
    FRAME_PASS_SCENE = 0, /* draws the scene */
    FRAME_PASS_SCREEN,    /* draws one triangle that covers the target */
    FRAME_PASS_EMBERS,    /* draws the sparks */
    FRAME_PASS_COMPUTE,
    FRAME_PASS_ZERO,      /* fills a buffer with zeros */
    FRAME_PASS_COPY,      /* copies an image to an image */
    FRAME_PASS_READ_BACK, /* copies an image to the host */
};

struct frame_pass_info {
    const char* name;
    enum frame_pass_kind kind;
    enum frame_shader vertex; /* of FRAME_PASS_SCENE, _SCREEN and _EMBERS */
    enum frame_shader shader; /* the fragment or compute shader; may be FRAME_SHADER_NONE */
    enum frame_resource sized_as;
    uint32_t group; /* compute: pixels of each side that a group covers */
    float parameters[2];
    struct frame_use uses[FRAME_MAX_USES];
    bool async; /* may run on the second queue */
    bool joins; /* this pass waits for the second queue */
};

extern const struct frame_resource_info frame_resources[FRAME_RESOURCE_COUNT];
extern const struct frame_pass_info frame_passes[];
extern const uint32_t frame_pass_count;

/* The parameters of a use in Vulkan. */
struct frame_use_info {
    VkImageLayout layout;
    VkPipelineStageFlags2 stages; /* in any pass except a compute pass */
    VkAccessFlags2 access;
    VkImageUsageFlags image_usage;
    VkBufferUsageFlags buffer_usage;
    VkDescriptorType descriptor; /* VK_DESCRIPTOR_TYPE_MAX_ENUM: none */
    bool shader;                 /* by the pass's shader: the compute stage in a compute pass */
    bool discards;               /* the previous contents are not read */
};

extern const struct frame_use_info frame_uses[];

bool frame_resource_is_image(enum frame_resource resource);

/* Returns the pixels of a resource in a frame of a size; for tiles, the pixels of the frame. */
VkExtent2D frame_resource_extent(enum frame_resource resource, uint32_t width, uint32_t height);

/* Returns the bytes of a buffer. */
VkDeviceSize frame_resource_bytes(enum frame_resource resource, uint32_t width, uint32_t height);

#endif
