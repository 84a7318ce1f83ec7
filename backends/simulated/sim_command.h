/*
 * Command buffers: sim_command.c.
 */
#ifndef MAAR_SIM_COMMAND_H
#define MAAR_SIM_COMMAND_H

#include "backends/simulated/sim_object.h"

enum sim_command_state {
    SIM_COMMAND_INITIAL,
    SIM_COMMAND_RECORDING,
    SIM_COMMAND_EXECUTABLE,
};

struct sim_command_buffer {
    struct sim_object object;
    uint64_t pool;
    enum sim_command_state state;
    struct sim_use* uses;
    uint32_t use_count, use_capacity;
};

/* Checks that a command buffer that is submitted has been ended. Lock held. */
void sim_command_check_submit(struct sim_device* device, enum sim_function function,
                              VkCommandBuffer buffer);
/* Frees a command buffer that has left the table. Lock free. */
void sim_command_release(struct sim_command_buffer* buffer);

#endif
