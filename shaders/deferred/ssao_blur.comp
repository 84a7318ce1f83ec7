// Blurs in one direction and stops at edges of depth.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D source;
layout(set = 1, binding = 1) uniform sampler2D depthHalf;
layout(set = 1, binding = 2, r8) uniform writeonly image2D result;

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const ivec2 direction = ivec2(pass.parameters.xy);
    const ivec2 last = ivec2(pass.size.xy) - 1;
    const float depth = texelFetch(depthHalf, pixel, 0).x;
    float sum = 0.0;
    float weights = 0.0;
    for (int i = -3; i <= 3; ++i) {
        const ivec2 at = clamp(pixel + direction * i, ivec2(0), last);
        const float there = texelFetch(depthHalf, at, 0).x;
        const float weight = exp(-0.12 * float(i * i)) *
                             max(1.0 - abs(there - depth) / (0.06 * depth + 0.05), 0.0);
        sum += texelFetch(source, at, 0).x * weight;
        weights += weight;
    }
    imageStore(result, pixel, vec4(sum / max(weights, 1e-4)));
}
