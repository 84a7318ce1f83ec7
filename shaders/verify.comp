// Counts the bytes of an allocation that hold its pattern, four for a matching word, and adds the
// count to the job's slot. The shader counts matches instead of mismatches: a driver that executes
// nothing leaves the slot at zero, which must not count as success.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "pattern.glsl"

layout(set = 0, binding = 0, std430) readonly buffer Window {
    uint words[];
} window;

layout(set = 0, binding = 1, std430) buffer Results {
    uint matching[];
} results;

shared uint groupMatching;

uint countBytes(uint word, uint difference)
{
    const uint mask = maskOf(word);
    if (mask == 0xFFFFFFFFu && difference == 0u) {
        return 4u;
    }
    uint count = 0u;
    for (uint shift = 0u; shift < 32u; shift += 8u) {
        const bool covered = ((mask >> shift) & 0xFFu) != 0u;
        const bool equal = ((difference >> shift) & 0xFFu) == 0u;
        count += covered && equal ? 1u : 0u;
    }
    return count;
}

void main()
{
    if (gl_LocalInvocationIndex == 0u) {
        groupMatching = 0u;
    }
    barrier();

    const uint first = firstWord();
    const uint end = endWord();
    uint count = 0u;
    for (uint word = first + gl_GlobalInvocationID.x; word < end; word += strideOfJob()) {
        const uint value = patternOf(job.wordBase + (word - first));
        count += countBytes(word, window.words[word] ^ value);
    }
    if (count != 0u) {
        atomicAdd(groupMatching, count);
    }
    barrier();

    if (gl_LocalInvocationIndex == 0u && groupMatching != 0u) {
        atomicAdd(results.matching[job.slot], groupMatching);
    }
}
