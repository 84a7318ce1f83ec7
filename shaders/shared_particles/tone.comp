// Converts the gathered light to a picture's bytes, with a glow around bright places.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 8, local_size_y = 8, local_size_z = 1) in;

layout(set = 0, binding = 0, rgba16f) uniform readonly image2D light;
layout(set = 0, binding = 1, std430) writeonly buffer Picture {
    uint pixels[];
} picture;

layout(push_constant, std430) uniform Job {
    uvec2 size;
    float exposure;
    float unused;
} job;

#include "scrambled.glsl"

vec3 lightAt(ivec2 at)
{
    return imageLoad(light, clamp(at, ivec2(0), ivec2(job.size) - 1)).rgb;
}

// The taps form rings. Outer rings are weaker.
vec3 glowAt(ivec2 at)
{
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (int ring = 1; ring <= 6; ++ring) {
        const float radius = float(job.size.y) / 720.0 * float(ring * ring) * 1.6;
        const float weight = 1.0 / float(ring * ring);
        for (int i = 0; i < 12; ++i) {
            const float angle = (float(i) + 0.5 * float(ring & 1)) * 0.5235988;
            sum += weight * lightAt(at + ivec2(round(radius * vec2(cos(angle), sin(angle)))));
            weights += weight;
        }
    }
    return sum / weights;
}

// The sky is darker towards the edges and has some distant stars that do not move.
vec3 skyAt(uvec2 at)
{
    const vec2 from = (vec2(at) - 0.5 * vec2(job.size)) / float(job.size.y);
    vec3 sky = vec3(0.0035, 0.0045, 0.012) * exp(-1.2 * dot(from, from));
    const uint chance = scrambled(at.x * 9781u + at.y * 6271u * job.size.x + 17u);
    if (chance % 2600u == 0u) {
        sky += vec3(0.55, 0.6, 0.7) * pow(float(chance >> 12 & 255u) / 255.0, 4.0);
    }
    return sky;
}

// Narkowicz's fit of a film curve: dark stays dark, and bright is not clipped.
vec3 filmed(vec3 x)
{
    return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}

void main()
{
    const uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= job.size.x || at.y >= job.size.y) {
        return;
    }
    const vec3 seen = lightAt(ivec2(at)) + 0.35 * glowAt(ivec2(at));
    const vec3 shown = pow(filmed(job.exposure * seen + skyAt(at)), vec3(1.0 / 2.2));
    // A pattern of thresholds avoids bands. It compresses better than noise.
    const float thresholds[4] = float[](0.125, 0.625, 0.875, 0.375);
    const vec3 bytes = shown * 255.0 + thresholds[(at.x & 1u) + 2u * (at.y & 1u)];
    const uvec3 whole = min(uvec3(bytes), uvec3(255u));
    picture.pixels[at.y * job.size.x + at.x] =
        whole.r | whole.g << 8 | whole.b << 16 | 0xFF000000u;
}
