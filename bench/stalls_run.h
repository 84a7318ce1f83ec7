/*
 * Plays a workload through a manager of residents on a simulated device, in virtual time.
 *
 * A stall of a submission is how much later it begins than when the host would have submitted it
 * with everything on the device, and the submission before has ended.
 */
#ifndef MAAR_BENCH_STALLS_RUN_H
#define MAAR_BENCH_STALLS_RUN_H

#include "bench_device.h"
#include "stalls_workload.h"

/* A simulated device and what it stands for. */
struct stalls_profile {
    const char* name;    /* of the profile */
    double device_bytes; /* that its memory reads in a nanosecond */
    double bus_bytes;    /* that come from the host in a nanosecond */
};

/* How a workload is played. */
enum stalls_manner {
    STALLS_MAAR,   /* the manager as it is, with what the program names ahead */
    STALLS_OLDEST, /* the oldest use makes room, and nothing is named ahead */
    STALLS_ROOM    /* the budget holds everything */
};

struct stalls_result {
    uint64_t* stalls_ns; /* of each submission; the caller frees it */
    uint64_t time_ns;    /* of all submissions that count */
    uint64_t restored;   /* bytes in that time, of the real sizes */
    bool shares_queue;   /* copies run on the queue of the submissions */
};

/* Plays a workload. Ends the program if contents are wrong or a call fails. */
struct stalls_result stalls_run(const struct stalls_workload* workload,
                                const struct stalls_profile* profile, enum stalls_manner manner);

#endif
