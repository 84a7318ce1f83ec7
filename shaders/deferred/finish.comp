// Sharpens places with low contrast, and dithers.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D source;
layout(set = 1, binding = 1, rgba8) uniform writeonly image2D result;

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const ivec2 last = ivec2(pass.size.xy) - 1;
    const vec3 m = texelFetch(source, pixel, 0).rgb;
    const vec3 n = texelFetch(source, max(pixel - ivec2(0, 1), ivec2(0)), 0).rgb;
    const vec3 w = texelFetch(source, max(pixel - ivec2(1, 0), ivec2(0)), 0).rgb;
    const vec3 e = texelFetch(source, min(pixel + ivec2(1, 0), last), 0).rgb;
    const vec3 s = texelFetch(source, min(pixel + ivec2(0, 1), last), 0).rgb;
    const vec3 low = min(m, min(min(n, w), min(e, s)));
    const vec3 high = max(m, max(max(n, w), max(e, s)));
    const vec3 room = sqrt(clamp(min(low, 1.0 - high) / max(high, vec3(1e-3)), 0.0, 1.0));
    const vec3 weight = -room * 0.14;
    const vec3 sharp = (m + (n + w + e + s) * weight) / (1.0 + 4.0 * weight);
    const float grain = interleavedNoise(vec2(pixel)) - 0.5;
    imageStore(result, pixel, vec4(clamp(sharp + grain / 255.0, 0.0, 1.0), 1.0));
}
