// Writes new elements.
#include "element.glsl"

void main()
{
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = job.begin + gl_GlobalInvocationID.x; i < job.end; i += stride) {
        ELEMENTS.at[i] = valueOf(job.base + i);
    }
}
