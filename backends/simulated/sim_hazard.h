/*
 * Accesses of executed commands that are not ordered or not made visible: sim_hazard.c. Lock held.
 */
#ifndef MAAR_SIM_HAZARD_H
#define MAAR_SIM_HAZARD_H

#include "backends/simulated/sim_known.h"
#include "backends/simulated/sim_memory.h"
#include "backends/simulated/sim_record.h"

/* The stages in which this driver executes something. */
enum sim_stage { SIM_STAGE_COPY, SIM_STAGE_CLEAR, SIM_STAGE_SHADER };

/* One command whose accesses are checked. */
struct sim_hazard {
    struct sim_device* device;
    const struct sim_known* known; /* of its queue */
    enum sim_function function;
    uint64_t queue, number;
    uint32_t family;
    enum sim_stage stage;
    bool reported;   /* a command has one violation at most */
    bool writes_too; /* it writes what it reads, and only the write is remembered */
    struct {         /* accesses that have not been checked: reads, then writes */
        struct sim_memory* memory;
        VkDeviceSize begin, end;
    } waiting[2];
};

/* Adds bytes that the command reads or writes. */
void sim_hazard_access(struct sim_hazard* hazard, struct sim_memory* memory, VkDeviceSize offset,
                       VkDeviceSize size, bool writes);
/* Checks what has been added. Ends every command. */
void sim_hazard_finish(struct sim_hazard* hazard);
/* Applies a barrier to bytes. `moves`: the barrier changes the layout of an image that has them. */
void sim_hazard_barrier(struct sim_hazard* hazard, const struct sim_barrier* barrier,
                        struct sim_memory* memory, VkDeviceSize offset, VkDeviceSize size,
                        bool moves);
/* Applies a global barrier to all memory. */
void sim_hazard_global(struct sim_hazard* hazard, const struct sim_barrier* barrier);
/* Checks an access of the host, which has waited for what `hazard->known` says. */
void sim_hazard_host(struct sim_hazard* hazard, struct sim_memory* memory, VkDeviceSize offset,
                     VkDeviceSize size, bool writes);
/* Frees what is known of a memory's accesses. */
void sim_hazard_release(struct sim_memory* memory);

#endif
