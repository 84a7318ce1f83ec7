/*
 * Times single calls of sharing, for bench_sharing: handoffs, descriptors, messages.
 */
#ifndef MAAR_BENCH_SHARING_CALLS_H
#define MAAR_BENCH_SHARING_CALLS_H

#include "bench/bench_common.h"
#include "bench/sharing_device.h"

/* The times of one contestant, nanoseconds for each call. */
struct sharing_times {
    const char* workload;
    const char* peer;
    const char* self_check;
    double cpu[BENCH_MAX_RUNS];  /* of the calling thread */
    double wall[BENCH_MAX_RUNS]; /* until all calls were done */
};

enum {
    SHARING_HANDOFF_PEERS = 3,
    SHARING_MAX_IN_FLIGHT = 8,
    SHARING_MESSAGE_PEERS = 4,
    SHARING_MESSAGE_SYSTEM = 3
};

/* Times handoffs by the contestants maar, driver and driver-record. The contestant driver records
 * its commands once. `in_flight` handoffs, at most SHARING_MAX_IN_FLIGHT, are submitted before the
 * program waits for the device. */
void sharing_time_handoffs(const struct sharing_devices* devices, uint32_t runs, uint32_t in_flight,
                           struct sharing_times times[SHARING_HANDOFF_PEERS]);

/* Times a write and a read of descriptors, then messages by Maar and by the system. */
void sharing_time_messages(const struct sharing_devices* devices, uint32_t runs,
                           struct sharing_times times[SHARING_MESSAGE_PEERS]);

#endif
