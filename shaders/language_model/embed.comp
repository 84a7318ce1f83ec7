#version 450
#extension GL_GOOGLE_include_directive : require
// Looks up the vector of each token. One column of groups for each token.
#include "model.glsl"
#include "text.glsl"

void main()
{
    const uint row = gl_WorkGroupID.y;
    const uint i = gl_GlobalInvocationID.x;
    if (i < job.narrow) {
        const uint token = text.tokens[job.position + row];
        scratch.at[job.to + row * job.narrow + i] = weights.at[job.weights + token * job.narrow + i];
    }
}
