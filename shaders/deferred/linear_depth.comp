// Converts depth to the distance along the view.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D depthTexture;
layout(set = 1, binding = 1, r32f) uniform writeonly image2D result;

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const float depth = texelFetch(depthTexture, pixel, 0).x;
    imageStore(result, pixel, vec4(min(linearDepth(depth), 10000.0)));
}
