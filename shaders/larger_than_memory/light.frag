// The second half of the deferred frame: lamps, dusk and haze.
#version 450

layout(location = 0) in vec2 inAt;

layout(set = 0, binding = 0) uniform sampler2D colours;
layout(set = 0, binding = 1) uniform sampler2D surfaces;

layout(push_constant, std430) uniform Eye {
    vec4 place;
    vec4 right; // as long as half the width of the view at a distance of 1
    vec4 up;
    vec4 forward;
} eye;

layout(location = 0) out vec4 outColour;

const float LENGTH = 6.0; // of a bay
const float FARTHEST = 23.5;

vec3 skyAt(vec3 ray)
{
    return mix(vec3(0.42, 0.27, 0.30), vec3(0.07, 0.10, 0.22), clamp(ray.y * 2.2, 0.0, 1.0));
}

// A lamp hangs in the middle of each bay; those of three bays reach a place.
vec3 lampsAt(vec3 place, vec3 normal)
{
    vec3 light = vec3(0.0);
    for (int i = -1; i <= 1; ++i) {
        const vec3 lamp = vec3(0.0, 3.9, (floor(place.z / LENGTH) + float(i) + 0.5) * LENGTH);
        const vec3 to = lamp - place;
        const float away = dot(to, to);
        light += vec3(1.0, 0.72, 0.42) * 7.5 * max(dot(normal, to * inversesqrt(away)), 0.0) /
                 (1.0 + away);
    }
    return light;
}

void main()
{
    const ivec2 pixel = ivec2(gl_FragCoord.xy);
    const vec4 surface = texelFetch(surfaces, pixel, 0);
    const vec3 ray = eye.forward.xyz + eye.right.xyz * inAt.x + eye.up.xyz * inAt.y;
    const vec3 sky = skyAt(normalize(ray));
    vec3 colour = sky;
    if (surface.w > 0.0) {
        const vec3 place = eye.place.xyz + ray * surface.w;
        const vec3 normal = dot(surface.xyz, ray) > 0.0 ? -surface.xyz : surface.xyz;
        const vec3 ground = texelFetch(colours, pixel, 0).rgb;
        const vec3 dusk = mix(vec3(0.10, 0.08, 0.10), vec3(0.16, 0.19, 0.30), normal.y * 0.5 + 0.5);
        const vec3 lit = ground * ground * (dusk + lampsAt(place, normal));
        colour = mix(lit, skyAt(vec3(0.0)), smoothstep(7.0, FARTHEST, surface.w));
    }
    outColour = vec4(pow(colour, vec3(1.0 / 2.2)), 1.0);
}
