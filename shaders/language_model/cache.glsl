// The KV cache of a layer: parts of 64 tokens, each with the keys and then the values of its tokens.

layout(set = 0, binding = 3, std430) buffer Part {
    float at[];
} parts[4]; // MODEL_MOST_PARTS

#define PART 64u // tokens, as many as a group has invocations
#define HEAD 32u // floats of an attention head
