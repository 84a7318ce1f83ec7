#version 450
#extension GL_GOOGLE_include_directive : require
// Multiplies the second half of each row with the gate (SiLU) of the first half.
#include "model.glsl"

void main()
{
    const uint row = gl_WorkGroupID.y;
    const uint i = gl_GlobalInvocationID.x;
    if (i < job.narrow) {
        const float gate = scratch.at[job.from + row * 2u * job.narrow + i];
        const float value = scratch.at[job.from + row * 2u * job.narrow + job.narrow + i];
        scratch.at[job.to + row * job.narrow + i] = value * gate / (1.0 + exp(-gate));
    }
}
