/*
 * Query pools: sim_query.c.
 */
#ifndef MAAR_SIM_QUERY_H
#define MAAR_SIM_QUERY_H

#include "backends/simulated/sim_object.h"

struct sim_query_pool {
    struct sim_object object;
    uint32_t count;
    uint64_t values[]; /* timestamps; 0 where none was written */
};

#endif
