/*
 * What the steps of CUDA and those of HIP have in common: the FAKE that stands in for either, how
 * its calls fail, and a buffer that either can import. One step runs at a time.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_PEER_H
#define MAAR_TESTS_FAULT_FAULT_PEER_H

#include "tests/fakes/fake_fixture.h"
#include "tests/fault/fault_steps.h"

/* The FAKE that the present step has loaded. */
extern const struct fake_control* fault_fake;

/* The functions of a struct fault_peer, over the FAKE. */
void fault_set_peer_fault(const char* function, uint64_t nth, uint64_t count, int code);
uint64_t fault_count_peer_calls(const char* function);
/* Counts the contexts on this thread's stack and the broken rules too. */
uint64_t fault_count_peer_alive(void);
#define FAULT_FAKE_PEER                                                                            \
    .set_fault = fault_set_peer_fault, .calls = fault_count_peer_calls,                            \
    .alive = fault_count_peer_alive

/* Begins with a FAKE whose first device has the UUID of the allocator's device. */
void fault_begin_fake(struct fault_context* context, const struct fake_control* fake);
/* Expects that nothing is left in the FAKE. */
void fault_finish_fake(struct fault_context* context);

/* Makes context->buffer in memory that can be exported as a descriptor. */
void fault_make_exported_buffer(struct fault_context* context, MaarDedicated dedicated);

#endif
