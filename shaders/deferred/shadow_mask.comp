// Computes the share of sunlight that reaches each pixel.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "cascades.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 4) uniform sampler2D depthLinear;
layout(set = 1, binding = 5) uniform sampler2D normals;
layout(set = 1, binding = 6, r8) uniform writeonly image2D result;

const int taps = 6;

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const vec2 uv = (vec2(pixel) + 0.5) * pass.size.zw;
    const float depth = texelFetch(depthLinear, pixel, 0).x;
    if (depth > frame.cascadeEnds.w) {
        imageStore(result, pixel, vec4(1.0));
        return;
    }
    const vec3 normal = unpackNormal(texelFetch(normals, pixel, 0).xy);
    const float facing = dot(normal, frame.sunDirection.xyz);
    if (facing <= 0.0) {
        imageStore(result, pixel, vec4(0.0));
        return;
    }
    const float noise = interleavedNoise(vec2(pixel));
    // A dither blurs the border between two cascades, and the history smooths it.
    const int cascade = min(cascadeOf(depth * (1.0 + 0.12 * noise)), cascadeCount - 1);
    const float texel = frame.cascadeTexels[cascade];
    const vec3 world = worldFromView(viewFromDepth(uv, depth)) +
                       normal * texel * (0.8 + 2.2 * (1.0 - facing));
    const vec3 place = placeInCascade(cascade, world);
    const float turn = noise * 2.0 * pi;
    const float spread = max(1.3, 0.035 / texel) / 1024.0;
    float lit = 0.0;
    for (int i = 0; i < taps; ++i) {
        const float angle = turn + float(i) * 2.39996323;
        const float distance = sqrt((float(i) + 0.5) / float(taps)) * spread;
        lit += shadowTap(cascade, place + vec3(cos(angle) * distance, sin(angle) * distance, 0.0));
    }
    const float fade = smoothstep(frame.cascadeEnds.w * 0.85, frame.cascadeEnds.w, depth);
    imageStore(result, pixel, vec4(mix(lit / float(taps), 1.0, fade)));
}
