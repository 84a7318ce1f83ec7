/*
 * Single calls of sharing, for bench_sharing: handoffs, descriptors, messages.
 */
#ifndef MAAR_BENCH_SHARING_CALLS_H
#define MAAR_BENCH_SHARING_CALLS_H

#include "bench/bench_common.h"
#include "bench/sharing_device.h"

/* What one contestant took, nanoseconds for each call. */
struct sharing_times {
    const char* workload;
    const char* peer;
    const char* self_check;
    double cpu[BENCH_MAX_RUNS];  /* of the calling thread */
    double wall[BENCH_MAX_RUNS]; /* until all was done */
};

enum {
    SHARING_HANDOFF_PEERS = 3,
    SHARING_MAX_IN_FLIGHT = 8,
    SHARING_MESSAGE_PEERS = 4,
    SHARING_MESSAGE_SYSTEM = 3
};

/* maar, driver, driver-record: the last but one submits what it recorded once. So many are
 * submitted before the device is waited for; at most SHARING_MAX_IN_FLIGHT. */
void sharing_time_handoffs(const struct sharing_devices* devices, uint32_t runs, uint32_t in_flight,
                           struct sharing_times times[SHARING_HANDOFF_PEERS]);

/* write, read; then message of maar and of system. */
void sharing_time_messages(const struct sharing_devices* devices, uint32_t runs,
                           struct sharing_times times[SHARING_MESSAGE_PEERS]);

#endif
