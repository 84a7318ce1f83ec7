// Counts the elements with the expected value. The shader counts matches instead of mismatches: a
// driver that executes nothing leaves the count at zero, which must not count as success.
#include "element.glsl"

layout(set = 0, binding = 1, std430) buffer Counts {
    uint matching[];
} counts;

shared uint groupMatching;

void main()
{
    if (gl_LocalInvocationIndex == 0u) {
        groupMatching = 0u;
    }
    barrier();
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    uint count = 0u;
    for (uint i = job.begin + gl_GlobalInvocationID.x; i < job.end; i += stride) {
        count += ELEMENTS.at[i] == valueOf(job.base + i) ? 1u : 0u;
    }
    if (count != 0u) {
        atomicAdd(groupMatching, count);
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u && groupMatching != 0u) {
        atomicAdd(counts.matching[job.slot], groupMatching);
    }
}
