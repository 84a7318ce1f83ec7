#version 450
#extension GL_GOOGLE_include_directive : require
// Divides each row by its root mean square, and multiplies it with gains. One group for each row.
#include "model.glsl"
#include "sum.glsl"

void main()
{
    const uint from = job.from + gl_WorkGroupID.y * job.wide;
    const uint to = job.to + gl_WorkGroupID.y * job.wide;
    float squares = 0.0;
    for (uint i = gl_LocalInvocationIndex; i < job.wide; i += LANES) {
        squares += scratch.at[from + i] * scratch.at[from + i];
    }
    const float scale = inversesqrt(sumOfGroup(squares) / float(job.wide) + 1e-5);
    for (uint i = gl_LocalInvocationIndex; i < job.wide; i += LANES) {
        scratch.at[to + i] = scratch.at[from + i] * scale * weights.at[job.weights + i];
    }
}
