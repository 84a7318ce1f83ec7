// Places many solids, each at its own place and rotated about two axes.
#version 450

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 place_on_texture;
layout(location = 3) in vec4 instance_place; // xyz, size
layout(location = 4) in vec4 instance_look;  // two angles, hue, unused

layout(set = 0, binding = 0) uniform View
{
    mat4 camera;
    vec4 light; // direction towards the light; w: strength of the ambient light
};

layout(location = 0) out vec3 out_normal;
layout(location = 1) out vec2 out_place;
layout(location = 2) out vec3 out_tint;
layout(location = 3) out float out_distance;

mat3 turn(float a, float b)
{
    const mat3 about_y = mat3(cos(a), 0.0, -sin(a), 0.0, 1.0, 0.0, sin(a), 0.0, cos(a));
    const mat3 about_x = mat3(1.0, 0.0, 0.0, 0.0, cos(b), sin(b), 0.0, -sin(b), cos(b));
    return about_y * about_x;
}

void main()
{
    const mat3 turned = turn(instance_look.x, instance_look.y);
    const vec3 world = turned * position * instance_place.w + instance_place.xyz;
    gl_Position = camera * vec4(world, 1.0);
    out_normal = turned * normal;
    out_place = place_on_texture;
    const float hue = instance_look.z * 6.2831853;
    out_tint = 0.65 + 0.35 * cos(hue - vec3(0.0, 2.0943951, 4.1887902));
    out_distance = gl_Position.w;
}
