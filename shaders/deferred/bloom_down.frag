// One downward step of the bloom with 13 taps. The first step prevents single bright pixels from
// flickering.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(location = 0) in vec2 inUv;
layout(location = 0) out vec4 outColor;
layout(set = 1, binding = 0) uniform sampler2D source;

vec3 tap(vec2 texel, float x, float y)
{
    return textureLod(source, inUv + texel * vec2(x, y), 0.0).rgb;
}

float calm(vec3 color)
{
    return pass.parameters.x > 0.5 ? 1.0 / (1.0 + luminance(color)) : 1.0;
}

void main()
{
    const vec2 texel = pass.size.zw * 0.5;
    const vec3 a = tap(texel, -1.0, -1.0);
    const vec3 b = tap(texel, 1.0, -1.0);
    const vec3 c = tap(texel, -1.0, 1.0);
    const vec3 d = tap(texel, 1.0, 1.0);
    const vec3 near = (a + b + c + d) * 0.25;
    const vec3 nw = tap(texel, -2.0, -2.0);
    const vec3 n = tap(texel, 0.0, -2.0);
    const vec3 ne = tap(texel, 2.0, -2.0);
    const vec3 w = tap(texel, -2.0, 0.0);
    const vec3 m = tap(texel, 0.0, 0.0);
    const vec3 e = tap(texel, 2.0, 0.0);
    const vec3 sw = tap(texel, -2.0, 2.0);
    const vec3 s = tap(texel, 0.0, 2.0);
    const vec3 se = tap(texel, 2.0, 2.0);
    const vec3 groups[5] = vec3[5](near, (nw + n + w + m) * 0.25, (n + ne + m + e) * 0.25,
                                   (w + m + sw + s) * 0.25, (m + e + s + se) * 0.25);
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (int i = 0; i < 5; ++i) {
        const float weight = (i == 0 ? 0.5 : 0.125) * calm(groups[i]);
        sum += groups[i] * weight;
        weights += weight;
    }
    outColor = vec4(sum / weights, 1.0);
}
