// Draws the scene into the G-buffer.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "scene.glsl"

layout(location = 0) in vec3 inPosition;
layout(location = 1) in vec3 inNormal;

layout(location = 0) out vec3 outWorld;
layout(location = 1) out vec3 outNormal;
layout(location = 2) out vec4 outClip;
layout(location = 3) out vec4 outPreviousClip;
layout(location = 4) out flat uint outInstance;

void main()
{
    const Instance instance = instances[gl_InstanceIndex];
    const vec3 world = placeInWorld(instance, inPosition, frame.times.x);
    const vec3 previous = placeInWorld(instance, inPosition, frame.times.y);
    outWorld = world;
    outNormal = vec3(dot(instance.rows[0].xyz, inNormal), dot(instance.rows[1].xyz, inNormal),
                     dot(instance.rows[2].xyz, inNormal));
    outClip = frame.steadyViewProjection * vec4(world, 1.0);
    outPreviousClip = frame.previousViewProjection * vec4(previous, 1.0);
    outInstance = gl_InstanceIndex;
    gl_Position = frame.viewProjection * vec4(world, 1.0);
}
