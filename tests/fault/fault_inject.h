/*
 * Making one step fail at one point, on a device of its own, and what must hold after that.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_INJECT_H
#define MAAR_TESTS_FAULT_FAULT_INJECT_H

#include "tests/fault/fault_steps.h"

enum fault_kind {
    FAULT_HOST_ONCE,   /* the Nth host allocation */
    FAULT_HOST_EVER,   /* the Nth and all later ones */
    FAULT_DRIVER_ONCE, /* the Nth call of the driver that can fail */
    FAULT_DRIVER_EVER, /* the Nth and all later ones */
    FAULT_DRIVER_PAIR, /* the Nth, and another one on the way round it */
    FAULT_FDS,         /* no more than N file descriptors are to be had */
    FAULT_PEER_ONCE,   /* the Nth call of a function of the peer's */
    FAULT_PEER_EVER    /* the Nth and all later ones */
};

struct fault_point {
    enum fault_kind kind;
    uint64_t nth;
    VkResult code;        /* of the driver's calls */
    uint64_t second;      /* of a pair: which call after the first failure */
    const char* function; /* the peer's */
    int peer_code;
};

struct fault_outcome {
    uint64_t struck; /* faults that struck in the first run */
    VkResult result; /* of the first run */
};

enum { FAULT_MOST_CALLS = 64, FAULT_MOST_PEER_FUNCTIONS = 32 };

/* What a step does when nothing fails. */
struct fault_course {
    uint64_t host_calls;
    uint32_t driver_calls; /* those that can fail */
    const char* functions[FAULT_MOST_CALLS];
    uint64_t peer_calls[FAULT_MOST_PEER_FUNCTIONS]; /* in the order of the peer's list */
};

/* Flags of all devices that are opened from now on, besides those of the steps. */
void fault_set_flags(MaarSimulatedFlags flags);
struct fault_course fault_follow(const struct fault_step* step);
struct fault_outcome fault_inject(const struct fault_step* step, const struct fault_point* point);

#endif
