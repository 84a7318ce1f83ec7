// The common part of the growing array's shaders: the job, the value of an element, and the access
// to elements, by the array's device address or by a descriptor of a window.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;

layout(push_constant, std430) uniform Job {
    uvec2 address; // of the window's first element; only with BY_ADDRESS
    uint base;     // that element's number in the array
    uint begin;    // first element of the window
    uint end;      // end of the elements, excluded
    uint slot;     // index of the count
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

// Returns an element's value, which depends only on the element's number.
uvec4 valueOf(uint number)
{
    const uint first = scrambled(number + 0x9E3779B9u);
    return uvec4(first, scrambled(first), number + 1u, ~first);
}
