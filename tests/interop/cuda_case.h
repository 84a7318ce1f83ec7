/*
 * What the protocol tests of maar/cuda.h share: a device that shares memory and semaphores, the
 * FAKE CUDA driver beside it, and buffers that both see. On lavapipe commands are executed, and its
 * semaphores are those of semaphore_wrap.h; the simulated device executes nothing, notices every
 * breach of Vulkan's rules, and has semaphores of its own.
 *
 * Protocol tests prove who owns what, who waits for whom, and which bytes are meant. They say
 * nothing about a GPU.
 */
#ifndef MAAR_TESTS_INTEROP_CUDA_CASE_H
#define MAAR_TESTS_INTEROP_CUDA_CASE_H

#include "maar/cuda.h"
#include "tests/fakes/fake_fixture.h"
#include "tests/fakes/semaphore_wrap.h"
#include "tests/interop/sharing_fixture.h"

struct cuda_case {
    struct rig rig;
    struct maar_cuda_driver driver; /* the FAKE one's, for the test's own work */
    const struct fake_control* fake;
    MaarSharingInfo sharing;
    MaarQueue queue;
    MaarCuda cuda;
    MaarCudaStream stream;
    uint32_t descriptors; /* before the FAKE driver was opened */
    bool wrapped;
};

/* The barriers for buffers that Maar has recorded since the case was opened. */
struct cuda_case_barriers {
    uint32_t count;
    VkBufferMemoryBarrier last;
    VkPipelineStageFlags before;
    VkPipelineStageFlags after;
};
extern struct cuda_case_barriers cuda_case_barriers;

/* Which semaphores the device exports, and what else is not as usual. */
struct cuda_case_setup {
    uint32_t kinds;      /* enum semaphore_wrap_kinds */
    const char* library; /* NULL: MAAR_FAKE_CUDA */
    bool dedicated_images;
    bool without_cuda; /* the test calls maarCreateCuda */
    /* Several threads signal and wait: the validation layer of Debian 12 then loses count, and says
     * so ("most likely a validation bug") after ten seconds. */
    bool threads;
};

/* False, having said why, when the machine has not got the rig. */
bool cuda_case_open(struct cuda_case* c, const struct cuda_case_setup* setup);
/* Opens CUDA with what MaarCudaCreateInfo says, NULL for the defaults, and makes its context
 * current for the test's own calls, and a stream. */
void cuda_case_start(struct cuda_case* c, const MaarCudaCreateInfo* info);
/* Until the stream has done all that it was given; fails, and says what it waits for, if that takes
 * 20 seconds. */
void cuda_case_finish(struct cuda_case* c);
/* Ends CUDA: nothing is left there, and no rule was broken. */
void cuda_case_stop(struct cuda_case* c);
/* All of it; no descriptor is left. */
void cuda_case_close(struct cuda_case* c);

/* cmocka's: with all kinds of semaphores; *state is the case, or NULL when there is no rig. */
int cuda_case_setup(void** state);
int cuda_case_setup_threads(void** state);
int cuda_case_teardown(void** state);
struct cuda_case* cuda_case_get(void** state);

MaarCudaInfo cuda_case_info(struct cuda_case* c);
MaarCudaMemory cuda_case_memory(struct cuda_case* c, MaarAllocation allocation);
MaarCudaTimeline cuda_case_timeline(struct cuda_case* c, MaarHandoffMode mode);

void fill_bytes(void* bytes, size_t size, unsigned salt);
bool are_filled(const void* bytes, size_t size, unsigned salt);

int run_cuda_timeline_cases(void);

#define CUDA_THREADS_CASE(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, cuda_case_setup_threads, cuda_case_teardown)
#define CUDA_CASE(name) cmocka_unit_test_setup_teardown(name, cuda_case_setup, cuda_case_teardown)

#endif
