// Converts light to display values: exposure, bloom, a filmic curve, sRGB.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(location = 0) in vec2 inUv;
layout(location = 0) out vec4 outColor;
layout(set = 1, binding = 0) uniform sampler2D scene;
layout(set = 1, binding = 1) uniform sampler2D bloom;
layout(set = 1, binding = 2, std430) readonly buffer Exposure {
    float exposure;
};

// The ACES curve, fitted by Stephen Hill.
vec3 filmic(vec3 color)
{
    const mat3 into = mat3(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566,
                           0.83777);
    const mat3 back = mat3(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367,
                           -0.00605, 1.07602);
    const vec3 v = into * color;
    return clamp(back * ((v * (v + 0.0245786) - 0.000090537) /
                         (v * (0.983729 * v + 0.4329510) + 0.238081)), 0.0, 1.0);
}

vec3 toDisplay(vec3 color)
{
    return mix(color * 12.92, 1.055 * pow(max(color, vec3(1e-6)), vec3(1.0 / 2.4)) - 0.055,
               greaterThan(color, vec3(0.0031308)));
}

void main()
{
    const vec3 light = textureLod(scene, inUv, 0.0).rgb;
    const vec3 glow = textureLod(bloom, inUv, 0.0).rgb;
    const vec2 fromMiddle = inUv - 0.5;
    const float vignette = 1.0 - 0.55 * dot(fromMiddle, fromMiddle);
    const vec3 color = mix(light, glow, 0.075) * exposure * vignette;
    outColor = vec4(toDisplay(filmic(color * 1.35)), 1.0);
}
