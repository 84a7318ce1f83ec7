// Computes haze over the water, lit by the sun through the cascades, at half size.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "cascades.glsl"
#include "sky.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 4) uniform sampler2D depthHalf;
layout(set = 1, binding = 5, rgba16f) uniform writeonly image2D result;

const int steps = 14;
const float reach = 75.0; // metres

float density(vec3 place)
{
    return 0.0006 + 0.0120 * exp(-0.42 * max(place.y + 1.4, 0.0));
}

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const vec2 uv = (vec2(pixel) + 0.5) * pass.size.zw;
    const float depth = texelFetch(depthHalf, pixel, 0).x;
    const vec3 ray = viewFromDepth(uv, 1.0);
    const float end = min(depth, reach);
    const vec3 origin = frame.inverseView[3].xyz;
    const vec3 direction = mat3(frame.inverseView) * ray;
    const vec3 unit = normalize(direction);
    const float toSun = dot(unit, frame.sunDirection.xyz);
    const float g = 0.72;
    const float phase = (1.0 - g * g) / (4.0 * pi * pow(1.0 + g * g - 2.0 * g * toSun, 1.5));
    const vec3 sun = frame.sunColor.rgb * (phase + 0.02);
    const vec3 around = vec3(0.15, 0.18, 0.27);
    const vec3 fire = frame.lights[0].color.rgb * 0.012;
    const float noise = interleavedNoise(vec2(pixel));
    vec3 light = vec3(0.0);
    float clearness = 1.0;
    for (int i = 0; i < steps; ++i) {
        // The steps grow with the distance.
        const float from = float(i) / float(steps);
        const float to = float(i + 1) / float(steps);
        const float middle = (float(i) + noise) / float(steps);
        const float t = end * middle * middle;
        const float span = end * (to * to - from * from) * length(direction);
        const vec3 place = origin + direction * t;
        const int cascade = cascadeOf(t);
        const float lit = t < frame.cascadeEnds.w
                              ? shadowTap(cascade, placeInCascade(cascade, place))
                              : 1.0;
        const vec3 toFire = frame.lights[0].positionRadius.xyz - place;
        const vec3 source = sun * lit + around + fire / (1.0 + dot(toFire, toFire));
        const float through = exp(-density(place) * span);
        light += source * clearness * (1.0 - through);
        clearness *= through;
    }
    // Beyond the last step, the air has the colour of the sky.
    if (depth > reach) {
        const float through = exp(-0.0034 * (min(depth, 260.0) - reach));
        const vec3 far = skyGradient(vec3(unit.x, max(unit.y, 0.03), unit.z)) * 0.72;
        const float share = depth > 5000.0 ? 1.0 : through;
        light += far * clearness * (1.0 - share);
        clearness *= share;
    }
    imageStore(result, pixel, vec4(light, clearness));
}
