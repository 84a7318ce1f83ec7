// Sums all light: the unshadowed sun, the lights of the tile, and the sky.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "surface.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 1, binding = 0) uniform sampler2D depthLinear;
layout(set = 1, binding = 1) uniform sampler2D albedoTexture;
layout(set = 1, binding = 2) uniform sampler2D normals;
layout(set = 1, binding = 3) uniform sampler2D materials;
layout(set = 1, binding = 4) uniform sampler2D emissiveTexture;
layout(set = 1, binding = 5) uniform sampler2D shadowMask;
layout(set = 1, binding = 6) uniform sampler2D ambientOcclusion;
layout(set = 1, binding = 7, std430) readonly buffer Tiles {
    uvec2 masks[];
};
layout(set = 1, binding = 8, rgba16f) uniform writeonly image2D result;

vec3 pointLights(uvec2 mask, vec3 world, vec3 normal, vec3 view, vec3 albedo, vec2 material)
{
    vec3 sum = vec3(0.0);
    for (int word = 0; word < 2; ++word) {
        uint bits = mask[word];
        while (bits != 0u) {
            const int index = findLSB(bits);
            bits &= bits - 1u;
            const Light light = frame.lights[word * 32 + index];
            const vec3 delta = light.positionRadius.xyz - world;
            const float squared = dot(delta, delta);
            const float share = squared / (light.positionRadius.w * light.positionRadius.w);
            const float window = max(1.0 - share * share, 0.0);
            if (window <= 0.0) {
                continue;
            }
            const float strength = window * window / (squared + 0.05);
            sum += reflectLight(normal, view, delta * inversesqrt(squared + 1e-6), albedo,
                                material.y, max(material.x, 0.12)) *
                   light.color.rgb * strength;
        }
    }
    return sum;
}

void main()
{
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, ivec2(pass.size.xy)))) {
        return;
    }
    const vec2 uv = (vec2(pixel) + 0.5) * pass.size.zw;
    const float depth = texelFetch(depthLinear, pixel, 0).x;
    const vec3 world = worldFromView(viewFromDepth(uv, depth));
    const vec3 view = normalize(frame.inverseView[3].xyz - world);
    if (depth > 5000.0) {
        imageStore(result, pixel, vec4(skyColor(-view) + sunDisc(-view), 1.0));
        return;
    }
    const vec3 albedo = texelFetch(albedoTexture, pixel, 0).rgb;
    const vec3 normal = unpackNormal(texelFetch(normals, pixel, 0).xy);
    const vec3 material = texelFetch(materials, pixel, 0).xyz;
    const float open = textureLod(ambientOcclusion, uv, 0.0).x * material.z;
    const float sunlight = texelFetch(shadowMask, pixel, 0).x;

    vec3 color = texelFetch(emissiveTexture, pixel, 0).rgb;
    color += reflectLight(normal, view, frame.sunDirection.xyz, albedo, material.y,
                          max(material.x, 0.06)) *
             frame.sunColor.rgb * sunlight;
    const uvec2 mask = masks[(pixel.y >> 4) * int(frame.counts.y) + (pixel.x >> 4)];
    color += pointLights(mask, world, normal, view, albedo, material.xy);

    const float nv = max(dot(normal, view), 1e-3);
    const vec3 mirrored = reflect(-view, normal);
    const vec3 toward = normalize(vec3(mirrored.x, abs(mirrored.y) + 0.01, mirrored.z));
    const vec3 blurred = skyIrradiance(mirrored);
    const vec3 sharp = skyColor(toward);
    const vec3 reflection = mix(sharp, blurred, smoothstep(0.05, 0.75, material.x));
    const float specularOpen = mix(1.0, open, material.x);
    color += environmentReflection(albedo, material.y, material.x, nv) * reflection * specularOpen;
    color += albedo * (1.0 - material.y) * skyIrradiance(normal) * open;
    imageStore(result, pixel, vec4(color, 1.0));
}
