// Moves the exposure gradually to the value that the histogram requires.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 256) in;
layout(set = 1, binding = 0, std430) readonly buffer Histogram {
    uint classes[256];
};
layout(set = 1, binding = 1, std430) buffer Exposure {
    float exposure;
};

shared uint counts[256];

void main()
{
    counts[gl_LocalInvocationIndex] = classes[gl_LocalInvocationIndex];
    barrier();
    if (gl_LocalInvocationIndex != 0u) {
        return;
    }
    uint total = 0u;
    for (int i = 0; i < 256; ++i) {
        total += counts[i];
    }
    // The darkest third and the brightest twentieth of the pixels are ignored.
    const float low = float(total) * 0.33;
    const float high = float(total) * 0.95;
    float passed = 0.0;
    float sum = 0.0;
    float weight = 0.0;
    for (int i = 0; i < 256; ++i) {
        const float from = max(passed, low);
        passed += float(counts[i]);
        const float share = max(min(passed, high) - from, 0.0);
        sum += share * (float(i) / 255.0 * 16.0 - 10.0);
        weight += share;
    }
    const float wanted = clamp(0.20 / exp2(sum / max(weight, 1.0)), 0.15, 4.0);
    if (frame.times.w > 0.5) {
        exposure = mix(exposure, wanted, 0.15);
    } else {
        exposure = wanted;
    }
}
