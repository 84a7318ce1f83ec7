/*
 * The calls that are made to fail: each with what must be there before, and how to take it back.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_STEPS_H
#define MAAR_TESTS_FAULT_FAULT_STEPS_H

#include "tests/rig/rig.h"

enum { FAULT_MANY = 3, FAULT_PLANES = 3 };

/* What the steps make and use; zeroed before `prepare`. */
struct fault_context {
    struct rig rig;
    MaarPool pool;
    VkBuffer buffer;
    VkImage image;
    MaarAllocation memory;
    MaarAllocation many[FAULT_MANY];
    MaarSlice slice;
    VkSemaphore timeline;
    char* dump;
    MaarMemoryTypeChoice choice;
};

struct fault_step {
    const char* name;
    void (*prepare)(struct fault_context* context); /* may be NULL */
    /* Makes the call; checks by itself that outputs are null when it fails. */
    VkResult (*run)(struct fault_context* context);
    /* Takes back a call that succeeded. */
    void (*undo)(struct fault_context* context);
    /* Ends what prepare began; may be NULL. */
    void (*finish)(struct fault_context* context);
    const MaarSimulatedProfile* (*profile)(void); /* NULL: the discrete one */
    VkFlags off;
    bool waits; /* a lost device would be no failure, but an answer */
};

extern const struct fault_step fault_steps[];
extern const uint32_t fault_step_count;

#endif
