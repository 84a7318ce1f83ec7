// The common part of both shaders: their window of memory, the job, and the pattern.
//
// A job covers bytes [firstByte, firstByte + byteCount) of the window. All words between the first
// and the last belong to the job alone. Of the first and the last word, the job may own only some
// bytes. The pattern depends on the seed and on the word's place in the allocation, not in the
// memory. Therefore bytes of another place or another allocation do not match.
layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;

layout(push_constant, std430) uniform Job {
    uint firstByte; // within the window
    uint byteCount; // at least 1
    uint seedLow;
    uint seedHigh;
    uint wordBase; // the first word's number within the allocation
    uint slot;     // index of the result
} job;

uint patternOf(uint word)
{
    uint x = (word ^ job.seedHigh) * 0x9E3779B9u + job.seedLow;
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

uint firstWord()
{
    return job.firstByte >> 2;
}

uint endWord()
{
    return (job.firstByte + job.byteCount + 3u) >> 2;
}

uint strideOfJob()
{
    return gl_NumWorkGroups.x * gl_WorkGroupSize.x;
}

// Returns a mask of the bytes of a word that the job covers. Byte 0 is the lowest: the device and
// the host are both little-endian.
uint maskOf(uint word)
{
    const uint start = word << 2;
    const uint skipped = max(job.firstByte, start) - start;
    const uint end = min(job.firstByte + job.byteCount, start + 4u) - start;
    const uint below = end == 4u ? 0xFFFFFFFFu : (1u << (end * 8u)) - 1u;
    return below & (0xFFFFFFFFu << (skipped * 8u));
}
