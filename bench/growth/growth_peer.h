/*
 * The stand-ins for the CUDA driver and the HIP runtime. They are libraries of tests/fakes, which
 * the options --cuda and --hip name; nothing that they do says anything about a GPU.
 */
#ifndef MAAR_BENCH_GROWTH_PEER_H
#define MAAR_BENCH_GROWTH_PEER_H

#include "growth.h"

extern const char* growth_cuda_library;
extern const char* growth_hip_library;

/* Create the object of growth->allocator. The stand-in has the simulated device's UUID. */
MaarCuda growth_create_cuda(struct growth* growth);
MaarHip growth_create_hip(struct growth* growth);

#endif
