/*
 * The FAKE CUDA driver of the steps that need it, and what they make of it. One step runs at a
 * time.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_CUDA_H
#define MAAR_TESTS_FAULT_FAULT_CUDA_H

#include "maar/cuda.h"
#include "tests/fault/fault_peer.h"

struct fault_cuda {
    struct maar_cuda_driver driver;
    struct maar_cuda_context* context; /* the primary one */
    struct maar_cuda_stream* stream;
    MaarCuda cuda;
    MaarCudaTimeline timeline;
    MaarCudaTimeline gate; /* what the stream waits for before it does anything */
    MaarCudaMemory memory;
    MaarCudaRange range;
    MaarCudaMirror mirror;
    MaarCudaImage image;
    MaarCudaImage other_image;
};

extern struct fault_cuda fault_cuda;
extern const struct fault_peer fault_cuda_peer;

/* Loads the FAKE, and makes fault_cuda.cuda; both go again, with nothing left in the FAKE. */
void fault_prepare_cuda(struct fault_context* context);
void fault_finish_cuda(struct fault_context* context);

#define FAULT_CUDA_STEP .shares = true, .peer = &fault_cuda_peer

#endif
