/*
 * The frame's tables; see frame_tables.h.
 */
#include "frame_tables.h"

#define RGBA16F VK_FORMAT_R16G16B16A16_SFLOAT
#define RG16F VK_FORMAT_R16G16_SFLOAT
#define R32F VK_FORMAT_R32_SFLOAT
#define RGBA8 VK_FORMAT_R8G8B8A8_UNORM
#define RGBA8S VK_FORMAT_R8G8B8A8_SRGB
#define R8 VK_FORMAT_R8_UNORM
#define D32F VK_FORMAT_D32_SFLOAT

/* clang-format off */
#define SHADOW(id, text) \
    [FRAME_##id] = {.name = (text), .format = D32F, .fixed_size = FRAME_SHADOW_SIZE}
/* An image whose sides are the frame's, halved `shift` times. */
#define IMAGE(id, text, texels, halvings) \
    [FRAME_##id] = {.name = (text), .format = (texels), .shift = (halvings)}

const struct frame_resource_info frame_resources[FRAME_RESOURCE_COUNT] = {
    SHADOW(SHADOW_0, "shadow cascade 0"),
    SHADOW(SHADOW_1, "shadow cascade 1"),
    SHADOW(SHADOW_2, "shadow cascade 2"),
    SHADOW(SHADOW_3, "shadow cascade 3"),
    IMAGE(DEPTH, "depth", D32F, 0),
    IMAGE(ALBEDO, "albedo", RGBA8S, 0),
    IMAGE(NORMAL, "normal", RG16F, 0),
    IMAGE(MATERIAL, "material", RGBA8, 0),
    IMAGE(VELOCITY, "velocity", RG16F, 0),
    IMAGE(EMISSIVE, "emissive", RGBA16F, 0),
    IMAGE(DEPTH_LINEAR, "linear depth", R32F, 0),
    IMAGE(DEPTH_HALF, "linear depth 1/2", R32F, 1),
    IMAGE(DEPTH_QUARTER, "linear depth 1/4", R32F, 2),
    IMAGE(DEPTH_EIGHTH, "linear depth 1/8", R32F, 3),
    [FRAME_LIGHT_TILES] = {.name = "light tiles", .tiles = true},
    IMAGE(SSAO_RAW, "occlusion, raw", R8, 1),
    IMAGE(SSAO_BLURRED_X, "occlusion, blurred x", R8, 1),
    IMAGE(SSAO, "occlusion", R8, 1),
    IMAGE(SHADOW_MASK, "shadow mask", R8, 0),
    IMAGE(FOG_RAW, "haze, raw", RGBA16F, 1),
    IMAGE(FOG, "haze", RGBA16F, 1),
    IMAGE(LIT, "lit", RGBA16F, 0),
    IMAGE(REFLECTIONS_RAW, "reflections, raw", RGBA16F, 1),
    IMAGE(REFLECTIONS, "reflections", RGBA16F, 1),
    IMAGE(SCENE, "scene", RGBA16F, 0),
    IMAGE(RESOLVED, "resolved", RGBA16F, 0),
    [FRAME_HISTORY] = {.name = "history", .format = RGBA16F, .keeps_contents = true},
    [FRAME_HISTOGRAM] = {.name = "histogram", .fixed_size = 1024},
    [FRAME_EXPOSURE] = {.name = "exposure", .fixed_size = 16, .keeps_contents = true},
    IMAGE(BLOOM_1, "bloom 1/2", RGBA16F, 1),
    IMAGE(BLOOM_2, "bloom 1/4", RGBA16F, 2),
    IMAGE(BLOOM_3, "bloom 1/8", RGBA16F, 3),
    IMAGE(BLOOM_4, "bloom 1/16", RGBA16F, 4),
    IMAGE(BLOOM_5, "bloom 1/32", RGBA16F, 5),
    IMAGE(BLOOM_6, "bloom 1/64", RGBA16F, 6),
    IMAGE(BLOOM_UP_5, "bloom up 1/32", RGBA16F, 5),
    IMAGE(BLOOM_UP_4, "bloom up 1/16", RGBA16F, 4),
    IMAGE(BLOOM_UP_3, "bloom up 1/8", RGBA16F, 3),
    IMAGE(BLOOM_UP_2, "bloom up 1/4", RGBA16F, 2),
    IMAGE(BLOOM_UP_1, "bloom up 1/2", RGBA16F, 1),
    IMAGE(DISPLAY, "display", RGBA8, 0),
    IMAGE(FINAL, "final", RGBA8, 0),
};

#define COLOR(resource) {FRAME_USE_COLOR, FRAME_##resource}
#define COLOR_ADD(resource) {FRAME_USE_COLOR_ADD, FRAME_##resource}
#define DEPTH(resource) {FRAME_USE_DEPTH, FRAME_##resource}
#define FETCH(resource) {FRAME_USE_FETCH, FRAME_##resource}
#define SAMPLE(resource) {FRAME_USE_SAMPLE, FRAME_##resource}
#define COMPARE(resource) {FRAME_USE_COMPARE, FRAME_##resource}
#define STORE(resource) {FRAME_USE_STORE, FRAME_##resource}
#define READ(resource) {FRAME_USE_READ, FRAME_##resource}
#define WRITE(resource) {FRAME_USE_WRITE, FRAME_##resource}
#define CHANGE(resource) {FRAME_USE_CHANGE, FRAME_##resource}
#define COPY_FROM(resource) {FRAME_USE_COPY_FROM, FRAME_##resource}
#define COPY_TO(resource) {FRAME_USE_COPY_TO, FRAME_##resource}

#define SCENE_PASS(name, shader, size) name, FRAME_PASS_SCENE, shader, size, 0
#define COMPUTE_PASS(name, shader, size) \
    name, FRAME_PASS_COMPUTE, FRAME_SHADER_NONE, FRAME_SHADER_##shader, FRAME_##size
#define SCREEN_PASS(name, shader, size) \
    name, FRAME_PASS_SCREEN, FRAME_SHADER_SCREEN, FRAME_SHADER_##shader, FRAME_##size, 0
#define SHADOW_PASS(name, size, cascade) \
    name, FRAME_PASS_SCENE, FRAME_SHADER_SHADOW, FRAME_SHADER_NONE, FRAME_##size, 0, {cascade, 0}
#define CASCADES COMPARE(SHADOW_0), COMPARE(SHADOW_1), COMPARE(SHADOW_2), COMPARE(SHADOW_3)

/* The numbers of descriptors follow the order of the uses that need one. */
const struct frame_pass_info frame_passes[] = {
    {SHADOW_PASS("shadow 0", SHADOW_0, 0), .uses = {DEPTH(SHADOW_0)}},
    {SHADOW_PASS("shadow 1", SHADOW_1, 1), .uses = {DEPTH(SHADOW_1)}},
    {SHADOW_PASS("shadow 2", SHADOW_2, 2), .uses = {DEPTH(SHADOW_2)}},
    {SHADOW_PASS("shadow 3", SHADOW_3, 3), .uses = {DEPTH(SHADOW_3)}},
    {"G-buffer", FRAME_PASS_SCENE, FRAME_SHADER_GBUFFER_VERTEX, FRAME_SHADER_GBUFFER, FRAME_DEPTH,
     0, {0, 0},
     .uses = {COLOR(ALBEDO), COLOR(NORMAL), COLOR(MATERIAL), COLOR(VELOCITY), COLOR(EMISSIVE),
      DEPTH(DEPTH)}},
    {COMPUTE_PASS("linear depth", LINEAR_DEPTH, DEPTH_LINEAR), 8, {0, 0},
     .uses = {FETCH(DEPTH), STORE(DEPTH_LINEAR)}},
    {COMPUTE_PASS("depth 1/2", DEPTH_HALF, DEPTH_HALF), 8, {0, 0},
     .uses = {FETCH(DEPTH_LINEAR), STORE(DEPTH_HALF)}},
    {COMPUTE_PASS("depth 1/4", DEPTH_HALF, DEPTH_QUARTER), 8, {0, 0},
     .uses = {FETCH(DEPTH_HALF), STORE(DEPTH_QUARTER)}},
    {COMPUTE_PASS("depth 1/8", DEPTH_HALF, DEPTH_EIGHTH), 8, {0, 0},
     .uses = {FETCH(DEPTH_QUARTER), STORE(DEPTH_EIGHTH)}},
    {COMPUTE_PASS("shadow mask", SHADOW_MASK, SHADOW_MASK), 8, {0, 0},
     .uses = {CASCADES, FETCH(DEPTH_LINEAR), FETCH(NORMAL), STORE(SHADOW_MASK)}},
    {COMPUTE_PASS("occlusion", SSAO, SSAO_RAW), 8, {0, 0},
     .uses = {FETCH(DEPTH_HALF), FETCH(DEPTH_QUARTER), FETCH(DEPTH_EIGHTH), FETCH(NORMAL),
      STORE(SSAO_RAW)}, .async = true},
    {COMPUTE_PASS("occlusion blur x", SSAO_BLUR, SSAO_BLURRED_X), 8, {1, 0},
     .uses = {FETCH(SSAO_RAW), FETCH(DEPTH_HALF), STORE(SSAO_BLURRED_X)}, .async = true},
    {COMPUTE_PASS("occlusion blur y", SSAO_BLUR, SSAO), 8, {0, 1},
     .uses = {FETCH(SSAO_BLURRED_X), FETCH(DEPTH_HALF), STORE(SSAO)}, .async = true},
    {COMPUTE_PASS("light tiles", LIGHT_TILES, LIGHT_TILES), 16, {0, 0},
     .uses = {FETCH(DEPTH_EIGHTH), WRITE(LIGHT_TILES)}, .async = true},
    {COMPUTE_PASS("haze", FOG, FOG_RAW), 8, {0, 0},
     .uses = {CASCADES, FETCH(DEPTH_HALF), STORE(FOG_RAW)}},
    {COMPUTE_PASS("haze blur", FOG_BLUR, FOG), 8, {0, 0},
     .uses = {FETCH(FOG_RAW), FETCH(DEPTH_HALF), STORE(FOG)}},
    {COMPUTE_PASS("lighting", LIGHTING, LIT), 8, {0, 0},
     .uses = {FETCH(DEPTH_LINEAR), FETCH(ALBEDO), FETCH(NORMAL), FETCH(MATERIAL), FETCH(EMISSIVE),
      FETCH(SHADOW_MASK), SAMPLE(SSAO), READ(LIGHT_TILES), STORE(LIT)}, .joins = true},
    {COMPUTE_PASS("reflections", REFLECTIONS, REFLECTIONS_RAW), 8, {0, 0},
     .uses = {FETCH(DEPTH_HALF), FETCH(DEPTH_LINEAR), FETCH(ALBEDO), FETCH(NORMAL), FETCH(MATERIAL),
      SAMPLE(LIT), STORE(REFLECTIONS_RAW)}},
    {COMPUTE_PASS("reflections blur", REFLECTIONS_BLUR, REFLECTIONS), 8, {0, 0},
     .uses = {FETCH(REFLECTIONS_RAW), FETCH(DEPTH_HALF), FETCH(MATERIAL), STORE(REFLECTIONS)}},
    {COMPUTE_PASS("compose", COMPOSE, SCENE), 8, {0, 0},
     .uses = {FETCH(LIT), FETCH(REFLECTIONS), FETCH(FOG), FETCH(DEPTH_HALF), FETCH(DEPTH_LINEAR),
      STORE(SCENE)}},
    {"embers", FRAME_PASS_EMBERS, FRAME_SHADER_EMBERS_VERTEX, FRAME_SHADER_EMBERS, FRAME_SCENE,
     0, {0, 0}, .uses = {FETCH(DEPTH_LINEAR), COLOR_ADD(SCENE)}},
    {COMPUTE_PASS("temporal antialiasing", TAA, RESOLVED), 8, {0, 0},
     .uses = {FETCH(SCENE), SAMPLE(HISTORY), FETCH(VELOCITY), FETCH(DEPTH_LINEAR),
               STORE(RESOLVED)}},
    {"keep history", FRAME_PASS_COPY, FRAME_SHADER_NONE, FRAME_SHADER_NONE, FRAME_HISTORY, 0,
     {0, 0}, .uses = {COPY_FROM(RESOLVED), COPY_TO(HISTORY)}},
    {"clear histogram", FRAME_PASS_ZERO, FRAME_SHADER_NONE, FRAME_SHADER_NONE, FRAME_HISTOGRAM, 0,
     {0, 0}, .uses = {COPY_TO(HISTOGRAM)}},
    {COMPUTE_PASS("histogram", HISTOGRAM, BLOOM_1), 16, {0, 0},
     .uses = {FETCH(RESOLVED), CHANGE(HISTOGRAM)}},
    {COMPUTE_PASS("exposure", EXPOSURE, HISTOGRAM), 1, {0, 0},
     .uses = {READ(HISTOGRAM), CHANGE(EXPOSURE)}},
    {SCREEN_PASS("bloom down 1", BLOOM_DOWN, BLOOM_1), {1, 0},
     .uses = {SAMPLE(RESOLVED), COLOR(BLOOM_1)}},
    {SCREEN_PASS("bloom down 2", BLOOM_DOWN, BLOOM_2), {0, 0},
     .uses = {SAMPLE(BLOOM_1), COLOR(BLOOM_2)}},
    {SCREEN_PASS("bloom down 3", BLOOM_DOWN, BLOOM_3), {0, 0},
     .uses = {SAMPLE(BLOOM_2), COLOR(BLOOM_3)}},
    {SCREEN_PASS("bloom down 4", BLOOM_DOWN, BLOOM_4), {0, 0},
     .uses = {SAMPLE(BLOOM_3), COLOR(BLOOM_4)}},
    {SCREEN_PASS("bloom down 5", BLOOM_DOWN, BLOOM_5), {0, 0},
     .uses = {SAMPLE(BLOOM_4), COLOR(BLOOM_5)}},
    {SCREEN_PASS("bloom down 6", BLOOM_DOWN, BLOOM_6), {0, 0},
     .uses = {SAMPLE(BLOOM_5), COLOR(BLOOM_6)}},
    {SCREEN_PASS("bloom up 5", BLOOM_UP, BLOOM_UP_5), {0.5f, 0},
     .uses = {SAMPLE(BLOOM_5), SAMPLE(BLOOM_6), COLOR(BLOOM_UP_5)}},
    {SCREEN_PASS("bloom up 4", BLOOM_UP, BLOOM_UP_4), {0.55f, 0},
     .uses = {SAMPLE(BLOOM_4), SAMPLE(BLOOM_UP_5), COLOR(BLOOM_UP_4)}},
    {SCREEN_PASS("bloom up 3", BLOOM_UP, BLOOM_UP_3), {0.6f, 0},
     .uses = {SAMPLE(BLOOM_3), SAMPLE(BLOOM_UP_4), COLOR(BLOOM_UP_3)}},
    {SCREEN_PASS("bloom up 2", BLOOM_UP, BLOOM_UP_2), {0.65f, 0},
     .uses = {SAMPLE(BLOOM_2), SAMPLE(BLOOM_UP_3), COLOR(BLOOM_UP_2)}},
    {SCREEN_PASS("bloom up 1", BLOOM_UP, BLOOM_UP_1), {0.7f, 0},
     .uses = {SAMPLE(BLOOM_1), SAMPLE(BLOOM_UP_2), COLOR(BLOOM_UP_1)}},
    {SCREEN_PASS("tone mapping", TONEMAP, DISPLAY), {0, 0},
     .uses = {SAMPLE(RESOLVED), SAMPLE(BLOOM_UP_1), READ(EXPOSURE), COLOR(DISPLAY)}},
    {COMPUTE_PASS("finish", FINISH, FINAL), 8, {0, 0}, .uses = {FETCH(DISPLAY), STORE(FINAL)}},
    {"read back", FRAME_PASS_READ_BACK, FRAME_SHADER_NONE, FRAME_SHADER_NONE, FRAME_FINAL, 0,
     {0, 0}, .uses = {COPY_FROM(FINAL)}},
};
/* clang-format on */

const uint32_t frame_pass_count = sizeof(frame_passes) / sizeof(frame_passes[0]);

#define NO_DESCRIPTOR VK_DESCRIPTOR_TYPE_MAX_ENUM
#define SAMPLED                                                                                    \
    {                                                                                              \
        VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,         \
            VK_ACCESS_2_SHADER_SAMPLED_READ_BIT, VK_IMAGE_USAGE_SAMPLED_BIT, 0,                    \
            VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, true, false                                 \
    }
#define STORAGE_BUFFER(access, discards)                                                           \
    {                                                                                              \
        VK_IMAGE_LAYOUT_UNDEFINED, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, access, 0,             \
            VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, true, discards  \
    }

const struct frame_use_info frame_uses[] = {
    [FRAME_USE_COLOR] = {VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                         VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                         VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
                         VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, 0, NO_DESCRIPTOR, false, true},
    [FRAME_USE_COLOR_ADD] = {VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                             VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                             VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |
                                 VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
                             VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, 0, NO_DESCRIPTOR, false, false},
    [FRAME_USE_DEPTH] = {VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
                         VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
                             VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
                         VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                             VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
                         VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, 0, NO_DESCRIPTOR, false,
                         true},
    [FRAME_USE_FETCH] = SAMPLED,
    [FRAME_USE_SAMPLE] = SAMPLED,
    [FRAME_USE_COMPARE] = SAMPLED,
    [FRAME_USE_STORE] = {VK_IMAGE_LAYOUT_GENERAL, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                         VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, VK_IMAGE_USAGE_STORAGE_BIT, 0,
                         VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, true, true},
    [FRAME_USE_READ] = STORAGE_BUFFER(VK_ACCESS_2_SHADER_STORAGE_READ_BIT, false),
    [FRAME_USE_WRITE] = STORAGE_BUFFER(VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, true),
    [FRAME_USE_CHANGE] = STORAGE_BUFFER(
        VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, false),
    [FRAME_USE_COPY_FROM] = {VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                             VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_READ_BIT,
                             VK_IMAGE_USAGE_TRANSFER_SRC_BIT, VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                             NO_DESCRIPTOR, false, false},
    [FRAME_USE_COPY_TO] = {VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                           VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                           VK_IMAGE_USAGE_TRANSFER_DST_BIT, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                           NO_DESCRIPTOR, false, true},
};

bool frame_resource_is_image(enum frame_resource resource)
{
    return frame_resources[resource].format != VK_FORMAT_UNDEFINED;
}

VkExtent2D frame_resource_extent(enum frame_resource resource, uint32_t width, uint32_t height)
{
    const struct frame_resource_info* const info = &frame_resources[resource];
    if (info->fixed_size != 0) {
        const uint32_t side = frame_resource_is_image(resource) ? info->fixed_size : 1;
        return (VkExtent2D){side, side};
    }
    /* The result is rounded up, so that two halves cover every pixel. */
    const uint32_t round = (1u << info->shift) - 1;
    return (VkExtent2D){(width + round) >> info->shift, (height + round) >> info->shift};
}

VkDeviceSize frame_resource_bytes(enum frame_resource resource, uint32_t width, uint32_t height)
{
    const struct frame_resource_info* const info = &frame_resources[resource];
    return info->tiles ? (VkDeviceSize)8 * ((width + 15) / 16) * ((height + 15) / 16)
                       : info->fixed_size;
}
