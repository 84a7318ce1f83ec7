/*
 * A small program that goes on whatever fails: it makes and ends resources as a list of events
 * says, skips what it could not make, and at its end everything must be given back.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_REPLAY_H
#define MAAR_TESTS_FAULT_FAULT_REPLAY_H

#include "tests/fault/fault_host.h"

enum replay_op {
    REPLAY_MEMORY, /* make what is named in the slot, or, where it is in use, end it */
    REPLAY_BUFFER,
    REPLAY_IMAGE,
    REPLAY_PLANES,
    REPLAY_SLICE,
    REPLAY_POOL,
    REPLAY_IN_POOL, /* memory out of any pool there is */
    REPLAY_END,     /* end what is in the slot */
    REPLAY_TOUCH,   /* map, write, flush, unmap; copy; rename */
    REPLAY_FRAME,   /* time passes; collect */
    REPLAY_TRIM,
    REPLAY_DUMP,
    REPLAY_OP_COUNT
};

struct replay_event {
    enum replay_op op;
    uint32_t slot;
    uint32_t size;
    uint32_t style; /* decides what else there is to decide */
};

/* On what device, with what allocator. */
struct replay_setting {
    const char* name;
    const MaarSimulatedProfile* (*profile)(void); /* NULL: the discrete one */
    VkFlags off;
    MaarAllocatorCreateFlags flags;
    MaarPlacementStrategy strategy;
    bool observed; /* an out-of-memory observer frees what it can spare */
    bool scarce;   /* calls fail there without any fault, too */
};

struct replay_program {
    const struct replay_setting* setting;
    const struct replay_event* events;
    uint32_t event_count;
    uint32_t slot_count;
};

enum replay_kind { REPLAY_HOST, REPLAY_DRIVER };

/* Where it fails; nothing with first 0. */
struct replay_fault {
    enum replay_kind kind;
    uint64_t first;
    uint64_t count; /* UINT64_MAX: from there on */
    VkResult code;
};

struct replay_result {
    uint64_t host_calls;
    uint64_t driver_calls; /* those that can fail */
    uint64_t struck;
    uint32_t skipped; /* calls of Maar that failed */
    uint32_t made;
};

/* Called for each call of the driver; may be NULL. */
struct replay_result replay_run(const struct replay_program* program,
                                const struct replay_fault* fault, rig_call_hook call, void* data);

#endif
