// Draws a soft disc, which is brightest in the middle.
#version 450

layout(location = 0) in vec3 colour;
layout(location = 0) out vec4 light;

void main()
{
    const vec2 at = gl_PointCoord * 2.0 - 1.0;
    const float fall = max(0.0, 1.0 - dot(at, at));
    light = vec4(colour * fall * fall * fall, 0.0);
}
