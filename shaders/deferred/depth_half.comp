// One downward step of the chain of depths: takes the nearest of four.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D finer;
layout(set = 1, binding = 1, r32f) uniform writeonly image2D result;

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const ivec2 last = textureSize(finer, 0) - 1;
    const ivec2 at = pixel * 2;
    const float a = texelFetch(finer, min(at, last), 0).x;
    const float b = texelFetch(finer, min(at + ivec2(1, 0), last), 0).x;
    const float c = texelFetch(finer, min(at + ivec2(0, 1), last), 0).x;
    const float d = texelFetch(finer, min(at + ivec2(1, 1), last), 0).x;
    imageStore(result, pixel, vec4(min(min(a, b), min(c, d))));
}
