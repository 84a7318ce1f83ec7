// Mixes this frame with the history of previous frames, where the history still fits.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D scene;
layout(set = 1, binding = 1) uniform sampler2D history;
layout(set = 1, binding = 2) uniform sampler2D velocities;
layout(set = 1, binding = 3) uniform sampler2D depthLinear;
layout(set = 1, binding = 4, rgba16f) uniform writeonly image2D result;

// Bright pixels get a lower weight, or a single one would dominate all others.
vec3 compress(vec3 color)
{
    return color / (1.0 + luminance(color));
}

vec3 expand(vec3 color)
{
    return color / max(1.0 - luminance(color), 1e-3);
}

vec3 toYCoCg(vec3 c)
{
    return vec3(0.25 * c.r + 0.5 * c.g + 0.25 * c.b, 0.5 * (c.r - c.b),
                0.5 * c.g - 0.25 * (c.r + c.b));
}

vec3 fromYCoCg(vec3 c)
{
    return vec3(c.x + c.y - c.z, c.x + c.z, c.x - c.y - c.z);
}

// Applies a Catmull-Rom filter of five bilinear taps.
vec3 sampleHistory(vec2 uv)
{
    const vec2 place = uv * pass.size.xy;
    const vec2 center = floor(place - 0.5) + 0.5;
    const vec2 f = place - center;
    const vec2 w0 = f * (-0.5 + f * (1.0 - 0.5 * f));
    const vec2 w1 = 1.0 + f * f * (-2.5 + 1.5 * f);
    const vec2 w2 = f * (0.5 + f * (2.0 - 1.5 * f));
    const vec2 w3 = f * f * (-0.5 + 0.5 * f);
    const vec2 w12 = w1 + w2;
    const vec2 at0 = (center - 1.0) * pass.size.zw;
    const vec2 at12 = (center + w2 / w12) * pass.size.zw;
    const vec2 at3 = (center + 2.0) * pass.size.zw;
    const vec3 a = textureLod(history, vec2(at12.x, at0.y), 0.0).rgb * (w12.x * w0.y);
    const vec3 b = textureLod(history, vec2(at0.x, at12.y), 0.0).rgb * (w0.x * w12.y);
    const vec3 c = textureLod(history, at12, 0.0).rgb * (w12.x * w12.y);
    const vec3 d = textureLod(history, vec2(at3.x, at12.y), 0.0).rgb * (w3.x * w12.y);
    const vec3 e = textureLod(history, vec2(at12.x, at3.y), 0.0).rgb * (w12.x * w3.y);
    const float sum = w12.x * w0.y + w0.x * w12.y + w12.x * w12.y + w3.x * w12.y + w12.x * w3.y;
    return max((a + b + c + d + e) / sum, vec3(0.0));
}

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const ivec2 last = ivec2(pass.size.xy) - 1;
    const vec2 uv = (vec2(pixel) + 0.5) * pass.size.zw;
    vec3 first = vec3(0.0);
    vec3 second = vec3(0.0);
    vec3 now = vec3(0.0);
    ivec2 front = pixel;
    float nearest = 1e9;
    for (int i = 0; i < 9; ++i) {
        const ivec2 at = clamp(pixel + ivec2(i % 3 - 1, i / 3 - 1), ivec2(0), last);
        const vec3 color = toYCoCg(compress(texelFetch(scene, at, 0).rgb));
        first += color;
        second += color * color;
        if (i == 4) {
            now = color;
        }
        const float depth = texelFetch(depthLinear, at, 0).x;
        if (depth < nearest) {
            nearest = depth;
            front = at;
        }
    }
    vec2 velocity = texelFetch(velocities, front, 0).xy;
    if (nearest > 5000.0) {
        const vec3 direction = mat3(frame.inverseView) * viewFromDepth(uv, 1.0);
        const vec4 before = frame.previousViewProjection * vec4(direction, 0.0);
        const vec4 here = frame.steadyViewProjection * vec4(direction, 0.0);
        velocity = 0.5 * (here.xy / here.w - before.xy / before.w);
    }
    const vec2 source = uv - velocity;
    vec3 color = now;
    if (frame.times.w > 0.5 && all(greaterThan(source, vec2(0.0))) &&
        all(lessThan(source, vec2(1.0)))) {
        const vec3 mean = first / 9.0;
        const vec3 deviation = sqrt(max(second / 9.0 - mean * mean, vec3(0.0)));
        const vec3 past = toYCoCg(compress(sampleHistory(source)));
        const vec3 kept = clamp(past, mean - 1.5 * deviation, mean + 1.5 * deviation);
        const float share = max(1.0 / (frame.times.z + 1.0), 0.07);
        color = mix(kept, now, share);
    }
    imageStore(result, pixel, vec4(max(expand(fromYCoCg(color)), vec3(0.0)), 1.0));
}
