// One upward step of the bloom: adds the smoothed next smaller size to this size.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(location = 0) in vec2 inUv;
layout(location = 0) out vec4 outColor;
layout(set = 1, binding = 0) uniform sampler2D here;
layout(set = 1, binding = 1) uniform sampler2D smaller;

void main()
{
    const vec2 texel = 1.0 / vec2(textureSize(smaller, 0));
    vec3 sum = vec3(0.0);
    for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
            const float weight = float((2 - abs(x)) * (2 - abs(y))) / 16.0;
            sum += textureLod(smaller, inUv + texel * vec2(x, y), 0.0).rgb * weight;
        }
    }
    outColor = vec4(mix(textureLod(here, inUv, 0.0).rgb, sum, pass.parameters.x), 1.0);
}
