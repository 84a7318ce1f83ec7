// The materials. Each is a pattern of noise: dressed stone, paving, the crater's slopes, water,
// metal, lava, glowing glass.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "scene.glsl"

layout(location = 0) in vec3 inWorld;
layout(location = 1) in vec3 inNormal;
layout(location = 2) in vec4 inClip;
layout(location = 3) in vec4 inPreviousClip;
layout(location = 4) in flat uint inInstance;

layout(location = 0) out vec4 outAlbedo;
layout(location = 1) out vec2 outNormal;
layout(location = 2) out vec4 outMaterial; // roughness, metalness, cavity
layout(location = 3) out vec2 outVelocity;
layout(location = 4) out vec4 outEmissive;

struct Surface {
    vec3 albedo;
    vec3 normal;
    vec3 emissive;
    float roughness;
    float metalness;
    float cavity;
};

// Projects noise onto a surface from three sides. Returns x: broad noise, y: fine noise, zw: the
// slope of the fine noise.
vec4 noiseAround(vec3 position, vec3 normal, out vec3 bump)
{
    vec3 weights = normal * normal;
    weights *= weights;
    weights /= weights.x + weights.y + weights.z;
    const vec4 x = texture(noiseTexture, position.zy);
    const vec4 y = texture(noiseTexture, position.xz);
    const vec4 z = texture(noiseTexture, position.xy);
    const vec2 sx = x.zw - 0.5;
    const vec2 sy = y.zw - 0.5;
    const vec2 sz = z.zw - 0.5;
    bump = vec3(0.0, sx.y, sx.x) * weights.x + vec3(sy.x, 0.0, sy.y) * weights.y +
           vec3(sz.x, sz.y, 0.0) * weights.z;
    return x * weights.x + y * weights.y + z * weights.z;
}

float hash(vec2 p)
{
    return fract(sin(dot(p, vec2(12.9898, 78.233))) * 43758.5453);
}

void stone(inout Surface s, float seed)
{
    vec3 bump;
    const vec4 n = noiseAround(inWorld * 0.37 + seed * 7.3, s.normal, bump);
    vec3 finer;
    const vec4 m = noiseAround(inWorld * 1.7 + seed, s.normal, finer);
    const float stain = smoothstep(0.35, 0.75, n.x) * (1.0 - smoothstep(-0.4, 2.4, inWorld.y + n.y));
    s.albedo *= 0.72 + 0.5 * n.y + 0.2 * (m.y - 0.5);
    s.albedo = mix(s.albedo, s.albedo * vec3(0.52, 0.56, 0.40), stain * 0.75);
    s.roughness = clamp(s.roughness + 0.25 * (m.x - 0.5), 0.5, 1.0);
    s.normal = normalize(s.normal - bump * 0.45 - finer * 0.5);
    s.cavity = clamp(0.55 + 0.9 * m.y, 0.0, 1.0);
}

// Makes rings of slabs around the centre, with joints and puddles.
void paving(inout Surface s)
{
    if (s.normal.y < 0.7) {
        stone(s, 0.3);
        return;
    }
    const float radius = length(inWorld.xz);
    const float ringWidth = 1.15;
    const float ring = floor(radius / ringWidth);
    const float slabs = max(floor((ring + 0.5) * ringWidth * 2.0 * pi / 1.7), 1.0);
    const float turn = atan(inWorld.z, inWorld.x) / (2.0 * pi) + 0.5 + 0.137 * ring;
    const float along = turn * slabs;
    const vec2 slab = vec2(ring, mod(floor(along), slabs));
    const float slabLength = (ring + 0.5) * ringWidth * 2.0 * pi / slabs;
    const vec2 inside = vec2(fract(radius / ringWidth) * ringWidth, fract(along) * slabLength);
    const vec2 edge = min(inside, vec2(ringWidth, slabLength) - inside);
    const float toEdge = min(edge.x, edge.y);
    const float width = max(fwidth(radius), 0.012);
    const float joint = 1.0 - smoothstep(0.012, 0.018 + width, toEdge);
    const float tint = hash(slab);
    stone(s, tint);
    s.albedo *= 0.75 + 0.5 * tint;
    s.albedo = mix(s.albedo, s.albedo * vec3(1.08, 0.96, 0.84), hash(slab + 3.1));
    const float damp = texture(noiseTexture, inWorld.xz * 0.055 + 0.2).x;
    const float puddle = smoothstep(0.50, 0.60, damp + 0.06 * (tint - 0.5) + 0.05 * joint);
    s.albedo *= mix(1.0, 0.45, puddle);
    s.roughness = mix(s.roughness, 0.09, puddle);
    s.normal = normalize(mix(s.normal, vec3(0.0, 1.0, 0.0), puddle * 0.93));
    s.albedo *= 1.0 - 0.72 * joint * (1.0 - puddle);
    s.cavity *= 1.0 - 0.5 * joint;
}

