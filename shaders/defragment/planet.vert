// Draws a square around a planet.
#version 450

layout(push_constant, std430) uniform Planet {
    vec4 place; // centre and half the size, in clip space
    vec4 air;   // colour; w: how far the planet has turned, 0 to 1
    uint grid;  // heights in a row
} planet;

layout(location = 0) out vec2 outAt; // the planet's edge is at 1

void main()
{
    const float margin = 1.25;
    outAt = (vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0) * margin;
    gl_Position = vec4(planet.place.xy + outAt * planet.place.zw, 0.0, 1.0);
}
