// What the shaders of the growing array share: the job, what an element holds, and how it is
// reached: through the array's device address, or through a descriptor of a window of it.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;

layout(push_constant, std430) uniform Job {
    uvec2 address; // of the window's first element; only where BY_ADDRESS
    uint base;     // that element's number in the array
    uint begin;    // elements of the window: from here
    uint end;      // to here, which is excluded
    uint slot;     // where a count goes
} job;

#ifdef BY_ADDRESS
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Elements {
    uvec4 at[];
};
#define ELEMENTS Elements(job.address)
#else
layout(set = 0, binding = 0, std430) buffer Elements {
    uvec4 at[];
} elements;
#define ELEMENTS elements
#endif

#include "scrambled.glsl"

// Depends on the element's number alone.
uvec4 valueOf(uint number)
{
    const uint first = scrambled(number + 0x9E3779B9u);
    return uvec4(first, scrambled(first), number + 1u, ~first);
}
