// Writes an allocation's pattern. Atomics change the words that the allocation shares with a
// neighbour and keep the neighbour's bytes, so that two neighbours may be filled at the same time.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "pattern.glsl"

layout(set = 0, binding = 0, std430) buffer Window {
    uint words[];
} window;

void main()
{
    const uint first = firstWord();
    const uint end = endWord();
    for (uint word = first + gl_GlobalInvocationID.x; word < end; word += strideOfJob()) {
        const uint mask = maskOf(word);
        const uint value = patternOf(job.wordBase + (word - first));
        if (mask == 0xFFFFFFFFu) {
            window.words[word] = value;
        } else {
            atomicAnd(window.words[word], ~mask);
            atomicOr(window.words[word], value & mask);
        }
    }
}
