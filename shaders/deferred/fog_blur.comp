// Smooths the steps of the haze within surfaces of similar depth.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D source;
layout(set = 1, binding = 1) uniform sampler2D depthHalf;
layout(set = 1, binding = 2, rgba16f) uniform writeonly image2D result;

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const ivec2 last = ivec2(pass.size.xy) - 1;
    const float depth = texelFetch(depthHalf, pixel, 0).x;
    vec4 sum = vec4(0.0);
    float weights = 0.0;
    for (int y = -2; y <= 2; ++y) {
        for (int x = -2; x <= 2; ++x) {
            const ivec2 at = clamp(pixel + ivec2(x, y), ivec2(0), last);
            const float there = texelFetch(depthHalf, at, 0).x;
            const float weight = max(1.0 - abs(there - depth) / (0.1 * depth + 0.1), 0.0) + 1e-4;
            sum += texelFetch(source, at, 0) * weight;
            weights += weight;
        }
    }
    imageStore(result, pixel, sum / weights);
}
