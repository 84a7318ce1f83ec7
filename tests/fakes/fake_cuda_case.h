/*
 * FAKES. What the two files of tests of the FAKE CUDA driver share: a current context, and blocks
 * and semaphores that look as if a Vulkan driver had exported them.
 */
#ifndef MAAR_TESTS_FAKES_FAKE_CUDA_CASE_H
#define MAAR_TESTS_FAKES_FAKE_CUDA_CASE_H

#include "tests/fakes/fake_fixture.h"

enum { BLOCK = 65536 };

extern struct maar_cuda_driver cuda;
extern const struct fake_control* control;
extern struct maar_cuda_context* context;

int setup_cuda(void** state);
int teardown_cuda(void** state);
/* A descriptor like that of exported memory. */
int make_block(uint64_t size);
struct maar_cuda_memory_handle handle_of(int fd, uint64_t size);
struct maar_cuda_memory* import_block(uint64_t size);
maar_cuda_pointer map_block(struct maar_cuda_memory* memory, uint64_t offset, uint64_t size);
/* A descriptor like that of a semaphore of the simulated driver. */
int make_semaphore(enum fake_file_kind kind, uint64_t value);
struct maar_cuda_semaphore* import_semaphore(enum fake_file_kind kind);

/* Streams, semaphores, virtual memory; how many failed. */
int run_work_cases(void);

#endif
