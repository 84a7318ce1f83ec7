// Draws a spark, which is soft where it touches a surface.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(location = 0) in vec2 inPlace;
layout(location = 1) in vec3 inColor;
layout(location = 2) in float inDepth;
layout(location = 0) out vec4 outColor;
layout(set = 1, binding = 0) uniform sampler2D depthLinear;

void main()
{
    const float depth = texelFetch(depthLinear, ivec2(gl_FragCoord.xy), 0).x;
    const float round = max(1.0 - dot(inPlace, inPlace), 0.0);
    outColor = vec4(inColor * round * clamp((depth - inDepth) * 8.0, 0.0, 1.0), 0.0);
}
