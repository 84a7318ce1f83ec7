// The common part of the language model's shaders. All numbers are 32-bit floats, and every sum has
// a fixed order, so that a run gives the same bits wherever its buffers lie.
//
// The activations of a token are rows of the scratch buffer. Offsets and counts are in floats.

layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;

layout(push_constant, std430) uniform Job {
    uint weights;  // where the matrix or the gains begin
    uint from;     // first row that is read, in the scratch buffer
    uint to;       // first row that is written
    uint wide;     // floats of a row that is read
    uint narrow;   // floats of a row that is written
    uint position; // of the first token in the text
    uint mode;     // of the shader
} job;

layout(set = 0, binding = 0, std430) readonly buffer Weights {
    float at[];
} weights;

layout(set = 0, binding = 1, std430) buffer Scratch {
    float at[];
} scratch;

#define LANES 64u
