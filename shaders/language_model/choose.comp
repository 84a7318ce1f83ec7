#version 450
#extension GL_GOOGLE_include_directive : require
// Chooses the token with the greatest logit, of equal ones the first. One group.
#include "model.glsl"
#include "text.glsl"

shared float best[LANES];
shared uint choice[LANES];

void main()
{
    const uint lane = gl_LocalInvocationIndex;
    best[lane] = text.logits[job.from + lane];
    choice[lane] = lane;
    for (uint i = lane + LANES; i < job.wide; i += LANES) {
        if (text.logits[job.from + i] > best[lane]) {
            best[lane] = text.logits[job.from + i];
            choice[lane] = i;
        }
    }
    barrier();
    if (lane == 0u) {
        for (uint i = 1u; i < LANES; ++i) {
            if (best[i] > best[0] || (best[i] == best[0] && choice[i] < choice[0])) {
                best[0] = best[i];
                choice[0] = choice[i];
            }
        }
        text.tokens[job.position] = choice[0];
    }
}
