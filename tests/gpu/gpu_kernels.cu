/*
 * Kernels of the checks on a GPU.
 */
#include <cuda_runtime.h>

/* Copies, sixteen bytes a thread and turn. */
extern "C" __global__ void gpu_copy_words(uint4* to, const uint4* from, unsigned long long count)
{
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        to[i] = from[i];
    }
}

/* y = a x + y, sixteen bytes of each a thread and turn. */
extern "C" __global__ void gpu_saxpy(float4* y, const float4* x, float a, unsigned long long count)
{
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        const float4 p = x[i];
        float4 q = y[i];
        q.x += a * p.x;
        q.y += a * p.y;
        q.z += a * p.z;
        q.w += a * p.w;
        y[i] = q;
    }
}

/* Words that show where they are and in which round they were written. */
extern "C" __global__ void gpu_write_words(unsigned int* words, unsigned int round,
                                           unsigned long long count)
{
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        words[i] = (unsigned int)i * 2654435761u ^ round;
    }
}

/* Counts the words that are such ones. */
extern "C" __global__ void gpu_count_words(const unsigned int* words, unsigned int round,
                                           unsigned long long count,
                                           unsigned long long* matching)
{
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long found = 0;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        found += words[i] == ((unsigned int)i * 2654435761u ^ round) ? 1 : 0;
    }
    if (found != 0) {
        atomicAdd(matching, found);
    }
}

/* The least work there is. */
extern "C" __global__ void gpu_touch(unsigned int* word)
{
    ++*word;
}
