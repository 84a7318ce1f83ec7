// Draws a plane in a camera's view. Its texture consists of the resident tiles of a partially
// resident image.
//
// Floating-point numbers lead only to places on the map and a level, all in 256ths. Texel colours
// are mixed in integers, so that the host can mix equal colours and compare them byte by byte. The
// shader fetches only texels that the map of levels allows.
#version 450
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_GOOGLE_include_directive : require
#include "colours.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(push_constant) uniform Push
{
    vec4 eye;       // place in texels of level 0; height above the map
    vec4 right;     // step of a pixel to the right; w: haze per texel
    vec4 down;      // step of a pixel downwards
    vec4 forward;   // through the middle of the picture
    uvec4 picture;  // width, height, the one in 64 pixels that requests its tile, flags
    uvec4 texture_; // texels of level 0, levels, log2 of a tile's width and height
};

const uint FLAG_TINT = 1u; // colour by level
const uint FLAG_PLAN = 2u; // store the plan of fetches

const uint MOST_PROBES = 4u;

// The plan of a pixel's fetches: places around one centre, along the longer side of the pixel's
// area.
struct Plan {
    uvec2 place;
    uint level;
    uint haze; // haze; the kind is in the bits from 16 on
    ivec2 half_step;
    uint probes;
    uint unused;
};

layout(set = 0, binding = 0) uniform texture2D map;
layout(set = 0, binding = 1) readonly buffer Levels { uint levels[]; };
layout(set = 0, binding = 2) writeonly buffer Feedback { uint requests[]; };
layout(set = 0, binding = 3) writeonly buffer Pixels { uint pixels[]; };
layout(set = 0, binding = 4) writeonly buffer Plans { Plan plans[]; };

#define PACK_TILE_REQUEST(level, layer, x, y)                                                      \
    ((((level) + 1u) << 28) | ((layer) << 20) | ((y) << 10) | (x))

// The four texels around a place: the first, the last, and the position of the place between them
// in 256ths.
struct Footprint {
    ivec2 first;
    ivec2 last;
    uvec2 part;
};

Footprint footprint_at(uvec2 place, uint level)
{
    const ivec2 within = ivec2(place >> level) - 128;
    const ivec2 end = ivec2(int(texture_.x >> level) - 1);
    Footprint found;
    found.first = clamp(within >> 8, ivec2(0), end);
    found.last = clamp((within >> 8) + 1, ivec2(0), end);
    found.part = uvec2(within & 255);
    return found;
}

// Returns the finest level that may be fetched at the place of a texel of a level.
uint finest_at(ivec2 texel, uint level)
{
    const uvec2 tile = (uvec2(texel) << level) >> texture_.zw;
    const uint index = tile.y * (texture_.x >> texture_.z) + tile.x;
    return levels[index >> 2] >> ((index & 3u) * 8u) & 255u;
}

// Returns the finest level, from a given one on, whose four texels may all be fetched; the number
// of levels if no level qualifies.
uint settle(uvec2 place, uint level)
{
    while (level < texture_.y) {
        const Footprint f = footprint_at(place, level);
        const uint finest =
            max(max(finest_at(f.first, level), finest_at(f.last, level)),
                max(finest_at(ivec2(f.last.x, f.first.y), level),
                    finest_at(ivec2(f.first.x, f.last.y), level)));
        if (finest <= level) {
            return level;
        }
        level = finest;
    }
    return level;
}

uvec3 fetch(ivec2 texel, uint level)
{
    return uvec3(texelFetch(map, texel, int(level)).rgb * 255.0 + 0.5);
}

uvec3 colour_at(uvec2 place, uint level)
{
    const Footprint f = footprint_at(place, level);
    const uvec3 top = fetch(f.first, level) * (256u - f.part.x) +
                      fetch(ivec2(f.last.x, f.first.y), level) * f.part.x;
    const uvec3 bottom = fetch(ivec2(f.first.x, f.last.y), level) * (256u - f.part.x) +
                         fetch(f.last, level) * f.part.x;
    return (top * (256u - f.part.y) + bottom * f.part.y + 32768u) >> 16u;
}

// Mixes two levels, like trilinear filtering. If the finer level is not resident, uses only the
// finest resident level. `level` receives the finer used level.
uvec3 probe(uvec2 place, uint wanted, out uint level)
{
    const uint wanted_level = wanted >> 8;
    level = settle(place, wanted_level);
    if (level >= texture_.y) {
        return NOTHING_YET;
    }
    const uint part = wanted & 255u;
    uvec3 colour = colour_at(place, level);
    if (level == wanted_level && part != 0u) {
        const uint coarser = settle(place, level + 1u);
        if (coarser < texture_.y) {
            colour = (colour * (256u - part) + colour_at(place, coarser) * part + 128u) >> 8u;
        }
    }
    return colour;
}

