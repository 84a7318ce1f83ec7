// Draws sparks that rise from the fire. Each spark is a square that depends only on its number.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(location = 0) out vec2 outPlace;
layout(location = 1) out vec3 outColor;
layout(location = 2) out float outDepth;

float hash(float n)
{
    return fract(sin(n * 12.9898) * 43758.5453);
}

void main()
{
    const float seed = float(gl_InstanceIndex) + 1.0;
    const vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    const float age = fract(hash(seed) + frame.times.x * (0.05 + 0.07 * hash(seed + 0.3)));
    const float turn = hash(seed + 0.6) * 2.0 * pi + age * 5.0;
    const float wide = 0.25 + age * (0.5 + 2.2 * hash(seed + 0.9));
    const vec3 center = frame.lights[0].positionRadius.xyz +
                        vec3(cos(turn) * wide + 0.8 * age,
                             0.7 + 7.5 * age * (0.3 + hash(seed + 0.2)), sin(turn) * wide);
    vec4 view = frame.view * vec4(center, 1.0);
    const float size = (0.012 + 0.020 * hash(seed + 0.5)) * (1.0 - 0.6 * age);
    view.xy += corner * max(size, -view.z * 0.0011);
    outPlace = corner;
    outColor = vec3(13.0, 4.6, 1.1) * (1.0 - age) * (1.0 - age) * smoothstep(0.0, 0.06, age);
    outDepth = -view.z;
    const vec2 clip = view.xy * frame.projection.xy + frame.jitter.xy * -view.z;
    gl_Position = vec4(clip, frame.projection.z, -view.z);
}
