/*
 * Launches CUDA kernels that nvcc has compiled into the program. The few necessary entry points of
 * the CUDA driver are opened at run time, so that the program also starts without CUDA. Maar
 * provides everything else (maar/cuda.h).
 */
#ifndef MAAR_SAMPLE_CUDA_H
#define MAAR_SAMPLE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample_cuda_calls; /* the entry points */

struct sample_cuda {
    void* library;
    struct sample_cuda_calls* calls;
    void* context; /* the caller's CUcontext */
    void* module;
    void* stream; /* the library's own CUstream */
};

/* Loads kernels in nvcc's format into a context. On failure returns false and writes the reason to
 * `text`. The caller closes it in every case. `library` is NULL for the driver's library. */
bool sample_cuda_open(struct sample_cuda* cuda, const char* library, void* context,
                      const uint32_t* kernels, size_t size, char* text, size_t text_size);
/* Waits for the stream and releases everything. */
void sample_cuda_close(struct sample_cuda* cuda);

/* Finds a kernel by its name. Prints an error and returns NULL if it does not exist. */
void* sample_cuda_kernel(struct sample_cuda* cuda, const char* name);

/* Launches `threads` threads in groups. Does not wait. */
bool sample_cuda_launch(struct sample_cuda* cuda, void* kernel, uint32_t thread_count,
                        uint32_t group_size, void** arguments);

/* Waits until the stream is done. */
bool sample_cuda_wait(struct sample_cuda* cuda);

/* Returns the free bytes of the card's memory; 0 if the driver does not report them. */
uint64_t sample_cuda_free_memory(struct sample_cuda* cuda);

#endif