void slope(inout Surface s)
{
    vec3 bump;
    const vec4 n = noiseAround(inWorld * 0.021, s.normal, bump);
    vec3 finer;
    const vec4 m = noiseAround(inWorld * 0.13, s.normal, finer);
    s.normal = normalize(s.normal - bump * 0.9 - finer * 0.7);
    const float grass = smoothstep(0.62, 0.84, s.normal.y + 0.25 * (n.x - 0.5));
    const vec3 rock = mix(vec3(0.085, 0.07, 0.065), vec3(0.22, 0.165, 0.13), m.y);
    const vec3 green = mix(vec3(0.05, 0.075, 0.022), vec3(0.16, 0.15, 0.05), n.y);
    s.albedo = mix(rock, green, grass);
    s.albedo = mix(vec3(0.05, 0.045, 0.04), s.albedo, smoothstep(-1.5, 0.6, inWorld.y));
    s.roughness = 0.92;
    s.cavity = 0.6 + 0.4 * m.x;
}

void water(inout Surface s)
{
    const float time = frame.times.x;
    const vec2 a = texture(noiseTexture, inWorld.xz * 0.11 + time * vec2(0.011, 0.006)).zw - 0.5;
    const vec2 b = texture(noiseTexture, inWorld.xz * 0.31 - time * vec2(0.009, 0.017)).zw - 0.5;
    const float calm = 1.0 / (1.0 + 0.035 * length(inWorld - frame.inverseView[3].xyz));
    const vec2 waves = (a * 0.20 + b * 0.10) * calm;
    s.normal = normalize(vec3(-waves.x, 1.0, -waves.y));
}

void metal(inout Surface s)
{
    vec3 bump;
    const vec4 n = noiseAround(inWorld * 0.9, s.normal, bump);
    s.roughness = clamp(s.roughness + 0.16 * (n.x - 0.45), 0.05, 1.0);
    s.normal = normalize(s.normal - bump * 0.03);
}

// Makes a cooling crust with glowing cracks.
void lava(inout Surface s)
{
    vec3 bump;
    const vec4 n = noiseAround(inWorld * 0.21 + 0.35, s.normal, bump);
    vec3 finer;
    const vec4 m = noiseAround(inWorld * 0.66, s.normal, finer);
    const float crack = 1.0 - smoothstep(0.0, 0.17, abs(n.x * 0.7 + m.x * 0.3 - 0.5));
    const float heat = crack * crack + 0.05;
    s.emissive = s.emissive * heat * mix(vec3(1.0, 0.35, 0.2), vec3(1.0, 1.0, 1.0), crack);
    s.normal = normalize(s.normal - bump * 0.5 - finer * 0.8);
}

void main()
{
    const Instance instance = instances[inInstance];
    Surface s;
    s.albedo = instance.albedoRoughness.rgb;
    s.roughness = instance.albedoRoughness.a;
    s.emissive = instance.emissiveMetalness.rgb;
    s.metalness = instance.emissiveMetalness.a;
    s.normal = normalize(inNormal);
    s.cavity = 1.0;
    const int pattern = int(instance.motion.z + 0.5);
    if (pattern == 0) {
        stone(s, instance.motion.w);
    } else if (pattern == 1) {
        paving(s);
    } else if (pattern == 2) {
        slope(s);
    } else if (pattern == 3) {
        water(s);
    } else if (pattern == 4) {
        metal(s);
    } else if (pattern == 5) {
        lava(s);
    }
    outAlbedo = vec4(s.albedo, 1.0);
    outNormal = packNormal(s.normal);
    outMaterial = vec4(s.roughness, s.metalness, s.cavity, 0.0);
    outVelocity = 0.5 * (inClip.xy / inClip.w - inPreviousClip.xy / inPreviousClip.w);
    outEmissive = vec4(s.emissive, 1.0);
}
