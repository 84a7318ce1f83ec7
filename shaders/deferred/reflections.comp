// Computes reflections of the screen's contents, at half size. The result is the difference to the
// sky that the lighting has already added, so that a ray that leaves the screen changes nothing.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "surface.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D depthHalf;
layout(set = 1, binding = 1) uniform sampler2D depthLinear;
layout(set = 1, binding = 2) uniform sampler2D albedoTexture;
layout(set = 1, binding = 3) uniform sampler2D normals;
layout(set = 1, binding = 4) uniform sampler2D materials;
layout(set = 1, binding = 5) uniform sampler2D lit;
layout(set = 1, binding = 6, rgba16f) uniform writeonly image2D result;

const int steps = 28;

vec2 uvOf(vec3 position)
{
    const vec2 clip = position.xy * frame.projection.xy / -position.z + frame.jitter.xy;
    return clip * 0.5 + 0.5;
}

// Traces a ray from a place in view space. Returns xy: the hit, z: the confidence.
vec3 march(vec3 origin, vec3 direction, float noise)
{
    const float longest = 70.0;
    float before = 0.0;
    for (int i = 0; i < steps; ++i) {
        const float share = (float(i) + 0.35 + 0.65 * noise) / float(steps);
        const float t = 0.06 + longest * share * share * share;
        const vec3 place = origin + direction * t;
        if (place.z > -0.2) {
            break;
        }
        const vec2 uv = uvOf(place);
        if (any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0)))) {
            break;
        }
        const float behind = -place.z - textureLod(depthHalf, uv, 0.0).x;
        if (behind > 0.0) {
            if (behind > (t - before) * 1.2 + 0.35) {
                before = t;
                continue;
            }
            float low = before;
            float high = t;
            for (int j = 0; j < 5; ++j) {
                const float middle = 0.5 * (low + high);
                const vec3 trial = origin + direction * middle;
                if (-trial.z > textureLod(depthLinear, uvOf(trial), 0.0).x) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            const vec2 hit = uvOf(origin + direction * high);
            const vec2 border = smoothstep(vec2(0.0), vec2(0.08), hit) *
                                smoothstep(vec2(0.0), vec2(0.08), 1.0 - hit);
            return vec3(hit, border.x * border.y);
        }
        before = t;
    }
    return vec3(0.0);
}

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    // The nearest of the four pixels, as in the halved depth.
    const ivec2 last = textureSize(materials, 0) - 1;
    ivec2 full = min(pixel * 2, last);
    float depth = texelFetch(depthLinear, full, 0).x;
    for (int i = 1; i < 4; ++i) {
        const ivec2 at = min(pixel * 2 + ivec2(i & 1, i >> 1), last);
        const float there = texelFetch(depthLinear, at, 0).x;
        full = there < depth ? at : full;
        depth = min(depth, there);
    }
    const vec2 uv = (vec2(full) + 0.5) * frame.size.zw;
    const vec3 material = texelFetch(materials, full, 0).xyz;
    if (depth > 500.0 || material.x > 0.45) {
        imageStore(result, pixel, vec4(0.0));
        return;
    }
    const vec3 origin = viewFromDepth(uv, depth);
    const vec3 normal = unpackNormal(texelFetch(normals, full, 0).xy);
    const vec3 viewNormal = mat3(frame.view) * normal;
    const vec3 direction = reflect(normalize(origin), viewNormal);
    const vec3 found = march(origin + viewNormal * 0.02, direction, interleavedNoise(vec2(pixel)));
    vec3 difference = vec3(0.0);
    if (found.z > 0.0) {
        const vec3 view = -normalize(mat3(frame.inverseView) * origin);
        const vec3 mirrored = mat3(frame.inverseView) * direction;
        const vec3 toward = normalize(vec3(mirrored.x, abs(mirrored.y) + 0.01, mirrored.z));
        const vec3 sky = mix(skyColor(toward), skyIrradiance(mirrored),
                             smoothstep(0.05, 0.75, material.x));
        const vec3 albedo = texelFetch(albedoTexture, full, 0).rgb;
        const vec3 weight = environmentReflection(albedo, material.y, material.x,
                                                  max(dot(normal, view), 1e-3));
        const vec3 there = min(textureLod(lit, found.xy, 0.0).rgb, vec3(24.0));
        const float sure = found.z * (1.0 - smoothstep(0.25, 0.45, material.x));
        difference = (there - sky) * weight * sure;
    }
    imageStore(result, pixel, vec4(difference, 1.0));
}
