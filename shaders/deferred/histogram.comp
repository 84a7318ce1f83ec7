// Counts the pixels in 256 classes of the logarithm of luminance.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 1, binding = 0) uniform sampler2D scene;
layout(set = 1, binding = 1, std430) buffer Histogram {
    uint classes[256];
};

shared uint counts[256];

void main()
{
    counts[gl_LocalInvocationIndex] = 0u;
    barrier();
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(pixel, ivec2(pass.size.xy)))) {
        const float bright = luminance(texelFetch(scene, pixel * 2, 0).rgb);
        const float place = (log2(max(bright, 1e-4)) + 10.0) / 16.0;
        atomicAdd(counts[uint(clamp(place, 0.0, 1.0) * 255.0)], 1u);
    }
    barrier();
    if (counts[gl_LocalInvocationIndex] != 0u) {
        atomicAdd(classes[gl_LocalInvocationIndex], counts[gl_LocalInvocationIndex]);
    }
}
