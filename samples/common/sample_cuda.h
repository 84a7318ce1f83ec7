/*
 * Launching CUDA kernels that nvcc has compiled into the program: the few entry points of the CUDA
 * driver that this takes, opened at run time, so that the program starts without CUDA too. All else
 * that a program wants of CUDA, Maar does (maar/cuda.h).
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
    void* stream; /* a CUstream of its own */
};

/* Loads kernels, as nvcc made them, into a context. False when it cannot, with the reason in text;
 * close in any case. library: NULL for the driver's. */
bool sample_cuda_open(struct sample_cuda* cuda, const char* library, void* context,
                      const uint32_t* kernels, size_t size, char* text, size_t text_size);
/* Waits for the stream. */
void sample_cuda_close(struct sample_cuda* cuda);

/* A kernel by its name; complains and returns NULL when there is none. */
void* sample_cuda_kernel(struct sample_cuda* cuda, const char* name);

/* Launches so many threads, in groups; does not wait. */
bool sample_cuda_launch(struct sample_cuda* cuda, void* kernel, uint32_t thread_count,
                        uint32_t group_size, void** arguments);

/* Until the stream is done. */
bool sample_cuda_wait(struct sample_cuda* cuda);

/* Bytes of the card's memory that nobody has; 0 when the driver does not say. */
uint64_t sample_cuda_free_memory(struct sample_cuda* cuda);

#endif
