/*
 * Planted mistakes of synchronization: one barrier, one wait of a submission or one answer about a
 * timeline, counted from the start, is left out. It stands between the functions of volk and the
 * driver, so the program's own calls and Maar's pass it alike. One thread.
 */
#ifndef MAAR_TESTS_RIG_RIG_OMIT_H
#define MAAR_TESTS_RIG_RIG_OMIT_H

#include "tests/rig/rig.h"

enum rig_omission {
    RIG_OMIT_NOTHING,
    RIG_OMIT_BARRIER,   /* vkCmdPipelineBarrier does nothing */
    RIG_OMIT_WAIT,      /* one semaphore that a submission waits for */
    RIG_OMIT_BIND_WAIT, /* the same of vkQueueBindSparse */
    RIG_OMIT_ANSWER,    /* vkGetSemaphoreCounterValue says that everything has passed */
    RIG_OMIT_HOST_WAIT, /* vkWaitSemaphores does not wait */
    RIG_OMISSION_COUNT,
};

/* Call it after rig_open, before rig_make_allocator: the nth call of this kind (1 being the first)
 * is left out. With RIG_OMIT_NOTHING the calls are only counted. */
void rig_omit(struct rig* rig, enum rig_omission kind, uint32_t nth);
/* How many calls of a kind there were since rig_omit. */
uint32_t rig_omit_count(enum rig_omission kind);
/* What to print. */
const char* rig_omission_name(enum rig_omission kind);

#endif
