// Computes ambient occlusion in screen space at half size. Far samples read a coarser depth.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D depthHalf;
layout(set = 1, binding = 1) uniform sampler2D depthQuarter;
layout(set = 1, binding = 2) uniform sampler2D depthEighth;
layout(set = 1, binding = 3) uniform sampler2D normals;
layout(set = 1, binding = 4, r8) uniform writeonly image2D result;

const int taps = 10;
const float radius = 1.1; // metres

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const vec2 uv = (vec2(pixel) + 0.5) * pass.size.zw;
    const float depth = texelFetch(depthHalf, pixel, 0).x;
    if (depth > 150.0) {
        imageStore(result, pixel, vec4(1.0));
        return;
    }
    const vec3 position = viewFromDepth(uv, depth);
    const ivec2 full = min(pixel * 2, textureSize(normals, 0) - 1);
    const vec3 normal = mat3(frame.view) * unpackNormal(texelFetch(normals, full, 0).xy);
    const vec2 reach = min(radius * frame.projection.xy / depth * 0.5, vec2(0.25));
    const float reachPixels = abs(reach.x) * pass.size.x;
    const float turn = interleavedNoise(vec2(pixel)) * 2.0 * pi;
    float occlusion = 0.0;
    for (int i = 0; i < taps; ++i) {
        const float share = (float(i) + 0.5) / float(taps);
        const float angle = turn + float(i) * 2.39996323;
        const vec2 at = uv + vec2(cos(angle), sin(angle)) * reach * share;
        const float step = reachPixels * share;
        const float there = step < 12.0   ? textureLod(depthHalf, at, 0.0).x
                            : step < 40.0 ? textureLod(depthQuarter, at, 0.0).x
                                          : textureLod(depthEighth, at, 0.0).x;
        const vec3 delta = viewFromDepth(at, there) - position;
        const float squared = dot(delta, delta);
        const float facing = dot(delta, normal) * inversesqrt(squared + 1e-6);
        const float falloff = clamp(1.0 - squared / (radius * radius), 0.0, 1.0);
        occlusion += max(facing - 0.08, 0.0) * falloff;
    }
    const float open = clamp(1.0 - 2.4 * occlusion / float(taps), 0.0, 1.0);
    imageStore(result, pixel, vec4(open * open * 0.35 + open * 0.65));
}