uvec3 textured(Plan plan)
{
    const ivec2 end = ivec2(int(texture_.x * 256u) - 1);
    uvec3 sum = uvec3(0u);
    uint coarsest = 0u;
    for (uint i = 0u; i < plan.probes; ++i) {
        const int away = int(2u * i + 1u) - int(plan.probes);
        const uvec2 place =
            uvec2(clamp(ivec2(plan.place) + plan.half_step * away, ivec2(0), end));
        uint level;
        sum += probe(place, plan.level, level);
        coarsest = max(coarsest, level);
    }
    uvec3 colour = (2u * sum + plan.probes) / (2u * plan.probes);
    if ((picture.w & FLAG_TINT) != 0u && coarsest < texture_.y) {
        colour = (colour * 3u + tints[min(coarsest, TINT_COUNT - 1u)] * 5u + 4u) >> 3u;
    }
    return colour;
}

Plan plan_ground(vec3 ray)
{
    const float along = -eye.z / ray.z;
    const vec2 at = eye.xy + along * ray.xy;
    // The distance that the place moves from one pixel to the next, in x and in y.
    const vec2 across = along * (right.xy - ray.xy * (right.z / ray.z));
    const vec2 ahead = along * (down.xy - ray.xy * (down.z / ray.z));
    const float a = length(across);
    const float b = length(ahead);
    const vec2 longer = a > b ? across : ahead;
    const float probes = clamp(ceil(max(a, b) / min(a, b)), 1.0, float(MOST_PROBES));
    const float texels = max(min(a, b), max(a, b) / float(MOST_PROBES));
    const float most = float((texture_.y - 1u) * 256u);
    const float haze = 1.0 - exp(-right.w * along * length(ray));
    const bool inside = all(greaterThanEqual(at, vec2(0.0))) &&
                        all(lessThan(at, vec2(float(texture_.x))));
    Plan plan;
    plan.place = inside ? uvec2(at * 256.0) : uvec2(0u);
    plan.level = uint(clamp(log2(texels) * 256.0, 0.0, most));
    plan.haze =
        uint(clamp(haze * 256.0, 0.0, 256.0)) | (inside ? KIND_MAP : KIND_OUTSIDE) << 16;
    plan.half_step = inside ? ivec2(longer * (128.0 / probes)) : ivec2(0);
    plan.probes = uint(probes);
    plan.unused = 0u;
    return plan;
}

Plan plan_sky(vec3 ray)
{
    const float above = ray.z / length(ray);
    return Plan(uvec2(0u), 0u, uint(clamp(above * 1100.0, 0.0, 256.0)) | KIND_SKY << 16, ivec2(0),
                1u, 0u);
}

void main()
{
    const uvec2 pixel = gl_GlobalInvocationID.xy;
    const bool visible = all(lessThan(pixel, picture.xy));
    const vec2 off = vec2(pixel) + 0.5 - 0.5 * vec2(picture.xy);
    const vec3 ray = forward.xyz + right.xyz * off.x + down.xyz * off.y;
    Plan plan;
    if (ray.z < -1e-4) {
        plan = plan_ground(ray);
    } else {
        plan = plan_sky(ray);
    }
    const uint kind = plan.haze >> 16;
    if (gl_LocalInvocationIndex == picture.z) {
        const uint level = plan.level >> 8;
        const uvec2 tile = (plan.place >> (8u + level)) >> texture_.zw;
        requests[gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x] =
            visible && kind == KIND_MAP ? PACK_TILE_REQUEST(level, 0u, tile.x, tile.y) : 0u;
    }
    if (!visible) {
        return;
    }
    const uint part = plan.haze & 0xFFFFu;
    uvec3 colour = kind == KIND_SKY ? ZENITH : OUTSIDE;
    if (kind == KIND_MAP) {
        colour = textured(plan);
    }
    const uint sky = kind == KIND_SKY ? 256u - part : part;
    colour = (colour * (256u - sky) + HORIZON * sky + 128u) >> 8u;
    const uint index = pixel.y * picture.x + pixel.x;
    pixels[index] = colour.r | colour.g << 8 | colour.b << 16 | 0xFF000000u;
    if ((picture.w & FLAG_PLAN) != 0u) {
        plans[index] = plan;
    }
}
