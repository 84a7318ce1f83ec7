#version 450
#extension GL_GOOGLE_include_directive : require
// Multiplies rows with a matrix of `wide` rows and `narrow` columns. An invocation computes one
// number, so that neighbours read neighbours of the matrix.
#include "model.glsl"
#include "text.glsl"

#define MODE_STORE 0u
#define MODE_ADD 1u    // to what is there
#define MODE_LOGITS 2u // stores for the host

void main()
{
    const uint row = gl_WorkGroupID.y;
    const uint column = gl_GlobalInvocationID.x;
    if (column >= job.narrow) {
        return;
    }
    const uint from = job.from + row * job.wide;
    const uint to = job.to + row * job.narrow + column;
    float sum = 0.0;
    for (uint i = 0u; i < job.wide; ++i) {
        sum += scratch.at[from + i] * weights.at[job.weights + i * job.narrow + column];
    }
    if (job.mode == MODE_LOGITS) {
        text.logits[to] = sum;
    } else if (job.mode == MODE_ADD) {
        scratch.at[to] += sum;
    } else {
        scratch.at[to] = sum;
    }
}
