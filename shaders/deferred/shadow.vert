// Draws a cascade of the sun's shadow: depth only.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "scene.glsl"

layout(location = 0) in vec3 inPosition;

void main()
{
    const vec3 world = placeInWorld(instances[gl_InstanceIndex], inPosition, frame.times.x);
    gl_Position = frame.cascades[int(pass.parameters.x)] * vec4(world, 1.0);
}
