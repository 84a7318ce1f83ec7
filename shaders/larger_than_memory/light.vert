// One triangle over the whole frame.
#version 450

layout(location = 0) out vec2 outAt; // -1 to 1, y upwards

void main()
{
    const vec2 place = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0;
    outAt = vec2(place.x, -place.y);
    gl_Position = vec4(place, 0.0, 1.0);
}
