// Combines light, reflections and haze.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D lit;
layout(set = 1, binding = 1) uniform sampler2D reflections;
layout(set = 1, binding = 2) uniform sampler2D fog;
layout(set = 1, binding = 3) uniform sampler2D depthHalf;
layout(set = 1, binding = 4) uniform sampler2D depthLinear;
layout(set = 1, binding = 5, rgba16f) uniform writeonly image2D result;

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const float depth = texelFetch(depthLinear, pixel, 0).x;
    const ivec2 last = textureSize(depthHalf, 0) - 1;
    const vec2 place = (vec2(pixel) - 0.5) * 0.5;
    const ivec2 base = ivec2(floor(place));
    const vec2 share = place - vec2(base);
    vec3 mirrored = vec3(0.0);
    vec4 haze = vec4(0.0);
    float weights = 0.0;
    for (int i = 0; i < 4; ++i) {
        const ivec2 offset = ivec2(i & 1, i >> 1);
        const ivec2 at = clamp(base + offset, ivec2(0), last);
        const float there = texelFetch(depthHalf, at, 0).x;
        const vec2 linear = mix(1.0 - share, share, vec2(offset));
        const float weight = linear.x * linear.y /
                             (0.02 + abs(there - depth) / (0.02 * depth + 0.02)) + 1e-5;
        mirrored += texelFetch(reflections, at, 0).rgb * weight;
        haze += texelFetch(fog, at, 0) * weight;
        weights += weight;
    }
    mirrored /= weights;
    haze /= weights;
    const vec3 surface = max(texelFetch(lit, pixel, 0).rgb + mirrored, vec3(0.0));
    imageStore(result, pixel, vec4(surface * haze.a + haze.rgb, 1.0));
}
