// A parallelogram of the hall.
#version 450

layout(push_constant, std430) uniform Surface {
    mat4 projection;
    vec4 origin; // one corner
    vec4 u;      // the edges from there; w: texture coordinates along them
    vec4 v;
} surface;

layout(location = 0) out vec2 outAt;
layout(location = 1) flat out vec3 outNormal;

void main()
{
    const vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    const vec3 place = surface.origin.xyz + surface.u.xyz * corner.x + surface.v.xyz * corner.y;
    outAt = corner * vec2(surface.u.w, surface.v.w);
    outNormal = normalize(cross(surface.u.xyz, surface.v.xyz));
    gl_Position = surface.projection * vec4(place, 1.0);
}
