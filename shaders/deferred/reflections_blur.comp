// Smooths reflections. Rougher surfaces get a wider filter.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D source;
layout(set = 1, binding = 1) uniform sampler2D depthHalf;
layout(set = 1, binding = 2) uniform sampler2D materials;
layout(set = 1, binding = 3, rgba16f) uniform writeonly image2D result;

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const ivec2 last = ivec2(pass.size.xy) - 1;
    const ivec2 full = min(pixel * 2, textureSize(materials, 0) - 1);
    const float roughness = texelFetch(materials, full, 0).x;
    const float depth = texelFetch(depthHalf, pixel, 0).x;
    const float narrow = 1.6 / (0.35 + 9.0 * roughness);
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
            const ivec2 at = clamp(pixel + ivec2(x, y), ivec2(0), last);
            const float there = texelFetch(depthHalf, at, 0).x;
            const float weight = exp(-narrow * float(x * x + y * y)) *
                                 max(1.0 - abs(there - depth) / (0.1 * depth + 0.1), 0.0);
            sum += texelFetch(source, at, 0).rgb * weight;
            weights += weight;
        }
    }
    imageStore(result, pixel, vec4(sum / max(weights, 1e-4), 1.0));
}
