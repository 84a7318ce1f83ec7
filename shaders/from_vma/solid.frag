// Shades stone, lit from one side, in light haze.
#version 450

layout(location = 0) in vec3 normal;
layout(location = 1) in vec2 place;
layout(location = 2) in vec3 tint;
layout(location = 3) in float distance_;

layout(set = 0, binding = 0) uniform View
{
    mat4 camera;
    vec4 light;
};
layout(set = 0, binding = 1) uniform sampler2D stone;

layout(location = 0) out vec4 colour;

void main()
{
    const vec3 haze = vec3(0.42, 0.52, 0.60);
    const float lit = light.w + (1.0 - light.w) * max(dot(normalize(normal), light.xyz), 0.0);
    const vec3 near = texture(stone, place).rgb * tint * lit;
    colour = vec4(mix(haze, near, exp(-0.05 * max(distance_ - 4.0, 0.0))), 1.0);
}
