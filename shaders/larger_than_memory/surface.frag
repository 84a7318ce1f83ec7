// The first half of the deferred frame: what is visible, without light.
#version 450

layout(location = 0) in vec2 inAt;
layout(location = 1) flat in vec3 inNormal;

layout(set = 0, binding = 0) uniform sampler2D colours;

layout(location = 0) out vec4 outColour;
layout(location = 1) out vec4 outSurface; // the normal, and how far ahead of the eye

void main()
{
    outColour = texture(colours, inAt);
    outSurface = vec4(inNormal, 1.0 / gl_FragCoord.w);
}
