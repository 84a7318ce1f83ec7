/*
 * The shaders, as the build made them.
 */
#include "frame_shaders.h"

#include "shaders/deferred_bloom_down_frag.h"
#include "shaders/deferred_bloom_up_frag.h"
#include "shaders/deferred_compose_comp.h"
#include "shaders/deferred_depth_half_comp.h"
#include "shaders/deferred_embers_frag.h"
#include "shaders/deferred_embers_vert.h"
#include "shaders/deferred_exposure_comp.h"
#include "shaders/deferred_finish_comp.h"
#include "shaders/deferred_fog_blur_comp.h"
#include "shaders/deferred_fog_comp.h"
#include "shaders/deferred_gbuffer_frag.h"
#include "shaders/deferred_gbuffer_vert.h"
#include "shaders/deferred_histogram_comp.h"
#include "shaders/deferred_light_tiles_comp.h"
#include "shaders/deferred_lighting_comp.h"
#include "shaders/deferred_linear_depth_comp.h"
#include "shaders/deferred_reflections_blur_comp.h"
#include "shaders/deferred_reflections_comp.h"
#include "shaders/deferred_screen_vert.h"
#include "shaders/deferred_shadow_mask_comp.h"
#include "shaders/deferred_shadow_vert.h"
#include "shaders/deferred_ssao_blur_comp.h"
#include "shaders/deferred_ssao_comp.h"
#include "shaders/deferred_taa_comp.h"
#include "shaders/deferred_tonemap_frag.h"

#define SPIRV(name)                                                                                \
    {                                                                                              \
        maar_shader_deferred_##name, sizeof(maar_shader_deferred_##name)                           \
    }

const struct frame_spirv frame_shaders[FRAME_SHADER_COUNT] = {
    [FRAME_SHADER_SHADOW] = SPIRV(shadow_vert),
    [FRAME_SHADER_GBUFFER_VERTEX] = SPIRV(gbuffer_vert),
    [FRAME_SHADER_GBUFFER] = SPIRV(gbuffer_frag),
    [FRAME_SHADER_LINEAR_DEPTH] = SPIRV(linear_depth_comp),
    [FRAME_SHADER_DEPTH_HALF] = SPIRV(depth_half_comp),
    [FRAME_SHADER_SSAO] = SPIRV(ssao_comp),
    [FRAME_SHADER_SSAO_BLUR] = SPIRV(ssao_blur_comp),
    [FRAME_SHADER_LIGHT_TILES] = SPIRV(light_tiles_comp),
    [FRAME_SHADER_SHADOW_MASK] = SPIRV(shadow_mask_comp),
    [FRAME_SHADER_FOG] = SPIRV(fog_comp),
    [FRAME_SHADER_FOG_BLUR] = SPIRV(fog_blur_comp),
    [FRAME_SHADER_LIGHTING] = SPIRV(lighting_comp),
    [FRAME_SHADER_REFLECTIONS] = SPIRV(reflections_comp),
    [FRAME_SHADER_REFLECTIONS_BLUR] = SPIRV(reflections_blur_comp),
    [FRAME_SHADER_COMPOSE] = SPIRV(compose_comp),
    [FRAME_SHADER_EMBERS_VERTEX] = SPIRV(embers_vert),
    [FRAME_SHADER_EMBERS] = SPIRV(embers_frag),
    [FRAME_SHADER_TAA] = SPIRV(taa_comp),
    [FRAME_SHADER_HISTOGRAM] = SPIRV(histogram_comp),
    [FRAME_SHADER_EXPOSURE] = SPIRV(exposure_comp),
    [FRAME_SHADER_SCREEN] = SPIRV(screen_vert),
    [FRAME_SHADER_BLOOM_DOWN] = SPIRV(bloom_down_frag),
    [FRAME_SHADER_BLOOM_UP] = SPIRV(bloom_up_frag),
    [FRAME_SHADER_TONEMAP] = SPIRV(tonemap_frag),
    [FRAME_SHADER_FINISH] = SPIRV(finish_comp),
};
