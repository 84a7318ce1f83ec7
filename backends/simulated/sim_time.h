/*
 * Virtual time: sim_time.c. The clocks are the times that sim_known.h carries along. All functions:
 * lock held.
 */
#ifndef MAAR_SIM_TIME_H
#define MAAR_SIM_TIME_H

#include "backends/simulated/sim_known.h"
#include "backends/simulated/sim_memory.h"

/* What one command costs. */
struct sim_cost {
    double nanoseconds; /* of its bytes */
    uint32_t heaps;     /* that it uses: a bit for each */
};

/* Fills in the values that stand for a default. */
void sim_time_set(struct sim_gpu* gpu, const MaarSimulatedTimeInfo* info);
/* Adds bytes that are moved from a memory to another; either may be NULL. */
void sim_time_move(struct sim_cost* cost, const struct sim_memory* from,
                   const struct sim_memory* to, VkDeviceSize size);
/* Lets a command of a queue pass: its latency, and its bytes once its heaps are free. */
void sim_time_command(struct sim_device* device, struct sim_known* queue,
                      const struct sim_cost* cost);
/* Lets a batch of binds pass. */
void sim_time_binds(struct sim_device* device, struct sim_known* queue, uint64_t count);
/* Decides which memory is demoted, before a submission is executed. */
void sim_time_demote(struct sim_device* device);

/* Applies the scripts of all heaps, at a query of the budget. */
void sim_scripts_apply(struct sim_gpu* gpu);

#endif
