// Finds the lights that may reach each tile of 16x16 pixels, as a mask of 64 bits. One group
// handles one tile.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(local_size_x = 64) in;
layout(set = 1, binding = 0) uniform sampler2D depthEighth;
layout(set = 1, binding = 1, std430) writeonly buffer Tiles {
    uvec2 masks[];
};

shared uint nearest;
shared uint mask[2];

void main()
{
    const uint lane = gl_LocalInvocationID.x;
    const ivec2 tile = ivec2(gl_WorkGroupID.xy);
    if (lane == 0u) {
        nearest = floatBitsToUint(1e9);
        mask[0] = 0u;
        mask[1] = 0u;
    }
    barrier();
    if (lane < 4u) {
        const ivec2 last = textureSize(depthEighth, 0) - 1;
        const ivec2 at = min(tile * 2 + ivec2(lane & 1u, lane >> 1), last);
        atomicMin(nearest, floatBitsToUint(texelFetch(depthEighth, at, 0).x));
    }
    barrier();
    if (lane < uint(frame.counts.x)) {
        const Light light = frame.lights[lane];
        const vec3 center = (frame.view * vec4(light.positionRadius.xyz, 1.0)).xyz;
        const float radius = light.positionRadius.w;
        const float zNear = uintBitsToFloat(nearest);
        // The test uses a cone around the tile's middle ray.
        const vec2 middle = (vec2(tile) * 16.0 + 8.0) * frame.size.zw;
        const vec2 corner = (vec2(tile) * 16.0) * frame.size.zw;
        const vec3 axis = normalize(viewFromDepth(middle, 1.0));
        const vec3 side = normalize(viewFromDepth(corner, 1.0));
        const float cosine = dot(axis, side);
        const float sine = sqrt(max(1.0 - cosine * cosine, 0.0));
        const float along = dot(center, axis);
        const float across = sqrt(max(dot(center, center) - along * along, 0.0));
        const bool inside = across * cosine - along * sine <= radius && -center.z + radius >= zNear;
        if (inside) {
            atomicOr(mask[lane >> 5], 1u << (lane & 31u));
        }
    }
    barrier();
    if (lane == 0u) {
        masks[tile.y * int(frame.counts.y) + tile.x] = uvec2(mask[0], mask[1]);
    }
}
