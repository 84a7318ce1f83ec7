/*
 * Workloads in virtual time for bench_stalls: submissions that use objects and take time, in
 * frames, with what the program knows of the submissions that come.
 *
 * Sizes are those of a real program divided by STALLS_SCALE. The bandwidths of the simulated device
 * are divided by it too, so that times are those of the real sizes, and a run moves little memory.
 */
#ifndef MAAR_BENCH_STALLS_WORKLOAD_H
#define MAAR_BENCH_STALLS_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum { STALLS_SCALE = 256 };

struct stalls_submission {
    uint32_t use_begin; /* in uses */
    uint32_t use_count;
    uint32_t ahead_begin; /* in ahead: what the program names after the submission, in order */
    uint32_t ahead_count;
    uint32_t frame;
    bool updates; /* an update follows */
    uint64_t work_ns;
};

struct stalls_workload {
    const char* name;
    uint32_t budget; /* percent of all objects' bytes */
    bool fits;       /* what a frame uses and what is named ahead fit into the budget, and there is
                        time to copy it */
    uint64_t frame_ns;     /* a frame begins at a multiple of this; 0: when the host comes to it */
    uint32_t frames_ahead; /* the host begins a frame when so many before it have not ended */
    uint32_t warm_frames;  /* not counted */
    uint32_t frame_count;
    uint32_t object_count;
    uint32_t object_capacity;
    uint64_t* sizes; /* of objects, scaled */
    uint64_t all_bytes;
    uint32_t submission_count;
    uint32_t submission_capacity;
    struct stalls_submission* submissions;
    uint32_t use_count;
    uint32_t use_capacity;
    uint32_t* uses; /* with STALLS_WRITES */
    uint32_t ahead_count;
    uint32_t ahead_capacity;
    uint32_t* ahead;
};

/* A bit of a use: the submission writes the object. */
#define STALLS_WRITES 0x80000000u

/* What the device does in a nanosecond: workloads that read all their bytes once take that long. */
struct stalls_speed {
    double device_bytes_a_ns; /* of the real device */
    double bus_bytes_a_ns;
};

uint32_t stalls_workload_count(void);
/* Makes a workload by its number. frames: 0, or how many frames at most. */
void stalls_workload_make(struct stalls_workload* workload, uint32_t number,
                          const struct stalls_speed* speed, uint32_t frames);
void stalls_workload_release(struct stalls_workload* workload);

#endif
