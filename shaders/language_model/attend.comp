#version 450
#extension GL_GOOGLE_include_directive : require
// Attention of one head of one token to all tokens up to it. One group for each.
#include "model.glsl"
#include "cache.glsl"
#include "sum.glsl"

shared float shares[256]; // MODEL_MOST_POSITIONS

void main()
{
    const uint head = gl_WorkGroupID.x * HEAD;
    const uint row = gl_WorkGroupID.y;
    const uint count = job.position + row + 1u;
    const uint query = job.from + row * 3u * job.narrow + head;
    float most = -1e30;
    // A part has as many tokens as the group has invocations.
    for (uint part = 0u; part * PART < count; ++part) {
        const uint at = part * PART + gl_LocalInvocationIndex;
        const uint key = gl_LocalInvocationIndex * job.narrow + head;
        float product = 0.0;
        for (uint i = 0u; i < HEAD && at < count; ++i) {
            product += scratch.at[query + i] * parts[part].at[key + i];
        }
        if (at < count) {
            shares[at] = product * inversesqrt(float(HEAD));
            most = max(most, shares[at]);
        }
    }
    most = mostOfGroup(most);
    float sum = 0.0;
    for (uint at = gl_LocalInvocationIndex; at < count; at += LANES) {
        shares[at] = exp(shares[at] - most);
        sum += shares[at];
    }
    sum = sumOfGroup(sum);
    if (gl_LocalInvocationIndex < HEAD) {
        const uint i = head + gl_LocalInvocationIndex;
        float mixed = 0.0;
        for (uint at = 0u; at < count; ++at) {
            mixed += shares[at] * parts[at / PART].at[(PART + at % PART) * job.narrow + i];
        }
        scratch.at[job.to + row * job.narrow + i] = mixed / sum;
    }
}
