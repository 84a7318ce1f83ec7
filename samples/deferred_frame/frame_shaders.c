/*
 * Returns the shaders that the build has compiled.
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

const struct support_shader frame_shaders[FRAME_SHADER_COUNT] = {
    [FRAME_SHADER_SHADOW] = SUPPORT_SHADER(deferred_shadow_vert),
    [FRAME_SHADER_GBUFFER_VERTEX] = SUPPORT_SHADER(deferred_gbuffer_vert),
    [FRAME_SHADER_GBUFFER] = SUPPORT_SHADER(deferred_gbuffer_frag),
    [FRAME_SHADER_LINEAR_DEPTH] = SUPPORT_SHADER(deferred_linear_depth_comp),
    [FRAME_SHADER_DEPTH_HALF] = SUPPORT_SHADER(deferred_depth_half_comp),
    [FRAME_SHADER_SSAO] = SUPPORT_SHADER(deferred_ssao_comp),
    [FRAME_SHADER_SSAO_BLUR] = SUPPORT_SHADER(deferred_ssao_blur_comp),
    [FRAME_SHADER_LIGHT_TILES] = SUPPORT_SHADER(deferred_light_tiles_comp),
    [FRAME_SHADER_SHADOW_MASK] = SUPPORT_SHADER(deferred_shadow_mask_comp),
    [FRAME_SHADER_FOG] = SUPPORT_SHADER(deferred_fog_comp),
    [FRAME_SHADER_FOG_BLUR] = SUPPORT_SHADER(deferred_fog_blur_comp),
    [FRAME_SHADER_LIGHTING] = SUPPORT_SHADER(deferred_lighting_comp),
    [FRAME_SHADER_REFLECTIONS] = SUPPORT_SHADER(deferred_reflections_comp),
    [FRAME_SHADER_REFLECTIONS_BLUR] = SUPPORT_SHADER(deferred_reflections_blur_comp),
    [FRAME_SHADER_COMPOSE] = SUPPORT_SHADER(deferred_compose_comp),
    [FRAME_SHADER_EMBERS_VERTEX] = SUPPORT_SHADER(deferred_embers_vert),
    [FRAME_SHADER_EMBERS] = SUPPORT_SHADER(deferred_embers_frag),
    [FRAME_SHADER_TAA] = SUPPORT_SHADER(deferred_taa_comp),
    [FRAME_SHADER_HISTOGRAM] = SUPPORT_SHADER(deferred_histogram_comp),
    [FRAME_SHADER_EXPOSURE] = SUPPORT_SHADER(deferred_exposure_comp),
    [FRAME_SHADER_SCREEN] = SUPPORT_SHADER(deferred_screen_vert),
    [FRAME_SHADER_BLOOM_DOWN] = SUPPORT_SHADER(deferred_bloom_down_frag),
    [FRAME_SHADER_BLOOM_UP] = SUPPORT_SHADER(deferred_bloom_up_frag),
    [FRAME_SHADER_TONEMAP] = SUPPORT_SHADER(deferred_tonemap_frag),
    [FRAME_SHADER_FINISH] = SUPPORT_SHADER(deferred_finish_comp),
};
