/*
 * Replays one trace on one device, with one or more threads.
 */
#ifndef MAAR_TOOL_PLAYER_H
#define MAAR_TOOL_PLAYER_H

#include "tool_device.h"

#include "support/picture.h"
#include "support/trace.h"

/* The strategies of placement. */
enum tool_strategy {
    TOOL_STRATEGY_AUTO = 0,
    TOOL_STRATEGY_LINEAR = 1,
    TOOL_STRATEGY_BUDDY = 2,
    TOOL_STRATEGY_TLSF = 3,
    TOOL_STRATEGY_DEDICATED = 4,
    TOOL_STRATEGY_SPARSE = 5,
    TOOL_STRATEGY_COUNT = 6,
};

extern const char* const tool_strategy_names[TOOL_STRATEGY_COUNT];

/* Faults planted by a self-test. */
enum tool_plant {
    TOOL_PLANT_NONE = 0,
    TOOL_PLANT_OVERLAP = 1, /* the checker sees an allocation at the place of a live one */
    TOOL_PLANT_OFFSET = 2,  /* an allocation is written one byte too late */
    TOOL_PLANT_BARRIER = 3, /* the verifier omits its barriers, which the layer must notice */
};

struct tool_player_options {
    enum tool_strategy strategy;
    uint32_t thread_count;
    bool verify;
    bool copies; /* self-test: verify by copies wherever possible */
    enum tool_plant plant;
    bool picture;
};

/* The results of a replay. */
struct tool_outcome {
    uint64_t events;      /* rows of the trace */
    uint64_t allocations; /* successful ones */
    uint64_t failures;
    uint64_t allocated_bytes; /* of all successful allocations */
    uint64_t real_buffers, real_images, plain_rows;
    uint64_t unsupported_rows; /* plain rows whose usage this device does not support */
    uint64_t skipped_rows;     /* in imported memory, or of another device than the capture's */
    uint64_t leftovers;        /* alive at the end of the trace */
    uint64_t peak_live_bytes, peak_reserved_bytes;
    uint32_t peak_blocks;
    uint64_t device_allocation_calls;
    uint64_t fallbacks;
    double ns_per_event;
    const char* verification; /* gpu, bookkeeping or off */
    uint64_t verified_bytes, copied_bytes, unverified_bytes;
    uint64_t mismatches; /* of the device and of the checker */
    uint32_t allocator_errors;
    uint32_t messages;
    bool sparse;                           /* the strategy was sparse; only then: */
    uint64_t peak_page_rounded_live_bytes; /* live bytes rounded up to whole pages */
    uint64_t stitched_allocations;         /* allocations of two or more page runs */
    uint64_t pages_bound, binds, bind_submissions;
    bool broken; /* the run was broken off, and the reason printed */
};

/*
 * Replays a trace; the device must be open. Fills in the picture if one is requested; the caller
 * owns it. Prints the reason and returns false when the run could not be finished.
 */
bool tool_player_run(struct tool_device* tool, const struct support_trace* trace,
                     const struct tool_player_options* options, struct tool_outcome* outcome,
                     struct support_picture* picture);

#endif
