#version 450
#extension GL_GOOGLE_include_directive : require
// Takes rows of queries, keys and values. Rotates queries and keys by the token's position, and
// appends keys and values to the KV cache. An invocation has a pair of each.
#include "model.glsl"
#include "cache.glsl"

vec2 rotated(vec2 pair, float angle)
{
    const float c = cos(angle);
    const float s = sin(angle);
    return vec2(pair.x * c - pair.y * s, pair.x * s + pair.y * c);
}

void main()
{
    const uint row = gl_WorkGroupID.y;
    const uint i = 2u * gl_GlobalInvocationID.x;
    if (i >= job.narrow) {
        return;
    }
    const uint position = job.position + row;
    const float angle = float(position) * exp2(-13.0 * float(i % HEAD) / float(HEAD));
    const uint query = job.from + row * 3u * job.narrow + i;
    const uint key = query + job.narrow;
    const uint value = key + job.narrow;
    const vec2 turned = rotated(vec2(scratch.at[query], scratch.at[query + 1u]), angle);
    const vec2 kept = rotated(vec2(scratch.at[key], scratch.at[key + 1u]), angle);
    scratch.at[query] = turned.x;
    scratch.at[query + 1u] = turned.y;
    // All tokens of a pass lie in one part.
    const uint part = job.position / PART;
    const uint to = (position % PART) * job.narrow + i;
    parts[part].at[to] = kept.x;
    parts[part].at[to + 1u] = kept.y;
    parts[part].at[PART * job.narrow + to] = scratch.at[value];
    parts[part].at[PART * job.narrow + to + 1u] = scratch.at[value + 1u];
}
